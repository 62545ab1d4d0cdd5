// The tool runner of Anthropic's SDK for JavaScript.

import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { ALL, PNG, serve, talk } from "./common.mjs";

const picture = [{ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }];

function run(task) {
  const client = new Anthropic({ apiKey: "x", baseURL: task.base_url });
  let messages = [];
  return talk(task, async (message) => {
    if (message.fork) messages.pop();
    messages.push({ role: "user", content: message.text });
    const tools = message.tools.map(({ input, run, ...own }) =>
      betaZodTool({ ...own, inputSchema: input, run: own.name === "image" ? () => picture : run }),
    );
    const runner = client.beta.messages.toolRunner(
      {
        model: "claude-opus-4-8",
        max_tokens: 1024,
        messages: [...messages],
        tools,
        stream: task.stream,
        ...(message.limit ? { max_iterations: message.limit } : {}),
      },
      { signal: message.signal },
    );
    let last;
    for await (const turn of runner) {
      last = task.stream ? await turn.finalMessage() : turn;
      messages.push({ role: "assistant", content: last.content });
      const answer = await runner.generateToolResponse();
      if (answer) messages.push(answer);
    }
    return last.content.map((block) => block.text ?? "").join("");
  });
}

serve(run, ["anthropic"], ALL.filter((need) => need !== "switch-format"));
