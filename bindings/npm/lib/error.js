/** The program is missing or too old, or could not do what it was asked to. */
export class ToolcheckError extends Error {
  name = "ToolcheckError";
}
