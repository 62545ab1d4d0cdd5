use std::io;

use toolcheck_core::text::shown;
use toolcheck_report::Style;
use toolcheck_report::junit_xml::{self, Case, Counts, Writer};

use super::{Output, kind, lines, path_shown};
use crate::corpus::{CaseResult, CorpusResults, Outcome};

pub(super) static OUTPUT: Output =
    Output { id: "junit", summary: "JUnit XML: a test suite per folder, a test case per case", write };

fn write(run: &CorpusResults, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut xml = Writer::begin("toolcheck", counts(&run.results), out)?;
    // The cases are sorted by path, so those of a subfolder may come between those of its folder.
    let mut folders: Vec<&str> = run.results.iter().map(folder).collect();
    folders.sort_unstable();
    folders.dedup();
    let mut results: Vec<&CaseResult> = run.results.iter().collect();
    results.sort_by_key(|result| folder(result));
    let mut rest = &results[..];
    for name in folders {
        let (own, others) = rest.split_at(rest.partition_point(|result| folder(result) <= name));
        rest = others;
        let class = if name.is_empty() { "corpus" } else { name };
        let class = shown(class);
        xml.begin_suite(&class, counts(own.iter().copied()))?;
        for result in own {
            case(result, &class, &mut xml)?;
        }
        xml.end_suite()?;
    }
    xml.end()
}

fn folder(result: &CaseResult) -> &str {
    result.name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn counts<'r>(results: impl IntoIterator<Item = &'r CaseResult>) -> Counts {
    results.into_iter().fold(Counts::default(), |counts, result| Counts {
        tests: counts.tests + 1,
        failures: counts.failures + usize::from(matches!(result.outcome, Outcome::Failed(_))),
        errors: counts.errors + usize::from(matches!(result.outcome, Outcome::Unreadable(_))),
        skipped: 0,
    })
}

fn case(result: &CaseResult, class: &str, xml: &mut Writer<'_>) -> io::Result<()> {
    let (message, text);
    let outcome = match &result.outcome {
        Outcome::Passed | Outcome::Blessed(_) => junit_xml::Outcome::Passed,
        Outcome::Unreadable(why) => junit_xml::Outcome::NotRun { message: why },
        Outcome::Failed(failure) => {
            let lines = lines(result, failure);
            message = lines.first().cloned().unwrap_or_default();
            text = lines.join("\n");
            junit_xml::Outcome::Failed { kind: kind(failure), message: &message, text: &text }
        }
    };
    let name = result.name.rsplit('/').next().unwrap_or_default();
    xml.case(&Case { name: &shown(name), class, file: Some(&path_shown(&result.path)), line: None, outcome })
}
