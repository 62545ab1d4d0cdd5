//! Fixes, as code actions on findings.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, Diagnostic, NumberOrString, TextEdit,
    Uri, WorkspaceEdit,
};
use toolcheck_config::allow::fix_others;
use toolcheck_core::text::{Counted, shown};
use toolcheck_lint::fix::{Action, Applied, Cost, FixPlace, Fixed, PLACEHOLDER};
use toolcheck_lint::{FixOptions, Options, fix, rules};
use toolcheck_report::unified;

use crate::diagnostics::{SOURCE, place};
use crate::document::Document;
use crate::settings::Settings;
use crate::text::Text;

/// The kind of the action that fixes all that can be fixed without a loss.
pub(crate) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.toolcheck");

/// An action with its title, its kind, and whether it costs nothing.
#[expect(clippy::mutable_key_type, reason = "the protocol's own map")]
pub(crate) fn one(
    uri: &Uri,
    (title, kind, is_safe): (String, CodeActionKind, bool),
    edits: Vec<TextEdit>,
    diagnostics: Vec<Diagnostic>,
) -> CodeAction {
    let changes = HashMap::from([(uri.clone(), edits)]);
    CodeAction {
        title,
        kind: Some(kind),
        diagnostics: (!diagnostics.is_empty()).then_some(diagnostics),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        is_preferred: Some(is_safe),
        ..CodeAction::default()
    }
}

pub(crate) fn actions(
    document: &mut Document,
    range: lsp_types::Range,
    context: &CodeActionContext,
) -> Vec<CodeActionOrCommand> {
    let wants = |kind: &CodeActionKind| {
        context.only.as_ref().is_none_or(|only| only.iter().any(|wanted| contains(wanted, kind)))
    };
    let Some(settings) = document.settings().cloned() else { return Vec::new() };
    let mut actions: Vec<CodeActionOrCommand> = Vec::new();
    let mut add = |title, kind, edits, diagnostics, is_safe| {
        actions.push(one(&document.uri, (title, kind, is_safe), edits, diagnostics).into());
    };
    if wants(&CodeActionKind::QUICKFIX) {
        let options = settings.read_as(document.format());
        let mut by_rule = by_rule(&context.diagnostics);
        if by_rule.is_empty() {
            by_rule = rules_at(document, range);
        }
        for (rule, diagnostics) in &by_rule {
            // The one under the cursor, if there are more, and all of the rule in the lines that have some.
            let all = fix_parts(document, &settings, &options, rule, diagnostics);
            let one = all.as_ref().filter(|all| all.count > 1 && diagnostics.len() == 1).and_then(|_| {
                let part = document.part_at(diagnostics[0].range.start);
                let marked = document.text.byte(diagnostics[0].range.start);
                let (found, _) = document.findings();
                let mut starts = found.iter().filter_map(|(start, finding)| {
                    let is_it = finding.rule.as_str() == rule
                        && place(finding, *start, &document.text).start == marked;
                    is_it.then_some(start + finding.spot.bytes.start)
                });
                let here = FixPlace::Byte(starts.next()?.checked_sub(part.start)?);
                fix_part(document, &settings, &options, rule, (part, Some(here)))
            });
            for fixed in one.into_iter().chain(all) {
                let resolved =
                    diagnostics.iter().filter(|one| fixed.lies_in(document, one)).cloned().collect();
                let kind = CodeActionKind::QUICKFIX;
                add(fixed.title(rule), kind, fixed.edits, resolved, fixed.costs.is_empty());
            }
        }
    }
    // Not unasked at every key: it reads the whole file.
    let is_named =
        context.only.as_ref().is_some_and(|only| only.iter().any(|wanted| contains(wanted, &FIX_ALL)));
    if is_named {
        let bytes = document.text.bytes();
        if !settings.is_opened(&bytes) {
            let file = (&*settings.name, &*bytes);
            let fixed = fix_others(&settings.allows, file, &settings.options, &FixOptions::new());
            if !fixed.is_unchanged() {
                let title = format!("Fix {}", Counted(fixed.applied.len(), "finding"));
                let edits = text_edits(document, &(0..bytes.len()), &bytes, &fixed.bytes);
                add(title, FIX_ALL, edits, Vec::new(), true);
            }
        }
    }
    actions
}

