// The functions, with what Node has.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { diff, endpoint, explainError, fix, init, lint, models, names, Report, show, ToolcheckError } from "toolcheck-wasm";
import { CLEAN, FIXTURES, PLACE, UNANSWERED } from "./common.js";

const WASM = new URL("../js/toolcheck.wasm", import.meta.url);

test("the module is small, and imports nothing", () => {
  const bytes = readFileSync(WASM);
  console.log(`${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} with gzip`);
  // As Cargo builds it: what wasm-opt makes of it is smaller, and a release, with a standard library for size, is at most 2 MB with
  // gzip. What gzip makes of the same bytes depends on the processor that Node runs on, by 3 %, so they are counted as they are.
  // 108 kB of them are some ninety facts, messages on lines in more forms, rows with literals of Python, and fixes in rounds;
  // 75 kB what is rewritten in the form of this API, the search for the fix that makes a request no better, and more errors;
  // 88 kB guesses that make a request better, messages in more wrappers, and transcripts of voice agents;
  // 50 kB facts of limits, media and models, tables of rows with their tools, and guesses of names and types;
  // 90 kB what pages and tables say of models, threads of message tables, chats of Open WebUI, and more facts and errors.
  // 46 kB rows whose contents and calls are the text of JSON, roles for calls on lines, what is rewritten of several faults, errors.
  // 50 kB messages of another API written as this one has them, the APIs that agents send to, lines that add to others, more facts.
  // 57 kB logs that begin with the newest, faults that lines repeat, MCP in more recordings, blocks of several APIs, hints in errors.
  // 104 kB messages of five frameworks, blocks that become text, tools in other forms, texts told by all known ones, models' facts.
  // 17 kB the two sides of spans, answers of agents apart, tools in system texts, ids that one side has lost.
  // 130 kB rows in more forms, what is ignored and misspelt, errors without a source of ours, what agents send next.
  // 78 kB what was read and reported since, such as streams, and 106 kB `models` and its data, less 126 kB: examples of rules,
  // folders of the machine, copies of sorting.
  assert.ok(bytes.length <= 7_295_000, `${bytes.length} bytes`);
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes)), []);
});

