use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Executor, Named, ReasoningMode, ToolChoice, ToolChoiceMode, ToolDef};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::{shape, tools};

declare_rule! {
    ConflictingParameters in Fields, since "0.1.0", silent on wire reports shape, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    two_lists(cx, out);
    if let Some(choice) = &cx.transcript.request.tool_choice {
        check_choice(cx, choice, out);
    }
    check_effort(cx, out);
    check_deferred(cx, out);
    reasoning(cx, out);
    deferred_tools(cx, out);
    advisor(cx, out);
    container(cx, out);
    unsaid_json(cx, out);
}

/// Tools that are declared twice, under the current key and the deprecated one.
fn two_lists(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if let Some(place) = cx.transcript.request.tools.second_place {
        out.report(place, "tools are declared in two lists with different formats")
            .caption("the list in the older format")
            .case("two-tool-lists")
            .help("move the tools in the older format to the other list");
    }
}

fn check_choice(cx: &Context<'_, '_>, choice: &ToolChoice<'_>, out: &mut Sink<'_>) {
    if let Some((case, what, help)) = fault(cx, choice) {
        let finding = out.report(choice.place, what);
        finding.caption("this choice").help(help).case(case).value("field", &choice.key);
        finding.case_if(
            case == "choice-without-tools" && choice.wanted == ToolChoiceMode::Nothing,
            "no-call-without-tools",
        );
        finding.case_if(
            case == "unknown-tool-chosen" && matches!(choice.wanted, ToolChoiceMode::Among(_)),
            "unknown-tool-allowed",
        );
        let chosen = match &choice.wanted {
            ToolChoiceMode::Tool(name) => Some(name),
            _ => not_among(cx, choice),
        };
        finding.value_of("name", chosen.map(|name| &name.text));
        let chosen = chosen.filter(|_| case == "unknown-tool-chosen");
        if let Some((name, meant)) = chosen.and_then(|name| Some((name, tools::meant(cx, &name.text)?))) {
            let guess = format!("assumes that `{}` was meant", shorten(meant));
            let written = Change::Write(name.place.node, serde_json::Value::from(meant).to_string());
            finding.help(format!("did you mean `{}`?", shorten(meant))).fix(Fix::guess(guess, [written]));
        } else if ["choice-without-tools", "unknown-tool-chosen", "unknown-choice"].contains(&case)
            && cx.document.value(choice.place.node).key_text().is_some()
        {
            let change = [Change::Remove(choice.place.node)];
            // Without tools, the model has no choice.
            let is_free = matches!(choice.wanted, ToolChoiceMode::Free | ToolChoiceMode::Invalid);
            let says_none = is_free && case == "choice-without-tools";
            finding.fix(match says_none {
                true => Fix::safe(change),
                false => {
                    let lost = format!("`{}`, which no tool is there for", shorten(&choice.key));
                    Fix::or_lossy(format!("assumes that {lost}, is not needed"), lost, change)
                }
            });
        }
        return;
    }
    // Some models don't support forced calls at all.
    if choice.wanted == ToolChoiceMode::Any {
        out.report(choice.place, "the tool choice forces a call, which is not supported")
            .caption("this choice")
            .help("let the model choose whether to call a tool")
            .case("forced-any")
            .value("field", &choice.key);
    }
}

/// Tools together with reasoning, if the two exclude each other.
fn check_effort(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let tools = &cx.transcript.request.tools;
    let Some(place) = tools.place.filter(|_| tools.count().is_some_and(|count| count > 0)) else { return };
    let effort = cx.transcript.request.effort.as_ref();
    let (case, what, help) = match effort.map(|effort| &*effort.text) {
        Some("none") => (
            "tools-without-effort",
            "functions are declared for a model that always reasons, which this endpoint does not accept",
            "send the request to an endpoint that accepts functions together with reasoning",
        ),
        Some(_) => (
            "tools-with-effort",
            "functions are declared while reasoning is enabled, which this endpoint does not accept",
            "disable reasoning, or send the request to an endpoint that accepts both",
        ),
        None => (
            "tools-with-default-effort",
            "functions are declared for a model that reasons by default, which this endpoint does not accept",
            "disable reasoning, or send the request to an endpoint that accepts both",
        ),
    };
    // Most requests declare tools: a finding for each would cost too much.
    if !cx.entry(&RULE, Some(case)).is_harmful() {
        return;
    }
    // What has no name is refused first.
    if tools.listed().iter().any(|tool| tool.name.is_none()) {
        return;
    }
    let finding = out.report(effort.map_or(place, |effort| effort.place), what);
    finding.caption("not allowed together with functions").help(help).case(case);
    if effort.is_none() {
        finding.caption("these functions");
    }
    finding.value_of("model", cx.transcript.request.model.as_ref());
}

