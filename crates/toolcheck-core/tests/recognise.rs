//! Errors as people paste them: whole, wrapped, cut short, quoted and marked up.

use std::time::{Duration, Instant};

use toolcheck_core::recognise::{ErrorReading, Likeness, Recognised, recognise};

use super::ERRORS;

const ANTHROPIC: &str = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01AbC. Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
const OPENAI: &str = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_abc";

fn rule(error: &str) -> Option<String> {
    recognise(error).first().map(|found| found.refusal.rule.to_string())
}

fn best(error: &str) -> Recognised {
    recognise(error).into_iter().next().unwrap_or_else(|| panic!("not recognised: {error}"))
}

fn capture(error: &str, name: &str) -> String {
    let found = ErrorReading::new(error).matches.into_iter().chain(recognise(error)).next();
    let found = found.unwrap_or_else(|| panic!("not recognised: {error}"));
    let value = found.captures.iter().find(|(known, _)| known == name);
    value
        .map(|(_, value)| value.clone())
        .unwrap_or_else(|| panic!("no {name} in {error}: {:?}", found.captures))
}

#[test]
fn as_people_paste_them() {
    let mut missed = Vec::new();
    for (wanted, error) in &ERRORS.pasted {
        let found = rule(error);
        if found.as_ref() != Some(wanted) {
            missed.push(format!("{wanted}, found {found:?}: {error}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn only_a_beginning_is_probable() {
    assert_eq!(best(ANTHROPIC).likeness, Likeness::Whole);
    assert_eq!(best(OPENAI).likeness, Likeness::Whole);
    assert_eq!(best("messages.2: `tool_use` ids were found without ...").likeness, Likeness::Beginning);
    assert_eq!(best("unexpected `tool_use_id` found in `tool_result` blo…").likeness, Likeness::Beginning);
}

#[test]
fn what_only_begins_alike_is_something_else() {
    for error in &ERRORS.begins_alike {
        let found = recognise(error);
        let unexpected: Vec<_> = found
            .iter()
            .filter(|found| found.likeness == Likeness::Beginning)
            .map(|found| (&found.refusal.rule, &found.refusal.text))
            .collect();
        assert!(unexpected.is_empty(), "{error}: {unexpected:?}");
    }
}

#[test]
fn a_text_may_be_cut_anywhere() {
    for text in [ANTHROPIC, OPENAI] {
        for (end, _) in text.char_indices().skip(40) {
            for cut in [text[..end].to_owned(), format!("{}...", &text[..end]), format!("{}…", &text[..end])]
            {
                assert_eq!(rule(&cut).as_deref(), Some("unanswered-tool-call"), "{cut}");
                assert_eq!(rule(&cut.replace('`', "")).as_deref(), Some("unanswered-tool-call"), "{cut}");
            }
        }
    }
}

#[test]
fn names_lose_what_surrounds_them() {
    for (name, value, error) in &ERRORS.captures {
        assert_eq!(capture(error, name), *value, "{error}");
    }
    let error = "Unsupported value: 'reasoning_effort' does not support 'high' with this model. Supported values are: 'medium'. { \"error\": {} }";
    assert!(best(error).captures.iter().all(|(_, value)| !value.contains('{')), "{error}");
    let pattern = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
    for error in [pattern.to_owned(), format!("{{\"message\":\"{pattern}\"}}")] {
        for (name, value) in &best(&error).captures {
            let is_whole = value.matches('{').count() == value.matches('}').count();
            assert!(is_whole, "{name}: {value} in {error}");
        }
    }
}

/// A limit that only quadratic work exceeds.
const LONG: Duration = Duration::from_secs(20);

#[test]
fn long_texts_take_no_quadratic_time() {
    let head = "messages.2: `tool_use` ids were found without";
    let begin = Instant::now();
    for error in [
        format!("{head} ").repeat(100_000 / head.len()),
        "messages.2: ".repeat(9_000),
        "Expected `thinking` ... ".repeat(4_000),
        "Invalid schema for function '".repeat(4_000),
        "x".repeat(200_000),
        "\\n\"'`".repeat(20_000),
        format!("{head} `tool_result` blocks immediately after: {}", "toolu_1, ".repeat(11_000)),
    ] {
        let _ = recognise(&error);
    }
    assert!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
}

/// Frameworks raise these without asking an API, in the forms in which logs and people have them.
#[test]
fn errors_of_frameworks() {
    for (framework, named, captures, error) in &ERRORS.of_frameworks {
        let found = best(error);
        assert_eq!((found.origin.id(), found.refusal.rule.as_str()), (&**framework, &**named), "{error}");
        assert!(found.origin.target().is_none(), "{error}");
        for (name, value) in captures {
            assert_eq!(capture(error, name), *value, "{error}");
        }
    }
}
