// The official SDKs for JavaScript, as `check.py` holds those for Python against `toolcheck serve`: NAME URL.
// Each step is a line on the standard output: what was found, what was expected, and whether all else is right.

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { GoogleGenAI } from "@google/genai";
import { Mistral } from "@mistralai/mistralai";
import OpenAI from "openai";

const [, , name, url] = process.argv;
const SCHEMA = {
  type: "object",
  properties: { harbour: { type: "string" }, note: { type: "string" } },
  required: ["harbour"],
};
const CALLS = [
  ["tides", { harbour: "Cuxhaven", note: 'ü"\\' }],
  ["tides", { harbour: "Husum" }],
];
const FIRST = ["Let me see.", CALLS];
const SECOND = ["Low at six.", []];
const ASKED = "When is low tide?";
const asked = [];
const tides = ({ harbour }) => {
  asked.push(harbour);
  return "6:00";
};
const ran = () => JSON.stringify(asked.splice(0).sort()) === '["Cuxhaven","Husum"]';
const step = (found, expected, isRight) => process.stdout.write(JSON.stringify([found, expected, Boolean(isRight)]) + "\n");

// What must be refused with this status and these words.
async function refused(ask, status, words) {
  try {
    await ask();
    step("no error", null, false);
  } catch (error) {
    step(error.status, status, error.message.includes(words));
  }
}

async function anthropic() {
  const client = new Anthropic({ apiKey: "x", baseURL: url, maxRetries: 0 });
  const tools = [{ name: "tides", description: "Tides.", input_schema: SCHEMA }];
  const common = { model: "claude-opus-4-8", max_tokens: 64, tools };
  const read = ({ content }) => [
    content.map((part) => part.text ?? "").join(""),
    content.filter((part) => part.type === "tool_use").map((part) => [part.name, part.input]),
  ];
  const ways = [
    (messages) => client.messages.create({ ...common, messages }),
    (messages) => client.messages.stream({ ...common, messages }).finalMessage(),
  ];
  for (const ask of ways) {
    const said = [{ role: "user", content: ASKED }];
    const first = await ask(said);
    step(read(first), FIRST, first.stop_reason === "tool_use");
    const calls = first.content.filter((part) => part.type === "tool_use");
    const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "6:00" }));
    const answered = (content) => [...said, { role: "assistant", content: first.content }, { role: "user", content }];
    const second = await ask(answered(results));
    step(read(second), SECOND, second.stop_reason === "end_turn");
    await refused(() => ask(answered(results.slice(1))), 400, "`tool_use` ids were found");
  }
  for (const stream of [false, true]) {
    const runner = client.beta.messages.toolRunner({
      model: "claude-opus-4-8",
      max_tokens: 64,
      tools: [betaTool({ name: "tides", description: "Tides.", inputSchema: SCHEMA, run: tides })],
      messages: [{ role: "user", content: ASKED }],
      stream,
    });
    step((await runner.runUntilDone()).content[0].text, "Low at six.", ran());
  }
}

async function openai_chat() {
  const client = new OpenAI({ apiKey: "x", baseURL: `${url}/v1`, maxRetries: 0 });
  const own = { name: "tides", description: "Tides.", parameters: SCHEMA };
  const common = { model: "gpt-4o", tools: [{ type: "function", function: own }] };
  const read = ({ content, tool_calls }) => [
    content ?? "",
    (tool_calls ?? []).map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
  ];
  const ways = [
    async (messages) => (await client.chat.completions.create({ ...common, messages })).choices[0],
    async (messages) => (await client.chat.completions.stream({ ...common, messages }).finalChatCompletion()).choices[0],
  ];
  for (const ask of ways) {
    const said = [{ role: "user", content: ASKED }];
    const { message, finish_reason } = await ask(said);
    step(read(message), FIRST, finish_reason === "tool_calls");
    const calls = message.tool_calls.map(({ id, type, function: called }) => ({
      id,
      type,
      function: { name: called.name, arguments: called.arguments },
    }));
    const results = calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "6:00" }));
    const turn = { role: "assistant", content: message.content, tool_calls: calls };
    const second = await ask([...said, turn, ...results]);
    step(read(second.message), SECOND, second.finish_reason === "stop");
    await refused(() => ask([...said, turn, results[0]]), 400, "must be followed by tool messages");
  }
  for (const stream of [false, true]) {
    const tools = [{ type: "function", function: { ...own, parse: JSON.parse, function: tides } }];
    const messages = [{ role: "user", content: ASKED }];
    const runner = client.chat.completions.runTools({ model: "gpt-4o", messages, tools, stream });
    step(await runner.finalContent(), "Low at six.", ran());
  }
}

