//! Requests that APIs accept, with faults planted in them, and what `fix` makes of them.
//!
//! The requests of the corpus are checked always. Those that were recorded from APIs are not part of the repository, so
//! the test that reads them is ignored. To run it, and see how many faults of each kind were fixed:
//!
//! ```sh
//! TOOLCHECK_RECORDED=path/to/recorded cargo test --package toolcheck-test -- --ignored --nocapture planted
//! ```
#![allow(clippy::disallowed_macros, reason = "a test prints to the terminal")]

use std::collections::BTreeMap;
use std::path::Path;

use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::{Level, formats, targets};
use toolcheck_json::{Document, Records};
use toolcheck_lint::{FileReport, FixOptions, Options, fix, lint};
use toolcheck_test::plant::Plant;

use crate::common::{cases, fixtures};

/// A part of the host that a request was sent to, and the target for it, for requests in OpenAI's format.
const HOSTS: [(&str, &str); 10] = [
    ("mistral", "mistral"),
    ("groq", "groq"),
    ("deepseek", "deepseek"),
    ("x.ai", "xai"),
    ("xai", "xai"),
    ("cerebras", "cerebras"),
    ("azure", "azure-openai"),
    ("11434", "ollama-openai"),
    ("ollama", "ollama-openai"),
    ("llamacpp", "llama-cpp"),
];

fn options(host: &str, file: &str) -> Options {
    let host = HOSTS.iter().find(|(part, _)| file.starts_with("openai-chat") && host.contains(part));
    let target = host.and_then(|(_, id)| targets::find(id));
    Options::new().target(target).kind(TranscriptKind::Request)
}

fn errors(report: &FileReport) -> usize {
    report.count(Level::Error)
}

/// How many requests have a fault, and how many are clean after safe fixes and after all.
#[derive(Default, Clone, Copy)]
struct Row {
    planted: usize,
    safe: usize,
    all: usize,
}

/// What was planted, and what is left after all fixes.
#[derive(Default)]
struct Tally {
    rows: BTreeMap<(Plant, &'static str), Row>,
    left: Vec<String>,
}

impl Tally {
    /// Gives a request without errors each fault at the place that `at` chooses, and fixes it.
    fn plant(&mut self, name: &str, body: &[u8], options: &Options, at: usize) {
        let before = lint("body", body, options);
        let Some(format) = before.format.and_then(formats::find).filter(|_| errors(&before) == 0) else {
            return;
        };
        let (safely, all) = (FixOptions::new(), FixOptions::new().unsafe_fixes(true));
        for plant in Plant::ALL {
            let Some(broken) = plant.plant(body, format, at) else { continue };
            // What the API takes is not a fault.
            if errors(&lint("body", &broken, options)) == 0 {
                continue;
            }
            let row = self.rows.entry((plant, format.id)).or_default();
            row.planted += 1;
            row.safe += usize::from(errors(fix("body", &broken, options, &safely).report()) == 0);
            let fixed = fix("body", &broken, options, &all);
            row.all += usize::from(errors(fixed.report()) == 0);
            if errors(fixed.report()) > 0 {
                let rules: Vec<_> = fixed.report().findings.iter().map(|found| found.rule).collect();
                self.left.push(format!("{plant:?} in {name}: {rules:?}"));
            }
        }
    }

    fn print(&self) {
        println!(
            "| fault | format | planted | clean after safe fixes | with --unsafe-fixes |\n| --- | --- | --- | --- | --- |"
        );
        for ((plant, format), row) in &self.rows {
            let share = |count: usize| format!("{count} ({} %)", count * 100 / row.planted);
            println!(
                "| {} | {format} | {} | {} | {} |",
                plant.as_str(),
                row.planted,
                share(row.safe),
                share(row.all)
            );
        }
        self.left.iter().take(60).for_each(|line| println!("{line}"));
    }

    /// How often a fault was planted, in all formats.
    fn count(&self, plant: Plant) -> usize {
        self.rows.iter().filter(|((other, _), _)| *other == plant).map(|(_, row)| row.planted).sum()
    }
}

/// The conversations that the corpus has in every format, with each fault at each of two places. Those in OpenAI's format
/// are also meant for each of the targets that read it, because OpenAI accepts some of the faults.
#[test]
fn faults_planted_in_ordinary_conversations_are_fixed() {
    let mut tally = Tally::default();
    for (path, options) in cases() {
        let Ok(name) = path.strip_prefix(fixtures().join("same")) else { continue };
        let body = std::fs::read(&path).unwrap();
        let options = options.kind(TranscriptKind::Request);
        assert!(fix("body", &body, &options, &FixOptions::new().unsafe_fixes(true)).is_unchanged());
        let is_chat = name.ends_with("openai-chat.json");
        let targets = HOSTS.iter().filter(|_| is_chat).map(|(_, id)| targets::find(id));
        let all =
            std::iter::once(options.clone()).chain(targets.map(|target| options.clone().target(target)));
        for options in all {
            for at in 0..2 {
                tally.plant(&name.to_string_lossy(), &body, &options, at);
            }
        }
    }
    tally.print();
    for plant in Plant::ALL {
        // An API that refuses it has no conversation here that shows it.
        let is_accepted = plant == Plant::ModelFirst;
        assert!(is_accepted || tally.count(plant) >= 4, "{plant:?}: {}", tally.count(plant));
    }
    assert!(tally.left.is_empty(), "{} are left:\n{}", tally.left.len(), tally.left.join("\n"));
}

#[test]
#[ignore = "needs recorded requests, whose folder TOOLCHECK_RECORDED names"]
fn accepted_requests_stay_as_they_are_and_planted_faults_are_fixed() {
    let folder = std::env::var_os("TOOLCHECK_RECORDED").expect("TOOLCHECK_RECORDED names the folder");
    let all = FixOptions::new().unsafe_fixes(true);
    // Each request gets each fault at one place. A debug build takes every fourth request.
    let step = if cfg!(debug_assertions) { 4 } else { 1 };
    let mut tally = Tally::default();
    let mut accepted = 0;
    let files = Path::new(&folder).read_dir().unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read(path).unwrap();
        for record in Records::new(&text) {
            let document = Document::read(record.bytes);
            let Some(request) = document.root().get("request") else { continue };
            let options = options(&document.root().get_str("provider").unwrap_or_default(), &file);
            let name = format!("{file}, record {}", record.index);
            let fixed = fix("body", request.raw(), &options, &all);
            assert!(fixed.is_unchanged(), "{name}: {:?}", fixed.applied);
            accepted += 1;
            if record.index % step == 0 {
                tally.plant(&name, request.raw(), &options, record.index);
            }
        }
    }
    println!("{accepted} accepted requests stay as they are");
    tally.print();
    assert!(accepted > 2000, "{accepted}");
    assert!(tally.left.is_empty(), "{} are left", tally.left.len());
}
