// Bundles the editor, with the licences of what is in it: node web/bundle.js OUT

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
const { metafile } = await build({
  entryPoints: [join(here, "editor.js")],
  outfile: join(out, "editor.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  metafile: true,
  absWorkingDir: here,
  logLevel: "warning",
});

const packages = new Set(Object.keys(metafile.inputs).map((file) => /^(.*node_modules\/(?:@[^/]*\/)?[^/]*)\//.exec(file)?.[1]).filter(Boolean));
const notices = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
  const file = readdirSync(join(here, folder)).find((name) => /^licen[cs]e/i.test(name));
  if (!file) throw new Error(`${name} has no licence`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(here, folder, file), "utf8").trim()}\n`;
});
const module = readFileSync(join(here, "../bindings/wasm/THIRD-PARTY-NOTICES.txt"), "utf8");
const line = `\n${"-".repeat(80)}\n\n`;
writeFileSync(join(out, "THIRD-PARTY-NOTICES.txt"), [`The editor of the page contains:\n`, ...notices, module].join(line));
