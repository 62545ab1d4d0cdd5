use toolcheck_core::Level;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    WrongType in Fields, since "0.1.0", silent on wire reports shape, check,
    fix [
        safe: "A value whose only mistake is its quotes is corrected, an object as JSON in a string and a text as its block where nothing else is taken, a single element is put into a list or taken out of it, and `null` is removed if the key is optional.",
        unsafe: "A string among the messages becomes a message of the user, and `0` and `1` become booleans.",
        otherwise: "it cannot be fixed by rewriting the value" with help,
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    for value in &cx.transcript.details.wrong_values {
        let finding = out.report(value.place, format!("`{}` must be {}", value.key, value.wants));
        finding.caption("not this").help(format!("change `{}` to {}", value.key, value.wants));
        if value.is_doubtful {
            finding.at_most(Level::Warning);
        }
    }
}
