use toolcheck_core::ir::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A tool whose schema of arguments is no JSON Schema.
    ///
    /// ## Why is this bad?
    ///
    /// The provider reads the schema of every tool before the model sees it, and refuses the request for one that it
    /// can't read.
    ///
    /// ## Fails
    ///
    /// ```json mistral
    /// {"tools": [{"type": "function", "function": {"name": "search", "parameters":
    ///    {"type": 32}  // flagged
    ///  }}],
    ///  "messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json mistral
    /// {"tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}],
    ///  "messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    "invalid-tool-schema", since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, tool) in cx.transcript.tools.iter().flatten().enumerate() {
        let Some(place) = tool.schema else { continue };
        // What is no JSON has been reported as that.
        let raw = cx.document.value(place.node).raw();
        let Ok(schema) = serde_json::from_slice::<serde_json::Value>(raw) else { continue };
        let name = tool.name.as_ref().map_or("?", |name| &*name.text);
        if !jsonschema::draft7::meta::is_valid(&schema) {
            let finding =
                out.report(place, format!("the schema of the tool `{}` is no JSON Schema", shorten(name)));
            finding
                .caption("this schema")
                .help("validate it against JSON Schema draft 7")
                .value("index", number);
            finding.tool_name = Some(name.to_owned());
        }
    }
}
