//! The dependencies between crates and modules, and the length of files and functions, read from their source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use toolcheck_core::{RuleId, formats, targets};

use crate::common::root;

/// Modules of one crate that may depend on each other, and why.
const CYCLES: [(&str, &[&str], &str); 6] = [
    ("toolcheck-json", &["document", "fault", "parse"], "the parser returns a document, which has faults"),
    (
        "toolcheck-lint",
        &["engine", "fix", "marks"],
        "a finding says what a fix does, which lints what it has changed",
    ),
    ("toolcheck-lint", &["rule", "view"], "the context of a rule has views, and some views need a context"),
    ("toolcheck-lint", &["policy", "settings"], "policies are a setting, and name tools like other settings"),
    ("toolcheck-config", &["file", "names", "values"], "the tables of a file contain named values"),
    ("toolcheck-cli", &["args", "screen"], "colors are an argument"),
];

#[test]
fn modules_do_not_depend_on_each_other() {
    let mut found = BTreeSet::new();
    for source in sources() {
        let name = source.parent().unwrap().file_name().unwrap();
        for cycle in cycles(&edges(&source)) {
            found.insert((name.to_string_lossy().into_owned(), cycle));
        }
    }
    let named =
        CYCLES.map(|(name, cycle, _)| (name.to_owned(), cycle.iter().map(ToString::to_string).collect()));
    let named = BTreeSet::from(named);
    let new: Vec<_> = found.difference(&named).collect();
    assert!(new.is_empty(), "modules that depend on each other, directly or indirectly: {new:#?}");
    let gone: Vec<_> = named.difference(&found).collect();
    assert!(gone.is_empty(), "these exceptions are no longer needed: {gone:#?}");
}

/// The crates that are built only with the feature `serve`.
const OF_SERVE: [&str; 2] = ["toolcheck-conform", "toolcheck-serve"];

#[test]
fn errors_are_types_of_our_own() {
    fn is_error<E: std::error::Error + Send + Sync + 'static>() {}
    let mut listed: BTreeSet<(String, String)> = BTreeSet::new();
    macro_rules! errors {
        ($($of:ident :: $($path:ident)::+),+ $(,)?) => {
            $(
                is_error::<$of::$($path)::+>();
                let name = [$(stringify!($path)),+].last().unwrap().to_string();
                listed.insert((stringify!($of).replace('_', "-"), name));
            )+
        };
    }
    errors!(
        toolcheck_config::Error,
        toolcheck_core::Error,
        toolcheck_project::Error,
        toolcheck_template::LoadError,
        toolcheck_template::Refusal,
        toolcheck_toml::Error,
    );
    // The list is whole: every public type that is an error is in it.
    let error = Regex::new(r"(?m)^impl(?:<[^>]*>)? (?:[\w:]*::)?Error for (\w+)").unwrap();
    let mut found = BTreeSet::new();
    for source in sources().iter().filter(|source| source.starts_with(root().join("crates"))) {
        let name = source.parent().and_then(Path::file_name).unwrap().to_string_lossy();
        if !cfg!(feature = "serve") && OF_SERVE.contains(&&*name) {
            continue;
        }
        for file in rust_files(source) {
            let text = fs::read_to_string(&file).unwrap();
            for (_, [error]) in error.captures_iter(&text).map(|found| found.extract()) {
                let is_public = ["struct", "enum"].map(|kind| format!("\npub {kind} {error}"));
                if is_public.iter().any(|start| text.contains(start)) {
                    found.insert((name.clone().into_owned(), error.to_owned()));
                }
            }
        }
    }
    assert_eq!(listed, found, "list each public error type here, so that it is checked");
    // No public signature returns another error type, except for `io::Error`.
    let other = Regex::new(
        r"Result<[^;{]*, (String|&'static str|\([^;{]*\)|[\w:]*serde_json::Error|[\w:]*toml[\w:]*Error)> \{",
    )
    .unwrap();
    let public = Regex::new(r"(?ms)^ *pub (?:const )?fn .*?\{$|^ *fn from_str.*?\{$").unwrap();
    for source in sources().iter().filter(|source| {
        source.parent().is_some_and(|parent| {
            parent.file_name().is_some_and(|name| name.to_string_lossy().starts_with("toolcheck-"))
        })
    }) {
        for file in rust_files(source) {
            let text = fs::read_to_string(&file).unwrap();
            for signature in public.find_iter(&text) {
                assert!(!other.is_match(signature.as_str()), "{}: {}", file.display(), signature.as_str());
            }
        }
    }
}

