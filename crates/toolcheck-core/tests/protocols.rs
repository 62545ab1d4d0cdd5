//! Calls in plain text: when they count, what is read of them, and where they stand.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_core::protocols::{Malformation, TextCalls};
use toolcheck_core::{Place, formats};
use toolcheck_json::Document;

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

fn chat<T: AsRef<str>>(texts: &[(T, T)]) -> String {
    let messages: Vec<Json> =
        texts.iter().map(|(role, text)| json!({"role": role.as_ref(), "content": text.as_ref()})).collect();
    json!({ "messages": messages }).to_string()
}

/// A chat in which the protocol is taught, and the model says this.
fn around(text: &str) -> Vec<(String, String)> {
    let system = "Tool uses are formatted using XML-style tags: <read_file>\n</read_file>. <tools></tools> <tool_call>";
    let texts = [("system", system), ("user", "go on"), ("assistant", text), ("user", "well?")];
    texts.map(|(role, text)| (role.to_owned(), text.to_owned())).to_vec()
}

/// Texts, the calls that are read of them, and what is malformed in them.
#[derive(serde::Deserialize)]
struct Case {
    about: String,
    /// A request in a format, or the texts of a chat, or what the model says where the protocol is taught.
    format: Option<String>,
    body: Option<Json>,
    texts: Option<Vec<(String, String)>>,
    text: Option<String>,
    /// The names of the tools; not said where only the faults count.
    calls: Option<Vec<String>>,
    #[serde(default)]
    malformed: Vec<String>,
    replies: Option<Vec<String>>,
    /// Those of the first call.
    arguments: Option<Vec<(String, String)>>,
}

#[test]
fn each_text_has_the_calls_that_it_makes() {
    for line in include_str!("text_calls.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let texts = case.texts.unwrap_or_else(|| around(&case.text.unwrap_or_default()));
        let bytes = case.body.map_or_else(|| chat(&texts), |body| body.to_string());
        let document = Document::read(bytes.as_bytes());
        let format = formats::find(case.format.as_deref().unwrap_or("openai-chat")).unwrap();
        let found = TextCalls::read(&document, &format.read(document.root()).unwrap());
        let about = format!("{}: {bytes}", case.about);
        let names: Vec<&str> = found.calls.iter().map(|call| &*call.name).collect();
        assert!(case.calls.is_none_or(|calls| calls == names), "{about}: {names:?}");
        let faults = found.malformed.iter().map(|block| format!("{:?}", block.malformation));
        assert_eq!(faults.collect::<Vec<_>>(), case.malformed, "{about}");
        let replies: Vec<String> = found.calls.iter().map(|call| format!("{:?}", call.reply)).collect();
        assert!(case.replies.is_none_or(|expected| expected == replies), "{about}: {replies:?}");
        let arguments = found.calls.iter().take(1).flat_map(|call| &call.arguments);
        let arguments: Vec<_> =
            arguments.map(|one| (one.name.clone(), bytes[one.place.span.range()].to_owned())).collect();
        assert!(case.arguments.is_none_or(|expected| expected == arguments), "{about}: {arguments:?}");
    }
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
        let (calls, malformed) = read(chat(&around(text)).as_bytes());
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
