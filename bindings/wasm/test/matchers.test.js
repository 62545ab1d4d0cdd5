// The matchers, as vitest and Jest call them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toBeClean, toHaveFindings } from "toolcheck-wasm/matchers";
import { CLEAN, PLACE, UNANSWERED } from "./common.js";

test("a body is clean, or says what is wrong", () => {
  assert.equal(toBeClean(CLEAN).pass, true);
  assert.match(toBeClean(CLEAN).message(), /expected the body to have findings/);
  const wrong = toBeClean(UNANSWERED, { target: "bedrock" });
  assert.equal(wrong.pass, false);
  assert.match(wrong.message(), /error\[unanswered-tool-call\][^]*bedrock/);
});

test("a body in which nothing is checked is not clean", () => {
  assert.equal(toBeClean("[]").pass, false);
  assert.equal(toBeClean({ answer: 42 }).pass, false);
  const none = toBeClean({ answer: 42 }, { failOn: "error" });
  assert.equal(none.pass, false);
});

test("findings are those that are expected, in their order", () => {
  const has = (...expected) => toHaveFindings(UNANSWERED, expected);
  for (const one of ["unanswered-tool-call", `unanswered-tool-call at ${PLACE}`, `error unanswered-tool-call at 0:${PLACE}`]) {
    assert.equal(has(one).pass, true, one);
  }
  assert.equal(toHaveFindings(UNANSWERED, "unanswered-tool-call").pass, true);
  assert.equal(toHaveFindings(CLEAN, []).pass, true);
  for (const wrong of [[], ["unanswered-tool-call", "unanswered-tool-call"], [`warning unanswered-tool-call at ${PLACE}`], ["unanswered-tool-call at /messages/2"]]) {
    assert.equal(has(...wrong).pass, false, wrong);
  }
  assert.match(has().message(), /\+ error unanswered-tool-call at \/messages\/1\/content\/0 {2}body\.json:\d+:\d+/);
  assert.match(has().message(), /\nread as anthropic, checked against anthropic$/);
  assert.match(toHaveFindings({ messages: [{ role: "user", content: "Hello" }] }, ["unknown-tool"]).message(), /\nread as openai-chat, checked against openai-chat \(anthropic is nearly as likely: use `format` to choose\)$/);
  assert.match(has("unanswered-tool-call at /messages/2").message(), /- unanswered-tool-call at \/messages\/2/);
  assert.match(has("unanswered-tool-call").message(), /expected the body to have other findings/);
  assert.throws(() => has("unanswered-tool-cal"), /there is no rule `unanswered-tool-cal`; did you mean/);
  assert.throws(() => has("unanswered-tool-call at messages"), /is not a JSON Pointer/);
});
