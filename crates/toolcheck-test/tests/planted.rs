//! Requests that APIs have accepted, with faults planted in them, and what `fix` makes of them. The requests are not part
//! of the repository; without them, the test only says so.

#![allow(clippy::disallowed_macros, reason = "a test prints to the terminal")]

use std::collections::BTreeMap;
use std::path::Path;

use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::{Level, formats, targets};
use toolcheck_json::{Document, Records};
use toolcheck_lint::{FileReport, FixOptions, Options, fix, lint};
use toolcheck_test::plant::Plant;

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

#[test]
fn accepted_requests_stay_as_they_are_and_planted_faults_are_mended() {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let Some(files) =
        above.map(|folder| folder.join("shared/data/recorded")).find_map(|path| path.read_dir().ok())
    else {
        eprintln!("skipped: there are no recorded requests");
        return;
    };
    // Each request gets each fault at one place. A debug build takes every fourth request.
    let step = if cfg!(debug_assertions) { 4 } else { 1 };
    let (safely, all) = (FixOptions::new(), FixOptions::new().unsafe_fixes(true));
    let mut rows: BTreeMap<(Plant, &'static str), Row> = BTreeMap::new();
    let mut accepted = 0;
    let mut left: Vec<String> = Vec::new();
    let mut files: Vec<_> = files.filter_map(Result::ok).map(|file| file.path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read(path).expect("it can be read");
        for record in Records::new(&text) {
            let document = Document::read(record.bytes);
            let Some(request) = document.root().get("request") else { continue };
            let options = options(&document.root().get_str("provider").unwrap_or_default(), &file);
            let body = request.raw();
            let fixed = fix("body", body, &options, &all);
            assert!(fixed.is_unchanged(), "{file}, record {}: {:?}", record.index, fixed.applied);
            accepted += 1;
            let format = fixed.before.format.and_then(formats::find);
            let Some(format) = format.filter(|_| errors(&fixed.before) == 0 && record.index % step == 0)
            else {
                continue;
            };
            for plant in Plant::ALL {
                let Some(broken) = plant.plant(body, format, record.index) else { continue };
                // What the API takes is not a fault.
                if errors(&lint("body", &broken, &options)) == 0 {
                    continue;
                }
                let row = rows.entry((plant, format.id)).or_default();
                row.planted += 1;
                row.safe += usize::from(errors(fix("body", &broken, &options, &safely).report()) == 0);
                let fixed = fix("body", &broken, &options, &all);
                row.all += usize::from(errors(fixed.report()) == 0);
                if errors(fixed.report()) > 0 {
                    let rules: Vec<_> = fixed.report().findings.iter().map(|found| found.rule).collect();
                    left.push(format!("{plant:?} in {file}, record {}: {rules:?}", record.index));
                }
            }
        }
    }
    println!("{accepted} accepted requests stay as they are");
    println!(
        "| fault | format | planted | clean after safe fixes | with --unsafe-fixes |\n| --- | --- | --- | --- | --- |"
    );
    for ((plant, format), row) in &rows {
        let share = |count: usize| format!("{count} ({} %)", count * 100 / row.planted);
        println!(
            "| {} | {format} | {} | {} | {} |",
            plant.as_str(),
            row.planted,
            share(row.safe),
            share(row.all)
        );
    }
    left.iter().take(60).for_each(|line| println!("{line}"));
    assert!(accepted > 2000, "{accepted}");
    assert!(left.is_empty(), "{} are left", left.len());
}
