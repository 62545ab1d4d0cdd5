//! `toolcheck diff` as users run it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::common::{self, folder, root, run, run_with_input, seen, seen_in, toolcheck_in};

const BEFORE: &str = "fixtures/seeds/roo-duplicate-result.json";
const AFTER: &str = "fixtures/seeds/roo-fixed.json";

fn status(arguments: &[&str]) -> i32 {
    run(&[&["diff"], arguments].concat()).status.code().unwrap()
}

#[test]
fn each_output() {
    insta::assert_snapshot!("full", seen(&run(&["diff", BEFORE, AFTER])));
    insta::assert_snapshot!("help", seen(&run(&["diff", "--help"])));
    for output in ["concise", "html", "json", "markdown", "picture", "github"] {
        let arguments = ["diff", BEFORE, AFTER, "--output-format", output];
        insta::assert_snapshot!(output, seen(&run(&arguments)));
    }
}

#[test]
fn values_are_shown_only_if_asked() {
    let secret = "s3cret-s3cret";
    let folder = folder("diff-values");
    let request = |result: &str| {
        let mut body: Json = serde_json::from_slice(&fs::read(root().join(AFTER)).unwrap()).unwrap();
        let results = body["messages"][2]["content"].as_array_mut().unwrap();
        results[0]["content"] = json!(result);
        body["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": result}));
        body.to_string()
    };
    fs::write(folder.join("a.json"), request(secret)).unwrap();
    fs::write(folder.join("b.json"), request("other")).unwrap();
    for output in ["full", "concise", "html", "json", "markdown", "picture", "github"] {
        let arguments = ["diff", "a.json", "b.json", "--output-format", output];
        let text = seen_in(&folder, &arguments);
        assert!(text.contains("result-changed") && !text.contains(secret), "{output}: {text}");
        if ["full", "json", "markdown"].contains(&output) {
            let text = seen_in(&folder, &[&arguments[..], &["--show-values"]].concat());
            assert!(text.contains(secret), "{output}: {text}");
        }
    }
}

#[test]
fn the_exit_status_depends_on_the_level() {
    assert_eq!(status(&[BEFORE, AFTER]), status(&[BEFORE, AFTER, "--fail-on", "form"]));
    assert_eq!(status(&[BEFORE, BEFORE, "--fail-on", "form"]), 0);
    let coco = ["fixtures/seeds/coco-before.json", "fixtures/seeds/coco-after.json"];
    assert_eq!(status(&coco), 0);
    assert_eq!(status(&[coco[0], coco[1], "--fail-on", "change"]), 1);
    assert_eq!(status(&[coco[1], coco[0]]), 1);
    assert_eq!(status(&[coco[1], coco[0], "--allow", "result-lost"]), 0);
    assert_eq!(status(&[coco[0], coco[1], "--fail-on", "change", "--allow", "result-lost,result-added"]), 0);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    insta::assert_snapshot!("mistyped-kind", seen(&run(&["diff", BEFORE, AFTER, "--allow", "result-los"])));
    insta::assert_snapshot!("missing", seen(&run(&["diff", BEFORE, "no/such.json"])));
    insta::assert_snapshot!("one-file", seen(&run(&["diff", BEFORE])));
    insta::assert_snapshot!("both-stdin", seen(&run(&["diff", "-", "-"])));
    insta::assert_snapshot!(
        "cut",
        seen(&run_with_input(&["diff", BEFORE, "-"], b"{\"messages\": [{\"role\""))
    );
    insta::assert_snapshot!("no-format", seen(&run_with_input(&["diff", "-", AFTER], b"{\"a\": 1}")));
    // Calls in a shape that the format does not have are not silently the same.
    let unread = br#"{"model": "gpt-5", "messages": [{"role": "assistant", "content": "ok", "toolCalls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}]}"#;
    let arguments = ["diff", "-", "fixtures/seeds/litellm-after.json", "--output-format", "concise"];
    let output = run_with_input(&arguments, unread);
    assert_eq!(output.status.code(), Some(2), "{}", seen(&output));
    assert!(seen(&output).contains("1 part could not be read"), "{}", seen(&output));
    for name in ["cut-off", "models", "not-read-alone", "not-read"] {
        let recording = format!("fixtures/vcr/{name}.yaml");
        let output = run(&["diff", &recording, &recording]);
        assert_eq!(output.status.code(), Some(2), "{}", seen(&output));
        insta::assert_snapshot!(format!("recording-{name}"), seen(&output));
    }
    let arguments = ["diff", AFTER, AFTER, "--before-format", "vcr"];
    insta::assert_snapshot!("no-recording", seen(&run(&arguments)));
}

