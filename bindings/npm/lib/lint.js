// Checks of the bodies of requests, with `toolcheck lint`.

"use strict";

const { mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { find, run } = require("./binary.js");
const { bytesOf } = require("./body.js");
const { check } = require("./check.js");

const LINT = {
  target: "string",
  format: "string",
  kind: ["request", "session", "dataset"],
  tools: "any",
  select: "strings",
  extendSelect: "strings",
  ignore: "strings",
  config: "string",
  bin: "string",
};
const MATCHER = { ...LINT, failOn: ["error", "warning"] };

/** The report on a body, as in `schemas/report.v1.schema.json`. */
function lint(body, options = {}) {
  check(options, LINT);
  return checked(body, options, (run) => report(run));
}

/** Throws if there are findings in a body, or no transcript; with `failOn: "error"`, only if there are errors. */
function assertClean(body, options = {}) {
  const text = faults(body, options);
  if (text) {
    const error = new Error(text);
    Error.captureStackTrace?.(error, assertClean);
    throw error;
  }
}

/** `expect(body).toBeClean({ target: "anthropic" })`; with `failOn: "error"`, warnings pass. */
function toBeClean(body, options = {}) {
  // It does not wait for anything, because an `expect` that nobody waits for always passes.
  const text = faults(body, options);
  return { pass: !text, message: () => text || "expected the body to have findings, and it has none" };
}

/** What is wrong with a body; empty if nothing is. */
function faults(body, options) {
  check(options, MATCHER);
  return checked(body, options, (run) => {
    const { errors, warnings, transcripts } = report(run).summary;
    if (errors + (options.failOn === "error" ? 0 : warnings)) return inOptions(run(["--output-format", "full"]).trim());
    return transcripts ? "" : "there is no transcript in the body, so nothing was checked";
  });
}

/** A report for people, whose last lines name options of the command line, in the names of the options of these functions. */
const inOptions = (text) => text.replace(/\buse(\s)--format\b/, "use$1`format`").replace(/\ba(\s)--target\b/, "a$1`target`");

function report(run) {
  return JSON.parse(run(["--output-format", "json", "--max-findings", "0"]));
}

/** Gives a function by which the program is run on a body with these options. */
function checked(body, options, use) {
  const { target, format, kind = "request", tools, select, extendSelect, ignore, config, bin } = options;
  // Half of a character has no UTF-8, and would come out as another one: an escape keeps it, as JSON.stringify does.
  const kept = typeof body === "string" ? body.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`) : body;
  const bytes = bytesOf(kept, "body");
  const program = find(bin);
  const isText = config !== undefined && /[\n=]/.test(config);
  const args = ["lint", "-", "--stdin-filename", "body.json", "--color", "never", "--kind", kind];
  const given = { "--target": target, "--format": format, "--select": select, "--extend-select": extendSelect, "--ignore": ignore };
  for (const [option, values] of Object.entries(given)) {
    for (const one of [values ?? []].flat()) args.push(option, one);
  }
  const areFile = tools === undefined || typeof tools === "string";
  const folder = areFile && !isText ? undefined : mkdtempSync(join(tmpdir(), "toolcheck-"));
  const written = (name, content) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  try {
    if (config === undefined) args.push("--isolated");
    else args.push("--config", isText ? written("toolcheck.toml", config) : config);
    if (tools !== undefined) args.push("--tools", areFile ? tools : written("tools.json", bytesOf(tools, "tools")));
    return use((more) => run(program, [...args, ...more], bytes));
  } finally {
    if (folder) rmSync(folder, { recursive: true });
  }
}

module.exports = { assertClean, lint, toBeClean };
