// Matchers for `expect.extend` of vitest and Jest. They wait for nothing, because an `expect` that nobody waits for always
// passes.

import { compareFindings, lint, ToolcheckError } from "toolcheck-wasm";
import { check, OPTIONS } from "./options.js";

/** `expect(body).toBeClean({ target: "anthropic" })`; with `failOn: "error"`, warnings pass. */
export function toBeClean(body, given = {}) {
  check(given, OPTIONS.matcher);
  const { failOn = "warning", ...options } = given;
  const report = lint(body, options);
  const { errors, warnings, transcripts } = report.summary;
  const isChecked = transcripts > 0;
  const hasFindings = errors + (failOn === "error" ? 0 : warnings) > 0;
  const message = () => {
    if (hasFindings) return report.render().trim();
    return isChecked ? "expected the body to have findings, and it has none" : "there is no transcript in the body, so nothing was checked";
  };
  return { pass: isChecked && !hasFindings, message };
}

/** How a body was read, which findings depend on. */
function readAs({ format, target, also_likely: rival }) {
  if (!format) return "no format recognises the body";
  const against = target ? `, checked against ${target}` : "";
  return `read as ${format}${against}${rival ? ` (${rival} is nearly as likely: use \`format\` to choose)` : ""}`;
}

/** `expect(body).toHaveFindings(["unanswered-tool-call at /messages/1/content/0"])`: these, in this order, and no others. */
export function toHaveFindings(body, expected, options = {}) {
  const other = [expected].flat().find((one) => typeof one !== "string");
  if (other !== undefined) throw new ToolcheckError(`a finding that is expected is a ${typeof other}; expected a text, such as \`unanswered-tool-call at /messages/1\``);
  const lines = compareFindings(body, expected, options);
  const message = () => (lines.length ? ["the findings are not as expected:", ...lines, readAs(lint(body, options).toJSON().files[0])].join("\n") : "expected the body to have other findings");
  return { pass: lines.length === 0, message };
}
