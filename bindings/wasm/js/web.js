// Entry for browsers and bundlers: the module is fetched by `init`.

import { isLoaded, use } from "./core.js";

let loading;

/**
 * Loads the module, once. `source` is a compiled module, its bytes, a response or its address; by default it is
 * `toolcheck.wasm` beside this file.
 */
export async function init(source) {
  if (source === undefined && isLoaded()) return;
  if (source === undefined) {
    loading ??= compile(new URL("./toolcheck.wasm", import.meta.url)).then(use, (error) => {
      loading = undefined;
      throw error;
    });
    await loading;
    return;
  }
  use(await compile(source));
}

async function compile(source) {
  const given = await source;
  if (given instanceof WebAssembly.Module) return given;
  if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return WebAssembly.compile(given);
  const response = given instanceof Response ? given : await fetch(given);
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
  // Some servers don't know the type, without which it can't be compiled while it arrives.
  const isTyped = response.headers.get("content-type")?.startsWith("application/wasm");
  return isTyped ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

export { compareFindings, Diff, diff, endpoint, explainError, fix, lint, names, Report, show, ToolcheckError } from "./core.js";
