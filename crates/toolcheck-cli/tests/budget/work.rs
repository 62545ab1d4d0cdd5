//! Runs what a shape is made for, step by step.

use std::fs;
use std::path::{Path, PathBuf};

use toolcheck_config::Overrides;
use toolcheck_core::diff;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::recognise::recognise;
use toolcheck_lint::{Options, rules};
use toolcheck_project::{
    BaselineOptions, BaselineUpdate, ConfigOptions, FileOptions, LintOptions, Project, ProjectOptions,
    find_target,
};
use toolcheck_report::diff::{Compare, Compared};
use toolcheck_report::{Style, View, outline, outputs, show};
use toolcheck_test::corpus::{self, Bless, Corpus};

use crate::measure::{Cost, Start};
use crate::shapes::{Run, Shape};

/// The number of findings that the program prints if it is not told otherwise.
const MAX_FINDINGS: usize = 10_000;

pub(crate) struct Costs {
    pub(crate) size: usize,
    pub(crate) steps: Vec<(String, Cost)>,
}

/// Runs a shape with about this many bytes in a folder.
pub(crate) fn costs(shape: &Shape, size: usize, folder: &Path) -> Costs {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    let mut read = 0;
    for file in (shape.make)(size) {
        let path = folder.join(&file.name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.bytes).unwrap();
        read += file.read;
    }
    // The path of the folder would be a part of what is counted. No other test looks at the current directory.
    std::env::set_current_dir(folder).unwrap();
    let steps = match shape.run {
        Run::Show => show_steps(),
        Run::Explain => explain_steps(),
        Run::Test => test_steps(),
        Run::Diff => diff_steps(),
        run => on_one_thread(|| lint_steps(run)),
    };
    Costs { size: read, steps }
}

/// Threads would hold more at once, and in another order each time.
fn on_one_thread<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(run)
}

fn lint_steps(run: Run) -> Vec<(String, Cost)> {
    if run != Run::WriteBaseline {
        return lint(run, "lint", baseline("baseline.json", BaselineUpdate::Nothing));
    }
    let mut steps = lint(run, "lint", baseline("written.json", BaselineUpdate::Write));
    steps.extend(lint(run, "lint with the baseline", baseline("written.json", BaselineUpdate::Nothing)));
    steps
}

fn lint(run: Run, name: &str, baseline: Option<BaselineOptions>) -> Vec<(String, Cost)> {
    let options = ProjectOptions { baseline, ..options(run) };
    let start = Start::now();
    let (result, linted) = start.count(|_| {
        let mut project = Project::open(options).ok()?;
        let run = project.lint(
            LintOptions { keep_source: true, mark_fixes: true, max_findings: MAX_FINDINGS, summary: None },
            &|_| {},
        );
        project.save_baseline().unwrap();
        // What the program prints beside the report.
        let errors: usize =
            run.errors.iter().chain(&run.settings_errors).map(|error| error.to_string().len()).sum();
        let stale: usize = run.stale_baseline.iter().map(|entries| entries.to_string().len()).sum();
        let unused: usize = run.unused_allows.iter().map(|allow| allow.to_string().len()).sum();
        Some((run, errors + stale + unused))
    });
    let Some((run, told)) = result else { return vec![(name.to_owned(), linted)] };
    let mut steps = vec![(name.to_owned(), Cost { written: told, ..linted })];
    for output in outputs::ALL {
        let (written, cost) = start.count(|sink| (output.write)(&run.report, &Style::default(), sink));
        written.unwrap();
        steps.push((output.id.to_owned(), cost));
    }
    steps
}

fn options(run: Run) -> ProjectOptions {
    let list = existing("list.txt");
    let mut overrides = Overrides::default();
    overrides.read_as.kind = (run == Run::Dataset).then_some(TranscriptKind::Dataset);
    overrides.read_as.tools = existing("tools.json");
    overrides.read_as.target = existing("target.toml").map(|_| find_target("target.toml").unwrap());
    overrides.selection.extend_select = if run == Run::AllRules { rules::ALL.to_vec() } else { Vec::new() };
    let paths = if list.is_some() { Vec::new() } else { vec![PathBuf::from(".")] };
    ProjectOptions {
        files: FileOptions { paths, files_from: list, ..FileOptions::default() },
        config: existing("toolcheck.toml").map_or(ConfigOptions::Isolated, |_| ConfigOptions::Closest),
        overrides,
        own_files: ["tools.json"].map(PathBuf::from).to_vec(),
        ..ProjectOptions::default()
    }
}

/// The file with this name, if the shape has it.
fn existing(name: &str) -> Option<PathBuf> {
    Some(PathBuf::from(name)).filter(|path| path.exists())
}

fn baseline(name: &str, update: BaselineUpdate) -> Option<BaselineOptions> {
    let path = if update == BaselineUpdate::Write { Some(name.into()) } else { existing(name) };
    path.map(|path| BaselineOptions { path, update })
}

fn show_steps() -> Vec<(String, Cost)> {
    let bytes = fs::read("input.json").unwrap();
    let start = Start::now();
    let view = View::new().shows_all(true).shows_text(true);
    let (shown, cost) = start.count(|_| outline("input.json", &bytes, &Options::default(), &view));
    let mut steps = vec![("outline".to_owned(), cost)];
    for output in show::outputs::ALL {
        let (written, cost) = start.count(|sink| (output.write)(&shown, &Style::default(), sink));
        written.unwrap();
        steps.push((output.id.to_owned(), cost));
    }
    steps
}

fn explain_steps() -> Vec<(String, Cost)> {
    let text = fs::read_to_string("error.txt").unwrap();
    let (_, cost) = Start::now().count(|_| recognise(&text));
    vec![("recognise".to_owned(), cost)]
}

fn diff_steps() -> Vec<(String, Cost)> {
    let texts = ["before.json", "after.json"].map(|name| fs::read(name).unwrap());
    let start = Start::now();
    let (found, cost) = start.count(|_| {
        let files = [&texts[0], &texts[1]].map(|text| diff::files::File::read(text, None).unwrap());
        (diff::files::compare(&files[0], &files[1], None), files.map(|file| file.format))
    });
    let (report, formats) = found;
    let mut steps = vec![("compare".to_owned(), cost)];
    let side =
        |number: usize| Compare { name: "input.json", format: formats[number], text: Some(&texts[number]) };
    let compared = Compared { before: side(0), after: side(1), report: &report, allowed: 0 };
    for output in toolcheck_report::diff::ALL {
        let (written, cost) = start.count(|sink| (output.write)(&compared, &Style::default(), sink));
        written.unwrap();
        steps.push((output.id.to_owned(), cost));
    }
    steps
}

fn test_steps() -> Vec<(String, Cost)> {
    let start = Start::now();
    let (run, cost) = start.count(|_| {
        let corpus = Corpus::open(Path::new(".")).unwrap();
        let (cases, _) = corpus.select(&[]);
        corpus.run(&cases, Bless::Nothing)
    });
    let mut steps = vec![("test".to_owned(), cost)];
    for output in corpus::outputs::ALL {
        let (written, cost) = start.count(|sink| (output.write)(&run, &Style::default(), sink));
        written.unwrap();
        steps.push((output.id.to_owned(), cost));
    }
    steps
}
