//! Checks the rules against their own documentation, the table against its directory, and the targets' data against the
//! rules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toolcheck_config::Config;
use toolcheck_core::readers::{self, SourceKind};
use toolcheck_core::{RuleId, formats, targets};
use toolcheck_lint::{Category, Options, lint, rules, vocabulary};

use crate::testing::{files_below, ids_in};

#[test]
fn policies_name_rules() {
    for kind in SourceKind::ALL {
        for rule in kind.policy().rules() {
            assert!(!rules::get(rule).only_explains(), "{}: `{rule}` reports nothing", kind.as_str());
        }
    }
}

#[test]
fn each_id_has_its_rule_and_fixes_are_described_in_sentences() {
    assert!(rules::ALL.iter().map(|rule| rule.id).eq(RuleId::ALL.iter().copied()));
    for fix in rules::ALL.iter().filter_map(|rule| rule.fix.as_ref()) {
        assert!(fix.description().ends_with('.'), "{}", fix.description());
        assert!(!fix.otherwise.is_empty() && !fix.otherwise.ends_with('.'), "{}", fix.otherwise);
    }
}

#[test]
fn no_rule_is_newer_than_the_program() {
    let version = |text: &str| -> Vec<u32> {
        text.split(['.', '-']).take(3).map(|number| number.parse().unwrap()).collect()
    };
    for rule in rules::ALL {
        assert!(version(rule.since) <= version(env!("CARGO_PKG_VERSION")), "{}: {}", rule.id, rule.since);
    }
}

struct Example<'d> {
    section: &'d str,
    info: &'d str,
    text: String,
    /// The lines on which a finding must start.
    flagged: Vec<u64>,
    config: Option<String>,
}

fn examples<'p>(page: &'p str, id: &str) -> Vec<Example<'p>> {
    let mut found = Vec::new();
    let mut section = "";
    let mut open: Option<Example<'_>> = None;
    let mut config = None;
    for line in page.lines() {
        if let Some(example) = &mut open {
            if line == "```" {
                match open.take() {
                    Some(example) if example.info == "toml" => config = Some(example.text),
                    example => found.extend(example),
                }
                continue;
            }
            let number = example.text.lines().count() as u64 + 1;
            let code = match line.strip_suffix("// flagged") {
                Some(code) => {
                    example.flagged.push(number);
                    code.trim_end()
                }
                None => line,
            };
            example.text.push_str(code);
            example.text.push('\n');
        } else if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if let Some(info) = line.strip_prefix("```") {
            open = Some(Example {
                section,
                info,
                text: String::new(),
                flagged: Vec::new(),
                config: config.clone(),
            });
        }
    }
    assert!(open.is_none(), "{}: an example is never closed", id);
    found
}

/// Runs an example as a user would: the format is detected, and only the options after its name are set.
fn run(example: &Example<'_>) -> Vec<(&'static str, u64)> {
    let mut words = example.info.split(' ');
    assert!(matches!(words.next(), Some("json" | "jsonl")), "{}", example.info);
    let id = words.next().expect("an example names its format");
    assert!(formats::find(id).is_some() || readers::find(id).is_some(), "{}", example.info);
    let config = Config::parse(example.config.as_deref().unwrap_or_default()).unwrap();
    let mut options = Options::new().rules(rules::ALL.to_vec()).settings(config.settings.clone());
    for word in words {
        match word.split_once('=') {
            Some(("target", id)) => {
                options = options.target(Some(targets::find(id).expect("the target exists")))
            }
            #[cfg(feature = "template")]
            Some(("template", name)) => {
                let file = format!("../toolcheck-template/tests/templates/{name}.jinja");
                let text = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
                let template = toolcheck_template::Template::from_file_bytes("a.jinja", &text).unwrap();
                options = options.template(Some(std::sync::Arc::new(template.into())));
            }
            Some(("kind", kind)) => options = options.kind(kind.parse().unwrap()),
            _ => panic!("`{word}` is not an option of an example"),
        }
    }
    let report = lint("example", example.text.as_bytes(), &options);
    // In one of the examples, no format is recognised.
    assert!(
        report.format.is_none_or(|found| found == id),
        "{} is read as {:?}:\n{}",
        example.info,
        report.format,
        example.text
    );
    report.findings.iter().map(|finding| (finding.rule.as_str(), finding.spot.start.line)).collect()
}

#[test]
#[cfg_attr(
    not(all(feature = "shell", feature = "template")),
    ignore = "rules need the features `shell` and `template`"
)]
fn examples_have_exactly_the_flagged_findings() {
    for rule in rules::ALL {
        for example in examples(rule.page(), rule.id.as_str()) {
            let found = run(&example);
            let expected: Vec<_> = example.flagged.iter().map(|line| (rule.id.as_str(), *line)).collect();
            match example.section {
                "Fails" => assert!(!expected.is_empty(), "{}: a failing example flags no line", rule.id),
                "Passes" => assert!(expected.is_empty(), "{}: a passing example flags a line", rule.id),
                other => panic!("{}: an example under `{other}`", rule.id),
            }
            assert_eq!(found, expected, "{} ({}):\n{}", rule.id, example.info, example.text);
        }
    }
}

