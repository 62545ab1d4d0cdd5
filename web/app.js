// The page: what is pasted, and what toolcheck says of it.

import { clearPicture, drawExamples, drawFindings, drawPicture, drawReport, explanation, lines, point, sayIn } from "./draw.js";
import { Field } from "./editor.js";
import { start } from "./engine.js";
import { EXAMPLES } from "./examples.js";
import { pack, unpack } from "./share.js";

/** A file with more characters is held, and only a part of it is shown. */
const HELD = 3_000_000;
const PART = 60_000;
/** An address that is longer is cut by some programs. */
const LONG = 30_000;

const at = (id) => document.getElementById(id);
let field;
let engine;
/** A file that is too large for the field: its text, and where in it the part begins that is shown. */
let held;
/** A report that was opened, in place of a conversation. */
let report;
let findings = [];
let undone;
let tab = "findings";
/** Why the address shows nothing, until something is shown. */
let refused = "";
/** Whether the first finding is to be shown, as in a text that was not there before. */
let isNew = false;
/** What was just fixed. */
let done;

const text = () => held?.text ?? field.value;
const isEmpty = () => text().trim() === "";

function options() {
  const given = {};
  for (const name of ["format", "target", "kind"]) if (at(name).value) given[name] = at(name).value;
  return given;
}

function say(words, level = "", more = "") {
  const status = at("status");
  status.className = `status ${level}`;
  status.textContent = words;
  if (more) {
    const small = document.createElement("small");
    small.textContent = more;
    status.append(small);
  }
}

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Runs the newest of the calls that came while one was running. */
function latest(work) {
  let running = false;
  let again = false;
  return async function run() {
    if (!engine) return;
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      do {
        again = false;
        await work();
      } while (again);
    } catch (error) {
      say(error.message, "error");
    } finally {
      running = false;
    }
  };
}

const check = latest(async () => {
  if (report) return;
  const shown = text();
  if (shown.trim() === "") {
    findings = [];
    isNew = false;
    drawExamples(at("list"), EXAMPLES, choosing);
    field.mark([]);
    say(refused ? `${refused}, so nothing of it is shown. Paste a conversation to check it, or choose an example.` : "Paste a conversation to check it, or choose an example.", refused ? "error" : "");
    return;
  }
  refused = "";
  const result = await engine.ask("lint", shown, options());
  if (shown !== text()) return check();
  const { errors, warnings } = result.summary;
  const level = errors ? "error" : warnings ? "warning" : result.transcripts ? "clean" : "warning";
  const words = result.transcripts || errors + warnings ? `${count(errors, "error")}, ${count(warnings, "warning")}` : "Nothing was checked: there is no conversation in this.";
  const read = result.format ? `read as ${result.format}, ${result.target ? `checked against ${result.target}` : "checked against no API"}` : "not recognised";
  const parts = `${count(result.messages, "message")}, ${count(result.toolCalls, "call")}, ${count(result.toolResults, "result")}`;
  say(words, level, `${read}; ${parts}`);
  findings = result.findings;
  drawFindings(at("list"), result, select);
  mark();
  const first = findings.find(({ range }) => range);
  if (isNew && first && !held) field.reveal(first.range[0]);
  isNew = false;
});

/** Marks the places of findings in the field. */
function mark() {
  const from = held?.from ?? 0;
  const marked = findings.filter(({ range }) => range);
  field.mark(
    marked.map((finding) => ({
      from: finding.range[0] - from,
      to: finding.range[1] - from,
      severity: finding.level === "error" ? "error" : "warning",
      message: `${finding.rule}: ${finding.message}`,
      renderMessage: () => explanation(finding),
    })),
  );
}

/** Points at the finding in the list whose place the cursor is in: of several, the smallest. */
function follow(place) {
  if (report) return;
  const here = place + (held?.from ?? 0);
  const around = findings.filter(({ range }) => range && range[0] <= here && here <= range[1]);
  const smallest = around.sort((one, other) => one.range[1] - one.range[0] - (other.range[1] - other.range[0]))[0];
  point(at("list"), findings.indexOf(smallest));
}

