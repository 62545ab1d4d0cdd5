// Findings as a test writes them: `error unanswered-tool-call at /messages/1/content/0`.

"use strict";

const { find, run, ToolcheckError } = require("./binary.js");
const { lint } = require("./lint.js");

const ROOT = '""';

/** An expected finding: the id of a rule, optionally with its level before it and its place after it. */
function parsed(text) {
  if (typeof text !== "string") throw new ToolcheckError(`a finding that is expected is ${text === null ? "null" : `a ${typeof text}`}; expected a text, such as \`unanswered-tool-call at /messages/1\``);
  const [, level, rule, record = "0", pointer] = /^(?:(\S+) )?(\S+)(?: at (?:(\d+):)?(.*))?$/.exec(text.trim()) ?? [];
  if (!rule) throw new ToolcheckError(`${JSON.stringify(text)} is no finding: expected the id of a rule, such as \`unanswered-tool-call at /messages/1\``);
  if (level !== undefined && level !== "error" && level !== "warning") {
    throw new ToolcheckError(`there is no level \`${level}\` in ${JSON.stringify(text)}: there are error, warning`);
  }
  if (pointer !== undefined && pointer !== ROOT && !pointer.startsWith("/")) {
    throw new ToolcheckError(`\`${pointer}\` is not a JSON Pointer: it must begin with \`/\`, or be ${ROOT}`);
  }
  return { text, level, rule, record: Number(record), pointer: pointer === ROOT ? "" : pointer };
}

const matches = (wanted, finding) =>
  wanted.rule === finding.rule &&
  (wanted.level ?? finding.level) === finding.level &&
  (wanted.pointer === undefined || (wanted.pointer === finding.pointer && wanted.record === finding.record));

const written = ({ level, rule, record, pointer }) => `${level} ${rule} at ${record ? `${record}:` : ""}${pointer || ROOT}`;

/** How a body was read, which findings depend on. */
function readAs({ format, target, also_likely: rival } = {}) {
  if (!format) return "no format recognises the body";
  const against = target ? `, checked against ${target}` : "";
  return `read as ${format}${against}${rival ? ` (${rival} is nearly as likely: use \`format\` to choose)` : ""}`;
}

/** How the findings in a body differ from those that are expected, as a text; empty if they don't. */
function difference(body, expected, options = {}) {
  const wanted = [expected].flat().map(parsed);
  const { files, findings } = lint(body, options);
  if (wanted.length === findings.length && wanted.every((one, index) => matches(one, findings[index]))) return "";
  // Only now it may matter that there is no such rule: the program says so.
  for (const { rule } of wanted) if (!findings.some((one) => one.rule === rule)) run(find(options.bin), ["explain", "--", rule]);
  const left = [...findings];
  const missing = wanted.filter((one) => {
    const index = left.findIndex((finding) => matches(one, finding));
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
  const lines = [...missing.map(({ text }) => `- ${text}`), ...left.map((one) => `+ ${written(one)}  line ${one.line}, column ${one.column} of the body`)];
  if (!lines.length) lines.push("they are in another order:", ...findings.map((one) => `  ${written(one)}`));
  return ["the findings are not as expected:", ...lines, readAs(files[0])].join("\n");
}

/** `expect(body).toHaveFindings(["unanswered-tool-call at /messages/1/content/0"])`: these, in this order, and no others. */
function toHaveFindings(body, expected, options = {}) {
  const text = difference(body, expected, options);
  return { pass: !text, message: () => text || "expected the body to have other findings" };
}

/** Throws if a body has other findings. */
function assertFindings(body, expected, options = {}) {
  const text = difference(body, expected, options);
  if (!text) return;
  const error = new Error(text);
  Error.captureStackTrace?.(error, assertFindings);
  throw error;
}

module.exports = { assertFindings, toHaveFindings };
