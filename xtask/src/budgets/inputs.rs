//! The inputs whose cost is counted: requests of each format, long and short conversations, rows of a data set, the log of
//! an agent and recordings.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value as Json, json};

use super::bodies::{self, Random};
use crate::root;

/// A run of the program whose instructions have a budget.
pub(super) struct Input {
    /// Its name in the table of budgets.
    pub(super) name: String,
    /// What is read: a file, or a folder of files.
    pub(super) path: PathBuf,
    /// The arguments of `toolcheck lint` besides it.
    pub(super) arguments: &'static [&'static str],
    /// Whether a JSON parser reads it too, as a yardstick.
    pub(super) is_json: bool,
}

/// Writes all inputs into a folder, each of about so many bytes.
pub(super) fn write(folder: &Path, bytes: usize) -> Result<Vec<Input>> {
    fs::create_dir_all(folder)?;
    let mut inputs = Vec::new();
    let mut add = |name: &str, extension: &str, text: String, arguments| -> Result<()> {
        let path = folder.join(name).with_extension(extension);
        fs::write(&path, text)?;
        let is_json = extension == "jsonl";
        inputs.push(Input { name: name.to_owned(), path, arguments, is_json });
        Ok(())
    };
    for bodies in bodies::ALL {
        add(bodies.format, "jsonl", bodies.lines(bytes), &[])?;
    }
    add("long", "jsonl", repeated(bytes, long), &["--kind", "session"])?;
    add("short", "jsonl", repeated(bytes, short), &["--kind", "session"])?;
    add("rows", "jsonl", repeated(bytes, row), &["--kind", "dataset"])?;
    add("claude-code", "jsonl", claude_code(bytes), &[])?;
    add("exchanges", "jsonl", exchanges(bytes), &[])?;
    add("vcr", "yaml", vcr(bytes / 3), &[])?;
    add("go-vcr", "yaml", go_vcr(bytes / 3), &[])?;
    add("no-json", "md", "# Notes\n\nNothing here is JSON.\n".to_owned(), &[])?;
    add("start", "txt", "# Notes\n\nNothing here is JSON.\n".to_owned(), &["--format", "openai-chat"])?;
    let wrong = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}], "top_kk": 3});
    add("wrong-key", "json", wrong.to_string(), &[])?;
    let wrong = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": [{"type": "texts", "text": "Hello"}]}]});
    add("wrong-block", "json", wrong.to_string(), &[])?;
    let example = root().join("fixtures/seeds/coco-before.json");
    inputs.push(Input { name: "readme".to_owned(), path: example, arguments: &[], is_json: false });
    for (name, count) in [("files-10", 10), ("files-110", 110)] {
        inputs.push(files(folder, name, count)?);
    }
    Ok(inputs)
}

/// Lines until there are so many bytes.
fn repeated(bytes: usize, line: fn(&mut Random, usize) -> Json) -> String {
    let (mut lines, mut random) = (String::new(), Random::new(5));
    for number in 0.. {
        if lines.len() >= bytes {
            break;
        }
        lines += &format!("{}\n", line(&mut random, number));
    }
    lines
}

fn files(folder: &Path, name: &str, count: usize) -> Result<Input> {
    let path = folder.join(name);
    fs::create_dir_all(&path)?;
    let lines = bodies::ALL[6].lines(count * 4_000);
    for (number, line) in lines.lines().take(count).enumerate() {
        fs::write(path.join(format!("{number:03}.json")), line)?;
    }
    Ok(Input { name: name.to_owned(), path, arguments: &[], is_json: false })
}

/// A conversation of thirty messages under a long instruction.
fn long(random: &mut Random, number: usize) -> Json {
    let mut messages = vec![json!({"role": "system", "content": random.text(900)})];
    for turn in 0..10 {
        let id = format!("call_{number:010}{turn:04}");
        let call = json!({"id": id, "type": "function", "function": {"name": "look_up_booking", "arguments": json!({"booking": random.text(1)}).to_string()}});
        messages.push(json!({"role": "user", "content": random.text(25)}));
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "name": "look_up_booking", "content": random.text(90)}));
        messages.push(json!({"role": "assistant", "content": random.text(40)}));
    }
    json!({"messages": messages})
}

