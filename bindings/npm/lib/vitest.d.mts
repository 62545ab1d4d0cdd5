import type { LintOptions } from "./index.js";

interface ToolcheckMatchers<R = unknown> {
  /** The body of a request has no findings. */
  toLint(options?: LintOptions): R;
}

declare module "vitest" {
  interface Assertion<T = any> extends ToolcheckMatchers<T> {}
  interface AsymmetricMatchersContaining extends ToolcheckMatchers {}
}
