//! `toolcheck render`: the prompt that a chat template makes of a conversation.

mod tokens;

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use clap::builder::styling::{AnsiColor, Style as Paint};
use serde_json::json;
use toolcheck_config::Overrides;
use toolcheck_core::detection::Detection;
use toolcheck_core::readers::messages_of_row;
use toolcheck_core::text::{guard, shown, shown_with_tabs};
use toolcheck_core::{formats, names};
use toolcheck_json::{Document, Records, Value};
use toolcheck_project::{Configs, Input, Resolver, find_target, printable};
use toolcheck_template::{
    Arguments, ChatRequest, Input as Request, Origin, Preparation, Prompt, Refusal, Segment, Template,
};

use self::tokens::Token;
use super::no_such_record;
use crate::args::{PromptOutput, RenderArgs};
use crate::{Status, screen};

pub(crate) fn run(args: &RenderArgs, out: &mut dyn Write) -> Result<Status> {
    let mut overrides = Overrides::default();
    overrides.read_as.target = args.target.as_deref().map(find_target).transpose()?;
    overrides.read_as.template.clone_from(&args.template);
    let mut resolver = Resolver::new(overrides, Arc::new(Configs::new(&args.config.options())?))?;
    let input = Input::file(&args.file);
    let Some(settings) = resolver.resolve(&input) else {
        screen::messages("error", &resolver.errors());
        return Ok(Status::Trouble);
    };
    screen::messages("warning", &resolver.foreign_configs());
    let Some(template) = &settings.template else {
        bail!("no chat template is known: name one with --template, or as `template` in toolcheck.toml");
    };
    let template = template.template();
    let bytes = input.read()?;
    let name = printable(&args.file);
    let record = Records::new(&bytes)
        .nth(args.record.get() - 1)
        .with_context(|| no_such_record(&name, args.record, &bytes))?;
    let document = Document::read(record.bytes);
    if let Some(fault) = document.faults().iter().find(|fault| !fault.kind.is_in_text()) {
        let at = toolcheck_json::locate(&bytes, &[record.start + fault.span.start as usize]);
        let (line, column) = at.first().map_or((1, 1), |at| (at.line, at.column));
        bail!("{name}:{line}:{column}: {}", fault.kind.describe());
    }
    let chat = as_chat(document.root(), args.training)?;
    let (sent, document) = (document, chat.as_ref().map(|chat| Document::read(chat.text.as_bytes())));
    let document = document.as_ref().unwrap_or(&sent);
    let facts = settings.target.as_deref().map(|target| &target.prompt);
    let preparation = if chat.is_some() && !args.training || facts.is_some_and(|facts| facts.joins_parts) {
        Preparation::Vllm
    } else if facts.is_some_and(|facts| facts.adapts_to_template) {
        Preparation::LlamaCpp
    } else {
        Preparation::AsGiven
    };
    let request = Request { preparation, ..request(document.root(), args)? };
    let prompt = template.render(&request).map_err(refused)?;
    let rewritten = chat.as_ref().map(|chat| (chat, &sent));
    note_left_out(template, &request, rewritten);
    let style = screen::style(args.color);
    let tokens = tokens(args, &prompt)?;
    let is_raw = args.output_format == PromptOutput::Text && tokens.is_none();
    if is_raw && !style.color && !screen::is_terminal() {
        out.write_all(prompt.text.as_bytes())?;
        return Ok(Status::Clean);
    }
    let segments = template.segments(&request).map_err(refused)?;
    let messages = request.messages.elements().collect();
    let parts = Parts { prompt: &prompt, segments: &segments, messages, rewritten, tokens };
    match args.output_format {
        PromptOutput::Text => text(&parts, style.color, out)?,
        PromptOutput::Json => toolcheck_report::outputs::write_json_line(&parts.json(), out)?,
        PromptOutput::Html => html(&parts, out)?,
    }
    Ok(Status::Clean)
}

