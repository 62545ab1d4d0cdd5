import "vitest";
import type { ToolcheckMatchers } from "./index.js";

declare module "vitest" {
  interface Assertion<T = any> extends ToolcheckMatchers<void> {}
  interface AsymmetricMatchersContaining extends ToolcheckMatchers {}
}

export * from "./index.js";
