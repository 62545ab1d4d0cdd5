// What is the same in Node and in browsers: calls of the WebAssembly module, and what they return.

import { bytesOf, textOf } from "./body.js";
import { NotLoadedError, ToolcheckError } from "./error.js";
import { check, OPTIONS } from "./options.js";
import { Index } from "./places.js";

export { ToolcheckError };

/** An instance that has grown to more is made anew, because the memory of one never shrinks. */
const MOST_KEPT = 256 * 1024 * 1024;

let load = () => {
  throw new NotLoadedError("toolcheck is not loaded yet: `await init()` first");
};
let compiled;
let instance;

/** Where the module comes from when it is first needed. */
export function loadWith(loader) {
  load = loader;
}

/** The module to use from now on. */
export function use(module) {
  compiled = module;
  instance = undefined;
}

/** Whether a module is at hand. */
export function isLoaded() {
  return compiled !== undefined;
}

/** Asks the module; its answer is JSON and a text. */
function ask(call, parts, options = {}) {
  const header = encode(`${JSON.stringify({ call, parts: parts.map((part) => part.length), options })}\n`);
  const pieces = [header, ...parts];
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  compiled ??= load();
  instance ??= new WebAssembly.Instance(compiled, {});
  const { alloc, call: run, dealloc, memory, panicked } = instance.exports;
  let answered;
  try {
    const request = alloc(length) >>> 0;
    let at = request;
    for (const piece of pieces) {
      new Uint8Array(memory.buffer).set(piece, at);
      at += piece.length;
    }
    answered = run(request, length) >>> 0;
  } catch (error) {
    // An instance that has trapped is in no state to go on.
    instance = undefined;
    throw new ToolcheckError(`toolcheck failed, please report it: ${said(memory, panicked) || error.message}`, { cause: error });
  }
  const view = new DataView(memory.buffer);
  const lengths = [view.getUint32(answered, true), view.getUint32(answered + 4, true)];
  const start = answered + 8;
  const json = JSON.parse(decode(new Uint8Array(memory.buffer, start, lengths[0])));
  const text = new Uint8Array(memory.buffer, start + lengths[0], lengths[1]).slice();
  dealloc(answered, 8 + lengths[0] + lengths[1]);
  if (memory.buffer.byteLength > MOST_KEPT) instance = undefined;
  if (json.error !== undefined) throw new ToolcheckError(json.error);
  return { json, text };
}

/** What a panic said. */
function said(memory, panicked) {
  try {
    const at = panicked() >>> 0;
    const length = new DataView(memory.buffer).getUint32(at, true);
    return decode(new Uint8Array(memory.buffer, at + 4, length));
  } catch {
    return "";
  }
}

const encode = (text) => new TextEncoder().encode(text);
const decode = (bytes) => new TextDecoder().decode(bytes);

/** The parts and options of a call that reads one body. */
function reading(body, options) {
  const { tools, ...rest } = options;
  checkConversation(rest.conversation);
  checkConfig(rest.config);
  const parts = [bytesOf(body, "body")];
  if (tools !== undefined) parts.push(bytesOf(tools, "tools"));
  for (const rules of ["select", "extendSelect", "ignore"]) {
    if (typeof rest[rules] === "string") rest[rules] = [rest[rules]];
  }
  return [parts, rest];
}

