// What the page asks of toolcheck.

import { diff, explainError, fix, init, lint, names, show } from "./toolcheck/web.js";

/** The findings that are shown; a list of more is of no use. */
const SHOWN = 500;

/** What there is here in place of an option of the command line. */
const HELP = { "unrecognised-format": "choose the format above the text" };
/** What is said of the command line, said of this page. */
const here = (text) =>
  text
    .replaceAll(/^ *more: toolcheck\s+explain\s.*\n+/gm, "")
    .replaceAll(/(\d+) fixable with `toolcheck fix[^`]*`/g, "$1 can be fixed: see Fix");
const helped = (finding) => (finding.help?.includes("--") && HELP[finding.rule] ? { ...finding, help: HELP[finding.rule] } : finding);

const calls = {
  names,
  lint(body, options) {
    const report = lint(body, options);
    const findings = report.findings.slice(0, SHOWN).map((finding) => ({ ...helped(finding), range: typeof body === "string" ? report.range(finding) : null }));
    const { format, target, kind, transcripts, messages, toolCalls, toolResults, summary } = report;
    return { format, target, kind, transcripts, messages, toolCalls, toolResults, summary, findings, total: report.findings.length };
  },
  show,
  fix(body, options) {
    const { body: fixed, changed, diff, applied, skipped, findings_left: left } = fix(body, { ...options, unified: true });
    return { body: changed ? fixed : null, diff, applied, skipped, left };
  },
  explain(error, body, width) {
    const explained = explainError(error, body);
    return { explained: explained.explained, text: here(explained.render({ width })) };
  },
  compare(before, after, options) {
    const changes = diff(before, after, options);
    return { level: changes.level, text: changes.render({ text: true }) };
  },
};

self.onmessage = async ({ data }) => {
  if (data.module) {
    try {
      await init(data.module);
      self.postMessage({ is: "started" });
    } catch (error) {
      self.postMessage({ is: "failed", error: String(error) });
    }
    return;
  }
  const { id, call, given } = data;
  try {
    self.postMessage({ id, value: calls[call](...given) });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
self.postMessage({ is: "loaded" });
