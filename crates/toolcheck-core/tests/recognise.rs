//! Errors as people paste them: whole, wrapped, cut short, quoted and marked up.

use std::time::{Duration, Instant};

use toolcheck_core::recognise::{Likeness, Recognised, recognise};

const ANTHROPIC: &str = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01AbC. Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
const OPENAI: &str = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_abc";

fn rule(error: &str) -> Option<String> {
    recognise(error).first().map(|found| found.refusal.rule.to_string())
}

fn best(error: &str) -> Recognised {
    recognise(error).into_iter().next().unwrap_or_else(|| panic!("not recognised: {error}"))
}

fn capture(error: &str, name: &str) -> String {
    let found = best(error);
    let value = found.captures.iter().find(|(known, _)| known == name);
    value
        .map(|(_, value)| value.clone())
        .unwrap_or_else(|| panic!("no {name} in {error}: {:?}", found.captures))
}

#[test]
fn as_people_paste_them() {
    let forms: &[(&str, &[&str])] = &[
        (
            "unanswered-tool-call",
            &[
                ANTHROPIC,
                // Cut short: in a title, by a terminal, by hand.
                "litellm.BadRequestError: ... messages.2: tool_use ids were found without tool_result ...",
                "messages.2: `tool_use` ids were found without ...",
                "400 messages.2: tool_use ids were found without tool_result blocks",
                "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after",
                "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after:",
                "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A",
                "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A…",
                "BadRequestError: messages.14: `tool_use` ids were found without `tool_res...",
                "BadRequestError: messages.14: `tool_use` ids were found without `tool_result` bl…",
                "anthropic.BadRequestError: Error code: 400 - {'type': 'error', 'error': {'type': 'invalid_request_error', 'message': 'messages.14: `tool_use` ids were found without `tool_result` blocks'}}",
                "[BUG] API Error 400: \"messages.1: tool_use ids were found without tool_result blocks\" after pressing Esc",
                "It says messages.5: `tool_use` ids were found without `tool_result` blocks immediately after something, help?",
                "> messages.9: \\`tool_use\\` ids were found without \\`tool_result\\` blocks\n\nDoes anybody know?",
                "**messages.9: `tool_use` ids were found without `tool_result` blocks**",
                "(messages.9: `tool_use` ids were found without `tool_result` blocks)",
                "messages.N: tool_use ids were found without tool_result blocks",
                "tool_use ids were found without tool_result blocks immediately after",
                "`tool_use` ids were found without `tool_result` blocks",
                "API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.2: `tool_use` ids were found without `tool_result` blocks immed",
                "messages.2: tool_use ids were found without tool_result\n  blocks immediately after: toolu_01A",
                // Wrapped.
                "litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01AbC. Each `tool_use` block must have a corresponding `tool_result` block in the next message.\"}}",
                "b'{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01AbC.\"}}'",
                // Claude Code's own words.
                "API Error: 400 due to tool use concurrency issues.",
                "API Error: 400 due to tool use concurrency issues. Run /rewind to recover the conversation.",
                "  ⎿  API Error: 400 due to tool use concurrency issues",
                OPENAI,
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
                "An assistant message with \"tool_calls\" must be followed by tool messages responding to each...",
                "openai.BadRequestError: Error code: 400 - {'error': {'message': \"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_abc\", 'type': 'invalid_request_error', 'param': 'messages.[3].role', 'code': None}}",
                "BadRequestError: An assistant message with 'tool_calls' must be followed by to…",
                "Error: 400 An assistant message with ‘tool_calls’ must be followed by tool messages responding to",
                "No tool output found for function call call_abc.",
                "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_a",
                "ValidationException: Expected toolResult blocks at messages.2.content for the following…",
            ],
        ),
        (
            "orphan-tool-result",
            &[
                "messages.4.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
                "messages.4.content.1: unexpected `tool_use_id` found in `tool_result` blocks",
                "messages.0.content.1: unexpected tool_use_id found in tool_result bl...",
                "unexpected `tool_use_id` found in `tool_result` blocks: toolu_9",
                "No tool call found for function call output with call_id call_7.",
                "No tool call found for function call output with call_id",
                "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding",
            ],
        ),
        (
            "missing-reasoning",
            &[
                "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
                "messages.1: Expected `thinking` ..., but found `tool_use`",
                "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
                "Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
            ],
        ),
        (
            "missing-field",
            &[
                "Missing required parameter: 'messages[1].tool_calls[0].type'",
                "Missing required parameter: 'messages[1].tool_calls[0].type'.",
                "{\"error\": {\"message\": \"Missing required parameter: 'tools[0].function'.\", \"type\": \"invalid_request_error\"}}",
            ],
        ),
        (
            "invalid-tool-schema",
            &[
                "Invalid schema for function 'f': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.",
                "Invalid schema for function 'f': ...",
                "Invalid schema for function 'f'",
                "tools.0.custom.input_schema.type: Field required",
                "AnthropicException - tools.11.custom.input_schema.type: Field required",
            ],
        ),
        (
            "malformed-text-call",
            &[
                "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
                "GroqException - {\"error\":{\"message\":\"Failed to call a \nfunction. Please adjust your prompt. See 'failed_generation' for more \ndetails.\"}}",
                "Failed to call a function. Please adjust your prompt.",
            ],
        ),
        (
            "duplicate-tool-call-id",
            &[
                "API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.63.content.1: `tool_use` ids must be unique\"}}",
                "messages.63.content.1: tool_use ids must be unique",
            ],
        ),
    ];
    let mut missed = Vec::new();
    for (wanted, errors) in forms {
        for error in *errors {
            let found = rule(error);
            if found.as_deref() != Some(wanted) {
                missed.push(format!("{wanted}, found {found:?}: {error}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn only_a_beginning_is_probable() {
    assert_eq!(best(ANTHROPIC).likeness, Likeness::Whole);
    assert_eq!(best(OPENAI).likeness, Likeness::Whole);
    assert_eq!(best("messages.2: `tool_use` ids were found without ...").likeness, Likeness::Beginning);
    assert_eq!(best("unexpected `tool_use_id` found in `tool_result` blo…").likeness, Likeness::Beginning);
}

#[test]
fn what_only_begins_alike_is_something_else() {
    let others = [
        "messages.2: something else is wrong with this message",
        "messages.2: `tool_use`",
        "Missing required parameter: 'model'.",
        "Missing required parameter: 'temperature' in the request that was sent",
        "An assistant message with a picture was refused by the content filter of this deployment.",
        "tools.0.custom.name: String should match pattern",
        "No tool was selected.",
        "I am asking about tool calls in general",
        "Invalid value: 'image'. Supported values are others.",
        "Failed to call the server",
        // Long titles of several errors.
        "Failed to deserialize the JSON body into the target type: messages[4].content: the tide is too low",
        "Failed to deserialize the JSON body into the target type: messages[4].audio[0]: no such tide",
        "The model returned the following errors: Malformed input request: #/toolChoice: 2 schema violations found",
        "Unable to submit request because `dig` functionDeclaration is not deep enough.",
    ];
    for error in others {
        let found = recognise(error);
        let unexpected: Vec<_> = found
            .iter()
            .filter(|found| found.likeness == Likeness::Beginning)
            .map(|found| (&found.refusal.rule, &found.refusal.text))
            .collect();
        assert!(unexpected.is_empty(), "{error}: {unexpected:?}");
    }
}

#[test]
fn a_text_may_be_cut_anywhere() {
    for text in [ANTHROPIC, OPENAI] {
        for (end, _) in text.char_indices().skip(40) {
            for cut in [text[..end].to_owned(), format!("{}...", &text[..end]), format!("{}…", &text[..end])]
            {
                assert_eq!(rule(&cut).as_deref(), Some("unanswered-tool-call"), "{cut}");
                assert_eq!(rule(&cut.replace('`', "")).as_deref(), Some("unanswered-tool-call"), "{cut}");
            }
        }
    }
}

#[test]
fn names_lose_what_surrounds_them() {
    let after = |id: &str| format!("No tool call found for function call output with call_id {id}");
    for id in [
        "call_abc",
        "call_abc.",
        "`call_abc`.",
        "'call_abc',",
        "**call_abc**",
        "<code>call_abc</code>",
        "call_abc. Learn more in the docs.",
        "call_abc)",
        "call_abc\"}]",
        "call_abc\\n",
        "“call_abc”",
    ] {
        assert_eq!(capture(&after(id), "id"), "call_abc", "{id}");
    }
    assert_eq!(capture(&format!("{OPENAI}, call_def."), "ids"), "call_abc, call_def");
    assert_eq!(
        capture("Missing required parameter: 'messages[1].tool_calls[0].type'.", "field"),
        "tool_calls[0].type"
    );
    // What is in front of the text is no part of its path.
    let path = "messages.2.assistant.note";
    let text = format!("{path}: property '{path}' is unsupported");
    for error in [
        text.clone(),
        format!("{{\"message\":\"{text}\"}}"),
        format!("Error code: 400 - {{\n  'error': {{\n    'message': '{text}'\n  }}\n}}"),
    ] {
        assert_eq!(capture(&error, "tagged-path"), path, "{error}");
    }
    let error = "{'message': \"'clerk' is not one of ['system', 'assistant', 'user', 'function'] - 'messages.2.role' (request id: 1)\"}";
    assert_eq!(capture(error, "dotted-path"), "messages.2.role");
    assert_eq!(
        capture(
            "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1, toolu_2...",
            "ids"
        ),
        "toolu_1, toolu_2"
    );
    let error = "Unsupported value: 'reasoning_effort' does not support 'high' with this model. Supported values are: 'medium'. { \"error\": {} }";
    assert!(best(error).captures.iter().all(|(_, value)| !value.contains('{')), "{error}");
    let pattern = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
    for error in [pattern.to_owned(), format!("{{\"message\":\"{pattern}\"}}")] {
        for (name, value) in &best(&error).captures {
            let is_whole = value.matches('{').count() == value.matches('}').count();
            assert!(is_whole, "{name}: {value} in {error}");
        }
    }
}

/// A limit that only quadratic work exceeds.
const LONG: Duration = Duration::from_secs(20);

#[test]
fn long_texts_take_no_quadratic_time() {
    let head = "messages.2: `tool_use` ids were found without";
    let begin = Instant::now();
    for error in [
        format!("{head} ").repeat(100_000 / head.len()),
        "messages.2: ".repeat(9_000),
        "Expected `thinking` ... ".repeat(4_000),
        "Invalid schema for function '".repeat(4_000),
        "x".repeat(200_000),
        "\\n\"'`".repeat(20_000),
        format!("{head} `tool_result` blocks immediately after: {}", "toolu_1, ".repeat(11_000)),
    ] {
        let _ = recognise(&error);
    }
    assert!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
}

/// An error, the framework that raises it, the rule, and what is captured.
type Raised<'c> = (&'c str, &'c str, &'c str, &'c [(&'c str, &'c str)]);

/// Frameworks raise these without asking an API, in the forms in which logs and people have them.
#[test]
fn errors_of_frameworks() {
    let cases: &[Raised<'_>] = &[
        (
            "AI_MissingToolResultsError: Tool result is missing for tool call call_abc.",
            "ai-sdk",
            "unanswered-tool-call",
            &[("id", "call_abc")],
        ),
        (
            "Uncaught MissingToolResultsError: Tool results are missing for tool calls call_1, call_2.\n    at convert (index.mjs:1)",
            "ai-sdk",
            "unanswered-tool-call",
            &[("ids", "call_1, call_2")],
        ),
        (
            "MessageConversionError [AI_MessageConversionError]: ToolInvocation must have a result: {\"state\":\"call\",\"toolCallId\":\"call_a\"}",
            "ai-sdk",
            "unanswered-tool-call",
            &[],
        ),
        (
            "Error [AI_NoSuchToolError]: Model tried to call unavailable tool 'search'. Available tools: look_up, read.",
            "ai-sdk",
            "unknown-tool",
            &[("name", "search")],
        ),
        (
            "AI_InvalidToolInputError: Invalid input for tool todo: Type validation failed: Value: {\"todos\":\"[]\"}.\nError message: [{\"code\":\"invalid_type\"}]",
            "ai-sdk",
            "arguments-schema-mismatch",
            &[("name", "todo")],
        ),
        (
            "Model tried to call unavailable tool 'search'. No tools are available.",
            "ai-sdk",
            "missing-tool-definitions",
            &[("name", "search")],
        ),
        (
            "Invalid input for tool tides: JSON parsing failed: Text: {\"harbour\": .\nError message: Unexpected end of JSON input",
            "ai-sdk",
            "invalid-arguments-json",
            &[("name", "tides")],
        ),
        (
            "ValueError: Tool 'look_up' not found.\nAvailable tools: tides, read\n\nPossible causes:\n  1. LLM hallucinated the function name - review agent instruction clarity\n  2. Tool not registered",
            "google-adk",
            "unknown-tool",
            &[("name", "look_up")],
        ),
        (
            "ValueError: No function call event found for function responses ids: {'adk-1f0c'}",
            "google-adk",
            "orphan-tool-result",
            &[("ids", "adk-1f0c")],
        ),
        (
            "Error in event_generator: Function look_up is not found in the tools_dict.",
            "google-adk",
            "unknown-tool",
            &[("name", "look_up")],
        ),
        (
            "ValueError: Found AIMessages with tool_calls that do not have a corresponding ToolMessage. Here are the first few of those tool calls: [{'name': 'look_up', 'args': {}, 'id': 'call_a', 'type': 'tool_call'}].\n\nEvery tool call (LLM requesting to call a tool) in the message history MUST have a corresponding ToolMessage (result of a tool invocation to return to the LLM) - this is required by most LLM providers.\nFor troubleshooting, visit: https://example.com",
            "langgraph",
            "unanswered-tool-call",
            &[],
        ),
        (
            "Found AIMessages with tool_calls that do not have a corresponding ToolMessage",
            "langgraph",
            "unanswered-tool-call",
            &[],
        ),
        (
            "litellm.APIConnectionError: Missing corresponding tool call for tool response message.\nReceived - message={'role': 'tool', 'content': 'two rows', 'tool_call_id': 'call_b'}, last_message_with_tool_calls={'role': 'assistant', 'tool_calls': []}",
            "litellm",
            "orphan-tool-result",
            &[("id", "call_b")],
        ),
        ("Missing corresponding tool call for tool response message", "litellm", "orphan-tool-result", &[]),
        (
            "agents.exceptions.ModelBehaviorError: Tool look_up not found in agent Main",
            "openai-agents",
            "unknown-tool",
            &[("name", "look_up"), ("agent", "Main")],
        ),
        (
            "pydantic_ai.exceptions.UserError: Cannot provide a new user prompt when the message history contains unprocessed tool calls. Run the agent with this message history and no new prompt to execute the calls, pass `deferred_tool_results` if they were deferred, or call `pydantic_ai.messages.repair_messages()` on the history first to close them out.",
            "pydantic-ai",
            "unanswered-tool-call",
            &[],
        ),
        (
            "UserError: Tool call results were provided, but the message history does not contain any unprocessed tool calls.",
            "pydantic-ai",
            "orphan-tool-result",
            &[],
        ),
    ];
    for (error, framework, named, captures) in cases {
        let found = best(error);
        assert_eq!((found.origin.id(), found.refusal.rule.as_str()), (*framework, *named), "{error}");
        assert!(found.origin.target().is_none(), "{error}");
        for (name, value) in *captures {
            assert_eq!(capture(error, name), *value, "{error}");
        }
    }
}
