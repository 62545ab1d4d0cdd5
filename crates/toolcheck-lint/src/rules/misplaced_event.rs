use toolcheck_core::Level;
use toolcheck_core::ir::Misplacement;
use toolcheck_core::text::{kept, shorten};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A protocol event that is sent when it is not allowed.
    ///
    /// ## Why is this bad?
    ///
    /// In protocols whose messages are events, such as AG-UI, the other side keeps track of what is open: a message, a
    /// tool call, a run. An event that does not fit is refused, and with it usually the rest of the stream: the user sees
    /// an answer that stops.
    ///
    /// Of several events that are misplaced for the same reason, the first is reported. Nothing is reported for what a log
    /// has before the session begins, because it may begin in the middle.
    ///
    /// ## Fails
    ///
    /// ```jsonl ag-ui
    /// {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    /// {"type": "TOOL_CALL_START", "toolCallId": "call_1", "toolCallName": "tide"}
    /// {"type": "TOOL_CALL_END", "toolCallId": "call_1"}
    /// {"type": "TOOL_CALL_ARGS", "toolCallId": "call_1", "delta": "{}"}  // flagged
    /// {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```jsonl ag-ui
    /// {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    /// {"type": "TOOL_CALL_START", "toolCallId": "call_1", "toolCallName": "tide"}
    /// {"type": "TOOL_CALL_ARGS", "toolCallId": "call_1", "delta": "{}"}
    /// {"type": "TOOL_CALL_END", "toolCallId": "call_1"}
    /// {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
    /// ```
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
