//! The site of the documentation: its table of contents has every page, and its links lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::common::{files_below, root, text};

/// Every page in `docs` by its path there, without the table of contents.
fn pages() -> BTreeMap<String, String> {
    let files = files_below("docs").into_iter();
    files
        .filter(|path| path.ends_with(".md") && path != "docs/SUMMARY.md")
        .map(|path| (path["docs/".len()..].to_owned(), text(&path)))
        .collect()
}

/// The lines of a page that are not in a block of code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut fence = None;
    page.lines().filter(move |line| {
        let start = line.trim_start();
        let marks = &start[..start.len() - start.trim_start_matches('`').len()];
        match fence {
            None if marks.len() >= 3 => fence = Some(marks.len()),
            Some(length) if marks.len() >= length && start.len() == marks.len() => {
                fence = None;
                return false;
            }
            _ => {}
        }
        fence.is_none()
    })
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn headings(page: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let lines = prose(page).filter(|line| line.starts_with('#'));
    let anchors = lines.map(|line| anchor(line.trim_start_matches('#').trim()));
    anchors
        .map(|anchor| {
            let count = seen.entry(anchor.clone()).or_default();
            *count += 1;
            if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
        })
        .collect()
}

/// Where a link of a page leads, from the root of the repository.
fn target(page: &str, link: &str) -> PathBuf {
    let mut path = PathBuf::from("docs").join(Path::new(page).parent().unwrap());
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => assert!(path.pop(), "{page}: {link} leaves the repository"),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

#[test]
fn the_table_of_contents_lists_every_page_with_its_heading() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let entry = regex::Regex::new(r"^ *- \[(.+)\]\((.+\.md)\)$").unwrap();
    let mut listed = BTreeMap::new();
    for line in summary.lines().filter(|line| line.trim_start().starts_with('-')) {
        let (_, [title, path]) = entry.captures(line).unwrap_or_else(|| panic!("{line}")).extract();
        assert!(listed.insert(path.to_owned(), title.to_owned()).is_none(), "{path} is listed twice");
    }
    let expected: BTreeMap<String, String> = pages()
        .into_iter()
        .map(|(path, page)| {
            let title = page.lines().find_map(|line| line.strip_prefix("# "));
            (path.clone(), title.unwrap_or_else(|| panic!("{path} has no heading")).trim().to_owned())
        })
        .collect();
    let missing: Vec<_> = expected.iter().filter(|(path, title)| listed.get(*path) != Some(title)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:#?}");
    assert_eq!(listed.len(), expected.len());
    assert!(listed.len() > 100, "{} pages", listed.len());
}

#[test]
fn links_lead_somewhere() {
    let link = regex::Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let code = regex::Regex::new(r"`+[^`]*`+").unwrap();
    let pages = pages();
    let (mut links, mut broken) = (0, Vec::new());
    for (name, page) in &pages {
        for line in prose(page) {
            let line = code.replace_all(line, "");
            for (_, [address]) in link.captures_iter(&line).map(|found| found.extract()) {
                if address.contains("://") {
                    continue;
                }
                links += 1;
                let (path, heading) = address.split_once('#').unwrap_or((address, ""));
                let at = if path.is_empty() { Path::new("docs").join(name) } else { target(name, path) };
                let text = std::fs::read_to_string(root().join(&at));
                if !root().join(&at).exists() {
                    broken.push(format!("{name}: {address}: no such file"));
                } else if !heading.is_empty() && !headings(&text.unwrap_or_default()).contains(heading) {
                    broken.push(format!("{name}: {address}: no such heading"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(links >= 1300, "{links} links");
}

#[test]
fn anchors_are_those_of_the_readers() {
    for (heading, expected) in [
        ("One problem, one finding", "one-problem-one-finding"),
        ("`ai` 6.0.326 (compatible)", "ai-60326-compatible"),
        ("snake_case and kebab-case", "snake_case-and-kebab-case"),
    ] {
        assert_eq!(anchor(heading), expected);
    }
    let page = "# A\n```md\n# B\n```\n## A\n";
    assert_eq!(headings(page).into_iter().collect::<Vec<_>>(), ["a", "a-1"]);
}
