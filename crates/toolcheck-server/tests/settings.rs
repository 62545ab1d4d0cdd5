//! What an editor sets: at the start, and later.

use serde_json::{Value as Json, json};

use crate::client::Client;

const URI: &str = "file:///invented/request.json";

/// A call without a result.
const TEXT: &str = r#"{"max_tokens": 64, "model": "m", "messages": [
  {"role": "user", "content": "when is low tide?"},
  {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {}}]},
  {"role": "user", "content": "well?"}]}
"#;

fn started(settings: &Json) -> (Client, String) {
    let mut client = Client::raw();
    client.ask("initialize", json!({"capabilities": {}, "initializationOptions": settings}));
    client.tell("initialized", json!({}));
    client.open(URI, TEXT);
    let found = first(&client.diagnostics(1));
    (client, found)
}

fn first(found: &Json) -> String {
    found[0]["message"].as_str().expect("there is a finding").to_owned()
}

#[test]
fn a_setting_that_cant_be_used_is_told_and_leaves_the_others() {
    let cases = [
        (json!({"target": "bedrok", "kind": "request"}), "did you mean `bedrock`?"),
        (json!({"targt": "bedrock"}), "there is no setting `targt`; did you mean `target`?"),
        (json!({"kind": 1}), "`kind` is not a string"),
        (json!({"kind": "requests"}), "there is no kind `requests`"),
        (json!({"config": "/invented/missing.toml"}), "missing.toml"),
        (json!(["target"]), "they are not an object"),
    ];
    for (settings, expected) in cases {
        let (mut client, _) = started(&settings);
        let told = client.wait_for("window/showMessage")["message"].to_string();
        assert!(told.contains("some settings in the editor can't be used: "), "{settings}: {told}");
        assert!(told.contains(expected), "{settings}: {told}");
        client.shut_down();
    }
    // What is not set is not wrong, and what is beside a wrong one holds.
    let (client, found) = started(&json!({"target": "", "kind": null}));
    assert!(!found.contains("bedrock"), "{found}");
    assert!(client.unasked.is_empty(), "{:?}", client.unasked);
    client.shut_down();
    let (client, found) = started(&json!({"target": "bedrock", "format": "antropic"}));
    assert!(found.contains("bedrock"), "{found}");
    client.shut_down();
}

/// An editor that sends its settings when they change is not asked to start the server again.
#[test]
fn settings_that_change_hold_from_then_on() {
    let (mut client, found) = started(&json!({}));
    assert!(!found.contains("bedrock"), "{found}");
    let mut is_bedrock = |settings: Json| {
        client.tell("workspace/didChangeConfiguration", json!({"settings": settings}));
        first(&client.diagnostics(1)).contains("bedrock")
    };
    assert!(is_bedrock(json!({"toolcheck": {"target": "bedrock"}})));
    // Nothing of ours changes nothing.
    assert!(is_bedrock(Json::Null));
    assert!(is_bedrock(json!({"editor": {"target": "openai"}})));
    assert!(!is_bedrock(json!({"toolcheck": {}})));
    assert!(is_bedrock(json!({"target": "bedrock"})));
    client.shut_down();
}

/// A project that somebody sends may hold such a file. What reads it as a text waits for ever.
#[cfg(unix)]
#[test]
fn a_configuration_that_is_a_pipe_is_an_error_and_stops_nothing() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("a-pipe");
    std::fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("toolcheck.toml");
    if !pipe.exists() {
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    }
    let mut client = Client::new("utf-8");
    client.open(&format!("file://{}/request.json", folder.display()), TEXT);
    let told = client.wait_for("window/showMessage")["message"].to_string();
    assert!(told.contains("toolcheck.toml: it is a pipe, not a file"), "{told}");
    client.shut_down();
}
