// A browser, if there is one.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { EDITOR, WASM } from "./serve.js";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const CHROMIUM = process.env.CHROMIUM ?? PATHS.find(existsSync) ?? PATHS[0];

/** Why the tests can't run here; nothing if they can. What is about to be published is never left untested. Pages of users need no editor. */
export function missing({ editor = true } = {}) {
  const why = lacks(editor);
  if (why && process.env.TOOLCHECK_PAGE) throw new Error(`the page can't be tested: ${why}`);
  return why;
}

function lacks(editor) {
  if (!existsSync(WASM)) return "bindings/wasm/js/toolcheck.wasm is not built";
  if (editor && !process.env.TOOLCHECK_PAGE && !existsSync(EDITOR)) return "the editor can't be bundled (npm ci --ignore-scripts --prefix web)";
  if (!existsSync(CHROMIUM)) return `there is no Chromium at ${CHROMIUM} (CHROMIUM names another)`;
  try {
    playwright();
  } catch {
    return "playwright-core is not installed (npm ci --prefix web/test; PLAYWRIGHT names another folder that has it)";
  }
  return undefined;
}

function playwright() {
  const from = process.env.PLAYWRIGHT ? `${process.env.PLAYWRIGHT}/` : import.meta.url;
  return createRequire(from)("playwright-core");
}

export function launch() {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
  return playwright().chromium.launch({ executablePath: CHROMIUM, args });
}
