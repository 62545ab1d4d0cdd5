use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    TemplateUntrained in Templates, since "0.1.0", warning, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
