// A sample of the matchers in vitest; one of the tests is meant to fail.

import "toolcheck-wasm/vitest";
import { expect, test } from "vitest";
import { CLEAN, PLACE, UNANSWERED } from "../common.js";

test("passes", () => {
  expect(CLEAN).toBeClean({ target: "anthropic" });
  expect(UNANSWERED).not.toBeClean();
  expect(UNANSWERED).toHaveFindings([`error unanswered-tool-call at ${PLACE}`]);
  expect({ sent: CLEAN }).toEqual({ sent: expect.toBeClean() });
});

test.fails("fails on what is not clean", () => {
  expect(UNANSWERED).toBeClean();
});

test.fails("fails on other findings", () => {
  expect(UNANSWERED).toHaveFindings([]);
});

test("the message shows the finding", () => {
  let said;
  try {
    expect(UNANSWERED).toBeClean();
  } catch (error) {
    said = error.message;
  }
  expect(said).toMatch(/error\[unanswered-tool-call\]/);
});
