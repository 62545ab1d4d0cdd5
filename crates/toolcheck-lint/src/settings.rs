//! The settings of the rules.

use std::borrow::Cow;
use std::collections::BTreeMap;

use glob::Pattern;
use toolcheck_core::Error;
use toolcheck_core::protocols::Protocol;
use toolcheck_core::readers::Columns;
use toolcheck_core::{Level, RuleId};

use crate::policy::Policy;

/// The settings of the rules in a run. The defaults are those of a run without a configuration.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The levels of rules. They override what the target's data says.
    pub levels: BTreeMap<RuleId, Level>,
    /// The protocols to read calls in plain text by; `None` to detect them in each transcript.
    pub text_protocols: Option<Vec<&'static Protocol>>,
    /// The tools that complete a task.
    pub completion_tools: ToolNames,
    /// The number of times in a row that the same call may fail before it is reported.
    pub failures_in_a_row: usize,
    /// The tools that run a command in a shell.
    pub shell_tools: ToolNames,
    /// The maximum lengths of a shell command.
    pub command_limits: Vec<CommandLimit>,
    /// The user's own policies for the arguments of tools.
    pub policies: Vec<Policy>,
    /// Where the conversations of data sets are, for what can't be detected.
    pub columns: Columns,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            levels: BTreeMap::new(),
            text_protocols: None,
            completion_tools: ToolNames::exact(COMPLETION_TOOLS),
            failures_in_a_row: FAILURES_IN_A_ROW,
            shell_tools: ToolNames::exact(SHELL_TOOLS.split(' ')),
            command_limits: SYSTEMS.to_vec(),
            policies: Vec::new(),
            columns: Columns::default(),
        }
    }
}

/// The tools that complete a task in common agents.
const COMPLETION_TOOLS: [&str; 6] =
    ["attempt_completion", "task_complete", "complete_task", "mark_complete", "finish_task", "final_answer"];

/// The default number of times in a row that the same call fails before it is reported.
const FAILURES_IN_A_ROW: usize = 3;

/// The tools that run a command in a shell in common agents and servers.
const SHELL_TOOLS: &str = "bash Bash shell Shell terminal execution exec exec_command execute_bash execute_command \
    execute_shell local_shell run_command run_in_terminal run_shell_command run_terminal_cmd \
    run_terminal_command shell_command shell_exec";

/// The maximum length of a command on one system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandLimit {
    /// The system's name in prose; `None` for a limit of the user's own.
    pub system: Option<&'static str>,
    /// The maximum length, in `unit`.
    pub most: usize,
    /// The unit of the length.
    pub unit: Unit,
}

impl CommandLimit {
    /// A user's own limit.
    pub fn own(most: usize, unit: Unit) -> Self {
        Self { system: None, most, unit }
    }
}

/// The unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Bytes of UTF-8.
    Bytes,
    /// UTF-16 code units.
    Utf16,
    /// Characters.
    Characters,
}

impl Unit {
    /// The length of a text.
    pub fn length_of(self, text: &str) -> usize {
        match self {
            Self::Bytes => text.len(),
            Self::Utf16 => text.encode_utf16().count(),
            Self::Characters => text.chars().count(),
        }
    }
}

/// The limits of the systems that agents run on.
///
/// Linux: `MAX_ARG_STRLEN`, 32 pages of 4 KiB for one argument including the NUL at its end (execve(2)); `sh -c` gets
/// the command as one argument, and was seen to accept 131,071 bytes but not 131,072. macOS: `ARG_MAX`, 1 MiB for all
/// arguments and the environment together, so a command can use somewhat less (sys/syslimits.h). Windows: 8,191
/// characters in cmd.exe, including its own name and options (Microsoft's support article 830473); a program that is
/// started without cmd.exe may use 32,767.
pub const SYSTEMS: [CommandLimit; 3] = [
    CommandLimit { system: Some("Linux"), most: 131_071, unit: Unit::Bytes },
    CommandLimit { system: Some("macOS"), most: 1_048_575, unit: Unit::Bytes },
    CommandLimit { system: Some("Windows"), most: 8_191, unit: Unit::Utf16 },
];

/// A set of tool names, written as globs.
#[derive(Debug, Clone, Default)]
pub struct ToolNames(Vec<ToolName>);

/// A name that stands for itself, or a glob.
#[derive(Debug, Clone)]
enum ToolName {
    Exact(Cow<'static, str>),
    Glob(Pattern),
}

impl ToolName {
    fn new(glob: &str) -> Result<Self, glob::PatternError> {
        if glob.contains(['*', '?', '[']) {
            return Pattern::new(glob).map(Self::Glob);
        }
        Ok(Self::Exact(glob.to_owned().into()))
    }
}

impl ToolNames {
    /// The set of exactly these names.
    pub fn exact(names: impl IntoIterator<Item = impl Into<Cow<'static, str>>>) -> Self {
        Self(names.into_iter().map(|name| ToolName::Exact(name.into())).collect())
    }

    /// The set of names that these globs match.
    ///
    /// # Errors
    ///
    /// Returns the first glob that is not valid, and why.
    pub fn new<'n>(globs: impl IntoIterator<Item = &'n str>) -> Result<Self, Error> {
        let compile = |name| {
            let fault = |error| Error::new(format!("`{name}` is not a valid glob: {error}"));
            ToolName::new(name).map_err(fault)
        };
        globs.into_iter().map(compile).collect::<Result<_, _>>().map(Self)
    }

    /// Adds the names of another set.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The globs.
    pub fn globs(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.iter().map(|name| match name {
            ToolName::Exact(name) => Pattern::escape(name).into(),
            ToolName::Glob(pattern) => pattern.as_str().into(),
        })
    }

    /// Whether the set contains a tool.
    pub fn contains(&self, tool: &str) -> bool {
        self.0.iter().any(|name| match name {
            ToolName::Exact(name) => name == tool,
            ToolName::Glob(pattern) => pattern.matches(tool),
        })
    }
}
