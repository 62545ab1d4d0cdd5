// The wrapped `fetch`, against a server on the loopback interface.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { LintError, lintedFetch } from "toolcheck-wasm/fetch";
import { CLEAN, UNANSWERED } from "./common.js";

const seen = [];
let base;
const server = createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    seen.push({ method: request.method, path: request.url, body: Buffer.concat(pieces).toString() });
    response.end('{"ok": true}');
  });
});
before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());

const BROKEN = JSON.stringify(UNANSWERED);
const GOOD = JSON.stringify(CLEAN);
const post = (body) => ({ method: "POST", headers: { "content-type": "application/json" }, body });

/** What the server has got from a call. */
async function sent(call) {
  seen.length = 0;
  await call();
  return seen.map(({ body }) => body);
}

test("a request with an error is not sent", async () => {
  const fetch = lintedFetch();
  const bodies = await sent(() =>
    assert.rejects(fetch(`${base}/v1/messages?key=secret`, post(BROKEN)), (error) => {
      assert.ok(error instanceof LintError);
      assert.equal(error.url, `${base}/v1/messages`);
      assert.equal(error.report.findings[0].rule, "unanswered-tool-call");
      assert.match(error.message, /is not sent:\n.*unanswered-tool-call/s);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    }),
  );
  assert.deepEqual(bodies, []);
});

test("whatever a body is given as, it is linted and sent", async () => {
  const fetch = lintedFetch();
  const url = `${base}/v1/messages`;
  const bytes = (text) => new TextEncoder().encode(text);
  const stream = (text) => new Blob([text]).stream();
  const calls = {
    text: (text) => fetch(url, post(text)),
    address: (text) => fetch(new URL(url), post(text)),
    bytes: (text) => fetch(url, post(bytes(text))),
    buffer: (text) => fetch(url, post(bytes(text).buffer)),
    blob: (text) => fetch(url, post(new Blob([text]))),
    stream: (text) => fetch(url, { ...post(stream(text)), duplex: "half" }),
    request: (text) => fetch(new Request(url, post(text))),
    both: (text) => fetch(new Request(url, post("{}")), post(text)),
  };
  for (const [name, call] of Object.entries(calls)) {
    assert.deepEqual(await sent(async () => assert.deepEqual(await (await call(GOOD)).json(), { ok: true })), [GOOD], name);
    assert.deepEqual(await sent(() => assert.rejects(call(BROKEN), LintError, name)), [], name);
  }
});

test("other requests are sent as they are", async () => {
  const fetch = lintedFetch();
  for (const path of ["/v1/embeddings", "/v1/messages/count_tokens", "/"]) {
    assert.deepEqual(await sent(() => fetch(base + path, post(BROKEN))), [BROKEN], path);
  }
  assert.deepEqual(await sent(() => fetch(`${base}/v1/messages`)), [""]);
  assert.deepEqual(await sent(() => fetch(`${base}/v1/messages`, { method: "POST" })), [""]);
  assert.deepEqual(await sent(() => lintedFetch({ isLlm: () => false })(`${base}/v1/messages`, post(BROKEN))), [BROKEN]);
  assert.deepEqual(await sent(() => assert.rejects(lintedFetch({ isLlm: (url) => url.endsWith("/gateway") })(`${base}/gateway`, post(BROKEN)), LintError)), []);
});

test("the address names the format and the API", async () => {
  const called = [];
  const seen = async (url, body, options) => {
    let report;
    const fetch = lintedFetch({ fetch: async (...given) => void called.push(given), onReport: (one) => void (report = one), ...options });
    await fetch(url, post(JSON.stringify(body)));
    return [report.format, report.target];
  };
  const chat = { model: "m", messages: [{ role: "user", content: "Good morning." }] };
  assert.deepEqual(await seen("https://api.deepseek.com/chat/completions", chat), ["openai-chat", "deepseek"]);
  assert.deepEqual(await seen("https://api.mistral.ai/v1/chat/completions", chat), ["mistral", "mistral"]);
  assert.deepEqual(await seen("https://api.anthropic.com/v1/messages", chat), ["anthropic", "anthropic"]);
  assert.deepEqual(await seen("https://api.deepseek.com/chat/completions", chat, { target: "groq" }), ["openai-chat", "groq"]);
  // What a format does not know is found, although it looks like another one.
  await assert.rejects(lintedFetch({ fetch })("https://api.anthropic.com/v1/messages", post(JSON.stringify(chat))), /max_tokens/);
});