test("a body is text, bytes or an object", () => {
  const text = JSON.stringify(UNANSWERED);
  for (const body of [text, new TextEncoder().encode(text), UNANSWERED, new TextEncoder().encode(text).buffer]) {
    const report = lint(body);
    assert.ok(report instanceof Report);
    assert.deepEqual(report.findings.map(({ rule, level, pointer }) => [rule, level, pointer]), [["unanswered-tool-call", "error", PLACE]]);
    assert.deepEqual([report.format, report.target, report.kind, report.messages, report.toolCalls], ["anthropic", "anthropic", "request", 3, 1]);
    assert.deepEqual([report.summary.errors, report.summary.warnings], [1, 0]);
    assert.match(report.render(), /error\[unanswered-tool-call\]/);
    assert.match(report.render({ output: "concise" }), /^body\.json:\d+:\d+/);
    assert.match(report.render({ color: true }), /\x1b\[/);
  }
  assert.equal(lint(CLEAN).findings.length, 0);
  // The lines of an object are those of its JSON on several lines.
  const lines = JSON.stringify(UNANSWERED, null, 2).split("\n");
  assert.match(lines.slice(lint(UNANSWERED).findings[0].line - 1).join(""), /^\s*\{\s*"type": "tool_use"/);
});

test("options are those of the program", () => {
  assert.equal(lint(UNANSWERED, { target: "bedrock" }).target, "bedrock");
  assert.equal(lint(UNANSWERED, { kind: "session" }).kind, "session");
  assert.deepEqual(lint(UNANSWERED, { ignore: "unanswered-tool-call" }).findings, []);
  assert.deepEqual(lint(UNANSWERED, { config: 'ignore = ["unanswered-tool-call"]\n' }).findings, []);
  const history = { messages: UNANSWERED.messages.slice(0, 2).concat({ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_pier", content: "at six" }] }) };
  const rules = (tools) => lint(history, { tools }).findings.map((finding) => finding.rule);
  assert.deepEqual(rules(UNANSWERED.tools), []);
  assert.deepEqual(rules(JSON.stringify(UNANSWERED.tools)), []);
  assert.deepEqual(rules([{ name: "find_bus", input_schema: { type: "object" } }]), ["unknown-tool"]);
  const refused = (options, text) => assert.throws(() => lint(CLEAN, options), (error) => error instanceof ToolcheckError && error.message.includes(text));
  refused({ target: "bedrok" }, "did you mean `bedrock`?");
  refused({ format: "x" }, "there is no format `x`");
  refused({ kind: "x" }, "there is no kind `x`");
  refused({ taget: "bedrock" }, "there is no option `taget`; did you mean `target`?");
  refused({ extend_select: "x" }, "did you mean `extendSelect`?");
  refused({ isLlm: () => true }, "there is no option `isLlm`; there are target, format,");
  refused({ target: null }, "the option `target` is null; expected a string");
  refused({ select: ["a", 5] }, "the option `select` is a list; expected a string or a list of strings");
  refused({ config: { ignore: [] } }, "the option `config` is an object");
  refused({ at: "messages" }, "a JSON Pointer begins with a slash: `/messages`");
  refused(null, "the options are null: give an object");
  refused("bedrock", 'the options are "bedrock"');
  assert.deepEqual(lint(CLEAN, { target: undefined, tools: undefined }).findings, []);
  assert.throws(() => lint(CLEAN).render({ width: -1 }), /the option `width` is -1; expected a whole number from 1/);
  assert.throws(() => fix(CLEAN, { unsafefixes: true }), /did you mean `unsafeFixes`\?/);
  assert.throws(() => diff(CLEAN, CLEAN, { allow: 1 }), /the option `allow` is 1/);
  assert.throws(() => show(CLEAN, { output: true }), /the option `output` is true; expected a string/);
  refused({ select: "unanswered-tool-cal" }, "there is no rule");
  refused({ tools: "1" }, "no tools found");
  refused({ config: "x = " }, "invalid configuration");
  refused({ config: "toolcheck.toml" }, 'the option `config` is "toolcheck.toml", a path: give the text of the file');
  assert.throws(() => lint(CLEAN).render({ output: "x" }), /there is no output `x`; there are agent/);
});

test("what is no body is told from one", () => {
  const refused = (body, text) => assert.throws(() => lint(body), (error) => error instanceof TypeError && error.message.includes(text));
  refused(undefined, "the body is undefined: give a string, bytes or an object");
  refused(5, "the body is a number");
  refused(Promise.resolve(CLEAN), "the body is a Promise, not what is in it: `await` it");
  refused(new Response("{}"), "give `await response.json()`");
  refused(new FormData(), "the body is a FormData");
  refused(new Map([["messages", []]]), "Object.fromEntries(map)");
  refused(new Blob(["{}"]), "await blob.arrayBuffer()");
  assert.throws(() => lint(CLEAN, { tools: Promise.resolve([]) }), /the tools are a Promise/);
});

test("an address names a format and a target", () => {
  assert.deepEqual(endpoint("https://api.deepseek.com/v1/chat/completions"), { call: "llm", format: "openai-chat", target: "deepseek" });
  assert.deepEqual(endpoint(new URL("https://gateway.example.com/v1/messages?x=1")), { call: "llm", format: "anthropic", target: null });
  assert.deepEqual(endpoint("/v1/embeddings"), { call: "other", format: null, target: null });
});

test("objects are what JSON.stringify makes of them", () => {
  const body = { ...CLEAN, temperature: undefined, metadata: { user_id: undefined } };
  assert.deepEqual(lint(body, { target: "anthropic" }).findings, lint({ ...CLEAN, metadata: {} }, { target: "anthropic" }).findings);
  const wrong = (body, message) => assert.throws(() => lint(body), (error) => error instanceof TypeError && error.message === message);
  wrong({ ...CLEAN, max_tokens: 9n }, "body.max_tokens is a BigInt, which JSON can't represent");
  wrong({ messages: [{ "a b": [1, 2n] }] }, 'body.messages[0]["a b"][1] is a BigInt, which JSON can\'t represent');
  const cyclic = { messages: [{ role: "user" }] };
  cyclic.messages[0].content = cyclic.messages;
  wrong(cyclic, "body.messages[0].content contains itself");
  for (const body of [undefined, null, 1, () => {}, Symbol("x")]) assert.throws(() => lint(body), TypeError);
  assert.throws(() => lint(CLEAN, { tools: [1n] }), { name: "TypeError", message: "tools[0] is a BigInt, which JSON can't represent" });
  // The same object twice is no cycle.
  const said = { role: "user", content: "x" };
  assert.equal(lint({ messages: [said, said] }).messages, 2);
});

test("half of a character is found, and kept", () => {
  const object = { ...CLEAN, messages: [{ role: "user", content: "a\ud83dz" }] };
  assert.deepEqual(lint(object).findings.map((finding) => finding.rule), ["lone-surrogate"]);
  const text = `{"max_tokens": 9, "messages": [{"role": "user", "content": "a\ud83dz, \u{1f600}"}]}`;
  const { findings } = lint(text);
  assert.equal(findings.length, 1, JSON.stringify(findings));
  assert.match(findings[0].message, /UTF-8/);
  const [start] = lint(text).range(findings[0]);
  assert.equal(text.charCodeAt(start), 0xd83d);
  // A fix elsewhere keeps it.
  const broken = JSON.stringify(UNANSWERED).replace("Well?", "\udc00Well \u{1f600}?");
  const fixed = fix(broken, { unsafeFixes: true });
  assert.ok(!fixed.changed || fixed.body.includes("\udc00Well \u{1f600}?"), fixed.body);
});

test("one rule or one place is fixed alone", () => {
  const open = { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "count", input: {} }] };
  const body = { ...UNANSWERED, messages: [{ role: "user", content: "count" }, open, { role: "user", content: [] }] };
  const rules = (how) => fix(body, { target: "anthropic", unsafeFixes: true, ...how }).applied.map((done) => done.rule);
  assert.deepEqual(rules({ only: ["unanswered-tool-call"] }), ["unanswered-tool-call"]);
  assert.deepEqual(rules({ place: "/messages/1/content/0" }), ["unanswered-tool-call"]);
  assert.deepEqual(rules({ place: "/messages/0" }), []);
  assert.throws(() => fix(body, { place: "x" }), /`x` is not a LINE, a LINE:COLUMN or a JSON Pointer/);
  assert.throws(() => fix(body, { only: ["unanswered-tool-cal"] }), /there is no rule/);
});

test("places in a string are found, whatever is before them", () => {
  const lines = Array.from({ length: 700 }, (_, at) => `{"max_tokens": 9, "messages": [{"role": "user", "content": "é\u{1f600}漢${"x".repeat(at % 7)}"}, {"role": "wizard", "content": ""}]}`);
  const text = lines.join("\n");
  const report = lint(text, { target: "anthropic" });
  const roles = report.findings.filter((finding) => finding.rule === "unknown-role");
  assert.equal(roles.length, 700);
  for (const finding of roles) assert.match(text.slice(...report.range(finding)), /wizard/);
  assert.throws(() => lint(UNANSWERED).range({ byte_start: 0, byte_end: 1 }), TypeError);
});

test("a body is fixed, and keeps its type", () => {
  const fixed = fix(UNANSWERED, { unified: true });
  assert.equal(fixed.changed, true);
  assert.deepEqual(lint(fixed.body).findings, []);
  assert.deepEqual(fixed.applied.map(({ rule, safe }) => [rule, safe]), [["unanswered-tool-call", true]]);
  assert.equal(fixed.findings_left, 0);
  assert.match(fixed.diff, /^--- body\.json\n\+\+\+ body\.json\n@@/);
  assert.equal(typeof fix(JSON.stringify(UNANSWERED)).body, "string");
  assert.ok(fix(new TextEncoder().encode(JSON.stringify(UNANSWERED))).body instanceof Uint8Array);
  const clean = fix(CLEAN);
  assert.equal(clean.body, CLEAN);
  assert.equal(clean.changed, false);
  assert.equal(UNANSWERED.messages.length, 3, "what was given is not changed");
});

test("bytes of every kind stay bytes", () => {
  const encoded = new TextEncoder().encode(JSON.stringify(UNANSWERED));
  const clean = new TextEncoder().encode(JSON.stringify(CLEAN));
  const kind = (body) => Object.prototype.toString.call(fix(body).body);
  for (const { buffer } of [encoded, clean]) {
    assert.equal(kind(buffer), "[object ArrayBuffer]");
    assert.equal(kind(new DataView(buffer)), "[object Uint8Array]");
    assert.equal(kind(new Uint8Array(buffer)), "[object Uint8Array]");
  }
  const fixed = fix(encoded.buffer);
  assert.ok(fixed.changed);
  assert.equal(lint(fixed.body).summary.errors, 0);
});

test("what a change lost", () => {
  const without = { ...UNANSWERED, messages: UNANSWERED.messages.slice(0, 1) };
  const changes = diff(UNANSWERED, without);
  assert.equal(changes.level, "loss");
  assert.ok(changes.changes.some((change) => change.kind === "call-lost"), JSON.stringify(changes.changes));
  assert.match(changes.render(), /loss/);
  assert.equal(diff(CLEAN, CLEAN).level, null);
  assert.throws(() => diff(CLEAN, "{}"), ToolcheckError);
  assert.throws(() => diff(CLEAN, CLEAN, { allow: ["x"] }), /there is no change `x`/);
});

test("an error of an API is explained, with what causes it", () => {
  const text = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_pier. Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
  const alone = explainError(text);
  assert.equal(alone.explained, true);
  assert.equal(alone.matches[0].rule, "unanswered-tool-call");
  assert.match(alone.render(), /unanswered-tool-call/);
  const found = explainError(text, UNANSWERED);
  assert.equal(found.findings[0].pointer, PLACE);
  assert.match(found.render(), /toolu_pier/);
  assert.equal(explainError("no idea").explained, false);
});

test("an error is that of the API that is named, and says how sure its cause is", () => {
  const text = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_pier. Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
  assert.equal(explainError(text).matches[0].target, "anthropic");
  assert.equal(explainError(text).cause, undefined);
  const named = explainError(text, undefined, { target: "vertex-anthropic" });
  assert.equal(named.matches[0].target, "vertex-anthropic");
  assert.match(named.render({ width: 80 }), /vertex-anthropic/);
  assert.equal(explainError(text, UNANSWERED, { target: "vertex-anthropic" }).cause, "found");
  assert.equal(explainError(text, CLEAN).cause, null);
  assert.throws(() => explainError(text, UNANSWERED, { targt: "bedrock" }), /there is no option `targt`; did you mean `target`\?/);
  assert.throws(() => explainError(text, UNANSWERED, { target: "bedrok" }), /there is no target `bedrok`; did you mean `bedrock`\?/);
});

test("the picture is a page without scripts", () => {
  const hostile = structuredClone(UNANSWERED);
  hostile.messages[1].content[0].name = "<script>alert(1)</script>";
  const html = show(hostile, { text: true });
  assert.match(html, /^<!DOCTYPE html>/);
  assert.doesNotMatch(html, /<script/i);
  assert.match(show(UNANSWERED, { output: "text" }), /toolu_pier/);
  assert.equal(lint(UNANSWERED).show(), show(UNANSWERED));
});

test("what is known of a model is told with its evidence", () => {
  const { model, facts, told } = models("gpt-5");
  assert.equal(model, "gpt-5");
  const refused = facts.find(({ target, key }) => target === "openai-chat" && key === "max_tokens");
  assert.equal(refused.rule, "unknown-field");
  assert.match(refused.known.sources[0], /^https:/);
  assert.ok(told.some(({ provider, told }) => provider === "openai" && told.max_output > 100_000 && told.evidence));
  assert.equal(models("openai/gpt-5:free").own_name, "gpt-5");
  assert.deepEqual(models("no-model"), { version: 1, model: "no-model", own_name: "no-model", facts: [], told: [] });
  const all = models();
  assert.equal(all.model, null);
  assert.ok(all.facts.length > facts.length && all.told.length > 100);
  assert.throws(() => models(5), TypeError);
});

test("the names of options are told", () => {
  const { version, targets, formats, kinds } = names();
  assert.equal(version, JSON.parse(readFileSync(new URL("../package.json", import.meta.url))).version);
  assert.ok(targets.some(({ id, format }) => id === "anthropic" && format === "anthropic"));
  assert.ok(formats.includes("openai-chat"));
  assert.deepEqual(kinds, ["request", "session", "dataset"]);
});

test("hostile bodies are no trouble", () => {
  const deep = "[".repeat(500_000);
  assert.ok(lint(deep).findings.length > 0);
  assert.ok(lint(`{"messages": ${"[{\"content\":".repeat(100_000)}`).findings.length > 0);
  assert.ok(lint(new Uint8Array(0)).findings.length > 0);
  assert.ok(lint(Uint8Array.from({ length: 10_000 }, (_, at) => (at * 7919) % 256)).findings.length > 0);
  assert.equal(lint(UNANSWERED).findings.length, 1, "and the next body is linted as ever");
});

/** A module with the exports of ours, each of which traps. */
function trapping() {
  const named = (text) => [text.length, ...Buffer.from(text)];
  const section = (id, bytes) => [id, bytes.length, ...bytes];
  const functions = ["alloc", "call", "dealloc", "panicked"];
  const exported = [functions.length + 1, ...named("memory"), 2, 0, ...functions.flatMap((name) => [...named(name), 0, 0])];
  const type = [1, 0x60, 0, 1, 0x7f];
  const code = [1, 3, 0, 0x00, 0x0b]; // unreachable, end
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[section(1, type), section(3, [1, 0]), section(5, [1, 0, 1]), section(7, exported), section(10, code)].flat(),
  ]);
}

test("a module that fails is no reason for another error than that", async () => {
  await init(trapping());
  assert.throws(() => lint(CLEAN), (error) => error instanceof ToolcheckError && /^toolcheck failed, please report it: unreachable/.test(error.message));
  await init(readFileSync(WASM));
  assert.deepEqual(lint(CLEAN).findings, []);
});

test("the tools of a request cost little when they have been seen before", () => {
  const body = readFileSync(join(FIXTURES, "seeds", "coco-before.json"));
  const bare = JSON.parse(body);
  delete bare.tools;
  const median = (body) => {
    const times = Array.from({ length: 41 }, () => {
      const start = process.cpuUsage();
      for (let at = 0; at < 5; at += 1) lint(body);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 5;
    });
    return times.sort((one, other) => one - other)[20];
  };
  const [with_, without] = [median(body), median(JSON.stringify(bare))];
  console.log(`${with_} µs with tools, ${without} µs without`);
  // When the schema of schemas was made for each call, it was twelve times as much.
  assert.ok(with_ < 4 * without, `${with_} µs with tools, ${without} µs without`);
});

test("a body of many megabytes costs what its length is worth", () => {
  const line = JSON.stringify(CLEAN);
  const text = `${line}\n`.repeat(100_000);
  const start = process.cpuUsage();
  const report = lint(text);
  const { user, system } = process.cpuUsage(start);
  assert.equal(report.transcripts, 100_000);
  assert.ok(user + system < 60_000_000, `${user + system} µs`);
});