#[test]
fn crate_dependencies_match_the_documentation() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, picture) = page.split_once("```text\ntoolcheck-json\n").unwrap();
    let (picture, _) = picture.split_once("```").unwrap();
    let mut drawn: Vec<(String, BTreeSet<String>)> = vec![("toolcheck-json".to_owned(), BTreeSet::new())];
    for line in picture.lines() {
        let (name, others) = line.split_once("->").unwrap_or((line, ""));
        let others = others.split(',').map(str::trim).filter(|name| !name.is_empty());
        let others: BTreeSet<_> = others.map(|name| format!("toolcheck-{name}")).collect();
        for other in &others {
            assert!(drawn.iter().any(|(above, _)| above == other), "{name} points down to {other}");
        }
        drawn.push((name.trim().to_owned(), others));
    }
    let mut real = BTreeMap::new();
    for source in sources().iter().filter(|source| source.starts_with(root().join("crates"))) {
        let manifest = fs::read_to_string(source.with_file_name("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let name = manifest["package"]["name"].as_str().unwrap().to_owned();
        let needed = manifest["dependencies"].as_table().unwrap().keys();
        real.insert(name, needed.filter(|name| name.starts_with("toolcheck-")).cloned().collect());
    }
    assert_eq!(drawn.into_iter().collect::<BTreeMap<_, BTreeSet<_>>>(), real);
}

/// The maximum bytes of a file, and the maximum lines of a function.
const LIMITS: (u64, usize) = (30_000, 80);

#[test]
fn files_and_functions_are_short() {
    let folders = ["crates", "xtask", "fuzz/src", "examples"];
    let files: Vec<_> = folders.iter().flat_map(|folder| rust_files(&root().join(folder))).collect();
    assert!(files.len() > 200, "the files are found");
    let size = |path: &PathBuf| fs::metadata(path).unwrap().len();
    let long: Vec<_> = files.iter().filter(|path| size(path) > LIMITS.0).collect();
    assert!(long.is_empty(), "more than {} bytes: {long:#?}", LIMITS.0);
    let mut long = Vec::new();
    for path in files.iter().filter(|path| path.components().any(|part| part.as_os_str() == "src")) {
        let text = fs::read_to_string(path).unwrap();
        let functions = functions(text.split("#[cfg(test)]\nmod ").next().unwrap_or_default());
        let functions = functions.into_iter().filter(|(_, lines)| *lines > LIMITS.1);
        long.extend(functions.map(|(name, lines)| format!("{}: {name}, {lines} lines", path.display())));
    }
    assert!(long.is_empty(), "more than {} lines: {long:#?}", LIMITS.1);
}

/// The functions of a file, each with its number of lines: rustfmt closes it in the column where it starts.
fn functions(text: &str) -> Vec<(String, usize)> {
    let head = Regex::new(r"^( *)(?:pub(?:\([^)]*\))? )?(?:const )?(?:async )?(?:unsafe )?fn (\w+)").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some((_, [indent, name])) = head.captures(line).map(|head| head.extract()) else { continue };
        let is_end = |line: &&str| {
            let rest = line.strip_prefix(indent);
            rest.is_some_and(|rest| rest == "}" || rest.starts_with(") ") && rest.ends_with(';'))
        };
        let is_short = line.ends_with(['}', ';']);
        let length = lines[number..].iter().position(is_end).unwrap_or_default();
        functions.push((name.to_owned(), if is_short { 1 } else { length + 1 }));
    }
    functions
}

/// Tests in the source of a library that is not built as a test would never run, unless another test has the module as one of
/// its own.
#[test]
fn every_test_is_built() {
    let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let is_test = Regex::new(r"#\[test\]|proptest! |cfg\((all\()?test\b").unwrap();
    for source in sources() {
        if text(&source.with_file_name("Cargo.toml")).contains("[lib]\ntest = false\n") {
            let own = text(&source.with_file_name("tests").join("all.rs"));
            for file in rust_files(&source).iter().filter(|path| is_test.is_match(&text(path))) {
                let module = if file.ends_with("tests.rs") { &file.with_file_name("mod.rs") } else { file };
                let module = module.strip_prefix(&source).unwrap().display();
                assert!(own.contains(&format!("#[path = \"../src/{module}\"]")), "{}", file.display());
            }
        }
    }
}

