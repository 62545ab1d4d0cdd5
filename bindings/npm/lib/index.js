// A mock of LLM APIs that refuses what they refuse, and checks of the requests that code sends.
// Nothing here needs a test runner.

"use strict";

const { ToolcheckError } = require("./error.js");
const { assertFindings, toHaveFindings } = require("./findings.js");
const { assertClean, lint, toBeClean } = require("./lint.js");
const { provider, startProvider } = require("./provider.js");
const { call, calls, error, text } = require("./script.js");

// In one piece: that is how Node finds the names for `import`.
module.exports = { assertClean, assertFindings, call, calls, error, lint, provider, startProvider, text, toBeClean, toHaveFindings, ToolcheckError };
