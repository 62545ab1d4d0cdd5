//! `toolcheck shapes`: what is known of the objects of requests.

use std::path::PathBuf;
use std::sync::LazyLock;

use crate::common::{folder, run, seen, toolcheck, toolcheck_in, write};
use serde_json::Value as Json;

/// A gateway with a fact of every sort.
const GATEWAY: &str = r#"
id = "gateway"
name = "Harbour gateway"
format = "ollama"

[shape]
unseen = "warning"

[[shape.text]]
fault = "missing"
status = 422
text = "{path} is missing"
evidence = "recorded"
sources = ["https://example.com/gateway"]
seen = "2026-11"

[[shape.fact]]
object = "tide"
field = "harbour"
fault = "missing"
evidence = "recorded"
sources = ["https://example.com/gateway", "https://example.com/another"]
seen = "2026-11-20"

[[shape.fact]]
object = "tide"
field = "height"
fault = "range"
min = 0
max = 20
model = '^deep-'
text = "{field} is too high"
evidence = "reported"
sources = ["https://example.com/gateway"]
seen = "2026-11"
doubt = "it depends on the moon"
help = "wait for the next tide"

[[shape.fact]]
object = "tide"
fields = ["wave", "foam"]
fault = "unknown"
absent = true
where = { "/model" = ["deep-1", "deep-2"] }
status = 400
text = "no {field} | here"
evidence = "recorded"
sources = ["https://example.com/gateway"]
seen = "2026-11"

[[shape.accepted]]
object = "tide"
field = "direction"
fault = "value"
evidence = "recorded"
sources = ["https://example.com/gateway"]
seen = "2026"

[shape.objects.request.fields]
tides = { type = ["object", "array"], object = "tide", items = "tide", item-type = "string" }

[shape.objects.tide]
closed = true
note = "Where the water is."

[shape.objects.tide.fields]
harbour   = { type = "string", required = true, pattern = "^(north|south)$" }
height    = { type = "number", note = "in feet" }
direction = { type = "string", values = ["in", "out"] }
moon      = { type = "string", required-unless = ["harbour"], max-length = 8, needs = "/model" }
"#;

/// The program in a folder with the gateway, on a screen with so many columns; in a pipe if there are none.
fn shapes(columns: Option<usize>, arguments: &[&str]) -> String {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = folder("shapes");
        write(&folder, "gateway.toml", GATEWAY);
        folder
    });
    let mut command = toolcheck_in(&FOLDER);
    command.arg("shapes").args(arguments);
    if let Some(columns) = columns {
        command.env("COLUMNS", columns.to_string());
    }
    seen(&command.output().unwrap())
}

#[test]
fn objects_are_listed() {
    insta::assert_snapshot!("tree", shapes(None, &["ollama"]));
    insta::assert_snapshot!("tree-narrow", shapes(Some(50), &["ollama"]));
}

#[test]
fn what_is_known_of_a_model_is_shown() {
    let models = |arguments: &[&str]| {
        let folder = folder("models");
        seen(&toolcheck_in(&folder).arg("models").args(arguments).output().unwrap())
    };
    insta::assert_snapshot!("model", models(&["computer-use-preview"]));
    insta::assert_snapshot!("model-unknown", models(&["parrot-7b"]));
    insta::assert_snapshot!("model-json", models(&["computer-use-preview", "--output-format", "json"]));
    // What it shows is what `lint` says.
    let folder = folder("models-lint");
    write(
        &folder,
        "a.json",
        r#"{"model": "o1-mini", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}"#,
    );
    let lint =
        seen(&toolcheck_in(&folder).args(["lint", "a.json", "--output-format", "json"]).output().unwrap());
    let known = models(&["o1-mini"]);
    let text = "Use 'max_completion_tokens' instead.";
    assert!(lint.contains(text) && known.contains(text), "{lint}\n{known}");
    // Each of the models that are listed has facts of its own.
    let listed = models(&[]);
    assert!(listed.contains("- `^computer-use-preview`: openai-responses (1)"), "{listed}");
}

