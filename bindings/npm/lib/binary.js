// The program `toolcheck`.

import { spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { ToolcheckError } from "./error.js";

export { ToolcheckError };

const INSTALL = "https://github.com/toolcheck/toolcheck/blob/main/docs/install.md";

/** The path of the program: the one that is named, that of `TOOLCHECK_BIN`, or the first on the PATH. */
export function find(named) {
  for (const [source, name] of [["`bin`", named], ["TOOLCHECK_BIN", process.env.TOOLCHECK_BIN]]) {
    if (!name) continue;
    const found = which(name);
    if (!found) throw new ToolcheckError(`${source} names \`${name}\`, which is not a program that can be run`);
    return found;
  }
  const found = which("toolcheck");
  if (!found) {
    throw new ToolcheckError(
      `\`toolcheck\` is not on the PATH: install it (${INSTALL}), or set TOOLCHECK_BIN to its path`,
    );
  }
  return found;
}

function which(name) {
  const isPath = /[\\/]/.test(name);
  const folders = isPath ? [""] : (process.env.PATH ?? "").split(delimiter);
  const endings = process.platform === "win32" ? ["", ".exe"] : [""];
  return folders
    .flatMap((folder) => endings.map((ending) => (isPath ? resolve(name + ending) : join(folder || ".", name + ending))))
    .find(canRun);
}

function canRun(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** What the program says of itself, for messages. */
function version(program) {
  const done = spawnSync(program, ["--version"], { stdio: ["ignore", "pipe", "ignore"], timeout: 10_000 });
  return done.stdout?.toString().trim() || "unknown version";
}

/** Why the program did not do what it was asked to. */
export function failed(program, command, said) {
  if (/unrecognized subcommand|unexpected argument/.test(said)) {
    const old = `${program} (${version(program)}) is too old for \`toolcheck ${command}\`: update it (${INSTALL})`;
    return new ToolcheckError(`${old}\n${said}`.trim());
  }
  return new ToolcheckError(`${program} ${command}: ${said || "it ended and said nothing"}`);
}

/** Runs the program on a body, and returns what it printed. */
export function run(program, args, body) {
  const done = spawnSync(program, args, { input: body, maxBuffer: Infinity });
  // A program that has read enough closes its input.
  if (done.error && done.error.code !== "EPIPE") {
    throw new ToolcheckError(`cannot run ${program}: ${done.error.message}`);
  }
  if (done.status !== 0 && done.status !== 1) {
    throw failed(program, args[0], done.stderr.toString().trim());
  }
  return done.stdout.toString();
}
