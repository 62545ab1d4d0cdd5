// The editor of the page in Chromium: node --test web/test

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { EXAMPLES } from "../examples.js";
import { launch, missing } from "./browser.js";
import { assembled, serve } from "./serve.js";

const skip = missing();
let browser;
let folder;
let server;
before(async () => {
  if (skip) return;
  folder = assembled();
  server = await serve(folder);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens the page and gives it to a test, which fails on any error in the console. */
async function on(use, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(server.address);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  await use(page);
  assert.deepEqual(errors, []);
  await context.close();
}

const UNANSWERED = "The API refuses a request\na call without its result (Anthropic)";
const field = (page, name) => page.evaluate(async (name) => (await import("./editor.js")).fieldOf(document.getElementById("body"))[name], name);
const until = (page, text) => page.waitForFunction((text) => document.getElementById("status").textContent.includes(text), text, { timeout: 60_000 });
const numbers = (page) => page.locator("#body .cm-lineNumbers .cm-gutterElement").evaluateAll((all) => all.map((one) => one.textContent).filter((text) => text && text !== "99"));

test("lines have numbers, and the place of a finding has a mark that explains it", { skip }, () =>
  on(async (page) => {
    await page.selectOption("#example", UNANSWERED);
    await until(page, "1 error");
    assert.deepEqual((await numbers(page)).slice(0, 3), ["1", "2", "3"]);
    await page.waitForSelector("#body .cm-lint-marker-error");
    assert.equal(await page.locator("#body .cm-lint-marker").count(), 1);
    // Only the first line of the place is marked, and the style is not one that the policy blocks.
    const range = page.locator("#body .cm-lintRange-error").first();
    assert.match(await range.evaluate((one) => getComputedStyle(one).textDecoration), /wavy rgb\(180, 35, 24\)/);
    const color = await page.locator("#body .cm-lint-marker").evaluate((one) => getComputedStyle(one).backgroundColor);
    assert.notEqual(color, "rgba(0, 0, 0, 0)");
    await range.hover();
    const tip = page.locator("#body .cm-tooltip");
    await tip.waitFor();
    assert.match(await tip.textContent(), /unanswered-tool-call: tool call toolu_dagebuell has no result.*400: messages\.2: tool_use ids were found/s);
    assert.match(await tip.locator("a").getAttribute("href"), /^https:.*unanswered-tool-call/);
    await page.mouse.move(5, 5);
    // What was fixed has no mark.
    await page.click("#tab-fix");
    await page.click("#apply:enabled");
    await until(page, "0 errors");
    await page.waitForSelector("#body .cm-lint-marker", { state: "detached" });
  }));

test("the cursor points at the finding in the list, and a key undoes a fix", { skip }, () =>
  on(async (page) => {
    await page.selectOption("#example", UNANSWERED);
    await until(page, "1 error");
    const before = await field(page, "value");
    assert.equal(await page.locator("[aria-current]").count(), 0);
    await page.locator("#body .cm-lintRange-error").first().click();
    await page.waitForSelector(".finding[aria-current]");
    await page.keyboard.press("ControlOrMeta+Home");
    await page.waitForSelector(".finding[aria-current]", { state: "detached" });
    await page.click("#tab-fix");
    await page.click("#apply:enabled");
    await until(page, "0 errors");
    await page.locator("#body .cm-line").first().click();
    await page.keyboard.press("ControlOrMeta+z");
    await until(page, "1 error");
    assert.equal(await field(page, "value"), before);
  }));

test("a finding in the picture selects its place too", { skip }, () =>
  on(async (page) => {
    const call = (id) => ({ type: "tool_use", id, name: "x", input: {} });
    const messages = [{ role: "user", content: "x" }, { role: "assistant", content: [call("toolu_a"), call("toolu_b")] }, { role: "user", content: "" }];
    await page.locator("#body .cm-content").fill(JSON.stringify({ max_tokens: 9, messages }));
    await until(page, "3 errors");
    await page.click("#tab-picture");
    await page.waitForFunction(() => document.getElementById("drawing").shadowRoot?.querySelectorAll(".finding").length === 3);
    const rules = await page.locator("#list .rule").allTextContents();
    const links = page.locator("#drawing nav a");
    const selections = [];
    for (let at = 0; at < 3; at += 1) {
      assert.ok(rules[at].endsWith(await links.nth(at).textContent()), "in one order");
      await links.nth(at).click();
      selections.push(await field(page, "selected"));
    }
    assert.deepEqual(selections.slice(0, 2), [JSON.stringify(call("toolu_a")), JSON.stringify(call("toolu_b"))]);
    await page.locator("#drawing p.finding code").first().click();
    assert.equal(await field(page, "selected"), selections[0]);
  }));

test("what is typed is linted, with the places of any characters and ends of lines", { skip }, () =>
  on(async (page) => {
    await page.locator("#body .cm-content").click();
    await page.keyboard.type('{"messages": []}');
    await until(page, "1 error");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("[]");
    await until(page, "not recognised");
    const text = '{\r\n  "max_tokens": 9,\r\n  "messages": [{"role": "user", "content": "é漢\u{1f600}"},\r\n    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_pier", "name": "x", "input": {}}]}, {"role": "user", "content": "?"}]}';
    await page.setInputFiles("#file", { name: "a.json", mimeType: "application/json", buffer: Buffer.from(text) });
    await until(page, "read as anthropic");
    await page.click(".finding > button");
    assert.match(await field(page, "selected"), /^\{"type": "tool_use", .*\{\}\}$/);
  }));

test("Tab leaves the editor, and the text can be searched", { skip }, () =>
  on(async (page) => {
    await page.selectOption("#example", UNANSWERED);
    await until(page, "1 error");
    await page.locator("#body .cm-line").first().click();
    await page.keyboard.press("ControlOrMeta+f");
    await page.locator("#body .cm-search input").first().click();
    await page.keyboard.type("toolu_husum");
    await page.waitForSelector("#body .cm-searchMatch");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.notEqual(await page.evaluate(() => document.activeElement.id), "body");
  }));

const examples = Object.entries(EXAMPLES).flatMap(([group, all]) => Object.entries(all).map(([name, example]) => [`${group}\n${name}`, example]));
test("each example shows what it is for", { skip }, () =>
  on(async (page) => {
    for (const [value, { finds, tab = "findings", body, target = "", kind = "request" }] of examples) {
      await page.selectOption("#example", value);
      await page.waitForFunction((finds) => {
        const list = document.getElementById("list").textContent;
        return finds ? list.includes(finds) : /^No findings\.$/.test(list);
      }, finds, { timeout: 20_000 });
      assert.equal(await field(page, "value"), body, value);
      assert.equal(await page.getAttribute(`#tab-${tab}`, "aria-selected"), "true", value);
      assert.equal(await page.inputValue("#target"), target, value);
      assert.equal(await page.inputValue("#kind"), kind, value);
      // Each is of its own: what another one has set is gone.
      assert.equal(await page.inputValue("#example"), "");
    }
    await page.selectOption("#example", "The API refuses a request\nan error message, and the request that it is about");
    await page.waitForFunction(() => /unanswered-tool-call[^]*toolu_dagebuell/.test(document.getElementById("explained").textContent));
    await page.selectOption("#example", "Another API\nwhat a gateway lost on the way");
    await page.waitForFunction(() => /result-lost/.test(document.getElementById("compared").textContent));
  }));

test("an empty page offers the examples", { skip }, () =>
  on(async (page) => {
    assert.equal(await page.locator("#list button").count(), examples.length);
    await page.getByRole("button", { name: "a tool that there isn't" }).click();
    await page.waitForFunction(() => document.getElementById("list").textContent.includes("unknown-tool"));
    await page.locator("#body .cm-content").fill("");
    await page.getByRole("button", { name: "what a gateway lost on the way" }).click();
    await page.waitForFunction(() => /result-lost/.test(document.getElementById("compared").textContent));
  }));

test("on a wide screen, the text stays in sight however many findings there are", { skip }, () =>
  on(async (page) => {
    const call = (id) => [{ role: "assistant", content: [{ type: "tool_use", id, name: "x", input: {} }] }, { role: "user", content: "?" }];
    const messages = [{ role: "user", content: "x" }, ...Array.from({ length: 30 }, (_, at) => call(`toolu_${at}`)).flat()];
    const text = JSON.stringify({ max_tokens: 9, messages }, null, 1);
    await page.setInputFiles("#file", { name: "a.json", mimeType: "application/json", buffer: Buffer.from(text) });
    await until(page, "30 errors");
    await page.locator(".finding > button").last().click();
    const box = await page.locator("#body").boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= 800, JSON.stringify(box));
    assert.equal(await page.evaluate(() => scrollY), 0);
    const line = await page.locator("#body .cm-activeLine").boundingBox();
    assert.ok(line.y > box.y && line.y < box.y + box.height, "the place is shown");
  }));

test("a narrow screen shows all of it", { skip }, () =>
  on(
    async (page) => {
      await page.selectOption("#example", UNANSWERED);
      await until(page, "1 error");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, String(wide));
      const box = await page.locator("#body").boundingBox();
      assert.ok(box.height >= 250 && box.width >= 340, JSON.stringify(box));
      await page.click(".finding > button");
      assert.match(await field(page, "selected"), /toolu_dagebuell/);
    },
    { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true },
  ));

test("the editor is small, and its licences are beside it", { skip }, () => {
  const size = gzipSync(readFileSync(join(folder, "editor.js")), { level: 9 }).length;
  assert.ok(size < 140_000, `${size} bytes`);
  const notices = readFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), "utf8");
  for (const name of ["@codemirror/view", "@lezer/common", "serde_json"]) assert.match(notices, new RegExp(`^${name} \\d`, "m"));
  assert.ok(statSync(join(folder, "toolcheck/toolcheck.wasm")).size > 1e6);
});
