//! What people and machines see.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use toolcheck_core::target;
use toolcheck_lint::render::{self, Style};
use toolcheck_lint::{Options, Report, lint};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The report on a file of the corpus.
fn report(path: &str, target: Option<&str>) -> Report {
    let bytes = std::fs::read(root().join("fixtures").join(path)).unwrap();
    of_bytes(path, bytes, target)
}

fn of_bytes(path: &str, bytes: Vec<u8>, target: Option<&str>) -> Report {
    let target = target.map(|id| target::find(id).unwrap());
    let mut file = lint(path, &bytes, &Options { target, ..Options::default() });
    file.source = bytes;
    Report { files: vec![file] }
}

fn show(report: &Report, output: &str, width: usize) -> String {
    let mut text = Vec::new();
    (render::find(output).unwrap().render)(report, &Style { width, ..Style::default() }, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn one_sample_in_every_output() {
    let sample = report("seeds/coco-before.json", None);
    for output in render::ALL {
        insta::assert_snapshot!(format!("sample-{}", output.id), show(&sample, output.id, 80));
    }
}

#[test]
fn a_split_turn_labels_its_messages() {
    insta::assert_snapshot!(show(&report("seeds/litellm-before.json", Some("bedrock")), "full", 80));
}

#[test]
fn a_narrow_screen() {
    insta::assert_snapshot!(show(&report("seeds/coco-before.json", None), "full", 40));
}

#[test]
fn a_fault_of_the_text_shows_the_text() {
    let text = "{\"messages\": [\n  {\"role\": \"user\", \"content\": \"caf\u{e9} \\ud83d\"},\n  {\"role\": \"user\", \"content\": NaN}\n]}";
    insta::assert_snapshot!(show(&of_bytes("broken.json", text.as_bytes().to_vec(), None), "full", 80));
}

/// A request on one line of two megabytes, with a call that nothing answers in the middle.
fn one_long_line() -> Vec<u8> {
    let filler = "lorem ipsum \u{4e2d}\u{6587} dolor ".repeat(40_000);
    let message = format!("{{\"role\":\"user\",\"content\":\"{filler}\"}}");
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"search","input":{"q":"x"}}]}"#;
    format!("{{\"messages\":[{message},{call},{message}]}}").into_bytes()
}

#[test]
fn one_line_of_two_megabytes() {
    let bytes = one_long_line();
    assert!(bytes.len() > 2_000_000);
    let shown = show(&of_bytes("long.json", bytes, None), "full", 80);
    assert!(shown.len() < 3_000, "{} bytes", shown.len());
    insta::assert_snapshot!(shown);
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let cases = ["seeds/coco-before.json", "seeds/litellm-before.json", "seeds/roo-duplicate-result.json"];
    for case in cases {
        for width in [60, 80, 100] {
            let shown = show(&report(case, None), "full", width);
            // The summary is one sentence, which a terminal may wrap.
            let (findings, _) = shown.trim_end().rsplit_once('\n').unwrap();
            for line in findings.lines() {
                // An address of the file is never cut: a terminal makes it a link.
                if !line.contains(case) {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
    }
}

#[test]
fn what_a_terminal_would_obey_is_shown_instead() {
    let text = "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": [\
         {\"type\": \"tool_use\", \"id\": \"\\u001b[31mred\\u202e\", \"name\": \"\u{202e}evil\", \"input\": {}}]}, \
         {\"role\": \"user\", \"content\": \"b\"}]}";
    let report = of_bytes("\u{1b}[2Jname.json", text.as_bytes().to_vec(), None);
    assert!(!report.files[0].findings.is_empty());
    for output in render::ALL {
        let shown = show(&report, output.id, 80);
        let obeyed = |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
        // JSON keeps what stands in the file, and escapes what is a control character.
        let allowed = if output.id == "json" { shown.replace('\u{202e}', "") } else { shown.clone() };
        assert!(!allowed.chars().any(obeyed), "{}: {shown:?}", output.id);
    }
}

#[test]
fn no_message_quotes_a_value() {
    let planted = "hunter2-SECRET";
    let text = format!(
        "{{\"messages\": [{{\"role\": \"user\", \"content\": \"{planted}\"}}, {{\"role\": \"assistant\", \"content\": [\
         {{\"type\": \"text\", \"text\": \"\"}}, {{\"type\": \"thinking\", \"thinking\": \"{planted}\", \"signature\": \"\"}}, \
         {{\"type\": \"tool_use\", \"id\": \"a\", \"name\": \"f\", \"input\": {{\"{planted}\": \"{planted}\"}}}}]}}, \
         {{\"role\": \"user\", \"content\": [{{\"type\": \"tool_result\", \"tool_use_id\": \"b\", \"content\": \"{planted}\"}}]}}]}}"
    );
    let report = of_bytes("secret.json", text.into_bytes(), None);
    assert!(report.files[0].findings.len() >= 3);
    for output in ["json", "concise"] {
        assert!(!show(&report, output, 80).contains(planted), "{output}");
    }
}

#[test]
fn json_fits_its_schema() {
    let schema: Json =
        serde_json::from_slice(&std::fs::read(root().join("schemas/report.v1.schema.json")).unwrap())
            .unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let reports = [
        report("seeds/coco-before.json", None),
        report("seeds/coco-after.json", None),
        report("seeds/litellm-before.json", Some("bedrock")),
        of_bytes("empty.json", Vec::new(), None),
        of_bytes("other.json", b"{\"a\": 1}".to_vec(), None),
    ];
    for report in reports {
        let json: Json = serde_json::from_str(&show(&report, "json", 80)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{json:#}");
    }
    let mut wrong: Json =
        serde_json::from_str(&show(&report("seeds/coco-before.json", None), "json", 80)).unwrap();
    wrong["findings"][0]["line"] = 0.into();
    assert!(!validator.is_valid(&wrong), "the schema refuses what is wrong");
}

#[test]
fn the_table_equals_its_directory() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/render");
    let stems = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut stems: Vec<String> =
        stems.map(|path| path.file_stem().unwrap().to_string_lossy().replace('_', "-")).collect();
    stems.retain(|stem| stem != "mod");
    stems.sort();
    let ids: Vec<&str> = render::ALL.iter().map(|output| output.id).collect();
    assert_eq!(ids, stems);
}
