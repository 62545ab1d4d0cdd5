// A running `toolcheck serve`.

"use strict";

const { spawn } = require("node:child_process");
const { request } = require("node:http");
const { failed, find, run, ToolcheckError } = require("./binary.js");
const { check } = require("./check.js");
const { toml } = require("./script.js");

const START_MS = 20_000;
const STOP_MS = 5_000;

// Each of these would send a client elsewhere, or with other credentials.
const CLEARED = [
  "ANTHROPIC_AUTH_TOKEN",
  "AWS_BEARER_TOKEN_BEDROCK",
  "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
  "AWS_PROFILE",
  "AWS_SESSION_TOKEN",
  "GOOGLE_API_KEY",
  "GOOGLE_GENAI_USE_ENTERPRISE",
  "GOOGLE_GENAI_USE_VERTEXAI",
];

const OPTIONS = { target: "names", strict: ["known", "likely"], allow: "names", turns: "list", failOn: ["error", "warning"], notFound: ["warning", "error"], noRequest: ["warning", "error"], bin: "string" };
// It never sets any, as a fixture may be told not to.
const START = { ...OPTIONS, setEnv: [false] };

/** Starts a mock of LLM APIs on the loopback interface. */
async function startProvider(options = {}) {
  check(options, START);
  const { target, strict, allow, turns = [], failOn, notFound, noRequest, bin } = options;
  const program = find(bin);
  const args = ["serve", "--port", "0"];
  const targets = several(target);
  for (const name of targets) args.push("--target", name);
  for (const rule of several(allow)) args.push("--allow", rule);
  if (strict !== undefined) args.push("--strict", strict);
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
  const provider = new Provider(program, child, targets, await addresses(program, child), { failOn, notFound, noRequest });
  try {
    const script = [...turns];
    if (script.length) await provider.script(script);
  } catch (error) {
    await provider.stop();
    throw error;
  }
  return provider;
}

/** The warnings that the last check has found between the requests. */
const WARNINGS = Symbol("warnings");

const FIXTURE = { ...OPTIONS, setEnv: "boolean" };

const NOTHING_SENT = "sent nothing to its mock, so nothing was checked: does the client use `provider.url`?";

/** A path that the mock does not know, with what it says of it. */
const lostPath = (path, hints) => (hints[path] ? `${path} (${hints[path]})` : path);

const warned = new Set();
/** Warns once in a process, and so in a file of tests: with a mock for each test, all of them may say the same. */
function warn(text) {
  if (warned.has(text)) return;
  warned.add(text);
  console.warn(text);
}

/** A mock in the environment, and what ends it: that throws if a request was refused, or if something is wrong between them. */
async function opened(options) {
  check(options, FIXTURE);
  const { setEnv = true, ...start } = options;
  const mock = await startProvider(start);
  const restore = setEnv ? setEnvironment(mock.env) : () => {};
  /** Ends it without a check, for a test that has failed already. */
  const drop = async () => {
    restore();
    await mock.stop();
  };
  const close = async () => {
    try {
      await mock.assertConformant();
      const { requests, not_found: lost = [], not_found_hints: hints = {} } = await mock.report();
      if (lost.length) {
        const nothing = requests ? "" : " Nothing else was sent, so nothing was checked.";
        warn(`The mock knows no such path, and answered 404: ${lost.map((path) => lostPath(path, hints)).join(", ")}.${nothing} Is the base URL of the client right?`);
      } else if (!requests) {
        warn(`The test ${NOTHING_SENT}`);
      }
      const warnings = mock[WARNINGS];
      if (warnings.length) warn(`There are warnings between the requests, which \`failOn: "warning"\` makes the test fail for:\n${warnings.join("\n")}`);
    } finally {
      await drop();
    }
  };
  return { mock, close, drop };
}

/**
 * A fixture for `test.extend` of vitest: a mock in the environment, for each test that uses it.
 * The test fails if a request is refused, or if the linter finds an error between the requests; warnings are printed.
 */
function provider(options = {}) {
  check(options, FIXTURE);
  // Vitest reads from the first parameter which other fixtures are needed, so it has to be a pattern.
  return async ({}, use) => {
    const { mock, close, drop } = await opened(options);
    try {
      await use(mock);
    } catch (error) {
      await drop();
      throw error;
    }
    await close();
  };
}

