use foldhash::HashSet;
use toolcheck_core::Level;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Executor, Named, Place, ToolChoiceMode};
use toolcheck_core::text::shorten;
use toolcheck_json::Kind;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    InvalidToolName in Tools, since "0.1.0", warning looks at [TOOLS, CALLS, RESULTS], check,
    values TOOL_OR_PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // A name that is invalid in its definition is invalid in all calls, which is one problem.
    let (mut seen, mut last) = (HashSet::default(), None);
    for (number, tool) in cx.transcript.request.tools.listed().iter().enumerate() {
        let Some(name) = tool.name.as_ref().filter(|_| tool.executor == Executor::Client) else { continue };
        if let Some(fault) = fault(cx, name)
            && seen.insert((&*name.text, name.instead))
        {
            report(cx, out, name, tool.place, fault, "definition")
                .value("index", number)
                .value("member", number + 1);
        }
    }
    for (number, message, part) in cx.transcript.sites() {
        let (name, executor) = match &part.body {
            Body::Call(call) => (call.name.as_ref(), call.executor),
            Body::Result(result) => (result.name.as_ref(), result.executor),
            _ => continue,
        };
        let Some(name) = name.filter(|_| executor == Executor::Client) else { continue };
        let said = (&*name.text, name.instead);
        if last.replace(said) != Some(said)
            && let Some(fault) = fault(cx, name)
            && seen.insert(said)
        {
            report(cx, out, name, part.place, fault, "history").at(cx, (number, message, part));
        }
    }
}

/// Whether a name that is empty is reported: no API has such tools, but logs have calls whose names they do not know.
pub(super) fn reports_empty(cx: &Context<'_, '_>) -> bool {
    let names = &cx.target().names;
    names.pattern.is_some() || names.max_length.is_some() || cx.known_shape().is_some()
}

/// The fault of a name: the case of the rule and the message.
fn fault(cx: &Context<'_, '_>, name: &Named<'_>) -> Option<(Option<&'static str>, String)> {
    if let Some(instead) = name.instead {
        let title = if instead.is_scalar() {
            format!("tool name `{}`", shorten(&name.text))
        } else {
            "a tool name".to_owned()
        };
        return Some((Some("not-text"), format!("{title} is {}, not a string", instead.name())));
    }
    if name.text.is_empty() {
        return reports_empty(cx).then(|| (Some("empty"), "a tool name is empty".to_owned()));
    }
    let names = &cx.target().names;
    // No name has more characters than bytes.
    let is_longer = |max: &usize| name.text.len() > *max && name.text.chars().count() > *max;
    if let Some(max) = names.max_length.filter(is_longer) {
        let (length, title) = (name.text.chars().count(), shorten(&name.text));
        return Some((
            Some("length"),
            format!("tool name `{title}` has {length} characters, but the limit is {max}"),
        ));
    }
    let pattern = names.pattern.as_ref().filter(|pattern| !pattern.is_match(&name.text))?;
    let title = shorten(&name.text);
    Some((None, format!("tool name `{title}` does not match `{}`", pattern.as_str())))
}

fn report<'o>(
    cx: &Context<'_, '_>,
    out: &'o mut Sink<'_>,
    name: &Named<'_>,
    place: Place,
    (case, what): (Option<&'static str>, String),
    side: &'static str,
) -> &'o mut crate::finding::Draft {
    let finding = out.report(place, what);
    finding.about_tool(&name.text);
    // For an empty name it matters where it is.
    finding.case_if(
        case == Some("empty"),
        if side == "definition" { "empty-definition" } else { "empty-history" },
    );
    // A name that two tools would have is none.
    let unnamed = || shape::tool_name(cx, None, place.node, false);
    finding.fix(renamed(cx, name).filter(|_| name.instead.is_none()).or_else(unnamed));
    let mut help = "use a valid name, the same in the definition and in the history";
    if let Some(instead) = name.instead {
        help = "write the name as a string";
        if !instead.is_scalar() {
            finding.say().tool_name = None;
        }
        if cx.document.value(name.place.node).kind() == Kind::Number {
            finding.fix(Fix::safe([Change::Write(name.place.node, format!("\"{}\"", name.text))]));
        } else if let Some(text) = shape::only_text(cx.document.value(name.place.node)) {
            finding.fix(Fix::safe([Change::Lift(name.place.node, text.id())]));
        }
        if cx.accepts_unmodified_bytes() {
            finding.at_least(Level::Warning);
        }
        finding
            .case_if(side == "definition", "not-text-definition")
            .value("type", instead.name())
            .value("json-type", instead.json_type());
    }
    let (length, max) = (name.text.chars().count(), cx.target().names.max_length.unwrap_or_default());
    finding
        .case(side)
        .add_cases(case)
        .caption("this name")
        .help(help)
        .value("name", shorten(&name.text))
        .value("pattern", cx.target().names.pattern.as_ref().map_or("", |pattern| pattern.as_str()))
        .value("length", length)
        .value("max", max)
}

/// The most parts of a conversation in which a name is written anew.
const MOST_PARTS: usize = 1000;

/// The name with only what the target takes, wherever it is.
fn renamed(cx: &Context<'_, '_>, name: &Named<'_>) -> Option<Fix> {
    let request = &cx.transcript.request;
    let names = &cx.target().names;
    let is_usual = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let letters = name.text.trim_matches(|letter| !is_usual(letter)).chars();
    let letters = letters.map(|letter| if is_usual(letter) { letter } else { '_' });
    let new: String = letters.take(names.max_length.unwrap_or(usize::MAX)).collect();
    let is_valid = !new.is_empty() && names.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&new));
    let declared = || request.tools.listed().iter().filter_map(|tool| tool.name.as_ref());
    let is_known = || cx.transcript.parts.len() <= MOST_PARTS && declared().count() <= MOST_PARTS;
    if !is_valid || !is_known() || declared().any(|other| *other.text == new) {
        return None;
    }
    let used = cx.transcript.parts.iter().filter_map(|part| match &part.body {
        Body::Call(call) => call.name.as_ref(),
        Body::Result(result) => result.name.as_ref(),
        _ => None,
    });
    let chosen = request.tool_choice.iter().filter_map(|choice| match &choice.wanted {
        ToolChoiceMode::Tool(name) => Some(name),
        _ => None,
    });
    let same = declared().chain(used).chain(chosen).filter(|other| other.text == name.text);
    let json = serde_json::Value::from(&*new).to_string();
    let is_itself =
        |other: &Named<'_>| cx.document.value(other.place.node).as_str().as_ref() == Some(&name.text);
    let write = |other: &Named<'_>| is_itself(other).then(|| Change::Write(other.place.node, json.clone()));
    let changes = same.map(write).collect::<Option<Vec<_>>>()?;
    let lost =
        format!("the name `{}`, which becomes `{new}` (the program has to know it)", shorten(&name.text));
    Some(Fix::lossy(lost, changes))
}
