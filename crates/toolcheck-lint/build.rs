//! Lists the rules: each file in `src/rules` but `mod.rs` is one.
#![allow(clippy::disallowed_macros, reason = "Cargo reads what a build script prints")]

use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=src/rules");
    let files = fs::read_dir("src/rules").expect("the rules have a folder");
    let names =
        files.map(|file| file.expect("it can be read").file_name().into_string().expect("it is UTF-8"));
    let mut rules: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name != "mod")
        .collect();
    rules.sort();
    let list: String = rules.iter().map(|name| format!("&{name}::RULE, ")).collect();
    let out = env::var_os("OUT_DIR").expect("Cargo names the folder");
    fs::write(Path::new(&out).join("rules.rs"), format!("&[{list}]")).expect("it can be written");
}