/// Says what the template leaves out on purpose, which is no fault: the reasoning of earlier turns.
fn note_left_out(template: &Template, request: &Request<'_>, rewritten: Rewritten<'_>) {
    let found = template.examine(request).observations;
    let mut left_out = found.iter().filter(|found| found.by_design);
    let first = left_out.by_ref().take(3).map(|found| shown(&at(rewritten, &found.pointer, "")));
    let first: Vec<String> = first.collect();
    let more = match left_out.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    if !first.is_empty() {
        let what = "the template leaves out the reasoning of earlier turns on purpose";
        screen::message("note", &format!("{what}: {}{more}", first.join(", ")));
    }
}

/// The tokens of the prompt, if they are asked for.
fn tokens(args: &RenderArgs, prompt: &Prompt) -> Result<Option<Vec<Token>>> {
    let Some(file) = &args.tokens else { return Ok(None) };
    let beside = || args.template.as_deref().map(tokens::beside);
    let file = file.clone().or_else(beside);
    let file = file.context("no tokenizer is known: name its `tokenizer.json` with --tokens=FILE")?;
    tokens::of(&prompt.text, &file).map(Some)
}

/// What there is to say of a template that gives no prompt.
fn refused(refusal: Refusal) -> anyhow::Error {
    let what = match refusal.kind.is_certain() {
        true => "the chat template refuses the conversation",
        false => "toolcheck can't run this chat template",
    };
    anyhow!("{what}: {}", shown(&refusal.to_string()))
}

/// What a server makes of a request in another format that it takes.
///
/// # Errors
///
/// It is not known what the server makes of it.
fn as_chat(root: Value<'_, '_>, is_training: bool) -> Result<Option<ChatRequest>> {
    if is_training {
        return Ok(messages_of_row(root).map(|messages| ChatRequest::of_row(root, &messages)));
    }
    let chat = formats::of_templates();
    let other =
        Detection::instead_of(chat.key(), root).filter(|other| (other.sniff)(root) > (chat.sniff)(root));
    let made = other.filter(|format| format.is_made_chat).and_then(|_| ChatRequest::of(root)).transpose();
    made.map_err(|why| anyhow!("how a server would render it is unknown: {}", shown(&why)))
}

/// What is rendered of a record.
///
/// # Errors
///
/// It has no messages, or messages that no template reads.
fn request<'d>(root: Value<'d, 'd>, args: &RenderArgs) -> Result<Request<'d>> {
    let Some(mut request) = Request::of(root) else {
        bail!(
            "no list of messages found\n\nA chat template reads requests of Chat Completions. Convert other requests first:\n  toolcheck show --target openai-chat --output-format request FILE"
        );
    };
    if args.training {
        (request.arguments, request.add_generation_prompt) = (Arguments::AsGiven, false);
    }
    Ok(request)
}

/// What a server made of a request, and the request.
type Rewritten<'p> = Option<(&'p ChatRequest, &'p Document<'p>)>;

/// Where a part of what is rendered is in the request.
fn at(rewritten: Rewritten<'_>, pointer: &str, inner: &str) -> String {
    let node = |(chat, sent): (&ChatRequest, &Document<'_>)| {
        toolcheck_json::pointers(sent, &[chat.value_at(sent, pointer)?.id()]).pop()
    };
    rewritten.map_or_else(|| format!("{pointer}{inner}"), |made| node(made).unwrap_or_default())
}

struct Parts<'p> {
    prompt: &'p Prompt,
    segments: &'p [Segment],
    messages: Vec<Value<'p, 'p>>,
    rewritten: Rewritten<'p>,
    /// The tokens of the prompt, if they are asked for.
    tokens: Option<Vec<Token>>,
}

/// A part of the prompt that comes from one place.
struct Piece<'p> {
    text: &'p str,
    sort: Sort,
    /// The JSON Pointer of where it comes from; empty if the template says it.
    pointer: String,
    /// Where it begins in the prompt.
    start: usize,
    /// The tokens that begin in it.
    tokens: &'p [Token],
}

