//! The error texts of the targets are recognised. `fixtures/targets` has a request for each refusal.

use std::collections::BTreeSet;

use toolcheck_core::recognise::recognise;
use toolcheck_core::targets::{Refusal, Target};
use toolcheck_core::{framework, targets};

/// Texts that are recognised are recognised as the same inside of what clients and gateways put around them.
#[test]
fn envelopes_around_an_error_of_a_target_are_ignored() {
    let texts: BTreeSet<String> = filled_texts().map(|(.., filled)| filled).collect();
    assert!(texts.len() >= 417, "{}", texts.len());
    // A debug build is slow, and takes every eighth.
    let step = if cfg!(debug_assertions) { 8 } else { 1 };
    let known = texts.iter().step_by(step).filter(|text| !recognise(text).is_empty());
    for text in known {
        let best = |error: &str| recognise(error).first().map(|found| found.refusal.rule);
        let plain = best(text);
        let body =
            serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}});
        // What another API passes on may be known of that API too, and then there it comes first.
        let passed_on = format!(
            "An error occurred (ValidationException) when calling the Converse operation: The model returned the following errors: {text}"
        );
        let found = recognise(&passed_on);
        assert!(found.iter().any(|found| Some(&found.refusal.rule) == plain.as_ref()), "{passed_on}");
        let wrapped = [
            body.to_string(),
            format!("litellm.BadRequestError: AnthropicException - {body}"),
            format!("2026-01-02T03:04:05Z ERROR [agent] API Error: 400 {body} (request id: 0123)"),
            text.replace('`', ""),
            text.replace('\'', "\""),
        ];
        for error in wrapped {
            assert_eq!(best(&error), plain, "{error}");
        }
    }
}

#[test]
fn an_error_about_what_a_model_takes_is_recognised() {
    let found = recognise("Unsupported value: 'temperature' does not support 0.2 with this model.");
    assert_eq!(found[0].refusal.rule.as_str(), "invalid-value");
}

#[test]
fn unrelated_errors_are_not_recognised() {
    for error in include_str!("error_texts/unrelated.txt").split('\n') {
        let found = recognise(error);
        assert!(found.is_empty(), "{error}: {} {:?}", found[0].refusal.rule, found[0].refusal.text);
    }
}

#[test]
fn pairing_errors_name_their_rule_and_ids() {
    for line in include_str!("error_texts/pairing.jsonl").lines() {
        let (error, rule, target, captures): (String, String, String, Vec<(String, String)>) =
            serde_json::from_str(line).unwrap();
        let found = recognise(&error);
        let best = found.first().unwrap_or_else(|| panic!("not recognised: {error}"));
        assert_eq!((best.refusal.rule.as_str(), best.origin.id()), (&*rule, &*target), "{error}");
        for (name, value) in captures {
            let captured =
                best.captures.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str());
            assert_eq!(captured.map(|text| text.trim_end_matches('.')), Some(&*value), "{name} in {error}");
        }
    }
}

/// The error texts of the targets, each as the target has it and with something in its placeholders.
fn filled_texts() -> impl Iterator<Item = (&'static Target, &'static Refusal, String)> {
    let targets = targets::all().filter(|target| target.union.is_empty());
    targets.flat_map(|target| target.refusals().iter().map(move |refusal| (target, refusal))).filter_map(
        |(target, refusal)| {
            let mut filled = String::from(refusal.text.clone()?);
            while let (Some(start), Some(end)) = (filled.find('{'), filled.find('}')) {
                let name = &filled[start + 1..end];
                let is_number = ["index", "part", "member", "part-member", "line", "max", "length", "count"]
                    .contains(&name);
                filled.replace_range(start..=end, if is_number { "7" } else { "thing" });
            }
            Some((target, refusal, filled))
        },
    )
}

#[test]
fn every_error_text_recognises_itself() {
    for (target, refusal, filled) in filled_texts() {
        let text = refusal.text.as_deref().unwrap_or_default();
        let own = text.chars().filter(|character| character.is_alphanumeric()).count();
        let found = recognise(&filled);
        assert!(
            own < 14 || found.iter().any(|found| found.refusal.rule == refusal.rule),
            "{}: {text}",
            target.id
        );
    }
}

#[test]
fn every_error_of_a_framework_has_a_rule() {
    for error in framework::all().flat_map(|framework| &framework.errors) {
        let rule = toolcheck_lint::rules::find(error.rule.as_str());
        assert!(rule.is_some(), "{}: {:?}", error.rule, error.text);
    }
}
