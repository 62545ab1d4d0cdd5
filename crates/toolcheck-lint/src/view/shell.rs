//! The shell commands of a call, and the files that they write.
//!
//! Commands are read by a Bash parser. It never panics and always terminates, but is slow for some scripts that nobody
//! writes by hand. These are recognised by counting a few characters, and skipped.

use std::collections::VecDeque;
use std::ops::Range;
use std::thread;

use rable::{Node, NodeKind};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

use crate::settings::Unit;

/// The names of the arguments that contain a command, in common agents.
const KEYS: [&str; 5] = ["command", "cmd", "script", "commands", "CommandLine"];

/// The argument that contains the program's arguments, if the command is the program alone.
const ARGUMENTS: &str = "args";

/// The maximum length of a script that is parsed, in bytes: twice the limit of Linux.
const LONGEST: usize = 256 * 1024;

/// The maximum number of substitutions in a script: nested ones are read again and again.
const MOST_SUBSTITUTIONS: usize = 24;

/// The maximum work for substitutions: the length of the script times the square of their number.
const MOST_WORK: usize = 1 << 23;

/// The maximum work for braces: their number times the number of dollar signs.
const MOST_BRACES: usize = 1 << 26;

/// The maximum number of constructs for which the parser recurses without a limit of its own.
const DEEPEST: usize = 1000;

/// The maximum number of parameters in braces, which may be nested.
const MOST_PARAMETERS: usize = 10_000;

/// The size of the parser's stack, in bytes: it recurses up to a thousand times.
const STACK: usize = 64 * 1024 * 1024;

/// The programs that print their arguments or their input.
const WRITERS: [&str; 3] = ["cat", "echo", "printf"];

/// The programs that print a text from the script itself, if it is their input.
const PASSING: [&str; 6] = ["base64", "cat", "envsubst", "sed", "tee", "xxd"];

/// The programs that print nothing, so that all output is from the commands beside them.
const SILENT: [&str; 10] = ["", ":", "[", "cd", "export", "mkdir", "set", "sleep", "test", "true"];

/// The writer if only silent programs run.
const NOBODY: &str = "";

/// The program that writes its input to the files that it names.
const TEE: &str = "tee";

/// The writer if another program prints a text from the script.
pub(crate) const HERE_DOCUMENT: &str = "a here-document";

/// The programs that run a script after `-c`.
const SHELLS: [&str; 6] = ["ash", "bash", "dash", "ksh", "sh", "zsh"];

/// A command of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command<'a> {
    /// Its place in the arguments.
    pub(crate) at: At,
    form: Form<'a>,
}

/// A place in the arguments: a key, and the number of an element if the value is a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    /// The key.
    pub(crate) key: &'static str,
    /// The element.
    pub(crate) element: Option<usize>,
}

/// How a command is written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form<'a> {
    /// A script for a shell.
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

/// The elements of a list of strings.
fn strings(list: &Json) -> Option<Vec<&str>> {
    list.as_array()?.iter().map(Json::as_str).collect()
}

