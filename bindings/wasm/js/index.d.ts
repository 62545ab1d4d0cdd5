/** A request body, a list of messages, an exchange, a log, or JSON Lines of them: as text, as bytes, or as what JSON can say. */
export type Body = string | Uint8Array | ArrayBuffer | ArrayBufferView | object;

/** What is a body only once something is taken out of it, such as a promise, a response or a map. */
export type NoBody = PromiseLike<unknown> | { arrayBuffer(): unknown } | ReadonlyMap<any, any> | ReadonlySet<any>;
/** What the compiler shows where a promise is given. */
export interface ForgottenAwait {
  then?: "it is a promise: `await` it";
  toString(): string;
}
/** What the compiler shows where something is given that has a body and is none. */
export interface NotTheBody {
  arrayBuffer?: "take out what is in it, as with `await response.json()`";
  size?: "take out what is in it, as with `Object.fromEntries(map)`";
  toString(): string;
}
/** A type of bodies. Of a type that has promises or the like, it is one that they don't fit; what is `unknown` is seen when it is read. */
export type Readable<B> = 0 extends 1 & B
  ? B
  : unknown extends B
    ? unknown
    : [B] extends [Body]
      ? Plain<B>
      : object;
type Plain<B> = [Extract<B, PromiseLike<unknown>>] extends [never]
  ? [Extract<B, NoBody>] extends [never]
    ? B
    : NotTheBody
  : ForgottenAwait;

export type Level = "error" | "warning";
export type Kind = "request" | "session" | "dataset";

export interface LintOptions {
  /** The API to check against, such as `deepseek`: what it refuses is an error. By default the provider of the format. */
  target?: string;
  /** How the body is written, such as `openai-chat`. By default it is detected. */
  format?: string;
  /** What the body is: `request`, what is sent to an API, by default; a `session` or `dataset` may end with unanswered calls. */
  kind?: Kind;
  /** Tool definitions for bodies that have none: a list of tools, a request, or an MCP response to `tools/list`. */
  tools?: Body;
  /** The text of a `toolcheck.toml`. It may name no files. */
  config?: string;
  /** Runs only these rules. */
  select?: string | readonly string[];
  /** Also runs these opt-in rules. */
  extendSelect?: string | readonly string[];
  /** Does not run these rules. */
  ignore?: string | readonly string[];
  /** The only conversation to check, by its title or its number from 1; `next` for what an agent sends next. */
  conversation?: string;
  /** The place of the messages in each record, as a JSON Pointer: `/payload/messages`. */
  at?: string;
  /** The name of the body in reports: `body.json`. */
  name?: string;
}

/** Another place that explains a finding. */
export interface Label {
  message: string;
  line: number;
  column: number;
  [key: string]: unknown;
}

/** A finding, with the keys of `schemas/report.v1.schema.json`. A key without a value is absent. */
export interface Finding {
  /** The id of the rule. */
  rule: string;
  level: Level;
  message: string;
  /** The name of the body. */
  path: string;
  /** From 1. The lines of an object are those of `JSON.stringify(body, null, 2)`. */
  line: number;
  /** From 1, in characters. */
  column: number;
  end_line: number;
  end_column: number;
  /** In the UTF-8 of the body; `Report.range` has the place in a string. */
  byte_start: number;
  byte_end: number;
  /** The record of JSON Lines, from 0. */
  record: number;
  /** A JSON Pointer. */
  pointer: string;
  tool_call_id?: string;
  tool_name?: string;
  /** How it can be fixed. */
  fixable?: "safe" | "unsafe";
  labels?: Label[];
  repeats?: number;
  /** What to do. */
  help?: string;
  /** What the API answers. */
  provider_error?: string;
  /** The HTTP status that the API answers. */
  status?: number;
  evidence?: string;
  doubt?: string;
  /** The page of the rule. */
  url: string;
  [key: string]: unknown;
}

export interface Summary {
  files: number;
  transcripts: number;
  errors: number;
  warnings: number;
  [key: string]: unknown;
}

export interface RenderOptions {
  color?: boolean;
  /** In columns: 80. */
  width?: number;
}

/** The findings in a body. */
export class Report {
  private constructor();
  /** How it was read; `null` if it was not recognised. */
  readonly format: string | null;
  /** What it was checked against. */
  readonly target: string | null;
  readonly kind: Kind;
  readonly transcripts: number;
  readonly messages: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly findings: Finding[];
  readonly summary: Summary;
  /** The report as a text: by default for people, or as another output of `toolcheck lint`. */
  render(options?: RenderOptions & { output?: string }): string;
  /** The picture of the body: its messages, calls and results, and what is wrong with them. */
  show(options?: ShowOptions): string;
  /** Where a finding is in the string that was linted: its start and its end, as in `slice`. */
  range(finding: { byte_start: number; byte_end: number }): [start: number, end: number];
  /** The report as `toolcheck lint --output-format json` prints it. */
  toJSON(): Record<string, unknown>;
}

