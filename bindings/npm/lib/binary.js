// The program `toolcheck`.

"use strict";

const { spawnSync } = require("node:child_process");
const { accessSync, constants, readdirSync, statSync } = require("node:fs");
const { delimiter, join, resolve } = require("node:path");
const { ToolcheckError } = require("./error.js");

const INSTALL = "https://github.com/toolcheck/toolcheck/blob/main/docs/install.md";

/** The packages that may have the program for this machine, the best first. */
function packages(platform = process.platform, arch = process.arch, isMusl = hasMusl) {
  const name = `@toolcheck/cli-${platform}-${arch}`;
  if (platform !== "linux") return [name];
  // The one for musl links to nothing, so it runs everywhere.
  return isMusl() ? [`${name}-musl`] : [name, `${name}-musl`];
}

/** Whether the C library of this Linux is musl, whose loader has its name. */
function hasMusl() {
  try {
    return readdirSync("/lib").some((name) => name.startsWith("ld-musl-")) && !process.report?.getReport().header.glibcVersionRuntime;
  } catch {
    return false;
  }
}

/** The program of the package for this machine, which npm installs with this one. */
function packaged() {
  const names = packages();
  const file = process.platform === "win32" ? "toolcheck.exe" : "toolcheck";
  for (const name of names) {
    try {
      return require.resolve(`${name}/${file}`);
    } catch {
      // It is for another machine, or left out.
    }
  }
  throw new ToolcheckError(
    `the package ${names.join(" or ")} is not installed: install without \`--omit=optional\`, on the machine that runs it, ` +
      `or set TOOLCHECK_BIN to the path of the program (${INSTALL})`,
  );
}

/** The path of the program: the one that is named, that of `TOOLCHECK_BIN`, that of the package, or the first on the PATH. */
function find(named) {
  for (const [source, name] of [["`bin`", named], ["TOOLCHECK_BIN", process.env.TOOLCHECK_BIN]]) {
    if (!name) continue;
    const found = which(name);
    if (!found) throw new ToolcheckError(`${source} names \`${name}\`, which is not a program that can be run`);
    return found;
  }
  try {
    return packaged();
  } catch (error) {
    const found = which("toolcheck");
    if (!found) throw error;
    return found;
  }
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

/** A text of the program, which names options of the command line, in the names that the functions have. */
function asOptions(text) {
  return text.replaceAll(/`?--(target|format|kind|tools|select|extend-select|ignore|config|allow|strict)\b(?: <[A-Z_]+>|=<[A-Z_]+>)?`?/g, (_, name) => `\`${name.replace(/-(.)/g, (_, letter) => letter.toUpperCase())}\``);
}

/** Why the program did not do what it was asked to. */
function failed(program, command, said) {
  if (/unrecognized subcommand|unexpected argument/.test(said)) {
    const old = `${program} (${version(program)}) is too old for \`toolcheck ${command}\`: update it (${INSTALL})`;
    return new ToolcheckError(`${old}\n${said}`.trim());
  }
  // What is wrong with an option needs no path of the program.
  const told = /^error: ([^]*)/.exec(said)?.[1];
  return new ToolcheckError(told ? asOptions(told) : `${program} ${command}: ${said || "it ended and said nothing"}`);
}

/** Runs the program on a body, and returns what it printed. */
function run(program, args, body) {
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

module.exports = { asOptions, failed, find, packaged, packages, run, ToolcheckError };