impl<'p> Piece<'p> {
    /// Its texts between the beginnings of its tokens, each with the token that begins there.
    fn tokens(&self) -> impl Iterator<Item = (&'p str, Option<&'p Token>)> {
        let mut at = 0;
        let begin = |token: &Token| self.text.floor_char_boundary(token.start - self.start);
        let first = self.tokens.first().map_or(self.text.len(), begin);
        let before = Some((&self.text[..first], None)).filter(|(text, _)| !text.is_empty());
        before.into_iter().chain(self.tokens.iter().enumerate().map(move |(number, token)| {
            at = begin(token).max(at);
            let end = self.tokens.get(number + 1).map_or(self.text.len(), begin).max(at);
            (&self.text[at..end], Some(token))
        }))
    }
}

impl Parts<'_> {
    fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut tokens = self.tokens.as_deref().unwrap_or_default();
        self.segments.iter().map(move |segment| {
            let (sort, pointer) = match &segment.origin {
                Origin::Template => (Sort::Template, String::new()),
                Origin::SpecialToken => (Sort::Token, String::new()),
                Origin::Part { pointer, inner } => {
                    (self.sort_of(pointer), at(self.rewritten, pointer, inner))
                }
            };
            let begins = tokens.iter().take_while(|token| token.start < segment.range.end).count();
            let own = tokens.split_off(..begins).unwrap_or_default();
            let text = &self.prompt.text[segment.range.clone()];
            Piece { text, sort, pointer, start: segment.range.start, tokens: own }
        })
    }

    fn sort_of(&self, pointer: &str) -> Sort {
        let steps: Vec<&str> = pointer.split('/').skip(1).collect();
        let number = steps.iter().find_map(|step| step.parse::<usize>().ok());
        let message = number.and_then(|number| self.messages.get(number));
        match (steps.first(), message) {
            (Some(&"tools"), _) => Sort::Tool,
            _ if steps.contains(&"tool_calls") => Sort::Call,
            (_, Some(message)) if message.is("role", "tool") => Sort::Result,
            _ => Sort::Text,
        }
    }

    fn json(&self) -> serde_json::Value {
        let segments = self.pieces().map(|piece| {
            let end = piece.start + piece.text.len();
            let mut segment = json!({ "start": piece.start, "end": end, "from": piece.sort.name() });
            if !piece.pointer.is_empty() {
                segment["pointer"] = piece.pointer.into();
            }
            segment
        });
        let segments: Vec<_> = segments.collect();
        let generated: Vec<_> = self
            .prompt
            .generated
            .iter()
            .map(|range| json!({ "start": range.start, "end": range.end }))
            .collect();
        let mut json = json!({ "prompt": self.prompt.text, "segments": segments, "generated": generated });
        if let Some(tokens) = &self.tokens {
            let tokens = tokens.iter();
            let tokens =
                tokens.map(|token| json!({ "id": token.id, "start": token.start, "end": token.end }));
            json["tokens"] = tokens.collect();
        }
        json
    }

    /// How many tokens there are of each origin, and in all.
    fn counts(&self) -> Option<String> {
        let tokens = self.tokens.as_ref()?;
        let mut counts = Sort::ALL.map(|sort| (sort.name(), 0));
        for piece in self.pieces() {
            counts[piece.sort as usize].1 += piece.tokens.len();
        }
        let rows = counts.iter().filter(|(_, count)| *count > 0).copied().chain([("in all", tokens.len())]);
        let rows: Vec<String> = rows.map(|(name, count)| format!("{count:>8}  {name}\n")).collect();
        Some(format!("  tokens  from\n{}", rows.concat()))
    }
}

names! {
    /// What a piece of a prompt comes from.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Sort {
        Template = "template",
        Token = "special-token",
        Text = "message",
        Call = "tool-call",
        Result = "tool-result",
        Tool = "tool-definition",
    }
    /// Its name in every output.
    name
}

