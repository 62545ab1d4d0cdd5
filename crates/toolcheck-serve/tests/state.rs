//! Conversations that the server keeps, as a client sees them.

use serde_json::{Value as Json, json};
use toolcheck_serve::{MockProvider, ScriptedCall, Turn};

use crate::common::{post, send};

fn tools() -> Json {
    json!([{"type": "function", "name": "tides", "parameters": {"type": "object", "properties": {}}, "strict": false}])
}

/// Posts a request to Responses, and returns the status and the answer.
fn respond(provider: &MockProvider, request: &Json) -> (u16, Json) {
    let mut request = request.clone();
    request["model"] = json!("gpt-5");
    request["tools"] = tools();
    let (status, _, body) = post(provider, "/v1/responses", &request.to_string());
    (status, serde_json::from_str(&body).unwrap())
}

fn script() -> MockProvider {
    let builder = MockProvider::builder().target("openai-responses").unwrap();
    let calls = Turn::calls([ScriptedCall::of("tides"), ScriptedCall::of("tides")]);
    builder.turn(calls).turn(Turn::text("Low at six.")).turn(Turn::text("At noon.")).start().unwrap()
}

fn outputs(answer: &Json) -> Vec<Json> {
    let calls = answer["output"].as_array().unwrap().iter().filter(|item| item["type"] == "function_call");
    calls
        .map(|call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "ok"}))
        .collect()
}

fn text(answer: &Json) -> &str {
    answer["output"][0]["content"][0]["text"].as_str().unwrap_or_default()
}

fn message(answer: &Json) -> &str {
    answer["error"]["message"].as_str().unwrap_or_default()
}

#[test]
fn a_response_is_gone_on_from() {
    let provider = script();
    let (_, first) = respond(&provider, &json!({"input": "When is low tide?"}));
    assert_eq!((&first["store"], &first["previous_response_id"]), (&json!(true), &Json::Null));
    let next = json!({"previous_response_id": first["id"], "input": outputs(&first)});
    let (status, second) = respond(&provider, &next);
    assert_eq!((status, text(&second)), (200, "Low at six."), "{second}");
    assert_eq!(second["previous_response_id"], first["id"]);
    let (_, again) = respond(&provider, &next);
    assert_eq!(again, second);
    let (_, third) = respond(&provider, &json!({"previous_response_id": second["id"], "input": "And high?"}));
    assert_eq!(text(&third), "At noon.");
    provider.finish().assert_conformant();
}

#[test]
fn items_of_a_conversation_are_taken_back() {
    let mut turn = Turn::text("Low at six.");
    turn.reasoning = Some("Hm.".to_owned());
    let provider = MockProvider::builder().turn(turn).start().unwrap();
    let (_, made) = ask(&provider, "POST", "/v1/conversations", &json!({}));
    let items = format!("/v1/conversations/{}/items", made["id"].as_str().unwrap());
    let (_, said) = respond(&provider, &json!({"input": "When is low tide?", "store": false}));
    ask(&provider, "POST", &items, &json!({"items": said["output"]}));
    let (_, list) = ask(&provider, "GET", &format!("{items}?order=asc"), &Json::Null);
    assert_eq!(list["data"][0], said["output"][0]);
    let mut input = list["data"].as_array().unwrap().clone();
    input.push(json!({"role": "user", "content": "And then?"}));
    let (status, answer) = respond(&provider, &json!({"input": input}));
    assert_eq!(status, 200, "{answer}");
}

