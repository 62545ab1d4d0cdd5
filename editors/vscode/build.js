// Bundles the extension into one file, and writes down which libraries are in it, with their licences.

const fs = require("node:fs");
const path = require("node:path");
const { build } = require("esbuild");

const FOLDER = path.join(__dirname, "dist");

/**
 * The folder of the package that a bundled file is from; of our own files there is none.
 * @param {string} file
 */
function packageOf(file) {
  const parts = file.split("/");
  const last = parts.lastIndexOf("node_modules");
  if (last === -1) return undefined;
  const length = parts[last + 1].startsWith("@") ? 3 : 2;
  return path.join(__dirname, ...parts.slice(0, last + length));
}

/**
 * @param {string} folder
 */
function notice(folder) {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const file = fs.readdirSync(folder).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence that could be passed on`);
  return `${name} ${version} (${license})\n\n${fs.readFileSync(path.join(folder, file), "utf8").trim()}\n`;
}

async function main() {
  fs.rmSync(FOLDER, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: __dirname,
    entryPoints: ["extension.js"],
    outfile: path.join(FOLDER, "extension.js"),
    bundle: true,
    minify: true,
    platform: "node",
    format: "cjs",
    // What the oldest VS Code of the manifest runs.
    target: "node20",
    external: ["vscode"],
    // The notices below have them all.
    legalComments: "none",
    metafile: true,
  });
  const folders = new Set(Object.keys(metafile.inputs).map(packageOf));
  const notices = [...folders].filter((folder) => folder !== undefined).sort().map(notice);
  const head = "The extension toolcheck for VS Code contains the following libraries.\n";
  fs.writeFileSync(path.join(FOLDER, "THIRD-PARTY-NOTICES.txt"), [head, ...notices].join(`\n${"-".repeat(80)}\n\n`));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
