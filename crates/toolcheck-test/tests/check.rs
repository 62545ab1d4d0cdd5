//! `check` as a user's test calls it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value as Json, json};
use toolcheck_test::{Body, check};

fn failure(test: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(test)).expect_err("it fails");
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into()))
        .unwrap()
}

/// Two calls, one without a result.
fn unanswered() -> Json {
    json!({"max_tokens": 9, "messages": [
        {"role": "user", "content": "Which ferry goes first?"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_pier", "name": "find_ferry", "input": {}},
            {"type": "tool_use", "id": "toolu_quay", "name": "find_ferry", "input": {}}
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_pier", "content": "at six"}]}
    ], "tools": [{"name": "find_ferry", "input_schema": {"type": "object"}}]})
}

const FINDING: &str = "error unanswered-tool-call at /messages/1/content/1";

#[test]
fn all_types_of_body_are_checked_alike() {
    let value = unanswered();
    let text = value.to_string();
    let bodies: [Body; 8] = [
        Body::of(&value),
        Body::from(&value),
        Body::from(&*text),
        Body::from(&text),
        Body::from(text.as_bytes()),
        Body::from(text.clone().into_bytes()),
        Body::from(text.clone()),
        Body::from(value.clone()),
    ];
    for body in bodies {
        check(body).assert_findings(&[FINDING]);
    }
    check(b"[{\"role\": \"user\", \"content\": \"\"}]")
        .format("anthropic")
        .assert_findings(&["empty-content"]);
    check(Body::lines([&value, &value]))
        .assert_findings(&[FINDING, "unanswered-tool-call at 1:/messages/1/content/1"]);
}

#[test]
fn a_failure_shows_the_output_of_the_linter() {
    insta::assert_snapshot!("not-clean", failure(|| check(unanswered()).assert_clean()));
    let other = || {
        check(unanswered())
            .named("out/request.json")
            .assert_findings(&["blank-text", "warning unanswered-tool-call"])
    };
    insta::assert_snapshot!("other-findings", failure(other));
    let clean = || {
        check!({"contents": [{"role": "user", "parts": [{"text": "Hello."}]}]})
            .assert_findings(&["blank-text at /contents/0"])
    };
    insta::assert_snapshot!("nothing-found", failure(clean));
    assert!(failure(|| check(unanswered()).color(true).assert_clean()).contains("\u{1b}["));
    assert!(!failure(|| check(unanswered()).assert_clean()).contains("\u{1b}["));
}

#[test]
fn a_panic_has_the_location_of_the_assertion() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let hook = std::panic::take_hook();
    let lines = std::sync::Arc::clone(&seen);
    let own = std::thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == own {
            let at = info.location().unwrap();
            lines.lock().unwrap().push((at.file().to_owned(), at.line()));
        }
    }));
    let first = line!() + 1;
    failure(|| check(unanswered()).assert_clean());
    failure(|| check(unanswered()).assert_no_errors());
    failure(|| check(unanswered()).assert_findings(&[]));
    failure(|| check(unanswered()).assert_findings(&["blank-tekst"]));
    failure(|| drop(check(unanswered()).format("anthropics")));
    failure(|| drop(check(unanswered()).target("bedrok")));
    failure(|| drop(check(unanswered()).kind("sesion")));
    failure(|| drop(check(unanswered()).select(["blank-tekst"])));
    failure(|| drop(check(unanswered()).config("x = 1")));
    failure(|| drop(check(unanswered()).tools("1")));
    failure(|| check("").ignore(["malformed-json"]).assert_clean());
    std::panic::set_hook(hook);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 11);
    for (number, (file, line)) in seen.iter().enumerate() {
        assert!(file.ends_with("check.rs") && file.contains("tests"), "{file}");
        assert_eq!(*line, first + number as u32);
    }
}

