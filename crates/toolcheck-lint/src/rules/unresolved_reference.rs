use crate::rule::{Context, Sink, declare_rule};
use crate::server_state::Missing;
use toolcheck_core::text::shorten;

declare_rule! {
    UnresolvedReference in Ids, since "0.1.0", error looks at [KEPT], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (what, place, id) in cx.continued.into_iter().flat_map(|before| &before.missing) {
        let id_shown = shorten(id);
        let message = match what {
            Missing::Response => format!("the server does not have the response `{id_shown}`"),
            Missing::Conversation => format!("the server does not have the conversation `{id_shown}`"),
            Missing::Item => format!("the server does not have the item `{id_shown}`"),
            Missing::Continued => {
                format!("another request has already continued from the response `{id_shown}`")
            }
        };
        let help = match what {
            Missing::Continued => "continue from the last response, or send the conversation itself",
            _ => "send the conversation itself, or have the server store what later requests refer to",
        };
        out.report(*place, message)
            .caption("the request continues from this")
            .help(help)
            .case_if(*what == Missing::Response, "response")
            .case_if(*what == Missing::Conversation, "conversation")
            .case_if(*what == Missing::Continued, "continued")
            .value("id", id);
    }
}
