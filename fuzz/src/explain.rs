//! `explain --error`: any text, held against all that the targets' APIs answer.

use toolcheck_core::recognise::{Recognised, recognise};

/// Recognises the text, which is read as the command line reads it.
pub fn run(data: &[u8]) {
    let error = String::from_utf8_lossy(data);
    let found = recognise(&error);
    for Recognised { target, refusal, captures, .. } in &found {
        assert!(refusal.text.is_some() && !target.id.is_empty());
        for (name, value) in captures {
            assert!(!value.is_empty() && error.contains(value.as_str()), "{name}: {value}");
        }
    }
    let ids = |found: &[Recognised]| -> Vec<_> {
        found.iter().map(|one| (one.target.id.clone(), one.refusal.rule.clone())).collect()
    };
    let told = ids(&found);
    assert!((1..told.len()).all(|at| !told[..at].contains(&told[at])), "each target and rule once: {told:?}");
    assert_eq!(told, ids(&recognise(&error)));
}
