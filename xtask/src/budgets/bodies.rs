//! Requests with invented content, in the shape in which clients send them: a few messages, one or two tools, and settings
//! that some clients send and others don't.

use serde_json::{Map, Value as Json, json};

/// Numbers that look random, the same in each run.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    /// Whether something happens that happens so many times in a hundred.
    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub(super) fn text(&mut self, words: usize) -> String {
        let all: Vec<&str> = WORDS.split(' ').collect();
        let words: Vec<&str> = (0..words.max(1)).map(|_| self.one_of(&all)).collect();
        format!("{}.", words.join(" "))
    }
}

const WORDS: &str = "the harbour opens before noon and a ferry leaves with forty bicycles while rain falls over Büsum nobody \
    asks for tickets again today \"quoted\" tide\n €12 in room seven they wait until evening comes";

struct Call {
    number: usize,
    tool: usize,
    arguments: Json,
    result: String,
}

impl Call {
    /// Its id, with the prefix that an API gives its ids.
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}{:024x}", self.number as u64 * 0x1_0001)
    }

    fn name(&self) -> &'static str {
        TOOLS[self.tool].0
    }
}

struct Turn {
    user: String,
    calls: Vec<Call>,
    answer: Option<String>,
}

/// A conversation that no format has yet.
struct Talk {
    system: Option<String>,
    turns: Vec<Turn>,
    tools: Vec<usize>,
}

/// The tools: a name, and its argument.
const TOOLS: &[(&str, &str)] = &[
    ("tide_times", "harbour"),
    ("book_ferry", "route"),
    ("get_weather", "city"),
    ("final_result", "summary"),
];

fn talk(random: &mut Random, number: usize) -> Talk {
    let mut tools = vec![random.below(TOOLS.len())];
    if random.percent(40) {
        tools.push((tools[0] + 1) % TOOLS.len());
    }
    let turns = (0..1 + random.below(2)).map(|turn| {
        let calls = (0..random.one_of(&[0, 1, 1, 1, 2])).map(|call| Call {
            number: number * 64 + turn * 8 + call,
            tool: tools[call % tools.len()],
            arguments: json!({TOOLS[tools[call % tools.len()]].1: random.text(2), "count": random.below(90)}),
            result: random.text(14),
        });
        let calls = calls.collect();
        Turn { user: random.text(16), calls, answer: None }
    });
    let mut turns: Vec<Turn> = turns.collect();
    let last = turns.len() - 1;
    for (place, turn) in turns.iter_mut().enumerate() {
        // A request ends with a message of the user or with results.
        turn.answer = (place < last).then(|| random.text(18));
        if place == last && random.percent(30) {
            turn.calls.clear();
        }
    }
    Talk { system: random.percent(60).then(|| random.text(40)), turns, tools }
}

/// The schema of a tool's arguments, in one of the ways in which clients write it.
fn schema(tool: usize, random: &mut Random) -> Json {
    let (_, argument) = TOOLS[tool];
    let mut schema = json!({
        "type": "object",
        "properties": {argument: {"type": "string", "description": "What it is about."}, "count": {"type": "integer"}},
        "required": [argument],
    });
    if random.percent(50) {
        schema["additionalProperties"] = json!(false);
    }
    if random.percent(20) {
        schema["properties"]["count"] =
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null});
    }
    schema
}

/// Adds a setting that so many clients in a hundred send.
fn maybe(body: &mut Json, random: &mut Random, chance: usize, key: &str, value: Json) {
    if random.percent(chance) {
        body[key] = value;
    }
}

/// The keys of a body in one of three orders: each client has its own.
fn shuffled(body: Json, random: &mut Random) -> Json {
    let Json::Object(members) = body else { return body };
    let mut members: Vec<(String, Json)> = members.into_iter().collect();
    match random.below(3) {
        0 => {}
        1 => members.reverse(),
        _ => members.sort_by(|(one, _), (other, _)| one.cmp(other)),
    }
    Json::Object(members.into_iter().collect::<Map<_, _>>())
}

/// How a format writes a conversation.
pub(super) struct Bodies {
    pub(super) format: &'static str,
    write: fn(&Talk, &mut Random) -> Json,
}

