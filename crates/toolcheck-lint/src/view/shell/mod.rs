//! The shell commands of a call, and the files that they write.
//!
//! Commands are read by a Bash parser. It never panics and always terminates, but is slow for some scripts that nobody
//! writes by hand. These are recognised by counting a few characters, and skipped.

#[cfg(feature = "shell")]
mod script;

use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value as Json};

#[cfg(feature = "shell")]
use self::script::in_script;
use crate::settings::Unit;

/// The names of the arguments that contain a command, in common agents.
const KEYS: [&str; 5] = ["command", "cmd", "script", "commands", "CommandLine"];

/// The argument that contains the program's arguments, if the command is the program alone.
const ARGUMENTS: &str = "args";

/// The maximum length of a script that is parsed, in bytes: twice the limit of Linux.
const LONGEST: usize = 256 * 1024;

/// The program that writes its input to the files that it names.
const TEE: &str = "tee";

/// The writer if another program prints a text from the script.
pub(crate) const HERE_DOCUMENT: &str = "a here-document";

/// The programs that run a script after `-c`.
const SHELLS: [&str; 6] = ["ash", "bash", "dash", "ksh", "sh", "zsh"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command<'a> {
    pub(crate) at: At,
    form: Form<'a>,
}

/// A place in the arguments: a key, and the number of an element if the value is a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) key: &'static str,
    pub(crate) element: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form<'a> {
    Script(&'a str),
    /// A program and its arguments, without a shell.
    Words(Vec<&'a str>),
    /// A program and separate arguments, which are joined for a shell.
    Joined(&'a str, Vec<&'a str>),
}

/// A file that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    /// The writer: one of a few programs, or a here-document.
    pub(crate) by: &'static str,
    /// The value that contains the write.
    pub(crate) at: At,
    /// The bytes of the write in that value's text, if they are known.
    pub(crate) bytes: Option<Range<usize>>,
}

/// The commands of a call, from the first argument that contains any.
pub(crate) fn commands(arguments: &Json) -> Vec<Command<'_>> {
    let Some(arguments) = arguments.as_object() else { return Vec::new() };
    KEYS.into_iter()
        .map(|key| commands_of(arguments, key))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn commands_of<'a>(arguments: &'a Map<String, Json>, key: &'static str) -> Vec<Command<'a>> {
    let whole = At { key, element: None };
    match arguments.get(key) {
        Some(Json::String(script)) => {
            let rest = arguments.get(ARGUMENTS).and_then(strings).filter(|rest| !rest.is_empty());
            let form = rest.map_or(Form::Script(script), |rest| Form::Joined(script, rest));
            vec![Command { at: whole, form }]
        }
        // Several scripts, each for a separate shell.
        Some(list @ Json::Array(_)) if key == "commands" => {
            let scripts = strings(list).unwrap_or_default().into_iter().enumerate();
            let command = |(number, script)| Command {
                at: At { key, element: Some(number) },
                form: Form::Script(script),
            };
            scripts.map(command).collect()
        }
        Some(list @ Json::Array(_)) => match strings(list) {
            Some(words) if !words.is_empty() => vec![Command { at: whole, form: Form::Words(words) }],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn strings(list: &Json) -> Option<Vec<&str>> {
    list.as_array()?.iter().map(Json::as_str).collect()
}

impl Command<'_> {
    /// Its length, including the separators between arguments.
    pub(crate) fn length(&self, unit: Unit) -> usize {
        let count = |text: &&str| unit.length_of(text);
        match &self.form {
            Form::Script(script) => count(script),
            Form::Words(words) => words.iter().map(count).sum::<usize>() + words.len().saturating_sub(1),
            Form::Joined(program, rest) => {
                count(program) + rest.iter().map(count).sum::<usize>() + rest.len()
            }
        }
    }

    /// The first file that it writes by means of `echo`, `cat`, `printf`, `tee` or a here-document.
    pub(crate) fn write(&self) -> Result<Option<Write>, Unchecked> {
        match &self.form {
            Form::Script(script) => {
                let found = in_script(script, true)?;
                Ok(found.map(|(by, bytes)| Write { by, at: self.at, bytes: Some(bytes) }))
            }
            Form::Words(words) => {
                let found = in_words(words)?;
                Ok(found.map(|(by, number, bytes)| Write {
                    by,
                    at: At { element: Some(number), ..self.at },
                    bytes,
                }))
            }
            Form::Joined(program, rest) => {
                if !program.contains(char::is_whitespace) {
                    let words: Vec<&str> = std::iter::once(*program).chain(rest.iter().copied()).collect();
                    if let Some((by, number, bytes)) = in_words(&words)? {
                        let element = number.checked_sub(1);
                        let key = if element.is_some() { ARGUMENTS } else { self.at.key };
                        return Ok(Some(Write { by, at: At { key, element }, bytes }));
                    }
                }
                // The shell interprets an argument that is an operator.
                let mut script = (*program).to_owned();
                for argument in rest {
                    script.push(' ');
                    if argument
                        .contains(|character: char| character.is_whitespace() || "'\"".contains(character))
                    {
                        script.push('\'');
                        script.push_str(&argument.replace('\'', "'\\''"));
                        script.push('\'');
                    } else {
                        script.push_str(argument);
                    }
                }
                let found = in_script(&script, true)?;
                Ok(found.map(|(by, _)| Write { by, at: self.at, bytes: None }))
            }
        }
    }
}

/// The write of a program with its arguments. Without a shell, there are no redirections.
fn in_words(words: &[&str]) -> Result<Option<FoundWriteInWords>, Unchecked> {
    let Some(first) = program_at(words) else { return Ok(None) };
    match name_of(words[first]) {
        name if SHELLS.contains(&name) => {
            let Some(number) = script_at(words, first) else { return Ok(None) };
            Ok(in_script(words[number], true)?.map(|(by, bytes)| (by, number, Some(bytes))))
        }
        TEE => Ok(file_of_tee(words, first).map(|number| (TEE, number, None))),
        _ => Ok(None),
    }
}

/// The writer, and the characters or bytes of a write.
type FoundWrite = (&'static str, Range<usize>);

/// The writer, the number of the word that contains the write, and the bytes of the write in it.
type FoundWriteInWords = (&'static str, usize, Option<Range<usize>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unchecked {
    /// The feature `shell` is off.
    #[cfg(not(feature = "shell"))]
    NoParser,
    /// The thread that the parser needs for its stack can't be started.
    #[cfg(feature = "shell")]
    NoThread,
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            #[cfg(not(feature = "shell"))]
            Self::NoParser => "this build has no shell parser",
            #[cfg(feature = "shell")]
            Self::NoThread => "no thread could be started for the parser",
        })
    }
}