#[test]
fn the_conversations_of_other_apis_are_not_those_of_responses() {
    let ask = |provider: &MockProvider, method: &str, path: &str, agent: &str| {
        send(provider, method, path, &format!("user-agent: {agent}\r\n"), "{}")
    };
    let mistral = "mistral-client-python/3.7.0";
    let any = MockProvider::builder().check_on_drop(false).start().unwrap();
    assert_eq!(ask(&any, "POST", "/v1/conversations", "x").0, 200);
    assert_eq!(ask(&any, "POST", "/v1/conversations", mistral).0, 404);
    let own = MockProvider::builder().target("mistral").unwrap().check_on_drop(false).start().unwrap();
    assert_eq!(ask(&own, "POST", "/v1/conversations", "x").0, 404);
    assert_eq!(any.finish().not_found, ["POST /v1/conversations"]);
    // And their models are described as they describe them.
    let google = "google-genai-sdk/3.6.1 gl-python/3.12";
    let any = MockProvider::builder().start().unwrap();
    let models =
        |agent: &str| -> Json { serde_json::from_str(&ask(&any, "GET", "/v1/models", agent).2).unwrap() };
    assert_eq!(models(mistral)["data"][0]["type"], "base");
    assert_eq!(models(google)["models"][0]["name"], "models/model");
    assert_eq!(models("x")["data"][0]["type"], "model");
}

#[test]
fn conversations_at_the_same_time_do_not_meet() {
    let provider = script();
    let begin = |input: &str, store: bool| respond(&provider, &json!({"input": input, "store": store})).1;
    let (first, second, third) =
        (begin("Low tide?", true), begin("High tide?", true), begin("Low tide?", false));
    assert!(first["id"] != second["id"] && first["id"] != third["id"] && second["id"] != third["id"]);
    for one in [&first, &second] {
        let (status, next) =
            respond(&provider, &json!({"previous_response_id": one["id"], "input": outputs(one)}));
        assert_eq!((status, text(&next)), (200, "Low at six."), "{next}");
    }
    provider.finish().assert_conformant();
}

#[test]
fn what_the_server_keeps_is_judged_with_what_is_sent() {
    let provider = script();
    let (_, first) = respond(&provider, &json!({"input": "When is low tide?"}));
    let id = &first["id"];
    let results = outputs(&first);
    for (request, status, text) in [
        (
            json!({"previous_response_id": id, "input": "Well?"}),
            400,
            "No tool output found for function call",
        ),
        (
            json!({"previous_response_id": id, "input": results[..1]}),
            400,
            "No tool output found for function call",
        ),
        (
            json!({"previous_response_id": id, "input": [results[0], results[1],
                {"type": "function_call_output", "call_id": "call_nobody", "output": "ok"}]}),
            400,
            "No tool call found for function call output with call_id call_nobody.",
        ),
        (
            json!({"previous_response_id": "resp_nobody", "input": "Well?"}),
            400,
            "Previous response with id 'resp_nobody' not found.",
        ),
        (
            json!({"input": [{"type": "item_reference", "id": "msg_nobody"}]}),
            404,
            "Item with id 'msg_nobody' not found.",
        ),
    ] {
        let (said, answer) = respond(&provider, &request);
        assert_eq!(said, status, "{request} {answer}");
        assert!(message(&answer).starts_with(text), "{request} {answer}");
    }
    assert_eq!(provider.finish().refused().count(), 5);
}

#[test]
fn items_are_referred_to() {
    let provider = script();
    let (_, first) = respond(&provider, &json!({"input": "When is low tide?"}));
    let items = first["output"].as_array().unwrap();
    let mut input = vec![json!({"role": "user", "content": "When is low tide?"})];
    input.extend(items.iter().map(|item| json!({"type": "item_reference", "id": item["id"]})));
    input.extend(outputs(&first));
    let (status, second) = respond(&provider, &json!({"input": input}));
    assert_eq!((status, text(&second)), (200, "Low at six."), "{second}");
    input.pop();
    let (status, refused) = respond(&provider, &json!({"input": input}));
    assert_eq!(status, 400, "{refused}");
    assert!(message(&refused).starts_with("No tool output found for function call"), "{refused}");
    assert_eq!(provider.finish().refused().count(), 1);
}

#[test]
fn what_is_not_stored_is_not_kept() {
    let provider = script();
    let (_, first) = respond(&provider, &json!({"store": false, "input": "When is low tide?"}));
    assert_eq!(first["store"], false);
    let next = json!({"previous_response_id": first["id"], "input": outputs(&first)});
    let (status, refused) = respond(&provider, &next);
    assert_eq!(status, 400, "{refused}");
    assert!(message(&refused).starts_with("Previous response with id"), "{refused}");
    assert_eq!(refused["error"]["code"], "previous_response_not_found");
    drop(provider.finish());
}

