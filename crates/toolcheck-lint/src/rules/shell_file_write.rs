use crate::rule::{Context, Sink, declare_rule};
use crate::view::arguments;
use crate::view::shell;

declare_rule! {
    ShellFileWrite in Agents, since "0.1.0", warning on call if selected looks at [CALLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut is_unchecked_reported = false;
    arguments::visit_shells(cx, |seen| {
        for command in shell::commands(seen.arguments) {
            match command.write() {
                Ok(None) => {}
                Ok(Some(write)) => {
                    let place = seen.place_in(write.at.key, write.at.element, write.bytes);
                    let by = match write.by {
                        shell::HERE_DOCUMENT => write.by.to_owned(),
                        program => format!("`{program}`"),
                    };
                    let title = seen.call.title();
                    out.report(place, format!("the command of tool call {title} writes a file with {by}"))
                        .about_call(seen.call)
                        .caption("writes a file here")
                        .label(seen.place, "in this call")
                        .help("give the model a tool that writes files: commands are limited in length and easily broken by quoting");
                    return;
                }
                // A command that is not checked must not look clean. Once is enough: it is the same for all.
                Err(why) if !is_unchecked_reported => {
                    is_unchecked_reported = true;
                    out.report(
                        seen.place,
                        format!("the command of tool call {} was not checked: {why}", seen.call.title()),
                    )
                    .about_call(seen.call)
                    .caption("may write a file")
                    .help("use a build of toolcheck that can parse shell commands, or turn this rule off");
                }
                Err(_) => {}
            }
        }
    });
}