fn short(random: &mut Random, number: usize) -> Json {
    let mut messages = vec![json!({"role": "system", "content": "Be brief."})];
    for turn in 0..2 + random.below(6) {
        messages.push(json!({"role": "user", "content": format!("What is {}?", random.below(999))}));
        let ids: Vec<String> =
            (0..=random.below(3)).map(|call| format!("call_{number}_{turn}_{call}")).collect();
        let call = |id: &String| json!({"id": id, "type": "function", "function": {"name": "get", "arguments": "{\"x\": 7}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()}));
        messages.extend(ids.iter().map(|id| json!({"role": "tool", "tool_call_id": id, "content": "42"})));
        messages.push(json!({"role": "assistant", "content": format!("It is {}.", random.below(99))}));
    }
    json!({"model": "gpt-4o", "messages": messages})
}

/// A row of a data set in the form of ShareGPT.
fn row(random: &mut Random, _: usize) -> Json {
    let call =
        json!({"name": "search_recipes", "arguments": {"ingredients": [random.text(1), random.text(1)]}});
    let result = json!({"recipes": [{"name": random.text(3), "instructions": random.text(20)}]});
    let tools = json!([{"name": "search_recipes", "description": "Finds recipes.", "parameters": {"type": "object", "properties": {"ingredients": {"type": "array", "items": {"type": "string"}}}, "required": ["ingredients"]}}]);
    json!({"conversations": [
        {"from": "human", "value": random.text(20)},
        {"from": "function_call", "value": call.to_string()},
        {"from": "observation", "value": result.to_string()},
        {"from": "gpt", "value": random.text(60)},
    ], "tools": tools.to_string()})
}

fn claude_code(bytes: usize) -> String {
    let (mut log, mut random, mut number) = (String::new(), Random::new(9), 0_u64);
    let mut parent = Json::Null;
    while log.len() < bytes {
        let mut entry = |kind: &str, message: Json, more: &[(&str, Json)]| {
            number += 1;
            let uuid = format!("{number:08x}-0000-4000-8000-{number:012x}");
            let mut line = json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/ada/ferry", "sessionId": "6f0c7f4e-0000-4000-8000-000000000001", "version": "2.1.39", "gitBranch": "main", "type": kind, "message": message, "uuid": uuid, "timestamp": "2026-02-11T19:49:31.586Z"});
            for (key, value) in more {
                line[*key] = value.clone();
            }
            parent = json!(uuid);
            writeln!(log, "{line}").expect("a string takes everything");
        };
        let id = format!("toolu_{:024x}", random.below(1 << 30));
        let message = format!("msg_{:024x}", random.below(1 << 30));
        let answer = |block: Json| json!({"model": "claude-sonnet-4-5", "id": message, "type": "message", "role": "assistant", "content": [block], "stop_reason": null, "usage": {"input_tokens": 4, "output_tokens": 29}});
        entry("user", json!({"role": "user", "content": random.text(20)}), &[]);
        entry("assistant", answer(json!({"type": "text", "text": random.text(30)})), &[]);
        entry(
            "assistant",
            answer(
                json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "/home/ada/ferry/timetable.rs"}}),
            ),
            &[],
        );
        let result = random.text(250);
        let file =
            json!({"type": "text", "file": {"filePath": "/home/ada/ferry/timetable.rs", "content": result}});
        entry(
            "user",
            json!({"role": "user", "content": [{"tool_use_id": id, "type": "tool_result", "content": result}]}),
            &[("toolUseResult", file)],
        );
        entry("assistant", answer(json!({"type": "text", "text": random.text(40)})), &[]);
    }
    log
}

/// A response of Chat Completions.
fn answer() -> Json {
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000, "model": "gpt-4o", "choices": [{"index": 0, "message": {"role": "assistant", "content": "At six."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}})
}

/// Requests with their responses, as a gateway logs them.
fn exchanges(bytes: usize) -> String {
    let (url, answer) = ("https://api.openai.com/v1/chat/completions", answer());
    let lines = bodies::ALL[6].lines(bytes);
    let exchange =
        |body| format!("{{\"url\":\"{url}\",\"status\":200,\"request\":{body},\"response\":{answer}}}\n");
    lines.lines().map(exchange).collect()
}

/// A text in single quotes, as YAML has it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn vcr(bytes: usize) -> String {
    let mut cassette = "interactions:\n".to_owned();
    for body in bodies::ALL[6].lines(bytes).lines() {
        let (body, answer) = (quoted(body), quoted(&answer().to_string()));
        write!(cassette, "- request:\n    body: {body}\n    headers:\n      content-type:\n      - application/json\n    method: POST\n    uri: https://api.openai.com/v1/chat/completions\n  response:\n    body:\n      string: {answer}\n    headers:\n      content-type:\n      - application/json\n    status:\n      code: 200\n      message: OK\n").expect("a string takes everything");
    }
    cassette + "version: 1\n"
}

fn go_vcr(bytes: usize) -> String {
    let mut cassette = "---\nversion: 2\ninteractions:\n".to_owned();
    for (number, body) in bodies::ALL[6].lines(bytes).lines().enumerate() {
        let (body, answer) = (quoted(body), quoted(&answer().to_string()));
        write!(cassette, "    - id: {number}\n      request:\n        proto: HTTP/1.1\n        content_length: 1\n        host: api.openai.com\n        body: {body}\n        headers:\n            Content-Type:\n                - application/json\n        url: https://api.openai.com/v1/chat/completions\n        method: POST\n      response:\n        proto: HTTP/2.0\n        content_length: -1\n        body: {answer}\n        headers:\n            Content-Type:\n                - application/json\n        status: 200 OK\n        code: 200\n        duration: 1s\n").expect("a string takes everything");
    }
    cassette
}
