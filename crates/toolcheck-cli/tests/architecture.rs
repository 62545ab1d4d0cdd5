//! How the modules of each crate lean on each other, read from their source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Modules of one crate that need each other, and why that is fine.
const CIRCLES: [(&str, &[&str], &str); 6] = [
    (
        "toolcheck-json",
        &["document", "fault", "parse"],
        "a document is what the parser makes, with its faults",
    ),
    ("toolcheck-json", &["embedded", "string"], "both read the escapes of a string"),
    (
        "toolcheck-lint",
        &["rule", "view"],
        "a context holds what rules look at, which is computed from a context",
    ),
    ("toolcheck-lint", &["policy", "settings"], "policies are a setting, for tools that a setting names"),
    ("toolcheck-config", &["file", "names", "values"], "the tables of a file hold what its keys mean"),
    ("toolcheck-cli", &["args", "screen"], "whether there is colour is an argument"),
];

#[test]
fn no_modules_need_each_other() {
    let mut found = BTreeSet::new();
    for source in sources() {
        let name = source.parent().expect("`src` is in a crate").file_name().expect("a crate has a name");
        for circle in circles(&edges(&source)) {
            found.insert((name.to_string_lossy().into_owned(), circle));
        }
    }
    let named =
        CIRCLES.map(|(name, circle, _)| (name.to_owned(), circle.iter().map(ToString::to_string).collect()));
    let named = BTreeSet::from(named);
    let new: Vec<_> = found.difference(&named).collect();
    assert!(new.is_empty(), "modules that need each other, directly or through others: {new:#?}");
    let gone: Vec<_> = named.difference(&found).collect();
    assert!(gone.is_empty(), "no longer circles, so no longer exceptions: {gone:#?}");
}

#[test]
fn each_crate_has_one_error() {
    fn is_error<E: std::error::Error + Send + Sync + 'static>() {}
    is_error::<toolcheck_core::Error>();
    is_error::<toolcheck_lint::Error>();
    is_error::<toolcheck_config::Error>();
    is_error::<toolcheck_project::Error>();
    is_error::<toolcheck_test::Error>();
    // Outside the error's own file no signature names another one, but those of reading and writing.
    let other = Regex::new(
        r"Result<[^;{]*, (String|&'static str|\([^;{]*\)|[\w:]*serde_json::Error|[\w:]*toml[\w:]*Error)> \{",
    )
    .expect("a valid expression");
    let public =
        Regex::new(r"(?ms)^ *pub (?:const )?fn .*?\{$|^ *fn from_str.*?\{$").expect("a valid expression");
    for source in sources().iter().filter(|source| {
        source.parent().is_some_and(|parent| {
            parent.file_name().is_some_and(|name| name.to_string_lossy().starts_with("toolcheck-"))
        })
    }) {
        let mut files = Vec::new();
        rust_files(source, &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("the file can be read");
            for signature in public.find_iter(&text) {
                assert!(!other.is_match(signature.as_str()), "{}: {}", file.display(), signature.as_str());
            }
        }
    }
}

#[test]
fn circles_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        circles(&graph)
    };
    assert_eq!(graph(&[("a", "b"), ("b", "c"), ("a", "c")]), [] as [Vec<String>; 0]);
    assert_eq!(graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]), [["a", "b", "c"]]);
    let paths = |text: &'static str| modules_named(text).collect::<Vec<_>>();
    assert_eq!(paths("use crate::ir::{Body, Place};\nuse crate::tools;"), ["ir", "tools"]);
    assert_eq!(
        paths("use crate::{Status, screen::named};\nfn f(_: crate::Rule) {}"),
        ["Status", "screen", "Rule"]
    );
    assert_eq!(paths("use crate::{\n    a::{B, C},\n    d,\n};"), ["a", "d"]);
    assert_eq!(
        paths("// crate::a\n/// [`crate::b`]\n#[cfg(test)]\nmod tests {\n    use crate::c;\n}"),
        [""; 0]
    );
}