/// A recording is compared by the conversations in it, and its places are those of the file.
#[test]
fn recordings_and_archives_are_opened() {
    for (before, after) in [
        ("fixtures/vcr/unanswered-fixed.yaml", "fixtures/vcr/unanswered.yaml"),
        ("fixtures/har/browser-fixed.har", "fixtures/har/browser.har"),
        ("fixtures/inspect-eval/two-samples.eval", "fixtures/inspect-eval/lost-result.eval"),
    ] {
        assert_eq!(status(&[before, before, "--fail-on", "form"]), 0, "{before}");
        let name = before.split('/').nth(1).unwrap();
        insta::assert_snapshot!(format!("opened-{name}"), seen(&run(&["diff", before, after])));
        let values = ["diff", before, after, "--show-values", "--output-format", "json"];
        let json: Json = serde_json::from_slice(&run(&values).stdout).unwrap();
        let changes = json["changes"].as_array().unwrap();
        assert!(!changes.is_empty(), "{json}");
        for place in changes.iter().flat_map(|change| [&change["before"], &change["after"]]) {
            assert!(place.is_null() || place["origin"]["label"].is_string(), "{place}");
        }
    }
}

#[test]
fn a_picture_has_both_sides_in_any_width() {
    let files = ["fixtures/same/failed-call/anthropic.json", "fixtures/same/failed-call/openai-chat.json"];
    for width in ["32", "60", "120"] {
        let mut command = common::toolcheck();
        command.args(["diff", "--output-format", "picture"]).args(files).env("COLUMNS", width);
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let columns: usize = width.parse().unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        insta::assert_snapshot!(format!("picture-{width}"), text);
    }
}

#[test]
fn pairs_of_a_list_are_summed() {
    let folder = folder("diff-pairs");
    for name in ["coco-before.json", "coco-after.json", "roo-fixed.json", "roo-duplicate-result.json"] {
        fs::copy(root().join("fixtures/seeds").join(name), folder.join(name)).unwrap();
    }
    let list = "coco-after.json coco-before.json\n\nroo-duplicate-result.json\troo-fixed.json\nroo-fixed.json roo-fixed.json\n";
    fs::write(folder.join("list"), list).unwrap();
    for output in ["full", "json", "markdown"] {
        let text = seen_in(&folder, &["diff", "--pairs", "list", "--output-format", output]);
        insta::assert_snapshot!(format!("pairs-{output}"), text);
    }
    fs::write(folder.join("list"), "coco-after.json\ncoco-after.json none.json\n").unwrap();
    insta::assert_snapshot!("pairs-trouble", seen_in(&folder, &["diff", "--pairs", "list"]));
}

#[test]
fn json_is_as_its_schema_says() {
    let schema: Json =
        serde_json::from_slice(&fs::read(root().join("schemas/diff.v1.schema.json")).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let folder = folder("diff-schema");
    let mut compared = 0;
    for group in fs::read_dir(root().join("fixtures/same")).unwrap() {
        let files: Vec<PathBuf> =
            fs::read_dir(group.unwrap().path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let list: String = files
            .iter()
            .flat_map(|one| {
                files.iter().map(move |other| format!("{}\t{}\n", one.display(), other.display()))
            })
            .collect();
        fs::write(folder.join("list"), list).unwrap();
        let arguments = ["diff", "--pairs", "list", "--output-format", "json", "--show-values"];
        let output = toolcheck_in(&folder).args(arguments).output().unwrap();
        let json: Json = serde_json::from_slice(&output.stdout).unwrap();
        let faults: Vec<_> = schema.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{faults:#?}");
        for pair in json["pairs"].as_array().unwrap() {
            assert!(schema.is_valid(pair), "{pair}");
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
    assert!(!schema.is_valid(&json!({"version": 1, "changes": []})));
}