impl Bodies {
    /// One request per line, of about so many bytes together.
    pub(super) fn lines(&self, bytes: usize) -> String {
        let (mut lines, mut random) = (String::new(), Random::new(self.format.len() as u64 + 11));
        for number in 0.. {
            if lines.len() >= bytes {
                break;
            }
            let body = (self.write)(&talk(&mut random, number), &mut random);
            lines += &format!("{}\n", shuffled(body, &mut random));
        }
        lines
    }
}

/// The wire formats, with the settings that their clients send.
pub(super) static ALL: &[Bodies] = &[
    Bodies { format: "anthropic", write: anthropic },
    Bodies { format: "bedrock-converse", write: converse },
    Bodies { format: "cohere", write: cohere },
    Bodies { format: "gemini", write: gemini },
    Bodies { format: "mistral", write: mistral },
    Bodies { format: "ollama", write: ollama },
    Bodies { format: "openai-chat", write: openai_chat },
    Bodies { format: "openai-responses", write: openai_responses },
];

fn anthropic(talk: &Talk, random: &mut Random) -> Json {
    let mut messages = Vec::new();
    for turn in &talk.turns {
        let is_text = random.percent(50);
        let text = json!([{"type": "text", "text": turn.user}]);
        messages.push(json!({"role": "user", "content": if is_text { json!(turn.user) } else { text }}));
        if !turn.calls.is_empty() {
            let call = |call: &Call| json!({"type": "tool_use", "id": call.id("toolu_"), "name": call.name(), "input": call.arguments});
            let mut blocks: Vec<Json> = turn.calls.iter().map(call).collect();
            if random.percent(40) {
                blocks.insert(0, json!({"type": "text", "text": random.text(8)}));
            }
            messages.push(json!({"role": "assistant", "content": blocks}));
            let result = |call: &Call| json!({"type": "tool_result", "tool_use_id": call.id("toolu_"), "content": [{"type": "text", "text": call.result}], "is_error": false});
            messages
                .push(json!({"role": "user", "content": turn.calls.iter().map(result).collect::<Vec<_>>()}));
        }
        messages.extend(
            turn.answer
                .iter()
                .map(|text| json!({"role": "assistant", "content": [{"type": "text", "text": text}]})),
        );
    }
    let mut body = json!({"model": "claude-sonnet-4-5", "max_tokens": 4096, "messages": messages});
    body["tools"] = talk.tools.iter().map(|tool| json!({"name": TOOLS[*tool].0, "description": "Looks it up.", "input_schema": schema(*tool, random)})).collect();
    if let Some(system) = &talk.system {
        body["system"] = if random.percent(50) {
            json!(system)
        } else {
            json!([{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}])
        };
    }
    maybe(&mut body, random, 55, "stream", json!(true));
    maybe(&mut body, random, 25, "tool_choice", json!({"type": "auto"}));
    maybe(&mut body, random, 9, "thinking", json!({"type": "disabled"}));
    maybe(&mut body, random, 9, "stop_sequences", json!(["END"]));
    body
}

fn converse(talk: &Talk, random: &mut Random) -> Json {
    let mut messages = Vec::new();
    for turn in &talk.turns {
        messages.push(json!({"role": "user", "content": [{"text": turn.user}]}));
        if !turn.calls.is_empty() {
            let call = |call: &Call| json!({"toolUse": {"toolUseId": call.id("tooluse_"), "name": call.name(), "input": call.arguments}});
            messages.push(
                json!({"role": "assistant", "content": turn.calls.iter().map(call).collect::<Vec<_>>()}),
            );
            let result = |call: &Call| json!({"toolResult": {"toolUseId": call.id("tooluse_"), "content": [{"text": call.result}], "status": "success"}});
            messages
                .push(json!({"role": "user", "content": turn.calls.iter().map(result).collect::<Vec<_>>()}));
        }
        messages
            .extend(turn.answer.iter().map(|text| json!({"role": "assistant", "content": [{"text": text}]})));
    }
    let tools: Vec<Json> = talk.tools.iter().map(|tool| json!({"toolSpec": {"name": TOOLS[*tool].0, "description": "Looks it up.", "inputSchema": {"json": schema(*tool, random)}}})).collect();
    let mut body =
        json!({"messages": messages, "inferenceConfig": {"maxTokens": 4096}, "toolConfig": {"tools": tools}});
    if let Some(system) = &talk.system {
        body["system"] = json!([{"text": system}]);
    }
    body
}

