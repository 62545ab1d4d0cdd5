// The plain functions, with what Node has: node --test test/plain.node.mjs

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { assertClean, assertFindings, call, calls, error, lint, provider, startProvider, text, toBeClean, toHaveFindings, ToolcheckError } from "toolcheck";
import binary from "../lib/binary.js";
import script from "../lib/script.js";
import { ask, run } from "./agent.mjs";

const { toml } = script;

const folder = mkdtempSync(join(tmpdir(), "toolcheck-test-"));
after(() => rmSync(folder, { recursive: true }));
const ASKED = [{ role: "user", content: "When is low tide?" }];

async function withProvider(options, use) {
  const provider = await startProvider(options);
  try {
    await use(provider);
  } finally {
    await provider.stop();
  }
}

test("an agent that is right is conformant", () =>
  withProvider({ target: "anthropic", strict: "likely" }, async (provider) => {
    await provider.script([calls(call("tides", { harbour: "Cuxhaven" }), call("tides"), { text: "Let me see." }), text("Low at six.")]);
    assert.equal(await run(undefined, provider.url), "Low at six.");
    const exchanges = await provider.exchanges();
    assert.deepEqual(exchanges[0].response.content.map((part) => part.input ?? part.text), ["Let me see.", { harbour: "Cuxhaven" }, {}]);
    assert.equal((await provider.report()).requests, 2);
    assert.deepEqual(await provider.refused(), []);
    await provider.assertConformant();
    assert.equal(provider.env.OPENAI_BASE_URL, `${provider.url}/v1`);
    await provider.reset();
    assert.equal((await provider.report()).requests, 0);
  }));

test("a refusal fails with the API's words and a picture", () =>
  withProvider({ turns: [calls(call("tides"), call("tides"))] }, async (provider) => {
    await assert.rejects(run("drops a result", provider.url), /^Error: 400 messages\.2: `tool_use` ids were found/);
    await assert.rejects(provider.assertConformant(), (thrown) => {
      assert.match(thrown.message, /^toolcheck: refused with 400: unanswered-tool-call at \/messages\/1\/content\/1: /);
      assert.match(thrown.message, /\n  the API says: messages\.2: `tool_use` ids were found/);
      assert.match(thrown.message, /\nexchange 2 of 2, line 2\n[^]*✗ unanswered-tool-call/);
      return true;
    });
    assert.equal((await provider.refused())[0].rule, "unanswered-tool-call");
    provider.expectRefusal("unknown-tool");
    await assert.rejects(provider.assertConformant());
    provider.expectRefusal("unanswered-tool-call");
    await provider.assertConformant();
    provider.expectRefusal();
    await provider.assertConformant();
    await provider.reset();
    await assert.rejects(provider.assertConformant(), /no request was refused, which the test expects/);
  }));

test("what happens between requests is checked", () =>
  withProvider({ turns: [calls(call("tides", { harbour: "Cuxhaven" })), text("Low at six.")] }, async (provider) => {
    await run("changes arguments", provider.url);
    assert.deepEqual(await provider.refused(), []);
    await assert.rejects(provider.assertConformant(), /toolcheck: altered-arguments at \/request\/messages\/1\/content\/0.* of exchange 2: /);
  }));

test("a warning between requests fails only where that is asked for", async () => {
  const turns = [calls(call("moons")), text("Low at six.")];
  const found = /toolcheck: unknown-tool at .* of exchange \d: .*moons/;
  await withProvider({ turns }, async (provider) => {
    await run(undefined, provider.url);
    await provider.assertConformant();
  });
  await withProvider({ turns, failOn: "warning" }, async (provider) => {
    await run(undefined, provider.url);
    await assert.rejects(provider.assertConformant(), found);
  });
});

test("an error of a script is one of the server and no refusal", () =>
  withProvider({ turns: [error(429, { message: "Slow down.", retryAfter: 0, attempts: 1 }), text("Low at six.")] }, async (provider) => {
    await assert.rejects(ask(ASKED, provider.url), /429 Slow down\./);
    assert.equal((await ask(ASKED, provider.url)).content[0].text, "Low at six.");
    await provider.assertConformant();
  }));

