//! A project as a library, as a server or an editor would use it.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use std::fs;
use std::path::{Path, PathBuf};

use toolcheck_project::{
    BaselineOptions, BaselineUpdate, FileOptions, Input, Limits, LintOptions, LintRun, Project,
    ProjectOptions, Text,
};

const UNANSWERED: &str = r#"{"messages": [{"role": "user", "content": "a"},
 {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]},
 {"role": "user", "content": "b"}]}"#;

fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("project").join(name);
    let _ = fs::remove_dir_all(&folder);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn options(folder: &Path) -> ProjectOptions {
    let files = FileOptions { paths: vec![folder.to_owned()], ..FileOptions::default() };
    ProjectOptions { files, ..ProjectOptions::default() }
}

fn rules(run: &LintRun) -> Vec<&'static str> {
    run.report.files.iter().flat_map(|file| &file.findings).map(|finding| finding.rule.as_str()).collect()
}

#[test]
fn a_file_that_is_too_large_to_be_replaced_is_not_fixable() {
    let folder = folder("large", &[("a.json", UNANSWERED)]);
    let input = Input::file(&folder.join("a.json"));
    assert_eq!(input.read_to_fix().unwrap().1, None);
    fs::File::options().write(true).open(folder.join("a.json")).unwrap().set_len((64 << 20) + 1).unwrap();
    let why = input.read_to_fix().unwrap().1;
    assert!(
        why.is_some_and(|why| why.contains("more than 64 MiB") && why.contains("`toolcheck fix -`")),
        "{why:?}"
    );
}

#[test]
fn a_baseline_is_written_only_if_requested() {
    let folder = folder("baseline", &[("logs/a.json", UNANSWERED)]);
    let path = folder.join("baseline.json");
    let with = |update| {
        let baseline = Some(BaselineOptions { path: path.clone(), update });
        Project::open(ProjectOptions { baseline, ..options(&folder.join("logs")) })
    };
    let error = with(BaselineUpdate::Nothing).unwrap_err().to_string();
    assert!(error.contains("does not exist"), "{error}");
    let mut project = with(BaselineUpdate::Write).unwrap();
    assert_eq!(rules(&project.lint(LintOptions::default(), &|_| {})), [] as [&str; 0]);
    assert!(!path.exists());
    let change = project.save_baseline().unwrap().unwrap();
    assert_eq!((change.len, change.removed), (1, None));

    fs::remove_file(folder.join("logs/a.json")).unwrap();
    fs::write(folder.join("logs/b.json"), UNANSWERED).unwrap();
    let mut project = with(BaselineUpdate::Nothing).unwrap();
    let run = project.lint(LintOptions::default(), &|_| {});
    assert_eq!(rules(&run), ["unanswered-tool-call"]);
    assert_eq!(run.stale_baseline.len(), 1);
    assert!(run.stale_baseline[0].to_string().ends_with("lists logs/a.json, which no longer exists"));
    assert_eq!(project.save_baseline(), Ok(None));
    let mut project = with(BaselineUpdate::Prune).unwrap();
    let _ = project.lint(LintOptions::default(), &|_| {});
    assert_eq!(project.save_baseline().unwrap().unwrap().removed, Some(1));
}

/// What looks like a file and has nothing to read yet, such as `/proc/kmsg`.
struct Empty;

impl std::io::Read for Empty {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::WouldBlock.into())
    }
}

#[test]
fn what_would_have_to_be_waited_for_is_an_error() {
    let error = Text::new(Empty, Limits::default(), &|_| {}).err().unwrap();
    assert_eq!(error.to_string(), "it has nothing to read yet");
}
