use foldhash::HashMap;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    ReusedToolCallId in Ids, since "0.1.0", warning looks at [RESULTS], check,
    values PART, CALL_ID
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let pairing = cx.pairing;
    if !pairing.repeats_ids() {
        return;
    }
    // For each id: its first call, and whether its reuse has been reported. Each id is reported once.
    let mut seen: HashMap<&str, (usize, bool)> = HashMap::default();
    for call in pairing.calls.iter().filter(|call| pairing.answer_of(call).is_some()) {
        let Some(id) = &call.call.id else { continue };
        let (first, is_reported) = seen.entry(&id.text).or_insert((call.number, false));
        let first = &pairing.calls[*first];
        if first.turn == call.turn || *is_reported {
            continue;
        }
        *is_reported = true;
        let title = call.call.title();
        out.report(call.part.place, format!("tool call id {title} was already used in an earlier turn"))
            .about_call(call.call)
            .caption("used again")
            .label(first.part.place, "first used here")
            .help("make ids unique within the whole conversation")
            .at(cx, call)
            .value("id", &id.text);
    }
}
