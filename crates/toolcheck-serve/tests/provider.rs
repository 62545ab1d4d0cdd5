//! The mock over HTTP, as a client sees it.

use std::sync::{Arc, Mutex};

use crate::common::{post, steer};
use serde_json::{Value as Json, json};
use toolcheck_serve::{MockProvider, ScriptedCall, Strictness, Turn, script};

pub(crate) fn request(messages: Json) -> String {
    let schema =
        json!({"type": "object", "properties": {"harbour": {"type": "string"}}, "required": ["harbour"]});
    json!({
        "model": "claude-sonnet-4-5", "max_tokens": 64, "messages": messages,
        "tools": [{"name": "tides", "description": "When the tide is low.", "input_schema": schema}]
    })
    .to_string()
}

fn unanswered() -> Json {
    json!([
        {"role": "user", "content": "When is low tide?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {"harbour": "Cuxhaven"}}]},
        {"role": "user", "content": "Well?"}
    ])
}

#[test]
fn what_the_api_refuses_is_refused_in_its_words() {
    let provider = MockProvider::builder().start().unwrap();
    let (status, head, body) = post(&provider, "/v1/messages", &request(unanswered()));
    assert_eq!(status, 400);
    let body: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(body["type"], "error");
    assert_eq!(body["error"]["type"], "invalid_request_error");
    let text = body["error"]["message"].as_str().unwrap();
    assert!(text.starts_with("messages.2: `tool_use` ids were found without `tool_result` blocks"), "{text}");
    assert!(head.contains("x-toolcheck-rule: unanswered-tool-call"), "{head}");
    assert!(head.contains("x-toolcheck-place: /messages/1/content/0"), "{head}");
    assert!(head.contains("x-toolcheck-source: https://"), "{head}");
    let run = provider.finish();
    assert_eq!(run.refused().count(), 1);
    let failed = std::panic::catch_unwind(|| run.assert_conformant()).unwrap_err();
    let message = failed.downcast_ref::<String>().unwrap();
    assert!(
        message.contains("unanswered-tool-call") && message.contains("the API says: messages.2"),
        "{message}"
    );
}

#[test]
fn a_call_is_made_up_from_the_schema_and_then_answered() {
    let provider = MockProvider::builder().start().unwrap();
    let first = json!([{"role": "user", "content": "When is low tide?"}]);
    let (status, _, body) = post(&provider, "/v1/messages", &request(first.clone()));
    assert_eq!(status, 200, "{body}");
    let body: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(body["stop_reason"], "tool_use");
    let call = &body["content"][0];
    assert_eq!((&call["name"], &call["input"]), (&json!("tides"), &json!({"harbour": "text"})));
    let id = call["id"].as_str().unwrap();
    assert!(id.starts_with("toolu_01") && id.len() == 30, "{id}");
    // The same history gets the same answer.
    let (_, _, again) = post(&provider, "/v1/messages", &request(first.clone()));
    assert_eq!(serde_json::from_str::<Json>(&again).unwrap(), body);
    let second = json!([
        first[0], {"role": "assistant", "content": body["content"]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "low at six"}]}
    ]);
    let answer = |messages: Json| {
        let (_, _, body) = post(&provider, "/v1/messages", &request(messages));
        let body: Json = serde_json::from_str(&body).unwrap();
        (body["stop_reason"].clone(), body["content"][0]["text"].clone())
    };
    let (called, done) = ((json!("tool_use"), Json::Null), (json!("end_turn"), json!("Done.")));
    assert_eq!(answer(second.clone()), done);
    // A sub-agent that it has called calls no other.
    assert_eq!(
        answer(
            json!([{"role": "user", "content": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "text"}]}])
        ),
        done
    );
    // An agent may go on by itself after each answer.
    let more = json!({"role": "assistant", "content": "Done."});
    let mut messages = second.as_array().unwrap().clone();
    for expected in [&called, &called, &done] {
        messages.extend([more.clone(), first[0].clone()]);
        assert_eq!(answer(json!(messages)), *expected);
        let call = json!({"type": "tool_use", "id": format!("toolu_{}", messages.len()), "name": "tides", "input": {"harbour": "text"}});
        let result = json!({"type": "tool_result", "tool_use_id": call["id"], "content": "low"});
        messages.extend([
            json!({"role": "assistant", "content": [call]}),
            json!({"role": "user", "content": [result]}),
        ]);
    }
    provider.finish().assert_conformant();
}

