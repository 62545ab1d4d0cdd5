// A mock of LLM APIs that refuses what they refuse, and checks of the requests that code sends.
// Nothing here needs vitest, so it works in node:test and jest as well.

export { assertClean, lint, toLint } from "./lint.js";
export { ToolcheckError } from "./binary.js";
export { provider, startProvider } from "./provider.js";
export { call, calls, error, text } from "./script.js";
