use foldhash::HashMap;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::Place;
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    DuplicateKey in Files, since "0.1.0", warning on text, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let pairs = cx.document.duplicate_keys();
    // For the first member of each key: the number of repetitions, and the last one.
    let mut repeats = HashMap::default();
    for (first, again) in &pairs {
        let (count, last, is_same) = repeats.entry(first.id()).or_insert((0, *again, true));
        (*count, *last) = (*count + 1, *again);
        *is_same &= first.raw() == again.raw();
    }
    for (first, again) in pairs {
        let Some((count, last, is_same)) = repeats.remove(&first.id()) else { continue };
        let key = again.key().map(|key| key.decode()).unwrap_or_default();
        let times = if count == 1 { "twice".to_owned() } else { format!("{} times", count + 1) };
        let finding = out
            .report(Place::of_key(again), format!("key `{}` appears {times} in one object", shorten(&key)));
        finding.caption("repeated here").label(Place::of_key(first), "first here");
        if count > 1 {
            finding.label(Place::of_key(last), "last here");
        }
        finding.help("keep only one; parsers differ in which one they use");
        // Of three, the one between would stay.
        if count == 1 {
            let change = [Change::Remove(first.id())];
            finding.fix(match is_same {
                true => Fix::safe(change),
                false if again.says_nothing() && !first.says_nothing() => Fix::guess(
                    "assumes that the first value is meant; the last one, which says nothing, is removed",
                    [Change::Remove(again.id())],
                ),
                false => Fix::guess(
                    format!(
                        "assumes that the last value is meant; the first one is removed ({} bytes)",
                        first.raw().len()
                    ),
                    change,
                ),
            });
        }
    }
}
