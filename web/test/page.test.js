// The playground in Chromium: node --test web/test

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch, missing } from "./browser.js";
import { assembled, serve } from "./serve.js";

const skip = missing();
const BROKEN = {
  max_tokens: 1024,
  messages: [
    { role: "user", content: "When does the ferry leave?" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_pier", name: "find_ferry", input: {} }] },
    { role: "user", content: "Well? é\u{1f600}" },
  ],
};
const TEXT = JSON.stringify(BROKEN, null, 2);
const ERROR = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_pier. Each `tool_use` block must have a corresponding `tool_result` block in the next message.";

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
async function on(use, { options = {}, hash = "" } = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(server.address + hash);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  await use(page, errors);
  assert.deepEqual(errors, []);
  await context.close();
}

/** Replaces the text of the editor, as a person does who selects and pastes. */
const put = (page, text) => page.locator("#body .cm-content").fill(text);
const field = (page, name) => page.evaluate(async (name) => (await import("./editor.js")).fieldOf(document.getElementById("body"))[name], name);
const value = (page) => field(page, "value");
const selected = (page) => field(page, "selected");
const status = (page) => page.locator("#status").textContent();
const until = (page, text) => page.waitForFunction((text) => document.getElementById("status").textContent.includes(text), text, { timeout: 60_000 });

test("what is pasted is linted, and a finding selects its place", { skip }, () =>
  on(async (page) => {
    await put(page, TEXT);
    await until(page, "1 error");
    assert.match(await status(page), /read as anthropic, checked against anthropic; 3 messages, 1 call, 0 results/);
    assert.match(await page.locator(".finding").first().textContent(), /unanswered-tool-call.*\/messages\/1\/content\/0/s);
    await page.click(".finding > button");
    assert.match(await selected(page), /^\{\s*"type": "tool_use",\s*"id": "toolu_pier"[^]*\}$/);
    // Characters of several bytes are before it.
    await page.evaluate(() => (document.querySelector(".finding").dataset.before = ""));
    await put(page, TEXT.replace("When", "é漢\u{1f600} When"));
    await page.waitForSelector(".finding:not([data-before])");
    await page.click(".finding > button");
    assert.match(await selected(page), /^\{\s*"type": "tool_use",\s*"id": "toolu_pier"[^]*\}$/);
    await page.selectOption("#target", "bedrock");
    await until(page, "checked against bedrock");
    await page.selectOption("#kind", "session");
    await page.selectOption("#format", "openai-chat");
    await until(page, "read as openai-chat");
    await put(page, "no JSON");
    await page.waitForFunction(() => /malformed-json/.test(document.getElementById("list").textContent));
    await put(page, '{"answer": 42}');
    await page.selectOption("#format", "");
    await until(page, "not recognised");
    await put(page, "");
    await until(page, "Paste a conversation");
  }));

test("it is fixed, and the fix can be undone", { skip }, () =>
  on(async (page) => {
    await put(page, TEXT);
    await until(page, "1 error");
    await page.click("#tab-fix");
    await page.waitForSelector("#apply:enabled");
    assert.match(await page.locator("#fix-diff .added").first().textContent(), /^\+/);
    await page.click("#apply");
    await until(page, "0 errors, 0 warnings");
    assert.match(await value(page), /tool_result/);
    await page.click("#undo");
    await until(page, "1 error");
    assert.equal(await value(page), TEXT);
  }));

test("it is drawn, without what could run", { skip }, () =>
  on(async (page) => {
    const hostile = structuredClone(BROKEN);
    hostile.messages[0].content = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    await put(page, JSON.stringify(hostile));
    await until(page, "1 error");
    await page.click("#tab-picture");
    await page.check("#texts");
    await page.waitForFunction(() => document.getElementById("drawing").shadowRoot?.textContent.includes("<img src=x"));
    const odd = await page.evaluate(() => document.getElementById("drawing").shadowRoot.querySelectorAll("script, img, iframe, style, [style], [onerror]").length);
    assert.equal(odd, 0);
    assert.equal(await page.title(), "toolcheck playground");
    await page.evaluate(() => document.getElementById("drawing").shadowRoot.querySelector("a[href^='#']").click());
    assert.equal(new URL(page.url()).hash, "");
  }));

test("an error is explained, and two conversations are compared", { skip }, () =>
  on(async (page) => {
    await put(page, TEXT);
    await page.click("#tab-explain");
    await page.fill("#error", ERROR);
    await page.waitForFunction(() => /unanswered-tool-call[^]*toolu_pier/.test(document.getElementById("explained").textContent));
    await page.click("#tab-compare");
    await page.fill("#after", JSON.stringify({ ...BROKEN, messages: BROKEN.messages.slice(0, 1) }));
    await page.waitForFunction(() => /loss/.test(document.getElementById("compared").textContent));
    await page.fill("#after", "{");
    await page.waitForFunction(() => /after/.test(document.getElementById("compared").textContent));
  }));

test("a link holds all of it", { skip }, () =>
  on(
    async (page) => {
      await put(page, TEXT);
      await page.selectOption("#target", "bedrock");
      await page.click("#tab-explain");
      await page.fill("#error", ERROR);
      await page.click("#share");
      await until(page, "The link is");
      const { hash } = new URL(page.url());
      assert.match(hash, /^#1\.[\w-]+$/);
      await on(
        async (other) => {
          await until(other, "checked against bedrock");
          assert.equal(await value(other), TEXT);
          assert.equal(await other.inputValue("#error"), ERROR);
          assert.equal(await other.getAttribute("#tab-explain", "aria-selected"), "true");
        },
        { hash },
      );
      for (const broken of ["#1.x", "#1.!!", "#2.AAAA", "#1.AAAA"]) await on(async (other) => until(other, "Paste a conversation"), { hash: broken });
      const said = [
        [hash.slice(0, -9), "This link is damaged or cut off, so nothing of it is shown."],
        [hash.slice(0, 40), "This link is damaged or cut off, so nothing of it is shown."],
        ["#2.AAAA", "This link is damaged, or of another version of this page, so nothing of it is shown."],
      ];
      for (const [broken, words] of said) {
        await on(
          async (other) => {
            await until(other, words);
            assert.equal(await other.locator("#list .situation button").first().isVisible(), true);
            await put(other, TEXT);
            await until(other, "1 error");
            // A link that is opened in the page is told about too, and leaves what is there.
            await other.evaluate((hash) => (location.hash = hash), broken);
            await until(other, words);
            assert.equal(await value(other), TEXT);
          },
          { hash: broken },
        );
      }
    },
    { options: { permissions: ["clipboard-write"] } },
  ));

test("the address says no longer what was shared once that is edited", { skip }, async () => {
  const hash = await new Promise((resolve, reject) =>
    on(async (page) => {
      assert.equal(await page.isDisabled("#share"), true, "there is nothing to share");
      await page.click("#tab-explain");
      await page.fill("#error", ERROR);
      assert.equal(await page.isEnabled("#share"), true);
      await page.fill("#error", "");
      assert.equal(await page.isDisabled("#share"), true);
      await put(page, TEXT);
      await page.click("#share");
      await until(page, "The link is");
      resolve(new URL(page.url()).hash);
    }, { options: { permissions: ["clipboard-write"] } }).catch(reject),
  );
  const changes = {
    typed: (page) => put(page, `${TEXT} `),
    target: (page) => page.selectOption("#target", "bedrock"),
    example: (page) => page.selectOption("#example", { index: 2 }),
    error: async (page) => {
      await page.click("#tab-explain");
      await page.fill("#error", ERROR);
    },
  };
  for (const [name, change] of Object.entries(changes)) {
    await on(
      async (page) => {
        await until(page, "1 error");
        assert.equal(new URL(page.url()).hash, hash);
        await change(page);
        await page.waitForFunction(() => location.hash === "", null, { timeout: 10_000 }).catch(() => assert.fail(name));
      },
      { hash },
    );
  }
});

for (const [width, height] of [[390, 800], [768, 900], [1280, 800]]) {
  test(`at ${width} x ${height} no line covers another, and what is typed into stays there`, { skip }, () =>
    on(
      async (page) => {
        await page.selectOption("#example", { label: "an error message, and the request that it is about" });
        await page.waitForFunction(() => document.querySelectorAll("#explained span").length > 20);
        const said = await page.locator("#explained").textContent();
        assert.match(said, /1 can be fixed: see Fix/);
        assert.doesNotMatch(said, /toolcheck (fix|explain)/);
        const covered = (id) =>
          page.evaluate((id) => {
            const boxes = [...document.querySelectorAll(`#${id} span`)].map((one) => [one.getBoundingClientRect(), one]);
            return boxes.filter(([box, one], index) => one.scrollHeight > one.clientHeight + 1 || one.scrollHeight > box.height + 1 || (index && box.top < boxes[index - 1][0].bottom - 0.5)).map(([, one]) => one.textContent);
          }, id);
        assert.deepEqual(await covered("explained"), []);
        // The lines of a drawing have the height of one line: they are scrolled, not broken.
        const heights = await page.evaluate(() => [...document.querySelectorAll("#explained span")].filter((one) => /^\s+.*[│╭╰─]/.test(one.textContent)).map((one) => Math.round(one.getBoundingClientRect().height)));
        assert.ok(heights.length > 3);
        assert.equal(new Set(heights).size, 1, heights.join());
        const tall = (id) => page.evaluate((id) => document.getElementById(id).getBoundingClientRect().height, id);
        assert.ok((await tall("error")) > 80, String(await tall("error")));
        await page.selectOption("#example", { label: "what a gateway lost on the way" });
        await page.waitForFunction(() => document.querySelectorAll("#compared span").length > 1);
        assert.deepEqual(await covered("compared"), []);
        assert.ok((await tall("after")) > 150, String(await tall("after")));
        await page.selectOption("#example", { index: 1 });
        await page.click("#tab-fix");
        await page.waitForSelector("#fix-diff:not([hidden])");
        assert.deepEqual(await covered("fix-diff"), []);
      },
      { options: { viewport: { width, height } } },
    ));
}

test("a plan says what it makes up, and what was fixed is told afterwards", { skip }, () =>
  on(async (page) => {
    const said = (pattern) => page.waitForFunction((source) => new RegExp(source).test(document.getElementById("fixed").textContent), pattern.source);
    await page.selectOption("#example", { index: 1 });
    await until(page, "1 error");
    await page.click("#tab-fix");
    await said(/^This fixes 1 finding and leaves 0: unanswered-tool-call \(inserted\)\. What is inserted is made up/);
    await page.click("#apply");
    await said(/^Fixed 1 finding: unanswered-tool-call \(inserted\)\. The text that was inserted is made up\. There is nothing else to fix\.$/);
    await page.click("#undo");
    await said(/^This fixes 1 finding/);
    await page.selectOption("#example", { label: "a text before the results (Anthropic)" });
    await page.click("#tab-fix");
    // It is only a warning, which the program fixes if the rule is named.
    await said(/^Not fixed without being asked: misplaced-tool-result: only a warning: .*[a-z]\. This fixes 1 finding and leaves 0: misplaced-tool-result \(moved\)\.$/);
    await page.click("#apply");
    await until(page, "0 errors, 0 warnings");
  }));

test("the first finding is in sight, names are code, and a place between two characters is marked", { skip }, () =>
  on(async (page) => {
    await page.selectOption("#example", { index: 1 });
    await until(page, "1 error");
    const isSeen = () =>
      page.waitForFunction(() => {
        const root = document.getElementById("body").shadowRoot;
        const one = root.querySelector(".cm-lintRange-error, .cm-lintPoint-error");
        const mark = one?.getBoundingClientRect();
        const frame = root.querySelector(".cm-scroller").getBoundingClientRect();
        const point = one && getComputedStyle(one, "::after");
        const width = one?.matches(".cm-lintPoint") ? (point.display === "none" ? 0 : parseFloat(point.width)) : mark?.width;
        return width > 3 && mark.top >= frame.top && mark.bottom <= frame.bottom;
      });
    await isSeen();
    assert.equal(await selected(page), "", "nothing is selected");
    assert.deepEqual(await page.locator(".finding .message code").allTextContents(), ["toolu_dagebuell"]);
    assert.doesNotMatch(await page.locator("#list").textContent(), /`/);
    await put(page, "");
    await until(page, "Paste a conversation");
    await page.evaluate((text) => {
      const content = document.getElementById("body").shadowRoot.querySelector(".cm-content");
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, `{"max_tokens": 9,\n"tools": [${'\n{"name": "find_ferry", "input_schema": {"type": "object"}},'.repeat(60).slice(0, -1)}],${TEXT.slice(1).replace('"max_tokens": 1024,', "")}`);
    await page.waitForSelector(".finding.error");
    await isSeen();
    await put(page, '{"max_tokens": 9 "messages": [{"role": "user", "content": "x"}]}');
    await page.waitForFunction(() => /malformed-json/.test(document.getElementById("list").textContent));
    await isSeen();
    await put(page, '{"answer": 42}');
    await page.waitForFunction(() => /choose the format above the text/.test(document.getElementById("list").textContent));
  }));

test("a file is opened, and a report", { skip }, () =>
  on(async (page) => {
    const file = (name, text) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) });
    await page.setInputFiles("#file", file("request.json", TEXT));
    await until(page, "1 error");
    const finding = { rule: "unanswered-tool-call", level: "error", message: "no result", path: "a/b.json", line: 3, column: 4, record: 0, pointer: "/x", url: "javascript:alert(1)" };
    const report = { version: 1, tool: { name: "toolcheck", version: "0.1.0" }, files: [{}, {}], findings: [finding], summary: { files: 2, transcripts: 2, errors: 1, warnings: 0 } };
    await page.setInputFiles("#file", file("report.json", JSON.stringify(report)));
    await until(page, "a report on 2 files");
    assert.match(await page.locator(".finding").textContent(), /a\/b\.json, line 3:4 \/x/);
    assert.equal(await page.locator(".finding a").count(), 0);
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "dropped.json"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, TEXT);
    await until(page, "read as anthropic");
  }));

test("a large file does not freeze the page", { skip }, () =>
  on(async (page) => {
    const line = `${JSON.stringify({ max_tokens: 9, messages: [{ role: "user", content: "x".repeat(900) }] })}\n`;
    const text = line.repeat(10_000) + JSON.stringify(BROKEN);
    await page.setInputFiles("#file", { name: "log.jsonl", mimeType: "text/plain", buffer: Buffer.from(text) });
    await page.waitForSelector("#held:not([hidden])");
    // The page answers while the worker works.
    const start = Date.now();
    await page.evaluate(() => 1);
    assert.ok(Date.now() - start < 2_000);
    await until(page, "1 error");
    await page.click(".finding > button");
    assert.equal(await selected(page), JSON.stringify(BROKEN.messages[1].content[0]));
    await page.click("#release");
    await until(page, "Paste a conversation");
  }));

test("what is pasted stays in the page", { skip }, async () => {
  server.seen.length = 0;
  await on(async (page, errors) => {
    const requests = [];
    page.context().on("request", (request) => requests.push(request.url()));
    const loaded = server.seen.length;
    await put(page, TEXT);
    await until(page, "1 error");
    for (const tab of ["picture", "fix", "explain", "compare", "findings"]) await page.click(`#tab-${tab}`);
    await page.waitForTimeout(300);
    assert.equal(server.seen.length, loaded, "nothing is asked for after the start");
    assert.ok(server.seen.every(({ method, url }) => method === "GET" && /^\/(|[a-z]+\.(js|css)|toolcheck\/[a-z]+\.(js|wasm))$|^\/favicon\.ico$/.test(url)), JSON.stringify(server.seen));

    // Whatever would run here could send nothing, not even to where the page is from.
    const other = await serve(folder);
    const leaks = await page.evaluate(async ([self, other]) => {
      const results = {};
      const attempt = async (name, work) => {
        try {
          await work();
          results[name] = "sent";
        } catch {
          results[name] = "blocked";
        }
      };
      for (const [name, to] of [["self", self], ["other", other]]) {
        await attempt(`fetch ${name}`, () => fetch(`${to}leak`, { method: "POST", body: "x", mode: "no-cors" }));
        await attempt(`request ${name}`, () => new Promise((resolve, reject) => { const one = new XMLHttpRequest(); one.open("POST", `${to}leak`); one.onload = resolve; one.onerror = reject; one.send("x"); }));
        await attempt(`image ${name}`, () => new Promise((resolve, reject) => { const one = new Image(); one.onload = one.onerror = (event) => (event.type === "load" ? resolve() : reject()); one.src = `${to}leak.png`; }));
        await attempt(`style ${name}`, () => new Promise((resolve, reject) => { const one = document.createElement("link"); one.rel = "stylesheet"; one.href = `${to}leak.css`; one.onload = resolve; one.onerror = reject; if (name === "other") document.head.append(one); else reject(); }));
        navigator.sendBeacon(`${to}leak`, "x");
        const form = document.createElement("form");
        form.action = `${to}leak`;
        form.method = "post";
        form.target = "_self";
        document.body.append(form);
        form.submit();
      }
      // A worker that is made like ours has the same policy.
      const code = `self.onmessage = async ({ data }) => { try { await fetch(data, { mode: "no-cors" }); postMessage("sent"); } catch { postMessage("blocked"); } };`;
      const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { type: "module" });
      for (const [name, to] of [["self", self], ["other", other]]) {
        worker.postMessage(`${to}leak`);
        results[`worker ${name}`] = await new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
      }
      return results;
    }, [server.address, other.address]);
    await page.waitForTimeout(300);
    assert.deepEqual(Object.entries(leaks).filter(([, result]) => result !== "blocked"), []);
    assert.equal(server.seen.length, loaded, JSON.stringify(server.seen.slice(loaded)));
    assert.deepEqual(other.seen, []);
    other.close();
    assert.ok(errors.length > 0 && errors.every((error) => /Content Security Policy|violates|Failed to load|Refused/.test(error)), errors.join("\n"));
    errors.length = 0;
  });
});

test("the policy is strict", { skip }, () =>
  on(async (page) => {
    const policies = await page.evaluate(() => [...document.querySelectorAll("meta[http-equiv]")].map((meta) => meta.content));
    assert.equal(policies.length, 2);
    assert.match(policies[0], /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self';/);
    assert.doesNotMatch(policies.join(), /unsafe-inline|'unsafe-eval'|https?:|\*/);
    assert.match(policies[1], /^connect-src 'none';/);
  }));

test("everything can be reached and is named", { skip }, () =>
  on(async (page) => {
    await put(page, TEXT);
    await until(page, "1 error");
    const unnamed = await page.evaluate(() => [...document.querySelectorAll("button, select, textarea, input, a, [role=region]")].filter((one) => !(one.labels?.length || one.textContent.trim() || one.getAttribute("aria-label"))).map((one) => one.outerHTML));
    assert.deepEqual(unnamed, []);
    await page.focus("#tab-findings");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.id), "tab-picture");
    assert.equal(await page.isVisible("#picture"), true);
    await page.keyboard.press("End");
    assert.equal(await page.evaluate(() => document.activeElement.id), "tab-compare");
    await page.keyboard.press("Home");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "findings");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.closest(".finding") !== null), true);
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "body");
    assert.equal(await page.getAttribute("#status", "role"), "status");
  }));