impl Command<'_> {
    /// Its length, including the separators between arguments.
    pub(crate) fn length(&self, unit: Unit) -> usize {
        let count = |text: &&str| match unit {
            Unit::Bytes => text.len(),
            Unit::Utf16 => text.encode_utf16().count(),
            Unit::Characters => text.chars().count(),
        };
        match &self.form {
            Form::Script(script) => count(script),
            Form::Words(words) => words.iter().map(count).sum::<usize>() + words.len().saturating_sub(1),
            Form::Joined(program, rest) => {
                count(program) + rest.iter().map(count).sum::<usize>() + rest.len()
            }
        }
    }

    /// The first file that it writes by means of `echo`, `cat`, `printf`, `tee` or a here-document.
    pub(crate) fn write(&self) -> Option<Write> {
        match &self.form {
            Form::Script(script) => {
                in_script(script, true).map(|(by, bytes)| Write { by, at: self.at, bytes: Some(bytes) })
            }
            Form::Words(words) => {
                let (by, number, bytes) = in_words(words)?;
                Some(Write { by, at: At { element: Some(number), ..self.at }, bytes })
            }
            Form::Joined(program, rest) => {
                if !program.contains(char::is_whitespace) {
                    let words: Vec<&str> = std::iter::once(*program).chain(rest.iter().copied()).collect();
                    if let Some((by, number, bytes)) = in_words(&words) {
                        let element = number.checked_sub(1);
                        let key = if element.is_some() { ARGUMENTS } else { self.at.key };
                        return Some(Write { by, at: At { key, element }, bytes });
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
                in_script(&script, true).map(|(by, _)| Write { by, at: self.at, bytes: None })
            }
        }
    }
}

/// The write of a program with its arguments. Without a shell, there are no redirections.
fn in_words(words: &[&str]) -> Option<(&'static str, usize, Option<Range<usize>>)> {
    let first = program_at(words)?;
    match name_of(words[first]) {
        name if SHELLS.contains(&name) => {
            let number = script_at(words, first)?;
            in_script(words[number], true).map(|(by, bytes)| (by, number, Some(bytes)))
        }
        TEE => file_of_tee(words, first).map(|number| (TEE, number, None)),
        _ => None,
    }
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

/// Whether a word sets a variable.
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

/// A word without its quotes. Substitutions in it are left as they are.
fn unquoted(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut quote = None;
    let mut characters = word.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            // In double quotes, a backslash escapes only special characters.
            (Some('"'), '\\') if !characters.peek().is_some_and(|next| "\"\\$`\n".contains(*next)) => {
                text.push('\\')
            }
            (None | Some('"'), '\\') => text.extend(characters.next()),
            _ => text.push(character),
        }
    }
    text
}

/// The first write in a script, and its bytes; also `None` if the script can't be parsed. If `goes_deeper`, scripts for
/// a nested shell are searched too.
fn in_script(script: &str, goes_deeper: bool) -> Option<(&'static str, Range<usize>)> {
    // Most commands write nothing, which is visible without parsing them.
    if script.len() > LONGEST || !(script.contains('>') || script.contains(TEE)) {
        return None;
    }
    let script = &plain(script);
    if !is_cheap(script) {
        return None;
    }
    let read = || {
        let commands = rable::parse(script, false).ok()?;
        let mut walk = Walk { goes_deeper, input: None, found: None };
        for command in &commands {
            walk.speaker(command);
        }
        walk.found
    };
    let (by, characters) = if goes_deeper {
        thread::scope(|scope| {
            let reader = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read).ok()?;
            reader.join().ok().flatten()
        })
    } else {
        // A nested script is parsed on the same stack as the outer one.
        read()
    }?;
    let byte_of = |number| script.char_indices().nth(number).map_or(script.len(), |(byte, _)| byte);
    let (start, end) = (byte_of(characters.start), byte_of(characters.end));
    let shown = script.get(start..end)?.trim();
    Some((by, start..start + shown.len())).filter(|(_, bytes)| !bytes.is_empty())
}

/// The script, with irrelevant parts that are slow to parse replaced by the same number of other characters: the
/// contents of here-documents, and braces that don't open a group. This does not matter inside quotes.
fn plain(script: &str) -> String {
    let lines = || script.split_inclusive('\n').enumerate();
    // The last position of each line, so that an unclosed here-document needs no search.
    let has_texts = script.contains("<<");
    let last: FxHashMap<&str, usize> =
        lines().filter(|_| has_texts).map(|(number, line)| (bare(line), number)).collect();
    let mut text = String::with_capacity(script.len());
    let mut marks: VecDeque<&str> = VecDeque::new();
    for (number, line) in lines() {
        match marks.front() {
            Some(mark) if bare(line) == *mark => {
                marks.pop_front();
                text.push_str(line);
            }
            Some(_) => text.extend(line.chars().map(|character| match character {
                '$' | '`' | '{' | '(' | '<' => '_',
                other => other,
            })),
            None => {
                push_without_braces(line, &mut text);
                marks.extend(marks_of(line).filter(|mark| last.get(mark).is_some_and(|at| *at > number)));
            }
        }
    }
    text
}

/// Adds a line, without braces that open neither a group nor a parameter.
fn push_without_braces(line: &str, text: &mut String) {
    let mut before = ' ';
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let is_alone = (before.is_whitespace() || ";&|()".contains(before))
            && characters.peek().is_none_or(|next| next.is_whitespace());
        text.push(if character == '{' && before != '$' && !is_alone { '_' } else { character });
        before = character;
    }
}

/// A line without leading tabs and the trailing line break.
fn bare(line: &str) -> &str {
    line.trim_end_matches('\n').trim_start_matches('\t')
}