/// Deferred tools that nothing can find, or a search that can find nothing.
fn check_deferred(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let tools = &cx.transcript.request.tools;
    match (tools.deferred, tools.search) {
        (Some(place), None) => out
            .report(place, "a tool is deferred, but no tool search is declared")
            .caption("this tool")
            .help("declare the tool search, or do not defer the tool")
            .case("deferred-without-search"),
        (None, Some(place)) if tools.is_hosted_search && !tools.hides_some && !has_found(cx) => out
            .report(place, "a tool search is declared, but no tool is deferred")
            .caption("this tool search")
            .help("defer the tools that the search should find, or remove the search")
            .case("search-without-deferred"),
        _ => return,
    };
}

/// Whether the conversation has tools that were found, or a search that the API has carried out.
fn has_found(cx: &Context<'_, '_>) -> bool {
    let is_of_server =
        |body: &Body<'_>| matches!(body, Body::Call(call) if call.executor == Executor::Server);
    !cx.transcript.request.tools.added.is_empty()
        || cx.transcript.parts.iter().any(|part| is_of_server(&part.body))
}

/// A reasoning mode that the model does not support.
fn reasoning(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(setting) = cx.transcript.request.reasoning_setting else { return };
    let (case, what, help) = match setting.mode {
        ReasoningMode::Budget => {
            ("reasoning-budget", "the model does not support a reasoning budget", "use adaptive reasoning")
        }
        ReasoningMode::Off => (
            "reasoning-off",
            "reasoning can't be disabled for this model",
            "use adaptive reasoning, or another model",
        ),
        ReasoningMode::Adaptive => return,
    };
    out.report(setting.place, what).caption("this setting").help(help).case(case);
}

/// Tools that are all deferred, so that the model has none to begin with.
fn deferred_tools(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let tools = &cx.transcript.request.tools;
    if let (Some(place), Some(first)) = (tools.place, tools.listed().first())
        && tools.listed().iter().all(|tool| tool.is_deferred)
    {
        out.report(place, "every tool is deferred")
            .caption("none of these is loaded at the start")
            .label(first.place, "loaded only when the model asks for it")
            .help("load at least one tool at the start, such as the one that searches for the others")
            .case("all-deferred");
    }
}

/// An advisor tool whose model can't advise the model of the request.
fn advisor(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(model) = &cx.transcript.request.model else { return };
    let tools = cx.transcript.request.tools.listed().iter().enumerate();
    let mut advisors = tools.filter_map(|(number, tool)| Some((number, tool.model.as_ref()?))).peekable();
    // Few requests have one, so that the model of the others is not looked at.
    if advisors.peek().is_none() {
        return;
    }
    let Some(pair) = cx.target().tools.advisors.iter().find(|pair| pair.model.is_match(model)) else {
        return;
    };
    for (number, advisor) in advisors {
        if !pair.advisor.is_match(&advisor.text) {
            let what = format!("model `{}` can't advise `{}`", shorten(&advisor.text), shorten(model));
            out.report(advisor.place, what)
                .caption("this model")
                .help("use an advisor model that supports the request's model")
                .case("advisor")
                .value("index", number)
                .value("name", shorten(&advisor.text))
                .value("model", shorten(model));
        }
    }
}

/// A container without a tool that runs in it.
fn container(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(place) = cx.transcript.request.container else { return };
    // Any server tool may run programs, and a list that was not read may contain one.
    let tools = &cx.transcript.request.tools;
    let runs_nothing = |tool: &ToolDef<'_>| tool.executor == Executor::Client && !tool.serves_programs;
    if tools.count().is_some() && tools.listed().iter().all(runs_nothing) {
        out.report(place, "a container is given, but no declared tool runs in it")
            .caption("this container")
            .help("declare the tool that runs programs, or remove the container")
            .case("container-without-tool");
    }
}

