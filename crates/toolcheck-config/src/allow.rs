//! Findings that the user allows, each with a reason. They are not reported.

use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use toolcheck_json::Position;

use crate::{Error, PathGlobs};
use toolcheck_lint::report::FileReport;
use toolcheck_lint::settings::ToolNames;
use toolcheck_lint::{Finding, FixOptions, Fixed, Options, Rule, fix, lint};

/// Findings that the user allows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Allow {
    /// The rule.
    pub rule: &'static Rule,
    /// The files; all if not set.
    pub paths: Option<PathGlobs>,
    /// The value, or one that contains it; any if not set.
    pub pointer: Option<PointerGlob>,
    /// The tools; if not set, any call, and also findings that are not about a call.
    pub tools: Option<ToolNames>,
    /// The reason.
    pub reason: String,
    /// The configuration file, as messages show it.
    pub config: String,
    /// The position in that file.
    pub position: Position,
    /// The folder that the configuration applies to.
    pub folder: PathBuf,
}

/// A star stays within one step of a pointer.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// A pattern for JSON Pointers: `*` matches within a segment, `**` matches any number of segments.
#[derive(Debug, Clone)]
pub struct PointerGlob(Pattern);

impl PointerGlob {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// The text does not start with `/`, or is not a valid glob.
    pub fn new(text: &str) -> Result<Self, Error> {
        if !text.starts_with('/') {
            return Err(Error::new(format!("`{text}` is not a JSON Pointer, which must start with `/`")));
        }
        let pattern = Pattern::new(text);
        pattern.map(Self).map_err(|error| Error::new(format!("`{text}` is not a valid glob: {error}")))
    }

    /// Whether the pattern matches this value, or one that contains it.
    pub fn covers(&self, pointer: &str) -> bool {
        let around = pointer.match_indices('/').map(|(at, _)| &pointer[..at]);
        around.chain([pointer]).any(|pointer| self.0.matches_with(pointer, OPTIONS))
    }
}

impl Allow {
    /// Whether the entry applies to a file.
    pub fn is_for(&self, path: &Path) -> bool {
        self.paths.as_ref().is_none_or(|paths| paths.covers(path))
    }

    /// Whether a run that searched these folders has seen all files that the entry applies to. An entry for a single
    /// file applies to that file only, any other to all files below the configuration.
    pub fn is_covered(&self, searched: &[PathBuf]) -> bool {
        self.paths.as_ref().is_some_and(PathGlobs::is_literal) || self.is_below(searched)
    }

    /// Whether a run that searched these folders has seen all files below the configuration.
    pub fn is_below(&self, searched: &[PathBuf]) -> bool {
        searched.iter().any(|searched| self.folder.starts_with(searched))
    }

    /// Whether the entry allows a finding in a file that it applies to.
    pub fn allows(&self, finding: &Finding) -> bool {
        self.rule.id == finding.rule
            && self.pointer.as_ref().is_none_or(|pointer| covers_all(pointer, finding))
            && self
                .tools
                .as_ref()
                .is_none_or(|tools| finding.tool_name.as_deref().is_some_and(|tool| tools.contains(tool)))
    }
}

/// Whether a pattern covers all places of a finding: one about the first message allows nothing in the others.
fn covers_all(pattern: &PointerGlob, finding: &Finding) -> bool {
    let pointer = &finding.spot.pointer;
    let labels = finding.labels.iter().take(finding.repeats);
    if finding.repeats > finding.labels.len() {
        // The others are in further elements of the same lists.
        let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let names = pointer.split('/').map(|name| if is_number(name) { FURTHER } else { name });
        if !pattern.covers(&names.collect::<Vec<_>>().join("/")) {
            return false;
        }
    }
    pattern.covers(pointer) && labels.into_iter().all(|label| pattern.covers(&label.spot.pointer))
}

/// The number of an element that no pattern names.
const FURTHER: &str = "99999999999";

/// Removes the allowed findings from a report, and returns for each entry whether it allowed any.
pub fn apply(allows: &[Allow], path: &Path, file: &mut FileReport) -> Vec<bool> {
    let mut used = vec![false; allows.len()];
    if file.findings.is_empty() {
        return used;
    }
    let here: Vec<(usize, &Allow)> =
        allows.iter().enumerate().filter(|(_, allow)| allow.is_for(path)).collect();
    if here.is_empty() {
        return used;
    }
    let before = file.findings.len();
    file.findings.retain(|finding| {
        // Of two identical entries, both count as used.
        let mut is_allowed = false;
        for (number, _) in here.iter().filter(|(_, allow)| allow.allows(finding)) {
            used[*number] = true;
            is_allowed = true;
        }
        !is_allowed
    });
    file.allowed += before - file.findings.len();
    used
}

/// Removes the findings that entries for a file allow from its report.
pub fn take_out(allows: &[Allow], file: &mut FileReport) {
    let before = file.findings.len();
    file.findings.retain(|finding| !allows.iter().any(|allow| allow.allows(finding)));
    file.allowed += before - file.findings.len();
}

/// Fixes a file but for what the entries for it allow, of which the reports say nothing.
pub fn fix_others<'b>(
    allows: &[Allow],
    (name, bytes): (&str, &'b [u8]),
    options: &Options,
    how: &FixOptions,
) -> Fixed<'b> {
    if allows.is_empty() {
        return fix(name, bytes, options, how);
    }
    let before = lint(name, bytes, &options.clone().max_findings(usize::MAX));
    let is_allowed = |finding: &&Finding| allows.iter().any(|allow| allow.allows(finding));
    let mut fixed =
        fix(name, bytes, options, &how.clone().without(before.findings.iter().filter(is_allowed)));
    std::iter::once(&mut fixed.before).chain(&mut fixed.after).for_each(|report| take_out(allows, report));
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn an_entry_for_one_place_allows_no_other() {
        let left = |count: usize, entry: &str| {
            let messages: Vec<_> =
                (0..count).map(|_| r#"{"role":"user","content":"hi","foo":1}"#.to_owned()).collect();
            let text =
                format!(r#"{{"model":"m","max_tokens":9,"system":"s","messages":[{}]}}"#, messages.join(","));
            let config = format!("[[allow]]\nrule = \"unknown-field\"\nreason = \"seen\"\n{entry}\n");
            let config = Config::parse(&config).expect("the configuration is valid");
            let mut file = lint("a.json", text.as_bytes(), &Options::default());
            assert_eq!(file.findings.len(), 1);
            let _ = apply(&config.allows, Path::new("a.json"), &mut file);
            file.findings.len()
        };
        for count in [2, 5, 6, 1_001] {
            assert_eq!(left(count, "pointer = \"/messages/0\""), 1, "{count}");
            assert_eq!(left(count, "pointer = \"/messages/*/foo\""), 0, "{count}");
            assert_eq!(left(count, "pointer = \"/messages\""), 0, "{count}");
            assert_eq!(left(count, ""), 0, "{count}");
        }
        assert_eq!(left(1, "pointer = \"/messages/0\""), 0);
    }
}
