//! What the readers of histories and trajectories count in the corpus: the corpus itself shows only what is reported.

use std::path::Path;

use toolcheck_core::readers::{self, Reading};
use toolcheck_json::{Document, Layout, Records, Value};

fn described(case: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/inputs").join(case);
    let bytes = std::fs::read(&path).unwrap();
    let is_lines = case.ends_with(".jsonl");
    let document =
        if is_lines { Records::laid_out(&bytes, Layout::Lines).document() } else { Document::read(&bytes) };
    let records: Vec<Value<'_, '_>> =
        if is_lines { document.root().elements().collect() } else { vec![document.root()] };
    let reader = readers::detect(&records).unwrap();
    assert_eq!(Some(reader.id), case.split('/').next(), "{case}");
    describe(&reader.read(&records))
}

/// For each conversation its title, its numbers of calls and results, and how it ended; then what was left out.
fn describe(reading: &Reading<'_>) -> String {
    let conversations = reading.conversations.iter().map(|one| {
        let (calls, results) = one.transcript.counts();
        format!("{} {calls}/{results} {}", one.title, one.end.as_str())
    });
    let left_out = reading.left_out.iter().map(|(what, count)| format!("- {what} {count}"));
    conversations.chain(left_out).collect::<Vec<_>>().join("\n")
}

#[test]
fn copies_of_calls_count_once() {
    assert_eq!(described("langchain/state.json"), "/messages 2/2 open\n- copies of tool calls 2");
    assert_eq!(described("langchain/dumpd.json"), "messages 1/1 open\n- copies of tool calls 1");
    assert_eq!(described("langchain/chunks.json"), "messages 1/1 open");
    assert_eq!(described("vercel-ai/ui-messages-4.json"), "messages 1/1 open\n- copies of tool calls 1");
    assert_eq!(
        described("openai-agents/python-approval.json"),
        "run 2/1 open\n- responses, whose items are in the history 1"
    );
}

#[test]
fn older_forms_have_their_calls() {
    assert_eq!(
        described("langchain/dumpd-beside-roles.json"),
        "/messages 1/1 open\n- messages that remove others 1"
    );
    assert_eq!(described("langchain/functions.json"), "messages 1/1 open");
    assert_eq!(described("vercel-ai/ui-messages-3.json"), "messages 2/1 open\n- messages of data 1");
    assert_eq!(described("vercel-ai/mastra.json"), "messages of t1 1/1 open\n- copies of tool calls 1");
}

#[test]
fn each_list_is_a_conversation_with_its_place() {
    let spans = "/baseSpans/0/input/messages 0/0 open\n\
                 /baseSpans/0/output/messages 1/0 open\n\
                 /baseSpans/1/input/messages 1/0 open\n\
                 /baseSpans/1/output/messages 0/1 open\n\
                 /baseSpans/2/input/messages 1/1 open\n\
                 /baseSpans/2/output/0/update/messages 0/0 open\n\
                 /input/messages 0/0 open\n\
                 /output/messages 1/1 open\n\
                 - messages outside of lists 1";
    assert_eq!(described("langchain/spans.json"), spans);
    assert_eq!(described("pydantic-ai/histories.jsonl"), "record 1 1/1 open\nrecord 2 1/0 open");
    assert_eq!(described("vercel-ai/rows.jsonl"), "record 1 of a 1/0 open\nrecord 1 of b 1/1 open");
}

#[test]
fn trajectories_say_how_they_ended() {
    assert_eq!(
        described("inspect/log.json"),
        "sample 1 2/2 complete\nsample 2 2/1 aborted\nsample 2 epoch 2 1/1 complete\n\
         - events of requests, which repeat the messages 1"
    );
    assert_eq!(
        described("swe-agent/text-actions.json"),
        "main 0/0 aborted\n- steps, which repeat the history 1"
    );
    assert_eq!(described("atif/steps.json"), "main 3/2 open\nagent clerk 1/1 open");
    assert_eq!(
        described("atif/copied-context.json"),
        "main 1/1 open\n- steps copied from an earlier trajectory 1"
    );
    assert_eq!(
        described("openhands/output.jsonl"),
        "record 1 /history 2/1 complete\nrecord 2 /history 2/1 complete"
    );
    assert_eq!(described("openhands/kinds.jsonl"), "record 1 4/3 aborted\n- events that are not messages 2");
}
