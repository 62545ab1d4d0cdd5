//! Errors that no rule finds, and texts that are not known.

use toolcheck_core::recognise::{Envelope, ErrorClass, ErrorReading, Likeness, recognise};
use toolcheck_core::targets;

use super::ERRORS;

/// What a text is read as: a rule, `class`, or with a question mark what is only probable.
fn read(error: &str) -> String {
    let reading = ErrorReading::new(error);
    if let Some(found) = reading.matches.first() {
        let mark = if found.likeness == Likeness::Whole { "" } else { "?" };
        return format!("{}{mark}", found.refusal.rule);
    }
    match reading.class {
        Some(found) => {
            let mark = if found.error.is_none() || found.is_cut { "?" } else { "" };
            format!("[{}]{mark}", found.class.id)
        }
        None => "nothing".to_owned(),
    }
}

#[test]
fn errors_are_told_apart_by_what_they_are_about() {
    for (group, errors) in ERRORS.read.iter() {
        for (expected, error) in errors {
            assert_eq!(read(error), *expected, "{group}: {error}");
        }
    }
}

#[test]
fn the_name_of_a_client_is_no_field() {
    let field = |error: &str| ErrorReading::new(error).matches[0].captures.clone();
    let found = field(
        "error.rb:60: Model incompatible request argument supplied: temperature (Tern::BadRequestError)",
    );
    assert_eq!(found, [("field".to_owned(), "temperature".to_owned())]);
}

#[test]
fn a_text_of_a_class_may_be_cut() {
    let cut = |error: &str| {
        let class = ErrorReading::new(error).class?;
        Some((class.class.id.clone(), class.error.map(|error| &*error.text), class.is_cut))
    };
    let whole = r#""auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"#;
    let known = |is_cut| Some(("parameter".to_owned(), Some(whole), is_cut));
    assert_eq!(cut(whole), known(false));
    let error = r#"vllm API error 400: {"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-ch"#;
    assert_eq!(cut(error), known(true));
    assert_eq!(cut(&format!("{error}. Check the logs")), known(true));
    // Too little of it, or other words after its beginning.
    assert_ne!(cut("\"auto\" tool choice requires"), known(true));
    assert_ne!(cut("\"auto\" tool choice requires --enable the tools first"), known(true));
}

#[test]
fn the_last_lines_of_a_log_are_read_too() {
    let mut log = "2026-11-26 INFO all is well\n".repeat(10_000);
    log.push_str("2026-11-26 ERROR No tool output found for function call call_1.");
    assert_eq!(read(&log), "unanswered-tool-call");
    let log = format!("No tool output found for function call call_1.\n{}", "and a dump\n".repeat(20_000));
    assert_eq!(read(&log), "unanswered-tool-call");
}

#[test]
fn who_sent_it_and_with_which_status() {
    let reading = |error| {
        let reading = ErrorReading::new(error);
        let names: Vec<&str> = reading.envelopes.iter().map(|envelope| &*envelope.name).collect();
        (names, reading.status)
    };
    let anthropic =
        r#"API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert_eq!(reading(anthropic), (vec!["Claude Code", "Anthropic"], Some(529)));
    assert_eq!(reading("litellm.BadRequestError: status code: 400"), (vec!["LiteLLM"], Some(400)));
    assert_eq!(reading("call_400 took 500 ms"), (vec![], None));
}

#[test]
fn every_class_is_whole() {
    let mut ids: Vec<&str> = ErrorClass::all().map(|class| &*class.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for class in ErrorClass::all() {
        assert!(targets::find(&class.id).is_none(), "{}", class.id);
        for sentence in [&class.summary, &class.help] {
            assert!(sentence.ends_with('.') && sentence.len() > 20, "{}: {sentence}", class.id);
        }
        assert!(!class.signs.is_empty() || !class.errors.is_empty(), "{}", class.id);
        let file = format!("{}/errors/{}.toml", env!("CARGO_MANIFEST_DIR"), class.id);
        let file: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
        for error in ["error", "hint"].iter().filter_map(|kind| file.get(*kind)?.as_array()).flatten() {
            let sources = error["sources"].as_array().unwrap();
            let is_address = |source: &toml::Value| source.as_str().unwrap().starts_with("https://");
            assert!(!sources.is_empty() && sources.iter().all(is_address), "{error}");
            assert!(
                ["reported", "specified", "inferred", "seen", "recorded"]
                    .contains(&error["evidence"].as_str().unwrap())
            );
        }
    }
    for envelope in Envelope::all() {
        assert!(envelope.source.starts_with("https://") && !envelope.signs.is_empty(), "{}", envelope.name);
    }
}

/// Each text leads to itself, and none is that of a rule, which would say more.
#[test]
fn every_text_of_a_class_leads_to_it() {
    for class in ErrorClass::all() {
        for error in &class.errors {
            let text = filled(&error.text);
            let reading = ErrorReading::new(&text);
            let of_rule = recognise(&text).into_iter().find(|found| found.likeness == Likeness::Whole);
            let of_rule = of_rule.and_then(|found| found.refusal.text.as_deref());
            assert!(of_rule.is_none_or(|known| known.len() < error.text.len()), "a rule has: {text}");
            let found = reading.class.unwrap_or_else(|| panic!("{}: not known: {text}", class.id));
            assert_eq!(
                (&found.class.id, found.error.map(|known| &known.text)),
                (&class.id, Some(&error.text)),
                "{text}"
            );
        }
    }
}

/// A text with something in the place of each placeholder.
fn filled(text: &str) -> String {
    regex::Regex::new(r"\{[a-z-]*\}").unwrap().replace_all(text, "7").into_owned()
}
