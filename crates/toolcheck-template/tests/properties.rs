//! What holds for any template, request and file.

use proptest::prelude::*;
use toolcheck_json::Document;
use toolcheck_template::{Arguments, Input, Kind, Limits, Preparation, Template, gguf_metadata_end};

const PREPARATIONS: [Preparation; 3] = [Preparation::AsGiven, Preparation::Vllm, Preparation::LlamaCpp];

/// A conversation with words that occur nowhere else.
fn conversation() -> impl Strategy<Value = String> {
    let turn = prop_oneof![
        Just(r#"{"role": "user", "content": "W# says hello"}"#),
        Just(r#"{"role": "user", "content": [{"type": "text", "text": "W# <b>\n \"quoted\""}]}"#),
        Just(r#"{"role": "system", "content": " W# \u00e9 "}"#),
        Just(r#"{"role": "assistant", "content": "W# 1", "reasoning_content": "W# 2"}"#),
        Just(
            r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "c#", "type": "function",
            "function": {"name": "fW#", "arguments": "{\"a\": \"W# 3\", \"b\": 5}"}}]}"#
        ),
        Just(r#"{"role": "tool", "tool_call_id": "c#", "content": "W# 4"}"#),
    ];
    proptest::collection::vec(turn, 0..6).prop_map(|turns| {
        let turns: Vec<String> =
            turns.iter().enumerate().map(|(at, turn)| turn.replace('#', &at.to_string())).collect();
        format!(
            r#"{{"messages": [{}], "tools": [{{"function": {{"name": "t", "description": "d"}}}}]}}"#,
            turns.join(", ")
        )
    })
}

fn piece() -> impl Strategy<Value = String> {
    let known: Vec<String> = serde_json::from_str(include_str!("pieces.json")).unwrap();
    prop_oneof![8 => proptest::sample::select(known), 1 => "\\PC{0,4}"]
}

fn small<'d>(body: &'d Document<'d>) -> Option<Input<'d>> {
    let limits = Limits { steps: 20_000, bytes: 1 << 20, prompt: 1 << 16 };
    Input::of_request(body.root()).map(|input| Input { limits, ..input })
}

const NAMES: &str = "alternating channels chatml distilled grounded headers macros nine_characters plain printed roles \
    thinking xml_arguments";

fn name() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(NAMES.split(' ').collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn no_template_panics(pieces in proptest::collection::vec(piece(), 0..40), body in conversation()) {
        let template = Template::from_text(&pieces.concat(), &[]);
        let body = Document::read(body.as_bytes());
        let input = small(&body).unwrap();
        let _ = template.render(&input);
        let _ = template.examine(&input);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), name in "[a-z]{0,3}(.json|.jinja|.gguf)?") {
        let _ = Template::from_file_bytes(&name, &bytes);
        let _ = gguf_metadata_end(&bytes);
    }

    #[test]
    fn no_gguf_panics(at in 0usize..700, byte in any::<u8>(), cut in 0usize..700) {
        let mut file = super::files::gguf(false, 3);
        let at = at % file.len();
        file[at] = byte;
        let _ = Template::from_gguf(&file[..]);
        let _ = Template::from_gguf(&file[..cut.min(file.len())]);
    }

    #[test]
    fn no_messages_panic(text in r#"[\[\]{}":,a-z0-9 \\]{0,80}"#, name in name()) {
        let body = format!(r#"{{"messages": [{text}], "tools": [{text}]}}"#);
        let body = Document::read(body.as_bytes());
        for preparation in PREPARATIONS {
            if let Some(input) = small(&body) {
                let input = Input { preparation, ..input };
                let _ = super::named(name).examine(&input);
                let _ = super::named(name).segments(&input);
            }
        }
    }

    #[test]
    fn segments_are_the_prompt(
        body in conversation(),
        name in name(),
        preparation in proptest::sample::select(&PREPARATIONS[..]),
    ) {
        let document = Document::read(body.as_bytes());
        let input = Input { preparation, ..super::input(&document) };
        let template = super::named(name);
        if let Ok(prompt) = template.render(&input) {
            let segments = template.segments(&input).unwrap();
            let whole: String = segments.iter().map(|segment| &prompt.text[segment.range.clone()]).collect();
            prop_assert_eq!(whole, prompt.text);
            prop_assert!(segments.windows(2).all(|pair| pair[0].range.end == pair[1].range.start));
            prop_assert!(segments.iter().all(|segment| !segment.range.is_empty()));
        }
    }

    /// Whatever a prompt does not have is found, and nothing that it has.
    #[test]
    fn losses_are_what_is_missing(body in conversation(), name in name()) {
        let document = Document::read(body.as_bytes());
        let input = super::input(&document);
        let template = super::named(name);
        let Ok(prompt) = template.render(&input) else { return Ok(()) };
        let found = template.examine(&input).observations;
        let lost = |pointer: &str| {
            found.iter().any(|found| found.kind == Kind::Loses && pointer.starts_with(&found.pointer))
        };
        for (at, message) in input.messages.children().enumerate() {
            let word = |number: &str| prompt.text.contains(&format!("W{at}{number}"));
            let pointer = |path: &str| format!("/messages/{at}/{path}");
            if message.get_str("reasoning_content").is_some() {
                prop_assert_eq!(lost(&pointer("content")), !word(" 1"), "{:?}", &found);
                prop_assert_eq!(lost(&pointer("reasoning_content")), !word(" 2"), "{:?}", &found);
            } else if message.get("tool_calls").is_some() {
                prop_assert_eq!(lost(&pointer("tool_calls/0/function/arguments")), !word(" 3"), "{:?}", &found);
            } else {
                let path = if message.get("content").is_some_and(|content| content.is_array()) { "content/0/text" } else { "content" };
                prop_assert_eq!(lost(&pointer(path)), !word(""), "{:?}", &found);
            }
        }
    }

    /// A template that leaves a message out is found out, at this message.
    #[test]
    fn a_message_that_is_left_out_is_found(count in 1usize..6, skipped in 0usize..6) {
        let turns: Vec<String> = (0..count).map(|at| format!(r#"{{"role": "user", "content": "word{at}"}}"#)).collect();
        let body = format!(r#"{{"messages": [{}]}}"#, turns.join(","));
        let source = format!("{{% for m in messages if loop is undefined or true %}}{{% if m.content != 'word{skipped}' %}}{{{{ m.content }}}}{{% endif %}}{{% endfor %}}");
        let by_place = format!("{{% for m in messages %}}{{{{ m.content if loop.index0 != {skipped} }}}}{{% endfor %}}");
        let found = super::examine(&super::template(&by_place), &body, Arguments::Parsed).observations;
        let expected: Vec<String> = (skipped < count).then(|| format!("/messages/{skipped}/content")).into_iter().collect();
        prop_assert_eq!(found.into_iter().map(|found| found.pointer).collect::<Vec<_>>(), expected);
        // One that is left out for its very words makes a difference, so it isn't claimed.
        let found = super::examine(&super::template(&source), &body, Arguments::Parsed).observations;
        prop_assert!(found.is_empty(), "{found:?}");
    }
}
