//! Calls in plain text: when they count, what is read of them, and where they stand.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_core::protocols::{Malformation, Reply, TextCalls};
use toolcheck_core::{Place, formats};
use toolcheck_json::{Document, SyntaxErrorKind};

const READ: &str = "<read_file>\n<path>a.ts</path>\n</read_file>";

/// A call: its message, its tool, and the bytes of its block in the file.
type Call = (u32, String, String);

/// What is read from a chat: the calls, and the malformed blocks with the bytes that are wrong.
fn read(bytes: &[u8]) -> (Vec<Call>, Vec<(Malformation, String)>) {
    let document = Document::read(bytes);
    let transcript = formats::find("openai-chat").unwrap().read(document.root()).unwrap();
    let read = TextCalls::read(&document, &transcript);
    let shown = |place: Place| {
        let whole = document.value(place.node).span();
        assert!(whole.contains(place.span), "{place:?} outside {whole:?}");
        String::from_utf8_lossy(&bytes[place.span.range()]).into_owned()
    };
    for call in &read.calls {
        assert!(call.place.span.contains(call.name_place.span));
        assert!(call.arguments.iter().all(|argument| call.place.span.contains(argument.place.span)));
    }
    let calls = read.calls.iter().map(|call| (call.message, call.name.clone(), shown(call.place)));
    let malformed = read.malformed.iter().map(|block| (block.malformation, shown(block.place)));
    (calls.collect(), malformed.collect())
}

fn chat(texts: &[(&str, &str)]) -> String {
    let messages: Vec<Json> =
        texts.iter().map(|(role, text)| json!({"role": role, "content": text})).collect();
    json!({ "messages": messages }).to_string()
}

/// The names and malformations read from an assistant's text whose protocol is taught.
fn taught(text: &str) -> (Vec<String>, Vec<Malformation>) {
    let system = "Tool uses are formatted using XML-style tags: <read_file>\n</read_file>. <tools></tools> <tool_call>";
    let bytes = chat(&[("system", system), ("user", "go on"), ("assistant", text), ("user", "well?")]);
    let (calls, malformed) = read(bytes.as_bytes());
    (calls.into_iter().map(|call| call.1).collect(), malformed.into_iter().map(|block| block.0).collect())
}

fn names(text: &str) -> Vec<String> {
    let (names, malformed) = taught(text);
    assert!(malformed.is_empty(), "{malformed:?} in {text}");
    names
}

#[test]
fn a_mention_speaks_no_protocol() {
    let silent = |texts: &[(&str, &str)]| {
        let bytes = chat(texts);
        assert_eq!(read(bytes.as_bytes()), (vec![], vec![]), "{bytes}");
    };
    silent(&[("user", "how do I read?"), ("assistant", READ), ("user", "thanks")]);
    // A log that was pasted before, or of another tool, or in the middle of a text.
    silent(&[("user", "[read_file for 'a.ts'] Result:\nx"), ("assistant", READ), ("user", "thanks")]);
    silent(&[("user", "how?"), ("assistant", READ), ("user", "[list_files for 'a'] Result:\nx")]);
    silent(&[("user", "how?"), ("assistant", READ), ("user", "I saw [read_file for 'a'] Result:\nx")]);
    silent(&[
        ("user", "how?"),
        ("assistant", "<tool_call>{\"name\": \"a\"}</tool_call>"),
        ("user", "thanks"),
    ]);
    silent(&[("user", "<tools> <tool_call>?"), ("assistant", "<tool_call>{\"name\": \"a\"}</tool_call>")]);
    // The words alone, without a tool in tags.
    silent(&[("system", "Write XML-style tags."), ("user", "how?"), ("assistant", READ)]);
    silent(&[
        ("system", "<tools>"),
        ("user", "how?"),
        ("assistant", "<tool_call>{\"name\": \"a\"}</tool_call>"),
    ]);
}

