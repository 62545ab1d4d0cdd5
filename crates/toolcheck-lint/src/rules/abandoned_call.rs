use toolcheck_core::ir::{Executor, TranscriptKind};
use toolcheck_core::response::ChoiceCall;
use toolcheck_core::text::{self, shorten};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::exchanges::forces_a_call;

declare_rule! {
    AbandonedCall in Pairing, since "0.1.0", warning on end looks at [EXCHANGE], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some([answer]) = cx.course.map(|course| course.answers) else { return };
    if !answer.is_whole || cx.transcript.kind != TranscriptKind::Request || forces_a_call(cx.transcript) {
        return;
    }
    let completes = |call: &ChoiceCall| {
        call.name.as_ref().is_some_and(|name| cx.settings.completion_tools.contains(name))
    };
    let mut calls = answer.calls.iter().filter(|call| call.executor == Executor::Client).peekable();
    let Some(first) = calls.peek().copied() else { return };
    if calls.clone().any(completes) {
        return;
    }
    let title = match (&first.id, &first.name) {
        (Some(id), Some(name)) => format!("`{}` ({})", shorten(name), shorten(id)),
        (_, Some(name)) => format!("`{}`", shorten(name)),
        _ => "a tool without a name".to_owned(),
    };
    let message = match calls.count() {
        1 => format!("the model called {title}, and nothing in the recording answers it"),
        count => format!(
            "the model called {count} tools, and nothing in the recording answers them; first: {title}"
        ),
    };
    let finding = out.report(first.place, message);
    finding.caption("called here").help(
        "answer every call before the loop ends, with an error if the tool did not run, and let the model have the \
         last word",
    );
    finding.tool_call_id = first.id.as_deref().map(text::kept);
    finding.say().tool_name = first.name.as_deref().map(text::kept);
}
