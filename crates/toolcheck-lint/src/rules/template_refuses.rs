use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    TemplateRefuses in Templates, since "0.1.0", error, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
