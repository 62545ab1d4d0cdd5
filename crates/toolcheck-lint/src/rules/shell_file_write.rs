use crate::calls;
use crate::rule::{Context, Sink, declare_rule};
use crate::shell;

declare_rule! {
    /// A shell command that writes a file with echo, cat, printf, tee or a here-document.
    ///
    /// ## Why is this bad?
    ///
    /// A command may only be so long, and less than a file: a longer one fails before anything is written
    /// (`ENAMETOOLONG`, `Argument list too long`). What is written passes the quotes and expansions of the shell on
    /// its way, so that a `$`, a backtick or an apostrophe in it does something else than intended. A tool that writes
    /// files has neither fault.
    ///
    /// The rule is off unless it is selected. It looks at the tools that run commands (`bash`, `shell`,
    /// `run_shell_command` and the like, or those that the configuration names), and at the shell calls that some
    /// formats have. The command is read by a parser of bash; one that it can't read is passed over.
    ///
    /// What another program prints may go to a file (`make > log`, `make | tee log`), and so may errors (`2> log`);
    /// `/dev/null` and the other devices are no files.
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
    "shell-file-write" in Agents, since "0.1.0", warning on call if selected, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    calls::visit_shells(cx, |seen| {
        let commands = shell::commands(seen.arguments);
        let Some(write) = commands.iter().find_map(shell::Command::write) else { return };
        let place = seen.place_in(write.at.key, write.at.element, write.bytes);
        let by = match write.by {
            shell::HERE_DOCUMENT => write.by.to_owned(),
            program => format!("`{program}`"),
        };
        out.report(place, format!("the command of tool call {} writes a file with {by}", seen.call.title()))
            .about_call(seen.call)
            .caption("writes a file here")
            .label(seen.place, "in this call")
            .help("let the model write files with a tool for it: commands may only be so long, and quoting breaks them");
    });
}
