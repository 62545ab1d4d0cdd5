// Conversations to begin with.

const call = (id, harbour) => ({ type: "tool_use", id, name: "find_ferry", input: { harbour } });
const tools = [
  {
    name: "find_ferry",
    description: "The next ferry from a harbour.",
    input_schema: { type: "object", properties: { harbour: { type: "string" } }, required: ["harbour"] },
  },
];

export const EXAMPLES = {
  "a call without its result (Anthropic)": {
    model: "claude-sonnet-4-5",
    max_tokens: 1024,
    tools,
    messages: [
      { role: "user", content: "When do the ferries leave from Husum and Dagebüll?" },
      { role: "assistant", content: [{ type: "text", text: "Let me look." }, call("toolu_husum", "Husum"), call("toolu_dagebuell", "Dagebüll")] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_husum", content: "at 9:40" }] },
    ],
  },
  "arguments that don't fit (OpenAI Chat)": {
    model: "gpt-4.1",
    tools: [{ type: "function", function: { name: "find_ferry", parameters: tools[0].input_schema } }],
    messages: [
      { role: "user", content: "When does the ferry leave from Husum?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "find_ferry", arguments: '{"harbor": "Husum"}' } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "at 9:40" },
      { role: "tool", tool_call_id: "call_2", content: "at 10:15" },
    ],
  },
  "nothing wrong (Gemini)": {
    contents: [
      { role: "user", parts: [{ text: "When does the ferry leave from Husum?" }] },
      { role: "model", parts: [{ functionCall: { name: "find_ferry", args: { harbour: "Husum" } } }] },
      { role: "user", parts: [{ functionResponse: { name: "find_ferry", response: { time: "9:40" } } }] },
    ],
  },
};