#[test]
fn a_script_says_each_turn() {
    let turns = script(
        r#"
        [[turn]]
        calls = [{ tool = "tides", raw = "{\"harbour\": \"Cux" }]
        stop = "length"
        pieces = 3
        [[turn]]
        status = 429
        retry-after = 7
        "#,
    )
    .unwrap();
    let provider = MockProvider::builder().turns(turns).start().unwrap();
    let body = |messages: Json| {
        let tool = json!({"type": "function", "function": {"name": "tides", "parameters": {"type": "object", "properties": {}}}});
        json!({"model": "gpt-5", "stream": true, "messages": messages, "tools": [tool]}).to_string()
    };
    let first = json!([{"role": "user", "content": "When is low tide?"}]);
    let (status, head, stream) = post(&provider, "/v1/chat/completions", &body(first.clone()));
    assert_eq!(status, 200, "{head}\n{stream}");
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    let pieces: Vec<String> = stream
        .lines()
        .filter_map(|line| serde_json::from_str::<Json>(line.strip_prefix("data: ")?).ok())
        .filter_map(|chunk| {
            Some(chunk.pointer("/choices/0/delta/tool_calls/0/function/arguments")?.as_str()?.to_owned())
        })
        .collect();
    assert_eq!(pieces.concat(), "{\"harbour\": \"Cux");
    assert!(pieces.iter().all(|piece| piece.chars().count() <= 3), "{pieces:?}");
    assert!(stream.contains("\"finish_reason\":\"length\"") && stream.contains("data: [DONE]"));
    let second =
        json!([first[0], {"role": "assistant", "content": "Sorry?"}, {"role": "user", "content": "Again."}]);
    let (status, head, body) = post(&provider, "/v1/chat/completions", &body(second));
    assert_eq!(status, 429);
    assert!(head.contains("retry-after: 7"), "{head}");
    assert!(body.contains("Rate limit"), "{body}");
}

#[test]
fn a_stream_is_cut_off_where_the_script_says() {
    let mut turn = Turn::calls([ScriptedCall::of("tides")]);
    turn.cut_after = Some(3);
    let provider = MockProvider::builder().turn(turn).start().unwrap();
    let messages = json!([{"role": "user", "content": "When is low tide?"}]);
    let mut body: Json = serde_json::from_str(&request(messages)).unwrap();
    body["stream"] = json!(true);
    let (status, _, stream) = post(&provider, "/v1/messages", &body.to_string());
    assert_eq!(status, 200);
    assert!(stream.contains("content_block_start") && !stream.contains("message_stop"), "{stream}");
    // The last chunk of the body, which says that it is complete, never comes.
    assert!(!stream.ends_with("0\r\n\r\n"), "{stream}");
}

#[test]
fn a_stream_ends_early_as_if_it_were_complete() {
    let turns = script(
        "[[turn]]\npieces = 4\ncut-in = 'arguments'\nclean-end = true\ncalls = [{ tool = 'tides', arguments = { harbour = 'Cuxhaven' } }]",
    );
    let provider = MockProvider::builder().turns(turns.unwrap()).start().unwrap();
    let messages = json!([{"role": "user", "content": "When is low tide?"}]);
    let mut body: Json = serde_json::from_str(&request(messages)).unwrap();
    body["stream"] = json!(true);
    let (status, _, stream) = post(&provider, "/v1/messages", &body.to_string());
    assert_eq!(status, 200);
    assert!(
        stream.contains("{\\\"ha") && !stream.contains("aven") && !stream.contains("message_delta"),
        "{stream}"
    );
    // The body itself is complete.
    assert!(stream.ends_with("0\r\n\r\n"), "{stream}");
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "?"}]});
    let (_, _, stream) = post(&provider, "/v1/chat/completions", &body.to_string());
    assert!(
        !stream.contains("[DONE]")
            && !stream.contains("\"finish_reason\":\"")
            && stream.ends_with("0\r\n\r\n"),
        "{stream}"
    );
}