#[test]
fn every_page_has_its_sections() {
    for rule in rules::ALL {
        let page = rule.page();
        let has = |title: &str| page.lines().any(|line| line == title);
        assert!(
            rule.summary().ends_with('.') && rule.summary().len() < 90,
            "{}: {}",
            rule.id,
            rule.summary()
        );
        // A rule that only explains an error has no examples, but says what to do.
        let last = if !rule.only_explains() { "## Passes" } else { "## What to do" };
        for title in ["## Why is this bad?", last] {
            assert!(has(title), "{} lacks `{title}`", rule.id);
        }
        // A page without a failing example says why.
        assert!(
            rule.only_explains() || has("## Fails") || page.contains("can't be shown"),
            "{} lacks `## Fails`",
            rule.id
        );
    }
}

#[test]
fn the_table_equals_its_directory() {
    let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id.as_str()).collect();
    for extension in ["rs", "md"] {
        assert_eq!(ids, ids_in("src/rules", extension), "{extension}");
    }
}

#[test]
fn every_rule_has_a_case_in_the_corpus() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let is_expectation = |path: &PathBuf| path.to_string_lossy().ends_with(".expect.json");
    let files = files_below(fixtures).into_iter().filter(is_expectation);
    let expected: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for rule in rules::ALL {
        // No case names a template, and one would be ten megabytes long.
        let has_none = rule.category == Category::Templates || rule.id == RuleId::OversizedContent;
        let is_there = expected.contains(&format!("\"rule\": \"{}\"", rule.id));
        assert!(is_there || has_none || rule.only_explains(), "no case of the corpus has {}", rule.id);
    }
}

/// The files in a folder and below it that are no pages.
fn sources(folder: PathBuf) -> impl Iterator<Item = PathBuf> {
    files_below(folder).into_iter().filter(|path| path.extension().is_none_or(|extension| extension != "md"))
}

#[test]
fn no_rule_names_a_provider() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // How the server vLLM prepares a prompt is named after it.
    let ids = targets::ids().filter(|id| *id != "vllm");
    let names: BTreeSet<&str> =
        ids.chain(["bedrock", "openai", "vertex", "azure", "claude", "gpt"]).collect();
    for path in sources(folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            // Documentation may name providers, and its examples are in their formats.
            if line.trim_start().starts_with("//") {
                continue;
            }
            let line_lower = line.to_lowercase();
            for name in &names {
                assert!(!line_lower.contains(name), "{}:{}: {line}", path.display(), number + 1);
            }
        }
    }
}

/// Words that both formats and rules use, and why.
const SHARED: [(&str, &str); 5] = [
    ("local_shell", "a tool name that agents use too"),
    ("arguments", "a category of rules"),
    ("content", "a category of rules"),
    ("tools", "a category of rules"),
    ("required", "a keyword of JSON Schema"),
];

#[test]
fn no_rule_names_a_field_of_a_format() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolcheck-core/src/formats");
    let mut fields: BTreeSet<String> =
        words(formats.clone()).into_iter().map(|(word, _)| word).filter(|word| has_parts(word)).collect();
    let listed = listed(&formats);
    assert!(listed.iter().any(|word| word == "service_tier"), "{listed:?}");
    fields.extend(listed.into_iter().filter(|word| has_parts(word)));
    // A single word may mean anything, unless a format uses it as a key.
    fields.extend(formats::ALL.iter().flat_map(|format| format.marks.keys()).map(str::to_owned));
    for known in ["tool_choice", "toolConfig", "cache_control", "functionResponse", "citations", "parts"] {
        assert!(fields.contains(known), "{known}");
    }
    // Cases and placeholders are the rules' own words.
    let declared: BTreeSet<&str> = rules::ALL
        .iter()
        .flat_map(|rule| rule.cases.iter().chain(rule.placeholders()))
        .map(|term| term.name)
        .filter(|name| !has_parts(name))
        .collect();
    for (word, place) in words(source) {
        let is_shared = declared.contains(&*word) || SHARED.iter().any(|(shared, _)| *shared == word);
        assert!(is_shared || !fields.contains(&word), "{place}: `{word}`");
    }
}

/// Whether a name has several parts, such as `tool_choice` and `toolChoice`.
fn has_parts(name: &str) -> bool {
    name.contains(|character: char| character == '_' || character.is_ascii_uppercase())
}

