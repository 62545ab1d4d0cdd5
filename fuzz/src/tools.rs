//! Files with tool definitions, as for `--tools`.

use serde_json::json;
use toolcheck_core::tools::{self, Definition};
use toolcheck_json::{Document, Value};
use toolcheck_lint::{Options, rules};

use super::lint;

/// The maximum number of tools that are called.
const MOST_CALLS: usize = 4;

/// Reads the definitions, writes them, and lints calls of these tools.
pub fn run(data: &[u8]) {
    let document = Document::read(data);
    // The command refuses a file with a fault.
    if !document.faults().is_empty() {
        return;
    }
    let Some(read) = tools::read(document.root()) else { return };
    for tool in &read {
        let Some(schema) = &tool.schema else { continue };
        let is_written = document.bytes().windows(schema.len().max(1)).any(|bytes| bytes == schema);
        assert!(is_written || is_said(document.root(), schema), "{tool:?}");
    }
    // Unless that is nested too deeply.
    let written = written(&read);
    let again = Document::read(&written);
    if again.faults().is_empty() {
        assert_eq!(tools::read(again.root()).as_ref(), Some(&read));
    }
    // A server's response contains the same list.
    if document.root().is_array() {
        let response = [b"{\"id\": 1, \"result\": {\"tools\": ", document.root().raw(), b"}}"].concat();
        let response = Document::read(&response);
        if response.faults().is_empty() {
            assert_eq!(tools::read(response.root()).as_ref(), Some(&read));
        }
    }
    let calls = calls(&read);
    lint::check(calls.as_bytes(), &Options::new().tools(read).rules(rules::ALL.to_vec()));
}

/// Whether a string says just this: a schema may be a text.
fn is_said(root: Value<'_, '_>, text: &[u8]) -> bool {
    let mut stack = vec![root];
    while let Some(value) = stack.pop() {
        if value.as_str().is_some_and(|said| said.as_bytes() == text) {
            return true;
        }
        stack.extend(value.children());
    }
    false
}

/// The definitions as a list. Schemas are wrapped as in Bedrock: one whose only key is `json` would be taken for such a
/// wrapping otherwise.
fn written(tools: &[Definition]) -> Vec<u8> {
    let tools = tools.iter().map(|tool| {
        let mut text = format!("{{\"name\": {}", json!(tool.name)).into_bytes();
        match tool.schema.as_deref() {
            Some(schema) if schema.starts_with(b"{") => {
                text.extend([b", \"inputSchema\": {\"json\": ", schema, b"}"].concat());
            }
            Some(schema) => text.extend([b", \"inputSchema\": ", schema].concat()),
            None => {}
        }
        text.push(b'}');
        text
    });
    let tools: Vec<Vec<u8>> = tools.collect();
    [b"[", &*tools.join(&b','), b"]"].concat()
}

/// A transcript that calls the first and the last of the tools, with several arguments.
fn calls(tools: &[Definition]) -> String {
    let called = tools.iter().take(MOST_CALLS / 2).chain(tools.iter().rev().take(MOST_CALLS / 2));
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for (number, tool) in called.enumerate() {
        let arguments = ["{}", r#"{"path": 1, "location": "Ebb"}"#][number % 2];
        let id = format!("call_{number}");
        calls.push(
            json!({"id": id, "type": "function", "function": {"name": tool.name, "arguments": arguments}}),
        );
        results.push(json!({"role": "tool", "tool_call_id": id, "content": "x"}));
    }
    let mut messages = vec![json!({"role": "user", "content": "Tide?"})];
    if !calls.is_empty() {
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
        messages.extend(results);
    }
    json!({"model": "m", "messages": messages}).to_string()
}
