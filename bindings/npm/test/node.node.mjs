// What `toolcheck/node` and the launcher add: node --test test/node.node.mjs

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { text, useProvider } from "toolcheck/node";
import binary from "../lib/binary.js";
import { ask, run } from "./agent.mjs";

const folder = mkdtempSync(join(tmpdir(), "toolcheck-node-"));
after(() => rmSync(folder, { recursive: true }));
const LAUNCHER = fileURLToPath(new URL("../bin/toolcheck.js", import.meta.url));
const AGENT = JSON.stringify(new URL("agent.mjs", import.meta.url).href);
const ASKED = [{ role: "user", content: "When is low tide?" }];

test("a mock is in the environment during the test", async (context) => {
  const before = process.env.ANTHROPIC_BASE_URL;
  await context.test("inside", async (context) => {
    const provider = await useProvider(context, { target: "anthropic", turns: [text("Low at six.")] });
    assert.equal(process.env.ANTHROPIC_BASE_URL, provider.url);
    assert.equal(await run(), "Low at six.");
  });
  assert.equal(process.env.ANTHROPIC_BASE_URL, before);
});

test("a refusal that is swallowed fails the test", () => {
  const file = join(folder, "refused.test.mjs");
  writeFileSync(
    file,
    `import { test } from "node:test";
import { useProvider } from ${JSON.stringify(import.meta.resolve("toolcheck/node"))};
import { run } from ${AGENT};
test("it", async (context) => {
  await useProvider(context, { target: "anthropic" });
  await run("drops a result").catch(() => {});
});
`,
  );
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ["--test", file], { env, encoding: "utf8" });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /toolcheck: refused with 400: unanswered-tool-call at \/messages\/1\/content\/0/);
});

test("the context of the test is needed", async () => {
  await assert.rejects(useProvider({ target: "anthropic" }), { name: "ToolcheckError", message: /give `useProvider` the context/ });
});

const register = !test.assert?.register && "this Node has no assert.register";
test("the context has assertions", { skip: register }, (context) => {
  context.assert.clean({ max_tokens: 9, messages: ASKED });
  context.assert.findings({ messages: [] }, ["error empty-content"], { target: "openai-chat" });
  assert.throws(() => context.assert.clean({ messages: [] }), /error\[empty-content\]/);
});

test("the package of a machine has its name, and the one for musl stands in on any Linux", () => {
  const { packages } = binary;
  assert.deepEqual(packages("darwin", "arm64"), ["@toolcheck/cli-darwin-arm64"]);
  assert.deepEqual(packages("win32", "x64"), ["@toolcheck/cli-win32-x64"]);
  assert.deepEqual(packages("linux", "x64", () => false), ["@toolcheck/cli-linux-x64", "@toolcheck/cli-linux-x64-musl"]);
  assert.deepEqual(packages("linux", "arm64", () => true), ["@toolcheck/cli-linux-arm64-musl"]);
});

const launched = (args, { input, env = {} } = {}) => spawnSync(process.execPath, [LAUNCHER, ...args], { input, encoding: "utf8", env: { ...process.env, ...env } });

test("the launcher passes everything on, and the status back", () => {
  const clean = launched(["lint", "-"], { input: JSON.stringify({ max_tokens: 9, messages: ASKED }) });
  assert.equal(clean.status, 0, clean.stderr);
  const wrong = launched(["lint", "-", "--output-format", "concise"], { input: '{"messages": []}' });
  assert.equal(wrong.status, 1);
  assert.match(wrong.stdout, /empty-content/);
  assert.equal(launched(["no-such-command"]).status, 2);
});

test("the launcher says which package is missing", () => {
  const { status, stderr } = launched(["--version"], { env: { TOOLCHECK_BIN: "" } });
  assert.equal(status, 2);
  assert.match(stderr, /^error: the package @toolcheck\/cli-\S+ .*is not installed: install without `--omit=optional`/);
});

test("whoever ends the launcher ends the program", { skip: process.platform === "win32" }, async () => {
  const child = spawn(process.execPath, [LAUNCHER, "serve", "--port", "0"], { stdio: ["pipe", "pipe", "inherit"] });
  const { url } = JSON.parse(await new Promise((resolve) => child.stdout.once("data", (line) => resolve(String(line).split("\n")[0]))));
  assert.equal((await ask(ASKED, url)).role, "assistant");
  child.kill("SIGTERM");
  const status = await new Promise((resolve) => child.once("exit", resolve));
  assert.equal(typeof status, "number");
  await assert.rejects(fetch(url));
});
