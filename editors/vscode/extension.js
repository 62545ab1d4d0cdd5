// Starts `toolcheck server`, and starts it again when its settings change.

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { initializationOptions, selector } = require("./options.js");
const { program: programOf } = require("./program.js");

/** How long the program may take to answer, in milliseconds. */
const LONGEST_START = 10_000;

/** @type {LanguageClient | undefined} */
let client;

/** Several settings may change at once: what was asked first is done before the next begins. */
let queue = Promise.resolve();

/** @param {() => Promise<void>} task */
function inTurn(task) {
  queue = queue.then(task, task);
  return queue;
}

async function start() {
  const settings = workspace.getConfiguration("toolcheck");
  // What an unknown folder brings is not run.
  const trusted = workspace.isTrusted ? (workspace.workspaceFolders ?? []) : [];
  const local = trusted.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  const program = { command: programOf(settings.get("path", ""), local), args: ["server"] };
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
    const settings = "Open settings";
    const why = error instanceof Error ? error.message : String(error);
    const message = `toolcheck: cannot start \`${program.command} server\`: ${why}`;
    // Until somebody chooses, nothing waits.
    window.showErrorMessage(message, settings).then((choice) => {
      if (choice === settings) return commands.executeCommand("workbench.action.openSettings", "toolcheck.path");
    });
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
        await restart();
      }
    }),
    // Now its own program may be run.
    workspace.onDidGrantWorkspaceTrust(restart),
  );
  await inTurn(start);
};

exports.deactivate = () => inTurn(stop);
