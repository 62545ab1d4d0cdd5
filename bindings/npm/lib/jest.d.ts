import type { FixtureOptions, Provider, ToolcheckMatchers } from "./index.js";

declare global {
  namespace jest {
    interface Matchers<R, T = {}> extends ToolcheckMatchers<R> {}
  }
}

// It is there with `@jest/globals`, and not with `@types/jest` alone.
// @ts-ignore
declare module "@jest/expect" {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends ToolcheckMatchers<R> {}
}

/**
 * A mock for each test of this file or block, in the environment: call it where `beforeEach` may be called.
 *
 * A test fails if a request is refused, or if the linter finds an error between the requests.
 */
export function useProvider(options?: FixtureOptions): Provider;
export { assertClean, assertFindings, call, calls, error, lint, startProvider, text, ToolcheckError } from "./index.js";
