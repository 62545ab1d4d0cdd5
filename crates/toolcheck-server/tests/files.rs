//! Files of several kinds: what can be folded in them, and recordings.

use crate::client::Client;
use insta::assert_json_snapshot;
use serde_json::{Value as Json, json};

const TEXT: &str = r#"{
  "model": "m",
  "tools": [
    {
      "type": "function",
      "function": {"name": "tides", "parameters": {"type": "object"}}
    }
  ],
  "messages": [
    {"role": "user", "content": "when?"},
    {
      "role": "assistant",
      "content": null,
      "tool_calls": [
        {
          "id": "call_1",
          "type": "function",
          "function": {"name": "tides", "arguments": "{}"}
        },
        {"id": "call_2", "type": "function",
          "function": {"name": "tides", "arguments": "{}"}}
      ]
    },
    {
      "role": "tool",
      "tool_call_id": "call_1",
      "content": "at six"
    },
    {"role": "tool", "tool_call_id": "call_2", "content": "at seven"}
  ]
}
"#;

fn folds(client: &mut Client, uri: &str) -> Json {
    client.ask("textDocument/foldingRange", json!({"textDocument": {"uri": uri}}))
}

#[test]
fn messages_calls_results_and_tools_can_be_folded() {
    let mut client = Client::new("utf-16");
    let uri = "file:///invented/request.json";
    client.open(uri, TEXT);
    assert_json_snapshot!("folds", folds(&mut client, uri));
    // One request after the other: each can be folded as a whole, too.
    client.change(uri, 2, json!([{"text": TEXT.repeat(2)}]));
    let all = folds(&mut client, uri);
    let titles: Vec<&Json> =
        all.as_array().expect("a list").iter().map(|fold| &fold["collapsedText"]).collect();
    assert!(titles.contains(&&json!("conversation 2 (4 messages)")), "{titles:?}");
    let lines = "file:///invented/rows.jsonl";
    client.open(lines, &format!("{}\n", TEXT.replace('\n', "")).repeat(3));
    assert_eq!(folds(&mut client, lines), json!([]));
    assert_eq!(folds(&mut client, "file:///invented/closed.json"), json!([]));
    client.shut_down();
}

/// A recording is linted as on the command line: the findings are those that the corpus expects.
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

#[test]
fn what_takes_several_lines_can_be_folded() {
    let mut client = Client::new("utf-16");
    let uri = "file:///invented/folds.json";
    let message = "{\n  \"role\": \"user\",\n  \"content\": \"when?\"\n}";
    client.open(uri, &format!("{{\"messages\": [\n{message},\n{}\n]}}\n", message.replace('\n', "")));
    let folds = client.ask("textDocument/foldingRange", json!({"textDocument": {"uri": uri}}));
    let fold = json!({"startLine": 1, "endLine": 3, "kind": "region", "collapsedText": "0 user"});
    assert_eq!(folds, json!([fold]));
    client.shut_down();
}

#[test]
fn recordings_have_findings() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for (name, language) in [("har/browser", "har"), ("vcr/accepted", "yaml"), ("vcr/compressed", "yaml")] {
        let text =
            std::fs::read_to_string(fixtures.join(format!("{name}.{language}"))).expect("the case is there");
        let expected =
            std::fs::read_to_string(fixtures.join(format!("{name}.expect.json"))).expect("it is expected");
        let expected: Json = serde_json::from_str(&expected).expect("it is JSON");
        let mut client = Client::new("utf-8");
        let uri = format!("file:///invented/{name}.{language}");
        client.open(&uri, &text);
        let found = client.diagnostics(1);
        let rules = |list: &Json, key: &str| {
            let each = list.as_array().expect("they are a list").iter();
            let mut rules: Vec<String> =
                each.map(|one| one[key].as_str().expect("it has a rule").to_owned()).collect();
            rules.sort();
            rules
        };
        assert_eq!(rules(&found, "code"), rules(&expected["findings"], "rule"), "{name}");
        assert!(!rules(&found, "code").is_empty(), "{name}");
        assert_eq!(folds(&mut client, &uri), json!([]), "places in it are not those of the requests");
        client.shut_down();
    }
    // Other YAML is none of our business.
    let mut client = Client::new("utf-8");
    let uri = "file:///invented/other.yaml";
    client.open(uri, "name: lighthouse\njobs:\n  build:\n    steps: [{run: make}]\n");
    assert_eq!(client.diagnostics(1), json!([]));
    client.shut_down();
}

/// `toolcheck lint` of a folder reports these, and skips other JSON files.
#[test]
fn a_request_that_no_format_understands_is_shown() {
    let mut client = Client::new("utf-8");
    let text = r#"{"model": "gpt-5", "messages": [{"frm": "human", "txt": "when?"}, {"frm": "gpt", "txt": "at six"}], "tools": []}"#;
    client.open("file:///invented/odd.json", text);
    let found = client.diagnostics(1);
    assert_eq!(found[0]["code"], "unrecognised-format", "{found}");
    client.open("file:///invented/package.json", r#"{"name": "m", "messages": "yes"}"#);
    assert_eq!(client.diagnostics_of("file:///invented/package.json"), json!([]));
    client.shut_down();
}

/// Each line of a log is fixed by itself, and an action for several lines resolves what is fixed in them.
#[test]
fn a_selection_of_lines_is_fixed_in_each_line() {
    let row = |arguments: &str| {
        json!({"messages": [{"role": "user", "content": "when?"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function",
                "function": {"name": "tides", "arguments": serde_json::from_str::<Json>(arguments).unwrap()}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "at six"},
            {"role": "assistant", "content": "At six."}]})
        .to_string()
            + "\n"
    };
    let (right, wrong) = (row(r#""{}""#), row("{}"));
    let uri = "file:///invented/rows.jsonl";
    let mut client = Client::new("utf-8");
    client.open(uri, &[&*right, &*wrong, &*right, &*wrong].concat());
    let found = client.diagnostics(1);
    let lines = |list: &Json| -> Vec<u64> {
        list.as_array().unwrap().iter().map(|one| one["range"]["start"]["line"].as_u64().unwrap()).collect()
    };
    assert_eq!(lines(&found), [1, 3]);
    for (from, resolved) in [(0, vec![1, 3]), (2, vec![3])] {
        let chosen: Vec<Json> =
            (0..2).map(|at| found[at].clone()).filter(|one| lines(&json!([one]))[0] >= from).collect();
        let range = json!({"start": {"line": from, "character": 0}, "end": {"line": 3, "character": 9}});
        let params =
            json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": chosen}});
        let actions = client.ask("textDocument/codeAction", params);
        assert_eq!(lines(&actions[0]["diagnostics"]), resolved, "{actions}");
        assert_eq!(lines(&actions[0]["edit"]["changes"][uri]), resolved, "{actions}");
    }
    client.shut_down();
}
