use toolcheck_core::ir::Executor;
use toolcheck_core::text::{self, shorten};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    EndlessLoop in Agents, since "0.1.0", warning looks at [EXCHANGE], check
}

/// How many same calls are too many, if their results tell of a problem.
const MOST_FAILING: usize = 10;
/// How many are too many in any case.
const MOST: usize = 25;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(course) = cx.course else { return };
    let Some(repeated) = &course.repeated else { return };
    let most = if repeated.is_failing { MOST_FAILING } else { MOST };
    // One run is one problem.
    if repeated.count != most {
        return;
    }
    let calls = course.answers.iter().flat_map(|answer| &answer.calls);
    let Some(call) = calls.into_iter().find(|call| call.executor == Executor::Client) else { return };
    let name = call.name.as_deref().map_or("a tool".to_owned(), |name| format!("`{}`", shorten(name)));
    let finding = out.report(
        call.place,
        format!("the model called {name} with the same arguments in {most} responses in a row, and nothing stops it"),
    );
    let (first, spot) = repeated.first.clone();
    finding
        .caption("called again here")
        .label_at(first, spot, "called here first")
        .help("limit the turns of a run, and end it with an error if a call with the same result comes back");
    finding.tool_call_id = call.id.as_deref().map(text::kept);
    finding.say().tool_name = call.name.as_deref().map(text::kept);
}
