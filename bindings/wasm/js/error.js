/** An option that can't be used, a body that can't be read, or a fault of toolcheck. */
export class ToolcheckError extends Error {
  name = "ToolcheckError";
}

/** The module was not loaded, which only programs in browsers have to do themselves. */
export class NotLoadedError extends ToolcheckError {
  isNotLoaded = true;
}
