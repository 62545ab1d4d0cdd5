import type { RuleId, TargetId } from "./names.js";
export type { RuleId, TargetId };

/** One of these names, which editors list, or another: a file, say. */
type Named<Id> = Id | (string & {});

/** The program is missing or too old, or could not do what it was asked to. */
export class ToolcheckError extends Error {}

/** A call of a turn. */
export interface Call {
  tool: string;
  arguments?: Record<string, unknown>;
  raw?: string;
  id?: string;
  /** Whether there is a signature of the call (Gemini). */
  signed?: boolean;
}

/** A call that the provider carries out itself (Anthropic). */
export interface ServerCall {
  tool: string;
  arguments?: Record<string, unknown>;
  /** The result, as the API writes it. */
  result?: Record<string, unknown>[];
}

export type Stop = "end" | "calls" | "length" | "pause";

/** A turn, with the keys of `[[turn]]` in a script. */
export interface Turn {
  text?: string;
  reasoning?: string;
  redacted?: boolean;
  "server-calls"?: ServerCall[];
  calls?: Call[];
  stop?: Stop;
  status?: number;
  "error-after"?: number;
  texts?: Record<string, string>;
  "retry-after"?: number;
  attempts?: number;
  once?: boolean;
  tokens?: number;
  pieces?: number;
  interleaved?: boolean;
  "index-zero"?: boolean;
  "without-end"?: boolean;
  "cut-after"?: number;
  "cut-in"?: "arguments" | "between-calls";
  "clean-end"?: boolean;
}

/** What may be said of a turn of the model. */
export interface TurnOptions {
  /** What it thinks before that, where the format has room for it. */
  reasoning?: string;
  /** Whether there is reasoning that is encrypted as a whole (Anthropic). */
  redacted?: boolean;
  /** The calls that the provider carries out itself (Anthropic). */
  serverCalls?: ServerCall[];
  /** The reason to stop, if it is not the natural one; `pause` is Anthropic's. */
  stop?: Stop;
  /** Whether the turn is given only once: then comes the next one, even if the next request holds less of the conversation. */
  once?: boolean;
  /** How many tokens the response says that it has. */
  tokens?: number;
  /** After how many events of a stream an error ends it. */
  errorAfter?: number;
  /** Whether the stream lacks what only says that it has ended: `message_stop`, `[DONE]`. */
  withoutEnd?: boolean;
  /** The number of characters in each piece of a stream. */
  pieces?: number;
  /** After how many events the connection breaks. */
  cutAfter?: number;
  /** Whether a stream that is cut off ends there as if it were complete, and the connection does not break. */
  cleanEnd?: boolean;
}

export interface CallsOptions extends TurnOptions {
  /** What the model says beside the calls. */
  text?: string;
  /** Whether the pieces of parallel calls take turns. */
  interleaved?: boolean;
  /** Whether each call of a stream has the number 0 (Chat Completions, Mistral). */
  indexZero?: boolean;
  /** Where a stream is cut off, whatever events the format has. */
  cutIn?: "arguments" | "between-calls";
}

/**
 * A call of a tool.
 *
 * Without a name it calls the first tool of the request, and without arguments it makes them from the tool's schema.
 * `raw` is a text in place of the arguments, which need not be JSON.
 */
export function call(tool?: string, args?: Record<string, unknown>, options?: { raw?: string; id?: string; signed?: boolean }): Call;
/** A turn in which the model calls tools. */
export function calls(...calls: Call[] | [...Call[], CallsOptions]): Turn;
/** A turn in which the model only says this. */
export function text(text: string, options?: TurnOptions): Turn;
/** An error in place of the next turn: always, once, or for this many attempts of the same request. `texts` are messages by format. */
export function error(
  status: number,
  options?: { message?: string; texts?: Record<string, string>; retryAfter?: number; attempts?: number; once?: boolean },
): Turn;

/** Why a request was refused. */
export interface Refused {
  /** The id of the rule. */
  rule: RuleId;
  /** What is wrong. */
  message: string;
  /** Where in the body: a JSON Pointer. */
  place: string;
  /** What the API says, if its words are known. */
  text: string | null;
  status: number;
}

/** A request with its response. */
export interface Exchange {
  path: string;
  request: any;
  response: any;
  status: number;
  time: number;
}

export interface ProviderOptions {
  /**
   * The API that the mock is, or several, or TOML files; by default those of all paths.
   * A request to the path of another API is answered with 404, and fails the test.
   */
  target?: Named<TargetId> | Iterable<Named<TargetId>>;
  /** The rules whose refusals are let through. */
  allow?: RuleId | Iterable<RuleId>;
  /** How much must be known of a refusal. */
  strict?: "known" | "likely";
  /** What the model says, turn by turn. */
  turns?: Iterable<Turn>;
  /** The lowest level that fails of what is found between the requests: by default `error`, and warnings are printed. */
  failOn?: "error" | "warning";
  /** Whether a request to a path that is not known, which is answered with 404, fails the test; by default it is a warning. */
  notFound?: "warning" | "error";
  /** Whether a test that sends nothing to its mock fails; by default it is a warning. `startProvider` gives none. */
  noRequest?: "warning" | "error";
  /** The program; by default `TOOLCHECK_BIN`, that of the package, or the one on the PATH. */
  bin?: string;
}

