// The corpus through the module: what is expected of each case, and the very findings of the program.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { test } from "node:test";
import { compareFindings, lint, names } from "toolcheck-wasm";
import { files, FIXTURES, PROGRAM, ROOT } from "./common.js";

const EXPECT = ".expect.json";
/** Archives, compressed bodies and shell scripts are not read here, and the report says so. */

const isNotBuilt = (report) => report.findings.some((finding) => /this build (of toolcheck can't read|has no shell parser)/.test(finding.message));

/** The file that an expectation is about. */
function caseOf(expectation) {
  const name = basename(expectation).slice(0, -EXPECT.length);
  const folder = dirname(expectation);
  // Beside it may be its configuration.
  const found = readdirSync(folder).filter((file) => !file.endsWith(EXPECT) && !file.endsWith(".toml") && file.startsWith(`${name}.`) && !file.slice(name.length + 1).includes("."));
  assert.equal(found.length, 1, `${expectation} has no file, or several: ${found}`);
  return join(folder, found[0]);
}

function written({ rule, pointer, level, record = 0 }) {
  const place = pointer === undefined ? "" : ` at ${record}:${pointer || '""'}`;
  return `${level ? `${level} ` : ""}${rule}${place}`;
}

test("every case of the corpus has the findings that are expected of it", () => {
  const wrong = [];
  const left = [];
  const expectations = files(FIXTURES).filter((file) => file.endsWith(EXPECT));
  assert.ok(expectations.length > 2_000, "the corpus is at hand");
  const read = expectations.map((path) => [path, JSON.parse(readFileSync(path, "utf8"))]);
  // The corpus is for all rules, also those that only run where they are selected.
  const rules = [...new Set(read.flatMap(([, { findings }]) => findings.map((finding) => finding.rule)))];
  const formats = new Set(names().targets.map((one) => one.format));
  for (const [path, { findings, target, format, kind, config }] of read) {
    const file = caseOf(path);
    const body = readFileSync(file);
    const folder = basename(dirname(path));
    const options = { target, format: format ?? (formats.has(folder) ? folder : undefined), kind: kind ?? "request", name: relative(FIXTURES, file), extendSelect: rules };
    if (config !== undefined) options.config = readFileSync(join(dirname(path), config), "utf8");
    if (isNotBuilt(lint(body, options))) {
      left.push(file);
      continue;
    }
    const lines = compareFindings(body, findings.map(written), options);
    if (lines.length) wrong.push([relative(FIXTURES, file), ...lines].join("\n  "));
  }
  assert.equal(wrong.join("\n"), "");
  console.log(`${expectations.length - left.length} cases; ${left.length} with archives, compressed bodies or shell scripts are left out`);
  assert.ok(left.length < 60, `few are left out: ${left.length}`);
});

test("the report on every file of the corpus is that of the program, byte for byte", { skip: !PROGRAM && "TOOLCHECK_BIN names no program" }, () => {
  const args = ["lint", "fixtures", "--isolated", "--output-format", "json", "--max-findings", "0"];
  const done = spawnSync(PROGRAM, args, { cwd: ROOT, maxBuffer: Infinity });
  assert.ok(done.status < 2, done.stderr.toString());
  const report = JSON.parse(done.stdout);
  const of = Map.groupBy ? Map.groupBy(report.findings, (finding) => finding.path) : grouped(report.findings);
  const wrong = [];
  let left = 0;
  for (const file of report.files) {
    const mine = lint(readFileSync(join(ROOT, file.path)), { name: file.path });
    if (isNotBuilt(mine)) {
      left += 1;
      continue;
    }
    const { files: read, findings } = mine.toJSON();
    if (JSON.stringify([read[0], findings]) !== JSON.stringify([file, of.get(file.path) ?? []])) wrong.push(file.path);
  }
  assert.deepEqual(wrong, []);
  console.log(`${report.files.length - left} files and ${report.findings.length} findings; ${left} files are left out`);
  assert.ok(report.files.length > 2_000);
});

function grouped(findings) {
  const of = new Map();
  for (const finding of findings) of.set(finding.path, [...(of.get(finding.path) ?? []), finding]);
  return of;
}

test("a whole report is the document that the program prints", { skip: !PROGRAM && "TOOLCHECK_BIN names no program" }, () => {
  const path = ["fixtures", "seeds", "coco-before.json"].join(sep);
  for (const output of ["json", "full", "concise", "markdown", "sarif", "agent"]) {
    const done = spawnSync(PROGRAM, ["lint", path, "--isolated", "--excerpt", "--color", "never", "--output-format", output], { cwd: ROOT });
    const mine = lint(readFileSync(join(ROOT, path)), { name: path }).render({ output });
    // The program names the options with which it is to read the file again, and SARIF's rules have examples there.
    const printed = done.stdout.toString().replace("toolcheck fix --isolated`", "toolcheck fix`");
    assert.equal(mine, printed.replaceAll(/(\\n)+## Fails.*(?=",\n)/g, ""), output);
  }
});
