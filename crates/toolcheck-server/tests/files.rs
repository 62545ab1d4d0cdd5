//! Files that are long, or that are no files.

use crate::client::Client;
use serde_json::json;

/// An outline ends at 2,000 messages, and says so.
#[test]
fn an_outline_says_where_it_ends() {
    let mut client = Client::new("utf-16");
    let message = r#"{"role": "user", "content": "when?"}"#;
    let outline = |client: &mut Client, uri: &str, text: &str| {
        client.open(uri, text);
        let all = client.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}));
        let last = all.as_array().expect("a list").last().expect("it has symbols").clone();
        (all.as_array().map_or(0, Vec::len), last["name"].clone(), last["range"].clone())
    };
    let request =
        |count: usize| format!(r#"{{"model": "m", "messages": [{}]}}"#, vec![message; count].join(",\n"));
    let (count, last, range) = outline(&mut client, "file:///invented/long.json", &request(2_003));
    assert_eq!((count, last), (2_001, json!("3 more messages (not listed)")));
    assert_eq!((&range["start"]["line"], &range["end"]["line"]), (&json!(2_000), &json!(2_002)));
    let whole = outline(&mut client, "file:///invented/whole.json", &request(2_000));
    assert_eq!((whole.0, whole.1), (2_000, json!("1999 user")));
    let lines = format!("{}\n", request(1).replace('\n', "")).repeat(2_002);
    let (count, last, range) = outline(&mut client, "file:///invented/rows.jsonl", &lines);
    assert_eq!((count, last), (2_001, json!("the lines from here (not listed)")));
    assert_eq!(range["start"]["line"], 2_000);
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
    client.open(&format!("file://{}/request.json", folder.display()), "{}");
    let told = client.wait_for("window/showMessage")["message"].to_string();
    assert!(told.contains("toolcheck.toml: it is a pipe, not a file"), "{told}");
    client.shut_down();
}