const draw = latest(async () => {
  if (report || isEmpty()) return clearPicture(at("drawing"));
  drawPicture(at("drawing"), await engine.ask("show", text(), { ...options(), text: at("texts").checked }), (number, rule) => {
    // The list may be of a text that has changed since.
    if (findings[number]?.rule === rule) select(findings[number]);
  });
});

const showFix = latest(async () => {
  const apply = at("apply");
  apply.disabled = true;
  at("fix-diff").hidden = true;
  at("undo").hidden = undone === undefined;
  at("fixed").className = "said";
  const before = done && done.body === text() ? `${done.words} ` : "";
  if (report || isEmpty()) {
    at("fixed").textContent = "There is nothing to fix.";
    return;
  }
  const shown = text();
  let result;
  try {
    result = await engine.ask("fix", shown, { ...options(), unsafeFixes: at("unsafe").checked });
  } catch (error) {
    at("fixed").textContent = error.message;
    at("fixed").className = "said error";
    return;
  }
  const more = result.skipped.filter((left) => left.unsafe).length;
  const hint = more && !at("unsafe").checked ? ` ${count(more, "more")} can be fixed if something may be lost or guessed.` : "";
  let all = "";
  if (result.body === null) {
    const left = result.skipped.filter(({ unsafe }) => !unsafe);
    const why = [...new Set(left.map(({ rule, reason }) => `\`${rule}\`: ${onPage(reason)}`))].slice(0, 5).join("; ");
    const only = [...new Set(left.map(({ rule }) => rule))];
    // What is only a warning is fixed if it is named. It was read once, so this can't fail either.
    if (only.length) result = await engine.ask("fix", shown, { ...options(), unsafeFixes: at("unsafe").checked, only });
    if (result.body === null) {
      const none = before ? `${before}${result.skipped.length ? "Nothing else can be fixed." : "There is nothing else to fix."}` : "Nothing here can be fixed.";
      sayIn(at("fixed"), `${none}${why ? ` Not fixed: ${why}.` : ""}${hint}`);
      return;
    }
    all = `Not fixed without being asked: ${why}. `;
  }
  const of = tally(result.applied.map(({ rule, action }) => `\`${rule}\` (${action})`));
  const lost = [...new Set(result.applied.map((one) => one.lost ?? one.guess).filter(Boolean))];
  // What takes the place of a result that is missing says so, but it is no result of a tool.
  const isMadeUp = result.applied.some(({ action }) => action === "inserted");
  const made = isMadeUp ? " What is inserted is made up: text that stands in for what is missing, and no answer of a tool." : "";
  sayIn(at("fixed"), `${before}${all}This fixes ${count(result.applied.length, "finding")} and leaves ${result.left}: ${of}.${made}${lost.length ? ` Lost or guessed: ${lost.join("; ")}.` : ""}${hint}`);
  lines(at("fix-diff"), result.diff.split("\n").slice(2).join("\n"), true);
  apply.disabled = false;
  apply.onclick = () => {
    undone = shown;
    const words = `Fixed ${count(result.applied.length, "finding")}: ${of}.${isMadeUp ? " The text that was inserted is made up." : ""}`;
    forget();
    done = { body: lineEnds(result.body), words };
    replace(result.body);
    at("undo").hidden = false;
    at("undo").focus();
  };
});

/** How many characters of a drawing stand beside each other. */
function columns() {
  const pen = document.createElement("canvas").getContext("2d");
  const { fontFamily } = getComputedStyle(at("error"));
  pen.font = `${0.8 * parseFloat(getComputedStyle(document.documentElement).fontSize)}px ${fontFamily}`;
  const fit = Math.floor((at("error").clientWidth - 26) / pen.measureText("0".repeat(100)).width * 100);
  return Math.max(40, Math.min(100, fit || 80));
}

const explain = latest(async () => {
  const error = at("error").value.trim();
  const shown = at("explained");
  shown.hidden = !error;
  if (!error) return;
  const { text: said } = await engine.ask("explain", error, report || isEmpty() ? undefined : text(), columns());
  shown.classList.add("wrapped");
  lines(shown, said, false);
});

