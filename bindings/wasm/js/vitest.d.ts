import "vitest";
import type { ToolcheckMatchers } from "./matchers.js";

declare module "vitest" {
  interface Assertion<T = any> extends ToolcheckMatchers<void> {}
  interface AsymmetricMatchersContaining extends ToolcheckMatchers {}
}
