//! Every refusal in the targets' data is covered by a case in the corpus.

use std::collections::BTreeMap;

use toolcheck_core::targets::Refusal;
use toolcheck_core::{formats, targets};
use toolcheck_lint::{Options, lint, rules};

use crate::common::{Case, all_cases};

/// A target, a rule and one of the rule's cases.
type Fact = (String, String, Option<String>);

/// Refusals that no transcript of the corpus covers, each with the reason.
const WITHOUT_CASE: &[(&str, &str, Option<&str>, &str)] = &[
    (
        "anthropic",
        "unresolved-reference",
        Some("response"),
        "a recording may begin after it; `toolcheck-serve` has the test",
    ),
    ("openai-responses", "detached-reasoning", Some("missing"), "nothing shows that the model had reasoned"),
    ("openai-chat", "oversized-content", None, "a case would be ten megabytes long"),
    ("openai-responses", "oversized-content", None, "a case would be ten megabytes long"),
];

#[test]
fn a_text_of_more_than_ten_megabytes_is_too_long() {
    for length in [10_485_760, 10_485_761] {
        let request = format!(r#"{{"messages": [{{"role": "user", "content": "{}"}}]}}"#, "a".repeat(length));
        let options = Options::new().format(formats::find("openai-chat"));
        let found: Vec<_> =
            lint("large", request.as_bytes(), &options).findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(found, if length > 10_485_760 { vec!["oversized-content"] } else { vec![] });
    }
}

#[test]
fn every_refusal_has_a_case() {
    let covered = covered_facts();
    let mut missing = Vec::new();
    let mut count = 0;
    for target in targets::all().filter(|target| target.union.is_empty()) {
        for refusal in target.refusals().iter().filter(|refusal| !refusal.is_inherited && !refusal.legacy) {
            let is_checked = !rules::get(refusal.rule).only_explains();
            let fact =
                (target.id.to_string(), refusal.rule.to_string(), refusal.case.clone().map(String::from));
            let is_left_out = WITHOUT_CASE.iter().any(|(target, rule, case, _)| {
                (*target, *rule, *case) == (&fact.0, &fact.1, fact.2.as_deref())
            });
            if !is_checked {
                continue;
            }
            assert!(!(is_left_out && covered.contains_key(&fact)), "{fact:?} has a case after all");
            count += 1;
            if !is_left_out && !covered.contains_key(&fact) {
                missing.push(format!("{} {} {}", fact.0, fact.1, fact.2.as_deref().unwrap_or("-")));
            }
        }
    }
    assert!(count >= 450, "the targets have refusals: {count}");
    assert!(
        missing.is_empty(),
        "{} of {count} refusals have no case:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

/// If a value for a placeholder is missing, the finding lacks the provider's text.
#[test]
fn every_covered_refusal_has_its_text() {
    let mut missing = Vec::new();
    let mut count = 0;
    for ((target, rule, case), texts) in covered_facts() {
        let target = targets::find(&target).unwrap();
        let is_known = |refusal: &&Refusal| {
            refusal.rule.as_str() == rule && refusal.case.as_deref() == case.as_deref() && !refusal.legacy
        };
        let known: Vec<&Refusal> = target.refusals().iter().filter(is_known).collect();
        // Some refusals have no text, and what shapes say has texts of its own.
        if known.is_empty() || known.iter().any(|refusal| refusal.text.is_none()) {
            continue;
        }
        count += texts.len();
        if texts.iter().any(Option::is_none) {
            missing.push(format!("{} {rule} {}", target.id, case.as_deref().unwrap_or("-")));
        }
    }
    assert!(count >= 660, "the corpus covers refusals: {count}");
    assert!(missing.is_empty(), "a placeholder of the text has no value:\n{}", missing.join("\n"));
}

/// The refusals that the corpus covers, by the targets that its expectations name, with the texts of the findings.
fn covered_facts() -> BTreeMap<Fact, Vec<Option<String>>> {
    let mut covered: BTreeMap<Fact, Vec<Option<String>>> = BTreeMap::new();
    for Case { bytes, options, .. } in all_cases() {
        let report = lint("case", &bytes, &options);
        for finding in report.findings {
            let Some(answer) = finding.provider_error else { continue };
            let fact = (answer.target.to_string(), finding.rule.to_string(), answer.case);
            covered.entry(fact).or_default().push(answer.text);
        }
    }
    covered
}