/// The diagnostics at a place, by their rules, for an editor that does not say which it asks about.
fn rules_at(document: &Document, range: lsp_types::Range) -> Vec<(String, Vec<Diagnostic>)> {
    let mut own = document.diagnostics();
    own.retain(|one| one.range.start <= range.end && range.start <= one.range.end);
    by_rule(&own)
}

/// Whether a kind is another one, or a more special one of it.
fn contains(wanted: &CodeActionKind, kind: &CodeActionKind) -> bool {
    let (wanted, kind) = (wanted.as_str(), kind.as_str());
    kind.strip_prefix(wanted)
        .is_some_and(|rest| wanted.is_empty() || rest.is_empty() || rest.starts_with('.'))
}

/// Our diagnostics that can be fixed, by their rules.
fn by_rule(diagnostics: &[Diagnostic]) -> Vec<(String, Vec<Diagnostic>)> {
    let mut rules: Vec<(String, Vec<Diagnostic>)> = Vec::new();
    for diagnostic in diagnostics.iter().filter(|one| one.source.as_deref() == Some(SOURCE)) {
        let Some(NumberOrString::String(rule)) = &diagnostic.code else { continue };
        match rules.iter_mut().find(|(known, _)| known == rule) {
            Some((_, all)) => all.push(diagnostic.clone()),
            None => rules.push((rule.clone(), vec![diagnostic.clone()])),
        }
    }
    rules
}

/// The most lines in which one action fixes the findings of a rule.
const MOST_PARTS: usize = 64;

struct RuleFix {
    edits: Vec<TextEdit>,
    /// The parts of the text that are fixed: the lines, or all of it.
    parts: Vec<Range<usize>>,
    count: usize,
    /// What is done, each kind once.
    actions: Vec<String>,
    /// What is lost or guessed: each loss, and each kind of guess once.
    costs: Vec<Cost>,
}

/// The most losses, or guesses, that a title names.
const MOST_COSTS: usize = 3;

/// The longest text that a title quotes, in characters.
const LONGEST_QUOTE: usize = 40;

impl RuleFix {
    fn of(fixed: &Fixed<'_>, edits: Vec<TextEdit>, part: Range<usize>, text: &Text) -> Option<Self> {
        let what = |done: &Applied| match (done.action, &edits[..]) {
            (Action::Rewritten, [edit]) if fixed.applied.len() == 1 => {
                let old = text.slice(text.byte(edit.range.start)..text.byte(edit.range.end));
                Some(format!("write {} for {}", quoted(edit.new_text.as_bytes())?, quoted(&old)?))
            }
            (Action::Inserted, edits) if edits.iter().any(|edit| edit.new_text.contains(PLACEHOLDER)) => {
                Some("insert a result that says that there is none".to_owned())
            }
            _ => None,
        };
        let action = |done| what(done).unwrap_or_else(|| done.action.imperative().to_owned());
        let (actions, costs) = (fixed.applied.iter().map(action).collect(), Vec::new());
        let mut own = Self { edits, parts: vec![part], count: 0, actions, costs };
        own.add_up(fixed.applied.len(), fixed.applied.iter().filter_map(|done| done.cost.clone()));
        (own.count > 0).then_some(own)
    }

    /// Adds places, with what they cost.
    fn add_up(&mut self, count: usize, costs: impl IntoIterator<Item = Cost>) {
        self.count += count;
        let mut seen = HashSet::new();
        self.actions.retain(|action| seen.insert(action.clone()));
        for cost in costs {
            if cost.lost().is_some() || !self.costs.contains(&cost) {
                self.costs.push(cost);
            }
        }
    }

