//! Packs the tables of targets, shapes, frameworks, errors, envelopes, parsers, readers, agents and events, so that no run parses
//! their text.
#![allow(clippy::disallowed_macros, reason = "Cargo reads what a build script prints")]

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

/// The folders of tables.
const FOLDERS: [&str; 9] =
    ["targets", "shapes", "frameworks", "errors", "envelopes", "parsers", "readers", "agents", "events"];

/// What a target's file says of its hosts, which are asked for before any file is read.
#[derive(Deserialize)]
struct Target {
    id: String,
    #[serde(default)]
    hosts: Vec<String>,
}

fn main() {
    let out = env::var_os("OUT_DIR").expect("Cargo names the folder");
    let mut hosts = BTreeMap::<String, Vec<String>>::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        let packed = Path::new(&out).join(folder);
        fs::create_dir_all(&packed).expect("a folder in that of the build");
        for entry in fs::read_dir(folder).expect("the folder is in the package") {
            let path = entry.expect("a file of the folder").path();
            let Some(name) = path.file_stem().filter(|_| path.extension().is_some_and(|end| end == "toml"))
            else {
                continue;
            };
            let text = fs::read_to_string(&path).expect("a file of the package");
            let bytes =
                toolcheck_toml::pack(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if folder == "targets" {
                let target: Target = toolcheck_toml::from_str(&text).expect("it was packed");
                for host in target.hosts {
                    hosts.entry(host).or_default().push(target.id.clone());
                }
            }
            fs::write(packed.join(name).with_extension("packed"), bytes)
                .expect("a file in the folder of the build");
        }
    }
    hosts.values_mut().for_each(|ids| ids.sort());
    let hosts: Vec<String> = hosts.iter().map(|(host, ids)| format!("({host:?}, &{ids:?})")).collect();
    let table = format!("static HOSTS: [(&str, &[&str]); {}] = [{}];\n", hosts.len(), hosts.join(", "));
    fs::write(Path::new(&out).join("hosts.rs"), table).expect("a file in the folder of the build");
}
