// Entry for browsers and bundlers: the module is fetched by `init`.

import { isLoaded, ToolcheckError, use } from "./core.js";

let loading;

/**
 * Loads the module, once. `source` is a compiled module, its bytes, a response or its address; by default it is
 * `toolcheck.wasm` beside this file.
 */
export async function init(source) {
  if (source === undefined && isLoaded()) return;
  if (source === undefined) {
    loading ??= compileOwn().then(use, (error) => {
      loading = undefined;
      throw error;
    });
    await loading;
    return;
  }
  use(await compile(source));
}

/** The module beside this file. */
async function compileOwn() {
  const beside = new URL("./toolcheck.wasm", import.meta.url);
  const module = await moduleOf(await fetch(beside));
  if (module) return module;
  // The server of Vite before 8 copies scripts into `node_modules/.vite/deps`, without what is beside them.
  const here = import.meta.url;
  const other = /\/\.vite\/deps/.test(here) && (await moduleOf(await fetch(new URL("../../toolcheck-wasm/js/toolcheck.wasm", here))));
  if (other) return other;
  throw new ToolcheckError(
    `toolcheck.wasm is not at ${beside}: give \`init\` its address or its bytes or, with Vite, set \`optimizeDeps.exclude\` to ["toolcheck-wasm"]`,
  );
}

async function compile(source) {
  const given = await source;
  if (given instanceof WebAssembly.Module) return given;
  if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return WebAssembly.compile(given);
  const response = given instanceof Response ? given : await fetch(given);
  const module = await moduleOf(response);
  if (module) return module;
  throw new ToolcheckError(response.ok ? `${response.url} is no WebAssembly` : `${response.url} answers ${response.status}`);
}

/** The module in a response. Some servers answer whatever they don't have with a page: then there is none. */
async function moduleOf(response) {
  if (!response.ok) return undefined;
  // Some servers don't know the type, without which it can't be compiled while it arrives.
  if (response.headers.get("content-type")?.startsWith("application/wasm")) return WebAssembly.compileStreaming(response);
  const bytes = await response.arrayBuffer();
  return String(new Uint8Array(bytes, 0, Math.min(4, bytes.byteLength))) === "0,97,115,109" ? WebAssembly.compile(bytes) : undefined;
}

export { compareFindings, Diff, diff, endpoint, explainError, fix, lint, models, names, Report, show, ToolcheckError } from "./core.js";