#[test]
fn answers_show_the_protocol() {
    for answer in
        ["[read_file for 'a.ts'] Result:\nx", "\n[read_file for 'a.ts'] Result:", "[read_file] Result:"]
    {
        let bytes = chat(&[("user", "go on"), ("assistant", READ), ("user", answer)]);
        assert_eq!(read(bytes.as_bytes()).0.len(), 1, "{bytes}");
    }
    let call = "<tool_call>\n{\"name\": \"tide\"}\n</tool_call>";
    for role in ["user", "tool"] {
        let bytes =
            chat(&[("user", "go on"), ("assistant", call), (role, "<tool_response>\nx\n</tool_response>")]);
        assert_eq!(read(bytes.as_bytes()).0.len(), 1, "{bytes}");
    }
}

#[test]
fn reminders_teach() {
    let taught = "Tool uses are formatted using XML-style tags.\n<attempt_completion>\n</attempt_completion>";
    let count = |reminder: &str| {
        let bytes = chat(&[
            ("user", "go on"),
            ("assistant", READ),
            ("user", "and?"),
            ("assistant", "Done."),
            ("user", reminder),
        ]);
        read(bytes.as_bytes()).0.len()
    };
    assert_eq!(count(&format!("[ERROR] You did not use a tool in your previous response!\n{taught}")), 1);
    // The same words open a reminder of the API's own calls, and a quotation teaches nothing.
    assert_eq!(
        count("[ERROR] You did not use a tool in your previous response! Use the tools of the API."),
        0
    );
    assert_eq!(count(taught), 0);
}

#[test]
fn instructions_beside_the_messages_teach() {
    let system = "Tool uses are formatted using XML-style tags.\n<read_file>\n</read_file>";
    let text = json!({"role": "assistant", "content": READ});
    for (format, body) in [
        ("anthropic", json!({"system": system, "messages": [text]})),
        ("anthropic", json!({"system": [{"type": "text", "text": system}], "messages": [text]})),
        (
            "bedrock-converse",
            json!({"system": [{"text": system}],
            "messages": [{"role": "assistant", "content": [{"text": READ}]}]}),
        ),
        (
            "gemini",
            json!({"systemInstruction": {"parts": [{"text": system}]},
            "contents": [{"role": "model", "parts": [{"text": READ}]}]}),
        ),
        ("openai-responses", json!({"instructions": system, "input": [text]})),
    ] {
        let body = body.to_string();
        let document = Document::read(body.as_bytes());
        let transcript = formats::find(format).unwrap().read(document.root()).unwrap();
        assert_eq!(TextCalls::read(&document, &transcript).calls.len(), 1, "{format}");
    }
}

