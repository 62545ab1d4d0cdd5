// What users write, as the compiler sees it. A line after `@ts-expect-error` must be wrong.

import { type Body, diff, explainError, type Finding, fix, init, lint, type LintOptions, models, names, Report, show } from "toolcheck-wasm";
import { lintedFetch, LintError } from "toolcheck-wasm/fetch";
import { toBeClean, toHaveFindings } from "toolcheck-wasm/matchers";
import "toolcheck-wasm/vitest";
import { expect } from "vitest";

interface Request {
  messages: { role: string; content?: string | undefined }[];
}
declare const request: Request;

await init();
const options: LintOptions = { target: "bedrock", kind: "session", tools: [{ name: "x" }], select: ["unanswered-tool-call"] };
const report: Report = lint(request, options);
const findings: Finding[] = report.findings;
const level: "error" | "warning" | undefined = findings[0]?.level;
const [start, end]: [number, number] = report.range(findings[0]!);
const text: string = report.render({ output: "concise", color: true, width: 100 });
const page: string = show("{}", { target: "anthropic", text: true });
const fixed: string = fix("{}").body;
const bytes: Uint8Array = fix(new Uint8Array()).body;
const same: Request = fix(request, { unsafeFixes: true }).body;
const loss: "loss" | "change" | "form" | null = diff(request, "{}").level;
const rule: string | undefined = explainError("x", request).matches[0]?.rule;
const body: Body = new ArrayBuffer(8);
const sources: string[] = models("gpt-5").facts.flatMap((fact) => fact.known.sources);
const ids: string[] = names().targets.map((target) => target.id);
const fetch: typeof globalThis.fetch = lintedFetch({ failOn: "warning", onReport: (report, { url }) => void [report.findings, url] });
try {
  await fetch("/v1/messages");
} catch (error) {
  if (error instanceof LintError) error.report.render();
}
expect(request).toBeClean({ failOn: "error" });
expect(request).not.toHaveFindings(["unanswered-tool-call"]);
expect.extend({ toBeClean, toHaveFindings });

// What a variable may be, and not only what it is.
declare const either: string | Uint8Array;
const eitherFixed: string | Uint8Array = fix(either).body;
const buffer: ArrayBuffer = fix(new ArrayBuffer(8)).body;
const viewed: Uint8Array = fix(new DataView(buffer)).body;
declare const anything: any;
declare const record: Record<string, unknown>;
declare const readonly: Readonly<Request>;
declare const maybeObject: Request | string;
lint(either);
lint(anything);
lint(record);
lint([readonly]);
lint(maybeObject, { tools: record });
fix(readonly).body.messages.length;
fix(record).body["messages"];
explainError("x");
const sure: "found" | "probable" | "usually-accepted" | null | undefined = explainError("x", request, { target: "bedrock" }).cause;
const generic = <B extends object>(body: B): B => fix(body as object).body as B;

// Of a generic type, and of what nobody knows, it is seen when it is read.
export function generics<T extends object, R extends Request>(some: T, known: R, unknown: unknown, named: Record<string, unknown>): void {
  lint(some);
  lint(known);
  lint(unknown);
  lint(named);
}

// @ts-expect-error
lint(Promise.resolve(request));
// @ts-expect-error
fix(Promise.resolve("{}"));
// @ts-expect-error
lint({} as Request | Promise<Request>);
// @ts-expect-error
lint(new Response("{}"));
// @ts-expect-error
lint(new Map([["messages", []]]));
// @ts-expect-error
diff(Promise.resolve(request), request);
// @ts-expect-error
lint(undefined as string | undefined);
// @ts-expect-error
fix(new ArrayBuffer(8)).body.messages;

// @ts-expect-error
lint(1);
// @ts-expect-error
lint(request, { taget: "bedrock" });
// @ts-expect-error
lint(request, { kind: "log" });
// @ts-expect-error
new Report();
// @ts-expect-error
show("{}", { output: "pdf" });
// @ts-expect-error
expect(request).toBeClean("anthropic");

export { body, bytes, eitherFixed, end, generic, ids, level, loss, fixed, page, rule, same, start, text, viewed };