const compare = latest(async () => {
  const after = at("after").value;
  const shown = at("compared");
  shown.hidden = report !== undefined || isEmpty() || after.trim() === "";
  if (shown.hidden) return;
  shown.classList.add("wrapped");
  try {
    const target = at("target").value;
    const { text: said } = await engine.ask("compare", text(), after, target ? { target } : {});
    lines(shown, said, false);
  } catch (error) {
    lines(shown, error.message, false);
  }
});

/** How often each of some things is there. */
function tally(things) {
  const counts = new Map();
  for (const one of things) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].map(([one, times]) => (times > 1 ? `${times} times ${one}` : one)).join(", ");
}

/** A reason without what only the command line has. */
const onPage = (reason) => reason.replace(/[;:,] (?:[^;:]* )?`?--[^]*$/, "");

/** The address no longer says what the page shows. */
function forget() {
  refused = "";
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
}

const panels = { findings: () => {}, picture: draw, fix: showFix, explain, compare };

/** Does everything anew that depends on the conversation. */
function update() {
  if (!engine) return;
  allow();
  check();
  panels[tab]();
}

/** There is a link only to something. */
function allow() {
  at("share").disabled = isEmpty() && !at("after").value.trim() && !at("error").value.trim();
}

let timer;
function soon(work) {
  clearTimeout(timer);
  timer = setTimeout(work, 150);
}

/** The field has one kind of line end, and places have to be those of what it shows. */
const lineEnds = (given) => given.replaceAll(/\r\n?/g, "\n");

/** Shows a conversation in place of what is there. */
function replace(given) {
  const next = lineEnds(given);
  report = undefined;
  held = next.length > HELD ? { text: next, from: 0 } : undefined;
  at("held").hidden = !held;
  field.readOnly = Boolean(held);
  field.value = held ? next.slice(0, PART) : next;
  if (held) at("held").firstElementChild.textContent = `Only a part of ${(next.length / 1e6).toFixed(1)} million characters is shown.`;
  update();
}

/** Selects a place of the conversation. */
function select(finding) {
  if (!finding.range) return;
  let [from, to] = finding.range;
  if (held) {
    held.from = Math.max(0, from - PART / 2);
    field.value = held.text.slice(held.from, held.from + PART);
    mark();
    [from, to] = [from - held.from, to - held.from];
  }
  field.select(from, to);
  at("body").scrollIntoView({ block: "nearest" });
}

/** A report of `toolcheck lint --output-format json`, if the text is one. */
function asReport(opened) {
  if (!/^\s*\{\s*"version":\s*1,\s*"tool":/.test(opened)) return undefined;
  try {
    const json = JSON.parse(opened);
    return json.tool?.name === "toolcheck" && Array.isArray(json.findings) && Array.isArray(json.files) ? json : undefined;
  } catch {
    return undefined;
  }
}

function show(opened) {
  undone = undefined;
  report = asReport(opened);
  isNew = !report;
  if (!report) return replace(opened);
  held = undefined;
  findings = [];
  field.value = "";
  at("held").hidden = true;
  field.readOnly = false;
  choose("findings");
  const { errors, warnings, files } = report.summary;
  say(`${count(errors, "error")}, ${count(warnings, "warning")}`, errors ? "error" : warnings ? "warning" : "clean", `a report on ${count(files, "file")}`);
  drawReport(at("list"), report);
  allow();
}

async function open(file) {
  forget();
  say(`Reading ${file.name} ...`);
  try {
    show(await file.text());
  } catch (error) {
    say(`${file.name} can't be read: ${error.message}`, "error");
  }
}

function choose(name, moves = false) {
  tab = name;
  for (const one of document.querySelectorAll("[role=tab]")) {
    const is = one.id === `tab-${name}`;
    one.setAttribute("aria-selected", String(is));
    one.tabIndex = is ? 0 : -1;
    at(one.getAttribute("aria-controls")).hidden = !is;
    if (is && moves) one.focus();
  }
  if (engine) panels[name]();
}

