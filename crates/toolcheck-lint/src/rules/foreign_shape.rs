use toolcheck_core::ir::Place;
use toolcheck_core::shape::Kind;

use super::unknown_role;
use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    ForeignShape in Fields, since "0.1.0", silent on wire reports shape, check
}

/// The most other places that a finding shows.
const MOST_LABELS: usize = 4;

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for foreign in &cx.shape_faults().foreign {
        let (kind, name) = (foreign.first.kind.name(), foreign.first.name);
        let own = cx.target().name.trim_end_matches(" API");
        let which = match foreign.others.len() {
            0 => format!("this {kind} is"),
            others => format!("{} {kind}s are", others + 1),
        };
        let message = format!("{which} in the format of {name}, not of {own}");
        let finding = out.report(Place::of(cx.document.value(foreign.first.node)), message);
        finding.say().repeats = foreign.others.len();
        finding.caption(if foreign.others.is_empty() { "this one" } else { "the first" });
        for other in foreign.others.iter().take(MOST_LABELS) {
            finding.label(Place::of(cx.document.value(*other)), "and this one");
        }
        let format = foreign.first.format;
        let help = match foreign.first.example.as_deref() {
            _ if foreign.first.kind == Kind::Request && cx.wanted_format.is_some() => {
                format!("omit --format, or use --format {format}")
            }
            _ if foreign.first.kind == Kind::Request => format!("if it is for {name}, use --format {format}"),
            Some(example) => format!("write it as {example}"),
            None => format!("write it in the format of {own}"),
        };
        finding.help(shape::told_choice(cx, foreign.fix.as_ref()).unwrap_or(help));
        finding.fix(foreign.fix.clone());
        let of_role = unknown_role::answer_to_results(cx, foreign.first.node);
        finding.say().answer = Some(of_role.unwrap_or_else(|| foreign.answer.clone()));
    }
}
