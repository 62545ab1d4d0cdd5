//! What an editor does, and what the server answers.

use crate::client::Client;
use insta::assert_json_snapshot;
use serde_json::{Value as Json, json};
use toolcheck_lint::{FixOptions, Options};

const URI: &str = "file:///invented/request.json";

/// A call that is answered, one that is not, and a tool.
const TEXT: &str = r#"{"max_tokens": 64, "model": "m",
 "tools": [{"name": "tides", "input_schema": {"type": "object", "properties": {"harbour": {"type": "string"}}}}],
 "messages": [
  {"role": "user", "content": "😀 when is low tide?"},
  {"role": "assistant", "content": [
    {"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {"harbour": "Oban"}},
    {"type": "tool_use", "id": "toolu_2", "name": "tides", "input": {"harbour": "Mull"}}]},
  {"role": "user", "content": [
    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "at ```six```"}]}]}
"#;

fn at(line: u32, character: u32) -> Json {
    json!({"line": line, "character": character})
}

fn place(line: u32, character: u32) -> Json {
    json!({"textDocument": {"uri": URI}, "position": at(line, character)})
}

/// Lines and columns of diagnostics, with their rules.
fn short(diagnostics: &Json) -> Vec<String> {
    let each = diagnostics.as_array().expect("they are a list").iter();
    let number = |place: &Json| format!("{}:{}", place["line"], place["character"]);
    each.map(|one| {
        let range = &one["range"];
        let code = one["code"].as_str().unwrap_or("-");
        format!("{code} {}-{}", number(&range["start"]), number(&range["end"]))
    })
    .collect()
}

