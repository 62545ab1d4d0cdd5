"use strict";

/** The program is missing or too old, or could not do what it was asked to. */
class ToolcheckError extends Error {
  name = "ToolcheckError";
}

module.exports = { ToolcheckError };
