use toolcheck_core::ir::{Executor, ReasoningMode, ToolChoice, Wanted, shorten};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Parameters of the request that exclude each other, or that the model does not have.
    ///
    /// ## Why is this bad?
    ///
    /// A choice of tools without tools, a forced call while the model reasons within a budget or where the model takes no
    /// forced calls, functions beside reasoning where the address takes only one of them, tools and functions at once,
    /// deferred tools without a search that finds them, a container without a tool that runs in it, and the like.
    ///
    /// ## What to do
    ///
    /// Leave one of the two out, or take another model.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {
    ///   "max_tokens": 2048,
    ///   "thinking": {"type": "enabled", "budget_tokens": 1024},
    ///   "tools": [{"name": "tide", "input_schema": {"type": "object"}}],
    ///   "tool_choice": {"type": "any"},  // flagged
    ///   "messages": [{"role": "user", "content": "what is the tide?"}]
    /// }
    /// ```
    ///
    /// ```json anthropic
    /// {
    ///   "model": "claude-opus-5-5",
    ///   "tools": [{"name": "tide", "input_schema": {"type": "object"}}],
    ///   "tool_choice": {"type": "tool", "name": "tide"},  // flagged
    ///   "messages": [{"role": "user", "content": "what is the tide?"}]
    /// }
    /// ```
    ///
    /// ```json openai-chat
    /// {
    ///   "tool_choice": "auto",  // flagged
    ///   "messages": [{"role": "user", "content": "what is the tide?"}]
    /// }
    /// ```
    ///
    /// ```json openai-chat
    /// {
    ///   "tools": [{"type": "function", "function": {"name": "tide", "parameters": {"type": "object"}}}],
    ///   "functions": [{"name": "moon", "parameters": {"type": "object"}}],  // flagged
    ///   "messages": [{"role": "user", "content": "what is the tide?"}]
    /// }
    /// ```
    ///
    /// ```json openai-responses
    /// {
    ///   "tools": [
    ///     {"type": "function", "name": "tide", "parameters": {"type": "object"}, "defer_loading": true}  // flagged
    ///   ],
    ///   "input": [{"role": "user", "content": "what is the tide?"}]
    /// }
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-responses
    /// {
    ///   "tools": [
    ///     {"type": "tool_search"},
    ///     {"type": "function", "name": "tide", "parameters": {"type": "object"}, "defer_loading": true}
    ///   ],
    ///   "input": [{"role": "user", "content": "what is the tide?"}]
    /// }
    /// ```
    ///
    /// ```json anthropic
    /// {
    ///   "max_tokens": 2048,
    ///   "thinking": {"type": "enabled", "budget_tokens": 1024},
    ///   "tools": [{"name": "tide", "input_schema": {"type": "object"}}],
    ///   "tool_choice": {"type": "auto"},
    ///   "messages": [{"role": "user", "content": "what is the tide?"}]
    /// }
    /// ```
    ///
    /// ```json anthropic
    /// {
    ///   "model": "claude-opus-5",
    ///   "thinking": {"type": "adaptive"},
    ///   "tools": [{"name": "tide", "input_schema": {"type": "object"}}],
    ///   "tool_choice": {"type": "tool", "name": "tide"},
    ///   "messages": [{"role": "user", "content": "what is the tide?"}]
    /// }
    /// ```
    "conflicting-parameters" in Fields, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    two_lists(cx, out);
    if let Some(choice) = &cx.transcript.tool_choice {
        check_choice(cx, choice, out);
    }
    check_effort(cx, out);
    check_deferred(cx, out);
    reasoning(cx, out);
    deferred_tools(cx, out);
    advisor(cx, out);
    container(cx, out);
}

/// Tools that are declared twice, under the key of today and that of the past.
fn two_lists(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if let Some(place) = cx.transcript.second_tools_place {
        out.report(place, "tools are declared twice, in two lists of different forms")
            .caption("the list of the older form")
            .case("two-tool-lists")
            .help("move the tools of the older form into the other list");
    }
}

/// The choice of tools against the tools and the reasoning.
fn check_choice(cx: &Context<'_, '_>, choice: &ToolChoice<'_>, out: &mut Sink<'_>) {
    if let Some((case, what, help)) = fault(cx, choice) {
        let finding = out.report(choice.place, what);
        finding.caption("this choice").help(help).case(case).value("field", "tool_choice");
        if let Wanted::Tool(name) = &choice.wanted {
            finding.value("name", &name.text);
        }
        return;
    }
    // Some take no forced call of any tool, and say so only of certain models.
    if choice.wanted == Wanted::Any && cx.minds_case(&RULE, FORCED) {
        out.report(choice.place, "a call of some tool is forced")
            .caption("this choice")
            .help("let the model choose freely")
            .case(FORCED)
            .value("field", "tool_choice");
    }
}

/// A call of any tool is forced, whether or not the model shall reason.
const FORCED: &str = "forced-any";

/// Tools beside a model that reasons, where the two exclude each other.
fn check_effort(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let tools = cx.transcript.tools_place.filter(|_| cx.transcript.declared_tools() != Some(0));
    let Some(tools) = tools else { return };
    let effort = cx.transcript.effort.as_ref();
    let (case, what, help) = match effort.map(|effort| &*effort.text) {
        Some("none") => (
            "tools-without-effort",
            "functions are declared for a model that always reasons",
            "send the request to an address that takes functions beside reasoning",
        ),
        Some(_) => (
            "tools-with-effort",
            "functions are declared while the model shall reason",
            "turn the reasoning off, or send the request to an address that takes both",
        ),
        None => (
            "tools-with-default-effort",
            "functions are declared for a model that reasons unless told not to",
            "turn the reasoning off, or send the request to an address that takes both",
        ),
    };
    if !cx.minds_case(&RULE, case) {
        return;
    }
    let finding = out.report(effort.map_or(tools, |effort| effort.place), what);
    finding.caption("not together with functions").help(help).case(case);
    if effort.is_none() {
        finding.caption("these functions");
    }
    if let Some(model) = &cx.transcript.model {
        finding.value("model", model);
    }
}