/// The modules at the top of a crate, each with those that it names.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The `src` of each crate.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = fs::read_dir(root.join("crates")).expect("the crates are there");
    let crates = crates.map(|entry| entry.expect("a directory can be listed").path());
    let mut sources: Vec<_> =
        crates.chain([root.join("xtask"), root.join("fuzz")]).map(|folder| folder.join("src")).collect();
    sources.sort();
    sources
}

/// Which modules of a crate name which.
fn edges(source: &Path) -> Graph {
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let root = root.iter().find_map(|path| fs::read_to_string(path).ok()).expect("a crate has a root");
    let module = Regex::new(r"(?m)^(?:pub(?:\([^)]*\))? )?mod (\w+);").expect("a valid expression");
    let modules: BTreeSet<&str> =
        module.captures_iter(&root).map(|found| found.extract::<1>().1[0]).collect();
    // What the root gives on under a name of its own stands in a module too.
    let mut exports = BTreeMap::new();
    let export = Regex::new(r"(?m)^pub use (?:self::)?(\w+)::([^;]*);").expect("a valid expression");
    let word = Regex::new(r"\w+").expect("a valid expression");
    for found in export.captures_iter(&root) {
        let (_, [module, names]) = found.extract();
        exports.extend(word.find_iter(names).map(|name| (name.as_str(), module)));
    }
    let mut graph = Graph::new();
    for module in &modules {
        let mut texts = vec![source.join(format!("{module}.rs"))];
        rust_files(&source.join(module), &mut texts);
        let to = graph.entry((*module).to_owned()).or_default();
        for text in texts.iter().filter_map(|path| fs::read_to_string(path).ok()) {
            for name in modules_named(&text) {
                let name =
                    if modules.contains(name) { name } else { exports.get(name).copied().unwrap_or(name) };
                if modules.contains(name) && name != *module {
                    to.insert(name.to_owned());
                }
            }
        }
    }
    graph
}

/// The Rust files of a folder and those below it.
fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a directory can be listed").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The first names of all paths that begin with `crate::`, outside comments and tests.
fn modules_named(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.match_indices("crate::").flat_map(|(start, key)| {
        let line = text[..start].rsplit('\n').next().unwrap_or_default();
        let rest = &text[start + key.len()..];
        let list = rest.strip_prefix('{').filter(|_| !line.trim_start().starts_with("//"));
        let alone = (list.is_none() && !line.trim_start().starts_with("//")).then_some(rest);
        let members = list.into_iter().flat_map(members);
        members.chain(alone).map(|path| {
            let end = path.find(|character: char| !character.is_alphanumeric() && character != '_');
            &path[..end.unwrap_or(path.len())]
        })
    })
}

/// The members of a list of imports, behind its opening brace.
fn members(list: &str) -> Vec<&str> {
    let (mut members, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, character) in list.char_indices() {
        let is_end = character == '}' && depth == 0;
        if is_end || character == ',' && depth == 0 {
            members.push(list[start..at].trim());
            start = at + 1;
        }
        match character {
            _ if is_end => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    members.retain(|member| !member.is_empty());
    members
}

/// The modules of a graph that reach each other.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reached = |from: &String| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for next in graph.get(module).into_iter().flatten() {
                if reached.insert(next) {
                    open.push(next);
                }
            }
        }
        reached
    };
    let reached: BTreeMap<_, _> = graph.keys().map(|module| (module, reached(module))).collect();
    let circles =
        reached.iter().filter(|(module, others)| others.contains(*module)).map(|(module, others)| {
            let is_back = |other: &&&String| reached.get(**other).is_some_and(|back| back.contains(*module));
            others.iter().filter(is_back).map(|other| (*other).clone()).collect::<Vec<_>>()
        });
    circles.collect::<BTreeSet<_>>().into_iter().collect()
}
