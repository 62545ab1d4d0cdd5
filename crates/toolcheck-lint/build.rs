//! Lists the rules and their pages: each Rust file in `src/rules` but `mod.rs` is a rule, with its page beside it.
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
    let out = env::var_os("OUT_DIR").expect("Cargo names the folder");
    let write = |file: &str, item: &dyn Fn(&String) -> String| {
        let list: String = rules.iter().map(item).collect();
        fs::write(Path::new(&out).join(file), format!("&[{list}]")).expect("it can be written");
    };
    write("rules.rs", &|name| format!("&{name}::RULE, "));
    let has_examples = env::var_os("CARGO_FEATURE_EXAMPLES").is_some();
    write("pages.rs", &|name| {
        let page = fs::read_to_string(format!("src/rules/{name}.md")).expect("a rule has a page");
        let kept = if has_examples { &page } else { page.split("## Fails").next().unwrap_or(&page) };
        format!("{kept:?}, ")
    });
}
