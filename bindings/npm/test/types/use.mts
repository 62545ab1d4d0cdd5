// What users write, as the compiler sees it. A line after `@ts-expect-error` must be wrong.

import { test as nodeTest } from "node:test";
import { assertClean, assertFindings, call, calls, error, type Finding, lint, type Provider, type Report, startProvider, text, toBeClean, toHaveFindings } from "toolcheck";
import { useProvider } from "toolcheck/node";
import { provider } from "toolcheck/vitest";
import { expect, test as base } from "vitest";

interface Request {
  messages: { role: string; content?: string | undefined }[];
}
declare const request: Request;
declare const either: string | Uint8Array | Request;
declare const anything: any;

const report: Report = lint(request, { target: "bedrock", kind: "session", tools: [{ name: "x" }], select: ["unknown-tool"] as const });
const rule: Finding | undefined = report.findings[0];
lint(either);
lint(anything);
lint(new ArrayBuffer(8));
lint(new DataView(new ArrayBuffer(8)));
assertClean([request], { failOn: "error" });
assertFindings("{}", ["error unanswered-tool-call at /messages/1"]);

expect(request).toBeClean({ failOn: "error" });
expect(request).not.toHaveFindings("unanswered-tool-call");
expect({ sent: request }).toEqual({ sent: expect.toBeClean() });
expect.extend({ toBeClean, toHaveFindings });

const test = base.extend({ provider: provider({ target: ["anthropic", "gateway.toml"], setEnv: false }) });
test("a test", async ({ provider }) => {
  await provider.script([calls(call("tides", { harbour: "Cuxhaven" }), call(), { cutIn: "arguments" }), error(429, { retryAfter: 1 }), text("x")]);
  expect((await provider.exchanges()).at(-1)?.request).toBeClean({ target: "bedrock" });
});
nodeTest("another", async (context) => {
  const mock: Provider = await useProvider(context, { target: "anthropic", setEnv: true });
  context.assert.clean(request, { target: "bedrock" });
  context.assert.findings(request, []);
  await mock.reset();
});
const started: Promise<Provider> = startProvider({ strict: "likely", allow: new Set(["unknown-tool"]) });

// Of a generic type, and of what nobody knows, it is seen when it is read.
export function generic<T extends object, R extends Request>(some: T, known: R, unknown: unknown, named: Record<string, unknown>): void {
  lint(some);
  lint(known);
  lint(unknown);
  lint(named);
  assertClean(some);
  assertFindings(unknown, []);
}

const { not_found, not_kept, not_recorded, refused_not_listed } = await (await started).report();
const counts: [string[], number, string | undefined, number] = [not_found, not_kept, not_recorded[0]?.message, refused_not_listed];
startProvider({ notFound: "error", noRequest: "error", setEnv: false, turns: [text("x", { stop: "pause", once: true, redacted: true, withoutEnd: true, errorAfter: 2, serverCalls: [{ tool: "web_search", result: [{}] }] })] });
calls(call("tides", {}, { signed: true }), { indexZero: true });
error(429, { once: true, texts: { "openai-chat": "Slow down." } });

// @ts-expect-error
startProvider({ allow: "unknown-tol" });
// @ts-expect-error
lint(request, { ignore: ["unknown-tol"] });
// @ts-expect-error
lint(Promise.resolve(request));
// @ts-expect-error
assertClean(Promise.resolve(request) as unknown as Promise<any>);
// @ts-expect-error
assertClean({} as Request | Promise<Request>);
// @ts-expect-error
lint(new Response("{}"));
// @ts-expect-error
lint(new Map([["messages", []]]));
// @ts-expect-error
lint(undefined as string | undefined);
// @ts-expect-error
lint(1);
// @ts-expect-error
lint(request, { taget: "bedrock" });
// @ts-expect-error
lint(request, { failOn: "error" });
// @ts-expect-error
assertClean(request, { kind: "log" });
// @ts-expect-error
expect(request).toBeClean("anthropic");
// @ts-expect-error
startProvider({ setEnv: true });
// @ts-expect-error
calls(call("tides"), { cutafter: 3 });
// @ts-expect-error
await useProvider({ target: "anthropic" });

export { counts, rule, started };
