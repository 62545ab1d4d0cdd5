//! What the loop sends and gets: requests over HTTP, and what a conversation has no place for.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value as Json, json};
use toolcheck_core::Format;
use toolcheck_core::reply::Framing;

use super::tools::IMAGE;

/// Where a request is sent. A stream of a format that would otherwise be a list is asked for as events.
pub(crate) fn path(format: &Format, is_streamed: bool) -> String {
    let path = toolcheck_serve::path(format, "m", is_streamed);
    match format.framing {
        Framing::ArrayUnless(query) if is_streamed => format!("{path}?{query}"),
        _ => path,
    }
}

/// Sends a body, and returns the status, the seconds to wait and the body; `None` if the connection broke.
pub(crate) fn post(url: &str, path: &str, body: &str) -> Option<(u16, u64, String)> {
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let wait = head.split("retry-after: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    let body = if head.contains("transfer-encoding: chunked") {
        chunks(&bytes[end + 4..])?
    } else {
        bytes[end + 4..].to_vec()
    };
    Some((head[9..12].parse().ok()?, wait.unwrap_or_default(), String::from_utf8_lossy(&body).into_owned()))
}

/// The body of a response that came in chunks; `None` if the last one did not come.
fn chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?, 16).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend(rest.get(line + 2..line + 2 + length)?);
        rest = rest.get(line + 2 + length + 2..)?;
    }
}

/// The message in a response, as it was written, if a conversation has no place for all of it: encrypted reasoning, calls
/// of the provider, signatures of calls.
pub(crate) fn message(format: &Format, is_streamed: bool, body: &str) -> Option<Json> {
    let values: Vec<Json> = if is_streamed {
        let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    } else {
        vec![serde_json::from_str(body).ok()?]
    };
    let parts = |value: &Json, path: &str| value.pointer(path).and_then(Json::as_array).cloned();
    let (key, role, parts): (_, _, Vec<Json>) = match (format.id, is_streamed) {
        ("anthropic", false) => ("content", "assistant", parts(values.first()?, "/content")?),
        ("anthropic", true) => ("content", "assistant", blocks(&values)),
        ("gemini", _) => {
            let parts = values.iter().filter_map(|value| parts(value, "/candidates/0/content/parts"));
            ("parts", "model", parts.flatten().collect())
        }
        ("openai-chat", false) => {
            let message = values.first()?.pointer("/choices/0/message")?;
            return message.get("reasoning_content").map(|_| message.clone());
        }
        ("openai-chat", true) => return reasoned(&values),
        _ => return None,
    };
    let is_special = |part: &Json| {
        matches!(part["type"].as_str(), Some("redacted_thinking" | "server_tool_use"))
            || part.get("functionCall").is_some() && part.get("thoughtSignature").is_some()
    };
    parts.iter().any(is_special).then(|| json!({"role": role, key: parts}))
}

/// The message with reasoning in a stream of Chat Completions, with whole calls.
fn reasoned(chunks: &[Json]) -> Option<Json> {
    let deltas = || chunks.iter().filter_map(|chunk| chunk.pointer("/choices/0/delta"));
    let reasoning: String = deltas().filter_map(|delta| delta["reasoning_content"].as_str()).collect();
    let calls = deltas().filter_map(|delta| delta.pointer("/tool_calls/0"));
    let mut call = calls.clone().next().filter(|_| !reasoning.is_empty())?.clone();
    let arguments: String = calls.filter_map(|call| call.pointer("/function/arguments")?.as_str()).collect();
    call["function"]["arguments"] = json!(arguments);
    Some(json!({"role": "assistant", "content": null, "reasoning_content": reasoning, "tool_calls": [call]}))
}

