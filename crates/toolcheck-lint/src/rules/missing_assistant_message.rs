use toolcheck_core::ir::{Content, Message, Role, UnreadKind};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MissingAssistantMessage in DataSets, since "0.1.0", warning, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if !cx.is_training_example() || cx.transcript.format.is_none() || cx.is_cut_off {
        return;
    }
    let messages = &cx.transcript.messages;
    let says = |message: &Message<'_>| {
        message.role == Role::Assistant && (message.content == Content::Filled || !message.parts.is_empty())
    };
    let is_answered = messages.iter().any(says);
    // Most examples have an answer and end with one: what else a row holds costs more to tell.
    if is_answered && messages.last().is_some_and(|last| last.role == Role::Assistant) {
        return;
    }
    // The model gives the answer itself, and a grader judges it; or its calls stand beside the messages, which is reported.
    let is_unread = || cx.transcript.unread.iter().any(|unread| unread.what == UnreadKind::Calls);
    if cx.is_graded_row() || cx.named_target.is_none() && is_unread() {
        return;
    }
    // The answer to the request of an exchange is in its response.
    if !cx.is_row() || cx.is_prompt_row() {
        return;
    }
    // An unknown role may be the model's.
    if messages.iter().any(|message| message.role == Role::Unknown) {
        return;
    }
    if !is_answered {
        let place = cx.transcript.place;
        let what = if messages.iter().any(|message| message.role == Role::Assistant) {
            "the assistant says nothing in this example, so it teaches nothing"
        } else {
            "this example has no assistant message, so it teaches nothing"
        };
        out.report(place, what)
            .caption("this example")
            .value("role", messages.last().map_or("?", |last| last.role_text()))
            .help("add the answer that the model should learn, or remove the example");
        return;
    }
    let Some(last) = messages.last().filter(|last| last.role != Role::Assistant) else { return };
    // Many trainers accept it, and recordings often end like this.
    if !cx.target().knows_case(RULE.id, AT_END) {
        return;
    }
    let what = if last.role == Role::Tool { "with a tool result" } else { "before the assistant answers" };
    out.report(last.place, format!("this example ends {what}"))
        .caption("the last message")
        .case(AT_END)
        .value("role", last.role_text())
        .help(
            "add the answer that the model should learn, or cut the example after the last assistant message",
        );
}

/// The case of an example whose last message is not the assistant's.
const AT_END: &str = "at-end";