/// An answer in JSON that no text asks for.
fn unsaid_json(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let request = &cx.transcript.request;
    let is_stored = request.continues_remote_state || !cx.transcript.details.stored_items.is_empty();
    if let Some(place) = request.unsaid_json.filter(|_| !is_stored) {
        out.report(place, "the answer must be JSON, but no message contains the word \"JSON\"")
            .caption("this setting")
            .help("say in the instructions that the answer must be JSON")
            .case("json-word");
    }
}

/// The fault of a tool choice: the case of the rule, the message and the help.
fn fault(cx: &Context<'_, '_>, choice: &ToolChoice<'_>) -> Option<(&'static str, String, &'static str)> {
    let tools = &cx.transcript.request.tools;
    let is_forced = matches!(choice.wanted, ToolChoiceMode::Any | ToolChoiceMode::Tool(_));
    if choice.wanted == ToolChoiceMode::Invalid {
        let what = "the tool choice is not a valid value".to_owned();
        return Some(("unknown-choice", what, "let the model choose, or force or forbid a call"));
    }
    let declared = tools.count();
    if declared == Some(0) {
        let what = "a tool choice is given, but no tools are declared".to_owned();
        return Some(("choice-without-tools", what, "remove the tool choice, or declare tools"));
    }
    // If the model reasons, the same choice is a different problem, so the target decides which of the two to report.
    if is_forced && cx.entry(&RULE, Some("forced")).is_harmful() {
        let what = "the tool choice forces a call, but the model does not support forced calls".to_owned();
        return Some(("forced", what, "let the model choose, and say in the prompt which tool to call"));
    }
    if is_forced && cx.transcript.request.reasoning == Some(true) {
        let what = "the tool choice forces a call while reasoning is enabled".to_owned();
        return Some(("forced-with-reasoning", what, "let the model choose, or disable reasoning"));
    }
    let is_one = matches!(choice.wanted, ToolChoiceMode::Tool(_));
    let case = if is_one { "forced-tool" } else { "forced-by-default" };
    let is_unsaid = is_forced && cx.transcript.request.reasoning.is_none();
    if is_unsaid && cx.entry(&RULE, Some(case)).is_harmful() {
        let what = "the tool choice forces a call, but the model reasons by default".to_owned();
        return Some((case, what, "let the model choose, or disable reasoning"));
    }
    // Of two lists, either may have it.
    if tools.second_place.is_some() {
        return None;
    }
    if let Some(name) = not_among(cx, choice) {
        let what = format!("the tool choice allows `{}`, which is not declared", shorten(&name.text));
        return Some(("unknown-tool-chosen", what, "name tools that the request declares"));
    }
    let ToolChoiceMode::Tool(name) = &choice.wanted else { return None };
    // What is not a string is not a name: the shape says so.
    cx.document.value(name.place.node).as_json_str()?;
    // A tool that the provider runs may have any name.
    let is_declared = |tool: &ToolDef<'_>| tool.name.as_ref().is_none_or(|own| own.text == name.text);
    let mut in_text = tools.in_text.iter();
    if declared.is_none() || tools.declared().any(is_declared) || in_text.any(|tool| tool.name == name.text) {
        return None;
    }
    let what = format!("the tool choice forces `{}`, which is not declared", shorten(&name.text));
    Some(("unknown-tool-chosen", what, "name a tool that the request declares"))
}

/// The first of the tools to choose among that is not declared.
fn not_among<'c, 's>(cx: &Context<'_, '_>, choice: &'c ToolChoice<'s>) -> Option<&'c Named<'s>> {
    let ToolChoiceMode::Among(names) = &choice.wanted else { return None };
    let tools = &cx.transcript.request.tools;
    tools.count().filter(|_| tools.in_text.is_empty())?;
    // A type may be followed by a version.
    let begins = |kind: &str, other: &str| kind.starts_with(other) || other.starts_with(kind);
    let is_declared = |(name, is_kind): &(Named<'_>, bool)| {
        tools.declared().any(|tool| match is_kind {
            true => tool.kind.as_ref().is_some_and(|kind| begins(&kind.text, &name.text)),
            false => tool.name.as_ref().is_some_and(|own| own.text == name.text),
        })
    };
    names.iter().find(|name| !is_declared(name)).map(|(name, _)| name)
}
