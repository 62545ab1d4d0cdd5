use super::*;

fn expected(texts: &[&str]) -> Vec<Expected> {
    texts.iter().map(|text| text.parse().expect("it is valid")).collect()
}

/// Findings, written like expectations; without a level, an error.
pub(crate) fn found(texts: &[&str]) -> Vec<ActualFinding> {
    let found = expected(texts).into_iter().map(|one| ActualFinding {
        rule: rules::find(&one.rule).expect("there is such a rule").id,
        level: one.level.unwrap_or(Level::Error),
        place: one.place.expect("it has a place"),
        line: 1,
        column: 1,
    });
    found.collect()
}

/// The signs and rules of a difference.
fn changes(wanted: &[&str], got: &[&str]) -> Vec<String> {
    let difference = Difference::of(&expected(wanted), &found(got));
    difference.changes.iter().map(|change| change.line("f").replace("  f:1:1", "")).collect()
}

#[test]
fn equal_findings_are_no_difference() {
    assert_eq!(changes(&[], &[]), Vec::<String>::new());
    let all = ["blank-text at /a", "empty-content at /b", "blank-text at 1:/a"];
    assert_eq!(changes(&all, &all), Vec::<String>::new());
    assert_eq!(changes(&["blank-text", "empty-content", "blank-text"], &all), Vec::<String>::new());
}

#[test]
fn changes_are_in_the_order_of_the_text() {
    let wanted = ["blank-text at /a", "empty-content at /b", "unknown-role at /d"];
    let got = ["empty-content at /b", "blank-text at /c", "unknown-role at /d"];
    assert_eq!(changes(&wanted, &got), ["- blank-text at /a", "+ error blank-text at /c"]);
    assert_eq!(changes(&["blank-text at \"\""], &[]), ["- blank-text at \"\""]);
    // An expectation without a place matches the next finding of its rule, and only one.
    assert_eq!(
        changes(&["blank-text"], &["blank-text at /a", "blank-text at /b"]),
        ["+ error blank-text at /b"]
    );
}

#[test]
fn another_order_and_another_level_are_reported() {
    let (one, other) = ("error blank-text at /a", "error empty-content at /b");
    assert_eq!(changes(&[other, one], &[one, other]).len(), 2);
    assert_eq!(
        changes(&["warning blank-text at /a"], &[one]),
        ["- warning blank-text at /a", "+ error blank-text at /a"]
    );
}

#[test]
fn invalid_expectations_are_reported() {
    let error = |text: &str| text.parse::<Expected>().expect_err(text).to_string();
    assert_eq!(error("blank-tekst"), "there is no rule `blank-tekst`; did you mean `blank-text`?");
    assert!(error("bad blank-text").contains("neither"));
    assert!(error("blank-text at messages").contains("not a JSON Pointer"));
    assert!(error("blank-text at x:/a").contains("not a record number"));
}

#[test]
fn a_hundred_thousand_findings_are_compared_in_one_pass() {
    let many = |from: usize| {
        (from..from + 100_000).map(|at| format!("blank-text at /messages/{at}")).collect::<Vec<_>>()
    };
    let (wanted, got) = (many(0), many(50_000));
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let got: Vec<&str> = got.iter().map(String::as_str).collect();
    assert_eq!(changes(&wanted, &got).len(), 100_000);
}

#[cfg(feature = "proptest")]
pub(crate) mod properties {
    use proptest::prelude::*;

    use super::super::*;
    use toolcheck_core::RuleId;

    /// Findings of few rules at few places, so that many are equal.
    pub(crate) fn findings() -> impl Strategy<Value = Vec<ActualFinding>> {
        let rule = prop::sample::select(vec![RuleId::BlankText, RuleId::UnknownRole]);
        let pointer = "(/[ab\"~\u{e4}]{1,2}){0,2}";
        let one = (rule, pointer, 0..2usize, any::<bool>());
        let one = one.prop_map(|(rule, pointer, record, is_error)| ActualFinding {
            rule,
            level: if is_error { Level::Error } else { Level::Warning },
            place: Place { record, pointer },
            line: 1,
            column: 1,
        });
        prop::collection::vec(one, 0..8)
    }

    proptest! {
        #[test]
        fn each_finding_is_as_expected_or_reported(
            wanted in findings(), got in findings(), with in prop::collection::vec((any::<bool>(), any::<bool>()), 8)
        ) {
            let expect = |(found, (place, level)): (&ActualFinding, &(bool, bool))| Expected {
                rule: found.rule.as_str().to_owned(),
                place: place.then(|| found.place.clone()),
                level: level.then_some(found.level),
            };
            let expected: Vec<Expected> = wanted.iter().zip(&with).map(expect).collect();
            let difference = Difference::of(&expected, &got);
            let missing = difference.changes.iter().filter(|change| matches!(change, Change::Missing(_))).count();
            prop_assert_eq!(difference.as_expected + missing, expected.len());
            prop_assert_eq!(difference.as_expected + difference.changes.len() - missing, got.len());
            prop_assert!(Difference::of(&expected, &wanted).is_empty());
            // The unexpected findings are a part of the actual ones, in the same order.
            let mut rest = got.iter();
            for change in &difference.changes {
                if let Change::Unexpected(found) = change {
                    prop_assert!(rest.any(|one| one == found));
                }
            }
            // The text of an expectation can be parsed again.
            for one in &expected {
                prop_assert_eq!(&one.to_string().parse::<Expected>(), &Ok(one.clone()));
            }
        }
    }
}
