// Where the program is.

const { existsSync, realpathSync, statSync } = require("node:fs");
const { createRequire } = require("node:module");
const { homedir } = require("node:os");
const { delimiter, isAbsolute, join, resolve } = require("node:path");

const NAME = "toolcheck";

/**
 * The program that npm has installed in a folder, with the package `toolcheck`.
 * @param {string} folder
 * @param {string} platform
 * @param {string} file
 */
function ofNode(folder, platform, file) {
  try {
    // Package managers that link packages put what a package needs beside its real place.
    const own = createRequire(realpathSync(join(folder, "node_modules", NAME, "package.json")));
    for (const suffix of ["", "-musl"]) {
      try {
        return own.resolve(`@toolcheck/cli-${platform}-${process.arch}${suffix}/${file}`);
      } catch {
        // It is for another system.
      }
    }
  } catch {
    // There is no such package.
  }
  return undefined;
}

/**
 * The path that a setting stands for: `~/` is the home folder, and what is relative is in the first folder of the workspace.
 * @param {string} setting
 * @param {readonly string[]} folders those that the user trusts
 */
function expanded(setting, folders) {
  if (/^~[/\\]/.test(setting)) return join(homedir(), setting.slice(2));
  const [folder] = folders;
  if (folder === undefined) return setting;
  const path = setting.replaceAll("${workspaceFolder}", () => folder);
  return /[/\\]/.test(path) && !isAbsolute(path) ? resolve(folder, path) : path;
}

/**
 * Whether there is such a program, as a path or on the `PATH`.
 * @param {string} program
 * @param {string | undefined} [path]
 */
exports.exists = (program, path = process.env.PATH) => {
  const names = process.platform === "win32" ? [program, `${program}.exe`] : [program];
  const folders = /[/\\]/.test(program) ? [""] : (path ?? "").split(delimiter).filter(Boolean);
  const isFile = (/** @type {string} */ file) => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  return folders.some((folder) => names.some((name) => isFile(folder === "" ? name : join(folder, name))));
};

/**
 * The program that the setting names; without a setting, the one that is installed in a folder of the workspace, as a
 * package of npm or in a virtual environment of Python, and otherwise the one on the `PATH`.
 * @param {string} setting
 * @param {readonly string[]} folders those that the user trusts
 * @param {string} [platform]
 * @returns {string}
 */
exports.program = (setting, folders, platform = process.platform) => {
  if (setting !== "" && setting !== NAME) return expanded(setting, folders);
  const isWindows = platform === "win32";
  const file = isWindows ? `${NAME}.exe` : NAME;
  for (const folder of folders) {
    const environments = [".venv", "venv"].map((name) => join(folder, name, isWindows ? "Scripts" : "bin", file));
    const found = ofNode(folder, platform, file) ?? environments.find((path) => existsSync(path));
    if (found !== undefined) return found;
  }
  return NAME;
};
