//! What a call gives a shell to run, and what of it writes a file.
//!
//! The words and operators are those of a real tokenizer of bash; what it makes of quotes, substitutions and
//! here-documents is right by its own tests. The commands are found in its tokens here, in one pass and without
//! recursion, because every grammar that was tried takes time or stack that grows much faster than its input.

use std::ops::Range;
use std::thread;

use brush_parser::{Token, TokenizerOptions, uncached_tokenize_str};
use serde_json::{Map, Value as Json};

use crate::settings::Unit;

/// The arguments that hold a command, by the names that agents give them.
const KEYS: [&str; 5] = ["command", "cmd", "script", "commands", "CommandLine"];

/// The argument that holds what follows the program, where the command is the program alone.
const ARGUMENTS: &str = "args";

/// The longest script that is looked into, in bytes: twice what Linux takes.
const LONGEST: usize = 256 * 1024;

/// How many substitutions a script may have: the tokenizer descends into each one that stands in another.
const MOST_SUBSTITUTIONS: usize = 4096;

/// How many substitutions are read without a stack of their own.
const FEW_SUBSTITUTIONS: usize = 16;

/// The stack for the others: 12 KiB a substitution without optimisation, 1 KiB with it.
const STACK: usize = 64 * 1024 * 1024;

/// The programs that write what they are told or given.
const WRITERS: [&str; 3] = ["cat", "echo", "printf"];

/// The program that writes its input to the files that it is told.
const TEE: &str = "tee";

/// What writes where another program is given a text of the script.
pub(crate) const HERE_DOCUMENT: &str = "a here-document";

/// The programs that run a script after `-c`.
const SHELLS: [&str; 6] = ["ash", "bash", "dash", "ksh", "sh", "zsh"];

/// A command of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command<'a> {
    /// Where it stands in the arguments.
    pub(crate) at: At,
    form: Form<'a>,
}

/// A place in the arguments: a key, and the number of an element where the value is a list.
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
    /// A text that a shell reads.
    Script(&'a str),
    /// A program and its arguments, which no shell reads.
    Words(Vec<&'a str>),
    /// A program, and beside it the arguments that are put behind it for a shell.
    Joined(&'a str, Vec<&'a str>),
}

/// A file that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    /// Who writes it: one of a few programs, or a here-document.
    pub(crate) by: &'static str,
    /// The value that says so.
    pub(crate) at: At,
    /// The bytes of that value's text that say so, where they are known.
    pub(crate) bytes: Option<Range<usize>>,
}

/// The commands of a call: of the first argument that holds any.
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
        // Several scripts, each for a shell of its own.
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
    /// How long it is; what separates arguments counts.
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
                // The shell that they are joined for reads an operator that stands alone.
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

/// What a program with its arguments writes, which no shell reads: no redirection is one there.
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

/// Where the program stands among the words of a command, behind those that run another one.
fn program_at(words: &[&str]) -> Option<usize> {
    let mut at = 0;
    loop {
        let word = words.get(at)?;
        if is_assignment(word) {
            at += 1;
            continue;
        }
        // The options of those that run another program, and which of them take a value.
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

/// A program's name without its folder.
fn name_of(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Where the script stands that a shell is given with `-c`.
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

/// Where the first file stands that `tee` is told.
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

/// Whether what a name stands for keeps what is written to it.
fn is_file(name: &str) -> bool {
    let is_device = name.starts_with("/dev/") && !name.starts_with("/dev/shm/");
    !is_device && !name.is_empty() && !matches!(name, "-" | "$null") && !name.eq_ignore_ascii_case("nul")
}

/// A word without its quotes. What is substituted in it stays as it is written.
fn unquoted(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut quote = None;
    let mut characters = word.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            // Between double quotes a backslash only escapes what is special there.
            (Some('"'), '\\') if !characters.peek().is_some_and(|next| "\"\\$`\n".contains(*next)) => {
                text.push('\\')
            }
            (None | Some('"'), '\\') => text.extend(characters.next()),
            _ => text.push(character),
        }
    }
    text
}

/// What a script writes, and the bytes that say so; `None` too where it can't be read. Where `goes_deeper`, a script
/// that it gives another shell counts as well.
fn in_script(script: &str, goes_deeper: bool) -> Option<(&'static str, Range<usize>)> {
    // Most commands write nothing, which is seen without reading them.
    if script.len() > LONGEST || !(script.contains('>') || script.contains(TEE)) {
        return None;
    }
    let is_substitution = |pair: &[u8]| pair[0] == b'$' && matches!(pair[1], b'(' | b'{');
    let substitutions = script.as_bytes().windows(2).filter(|pair| is_substitution(pair)).count();
    if substitutions > MOST_SUBSTITUTIONS {
        return None;
    }
    let read = || uncached_tokenize_str(script, &TokenizerOptions::default()).ok();
    let tokens = if substitutions <= FEW_SUBSTITUTIONS {
        read()
    } else {
        thread::scope(|scope| {
            let reader = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read).ok()?;
            reader.join().ok().flatten()
        })
    }?;
    let (by, characters) = Walk { goes_deeper, ..Walk::default() }.run(&tokens)?;
    let byte_of = |number| script.char_indices().nth(number).map_or(script.len(), |(byte, _)| byte);
    let (start, end) = (byte_of(characters.start), byte_of(characters.end));
    // Behind a here-document and a line that goes on, the blanks before a token count as its own.
    let is_blank = |character: char| character.is_whitespace() || character == '\\';
    let shown = script.get(start..end)?.trim_start_matches(is_blank);
    Some((by, end - shown.len()..end))
}

