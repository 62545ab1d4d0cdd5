//! `toolcheck conform` with clients of a line.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::common::{self, folder, run, seen, seen_in, toolcheck_in, words, write};
use serde_json::{Value as Json, json};

#[test]
fn the_report_for_programs_names_the_exchanges() {
    let folder = folder("conform-json");
    let client = r#"while read task; do url=$(echo "$task" | sed 's/.*"base_url":"\([^"]*\)".*/\1/'); echo '{"outcome": "done", "text": "'$url'"}'; done"#;
    let seen = seen_in(
        &folder,
        &[&words("conform --only parallel-calls --format gemini --stream streamed --record runs --output-format json")[..], &["--client", client]].concat(),
    );
    assert!(seen.starts_with("status: 1"), "{seen}");
    assert!(seen.contains(r#""file": "parallel-calls.gemini.streamed.jsonl""#), "{seen}");
    assert!(seen.contains("done: http://127.0.0.1:"), "{seen}");
    assert_eq!(
        std::fs::read_to_string(folder.join("runs/parallel-calls.gemini.streamed.jsonl")).unwrap(),
        ""
    );
}

/// An agent with two tools, which runs until it calls the second one.
#[test]
#[ignore = "it is the driver of another test"]
fn an_agent() {
    for line in std::io::stdin().lines() {
        let task: Json = serde_json::from_str(&line.unwrap()).unwrap();
        let mut messages = vec![json!({"role": "user", "content": task["prompt"]})];
        let answer = loop {
            let message = asked(task["base_url"].as_str().unwrap(), &messages);
            let Some(call) = message["tool_calls"].get(0).cloned() else { break "no call".to_owned() };
            let function = &call["function"];
            let arguments: Json = serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
            if function["name"] == "final_answer" {
                break arguments["answer"].as_str().unwrap().to_owned();
            }
            let command = arguments["cmd"].as_str().unwrap();
            let said = command.strip_prefix("echo ").unwrap();
            messages.push(message);
            messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": said}));
        };
        writeln!(std::io::stdout(), "{}", json!({"outcome": "done", "text": answer})).unwrap();
    }
}

/// What the model says to a conversation.
fn asked(url: &str, messages: &[Json]) -> Json {
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let tools = [function("exec_command"), function("final_answer")];
    let body = json!({"model": "m", "messages": messages, "tools": tools}).to_string();
    let mut answer = String::new();
    posted(url, "/v1/chat/completions", &body).read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str::<Json>(body).unwrap()["choices"][0]["message"].take()
}

/// The answer to a request, head and body.
fn posted(url: &str, path: &str, body: &str) -> TcpStream {
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream
}

/// A program that sends `request.json`, because a shell alone cannot.
#[test]
#[ignore = "it is the sender of other tests"]
fn a_request() {
    let [url, path] = ["URL", "URL_PATH"].map(|name| std::env::var(name).unwrap());
    let body = std::fs::read_to_string("request.json").unwrap();
    // A stream that is cut off is an answer too.
    let _ = posted(&url, &path, &body).read_to_end(&mut Vec::new());
}

/// A client that asks a path once, and then prints `outcome`.
fn asking(path: &str, outcome: &str) -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        r#"while read task; do
            url=$(echo "$task" | sed 's/.*"base_url":"\([^"]*\)".*/\1/')
            URL=$url URL_PATH={path} '{}' --exact conform::a_request --ignored < /dev/null > /dev/null 2>&1
            echo '{outcome}'
        done"#,
        program.display()
    )
}

#[test]
fn an_agent_with_tools_of_its_own_is_run_with_a_profile() {
    let folder = folder("conform-profile");
    let profile = r#"
final = { tool = "final_answer", arguments = { answer = "{text}" } }
[tools.echo]
tool = "exec_command"
arguments = { cmd = "echo got {text}" }
"#;
    write(&folder, "profile.toml", profile);
    let program = std::env::current_exe().unwrap();
    // The test runner that the driver is in complains if nobody reads its last line.
    let client =
        format!("'{}' --exact conform::an_agent --ignored --nocapture 2>/dev/null", program.display());
    let run = |more: &[&str]| {
        let arguments = ["conform", "--client", &client, "--format", "openai-chat", "--stream", "whole"];
        seen_in(&folder, &[&arguments[..], more].concat())
    };
    let only = ["--only", "single-call,all-fail,empty-answer", "--profile", "profile.toml"];
    insta::assert_snapshot!("profile", run(&only));
    write(&folder, "profile.toml", "[tools.ehco]\ntool = \"x\"\n");
    insta::assert_snapshot!("no-such-tool", run(&only));
}

