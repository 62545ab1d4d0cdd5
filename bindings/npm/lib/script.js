// What the model says, turn by turn, as `toolcheck serve` reads it.

"use strict";

const { check } = require("./check.js");

const CALL = { tool: "string", arguments: "object", raw: "string", id: "string" };
const TURN = {
  text: "string",
  reasoning: "string",
  calls: "list",
  stop: "string",
  status: "number",
  "retry-after": "number",
  attempts: "number",
  pieces: "number",
  interleaved: "boolean",
  "cut-after": "number",
  "cut-in": "string",
  "clean-end": "boolean",
};

const SAID = { reasoning: "string", stop: "string", pieces: "number", cutAfter: "number", cleanEnd: "boolean" };
/** What may stand at the end of each function. */
const OPTIONS = {
  call: { raw: "string", id: "string" },
  calls: { text: "string", interleaved: "boolean", cutIn: "string", ...SAID },
  text: SAID,
  error: { message: "string", retryAfter: "number", attempts: "number" },
};

/** A call of a tool; without arguments they are made from the tool's schema. */
function call(tool = "", args = undefined, options = {}) {
  check(options, OPTIONS.call, { before: "call: " });
  const { raw, id } = options;
  if (args === undefined || args === null) return { tool, raw, id };
  if (fits(args)) return { tool, arguments: args, raw, id };
  // Scripts are TOML, which has no null; the text of the arguments has.
  return { tool, raw: raw ?? JSON.stringify(args), id };
}

/** A turn in which the model calls tools; options may stand at the end. */
function calls(...calls) {
  const last = calls.at(-1);
  const options = typeof last === "object" && last !== null && !("tool" in last) ? calls.pop() : {};
  check(options, OPTIONS.calls, { before: "calls: " });
  const { text, reasoning, stop, pieces, interleaved, cutAfter, cutIn, cleanEnd } = options;
  const cut = { "cut-after": cutAfter, "cut-in": cutIn, "clean-end": cleanEnd };
  return { text, reasoning, calls, stop, pieces, interleaved, ...cut };
}

/** A turn in which the model only says this. */
function text(text, options = {}) {
  check(options, OPTIONS.text, { before: "text: " });
  const { reasoning, stop, pieces, cutAfter, cleanEnd } = options;
  return { text, reasoning, stop, pieces, "cut-after": cutAfter, "clean-end": cleanEnd };
}

/** An error in place of the next turn: always, or for this many attempts of the same request. */
function error(status, options = {}) {
  check(options, OPTIONS.error, { before: "error: " });
  const { message, retryAfter, attempts } = options;
  return { status, text: message, "retry-after": retryAfter, attempts };
}

/** The turns as the text of a script. */
function toml(turns) {
  const listed = [...turns];
  // The server would name a line of a text that the user has not written.
  for (const [index, turn] of listed.entries()) {
    const before = `turn ${index + 1}: `;
    check(turn, TURN, { where: "it is", one: "key", before });
    for (const [number, call] of [...(turn.calls ?? [])].entries()) {
      check(call, CALL, { where: "it is", one: "key", before: `${before}call ${number + 1}: ` });
    }
  }
  return listed
    .map((turn) => `[[turn]]\n${entries(turn).map(([key, inner]) => `${key} = ${inner}\n`).join("")}`)
    .join("");
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

module.exports = { call, calls, error, text, toml };