#[test]
fn an_error_is_given_once_and_in_a_stream() {
    let turns = script(
        r#"
        [[turn]]
        calls = [{ tool = "tides", arguments = { harbour = "Husum" } }]
        [[turn]]
        status = 400
        once = true
        texts = { anthropic = "prompt is too long" }
        [[turn]]
        error-after = 2
        attempts = 1
        text = "Low at"
        [[turn]]
        text = "Low at six."
        "#,
    );
    let provider = MockProvider::builder().turns(turns.unwrap()).start().unwrap();
    let ask = |said: Json, is_streamed: bool| {
        let mut body: Json = serde_json::from_str(&request(said)).unwrap();
        body["stream"] = json!(is_streamed);
        post(&provider, "/v1/messages", &body.to_string())
    };
    let first = json!({"role": "user", "content": "When is low tide?"});
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {"harbour": "Husum"}});
    let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": "six"});
    let whole =
        json!([first, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]);
    assert!(ask(json!([first]), false).2.contains("tool_use"));
    let (status, _, body) = ask(whole, false);
    assert_eq!((status, body.contains("prompt is too long")), (400, true), "{body}");
    // The history is shorter now, and the conversation goes on.
    let (status, _, body) = ask(json!([first]), true);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("event: error") && body.contains("Overloaded"), "{body}");
    assert!(!body.contains("message_stop"), "{body}");
    let (_, _, body) = ask(json!([first]), true);
    assert!(body.contains("message_stop") && !body.contains("Overloaded"), "{body}");
    drop(provider.finish());
}

#[test]
fn what_must_come_back_is_kept_beside_the_exchange() {
    let turns = script(
        r#"
        [[turn]]
        redacted = true
        stop = "pause"
        server-calls = [{ tool = "web_search", arguments = { query = "tides" }, result = [{ type = "web_search_result", title = "Tides" }] }]
        calls = [{ tool = "tides", arguments = { harbour = "Husum" }, signed = true }]
        "#,
    );
    let provider = MockProvider::builder().turns(turns.unwrap()).start().unwrap();
    let first = json!([{"role": "user", "content": "When is low tide?"}]);
    let (_, _, body) = post(&provider, "/v1/messages", &request(first));
    let body: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(body["stop_reason"], "pause_turn");
    let kinds: Vec<&str> =
        body["content"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["redacted_thinking", "server_tool_use", "web_search_tool_result", "tool_use"]);
    let asked = json!({"contents": [{"role": "user", "parts": [{"text": "When is low tide?"}]}]}).to_string();
    let (_, _, gemini) = post(&provider, "/v1beta/models/m:generateContent", &asked);
    assert!(gemini.contains("thoughtSignature"), "{gemini}");
    let run = provider.finish();
    let kept: Vec<Vec<&str>> = run
        .exchanges
        .iter()
        .map(|exchange| exchange.opaque.iter().map(|opaque| &*opaque.text).collect())
        .collect();
    let id = body["content"][1]["id"].as_str().unwrap();
    assert_eq!(kept, [vec!["cmVk0000", id, id], vec!["Y2Fs00000000"]]);
}

#[test]
fn half_a_character_is_kept_as_it_was_sent() {
    let provider = MockProvider::builder().turn(Turn::text("Done.")).start().unwrap();
    let body = r#"{"model": "m", "messages": [{"role": "user",
        "content": "\\ud800 \ud83d\ude00 half \ud83d of it \u00e4"}]}"#;
    let (status, _, answer) = post(&provider, "/v1/chat/completions", body);
    let run = provider.finish();
    let exchange = &run.exchanges[0];
    assert_eq!(exchange.request["messages"][0]["content"], "\\ud800 \u{1F600} half \u{fffd} of it \u{e4}");
    assert_eq!(exchange.request.text(), body);
    let line = exchange.json_line();
    assert!(line.contains(r"half \ud83d of it") && !line.contains('\n'), "{line}");
    assert!(run.lint().findings.iter().any(|found| found.rule == "lone-surrogate"), "{status}: {answer}");
}