/// What was found: who writes, and the characters that say so.
type Found = (&'static str, Range<usize>);

/// A walk over the tokens of a script.
#[derive(Debug, Default)]
struct Walk<'t> {
    goes_deeper: bool,
    command: Simple<'t>,
    open: Vec<Group<'t>>,
}

/// A command as far as it was read.
#[derive(Debug, Default)]
struct Simple<'t> {
    /// Its words and where they stand.
    words: Vec<(&'t str, Range<usize>)>,
    /// Where its output goes to a file.
    redirection: Option<Range<usize>>,
    /// Whether a text of the script is its input.
    has_text: bool,
    /// Whether it is the head of a loop, of a case or of a function, and no command.
    is_head: bool,
    /// Whether it is a group that was closed.
    is_group: bool,
    /// Who in that group speaks to the group's output.
    speaker: Option<&'static str>,
}

/// A group of commands that is open.
#[derive(Debug)]
struct Group<'t> {
    /// What opened it.
    opener: Opener,
    /// Who in it speaks to its output.
    speaker: Option<&'static str>,
    /// The command in whose middle it stands, where it is no command itself.
    outer: Option<Simple<'t>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opener {
    Parenthesis,
    Word,
    Case,
}

impl<'t> Walk<'t> {
    fn run(mut self, tokens: &'t [Token]) -> Option<Found> {
        let mut rest = tokens.iter().peekable();
        let mut before: Option<&Token> = None;
        while let Some(token) = rest.next() {
            let is_adjacent = before.is_some_and(|before| touches(before, token));
            match token {
                Token::Word(word, _) => {
                    // A number at an operator is the descriptor that is redirected.
                    let descriptor = rest.peek().filter(|next| is_redirection(next) && touches(token, next));
                    let is_of_operator = descriptor.is_some() && is_descriptor(word);
                    let found = if is_of_operator { None } else { self.word(word, span(token)) };
                    if found.is_some() {
                        return found;
                    }
                }
                Token::Operator(operator, _) if is_redirection(token) => {
                    let descriptor =
                        before.filter(|_| is_adjacent).map(Token::to_str).filter(|word| is_descriptor(word));
                    match operator.as_str() {
                        "<<" | "<<-" => {
                            self.command.has_text = true;
                            // The mark, the text and the mark again.
                            for _ in 0..3 {
                                rest.next_if(|next| matches!(next, Token::Word(..)));
                            }
                        }
                        _ => {
                            let target = rest.next_if(|next| matches!(next, Token::Word(..)));
                            self.redirect(operator, descriptor, token, target);
                        }
                    }
                }
                Token::Operator(operator, _) => {
                    let found = match operator.as_str() {
                        "(" => self.open_parenthesis(before.filter(|_| is_adjacent)),
                        ")" => self.close_parenthesis(),
                        "|" | "|&" => self.finish(true),
                        _ => self.finish(false),
                    };
                    if found.is_some() {
                        return found;
                    }
                }
            }
            before = Some(token);
        }
        self.finish(false)
    }

    /// A word: of the command, or one that opens or closes a group.
    fn word(&mut self, word: &'t str, at: Range<usize>) -> Option<Found> {
        let is_closer = matches!(word, "}" | "done" | "esac" | "fi");
        if self.command.is_group || self.command.is_head && word == "{" {
            // What follows a group belongs to another command.
            if let Some(found) = self.finish(false) {
                return Some(found);
            }
        }
        let command = &self.command;
        if !command.words.is_empty() || command.redirection.is_some() || command.is_head {
            self.command.words.push((word, at));
            return None;
        }
        match word {
            "!" | "coproc" | "do" | "elif" | "else" | "then" | "time" => {}
            "function" => self.command.is_head = true,
            "{" | "if" | "until" | "while" => self.open_group(Opener::Word, None),
            "for" | "select" => {
                self.open_group(Opener::Word, None);
                self.command.is_head = true;
            }
            "case" => {
                self.open_group(Opener::Case, None);
                self.command.is_head = true;
            }
            _ if is_closer => {
                if self.open.last().is_some_and(|group| group.opener != Opener::Parenthesis) {
                    self.close_group();
                }
            }
            _ => self.command.words.push((word, at)),
        }
        None
    }