/**
 * Lints a body.
 *
 * @throws {ToolcheckError} if an option is unknown or can't be used
 * @throws {TypeError} if the body is a promise, a response or something else that is not JSON, or has a BigInt or a cycle in it
 */
export function lint<B>(body: Readable<B>, options?: LintOptions): Report;

export interface ShowOptions extends RenderOptions {
  /** `html` by default: a page that needs nothing else. */
  output?: "html" | "markdown" | "request" | "text";
  /** Shows the beginning of each text. Conversations may contain secrets. */
  text?: boolean;
  /** Leaves nothing out. */
  all?: boolean;
}

/** Draws a body. */
export function show<B>(body: Readable<B>, options?: LintOptions & ShowOptions): string;

export interface FixOptions extends LintOptions {
  /** Also fixes what loses or guesses something. */
  unsafeFixes?: boolean;
  /** The only rules whose findings are fixed; also those that the API accepts. */
  only?: string | readonly string[];
  /** The only place whose findings are fixed: `LINE`, `LINE:COLUMN` or a JSON Pointer. */
  place?: string;
  /** Whether to return a unified diff. */
  unified?: boolean;
}

/** What was done to a body, with the keys of `schemas/fix-plan.v1.schema.json`. */
export interface Fixed<B> {
  /** The body that was given, or the fixed one. */
  body: B;
  changed: boolean;
  /** A unified diff, if it was asked for. */
  diff?: string;
  applied: { rule: string; action: string; safe: boolean; lost: string | null; pointer: string; line: number; column: number; [key: string]: unknown }[];
  skipped: { rule: string; unsafe: boolean; lost: string | null; pointer: string; line: number; column: number; [key: string]: unknown }[];
  /** How many findings the body has now. */
  findings_left: number;
  [key: string]: unknown;
}

/** What a fixed body is: of the type that was given. Views of bytes become a `Uint8Array`. */
export type FixedBody<B> = B extends string
  ? string
  : B extends ArrayBuffer
    ? ArrayBuffer
    : B extends ArrayBufferView
      ? Uint8Array
      : B;

/** Fixes a body. What it returns is of the type that it was given. */
export function fix<B>(body: Readable<B>, options?: FixOptions): Fixed<FixedBody<B>>;

export interface DiffOptions {
  beforeFormat?: string;
  afterFormat?: string;
  /** The API whose format decides whether results belong to calls by id or by position. */
  target?: string;
  /** The kinds of changes to leave out. */
  allow?: readonly string[];
}

/** What changed between two bodies, with the keys of `schemas/diff.v1.schema.json`. */
export class Diff {
  private constructor();
  /** The worst level of a change; `null` if there is none. */
  readonly level: "loss" | "change" | "form" | null;
  readonly changes: Record<string, unknown>[];
  readonly counts: Record<string, number>;
  readonly parts: Record<string, unknown>;
  /** How many parts of the two could not be read. */
  readonly unread: number;
  /** What of a recording is not compared. */
  readonly leftOut: string[];
  /** What changed as a text: by default for people, or as another output of `toolcheck diff`; with the values if `text`. */
  render(options?: RenderOptions & { output?: string; text?: boolean }): string;
}

/** What a change to a conversation lost: of a history and what is sent, or of a request in two formats. */
export function diff<B, A>(before: Readable<B>, after: Readable<A>, options?: DiffOptions): Diff;

/** What the text of an error can mean. */
export interface Match {
  /** The id of the rule that finds the cause. */
  rule: string;
  /** The API that returns it; `null` if a framework raises it. */
  target: string | null;
  /** The framework that raises it, if no API returns it. */
  framework?: string;
  /** The HTTP status; `null` if none is known, and for a framework. */
  status: number | null;
  /** The ids, names and indexes in the text. */
  captures: Record<string, string>;
  /** Whether only the beginning of the text was found, or most of its words. */
  probable: boolean;
}

