//! Requests of the corpus, with faults planted in them, and what `fix` makes of them.

use std::collections::BTreeMap;

use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::{Level, formats, targets};
use toolcheck_lint::{FileReport, FixOptions, Options, fix, lint};

use crate::common::{Case, cases};
use crate::plant::Plant;

/// The targets that read requests in the format of OpenAI.
const TARGETS: [&str; 8] =
    ["mistral", "groq", "deepseek", "xai", "cerebras", "azure-openai", "ollama-openai", "llama-cpp"];

fn errors(report: &FileReport) -> usize {
    report.count(Level::Error)
}

/// What was planted, and what is left after all fixes.
#[derive(Default)]
struct Tally {
    planted: BTreeMap<Plant, usize>,
    left: Vec<String>,
}

impl Tally {
    /// Gives a request without errors each fault at the place that `at` chooses, and fixes it.
    fn plant(&mut self, name: &str, body: &[u8], options: &Options, at: usize) {
        let before = lint("body", body, options);
        let Some(format) = before.format.and_then(formats::find).filter(|_| errors(&before) == 0) else {
            return;
        };
        let all = FixOptions::new().unsafe_fixes(true);
        for plant in Plant::ALL {
            let Some(broken) = plant.plant(body, format, at) else { continue };
            // What the API takes is not a fault.
            if errors(&lint("body", &broken, options)) == 0 {
                continue;
            }
            *self.planted.entry(plant).or_default() += 1;
            let fixed = fix("body", &broken, options, &all);
            if errors(fixed.report()) > 0 {
                let rules: Vec<_> = fixed.report().findings.iter().map(|found| found.rule).collect();
                self.left.push(format!("{plant:?} in {name}: {rules:?}"));
            }
        }
    }
}

/// The conversations that the corpus has in every format, with each fault at each of two places. Those in OpenAI's format
/// are also meant for each of the targets that read it, because OpenAI accepts some of the faults.
#[test]
fn faults_planted_in_ordinary_conversations_are_fixed() {
    let mut tally = Tally::default();
    for Case { name, bytes: body, options } in cases().filter(|case| case.name.starts_with("same/")) {
        let options = options.kind(TranscriptKind::Request);
        assert!(fix("body", &body, &options, &FixOptions::new().unsafe_fixes(true)).is_unchanged());
        let is_chat = name.ends_with("openai-chat.json");
        let targets = TARGETS.iter().filter(|_| is_chat).map(|id| Some(targets::find(id).unwrap()));
        let all =
            std::iter::once(options.clone()).chain(targets.map(|target| options.clone().target(target)));
        for options in all {
            for at in 0..2 {
                tally.plant(&name, &body, &options, at);
            }
        }
    }
    for plant in Plant::ALL {
        // An API that refuses it has no conversation here that shows it.
        let is_accepted = plant == Plant::ModelFirst;
        assert!(is_accepted || tally.planted[&plant] >= 4, "{plant:?}: {}", tally.planted[&plant]);
    }
    assert!(tally.left.is_empty(), "{} are left:\n{}", tally.left.len(), tally.left.join("\n"));
}
