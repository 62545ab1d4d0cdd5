// A `fetch` that lints what is sent to LLM APIs, for the clients of which one can be given.

import { endpoint, init, lint, ToolcheckError } from "toolcheck-wasm";
import { check, OPTIONS } from "./options.js";

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
 * A `fetch` that lints the body of each request to the path of an LLM API. The address names the format and the API to check
 * against, unless an option does.
 *
 * A request with errors is not sent: `fetch` rejects with a `LintError`. With `onReport` it is sent, and the function is given
 * the report, also if it is clean. What can't be read is sent, and `onSkip` is told why.
 */
export function lintedFetch(given = {}) {
  check(given, OPTIONS.fetch);
  const { fetch = globalThis.fetch, failOn = "error", onReport, onSkip, isLlm, ...options } = given;
  // A name that nothing has is told where it is written, or before anything is sent if the module is not loaded yet.
  let areUsable = false;
  try {
    areUsable = Boolean(lint("[]", options));
  } catch (error) {
    if (!error.isNotLoaded) throw error;
  }
  return async function lintedFetch(input, request_) {
    const url = input instanceof Request ? input.url : String(input);
    const method = (request_?.method ?? (input instanceof Request ? input.method : "GET")).toUpperCase();
    await init();
    areUsable ||= Boolean(lint("[]", options));
    const request = { url: url.split(/[?#]/)[0] };
    const address = endpoint(url);
    const isRead = isLlm ? isLlm(url) : address.call === "llm";
    if (method !== "POST" || !isRead) return fetch(input, request_);
    const reason = unreadable(new Headers(request_?.headers ?? (input instanceof Request ? input.headers : undefined)));
    const [body, sent] = reason ? [undefined, [input, request_]] : await read(input, request_);
    if (body === undefined) {
      await onSkip?.(reason ?? "it has no body that is text", request);
      return fetch(...sent);
    }
    const report = lint(body, settings(options, address));
    const isSkipped = report.transcripts === 0 && report.findings.every(({ rule }) => rule === "unrecognised-format");
    if (isSkipped) await onSkip?.(report.findings[0]?.message ?? "there is no transcript in it", request);
    if (onReport) {
      await onReport(report, request);
    } else if (!isSkipped && report.summary.errors + (failOn === "error" ? 0 : report.summary.warnings) > 0) {
      throw new LintError(report, request.url);
    }
    return fetch(...sent);
  };
}

/** The options, with what the address says if they name neither a format nor a target. */
function settings(options, { format, target }) {
  if (options.format !== undefined || options.target !== undefined) return options;
  return { ...options, format: format ?? undefined, target: target ?? undefined };
}

/** Why a body with these headers can't be read. */
function unreadable(headers) {
  const encoding = headers.get("content-encoding");
  if (encoding && encoding !== "identity") return `it is compressed (${encoding})`;
  const type = headers.get("content-type");
  return type && !/\bjson\b|^text\//i.test(type) ? `its type is ${type.split(";")[0]}` : undefined;
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