#[test]
fn a_session() {
    let mut client = Client::raw();
    let capabilities = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut initialized = client.ask("initialize", json!({"capabilities": capabilities}));
    initialized["serverInfo"]["version"] = json!("VERSION");
    assert_json_snapshot!("initialize", initialized);
    client.tell("initialized", json!({}));
    assert_json_snapshot!("register", client.next());
    client.send(r#"{"jsonrpc": "2.0", "id": 1, "result": null}"#);

    client.open(URI, TEXT);
    assert_json_snapshot!("diagnostics", client.diagnostics(1));
    assert_json_snapshot!("hover-call", client.ask("textDocument/hover", place(5, 20)));
    assert_json_snapshot!("hover-unanswered", client.ask("textDocument/hover", place(6, 40)));
    assert_json_snapshot!("hover-result", client.ask("textDocument/hover", place(8, 10)));
    assert_json_snapshot!("hover-tool", client.ask("textDocument/hover", place(1, 20)));
    assert_json_snapshot!("definition-of-call", client.ask("textDocument/definition", place(5, 20)));
    assert_json_snapshot!("definition-of-name", client.ask("textDocument/definition", place(5, 56)));
    assert_json_snapshot!("definition-of-result", client.ask("textDocument/definition", place(8, 10)));
    let mut params = place(1, 20);
    params["context"] = json!({"includeDeclaration": true});
    assert_json_snapshot!("references-of-tool", client.ask("textDocument/references", params));
    assert_json_snapshot!("highlight", client.ask("textDocument/documentHighlight", place(8, 10)));
    let symbols = client.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": URI}}));
    assert_json_snapshot!("symbols", symbols);

    // Three edits: what is typed in the middle of a string, a new line, and the missing result.
    client.change(URI, 2, json!([{"range": {"start": at(3, 36), "end": at(3, 38)}, "text": "high"}]));
    assert_eq!(short(&client.diagnostics(2)), ["unanswered-tool-call 6:4-6:88"]);
    client.change(URI, 3, json!([{"range": {"start": at(1, 0), "end": at(1, 0)}, "text": "\r\n"}]));
    assert_eq!(short(&client.diagnostics(3)), ["unanswered-tool-call 7:4-7:88"]);
    let result = r#",{"type": "tool_result", "tool_use_id": "toolu_2", "content": "at seven"}"#;
    client.change(URI, 4, json!([{"range": {"start": at(9, 80), "end": at(9, 80)}, "text": result}]));
    assert_eq!(short(&client.diagnostics(4)), [""; 0]);

    client.tell("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    assert_eq!(client.wait_for("textDocument/publishDiagnostics")["diagnostics"], json!([]));
    assert_eq!(client.ask("textDocument/hover", place(5, 20)), Json::Null);
    client.shut_down();
}

#[test]
fn references_in_schemas_are_links() {
    let schema = r##"{"type": "object",
  "properties": {
    "from": {"$ref": "#/$defs/harbour"}, "to": {"$ref": "#/%24defs/harbour"}, "all": {"$ref": "#"},
    "no": {"$ref": "#/$defs/lost"}, "far": {"$ref": "https://example.com/#/x"}, "$ref": {"$ref": "#/$defs/a~1b/0"}},
  "$defs": {
    "harbour": {"type": "string"},
    "a/b": [true]}}"##;
    let text = format!(
        "{{\"max_tokens\": 64, \"model\": \"m\", \"metadata\": {{\"$ref\": \"#/x\"}}, \"messages\": [],
  \"tools\": [{{\"name\": \"tides\", \"input_schema\": {schema}}}]}}"
    );
    let mut client = Client::new("utf-16");
    client.open(URI, &text);
    let links = client.ask("textDocument/documentLink", json!({"textDocument": {"uri": URI}}));
    let links = links.as_array().expect("they are a list").iter();
    let short: Vec<String> = links
        .map(|link| {
            let (start, end) = (&link["range"]["start"], &link["range"]["end"]);
            let target = link["target"].as_str().expect("a link has a target");
            let place = format!("{}:{}-{}", start["line"], start["character"], end["character"]);
            format!("{place} {}", target.strip_prefix(URI).expect("it is in the file"))
        })
        .collect();
    assert_eq!(short, ["3:22-37 #L7", "3:57-74 #L7", "3:95-96 #L2", "4:98-112 #L8"]);
    // One of many lines has none.
    let lines = "file:///invented/list.jsonl";
    client.open(lines, &format!("{}\n", text.replace('\n', "")).repeat(2));
    let none = client.ask("textDocument/documentLink", json!({"textDocument": {"uri": lines}}));
    assert_eq!(none, json!([]));
    client.shut_down();
}

fn fixed(text: &str) -> String {
    let fixed = toolcheck_lint::fix("x.json", text.as_bytes(), &Options::new(), &FixOptions::new());
    String::from_utf8(fixed.bytes.into_owned()).expect("it is a text")
}

/// A text after edits, as an editor makes them: places are those of the text before, in bytes of a line.
fn edited(text: &str, edits: &Json) -> String {
    let byte = |at: &Json| {
        let number = |name: &str| at[name].as_u64().expect("it is a number") as usize;
        let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
        start + number("character")
    };
    let edits = edits.as_array().expect("there are edits").iter();
    let mut edits: Vec<(usize, usize, &str)> = edits
        .map(|edit| {
            let (start, end) = (byte(&edit["range"]["start"]), byte(&edit["range"]["end"]));
            (start, end, edit["newText"].as_str().expect("it is a text"))
        })
        .collect();
    edits.sort_unstable();
    let mut edited = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        edited.replace_range(start..end, new);
    }
    edited
}

