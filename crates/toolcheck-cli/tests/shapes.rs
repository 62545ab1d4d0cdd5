//! `toolcheck shapes`: what is known of the objects of requests.

use crate::common::{run, seen, toolcheck};
use serde_json::Value as Json;

#[test]
fn shapes_fit_the_screen() {
    for columns in [40_usize, 60, 80, 120] {
        for arguments in [&["anthropic"][..], &["gemini", "schema"], &["openai-responses", "request"]] {
            let mut command = toolcheck();
            command.arg("shapes").args(arguments).env("COLUMNS", columns.to_string());
            for line in seen(&command.output().unwrap()).lines() {
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
