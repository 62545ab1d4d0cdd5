//! Errors and the requests or histories that cause them.

use serde_json::{Value, json};
use toolcheck_lint::{Options, Report, lint};
use toolcheck_report::explained::{Explained, Places, Wording};

fn explained(error: &str, history: &Value) -> Explained {
    let history = history.to_string();
    let lint = |options: &Options| lint("history.json", history.as_bytes(), options);
    Explained::with_request(error, &Options::new(), lint)
}

fn cause(explained: &Explained) -> &Report {
    match explained.places.as_ref().unwrap() {
        Places::Cause(report) => report,
        other => panic!("no cause: {other:?}"),
    }
}

/// The rules and places of what causes an error.
fn causes(explained: &Explained) -> Vec<(&str, &str)> {
    let findings = &cause(explained).files[0].findings;
    findings.iter().map(|finding| (finding.rule.as_str(), finding.spot.pointer.as_str())).collect()
}

/// A history of Pydantic AI that was saved while its calls were running, or when they failed.
fn waiting() -> Value {
    let call =
        |id: &str| json!({"part_kind": "tool-call", "tool_name": "tides", "args": "{}", "tool_call_id": id});
    json!([
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "When is low tide?"}]},
        {"kind": "response", "parts": [call("pyd_a"), call("pyd_b")]},
    ])
}

#[test]
fn an_error_shows_that_the_last_calls_are_not_running() {
    let history = waiting();
    let alone = lint("history.json", history.to_string().as_bytes(), &Options::new());
    assert!(alone.findings.is_empty(), "{:?}", alone.findings);
    let raised = "UserError: Cannot provide a new user prompt when the message history contains unprocessed tool calls.";
    let unanswered = |part: &'static str| ("unanswered-tool-call", part);
    assert_eq!(causes(&explained(raised, &history)), [unanswered("/1/parts/0"), unanswered("/1/parts/1")]);
    let answered =
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: pyd_b.";
    assert_eq!(causes(&explained(answered, &history)), [unanswered("/1/parts/1")]);
}

#[test]
fn a_framework_is_named_and_is_no_target() {
    let explained = Explained::new("Tool result is missing for tool call call_1.");
    let found = &explained.to_json()["matches"][0];
    assert_eq!((&found["framework"], &found["target"]), (&json!("ai-sdk"), &Value::Null));
    assert_eq!(found["captures"], json!({"id": "call_1"}));
    let mut text = Vec::new();
    explained.write(&Wording::new("file", ": FILE"), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("unanswered-tool-call (ai-sdk)\n"), "{text}");
    assert!(text.contains("Vercel AI SDK raises this error itself"), "{text}");
    let of_api = Explained::new("No tool call found for function call output with call_id call_7.");
    let found = &of_api.to_json()["matches"][0];
    assert_eq!((&found["target"], found.get("framework")), (&json!("openai-responses"), None));
}

#[test]
fn one_text_of_a_framework_has_the_cause_that_is_there() {
    let call = |id: &str| json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": {"name": "tides", "arguments": "{}"}}]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "six"});
    let user = json!({"role": "user", "content": "When is low tide?"});
    let error = "Missing corresponding tool call for tool response message.";
    let split = json!([user, call("a"), call("b"), result("a"), result("b")]);
    assert_eq!(causes(&explained(error, &split))[0].0, "split-assistant-turn");
    let lost = json!([user, call("a"), result("a"), result("b")]);
    assert_eq!(causes(&explained(error, &lost)), [("orphan-tool-result", "/3")]);
}