/** What an error is about that no rule finds, such as one of a chat template, of MCP or of an account. */
export interface ErrorClass {
  /** Such as `chat-template`, `mcp`, `model` or `account`. */
  id: string;
  summary: string;
  /** The id of the other class that it can be, where its words do not say which. */
  or: string | null;
  /** What a known text means, where that is more. */
  meaning: string | null;
  help: string;
  /** The id of the rule that finds the likely cause in a request; `null` if there is none. */
  rule: string | null;
  /** Whether its cause is in the request. */
  in_request: boolean;
  /** The ids, names and indexes in the text. */
  captures: Record<string, string>;
  /** Whether that is concluded from its words: the text is not known. */
  probable: boolean;
}

/** A place that an error names. */
export interface NamedPlace {
  /** As the error writes it. */
  text: string;
  /** Where it is in the body; `null` if it is not there, or if there is none. */
  pointer: string | null;
  line: number | null;
  column: number | null;
}

export interface Explained {
  /** Whether it is known what the text is about and, if a body was given and may have the cause, that was found. */
  explained: boolean;
  /** What the text can mean, the most likely first. */
  matches: Match[];
  /** What it is about if no rule is known for it; `null` if nothing is known. */
  class: ErrorClass | null;
  /** The HTTP status that it names. */
  status: number | null;
  /** Who sent or raised it, by its form: APIs and libraries. */
  from: string[];
  /** The places that it names. */
  places: NamedPlace[];
  /**
   * How sure it is that the `findings` cause the error; `null` if nothing was found that does, and without a body it is absent.
   *
   * - `found`: they have what the error is about.
   * - `probable`: they are at the place that the error names, are what it names, or are refused with it for some models.
   * - `usually-accepted`: they have what the error is about, but it is not known that the API refuses it.
   */
  cause?: "found" | "probable" | "usually-accepted" | null;
  /** What in the body causes it. */
  findings?: Finding[];
  /** What else is found in the body, if nothing causes it. */
  other_findings?: Finding[];
  render(options?: RenderOptions): string;
}

export interface ExplainOptions {
  /** The API that returned the error. By default the one that it is known of. */
  target?: string;
}

/** What an error of an API or a framework means and, with the request that failed, what in it causes the error. */
export function explainError<B>(error: string, body?: Readable<B>, options?: ExplainOptions): Explained;

/** How the findings in a body differ from those that are expected, line by line; no lines if they don't. */
export function compareFindings<B>(body: Readable<B>, expected: string | readonly string[], options?: LintOptions): string[];

/** What the address of a request says about it. */
export interface Endpoint {
  /** `llm`, `not-read` for conversations that toolcheck does not read, `other` for what is none, or `unknown`. */
  call: "llm" | "not-read" | "other" | "unknown";
  /** `null` if the address does not say, or if it may be one of several. */
  format: string | null;
  /** `null` if the host is not known, or has no target for this format. */
  target: string | null;
}

/** What the address of a request, or the path of one, says about it. */
export function endpoint(url: string | URL): Endpoint;

/** What is known of a model, or of all. */
export interface Models {
  version: 1;
  model: string | null;
  /** The provider's own name for it, if it was given as a router or a cloud writes it: `gpt-5` of `openai/gpt-5`. */
  own_name: string | null;
  /** What an API refuses of requests to some models, or accepts of them although its documentation does not say so. */
  facts: {
    target: string;
    rule: string;
    /** The object of a request, the key in it (`""` for the object as a whole), and what is asked of it; not of a whole rule. */
    object?: string;
    key?: string;
    asked?: string;
    known: {
      evidence: string;
      model?: string | null;
      status?: number | null;
      text?: string | null;
      sources: string[];
      seen: string;
      doubt?: string | null;
      [other: string]: unknown;
    };
  }[];
  /** What pages and tables say, by provider. */
  told: {
    provider: string;
    told: {
      ids: string[];
      shutdown?: string;
      replacement?: string;
      max_output?: number;
      reads_images?: boolean;
      evidence: string;
      sources: string[];
      seen: string;
    };
  }[];
}

/** What APIs refuse or accept of requests to this model that they do not of others, each fact with its evidence; without a model, that of all. */
export function models(model?: string): Models;

/** The version, and the names that options take. */
export function names(): {
  version: string;
  targets: { id: string; name: string; format: string | null }[];
  formats: string[];
  kinds: Kind[];
};

/**
 * Loads the module, in browsers and bundlers before anything else; in Node it need not be called.
 * `source` is a compiled module, its bytes, a response or its address.
 */
export function init(source?: InitSource | Promise<InitSource>): Promise<void>;
/** A `WebAssembly.Module`, bytes, a `Response` or an address. */
export type InitSource = object | string;

/** An option that can't be used, a body that can't be read, or a fault of toolcheck. */
export class ToolcheckError extends Error {}