/// Whether a script may write a file. Most write nothing, which is visible without parsing them.
fn may_write(script: &str) -> bool {
    script.len() <= LONGEST && (script.contains('>') || script.contains(TEE))
}

/// Without a parser, no script that may write a file is checked.
#[cfg(not(feature = "shell"))]
fn in_script(script: &str, _: bool) -> Result<Option<FoundWrite>, Unchecked> {
    if may_write(script) { Err(Unchecked::NoParser) } else { Ok(None) }
}

/// The position of the program among the words of a command, after wrappers such as `sudo`.
fn program_at(words: &[&str]) -> Option<usize> {
    let mut at = 0;
    loop {
        let word = words.get(at)?;
        if is_assignment(word) {
            at += 1;
            continue;
        }
        // The options of a wrapper that take a value, and the number of its operands.
        let (valued, operands): (&str, usize) = match name_of(word) {
            "builtin" | "command" | "nohup" | "time" => ("", 0),
            "exec" => ("a", 0),
            "doas" => ("aCu", 0),
            "sudo" => ("CDghpRTUu", 0),
            "env" => ("CSu", 0),
            "nice" => ("n", 0),
            "timeout" => ("ks", 1),
            _ => return Some(at),
        };
        at += 1;
        while let Some(option) = words.get(at).filter(|word| word.len() > 1 && word.starts_with('-')) {
            at += 1;
            if *option == "--" {
                break;
            }
            let takes_next = option.len() == 2 && option.ends_with(|letter| valued.contains(letter));
            at += usize::from(takes_next);
        }
        at += operands;
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    })
}

/// The name of a program without its directory.
fn name_of(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The position of a shell's script, the argument of `-c`.
fn script_at(words: &[&str], shell: usize) -> Option<usize> {
    let mut has_script = false;
    for (number, word) in words.iter().enumerate().skip(shell + 1) {
        match word.strip_prefix('-') {
            Some(letters) if !letters.is_empty() && !letters.starts_with('-') => {
                has_script |= letters.contains('c')
            }
            Some(letters) if letters.starts_with('-') => {}
            _ => return has_script.then_some(number),
        }
    }
    None
}

/// The position of the first file among the arguments of `tee`.
fn file_of_tee(words: &[&str], tee: usize) -> Option<usize> {
    let mut may_be_option = true;
    for (number, word) in words.iter().enumerate().skip(tee + 1) {
        if may_be_option && word.len() > 1 && word.starts_with('-') {
            may_be_option = *word != "--";
        } else if is_file(word) {
            return Some(number);
        }
    }
    None
}

/// Whether a name refers to a file that keeps what is written to it.
fn is_file(name: &str) -> bool {
    // A process substitution is a pipe.
    if name.starts_with(['<', '>']) {
        return false;
    }
    let is_kernel = name.starts_with("/proc/") || name.starts_with("/sys/");
    let is_device = is_kernel || name.starts_with("/dev/") && !name.starts_with("/dev/shm/");
    !is_device && !name.is_empty() && !matches!(name, "-" | "$null") && !name.eq_ignore_ascii_case("nul")
}

#[cfg(all(test, feature = "shell"))]
mod tests;