fn written(explained: &Explained) -> String {
    let mut text = Vec::new();
    explained.write(&Wording::new("file", ": FILE"), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_finding_with_the_text_of_the_error_is_the_cause_whatever_its_rule() {
    let parameters = |more: Value| {
        let mut schema = json!({"type": "OBJECT", "properties": {"port": {"type": "STRING"}}});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({
            "contents": [{"role": "user", "parts": [{"text": "When is low tide?"}]}],
            "tools": [{"functionDeclarations": [{"name": "tides", "description": "Tides.", "parameters": schema}]}],
        })
    };
    let request = parameters(json!({"additionalProperties": false}));
    let error = "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field.";
    let place = "/tools/0/functionDeclarations/0/parameters/additionalProperties";
    let found = explained(error, &request);
    assert_eq!(causes(&found), [("invalid-tool-schema", place)]);
    assert!(!written(&found).contains("finds nothing"), "{}", written(&found));
    let fixed = explained(error, &parameters(json!({})));
    assert!(!fixed.is_explained() && written(&fixed).contains("finds nothing"), "{}", written(&fixed));

    let request = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 10,
        "messages": [{"role": "user", "content": "When is low tide?"}],
        "tools": [{"name": "tides", "description": "Tides.", "inputSchema": {"type": "object"}}],
    });
    let found = explained("tools.0.custom.input_schema: Field required", &request);
    assert_eq!(causes(&found), [("foreign-shape", "/tools/0")]);
}

#[test]
fn a_finding_about_the_call_of_the_error_is_no_cause_if_it_says_something_else() {
    let request = |answered: &str| {
        json!({"model": "gpt-4o", "messages": [
            {"role": "user", "content": "When is low tide?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "moon", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": answered, "content": "six"},
            {"role": "user", "content": "Thanks."},
        ], "tools": [{"type": "function", "function": {"name": "tides", "parameters": {"type": "object", "properties": {}}}}]})
    };
    let error = |id: &str| {
        format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}"
        )
    };
    // The only finding about this call is that its tool is not declared.
    let found = explained(&error("call_1"), &request("call_1"));
    assert!(!found.is_explained(), "{}", written(&found));
    let mut unanswered = request("call_1");
    unanswered["messages"].as_array_mut().unwrap().remove(2);
    let found = explained(&error("call_1"), &unanswered);
    assert_eq!(causes(&found), [("unanswered-tool-call", "/messages/1/tool_calls/0")]);

    let unanswered = json!({"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": [
        {"role": "user", "content": "When is low tide?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {}}]},
        {"role": "user", "content": "Never mind."},
    ]});
    let opposite = "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.";
    let found = explained(opposite, &unanswered);
    assert!(!found.is_explained(), "{}", written(&found));
}

#[test]
fn a_finding_that_says_more_stands_for_the_one_of_the_rule() {
    let request = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 10,
        "messages": [
            {"role": "user", "content": "When is low tide?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {}}]},
            {"role": "tool", "tool_call_id": "toolu_1", "content": "six"},
        ],
        "tools": [{"name": "tides", "description": "Tides.", "input_schema": {"type": "object"}}],
    });
    let error = "messages: Unexpected role \"tool\". Allowed roles are \"user\" or \"assistant\".";
    assert_eq!(causes(&explained(error, &request)), [("foreign-shape", "/messages/2")]);
}

#[test]
fn the_role_of_results_has_the_text_that_people_report() {
    let error = "messages: Unexpected role \"tool\". Allowed roles are \"user\" or \"assistant\". \
                 For instructions on how to use tools, see https://docs.example/overview.";
    for (result, expected) in [
        (
            json!({"role": "tool", "tool_call_id": "toolu_1", "content": "six"}),
            ("foreign-shape", "/messages/2"),
        ),
        (json!({"role": "tool", "content": "six"}), ("unknown-role", "/messages/2/role")),
    ] {
        let request = json!({
            "model": "claude-sonnet-4-5", "max_tokens": 10,
            "messages": [
                {"role": "user", "content": "When is low tide?"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {}}]},
                result,
            ],
            "tools": [{"name": "tides", "description": "Tides.", "input_schema": {"type": "object"}}],
        });
        let found = explained(error, &request);
        assert_eq!(causes(&found), [expected]);
        let finding = &cause(&found).files[0].findings[0];
        let text = finding.provider_error.as_ref().and_then(|answer| answer.text.as_deref()).unwrap();
        assert_eq!(text, "messages: Unexpected role \"tool\". Allowed roles are \"user\" or \"assistant\".");
    }
}

