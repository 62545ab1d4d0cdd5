//! `explain --error`: any text, compared with the error texts of all targets and frameworks.

use toolcheck_core::recognise::{Recognised, recognise};

/// Recognises the text, decoded as on the command line.
pub fn run(data: &[u8]) {
    let error = String::from_utf8_lossy(data);
    let found = recognise(&error);
    // The text may be wrapped.
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = in_one_line(&error);
    for Recognised { origin, refusal, captures, .. } in &found {
        assert!(refusal.text.is_some() && !origin.id().is_empty());
        for (name, value) in captures {
            assert!(!value.is_empty() && line.contains(&in_one_line(value)), "{name}: {value}");
        }
    }
    let ids = |found: &[Recognised]| -> Vec<_> {
        found.iter().map(|one| (one.origin.id(), one.refusal.rule)).collect()
    };
    let listed = ids(&found);
    let is_first = |at: usize| !listed[..at].contains(&listed[at]);
    assert!((1..listed.len()).all(is_first), "each origin and rule once: {listed:?}");
    assert_eq!(listed, ids(&recognise(&error)));
}
