//! What is lost of the definitions of tools.

use toolcheck_json::Value;

use crate::convert::InputPart;
use crate::findings::{Findings, Kind, Part};

pub(crate) fn examine(findings: &mut Findings<'_>) {
    let evidence = findings.evidence;
    let Some(tools) = evidence.input.tools else { return };
    let each: Vec<Value<'_, '_>> = tools.children().collect();
    let leaves: Vec<_> = each.iter().map(|tool| evidence.leaves(InputPart::Tools, *tool)).collect();
    let is_read = |at: usize| leaves[at].iter().any(|leaf| leaf.is_read);
    let numbers = |at: usize| leaves[at].iter().map(|leaf| leaf.number).collect::<Vec<_>>();
    if !each.is_empty() && (0..each.len()).all(|at| !is_read(at)) {
        let mut lost = findings.observation(Kind::Loses, Part::Tool, (InputPart::Tools, tools));
        if !evidence.template.source(true).contains("tools") {
            lost.note = "the template does not render tools".to_owned();
        }
        let all: Vec<u32> = (0..each.len()).flat_map(numbers).collect();
        findings.suspect(lost, &all);
        return;
    }
    for (at, tool) in each.iter().enumerate() {
        if !is_read(at) {
            let lost = findings.observation(Kind::Loses, Part::Tool, (InputPart::Tools, *tool));
            findings.suspect(lost, &numbers(at));
            continue;
        }
        let lost: Vec<u32> =
            leaves[at].iter().filter(|leaf| !leaf.is_read && leaf.counts).map(|leaf| leaf.number).collect();
        let is_told = |number: &&u32| {
            let source = &evidence.traced.sources[**number as usize];
            let value = tools.document().value(source.node);
            source.text.is_some()
                && value.key().is_some_and(|key| key.eq_str("description") || key.eq_str("name"))
        };
        let told: Vec<u32> = lost.iter().filter(is_told).copied().collect();
        let Some(first) = told.first() else { continue };
        let value = tools.document().value(evidence.traced.sources[*first as usize].node);
        let mut part = findings.observation(Kind::Loses, Part::Tool, (InputPart::Tools, value));
        part.note = match told.len() {
            1 => "a part of the tool is left out".to_owned(),
            count => format!("{count} texts of the tool are left out; this is the first"),
        };
        findings.suspect(part, &told);
    }
}