/// The words that are string literals outside comments and tests, such as `tool_choice`, each with its line.
fn words(folder: PathBuf) -> Vec<(String, String)> {
    let is_word = |word: &str| {
        let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_plain && word.starts_with(|first: char| first.is_ascii_lowercase())
    };
    let mut words = Vec::new();
    for path in sources(folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in (1..).zip(code.lines()) {
            if line.trim_start().starts_with("//") || path.ends_with("tests.rs") {
                continue;
            }
            // The text between two quotes. The code between two strings is never a word.
            let found = line.split('"').skip(1).filter(|word| is_word(word));
            words.extend(found.map(|word| (word.to_owned(), format!("{}:{number}", path.display()))));
        }
    }
    words
}

/// The words of the lists that are written as one text.
fn listed(folder: &Path) -> Vec<String> {
    let texts = files_below(folder.to_owned()).into_iter().map(|path| std::fs::read_to_string(path).unwrap());
    let lists = |text: String| -> Vec<String> {
        let lists = text.split(" words(").skip(1).filter_map(|rest| rest.split(");").next());
        lists.flat_map(|list| list.split(['"', ' ', '\\', '\n', ','])).map(str::to_owned).collect()
    };
    texts.flat_map(lists).collect()
}

/// The names between braces of a refusal's text.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}

#[test]
fn targets_use_only_what_rules_declare() {
    let everywhere: Vec<&str> = vocabulary::EVERYWHERE.iter().map(|term| term.name).collect();
    for target in targets::all() {
        let refused = target.refusals().iter().map(|refusal| (&refusal.rule, &refusal.case));
        let tolerated = target.tolerances().iter().map(|tolerance| (&tolerance.rule, &tolerance.case));
        for (rule, case) in refused.chain(tolerated) {
            let is_case = |case: &str| rules::get(*rule).case(case).is_some();
            assert!(case.as_deref().is_none_or(is_case), "{}: {rule} has no case {case:?}", target.id);
        }
        for refusal in target.refusals() {
            // A text that only serves to recognise an error is never filled in, so any name is fine.
            let rule = Some(rules::get(refusal.rule)).filter(|_| !refusal.legacy);
            let known: Vec<&str> = match rule {
                Some(rule) => rule.placeholders().map(|term| term.name).collect(),
                None => {
                    rules::ALL.iter().flat_map(|rule| rule.placeholders()).map(|term| term.name).collect()
                }
            };
            for name in placeholders(refusal.text.as_deref().unwrap_or_default()) {
                let is_known = known.contains(&name) || everywhere.contains(&name);
                assert!(is_known, "{}: {} has no value `{name}`", target.id, refusal.rule);
            }
        }
    }
}

#[test]
fn declared_terms_are_used_or_marked() {
    let (mut cases, mut values) = (BTreeSet::new(), BTreeSet::new());
    for target in targets::all() {
        for refusal in target.refusals().iter().filter(|refusal| !refusal.legacy) {
            cases.extend(refusal.case.iter().map(|case| (refusal.rule, &**case)));
            let names = placeholders(refusal.text.as_deref().unwrap_or_default());
            values.extend(names.map(|name| (refusal.rule, name)));
        }
        for tolerance in target.tolerances() {
            cases.extend(tolerance.case.iter().map(|case| (tolerance.rule, &**case)));
        }
    }
    for rule in rules::ALL {
        for (terms, used, what) in [(rule.cases, &cases, "case"), (rule.values, &values, "value")] {
            for term in terms {
                let is_used = used.contains(&(rule.id, term.name));
                assert!(
                    is_used != term.is_for_users,
                    "{}: the {what} `{}` is {}",
                    rule.id,
                    term.name,
                    if is_used {
                        "used, so it is not only for users"
                    } else {
                        "unused: mark it `(for users)`"
                    }
                );
            }
        }
    }
}

#[test]
fn terms_are_unique_and_have_a_meaning() {
    for rule in rules::ALL {
        for terms in [rule.cases.iter().collect(), rule.placeholders().collect::<Vec<_>>()] {
            let names: BTreeSet<&str> = terms.iter().map(|term| term.name).collect();
            assert_eq!(names.len(), terms.len(), "{} declares a name twice", rule.id);
            for term in terms {
                let is_clause = !term.meaning.is_empty() && !term.meaning.ends_with('.');
                assert!(is_clause, "{}: `{}`: {}", rule.id, term.name, term.meaning);
            }
        }
    }
}

#[test]
fn a_tool_choice_is_named_by_its_key() {
    for key in ["tool_choice", "function_call"] {
        let body = format!(
            r#"{{"model": "gpt-4o", "{key}": "auto", "messages": [{{"role": "user", "content": "hi"}}]}}"#
        );
        let report = lint("example", body.as_bytes(), &Options::default());
        let [finding] = report.findings.as_slice() else { panic!("{key}: {:?}", report.findings) };
        assert_eq!(
            (finding.rule.as_str(), &*finding.spot.pointer),
            ("conflicting-parameters", &*format!("/{key}"))
        );
        let text = finding.provider_error.as_ref().and_then(|answer| answer.text.as_deref()).unwrap();
        assert!(text.starts_with(&format!("Invalid value for '{key}'")), "{text}");
    }
}
