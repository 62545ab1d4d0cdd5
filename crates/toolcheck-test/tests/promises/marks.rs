//! What `lint` marks is what `fix` fixes, also in logs in which something is missing, twice or in another order.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use toolcheck_json::escape_step;
use toolcheck_lint::fix::Fixable;
use toolcheck_lint::{FixOptions, Options, fix, lint};

use crate::common::{Case, cases};

/// The most places of a file at which something is done.
const MOST_PLACES: usize = 10;

/// What is done to the elements of a list.
#[derive(Clone, Copy)]
enum Damage {
    Lost,
    Twice,
    Swapped,
    /// It is said again at the end, after all that followed.
    Repeated,
}

const DAMAGES: [Damage; 4] = [Damage::Lost, Damage::Twice, Damage::Swapped, Damage::Repeated];

impl Damage {
    fn to<T: Clone>(self, list: &mut Vec<T>, at: usize) {
        match self {
            Self::Lost => drop(list.remove(at)),
            Self::Twice => list.insert(at, list[at].clone()),
            Self::Swapped if at + 1 < list.len() => list.swap(at, at + 1),
            Self::Swapped => {}
            Self::Repeated => list.push(list[at].clone()),
        }
    }
}

/// The places of all elements of lists in a value.
fn places(value: &Json, pointer: &str, found: &mut Vec<(String, usize)>) {
    match value {
        Json::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                found.push((pointer.to_owned(), at));
                places(inner, &format!("{pointer}/{at}"), found);
            }
        }
        Json::Object(object) => {
            for (key, inner) in object {
                places(inner, &format!("{pointer}/{}", escape_step(key)), found);
            }
        }
        _ => {}
    }
}

/// At most so many of a list, from all of it.
fn some<T>(all: Vec<T>) -> impl Iterator<Item = T> {
    let step = all.len().div_ceil(MOST_PLACES).max(1);
    all.into_iter().step_by(step)
}

/// A file with each damage at some of its lines, or of the elements of its lists.
fn damaged(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    if let Ok(whole) = serde_json::from_str::<Json>(text) {
        let mut found = Vec::new();
        places(&whole, "", &mut found);
        for (pointer, at) in some(found) {
            for damage in DAMAGES {
                let mut file = whole.clone();
                damage.to(file.pointer_mut(&pointer).unwrap().as_array_mut().unwrap(), at);
                files.push(format!("{file}\n"));
            }
        }
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    if lines.len() > 1 {
        for at in some((0..lines.len()).collect()) {
            for damage in DAMAGES {
                let mut file = lines.clone();
                damage.to(&mut file, at);
                files.push(file.join("\n") + "\n");
            }
        }
    }
    files
}

/// What is marked otherwise than it is fixed, and how many are marked as safe and as unsafe.
fn wrong(name: &str, bytes: &[u8], options: &Options, counts: &mut [usize; 2]) -> Vec<String> {
    let report = lint(name, bytes, options);
    if report.findings.is_empty() {
        return Vec::new();
    }
    let fixes = [false, true].map(|is_unsafe| {
        let fixed = fix(name, bytes, options, &FixOptions::new().unsafe_fixes(is_unsafe));
        let places = fixed.applied.iter().map(|done| (done.rule, done.spot.bytes.start));
        places.collect::<BTreeSet<_>>()
    });
    let mut wrong = Vec::new();
    for found in &report.findings {
        let place = (found.rule, found.spot.bytes.start);
        let is_done = [fixes[0].contains(&place), fixes[1].contains(&place)];
        let wanted = match found.fixable {
            Some(Fixable::Safe) => [true, true],
            Some(_) => [false, true],
            None => [false, false],
        };
        counts[0] += usize::from(wanted[0]);
        counts[1] += usize::from(wanted[1] && !wanted[0]);
        if is_done != wanted {
            let (line, rule) = (found.spot.start.line, found.rule);
            wrong.push(format!("{name}:{line}: {rule} is marked {:?}, and fixed {is_done:?}", found.fixable));
        }
    }
    wrong
}

#[test]
fn what_is_marked_in_the_corpus_is_mended_and_nothing_else() {
    let (mut all, mut counts) = (Vec::new(), [0, 0]);
    for Case { name, bytes, options } in cases() {
        all.extend(wrong(&name, &bytes, &options, &mut counts));
    }
    assert!(all.is_empty(), "{} of {counts:?}:\n{}", all.len(), all.join("\n"));
    assert!(counts[0] >= 410 && counts[1] >= 245, "{counts:?}");
}

#[test]
fn what_is_marked_in_a_damaged_log_is_fixed() {
    let (mut all, mut counts, mut files) = (Vec::new(), [0, 0], 0);
    for Case { name, bytes, options } in cases().filter(|case| case.name.starts_with("inputs")) {
        let Ok(text) = str::from_utf8(&bytes) else { continue };
        for (number, file) in damaged(text).into_iter().enumerate() {
            files += 1;
            let found = wrong(&name, file.as_bytes(), &options, &mut counts);
            all.extend(found.into_iter().map(|one| format!("damage {number} of {one}")));
        }
    }
    assert!(all.is_empty(), "{} of {counts:?} in {files} files:\n{}", all.len(), all.join("\n"));
    assert!(counts[0] >= 1100 && counts[1] >= 1200 && files >= 13_000, "{counts:?} in {files} files");
}