/** A mock of LLM APIs on the loopback interface. */
export interface Provider {
  /** The address to give to a client in place of the API's; OpenAI's clients need `/v1` after it. */
  readonly url: string;
  /** Where the mock tells what it has seen; nobody can guess it. */
  readonly admin: string;
  /** The API that the mock is, if it is one. */
  readonly target: string | undefined;
  readonly targets: readonly string[];
  /** The environment variables by which clients find the mock, with keys that it does not look at. */
  readonly env: Record<string, string>;
  /** Sets what the model says from now on; no turns at all leave it to the mock. */
  script(turns: Iterable<Turn>): Promise<void>;
  /** Each request with its response, in the order in which they were answered. */
  exchanges(): Promise<Exchange[]>;
  /** The requests that were refused. */
  refused(): Promise<Refused[]>;
  /** How many requests there were, what was refused and what allowed, which paths were those of other APIs, and which are not known. */
  report(): Promise<{
    version: number;
    requests: number;
    refused: Refused[];
    allowed: Refused[];
    unexpected: string[];
    not_found: string[];
    /** What may be wrong with such a path, by its line in `not_found`. */
    not_found_hints: Record<string, string>;
    /** How many exchanges were too large to be kept. */
    not_kept: number;
    /** The requests that a recording does not answer. */
    not_recorded: { path: string; message: string }[];
    /** How many refusals there are besides those of `refused`. */
    refused_not_listed: number;
  }>;
  /** Forgets what was seen. */
  reset(): Promise<void>;
  /** Turns the check around: a request has to be refused, because of this rule if one is named. */
  expectRefusal(rule?: RuleId): void;
  /** Throws if a request was refused or sent to another API, or if the linter finds an error between the requests. */
  assertConformant(): Promise<void>;
  /** What `assertConformant` throws; empty if nothing is wrong. */
  faults(): Promise<string>;
  /** The exchanges as an outline, with what is wrong marked. */
  picture(): Promise<string>;
  /** Ends the program. */
  stop(): Promise<void>;
}

/** Starts a mock of LLM APIs, and leaves `process.env` as it is. It ends with `stop()`, or with this process. */
export function startProvider(options?: ProviderOptions & { setEnv?: false }): Promise<Provider>;

export interface FixtureOptions extends ProviderOptions {
  /** Whether `process.env` names the mock during the test. Tests that run concurrently share it. */
  setEnv?: boolean;
}

/**
 * A fixture for `test.extend` of vitest: a mock in the environment, for each test that uses it.
 *
 * The test fails if a request is refused, or if the linter finds an error between the requests; warnings are printed.
 */
export function provider(options?: FixtureOptions): (context: {}, use: (provider: Provider) => Promise<void>) => Promise<void>;

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

export interface LintOptions {
  /** API to check against, or a TOML file; by default the format's own provider. */
  target?: Named<TargetId>;
  /** Format of the body; by default it is detected. */
  format?: string;
  kind?: "request" | "session" | "dataset";
  /** Tool definitions for transcripts that have none, or a file of them. */
  tools?: string | object;
  select?: RuleId | readonly RuleId[];
  extendSelect?: RuleId | readonly RuleId[];
  ignore?: RuleId | readonly RuleId[];
  /** A configuration: its path, or its text, which has a line break or `=`. None is searched for. */
  config?: string;
  /** The program; by default `TOOLCHECK_BIN`, that of the package, or the one on the PATH. */
  bin?: string;
}

export interface MatcherOptions extends LintOptions {
  /** The lowest level that fails; by default every finding does. */
  failOn?: "error" | "warning";
}

export interface Finding {
  rule: RuleId;
  level: "error" | "warning";
  message: string;
  pointer: string;
  line: number;
  column: number;
  help?: string;
  provider_error?: string;
  status?: number;
  /** How it is known that the API refuses it. */
  evidence?: string;
  /** Why it is only a warning although the API refuses it, or why that is in doubt. */
  doubt?: string;
  url: string;
  [key: string]: unknown;
}

export interface Report {
  version: number;
  files: { format?: string; target?: string; [key: string]: unknown }[];
  findings: Finding[];
  summary: { files: number; transcripts: number; errors: number; warnings: number };
}

/** The report on a body, as in `schemas/report.v1.schema.json`. A body is text, bytes, or what JSON can say. */
export function lint<B>(body: Readable<B>, options?: LintOptions): Report;
/** Throws if there are findings in a body, or no transcript. */
export function assertClean<B>(body: Readable<B>, options?: MatcherOptions): void;
/**
 * Throws if a body has other findings than these, in this order.
 *
 * A finding is the id of its rule, optionally with its level before it and its place after it:
 * `error unanswered-tool-call at /messages/1/content/0`, with `2:` before the place for the third record of JSON Lines.
 */
export function assertFindings<B>(body: Readable<B>, expected: string | readonly string[], options?: LintOptions): void;

interface Result {
  pass: boolean;
  message: () => string;
}

/** A matcher for `expect.extend`: the body has no findings, and there is something to check in it. */
export function toBeClean(body: unknown, options?: MatcherOptions): Result;
/** A matcher for `expect.extend`: the body has these findings, in this order, and no others. */
export function toHaveFindings(body: unknown, expected: string | readonly string[], options?: LintOptions): Result;

/** What `expect(body)` has with these matchers. */
export interface ToolcheckMatchers<R = unknown> {
  /** The body of a request has no findings. */
  toBeClean(options?: MatcherOptions): R;
  /** The body has these findings, in this order, and no others. */
  toHaveFindings(expected: string | readonly string[], options?: LintOptions): R;
}
