// Mastra: an `Agent`, and the messages of each response kept by the user.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { ALL, drain, PNG, serve, talk } from "./common.mjs";

const apiKey = "x";
const MODELS = {
  anthropic: (url) => createAnthropic({ apiKey, baseURL: `${url}/v1` })("claude-opus-4-8"),
  "openai-chat": (url) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat("gpt-4o"),
  "openai-responses": (url) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses("gpt-5.4"),
  gemini: (url) => createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` })("gemini-2.5-pro"),
  mistral: (url) => createMistral({ apiKey, baseURL: `${url}/v1` })("mistral-large-latest"),
};
const toModelOutput = (data) => ({ type: "content", value: [{ type: "image-data", data, mediaType: "image/png" }] });

function run(task) {
  const messages = [];
  return talk(task, async (message) => {
    if (message.fork) messages.pop();
    messages.push({ role: "user", content: message.text });
    const tools = message.tools.map(({ name, description, input, run }) => [
      name,
      createTool({
        id: name,
        description,
        inputSchema: input,
        execute: run,
        ...(name === "image" ? { execute: () => PNG, toModelOutput } : {}),
      }),
    ]);
    const agent = new Agent({
      id: "tester",
      name: "tester",
      instructions: "You use tools.",
      model: MODELS[message.format](task.base_url),
      tools: Object.fromEntries(tools),
    });
    const options = { abortSignal: message.signal, ...(message.limit ? { maxSteps: message.limit } : {}) };
    if (!task.stream) {
      const result = await agent.generate([...messages], options);
      messages.push(...result.response.messages);
      return result.text;
    }
    const result = await agent.stream([...messages], options);
    await drain(result.fullStream);
    messages.push(...(await result.response).messages);
    return await result.text;
  });
}

serve(run, Object.keys(MODELS), ALL);
