use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    MissingParameter in Fields, since "0.1.0", silent on wire reports shape, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
}