/// Deferred tools that nothing can find.
fn check_deferred(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(place) = cx.transcript.deferred_tool.filter(|_| cx.transcript.tool_search.is_none()) else {
        return;
    };
    if cx.minds_case(&RULE, "deferred-without-search") {
        out.report(place, "a tool is deferred, and no search for tools is declared")
            .caption("this tool")
            .help("declare the search for tools too, or do not defer the tool")
            .case("deferred-without-search");
    }
}

/// A way to reason that the model does not have.
fn reasoning(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(setting) = cx.transcript.reasoning_setting else { return };
    let (case, what, help) = match setting.mode {
        ReasoningMode::Budget => (
            "reasoning-budget",
            "the model takes no budget for its reasoning",
            "let the model reason adaptively",
        ),
        ReasoningMode::Off => (
            "reasoning-off",
            "the model's reasoning can't be turned off",
            "let the model reason adaptively, or take another model",
        ),
        ReasoningMode::Adaptive => return,
    };
    out.report(setting.place, what).caption("this setting").help(help).case(case);
}

/// Tools that are all loaded later, so that the model has none to begin with.
fn deferred_tools(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let tools = cx.transcript.tools.as_deref().unwrap_or_default();
    if let (Some(place), Some(first)) = (cx.transcript.tools_place, tools.first())
        && tools.iter().all(|tool| tool.is_deferred)
    {
        out.report(place, "every tool is loaded later")
            .caption("none of these is loaded at once")
            .label(first.place, "loaded only once the model asks for it")
            .help("load one tool at once, such as the one that searches for the others")
            .case("all-deferred");
    }
}

/// A model behind a tool that may not advise the model of the request.
fn advisor(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(model) = &cx.transcript.model else { return };
    let Some(pair) = cx.target.tools.advisors.iter().find(|pair| pair.model.0.is_match(model)) else {
        return;
    };
    for (number, tool) in cx.transcript.tools.iter().flatten().enumerate() {
        let Some(advisor) = &tool.model else { continue };
        if !pair.advisor.0.is_match(&advisor.text) {
            out.report(
                advisor.place,
                format!("the model `{}` can't advise `{}`", shorten(&advisor.text), shorten(model)),
            )
            .caption("this model")
            .help("name a model that may advise the request's")
            .case("advisor")
            .value("index", number)
            .value("name", shorten(&advisor.text))
            .value("model", shorten(model));
        }
    }
}

/// A container, and nothing that runs in it.
fn container(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(place) = cx.transcript.container else { return };
    // Any tool of the provider's may run programs. A list that is not read may hold one.
    let tools = cx.transcript.tools.iter().flatten();
    let is_known = cx.transcript.declared_tools().is_some();
    if is_known && tools.into_iter().all(|tool| tool.executor == Executor::Client) {
        out.report(place, "a container, and no tool that runs in it")
            .caption("this container")
            .help("declare the tool that runs programs, or leave the container out")
            .case("container-without-tool");
    }
}

/// What is wrong with a choice: a case of the rule, words for it, and what to do.
fn fault(cx: &Context<'_, '_>, choice: &ToolChoice<'_>) -> Option<(&'static str, String, &'static str)> {
    let tools = cx.transcript.tools.as_deref().unwrap_or_default();
    let is_forced = matches!(choice.wanted, Wanted::Any | Wanted::Tool(_));
    if choice.wanted == Wanted::Invalid {
        let what = "the choice of tools is none that there is".to_owned();
        return Some(("unknown-choice", what, "let the model choose freely, or force or forbid a call"));
    }
    let declared = cx.transcript.declared_tools();
    if declared == Some(0) {
        let what = "a choice of tools, and no tools".to_owned();
        return Some((
            "choice-without-tools",
            what,
            "leave the choice out where there is nothing to choose from",
        ));
    }
    if is_forced && cx.refuses_case(&RULE, "forced") {
        let what = "a call is forced, and the model takes no forced calls".to_owned();
        return Some((
            "forced",
            what,
            "let the model choose freely, and say in the prompt which tool to call",
        ));
    }
    if is_forced && cx.transcript.reasoning == Some(true) {
        let what = "a call is forced while the model shall think".to_owned();
        return Some((
            "forced-with-reasoning",
            what,
            "let the model choose freely, or turn its reasoning off",
        ));
    }
    let Wanted::Tool(name) = &choice.wanted else { return None };
    let is_declared = |tool: &toolcheck_core::ir::ToolDef<'_>| match &tool.name {
        Some(own) => own.text == name.text,
        // What the provider runs may have any name.
        None => true,
    };
    let mut in_text = cx.transcript.tools_in_text.iter();
    let mut added = cx.transcript.added_tools.iter();
    if added.any(is_declared) {
        return None;
    }
    if declared.is_none() || tools.iter().any(is_declared) || in_text.any(|tool| tool.name == name.text) {
        return None;
    }
    let what = format!("the tool `{}` is forced, and not declared", shorten(&name.text));
    Some(("unknown-tool-chosen", what, "name a tool that the request declares"))
}
