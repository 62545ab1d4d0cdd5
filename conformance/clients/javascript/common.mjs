// What the JavaScript drivers share: the standard tools, and the lines of JSON between `toolcheck conform` and a driver.
// As in `common.py`, which says more.

import { createInterface } from "node:readline";
import { z } from "zod";

console.log = console.info = console.error;

// A red square of eight pixels.
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mP4z8CAFTEMLQkAKP8/wc53yE8AAAAASUVORK5CYII=";
let called = () => {};
let moment = 50;
// How the first run ended, if there was a second.
let first;
// Has another agent do something, in a conversation of its own.
let delegated;

const text = z.object({ text: z.string() });
const of = (name, description, input, run) => ({ name, description, input, run });

// Each has its arguments as a schema of zod; the driver makes tools of its framework of them.
const TOOLS = [
  of("echo", "Repeats a text.", text, ({ text }) => `got ${text}`),
  of("fail", "Fails.", text, () => {
    throw new Error("TOOL FAILED");
  }),
  of("slow", "Repeats a text, after a moment.", text, async ({ text }) => {
    called();
    await new Promise((done) => setTimeout(done, moment));
    return `got ${text}`;
  }),
  of("none", "Needs nothing.", z.object({}), () => "nothing to say"),
  of("empty", "Returns an empty text.", text, () => ""),
  of("optional", "Repeats a text, if there is one.", z.object({ text: z.string().default("DEFAULT") }), ({ text }) => `got ${text}`),
];
const EXTRA = {
  "tool:huge": of("huge", "Returns two megabytes of text.", text, () => "0123456789abcde\n".repeat(2 << 16)),
  "tool:surrogate": of("surrogate", "Returns half a character.", text, () => "half \ud800 of it"),
  // The result is a picture in base64, which the driver writes as its framework does.
  "tool:delegate": of("delegate", "Has another agent do something.", text, ({ text }) => delegated(text)),
  "tool:image": of("image", "Returns a picture.", text, () => PNG),
};
export const ALL = [...Object.keys(EXTRA), "interrupt", "fork", "max-turns", "switch-format", "withdraw-tools"];

// Has the user say everything in turn: `say(message)` runs the loop and returns the final text. If the first run fails,
// the user goes on in the same conversation, if there is more to say. `signal` interrupts the first run.
export async function talk(task, say) {
  const needs = task.needs ?? [];
  const extra = Object.entries(EXTRA).filter(([need]) => needs.includes(need));
  const tools = [...TOOLS, ...extra.map(([, own]) => own)];
  const limit = needs.includes("max-turns") ? task.max_turns : undefined;
  if (!task.then) return await say({ text: task.prompt, format: task.format, tools, limit });
  const stopped = new AbortController();
  if (needs.includes("interrupt")) called = () => stopped.abort();
  try {
    const said = await say({ text: task.prompt, format: task.format, tools, limit, signal: stopped.signal });
    first = { outcome: "done", text: whole(said) };
  } catch (error) {
    first = { outcome: "error", text: failed(error) };
    console.error("the first run ended with", words(error));
  }
  const format = (needs.includes("switch-format") && task.then_format) || task.format;
  const withdrawn = needs.includes("withdraw-tools") && task.then_tools === false;
  // In a copy of the conversation that ends before the last answer of the model.
  const fork = needs.includes("fork");
  return await say({ text: task.then, format, tools: withdrawn ? [] : tools, fork });
}

// Reads the parts of a stream to its end; what went wrong is thrown.
export async function drain(stream) {
  for await (const part of stream) {
    if (part.type === "error") throw part.payload?.error ?? part.error;
    if (part.type === "abort") throw new Error("aborted");
  }
}

const whole = (text) => (text ?? "").toWellFormed();
// Some frameworks throw the body of the response as it came.
const words = (error) => (String(error) === "[object Object]" ? JSON.stringify(error) : String(error));
const failed = (error) => whole(words(error).slice(0, 2000));

// Answers each task on the standard input with what `run(task)` returns: the final text, or an exception. `can` has what
// the driver does beyond the six tools and a second message; a task that needs more is skipped. `onlyStreamed` has the
// formats in which it always streams.
export async function serve(run, formats, can, onlyStreamed = []) {
  // What was imported until now does not count against the first task.
  process.stdout.write('{"ready": true}\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const task = JSON.parse(line);
    const needs = task.needs ?? [];
    const silent = [task.format, task.then_format].find((format) => format && !formats.includes(format));
    const unknown = needs.find((need) => !can.includes(need));
    let answer;
    if (silent) answer = { outcome: "skip", text: `it does not speak ${silent} here` };
    else if (unknown) answer = { outcome: "skip", text: `it has no way for ${unknown}` };
    else if (!task.stream && onlyStreamed.includes(task.format)) answer = { outcome: "skip", text: "it always streams here" };
    else {
      called = () => {};
      first = undefined;
      delegated = async (text) => whole(await run({ ...task, prompt: text, then: null, needs: [] }));
      moment = needs.includes("interrupt") ? 1500 : 50;
      try {
        answer = { outcome: "done", text: whole(await run(task)) };
      } catch (error) {
        console.error(words(error));
        answer = { outcome: "error", text: failed(error) };
      }
      if (first) answer.first = first;
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}

// What the framework does behind the back of a run must not end the driver.
process.on("unhandledRejection", (error) => console.error("not handled:", String(error)));