fn cohere(talk: &Talk, random: &mut Random) -> Json {
    let mut body = chat_like(
        talk,
        random,
        &Chat { arguments_are_text: true, with_ids: true, prefix: "", in_parts: true },
    );
    // What the model says beside its calls has a place of its own.
    let messages = body["messages"].as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut);
    for message in messages.filter(|message| message.contains_key("tool_calls")) {
        if let Some(said) = message.remove("content") {
            message.insert("tool_plan".to_owned(), said);
        }
    }
    body["model"] = json!("command-a-03-2025");
    body["stream"] = json!(random.percent(50));
    body
}

fn gemini(talk: &Talk, random: &mut Random) -> Json {
    let mut contents = Vec::new();
    for turn in &talk.turns {
        contents.push(json!({"role": "user", "parts": [{"text": turn.user}]}));
        if !turn.calls.is_empty() {
            let call = |call: &Call| json!({"functionCall": {"name": call.name(), "args": call.arguments}});
            contents.push(json!({"role": "model", "parts": turn.calls.iter().map(call).collect::<Vec<_>>()}));
            let result = |call: &Call| json!({"functionResponse": {"name": call.name(), "response": {"output": call.result}}});
            contents
                .push(json!({"role": "user", "parts": turn.calls.iter().map(result).collect::<Vec<_>>()}));
        }
        contents.extend(turn.answer.iter().map(|text| json!({"role": "model", "parts": [{"text": text}]})));
    }
    let schema_of = |tool: usize| {
        let (_, argument) = TOOLS[tool];
        json!({"type": "OBJECT", "properties": {argument: {"type": "STRING"}, "count": {"type": "INTEGER"}}, "required": [argument]})
    };
    let tools: Vec<Json> = talk.tools.iter().map(|tool| json!({"name": TOOLS[*tool].0, "description": "Looks it up.", "parameters": schema_of(*tool)})).collect();
    let mut body = json!({"contents": contents, "tools": [{"functionDeclarations": tools}], "generationConfig": {"temperature": 0.2, "maxOutputTokens": 2048}});
    if let Some(system) = &talk.system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    maybe(&mut body, random, 60, "toolConfig", json!({"functionCallingConfig": {"mode": "AUTO"}}));
    maybe(
        &mut body,
        random,
        40,
        "safetySettings",
        json!([{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]),
    );
    body
}

fn ollama(talk: &Talk, random: &mut Random) -> Json {
    let mut body = chat_like(
        talk,
        random,
        &Chat { arguments_are_text: false, with_ids: false, prefix: "", in_parts: false },
    );
    body["model"] = json!("qwen3:8b");
    body["stream"] = json!(random.percent(50));
    body["options"] = json!({"temperature": 0.1, "num_ctx": 8192});
    maybe(&mut body, random, 90, "think", json!(false));
    body
}

fn mistral(talk: &Talk, random: &mut Random) -> Json {
    let mut body = chat_like(
        talk,
        random,
        &Chat { arguments_are_text: true, with_ids: true, prefix: "short", in_parts: false },
    );
    body["model"] = json!("mistral-medium-2508");
    maybe(&mut body, random, 50, "safe_prompt", json!(false));
    maybe(&mut body, random, 50, "random_seed", json!(7));
    maybe(&mut body, random, 40, "tool_choice", json!("any"));
    body
}

fn openai_chat(talk: &Talk, random: &mut Random) -> Json {
    let in_parts = random.percent(15);
    let mut body = chat_like(
        talk,
        random,
        &Chat { arguments_are_text: true, with_ids: true, prefix: "call_", in_parts },
    );
    body["model"] =
        json!(random.one_of(&["gpt-4o", "gpt-4.1-mini", "gpt-5", "llama-3.3-70b", "deepseek-chat"]));
    maybe(&mut body, random, 75, "stream", json!(true));
    if body["stream"] == true {
        maybe(&mut body, random, 80, "stream_options", json!({"include_usage": true}));
    }
    maybe(&mut body, random, 40, "parallel_tool_calls", json!(true));
    maybe(&mut body, random, 25, "service_tier", json!("default"));
    maybe(&mut body, random, 22, "tool_choice", json!("auto"));
    maybe(&mut body, random, 11, "max_tokens", json!(512));
    maybe(&mut body, random, 4, "temperature", json!(0.5));
    if body["model"] == "gpt-5" {
        body.as_object_mut().expect("it is an object").remove("temperature");
    }
    // Keys of compatible servers, which the API of the format does not know.
    maybe(&mut body, random, 2, "usage", json!({"include": true}));
    maybe(&mut body, random, 2, "thinking", json!({"type": "enabled"}));
    maybe(&mut body, random, 1, "enable_thinking", json!(true));
    maybe(&mut body, random, 1, "provider", json!({"order": ["one"]}));
    body
}

/// How a dialect of Chat Completions writes calls and texts.
struct Chat {
    arguments_are_text: bool,
    with_ids: bool,
    prefix: &'static str,
    in_parts: bool,
}

impl Chat {
    fn id(&self, call: &Call) -> String {
        // Mistral's ids have nine characters.
        if self.prefix == "short" { format!("c{:08}", call.number) } else { call.id(self.prefix) }
    }

    fn call(&self, call: &Call) -> Json {
        let arguments =
            if self.arguments_are_text { json!(call.arguments.to_string()) } else { call.arguments.clone() };
        let mut written = json!({"function": {"name": call.name(), "arguments": arguments}});
        if self.with_ids {
            written["id"] = json!(self.id(call));
            written["type"] = json!("function");
        }
        written
    }

    fn result(&self, call: &Call) -> Json {
        if self.with_ids {
            json!({"role": "tool", "tool_call_id": self.id(call), "content": call.result})
        } else {
            json!({"role": "tool", "tool_name": call.name(), "content": call.result})
        }
    }
}

fn chat_like(talk: &Talk, random: &mut Random, chat: &Chat) -> Json {
    let mut messages = Vec::new();
    messages.extend(talk.system.iter().map(|system| json!({"role": "system", "content": system})));
    for turn in &talk.turns {
        let parts = json!([{"type": "text", "text": turn.user}]);
        messages
            .push(json!({"role": "user", "content": if chat.in_parts { parts } else { json!(turn.user) }}));
        if !turn.calls.is_empty() {
            let calls: Vec<Json> = turn.calls.iter().map(|call| chat.call(call)).collect();
            let mut message = json!({"role": "assistant", "tool_calls": calls});
            match random.below(3) {
                0 if chat.with_ids => message["content"] = Json::Null,
                1 => message["content"] = json!(random.text(8)),
                _ => message["content"] = json!(random.text(3)),
            }
            messages.push(message);
            messages.extend(turn.calls.iter().map(|call| chat.result(call)));
        }
        messages.extend(turn.answer.iter().map(|text| json!({"role": "assistant", "content": text})));
    }
    let tools: Vec<Json> = talk.tools.iter().map(|tool| json!({"type": "function", "function": {"name": TOOLS[*tool].0, "description": "Looks it up.", "parameters": schema(*tool, random)}})).collect();
    json!({"messages": messages, "tools": tools})
}

fn openai_responses(talk: &Talk, random: &mut Random) -> Json {
    let mut input = Vec::new();
    for turn in &talk.turns {
        let parts = json!([{"type": "input_text", "text": turn.user}]);
        input.push(
            json!({"role": "user", "content": if random.percent(50) { parts } else { json!(turn.user) }}),
        );
        for call in &turn.calls {
            input.push(json!({"type": "function_call", "call_id": call.id("call_"), "name": call.name(), "arguments": call.arguments.to_string()}));
        }
        for call in &turn.calls {
            input.push(
                json!({"type": "function_call_output", "call_id": call.id("call_"), "output": call.result}),
            );
        }
        input.extend(turn.answer.iter().map(|text| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}]})));
    }
    let tools: Vec<Json> = talk.tools.iter().map(|tool| {
        let mut schema = schema(*tool, random);
        schema["additionalProperties"] = json!(false);
        schema["required"] = json!([TOOLS[*tool].1, "count"]);
        json!({"type": "function", "name": TOOLS[*tool].0, "description": "Looks it up.", "parameters": schema, "strict": true})
    }).collect();
    let mut body = json!({"model": "gpt-5.1", "input": input, "tools": tools});
    if let Some(system) = &talk.system {
        body["instructions"] = json!(system);
    }
    maybe(&mut body, random, 70, "stream", json!(true));
    maybe(&mut body, random, 60, "store", json!(false));
    maybe(&mut body, random, 60, "include", json!(["reasoning.encrypted_content"]));
    maybe(&mut body, random, 20, "tool_choice", json!("auto"));
    maybe(&mut body, random, 10, "max_output_tokens", json!(2048));
    maybe(&mut body, random, 5, "parallel_tool_calls", json!(true));
    body
}