    fn title(&self, rule: &str) -> String {
        let places = if self.count > 1 { format!(" ({} places)", self.count) } else { String::new() };
        let mut title = format!("Fix {rule}{places}: {}", self.actions.join(", "));
        for (kind, text) in [("loss", Cost::lost as fn(&Cost) -> Option<&str>), ("guess", Cost::guess)] {
            let all: Vec<&str> = self.costs.iter().filter_map(text).collect();
            let named = all[..all.len().min(MOST_COSTS)].join("; ");
            title.push_str(&if all.is_empty() { String::new() } else { format!(", with a {kind}: {named}") });
            if all.len() > MOST_COSTS {
                title.push_str(&format!("; and {} more", all.len() - MOST_COSTS));
            }
        }
        title
    }

    /// Whether a diagnostic is in a part that is fixed.
    fn lies_in(&self, document: &Document, diagnostic: &Diagnostic) -> bool {
        let start = document.text.byte(diagnostic.range.start);
        self.parts.iter().any(|part| part.contains(&start) || start == part.end && part.is_empty())
    }
}

/// Fixes the findings of a rule in each part of the text that has one of these diagnostics.
fn fix_parts(
    document: &Document,
    settings: &Settings,
    options: &Options,
    rule: &str,
    diagnostics: &[Diagnostic],
) -> Option<RuleFix> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for part in diagnostics.iter().map(|one| document.part_at(one.range.start)) {
        if parts.len() < MOST_PARTS && parts.last() != Some(&part) {
            parts.push(part);
        }
    }
    let fixed =
        parts.into_iter().filter_map(|part| fix_part(document, settings, options, rule, (part, None)));
    fixed.reduce(|mut all, next| {
        all.edits.extend(next.edits);
        all.parts.extend(next.parts);
        all.actions.extend(next.actions);
        all.add_up(next.count, next.costs);
        all
    })
}

/// Fixes the findings of a rule in a part of the text, or that at a place in it.
fn fix_part(
    document: &Document,
    settings: &Settings,
    options: &Options,
    rule: &str,
    (part, place): (Range<usize>, Option<FixPlace>),
) -> Option<RuleFix> {
    let bytes = document.bytes_of(&part);
    if settings.is_opened(&bytes) {
        return None;
    }
    let fixed = fix_rule(rule, &settings.name, &bytes, options, place)?;
    let edits = text_edits(document, &part, &bytes, &fixed.bytes);
    RuleFix::of(&fixed, edits, part, &document.text)
}

/// A text between backticks; `None` if it is long or empty.
fn quoted(text: &[u8]) -> Option<String> {
    let text = str::from_utf8(text).ok()?.trim();
    let is_short = !text.is_empty() && text.chars().count() <= LONGEST_QUOTE;
    is_short.then(|| format!("`{}`", shown(text).replace('`', "'")))
}

/// Fixes the findings of a rule in a text, or that at a place.
fn fix_rule<'b>(
    rule: &str,
    name: &str,
    bytes: &'b [u8],
    options: &Options,
    place: Option<FixPlace>,
) -> Option<Fixed<'b>> {
    // All rules look at it, as for the diagnostics: a rule alone would report what is another's.
    let how = FixOptions::new().accepted(true).only([rules::find(rule)?.id]).places(place);
    let mut tries =
        [how.clone(), how.unsafe_fixes(true)].into_iter().map(|how| fix(name, bytes, options, &how));
    tries.find(|fixed| !fixed.is_unchanged())
}

/// The edits that make one text of another, which stands in a part of the file.
fn text_edits(document: &Document, part: &Range<usize>, before: &[u8], after: &[u8]) -> Vec<TextEdit> {
    let edits = unified::edits(before, after).into_iter();
    edits
        .map(|(old, new)| TextEdit {
            range: document.text.between(part.start + old.start..part.start + old.end),
            new_text: String::from_utf8_lossy(&after[new]).into_owned(),
        })
        .collect()
}