#[test]
fn function_lengths_are_counted() {
    let text = "fn a() {\n    b();\n}\n\nimpl B {\n    pub(crate) fn c(\n        d: E,\n    ) -> F {\n        if d {\n        }\n    }\n}\nfn g() {}\npub(crate) async fn h() {\n    i().await;\n}\n";
    let counted = functions(text);
    let counted: Vec<_> = counted.iter().map(|(name, lines)| (&**name, *lines)).collect();
    assert_eq!(counted, [("a", 3), ("c", 6), ("g", 1), ("h", 3)]);
}

/// The sources that open, read or write files, or read the standard input.
const FILE_READERS: [&str; 2] = [
    // The text of transcripts: of any length, and also from pipes.
    "crates/toolcheck-project/src/inputs/bytes.rs",
    "crates/toolcheck-files/src/",
];

#[test]
fn files_are_opened_in_one_place() {
    let opens = Regex::new(
        r"\bfs::(?:write|read|read_to_string|copy|rename)\b|\bFile::(?:open|create|create_new|options)\b|\bOpenOptions\b|\.read_to_(?:end|string)\(",
    )
    .unwrap();
    let found = sources_with(&opens);
    let others: Vec<_> =
        found.iter().filter(|path| !FILE_READERS.iter().any(|known| path.starts_with(known))).collect();
    assert!(
        others.is_empty(),
        "use toolcheck_files, which reads with a bound and writes safely: {others:#?}"
    );
    for known in FILE_READERS {
        assert!(found.iter().any(|path| path.starts_with(known)), "{known} opens no files");
    }
}

/// The sources of the crates that match an expression outside of their tests.
fn sources_with(wanted: &Regex) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for source in sources().iter().filter(|source| source.starts_with(root().join("crates"))) {
        for path in rust_files(source).iter().filter(|path| !path.ends_with("tests.rs")) {
            let text = fs::read_to_string(path).unwrap();
            if wanted.is_match(text.split("#[cfg(test)]\nmod ").next().unwrap_or_default()) {
                let below = path.strip_prefix(root()).unwrap();
                found.insert(below.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found
}

/// The others show what is not UTF-8 in a name in the same way for every name.
#[test]
fn names_of_files_are_told_apart() {
    // What is compared and never shown.
    let known = ["crates/toolcheck-cli/src/args/hints.rs", "crates/toolcheck-project/src/inputs/globs.rs"];
    let found = sources_with(&Regex::new(r"\.display\(\)|\.to_string_lossy\(\)").unwrap());
    assert!(found.iter().eq(known), "use `printable` or `text::name_of`: {found:#?}");
}

/// A mistyped id in a text would compile and never fire.
#[test]
fn rules_are_named_by_their_type() {
    // What is fuzzed is a test.
    let sources = sources().into_iter().filter(|source| !source.ends_with("fuzz/src"));
    let mut found = lines_with(sources, RuleId::ALL.iter().map(|id| id.as_str()));
    found.retain(|(file, line)| {
        let is_data = SAME_AS_RULES.iter().any(|(end, id)| file.ends_with(end) && line.contains(id));
        !is_data && !file.ends_with("toolcheck-core/src/rule_id.rs")
    });
    assert!(found.is_empty(), "ids of rules as text, instead of `RuleId`:\n{found:#?}");
}

/// What differs between APIs is a field of their formats, or a fact of their targets.
#[test]
fn only_core_names_formats_and_targets() {
    let crates = root().join("crates");
    let is_meant = |source: &PathBuf| source.starts_with(&crates) && !source.ends_with("toolcheck-core/src");
    let ids = formats::ALL.iter().map(|format| format.id).chain(targets::ids());
    let found = lines_with(sources().into_iter().filter(is_meant), ids);
    assert!(found.is_empty(), "ids of formats or targets as text:\n{found:#?}");
}

/// The lines of code that have one of these names as a text, with their files. Tests are left out.
fn lines_with<'n>(
    sources: impl Iterator<Item = PathBuf>,
    names: impl Iterator<Item = &'n str>,
) -> Vec<(PathBuf, String)> {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let mut files: Vec<_> = sources.flat_map(|source| rust_files(&source)).collect();
    files.retain(|file| {
        !file.ends_with("tests.rs") && file.components().all(|part| part.as_os_str() != "tests")
    });
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(&text);
        for (number, line) in code.lines().enumerate() {
            let line = line.trim();
            if !line.starts_with("//") && names.iter().any(|name| line.contains(&**name)) {
                found.push((file.clone(), format!("{}: {line}", number + 1)));
            }
        }
    }
    found
}

/// What has the name of a rule and is something else: where, and the name.
const SAME_AS_RULES: [(&str, &str); 1] = [
    // A scenario.
    ("toolcheck-conform/src/scenarios.rs", "unknown-tool"),
];

#[test]
fn numbers_in_prose_match_the_tables() {
    let counts = [
        ("formats", toolcheck_core::formats::ALL.len()),
        ("protocols", toolcheck_core::protocols::ALL.len()),
        ("targets", toolcheck_core::targets::ids().count()),
        ("rules", toolcheck_lint::rules::ALL.len()),
        ("outputs", toolcheck_report::outputs::ALL.len()),
    ];
    let words =
        ["six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"];
    let number = Regex::new(&format!(
        r"(?i)\b({}|\d+) (?:wire |built-in |output |tool )*(formats|protocols|targets|rules|outputs)\b",
        words.join("|")
    ))
    .unwrap();
    let mut pages = Vec::new();
    for folder in ["crates", "docs", "xtask", "schemas", "."] {
        prose(&root().join(folder), folder != ".", &mut pages);
    }
    assert!(pages.iter().any(|path| path.ends_with("README.md")), "the pages are found");
    for path in pages.iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(path).unwrap();
        for found in number.captures_iter(&text) {
            let (whole, [number, what]) = found.extract();
            let word = words.iter().position(|word| word.eq_ignore_ascii_case(number));
            let number = number.parse().ok().or(word.map(|place| place + 6));
            let (_, count) = counts.iter().find(|(name, _)| name.eq_ignore_ascii_case(what)).unwrap();
            assert!(
                number.is_none_or(|number| number < 6) || number == Some(*count),
                "{}: {whole}, but there are {count}",
                path.display()
            );
        }
    }
}