#[test]
fn placeholders_of_texts_have_names_for_people() {
    let text = |error: &str| written(&explained(error, &json!({"messages": []})));
    let of_values = text("Invalid value: 'text'. Supported values are: 'input_text', and 'input_image'.");
    assert!(of_values.contains("allowed values: "), "{of_values}");
    let of_paths =
        text("tools.0.custom: input_schema does not support oneOf, allOf, or anyOf at the top level");
    assert!(of_paths.contains("path of the object: tools.0.custom"), "{of_paths}");
    for internal in ["values-and", "parent-tagged-path"] {
        assert!(!of_values.contains(internal) && !of_paths.contains(internal), "{of_values}{of_paths}");
    }
}

#[test]
fn a_request_is_judged_in_its_own_format() {
    let request = json!({
        "model": "gpt-5",
        "input": [
            {"role": "user", "content": [{"type": "text", "text": "When is low tide?"}]},
            {"type": "function_call", "call_id": "call_1", "name": "tides", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "six"},
        ],
    });
    let error = "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', 'output_text'";
    let found = explained(error, &request);
    assert_eq!(causes(&found), [("foreign-shape", "/input/0/content/0")]);
    assert_eq!(cause(&found).files[0].target.as_deref(), Some("openai-responses"));
    let short = json!({"model": "gpt-5", "input": [request["input"][0]]});
    assert_eq!(causes(&explained(error, &short)), [("foreign-shape", "/input/0/content/0")]);
    let clean = json!({"model": "gpt-5", "input": [{"role": "user", "content": "When is low tide?"}]});
    let others = explained(error, &clean);
    assert!(written(&others).contains("for openai-responses"), "{}", written(&others));
}

/// Other APIs answer in the same words, but the request is none to them.
#[test]
fn a_request_is_not_read_as_one_to_another_api_with_the_same_text() {
    let request = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 10,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "scope": "global"}}],
        "messages": [{"role": "user", "content": "When is low tide?"}],
        "tools": [{"name": "tides", "description": "Tides.", "input_schema": {"type": "object"}, "input_examples": [{}]}],
    });
    for place in
        ["tools.0.custom.eager", "tools.0.custom.input_examples", "system.0.cache_control.ephemeral.scope"]
    {
        let found = explained(&format!("{place}: Extra inputs are not permitted"), &request);
        assert!(matches!(found.places, Some(Places::Others(_))), "{place}: {:?}", found.places);
    }
    // To an API with the request's own format, it is one.
    let unknown = json!({"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": [{"role": "user", "content": "When?"}], "tide": 1});
    let found = explained("tide: Extra inputs are not permitted", &unknown);
    assert_eq!(causes(&found), [("unknown-field", "/tide")]);
    assert_eq!(cause(&found).files[0].target.as_deref(), Some("anthropic"));
}

#[test]
fn what_the_api_usually_accepts_is_found_too() {
    let call =
        json!({"id": "k7x2k7x2k", "type": "function", "function": {"name": "tides", "arguments": "{}"}});
    let request = json!({
        "model": "mistral-large-latest",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "When is low tide?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "k7x2k7x2k", "name": "tides", "content": "six"},
            {"role": "user", "content": "Thanks."},
        ],
    });
    let error = "Unexpected role 'user' after role 'tool'";
    let found = explained(error, &request);
    let Some(Places::Accepted(report)) = &found.places else { panic!("{:?}", found.places) };
    let places: Vec<_> = report.files[0]
        .findings
        .iter()
        .map(|finding| (finding.rule.as_str(), &*finding.spot.pointer))
        .collect();
    assert_eq!(places, [("misplaced-message", "/messages/4")]);
    assert!(found.is_explained() && found.to_json()["cause"] == "usually-accepted");
    let text = written(&found);
    assert!(text.contains("because mistral is recorded to accept it"), "{text}");
    let alone = lint("request.json", request.to_string().as_bytes(), &Options::new());
    assert!(alone.findings.is_empty(), "{:?}", alone.findings);
    let clean = json!({"model": "mistral-large-latest", "messages": [{"role": "user", "content": "Hello."}]});
    assert!(!explained(error, &clean).is_explained());
}

