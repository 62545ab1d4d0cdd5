use super::{Check, Seen};

pub(super) static CHECK: Check =
    Check { id: "is-not-refused", summary: "The API refuses none of the requests.", judge };

fn judge(seen: &Seen<'_>) -> Option<String> {
    let refused = seen.case.run.refused().next()?;
    Some(format!(
        "refused with {}: {} at {}: {}",
        refused.status, refused.rule, refused.place, refused.message
    ))
}