/// `source.fixAll` is `toolcheck fix`: in a file with several faults, of which one can only be fixed with a loss, and
/// whose lines and characters are not all alike.
#[test]
fn fix_all_makes_the_edits_of_fix() {
    let call = |id: &str| {
        format!(
            r#"{{"id": "{id}", "type": "function", "function": {{"name": "ufer_ü", "arguments": "{{}}"}}}}"#
        )
    };
    let body = |id: &str| {
        let call = call(id);
        format!(
            "{{\"messages\": [{{\"role\": \"user\", \"content\": \"😀\"}},\r\n {{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{call}]}},\n {{\"role\": \"user\", \"content\": \"é?\"}}]}}"
        )
    };
    let lost = r#"{"messages": [{"role": "tool", "tool_call_id": "x", "content": "lost"}, {"role": "user", "content": "a"}]}"#;
    let lines =
        format!("{lost}\n{}\n{}\n", body("c").replace(['\r', '\n'], ""), body("d").replace(['\r', '\n'], ""));
    for (name, text) in [("one.json", body("c")), ("rows.jsonl", lines), ("lost.json", lost.to_owned())] {
        let uri = format!("file:///invented/{name}");
        let mut client = Client::new("utf-8");
        client.open(&uri, &text);
        client.diagnostics(1);
        let ask = |client: &mut Client, only: &str| {
            let context = json!({"diagnostics": [], "only": [only]});
            let range = json!({"start": at(0, 0), "end": at(0, 0)});
            let params = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
            client.ask("textDocument/codeAction", params)
        };
        let all = ask(&mut client, "source.fixAll.toolcheck");
        assert_eq!(all, ask(&mut client, "source.fixAll"));
        let as_fixed = fixed(&text);
        if as_fixed == text {
            assert_eq!((name, all), ("lost.json", json!([])), "what loses something is not done unasked");
            client.shut_down();
            continue;
        }
        assert_eq!(edited(&text, &all[0]["edit"]["changes"][&uri]), as_fixed, "{name}");
        // There is nothing more to do then.
        client.change(&uri, 2, json!([{"text": as_fixed}]));
        client.diagnostics(2);
        assert_eq!(ask(&mut client, "source.fixAll"), json!([]), "{name}");
        client.shut_down();
    }
}

#[test]
fn actions_fix_what_is_wrong() {
    let mut client = Client::new("utf-8");
    client.open(URI, TEXT);
    let found = client.diagnostics(1);
    let range = found[0]["range"].clone();
    let context = json!({"diagnostics": found});
    let document = json!({"uri": URI});
    let params = json!({"textDocument": document, "range": range, "context": context});
    let actions = client.ask("textDocument/codeAction", params);
    assert_json_snapshot!("action", actions);
    // An editor that does not say which diagnostics it asks about means those at the place.
    let mut without = json!({"textDocument": document, "range": range, "context": {"diagnostics": []}});
    assert_eq!(client.ask("textDocument/codeAction", without.clone()), actions);
    without["range"] = json!({"start": at(1, 3), "end": at(1, 3)});
    assert_eq!(client.ask("textDocument/codeAction", without), json!([]));
    let mut lines: Vec<String> = TEXT.split_inclusive('\n').map(str::to_owned).collect();
    let edits = actions[0]["edit"]["changes"][URI].as_array().expect("there are edits").clone();
    for edit in edits.iter().rev() {
        let (start, end) = (&edit["range"]["start"], &edit["range"]["end"]);
        assert_eq!(start["line"], end["line"], "one line is enough here");
        let number = |value: &Json| value.as_u64().expect("it is a number") as usize;
        let new = edit["newText"].as_str().expect("it is a text");
        lines[number(&start["line"])]
            .replace_range(number(&start["character"])..number(&end["character"]), new);
    }
    client.change(URI, 2, json!([{"text": lines.concat()}]));
    assert_eq!(short(&client.diagnostics(2)), [""; 0]);

    client.change(URI, 3, json!([{"text": TEXT}]));
    let context = json!({"diagnostics": [], "only": ["source.fixAll"]});
    let params = json!({"textDocument": document, "range": range, "context": context});
    let all = client.ask("textDocument/codeAction", params);
    assert_eq!(all.as_array().map(Vec::len), Some(1));
    assert_eq!(all[0]["diagnostics"], Json::Null, "it is asked for without any");
    assert_eq!(edited(TEXT, &all[0]["edit"]["changes"][URI]), fixed(TEXT));
    assert_eq!(
        (&all[0]["title"], &all[0]["kind"]),
        (&json!("Fix 1 finding"), &json!("source.fixAll.toolcheck"))
    );
    let context = json!({"diagnostics": client.diagnostics(3), "only": ["refactor"]});
    let params = json!({"textDocument": document, "range": range, "context": context});
    assert_eq!(client.ask("textDocument/codeAction", params), json!([]));
    client.shut_down();
}

