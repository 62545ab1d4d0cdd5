//! What users may set of the rules.

use std::collections::BTreeMap;

use glob::Pattern;
use toolcheck_core::Level;
use toolcheck_core::protocols::Protocol;

use crate::error::Error;
use crate::policy::Policy;

/// The settings of a run. The built-in ones serve who sets nothing.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// How bad the findings of some rules are, in the place of what the target says.
    pub levels: BTreeMap<&'static str, Level>,
    /// The protocols of calls in plain text that are spoken; where it is `None`, a transcript shows them itself.
    pub text_protocols: Option<Vec<&'static Protocol>>,
    /// The tools that close a task.
    pub completion_tools: ToolNames,
    /// How many failures of one call in a row are too many.
    pub failures_in_a_row: usize,
    /// The tools that run a command in a shell.
    pub shell_tools: ToolNames,
    /// The longest command that the machine takes which runs it.
    pub command_limits: Vec<CommandLimit>,
    /// The user's own rules about what tools may be called with.
    pub policies: Vec<Policy>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            levels: BTreeMap::new(),
            text_protocols: None,
            completion_tools: ToolNames::exact(&COMPLETION_TOOLS),
            failures_in_a_row: FAILURES_IN_A_ROW,
            shell_tools: ToolNames::exact(&SHELL_TOOLS),
            command_limits: SYSTEMS.to_vec(),
            policies: Vec::new(),
        }
    }
}

/// The tools that close a task, in the agents that have one.
const COMPLETION_TOOLS: [&str; 6] =
    ["attempt_completion", "task_complete", "complete_task", "mark_complete", "finish_task", "final_answer"];

/// How many failures of one call in a row are too many, where nobody says otherwise.
const FAILURES_IN_A_ROW: usize = 3;

/// The tools that run a command in a shell, in the agents and servers that have one.
const SHELL_TOOLS: [&str; 19] = [
    "bash",
    "Bash",
    "shell",
    "Shell",
    "terminal",
    "execution",
    "exec",
    "exec_command",
    "execute_bash",
    "execute_command",
    "execute_shell",
    "local_shell",
    "run_command",
    "run_in_terminal",
    "run_shell_command",
    "run_terminal_cmd",
    "run_terminal_command",
    "shell_command",
    "shell_exec",
];

/// How long a command may be for one system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandLimit {
    /// The system's name in prose; `None` for a limit of the user's own.
    pub system: Option<&'static str>,
    /// The longest command that it takes, in `unit`.
    pub most: usize,
    /// What is counted.
    pub unit: Unit,
}

impl CommandLimit {
    /// A limit of the user's own.
    #[must_use]
    pub fn own(most: usize, unit: Unit) -> Self {
        Self { system: None, most, unit }
    }
}

/// What a limit counts.
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

/// The limits of the systems that agents run on.
///
/// Linux: `MAX_ARG_STRLEN`, 32 pages of 4 KiB for one argument with the NUL at its end (execve(2)), which is what
/// `sh -c` gets the command as; tried: `sh -c` takes 131,071 bytes and not one more. macOS: `ARG_MAX`, 1 MiB for all
/// arguments and the environment together, so that a command has somewhat less (sys/syslimits.h). Windows: 8,191
/// characters in cmd.exe, its own name and options among them (Microsoft's support article 830473); what starts a
/// program without it may use 32,767.
pub const SYSTEMS: [CommandLimit; 3] = [
    CommandLimit { system: Some("Linux"), most: 131_071, unit: Unit::Bytes },
    CommandLimit { system: Some("macOS"), most: 1_048_575, unit: Unit::Bytes },
    CommandLimit { system: Some("Windows"), most: 8_191, unit: Unit::Utf16 },
];

/// Names of tools, each with the wildcards of a glob.
#[derive(Debug, Clone, Default)]
pub struct ToolNames(Vec<Pattern>);

impl ToolNames {
    /// These names and no others.
    #[must_use]
    pub fn exact(names: &[&str]) -> Self {
        let literal = |name: &&str| Pattern::new(&Pattern::escape(name));
        Self(names.iter().filter_map(|name| literal(name).ok()).collect())
    }

    /// The tools that these globs match.
    ///
    /// # Errors
    ///
    /// The first name that is not a valid glob, and why.
    pub fn new<'n>(globs: impl IntoIterator<Item = &'n str>) -> Result<Self, Error> {
        let compile = |name| {
            let fault = |error| Error::new(format!("`{name}` is not a valid glob: {error}"));
            Pattern::new(name).map_err(fault)
        };
        globs.into_iter().map(compile).collect::<Result<_, _>>().map(Self)
    }

    /// Adds others.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The globs.
    pub fn globs(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Pattern::as_str)
    }

    /// Whether a tool is among them.
    #[must_use]
    pub fn contains(&self, tool: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(tool))
    }
}
