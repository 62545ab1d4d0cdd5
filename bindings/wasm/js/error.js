/** An option that can't be used, a body that can't be read, or a fault of toolcheck. */
export class ToolcheckError extends Error {
  name = "ToolcheckError";
}
