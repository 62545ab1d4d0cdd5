use foldhash::HashSet;
use toolcheck_core::conversation::{Conversation, Turn};
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::formats;
use toolcheck_core::ir::{Body, Executor};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MissingToolDefinitions in Tools, since "0.1.0", silent on wire looks at [CALLS, RESULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // A bare list of messages doesn't show the request that it is sent in.
    if cx.transcript.request.tools.count() != Some(0) || !cx.transcript.is_body {
        return;
    }
    // They may follow behind the end of a text that is cut off.
    if cx.ends_inside(cx.transcript.place) {
        return;
    }
    // Server tools are declared in other ways.
    let is_tool = |body: &Body<'_>| match body {
        Body::Call(call) => call.executor == Executor::Client,
        Body::Result(result) => result.executor == Executor::Client,
        _ => false,
    };
    let Some(first) = cx.transcript.parts.iter().find(|part| is_tool(&part.body)) else { return };
    if cx.is_training_example() {
        // Tools that the user declares outside the examples are shown to the model some other way.
        if cx.definitions().next().is_none() && cx.transcript.request.tools.added.is_empty() {
            out.report(first.place, "this example contains tool calls but declares no tools")
                .caption("the first call or result")
                .help("declare the tools that the model will be given when it is used");
        }
        return;
    }
    out.report(first.place, "the history contains tool calls, but the request declares no tools")
        .caption("the first call or result")
        .help("send tool definitions whenever the history contains calls; a placeholder is enough")
        .fix(declared(cx));
}

/// The definitions of the tools that were called, where the request has nothing in their place.
fn declared(cx: &Context<'_, '_>) -> Option<Fix> {
    let format = formats::find(cx.transcript.format?.id)?;
    let mut names: Vec<&str> = Vec::new();
    let mut known = HashSet::default();
    for part in &cx.transcript.parts {
        if let Body::Call(call) = &part.body
            && let Some(name) = call.name.as_ref().filter(|_| call.executor == Executor::Client)
            && known.insert(&*name.text)
        {
            names.push(&name.text);
        }
    }
    let said = Conversation::new(vec![Turn::User("\u{2026}".to_owned())]);
    let [with, without] = [&*names, &[]].map(|names| format.write_request_with(&said, names).body);
    let (key, tools) = with.as_object()?.iter().find(|(key, _)| without.get(key).is_none())?;
    let root = cx.document.value(cx.transcript.place.node);
    let guess = "what the tools do and take is not known, so the model may call them in another way";
    let add = || [Change::Add(root.id(), key.clone(), tools.to_string())];
    root.get(key).is_none().then(|| Fix::guess(guess, add()))
}
