//! An editor that asks for diagnostics.

use crate::client::Client;
use serde_json::{Value as Json, json};

const URI: &str = "file:///invented/request.json";

/// A call without a result, and before it a text of some bytes.
fn request(length: usize) -> String {
    let text = "x".repeat(length);
    format!(
        r#"{{"messages": [{{"role": "user", "content": "{text}"}},
 {{"role": "assistant", "content": null, "tool_calls": [
   {{"id": "c", "type": "function", "function": {{"name": "f", "arguments": "{{}}"}}}}]}},
 {{"role": "user", "content": "well?"}}]}}
"#
    )
}

/// What is linted elsewhere, when nothing was typed for a moment.
const LARGE: usize = 300 << 10;

fn client() -> Client {
    let mut client = Client::raw();
    let capabilities = json!({
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": true}},
    });
    let initialized = client.ask("initialize", json!({"capabilities": capabilities}));
    let provider =
        json!({"identifier": "toolcheck", "interFileDependencies": false, "workspaceDiagnostics": false});
    assert_eq!(initialized["capabilities"]["diagnosticProvider"], provider);
    client
}

fn about(uri: &str) -> Json {
    json!({"textDocument": {"uri": uri}})
}

fn ask(client: &Client, id: &Json) {
    let message =
        json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/diagnostic", "params": about(URI)});
    client.send(&message.to_string());
}

fn rules(report: &Json) -> Vec<&str> {
    assert_eq!(report["kind"], "full", "{report}");
    let items = report["items"].as_array().expect("they are a list").iter();
    items.map(|one| one["code"].as_str().expect("it has a rule")).collect()
}

#[test]
fn the_answer_about_a_large_file_is_about_its_last_version() {
    let mut client = client();
    client.open(URI, &request(LARGE));
    ask(&client, &json!("first"));
    let small = "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"},]}";
    client.change(URI, 2, json!([{"text": small}]));
    let answer = client.next();
    assert_eq!((&answer["id"], rules(&answer["result"])), (&json!("first"), vec!["malformed-json"]));
    client.change(URI, 3, json!([{"text": request(LARGE)}]));
    ask(&client, &json!(700));
    let answer = client.next();
    assert_eq!((&answer["id"], rules(&answer["result"])), (&json!(700), vec!["unanswered-tool-call"]));
    client.shut_down();
}

#[test]
fn every_request_is_answered() {
    let mut client = client();
    client.open(URI, &request(LARGE));
    ask(&client, &json!(700));
    client.tell("$/cancelRequest", json!({"id": 700}));
    assert_eq!(client.next()["error"]["code"], -32800);
    ask(&client, &json!("closed"));
    client.tell("textDocument/didClose", about(URI));
    assert_eq!(rules(&client.next()["result"]), [""; 0]);
    client.open(URI, &request(LARGE));
    ask(&client, &json!("last"));
    client.ask("shutdown", Json::Null);
    let last = client.next();
    assert_eq!((&last["id"], &last["error"]["code"]), (&json!("last"), &json!(-32800)));
    client.tell("exit", Json::Null);
    assert!(client.end().expect("the connection is whole"));
}

#[test]
fn what_is_asked_of_a_large_file_at_once_waits_for_it() {
    let mut client = Client::new("utf-8");
    client.open(URI, &request(LARGE));
    let symbols = client.ask("textDocument/documentSymbol", about(URI));
    assert_eq!(symbols.as_array().map(Vec::len), Some(3), "{symbols}");
    // Nothing waits for a file that is not linted.
    client.tell("textDocument/didClose", about(URI));
    assert_eq!(client.ask("textDocument/documentSymbol", about(URI)), json!([]));
    client.shut_down();
}
