//! Recordings that are answered again, and held against the mock.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value as Json, json};
use toolcheck_serve::{MockProvider, Recording, ScriptedCall, Turn};

use crate::common::post;

fn request(results: &[&str], more: &Json) -> Json {
    let call = |number: usize| json!({"id": format!("call_{number}"), "type": "function", "function": {"name": "tides", "arguments": "{\"harbour\": \"Husum\"}"}});
    let mut messages = vec![
        json!({"role": "system", "content": "Today is Monday."}),
        json!({"role": "user", "content": "When is low tide?"}),
    ];
    for (number, result) in results.iter().enumerate() {
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call(number)]}));
        messages.push(json!({"role": "tool", "tool_call_id": format!("call_{number}"), "content": result}));
    }
    let mut request = json!({"model": "gpt-5", "messages": messages});
    for (key, value) in more.as_object().into_iter().flatten() {
        request[key] = value.clone();
    }
    request
}

fn response(text: &str) -> Json {
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5-real", "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}], "usage": {"total_tokens": 77}})
}

fn exchange(request: &Json, response: &Json, status: u16) -> String {
    json!({"request": request, "response": response, "status": status, "path": "/v1/chat/completions"})
        .to_string()
        + "\n"
}

fn recorded() -> Recording {
    let refused = json!({"error": {"message": "No.", "type": "invalid_request_error"}});
    let text = [
        exchange(&request(&["at six"], &json!({})), &response("Low at six."), 200),
        exchange(&request(&["at six"], &json!({})), &response("At six, I said."), 200),
        exchange(&request(&["at six", "at six"], &json!({})), &refused, 400),
    ];
    Recording::read(text.concat().as_bytes()).unwrap()
}

fn ask(provider: &MockProvider, request: &Json) -> (u16, String) {
    let (status, _, body) = post(provider, "/v1/chat/completions", &request.to_string());
    (status, body)
}

#[test]
fn a_request_is_answered_as_one_that_says_the_same() {
    let provider = MockProvider::builder().replay(recorded()).check_on_drop(false).start().unwrap();
    let same = request(&["at six"], &json!({"model": "gpt-6", "temperature": 0}));
    let (status, body) = ask(&provider, &same);
    let body: Json = serde_json::from_str(&body).unwrap();
    assert_eq!((status, body), (200, response("Low at six.")));
    // The same request again gets what came next.
    assert!(ask(&provider, &same).1.contains("At six, I said."));
    assert!(ask(&provider, &same).1.contains("At six, I said."));
    // The ids are others, and so are the times in the system text and in the result.
    let mut other = request(&["at seven"], &json!({}));
    other["messages"][0]["content"] = json!("Today is Tuesday.");
    other["messages"][2]["tool_calls"][0]["id"] = json!("call_x");
    other["messages"][3]["tool_call_id"] = json!("call_x");
    assert!(ask(&provider, &other).1.contains("Low at six."));
    let (status, body) = ask(&provider, &request(&["at six", "at seven"], &json!({})));
    assert_eq!((status, body.contains("No.")), (400, true), "{body}");
    assert!(provider.finish().unexpected.is_empty());
}

#[test]
fn what_was_not_recorded_is_a_fault() {
    let provider = MockProvider::builder().replay(recorded()).check_on_drop(false).start().unwrap();
    let (status, body) = ask(&provider, &request(&[], &json!({})));
    assert_eq!((status, body.contains("nothing in the recording")), (404, true), "{body}");
    // What the API refuses for a known reason is refused for that.
    let mut broken = request(&["at six"], &json!({}));
    broken["messages"].as_array_mut().unwrap().remove(2);
    assert_eq!(ask(&provider, &broken).0, 400);
    let run = provider.finish();
    assert_eq!(run.missed().map(|(path, _)| path).collect::<Vec<_>>(), ["/v1/chat/completions"]);
    assert_eq!(run.report()["not_recorded"][0]["path"], "/v1/chat/completions");
    assert_eq!(run.refused().count(), 1);
}

#[test]
fn a_body_is_streamed_and_a_stream_is_whole_if_that_is_asked_for() {
    let provider = MockProvider::builder().replay(recorded()).start().unwrap();
    let (_, stream) = ask(&provider, &request(&["at six"], &json!({"stream": true})));
    assert!(stream.contains("gpt-5-real") && stream.contains("data: [DONE]"), "{stream}");
    let events = stream.lines().filter(|line| line.starts_with("data:"));
    let events: String = events.map(|line| format!("{line}\n\n")).collect();
    let streamed = request(&["at six"], &json!({"stream": true}));
    let again = json!({"request": streamed, "response": events}).to_string();
    let provider =
        MockProvider::builder().replay(Recording::read(again.as_bytes()).unwrap()).start().unwrap();
    let (_, whole) = ask(&provider, &request(&["at six"], &json!({})));
    let whole: Json = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["choices"][0]["message"]["content"], "Low at six.");
    let (_, same) = ask(&provider, &request(&["at six"], &json!({"stream": true})));
    assert_eq!(same.matches("data: ").count(), stream.matches("data: ").count());
}

