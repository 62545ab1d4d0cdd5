//! The parser of scripts, and the files that they write.

use std::collections::VecDeque;
use std::ops::Range;
use std::thread;

use foldhash::HashMap;
use rable::{Node, NodeKind};

use super::*;

/// The maximum number of substitutions in a script: nested ones are read again and again.
pub(super) const MOST_SUBSTITUTIONS: usize = 24;

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

/// The first write in a script, and its bytes; also `None` if the script can't be parsed. If `goes_deeper`, scripts for
/// a nested shell are searched too.
pub(super) fn in_script(script: &str, goes_deeper: bool) -> Result<Option<FoundWrite>, Unchecked> {
    if !may_write(script) {
        return Ok(None);
    }
    let script = &plain(script);
    if !is_cheap(script) {
        return Ok(None);
    }
    let read = || {
        let commands = rable::parse(script, false).ok()?;
        let mut walk = Walk { goes_deeper, input: None, found: None };
        for command in &commands {
            walk.speaker(command);
        }
        walk.found
    };
    let found = if goes_deeper {
        thread::scope(|scope| {
            let reader = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read);
            let reader = reader.map_err(|_| Unchecked::NoThread)?;
            Ok(reader.join().ok().flatten())
        })?
    } else {
        // A nested script is parsed on the same stack as the outer one.
        read()
    };
    let Some((by, characters)) = found else { return Ok(None) };
    let byte_of = |number| script.char_indices().nth(number).map_or(script.len(), |(byte, _)| byte);
    let (start, end) = (byte_of(characters.start), byte_of(characters.end));
    let shown = script.get(start..end).map_or("", str::trim);
    Ok(Some((by, start..start + shown.len())).filter(|(_, bytes)| !bytes.is_empty()))
}

/// The script, with irrelevant parts that are slow to parse replaced by the same number of other characters: the
/// contents of here-documents, and braces that don't open a group. This does not matter inside quotes.
fn plain(script: &str) -> String {
    let lines = || script.split_inclusive('\n').enumerate();
    // The last position of each line, so that an unclosed here-document needs no search.
    let has_texts = script.contains("<<");
    let last: HashMap<&str, usize> =
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

/// A walk over the commands of a script.
struct Walk {
    goes_deeper: bool,
    /// The writer to the input of the current command.
    input: Option<&'static str>,
    found: Option<FoundWrite>,
}

#[derive(PartialEq, Eq)]
enum Output {
    /// To the output of its group.
    Inherited,
    /// To a file, by the redirection at these characters.
    File(Range<usize>),
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
                    in_script(&script, false).ok().flatten().map(|(by, _)| (by, place(number)))
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
