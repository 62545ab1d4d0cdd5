//! `toolcheck conform` with clients of a line.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod common;

use common::{folder, seen_in, write};

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
    // It asks the model once, and tells its user what the model has called.
    let client = r#"while read task; do
        url=$(echo "$task" | sed 's/.*"base_url":"\([^"]*\)".*/\1/')
        body='{"model": "m", "messages": [{"role": "user", "content": "hello"}]}'
        said=$(curl -s "$url/v1/chat/completions" -d "$body" | sed 's/.*"name":"\([a-z_]*\)".*/\1/')
        echo '{"outcome": "done", "text": "'$said'"}'
    done"#;
    let run = |more: &[&str]| {
        let arguments = ["conform", "--client", client, "--format", "openai-chat", "--stream", "whole"];
        seen_in(&folder, &[&arguments[..], more].concat())
    };
    let only = ["--only", "single-call,all-fail,empty-answer", "--profile", "profile.toml"];
    insta::assert_snapshot!("profile", run(&only));
    write(&folder, "profile.toml", "[tools.ehco]\ntool = \"x\"\n");
    insta::assert_snapshot!("no-such-tool", run(&only));
}

#[test]
fn a_task_says_what_the_driver_must_be_able_to_do() {
    let folder = folder("conform-needs");
    let client = r#"while read task; do
        needs=$(echo "$task" | sed 's/"/ /g')
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
        "max_turns :2",
        "needs :[ switch-format ]",
        "then_format : openai-chat",
        "needs :[ withdraw-tools ]",
        "then_tools :false",
    ] {
        assert!(seen.contains(said), "{said}: {seen}");
    }
}
