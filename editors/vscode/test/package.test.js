// What is in the package that is published, whether it is small, and whether its bundle can be loaded.

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { test } = require("node:test");

const ROOT = path.dirname(__dirname);
const VSCE = path.join(ROOT, "node_modules/@vscode/vsce/vsce");

/** A stand-in for all of `vscode`: anything is a class with anything in it. */
const anything = new Proxy(class {}, {
  get: (target, name) => (name === "prototype" ? target.prototype : anything),
  apply: () => anything,
});

/** The files of a package, each with its bytes. */
async function entries(file) {
  const { openPromise } = require("yauzl");
  const files = {};
  const archive = await openPromise(file);
  for await (const entry of archive.eachEntry()) files[entry.fileName] = entry.uncompressedSize;
  return files;
}

test("the package is a few files, and small", { skip: !fs.existsSync(VSCE) && "npm ci in editors/vscode installs what it needs" }, async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "toolcheck-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "toolcheck.vsix");
  // It checks the types first, and bundles.
  execFileSync(process.execPath, [VSCE, "package", "--skip-license", "--out", file], { cwd: ROOT, stdio: "pipe" });
  const files = await entries(file);
  const expected = [
    "[Content_Types].xml",
    "extension.vsixmanifest",
    "extension/LICENSE-APACHE",
    "extension/LICENSE-MIT",
    "extension/dist/THIRD-PARTY-NOTICES.txt",
    "extension/dist/extension.js",
    "extension/icon.png",
    "extension/package.json",
    "extension/readme.md",
  ];
  assert.deepEqual(Object.keys(files).sort(), expected);
  assert.ok(fs.statSync(file).size < 150_000, `${fs.statSync(file).size} bytes`);
  assert.ok(files["extension/dist/extension.js"] < 450_000);

  const notices = fs.readFileSync(path.join(ROOT, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
  for (const name of ["vscode-languageclient", "vscode-jsonrpc", "semver", "minimatch"]) {
    assert.match(notices, new RegExp(`^${name} \\d`, "m"));
  }
  assert.doesNotMatch(notices, /^(typescript|esbuild) /m);

  const load = Module._load;
  t.after(() => (Module._load = load));
  Module._load = (name, ...rest) => (name === "vscode" ? anything : load.call(Module, name, ...rest));
  const bundle = require("../dist/extension.js");
  assert.deepEqual(Object.keys(bundle).sort(), ["activate", "deactivate"]);
});
