#!/usr/bin/env node
// Packs `toolcheck` and `toolcheck-wasm` as a release does, and tries the packages in projects of their own, with the tools
// that users have:
//
//     node scripts/delivered/javascript.mjs --program target/debug/toolcheck [--only WORD ...] [--packages DIR] [--keep] [--require] [--record]
//
// It prints a table, and ends with 1 if something fails. What can't be tried here is named, with the reason; with `--require`,
// that fails too. `--packages DIR` takes the packages in a folder in place of packing the program, and `--only` runs the rows
// whose tool or version has this word. `--record` writes the rows into docs/releasing.md. The newest of each version that is
// named here is installed, not what a lock file has: that is the point.
//
// It needs npm with its registry, Python 3.11 or newer and, for bundlers, Chromium and playwright-core (npm ci --prefix
// web/test). Without bindings/wasm/js/toolcheck.wasm (bindings/wasm/build.sh), `toolcheck` is tried alone.

import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { launch, missing } from "../../web/test/browser.js";
import { serve } from "../../web/test/serve.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { values: given } = parseArgs({
  options: { program: { type: "string" }, packages: { type: "string" }, only: { type: "string", multiple: true, default: [""] }, keep: { type: "boolean" }, require: { type: "boolean" }, record: { type: "boolean" } },
});
if (!given.program && !given.packages) {
  console.error("usage: javascript.mjs --program PATH_OF_TOOLCHECK | --packages DIR [--only WORD ...] [--keep] [--require] [--record]");
  process.exit(2);
}

const work = mkdtempSync(join(tmpdir(), "toolcheck-delivered-"));
const { TOOLCHECK_BIN, NODE_TEST_CONTEXT, NODE_OPTIONS, ...clean } = process.env;
// Nothing of this machine may stand in for what is in the packages.
const env = { ...clean, CI: "1", NO_COLOR: "1", NEXT_TELEMETRY_DISABLED: "1", npm_config_update_notifier: "false", npm_config_fund: "false", npm_config_audit: "false" };

/** A tool that is not here: the row says so, and no other row suffers. */
class Unavailable extends Error {}

/** Runs a program to its end and returns what it printed. */
function run(command, args, { cwd = work, more = {}, status = 0, minutes = 5 } = {}) {
  const done = spawnSync(command, args, { cwd, env: { ...env, ...more }, encoding: "utf8", timeout: minutes * 60_000, maxBuffer: 1e8 });
  const said = `${done.stdout ?? ""}${done.stderr ?? ""}`;
  if (done.error || done.status !== status) {
    throw new Error(`\`${[command.replace(work, ""), ...args].join(" ").slice(0, 200)}\` ended with ${done.status ?? done.error}:\n${said.slice(-3000)}`);
  }
  return said;
}

function expects(said, words) {
  if (!words.test(said)) throw new Error(`${words} is not in:\n${said.slice(-3000)}`);
}

// ---- the packages

function pack() {
  const folder = join(work, "packages");
  mkdirSync(folder);
  if (given.packages) {
    for (const name of readdirSync(given.packages).filter((name) => name.endsWith(".tgz"))) cpSync(join(given.packages, name), join(folder, name));
  } else {
    const machine = process.arch === "x64" ? "x86_64" : "aarch64";
    const target = { linux: `${machine}-unknown-linux-gnu`, darwin: `${machine}-apple-darwin`, win32: `${machine}-pc-windows-msvc` }[process.platform];
    const archives = join(work, "archives");
    run("python3", [join(ROOT, "scripts/release.py"), "archive", "--target", target, "--program", resolve(given.program), "--output", archives]);
    run("python3", [join(ROOT, "scripts/npm_packages.py"), "--archives", archives, "--output", folder, "--partial"]);
  }
  if (!readdirSync(folder).some((name) => name.startsWith("toolcheck-wasm-")) && existsSync(join(ROOT, "bindings/wasm/js/toolcheck.wasm"))) {
    run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder, join(ROOT, "bindings/wasm")]);
  }
  return folder;
}

