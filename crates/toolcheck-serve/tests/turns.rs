//! What the model says, and what answers and errors say besides, as the APIs do.

use crate::common::post;
use crate::provider::request;
use serde_json::{Value as Json, json};
use toolcheck_serve::{MockProvider, Turn, script};

fn json_of((status, _, body): (u16, String, String)) -> Json {
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

#[test]
fn the_model_that_only_the_path_names_is_judged() {
    let provider = MockProvider::builder().check_on_drop(false).start().unwrap();
    let call = json!({"functionCall": {"name": "tides", "args": {}}});
    let result = json!({"functionResponse": {"name": "tides", "response": {"result": "low"}}});
    let contents = json!([
        {"role": "user", "parts": [{"text": "When?"}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [result]}
    ]);
    let body = json!({"contents": contents}).to_string();
    let (status, _, answer) = post(&provider, "/v1beta/models/gemini-3-pro-preview:generateContent", &body);
    assert!(status == 400 && answer.contains("missing a thought_signature"), "{answer}");
    assert_eq!(post(&provider, "/v1beta/models/gemini-2.5-pro:generateContent", &body).0, 200);
    let body = |version: &str| {
        json!({"anthropic_version": version, "max_tokens": 9, "temperature": 0.5,
            "messages": [{"role": "user", "content": "When?"}]})
    };
    for (path, version) in [
        ("/v1/projects/p/locations/l/publishers/anthropic/models/MODEL:rawPredict", "vertex-2023-10-16"),
        ("/model/anthropic.MODEL-v1:0/invoke", "bedrock-2023-05-31"),
    ] {
        let status = |model: &str| {
            let path = path.replace("MODEL", model);
            post(&provider, &path, &body(version).to_string()).0
        };
        assert_eq!((status("claude-opus-4-7"), status("claude-sonnet-4-5")), (400, 200), "{path}");
    }
}

#[test]
fn a_turn_that_is_sent_back_as_it_came_is_taken() {
    let provider = MockProvider::builder().start().unwrap();
    // With thinking, these models think before they call a tool.
    let mut body: Json =
        serde_json::from_str(&request(json!([{"role": "user", "content": "When?"}]))).unwrap();
    body["max_tokens"] = json!(2048);
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    let said = json_of(post(&provider, "/v1/messages", &body.to_string()))["content"].clone();
    assert_eq!((&said[0]["type"], &said[1]["type"]), (&json!("thinking"), &json!("tool_use")));
    let result = json!([{"type": "tool_result", "tool_use_id": said[1]["id"], "content": "low"}]);
    let messages = body["messages"].as_array_mut().unwrap();
    messages
        .extend([json!({"role": "assistant", "content": said}), json!({"role": "user", "content": result})]);
    let last = json_of(post(&provider, "/v1/messages", &body.to_string()));
    assert_eq!(last["content"][0]["type"], "text");

    // Gemini 3 signs the first call, and gives each an id.
    let tools = json!([{"functionDeclarations": [{"name": "tides"}]}]);
    let mut body = json!({"contents": [{"role": "user", "parts": [{"text": "When?"}]}], "tools": tools});
    let path = |model: &str| format!("/v1beta/models/{model}:generateContent");
    let content = |body: &Json, model: &str| {
        json_of(post(&provider, &path(model), &body.to_string()))["candidates"][0]["content"].clone()
    };
    let said = content(&body, "gemini-3-pro-preview");
    let part = &said["parts"][0];
    assert_eq!(part["thoughtSignature"], "Y2Fs00000000");
    assert_eq!(part["functionCall"]["id"].as_str().map(str::len), Some(8), "{said}");
    let plain = content(&body, "gemini-2.5-pro");
    assert_eq!(plain["parts"], json!([{"functionCall": {"name": "tides", "args": {}}}]));
    let id = &part["functionCall"]["id"];
    let result = json!({"functionResponse": {"id": id, "name": "tides", "response": {"result": "low"}}});
    body["contents"]
        .as_array_mut()
        .unwrap()
        .extend([said.clone(), json!({"role": "user", "parts": [result]})]);
    assert_eq!(content(&body, "gemini-3-pro-preview")["parts"][0]["text"], "Done.");
}

#[test]
fn a_chat_stream_tells_the_tokens_only_if_it_is_asked_to() {
    let provider = MockProvider::builder().turn(Turn::text("Low.")).start().unwrap();
    let ask = |options: Json| {
        let body = json!({"model": "m", "stream": true, "stream_options": options,
            "messages": [{"role": "user", "content": "When?"}]});
        let (_, _, body) = post(&provider, "/v1/chat/completions", &body.to_string());
        let chunks = body.lines().filter_map(|line| line.strip_prefix("data: ")?.strip_suffix('}'));
        chunks.map(|chunk| serde_json::from_str(&format!("{chunk}}}")).unwrap()).collect::<Vec<Json>>()
    };
    for options in [Json::Null, json!({"include_usage": false})] {
        let chunks = ask(options);
        assert!(chunks.iter().all(|chunk| chunk["choices"][0].is_object() && chunk.get("usage").is_none()));
    }
    let mut chunks = ask(json!({"include_usage": true}));
    let last = chunks.pop().unwrap();
    assert!(last["choices"] == json!([]) && last["usage"]["total_tokens"].is_u64(), "{last}");
    assert!(chunks.iter().all(|chunk| chunk.get("usage") == Some(&Json::Null)), "{chunks:?}");
}

#[test]
fn the_model_calls_only_what_the_client_answers_and_as_it_is_declared() {
    let provider = MockProvider::builder().start().unwrap();
    let claude = |tools: Json| {
        let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": tools,
            "messages": [{"role": "user", "content": "When?"}]});
        json_of(post(&provider, "/v1/messages", &body.to_string()))["content"][0].clone()
    };
    let search = json!({"type": "web_search_20250305", "name": "web_search"});
    let tides = json!({"name": "tides", "input_schema": {"type": "object"}});
    assert_eq!(claude(json!([search]))["text"], "Done.");
    assert_eq!(claude(json!([search, tides]))["name"], "tides");
    assert_eq!(claude(json!([{"type": "bash_20250124", "name": "bash"}]))["name"], "bash");

    let body = |tools: Json| json!({"model": "gpt-5", "input": "When?", "tools": tools});
    let mut asked = body(json!([{"type": "custom", "name": "apply_patch"}]));
    let item = json_of(post(&provider, "/v1/responses", &asked.to_string()))["output"][0].clone();
    assert_eq!((&item["type"], &item["input"]), (&json!("custom_tool_call"), &json!("text")), "{item}");
    asked["stream"] = json!(true);
    let (_, _, events) = post(&provider, "/v1/responses", &asked.to_string());
    assert!(events.contains("event: response.custom_tool_call_input.done"), "{events}");
    asked["stream"] = json!(false);
    let result = json!({"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "ok"});
    asked["input"] = json!([{"role": "user", "content": "When?"}, item, result]);
    assert_eq!(json_of(post(&provider, "/v1/responses", &asked.to_string()))["output"][0]["type"], "message");

    let inner =
        json!({"type": "function", "name": "tides", "parameters": {"type": "object", "properties": {}}});
    let space = json!({"type": "namespace", "name": "sea", "description": "The sea.", "tools": [inner]});
    let item =
        json_of(post(&provider, "/v1/responses", &body(json!([space])).to_string()))["output"][0].clone();
    assert_eq!((&item["name"], &item["namespace"]), (&json!("tides"), &json!("sea")), "{item}");

    let body = |is_streamed: bool| {
        json!({"model": "gpt-5", "stream": is_streamed, "messages": [{"role": "user", "content": "When?"}],
            "tools": [{"type": "custom", "custom": {"name": "apply_patch"}}]})
        .to_string()
    };
    let whole = json_of(post(&provider, "/v1/chat/completions", &body(false)));
    let call = &whole["choices"][0]["message"]["tool_calls"][0];
    assert_eq!(call["custom"], json!({"name": "apply_patch", "input": "text"}), "{call}");
    let (_, _, events) = post(&provider, "/v1/chat/completions", &body(true));
    assert!(events.contains(r#"{"custom":{"input":"text"},"index":0}"#), "{events}");
}

#[test]
fn an_answer_that_must_fit_a_schema_does() {
    let provider = MockProvider::builder().start().unwrap();
    let schema = json!({"type": "object", "properties": {"harbour": {"type": "string"}},
        "required": ["harbour"], "additionalProperties": false});
    let format =
        json!({"type": "json_schema", "json_schema": {"name": "tide", "strict": true, "schema": schema}});
    let body = json!({"model": "gpt-5", "messages": [{"role": "user", "content": "When?"}], "response_format": format});
    let said = json_of(post(&provider, "/v1/chat/completions", &body.to_string()));
    assert_eq!(said["choices"][0]["message"]["content"], r#"{"harbour":"text"}"#);
}

#[test]
fn a_response_repeats_the_settings_of_its_request() {
    let provider = MockProvider::builder().start().unwrap();
    let body = json!({"model": "gpt-5", "input": "When?", "instructions": "Be short.", "metadata": {"a": "b"},
        "max_output_tokens": 64, "conversation": "conv_1", "store": false});
    let said = json_of(post(&provider, "/v1/responses", &body.to_string()));
    for key in ["instructions", "metadata", "max_output_tokens"] {
        assert_eq!(said[key], body[key], "{key}");
    }
    assert_eq!(said["conversation"], json!({"id": "conv_1"}));
}

#[test]
fn errors_say_what_the_api_says_besides_the_text() {
    let script =
        script("[[turn]]\nstatus = 400\ntext = \"This model's maximum context length is 8 tokens.\"");
    let provider = MockProvider::builder().turns(script.unwrap()).check_on_drop(false).start().unwrap();
    let error = |path: &str, body: Json| {
        let (status, _, body) = post(&provider, path, &body.to_string());
        assert_eq!(status, 400, "{body}");
        let error = serde_json::from_str::<Json>(&body).unwrap()["error"].clone();
        (error["code"].clone(), error["param"].clone())
    };
    let user = json!({"role": "user", "content": "When?"});
    let chat = "/v1/chat/completions";
    let fine = json!({"model": "m", "messages": [user]});
    assert_eq!(error(chat, fine), (json!("context_length_exceeded"), json!("messages")));
    let orphan = json!({"role": "tool", "tool_call_id": "x", "content": "x"});
    let body = json!({"model": "m", "messages": [user, orphan]});
    assert_eq!(error(chat, body), (Json::Null, json!("messages.[1].role")));
    let call = |id| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let calls = json!({"role": "assistant", "tool_calls": [call("x"), call("y")]});
    let mut messages =
        vec![user.clone(), calls, json!({"role": "tool", "tool_call_id": "x", "content": "x"})];
    assert_eq!(error(chat, json!({"model": "m", "messages": messages})).1, json!("messages"));
    messages.push(user.clone());
    assert_eq!(error(chat, json!({"model": "m", "messages": messages})).1, json!("messages.[3].role"));
    let item = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "foo": 1});
    let body = json!({"model": "m", "input": [user, item]});
    assert_eq!(error("/v1/responses", body), (json!("unknown_parameter"), json!("input[1].foo")));
}

#[test]
fn every_response_names_its_request_as_the_api_does() {
    let provider = MockProvider::builder().start().unwrap();
    let user = json!([{"role": "user", "content": "When?"}]);
    for (path, body, header) in [
        ("/v1/messages", json!({"model": "m", "max_tokens": 9, "messages": user}), "request-id"),
        ("/v1/chat/completions", json!({"model": "m", "messages": user}), "x-request-id"),
        ("/v1/chat/completions", json!({"model": "m", "stream": true, "messages": user}), "x-request-id"),
        (
            "/model/m/converse",
            json!({"messages": [{"role": "user", "content": [{"text": "When?"}]}]}),
            "x-amzn-requestid",
        ),
    ] {
        let (status, head, body) = post(&provider, path, &body.to_string());
        assert!(status == 200 && head.contains(&format!("\r\n{header}: req_")), "{head}\n{body}");
    }
}
