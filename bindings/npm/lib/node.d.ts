import type { FixtureOptions, LintOptions, MatcherOptions, Provider, Readable } from "./index.js";

// `context.assert` has them from Node 22.14 and 23.7 on.
declare module "node:test" {
  interface TestContextAssert {
    /** The body of a request has no findings. */
    clean<B>(body: Readable<B>, options?: MatcherOptions): void;
    /** The body has these findings, in this order, and no others. */
    findings<B>(body: Readable<B>, expected: string | readonly string[], options?: LintOptions): void;
  }
}

/**
 * A mock for a test, in the environment: it is checked and ends after the test.
 *
 * The test fails if a request is refused, or if the linter finds an error between the requests.
 */
export function useProvider(context: { after(fn: () => Promise<void>): unknown }, options?: FixtureOptions): Promise<Provider>;
export { assertClean, assertFindings, call, calls, error, lint, startProvider, text, ToolcheckError } from "./index.js";
