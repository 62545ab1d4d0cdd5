//! What Python writes into rows of data sets: calls, and the types of parameters.

use serde_json::{Value as Json, json};
use toolcheck_core::ir::{Body, Transcript};
use toolcheck_core::readers;
use toolcheck_json::Document;

/// What the only conversation of a row is read as.
fn read<R>(reader: &str, row: &str, see: impl FnOnce(&Transcript<'_>) -> R) -> R {
    let document = Document::read(row.as_bytes());
    let reading = readers::find(reader).unwrap().read(&[document.root()]);
    assert_eq!(reading.conversations.len(), 1, "{row}");
    see(&reading.conversations[0].transcript)
}

#[test]
fn calls_in_python_are_read_and_nothing_else_is_one() {
    type Case = (String, Vec<(String, Option<String>)>);
    let cases: Vec<Case> = serde_json::from_str(include_str!("python_calls.json")).unwrap();
    for (text, expected) in cases {
        let first = json!({"role": "assistant", "content": "", "function_calls": "tide()"});
        let second = json!({"role": "assistant", "content": "", "function_calls": text});
        let row = json!({"messages": [{"role": "user", "content": "When?"}, first, second]});
        let found = read("role-tool-call", &row.to_string(), |transcript| {
            let calls = transcript.parts.iter().enumerate().filter_map(|(number, part)| match &part.body {
                Body::Call(call) => Some((
                    call.name.as_ref()?.text.to_string(),
                    transcript.details.streamed_arguments.get(&number).cloned(),
                )),
                _ => None,
            });
            calls.skip(1).collect::<Vec<_>>()
        });
        assert_eq!(found, expected, "{text}");
    }
}

/// The schema of a tool whose parameters are these.
fn schema(parameters: &str) -> String {
    let tool = format!(r#"{{"name": "tide", "description": "When?", "parameters": {parameters}}}"#);
    let row = format!(r#"{{"query": "When?", "tools": [{tool}], "answers": []}}"#);
    read("xlam", &row, |transcript| {
        let tools = &transcript.request.tools.in_text;
        String::from_utf8(tools[0].schema.clone().unwrap()).unwrap()
    })
}

#[test]
fn types_are_read_as_far_as_they_are_known() {
    let types: serde_json::Map<String, Json> =
        serde_json::from_str(include_str!("python_types.json")).unwrap();
    for (text, expected) in types {
        let found: Json =
            serde_json::from_str(&schema(&json!({"port": {"type": text}}).to_string())).unwrap();
        assert_eq!(found["properties"]["port"], expected, "{text}");
    }
}

#[test]
fn a_signature_becomes_a_schema() {
    let text = r#"{"port": {"type": "str"}, "days": {"type": "int", "default": ""}, "type": {"type": "str, optional"}}"#;
    let wanted = r#"{"type": "object", "properties": {"port": {"type": "string"}, "days": {"type": "integer"}, "type": {"type": ["string", "null"]}}, "required": ["port"], "additionalProperties": false}"#;
    assert_eq!(schema(text), wanted);
    for schema_already in [
        r#"{"type": "object", "properties": {"port": {"type": "string"}}}"#,
        r#"{"properties": {"port": {"type": "string"}}}"#,
        r#"{"type": "dict"}"#,
        "{}",
        r##"{"$ref": "#/a"}"##,
    ] {
        assert_eq!(schema(schema_already), schema_already);
    }
}