#[test]
fn nothing_is_said_of_a_response_that_broke_off() {
    let builder = MockProvider::builder().target("openai-responses").unwrap();
    let mut broken = Turn::calls([ScriptedCall::of("tides"), ScriptedCall::of("tides")]);
    (broken.cut_after, broken.clean_end) = (Some(4), true);
    let provider = builder.turn(broken).turn(Turn::text("Low at six.")).start().unwrap();
    let (status, _, stream) = post(
        &provider,
        "/v1/responses",
        &json!({"model": "gpt-5", "stream": true, "tools": tools(), "input": "When is low tide?"})
            .to_string(),
    );
    assert_eq!(status, 200);
    let id = stream.split("\"id\":\"resp_").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let next = json!({"previous_response_id": format!("resp_{id}"), "input": "Well?"});
    let (status, second) = respond(&provider, &next);
    assert_eq!((status, text(&second)), (200, "Low at six."), "{second}");
    provider.finish().assert_conformant();
}

#[test]
fn a_conversation_is_made_and_gone_on_with() {
    let provider = script();
    let (_, _, made) = post(&provider, "/v1/conversations", "{}");
    let made: Json = serde_json::from_str(&made).unwrap();
    let (_, first) = respond(&provider, &json!({"conversation": made["id"], "input": "When is low tide?"}));
    let next = json!({"conversation": {"id": made["id"]}, "input": outputs(&first)});
    let (status, second) = respond(&provider, &next);
    assert_eq!((status, text(&second)), (200, "Low at six."), "{second}");
    provider.finish().assert_conformant();
}

#[test]
fn a_thread_of_anthropic_goes_on() {
    let builder = MockProvider::builder().target("anthropic").unwrap();
    let script = [Turn::calls([ScriptedCall::of("tides")]), Turn::text("Low at six.")];
    let provider = builder.turns(script).start().unwrap();
    let send = |request: Json| {
        let mut request = request;
        (request["model"], request["max_tokens"]) = (json!("claude-opus-4-8"), json!(100));
        let (status, _, body) = post(&provider, "/v1/messages", &request.to_string());
        (status, serde_json::from_str::<Json>(&body).unwrap())
    };
    let (status, first) = send(json!({
        "thread": {"type": "create"}, "messages": [{"role": "user", "content": "When is low tide?"}],
        "tools": [{"name": "tides", "input_schema": {"type": "object", "properties": {}}}]
    }));
    assert_eq!(status, 200, "{first}");
    let result = json!([{"type": "tool_result", "tool_use_id": first["content"][0]["id"], "content": "ok"}]);
    let goes_on = |id: &Json, content: &Json| {
        send(json!({
            "thread": {"type": "continue", "previous_message_id": id}, "messages": [{"role": "user", "content": content}]
        }))
    };
    let (status, second) = goes_on(&first["id"], &result);
    assert_eq!((status, &second["content"][0]["text"]), (200, &json!("Low at six.")), "{second}");
    let code =
        |answer: &Json| answer["error"]["details"]["error_code"].as_str().unwrap_or_default().to_owned();
    let (status, unknown) = goes_on(&json!("msg_nobody"), &result);
    assert_eq!((status, &*code(&unknown)), (404, "thread_not_found"), "{unknown}");
    let (status, again) = goes_on(&first["id"], &result);
    assert_eq!((status, &*code(&again)), (400, "thread_already_continued"), "{again}");
    let run = provider.finish();
    assert_eq!(run.refused().count(), 2);
    assert_eq!(
        run.exchanges.iter().map(|exchange| exchange.goes_on).collect::<Vec<_>>(),
        [false, true, false, true]
    );
}

/// Asks for something besides conversations, and returns the status and the answer.
fn ask(provider: &MockProvider, method: &str, path: &str, body: &Json) -> (u16, Json) {
    let (status, _, body) = send(provider, method, path, "", &body.to_string());
    (status, serde_json::from_str(&body).unwrap())
}