#[test]
fn a_stream_is_cut_off_once() {
    let turns = script(
        "[[turn]]\nonce = true\ncut-in = 'between-calls'\ncalls = [{ tool = 'tides' }]\n[[turn]]\ntext = 'Low at six.'",
    );
    let provider = MockProvider::builder().turns(turns.unwrap()).start().unwrap();
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "?"}]}).to_string();
    let ask = || post(&provider, "/v1/chat/completions", &body).2;
    let first = ask();
    assert!(first.contains("tides") && !first.contains("finish_reason\":\""), "{first}");
    assert!(ask().contains("Low at six"));
    assert!(ask().contains("Low at six"));
}

#[test]
fn unknown_paths_are_told_and_models_are_described() {
    let provider = MockProvider::builder().start().unwrap();
    assert_eq!(post(&provider, "/v1/completions", "{}").0, 404);
    assert_eq!(post(&provider, "/v1/completions", "{}").0, 404);
    assert_eq!(post(&provider, "/v1/messages/batches", "{}").0, 404);
    assert_eq!(post(&provider, "/v1/messages/count_tokens", "{}").0, 200);
    assert_eq!(post(&provider, "/api/show", "{\"model\": \"m\"}").0, 200);
    let run = provider.finish();
    assert_eq!(run.not_found, ["POST /v1/completions", "POST /v1/messages/batches"]);
    assert_eq!(run.report()["not_found"][0], "POST /v1/completions");
    assert!(run.exchanges.is_empty());
}

#[test]
fn an_overloaded_server_has_the_status_of_its_api() {
    let body = r#"{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}"#;
    for (target, path, expected) in [
        ("anthropic", "/v1/messages", 529),
        ("openai-chat", "/v1/chat/completions", 503),
        ("mistral", "/v1/chat/completions", 503),
    ] {
        let provider =
            MockProvider::builder().target(target).unwrap().turn(Turn::error(529)).start().unwrap();
        let (status, _, text) = post(&provider, path, body);
        assert_eq!(status, expected, "{target}: {text}");
    }
}

#[test]
fn only_an_api_with_the_header_says_how_long_to_wait() {
    let body = r#"{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}"#;
    let cases = [
        ("anthropic", "/v1/messages", true),
        ("openai-chat", "/v1/chat/completions", true),
        ("mistral", "/v1/chat/completions", false),
    ];
    for (target, path, says) in cases {
        let mut turn = Turn::error(429);
        turn.retry_after = Some(7);
        let provider = MockProvider::builder().target(target).unwrap().turn(turn).start().unwrap();
        let (status, head, _) = post(&provider, path, body);
        assert_eq!((status, head.contains("retry-after: 7")), (429, says), "{target}: {head}");
        assert_eq!(provider.finish().exchanges[0].retry_after, says.then_some(7));
    }
}

#[test]
fn an_empty_id_is_there() {
    let mut call = ScriptedCall::of("tides");
    call.id = Some(String::new());
    let provider = MockProvider::builder().turn(Turn::calls([call])).start().unwrap();
    let ask = |is_streamed: bool| {
        let body =
            json!({"model": "m", "stream": is_streamed, "messages": [{"role": "user", "content": "?"}]});
        post(&provider, "/v1/chat/completions", &body.to_string()).2
    };
    assert!(ask(false).contains("\"id\":\"\""));
    assert!(ask(true).contains("\"id\":\"\""));
}

#[test]
fn hostile_requests_are_answered() {
    let provider = MockProvider::builder()
        .max_body(1000)
        .strictness(Strictness::Likely)
        .check_on_drop(false)
        .start()
        .unwrap();
    assert_eq!(post(&provider, "/v1/messages", "{\"messages\": [").0, 400);
    assert_eq!(post(&provider, "/v1/messages", "").0, 400);
    assert_eq!(post(&provider, "/v1/messages", &" ".repeat(2000)).0, 413);
    assert_eq!(post(&provider, "/v1/models", "{}").0, 404);
    assert_eq!(steer(&provider, "report", "").0, 200);
    assert_eq!(steer(&provider, "nothing", "").0, 404);
    let (_, _, report) = steer(&provider, "report", "");
    let report: Json = serde_json::from_str(&report).unwrap();
    assert_eq!(report["requests"], 2, "{report}");
}

