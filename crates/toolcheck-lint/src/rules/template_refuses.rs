use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    TemplateRefuses in Templates, since "0.1.0", error, check,
    fix [
        safe: "The conversation gets another form that the template reads: ids of nine letters and digits, an empty text for null.",
        unsafe: "User messages are merged, system messages are moved to the start, and parallel calls become sequential ones.",
        otherwise: "no other form is read",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