/** What may be one thing or several as a list. */
function several(value) {
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : [...value];
}

function setEnvironment(env) {
  const names = [...CLEARED, ...Object.keys(env)];
  const before = names.map((name) => [name, process.env[name]]);
  for (const name of CLEARED) delete process.env[name];
  Object.assign(process.env, env);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

class Provider {
  #program;
  #child;
  #expected = false;
  #failsOn;

  constructor(program, child, targets, { url, control }, failsOn) {
    this.#failsOn = failsOn;
    this[WARNINGS] = [];
    this.#program = program;
    this.#child = child;
    this.targets = targets;
    this.target = targets.length === 1 ? targets[0] : undefined;
    this.url = url;
    this.admin = control;
  }

  get env() {
    const loopback = "127.0.0.1,localhost";
    const proxied = (name) => (process.env[name] ? `${process.env[name]},${loopback}` : loopback);
    return {
      ANTHROPIC_API_KEY: "toolcheck",
      ANTHROPIC_BASE_URL: this.url,
      AWS_ACCESS_KEY_ID: "toolcheck",
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: this.url,
      AWS_REGION: "us-east-1",
      AWS_SECRET_ACCESS_KEY: "toolcheck",
      CO_API_KEY: "toolcheck",
      CO_API_URL: this.url,
      GEMINI_API_KEY: "toolcheck",
      GOOGLE_GEMINI_BASE_URL: this.url,
      MISTRAL_API_KEY: "toolcheck",
      NO_PROXY: proxied("NO_PROXY"),
      OLLAMA_HOST: this.url,
      OPENAI_API_KEY: "toolcheck",
      OPENAI_BASE_URL: `${this.url}/v1`,
      no_proxy: proxied("no_proxy"),
    };
  }

  async script(turns) {
    await this.#ask("POST", "script", toml(turns));
  }

  async exchanges() {
    const text = await this.#ask("GET", "exchanges");
    return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }

  async report() {
    return JSON.parse(await this.#ask("GET", "report"));
  }

  async refused() {
    return (await this.report()).refused;
  }

  async reset() {
    await this.#ask("POST", "reset");
  }

  expectRefusal(rule) {
    if (rule !== undefined) {
      if (typeof rule !== "string") throw new ToolcheckError(`expectRefusal: the rule is ${rule === null ? "null" : `a ${typeof rule}`}; expected the id of a rule, such as \`unanswered-tool-call\``);
      // The program says that there is no such rule, and which may be meant.
      run(this.#program, ["explain", "--", rule]);
    }
    this.#expected = rule ?? true;
  }

  async assertConformant() {
    const text = await this.faults();
    if (text) throw new Error(`toolcheck: ${text}`);
  }

  async faults() {
    const { requests, refused, allowed, unexpected, not_found: lost = [], not_found_hints: hints = {} } = await this.report();
    const isExpected = (one) => this.#expected === true || this.#expected === one.rule;
    const missing = () => {
      if (this.#expected === false || refused.some(isExpected)) return "";
      const of = this.#expected === true ? "" : ` because of ${this.#expected}`;
      const others = [...new Set(refused.map(({ rule }) => rule))];
      return `no request was refused${of}, which the test expects (\`expectRefusal(${this.#expected === true ? "" : JSON.stringify(this.#expected)})\`)${others.length ? `; refused because of ${others.join(", ")}` : ""}`;
    };
    const elsewhere = unexpected.map((path) => `not expected of ${this.targets.join(" and ")}: ${path}`);
    if (this.#failsOn.notFound === "error") elsewhere.push(...lost.map((path) => `there is no such path: ${lostPath(path, hints)}`));
    if (!requests) {
      const nothing = this.#failsOn.noRequest === "error" && !elsewhere.length && `the test ${NOTHING_SENT}`;
      return [...elsewhere, missing(), nothing].filter(Boolean).join("\n");
    }
    const exchanges = await this.#ask("GET", "exchanges");
    // The mock says what the target refuses; between the requests, no target is needed.
    const args = ["lint", "-", "--isolated", "--no-excerpt", "--output-format", "json", "--max-findings", "0"];
    const { findings } = JSON.parse(run(this.#program, args, exchanges));
    const told = new Set([...refused, ...allowed].map((one) => one.rule));
    const fails = (one) => one.level === "error" || this.#failsOn.failOn === "warning";
    const found = findings.filter((one) => !told.has(one.rule));
    const finding = (one) => `${one.rule} at ${one.pointer} of exchange ${one.record + 1}: ${one.message}`;
    this[WARNINGS] = found.filter((one) => !fails(one)).map(finding);
    const faults = [
      ...elsewhere,
      ...refused.filter((one) => !isExpected(one)).map(sentence),
      ...found.filter(fails).map(finding),
    ];
    const unseen = requests - exchanges.split("\n").filter(Boolean).length;
    if (unseen > 0) faults.push(`${unseen} requests are not checked, because the exchanges are too large to be kept`);
    const gone = missing();
    if (!faults.length) return gone;
    if (gone) faults.unshift(gone);
    // The first line is what a summary shows.
    const count = faults.length > 1 ? [`${faults.length} faults:`] : [];
    return [...count, ...faults, "", this.#draw(exchanges)].join("\n");
  }

  async picture() {
    return this.#draw(await this.#ask("GET", "exchanges"));
  }

  #draw(exchanges) {
    const args = ["show", "-", "--isolated", "--color", "never"];
    if (this.target !== undefined) args.push("--target", this.target);
    const drawn = run(this.#program, args, exchanges).trim().replace("<stdin>", "exchanges");
    // The last line names a command for the file, and there is none.
    return drawn.split("\n").filter((line) => !line.startsWith("more: ")).join("\n");
  }

  async stop() {
    await end(this.#child);
  }

  /** Asks the mock itself, past all proxies and whatever has replaced `fetch`. */
  async #ask(method, name, body) {
    const [status, said] = await new Promise((resolve, reject) => {
      const asked = request(`${this.admin}/${name}`, { method, agent: false, timeout: 30_000 }, (response) => {
        const pieces = [];
        response.on("data", (piece) => pieces.push(piece));
        response.on("end", () => resolve([response.statusCode, Buffer.concat(pieces).toString()]));
        response.on("error", reject);
      });
      asked.on("timeout", () => asked.destroy(new Error("it takes too long")));
      asked.on("error", reject);
      asked.end(body);
    }).catch((error) => {
      throw new ToolcheckError(`the mock at ${this.url} does not answer: ${error.message}`);
    });
    if (status === 200) return said;
    let message = said;
    try {
      message = JSON.parse(said).error.message;
    } catch {
      // It is not the mock's own error.
    }
    throw new ToolcheckError(`${name}: ${message}`.trim());
  }
}

function sentence({ rule, message, place, text, status }) {
  const said = text ? `\n  the API says: ${text}` : "";
  return `refused with ${status}: ${rule} at ${place || "the body"}: ${message}${said}`;
}

/** Waits for what the program prints once it listens. */
async function addresses(program, child) {
  let printed = "";
  let said = "";
  child.stdout.on("data", (piece) => (printed += piece));
  child.stderr.on("data", (piece) => (said = (said + piece).slice(-10_000)));
  // A program that ends early closes its input.
  child.stdin.on("error", () => {});
  let impatience;
  const reason = await new Promise((resolve) => {
    impatience = setTimeout(() => resolve("it does not listen"), START_MS);
    child.once("error", (error) => resolve(error.message));
    child.once("close", () => resolve("")); // The standard error is complete.
    child.stdout.on("data", () => printed.includes("\n") && resolve(undefined));
  });
  clearTimeout(impatience);
  if (reason === undefined) {
    try {
      const { url, control } = JSON.parse(printed.split("\n")[0]);
      if (typeof url === "string" && typeof control === "string") {
        // A mock that nobody stops keeps no test run from ending: its input closes with the process.
        // Bun has no `unref` for all of them.
        for (const one of [child, child.stdin, child.stdout, child.stderr]) one.unref?.();
        return { url, control };
      }
    } catch {
      // It printed something else.
    }
  }
  await end(child);
  throw failed(program, "serve", [printed, said, reason].filter(Boolean).join("\n").trim());
}

/** Ends the program: by closing its input, and if it does not end by that, by killing it. */
async function end(child) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  await new Promise((resolve) => {
    const impatience = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    child.once("exit", () => {
      clearTimeout(impatience);
      resolve();
    });
    child.stdin.end();
  });
}

module.exports = { opened, provider, startProvider };