#[test]
fn a_cause_that_another_rule_would_report_is_found_too() {
    let request = json!({
        "modelId": "anthropic.claude-3-5-sonnet-20241022-v2:0",
        "messages": [
            {"role": "user", "content": [{"text": "When is low tide?"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "tide_1", "name": "tides", "input": {}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "tide_1", "content": [{"text": "six"}]}}]},
            {"role": "user", "content": [{"text": "Thanks."}]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "tides", "inputSchema": {"json": {"type": "object"}}}}]},
    });
    let error = "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.";
    let found = explained(error, &request);
    let Some(Places::Accepted(report)) = &found.places else { panic!("{:?}", found.places) };
    let places: Vec<_> = report.files[0]
        .findings
        .iter()
        .map(|finding| (finding.rule.as_str(), &*finding.spot.pointer))
        .collect();
    assert_eq!(places, [("misplaced-message", "/messages/3")]);
    let text = written(&found);
    assert!(text.contains("because bedrock-converse is recorded to accept it"), "{text}");
    let alone = lint("request.json", request.to_string().as_bytes(), &Options::new());
    assert!(alone.findings.is_empty(), "{:?}", alone.findings);
}

#[test]
fn an_error_at_the_place_that_the_text_names_is_probably_it() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "tides", "arguments": "{}"}}]});
    let request = json!({"model": "gpt-5", "messages": [
        {"role": "user", "content": "When is low tide?"}, call,
        {"role": "tool", "tool_call_id": "a", "content": "six"},
        {"role": "tool", "tool_call_id": "b", "content": "seven"},
    ]});
    let found = explained("upstream: schema mismatch in body at 'messages[3]'", &request);
    let Some(Places::Probable(report)) = &found.places else { panic!("{:?}", found.places) };
    assert_eq!(report.files[0].findings[0].spot.pointer, "/messages/3");
    assert!(written(&found).contains("This is probably the cause"), "{}", written(&found));
    assert!(!explained("upstream: schema mismatch in body at 'messages[0]'", &request).is_explained());
}

#[test]
fn the_api_that_returned_the_error_may_be_named() {
    let request = json!({"messages": [
        {"role": "user", "content": "When is low tide?"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "tides", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": "six"},
    ]});
    let body = request.to_string();
    let error = "Something about messages[1]";
    let with = |id: &str| {
        let options = Options::new().target(toolcheck_core::targets::find(id));
        Explained::with_request(error, &options, |options| lint("request.json", body.as_bytes(), options))
    };
    assert!(with("mistral-v11").is_explained(), "ids of nine characters are needed");
    assert!(!with("openai-chat").is_explained());
}

#[test]
fn the_places_that_an_error_names_are_found_in_the_request() {
    let request = br#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "Moin."}]}]}"#;
    let place = |error: &str| {
        let explained = Explained::new(error).located_in(request);
        explained.named[0].found.as_ref().map(|(pointer, at)| (pointer.clone(), at.line, at.column))
    };
    let at = |pointer: &str, column| Some((pointer.to_owned(), 1, column));
    assert_eq!(place("the sea is rough at messages.0.content.0"), at("/messages/0/content/0", 44));
    // The type of the block is no step of the request.
    assert_eq!(place("messages[0].content[0].text.text is odd"), at("/messages/0/content/0/text", 69));
    assert_eq!(place("body.messages.0 is odd"), at("/messages/0", 15));
    assert_eq!(place("messages.7.content is odd"), None);
    // Of what cannot be read, nothing is said.
    let explained = Explained::new("messages.7 is odd").located_in(b"{");
    assert!(!written(&explained).contains("line"), "{}", written(&explained));
}

#[test]
fn what_no_request_causes_is_explained_without_one_and_with_one() {
    let error = "HarmonyError: unexpected tokens remaining in message header";
    let alone = Explained::new(error);
    assert!(alone.is_explained());
    assert!(!written(&alone).contains("--error"), "{}", written(&alone));
    let history = json!([{"role": "user", "content": "Moin."}]);
    assert!(explained(error, &history).is_explained());
    // What a request causes asks for it.
    let unknown = explained("this model does not support the parameter `verbosity`", &history);
    assert!(!unknown.is_explained());
    assert_eq!(unknown.to_json()["class"]["id"], "parameter");
}
