use toolcheck_core::Level;
use toolcheck_core::ir::Misplacement;
use toolcheck_core::text::{kept, shorten};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MisplacedEvent in Order, since "0.1.0", error, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for event in &cx.transcript.details.misplaced_events {
        let kind = kept(&event.kind);
        let named = |thing: &str, id: &str| format!("{thing} `{}`", shorten(id));
        let (message, caption) = match &event.why {
            Misplacement::Open { thing, id } => {
                (format!("`{kind}` opens {} a second time", named(thing, id)), "still open")
            }
            Misplacement::NotOpen { thing, id } => {
                (format!("`{kind}` is for {}, which is not open", named(thing, id)), "not open here")
            }
            Misplacement::LeftOpen { thing, ids } => {
                let id = ids.first().map_or("", String::as_str);
                let others = match ids.len() {
                    0 | 1 => String::new(),
                    more => format!(" and {} more", more - 1),
                };
                (format!("`{kind}` is sent while {}{others} is open", named(thing, id)), "too early")
            }
            Misplacement::Unnamed { thing, key } => {
                (format!("`{kind}` begins a {thing} without `{}`", shorten(key)), "the first piece names it")
            }
            Misplacement::Cancelled(id) => (
                format!("`{kind}` answers {}, which was cancelled", named("tool call", id)),
                "no longer awaited",
            ),
            Misplacement::In(phase) => (format!("`{kind}` is not allowed while {phase}"), "not allowed here"),
            _ => (format!("`{kind}` is not allowed here"), "not allowed here"),
        };
        let finding = out.report(event.place, message);
        finding.caption(caption);
        if event.is_doubtful || event.says.is_none() {
            finding.at_most(Level::Warning);
        }
        match &event.says {
            Some(says) => finding
                .help(format!("send it at a point where it is allowed; the peer answers: {}", kept(says))),
            None if matches!(event.why, Misplacement::Cancelled(_)) => {
                finding.help("don't answer a cancelled call")
            }
            None => finding.help("send it earlier, or not at all"),
        };
    }
}
