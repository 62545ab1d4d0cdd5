use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    InvalidValue in Fields, since "0.1.0", silent on wire reports shape, check,
    fix [
        safe: "The value becomes the intended one, if that is known.",
        unsafe: "A value that nearly matches an allowed one becomes that, a number outside the limits is set to the limit, and an object that says nothing is removed.",
        otherwise: "it is not clear which value is meant",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
}
