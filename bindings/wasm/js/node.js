// Entry for Node, Deno and Bun: the module is read when it is first needed, so nothing has to be awaited.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadWith, ToolcheckError, use } from "./core.js";

loadWith(() => new WebAssembly.Module(read()));

/** The module beside this file or, if a bundler has put it elsewhere, that of the package, if it is installed. */
function read() {
  const here = import.meta.url;
  try {
    return readFileSync(new URL("./toolcheck.wasm", import.meta.url));
  } catch (beside) {
    try {
      // A bundle of CommonJS does not know where it is.
      return readFileSync(createRequire(here ?? `${process.cwd()}/`).resolve("toolcheck-wasm/toolcheck.wasm"));
    } catch {
      throw new ToolcheckError(
        "toolcheck.wasm can't be read. A checkout has to build it: bindings/wasm/build.sh. A bundle needs it beside itself, " +
          `or the package outside of the bundle, such as with \`--external:toolcheck-wasm\` (${beside.message})`,
        { cause: beside },
      );
    }
  }
}

/** Takes another module than that of the package. Without one it does nothing: it is here for code that runs in browsers too. */
export async function init(source) {
  if (source === undefined) return;
  use(source instanceof WebAssembly.Module ? source : await WebAssembly.compile(await source));
}

export { compareFindings, Diff, diff, endpoint, explainError, fix, lint, models, names, Report, show, ToolcheckError } from "./core.js";
