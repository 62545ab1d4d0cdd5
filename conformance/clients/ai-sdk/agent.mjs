// Vercel's AI SDK: a `ToolLoopAgent`, and the messages of each response kept by the user.
// With the argument `compatible`, Chat Completions goes through its provider for compatible servers.

import { createInterface } from "node:readline";
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createCohere } from "@ai-sdk/cohere";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, tool, ToolLoopAgent } from "ai";
import { createOllama } from "ollama-ai-provider-v2";
import { z } from "zod";

globalThis.AI_SDK_LOG_WARNINGS = false;
console.log = console.error;

const apiKey = "x";
const MODELS = {
  anthropic: (url) => createAnthropic({ apiKey, baseURL: `${url}/v1` })("claude-opus-4-8"),
  "openai-chat": (url) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat("gpt-4o"),
  "openai-responses": (url) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses("gpt-4o"),
  gemini: (url) => createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` })("gemini-2.5-pro"),
  "bedrock-converse": (url) =>
    createAmazonBedrock({ baseURL: url, region: "us-east-1", accessKeyId: "x", secretAccessKey: "x" })(
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ),
  mistral: (url) => createMistral({ apiKey, baseURL: `${url}/v1` })("mistral-large-latest"),
  cohere: (url) => createCohere({ apiKey, baseURL: `${url}/v2` })("command-a-03-2025"),
  ollama: (url) => createOllama({ baseURL: `${url}/api` })("llama3.1"),
};
if (process.argv.includes("compatible")) {
  for (const format of Object.keys(MODELS)) delete MODELS[format];
  MODELS["openai-chat"] = (url) =>
    createOpenAICompatible({ name: "compatible", apiKey, baseURL: `${url}/v1`, includeUsage: true })("some-model");
}

// A red square of eight pixels.
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mP4z8CAFTEMLQkAKP8/wc53yE8AAAAASUVORK5CYII=";
const text = z.object({ text: z.string() });
let called = () => {};
let moment = 50;

const TOOLS = {
  echo: tool({ description: "Repeats a text.", inputSchema: text, execute: ({ text }) => `got ${text}` }),
  fail: tool({
    description: "Fails.",
    inputSchema: text,
    execute: () => {
      throw new Error("TOOL FAILED");
    },
  }),
  slow: tool({
    description: "Repeats a text, after a moment.",
    inputSchema: text,
    execute: async ({ text }) => {
      called();
      await new Promise((done) => setTimeout(done, moment));
      return `got ${text}`;
    },
  }),
  none: tool({ description: "Needs nothing.", inputSchema: z.object({}), execute: () => "nothing to say" }),
  empty: tool({ description: "Returns an empty text.", inputSchema: text, execute: () => "" }),
  optional: tool({
    description: "Repeats a text, if there is one.",
    inputSchema: z.object({ text: z.string().default("DEFAULT") }),
    execute: ({ text }) => `got ${text}`,
  }),
};
const EXTRA = {
  huge: tool({
    description: "Returns two megabytes of text.",
    inputSchema: text,
    execute: () => "0123456789abcde\n".repeat(2 << 16),
  }),
  surrogate: tool({
    description: "Returns half a character.",
    inputSchema: text,
    execute: () => "half \ud800 of it",
  }),
  image: tool({
    description: "Returns a picture.",
    inputSchema: text,
    execute: () => PNG,
    toModelOutput: ({ output }) => ({
      type: "content",
      value: [{ type: "image-data", data: output, mediaType: "image/png" }],
    }),
  }),
};
const CAN = [
  ...Object.keys(EXTRA).map((name) => `tool:${name}`),
  "interrupt",
  "max-turns",
  "switch-format",
  "withdraw-tools",
];

// How the first run ended, if there was a second.
let first;

async function run(task) {
  const needs = task.needs ?? [];
  const extra = Object.entries(EXTRA).filter(([name]) => needs.includes(`tool:${name}`));
  const tools = { ...TOOLS, ...Object.fromEntries(extra) };
  const messages = [];

  async function say(words, { format, tools, limit, signal }) {
    messages.push({ role: "user", content: words });
    const agent = new ToolLoopAgent({
      model: MODELS[format](task.base_url),
      tools,
      // Without a limit, its own of twenty.
      ...(limit ? { stopWhen: stepCountIs(limit) } : {}),
    });
    if (!task.stream) {
      const result = await agent.generate({ messages, abortSignal: signal });
      messages.push(...result.response.messages);
      return result.text;
    }
    const result = await agent.stream({ messages, abortSignal: signal });
    for await (const part of result.fullStream) {
      if (part.type === "error") throw part.error;
      if (part.type === "abort") throw new Error("aborted");
    }
    messages.push(...(await result.response).messages);
    return await result.text;
  }

  const limit = needs.includes("max-turns") ? task.max_turns : undefined;
  if (!task.then) return await say(task.prompt, { format: task.format, tools, limit });
  const stopped = new AbortController();
  if (needs.includes("interrupt")) called = () => stopped.abort();
  try {
    const text = await say(task.prompt, { format: task.format, tools, limit, signal: stopped.signal });
    first = { outcome: "done", text: (text ?? "").toWellFormed() };
  } catch (error) {
    // The user goes on in the same conversation.
    first = { outcome: "error", text: String(error).slice(0, 2000).toWellFormed() };
    console.error("the first run ended with", String(error));
  }
  const format = (needs.includes("switch-format") && task.then_format) || task.format;
  const withdrawn = needs.includes("withdraw-tools") && task.then_tools === false;
  return await say(task.then, { format, tools: withdrawn ? undefined : tools });
}

// What was imported until now does not count against the first task.
process.stdout.write('{"ready": true}\n');
for await (const line of createInterface({ input: process.stdin })) {
  const task = JSON.parse(line);
  const silent = [task.format, task.then_format].find((format) => format && !(format in MODELS));
  const unknown = (task.needs ?? []).find((need) => !CAN.includes(need));
  let answer;
  if (silent) answer = { outcome: "skip", text: `it does not speak ${silent} here` };
  else if (unknown) answer = { outcome: "skip", text: `it has no way for ${unknown}` };
  else {
    called = () => {};
    first = undefined;
    moment = (task.needs ?? []).includes("interrupt") ? 1500 : 50;
    try {
      answer = { outcome: "done", text: (await run(task)) ?? "" };
    } catch (error) {
      console.error(String(error));
      answer = { outcome: "error", text: String(error).slice(0, 2000) };
    }
    answer.text = answer.text.toWellFormed();
    if (first) answer.first = first;
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