test("what can't be read is sent, and said to be", async () => {
  const skipped = [];
  const fetch = lintedFetch({ onSkip: (reason, { url }) => void skipped.push([reason, new URL(url).pathname]) });
  const call = (path, body, headers = {}) => sent(() => fetch(base + path, { method: "POST", headers, body }));
  const zipped = gzipSync(BROKEN);
  assert.equal((await call("/v1/messages", zipped, { "content-encoding": "gzip", "content-type": "application/json" })).length, 1);
  assert.deepEqual(await call("/v1/completions", '{"prompt": "Once"}', { "content-type": "application/json" }), ['{"prompt": "Once"}']);
  assert.deepEqual(await call("/model/amazon.titan-text/invoke", '{"inputText": "Hi"}'), ['{"inputText": "Hi"}']);
  assert.deepEqual(await call("/v1/messages", "a=1", { "content-type": "application/x-www-form-urlencoded" }), ["a=1"]);
  const form = new FormData();
  form.append("a", "1");
  assert.equal((await call("/v1/messages", form)).length, 1);
  assert.deepEqual(skipped, [
    ["it is compressed (gzip)", "/v1/messages"],
    ["no list of messages found in this document", "/v1/completions"],
    ["no list of messages found in this document", "/model/amazon.titan-text/invoke"],
    ["its type is application/x-www-form-urlencoded", "/v1/messages"],
    ["it has no body that is text", "/v1/messages"],
  ]);
  // What is broken is not what can't be read.
  assert.deepEqual(await sent(() => assert.rejects(fetch(`${base}/v1/messages`, post('{"messages": [')), LintError)), []);
});

test("options of it are checked when it is made", () => {
  assert.throws(() => lintedFetch({ isLLM: () => true }), /there is no option `isLLM`; did you mean `isLlm`\?/);
  assert.throws(() => lintedFetch({ failOn: "warn" }), /the option `failOn` is "warn"; expected "error" or "warning"/);
  assert.throws(() => lintedFetch({ onReport: "log" }), /the option `onReport` is "log"; expected a function/);
});

test("reports are given to a function", async () => {
  const reports = [];
  const fetch = lintedFetch({ target: "bedrock", onReport: (report, { url }) => void reports.push([report.target, report.findings.length, url]) });
  assert.deepEqual(await sent(() => fetch(`${base}/v1/messages`, post(BROKEN))), [BROKEN]);
  assert.deepEqual(await sent(() => fetch(`${base}/v1/messages`, post(GOOD))), [GOOD]);
  assert.deepEqual(reports.map(([target, , url]) => [target, url]), [["bedrock", `${base}/v1/messages`], ["bedrock", `${base}/v1/messages`]]);
  assert.ok(reports[0][1] > 0);
  const refusing = lintedFetch({ onReport: () => Promise.reject(new Error("no")) });
  assert.deepEqual(await sent(() => assert.rejects(refusing(`${base}/v1/messages`, post(GOOD)), { message: "no" })), []);
});

test("another fetch sends, and warnings count if they are to", async () => {
  const called = [];
  const fetch = async (...given) => void called.push(given);
  await lintedFetch({ fetch })("https://api.anthropic.com/v1/messages", post(GOOD));
  assert.equal(called[0][0], "https://api.anthropic.com/v1/messages");
  const blank = { role: "assistant", content: [{ type: "text", text: "\n\n" }] };
  const warned = JSON.stringify({ ...CLEAN, messages: [...CLEAN.messages, blank, ...CLEAN.messages] });
  await lintedFetch({ fetch, target: "anthropic" })("https://api.anthropic.com/v1/messages", post(warned));
  assert.equal(called.length, 2);
  await assert.rejects(lintedFetch({ fetch, target: "anthropic", failOn: "warning" })("https://api.anthropic.com/v1/messages", post(warned)), LintError);
  assert.equal(called.length, 2);
});

test("an option that nothing has is refused where it is given", () => {
  assert.throws(() => lintedFetch({ target: "antropic" }), /there is no target `antropic`; did you mean `anthropic`\?/);
  assert.throws(() => lintedFetch({ ignore: "unknwon-tool" }), /did you mean `unknown-tool`\?/);
  assert.throws(() => lintedFetch({ conversation: "nxt" }), /did you mean "next"\?/);
});