impl Sort {
    fn paint(self) -> Paint {
        match self {
            Self::Template => Paint::new().dimmed(),
            Self::Token => AnsiColor::Magenta.on_default(),
            Self::Text => Paint::new().bold(),
            Self::Call => AnsiColor::Green.on_default(),
            Self::Result => AnsiColor::Yellow.on_default(),
            Self::Tool => AnsiColor::Blue.on_default(),
        }
    }

    fn color(self) -> &'static str {
        match self {
            Self::Template => "color:#777",
            Self::Token => "color:#a0a",
            Self::Text => "background:#eef",
            Self::Call => "background:#dfd",
            Self::Result => "background:#ffd",
            Self::Tool => "background:#def",
        }
    }
}

/// Writes the prompt for a terminal, in colors if it has them. Control characters are made visible.
fn text(parts: &Parts<'_>, is_colored: bool, out: &mut dyn Write) -> Result<()> {
    let mut begins_line = true;
    for piece in parts.pieces() {
        let paint = if is_colored { piece.sort.paint() } else { Paint::new() };
        for (text, token) in piece.tokens() {
            let mark = if token.is_some_and(|token| token.start > 0) { "|" } else { "" };
            write!(out, "{mark}")?;
            for line in text.split_inclusive('\n') {
                let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
                let line = shown_with_tabs(line);
                let line = if begins_line { guard(&line) } else { line.into() };
                begins_line = end == "\n";
                write!(out, "{paint}{line}{paint:#}{end}")?;
            }
        }
    }
    writeln!(out)?;
    if let Some(counts) = parts.counts() {
        write!(out, "\n{counts}")?;
    }
    if !is_colored {
        return Ok(());
    }
    let legend: Vec<String> =
        Sort::ALL.iter().map(|sort| format!("{}{}{:#}", sort.paint(), sort.name(), sort.paint())).collect();
    writeln!(out, "\n{}", legend.join("  "))?;
    Ok(())
}

/// Writes a page that needs no network and no scripts.
fn html(parts: &Parts<'_>, out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Prompt</title>\n<style>"
    )?;
    writeln!(out, "body{{font:15px/1.5 system-ui;margin:2rem;color:#111;background:#fff}}")?;
    writeln!(out, "pre{{white-space:pre-wrap;overflow-wrap:anywhere;font:14px/1.6 ui-monospace,monospace}}")?;
    if parts.tokens.is_some() {
        writeln!(out, "i{{font-style:normal;border-left:1px solid}}")?;
    }
    for sort in Sort::ALL {
        writeln!(out, ".{}{{{}}}", sort.name(), sort.color())?;
    }
    write!(out, "</style>\n<p>")?;
    for sort in Sort::ALL {
        write!(out, "<span class=\"{0}\">{0}</span> ", sort.name())?;
    }
    write!(out, "</p>\n<pre>")?;
    for piece in parts.pieces() {
        write!(out, "<span class=\"{}\" title=\"{}\">", piece.sort.name(), escaped(&piece.pointer))?;
        for (text, token) in piece.tokens() {
            let text = escaped(text);
            match token {
                Some(token) => write!(out, "<i title=\"{}\">{text}</i>", token.id)?,
                None => write!(out, "{text}")?,
            }
        }
        write!(out, "</span>")?;
    }
    let counts = parts.counts().map_or_else(String::new, |counts| format!("<pre>{counts}</pre>\n"));
    writeln!(out, "</pre>\n{counts}</html>")?;
    Ok(())
}

/// A text in HTML, in which no character can be taken for a tag or for a direction of writing.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut begins_line = false;
    for line in text.split_inclusive(['\n', '\t']) {
        let (line, end) = match line.strip_suffix(['\n', '\t']) {
            Some(rest) => (rest, &line[rest.len()..]),
            None => (line, ""),
        };
        let line = shown(line);
        // A CI runner that prints the page obeys commands at the beginning of a line.
        let line = if begins_line { guard(&line) } else { line.into() };
        begins_line = end == "\n";
        for character in line.chars() {
            match character {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                other => escaped.push(other),
            }
        }
        escaped.push_str(end);
    }
    escaped
}
