import "vitest";
import type { ToolcheckMatchers } from "./matchers.js";

// The type parameters of vitest's own `Assertion` are others in each version, and all declarations of an interface must have
// the same. It has what chai's has, which has none.
declare global {
  namespace Chai {
    interface Assertion extends ToolcheckMatchers<void> {}
  }
}

declare module "vitest" {
  interface AsymmetricMatchersContaining extends ToolcheckMatchers {}
}
