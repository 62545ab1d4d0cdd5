// The package as it is packed, in a project of its own, in Node and through bundlers.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch, missing } from "../../../web/test/browser.js";
import { serve } from "../../../web/test/serve.js";
import { UNANSWERED } from "./common.js";

const PACKAGE = fileURLToPath(new URL("../", import.meta.url));
const BUNDLERS = fileURLToPath(new URL("./bundlers/", import.meta.url));
const windows = process.platform === "win32" && "npm is a script there";
const noBundlers = !existsSync(join(BUNDLERS, "node_modules")) && "the bundlers are not installed: npm ci --prefix bindings/wasm/test/bundlers";
const found = "unanswered-tool-call";

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "toolcheck-bundles-"));
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder, PACKAGE], { shell: Boolean(windows) });
});
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
/** A project with files, and the package installed. */
function project(files) {
  const root = join(folder, `project-${count++}`);
  const installed = join(root, "node_modules", "toolcheck-wasm");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["--extract", "--gzip", "--strip-components=1", "--directory", installed, "--file", join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")))]);
  for (const [name, text] of Object.entries({ "package.json": '{"type": "module"}', ...files })) writeFileSync(join(root, name), text);
  return { root, installed };
}

function node(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  return { status, stdout: stdout.trim(), stderr };
}

const PROGRAM = `import { lint } from "toolcheck-wasm";\nconsole.log(lint(${JSON.stringify(UNANSWERED)}).findings[0].rule);\n`;

test("the licences of what is in the module are packed", { skip: windows }, () => {
  const { installed } = project({});
  const notices = readFileSync(join(installed, "THIRD-PARTY-NOTICES.txt"), "utf8");
  for (const [, name, version] of readFileSync(join(PACKAGE, "Cargo.lock"), "utf8").matchAll(/name = "(jsonschema|serde_json|regex-automata)"\nversion = "([^"]*)"/g)) {
    assert.ok(notices.includes(`\n${name} ${version} (`), name);
  }
});

test("in Node, without anything else", { skip: windows }, () => {
  const { root, installed } = project({ "main.js": PROGRAM });
  assert.deepEqual(node(root, "main.js"), { status: 0, stdout: found, stderr: "" });
  rmSync(join(installed, "js", "toolcheck.wasm"));
  const { status, stderr } = node(root, "main.js");
  assert.equal(status, 1);
  assert.match(stderr, /ToolcheckError: toolcheck\.wasm can't be read\. A checkout has to build it: bindings\/wasm\/build\.sh\./);
});

for (const format of ["esm", "cjs"]) {
  test(`bundled by esbuild for Node, as ${format}`, { skip: windows || noBundlers }, async () => {
    const { build } = createRequire(BUNDLERS)("esbuild");
    const { root, installed } = project({ "main.js": PROGRAM });
    const outfile = join(root, format === "esm" ? "out.mjs" : "out.cjs");
    const options = { entryPoints: [join(root, "main.js")], bundle: true, platform: "node", format, outfile, logLevel: "silent" };
    await build(options);
    assert.deepEqual(node(root, outfile), { status: 0, stdout: found, stderr: "" });
    // Elsewhere, a bundle has nothing but itself.
    const away = join(root, "away");
    renameSync(join(root, "node_modules"), away);
    assert.match(node(root, outfile).stderr, /A bundle needs it beside itself, or the package outside of the bundle, such as with `--external:toolcheck-wasm`/);
    if (format === "esm") {
      copyFileSync(join(away, "toolcheck-wasm", "js", "toolcheck.wasm"), join(root, "toolcheck.wasm"));
      assert.deepEqual(node(root, outfile), { status: 0, stdout: found, stderr: "" });
      rmSync(join(root, "toolcheck.wasm"));
    }
    renameSync(away, join(root, "node_modules"));
    await build({ ...options, external: ["toolcheck-wasm"] });
    if (format === "esm") assert.deepEqual(node(root, outfile), { status: 0, stdout: found, stderr: "" });
    assert.ok(existsSync(installed));
  });
}

const MAIN = `
import { init, lint } from "toolcheck-wasm";

async function main() {
  try {
    await init();
    document.title = lint(${JSON.stringify(UNANSWERED)}).findings[0].rule;
  } catch (error) {
    document.title = "failed: " + error.message;
  }
}
main();
`;
const PAGE = '<!DOCTYPE html>\n<html><head><link rel="icon" href="data:,"></head><body><script type="module" src="/main.js"></script></body></html>\n';

for (const version of [5, 6, 7, 8]) {
  test(`with Vite ${version}: its server, and what it builds`, { skip: windows || noBundlers || missing() }, async () => {
    const { createServer, build } = await import(pathToFileURL(join(BUNDLERS, "node_modules", `vite${version}`, "dist", "node", "index.js")).href);
    const { root } = project({ "main.js": MAIN, "index.html": PAGE });
    const browser = await launch();
    /** What the page says. */
    const said = async (address) => {
      const page = await browser.newPage();
      await page.goto(address);
      await page.waitForFunction(() => document.title, null, { timeout: 60_000 });
      return page.title();
    };
    const settings = { root, configFile: false, logLevel: "silent" };
    const server = await createServer({ ...settings, server: { port: 0, host: "127.0.0.1" } });
    try {
      await server.listen();
      assert.equal(await said(`http://127.0.0.1:${server.httpServer.address().port}/`), found);
      await build(settings);
      const built = await serve(join(root, "dist"));
      assert.equal(await said(built.address), found);
      built.close();
    } finally {
      await server.close();
      await browser.close();
    }
  });
}
