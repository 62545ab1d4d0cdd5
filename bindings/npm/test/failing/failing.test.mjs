// Each of these has to fail: test/fixture.test.mjs runs them.

import { expect, test as base } from "vitest";
import { provider } from "toolcheck";
import { run } from "../agent.mjs";

const test = base.extend({ provider: provider({ target: "anthropic" }) });

test("a refusal that is swallowed", async ({ provider }) => {
  await run("drops a result").catch(() => {});
  expect(await provider.refused()).toHaveLength(1);
});

test("a refusal that ends the test", async ({ provider }) => {
  expect(provider.url).toBeTruthy();
  await run("drops a result");
});

test("a refusal that does not come", async ({ provider }) => {
  provider.expectRefusal();
  await run();
});

test("a body with findings", () => {
  expect({ messages: [] }).toBeClean({ format: "openai-chat" });
});

test("a body without findings", () => {
  expect({ model: "gpt-4o", messages: [{ role: "user", content: "Hello" }] }).not.toBeClean();
});
