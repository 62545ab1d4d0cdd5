// Vercel's AI SDK: a `ToolLoopAgent`, and the messages of each response kept by the user.
// With the argument `compatible`, Chat Completions goes through its provider for compatible servers.

import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createCohere } from "@ai-sdk/cohere";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, tool, ToolLoopAgent } from "ai";
import { createOllama } from "ollama-ai-provider-v2";
import { ALL, drain, serve, talk } from "./common.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const apiKey = "x";
const MODELS = {
  anthropic: (url) => createAnthropic({ apiKey, baseURL: `${url}/v1` })("claude-opus-4-8"),
  "openai-chat": (url) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat("gpt-4o"),
  "openai-responses": (url) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses("gpt-5.4"),
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

const toModelOutput = ({ output }) => ({
  type: "content",
  value: [{ type: "image-data", data: output, mediaType: "image/png" }],
});

function run(task) {
  const messages = [];
  return talk(task, async (message) => {
    if (message.fork) messages.pop();
    messages.push({ role: "user", content: message.text });
    const tools = message.tools.map(({ name, description, input, run }) => [
      name,
      tool({ description, inputSchema: input, execute: run, ...(name === "image" ? { toModelOutput } : {}) }),
    ]);
    const agent = new ToolLoopAgent({
      model: MODELS[message.format](task.base_url),
      tools: tools.length ? Object.fromEntries(tools) : undefined,
      // Without a limit, its own of twenty.
      ...(message.limit ? { stopWhen: stepCountIs(message.limit) } : {}),
    });
    if (!task.stream) {
      const result = await agent.generate({ messages, abortSignal: message.signal });
      // In version 7, `response` is that of the last step only.
      messages.push(...(result.responseMessages ?? result.response.messages));
      return result.text;
    }
    const result = await agent.stream({ messages, abortSignal: message.signal });
    await drain(result.fullStream);
    messages.push(...((await result.responseMessages) ?? (await result.response).messages));
    return await result.text;
  });
}

serve(run, Object.keys(MODELS), ALL);