function listen() {
  field = new Field(at("body"), {
    label: "Request body, list of messages, or JSON Lines",
    hint: "Paste a request body, a list of messages, or JSON Lines; or drop a file.",
    onInput(isPasted) {
      undone = undefined;
      forget();
      isNew ||= isPasted;
      if (report || asReport(field.value)) return show(field.value);
      soon(update);
    },
    onPlace: follow,
  });
  for (const name of ["format", "target", "kind"]) at(name).addEventListener("change", () => {
    forget();
    update();
  });
  at("texts").addEventListener("change", draw);
  at("unsafe").addEventListener("change", showFix);
  for (const [name, work] of [["error", explain], ["after", compare]]) {
    at(name).addEventListener("input", () => {
      forget();
      allow();
      soon(work);
    });
  }
  at("release").addEventListener("click", () => {
    forget();
    replace("");
  });
  at("undo").addEventListener("click", () => {
    const before = undone;
    undone = undefined;
    forget();
    replace(before);
    at("tab-fix").focus();
  });
  at("file").addEventListener("change", ({ target }) => {
    if (target.files[0]) open(target.files[0]);
    target.value = "";
  });
  at("example").addEventListener("change", ({ target }) => {
    const [group, name] = target.value.split("\n");
    const example = EXAMPLES[group]?.[name];
    if (example) choosing(example);
    target.value = "";
  });
  at("share").addEventListener("click", share);
  addEventListener("hashchange", restore);
  const over = (is) => document.body.classList.toggle("dropping", is);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && over(false));
  addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    const [file] = event.dataTransfer.files;
    if (file) open(file);
    else if (event.dataTransfer.getData("text")) {
      forget();
      show(event.dataTransfer.getData("text"));
    }
  });
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const [index, one] of tabs.entries()) {
    one.addEventListener("click", () => choose(one.id.slice(4)));
    one.addEventListener("keydown", ({ key }) => {
      const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 }[key];
      if (to !== undefined) choose(tabs.at(to % tabs.length).id.slice(4), true);
    });
  }
}

async function share() {
  const state = { ...options(), body: text(), tab };
  for (const name of ["after", "error"]) if (at(name).value) state[name] = at(name).value;
  const packed = await pack(state);
  if (packed.length > LONG) return say("This is too long for an address: share the file itself.", "error");
  history.replaceState(null, "", `#${packed}`);
  let where = "The link is in the address bar";
  try {
    await navigator.clipboard.writeText(location.href);
    where = "The link is copied";
  } catch {
    // Not every browser lets a page write there.
  }
  say(`${where}. The conversation is in it, so whoever has it can read it.`);
}

/** Shows what the address holds. */
async function restore() {
  let state;
  try {
    state = await unpack(location.hash.slice(1));
  } catch (error) {
    refused = error.message;
    if (!isEmpty() || report) say(`${refused}, so nothing of it is shown.`, "error");
    else update();
    return true;
  }
  if (!state) return false;
  load(state);
  return true;
}

/** Shows what an address or an example says of the page: each part that it leaves out is as it is at the start. */
function load(state) {
  const word = (value) => (typeof value === "string" ? value : "");
  for (const name of ["format", "target", "kind"]) at(name).value = word(state[name]) || at(name).options[0].value;
  for (const name of ["after", "error"]) at(name).value = word(state[name]);
  choose(Object.hasOwn(panels, state.tab) ? state.tab : "findings");
  show(word(state.body));
}

/** Shows an example. */
function choosing(example) {
  forget();
  load(example);
}

function fill(select, values) {
  for (const [value, words] of values) select.append(new Option(words, value));
}

async function main() {
  listen();
  for (const [situation, examples] of Object.entries(EXAMPLES)) {
    const group = document.createElement("optgroup");
    group.label = situation;
    fill(group, Object.keys(examples).map((name) => [`${situation}\n${name}`, name]));
    at("example").append(group);
  }
  engine = await start();
  const { version, formats, targets, kinds } = await engine.ask("names");
  at("version").textContent = `toolcheck ${version}`;
  fill(at("format"), formats.map((id) => [id, id]));
  fill(at("target"), targets.map(({ id, name }) => [id, `${id} (${name})`]));
  fill(at("kind"), kinds.map((id) => [id, id]));
  if (!(await restore())) update();
  document.documentElement.dataset.ready = "";
}

main().catch((error) => {
  // Whatever is chosen or pasted now, this is why nothing comes of it.
  engine = undefined;
  say(`toolcheck can't start: ${error.message}`, "error");
});
