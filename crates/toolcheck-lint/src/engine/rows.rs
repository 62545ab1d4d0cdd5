//! Rows of data sets that a target does not take as they are.

use toolcheck_core::ir::Place;
use toolcheck_core::targets::Verdict;
use toolcheck_json::Value;

use crate::finding::Draft;
use crate::options::Options;
use crate::repeated::ReportedFindings;
use crate::rule::answer;
use crate::rules::missing_field;

/// The finding for a row that is read, and that the named target refuses because it has other keys. All rows of a file usually
/// have the same, so that only the first is reported.
pub(super) fn of_another(
    row: Value<'_, '_>,
    options: &Options,
    reported: &mut ReportedFindings,
) -> Option<Draft> {
    let target = options.target.as_deref().filter(|target| !target.rows.is_empty())?;
    let has_all =
        |keys: &Vec<String>| keys.iter().all(|key| row.get(key).is_some_and(|value| !value.is_null()));
    if !row.is_object()
        || target.rows.iter().any(has_all)
        || !options.rules.iter().any(|rule| rule.id == missing_field::RULE.id)
    {
        return None;
    }
    let Verdict::Refused(refusal) = target.verdict(missing_field::RULE.id, Some(ROW), None, None) else {
        return None;
    };
    let key = target.rows[0].join("` and `");
    let mut draft = Draft::new(missing_field::RULE.id, Place::of(row), format!("this row has no `{key}`"));
    draft.target_level = refusal.level();
    draft.level = options.settings.levels.get(&missing_field::RULE.id).copied().unwrap_or(draft.target_level);
    let said = draft.say();
    said.target = Some(target.id.clone());
    said.provider_error = Some(answer(refusal, &[("field", key.clone())]));
    draft
        .caption("the first such row")
        .help(format!("each row of {} has `{key}`: convert the file", target.name));
    reported.is_first(&mut draft, ROW).then_some(draft)
}

const ROW: &str = "row";
