//! Configurations that are open in the editor.

use crate::client::Client;
use crate::session::uri_in;
use serde_json::{Value as Json, json};

/// A call without a result.
const TEXT: &str = r#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": null, "tool_calls": [
  {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "user", "content": "b"}]}"#;

/// Where diagnostics start, with the first words of each.
fn short(diagnostics: &Json) -> Vec<String> {
    let each = diagnostics.as_array().expect("they are a list").iter();
    each.map(|one| {
        let start = &one["range"]["start"];
        let message = one["message"].as_str().expect("it has a message");
        format!("{}:{} {}", start["line"], start["character"], message.split(';').next().unwrap_or_default())
    })
    .collect()
}

#[test]
fn what_is_wrong_in_a_configuration_is_shown_as_it_is_typed() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let root = folder.path().canonicalize().expect("it exists");
    let set = |text: &str| std::fs::write(root.join("toolcheck.toml"), text).expect("it can be written");
    let (uri, config) = (uri_in(&root, "request.json"), uri_in(&root, "toolcheck.toml"));
    set("target = \"mistral\"\n");
    let mut client = Client::new("utf-16");
    client.open(&uri, TEXT);
    let good = client.diagnostics(1);
    assert!(good[0]["message"].as_str().expect("a text").contains("mistral"), "{good}");
    client.open(&config, "target = \"mistral\"\n");
    assert_eq!(client.diagnostics_of(&config), json!([]));

    // As it is typed: what is saved still holds.
    let end = json!({"line": 1, "character": 0});
    client.change(&config, 2, json!([{"range": {"start": end, "end": end}, "text": "ignor = [\"x\"]\n"}]));
    assert_eq!(short(&client.diagnostics(2)), ["1:0 unknown field `ignor`"]);
    client.change(&config, 3, json!([{"text": "# 😀\ntarget = \"mistrl\"\n"}]));
    assert_eq!(short(&client.diagnostics(3)), ["1:9 there is no target `mistrl`"]);
    client.change(&uri, 2, json!([{"text": TEXT}]));
    let found = client.diagnostics(2);
    assert_eq!(found, good);

    // Saved, it is as it was, and the last good one holds.
    set("# 😀\ntarget = \"mistrl\"\n");
    client.tell("textDocument/didSave", json!({"textDocument": {"uri": config}}));
    assert_eq!(client.diagnostics(2), good);
    assert_eq!(short(&client.diagnostics(3)), ["1:9 there is no target `mistrl`"]);
    // Closed, what is saved is shown.
    client.change(&config, 4, json!([{"text": ""}]));
    assert_eq!(client.diagnostics(4), json!([]));
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": config}}));
    assert_eq!(client.diagnostics_of(&config), json!([]));
    assert_eq!(short(&client.diagnostics_of(&config)), ["1:9 there is no target `mistrl`"]);
    set("");
    client.tell("textDocument/didSave", json!({"textDocument": {"uri": config}}));
    assert_ne!(client.diagnostics(2), good);
    assert_eq!(client.diagnostics_of(&config), json!([]));
    client.shut_down();
}

#[test]
fn other_toml_is_no_transcript_and_keeps_what_is_shown_in_it() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let root = folder.path().canonicalize().expect("it exists");
    let set = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("it can be written");
    let own = "name = \"Own\"\nalases = []\nid = \"own\"\n";
    set("own.toml", own);
    set("toolcheck.toml", "target = \"own.toml\"\n");
    let mut client = Client::new("utf-16");
    client.open(&uri_in(&root, "own.toml"), own);
    let found = client.diagnostics_of(&uri_in(&root, "own.toml"));
    assert_eq!(short(&found), ["1:0 unknown field `alases`"]);
    // Nothing is said of what is not saved, nor of a configuration of something else.
    client.change(&uri_in(&root, "own.toml"), 2, json!([{"text": "x"}]));
    client.open(&uri_in(&root, "Cargo.toml"), "[package]\nname = \"x\"\n");
    assert_eq!(client.diagnostics_of(&uri_in(&root, "Cargo.toml")), json!([]));
    client.shut_down();
}
