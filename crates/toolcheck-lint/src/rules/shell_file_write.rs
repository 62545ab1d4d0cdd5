use crate::rule::{Context, Sink, declare_rule};
use crate::view::arguments;
use crate::view::shell;

declare_rule! {
    /// A shell command that writes a file with echo, cat, printf, tee or a here-document.
    ///
    /// ## Why is this bad?
    ///
    /// The length of a command is limited, often to less than the length of a file: a longer command fails before
    /// anything is written (`ENAMETOOLONG`, `Argument list too long`). The text also passes through the quoting and
    /// expansion of the shell, so a `$`, a backtick or an apostrophe in it may do something other than intended. A
    /// tool that writes files has neither problem.
    ///
    /// The rule is opt-in. It checks the tools that run commands (`bash`, `shell`, `run_shell_command` and similar,
    /// or those named in the configuration), and the shell calls that some formats have. Commands are read by a Bash
    /// parser; a command that it can't parse is skipped.
    ///
    /// The output of another program may go to a file (`make > log`, `make | tee log`), and so may errors (`2> log`);
    /// `/dev/null` and other devices don't count as files.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "start the tide table"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {
    ///     "command": "mkdir -p tides && cat > tides/march.csv << 'EOF'\nday,high\n1,06:12\nEOF"}}]},  // flagged
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "start the tide table"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": {
    ///     "path": "tides/march.csv", "content": "day,high\n1,06:12\n"}}]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}]},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_2", "name": "bash", "input": {
    ///     "command": "make check > check.log 2>&1; tail -n 5 check.log"}}]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "ok"}]}
    /// ]}
    /// ```
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