/// The delimiters of the here-documents that start in a line.
fn marks_of(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("<<").filter_map(move |(at, _)| {
        let rest = line[at + 2..].trim_start_matches('-').trim_start_matches([' ', '\t']);
        let rest = rest.trim_start_matches(['\'', '"', '\\']);
        let is_mark = |character: char| character.is_alphanumeric() || "_-.".contains(character);
        let length = rest.find(|character| !is_mark(character)).unwrap_or(rest.len());
        (length > 0).then(|| &rest[..length])
    })
}

/// Whether the parser needs only little time and stack for a script.
fn is_cheap(script: &str) -> bool {
    // Twice as many nested substitutions take four times as long for each character.
    let mut substitutions = 0;
    let (mut braces, mut dollars, mut parameters, mut negations) = (0, 0, 0, 0);
    let mut before = b' ';
    for &byte in script.as_bytes() {
        let is_escaped = before == b'\\';
        match byte {
            b'`' if !is_escaped => substitutions += 1,
            b'(' if matches!(before, b'$' | b'<' | b'>') => substitutions += 1,
            b'{' => {
                braces += 1;
                parameters += usize::from(before == b'$');
            }
            b'$' => dollars += 1,
            b'(' | b'!' => negations += 1,
            _ => {}
        }
        before = if is_escaped { b' ' } else { byte };
    }
    let length = script.len();
    substitutions <= MOST_SUBSTITUTIONS
        && length * substitutions * substitutions <= MOST_WORK
        && braces * dollars <= MOST_BRACES
        && parameters <= MOST_PARAMETERS
        && script.matches("<<").count() <= DEEPEST
        && (negations <= DEEPEST || !script.contains("[["))
}

