// The extension with a stand-in for VS Code: which program it starts, and with which settings.

const assert = require("node:assert/strict");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { test } = require("node:test");

const started = [];
const shown = [];
const registered = {};
let values = {};
let failure;
/** What a program waits for before it answers. */
let answer;
let changed;
let trusted;
let opened;
/** Whether there is a configuration in the workspace. */
let isConfigured = true;

// The programs that are started are there, and `toolcheck` is on the `PATH`.
const programs = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "toolcheck-")));
process.on("exit", () => fs.rmSync(programs, { recursive: true }));
const other = path.join(programs, "other");
for (const name of ["toolcheck", "toolcheck.exe", "other"]) fs.writeFileSync(path.join(programs, name), "");
process.env.PATH = [programs, process.env.PATH].join(path.delimiter);

class LanguageClient {
  constructor(id, name, program, options) {
    Object.assign(this, { id, name, program, options, isRunning: false });
  }
  async start() {
    if (failure) throw failure;
    this.isStarting = true;
    await answer;
    Object.assign(this, { isStarting: false, isRunning: true });
    started.push(this);
  }
  async stop() {
    // As the real one does.
    if (this.isStarting) throw new Error("Client is not running and can't be stopped.");
    this.isRunning = false;
  }
}

const vscode = {
  env: { openExternal: async (address) => shown.push(address) },
  languages: { match: (selector, { languageId }) => (selector.some(({ language }) => language === languageId) ? 10 : 0) },
  Uri: { parse: (address) => address },
  commands: {
    registerCommand: (name, run) => ((registered[name] = run), { dispose() {} }),
    executeCommand: async (...words) => shown.push(words),
  },
  window: { showErrorMessage: async (message, ...choices) => (shown.push(message), choices[0]) },
  workspace: {
    getConfiguration: () => ({ get: (name, otherwise) => values[name] ?? otherwise }),
    onDidChangeConfiguration: (run) => ((changed = run), { dispose() {} }),
    onDidGrantWorkspaceTrust: (run) => ((trusted = run), { dispose() {} }),
    onDidOpenTextDocument: (run) => ((opened = run), { dispose() {} }),
    findFiles: async (pattern) => (isConfigured ? [pattern] : []),
    textDocuments: [],
    isTrusted: false,
    workspaceFolders: undefined,
  },
};

const load = Module._load;
Module._load = function (name, ...rest) {
  if (name === "vscode") return vscode;
  if (name === "vscode-languageclient/node") return { LanguageClient };
  return load.call(this, name, ...rest);
};
const extension = require("../extension.js");
const manifest = require("../package.json");

test("the server is started with the settings that are set, and again when they change", async () => {
  values = { path: other, target: "bedrock", kind: "", config: "" };
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.equal(context.subscriptions.length, 4);
  const [client] = started;
  assert.deepEqual(client.program, { command: other, args: ["server"] });
  assert.deepEqual(client.options.initializationOptions, { target: "bedrock" });
  const named = client.options.documentSelector.filter(({ language }) => language);
  const languages = new Set(named.map(({ language }) => `onLanguage:${language}`));
  assert.deepEqual([...languages], manifest.activationEvents.filter((event) => event.startsWith("onLanguage:")));

  values = { path: "", kind: "session", format: "anthropic", workspace: true };
  await changed({ affectsConfiguration: (name) => name === "editor.tabSize" });
  assert.equal(started.length, 1);
  await changed({ affectsConfiguration: (name) => name === "toolcheck.kind" });
  assert.equal(client.isRunning, false);
  assert.deepEqual(started[1].program, { command: "toolcheck", args: ["server"] });
  assert.deepEqual(started[1].options.initializationOptions, { format: "anthropic", kind: "session", workspace: true });
  await registered["toolcheck.restart"]();
  assert.deepEqual([started[1].isRunning, started[2].isRunning], [false, true]);
  await extension.deactivate();
  assert.equal(started[2].isRunning, false);
});

test("settings that change at once leave one server running", async () => {
  const before = started.length;
  answer = new Promise((resolve) => setTimeout(resolve, 5));
  const kind = { affectsConfiguration: (name) => name === "toolcheck.kind" };
  await Promise.all([trusted(), changed(kind), changed(kind)]);
  assert.equal(started.length, before + 3);
  assert.equal(started.filter(({ isRunning }) => isRunning).length, 1);
  await extension.deactivate();
  assert.equal(started.filter(({ isRunning }) => isRunning).length, 0);
});

test("a program that does not answer gives way to the next", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const before = started.length;
  let wake;
  answer = new Promise((resolve) => (wake = resolve));
  const first = registered["toolcheck.restart"]();
  // Its turn comes before the time runs.
  await new Promise(setImmediate);
  context.mock.timers.tick(10_000);
  await first;
  assert.equal(shown.splice(0)[0], "toolcheck: cannot start `toolcheck server`: it does not answer");
  answer = undefined;
  await registered["toolcheck.restart"]();
  assert.equal(started.length, before + 1);
  // It answers when nobody asks any more.
  wake();
  await new Promise(setImmediate);
  assert.deepEqual(started.slice(before).map(({ isRunning }) => isRunning), [true, false]);
  await extension.deactivate();
});

