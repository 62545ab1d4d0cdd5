use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    MissingField in Fields, since "0.1.0", silent on wire reports shape, check,
    values TOOL_OR_PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    for missing in &cx.transcript.details.missing_keys {
        if cx.policy.is_none() && !cx.entry(&RULE, Some(missing.case)).is_harmful() {
            continue;
        }
        let finding = out.report(missing.place, format!("required key `{}` is missing", missing.key));
        finding
            .caption("missing here")
            .help(format!("add `{}`", missing.key))
            .case(missing.case)
            .value("field", missing.key);
        finding.value_of("name", missing.name.as_ref().map(|name| &name.text));
        finding.label(missing.because, "required because of this");
    }
}