#[test]
fn every_format_is_answered_again_streamed_or_not() {
    for format in toolcheck_core::formats::ALL {
        let script = [Turn::calls([ScriptedCall::of("tides")]), Turn::text("Low at six.")];
        let provider = MockProvider::builder().target(format.id).unwrap().turns(script).start().unwrap();
        let mut sent = Vec::new();
        for is_streamed in [false, true] {
            let conversation =
                toolcheck_core::Conversation::new(vec![toolcheck_core::conversation::Turn::User(
                    "Tides?".to_owned(),
                )]);
            let path = toolcheck_serve::path(format, "a-model", is_streamed);
            let mut body = format.write_request(&conversation).body;
            if !path.contains("a-model") {
                (body["model"], body["stream"]) = (json!("a-model"), json!(is_streamed));
            }
            let answer = post(&provider, &path, &body.to_string());
            assert_eq!(answer.0, 200, "{}", answer.2);
            sent.push((path, body, answer.2));
        }
        let lines = provider.finish().json_lines();
        for (path, body, answer) in sent {
            // Each alone, so that what is asked for is what was recorded.
            let line = lines.lines().find(|line| {
                line.contains(&format!("\"path\":\"{path}\"")) && line.contains(&body.to_string())
            });
            let recording = Recording::read(line.unwrap().as_bytes()).unwrap();
            let provider =
                MockProvider::builder().target(format.id).unwrap().replay(recording).start().unwrap();
            let again = post(&provider, &path, &body.to_string());
            assert_eq!((again.0, again.2), (200, answer), "{}", format.id);
        }
    }
}

#[test]
fn the_mock_is_held_against_what_an_api_has_answered() {
    let unanswered = {
        let mut request = request(&["at six"], &json!({}));
        request["messages"].as_array_mut().unwrap().remove(3);
        request
    };
    let known = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_0";
    let error = |text: &str| json!({"error": {"message": text}});
    let text = [
        exchange(&request(&["at six"], &json!({})), &response("Low at six."), 200),
        exchange(&unanswered, &error(known), 400),
        exchange(&unanswered, &response("Well."), 200),
        exchange(&unanswered, &error("You have been very bad."), 400),
        exchange(&request(&["at six"], &json!({})), &error("I don't like it."), 400),
        exchange(&request(&["at six"], &json!({})), &error("Slow down."), 429),
    ];
    let recording = Recording::read(text.concat().as_bytes()).unwrap();
    let compared = MockProvider::builder().compare(&recording);
    assert_eq!((compared.taken, compared.refused, compared.left_out), (1, 1, 1));
    let found: Vec<_> = compared
        .differences
        .iter()
        .map(|difference| (difference.number, difference.status, difference.mock.is_some()))
        .collect();
    assert_eq!(found, [(3, 200, true), (4, 400, true), (5, 400, false)]);
    assert_eq!(compared.differences[2].text.as_deref(), Some("I don't like it."));
}

#[test]
fn the_name_of_an_event_does_not_end_it() {
    let evil = "ping\n\nevent: evil\r\ndata: 1\u{0}";
    let event = json!({"type": evil});
    let request = json!({"model": "m", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "a"}]});
    for event in [event, json!({"event": evil, "data": {"type": "ping"}})] {
        let text = json!({"request": request, "response": [event], "path": "/v1/messages"}).to_string();
        let provider =
            MockProvider::builder().replay(Recording::read(text.as_bytes()).unwrap()).start().unwrap();
        let (_, _, stream) = post(&provider, "/v1/messages", &request.to_string());
        assert_eq!(stream.matches("\nevent: ").count(), 1, "{stream}");
        assert!(!stream.contains('\0'), "{stream}");
    }
}

#[test]
fn images_and_waits_are_told_apart() {
    let asks = |image: &str| {
        let url = format!("data:image/png;base64,{image}");
        json!({"model": "m", "messages": [{"role": "user", "content": [
            {"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]}]})
    };
    let wait = json!({"request": asks("BBBB"), "response": {"error": {"message": "Slow down."}}, "status": 429,
        "path": "/v1/chat/completions", "headers": {"retry-after": "7"}});
    let text = exchange(&asks("AAAA"), &response("A cat."), 200) + &wait.to_string();
    let provider = MockProvider::builder().replay(Recording::read(text.as_bytes()).unwrap());
    let provider = provider.check_on_drop(false).start().unwrap();
    assert!(ask(&provider, &asks("AAAA")).1.contains("A cat."));
    let (status, head, _) = post(&provider, "/v1/chat/completions", &asks("BBBB").to_string());
    assert_eq!((status, head.contains("retry-after: 7")), (429, true), "{head}");
    let (status, body) = ask(&provider, &asks("CCCC"));
    assert_eq!((status, body.contains("nothing in the recording")), (404, true), "{body}");
}

#[test]
fn what_has_no_exchange_is_no_recording() {
    for text in
        ["", "{}", "nonsense", r#"{"request": {"messages": []}}"#, r#"{"model": "m", "messages": []}"#]
    {
        assert!(Recording::read(text.as_bytes()).is_err(), "{text}");
    }
}

/// A client that takes a broken stream for a whole one must fail with its recording too.
#[test]
fn a_response_that_broke_off_breaks_off_again() {
    let piece = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": null, "delta": {"content": "Lo"}}]});
    let request = request(&["at six"], &json!({}));
    let line = json!({"request": request, "response": [piece], "status": 200, "cut": true, "path": "/v1/chat/completions"});
    let recording = Recording::read(line.to_string().as_bytes()).unwrap();
    let provider = MockProvider::builder().replay(recording).check_on_drop(false).start().unwrap();
    for is_streamed in [true, false] {
        let mut body = request.clone();
        body["stream"] = json!(is_streamed);
        let body = body.to_string();
        let mut client = TcpStream::connect(provider.url().replace("http://", "")).unwrap();
        let length = body.len();
        write!(client, "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
            .unwrap();
        let mut seen = Vec::new();
        let _ = client.read_to_end(&mut seen);
        let seen = String::from_utf8_lossy(&seen);
        assert_eq!(seen.contains("data: "), is_streamed, "{seen}");
        assert!(!seen.contains("[DONE]") && !seen.contains("\"stop\""), "{seen}");
        assert!(!seen.contains("\r\n0\r\n"), "a whole response ends with a piece of no length: {seen}");
    }
}