/// The writer and the characters of a write.
type Found = (&'static str, Range<usize>);

/// A walk over the commands of a script.
struct Walk {
    goes_deeper: bool,
    /// The writer to the input of the current command.
    input: Option<&'static str>,
    found: Option<Found>,
}

/// Where the output of a command goes.
#[derive(PartialEq, Eq)]
enum Output {
    /// To the output of its group.
    Inherited,
    /// To a file, by the redirection at these characters.
    File(Range<usize>),
    /// Somewhere else.
    Elsewhere,
}

impl Walk {
    /// The writer to the output of a command: one of [`WRITERS`] or nobody; `None` if it is another program. The parser
    /// limits the depth of the recursion.
    fn speaker(&mut self, node: &Node) -> Option<&'static str> {
        if self.found.is_some() {
            return None;
        }
        match &node.kind {
            NodeKind::Command { words, redirects, .. } => self.simple(words, redirects),
            NodeKind::Pipeline { commands, .. } => {
                // Each command writes to the input of the next one.
                let outer = self.input.take();
                let mut speaker = outer;
                for command in commands {
                    self.input = speaker;
                    speaker = self.speaker(command);
                }
                self.input = outer;
                speaker
            }
            NodeKind::List { items } => self.first(items.iter().map(|item| &item.command)),
            NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => self.speaker(pipeline),
            NodeKind::Function { body, .. } => {
                self.speaker(body);
                None
            }
            NodeKind::Coproc { command, .. } => {
                self.speaker(command);
                None
            }
            NodeKind::If { condition, then_body, else_body, redirects } => {
                let bodies = [condition, then_body].into_iter().chain(else_body);
                self.group(bodies.map(|body| &**body), redirects)
            }
            NodeKind::While { condition, body, redirects }
            | NodeKind::Until { condition, body, redirects } => {
                self.group([condition, body].into_iter().map(|body| &**body), redirects)
            }
            NodeKind::For { body, redirects, .. }
            | NodeKind::ForArith { body, redirects, .. }
            | NodeKind::Select { body, redirects, .. }
            | NodeKind::Subshell { body, redirects }
            | NodeKind::BraceGroup { body, redirects } => self.group([&**body], redirects),
            NodeKind::Case { patterns, redirects, .. } => {
                self.group(patterns.iter().filter_map(|pattern| pattern.body.as_ref()), redirects)
            }
            _ => None,
        }
    }

    /// The first writer of several commands with the same output; `None` if one of them is another program, because
    /// then the output is also that program's.
    fn first<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) -> Option<&'static str> {
        let mut first = Some(NOBODY);
        for node in nodes {
            // Every command is visited, because it may write a file itself.
            let speaker = self.speaker(node);
            first = match (first, speaker) {
                (Some(NOBODY), speaker) => speaker,
                (first, Some(_)) => first,
                (_, None) => None,
            };
        }
        first
    }

    fn group<'n>(
        &mut self,
        bodies: impl IntoIterator<Item = &'n Node>,
        redirects: &[Node],
    ) -> Option<&'static str> {
        let speaker = self.first(bodies);
        self.redirected(speaker, redirects)
    }

    /// The writer to the output of a command after its redirections.
    fn redirected(&mut self, speaker: Option<&'static str>, redirects: &[Node]) -> Option<&'static str> {
        match output(redirects) {
            Output::Inherited => speaker,
            Output::Elsewhere => None,
            Output::File(at) => {
                if let (Some(by), None) = (speaker.filter(|by| *by != NOBODY), &self.found) {
                    self.found = Some((by, at));
                }
                None
            }
        }
    }

    fn simple(&mut self, words: &[Node], redirects: &[Node]) -> Option<&'static str> {
        let texts: Vec<String> = words.iter().map(short_unquoted).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let first = program_at(&texts);
        let name = first.map_or("", |first| name_of(texts[first]));
        let place = |number: usize| words[number].span.start..words[number].span.end;
        let has_text = redirects.iter().any(|redirect| match &redirect.kind {
            NodeKind::HereDoc { .. } => true,
            NodeKind::Redirect { op, .. } => op == "<<<",
            _ => false,
        });
        let has_input = has_text || self.input.is_some_and(|by| by != NOBODY);
        match first {
            // The output of another program may go to a log.
            Some(first) if name == TEE && has_input => {
                self.found = file_of_tee(&texts, first).map(|number| (TEE, place(number)));
            }
            Some(first) if self.goes_deeper && SHELLS.contains(&name) => {
                let number = script_at(&texts, first);
                let script = number.and_then(|number| Some((number, unquoted(value_of(&words[number])?))));
                self.found = script.and_then(|(number, script)| {
                    in_script(&script, false).map(|(by, _)| (by, place(number)))
                });
            }
            _ => {}
        }
        if self.found.is_some() {
            return None;
        }
        let operands =
            first.map_or(0, |first| texts[first + 1..].iter().filter(|word| !word.starts_with('-')).count());
        let speaker = match WRITERS.into_iter().find(|writer| *writer == name) {
            // With files as arguments it copies them; otherwise it prints its input.
            Some("cat") if operands > 0 && !has_text => None,
            Some("cat") if !has_input => None,
            Some(writer) => Some(writer),
            None if has_text && PASSING.contains(&name) => Some(HERE_DOCUMENT),
            None => SILENT.contains(&name).then_some(NOBODY),
        };
        self.redirected(speaker, redirects)
    }
}

/// The destination of the output after redirections. The last one counts.
fn output(redirects: &[Node]) -> Output {
    let mut output = Output::Inherited;
    for redirect in redirects {
        let NodeKind::Redirect { op, target, fd, varfd } = &redirect.kind else { continue };
        if varfd.is_some() || !matches!(fd, -1 | 1) {
            continue;
        }
        let name = short_unquoted(target);
        let writes = match op.as_str() {
            ">" | ">>" | ">|" | "&>" | "&>>" => is_file(&name),
            // The target is another descriptor, or a file for both outputs.
            ">&" => !name.chars().all(|letter| letter.is_ascii_digit() || letter == '-') && is_file(&name),
            ">&-" => false,
            _ => continue,
        };
        let at = redirect.span.start..redirect.span.end;
        output = if writes { Output::File(at) } else { Output::Elsewhere };
    }
    output
}

/// A word as it is written.
fn value_of(word: &Node) -> Option<&str> {
    match &word.kind {
        NodeKind::Word { value, .. } => Some(value),
        _ => None,
    }
}

/// A word without its quotes, or `?` if it is too long for the name of a program, an option or a file.
fn short_unquoted(word: &Node) -> String {
    const LONGEST_NAME: usize = 4096;
    let value = value_of(word).filter(|value| value.len() <= LONGEST_NAME);
    value.map_or_else(|| "?".to_owned(), unquoted)
}

#[cfg(test)]
mod tests;
