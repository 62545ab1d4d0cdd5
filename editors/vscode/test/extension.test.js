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
  commands: {
    registerCommand: (name, run) => ((registered[name] = run), { dispose() {} }),
    executeCommand: async (...words) => shown.push(words),
  },
  window: { showErrorMessage: async (message, ...choices) => (shown.push(message), choices[0]) },
  workspace: {
    getConfiguration: () => ({ get: (name, otherwise) => values[name] ?? otherwise }),
    onDidChangeConfiguration: (run) => ((changed = run), { dispose() {} }),
    onDidGrantWorkspaceTrust: (run) => ((trusted = run), { dispose() {} }),
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
  values = { path: "/opt/toolcheck", target: "bedrock", kind: "", config: "" };
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.equal(context.subscriptions.length, 3);
  const [client] = started;
  assert.deepEqual(client.program, { command: "/opt/toolcheck", args: ["server"] });
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
  values = { path: "/opt/toolcheck" };
  assert.equal(await command(), "/opt/toolcheck");
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

test("a program that is missing is named, with the way to its setting", async () => {
  failure = new Error("spawn ENOENT");
  await registered["toolcheck.restart"]();
  assert.deepEqual(shown, [
    "toolcheck: cannot start `toolcheck server`: spawn ENOENT",
    ["workbench.action.openSettings", "toolcheck.path"],
  ]);
  await extension.deactivate();
});

test("every setting and command of the manifest is used", () => {
  const names = Object.keys(manifest.contributes.configuration.properties);
  assert.deepEqual(names, ["path", "target", "format", "kind", "config", "workspace", "trace.server"].map((name) => `toolcheck.${name}`));
  assert.deepEqual(manifest.contributes.commands.map(({ command }) => command), Object.keys(registered));
});