#[test]
fn places_are_counted_as_the_editor_counts() {
    let before = "{\"messages\": [{\"role\": \"user\", \"content\": \"😀é\"}, {\"role\": \"assistant\", \"content\": [";
    let call = "{\"type\": \"tool_use\", \"id\": \"toolu_1\", \"name\": \"tides\", \"input\": {}}";
    let text = format!("{before}{call}]}}, {{\"role\": \"user\", \"content\": \"well?\"}}]}}");
    let places = ["utf-8", "utf-16", "utf-32"].map(|encoding| {
        let mut client = Client::new(encoding);
        client.open("file:///invented/list.json", &text);
        let found = client.diagnostics(1);
        assert_eq!(found[0]["code"], "unanswered-tool-call");
        let start = found[0]["range"]["start"]["character"].clone();
        client.shut_down();
        start
    });
    let expected = [before.len(), before.encode_utf16().count(), before.chars().count()];
    assert_eq!(places, expected.map(|column| json!(column)));
}

#[test]
fn half_a_character_does_not_lose_an_edit() {
    let mut client = Client::new("utf-16");
    client.open(URI, TEXT);
    assert_eq!(short(&client.diagnostics(1)), ["unanswered-tool-call 6:4-6:88"]);
    let edit = |start: Json, end: Json, text: &str| {
        let range = json!({"start": start, "end": end});
        let document = json!({"uri": URI, "version": 2});
        let changes = json!([{"range": range, "text": "TEXT"}]);
        let params = json!({"textDocument": document, "contentChanges": changes});
        let message =
            json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}).to_string();
        message.replace("TEXT", text)
    };
    client.send(&edit(at(0, 0), at(0, 0), r"\ud83d\n\n"));
    client.diagnostics(2);
    client.send(&edit(at(0, 0), at(1, 0), ""));
    assert_eq!(short(&client.diagnostics(2)), ["unanswered-tool-call 7:4-7:88"]);
    client.shut_down();
}

#[test]
fn what_is_known_of_a_model_is_at_its_name() {
    let mut client = Client::new("utf-16");
    let uri = "file:///invented/model.json";
    client.open(uri, "{\"model\": \"gpt-5\", \"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}");
    client.diagnostics(1);
    let hover = |line, column| json!({"textDocument": {"uri": uri}, "position": at(line, column)});
    let shown = client.ask("textDocument/hover", hover(0, 12))["contents"]["value"].to_string();
    assert!(shown.contains("gpt-5 of openai-chat") && shown.contains("`max_tokens` of request"), "{shown}");
    assert_eq!(client.ask("textDocument/hover", hover(0, 3)), Json::Null);
    client.shut_down();
}

#[test]
fn what_is_no_transcript_is_none_of_our_business() {
    let mut client = Client::new("utf-16");
    for (number, text) in
        ["{\"name\": \"a package\"}", "", "not JSON", "[1, 2", "\u{0}"].into_iter().enumerate()
    {
        let uri = format!("file:///invented/{number}.json");
        client.open(&uri, text);
        assert_eq!(client.diagnostics(1), json!([]), "{text}");
        let place = json!({"textDocument": {"uri": uri}, "position": at(7, 7)});
        assert_eq!(client.ask("textDocument/hover", place.clone()), Json::Null);
        assert_eq!(client.ask("textDocument/definition", place), json!([]));
    }
    // A broken request is one nevertheless.
    client.open(URI, "{\"messages\": [{\"role\": \"user\", \"content\": \"hello\"},]}");
    assert_eq!(short(&client.diagnostics(1)), ["malformed-json 0:50-0:51"]);
    client.shut_down();
}

