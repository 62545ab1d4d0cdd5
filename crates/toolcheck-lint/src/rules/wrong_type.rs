use toolcheck_core::Level;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    WrongType in Fields, since "0.1.0", silent on wire reports shape, check
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
