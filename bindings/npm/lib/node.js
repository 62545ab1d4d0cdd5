// For node:test: a mock that ends with the test and, where Node has `assert.register`, assertions of the context.

"use strict";

const test = require("node:test");
const toolcheck = require("./index.js");
const { opened } = require("./provider.js");

// `context.assert.clean(body)`, from Node 22.14 and 23.7 on.
test.assert?.register?.("clean", toolcheck.assertClean);
test.assert?.register?.("findings", toolcheck.assertFindings);

/** A mock for a test, in the environment: it is checked and ends after the test. */
async function useProvider(context, options = {}) {
  if (typeof context?.after !== "function") throw new toolcheck.ToolcheckError("give `useProvider` the context of the test: `test(\"...\", async (context) => ...)`");
  const { mock, close } = await opened(options);
  context.after(close);
  return mock;
}

const { assertClean, assertFindings, call, calls, error, lint, startProvider, text, ToolcheckError } = toolcheck;
module.exports = { assertClean, assertFindings, call, calls, error, lint, startProvider, text, ToolcheckError, useProvider };
