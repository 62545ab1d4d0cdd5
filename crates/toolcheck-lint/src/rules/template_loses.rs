use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    TemplateLoses in Templates, since "0.1.0", warning (error in dataset), check,
    fix [
        safe: "The conversation gets another form that the template reads: arguments as an object or a text, reasoning under another key.",
        unsafe: "A text and its calls become two messages, and parallel calls become sequential ones.",
        otherwise: "no other form is read better",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