#[test]
fn an_unknown_name_panics_with_a_suggestion() {
    let message = |test: fn()| failure(test).lines().next().unwrap().to_owned();
    let messages = [
        message(|| drop(check("[]").format("anthropics"))),
        message(|| drop(check("[]").target("bedrok"))),
        message(|| drop(check("[]").kind("sesion"))),
        message(|| drop(check("[]").select(["blank-tekst"]))),
        message(|| check("[]").assert_findings(&["eror blank-text"])),
        message(|| drop(toolcheck_test::conversation(&json!([]), "chat"))),
    ];
    let key = message(|| drop(check("[]").config("ingore = []")));
    assert!(
        key.starts_with("invalid configuration: 1:1:") && key.ends_with("did you mean `ignore`?"),
        "{key}"
    );
    insta::assert_snapshot!(messages.join("\n"), @r"
    there is no format `anthropics`; did you mean `anthropic`?
    there is no target `bedrok`; did you mean `bedrock`?
    there is no kind `sesion`; did you mean `session`?
    there is no rule `blank-tekst`; did you mean `blank-text`?
    invalid expectation `eror blank-text`: `eror` is neither `error` nor `warning`
    there is no format `chat`; did you mean `chat-completions`?
    ");
}

#[test]
fn options_of_a_check_are_used() {
    let anthropic = || check(unanswered());
    anthropic().ignore(["unanswered-tool-call"]).assert_clean();
    anthropic().select(["blank-text"]).assert_clean();
    assert_eq!(anthropic().target("bedrock").report().target(), Some("bedrock"));
    assert_eq!(anthropic().report().format(), Some("anthropic"));
    // A session may end with unanswered calls.
    let mut unfinished = unanswered();
    unfinished["messages"].as_array_mut().unwrap().pop();
    check(&unfinished).assert_findings(&["unanswered-tool-call", "unanswered-tool-call"]);
    check(&unfinished).kind("session").assert_clean();
    // Warnings are findings, but not errors.
    let twice = check(
        r#"{"max_tokens": 1, "max_tokens": 1, "system": "x", "messages": [{"role": "user", "content": "x"}]}"#,
    );
    twice.assert_findings(&["warning duplicate-key"]);
    twice.assert_no_errors();
    failure(|| twice.assert_clean());
}

#[test]
fn own_tools_policies_and_targets() {
    let request = json!({"max_tokens": 9, "messages": [
        {"role": "user", "content": "Write it down."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_ink", "name": "write", "input": {"path": 7}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_ink", "content": "done"}]}
    ]});
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tools = json!([{"name": "write", "input_schema": schema}]);
    check(&request).format("anthropic").tools(&tools).assert_findings(&["arguments-schema-mismatch"]);
    let policy = "[[policy]]\nid = \"content\"\ntools = [\"write\"]\nschema.required = [\"content\"]\n";
    check(&request).format("anthropic").config(policy).assert_findings(&["policy-violation"]);
    let settings = "kind = \"session\"\nformat = \"anthropic\"\n[[allow]]\nrule = \"unanswered-tool-call\"\n\
                    tool = \"find_*\"\nreason = \"they come by another way\"\n";
    check(unanswered()).config(settings).assert_clean();
    check(unanswered()).config("ignore = [\"unanswered-tool-call\"]").assert_clean();
    check(unanswered()).config("target = \"bedrock\"").target("vertex-anthropic").assert_findings(&[FINDING]);
    assert_eq!(check(unanswered()).config("target = \"bedrock\"").report().target(), Some("bedrock"));
    let warned = check(unanswered()).config("[levels]\nunanswered-tool-call = \"warning\"\n");
    warned.assert_findings(&["warning unanswered-tool-call"]);
    for names_a_file in ["extend = \"../toolcheck.toml\"", "tools = \"tools.json\"", "target = \"ours.toml\""]
    {
        let message = failure(|| drop(check("[]").config(names_a_file)));
        assert!(message.contains("invalid configuration"), "{message}");
    }
    let gateway = "id = \"gateway\"\nname = \"Ours\"\nextends = \"anthropic\"\n";
    let report = check(unanswered()).own_target(gateway).report();
    assert_eq!((report.target(), report.to_string()), (Some("gateway"), FINDING.to_owned()));
    assert!(failure(|| drop(check("[]").own_target("id = 1"))).contains("invalid target"));
}

#[test]
fn a_report_can_be_used_in_snapshots() {
    let report = check(unanswered()).report();
    assert_eq!(report.to_string(), FINDING);
    assert!(!report.is_clean());
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap(), @r#"
    {
      "format": "anthropic",
      "target": "anthropic",
      "findings": [
        {
          "rule": "unanswered-tool-call",
          "level": "error",
          "record": 0,
          "pointer": "/messages/1/content/1"
        }
      ]
    }
    "#);
    assert_eq!(check!([{"role": "user", "content": "hello"}]).report().to_string(), "clean");
}

#[test]
fn a_failure_shows_a_limited_number_of_findings() {
    let messages = vec![json!({"role": "user", "content": ""}); 1000];
    let body = json!({"max_tokens": 9, "system": "x", "messages": messages});
    let test = || check(&body).format("anthropic");
    for text in [failure(|| test().assert_clean()), failure(|| test().assert_findings(&[]))] {
        assert!(text.lines().count() < 250 && text.contains("more findings"), "{text}");
    }
}

#[test]
fn a_body_without_a_transcript_is_not_clean() {
    assert_eq!(
        failure(|| check("").ignore(["malformed-json"]).assert_clean()),
        "no transcript found in body.json"
    );
    assert!(failure(|| check("null").assert_clean()).contains("unrecognised-format"));
}