#[test]
fn examples_are_no_calls() {
    assert_eq!(names(READ), ["read_file"]);
    assert_eq!(names(&format!("First.\n  {READ}{READ}")), ["read_file", "read_file"]);
    for text in [
        format!("```xml\n{READ}\n```"),
        format!("~~~\n{READ}\n"),
        format!("````\n```\n{READ}\n````"),
        format!("> {READ}"),
        format!("It is written `{READ}`"),
        format!("<thinking>\n{READ}\n</thinking>"),
        format!("<think>\n{READ}"),
        "<read_file> reads a file.\n<tool_call> calls a tool.".to_owned(),
        "<tool_call>reader\n<arg_key>a</arg_key>\n</tool_call>".to_owned(),
        "<div>\n<path>a</path>\n</div>".to_owned(),
    ] {
        assert_eq!(names(&text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(names(&format!("```\nx\n```\n{READ}")), ["read_file"]);
    assert_eq!(names(&format!("<thinking>x</thinking>\n{READ}")), ["read_file"]);
}

#[test]
fn values_may_hold_tags() {
    // A file that holds its own closing tag, and another tool.
    let file = format!(
        "<write_to_file>\n<path>a.md</path>\n<content>\nWrite </content>\n{READ}\n</write_to_file>\n</content>\n</write_to_file>"
    );
    assert_eq!(names(&file), ["write_to_file"]);
    let (calls, _) = taught(&format!("{file}\n{READ}"));
    assert_eq!(calls, ["write_to_file", "read_file"]);
    // An argument that shows another protocol.
    let other = "<tool_call>\n{\"name\": \"a\"}\n</tool_call>\n<tool_call>\n{\"name\": }\n</tool_call>";
    let file =
        format!("<write_to_file>\n<path>a.md</path>\n<content>\n{other}\n</content>\n</write_to_file>");
    assert_eq!(names(&file), ["write_to_file"]);
    assert_eq!(taught(&format!("{file}\n{other}")).1.len(), 1);
    // What no parser knows is text.
    assert_eq!(
        names("<read_file>\n<args>\n<file><path>a</path></file>\n</args>\n</read_file>"),
        ["read_file"]
    );
    assert_eq!(names("<list_files>\n<path>a</path>\n<extra>1</extra>\n</list_files>"), ["list_files"]);
}

#[test]
fn malformed_blocks() {
    let found = |text: &str| taught(text).1;
    assert_eq!(found("<read_file>\n<path>a.ts</path>\n"), [Malformation::Unclosed]);
    assert_eq!(found("<read_file>\n<path>a.ts\n</read_file>"), [Malformation::UnclosedParameter]);
    assert_eq!(found("<tool_call>\n{\"name\": \"a\"}"), [Malformation::Unclosed]);
    assert_eq!(
        found("<tool_call>\n{\"name\": }\n</tool_call>"),
        [Malformation::Json(SyntaxErrorKind::MissingValue)]
    );
    assert_eq!(found("<tool_call>{\"arguments\": {}}</tool_call>"), [Malformation::Nameless]);
    assert_eq!(found("<tool_call><function=></function></tool_call>"), [Malformation::Nameless]);
    let open = "<tool_call><function=a><parameter=b>c</function></tool_call>";
    assert_eq!(found(open), [Malformation::UnclosedParameter]);
    // The harness has cut this one off itself.
    let cut = "<read_file>\n<path>a.ts\n\n[Response interrupted by a tool use result. Only one tool may be used at a time]";
    assert_eq!(found(cut), []);
}

#[test]
fn tags_of_functions() {
    let text = "<tool_call>\n<function=tide>\n<parameter=port>\nHusum\n</parameter>\n<parameter=day>\n1\n</parameter>\n</function>\n</tool_call>";
    let bytes = chat(&[("user", "go"), ("assistant", text), ("user", "<tool_response>\n</tool_response>")]);
    let document = Document::read(bytes.as_bytes());
    let transcript = formats::find("openai-chat").unwrap().read(document.root()).unwrap();
    let read = TextCalls::read(&document, &transcript);
    let arguments = read.calls[0].arguments.iter();
    let arguments: Vec<_> =
        arguments.map(|argument| (argument.name.as_str(), &bytes[argument.place.span.range()])).collect();
    assert_eq!(arguments, [("port", "Husum"), ("day", "1")]);
}

#[test]
fn what_became_of_the_calls() {
    let two = format!("{READ}\n<list_files>\n<path>src</path>\n</list_files>");
    let cut =
        format!("{two}\n\n[Response interrupted by a tool use result. Only one tool may be used at a time.]");
    let result = "[read_file for 'a.ts'] Result:\nx";
    let replies = |text: &str, answer: &str| {
        let bytes = chat(&[("user", "go"), ("assistant", text), ("user", answer)]);
        let document = Document::read(bytes.as_bytes());
        let transcript = formats::find("openai-chat").unwrap().read(document.root()).unwrap();
        let calls = TextCalls::read(&document, &transcript).calls;
        calls.iter().map(|call| call.reply).collect::<Vec<_>>()
    };
    assert_eq!(replies(&two, result), [Reply::Result, Reply::Nothing]);
    assert_eq!(replies(&cut, result), [Reply::Result, Reply::Refusal]);
    let refused = format!(
        "{result}\nTool [list_files] was not executed because a tool has already been used in this message."
    );
    assert_eq!(replies(&two, &refused), [Reply::Result, Reply::Refusal]);
    let both = format!("{result}\n[list_files for 'src'] Result:\ny");
    assert_eq!(replies(&two, &both), [Reply::Result, Reply::Result]);
    let joined = format!("{result}[list_files for 'src'] Result:");
    assert_eq!(replies(&two, &joined), [Reply::Result, Reply::Result]);
    let rejected =
        format!("{result}\nSkipping tool [list_files for 'src'] due to user rejecting a previous tool.");
    assert_eq!(replies(&two, &rejected), [Reply::Result, Reply::Refusal]);
}

#[test]
fn places_are_real() {
    // Behind a line break, a quote, an escaped letter, a surrogate pair and letters of several bytes.
    let front = r#"a\n\"b\" \u00e9\ud83d\ude00 ä😀\n"#;
    for block in [
        r#"<read_file>\n<path>\"\u00e9\ud83d\ude00ä\"</path>\n</read_file>"#,
        r#"\u003cread_file\u003e\n\u003cpath\u003ea\u003c/path\u003e\n\u003C/read_file\u003E"#,
        r#"<tool_call>\n{\"name\": \"re\u0061d_file\", \"arguments\": {\"p\\u00e4\": \"\\\"😀\"}}\n</tool_call>"#,
    ] {
        let bytes = format!(
            "{{\"messages\": [\r\n {{\"role\": \"system\", \"content\": \"XML-style tags <read_file></read_file> <tools> <tool_call>\"}},\r\n {{\"role\": \"assistant\", \"content\": \"{front}{block} \\n\"}}]}}"
        );
        assert_eq!(read(bytes.as_bytes()), (vec![(1, "read_file".to_owned(), block.to_owned())], vec![]));
    }
}

/// A thousand times as many blocks are a thousand times as many calls, and what opens and does not end is one fault. Quadratic
/// reading would take minutes.
#[test]
fn many_blocks_are_read_in_one_pass() {
    let counted = |text: &str| {
        let (calls, malformed) = taught(text);
        (calls.len(), malformed.len())
    };
    let calls = [READ, "<tool_call>{\"name\": \"a\"}</tool_call>", "<read_file></read_file>"];
    let open = ["<read_file>\n", "<read_file>\n<path>a", "<tool_call>{", "<tool_call>{}"];
    let plain = ["```\n", "<think>", "</content>"];
    let pieces = calls.map(|piece| (piece, (1, 0))).into_iter();
    let pieces = pieces.chain(open.map(|piece| (piece, (0, 1)))).chain(plain.map(|piece| (piece, (0, 0))));
    for (piece, (calls, faults)) in pieces {
        for times in [20, 20_000] {
            for form in [piece.to_owned(), format!("{piece}\n")] {
                assert_eq!(counted(&form.repeat(times)), (calls * times, faults), "{times} times {form:?}");
            }
            let written = format!("<write_to_file>\n<content>{}", piece.repeat(times));
            assert_eq!(counted(&written), (0, 1), "{times} times {piece:?} in a file");
        }
    }
}

fn texts() -> impl Strategy<Value = String> {
    let pieces: Vec<String> = serde_json::from_str(include_str!("pieces.json")).unwrap();
    prop::collection::vec(prop::sample::select(pieces), 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_and_every_place_is_inside(text in texts(), answer in texts(), escaped: bool) {
        let system = "XML-style tags <read_file></read_file> <tools> <tool_call>";
        let mut bytes = chat(&[("system", system), ("assistant", &text), ("user", &answer)]);
        if escaped {
            bytes = bytes.replace('<', "\\u003c").replace('é', "\\u00e9");
        }
        read(bytes.as_bytes());
    }

    #[test]
    fn any_bytes_are_read(text in ".{0,60}", at: prop::sample::Index, byte: u8) {
        let text = format!("{text}\n{READ}\n<tool_call>{{\"name\": \"{text}\"}}</tool_call>");
        let mut bytes = chat(&[("assistant", &text), ("user", "[read_file] Result: <tool_response>")]).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let document = Document::read(&bytes);
        if let Some(transcript) = formats::find("openai-chat").unwrap().read(document.root()) {
            let read = TextCalls::read(&document, &transcript);
            for place in read.calls.iter().map(|call| call.place).chain(read.malformed.iter().map(|block| block.place)) {
                prop_assert!(document.value(place.node).span().contains(place.span));
            }
        }
    }
}
