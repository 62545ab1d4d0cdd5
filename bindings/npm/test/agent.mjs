// An agent loop for Anthropic's API, as a test would have one, with mistakes to choose.

export const TOOLS = [
  {
    name: "tides",
    description: "When low tide is.",
    input_schema: { type: "object", properties: { harbour: { type: "string" } } },
  },
];

export async function ask(messages, url = process.env.ANTHROPIC_BASE_URL) {
  const body = { model: "claude-opus-4-8", max_tokens: 64, tools: TOOLS, messages };
  const headers = { "content-type": "application/json", "x-api-key": "x" };
  const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(body) });
  const said = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${said.error.message}`);
  return said;
}

/** Runs until the model is done; returns what it says. */
export async function run(mistake, url) {
  const messages = [{ role: "user", content: "When is low tide?" }];
  for (;;) {
    let said = (await ask(messages, url)).content;
    let calls = said.filter((part) => part.type === "tool_use");
    if (!calls.length) return said.map((part) => part.text).join("");
    if (mistake === "drops a result") calls = calls.slice(0, -1);
    if (mistake === "changes arguments") {
      said = said.map((part) => (part.type === "tool_use" ? { ...part, input: { harbour: "Husum" } } : part));
    }
    messages.push({ role: "assistant", content: said });
    const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "6:00" }));
    messages.push({ role: "user", content: results.length ? results : "Go on." });
  }
}
