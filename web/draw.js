// What the page shows of results. Everything is set as text, and nothing is parsed as markup but the picture.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A sentence with what is between backticks as code. */
function words(text) {
  return text.split(/`([^`\n]+)`/).map((part, index) => (index % 2 ? element("code", {}, part) : part));
}

const isWeb = (url) => /^https:\/\//.test(url);

function details(finding) {
  const more = element("div", { class: "more" });
  if (finding.provider_error) more.append(element("p", { class: "answer" }, finding.status ? `${finding.status}: ` : "", ...words(finding.provider_error)));
  if (finding.doubt) more.append(element("p", {}, finding.level === "error" ? "in doubt: " : "only a warning: ", ...words(finding.doubt)));
  if (finding.labels?.length) {
    more.append(element("ul", { class: "labels" }, ...finding.labels.map((label) => element("li", {}, `line ${label.line}: `, ...words(label.message)))));
  }
  if (finding.help) more.append(element("p", {}, ...words(finding.help)));
  if (isWeb(finding.url)) more.append(element("a", { href: finding.url, rel: "noreferrer", target: "_blank" }, `about ${finding.rule}`));
  return more;
}

function item(finding, place, onSelect) {
  const is = finding.level === "error" ? "error" : "warning";
  const head = [
    element("span", { class: "rule" }, `${is}: ${finding.rule}`),
    element("span", { class: "message" }, ...words(finding.message)),
    element("span", { class: "place" }, place),
  ];
  const made = element("li", { class: `finding ${is}` });
  const button = onSelect ? element("button", { type: "button" }, ...head) : element("div", { class: "more" }, ...head);
  if (onSelect) {
    button.title = "Select the place in the text";
    button.addEventListener("click", () => {
      point(made.parentElement, [...made.parentElement.children].indexOf(made));
      onSelect(finding);
    });
  }
  made.append(button, details(finding));
  return made;
}

/** A finding as the field explains it, where the mark of its place is pointed at. */
export function explanation(finding) {
  return element("div", {}, element("strong", {}, finding.rule), ": ", ...words(finding.message), details(finding));
}

/** Points at one finding of a list, or at none. */
export function point(list, index) {
  for (const [at, one] of [...list.children].entries()) {
    if (at === index) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
  list.children[index]?.scrollIntoView({ block: "nearest" });
}

const placeOf = ({ record, line, column, pointer }) => `${record ? `record ${record}, ` : ""}line ${line}:${column} ${pointer}`;

export function drawFindings(list, { findings, total, transcripts }, onSelect) {
  const items = findings.map((finding) => item(finding, placeOf(finding), onSelect));
  if (!items.length && transcripts) items.push(element("li", { class: "empty" }, "No findings."));
  if (total > findings.length) items.push(element("li", { class: "empty" }, `and ${total - findings.length} more`));
  list.replaceChildren(...items);
}

/** The examples, while there is nothing else to show. */
export function drawExamples(list, examples, onChoose) {
  const situations = Object.entries(examples).map(([situation, named]) => {
    const buttons = Object.entries(named).map(([name, example]) => {
      const button = element("button", { type: "button" }, name);
      button.addEventListener("click", () => onChoose(example));
      return button;
    });
    return element("li", { class: "situation" }, element("h3", {}, situation), ...buttons);
  });
  list.replaceChildren(...situations);
}

/** The findings of a report that was opened. */
export function drawReport(list, { findings }) {
  const shown = findings.slice(0, 1000).map((finding) => item(finding, `${finding.path}, ${placeOf(finding)}`));
  if (findings.length > shown.length) shown.push(element("li", { class: "empty" }, `and ${findings.length - shown.length} more`));
  list.replaceChildren(...shown);
}

/** The elements of which a picture is made, and what they may have. */
const ELEMENTS = new Set("A B BLOCKQUOTE CODE DIV EM FOOTER H1 H2 H3 HEADER LI MAIN NAV OL P SECTION SPAN STRONG UL".split(" "));
const ATTRIBUTES = new Set(["aria-label", "aria-labelledby", "class", "dir", "href", "id", "role", "title"]);

/** A copy of what is known of an element. */
function copy(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (node.nodeType !== Node.ELEMENT_NODE || !ELEMENTS.has(node.tagName)) return "";
  const made = document.createElement(node.tagName);
  for (const { name, value } of node.attributes) {
    if (ATTRIBUTES.has(name) && (name !== "href" || value.startsWith("#") || isWeb(value))) made.setAttribute(name, value);
  }
  made.append(...[...node.childNodes].map(copy));
  return made;
}

/** What stands beside something else in the picture is told apart from it. */
const SEPARATORS = `
.id + .details::before, .tool + .details::before, nav .quiet::before, .label > a::before { content: "· "; }
nav .quiet::after, .finding > a::after { content: ":"; }
.label > a::before, .finding > a::after { display: inline-block; white-space: pre; text-decoration: none; color: var(--text); }
`;

/** Shows a picture, which is a web page, in a tree of its own. `onFinding` is given the number and the rule of one that is clicked. */
export function drawPicture(host, html, onFinding) {
  // The policy forbids styles inside a page, so they are taken out before it is parsed.
  const [, css = ""] = html.match(/<style>([^]*?)<\/style>/) ?? [];
  const page = new DOMParser().parseFromString(html.replace(/<style>[^]*?<\/style>/, ""), "text/html");
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${css.replaceAll(":root", ":host").replace(/^body \{/m, ".page {")} .page { padding: 0.25rem 0; background: none; } h1, header > p { display: none; } main { margin-top: 0.5rem; } ${SEPARATORS}`);
  root.adoptedStyleSheets = [sheet];
  const body = element("div", { class: "page" });
  body.append(...[...page.body.childNodes].map(copy));
  root.replaceChildren(body);
  body.addEventListener("click", (event) => {
    const finding = event.target.closest("a[href^='#finding-'], [id^='finding-']");
    if (finding && !event.target.closest("a[href^='https:']")) {
      const id = finding.getAttribute("href")?.slice(1) ?? finding.id;
      onFinding(Number(id.slice("finding-".length)), root.getElementById(id)?.querySelector("a")?.textContent);
    }
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    // The address holds what is shared, and does not reach in here.
    event.preventDefault();
    const to = root.getElementById(link.getAttribute("href").slice(1));
    to?.scrollIntoView({ block: "center" });
  });
}

/** Says something in one sentence or several. */
export function sayIn(box, text) {
  box.replaceChildren(...words(text));
}

/** Shows a text line by line; of a diff, with what each line is. Elsewhere a line that is indented may be part of a drawing. */
export function lines(box, text, isDiff) {
  const kinds = { "+": "added", "-": "removed", "@": "hunk" };
  const spans = text.trimEnd().split("\n").slice(0, 5000).map((line) => {
    const kind = isDiff ? kinds[line[0]] : /^\s/.test(line) ? "drawn" : undefined;
    return element("span", kind ? { class: kind } : {}, line);
  });
  box.replaceChildren(...spans);
  box.hidden = false;
}

export function clearPicture(host) {
  host.shadowRoot?.replaceChildren();
}
