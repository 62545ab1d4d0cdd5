// @openai/agents, with a session in memory.

import {
  Agent,
  MemorySession,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run as runAgent,
  setTracingDisabled,
  tool,
} from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";
import { ALL, PNG, serve, talk } from "./common.mjs";

setTracingDisabled(true);
const MODELS = {
  "openai-chat": (client) => new OpenAIChatCompletionsModel(client, "gpt-4o"),
  // One that reasons: others take no reasoning back.
  "openai-responses": (client) => new OpenAIResponsesModel(client, "gpt-5.4"),
};
const picture = { type: "image", image: { data: PNG, mediaType: "image/png" } };

function run(task) {
  const client = new OpenAI({ apiKey: "x", baseURL: `${task.base_url}/v1` });
  const session = new MemorySession();
  return talk(task, async (message) => {
    if (message.fork) await session.popItem();
    const tools = message.tools.map(({ name, description, input, run }) =>
      tool({
        name,
        description,
        // Strict schemas, its default, have no arguments that may be missing.
        strict: false,
        parameters: { ...z.toJSONSchema(input, { io: "input" }), required: input.shape.text?.def.type === "string" ? ["text"] : [], additionalProperties: true },
        execute: name === "image" ? () => picture : (given) => run(input.parse(given)),
      }),
    );
    const agent = new Agent({ name: "tester", model: MODELS[message.format](client), tools });
    const options = { session, signal: message.signal, ...(message.limit ? { maxTurns: message.limit } : {}) };
    const result = await runAgent(agent, message.text, { ...options, stream: task.stream });
    if (task.stream) {
      for await (const _ of result) {
        // What comes is only looked at.
      }
      await result.completed;
      if (result.error) throw result.error;
    }
    return String(result.finalOutput ?? "");
  });
}

serve(run, Object.keys(MODELS), ALL);
