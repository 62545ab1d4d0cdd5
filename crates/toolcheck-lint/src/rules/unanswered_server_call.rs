use toolcheck_core::ir::{Body, Call, Named, Role};

use crate::rule::{Context, Sink, declare_rule};
use crate::view::server_pairs::{Half, halves};

declare_rule! {
    UnansweredServerCall in Pairing, since "0.1.0", silent on wire looks at [SERVER_CALLS], check,
    values PART, CALL_ID
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let calls = halves(cx.transcript).0;
    if calls.is_empty() {
        return;
    }
    // The turn is over once the user has said something other than a result.
    let says = |body: &Body<'_>| matches!(body, Body::Text(_) | Body::Media);
    let last_words = cx.transcript.messages_with_parts().enumerate().filter(|(_, (message, parts))| {
        message.role == Role::User && parts.iter().any(|part| says(&part.body))
    });
    let Some(last_word) = last_words.map(|(number, _)| number).last() else { return };
    // The log of an agent may say why it has no result.
    let is_open =
        |half: &Half<'_, '_, Call<'_>>| half.message_number < last_word && half.is.unpaired.is_none();
    for half in calls.into_iter().filter(is_open) {
        out.report(half.part.place, format!("server tool call {} has no result", half.is.title()))
            .about_call(half.is)
            .caption("its result is missing")
            .help("send assistant messages back complete, or remove the call")
            .at(cx, (half.message_number, half.message, half.part))
            .value("id", Named::text_or_unknown(half.is.id.as_ref()))
            .value("type", Named::text_or_unknown(half.is.name.as_ref()))
            .value("name", Named::text_or_unknown(half.is.name.as_ref()));
    }
}
