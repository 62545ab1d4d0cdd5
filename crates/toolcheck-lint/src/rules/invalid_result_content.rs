use toolcheck_core::ir::Body;
use toolcheck_core::target::Verdict;
use toolcheck_json::Kind;

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A result whose content the target does not take.
    ///
    /// ## Why is this bad?
    ///
    /// Results are text everywhere; images, lists of parts and other values only in some places, and a failed call may
    /// bring text only. What is not taken is refused, or the model never sees it.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "what do you see?"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
    ///   {"role": "user", "content": [
    ///     {"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": [  // flagged
    ///       {"type": "image", "source": {"type": "url", "url": "https://example.com/x.png"}}
    ///     ]}
    ///   ]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "what do you see?"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
    ///   {"role": "user", "content": [
    ///     {"type": "tool_result", "tool_use_id": "a", "is_error": true, "content": [
    ///       {"type": "text", "text": "the lens is covered"}
    ///     ]}
    ///   ]}
    /// ]}
    /// ```
    "invalid-result-content" in Content, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if cx.minds_case(&RULE, "reference") {
        for reference in &cx.transcript.dangling_references {
            let (index, part) = reference.at;
            out.report(reference.place, "a reference in a tool result names no part of it")
                .caption("read as a reference")
                .help("name a part of the result, or send the content as a text")
                .case("reference")
                .value("index", index)
                .value("part", part);
        }
    }
    // Most results are a text, and most targets take it.
    let minds_text = !matches!(cx.verdict(&RULE, Some("not-object")), Verdict::Unknown);
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        for part in parts {
            let Body::Result(result) = &part.body else { continue };
            let Some(content) = result.content_place else { continue };
            let kind = cx.document.value(content.node).kind();
            let failed = result.is_error == Some(true);
            let cases: &[&'static str] = match kind {
                _ if result.has_foreign => &["foreign"],
                _ if result.has_bare_json => &["bare-json"],
                _ if result.has_media && failed => &["failed-with-media", "media"],
                _ if result.has_media => &["media", "not-text"],
                Kind::Array => &["not-text", "not-object"],
                Kind::String | Kind::Number | Kind::Bool if minds_text => &["not-object"],
                _ => continue,
            };
            let finding = out.report(
                part.place,
                format!("the content of the tool result {} is of a kind that is not taken", result.title()),
            );
            finding
                .about_result(result)
                .caption("this result")
                .help("bring text, in the shape that the target takes; an image goes into a message of the user")
                .at(cx, number, message, Some(part))
                .value("role", message.role_text());
            for case in cases {
                finding.case(case);
            }
        }
    }
}
