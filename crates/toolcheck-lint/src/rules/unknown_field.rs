use toolcheck_core::ir::{Place, shorten};

use crate::objects::visit;
use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A key that the target does not know.
    ///
    /// ## Why is this bad?
    ///
    /// Strict APIs refuse keys that they do not know: what another API answered, what a framework added, a mark in the
    /// wrong place. Most others ignore them.
    ///
    /// ## Fails
    ///
    /// ```json mistral
    /// {"messages": [
    ///   {"role": "user", "content": "hello"},
    ///   {"role": "assistant", "content": "Hello!",
    ///    "refusal": null},  // flagged
    ///   {"role": "user", "content": "find Adam"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json mistral
    /// {"messages": [
    ///   {"role": "user", "content": "hello"},
    ///   {"role": "assistant", "content": "Hello!"},
    ///   {"role": "user", "content": "find Adam"}
    /// ]}
    /// ```
    "unknown-field" in Fields, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let fields = &cx.target.fields;
    if fields.known.is_empty() && fields.refused.is_empty() {
        return;
    }
    let only_refused = fields.refused.keys().filter(|name| !fields.known.contains_key(*name));
    visit(cx, fields.known.keys().chain(only_refused), |object| {
        let (known, refused) = (fields.known.get(object.name), fields.refused.get(object.name));
        for member in object.value.members() {
            let Some(key) = member.key_text() else { continue };
            let is_known = known.is_none_or(|known| known.iter().any(|known| *known == key));
            let is_refused = refused.is_some_and(|refused| refused.iter().any(|refused| *refused == key));
            if !is_known || is_refused {
                let finding =
                    out.report(Place::of_key(member), format!("the key `{}` is unknown here", shorten(&key)));
                finding
                    .caption("unknown")
                    .help("send only the keys that the API documents")
                    .case(object.kind())
                    .value("field", shorten(&key));
                object.number(cx, finding);
            }
        }
    });
}
