//! Packs the tables of targets, shapes, frameworks, errors, envelopes, parsers, readers, agents, events and models, so that no run
//! parses their text, and lists them.
#![allow(clippy::disallowed_macros, reason = "Cargo reads what a build script prints")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

/// The folders of tables.
const FOLDERS: [&str; 10] = [
    "targets",
    "shapes",
    "frameworks",
    "errors",
    "envelopes",
    "parsers",
    "readers",
    "agents",
    "events",
    "models",
];

/// What is asked for before a file is read.
#[derive(Deserialize)]
struct Table {
    /// The place in the list, where that is not of no consequence.
    #[serde(default)]
    order: u32,
    /// The hosts of a target.
    #[serde(default)]
    hosts: Vec<String>,
    /// What shows a protocol of events.
    #[serde(default, rename = "shown-by")]
    shown_by: Vec<Sign>,
}

#[derive(Deserialize)]
struct Sign {
    /// The paths to it, with `|` between them.
    at: String,
}

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo names the folder"));
    let mut hosts = BTreeMap::<String, Vec<String>>::new();
    let (mut lists, mut signs) = (String::new(), BTreeSet::new());
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={folder}");
        let mut tables = pack(folder, &out.join(folder));
        tables.sort_by(|(id, table), (other_id, other)| (table.order, id).cmp(&(other.order, other_id)));
        let constant = folder.to_uppercase();
        write!(lists, "pub(crate) const {constant}: Folder = ({folder:?}, &[").expect("a text takes all");
        for (id, table) in tables {
            write!(lists, "({id:?}, include_str!(\"{folder}/{id}.packed\")),").expect("a text takes all");
            let paths = table.shown_by.iter().flat_map(|sign| sign.at.split('|'));
            signs.extend(paths.filter_map(|path| path.split('.').next()).map(str::to_owned));
            for host in table.hosts {
                hosts.entry(host).or_default().push(id.clone());
            }
        }
        lists += "]);\n";
    }
    let hosts: Vec<String> = hosts.iter().map(|(host, ids)| format!("({host:?}, &{ids:?})")).collect();
    let hosts = hosts.join(", ");
    let signs = Vec::from_iter(signs);
    lists += &format!("pub(crate) static KEYS_OF_EVENTS: &[&str] = &{signs:?};\n");
    lists += &format!("pub(crate) static HOSTS: &[(&str, &[&str])] = &[{hosts}];\n");
    fs::write(out.join("tables.rs"), lists).expect("a file in the folder of the build");
}

/// Packs the files of a folder, and returns their names with what the lists need of them.
fn pack(folder: &str, packed: &Path) -> Vec<(String, Table)> {
    fs::create_dir_all(packed).expect("a folder in that of the build");
    let entries = fs::read_dir(folder).expect("the folder is in the package");
    let paths = entries.map(|entry| entry.expect("a file of the folder").path());
    let is_table = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    let pack = |path: PathBuf| {
        let id = path.file_stem().and_then(|name| name.to_str()).expect("a name in ASCII").to_owned();
        let text = fs::read_to_string(&path).expect("a file of the package");
        // Who has reported an error is for those who keep the files: no run asks for it.
        let is_asked_for = |line: &&str| {
            folder != "errors" || !(line.starts_with("sources = ") || line.starts_with("evidence = "))
        };
        let text: String = text.lines().filter(is_asked_for).flat_map(|line| [line, "\n"]).collect();
        let content =
            toolcheck_toml::pack(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        fs::write(packed.join(format!("{id}.packed")), content).expect("a file in the folder of the build");
        let table = toolcheck_toml::from_str(&text).expect("an order is a number, and hosts are a list");
        (id, table)
    };
    paths.filter(is_table).map(pack).collect()
}
