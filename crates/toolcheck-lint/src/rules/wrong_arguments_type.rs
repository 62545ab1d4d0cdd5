use foldhash::HashSet;
use toolcheck_core::ir::{Arguments, Body};
use toolcheck_core::targets::ArgumentType;
use toolcheck_json::NodeId;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    WrongArgumentsType in Arguments, since "0.1.0", silent (silent in dataset) on wire looks at [CALLS], check,
    values PART
}

/// Whether arguments that are a text are reported where the target takes an object.
pub(super) fn reports_texts(cx: &Context<'_, '_>) -> bool {
    cx.entry(&RULE, Some("text")).is_harmful() || cx.entry(&RULE, None).is_harmful()
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // A reader knows what the program writes, but for what is sent next as it is.
    let is_sent = || cx.policy.is_none() || cx.sends_as_written(&RULE);
    let shape = cx.target().arguments.shape.filter(|_| is_sent());
    let others = &cx.transcript.details.arguments_of_other_type;
    let others: HashSet<NodeId> = others.iter().map(|place| place.node).collect();
    if shape.is_none() && others.is_empty() {
        return;
    }
    for (number, message, part) in cx.transcript.sites() {
        let Body::Call(call) = &part.body else { continue };
        // Tools of other kinds have arguments of other types: a text, an action.
        if !call.is_of_function() {
            continue;
        }
        let is_other = || call.arguments.place().is_some_and(|place| others.contains(&place.node));
        let expected = || match call.arguments {
            Arguments::Object(_) => ArgumentType::Text,
            _ => ArgumentType::Object,
        };
        let Some(shape) = shape.or_else(|| is_other().then(expected)) else { continue };
        let (case, what) = match (shape, &call.arguments) {
            (ArgumentType::Object, Arguments::Text(..)) => ("text", "a string, but an object is expected"),
            (ArgumentType::Object, Arguments::Null(_) | Arguments::Other(_)) => ("text", "not an object"),
            (ArgumentType::Text, Arguments::Object(_)) => ("object", "an object, but a string is expected"),
            (ArgumentType::Text, Arguments::Other(_)) => ("neither", "not a string"),
            _ => continue,
        };
        let place = call.arguments.place().unwrap_or(part.place);
        let finding = out.report(place, format!("the arguments of tool call {} are {what}", call.title()));
        finding.about_call(call).caption("these arguments").case(case).at(cx, (number, message, part));
        match shape {
            ArgumentType::Object => {
                finding.help("write the arguments as an object; if there are none, as {}")
            }
            ArgumentType::Text => finding.help("write the arguments as JSON in a string"),
        };
    }
}