for (const [name, options] of [["a phone", { viewport: { width: 375, height: 720 }, isMobile: true, hasTouch: true }], ["a dark desktop", { colorScheme: "dark" }]]) {
  test(`it fits ${name}, and can be read`, { skip }, () =>
    on(
      async (page) => {
        await put(page, TEXT);
        await until(page, "1 error");
        for (const tab of ["findings", "picture", "fix", "explain", "compare"]) {
          await page.click(`#tab-${tab}`);
          await page.waitForTimeout(100);
          const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          assert.ok(wide <= 0, `${tab}: ${scrollWidth} ${clientWidth} ${wide}`);
        }
        const contrast = await page.evaluate(() => {
          const light = (color) => {
            const [r, g, b] = color.match(/[\d.]+/g).map((part) => { const one = part / 255; return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ground = light(getComputedStyle(document.body).backgroundColor);
          return ["#status", ".promise", ".bar label", "footer", "#tab-compare", "#tab-picture"].map((one) => {
            const text = light(getComputedStyle(document.querySelector(one)).color);
            return [one, (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)];
          });
        });
        assert.deepEqual(contrast.filter(([, ratio]) => ratio < 4.5), []);
      },
      { options },
    ));
}

const opened = async (use, address) => {
  const page = await browser.newPage();
  await page.goto(address);
  await use(page);
  await page.close();
};

for (const [without, says] of [
  ["/toolcheck/error.js", /toolcheck can't start: .*imported module.*worker\.js/],
  ["/toolcheck/toolcheck.wasm", /toolcheck can't start: toolcheck\.wasm can't be loaded: 404/],
]) {
  test(`without ${without}, the page says what failed, and does not try again`, { skip }, async () => {
    const damaged = await serve(folder, { without });
    await opened(async (page) => {
      await page.waitForFunction(() => document.getElementById("status").textContent.includes("can't start"), null, { timeout: 20_000 });
      assert.match(await status(page), says);
      const asked = damaged.seen.length;
      await put(page, TEXT);
      await page.click("#tab-picture");
      await page.check("#texts");
      await page.waitForTimeout(1_500);
      assert.match(await status(page), says);
      assert.equal(damaged.seen.length, asked, JSON.stringify(damaged.seen.slice(asked)));
      assert.equal(damaged.seen.filter(({ url }) => url === without).length, 1);
    }, damaged.address);
    damaged.close();
  });
}

test("a worker that ends is started again when something is asked", { skip }, async () => {
  const page = await browser.newPage();
  await page.addInitScript(() => {
    const Real = Worker;
    self.workers = [];
    self.Worker = class extends Real {
      constructor(...given) {
        super(...given);
        self.workers.push(this);
      }
    };
  });
  await page.goto(server.address);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  const ended = () => page.evaluate(() => workers.at(-1).onerror({ message: "out of memory" }));
  for (const count of [1, 2, 3]) {
    await ended();
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => workers.length), count, "nothing was asked");
    await put(page, JSON.stringify(Array.from({ length: count + 1 }, () => BROKEN.messages[0])));
    await until(page, `${count + 1} messages`);
    assert.equal(await page.evaluate(() => workers.length), count + 1);
  }
  await page.close();
});

test("opened as a file, the page says what to do", { skip }, () =>
  opened(async (page) => {
    await until(page, "Serve its folder");
    await page.waitForTimeout(300);
    assert.match(await status(page), /python3 -m http\.server/);
  }, pathToFileURL(`${folder}/index.html`).href));
