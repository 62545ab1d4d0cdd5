import { type LintOptions, type Report, ToolcheckError } from "toolcheck-wasm";

export interface FetchOptions extends LintOptions {
  /** What sends the request: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** The lowest level that keeps a request from being sent: `error`. */
  failOn?: "error" | "warning";
  /** Is given each report in place of the error, also a clean one; the request is sent after that. */
  onReport?: (report: Report, request: { url: string }) => void | Promise<void>;
  /** Is told of each request to an LLM API that was sent without being read: its body is compressed, or none of a known format. */
  onSkip?: (reason: string, request: { url: string }) => void | Promise<void>;
  /** Whether the requests to an address are linted; by default those to the paths of LLM APIs. */
  isLlm?: (url: string) => boolean;
}

/** A request that was not sent, because there are findings in it. */
export class LintError extends ToolcheckError {
  readonly report: Report;
  /** The address, without its query. */
  readonly url: string;
}

/**
 * A `fetch` that lints the body of each request to the path of an LLM API. The address names the format and the API to check
 * against, unless an option does.
 */
export function lintedFetch(options?: FetchOptions): typeof globalThis.fetch;