    fn redirect(
        &mut self,
        operator: &str,
        descriptor: Option<&str>,
        token: &Token,
        target: Option<&'t Token>,
    ) {
        if operator == "<<<" {
            self.command.has_text = true;
        }
        let is_output = matches!(descriptor, None | Some("1"));
        let Some(target) = target.filter(|_| is_output) else { return };
        let name = unquoted(target.to_str());
        let writes = match operator {
            ">" | ">>" | ">|" | "&>" | "&>>" => true,
            // Behind it stands another descriptor, or a file for both outputs.
            ">&" => !name.chars().all(|character| character.is_ascii_digit() || character == '-'),
            _ => false,
        };
        if writes {
            // Of several the last counts.
            let at = span(token).start..span(target).end;
            self.command.redirection = is_file(&name).then_some(at);
        }
    }

    fn open_group(&mut self, opener: Opener, outer: Option<Simple<'t>>) {
        self.open.push(Group { opener, speaker: None, outer });
    }

    fn open_parenthesis(&mut self, touching: Option<&Token>) -> Option<Found> {
        let is_inner = match touching {
            // A substitution of a process, or a list of values.
            Some(Token::Operator(operator, _)) => operator.contains(['<', '>']),
            Some(Token::Word(word, _)) => word.ends_with('='),
            None => false,
        };
        if is_inner {
            let outer = std::mem::take(&mut self.command);
            self.open_group(Opener::Parenthesis, Some(outer));
            return None;
        }
        // The name of a function, or nothing.
        self.command.is_head |= !self.command.words.is_empty();
        let found = self.finish(false);
        self.open_group(Opener::Parenthesis, None);
        found
    }

    fn close_parenthesis(&mut self) -> Option<Found> {
        match self.open.last().map(|group| group.opener) {
            Some(Opener::Parenthesis) => {
                let found = self.finish(false);
                self.close_group();
                found
            }
            // Behind the pattern of a case.
            Some(Opener::Case) => {
                self.command = Simple::default();
                None
            }
            _ => self.finish(false),
        }
    }

    fn close_group(&mut self) {
        let Some(group) = self.open.pop() else { return };
        self.command = match group.outer {
            Some(outer) => outer,
            None => Simple { is_group: true, speaker: group.speaker, ..Simple::default() },
        };
    }

    /// What the command that ends here writes.
    fn finish(&mut self, is_piped: bool) -> Option<Found> {
        let command = std::mem::take(&mut self.command);
        if command.is_head {
            return None;
        }
        let mut speaker = command.speaker;
        if !command.is_group {
            let texts: Vec<String> = command.words.iter().map(|(word, _)| first_unquoted(word)).collect();
            let words: Vec<&str> = texts.iter().map(String::as_str).collect();
            let first = program_at(&words);
            let name = first.map_or("", |first| name_of(words[first]));
            speaker = WRITERS.into_iter().find(|writer| *writer == name);
            match first {
                Some(first) if name == TEE => {
                    if let Some(file) = file_of_tee(&words, first) {
                        return Some((TEE, command.words[file].1.clone()));
                    }
                }
                Some(first) if self.goes_deeper && SHELLS.contains(&name) => {
                    let inner = script_at(&words, first).and_then(|number| {
                        Some((in_script(&unquoted(command.words[number].0), false)?.0, number))
                    });
                    if let Some((by, number)) = inner {
                        return Some((by, command.words[number].1.clone()));
                    }
                }
                _ => {}
            }
            if command.has_text {
                speaker = speaker.or(Some(HERE_DOCUMENT));
            }
        }
        if let (Some(speaker), Some(at)) = (speaker, command.redirection.clone()) {
            return Some((speaker, at));
        }
        // Only a program that is known to pass its text on speaks to the output of its group.
        let speaks = speaker.filter(|by| WRITERS.contains(by) && !is_piped && command.redirection.is_none());
        if let Some(group) = self.open.last_mut() {
            group.speaker = group.speaker.or(speaks);
        }
        None
    }
}

/// A word without its quotes, where it may name a program, an option or a file; a long one is none of these.
fn first_unquoted(word: &str) -> String {
    const LONGEST_NAME: usize = 4096;
    if word.len() > LONGEST_NAME { "?".to_owned() } else { unquoted(word) }
}

/// Where a token stands, in characters.
fn span(token: &Token) -> Range<usize> {
    let location = token.location();
    location.start.index..location.end.index
}

/// Whether nothing stands between two tokens.
fn touches(before: &Token, after: &Token) -> bool {
    span(before).end == span(after).start
}

fn is_redirection(token: &Token) -> bool {
    matches!(token, Token::Operator(operator, _) if operator.contains(['<', '>']))
}

/// Whether a word at an operator is a descriptor, or the variable of one.
fn is_descriptor(word: &str) -> bool {
    let is_number = word.chars().all(|character| character.is_ascii_digit());
    is_number && !word.is_empty() || word.starts_with('{') && word.ends_with('}')
}

#[cfg(test)]
mod tests;
