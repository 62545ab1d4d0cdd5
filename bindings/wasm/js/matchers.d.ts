import type { LintOptions } from "toolcheck-wasm";

export interface CleanOptions extends LintOptions {
  /** The lowest level that fails; by default every finding does. */
  failOn?: "error" | "warning";
}

interface Result {
  pass: boolean;
  message: () => string;
}

/** A matcher for `expect.extend` of vitest or Jest: the body has no findings, and there is something to check in it. */
export function toBeClean(body: unknown, options?: CleanOptions): Result;
/**
 * A matcher for `expect.extend` of vitest or Jest: the body has these findings, in this order, and no others.
 *
 * A finding is the id of its rule, optionally with its level before it and its place after it:
 * `error unanswered-tool-call at /messages/1/content/0`, with `2:` before the place for the third record of JSON Lines.
 */
export function toHaveFindings(body: unknown, expected: string | readonly string[], options?: LintOptions): Result;

/** What `expect(body)` has with these matchers. */
export interface ToolcheckMatchers<R = unknown> {
  toBeClean(options?: CleanOptions): R;
  toHaveFindings(expected: string | readonly string[], options?: LintOptions): R;
}