test("a trusted folder's own program is started, unless a setting names another", async () => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "toolcheck-")));
  const write = (...parts) => {
    const file = path.join(folder, ...parts);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, "{}");
    return file;
  };
  const command = async () => {
    await registered["toolcheck.restart"]();
    return started.at(-1).program.command;
  };
  const environment = write(".venv", "bin", "toolcheck");
  vscode.workspace.workspaceFolders = [{ uri: { scheme: "file", fsPath: folder } }];
  values = {};
  assert.equal(await command(), "toolcheck");
  vscode.workspace.isTrusted = true;
  await trusted();
  assert.equal(started.at(-1).program.command, environment);
  // A package that is linked, with the program beside its real place.
  write("store", "node_modules", "toolcheck", "package.json");
  const linked = write("store", "node_modules", `@toolcheck/cli-linux-${process.arch}-musl`, "toolcheck");
  fs.mkdirSync(path.join(folder, "node_modules"));
  fs.symlinkSync(path.join(folder, "store", "node_modules", "toolcheck"), path.join(folder, "node_modules", "toolcheck"));
  const { program } = require("../program.js");
  assert.equal(program("toolcheck", [folder], "linux"), linked);
  assert.equal(program("", [folder], "sunos"), environment);
  assert.equal(program("", [path.join(folder, "missing")], "win32"), "toolcheck");
  values = { path: other };
  assert.equal(await command(), other);
  // As somebody writes it: in the workspace, or in the home folder.
  for (const setting of ["./own", "${workspaceFolder}/own", "own/../own"]) {
    assert.equal(program(setting, [folder]), path.join(folder, "own"), setting);
    assert.equal(program(setting, []), setting);
  }
  assert.equal(program("~/own", []), path.join(os.homedir(), "own"));
  await extension.deactivate();
  values = {};
  vscode.workspace.isTrusted = false;
  fs.rmSync(folder, { recursive: true });
});

test("recordings and configurations are looked at", () => {
  const { selector } = require("../options.js");
  const languages = selector.map(({ language }) => language);
  const patterns = selector.map(({ pattern }) => pattern);
  assert.ok(languages.includes("yaml"));
  for (const name of ["**/*.{har,ndjson}", "**/{toolcheck,.toolcheck}.toml"]) assert.ok(patterns.includes(name), name);
  // Where somebody edits the configuration alone, the extension is started too.
  assert.ok(manifest.activationEvents.includes("workspaceContains:**/{toolcheck,.toolcheck}.toml"));
});

test("a program that can't be started is named, with the way to its setting", async () => {
  failure = new Error("spawn EACCES");
  await registered["toolcheck.restart"]();
  failure = undefined;
  assert.deepEqual(shown.splice(0), [
    "toolcheck: cannot start `toolcheck server`: spawn EACCES",
    ["workbench.action.openSettings", "toolcheck.path"],
  ]);
  await extension.deactivate();
});

test("of a program that is missing it is said once how to get it", async () => {
  const before = started.length;
  const install = "https://github.com/toolcheck/toolcheck/blob/main/docs/install.md";
  const all = process.env.PATH;
  process.env.PATH = "";
  await registered["toolcheck.restart"]();
  process.env.PATH = all;
  assert.deepEqual(shown.splice(0), [
    "toolcheck: The program `toolcheck` is not installed, or not on the PATH of VS Code. Trust the workspace to use a program of its own.",
    install,
  ]);
  vscode.workspace.isTrusted = true;
  values = { path: "/nowhere/toolcheck" };
  await registered["toolcheck.restart"]();
  assert.deepEqual(shown.splice(0), ["toolcheck: The program `/nowhere/toolcheck` is not installed.", install]);
  vscode.workspace.isTrusted = false;
  values = {};
  assert.equal(started.length, before);
});

test("without anything to do no server is started", async () => {
  const fresh = async () => {
    delete require.cache[require.resolve("../extension.js")];
    const before = started.length;
    const own = require("../extension.js");
    await own.activate({ subscriptions: [] });
    return { own, count: () => started.length - before };
  };
  isConfigured = false;
  const idle = await fresh();
  await opened({ languageId: "python" });
  assert.equal(idle.count(), 0);
  await Promise.all([opened({ languageId: "jsonl" }), opened({ languageId: "json" })]);
  assert.equal(idle.count(), 1);
  await idle.own.deactivate();
  // All files are to be checked: now, and from the start.
  const late = await fresh();
  values = { workspace: true };
  await changed({ affectsConfiguration: (name) => name === "toolcheck.workspace" });
  assert.equal(late.count(), 1);
  await late.own.deactivate();
  const early = await fresh();
  assert.equal(early.count(), 1);
  await early.own.deactivate();
  assert.ok(manifest.activationEvents.includes("onStartupFinished"));
  values = {};
  isConfigured = true;
});

test("every setting and command of the manifest is used", () => {
  const names = Object.keys(manifest.contributes.configuration.properties);
  assert.deepEqual(names, ["path", "target", "format", "kind", "config", "workspace", "trace.server"].map((name) => `toolcheck.${name}`));
  assert.deepEqual(manifest.contributes.commands.map(({ command }) => command), Object.keys(registered));
});