test("a stream that is cut off can end cleanly", () =>
  withProvider({ turns: [calls(call("tides"), call("ferries"), { cutIn: "between-calls", cleanEnd: true })] }, async (provider) => {
    const tools = ["tides", "ferries"].map((name) => ({ name, input_schema: { type: "object" } }));
    const body = JSON.stringify({ model: "m", max_tokens: 9, stream: true, messages: ASKED, tools });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${provider.url}/v1/messages`, { method: "POST", headers, body });
    const stream = await response.text();
    assert.match(stream, /tides/);
    assert.doesNotMatch(stream, /ferries/);
  }));

test("every value comes through TOML, and what has no place there as text", () =>
  withProvider({}, async (provider) => {
    const values = { "a b.c": 'ü"\\\n\0\x7f😀', "": [1, -2.5, 1e300, true, { x: [] }], gone: undefined };
    for (const args of [values, { harbour: null, number: 2 ** 70 }]) {
      await provider.script([calls(call("tides", args))]);
      const read = (await ask(ASKED, provider.url)).content[0].input;
      assert.deepEqual(read, JSON.parse(JSON.stringify(args)));
    }
    assert.throws(() => toml([{ text: Symbol("x") }]), /^ToolcheckError: turn 1: the key `text` is a symbol; expected a string$/);
    await provider.script([]);
    assert.equal((await ask(ASKED, provider.url)).content[0].name, "tides");
  }));

test("the keys of a script are those that the program knows, and of options too", async () => {
  await withProvider({}, async (provider) => {
    const keys = async (text) => {
      const address = `${provider.admin}/script`;
      const said = await (await fetch(address, { method: "POST", body: text })).text();
      return [...JSON.parse(said).error.message.split("expected")[1].matchAll(/`([^`]+)`/g)].map(([, key]) => key).sort();
    };
    assert.deepEqual(Object.keys(script.TURN).sort(), await keys("[[turn]]\nno-such-key = 1\n"));
    assert.deepEqual(Object.keys(script.CALL).sort(), await keys("[[turn]]\ncalls = [{ no-such-key = 1 }]\n"));
    assert.deepEqual(Object.keys(script.SERVER_CALL).sort(), await keys("[[turn]]\nserver-calls = [{ no-such-key = 1 }]\n"));
    assert.deepEqual([...script.TURN.stop].sort(), await keys('[[turn]]\nstop = "x"\n'));
    assert.deepEqual([...script.TURN["cut-in"]].sort(), await keys('[[turn]]\ncut-in = "x"\n'));

    // Each key can be said by a function, or is what a function is for.
    const options = { reasoning: "a", redacted: true, serverCalls: [{ tool: "web_search", arguments: {}, result: [{ type: "x" }] }], stop: "pause", once: true, tokens: 9, pieces: 3, errorAfter: 2, withoutEnd: true, cutAfter: 1, cleanEnd: true };
    const turns = [
      calls(call("tides", {}, { signed: true }), { ...options, interleaved: true, indexZero: true, cutIn: "arguments" }),
      text("x", options),
      error(429, { message: "Slow down.", texts: { "openai-chat": "Slow." }, retryAfter: 1, attempts: 1 }),
      error(500, { once: true }),
    ];
    const said = new Set(turns.flatMap((turn) => Object.entries(turn).filter(([, one]) => one !== undefined).map(([key]) => key)));
    assert.deepEqual([...said].sort(), Object.keys(script.TURN).sort());
    const documented = new URL("../../../docs/serve.md", import.meta.url);
    if (existsSync(documented)) {
      const rows = readFileSync(documented, "utf8").split("| key of a turn |")[1].split("\n\n")[0];
      for (const [, cell] of rows.matchAll(/^\| ([^|]*) \|/gm)) for (const [, key] of cell.matchAll(/`([^`]+)`/g)) assert.ok(Object.hasOwn(script.TURN, key), key);
    }
    for (const turn of [text("x", { once: true }), text("x", { stop: "pause" }), text("x", { redacted: true }), text("x", { errorAfter: 2 }), text("x", { withoutEnd: true }), calls(call("tides", {}, { signed: true }), { indexZero: true }), error(429, { texts: { anthropic: "Slow." } }), text("x", { serverCalls: [{ tool: "web_search", result: [] }] })]) {
      await provider.script([turn, text("y")]);
    }
  });
});

test("a script is a list", () =>
  withProvider({}, async (provider) => {
    for (const one of [text("a"), "a", undefined, null]) {
      await assert.rejects(provider.script(one), { name: "ToolcheckError", message: 'a script is a list of turns: `script([text("Low at six.")])`' });
    }
  }));

test("a path that is not known is named, as a warning or as an error", async (context) => {
  const warn = context.mock.method(console, "warn", () => {});
  const lost = async ({ url }) => assert.equal((await fetch(`${url}/chat/completion`, { method: "POST", body: "{}" })).status, 404);
  await provider()({}, lost);
  assert.match(warn.mock.calls[0].arguments[0], /^The mock knows no such path, and answered 404: POST \/chat\/completion\. Nothing else was sent, so nothing was checked\. Is the base URL of the client right\?$/);
  await provider()({}, async ({ url }) => void (await fetch(`${url}/messages`, { method: "POST", body: "{}" })));
  assert.match(warn.mock.calls[1].arguments[0], /404: POST \/messages \(does the client's base URL lack `\/v1` at its end\? There is `\/v1\/messages` \(anthropic\)\)\./);
  await provider()({}, lost);
  assert.equal(warn.mock.callCount(), 2, "the same is said once");
  await assert.rejects(provider({ notFound: "error" })({}, lost), /^Error: toolcheck: there is no such path: POST \/chat\/completion$/);
  await withProvider({ notFound: "error" }, async (mock) => {
    await ask(ASKED, mock.url);
    await mock.assertConformant();
    await lost(mock);
    const report = await mock.report();
    assert.deepEqual([report.not_found, report.not_kept, report.not_recorded, report.refused_not_listed], [["POST /chat/completion"], 0, [], 0]);
    await assert.rejects(mock.assertConformant(), /there is no such path: POST \/chat\/completion\n/);
  });
  // OpenAI's clients are answered without `/v1`, too: what stands before the end of a path is free.
  await withProvider({}, async ({ url }) => {
    const body = JSON.stringify({ model: "gpt-4o", messages: ASKED });
    assert.equal((await fetch(`${url}/chat/completions`, { method: "POST", body })).status, 200);
  });
  assert.throws(() => provider({ notFound: true }), /the option `notFound` is true; expected "warning" or "error"/);
});

test("a test that sends nothing fails, if it is said", async () => {
  const nothing = async () => {};
  await assert.rejects(provider({ noRequest: "error" })({}, nothing), /^Error: toolcheck: the test sent nothing to its mock, so nothing was checked: /);
  await provider({ noRequest: "error" })({}, (mock) => ask(ASKED, mock.url));
  // Who expects a refusal is told that there was none.
  await assert.rejects(provider({ noRequest: "error" })({}, async (mock) => mock.expectRefusal()), /no request was refused, which the test expects/);
  assert.throws(() => provider({ noRequest: true }), /the option `noRequest` is true; expected "warning" or "error"/);
});

test("a message of the program names the options of the functions", () => {
  assert.equal(binary.asOptions("give `--target` or --extend-select, and not --color"), "give `target` or `extendSelect`, and not --color");
  const unsure = { messages: [{ role: "user", content: "Hello" }, { role: "tool", tool_call_id: "x", content: "y" }] };
  assert.throws(() => assertClean(unsure), (thrown) => !thrown.message.includes("use --format"));
});

test("a rule of an expected refusal has to be one, and a failure names it", () =>
  withProvider({ target: "anthropic" }, async (provider) => {
    assert.throws(() => provider.expectRefusal("unanswered-tool-cal"), /^ToolcheckError: there is no rule.*did you mean `unanswered-tool-call`/);
    assert.throws(() => provider.expectRefusal(3), { name: "ToolcheckError", message: /^expectRefusal: the rule is a number; expected the id of a rule/ });
    await run("drops a result", provider.url).catch(() => {});
    provider.expectRefusal("unknown-tool");
    await assert.rejects(provider.assertConformant(), (thrown) => {
      assert.match(thrown.message, /no request was refused because of unknown-tool, which the test expects \(`expectRefusal\("unknown-tool"\)`\); refused because of unanswered-tool-call/);
      assert.match(thrown.message, /refused with 400: unanswered-tool-call at/);
      return true;
    });
  }));

test("a key of a script is told by the turn that it is in, and not by a line of a text that nobody wrote", () =>
  withProvider({}, async (provider) => {
    for (const [turns, message] of [
      [[text("y"), { txet: "x" }], "turn 2: there is no key `txet`; did you mean `text`?"],
      [[{ status: 429, retryAfter: 1 }], "turn 1: there is no key `retryAfter`; did you mean `retry-after`?"],
      [[calls({ tool: "tides", argments: {} })], "turn 1: call 1: there is no key `argments`; did you mean `arguments`?"],
      [[{ calls: ["tides"] }], 'turn 1: call 1: it is "tides": give `call("tides")`'],
      [["x"], 'turn 1: it is "x": give `text("x")`'],
      [[3], "turn 1: it is 3: give an object"],
      [[{ status: "429" }], 'turn 1: the key `status` is "429"; expected a number'],
    ]) {
      await assert.rejects(provider.script(turns), { name: "ToolcheckError", message });
    }
  }));

test("an option of a turn that is misspelt is an error, and not one that nobody has set", () => {
  for (const [use, message] of [
    [() => call("tides", {}, { raww: "{" }), "call: there is no option `raww`; did you mean `raw`?"],
    [() => calls(call("tides"), { cutafter: 3 }), "calls: there is no option `cutafter`; did you mean `cutAfter`?"],
    [() => calls(call("tides"), { interleved: true }), "calls: there is no option `interleved`; did you mean `interleaved`?"],
    [() => text("y", { reasonning: "x" }), "text: there is no option `reasonning`; did you mean `reasoning`?"],
    [() => text("y", { pieces: "3" }), 'text: the option `pieces` is "3"; expected a number'],
    [() => error(429, { "retry-after": 0 }), "error: there is no option `retry-after`; did you mean `retryAfter`?"],
  ]) {
    assert.throws(use, { name: "ToolcheckError", message });
  }
  assert.deepEqual(calls(call("tides"), { text: "x", cleanEnd: true }).calls.map((one) => one.tool), ["tides"]);
});

test("an option of a mock that is misspelt is an error, and starts nothing", async () => {
  // Nothing is started: the program is not even looked for.
  const bin = "no-such-program";
  for (const [options, message] of [
    [{ bin, targt: "bedrock" }, "there is no option `targt`; did you mean `target`?"],
    [{ bin, alow: "unknown-tool" }, "there is no option `alow`; did you mean `allow`?"],
    [{ bin, turn: [] }, "there is no option `turn`; did you mean `turns`?"],
    [{ bin, strict: true }, 'the option `strict` is true; expected "known" or "likely"'],
    [{ bin, target: 3 }, "the option `target` is 3; expected a string or a list of strings"],
    ["bedrock", 'the options are "bedrock": give an object'],
  ]) {
    await assert.rejects(startProvider(options), { name: "ToolcheckError", message });
    assert.throws(() => provider(options), { name: "ToolcheckError", message });
  }
  // There is nothing to switch off, and nothing that could be switched on.
  await assert.rejects(startProvider({ setEnv: true }), { message: "the option `setEnv` is true; expected false" });
  await withProvider({ setEnv: false }, async ({ url }) => assert.notEqual(process.env.OPENAI_BASE_URL, `${url}/v1`));
  assert.throws(() => provider({ setenv: false }), /there is no option `setenv`; did you mean `setEnv`\?/);
  await withProvider({ target: new Set(["anthropic"]), allow: ["unknown-tool"], strict: "known" }, async ({ target }) => {
    assert.equal(target, "anthropic");
  });
});

test("a program that is missing, too old or unable is named", { skip: process.platform === "win32" }, async () => {
  const fake = (name, body) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const old = `case $1 in --version) echo toolcheck 0.0.9 ;; *) echo "error: unrecognized subcommand 'serve'" >&2; exit 2 ;; esac`;
  for (const [bin, message] of [
    ["no-such-program", /`bin` names `no-such-program`, which is not a program/],
    [folder, /which is not a program/],
    [fake("old", old), /\(toolcheck 0\.0\.9\) is too old for `toolcheck serve`: update it/],
    [fake("silent", "exit 0"), /silent serve: it ended and said nothing/],
  ]) {
    await assert.rejects(startProvider({ bin }), (thrown) => thrown instanceof ToolcheckError && message.test(thrown.message));
  }
  await assert.rejects(startProvider({ target: "antropic" }), /^ToolcheckError: there is no target `antropic`/);
});

const CALL = { id: "call_1", type: "function", function: { name: "tides", arguments: "{}" } };
const TOOL = { type: "function", function: { name: "tides", parameters: { type: "object", properties: {} } } };
const ANSWERED = [
  { role: "user", content: "When is low tide?" },
  { role: "assistant", content: null, tool_calls: [CALL] },
  { role: "tool", tool_call_id: "call_1", content: "6:00" },
];
const body = (messages) => ({ model: "gpt-4o", messages, tools: [TOOL] });

test("a body is clean, or says why it is not", () => {
  for (const form of [(it) => it, JSON.stringify, (it) => Buffer.from(JSON.stringify(it))]) {
    assertClean(form(body(ANSWERED)), { target: "openai-chat" });
    assert.throws(() => assertClean(form(body(ANSWERED.slice(0, 2)))), /^Error: error\[unanswered-tool-call\]/);
  }
  for (const unread of [{}, "", "no JSON", []]) assert.throws(() => assertClean(unread), Error);
  assert.throws(() => assertClean({}, { ignore: "unrecognised-format" }), /nothing was checked/);
  assert.throws(() => assertClean(undefined), TypeError);
  assert.throws(() => assertClean(body(ANSWERED), { target: "opnai" }), /there is no target `opnai`/);
});

test("options reach the program", () => {
  const open = body(ANSWERED.slice(0, 2));
  assertClean(open, { kind: "session" });
  assertClean(open, { ignore: ["unanswered-tool-call"] });
  assertClean(open, { select: "unknown-tool" });
  const config = join(folder, "toolcheck.toml");
  writeFileSync(config, 'ignore = ["unanswered-tool-call"]\n');
  assertClean(open, { config });
  // Its text, as `toolcheck-wasm` takes it.
  assertClean(open, { config: 'ignore = ["unanswered-tool-call"]' });
  assert.throws(() => assertClean(open, { config: "# nothing\n", tools: [TOOL] }), /unanswered-tool-call/);
  const other = { type: "function", function: { name: "other" } };
  assert.deepEqual(lint(ANSWERED, { tools: [other] }).findings.map((finding) => finding.rule), ["unknown-tool"]);
  const half = "\ud83d";
  for (const form of [body([{ role: "user", content: half }]), `{"messages":[{"role":"user","content":"${half}"}]}`]) {
    assert.ok(lint(form).findings.some((finding) => finding.rule === "lone-surrogate"), JSON.stringify(lint(form).findings));
  }
});

test("an option that is misspelt is an error, and not one that nobody has set", () => {
  const good = body(ANSWERED);
  for (const [options, message] of [
    [{ targt: "bedrock" }, "there is no option `targt`; did you mean `target`?"],
    [{ "extend-select": [] }, "there is no option `extend-select`; did you mean `extendSelect`?"],
    [{ target: 3 }, "the option `target` is 3; expected a string"],
    [{ kind: "req" }, 'the option `kind` is "req"; expected "request" or "session" or "dataset"'],
    ["bedrock", 'the options are "bedrock": give an object'],
  ]) {
    for (const use of [toBeClean, assertClean, lint]) assert.throws(() => use(good, options), { name: "ToolcheckError", message });
  }
  assert.throws(() => toBeClean(good, { failOn: "info" }), /the option `failOn` is "info"; expected "error" or "warning"/);
  assert.throws(() => lint(good, { failOn: "error" }), /there is no option `failOn`/);
});

test("both packages see options and bodies in the same way", (context) => {
  const isOwn = (line) => !/^(import|"use strict"|const \{[^}]*\} = require|module\.exports|$)/.test(line);
  const text = (file) => readFileSync(file, "utf8").split("\n").filter(isOwn).map((line) => line.replace(/^export (?=function)/, ""));
  for (const name of ["body.js", "check.js"]) {
    const other = new URL(`../../wasm/js/${name}`, import.meta.url);
    if (!existsSync(other)) return context.skip("not in a checkout");
    assert.deepEqual(text(new URL(`../lib/${name}`, import.meta.url)), text(other));
  }
});

test("what is no body is not taken for an empty one", async () => {
  for (const [no, advice] of [[Promise.resolve({}), /a Promise, .*`await` it/], [new Map(), /a Map/], [new Response("{}"), /response\.json/], [undefined, /the body is undefined/]]) {
    for (const use of [lint, assertClean, toBeClean]) assert.throws(() => use(no), (error) => error instanceof TypeError && advice.test(error.message));
  }
  const bytes = new TextEncoder().encode(JSON.stringify(body(ANSWERED)));
  assertClean(bytes.buffer);
  assertClean(new DataView(bytes.buffer));
  const circle = { messages: [] };
  circle.messages.push(circle);
  assert.throws(() => lint(circle), /body\.messages\[0\] contains itself/);
  const inside = { ...body(ANSWERED), messages: [...ANSWERED, { role: "user", content: Promise.resolve("x") }] };
  for (const use of [lint, assertClean, toBeClean]) assert.throws(() => use(inside), { name: "TypeError", message: "body.messages[3].content is a Promise, not what is in it: `await` it" });
  assert.throws(() => lint({ messages: ANSWERED, metadata: { "a b": new Map() } }), { message: 'body.metadata["a b"] is a Map, not what is in it: give `Object.fromEntries(map)`' });
  // What says itself what it is in JSON is that.
  lint({ ...body(ANSWERED), metadata: Object.assign(new Map(), { toJSON: () => "x" }) });
});

test("findings are those that are expected, in their order", () => {
  const open = body(ANSWERED.slice(0, 2));
  const has = (...expected) => toHaveFindings(open, expected);
  const place = "/messages/1/tool_calls/0";
  for (const one of ["unanswered-tool-call", `unanswered-tool-call at ${place}`, `error unanswered-tool-call at 0:${place}`]) {
    assert.equal(has(one).pass, true, one);
  }
  assert.equal(toHaveFindings(open, "unanswered-tool-call").pass, true);
  assert.equal(toHaveFindings(body(ANSWERED), []).pass, true);
  for (const wrong of [[], ["unanswered-tool-call", "unanswered-tool-call"], [`warning unanswered-tool-call at ${place}`], ["unanswered-tool-call at /messages/2"]]) {
    assert.equal(has(...wrong).pass, false, wrong);
    assert.throws(() => assertFindings(open, wrong), /^Error: the findings are not as expected:[^]*\nread as openai-chat, checked against openai-chat$/);
  }
  const either = toHaveFindings({ messages: ASKED }, "unknown-tool").message();
  assert.match(either, /\nread as openai-chat, checked against openai-chat \(anthropic is nearly as likely: use `format` to choose\)$/);
  assertFindings(open, ["unanswered-tool-call"]);
  assert.match(has().message(), /\+ error unanswered-tool-call at \/messages\/1\/tool_calls\/0 {2}line \d+, column \d+ of the body/);
  assert.doesNotMatch(has().message(), /body\.json/);
  assert.match(has("unanswered-tool-call at /messages/2").message(), /- unanswered-tool-call at \/messages\/2/);
  assert.match(has("unanswered-tool-call").message(), /expected the body to have other findings/);
  assert.equal(toHaveFindings({ messages: [] }, 'empty-content at ""', { target: "openai-chat" }).pass, true);
  assert.equal(toHaveFindings(`${JSON.stringify(body(ANSWERED))}\n${JSON.stringify(open)}`, `unanswered-tool-call at 1:${place}`).pass, true);
  assert.throws(() => has("unanswered-tool-cal"), /there is no rule.*did you mean `unanswered-tool-call`/);
  assert.throws(() => has("unanswered-tool-call at messages"), /is not a JSON Pointer/);
  assert.throws(() => has("fatal unanswered-tool-call"), /there is no level `fatal`/);
  assert.throws(() => has("--help"), /there is no rule/);
  assert.throws(() => toHaveFindings(open, [], { targt: "x" }), /there is no option `targt`; did you mean `target`\?/);
});

test("warnings fail unless only errors do, and a matcher says both", () => {
  const broken = { ...CALL, function: { name: "tides", arguments: "{" } };
  const doubtful = body([ANSWERED[0], { role: "assistant", content: null, tool_calls: [broken] }, ANSWERED[2]]);
  assertClean(doubtful, { failOn: "error" });
  assert.throws(() => assertClean(doubtful), /warning\[invalid-arguments-json\]/);
  assert.match(toBeClean(doubtful).message(), /warning\[invalid-arguments-json\]/);
  assert.equal(toBeClean(doubtful).pass, false);
  assert.equal(toBeClean(doubtful, { failOn: "error" }).pass, true);
});

/** Whether a process runs; one that has ended and was not waited for does not. */
function isAlive(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(")").at(-1).trim()[0] !== "Z";
  } catch {
    return false;
  }
}

async function ends(pid) {
  for (let left = 500; left && isAlive(pid); left -= 1) await sleep(20);
  return !isAlive(pid);
}

const CHILD = `
import { readFileSync, readdirSync } from "node:fs";
import { startProvider } from ${JSON.stringify(import.meta.resolve("toolcheck"))};
const provider = await startProvider();
const isOurs = (pid) => {
  try {
    return readFileSync("/proc/" + pid + "/stat", "utf8").split(")").at(-1).trim().split(" ")[1] === String(process.pid);
  } catch {
    return false;
  }
};
console.log(readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).find(isOurs));
`;

const skip = !existsSync("/proc/self/stat");

/** Runs a process with a mock that it never stops; returns it and the id of the mock. */
async function started(more) {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", CHILD + more], { stdio: ["ignore", "pipe", "inherit"] });
  const pid = Number(await new Promise((resolve) => child.stdout.once("data", (line) => resolve(String(line).trim()))));
  assert.ok(pid > 0);
  return [child, pid];
}

test("nothing is left if the process is killed", { skip }, async () => {
  const [child, pid] = await started("setInterval(() => {}, 1000);");
  assert.ok(isAlive(pid));
  child.kill("SIGKILL");
  assert.ok(await ends(pid));
});

test("a mock that nobody stops keeps no process from ending", { skip }, async () => {
  const [child, pid] = await started("");
  const status = child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve)));
  assert.equal(status, 0);
  assert.ok(await ends(pid));
});

test("a stopped mock can be stopped again, and does not answer", async () => {
  const provider = await startProvider();
  await provider.stop();
  await provider.stop();
  await assert.rejects(provider.report(), /does not answer/);
});

test("a fixture sets the environment, and warns if nothing was sent", async (context) => {
  const warn = context.mock.method(console, "warn", () => {});
  const before = { ...process.env };
  await provider()({}, async ({ url }) => assert.equal(process.env.OLLAMA_HOST, url));
  assert.deepEqual({ ...process.env }, before);
  assert.match(warn.mock.calls[0].arguments[0], /sent nothing to its mock/);
  await provider({ setEnv: false })({}, async ({ url }) => {
    assert.deepEqual({ ...process.env }, before);
    await ask(ASKED, url);
  });
  assert.equal(warn.mock.callCount(), 1);
});

test("the version is that of the program", (context) => {
  const workspace = new URL("../../../Cargo.toml", import.meta.url);
  if (!existsSync(workspace)) return context.skip("not in a checkout");
  const [, version] = /\[workspace\.package\][^[]*\nversion = "([^"]*)"/.exec(readFileSync(workspace, "utf8"));
  assert.equal(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version, version);
});

test("the licences are those of the repository, as files: npm packs no links", (context) => {
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) {
    const original = new URL(`../../../${name}`, import.meta.url);
    if (!existsSync(original)) return context.skip("not in a checkout");
    const ours = new URL(`../${name}`, import.meta.url);
    assert.ok(lstatSync(ours).isFile());
    assert.equal(readFileSync(ours, "utf8"), readFileSync(original, "utf8"));
  }
});
