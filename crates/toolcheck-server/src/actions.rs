//! Fixes, as code actions on findings.

use std::collections::HashMap;
use std::ops::Range;

use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, Diagnostic, NumberOrString, TextEdit,
    WorkspaceEdit,
};
use toolcheck_config::allow::fix_others;
use toolcheck_core::text::Counted;
use toolcheck_lint::fix::{Cost, FixPlace, Fixed};
use toolcheck_lint::{FixOptions, Options, fix, rules};
use toolcheck_report::unified;

use crate::diagnostics::SOURCE;
use crate::document::Document;
use crate::settings::Settings;

/// The kind of the action that fixes all that can be fixed without a loss.
pub(crate) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.toolcheck");

#[expect(clippy::mutable_key_type, reason = "the protocol's own map")]
pub(crate) fn actions(
    document: &mut Document,
    range: lsp_types::Range,
    context: &CodeActionContext,
) -> Vec<CodeActionOrCommand> {
    let wants = |kind: &CodeActionKind| {
        context.only.as_ref().is_none_or(|only| only.iter().any(|wanted| contains(wanted, kind)))
    };
    let Some(settings) = document.settings().cloned() else { return Vec::new() };
    let mut actions = Vec::new();
    let mut add = |title: String, kind, edits: Vec<TextEdit>, diagnostics: Vec<Diagnostic>, is_safe| {
        let changes = HashMap::from([(document.uri.clone(), edits)]);
        actions.push(CodeActionOrCommand::CodeAction(CodeAction {
            title,
            kind: Some(kind),
            diagnostics: (!diagnostics.is_empty()).then_some(diagnostics),
            edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
            is_preferred: Some(is_safe),
            ..CodeAction::default()
        }));
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
                let start = document.text.byte(diagnostics[0].range.start);
                let here = start.checked_sub(part.start).map(FixPlace::Byte);
                fix_part(document, &settings, &options, rule, (part, here))
            });
            for fixed in one.into_iter().chain(all) {
                let resolved =
                    diagnostics.iter().filter(|one| fixed.lies_in(document, one)).cloned().collect();
                add(fixed.title(rule), CodeActionKind::QUICKFIX, fixed.edits, resolved, fixed.cost.is_none());
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
    /// What is done to the first.
    action: &'static str,
    /// What is lost or guessed, if anything is.
    cost: Option<Cost>,
}

impl RuleFix {
    fn of(fixed: &Fixed<'_>, edits: Vec<TextEdit>, part: Range<usize>) -> Option<Self> {
        let action = fixed.applied.first()?.action.imperative();
        let cost = fixed.applied.iter().find_map(|done| done.cost.clone());
        Some(Self { edits, parts: vec![part], count: fixed.applied.len(), action, cost })
    }

    fn title(&self, rule: &str) -> String {
        let what = match self.count {
            1 => format!("Fix {rule}: {}", self.action),
            many => format!("Fix {rule} ({many} places)"),
        };
        match &self.cost {
            Some(Cost::Loss(lost)) => format!("{what}, with a loss: {lost}"),
            Some(Cost::Guess(guess)) => format!("{what}, with a guess: {guess}"),
            None => what,
        }
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
        all.count += next.count;
        all.cost = all.cost.or(next.cost);
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
    RuleFix::of(&fixed, edits, part)
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
