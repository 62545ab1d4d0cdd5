// `runTools` of OpenAI's SDK for JavaScript.

import OpenAI from "openai";
import { z } from "zod";
import { ALL, serve, talk } from "./common.mjs";

function run(task) {
  const client = new OpenAI({ apiKey: "x", baseURL: `${task.base_url}/v1` });
  let messages = [];
  return talk(task, async (message) => {
    if (message.fork) messages.pop();
    messages.push({ role: "user", content: message.text });
    const tools = message.tools.map(({ name, description, input, run }) => ({
      type: "function",
      function: { name, description, parameters: z.toJSONSchema(input, { io: "input" }), parse: JSON.parse, function: run },
    }));
    // Without tools there is nothing to run.
    if (!tools.length) {
      const completion = await client.chat.completions.create({ model: "gpt-4o", messages });
      return completion.choices[0].message.content;
    }
    const options = { signal: message.signal, ...(message.limit ? { maxChatCompletions: message.limit } : {}) };
    const runner = client.chat.completions.runTools({ model: "gpt-4o", messages, tools, stream: task.stream }, options);
    try {
      return await runner.finalContent();
    } finally {
      messages = [...runner.messages];
    }
  });
}

serve(run, ["openai-chat"], ALL.filter((need) => !["tool:image", "switch-format"].includes(need)));