/** A registry that has the packages of the scope, so that npm chooses the one for this machine, as it does for users. */
async function registry(folder) {
  const packages = new Map();
  const manifestOf = (file) => JSON.parse(run("tar", ["--extract", "--gzip", "--to-stdout", "--file", join(folder, file), "package/package.json"]));
  const file = (name, version) => `${name.slice(1).replace("/", "-")}-${version}.tgz`;
  for (const [name, version] of Object.entries(manifestOf(readdirSync(folder).find((file) => /^toolcheck-\d/.test(file))).optionalDependencies)) {
    if (!existsSync(join(folder, file(name, version)))) {
      // For another system: without its program, which nothing here runs.
      const [, system, cpu, libc] = /cli-([^-]*)-([^-]*)(-musl)?$/.exec(name);
      const limits = { os: [system], cpu: [cpu], ...(system === "linux" && { libc: [libc ? "musl" : "glibc"] }) };
      mkdirSync(join(work, "empty", "package"), { recursive: true });
      writeFileSync(join(work, "empty/package/package.json"), JSON.stringify({ name, version, ...limits }));
      run("tar", ["--create", "--gzip", "--directory", join(work, "empty"), "--file", join(folder, file(name, version)), "package"]);
    }
    packages.set(name, { manifest: manifestOf(file(name, version)), data: readFileSync(join(folder, file(name, version))) });
  }
  const server = createServer((request, response) => {
    const found = packages.get(decodeURIComponent(request.url.slice(1)).replace(/\/-\.tgz$/, ""));
    if (!found) return response.writeHead(404).end("{}");
    if (request.url.endsWith(".tgz")) return response.end(found.data);
    const { name, version } = found.manifest;
    const dist = { tarball: `http://127.0.0.1:${server.address().port}/${name}/-.tgz`, integrity: `sha512-${createHash("sha512").update(found.data).digest("base64")}` };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...found.manifest, dist } } }));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

let packages;
let scope;
/** The file of a package. */
function tarball(name) {
  const file = readdirSync(packages).find((file) => new RegExp(`^${name}-\\d`).test(file));
  return file && join(packages, file);
}
/** The rows that leave something out, because the module was not built. */
const partial = new Set();
/** What a row tries of `toolcheck-wasm`, beside `toolcheck`: nothing if the module was not built. */
function ofModule(...what) {
  if (tarball("toolcheck-wasm")) return what;
  partial.add(current);
  return [];
}
let current;

// A process of its own would wait for this one, which serves the packages: so installs don't block.
function install(root, wanted, command = ["npm", "install", "--save-dev", "--ignore-scripts", "--no-progress"]) {
  return new Promise((done, fail) => {
    const child = spawn(command[0], [...command.slice(1), ...wanted], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += piece));
    const impatience = setTimeout(() => child.kill("SIGKILL"), 240_000);
    child.on("error", (error) => fail(new Unavailable(error.message)));
    child.on("close", (status) => {
      clearTimeout(impatience);
      if (status === 0) return done();
      const reason = /(ETARGET|ECONNREFUSED|ENOTFOUND|ETIMEDOUT|EBADPLATFORM|E404)[^\n]*/.exec(said);
      fail(reason || status === null ? new Unavailable(`not installed: ${reason?.[0] ?? "it takes too long"}`) : new Error(`${command.join(" ")} ${wanted.join(" ")}:\n${said.slice(-3000)}`));
    });
  });
}