/// Adds the files with prose in a folder: pages, manifests and sources.
fn prose(folder: &Path, is_deep: bool, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if is_deep && !path.ends_with("tests") {
                prose(&path, is_deep, pages);
            }
        } else if path
            .extension()
            .is_some_and(|extension| ["md", "rs", "toml", "yml"].iter().any(|known| extension == *known))
        {
            pages.push(path);
        }
    }
}

#[test]
fn cycles_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        cycles(&graph)
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

/// The top-level modules of a crate, each with the modules that it names.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn sources() -> Vec<PathBuf> {
    let root = root();
    let crates = fs::read_dir(root.join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path());
    let mut sources: Vec<_> =
        crates.chain([root.join("xtask"), root.join("fuzz")]).map(|folder| folder.join("src")).collect();
    sources.sort();
    sources
}

/// The modules that each module of a crate names.
fn edges(source: &Path) -> Graph {
    let root = ["lib.rs", "main.rs"].map(|name| source.join(name));
    let root = root.iter().find_map(|path| fs::read_to_string(path).ok()).unwrap();
    let module = Regex::new(r"(?m)^(?:pub(?:\([^)]*\))? )?mod (\w+);").unwrap();
    let modules: BTreeSet<&str> =
        module.captures_iter(&root).map(|found| found.extract::<1>().1[0]).collect();
    // A name that the root re-exports belongs to a module.
    let mut exports = BTreeMap::new();
    let export = Regex::new(r"(?m)^pub use (?:self::)?(\w+)::([^;]*);").unwrap();
    let word = Regex::new(r"\w+").unwrap();
    for found in export.captures_iter(&root) {
        let (_, [module, names]) = found.extract();
        exports.extend(word.find_iter(names).map(|name| (name.as_str(), module)));
    }
    let mut graph = Graph::new();
    for module in &modules {
        let mut texts = vec![source.join(format!("{module}.rs"))];
        texts.extend(rust_files(&source.join(module)));
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

/// The sources in a folder and below it.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (mut open, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// The first segment after `crate::` of all paths, outside comments and tests.
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

/// The members of a list of imports, after its opening brace.
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

/// The groups of modules in a graph that reach each other.
fn cycles(graph: &Graph) -> Vec<Vec<String>> {
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
    let cycles =
        reached.iter().filter(|(module, others)| others.contains(*module)).map(|(module, others)| {
            let is_back = |other: &&&String| reached.get(**other).is_some_and(|back| back.contains(*module));
            others.iter().filter(is_back).map(|other| (*other).clone()).collect::<Vec<_>>()
        });
    cycles.collect::<BTreeSet<_>>().into_iter().collect()
}
