//! Regular expressions of models, ids and names.

use proptest::prelude::*;
use regex::Regex;
use toolcheck_core::targets::Pattern;

use crate::plain::Plain;

proptest! {
    /// A glance at how a text begins rules out none that matches, whether it is the first that is asked about or not.
    #[test]
    fn what_matches_may_match(number in 0..patterns().len(), text in "[a-z0-9.-]{0,8}|gpt-[a-z0-9.-]{0,8}|o[1-4](-mini)?") {
        let pattern = Pattern::from(patterns()[number].clone());
        let full = Regex::new(pattern.as_str()).is_ok_and(|full| full.is_match(&text));
        prop_assert_eq!([pattern.is_match(&text), pattern.is_match(&text)], [full; 2], "{} {}", pattern.as_str(), text);
    }
}

fn of_targets() -> Vec<String> {
    let expression = Regex::new("(?m)(?:pattern|model|advisor) = '(.*?)'").expect("an expression");
    let mut all = Vec::new();
    for folder in ["targets", "shapes"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for file in std::fs::read_dir(folder).expect("a folder") {
            let text = std::fs::read_to_string(file.expect("a file").path()).expect("a text");
            all.extend(expression.captures_iter(&text).map(|found| found[1].to_owned()));
        }
    }
    assert!(all.len() > 100, "{}", all.len());
    all
}

fn patterns() -> Vec<String> {
    let mut all = of_targets();
    let odd = r"^[a-zA-Z0-9_-]+$ ^[a-c-]*$ ^[-a]{2}$ ^[^a]+$ ^[a&&b]+$ ^[]a]+$ ^[a-b-c]+$ ^[z-a]+$
        ^[a]{2,1}$ ^a_[bc]{2}[a-c]*$ ^[ab]+c$ ^[ab]*[a-c]{2}$ ^a[ab]{1,2}[bc]c$ ^[ab]*a*$ ^[ab]+?$
        ^[ab]{1}{2}$ ^a?$ ^a|b$ ^(a|b)$ ^a.$ ^$ ^[a]?$ ^\w+$ (?i)k (?i)ä [[:alpha:]] ( a{1000}
        (|a)b?$ (a|b)* (a a) a(?=b) a[.\-]|\.$ \d a.b [^a-z]K|(?i)k (?i)[a-c]|K_ ^a|[bc]+$
        a[bc]?[cd]?d?$ (^|[^0-9])b \<b b\> ^(a|[ab])?(b|b)?c";
    all.extend(odd.split_whitespace().chain(["^[ -~]{0,3}$"]).map(str::to_owned));
    all.sort();
    all.dedup();
    all
}

fn is_same(pattern: &str, text: &str) -> bool {
    let full = Regex::new(pattern).is_ok_and(|full| full.is_match(text));
    Pattern::from(pattern.to_owned()).is_match(text) == full
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However an expression is compiled, it matches what the engine for all expressions matches.
    #[test]
    fn every_way_to_match_is_the_same(
        text in prop_oneof!["[a-zA-Z0-9_.@-]{0,12}", "(claude|gpt|gemini)-[a-z0-9.-]{0,9}", "\\PC{0,4}", "[a-c]{0,3}\n?", "\\s{0,3}"],
    ) {
        for pattern in patterns() {
            prop_assert!(is_same(&pattern, &text), "{pattern} in {text:?}");
        }
    }
}

#[test]
fn models_have_examples() {
    let without: Vec<String> = of_targets()
        .into_iter()
        // The expressions of ids and names have repetitions.
        .filter(|pattern| !pattern.contains("(?") && !pattern.contains(['+', '*', '{']))
        .filter(|pattern| Pattern::from(pattern.clone()).example().is_none())
        .collect();
    assert!(without.is_empty(), "{without:?}");
    let example = |pattern: &str| Pattern::from(pattern.to_owned()).example();
    assert_eq!(example("^gpt-[56](-20|$)").as_deref(), Some("gpt-5-20"));
    assert_eq!(example(r"claude-opus-4[-.]([1-9]|@)").as_deref(), Some("claude-opus-4-1"));
    assert_eq!(example("^a$b"), None);
}

/// An expression of a user's own target may be anything.
#[test]
fn no_expression_takes_long() {
    let (many, deep) = ("(a|a)".repeat(40), "(a)".repeat(100_000));
    let text = "a".repeat(10_000);
    for pattern in [format!("^{many}b"), format!("{many}b"), format!("a?{}b", "a?".repeat(40)), many] {
        assert!(Plain::of(&pattern).is_none(), "{pattern}");
        assert!(is_same(&pattern, &text), "{pattern}");
    }
    let deep = Plain::of(&deep).expect("one path leads through it");
    assert_eq!(deep.is_match(&text), Some(false));
}

#[test]
fn few_expressions_of_targets_need_an_engine() {
    let mut slow = of_targets();
    slow.retain(|pattern| Plain::of(pattern).is_none());
    slow.sort();
    slow.dedup();
    let expected = [
        r"^ ?([A-Za-z0-9_()\[\]-]+ ?)*$",
        "^(?s:[^n].*|n|n[^u].*|nu|nu[^l].*|nul|nul[^l].*|null.+)$",
        r"^(?s:\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[])*\(\?<?[=!]",
        "^([a-zA-Z0-9_-]+|arn:aws(|-us-gov|-cn|-iso|-iso-b|-iso-f|-eusc):bedrock:[0-9a-z-]{1,20}:[0-9]{12}:project/[a-zA-Z0-9_-]+)$",
        "^(|([a-z0-9]+)|(arn:aws(-[^:]+)?:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:guardrail/[a-z0-9]+))$",
        r"^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$",
        r"^\^(?s:.*)\$$",
        r"^\^(?s:[^\\]|\\[^bBdDsSwW])*\\[bBdDsSwW](?s:.*)\$$",
        r"^s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/.*)?$",
    ];
    assert_eq!(slow, expected);
}