#[test]
fn a_session_that_goes_wrong_goes_on() {
    let mut client = Client::raw();
    assert_eq!(client.answer("textDocument/hover", place(0, 0))["error"]["code"], -32002);
    client.tell("textDocument/didOpen", json!({"textDocument": 1}));
    client.ask("initialize", json!({"capabilities": {}, "initializationOptions": {"target": "bedrok"}}));
    let told = client.wait_for("window/showMessage");
    assert!(told["message"].as_str().expect("a text").contains("did you mean `bedrock`?"), "{told}");
    for (option, meant) in [("format", "openai-chat"), ("kind", "dataset")] {
        let mut other = Client::raw();
        let mistaken = meant.replace('a', "aa");
        other.ask("initialize", json!({"capabilities": {}, "initializationOptions": {option: mistaken}}));
        let told = other.wait_for("window/showMessage").to_string();
        assert!(told.contains(&format!("did you mean `{meant}`?")), "{told}");
        other.shut_down();
    }
    assert_eq!(client.answer("initialize", json!({"capabilities": {}}))["error"]["code"], -32600);
    assert_eq!(client.answer("no/such", json!(null))["error"]["code"], -32601);
    assert_eq!(client.answer("textDocument/hover", json!({"position": "here"}))["error"]["code"], -32602);
    client.send("{not JSON");
    assert_eq!(client.next()["error"]["code"], -32700);
    client.send(r#"{"jsonrpc": "2.0", "id": 99, "result": {}}"#);
    client.tell("$/cancelRequest", json!({"id": 7}));
    client.change(URI, 2, json!([{"text": "x"}]));
    client.tell("textDocument/didOpen", json!([]));
    client.open(URI, TEXT);
    assert_eq!(short(&client.diagnostics(1)), ["unanswered-tool-call 6:4-6:88"]);
    let beyond = json!({"start": at(900, 7), "end": at(3, 4_000_000_000)});
    client.change(URI, 2, json!([{"range": beyond, "text": "]"}]));
    assert!(client.diagnostics(2).is_array());
    client.ask("shutdown", Json::Null);
    assert_eq!(client.answer("textDocument/hover", place(0, 0))["error"]["code"], -32600);
    client.tell("exit", Json::Null);
    assert!(client.end().expect("the connection is whole"));
}

#[test]
fn an_end_without_a_shutdown_is_told_apart() {
    assert!(!Client::new("utf-8").end().expect("the input may end"));
    let client = Client::new("utf-8");
    client.tell("exit", Json::Null);
    assert!(!client.end().expect("it is told to"));
}

pub(crate) fn uri_in(folder: &std::path::Path, name: &str) -> String {
    let path = folder.join(name).display().to_string().replace('\\', "/");
    format!("file://{}{path}", if path.starts_with('/') { "" } else { "/" })
}

#[test]
fn a_configuration_that_is_being_edited_has_diagnostics_and_the_last_good_one_holds() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let root = folder.path().canonicalize().expect("it exists");
    let set = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("it can be written");
    let (uri, config) = (uri_in(&root, "request.json"), uri_in(&root, "toolcheck.toml"));
    let mut client = Client::new("utf-16");
    set("toolcheck.toml", "target = \"bedrock\"\n");
    client.open(&uri, TEXT);
    let good = client.diagnostics(1);
    assert!(good[0]["message"].as_str().expect("a text").contains("bedrock"), "{good}");

    let change = |client: &Client| {
        client.tell("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": config, "type": 2}]}));
    };
    set("toolcheck.toml", "# 😀\ntarget = \"bedrock\"\n[[allow]]\nrule = \"😀\", reson = 1\n");
    change(&client);
    assert_eq!(client.diagnostics(1), good, "the last settings that could be used hold");
    let broken = client.diagnostics_of(&config);
    assert_eq!(broken.as_array().map(Vec::len), Some(1), "{broken}");
    // In units of UTF-16: the face is two.
    assert_eq!(broken[0]["range"], json!({"start": at(3, 11), "end": at(3, 22)}), "{broken}");
    assert_eq!((&broken[0]["severity"], &broken[0]["source"]), (&json!(1), &json!("toolcheck")));

    set("toolcheck.toml", "targt = \"bedrock\"\nignor = []\n");
    change(&client);
    assert_eq!(client.diagnostics(1), good);
    let two = client.diagnostics_of(&config);
    let lines: Vec<&Json> =
        two.as_array().expect("a list").iter().map(|one| &one["range"]["start"]).collect();
    assert_eq!(lines, [&at(0, 0), &at(1, 0)]);
    assert!(two[0]["message"].as_str().expect("a text").contains("did you mean `target`?"), "{two}");
    // It holds for a file that is opened again, too.
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    client.diagnostics_of(&uri);
    client.open(&uri, TEXT);
    assert_eq!(client.diagnostics(1), good);
    assert_eq!(client.diagnostics_of(&config), two);

    // What is wrong in a file that the configuration names is shown there.
    set("own.toml", "name = \"Own\"\nalases = []\nid = \"own\"\n");
    set("toolcheck.toml", "target = \"own.toml\"\n");
    change(&client);
    assert_eq!(client.diagnostics(1), good);
    let own = client.diagnostics_of(&uri_in(&root, "own.toml"));
    assert_eq!(own[0]["range"]["start"], at(1, 0), "{own}");
    set("toolcheck.toml", "");
    change(&client);
    assert_ne!(client.diagnostics(1), good, "the new settings hold");
    for name in ["own.toml", "toolcheck.toml"] {
        set(name, "");
    }
    change(&client);
    client.diagnostics(1);
    client.shut_down();
}

