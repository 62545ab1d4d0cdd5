//! `toolcheck conform` with clients of a line.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;

use common::{folder, seen_in, write};
use serde_json::{Value as Json, json};

#[test]
fn a_client_that_asks_nothing_fails_and_one_that_ends_broke() {
    let folder = folder("conform-clients");
    let lazy =
        r#"while read task; do echo 'starting'; echo '{"outcome": "done", "text": "All done."}'; done"#;
    let run = |client: &str, more: &[&str]| {
        let arguments = [
            "conform",
            "--client",
            client,
            "--only",
            "single-call",
            "--format",
            "anthropic",
            "--timeout",
            "5",
        ];
        seen_in(&folder, &[&arguments[..], more].concat())
    };
    insta::assert_snapshot!("asks-nothing", run(lazy, &["--stream", "whole"]));
    insta::assert_snapshot!("markdown", run(lazy, &["--output-format", "markdown"]));
    insta::assert_snapshot!("ends", run("true", &[]));
    insta::assert_snapshot!(
        "skips",
        run(r#"while read task; do echo '{"outcome": "skip", "text": "not now"}'; done"#, &[])
    );
    insta::assert_snapshot!(
        "odd",
        run(r#"while read task; do echo '{"outcome": "won", "text": ""}'; done"#, &["--stream", "whole"])
    );
    write(
        &folder,
        "known.toml",
        "[[known]]\nscenario = \"single-call\"\nreason = \"it is lazy\"\n[[known]]\nscenario = \"all-fail\"\nreason = \"not run\"\n[[known]]\nscenario = \"single-call\"\ncheck = \"finishes\"\nreason = \"of old\"\nissue = \"#1\"\n",
    );
    insta::assert_snapshot!("known", run(lazy, &["--stream", "whole", "--known", "known.toml"]));
    insta::assert_snapshot!(
        "no-such-scenario",
        seen_in(&folder, &["conform", "--client", "true", "--only", "single-cal"])
    );
}

#[test]
fn the_report_for_programs_names_the_exchanges() {
    let folder = folder("conform-json");
    let client = r#"while read task; do url=$(echo "$task" | sed 's/.*"base_url":"\([^"]*\)".*/\1/'); echo '{"outcome": "done", "text": "'$url'"}'; done"#;
    let seen = seen_in(
        &folder,
        &[
            "conform",
            "--client",
            client,
            "--only",
            "parallel-calls",
            "--format",
            "gemini",
            "--stream",
            "streamed",
            "--record",
            "runs",
            "--output-format",
            "json",
        ],
    );
    assert!(seen.starts_with("status: 1"), "{seen}");
    assert!(seen.contains(r#""exchanges": "parallel-calls.gemini.streamed.jsonl""#), "{seen}");
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
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str::<Json>(body).unwrap()["choices"][0]["message"].take()
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
    let client = format!("'{}' --exact an_agent --ignored --nocapture 2>/dev/null", program.display());
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
    let seen = |first: &str| {
        let client =
            format!(r#"while read task; do echo '{{"outcome": "done", "text": "I am."{first}}}'; done"#);
        let only = ["--only", "resume-after-cut-stream", "--format", "openai-chat"];
        seen_in(&folder, &[&["conform", "--client", &client][..], &only].concat())
    };
    let is_told = |seen: &str| seen.contains("reports-error: it ended as if all went well, with `half`");
    assert!(is_told(&seen(r#", "first": {"outcome": "done", "text": "half"}"#)));
    assert!(!seen(r#", "first": {"outcome": "error", "text": "half"}"#).contains("reports-error"));
    // Nothing is known of it.
    assert!(!seen("").contains("reports-error"));
}

#[test]
fn a_task_says_what_the_driver_must_be_able_to_do() {
    let folder = folder("conform-needs");
    let client = r#"while read task; do
        needs=$(echo "$task" | sed 's/.*"max_turns"/max_turns/; s/"prompt.*"then_format"/then_format/; s/"/ /g')
        echo '{"outcome": "skip", "text": "'$needs'"}'
    done"#;
    let only =
        "--only=huge-result,resume-after-interrupt,resume-after-max-turns,switch-provider,tools-withdrawn";
    let seen =
        seen_in(&folder, &["conform", "--client", client, only, "--format=anthropic", "--stream=whole"]);
    for said in [
        "needs :[ tool:huge ]",
        "needs :[ interrupt ]",
        "needs :[ max-turns ]",
        "max_turns:2",
        "needs :[ switch-format ]",
        "then_format: openai-chat",
        "needs :[ withdraw-tools ]",
        "then_tools :false",
    ] {
        assert!(seen.contains(said), "{said}: {seen}");
    }
}
