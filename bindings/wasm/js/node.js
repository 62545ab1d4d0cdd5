// Entry for Node, Deno and Bun: the module is read when it is first needed, so nothing has to be awaited.

import { readFileSync } from "node:fs";
import { loadWith, use } from "./core.js";

loadWith(() => new WebAssembly.Module(readFileSync(new URL("./toolcheck.wasm", import.meta.url))));

/** Takes another module than that of the package. Without one it does nothing: it is here for code that runs in browsers too. */
export async function init(source) {
  if (source === undefined) return;
  use(source instanceof WebAssembly.Module ? source : await WebAssembly.compile(await source));
}

export { compareFindings, Diff, diff, endpoint, explainError, fix, lint, names, Report, show, ToolcheckError } from "./core.js";