#[test]
fn a_configuration_that_is_right_again_has_no_diagnostics() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let root = folder.path().canonicalize().expect("it exists");
    let config = uri_in(&root, "toolcheck.toml");
    let mut client = Client::new("utf-8");
    std::fs::write(root.join("toolcheck.toml"), b"target = \"\xff\"").expect("it can be written");
    client.open(&uri_in(&root, "request.json"), TEXT);
    let unreadable = client.diagnostics_of(&config);
    assert_eq!(unreadable[0]["range"], json!({"start": at(0, 0), "end": at(0, 0)}), "{unreadable}");
    std::fs::write(root.join("toolcheck.toml"), "").expect("it can be written");
    client.tell("textDocument/didSave", json!({"textDocument": {"uri": config}}));
    assert_eq!(client.diagnostics_of(&config), json!([]));
    client.shut_down();
}

#[test]
fn configurations_are_those_of_the_command_line_and_read_again() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let set =
        |text: &str| std::fs::write(folder.path().join("toolcheck.toml"), text).expect("it can be written");
    let uri_of = |name: &str| uri_in(folder.path(), name);
    let uri = uri_of("request.json");
    let rules = |diagnostics: &Json| {
        let each = diagnostics.as_array().expect("they are a list").iter();
        each.map(|one| one["code"].as_str().expect("it has a rule").to_owned()).collect::<Vec<_>>()
    };
    let mut client = Client::new("utf-8");
    set("targt = \"bedrock\"\n");
    client.open(&uri, TEXT);
    assert_eq!(client.diagnostics(1), json!([]), "a configuration that can't be used is not passed over");
    let told = client.wait_for("window/showMessage")["message"].clone();
    assert!(told.as_str().expect("a text").contains("did you mean `target`?"), "{told}");

    let changed = json!({"changes": [{"uri": "file:///toolcheck.toml", "type": 2}]});
    set("target = \"bedrock\"\n");
    client.tell("workspace/didChangeWatchedFiles", changed.clone());
    let found = client.diagnostics(1);
    assert_eq!(rules(&found), ["unanswered-tool-call"]);
    assert!(found[0]["message"].as_str().expect("a text").contains("bedrock"), "{found}");
    set("[[allow]]\nrule = \"unanswered-tool-call\"\nreason = \"known\"\n");
    client.tell("workspace/didChangeConfiguration", json!({"settings": null}));
    assert_eq!(client.diagnostics(1), json!([]));
    set("");
    client.tell("textDocument/didSave", json!({"textDocument": {"uri": uri_of("toolcheck.toml")}}));
    assert_eq!(rules(&client.diagnostics(1)), ["unanswered-tool-call"]);
    set("exclude = [\"*.json\"]\n");
    client.tell("workspace/didChangeWatchedFiles", changed);
    assert_eq!(client.diagnostics(1), json!([]));
    client.shut_down();
}
