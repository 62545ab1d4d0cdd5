//! Calls and results that no reader reads are reported.

use toolcheck_core::formats;
use toolcheck_json::Document;

#[test]
fn the_first_call_of_an_answer_is_named_and_long_answers_are_not_searched_to_their_end() {
    let call = r#"{"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}"#;
    let format = formats::find("anthropic").unwrap();
    let found = |answer: &str| {
        let start = r#"{"messages": [{"role": "user", "content": "When?"}], "response": "#;
        let text = format!("{start}{answer}}}");
        let document = Document::read(text.as_bytes());
        let transcript = format.read(document.root()).unwrap();
        transcript.unread.first().map(|unread| unread.place.span.start as usize - start.len())
    };
    let two = format!(r#"{{"content": [{{"type": "text", "text": "so"}}, {call}, {call}]}}"#);
    assert_eq!(found(&two), two.find(call));
    assert_eq!(found(r#"{"content": [{"type": "text", "text": "so"}]}"#), None);
    let late = format!("[{}{call}]", r#"{"text": {"is": "long"}},"#.repeat(5_000));
    assert_eq!(found(&late), None);
}
