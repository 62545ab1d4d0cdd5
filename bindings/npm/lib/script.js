// What the model says, turn by turn, as `toolcheck serve` reads it.

"use strict";

const { check } = require("./check.js");
const { ToolcheckError } = require("./error.js");

const CALL = { tool: "string", arguments: "object", raw: "string", id: "string", signed: "boolean" };
const SERVER_CALL = { tool: "string", arguments: "object", result: "list" };
const TURN = {
  text: "string",
  reasoning: "string",
  redacted: "boolean",
  "server-calls": "list",
  calls: "list",
  stop: ["end", "calls", "length", "pause"],
  status: "number",
  "error-after": "number",
  texts: "object",
  "retry-after": "number",
  attempts: "number",
  once: "boolean",
  tokens: "number",
  pieces: "number",
  interleaved: "boolean",
  "index-zero": "boolean",
  "without-end": "boolean",
  "cut-after": "number",
  "cut-in": ["arguments", "between-calls"],
  "clean-end": "boolean",
};

const SAID = {
  reasoning: "string",
  redacted: "boolean",
  serverCalls: "list",
  stop: TURN.stop,
  once: "boolean",
  tokens: "number",
  pieces: "number",
  errorAfter: "number",
  withoutEnd: "boolean",
  cutAfter: "number",
  cleanEnd: "boolean",
};
/** What may stand at the end of each function. */
const OPTIONS = {
  call: { raw: "string", id: "string", signed: "boolean" },
  calls: { text: "string", interleaved: "boolean", indexZero: "boolean", cutIn: TURN["cut-in"], ...SAID },
  text: SAID,
  error: { message: "string", texts: "object", retryAfter: "number", attempts: "number", once: "boolean" },
};

/** A call of a tool; without arguments they are made from the tool's schema. */
function call(tool = "", args = undefined, options = {}) {
  check(options, OPTIONS.call, { before: "call: " });
  const { raw, id, signed } = options;
  if (args === undefined || args === null) return { tool, raw, id, signed };
  if (fits(args)) return { tool, arguments: args, raw, id, signed };
  // Scripts are TOML, which has no null; the text of the arguments has.
  return { tool, raw: raw ?? JSON.stringify(args), id, signed };
}

/** A turn in which the model calls tools; options may stand at the end. */
function calls(...calls) {
  const last = calls.at(-1);
  const options = typeof last === "object" && last !== null && !("tool" in last) ? calls.pop() : {};
  check(options, OPTIONS.calls, { before: "calls: " });
  const { text, interleaved, indexZero, cutIn } = options;
  return { text, calls, interleaved, "index-zero": indexZero, "cut-in": cutIn, ...said(options) };
}

/** A turn in which the model only says this. */
function text(text, options = {}) {
  check(options, OPTIONS.text, { before: "text: " });
  return { text, ...said(options) };
}

/** The keys of a turn that may be said of any that the model says. */
function said({ reasoning, redacted, serverCalls, stop, once, tokens, pieces, errorAfter, withoutEnd, cutAfter, cleanEnd }) {
  const stream = { "error-after": errorAfter, "without-end": withoutEnd, "cut-after": cutAfter, "clean-end": cleanEnd };
  return { reasoning, redacted, "server-calls": serverCalls, stop, once, tokens, pieces, ...stream };
}

/** An error in place of the next turn: always, or for this many attempts of the same request. */
function error(status, options = {}) {
  check(options, OPTIONS.error, { before: "error: " });
  const { message, texts, retryAfter, attempts, once } = options;
  return { status, text: message, texts, "retry-after": retryAfter, attempts, once };
}

/** The turns as the text of a script. */
function toml(turns) {
  // One turn, and also a text, which could be walked through by its letters.
  if (typeof turns !== "object" || turns === null || typeof turns[Symbol.iterator] !== "function") {
    throw new ToolcheckError("a script is a list of turns: `script([text(\"Low at six.\")])`");
  }
  const listed = [...turns];
  // The server would name a line of a text that the user has not written.
  for (const [index, turn] of listed.entries()) {
    const before = `turn ${index + 1}: `;
    named(turn, "text", before);
    check(turn, TURN, { where: "it is", one: "key", before });
    for (const [number, call] of [...(turn.calls ?? [])].entries()) {
      named(call, "call", `${before}call ${number + 1}: `);
      check(call, CALL, { where: "it is", one: "key", before: `${before}call ${number + 1}: ` });
    }
    for (const [number, call] of [...(turn["server-calls"] ?? [])].entries()) {
      check(call, SERVER_CALL, { where: "it is", one: "key", before: `${before}server call ${number + 1}: ` });
    }
  }
  return listed
    .map((turn) => `[[turn]]\n${entries(turn).map(([key, inner]) => `${key} = ${inner}\n`).join("")}`)
    .join("");
}

/** Names the function that makes of a string what is needed in its place. */
function named(given, by, before) {
  if (typeof given !== "string") return;
  const written = JSON.stringify(given.length > 40 ? `${given.slice(0, 40)}…` : given);
  throw new ToolcheckError(`${before}it is ${written}: give \`${by}(${written})\``);
}

function entries(table) {
  return Object.entries(table)
    .filter(([, inner]) => inner !== undefined)
    .map(([key, inner]) => [value(key), value(inner)]);
}

/** Whether TOML can say a value. */
function fits(value) {
  if (Array.isArray(value)) return value.every((inner) => inner !== undefined && fits(inner));
  if (typeof value === "object" && value !== null && typeof value.toJSON !== "function") {
    return Object.values(value).every((inner) => inner === undefined || fits(inner));
  }
  if (typeof value === "number") return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return typeof value === "string" || typeof value === "boolean";
}

function value(it) {
  if (Array.isArray(it)) return `[${it.map(value).join(", ")}]`;
  if (typeof it === "object" && it !== null) {
    return `{${entries(it).map(([key, inner]) => `${key} = ${inner}`).join(", ")}}`;
  }
  // The strings of JSON are those of TOML, but for one character.
  if (typeof it === "string") return JSON.stringify(it).replaceAll("\x7f", "\\u007f");
  if (typeof it === "boolean" || (typeof it === "number" && Number.isFinite(it))) return String(it);
  throw new TypeError(`a script cannot hold ${String(it)}`);
}

module.exports = { CALL, call, calls, error, SERVER_CALL, text, toml, TURN };