async function openai_responses() {
  const client = new OpenAI({ apiKey: "x", baseURL: `${url}/v1`, maxRetries: 0 });
  const tools = [{ type: "function", name: "tides", parameters: SCHEMA, strict: false }];
  const common = { model: "gpt-4o", tools };
  const read = ({ output, output_text }) => [
    output_text,
    output.filter((item) => item.type === "function_call").map((item) => [item.name, JSON.parse(item.arguments)]),
  ];
  const ways = [
    (body) => client.responses.create({ ...common, ...body }),
    (body) => client.responses.stream({ ...common, ...body }).finalResponse(),
  ];
  let last;
  for (const ask of ways) {
    const first = await ask({ input: ASKED });
    step(read(first), FIRST, first.status === "completed");
    const calls = first.output.filter((item) => item.type === "function_call");
    const results = calls.map((call) => ({ type: "function_call_output", call_id: call.call_id, output: "6:00" }));
    const second = await ask({ input: results, previous_response_id: first.id });
    step(read(second), SECOND, second.previous_response_id === first.id);
    await refused(() => ask({ input: results.slice(1), previous_response_id: first.id }), 400, "No tool output found");
    last = second;
  }
  const again = await client.responses.retrieve(last.id);
  step(again.output_text, "Low at six.", again.id === last.id);
}

async function google() {
  const client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: url } });
  const config = { tools: [{ functionDeclarations: [{ name: "tides", parametersJsonSchema: SCHEMA }] }] };
  const model = "gemini-2.5-flash";
  const ways = [
    async (contents) => [await client.models.generateContent({ model, contents, config })],
    async (contents) => Array.fromAsync(await client.models.generateContentStream({ model, contents, config })),
  ];
  const parts = (chunks) => chunks.flatMap((chunk) => chunk.candidates[0].content.parts ?? []);
  const read = (chunks) => [
    parts(chunks).map((part) => part.text ?? "").join(""),
    parts(chunks).filter((part) => part.functionCall).map(({ functionCall }) => [functionCall.name, functionCall.args]),
  ];
  for (const ask of ways) {
    const said = [{ role: "user", parts: [{ text: ASKED }] }];
    const first = await ask(said);
    step(read(first), FIRST, first.at(-1).candidates[0].finishReason === "STOP");
    const result = { functionResponse: { name: "tides", response: { output: "6:00" } } };
    const answered = (results) => [...said, { role: "model", parts: parts(first) }, { role: "user", parts: results }];
    step(read(await ask(answered([result, result]))), SECOND, true);
    await refused(() => ask(answered([result])), 400, "number of function response parts");
  }
  const callable = {
    tool: async () => config.tools[0],
    callTool: async (calls) =>
      calls.map((call) => ({ functionResponse: { id: call.id, name: call.name, response: { output: tides(call.args) } } })),
  };
  const response = await client.models.generateContent({ model, contents: ASKED, config: { tools: [callable] } });
  step(response.text, "Low at six.", ran());
}

async function mistral() {
  const { conversations } = new Mistral({ apiKey: "x", serverURL: url }).beta;
  const tools = [{ type: "function", function: { name: "tides", parameters: SCHEMA } }];
  const whole = (response) => [
    response.conversationId,
    response.outputs.map((entry) => entry.content ?? "").join(""),
    response.outputs.filter((entry) => entry.type === "function.call"),
  ];
  const streamed = async (stream) => {
    const events = (await Array.fromAsync(stream)).map((event) => event.data);
    const calls = events.filter((event) => event.type === "function.call.delta");
    const text = (id) => calls.filter((call) => call.toolCallId === id).map((call) => call.arguments).join("");
    const first = calls.filter((call, at) => calls.findIndex((other) => other.toolCallId === call.toolCallId) === at);
    const said = events.filter((event) => event.type === "message.output.delta").map((event) => event.content);
    return [events[0].conversationId, said.join(""), first.map((call) => ({ ...call, arguments: text(call.toolCallId) }))];
  };
  const ways = [
    [async (request) => whole(await conversations.start(request)), async (request) => whole(await conversations.append(request))],
    [
      async (request) => streamed(await conversations.startStream(request)),
      async (request) => streamed(await conversations.appendStream(request)),
    ],
  ];
  for (const [start, append] of ways) {
    const [conversationId, said, calls] = await start({ model: "mistral-small-latest", inputs: ASKED, tools });
    step([said, calls.map((call) => [call.name, JSON.parse(call.arguments)])], FIRST, true);
    const results = calls.map(({ toolCallId }) => ({ type: "function.result", toolCallId, result: "6:00" }));
    try {
      await append({ conversationId, conversationAppendRequest: { inputs: "Hello?" }, conversationAppendStreamRequest: { inputs: "Hello?" } });
      step("no error", null, false);
    } catch (error) {
      step(error.statusCode, 400, error.body.includes("function results are still missing"));
    }
    const request = { inputs: results };
    const second = await append({ conversationId, conversationAppendRequest: request, conversationAppendStreamRequest: request });
    step([second[1], second[2]], SECOND, second[0] === conversationId);
    const { entries } = await conversations.getHistory({ conversationId });
    step(entries.length, 7, true);
  }
}

await { anthropic, openai_chat, openai_responses, google, mistral }[name]();