#[test]
fn a_mistyped_target_is_suggested() {
    let error = MockProvider::builder().target("antropic").unwrap_err().to_string();
    assert_eq!(error, "there is no target `antropic`; did you mean `anthropic`?");
}

#[test]
fn a_mock_that_is_dropped_fails_the_test_whose_client_was_refused() {
    let provider = MockProvider::builder().start().unwrap();
    post(&provider, "/v1/messages", &request(unanswered()));
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(provider)));
    let message = *dropped.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("refused with 400: unanswered-tool-call at /messages/1/content/0"), "{message}");
    let provider = MockProvider::builder().check_on_drop(false).start().unwrap();
    post(&provider, "/v1/messages", &request(unanswered()));
}

#[test]
fn each_exchange_is_shown_to_who_watches() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let watched = Arc::clone(&seen);
    let builder = MockProvider::builder()
        .on_exchange(move |exchange| watched.lock().unwrap().push((exchange.status, exchange.json_line())));
    let provider = builder.start().unwrap();
    post(&provider, "/v1/messages", &request(json!([{"role": "user", "content": "Hi"}])));
    let run = provider.finish();
    let seen = seen.lock().unwrap();
    assert_eq!((seen[0].0, format!("{}\n", seen[0].1)), (200, run.json_lines()));
}

#[test]
fn a_script_can_be_set_while_it_runs() {
    let provider = MockProvider::builder().start().unwrap();
    let ask = || post(&provider, "/v1/messages", &request(json!([{"role": "user", "content": "Hi"}]))).2;
    assert!(ask().contains("tool_use"));
    let (status, ..) = steer(&provider, "script", "[[turn]]\ntext = \"Moin.\"\n");
    assert_eq!(status, 200);
    assert!(ask().contains("Moin."));
    let (status, _, body) = steer(&provider, "script", "[[turn]]\ntxt = \"Moin.\"\n");
    assert!(status == 400 && body.contains("unknown field `txt`"), "{status} {body}");
    assert_eq!(provider.run().exchanges.len(), 2);
    steer(&provider, "reset", "");
    assert_eq!(provider.run().exchanges.len(), 0);
}

#[test]
fn the_scripts_of_the_documentation_are_read() {
    let page = include_str!("../../../docs/serve.md");
    let scripts: Vec<_> = page.split("```toml script\n").skip(1).collect();
    for text in &scripts {
        let turns = script(text.split("```").next().unwrap()).unwrap();
        assert_eq!(turns.last(), Some(&Turn::text("Low at six.")));
    }
    assert!(!scripts.is_empty());
}

#[test]
fn what_the_template_refuses_is_refused_and_prompts_are_recorded() {
    let source = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system, please') }}{% endif %}\
        <{{ m.role }}>{{ m.content }}{% endfor %}";
    let template = toolcheck_template::Template::from_file_bytes("a.jinja", source.as_bytes()).unwrap();
    let provider =
        MockProvider::builder().target("vllm").unwrap().template(Arc::new(template.into())).start().unwrap();
    let body =
        |role: &str| json!({"model": "m", "messages": [{"role": role, "content": "Moin."}]}).to_string();
    let (status, head, text) = post(&provider, "/v1/chat/completions", &body("system"));
    assert!(status == 400 && text.contains("no system, please"), "{status} {text}");
    assert!(!text.contains("chat template refuses"), "a server says what the template says: {text}");
    assert!(head.contains("x-toolcheck-rule: template-refuses"), "{head}");
    assert_eq!(post(&provider, "/v1/chat/completions", &body("user")).0, 200);
    let run = provider.finish();
    let prompts: Vec<Option<&str>> =
        run.exchanges.iter().map(|exchange| exchange.prompt.as_deref()).collect();
    assert_eq!(prompts, [None, Some("<user>Moin.")]);
    assert!(run.exchanges[1].json_line().contains(r#""rendered":"<user>Moin.""#));
}