let count = 0;
/** A new project with files, into which packages and tools are installed. */
async function project(files, wanted, command) {
  const root = join(work, `project-${count++}`);
  const all = { "package.json": '{ "name": "fresh", "private": true }\n', ".npmrc": `@toolcheck:registry=http://127.0.0.1:${scope.address().port}/\n`, ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const ours = { toolcheck: tarball("toolcheck"), "toolcheck-wasm": tarball("toolcheck-wasm") };
  if (wanted.includes("toolcheck-wasm") && !ours["toolcheck-wasm"]) throw new Unavailable("toolcheck.wasm is not built");
  await install(root, wanted.map((one) => ours[one] ?? one), command);
  return root;
}

const installed = (root, name) => JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
const bin = (root, name) => join(root, "node_modules", ".bin", name);

// ---- what the projects hold

const UNANSWERED = {
  model: "claude-sonnet-4-5",
  max_tokens: 1024,
  messages: [
    { role: "user", content: "When does the ferry leave?" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_pier", name: "find_ferry", input: {} }] },
    { role: "user", content: "Well?" },
  ],
  tools: [{ name: "find_ferry", input_schema: { type: "object" } }],
};
const BROKEN = JSON.stringify(UNANSWERED);
const CLEAN = JSON.stringify({ ...UNANSWERED, messages: UNANSWERED.messages.slice(0, 1) });
const RULE = /unanswered-tool-call/;
const LINT = `console.log(lint(${BROKEN}).findings[0].rule);`;
const MODULE = `import { lint } from "toolcheck-wasm";\n${LINT}\n`;
const ASK = `const ask = (url, body) => fetch(url + "/v1/messages", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });\n`;
/** Tests for any runner with `expect`; the first passes, and the second has to fail. */
const matchers = `
test("passes", () => {
  expect(${CLEAN}).toBeClean({ target: "anthropic" });
  expect(${BROKEN}).toHaveFindings(["error unanswered-tool-call at /messages/1/content/0"]);
  expect(() => expect(${CLEAN}).toBeClean({ targt: "anthropic" })).toThrow("did you mean \`target\`?");
});
`;
const failing = `test("fails", () => { expect(${BROKEN}).toBeClean(); });\n`;
const MOCKED = `
test("is refused", async () => {
  const response = await ask(process.env.ANTHROPIC_BASE_URL, ${BROKEN});
  expect(response.status).toBe(400);
  mock.expectRefusal("unanswered-tool-call");
});
`;
const PAGE = (script) => `<!DOCTYPE html>\n<html><head><link rel="icon" href="data:,"></head><body><script type="module" src="${script}"></script></body></html>\n`;
const IN_PAGE = `import { init, lint } from "toolcheck-wasm";
async function main() {
  try {
    await init();
    document.title = lint(${BROKEN}).findings[0].rule;
  } catch (error) {
    document.title = "failed: " + error.message;
  }
}
main();
`;

// ---- in a browser

let browser;
async function inPage(address) {
  const why = missing({ editor: false });
  if (why) throw new Unavailable(why);
  browser ??= await launch();
  const page = await browser.newPage();
  try {
    await page.goto(address);
    await page.waitForFunction(() => document.title, null, { timeout: 60_000 });
    expects(await page.title(), RULE);
  } finally {
    await page.close();
  }
}

/** Runs a server until a page of it was seen. */
async function whileServed(command, args, cwd, use, more = {}) {
  const child = spawn(command, args, { cwd, env: { ...env, ...more }, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let said = "";
  try {
    const address = await new Promise((done, fail) => {
      const impatience = setTimeout(() => fail(new Error(`it does not listen:\n${said}`)), 60_000);
      const read = (piece) => {
        said += piece;
        const found = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(said.replace(/\u001b\[[\d;]*m/g, ""));
        if (found) done(`${found[0]}/`), clearTimeout(impatience);
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.on("exit", (status) => fail(new Error(`it ended with ${status}:\n${said}`)));
    });
    await use(address);
  } finally {
    // With whatever it has started.
    if (child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  }
}

async function inFolder(folder) {
  const server = await serve(folder);
  try {
    await inPage(server.address);
  } finally {
    server.close();
  }
}

// ---- the rows

const rows = [];
/** A row of the table. `use` does its work, and returns the version that was tried. */
const row = (tool, wanted, what, use) => rows.push({ tool, wanted, what, use });

// What is tried in several versions, by the name of its package. A new one is not forgotten: a row sees that it is here.
const NODE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const MAJORS = { [NODE]: ["18", "20", "22", "24", "26"], vitest: ["2", "3", "4", "5"], jest: ["29", "30"], vite: ["5", "6", "7", "8"], webpack: ["5"] };
for (const [name, majors] of Object.entries(MAJORS)) {
  row("newest", name, "its newest version is one of those that are tried here", async () => {
    const version = run("npm", ["view", name, "version"]).trim();
    if (!majors.includes(version.split(".")[0])) throw new Error(`${name} ${version} is not tried: add it to MAJORS`);
    return `${name} ${version}`;
  });
}

/** For a tool that needs a newer Node than that of this machine: what to install beside it, and the environment to run it in. */
const newer = (root) => ({ PATH: `${join(root, "node_modules", NODE, "bin")}:${env.PATH}` });

row("npm", "of this machine", "npx toolcheck lint, its status, --omit=optional", async () => {
  const root = await project({ "bad.json": BROKEN, "good.json": CLEAN }, ["toolcheck"]);
  expects(run("npx", ["toolcheck", "lint", "bad.json"], { cwd: root, status: 1 }), RULE);
  run("npx", ["toolcheck", "lint", "good.json"], { cwd: root });
  const system = readdirSync(join(root, "node_modules/@toolcheck"));
  if (system.length !== 1) throw new Error(`npm has installed ${system}`);
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-NOTICES.txt"]) {
    if (!existsSync(join(root, "node_modules/@toolcheck", system[0], name))) throw new Error(`${system[0]} has no ${name}`);
  }
  rmSync(join(root, "node_modules/@toolcheck"), { recursive: true });
  expects(run("npx", ["toolcheck", "--version"], { cwd: root, status: 2 }), /is not installed: install without `--omit=optional`/);
  return run("npm", ["--version"]).trim();
});

for (const [manager, add] of [["pnpm", ["add", "--save-dev", "--ignore-scripts"]], ["yarn", ["add", "--dev", "--ignore-scripts", "--no-lockfile"]]]) {
  row(manager, manager === "yarn" ? "1" : "latest", `${manager} add, its toolcheck lint, require`, async () => {
    const tool = await project({}, [`${manager}@${manager === "yarn" ? "1" : "latest"}`]);
    const root = await project({ "bad.json": BROKEN, "main.cjs": `const { lint } = require("toolcheck");\n${LINT}\n` }, ["toolcheck"], [bin(tool, manager), ...add]);
    expects(run(bin(root, "toolcheck"), ["lint", "bad.json"], { cwd: root, status: 1 }), RULE);
    expects(run("node", ["main.cjs"], { cwd: root }), RULE);
    return installed(tool, manager);
  });
}

for (const version of MAJORS[NODE]) {
  row("Node", version, "toolcheck: launcher, require, import, node:test with the mock; toolcheck-wasm: import, require", async () => {
    const files = {
      "bad.json": BROKEN,
      "wasm.mjs": MODULE,
      "wasm.cjs": `const { lint } = require("toolcheck-wasm");\n${LINT}\n`,
      "own.mjs": `import { lint } from "toolcheck";\n${LINT}\n`,
      "own.cjs": `const { lint } = require("toolcheck");\n${LINT}\n`,
      "mock.test.mjs": `import assert from "node:assert";
import { test } from "node:test";
import { assertClean, assertFindings, useProvider } from "toolcheck/node";
${ASK}
test("is refused", async (context) => {
  const mock = await useProvider(context, { target: "anthropic" });
  assert.equal((await ask(process.env.ANTHROPIC_BASE_URL, ${BROKEN})).status, 400);
  mock.expectRefusal("unanswered-tool-call");
});
test("bodies", (context) => {
  assertClean(${CLEAN});
  assertFindings(${BROKEN}, "unanswered-tool-call");
  context.assert?.clean?.(${CLEAN});
});
`,
      "fails.test.mjs": `import { test } from "node:test";
import { useProvider } from "toolcheck/node";
${ASK}
test("fails", async (context) => {
  const mock = await useProvider(context);
  await ask(mock.url, ${BROKEN});
});
`,
    };
    const root = await project(files, ["toolcheck", ...ofModule("toolcheck-wasm"), `${NODE}@${version}`]);
    const node = join(root, "node_modules", NODE, "bin/node");
    const at = run(node, ["--version"]).trim().slice(1);
    expects(run(node, ["node_modules/toolcheck/bin/toolcheck.js", "lint", "bad.json"], { cwd: root, status: 1 }), RULE);
    for (const file of ["own.mjs", "own.cjs", ...ofModule("wasm.mjs")]) expects(run(node, [file], { cwd: root }), RULE);
    const [major, minor] = at.split(".").map(Number);
    for (const file of major > 22 || (major === 22 && minor >= 12) ? ofModule("wasm.cjs") : []) expects(run(node, [file], { cwd: root }), RULE);
    run(node, ["--test", "mock.test.mjs"], { cwd: root });
    expects(run(node, ["--test", "fails.test.mjs"], { cwd: root, status: 1 }), /refused with 400: unanswered-tool-call/);
    return at;
  });
}

row("Deno", "latest", "toolcheck and toolcheck-wasm: import", async () => {
  const root = await project({ "wasm.mjs": MODULE, "own.mjs": `import { lint } from "toolcheck";\n${LINT}\n` }, ["toolcheck", ...ofModule("toolcheck-wasm"), "deno"]);
  for (const file of ["own.mjs", ...ofModule("wasm.mjs")]) expects(run(bin(root, "deno"), ["run", "--no-lock", "--allow-all", file], { cwd: root }), RULE);
  return installed(root, "deno");
});

row("Bun", "latest", "toolcheck and toolcheck-wasm: import; bun test with toolcheck/jest and the mock", async () => {
  const files = {
    "wasm.mjs": MODULE,
    "own.mjs": `import { lint } from "toolcheck";\n${LINT}\n`,
    "own.test.js": `import { expect, test } from "bun:test";\nimport { useProvider } from "toolcheck/jest";\n${ASK}${matchers}\nconst mock = useProvider({ target: "anthropic" });\n${MOCKED}`,
    "fails/one.test.js": `import { expect, test } from "bun:test";\nimport "toolcheck/jest";\n${failing}`,
  };
  const root = await project(files, ["toolcheck", ...ofModule("toolcheck-wasm"), "bun"]);
  const program = existsSync(join(root, "node_modules/@oven")) ? bunOf(root) : bin(root, "bun");
  for (const file of ["own.mjs", ...ofModule("wasm.mjs")]) expects(run(program, [file], { cwd: root }), RULE);
  run(program, ["test", "own.test.js"], { cwd: root });
  expects(run(program, ["test", "./fails/one.test.js"], { cwd: root, status: 1 }), RULE);
  return installed(root, "bun");
});
/** Without its install script, the package `bun` has its programs in packages for each processor: the one without AVX2 runs on any. */
function bunOf(root) {
  const names = readdirSync(join(root, "node_modules/@oven")).sort((a, b) => Number(b.includes("baseline")) - Number(a.includes("baseline")));
  return join(root, "node_modules/@oven", names.find((name) => !name.includes("musl")), "bin/bun");
}

/** How types are checked: those of libraries too. */
const COMPILED = (module, moduleResolution, types) => ({ strict: true, noEmit: true, target: "es2022", lib: ["es2023", "dom"], module, moduleResolution, types, skipLibCheck: false });

for (const version of MAJORS.vitest) {
  row("vitest", version, "toolcheck/vitest: matchers, fixture of the mock, a failure; toolcheck-wasm/vitest; types of both, with vitest's own checked too", async () => {
    const types = (name) => `import { expect } from "vitest";
import "${name}/vitest";
export const nothing: void = expect({}).not.toBeClean({ failOn: "error" });
expect({}).toEqual({ a: expect.toHaveFindings(["x"]) });
await expect(Promise.resolve({})).resolves.toBeClean();
// @ts-expect-error
expect({}).toBeClean("anthropic");
// @ts-expect-error
expect({}).toBeClen();
`;
    const files = {
      "own.test.mjs": `import { expect, test as base } from "vitest";
import { provider } from "toolcheck/vitest";
${ASK}
const test = base.extend({ mock: provider({ target: "anthropic" }) });
${matchers}
test("is refused", async ({ mock }) => {
  expect((await ask(process.env.ANTHROPIC_BASE_URL, ${BROKEN})).status).toBe(400);
  mock.expectRefusal("unanswered-tool-call");
});
`,
      "wasm.test.mjs": `import { expect, test } from "vitest";\nimport "toolcheck-wasm/vitest";\n${matchers}`,
      "fails.test.mjs": `import { expect, test } from "vitest";\nimport "toolcheck/vitest";\n${failing}`,
    };
    for (const name of ["toolcheck", ...ofModule("toolcheck-wasm")]) {
      files[`${name}.mts`] = types(name);
      files[`${name}.json`] = JSON.stringify({ compilerOptions: COMPILED("nodenext", "nodenext", ["node"]), files: [`${name}.mts`] });
    }
    const root = await project(files, ["toolcheck", ...ofModule("toolcheck-wasm"), `vitest@${version}`, `${NODE}@24`, "typescript@5", "@types/node"]);
    const more = newer(root);
    for (const name of ["toolcheck", ...ofModule("toolcheck-wasm")]) run(bin(root, "tsc"), ["--project", `${name}.json`], { cwd: root });
    run(bin(root, "vitest"), ["run", "own.test.mjs", ...ofModule("wasm.test.mjs")], { cwd: root, more });
    expects(run(bin(root, "vitest"), ["run", "fails.test.mjs"], { cwd: root, status: 1, more }), /error\[unanswered-tool-call\]/);
    return installed(root, "vitest");
  });
}

for (const version of MAJORS.jest) {
  row("Jest", version, "toolcheck/jest: as it is by default, with setupFilesAfterEnv, as ES modules; toolcheck-wasm/matchers", async () => {
    const files = {
      "jest.config.json": JSON.stringify({ testEnvironment: "node", transform: {}, testMatch: ["**/*.test.*js"], moduleFileExtensions: ["js", "cjs", "mjs", "json"] }),
      "setup.config.json": JSON.stringify({ testEnvironment: "node", setupFilesAfterEnv: ["toolcheck/jest"], testMatch: ["**/set/*.test.js"] }),
      "own.test.cjs": `const { useProvider } = require("toolcheck/jest");\n${ASK}${matchers}\ndescribe("with a mock", () => {\nconst mock = useProvider({ target: "anthropic" });\n${MOCKED}\n});\n`,
      "fails.test.cjs": `require("toolcheck/jest");\n${failing}`,
      "set/up.test.js": matchers,
      "module.test.mjs": `import { expect, test } from "@jest/globals";\nimport { useProvider } from "toolcheck/jest";\n${ASK}${matchers}\nconst mock = useProvider({ target: "anthropic" });\n${MOCKED}`,
      "wasm.test.mjs": `import { expect, test } from "@jest/globals";\nimport * as matchers from "toolcheck-wasm/matchers";\nexpect.extend(matchers);\n${matchers}`,
    };
    const root = await project(files, ["toolcheck", ...ofModule("toolcheck-wasm"), `jest@${version}`]);
    const jest = (name, more = {}) => run(bin(root, "jest"), ["--ci", "--config", more.config ?? "jest.config.json", name], { cwd: root, ...more });
    jest("own.test.cjs");
    expects(jest("fails.test.cjs", { status: 1 }), /error\[unanswered-tool-call\]/);
    jest("set/up.test.js", { config: "setup.config.json" });
    for (const name of ["module.test.mjs", ...ofModule("wasm.test.mjs")]) jest(name, { more: { NODE_OPTIONS: "--experimental-vm-modules" } });
    return installed(root, "jest");
  });
}

for (const [version, jest] of [["5", ["@types/jest"]], ["latest", ["@jest/globals"]]]) {
  row("TypeScript", version, `types of both packages, strict, for Node and for bundlers, with ${jest}`, async () => {
    const expects = jest[0] === "@jest/globals" ? 'import { expect } from "@jest/globals";\n' : "";
    const files = {
      "use.mts": `import { lint } from "toolcheck";\nconst rule: string = lint({}).findings[0]!.rule;\n// @ts-expect-error\nlint(Promise.resolve({}));\n// @ts-expect-error\nlint({}, { targt: "x" });\nexport { rule };\n`,
      "jest.ts": `${expects}import { useProvider } from "toolcheck/jest";\nconst mock = useProvider({ target: "anthropic" });\nexpect({}).toBeClean({ failOn: "error" });\nexpect({}).not.toHaveFindings([mock.url]);\n// @ts-expect-error\nexpect({}).toBeClean("x");\n`,
      "node.mts": `import { test } from "node:test";\nimport { useProvider } from "toolcheck/node";\ntest("x", async (context) => {\n  await useProvider(context);\n  context.assert.clean({});\n});\n`,
      "vite.mts": `import { expect } from "vitest";\nimport "toolcheck/vitest";\nexpect({}).toBeClean();\n`,
    };
    for (const name of ofModule("wasm.mts")) {
      files[name] = `import { fix } from "toolcheck-wasm";\ndeclare const either: string | Uint8Array;\nexport const fixed: string | Uint8Array = fix(either).body;\n`;
    }
    for (const [name, module, resolution] of [["node", "nodenext", "nodenext"], ["bundler", "esnext", "bundler"]]) {
      const types = ["node", ...(jest[0] === "@types/jest" ? ["jest"] : [])];
      files[`${name}.json`] = JSON.stringify({ compilerOptions: COMPILED(module, resolution, types), include: ["*.ts", "*.mts"] });
    }
    const root = await project(files, ["toolcheck", ...ofModule("toolcheck-wasm"), `typescript@${version}`, "@types/node", "vitest", ...jest]);
    for (const name of ["node", "bundler"]) run(bin(root, "tsc"), ["--project", `${name}.json`], { cwd: root });
    return installed(root, "typescript");
  });
}

for (const version of MAJORS.vite) {
  row("Vite", version, "toolcheck-wasm: the development server and what is built, in Chromium", async () => {
    const root = await project({ "main.js": IN_PAGE, "index.html": PAGE("/main.js") }, ["toolcheck-wasm", `vite@${version}`]);
    await whileServed(bin(root, "vite"), ["--host", "127.0.0.1", "--port", "0"], root, inPage);
    run(bin(root, "vite"), ["build"], { cwd: root });
    await inFolder(join(root, "dist"));
    return installed(root, "vite");
  });
}

row("esbuild", "latest", "toolcheck-wasm: for a browser, in Chromium; for Node, as esm and cjs", async () => {
  const root = await project({ "page.js": IN_PAGE, "main.mjs": MODULE, "out/index.html": PAGE("page.js") }, ["toolcheck-wasm", "esbuild"]);
  const build = (...args) => run(bin(root, "esbuild"), ["--bundle", ...args], { cwd: root });
  build("page.js", "--format=esm", "--outfile=out/page.js");
  // As the documentation says: esbuild copies no module.
  cpSync(join(root, "node_modules/toolcheck-wasm/js/toolcheck.wasm"), join(root, "out/toolcheck.wasm"));
  await inFolder(join(root, "out"));
  build("main.mjs", "--platform=node", "--format=esm", "--outfile=out.mjs");
  build("main.mjs", "--platform=node", "--format=cjs", "--outfile=out.cjs");
  for (const file of ["out.mjs", "out.cjs"]) expects(run("node", [file], { cwd: root }), RULE);
  return installed(root, "esbuild");
});

row("webpack", "5", "toolcheck-wasm: what is built, in Chromium", async () => {
  const root = await project({ "src/index.js": IN_PAGE, "dist/index.html": PAGE("main.js") }, ["toolcheck-wasm", "webpack@5", "webpack-cli"]);
  run(bin(root, "webpack"), ["--mode", "production"], { cwd: root });
  await inFolder(join(root, "dist"));
  return installed(root, "webpack");
});

row("Parcel", "latest", "toolcheck-wasm: what is built, in Chromium", async () => {
  const root = await project({ "main.js": IN_PAGE, "index.html": PAGE("main.js") }, ["toolcheck-wasm", "parcel"]);
  run(bin(root, "parcel"), ["build", "index.html", "--no-cache"], { cwd: root });
  await inFolder(join(root, "dist"));
  return installed(root, "parcel");
});

row("Cloudflare Workers", "latest", "toolcheck-wasm: in a Worker that `wrangler dev` runs", async () => {
  const files = {
    "worker.js": `import module from "toolcheck-wasm/toolcheck.wasm";\nimport { init, lint } from "toolcheck-wasm";\nexport default { async fetch() { await init(module); return new Response(lint(${BROKEN}).findings[0].rule); } };\n`,
    "wrangler.json": JSON.stringify({ name: "fresh", main: "worker.js", compatibility_date: "2026-01-01", send_metrics: false }),
  };
  const root = await project(files, ["toolcheck-wasm", "wrangler", `${NODE}@24`]);
  await whileServed(bin(root, "wrangler"), ["dev", "--ip", "127.0.0.1", "--port", "0"], root, async (address) => expects(await (await fetch(address)).text(), RULE), newer(root));
  return `wrangler ${installed(root, "wrangler")}`;
});

row("Next", "latest", "toolcheck-wasm: in a page and in a route of its server, development and build", async () => {
  const files = {
    "app/layout.js": 'export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html>; }\n',
    "app/page.js": `"use client";\nimport { useEffect } from "react";\nimport { init, lint } from "toolcheck-wasm";\nexport default function Page() {\n  useEffect(() => {\n    init().then(() => { document.title = lint(${BROKEN}).findings[0].rule; }, (error) => { document.title = "failed: " + error.message; });\n  }, []);\n  return <p>page</p>;\n}\n`,
    "app/lint/route.js": `import { lint } from "toolcheck-wasm";\nexport const dynamic = "force-dynamic";\nexport function GET() { return new Response(lint(${BROKEN}).findings[0].rule); }\n`,
  };
  const root = await project(files, ["toolcheck-wasm", "next", "react", "react-dom"]);
  const both = async (address) => {
    await inPage(address);
    expects(await (await fetch(`${address}lint`)).text(), RULE);
  };
  await whileServed(bin(root, "next"), ["dev", "--port", "0", "--hostname", "127.0.0.1"], root, both, { CI: "" });
  run(bin(root, "next"), ["build"], { cwd: root, minutes: 8 });
  await whileServed(bin(root, "next"), ["start", "--port", "0", "--hostname", "127.0.0.1"], root, both);
  return installed(root, "next");
});

// ---- the table

const results = [];
const revision = given.record && run("git", ["rev-parse", "--short=8", "HEAD"], { cwd: ROOT }).trim();
try {
  packages = pack();
  console.log(`packed: ${readdirSync(packages).join(", ")}`);
  scope = await registry(packages);
  for (const { tool, wanted, what, use } of rows.filter(({ tool, wanted }) => given.only.some((word) => `${tool} ${wanted}`.toLowerCase().includes(word.toLowerCase())))) {
    const start = performance.now();
    let version = wanted;
    let result = "passed";
    current = results.length;
    try {
      version = await use();
      if (partial.has(current)) result = "passed, without toolcheck-wasm: toolcheck.wasm is not built";
    } catch (error) {
      result = error instanceof Unavailable ? `not tried: ${error.message.split("\n")[0]}` : "FAILED";
      if (result === "FAILED") console.error(`${tool} ${wanted}: ${error.message}\n`);
    }
    results.push([tool, version, what, result, wanted]);
    console.error(`${tool} ${version}: ${result} (${Math.round((performance.now() - start) / 1000)} s)`);
  }
} finally {
  await browser?.close();
  scope?.close();
  if (!given.keep) rmSync(work, { recursive: true, force: true });
  else console.log(work);
}
console.log(["", "| tool | version | what ran, from the packed tarballs | result |", "| --- | --- | --- | --- |", ...results.map((cells) => `| ${cells.slice(0, 4).join(" | ")} |`)].join("\n"));
if (given.record) {
  const taken = results.map(([what, version, ran, result, asked]) => ({ what, asked, version, from: "packed tarballs", ran, result: result.replace(/^passed/, "ok") }));
  const words = ["record", "javascript", "--revision", revision, ...(given.only[0] === "" ? ["--whole"] : [])];
  const done = spawnSync("python3", [join(ROOT, "scripts/delivered/tried.py"), ...words], { input: JSON.stringify(taken), stdio: ["pipe", "inherit", "inherit"] });
  if (done.status !== 0) process.exit(1);
}
const bad = results.filter(([, , , result]) => result === "FAILED" || (given.require && result !== "passed"));
process.exit(bad.length || !results.length ? 1 : 0);
