//! What is observed of requests and templates.

use toolcheck_json::{Document, Value};
use toolcheck_template::{Arguments, Input, Observation, Origin, Preparation, Template};

/// A case in a line of `examined.jsonl`: what a template (by its name, or its source) prints or refuses, and what is observed.
fn check(case: Value<'_, '_>) {
    let text = |key: &str| case.get_str(key);
    let template = match text("template") {
        Some(name) => super::named(&name),
        None if case.get("without-tokens").is_some() => Template::from_text(&text("source").unwrap(), &[]),
        None => super::template(&text("source").unwrap()),
    };
    let body = case.get("body").unwrap().raw();
    let body = Document::read(body);
    let preparation = match text("server").as_deref() {
        Some("Vllm") => Preparation::Vllm,
        Some("LlamaCpp") => Preparation::LlamaCpp,
        _ => Preparation::AsGiven,
    };
    let arguments = if text("arguments").is_some() { Arguments::AsGiven } else { Arguments::Parsed };
    let is_training = case.get("is-training").is_some();
    let input = Input { preparation, arguments, is_training, ..super::input(&body) };
    let about = String::from_utf8_lossy(case.raw());
    let prompt = template.render(&input);
    if let Some(expected) = text("prompt") {
        assert_eq!(prompt.as_ref().unwrap().text, expected, "{about}");
    }
    if let Some(expected) = text("refusal") {
        let refusal = prompt.unwrap_err();
        assert_eq!(format!("{:?}: {}", refusal.kind, refusal.message), expected, "{about}");
        assert_eq!(template.segments(&input).unwrap_err().kind, refusal.kind, "{about}");
    }
    if let Some(expected) = case.get("observed") {
        let line = |found: &Observation| {
            let design = if found.by_design { "by design" } else { "" };
            let parts =
                [&*format!("{:?} {:?}", found.kind, found.part), &found.pointer, &found.inner, design];
            parts
                .into_iter()
                .chain([&*found.note])
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let found: Vec<_> = template.examine(&input).observations.iter().map(line).collect();
        let expected: Vec<_> = expected.elements().map(|line| line.as_str().unwrap()).collect();
        assert_eq!(found, expected, "{about}");
    }
}

#[test]
fn each_case_prints_and_loses_what_it_says() {
    for line in include_str!("examined.jsonl").lines() {
        check(Document::read(line.as_bytes()).root());
    }
}

/// The longer way for a long conversation.
#[test]
fn the_message_with_which_it_refuses() {
    let turns =
        r#"{"role": "user", "content": "High water?"}, {"role": "assistant", "content": "At nine."}, "#
            .repeat(40);
    let call = r#"{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "tide", "arguments": "{}"}}]}"#;
    let body = format!(r#"{{"messages": [{turns}{call}, {{"role": "user", "content": "And?"}}]}}"#);
    let found = super::examine(&super::named("alternating"), &body, Arguments::Parsed).observations;
    assert_eq!(found[0].pointer, "/messages/80");
}

#[test]
fn segments_name_their_parts() {
    let request = r#"{"messages": [{"role": "user", "content": "High water at Moss?"}, {"role": "assistant", "content": "",
        "tool_calls": [{"function": {"name": "tide", "arguments": "{\"place\": \"Kragero\", \"days\": 2}"}}]}]}"#;
    let document = Document::read(request.as_bytes());
    let input = Input { add_generation_prompt: false, ..super::input(&document) };
    let template = super::named("chatml");
    let prompt = template.render(&input).unwrap().text;
    let segments = template.segments(&input).unwrap();
    let of = |wanted: &str| -> Vec<&str> {
        let is_it = |origin: &Origin| matches!(origin, Origin::Part { pointer, inner } if format!("{pointer}{inner}") == wanted);
        segments
            .iter()
            .filter(|segment| is_it(&segment.origin))
            .map(|segment| &prompt[segment.range.clone()])
            .collect()
    };
    assert_eq!(of("/messages/0/content"), ["High water at Moss?"]);
    assert_eq!(of("/messages/1/tool_calls/0/function/name"), ["tide"]);
    assert_eq!(of("/messages/1/tool_calls/0/function/arguments/place"), ["Kragero"]);
    assert_eq!(of("/messages/1/tool_calls/0/function/arguments"), ["{\"place\": \"", "\", \"days\": 2}"]);
    let tokens = segments.iter().filter(|segment| segment.origin == Origin::SpecialToken);
    assert_eq!(tokens.map(|segment| &prompt[segment.range.clone()]).next(), Some("<|im_start|>"));
}