#[test]
fn a_response_is_asked_for_again() {
    let provider = script();
    let (_, first) = respond(&provider, &json!({"input": "When is low tide?"}));
    let path = format!("/v1/responses/{}", first["id"].as_str().unwrap());
    let get = |path: &str| ask(&provider, "GET", path, &Json::Null);
    assert_eq!(get(&path), (200, first.clone()));
    let (status, head, events) = send(&provider, "GET", &format!("{path}?stream=true"), "", "");
    assert!(status == 200 && head.contains("text/event-stream"), "{head}");
    let last = events.rsplit("data: ").find(|data| data.starts_with('{')).unwrap();
    let last: Json = serde_json::from_str(last.split('\n').next().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["response"]), (&json!("response.completed"), &first));
    let (_, items) = get(&format!("{path}/input_items"));
    assert_eq!(items["data"][0]["content"][0], json!({"type": "input_text", "text": "When is low tide?"}));
    let (status, cancelled) = ask(&provider, "POST", &format!("{path}/cancel"), &json!({}));
    assert_eq!((status, message(&cancelled)), (400, "Cannot cancel a synchronous response."));
    let (_, deleted) = ask(&provider, "DELETE", &path, &Json::Null);
    assert_eq!(deleted["deleted"], true);
    let (status, gone) = get(&path);
    assert_eq!((status, gone["error"]["type"].as_str()), (404, Some("invalid_request_error")), "{gone}");
    // And nothing goes on from it.
    let (status, _) =
        respond(&provider, &json!({"previous_response_id": first["id"], "input": outputs(&first)}));
    assert_eq!(status, 400);
    let (_, unstored) = respond(&provider, &json!({"input": "When is low tide?", "store": false}));
    assert_eq!(get(&format!("/v1/responses/{}", unstored["id"].as_str().unwrap())).0, 404);
    drop(provider.finish());
}

#[test]
fn a_conversation_has_items() {
    let provider = script();
    let post = |path: &str, body: Json| ask(&provider, "POST", path, &body);
    let (_, made) = post("/v1/conversations", json!({"metadata": {"a": "b"}}));
    let conversation = format!("/v1/conversations/{}", made["id"].as_str().unwrap());
    let items = format!("{conversation}/items");
    let call = json!({"type": "function_call", "call_id": "call_x", "name": "tides", "arguments": "{}"});
    let (_, added) = post(&items, json!({"items": [{"role": "user", "content": "Moin."}, call]}));
    assert_eq!(added["data"][0]["type"], "message");
    // What was put there is there.
    let result = json!({"type": "function_call_output", "call_id": "call_x", "output": "ok"});
    let (status, answer) = respond(&provider, &json!({"conversation": made["id"], "input": [result]}));
    assert_eq!((status, text(&answer)), (200, "Low at six."), "{answer}");
    let get = |path: &str| ask(&provider, "GET", path, &Json::Null).1;
    let kinds = |list: &Json| -> Vec<String> {
        list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["type"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = get(&format!("{items}?order=asc"));
    assert_eq!(kinds(&all), ["message", "function_call", "function_call_output", "message"]);
    let page = get(&format!("{items}?order=asc&limit=1&after={}", all["first_id"].as_str().unwrap()));
    assert_eq!((kinds(&page), &page["has_more"]), (vec!["function_call".to_owned()], &json!(true)));
    let item = format!("{items}/{}", all["last_id"].as_str().unwrap());
    assert_eq!(get(&item), all["data"][3]);
    assert_eq!(ask(&provider, "DELETE", &item, &Json::Null), (200, made.clone()));
    assert_eq!(
        message(&get(&item)),
        format!("Item with id '{}' not found.", all["last_id"].as_str().unwrap())
    );
    assert_eq!(get(&conversation), made);
    assert_eq!(post(&conversation, json!({"metadata": {}})).1["metadata"], json!({}));
    assert_eq!(ask(&provider, "DELETE", &conversation, &Json::Null).1["object"], "conversation.deleted");
    let (status, unknown) = ask(&provider, "GET", &conversation, &Json::Null);
    assert_eq!(
        (status, message(&unknown)),
        (404, &*format!("Conversation with id '{}' not found.", made["id"].as_str().unwrap()))
    );
    provider.finish().assert_conformant();
}
