// langchain for JavaScript: `createAgent` with a thread that is kept by a checkpointer.

import { ChatAnthropic } from "@langchain/anthropic";
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { ChatBedrockConverse } from "@langchain/aws";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { MemorySaver } from "@langchain/langgraph";
import { ChatMistralAI } from "@langchain/mistralai";
import { ChatOllama } from "@langchain/ollama";
import { ChatOpenAI } from "@langchain/openai";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { createAgent, modelCallLimitMiddleware, tool } from "langchain";
import { ALL, PNG, serve, talk } from "./common.mjs";

process.env.LANGSMITH_TRACING = "false";
const openai = (url, useResponsesApi) =>
  new ChatOpenAI({
    model: useResponsesApi ? "gpt-5.4" : "gpt-4o",
    apiKey: "x",
    useResponsesApi,
    configuration: { baseURL: `${url}/v1` },
  });
const MODELS = {
  anthropic: (url) => new ChatAnthropic({ model: "claude-opus-4-8", apiKey: "x", anthropicApiUrl: url }),
  "openai-chat": (url) => openai(url, false),
  "openai-responses": (url) => openai(url, true),
  gemini: (url) => new ChatGoogleGenerativeAI({ model: "gemini-2.5-pro", apiKey: "x", baseUrl: url }),
  "bedrock-converse": (url) =>
    new ChatBedrockConverse({
      model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      region: "us-east-1",
      // Its own takes no address over `http`, and speaks HTTP/2.
      client: new BedrockRuntimeClient({
        region: "us-east-1",
        endpoint: url,
        credentials: { accessKeyId: "x", secretAccessKey: "x" },
        requestHandler: new NodeHttpHandler(),
      }),
    }),
  mistral: (url) => new ChatMistralAI({ model: "mistral-large-latest", apiKey: "x", serverURL: url }),
  ollama: (url) => new ChatOllama({ model: "llama3.1", baseUrl: url }),
};
const picture = [{ type: "image", mimeType: "image/png", data: PNG }];

function run(task) {
  const checkpointer = new MemorySaver();
  return talk(task, async (message) => {
    const tools = message.tools.map(({ name, description, input, run }) =>
      tool(name === "image" ? () => picture : run, { name, description, schema: input }),
    );
    const middleware = message.limit ? [modelCallLimitMiddleware({ runLimit: message.limit })] : [];
    const model = MODELS[message.format](task.base_url);
    const agent = createAgent({ model, tools, checkpointer, middleware });
    const said = { messages: [{ role: "user", content: message.text }] };
    let configurable = { thread_id: "1" };
    if (message.fork) {
      // The newest come first.
      for await (const past of agent.getStateHistory({ configurable })) {
        if (past.values.messages?.at(-1)?.type !== "tool") continue;
        configurable = past.config.configurable;
        break;
      }
    }
    const options = { configurable, signal: message.signal };
    let state;
    if (!task.stream) state = await agent.invoke(said, options);
    else {
      // With the option `streaming` of a model, it counts tokens with a table that it fetches.
      for await (const [mode, value] of await agent.stream(said, { ...options, streamMode: ["messages", "values"] })) {
        if (mode === "values") state = value;
      }
    }
    return state.messages.at(-1).text;
  });
}

serve(run, Object.keys(MODELS), ALL, ["mistral", "ollama"]);
