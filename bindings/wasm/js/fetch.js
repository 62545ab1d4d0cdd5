// A `fetch` that lints what is sent to LLM APIs, for the clients of which one can be given.

import { endpoint, init, lint, ToolcheckError } from "toolcheck-wasm";

/** A request that was not sent, because there are findings in it. */
export class LintError extends ToolcheckError {
  name = "LintError";

  constructor(report, url) {
    super(`the request to ${url} is not sent:\n${report.render().trim()}`);
    this.report = report;
    this.url = url;
  }
}

/**
 * A `fetch` that lints the body of each request to the path of an LLM API.
 *
 * A request with errors is not sent: `fetch` rejects with a `LintError`. With `onReport` it is sent, and the function is given
 * the report, also if it is clean.
 */
export function lintedFetch({ fetch = globalThis.fetch, failOn = "error", onReport, isLlm, ...options } = {}) {
  return async function lintedFetch(input, given) {
    const url = input instanceof Request ? input.url : String(input);
    const method = (given?.method ?? (input instanceof Request ? input.method : "GET")).toUpperCase();
    await init();
    const shown = url.split(/[?#]/)[0];
    const isRead = isLlm ? isLlm(url) : endpoint(url) === "llm";
    if (method !== "POST" || !isRead) return fetch(input, given);
    const [body, sent] = await read(input, given);
    if (body === undefined) return fetch(...sent);
    const report = lint(body, options);
    if (onReport) {
      await onReport(report, { url: shown });
    } else if (report.summary.errors + (failOn === "error" ? 0 : report.summary.warnings) > 0) {
      throw new LintError(report, shown);
    }
    return fetch(...sent);
  };
}

/** The body of a request, and what to send in its place, because a stream can be read only once. */
async function read(input, given) {
  const body = given?.body;
  if (typeof body === "string" || body instanceof Uint8Array) return [body, [input, given]];
  if (body === undefined || body === null) {
    if (!(input instanceof Request) || input.body === null) return [undefined, [input, given]];
    return [new Uint8Array(await input.clone().arrayBuffer()), [input, given]];
  }
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body) || body instanceof Blob) {
    return [new Uint8Array(await new Response(body).arrayBuffer()), [input, given]];
  }
  if (body instanceof FormData || body instanceof URLSearchParams) return [undefined, [input, given]];
  const bytes = new Uint8Array(await new Response(body).arrayBuffer());
  return [bytes, [input, { ...given, body: bytes }]];
}
