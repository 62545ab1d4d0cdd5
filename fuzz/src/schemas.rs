//! Arguments and the schemas of tools, in transcripts of two formats.

use serde_json::{Value as Json, json};
use toolcheck_core::tools;
use toolcheck_json::Document;
use toolcheck_lint::{Options, lint, rules};

use super::lint as whole;

const RULE: &str = "arguments-schema-mismatch";
/// The maximum number of its findings for a call.
const MOST_VIOLATIONS: usize = 20;

/// A schema, and after a NUL, which no JSON text contains, the arguments of a call.
pub fn run(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let (schema, arguments) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let arguments = String::from_utf8_lossy(arguments);
    // Another text would end the transcript or change it; the target `lint` tries such texts.
    let Ok(schema) = std::str::from_utf8(schema) else { return };
    if !is_whole(schema) {
        return;
    }
    let options = Options::new().rules(rules::ALL.to_vec());
    let declaring = chat(&arguments, &openai_tool(schema));
    whole::check(declaring.as_bytes(), &options);
    let found = mismatches(&declaring, &options);
    assert!(found.len() <= MOST_VIOLATIONS, "{found:?}");
    // What follows from a fault of a schema in the request is not said of a call.
    let findings = lint("case.json", declaring.as_bytes(), &options).findings;
    if findings.iter().any(|finding| finding.rule == "invalid-tool-schema") {
        return;
    }

    // Declared outside the transcript, by an MCP server.
    let list = format!(r#"[{{"name": "tide", "inputSchema": {{"json": {schema}}}}}]"#);
    let list = Document::read(list.as_bytes());
    let definitions = tools::read(list.root()).expect("it is a list");
    let schema_of = |tools: &[tools::Definition]| tools.first().and_then(|tool| tool.schema.clone());
    if schema_of(&definitions).is_some_and(|read| read == schema.trim_ascii().as_bytes()) {
        let declared = options.clone().tools(definitions);
        assert_eq!(mismatches(&chat(&arguments, ""), &declared), found, "declared outside");
    }

    // An object instead of a text.
    if is_whole(&arguments) && serde_json::from_str::<Json>(&arguments).is_ok_and(|read| read.is_object()) {
        let anthropic = messages(&arguments, schema);
        assert_eq!(mismatches(&anthropic, &options), found, "as an object: {anthropic}");
    }
}

/// Whether a text is one JSON value in which everything is read and each key is there once.
fn is_whole(text: &str) -> bool {
    let document = Document::read(text.as_bytes());
    document.faults().is_empty()
        && document.duplicate_keys().is_empty()
        && serde_json::from_str::<Json>(text).is_ok()
}

/// The messages of the rule's findings.
fn mismatches(text: &str, options: &Options) -> Vec<String> {
    let findings = lint("case.json", text.as_bytes(), options).findings;
    let findings = findings.into_iter().filter(|finding| finding.rule == RULE);
    findings.map(|finding| finding.message.to_string()).collect()
}

fn openai_tool(schema: &str) -> String {
    format!(r#""tools": [{{"type": "function", "function": {{"name": "tide", "parameters": {schema}}}}}], "#)
}

/// An OpenAI request, with the arguments as text.
fn chat(arguments: &str, tools: &str) -> String {
    let arguments = json!(arguments);
    format!(
        r#"{{"model": "m", {tools}"messages": [{{"role": "user", "content": "Tide?"}}, {{"role": "assistant", "content": null, "tool_calls": [{{"id": "call_1", "type": "function", "function": {{"name": "tide", "arguments": {arguments}}}}}]}}, {{"role": "tool", "tool_call_id": "call_1", "content": "low"}}]}}"#
    )
}

/// An Anthropic request, with the arguments as an object.
fn messages(arguments: &str, schema: &str) -> String {
    format!(
        r#"{{"model": "m", "max_tokens": 9, "tools": [{{"name": "tide", "input_schema": {schema}}}], "messages": [{{"role": "user", "content": "Tide?"}}, {{"role": "assistant", "content": [{{"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {arguments}}}]}}, {{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "toolu_1", "content": "low"}}]}}]}}"#
    )
}
