//! `toolcheck diff` as users run it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::common::{assert_fits, folder, root, toolcheck_in, validator};

#[test]
fn json_is_as_its_schema_says() {
    let schema = validator("diff");
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
        assert_fits(&schema, &json);
        for pair in json["pairs"].as_array().unwrap() {
            assert!(schema.is_valid(pair), "{pair}");
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
    assert!(!schema.is_valid(&json!({"version": 1, "changes": []})));
}
