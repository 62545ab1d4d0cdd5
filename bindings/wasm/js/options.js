// What options there are.

export { check } from "./check.js";

const LINT = {
  target: "string",
  format: "string",
  kind: "string",
  tools: "body",
  config: "string",
  select: "strings",
  extendSelect: "strings",
  ignore: "strings",
  conversation: "string",
  at: "string",
  name: "string",
};
const STYLE = { color: "boolean", width: "count" };

/** The options of each function, with their types. */
export const OPTIONS = {
  lint: LINT,
  render: { output: "string", ...STYLE },
  show: { ...LINT, output: "string", text: "boolean", all: "boolean", ...STYLE },
  fix: { ...LINT, unsafeFixes: "boolean", unified: "boolean", only: "strings", place: "string" },
  diff: { beforeFormat: "string", afterFormat: "string", target: "string", allow: "strings" },
  explain: { target: "string" },
  renderDiff: { output: "string", text: "boolean", ...STYLE },
  style: STYLE,
  matcher: { ...LINT, failOn: ["error", "warning"] },
  fetch: {
    ...LINT,
    fetch: "function",
    failOn: ["error", "warning"],
    onReport: "function",
    onSkip: "function",
    isLlm: "function",
  },
};