fn blocks(events: &[Json]) -> Vec<Json> {
    let mut blocks: Vec<(Json, String)> = Vec::new();
    for event in events {
        if event["type"] == "content_block_start" {
            blocks.push((event["content_block"].clone(), String::new()));
        }
        let Some((block, input)) = blocks.last_mut() else { continue };
        let delta = &event["delta"];
        input.push_str(delta["partial_json"].as_str().unwrap_or_default());
        for key in ["text", "thinking", "signature"] {
            if let Some(piece) = delta[key].as_str() {
                block[key] = json!(block[key].as_str().unwrap_or_default().to_owned() + piece);
            }
        }
    }
    let whole = |(mut block, input): (Json, String)| {
        // Broken arguments are no part of what is kept.
        if let Ok(input) = serde_json::from_str(&input) {
            block["input"] = input;
        }
        block
    };
    blocks.into_iter().map(whole).collect()
}

/// Puts the arguments that the model wrote in place of those that a conversation has room for.
pub(crate) fn keep_arguments(value: &mut Json, broken: &BTreeMap<String, String>) {
    match value {
        Json::Array(elements) => elements.iter_mut().for_each(|element| keep_arguments(element, broken)),
        Json::Object(members) => {
            let id = ["call_id", "id"].iter().find_map(|key| members.get(*key).and_then(Json::as_str));
            let own = id.and_then(|id| broken.get(id)).map(|text| json!(text));
            if let Some(own) = own {
                let function = members.get_mut("function").and_then(|function| function.get_mut("arguments"));
                if let Some(arguments) = function {
                    *arguments = own;
                } else if let Some(arguments) = members.get_mut("arguments") {
                    *arguments = own;
                }
            }
            members.values_mut().for_each(|member| keep_arguments(member, broken));
        }
        _ => {}
    }
}

/// Has a request show the image where its format has a place for it.
pub(crate) fn show_image(format: &Format, body: &mut Json) {
    let url = format!("data:image/png;base64,{IMAGE}");
    match format.id {
        "anthropic" => {
            let source = json!({"type": "base64", "media_type": "image/png", "data": IMAGE});
            replace(body, "content", &json!([{"type": "image", "source": source}]));
        }
        "bedrock-converse" => {
            let image = json!({"image": {"format": "png", "source": {"bytes": IMAGE}}});
            replace(body, "content", &json!([image]));
        }
        "gemini" => {
            let image = json!({"inlineData": {"mimeType": "image/png", "data": IMAGE}});
            if replace(body, "response", &json!({"output": "The image follows."})) {
                body["contents"].as_array_mut().unwrap().last_mut().unwrap()["parts"]
                    .as_array_mut()
                    .unwrap()
                    .push(image);
            }
        }
        "openai-chat" if replace(body, "content", &json!("The image follows.")) => {
            let part = json!({"type": "image_url", "image_url": {"url": url}});
            let message = json!({"role": "user", "content": [part]});
            body["messages"].as_array_mut().unwrap().push(message);
        }
        "gemini-interactions" => {
            let image = json!({"type": "image", "mime_type": "image/png", "data": IMAGE});
            replace(body, "result", &json!([image]));
        }
        "openai-responses" => {
            replace(body, "output", &json!([{"type": "input_image", "image_url": url}]));
        }
        _ => {}
    }
}

/// Puts something in place of what a key has, if it is the image and nothing else.
fn replace(value: &mut Json, key: &str, other: &Json) -> bool {
    match value {
        Json::Array(elements) => {
            // Each of them, and not only up to the first.
            elements
                .iter_mut()
                .map(|element| replace(element, key, other))
                .fold(false, |any, is_one| any | is_one)
        }
        Json::Object(members) => {
            let is_image = |member: &Json| match member {
                Json::String(text) => text == IMAGE,
                Json::Array(parts) => parts.len() == 1 && parts[0]["text"] == IMAGE,
                Json::Object(parts) => parts.len() == 1 && parts.values().all(|part| part == IMAGE),
                _ => false,
            };
            if let Some(member) = members.get_mut(key).filter(|member| is_image(member)) {
                *member = other.clone();
                return true;
            }
            members
                .values_mut()
                .map(|member| replace(member, key, other))
                .fold(false, |any, is_one| any | is_one)
        }
        _ => false,
    }
}
