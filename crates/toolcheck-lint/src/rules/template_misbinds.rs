use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    TemplateMisbinds in Templates, since "0.1.0", warning (error in dataset), check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
