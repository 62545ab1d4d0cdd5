//! An editor that asks for diagnostics.

use crate::client::Client;
use insta::assert_json_snapshot;
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
fn an_editor_that_asks_gets_nothing_unasked() {
    let mut client = client();
    client.open(URI, &request(1));
    assert_json_snapshot!("report", client.ask("textDocument/diagnostic", about(URI)));
    client.change(URI, 2, json!([{"text": request(1).replace("\"c\"", "\"d\"")}]));
    assert_eq!(rules(&client.ask("textDocument/diagnostic", about(URI))), ["unanswered-tool-call"]);
    client.change(URI, 3, json!([{"text": "{}"}]));
    assert_eq!(rules(&client.ask("textDocument/diagnostic", about(URI))), [""; 0]);
    let other = client.ask("textDocument/diagnostic", about("file:///invented/closed.json"));
    assert_eq!(rules(&other), [""; 0]);
    let wrong = client.answer("textDocument/diagnostic", json!({"textDocument": 1}));
    assert_eq!(wrong["error"]["code"], -32602);
    client.tell("workspace/didChangeConfiguration", json!({"settings": null}));
    let refresh = client.next();
    assert_eq!(refresh["method"], "workspace/diagnostic/refresh");
    client.send(&json!({"jsonrpc": "2.0", "id": refresh["id"], "result": null}).to_string());
    client.tell("textDocument/didClose", about(URI));
    assert_eq!(rules(&client.ask("textDocument/diagnostic", about(URI))), [""; 0]);
    assert_eq!(client.unasked, [Json::Null; 0]);
    client.shut_down();
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

fn known(report: &Json) -> Json {
    let items = report["items"].as_array().expect("a list").iter();
    items.map(|one| json!({"uri": one["uri"], "value": one["resultId"]})).collect()
}

fn uri(folder: &tempfile::TempDir, name: &str) -> String {
    format!("file://{}/{name}", folder.path().to_str().expect("it is UTF-8"))
}

/// The kind and the rules of a file in a report about all files.
fn of<'j>(report: &'j Json, uri: &str) -> Option<(&'j str, Vec<&'j str>)> {
    let one = report["items"].as_array()?.iter().find(|one| one["uri"] == uri)?;
    let rules = one["items"].as_array().into_iter().flatten();
    Some((one["kind"].as_str()?, rules.filter_map(|found| found["code"].as_str()).collect()))
}

#[cfg(unix)]
#[test]
fn all_files_of_the_folders_are_checked_if_that_is_set() {
    let folder = tempfile::tempdir().expect("there is room");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it is written");
    for (name, text) in
        [("bad.json", request(1).as_str()), ("other.json", "{\"a\": 1}"), ("left.json", &request(2))]
    {
        write(name, text);
    }
    write("toolcheck.toml", "exclude = [\"left.json\"]\n");
    let [bad, other, left] = ["bad.json", "other.json", "left.json"].map(|name| uri(&folder, name));
    let mut client = Client::raw();
    let root = folder.path().to_str().expect("it is UTF-8");
    let initialized = client.ask(
        "initialize",
        json!({
            "capabilities": {"textDocument": {"diagnostic": {}}},
            "workspaceFolders": [{"uri": format!("file://{root}"), "name": "x"}],
            "initializationOptions": {"workspace": true},
        }),
    );
    assert_eq!(initialized["capabilities"]["diagnosticProvider"]["workspaceDiagnostics"], true);
    let ask = |client: &mut Client, known: Json| {
        client.ask("workspace/diagnostic", json!({"previousResultIds": known}))
    };
    let first = ask(&mut client, json!([]));
    assert_eq!(of(&first, &bad), Some(("full", vec!["unanswered-tool-call"])));
    assert_eq!(of(&first, &other), Some(("full", vec![])));
    assert_eq!(of(&first, &left), None);
    // Only what has changed is checked again, and what is open is asked about by itself.
    write("bad.json", "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"},]}");
    let second = ask(&mut client, known(&first));
    assert_eq!(of(&second, &bad), Some(("full", vec!["malformed-json"])));
    assert_eq!(of(&second, &other), Some(("unchanged", vec![])));
    client.open(&bad, &request(1));
    std::fs::remove_file(folder.path().join("other.json")).expect("it is there");
    let third = ask(&mut client, known(&second));
    assert_eq!(of(&third, &bad), None);
    assert_eq!(of(&third, &other), Some(("full", vec![])));
    client.tell("textDocument/didClose", about(&bad));
    // Nothing is new: the answer waits for that, or until it is taken back or the settings change.
    let same = json!({"previousResultIds": [known(&second)[0]]});
    let held = |id: u32| {
        json!({"jsonrpc": "2.0", "id": id, "method": "workspace/diagnostic", "params": same}).to_string()
    };
    client.send(&held(800));
    client.tell("$/cancelRequest", json!({"id": 800}));
    assert_eq!(client.next()["error"]["code"], -32800);
    client.send(&held(801));
    client.tell("workspace/didChangeConfiguration", json!({"settings": {"target": "bedrock"}}));
    let ended = client.next();
    assert_eq!((&ended["id"], &ended["result"]), (&json!(801), &json!({"items": []})));
    let fourth = ask(&mut client, known(&second));
    assert_eq!(of(&fourth, &bad), Some(("full", vec!["malformed-json"])));
    client.shut_down();
}
