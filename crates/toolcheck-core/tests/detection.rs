//! Which format a record is taken for beside others.

use toolcheck_core::detection::{Candidate, Detection};
use toolcheck_core::formats;
use toolcheck_json::Document;

/// Then its shape is not asked which format it has, whatever the other records of its file are.
#[test]
fn a_record_that_shows_its_format_shows_it_in_a_file_of_another() {
    let text = r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "Is it open?"},
        {"role": "assistant", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "hours", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "9 to 5"}]}"#;
    let document = Document::read(text.as_bytes());
    let format_in = |usual: &str| {
        let record = Candidate::new(document.root());
        let (format, is_sure) = Detection::of_record(formats::find(usual), &record);
        (format.map(|format| format.id), is_sure)
    };
    for usual in ["openai-chat", "anthropic", "cohere", "gemini", "ollama", "openai-responses"] {
        assert_eq!(format_in(usual), (Some("openai-chat"), true), "{usual}");
    }
}
