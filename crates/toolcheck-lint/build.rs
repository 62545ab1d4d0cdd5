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
        Page::new(&page).code(has_examples) + ", "
    });
}

/// The headings at the end of a page whose lists say what a rule needs to know: the name of each item, and its meaning.
const LISTS: [&str; 3] = ["## Fix", "## Cases", "## Values"];

/// What the items under the first heading are, up to the end of their names.
const FIXES: [&str; 5] = ["safe`", "unsafe`", "otherwise`", "otherwise with help`", "none`"];

/// The file of a page: the text that is shown, and the lists at its end.
#[derive(Default)]
struct Page<'p> {
    text: String,
    lists: [Vec<(&'p str, &'p str)>; 3],
}

impl<'p> Page<'p> {
    fn new(file: &'p str) -> Self {
        let mut page = Self::default();
        let mut list = None;
        for line in file.lines() {
            list = LISTS.iter().position(|heading| *heading == line).or(list);
            match (list, line.strip_prefix("- `").and_then(|item| item.split_once(": "))) {
                (None, _) => page.text.extend([line, "\n"]),
                (Some(list), Some(item)) => page.lists[list].push(item),
                (Some(_), None) => assert!(line.is_empty() || line.starts_with("## "), "no item: {line}"),
            }
        }
        page.text.truncate(page.text.trim_end().len());
        page.text.push('\n');
        page
    }

    /// The value of the type `Page` of the crate.
    fn code(&self, has_examples: bool) -> String {
        let text =
            if has_examples { &self.text } else { self.text.split("## Fails").next().unwrap_or_default() };
        let [fixes, cases, values] = &self.lists;
        let unknown = fixes.iter().find(|(name, _)| !FIXES.contains(name));
        assert!(unknown.is_none(), "no way to fix: {unknown:?}");
        let said = |name| fixes.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        let help = said("otherwise with help`");
        let fix = said("otherwise`").or(help).map(|otherwise| {
            let (safe, lossy) = (said("safe`").unwrap_or_default(), said("unsafe`").unwrap_or_default());
            let has_help = help.is_some();
            format!("FixSummary {{ safe: {safe:?}, lossy: {lossy:?}, otherwise: {otherwise:?}, has_help: {has_help} }}")
        });
        let fix = fix.map_or_else(|| "None".to_owned(), |fix| format!("Some({fix})"));
        let unfixed = said("none`").unwrap_or("this rule has no fix");
        let (cases, values) = (terms(cases), terms(values));
        format!(
            "Page {{ text: {text:?}, fix: {fix}, unfixed: {unfixed:?}, cases: {cases}, values: {values} }}"
        )
    }
}

/// A list of values of the type `Term`.
fn terms(list: &[(&str, &str)]) -> String {
    let term = |(name, meaning): &(&str, &str)| {
        let (name, mark) = name.split_once('`').expect("a name ends with a backtick");
        let is_for_users = !mark.is_empty();
        assert!(!is_for_users || mark == " (for users)", "no mark: {mark}");
        format!("Term {{ name: {name:?}, meaning: {meaning:?}, is_for_users: {is_for_users} }}, ")
    };
    format!("&[{}]", list.iter().map(term).collect::<String>())
}
