use crate::rule::{Context, Sink, declare_rule};
use crate::settings::{CommandLimit, Unit};
use crate::view::arguments;
use crate::view::shell;

declare_rule! {
    OversizedCommand in Agents, since "0.1.0", warning on call if selected looks at [CALLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut limits: Vec<&CommandLimit> = cx.settings.command_limits.iter().collect();
    toolcheck_json::sort_by_position(&mut limits, |limit| limit.most);
    arguments::visit_shells(cx, |seen| {
        for command in shell::commands(seen.arguments) {
            let too_long = |limit: &&&CommandLimit| command.length(limit.unit) > limit.most;
            let exceeded: Vec<&CommandLimit> = limits.iter().filter(too_long).copied().collect();
            let Some(lowest) = exceeded.first() else { continue };
            let length = command.length(lowest.unit);
            let message = format!(
                "the command of tool call {} has {length} {}, over {}",
                seen.call.title(),
                name_of(lowest.unit),
                in_words(&exceeded)
            );
            out.report(seen.place_in(command.at.key, command.at.element, None), message)
                .about_call(seen.call)
                .caption("too long")
                .label(seen.place, "in this call")
                .help("write long text with a file tool, and refer to the file in the command");
            return;
        }
    });
}

fn name_of(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes",
        Unit::Utf16 => "UTF-16 code units",
        Unit::Characters => "characters",
    }
}

/// The limits in words, the lowest first.
fn in_words(limits: &[&CommandLimit]) -> String {
    let words = limits.iter().map(|CommandLimit { system, most, .. }| match system {
        Some(system) => format!("the limit of {system} ({most})"),
        None => format!("the configured limit ({most})"),
    });
    words.collect::<Vec<_>>().join(" and ")
}
