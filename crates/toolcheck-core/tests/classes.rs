//! Errors that no rule finds, and texts that are not known.

use toolcheck_core::recognise::{Envelope, ErrorClass, ErrorReading, Likeness, recognise};
use toolcheck_core::targets;

/// What a text is read as: a rule, `class`, or with a question mark what is only probable.
fn read(error: &str) -> String {
    let reading = ErrorReading::new(error);
    if let Some(found) = reading.matches.first() {
        let mark = if found.likeness == Likeness::Whole { "" } else { "?" };
        return format!("{}{mark}", found.refusal.rule);
    }
    match reading.class {
        Some(found) => format!("[{}]{}", found.class.id, if found.error.is_some() { "" } else { "?" }),
        None => "nothing".to_owned(),
    }
}

#[test]
fn errors_are_told_apart_by_what_they_are_about() {
    for (expected, error) in [
        (
            "[server-parser]",
            "HarmonyError: unexpected tokens remaining in message header: Some(\"to=functions\")",
        ),
        (
            "[server-parser]",
            "error parsing tool call: raw='{\"a\":', err=unexpected end of JSON input (status code: 500)",
        ),
        (
            "[mcp]",
            r#"MCP error -32602: Tool weather has an output schema but no structured content was provided"#,
        ),
        ("[mcp]?", r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Unknown method"}}"#),
        ("[chat-template]?", "500: While applying the chat template: no messages were given to Jinja"),
        ("[event-order]", "Tool call ID 'call_7' not found in conversation."),
        ("[reasoning]", "Item 'msg_...' was provided without its required 'reasoning' item: 'rs_...'."),
        ("[account]", "Your credit balance is too low to access the Anthropic API."),
        ("[account]?", "Error code: 401 - {'message': 'Incorrect API key provided'}"),
        ("[rate-limit]?", "Request failed with status code 429"),
        ("[server]?", "HTTP/1.1 503"),
        ("[size]?", "the input is longer than the context window of this model"),
        ("[model]?", "The requested model does not exist: tides-7b"),
        ("[parameter]?", "400: this model does not support the parameter `verbosity`"),
        // What is general comes after what is special.
        ("[mcp]?", r#"McpError: Bad Request: invalid_type at ["arguments"]"#),
        ("[shape]?", "ZodError: invalid_type at this place"),
        // Known to a rule, whatever else is in it.
        (
            "unanswered-tool-call",
            "MCP error: litellm.BadRequestError: No tool output found for function call call_1.",
        ),
        ("nothing", "the tide is low"),
        ("nothing", ""),
    ] {
        assert_eq!(read(error), expected, "{error}");
    }
}

/// Threads of users, with what they pasted.
#[test]
fn errors_of_models_and_servers_are_not_taken_for_those_of_requests() {
    for (expected, error) in [
        ("[parameter]", "400 Bad Request \"Argument not supported on this model: reasoningEffort\""),
        ("duplicate-tool-definition", "invalid-argument: Duplicate tool names: web_search"),
        (
            "[server-parser]",
            "tool call validation failed: parameters for tool lamp did not match schema: errors: [`/room`: expected array, but got string]",
        ),
        (
            "[server-parser]",
            "parameters for tool read did not match schema: errors: [missing properties: 'path']",
        ),
        (
            "[parameter]",
            "The model returned the following errors: Invalid parameter combination. Please check and try again.",
        ),
        (
            "[content]",
            "invalid request: message must be at least 1 token long or tool results must be specified.",
        ),
        (
            "[server-parser]",
            "status_code: 422, body: data=None message='No valid tool call or response generated'",
        ),
        (
            "[server]",
            "Failed to initialize samplers: Unexpected empty grammar stack after accepting piece: <think> (248068)",
        ),
        (
            "[message-order]",
            "Validation of jsonl file failed: Role must be either 'user', 'assistant', or 'system'. Unexpected value",
        ),
        ("[shape]", "{\"code\": 400, \"message\": \"Request contains an invalid argument.\"}"),
        (
            "mixed-content",
            "text content is not allowed when tool_calls are provided. If you wish to pass a tool plan, either pass thinking content (with thinking enabled) or use 'tool_plan': 'messages[2].content[0]'",
        ),
        (
            "[chat-template]?",
            "While executing If at line 12, column 13 in source: {%- if param_spec['items'] -%} Error: Function is not a bool value",
        ),
        ("[shape]?", r#"{"type":"error","code":"invalid-argument"}"#),
        ("[tool-schema]", "Failed to initialize samplers: failed to parse grammar"),
        // A title in front of a text that a rule knows.
        (
            "first-message-role",
            "Error rendering prompt with jinja template: \"No user query found in messages.\".",
        ),
        // The end of a line is escaped, and the type of a body is no cause.
        (
            "[chat-template]?",
            r#"{"code":500,"message":"\n------------\nWhile executing CallExpression at line 3, column 1","type":"server_error"}"#,
        ),
        ("[parameter]", "litellm.UnsupportedParamsError: reef does not support parameters: {'tools': ...}"),
        ("[parameter]", "grok-9 does not support parameter frequencyPenalty."),
        ("[shape]", "messages[4].content: unknown variant `tide`, expected one of `text`, `image` at line 1"),
        (
            "unknown-role",
            "Failed to deserialize the JSON body into the target type: messages[1].role: unknown variant `clerk`, expected one of `system`, `user` at line 1 column 9",
        ),
        (
            "unknown-content-type",
            "Failed to deserialize the JSON body into the target type: messages[4].content[0]: unknown variant `image_url`, expected `text` at line 1 column 9",
        ),
        (
            "[shape]",
            "2 validation errors for AIMessage\ncontent.str\n  Input should be a valid string [type=string_type, input_value=None, input_type=NoneType]",
        ),
        (
            "invalid-tool-schema",
            "Invalid\n request:\n tools.function.parameters is not\n a valid moonshot flavored json\n schema, details: <At path 'x': bad>",
        ),
        // The same page is behind very different errors.
        (
            "[shape]?",
            "Unable to submit request because of an invalid argument. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling",
        ),
    ] {
        assert_eq!(read(error), expected, "{error}");
    }
}

/// Words of one class in an error of another, and codes where a path could be.
#[test]
fn plain_causes_are_not_taken_for_others() {
    for (expected, error) in [
        (
            "conflicting-parameters",
            "ValidationException: This model doesn't support the toolConfig.toolChoice.tool field. Remove toolConfig.toolChoice.tool and try again.",
        ),
        ("[model]", "Problem in node (This model doesn`t support tool use in streaming mode)"),
        ("[shape]?", "failed to create chat stream completion: HTTP 400 (Code 20015): Field required"),
        ("missing-field?", "[json.exception.out_of_range.403] key 'content' not found"),
        ("[invalid-json]?", "[json.exception.parse_error.101] parse error at line 1, column 2"),
        (
            "[chat-template]",
            "500 Unknown method: keys at row 57, column 46:\n  {%- for key in fields.keys() %}",
        ),
        (
            "wrong-type",
            "the thinking field in the request (expected type object) is illegal, and bool is not acceptable",
        ),
        (
            "[message-order]",
            "Json document validation error: messages[1].role should be one of system user assistant",
        ),
        (
            "[tool-schema]",
            "Json document validation error: tools[0].function.parameters: at '/properties/a/type': value must be one of 'array', 'object'",
        ),
        (
            "[server-parser]",
            "launch_server.py: error: argument --tool-call-parser: invalid choice: 'gull' (choose from 'tern', 'heron')",
        ),
        ("[parameter]", "litellm.BadRequestError: context_management: Extra inputs are not permitted"),
        ("[parameter]", "system.1.cache_control.ephemeral.scope: Extra inputs are not permitted"),
        ("unknown-field", "tools.1.custom.tide: Extra inputs are not permitted"),
        (
            "unknown-field",
            "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'gull' is unsupported, did you mean 'role'?)]",
        ),
        (
            "[mcp]",
            r#"MCP error -32603: [\n {\n \"code\": \"invalid_type\",\n \"path\": [\n \"params\",\n \"arguments\"\n ],\n \"message\": \"Expected object, received string\"\n }\n]"#,
        ),
    ] {
        assert_eq!(read(error), expected, "{error}");
    }
    let field = |error: &str| ErrorReading::new(error).matches[0].captures.clone();
    let found = field(
        "error.rb:60: Model incompatible request argument supplied: temperature (Tern::BadRequestError)",
    );
    assert_eq!(found, [("field".to_owned(), "temperature".to_owned())]);
}

/// Threads of users: the text says what is wrong, and its envelope or a word of it something else.
#[test]
fn the_words_around_a_cause_are_no_cause() {
    for (expected, error) in [
        (
            "[content]",
            r#"400 {"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"code\":\"400\",\"message\":\"Param\n Incorrect\",\"param\":\"messages[4] assistant content must contain at least one\n part\"}}"}}}"#,
        ),
        ("[shape]?", r#"{"error":{"message":"Provider returned error","code":400}}"#),
        ("[server]?", r#"{"error":{"message":"Provider returned error","code":502}}"#),
        (
            "[chat-template]",
            r#"Error code: 500 - {'message': "Cannot subscript null at row 4, column 20:\n    {%- set tide = message.content[:2] %}\n", 'type': 'server_error'}"#,
        ),
        (
            "[chat-template]?",
            r#"{"code":500,"message":"Undefined variable or function: tide at row 5, column 10:\n","type":"server_error"}"#,
        ),
        (
            "[tool-arguments]",
            "litellm.APIConnectionError: Unable to convert openai tool calls={'role': 'assistant', 'tool_calls': [{'id': 'call_1'}]} to gemini tool calls. Received error=Extra data: line 1 column 9 (char 8)",
        ),
        ("[network]?", "openai.APIConnectionError: Connection error."),
        ("[event-order]", "[API Error: Codex Responses WebSocket closed before response.completed]"),
        (
            "[server]",
            r#"{"status":400,"title":"Bad Request","detail":"Function id '87ea': DEGRADED function cannot be invoked"}"#,
        ),
        ("[missing-tool]", "java.lang.IllegalStateException: No ToolCallback found for tool name: tides"),
        ("[missing-tool]", "java.lang.IllegalStateException: No function callback found for function name: "),
        (
            "invalid-tool-name",
            "'tides.now' does not match '^[a-zA-Z0-9_-]{1,64}$' - 'messages.5.tool_calls.0.function.name'",
        ),
        (
            "[server]",
            r#"The model returned the following errors: ErrorEvent { error: APIError { code: Some(400), message: \"list index out of range\", param: None } }"#,
        ),
        (
            "[parameter]",
            "UserError: Hosted tools are not supported with the ChatCompletions API. Got tool type: <class 'HostedMCPTool'>",
        ),
        (
            "[parameter]",
            "ValidationException: The guardrail identifier or version provided in the request does not exist.",
        ),
        (
            "[shape]",
            "Your request has violated JSON schema constraint 'type' for the JSON field 'tools.0.function.strict', please check the JSON schema",
        ),
        ("nothing", "Invalid type Gull for attribute 'output.value' value. Expected one of ['bool', 'str']"),
        ("conflicting-parameters", "Argument not supported: instructions and previous_response_id together"),
        (
            "[server-parser]",
            r#"{"error":"Tool error: invalid escape at line 3 column 15","error_type":"tool_error"}"#,
        ),
        ("[chat-template]", "Exception: Only user, assistant and tool roles are supported, got system"),
        (
            "[parameter]",
            "Unexpected value(s) `tides-2026-01-05` for the\n `anthropic-beta` header. Please consult our documentation",
        ),
        ("[parameter]", "enable thinking can not be support when `stream=F\n> alse`."),
        ("[shape]", r#"{\"code\":\"1214\",\"message\":\"tools[0].type:type cannot be empty.\"}"#),
        (
            "[tool-schema]",
            "tools.0.custom: Invalid schema: Reference to non-existent definition: #/$defs/gull (Service: BedrockRuntime)",
        ),
    ] {
        assert_eq!(read(error), expected, "{error}");
    }
}

/// The title of several errors, with the end of its line in front of something else.
#[test]
fn a_title_on_a_line_of_its_own_says_nothing() {
    for end in ["\n", " ", "\\n"] {
        let error = format!("<400> InternalError.Algo.InvalidParameter:{end}The tide must be positive");
        assert_eq!(read(&error), "[parameter]?", "{error}");
    }
}

#[test]
fn a_text_of_a_class_may_be_cut() {
    let cut = |error: &str| {
        let class = ErrorReading::new(error).class?;
        Some((class.class.id.clone(), class.error.is_some(), class.is_cut))
    };
    let known = |is_cut| Some(("parameter".to_owned(), true, is_cut));
    assert_eq!(
        cut("\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"),
        known(false)
    );
    let error = r#"vllm API error 400: {"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-ch"#;
    assert_eq!(cut(error), known(true));
    assert_eq!(cut(&format!("{error}. Check the logs")), known(true));
    // Too little of it, or other words after its beginning.
    assert_ne!(cut("\"auto\" tool choice requires"), known(true));
    assert_ne!(cut("\"auto\" tool choice requires --enable the tools first"), known(true));
}

#[test]
fn a_text_in_other_words_is_like_the_known_one() {
    let error = "BadRequestError: tool_use ids found without any tool_result blocks immediately after: toolu_9. \
                 Every tool_use block must have a corresponding tool_result block in the next message";
    assert_eq!(read(error), "unanswered-tool-call?");
    // Words that many texts share are not enough.
    assert_eq!(read("the message must have content in the next request"), "nothing");
}

#[test]
fn the_last_lines_of_a_log_are_read_too() {
    let mut log = "2026-11-26 INFO all is well\n".repeat(10_000);
    log.push_str("2026-11-26 ERROR No tool output found for function call call_1.");
    assert_eq!(read(&log), "unanswered-tool-call");
    let log = format!("No tool output found for function call call_1.\n{}", "and a dump\n".repeat(20_000));
    assert_eq!(read(&log), "unanswered-tool-call");
}

#[test]
fn who_sent_it_and_with_which_status() {
    let reading = |error| {
        let reading = ErrorReading::new(error);
        let names: Vec<&str> = reading.envelopes.iter().map(|envelope| &*envelope.name).collect();
        (names, reading.status)
    };
    let anthropic =
        r#"API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert_eq!(reading(anthropic), (vec!["Claude Code", "Anthropic"], Some(529)));
    assert_eq!(reading("litellm.BadRequestError: status code: 400"), (vec!["LiteLLM"], Some(400)));
    assert_eq!(reading("call_400 took 500 ms"), (vec![], None));
}

#[test]
fn every_class_is_whole() {
    let mut ids: Vec<&str> = ErrorClass::all().map(|class| &*class.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for class in ErrorClass::all() {
        assert!(targets::find(&class.id).is_none(), "{}", class.id);
        for sentence in [&class.summary, &class.help] {
            assert!(sentence.ends_with('.') && sentence.len() > 20, "{}: {sentence}", class.id);
        }
        assert!(!class.signs.is_empty() || !class.errors.is_empty(), "{}", class.id);
        for error in &class.errors {
            assert!(error.sources.iter().all(|source| source.starts_with("https://")), "{}", error.text);
            assert!(!error.sources.is_empty(), "{}", error.text);
        }
    }
    for envelope in Envelope::all() {
        assert!(envelope.source.starts_with("https://") && !envelope.signs.is_empty(), "{}", envelope.name);
    }
}

/// Each text leads to itself, and none is that of a rule, which would say more.
#[test]
fn every_text_of_a_class_leads_to_it() {
    for class in ErrorClass::all() {
        for error in &class.errors {
            let text = filled(&error.text);
            let reading = ErrorReading::new(&text);
            let of_rule = recognise(&text).into_iter().find(|found| found.likeness == Likeness::Whole);
            let of_rule = of_rule.and_then(|found| found.refusal.text.as_deref());
            assert!(of_rule.is_none_or(|known| known.len() < error.text.len()), "a rule has: {text}");
            let found = reading.class.unwrap_or_else(|| panic!("{}: not known: {text}", class.id));
            assert_eq!(
                (&found.class.id, found.error.map(|known| &known.text)),
                (&class.id, Some(&error.text)),
                "{text}"
            );
        }
    }
}

/// A text with something in the place of each placeholder.
fn filled(text: &str) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        match after
            .split_once('}')
            .filter(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
        {
            Some((_, after)) => {
                filled.push('7');
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + rest
}
