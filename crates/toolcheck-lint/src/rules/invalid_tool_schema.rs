use toolcheck_core::ir::{Place, shorten};
use toolcheck_json::Value;

use crate::calls;
use crate::rule::{Context, Sink, declare_rule};
use crate::schemas::{Schema, Unusable};

declare_rule! {
    /// A tool whose schema of arguments is no JSON Schema.
    ///
    /// ## Why is this bad?
    ///
    /// The provider reads the schema of every tool before the model sees it. Some refuse the request for one that they
    /// can't read; with others the tool's arguments are never checked, and the model is told something that means
    /// nothing.
    ///
    /// A schema that is JSON Schema and can't be used is told too: a regular expression that is none, a reference that
    /// leads nowhere, and what would take for ever: references that branch again and again, or a regular expression
    /// that goes back over an argument without end.
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
    "invalid-tool-schema" in Tools, since "0.1.0", warning, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, tool) in cx.transcript.tools.iter().flatten().enumerate() {
        let Some(place) = tool.schema else { continue };
        let value = cx.document.value(place.node);
        let name = tool.name.as_ref().map_or("?", |name| &*name.text);
        let compiled = cx.schemas.of(value.raw());
        let (what, pointer, case) = match &*compiled {
            Ok(schema) if takes_for_ever(cx, name, schema) => {
                ("takes too long to be held against the arguments of a call", "", "endless")
            }
            // What is no JSON has been reported as that.
            Ok(_) | Err(Unusable::Unreadable) => continue,
            // It may well be served by whoever wrote it.
            Err(Unusable::Foreign) => continue,
            Err(Unusable::NoSchema(pointer)) => ("is no JSON Schema", &**pointer, "no-schema"),
            Err(Unusable::Pattern(pointer)) => {
                ("holds a regular expression that is none", &**pointer, "pattern")
            }
            Err(Unusable::DeadReference) => ("refers to a part of it that is not there", "", "reference"),
            Err(Unusable::Endless) => {
                ("branches without end, so that no call can be held against it", "", "endless")
            }
        };
        let finding = out.report(place, format!("the schema of the tool `{}` {what}", shorten(name)));
        // The whole of it is at fault by then; what in it broke it stands beside.
        if let Some(inner) = pointed_at(value, pointer).filter(|inner| *inner != value) {
            finding.label(Place::of(inner), "this part of it");
            // Where schemas are messages of protobuf, a type may be written as its number.
            if inner.has_key("type") && matches!(inner.raw(), [b'1'..=b'7']) {
                finding.case("numbered-type");
            }
        }
        if !value.is_object() {
            finding.case("no-object");
        }
        finding
            .case(case)
            .caption("this schema")
            .help("validate it against JSON Schema, with the definition alone")
            .value("index", number);
        finding.tool_name = Some(name.to_owned());
    }
}

/// Whether a call of the tool has arguments that can't be held against the schema in bounded time.
fn takes_for_ever(cx: &Context<'_, '_>, tool: &str, schema: &Schema) -> bool {
    if !schema.may_take_for_ever() {
        return false;
    }
    let mut room = calls::Room::default();
    calls::of_functions(cx, |name| name == tool).any(|(_, call)| {
        let is_endless = |arguments: Value<'_, '_>| schema.takes_for_ever_with(arguments);
        calls::with_object(cx, &call.arguments, &mut room, is_endless) == Some(true)
    })
}

/// The value that a JSON Pointer leads to.
fn pointed_at<'d, 's>(value: Value<'d, 's>, pointer: &str) -> Option<Value<'d, 's>> {
    pointer.split('/').skip(1).try_fold(value, |at, segment| {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        if at.is_array() { at.elements().nth(segment.parse().ok()?) } else { at.get(&segment) }
    })
}
