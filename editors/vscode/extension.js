// Starts `toolcheck server`, and starts it again when its settings change.

const { commands, env, languages, Uri, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { configurations, initializationOptions, selector } = require("./options.js");
const { exists, program: programOf } = require("./program.js");

const INSTALL = "https://github.com/toolcheck/toolcheck/blob/main/docs/install.md";

/** How long the program may take to answer, in milliseconds. */
const LONGEST_START = 10_000;

/** @type {LanguageClient | undefined} */
let client;

/** Whether there was something to do for a server. */
let isWanted = false;

/** Several settings may change at once: what was asked first is done before the next begins. */
let queue = Promise.resolve();

/** @param {() => Promise<void>} task */
function inTurn(task) {
  queue = queue.then(task, task);
  return queue;
}

/** Whether all files are to be checked, or a file is open that the server reads, or there is a configuration. */
async function hasWork() {
  if (workspace.getConfiguration("toolcheck").get("workspace") === true) return true;
  if (workspace.textDocuments.some((document) => languages.match(selector, document) > 0)) return true;
  return (await workspace.findFiles(configurations, undefined, 1)).length > 0;
}

/**
 * Shows an error, with what can be done about it. Until somebody chooses, nothing waits.
 * @param {string} message
 * @param {Record<string, () => unknown>} choices
 */
function tell(message, choices) {
  window.showErrorMessage(message, ...Object.keys(choices)).then((choice) => (choice === undefined ? undefined : choices[choice]()));
}

const openSettings = () => commands.executeCommand("workbench.action.openSettings", "toolcheck.path");

async function begin() {
  if (isWanted) return;
  isWanted = true;
  await inTurn(start);
}

async function start() {
  const settings = workspace.getConfiguration("toolcheck");
  // What an unknown folder brings is not run.
  const trusted = workspace.isTrusted ? (workspace.workspaceFolders ?? []) : [];
  const local = trusted.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  const program = { command: programOf(settings.get("path", ""), local), args: ["server"] };
  if (!exists(program.command)) {
    const where = /[/\\]/.test(program.command) ? "" : ", or not on the PATH of VS Code";
    const trust = workspace.isTrusted ? "" : " Trust the workspace to use a program of its own.";
    tell(`toolcheck: The program \`${program.command}\` is not installed${where}.${trust}`, {
      "How to install": () => env.openExternal(Uri.parse(INSTALL)),
      "Set its path": openSettings,
    });
    return;
  }
  const own = new LanguageClient("toolcheck", "toolcheck", program, {
    documentSelector: selector,
    initializationOptions: initializationOptions(settings),
  });
  client = own;
  // One that answers too late has a successor, perhaps.
  const started = own.start().then(() => (client === own ? undefined : own.stop()));
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("it does not answer")), LONGEST_START);
  });
  try {
    await Promise.race([started, late]);
  } catch (error) {
    started.catch(() => {});
    client = undefined;
    const why = error instanceof Error ? error.message : String(error);
    tell(`toolcheck: cannot start \`${program.command} server\`: ${why}`, { "Open settings": openSettings });
  } finally {
    clearTimeout(timer);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

const restart = () =>
  inTurn(async () => {
    await stop();
    await start();
  });

/** @param {import("vscode").ExtensionContext} context */
exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand("toolcheck.restart", restart),
    workspace.onDidChangeConfiguration(async (change) => {
      if (["path", "target", "format", "kind", "config", "workspace"].some((name) => change.affectsConfiguration(`toolcheck.${name}`))) {
        if (isWanted) await restart();
        else if (await hasWork()) await begin();
      }
    }),
    // Now its own program may be run.
    workspace.onDidGrantWorkspaceTrust(async () => (isWanted ? restart() : undefined)),
    workspace.onDidOpenTextDocument(async (document) => {
      if (languages.match(selector, document) > 0) await begin();
    }),
  );
  // It is activated with every window: the setting that has all files checked can't be an event.
  if (await hasWork()) await begin();
};

exports.deactivate = () => inTurn(stop);