#[test]
fn an_object_is_shown() {
    insta::assert_snapshot!("object", shapes(None, &["gateway.toml", "tide"]));
    insta::assert_snapshot!("object-wide", shapes(Some(100), &["gateway.toml", "tide"]));
    insta::assert_snapshot!("object-narrow", shapes(Some(44), &["gateway.toml", "tide"]));
    insta::assert_snapshot!("object-with-kinds", shapes(Some(100), &["ollama", "message"]));
}

#[test]
fn the_end_of_a_name_is_enough() {
    assert_eq!(
        shapes(None, &["anthropic", "char_location"]),
        shapes(None, &["anthropic", "citation.char_location"])
    );
}

#[test]
fn an_api_may_take_several_formats() {
    let own = shapes(None, &["xai"]);
    assert!(own.contains("It also accepts other formats: `--format openai-responses`."), "{own}");
    let other = shapes(None, &["xai", "function_call_output", "--format", "openai-responses"]);
    assert!(other.contains("# function_call_output"), "{other}");
}

#[test]
fn mistakes_are_explained() {
    insta::assert_snapshot!("no-target", shapes(None, &["olama"]));
    insta::assert_snapshot!("no-object", shapes(None, &["openai-chat", "tool.functon"]));
    insta::assert_snapshot!("no-shape", shapes(None, &["portable"]));
    insta::assert_snapshot!("several-objects", shapes(None, &["anthropic", "file"]));
    let folder = folder("shapes-trouble");
    write(&folder, "bare.toml", "id = \"bare\"\nname = \"Bare\"\nformat = \"cohere\"\n");
    let bare = toolcheck_in(&folder).args(["shapes", "bare.toml"]).output().unwrap();
    insta::assert_snapshot!("no-shape-of-its-own", seen(&bare));
    insta::assert_snapshot!("no-shape-in-a-format", shapes(None, &["xai", "--format", "gemini"]));
    let missing = shapes(None, &["missing.toml"]);
    assert!(missing.starts_with("status: 2") && missing.contains("cannot read the target file"), "{missing}");
}

#[test]
fn colors_and_pipes_are_respected() {
    let colored = |name: &str, value: &str| {
        let output = toolcheck().args(["shapes", "ollama", "message"]).env(name, value).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(colored("FORCE_COLOR", "1").contains("\u{1b}[1mmessage"));
    assert!(!colored("NO_COLOR", "1").contains('\u{1b}'));
    // A pipe gets Markdown, and a line for each row.
    let piped = colored("NO_COLOR", "1");
    assert!(piped.starts_with("# message\n") && piped.contains("\n| key | type | required | allowed |\n"));
}

#[test]
fn shapes_fit_the_screen() {
    for columns in [40_usize, 60, 80, 120] {
        for arguments in [&["anthropic"][..], &["gemini", "schema"], &["openai-responses", "request"]] {
            for line in shapes(Some(columns), arguments).lines() {
                // Links and the like are not broken.
                let is_one_word = !line.trim().contains(' ');
                assert!(
                    line.chars().count() <= columns || is_one_word,
                    "{arguments:?} in {columns} columns: {line}"
                );
            }
        }
    }
}

#[test]
fn the_report_is_complete() {
    let output = shapes(None, &["gateway.toml", "tide", "--output-format", "json"]);
    insta::assert_snapshot!("json", output);
    for target in toolcheck_core::targets::all() {
        let Some(shape) = target.shape() else { continue };
        let output = run(&["shapes", &target.id, "--output-format", "json"]);
        let json: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&json["version"], json["target"].as_str()), (&Json::from(1), Some(&*target.id)));
        let listed: Vec<&str> = json["objects"]
            .as_array()
            .unwrap()
            .iter()
            .map(|object| object["name"].as_str().unwrap())
            .collect();
        for object in shape.objects() {
            assert!(listed.contains(&object.name()), "{}: {}", target.id, object.name());
        }
    }
}
