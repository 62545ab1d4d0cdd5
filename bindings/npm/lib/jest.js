// Adds the matchers to the `expect` of Jest, or of a runner like it: import it in a test, or name it in `setupFilesAfterEnv`.

"use strict";

const toolcheck = require("./index.js");
const { opened } = require("./provider.js");

/** What the runner has: as globals or, without them, in its package. */
function runner() {
  if (typeof globalThis.expect?.extend === "function") return globalThis;
  try {
    return require("@jest/globals");
  } catch {
    throw new toolcheck.ToolcheckError("toolcheck/jest found no `expect`: import it in a test of Jest, or name it in `setupFilesAfterEnv`");
  }
}

runner().expect.extend({ toBeClean: toolcheck.toBeClean, toHaveFindings: toolcheck.toHaveFindings });

/** A mock for each test of this file or block, in the environment. It is checked after the test. */
function useProvider(options = {}) {
  const { afterEach, beforeEach } = runner();
  let now;
  beforeEach(async () => {
    now = await opened(options);
  });
  afterEach(async () => {
    // There is none if it could not be started, which the runner has told.
    const running = now;
    now = undefined;
    await running?.close();
  });
  // There is another mock for each test, so what is returned here stands for the one of the moment.
  return new Proxy(
    {},
    {
      get(_, name) {
        if (!now) throw new toolcheck.ToolcheckError("there is a mock only while a test runs");
        const member = now.mock[name];
        return typeof member === "function" ? member.bind(now.mock) : member;
      },
    },
  );
}

const { assertClean, assertFindings, call, calls, error, lint, startProvider, text, ToolcheckError } = toolcheck;
module.exports = { assertClean, assertFindings, call, calls, error, lint, startProvider, text, ToolcheckError, useProvider };
