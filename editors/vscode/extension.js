// Starts `toolcheck server`, and starts it again when its settings change.

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { initializationOptions, selector } = require("./options.js");
const { program: programOf } = require("./program.js");

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const settings = workspace.getConfiguration("toolcheck");
  // What an unknown folder brings is not run.
  const trusted = workspace.isTrusted ? (workspace.workspaceFolders ?? []) : [];
  const local = trusted.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
  const program = { command: programOf(settings.get("path", ""), local), args: ["server"] };
  client = new LanguageClient("toolcheck", "toolcheck", program, {
    documentSelector: selector,
    initializationOptions: initializationOptions(settings),
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const settings = "Open settings";
    const why = error instanceof Error ? error.message : String(error);
    const choice = await window.showErrorMessage(
      `toolcheck: cannot start \`${program.command} server\`: ${why}`,
      settings,
    );
    if (choice === settings) await commands.executeCommand("workbench.action.openSettings", "toolcheck.path");
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

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
  await start();
};

exports.deactivate = stop;
