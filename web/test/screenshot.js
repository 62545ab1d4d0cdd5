// Makes docs/images/playground.png: node web/test/screenshot.js [OUT]

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, missing } from "./browser.js";
import { assembled, serve } from "./serve.js";

const out = process.argv[2] ?? fileURLToPath(new URL("../../docs/images/playground.png", import.meta.url));
const why = missing();
if (why) {
  console.error(why);
  process.exit(2);
}
const server = await serve(assembled());
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
await page.goto(server.address);
await page.waitForSelector("html[data-ready]");
await page.selectOption("#example", { index: 1 });
await page.waitForSelector(".finding > button");
await page.click(".finding > button");
mkdirSync(dirname(out), { recursive: true });
await page.screenshot({ path: out });
await browser.close();
server.close();