#[test]
#[cfg(unix)]
fn what_the_first_run_told_is_judged_if_the_driver_says_it() {
    let folder = folder("conform-first");
    write(
        &folder,
        "request.json",
        r#"{"model": "m", "stream": true, "messages": [{"role": "user", "content": "tides"}]}"#,
    );
    let seen = |first: &str| {
        let outcome = format!(r#"{{"outcome": "done", "text": "I am."{first}}}"#);
        let client = asking("/v1/chat/completions", &outcome);
        let only = ["--only", "resume-after-cut-stream", "--format", "openai-chat"];
        seen_in(&folder, &[&["conform", "--client", &client][..], &only].concat())
    };
    let is_told = |seen: &str| {
        let line = seen.split_whitespace().collect::<Vec<_>>().join(" ");
        line.contains("reports-error") && line.contains("it ended as if all went well, with `half`")
    };
    assert!(is_told(&seen(r#", "first": {"outcome": "done", "text": "half"}"#)));
    assert!(!seen(r#", "first": {"outcome": "error", "text": "half"}"#).contains("reports-error"));
    // Nothing is known of it.
    assert!(!seen("").contains("reports-error"));
}

/// What a client sends: a call that is not answered, which the API refuses.
const UNANSWERED: &str = r#"{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "tides"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "echo", "input": {}}]}, {"role": "user", "content": "and now?"}]}"#;

fn report(folder: &std::path::Path, output: &str) -> String {
    write(folder, "request.json", UNANSWERED);
    let client = asking("/v1/messages", r#"{"outcome": "done", "text": "Done <b>well</b>."}"#);
    let arguments = [
        &words("conform --format anthropic --stream whole --only single-call")[..],
        &["--client", &client, "--name", "the <agent>", "--output-format", output],
    ]
    .concat();
    String::from_utf8(toolcheck_in(folder).args(arguments).output().unwrap().stdout).unwrap()
}

#[test]
fn json_is_as_its_schema_says_and_has_the_words_of_the_api() {
    let folder = folder("conform-schema");
    let text = report(&folder, "json");
    let (schema, json) = (common::validator("conform"), serde_json::from_str::<Json>(&text).unwrap());
    common::assert_fits(&schema, &json);
    let run = &json["runs"][0];
    assert_eq!(run["exchanges"].as_array().unwrap().len(), 1, "{run}");
    let refused = &run["refused"][0];
    assert!(refused["text"].as_str().unwrap().contains("`tool_use` ids were found without"), "{refused}");
    assert!(refused["source"].as_str().unwrap().starts_with("https://"), "{refused}");
    assert!(!schema.is_valid(&serde_json::json!({"version": 1, "runs": []})));
}

#[test]
fn junit_and_html_have_the_verdicts_the_words_of_the_api_and_the_picture() {
    let folder = folder("conform-outputs");
    for output in ["junit", "html"] {
        let text = report(&folder, output);
        assert!(text.contains("the &lt;agent&gt;") && !text.contains("<agent>"), "{text}");
        for wanted in
            ["is-not-refused", "ids were found without", "unanswered-tool-call", "→ echo", "Done &lt;b&gt;"]
        {
            assert!(text.replace("→ 1 echo", "→ echo").contains(wanted), "{output}: {wanted}: {text}");
        }
    }
}

#[test]
fn what_stands_in_a_report_is_data() {
    let folder = folder("matrix-hostile");
    let bad = "</td><script>alert(1)</script>\u{1b}[31m|`x`\n::error::x ##[x]\u{202e}";
    let run = serde_json::json!({
        "scenario": bad, "title": bad, "scored": true, "format": bad, "stream": true, "status": "fail", "reason": bad,
        "verdicts": [{"check": bad, "status": "fail", "reason": bad, "known": bad}], "outcome": bad,
        "refused": [{"rule": bad, "message": bad, "place": bad, "text": bad, "status": 400, "source": format!("https://{bad}\" onclick=\"x")}],
        "exchanges": [{"request": {"messages": [{"role": bad, "content": bad}]}, "response": bad, "status": 200}, bad, 1, null],
        "exchanges_left_out": 3, "file": bad,
    });
    let report = serde_json::json!({
        "version": 1, "toolcheck": bad, "set": bad, "name": bad, "client": bad, "runs": [run], "stale": [bad],
    });
    write(&folder, "report.json", report.to_string());
    for output in ["html", "markdown", "json"] {
        let text = seen_in(&folder, &["matrix", "report.json", "--output-format", output]);
        assert!(text.starts_with("status: 0"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{output}: {text}");
        let commands = common::runners::commands(text.as_bytes());
        assert!(commands.is_empty(), "{output}: {commands:?}");
        if output != "json" {
            assert!(!text.contains("<script") && !text.contains("\" onclick"), "{output}: {text}");
        }
        if output == "markdown" {
            assert!(text.lines().skip(2).filter(|line| line.starts_with('|')).count() == 3, "{text}");
        }
    }
}

#[test]
fn a_scenario_has_a_page_that_says_what_happens_and_what_to_do() {
    insta::assert_snapshot!("scenario", seen(&run(&["explain", "parallel-one-fails"])));
    for scenario in toolcheck_conform::scenarios::all() {
        let output = run(&["explain", &scenario.id]);
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && page.contains(&scenario.title), "{page}");
        for expected in &scenario.checks {
            let check = toolcheck_conform::checks::find(expected.check()).unwrap();
            assert!(page.contains(&format!("To fix a loop: {}.", check.help)), "{page}");
        }
    }
    let output = run(&["explain", "parallel-one-fails", "--output-format", "json"]);
    let page: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&page["id"], page["checks"].as_array().unwrap().len()), (&json!("parallel-one-fails"), 5));
    let mistyped = seen(&run(&["explain", "paralel-one-fails"]));
    assert!(mistyped.contains("`toolcheck conform --list` all scenarios"), "{mistyped}");
}

/// A shell gives no input to what it starts with `&`, and then nothing else would tell why the mock is gone.
#[test]
fn a_mock_without_an_input_says_why_it_ends() {
    let mut command = toolcheck_in(&folder("mock-without-input"));
    let done = command.arg("serve").stdin(std::process::Stdio::null()).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("no standard input") && said.contains("`--keep-running`"), "{said}");
}
