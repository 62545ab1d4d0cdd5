//! What readers read: conversations, calls and results, and what is left out. The findings are in the corpus.

use std::path::Path;

use serde_json::json;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::readers::{self, SourceKind, Unit};
use toolcheck_core::targets;
use toolcheck_json::{Records, Value};
use toolcheck_lint::{Options, lint};

/// A file, its conversations with how they end, its calls and results, and how much was left out.
type Expected<'t> = (&'t str, Vec<(&'t str, &'t str)>, (usize, usize), usize);

#[test]
fn files_are_read_whole_and_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/inputs");
    for line in include_str!("readers.jsonl").lines() {
        let (name, conversations, calls, left_out): Expected<'_> = serde_json::from_str(line).unwrap();
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let report = lint(name, &bytes, &Options::default());
        assert_eq!(report.format, name.split('/').next(), "{name}");
        let left: usize = report.not_read.iter().map(|left| left.count).sum();
        let listed: Vec<(&str, &str)> =
            report.conversations.iter().map(|one| (one.title.as_str(), one.end.as_str())).collect();
        assert_eq!(listed, conversations, "{name}");
        assert_eq!((report.tool_calls, report.tool_results), calls, "{name}");
        assert_eq!(left, left_out, "{name}: {:?}", report.not_read);
    }
}

#[test]
fn every_reader_has_its_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/inputs");
    // Those of data sets share a folder.
    for reader in readers::ALL.iter().filter(|reader| reader.kind != SourceKind::Dataset) {
        let files = std::fs::read_dir(folder.join(reader.id)).expect(reader.id);
        let paths = files.map(|file| file.unwrap().path());
        let expectations = paths.filter(|path| path.to_string_lossy().ends_with(".expect.json"));
        let (passing, failing): (Vec<String>, Vec<String>) = expectations
            .map(|path| std::fs::read_to_string(path).unwrap())
            .partition(|expected| expected.contains("\"findings\": []"));
        assert!(!passing.is_empty(), "fixtures/inputs/{} has no passing case", reader.id);
        assert!(!failing.is_empty(), "fixtures/inputs/{} has no failing case", reader.id);
        let is_read = include_str!("readers.jsonl").contains(&format!("[\"{}/", reader.id));
        assert!(is_read || reader.kind != SourceKind::AgentLog, "readers.jsonl has no file of {}", reader.id);
    }
}

/// Words of the messages that are sent next of a session, in their order.
const NEXT: &[(&str, &[&str])] = &[
    ("claude-code/kept-beginning.jsonl", &["Count", "toolu_1", "9", "Nine", "Summary", "21"]),
    (
        "codex/compaction-of-first-versions.jsonl",
        &["Count", "Another model", "south?", "call_02", "12", "Twelve"],
    ),
    ("pi/retained-tail.jsonl", &["17 moths", "toolu_02", "toolu_02", "20 in all"]),
];

#[test]
fn what_is_sent_next_is_in_its_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/inputs");
    for (name, words) in NEXT {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let document = Records::new(&bytes).document();
        let records: Vec<Value<'_, '_>> = document.root().elements().collect();
        let reader = name.split('/').next().and_then(readers::find).unwrap();
        let reading = reader.read(&records);
        let next = reading.conversations.iter().find(|one| one.transcript.sent_next_by.is_some()).unwrap();
        let raw = |node| String::from_utf8_lossy(document.value(node).raw());
        let said: Vec<_> = next.transcript.messages.iter().map(|message| raw(message.place.node)).collect();
        assert_eq!(said.len(), words.len(), "{name}: {said:?}");
        assert!(said.iter().zip(*words).all(|(said, word)| said.contains(word)), "{name}: {said:?}");
    }
}

#[test]
fn a_file_of_something_else_is_not_read_by_a_reader() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/inputs");
    let log = std::fs::read(folder.join("claude-code/lost-result.jsonl")).unwrap();
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{}"}});
    let asked = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [call]}]);
    let request = json!({"messages": asked}).to_string();
    let app = br#"{"name": "app", "scripts": {}}"#;
    let others: [(&[u8], &str); 3] = [(request.as_bytes(), "openai-chat"), (app, ""), (&log, "claude-code")];
    for reader in readers::ALL.iter().copied() {
        for (text, looks_like) in others {
            // Records that a reader does not know are searched for lists.
            let knows_lists = !looks_like.is_empty() && reader.unit == Unit::Record;
            // Events may have messages, as those of Claude Code do.
            let knows_messages = reader.id == "message-lines" && looks_like == "claude-code";
            if reader.id == looks_like || knows_lists || knows_messages {
                continue;
            }
            let report = lint("other", text, &Options::default().format(Some(reader)));
            let found: Vec<_> = report.findings.iter().map(|finding| finding.rule).collect();
            // Messages of another API may be read but for their calls.
            if found == ["unread-content"] {
                continue;
            }
            let is_told = found.iter().all(|rule| *rule == "unrecognised-format") && !found.is_empty();
            assert!(is_told, "{looks_like} as {}: {found:?}", reader.id);
            assert_eq!((report.transcripts, report.format), (0, None), "{}", reader.id);
            let help = report.findings[0].help.as_deref().unwrap_or_default();
            assert!(looks_like.is_empty() || help.contains(looks_like), "{}: {help}", reader.id);
        }
    }
}

/// A table has one type a column: what is JSON in a string or `null` there is not sent like that.
#[test]
fn a_named_target_does_not_reject_how_a_table_keeps_its_rows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/inputs/datasets");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !name.ends_with(".jsonl") {
            continue;
        }
        files += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        for target in ["openai-chat", "mistral"] {
            let options = Options::new().kind(TranscriptKind::Dataset).target(targets::find(target));
            let report = lint(name, text.as_bytes(), &options);
            let mut rules = report.findings.iter().map(|finding| finding.rule.as_str());
            let of_table =
                |rule: &&str| ["wrong-type", "invalid-tool-schema", "unknown-field"].contains(rule);
            assert_eq!(rules.find(of_table), None, "{name} for {target}: {:?}", report.findings);
        }
    }
    assert!(files > 20, "the files are found");
}

#[test]
fn many_mentions_of_a_tag_take_linear_time() {
    let tag = "<tool_call>";
    for text in [format!("{tag}[").repeat(100_000), tag.repeat(100_000) + &" ".repeat(1_000_000)] {
        let said = json!({"from": "gpt", "value": format!("{text}</tool_call>")});
        let row = json!({"conversations": [{"from": "human", "value": "How?"}, said]}).to_string();
        let report = lint("rows.jsonl", row.as_bytes(), &Options::new().kind(TranscriptKind::Dataset));
        assert_eq!((report.transcripts, report.tool_calls), (1, 0));
    }
}
