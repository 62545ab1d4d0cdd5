use toolcheck_core::Level;
use toolcheck_core::ir::Misplacement;
use toolcheck_core::response::{Missing, StreamFault};
use toolcheck_core::text::{kept, shorten};

use crate::finding::Draft;
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
                (format!("`{kind}` opens {}, which is still open", named(thing, id)), "still open")
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
            Misplacement::Again { thing, id, .. } => {
                (format!("`{kind}` reuses the id of {}", named(thing, id)), "an id that was used before")
            }
            Misplacement::OtherSender { thing, id } => (
                format!("`{kind}` is for {}, which another sender began", named(thing, id)),
                "another sender",
            ),
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
        if let Misplacement::Again { then, .. } = &event.why {
            let why = event.says.as_ref().map(|says| format!("the peer answers: {}", kept(says)));
            let why = then.clone().or(why).unwrap_or_default();
            finding.help(format!("give each an id of its own; {why}"));
            continue;
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

/// The finding for a streamed response whose pieces do not fit together.
pub(crate) fn of_stream(fault: &StreamFault) -> Draft {
    let (message, caption) = match fault.missing {
        Missing::Start(number) => {
            (format!("a piece of the stream is for block {number}, which has not begun"), "not open here")
        }
        Missing::Key(key) => (format!("a call in the stream never gets its {key}"), "begins here"),
    };
    let mut finding = Draft::new(RULE.id, fault.place, message);
    finding.caption(caption).help(
        "send every piece under the number of its block, and the start of the block before it: a client can't put this \
         response together",
    );
    finding
}
