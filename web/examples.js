// Conversations to begin with, by situation. `finds` is what the page has to say of it, which a test checks.

const schema = { type: "object", properties: { harbour: { type: "string" } }, required: ["harbour"] };
const use = (id, harbour) => ({ type: "tool_use", id, name: "find_ferry", input: { harbour } });
const result = (id, content) => ({ type: "tool_result", tool_use_id: id, content });
const call = (id, args) => ({ id, type: "function", function: { name: "find_ferry", arguments: args } });
const anthropic = (...messages) => ({
  model: "claude-sonnet-4-5",
  max_tokens: 1024,
  tools: [{ name: "find_ferry", description: "The next ferry from a harbour.", input_schema: schema }],
  messages,
});
const openai = (...messages) => ({ model: "gpt-4.1", tools: [{ type: "function", function: { name: "find_ferry", parameters: schema } }], messages });
const asked = { role: "user", content: "When do the ferries leave from Husum and Dagebüll?" };
const calling = (...calls) => ({ role: "assistant", content: null, tool_calls: calls });
const answer = (id, content) => ({ role: "tool", tool_call_id: id, content });
const text = (value) => `${JSON.stringify(value, null, 2)}\n`;

const unanswered = anthropic(
  asked,
  { role: "assistant", content: [{ type: "text", text: "Let me look." }, use("toolu_husum", "Husum"), use("toolu_dagebuell", "Dagebüll")] },
  { role: "user", content: [result("toolu_husum", "at 9:40")] },
);
const whole = openai(asked, calling(call("call_1", '{"harbour": "Husum"}'), call("call_2", '{"harbour": "Dagebüll"}')), answer("call_1", "at 9:40"), answer("call_2", "at 10:15"));

/** For each situation, its examples: what of the page's state each of them sets. */
export const EXAMPLES = {
  "The API refuses a request": {
    "a call without its result (Anthropic)": { body: text(unanswered), finds: "unanswered-tool-call" },
    "a result without its call (OpenAI Chat)": {
      body: text(openai(asked, calling(call("call_1", '{"harbour": "Husum"}')), answer("call_1", "at 9:40"), answer("call_2", "at 10:15"))),
      finds: "orphan-tool-result",
    },
    "a text before the results (Anthropic)": {
      body: text(anthropic(asked, { role: "assistant", content: [use("toolu_husum", "Husum")] }, { role: "user", content: [{ type: "text", text: "Here it is:" }, result("toolu_husum", "at 9:40")] })),
      finds: "only a warning: some report a 400",
    },
    "an error message, and the request that it is about": {
      body: text(unanswered),
      error: "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_dagebuell. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
      tab: "explain",
      finds: "unanswered-tool-call",
    },
  },
  "A model made a mistake": {
    "arguments that don't fit the schema": {
      body: text(openai(asked, calling(call("call_1", '{"harbor": "Husum"}')), answer("call_1", "at 9:40"))),
      finds: "arguments-schema-mismatch",
    },
    "arguments that were cut off": {
      body: text(openai(asked, calling(call("call_1", '{"harbour": "Hus')), answer("call_1", "the arguments are no JSON"))),
      finds: "invalid-arguments-json",
    },
    "a tool that there isn't": {
      body: text(anthropic(asked, { role: "assistant", content: [{ ...use("toolu_husum", "Husum"), name: "find_train" }] }, { role: "user", content: [result("toolu_husum", "at 9:40")] })),
      finds: "unknown-tool",
    },
  },
  "Another API": {
    "a history of OpenAI, sent to a model of Mistral": { body: text({ ...whole, model: "voxtral-small-latest" }), target: "mistral", finds: "malformed-tool-call-id" },
    "what a gateway lost on the way": {
      body: text(whole),
      after: text({ ...unanswered, messages: unanswered.messages.slice(0, 2) }),
      tab: "compare",
    },
  },
  "A log or a data set": {
    "JSON Lines, one request on each": {
      body: [whole, openai(asked, calling(call("call_1", '{"harbour": "Husum"}'))), openai(asked)].map((one) => JSON.stringify(one)).join("\n"),
      finds: "unanswered-tool-call",
    },
    "a line of a data set": {
      body: `${JSON.stringify({ messages: [asked, calling(call("call_1", '{"harbour": "Husum"}'), call("call_1", '{"harbour": "Dagebüll"}')), answer("call_1", "at 9:40")] })}\n`,
      kind: "dataset",
      finds: "duplicate-tool-call-id",
    },
  },
  "Nothing is wrong": {
    "two calls and their results (OpenAI Chat)": { body: text(whole) },
    "a call and its result (Gemini)": {
      body: text({
        contents: [
          { role: "user", parts: [{ text: "When does the ferry leave from Husum?" }] },
          { role: "model", parts: [{ functionCall: { name: "find_ferry", args: { harbour: "Husum" } } }] },
          { role: "user", parts: [{ functionResponse: { name: "find_ferry", response: { time: "9:40" } } }] },
        ],
      }),
    },
  },
};