/** A line of TOML has `=`, or is a heading. */
function checkConfig(config) {
  if (config === undefined || /[\n=[#]/.test(config) || !config.trim()) return;
  throw new ToolcheckError(`the option \`config\` is ${JSON.stringify(config)}, a path: give the text of the file, because no files are read`);
}

/** A title may be any text, so only `next` with a letter more or less is an error. */
function checkConversation(name) {
  const shorter = (text) => [...text].map((_, at) => text.slice(0, at) + text.slice(at + 1));
  const plain = name?.toLowerCase() ?? "";
  if (name !== "next" && (plain === "next" || shorter("next").includes(plain) || shorter(plain).includes("next"))) {
    throw new ToolcheckError(`the option \`conversation\` is ${JSON.stringify(name)}; did you mean "next"? A conversation with this title has a number too`);
  }
}

/** The findings in a body. */
export class Report {
  #body;
  #reading;
  #json;
  #index;

  constructor(body, given, json) {
    this.#body = body;
    this.#reading = given;
    this.#json = json;
    const file = json.files[0];
    this.format = file.format ?? null;
    this.target = file.target ?? null;
    this.kind = file.kind;
    this.transcripts = file.transcripts;
    this.messages = file.messages;
    this.toolCalls = file.tool_calls;
    this.toolResults = file.tool_results;
    this.findings = json.findings;
    this.summary = json.summary;
  }

  /** The report as a text: by default for people, or as another output of `toolcheck lint`. */
  render(how = {}) {
    check(how, OPTIONS.render);
    const { output = "full", color = false, width } = how;
    const [parts, options] = this.#reading;
    return decode(ask("render", parts, { ...options, output, color, width }).text);
  }

  /** The picture of the body as a web page. */
  show(options = {}) {
    check(options, OPTIONS.show);
    const [parts, given] = this.#reading;
    return picture(parts, given, options);
  }

  /** Where a finding is in the string that was linted: its start and its end, as in `slice`. */
  range({ byte_start: start, byte_end: end }) {
    if (typeof this.#body !== "string") throw new TypeError("places need a body that is a string");
    this.#index ??= new Index(this.#body);
    return [this.#index.at(start), this.#index.at(end)];
  }

  /** The report as `toolcheck lint --output-format json` prints it: `schemas/report.v1.schema.json`. */
  toJSON() {
    return this.#json;
  }
}

/** Lints a body: a request, a list of messages, an exchange, a log, or JSON Lines of them. */
export function lint(body, options = {}) {
  check(options, OPTIONS.lint);
  const given = reading(body, options);
  return new Report(body, given, ask("lint", ...given).json);
}

/** Draws a body as a web page: its messages, calls and results, and what is wrong with them. */
export function show(body, given = {}) {
  check(given, OPTIONS.show);
  const { output, text, all, color, width, ...options } = given;
  return picture(...reading(body, options), { output, text, all, color, width });
}

function picture(parts, options, how) {
  return decode(ask("show", parts, { ...options, ...how }).text);
}

/** Fixes a body. What it returns is of the type that it was given. */
export function fix(body, how = {}) {
  check(how, OPTIONS.fix);
  const { unsafeFixes = false, unified = false, only = [], place, ...options } = how;
  const [parts, given] = reading(body, options);
  const { json, text } = ask("fix", parts, { ...given, unsafeFixes, unified, only: [only].flat(), place });
  const { changed, diff, ...plan } = json;
  return { body: changed ? like(body, text) : asGiven(body), changed, diff, ...plan };
}

/** Bytes as what the user gave. */
function like(body, bytes) {
  if (typeof body === "string") return textOf(bytes);
  if (body instanceof ArrayBuffer) return bytes.buffer;
  return ArrayBuffer.isView(body) ? bytes : JSON.parse(decode(bytes));
}

/** What is not changed, with the type that it would have if it were. */
function asGiven(body) {
  return ArrayBuffer.isView(body) && !(body instanceof Uint8Array) ? bytesOf(body, "body") : body;
}

/** What changed between two bodies. */
export class Diff {
  #parts;
  #options;

  constructor(parts, options) {
    this.#parts = parts;
    this.#options = options;
    const { json, text } = ask("diff", parts, { ...options, output: "json" });
    Object.assign(this, JSON.parse(decode(text)));
    this.unread = json.unread;
    this.leftOut = json.leftOut;
  }

  /** What changed as a text: by default for people, or as another output of `toolcheck diff`. */
  render(how = {}) {
    check(how, OPTIONS.renderDiff);
    const { output = "full", color = false, width, text = false } = how;
    return decode(ask("diff", this.#parts, { ...this.#options, output, color, width, text }).text);
  }
}

/** What a change to a conversation lost: of a history and what is sent, or of a request in two formats. */
export function diff(before, after, options = {}) {
  check(options, OPTIONS.diff);
  const { allow, ...rest } = options;
  return new Diff([bytesOf(before, "before"), bytesOf(after, "after")], { ...rest, allow: [allow ?? []].flat() });
}

/** What an API's error means and, with the request that failed, what in it causes the error. */
export function explainError(error, body, options = {}) {
  check(options, OPTIONS.explain);
  // What its findings call the body.
  const given = { ...options, name: "request" };
  const parts = [encode(String(error))];
  if (body !== undefined) parts.push(bytesOf(body, "body"));
  const { explained, ...json } = ask("explain", parts, given).json;
  return {
    explained,
    ...json,
    render: (how = {}) => {
      check(how, OPTIONS.style);
      return decode(ask("explain", parts, { ...given, ...how }).text);
    },
  };
}

/** How the findings in a body differ from those that are expected, line by line; no lines if they don't. */
export function compareFindings(body, expected, options = {}) {
  check(options, OPTIONS.lint);
  const [parts, given] = reading(body, options);
  return ask("expect", parts, { ...given, expected: [expected].flat() }).json.lines;
}

/** What the address of a request says about it. */
export function endpoint(url) {
  return ask("endpoint", [encode(String(url))]).json;
}

/** What APIs refuse or accept of requests to this model that they do not of others; without a model, that of all. */
export function models(model) {
  if (model !== undefined && typeof model !== "string") throw new TypeError("the model is not a string: give its name");
  return ask("models", model === undefined ? [] : [encode(model)]).json;
}

/** The version, and the names that options take. */
export function names() {
  return ask("names", []).json;
}
