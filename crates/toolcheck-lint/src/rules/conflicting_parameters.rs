use toolcheck_core::ir::{ToolChoice, Wanted, shorten};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Parameters of the request that exclude each other.
    ///
    /// ## Why is this bad?
    ///
    /// A choice of tools without tools, a forced call while the model shall think, and the like.
    ///
    /// ## What to do
    ///
    /// Leave one of the two out.
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
    /// ```json openai-chat
    /// {
    ///   "tool_choice": "auto",  // flagged
    ///   "messages": [{"role": "user", "content": "what is the tide?"}]
    /// }
    /// ```
    ///
    /// ## Passes
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
    "conflicting-parameters" in Fields, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(choice) = &cx.transcript.tool_choice else { return };
    let Some((case, what, help)) = fault(cx, choice) else { return };
    out.report(choice.place, what).caption("this choice").help(help).case(case).value("field", "tool_choice");
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
    if declared.is_none() || tools.iter().any(is_declared) || in_text.any(|tool| tool.name == name.text) {
        return None;
    }
    let what = format!("the tool `{}` is forced, and not declared", shorten(&name.text));
    Some(("unknown-tool-chosen", what, "name a tool that the request declares"))
}
