// The fixture and the matcher in vitest.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test as base } from "vitest";
import { call, calls, provider, startProvider, text } from "toolcheck";
import { run } from "./agent.mjs";

const test = base.extend({
  provider: provider({ target: "anthropic", turns: [calls(call("tides")), text("Low at six.")] }),
});

const before = process.env.ANTHROPIC_BASE_URL;

test("clients find the mock in the environment", async ({ provider }) => {
  expect(process.env.ANTHROPIC_BASE_URL).toBe(provider.url);
  expect(process.env.OPENAI_BASE_URL).toBe(`${provider.url}/v1`);
  expect(await run()).toBe("Low at six.");
  expect((await provider.exchanges()).at(-1).request).toBeClean({ target: "anthropic" });
});

test("a refusal can be expected", async ({ provider }) => {
  provider.expectRefusal("unanswered-tool-call");
  await expect(run("drops a result")).rejects.toThrow("`tool_use` ids were found");
});

base("a request to another API is a fault", async () => {
  const provider = await startProvider({ target: ["openai-chat"], allow: ["orphan-tool-result"] });
  try {
    const ask = (path, body) => fetch(`${provider.url}${path}`, { method: "POST", body: JSON.stringify(body) });
    expect((await ask("/v1/messages", {})).status).toBe(404);
    const orphan = [{ role: "tool", tool_call_id: "x", content: "x" }];
    expect((await ask("/v1/chat/completions", { model: "m", messages: orphan })).status).toBe(200);
    const { allowed, unexpected } = await provider.report();
    expect([allowed[0].rule, unexpected]).toEqual(["orphan-tool-result", ["POST /v1/messages"]]);
    expect(await provider.faults()).toContain("not expected of openai-chat: POST /v1/messages");
  } finally {
    await provider.stop();
  }
});

base("the environment is as before", () => {
  expect(process.env.ANTHROPIC_BASE_URL).toBe(before);
});

base("a body can have findings", () => {
  expect({ messages: [] }).not.toBeClean({ format: "openai-chat" });
});

const SDKS = { openai: "openai", anthropic: "@anthropic-ai/sdk" };
const found = Object.fromEntries(
  await Promise.all(Object.entries(SDKS).map(async ([name, id]) => [name, await import(/* @vite-ignore */ id).catch(() => undefined)])),
);
const open = base.extend({ provider: provider() });

open.skipIf(!found.openai)("OpenAI's SDK finds the mock", async ({ provider }) => {
  const client = new found.openai.default({ maxRetries: 0 });
  const said = await client.chat.completions.create({ model: "gpt-4o", messages: [{ role: "user", content: "Hello" }] });
  expect(said.choices[0].message.content).toBe("Done.");
  expect(await provider.exchanges()).toHaveLength(1);
});

open.skipIf(!found.anthropic)("Anthropic's SDK finds the mock", async ({ provider }) => {
  const client = new found.anthropic.default({ maxRetries: 0 });
  const messages = [{ role: "user", content: "Hello" }];
  const said = await client.messages.create({ model: "claude-opus-4-8", max_tokens: 64, messages });
  expect(said.content[0].text).toBe("Done.");
  expect(await provider.exchanges()).toHaveLength(1);
});

base("what is wrong fails the test", () => {
  const folder = fileURLToPath(new URL("failing", import.meta.url));
  const vitest = fileURLToPath(new URL("../vitest.mjs", import.meta.resolve("vitest")));
  const args = [vitest, "run", "--root", folder, "--reporter", "json"];
  const env = { ...process.env, NO_COLOR: "1" };
  const done = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  const tests = JSON.parse(done.stdout.slice(done.stdout.indexOf("{"))).testResults.flatMap((file) => file.assertionResults);
  const failures = Object.fromEntries(tests.map((one) => [one.title, one.failureMessages.join("\n")]));
  expect(tests.map((one) => one.status)).toEqual(Array(5).fill("failed"));
  const refused = "toolcheck: refused with 400: unanswered-tool-call at /messages/1/content/0: ";
  expect(failures["a refusal that is swallowed"]).toContain(refused);
  expect(failures["a refusal that is swallowed"]).toContain("✗ unanswered-tool-call");
  expect(failures["a refusal that ends the test"]).toContain("400 messages.2: `tool_use` ids were found");
  expect(failures["a refusal that ends the test"]).toContain(refused);
  expect(failures["a refusal that does not come"]).toContain("no request was refused, which the test expects");
  expect(failures["a body with findings"]).toContain("error[empty-content]");
  expect(failures["a body without findings"]).toContain("expected the body to have findings");
});
