//! What is said about a place: the other end of a pair, the schema of a tool, the page of a finding.

use std::ops::Range;

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};
use toolcheck_core::text::shorten;
use toolcheck_lint::{Finding, rules};
use toolcheck_report::shapes::models_in_short;

use crate::diagnostics;
use crate::document::Document;
use crate::sites::{Site, Sites};

/// The most bytes of JSON that are shown.
const MOST_SHOWN: usize = 1500;

const MOST_FINDINGS: usize = 3;

pub(crate) fn hover(document: &mut Document, position: Position) -> Option<Hover> {
    let byte = document.text.byte(position);
    let mut sections = about_findings(document, byte);
    let part = document.part_at(position);
    let mut range = None;
    if let Some(sites) = document.sites(&part)
        && let Some(site) = sites.at(byte.saturating_sub(part.start))
    {
        let place = sites.place(site);
        range = Some(document.text.between(part.start + place.start..part.start + place.end));
        let bytes = document.bytes_of(&part);
        let line = |place: &Range<usize>| document.text.position(part.start + place.start).line + 1;
        sections.push(match site {
            Site::Call(number) => of_call(&sites, number, &bytes, line),
            Site::Result(number) => of_result(&sites, number, &bytes, line),
            Site::Tool(number) => of_tool(&sites, number),
        });
    }
    if let Some((place, text)) = about_model(document, &part, byte) {
        range = Some(document.text.between(part.start + place.start..part.start + place.end));
        sections.push(text);
    }
    if sections.is_empty() {
        return None;
    }
    let value = sections.join("\n\n---\n\n");
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range,
    })
}

/// What is known of the model that a request names, and where it names it.
fn about_model(document: &Document, part: &Range<usize>, byte: usize) -> Option<(Range<usize>, String)> {
    let format = document.format()?;
    let bytes = document.bytes_of(part);
    let json = toolcheck_json::Document::read(&bytes);
    let model = json.root().get("model")?;
    let place = model.span().range();
    let name = model.as_str().filter(|_| place.contains(&byte.saturating_sub(part.start)))?;
    let known = models_in_short(&name, format);
    (!known.is_empty()).then(|| (place.clone(), known.trim_end().to_owned()))
}

/// The pages of the rules with findings at a byte, in short.
fn about_findings(document: &Document, byte: usize) -> Vec<String> {
    let (found, _) = document.findings();
    let is_here = |(start, finding): &(usize, &Finding)| {
        let place = diagnostics::place(finding, *start, &document.text);
        place.start <= byte && byte <= place.end
    };
    let here = found.into_iter().filter(is_here).take(MOST_FINDINGS);
    here.map(|(_, finding)| {
        let summary = rules::get(finding.rule).summary();
        format!("**{}** — {summary}\n\n[about this rule]({})", finding.rule, finding.url())
    })
    .collect()
}

fn of_call(sites: &Sites, number: usize, bytes: &[u8], line: impl Fn(&Range<usize>) -> u32) -> String {
    let call = &sites.calls[number];
    let mut text = format!("call of {}", code(call.name.as_deref().unwrap_or("a tool without a name")));
    text.extend(call.id.as_ref().map(|id| format!(" ({})", code(id))));
    if call.results.is_empty() {
        text.push_str("\n\nno result");
    }
    for (index, result) in call.results.iter().enumerate() {
        let result = &sites.results[*result];
        let again = if index > 0 { " again" } else { "" };
        text.push_str(&format!("\n\nanswered{again} in line {}", line(&result.place)));
        if index == 0 {
            text.push_str(&json(bytes, result.content.as_ref()));
        }
    }
    if let Some(schema) = call.tool.and_then(|tool| sites.tools[tool].schema.as_ref()) {
        text.push_str(&format!(
            "\n\nschema of its arguments (line {}){}",
            line(schema),
            json(bytes, Some(schema))
        ));
    }
    text
}

fn of_result(sites: &Sites, number: usize, bytes: &[u8], line: impl Fn(&Range<usize>) -> u32) -> String {
    let Some(call) = sites.results[number].call else {
        return "result of no call in this conversation".to_owned();
    };
    let call = &sites.calls[call];
    let name = code(call.name.as_deref().unwrap_or("a tool without a name"));
    let arguments = json(bytes, call.arguments.as_ref());
    format!("result of {name}, called in line {}{arguments}", line(&call.place))
}

fn of_tool(sites: &Sites, number: usize) -> String {
    let calls = sites.calls_of(number).count();
    format!(
        "tool {}, called {calls} {}",
        code(&sites.tools[number].name),
        if calls == 1 { "time" } else { "times" }
    )
}

/// A name that Markdown leaves as it is.
fn code(name: &str) -> String {
    format!("`{}`", shorten(name).replace('`', "'"))
}

/// A text whose first line begins at a value, with the other lines moved left as far as their indentation allows.
fn dedented(text: &str) -> String {
    let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let others = || text.split('\n').skip(1).filter(|line| !line.trim().is_empty());
    let common = others().map(indentation).min().unwrap_or(0);
    let lines = text.split('\n').enumerate();
    let lines = lines.map(|(number, line)| if number == 0 { line } else { line.get(common..).unwrap_or("") });
    lines.collect::<Vec<_>>().join("\n")
}

/// A part of the file as a block of code that nothing in it can end.
fn json(bytes: &[u8], place: Option<&Range<usize>>) -> String {
    let Some(bytes) = place.and_then(|place| bytes.get(place.clone())) else { return String::new() };
    let start = &bytes[..bytes.len().min(MOST_SHOWN)];
    let is_shown = |letter: &char| !letter.is_control() || *letter == '\n';
    let mut text: String = String::from_utf8_lossy(start).chars().filter(is_shown).collect();
    text = dedented(&text);
    if start.len() < bytes.len() {
        text.push('…');
    }
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n\n{fence}json\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_moved_left() {
        let indented = "{\n          \"a\": [\n            1\n          ],\n\n        }";
        assert_eq!(dedented(indented), "{\n  \"a\": [\n    1\n  ],\n\n}");
        assert_eq!(dedented("[\n\t\t1,\n\t\t2]"), "[\n1,\n2]");
        assert_eq!(dedented("  \"é\"\n ü"), "  \"é\"\nü");
        assert_eq!(dedented(""), "");
    }
}
