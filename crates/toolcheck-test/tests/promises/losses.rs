//! What a fix says that it has lost is what `diff` finds.

use toolcheck_core::diff::Level;
use toolcheck_core::diff::files::{File, compare};
use toolcheck_core::{InputFormat, formats, targets};
use toolcheck_lint::{FixOptions, Options, fix};

use crate::common::{Case, cases};

/// Cases in which no messages are read before they are fixed, so that they cannot be compared.
const WITHOUT_MESSAGES: [&str; 3] = [
    "gemini/unrecognised-format.json",
    "mistakes/gemini/contents-as-text.json",
    "mistakes/openai-responses/input-object.json",
];

/// The lines of a text that are whole JSON.
fn whole_lines(bytes: &[u8]) -> Vec<u8> {
    let is_whole = |line: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| is_whole(line));
    lines.collect::<Vec<_>>().join(&b"\n"[..])
}

/// What is wrong with what a fix of a text says that it loses.
fn wrong(
    name: &str,
    bytes: &[u8],
    options: &Options,
    how: &FixOptions,
    seen: &mut [usize; 2],
) -> Option<String> {
    let fixed = fix(name, bytes, options, how);
    if fixed.is_unchanged() {
        return None;
    }
    let format = fixed.before.format.or(fixed.report().format).and_then(InputFormat::named);
    // What is not JSON is not compared.
    let [old, new] = [bytes, &fixed.bytes].map(|text| match File::read(text, format) {
        Err(error) if error.to_string().starts_with("malformed") => whole_lines(text),
        _ => text.to_vec(),
    });
    let (before, after) = match (File::read(&old, format), File::read(&new, format)) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(_), _) if WITHOUT_MESSAGES.contains(&name) => return None,
        (Err(error), _) | (_, Err(error)) => return Some(format!("{name} is not read: {error}")),
    };
    let target = fixed.before.target.as_deref().and_then(targets::find);
    let target = target.and_then(|target| formats::find(target.format.as_deref()?));
    let report = compare(&before, &after, target);
    let losses = report.changes.iter().filter(|change| change.level == Level::Loss);
    let losses: Vec<String> = losses.map(|change| format!("{} {}", change.kind, change.about)).collect();
    let costs = fixed.applied.iter().filter_map(|done| done.cost.as_ref());
    let lost: Vec<&str> = costs.filter_map(|cost| cost.lost()).collect();
    seen[usize::from(!lost.is_empty())] += 1;
    let rules: Vec<_> = fixed.applied.iter().map(|done| (done.rule, done.action.as_str())).collect();
    (losses.is_empty() != lost.is_empty())
        .then(|| format!("{name}: {rules:?} lose {lost:?}, and diff says {losses:?}"))
}

#[test]
fn nothing_is_lost_if_and_only_if_diff_finds_no_loss() {
    let (mut all, mut seen) = (Vec::new(), [0, 0]);
    for Case { name, bytes, options } in cases() {
        for is_unsafe in [false, true] {
            let how = FixOptions::new().unsafe_fixes(is_unsafe).accepted(true);
            // Each record of a shape is a request.
            if name.starts_with("shapes/") && name.ends_with(".jsonl") {
                for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
                    let name = format!("{name}:{}", number + 1);
                    all.extend(wrong(&name, line, &options, &how, &mut seen));
                }
            } else {
                all.extend(wrong(&name, &bytes, &options, &how, &mut seen));
            }
        }
    }
    assert!(all.is_empty(), "{} of {seen:?}:\n{}", all.len(), all.join("\n"));
    assert!(seen[0] > 500 && seen[1] > 50, "{seen:?}");
}
