use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    MissingParameter in Fields, since "0.1.0", silent on wire reports shape, check,
    fix [
        safe: "A misnamed key is renamed.",
        unsafe: "An unknown key becomes the only missing one, or one gets the value that the help names.",
        otherwise: "the value of the parameter is unknown" with help,
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
}
