//! Reports on agent loops: each output of a report that was read.

use std::io;

use toolcheck_json::from_base64;
use toolcheck_report::conform::{self, Report, ScenarioRun, Status};

fn sample() -> Report {
    Report::read(include_bytes!("conform.json")).unwrap()
}

fn written(write: impl Fn(&mut dyn io::Write) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn sample_in_each_output() {
    let report = sample();
    let other = Report::new("0.1.0", "2026.1", "another agent", "./other");
    let all = [report.clone(), other];
    insta::assert_snapshot!(
        "text",
        written(|out| conform::text(
            &report,
            &|check| (check != "keeps-turn").then_some("do it right"),
            &str::to_owned,
            out
        ))
    );
    insta::assert_snapshot!("markdown", written(|out| conform::markdown(&report, out)));
    insta::assert_snapshot!("junit", written(|out| conform::junit(&report, out)));
    insta::assert_snapshot!("html", written(|out| conform::html(&report, out)));
    insta::assert_snapshot!("matrix-markdown", written(|out| conform::matrix_markdown(&all, out)));
    insta::assert_snapshot!("matrix-json", written(|out| conform::matrix_json(&all, out)));
    let page = written(|out| conform::matrix_html(&all, out));
    let page = page.split_once("<main>").unwrap().1.split_once("<article").unwrap().0;
    insta::assert_snapshot!("matrix-html-table", page);
}

const SVG: &str = "http://www.w3.org/2000/svg";

#[test]
fn pages_and_junit_are_well_formed_and_each_link_of_a_page_leads_somewhere() {
    let junit = written(|out| conform::junit(&sample(), out));
    let junit = roxmltree::Document::parse(&junit).unwrap();
    let count = |name: &str| junit.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((count("testcase"), count("failure"), count("error"), count("skipped")), (7, 3, 1, 3));
    let suite = junit.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    let said = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name).unwrap());
    assert_eq!(said, ["7", "3", "1", "3"]);
    let all = [sample(), sample()];
    for page in [written(|out| conform::html(&all[0], out)), written(|out| conform::matrix_html(&all, out))] {
        let page = page.replace("<!DOCTYPE html>", "");
        let page = roxmltree::Document::parse(&page).unwrap();
        let ids: Vec<&str> = page.descendants().filter_map(|node| node.attribute("id")).collect();
        let links: Vec<&str> = page.descendants().filter_map(|node| node.attribute("href")).collect();
        assert!(links.len() > 10, "{links:?}");
        for link in links {
            if let Some(picture) = link.strip_prefix("data:image/svg+xml;base64,") {
                let picture = String::from_utf8(from_base64(picture.as_bytes()).unwrap()).unwrap();
                assert!(
                    roxmltree::Document::parse(&picture).unwrap().root_element().has_tag_name((SVG, "svg"))
                );
                continue;
            }
            assert!(
                link.strip_prefix('#').map_or(link.starts_with("https://"), |id| ids.contains(&id)),
                "{link}"
            );
        }
    }
}

#[test]
fn a_report_is_read_as_it_is_written() {
    let report = sample();
    let text = written(|out| conform::json(&report, out));
    assert_eq!(Report::read(text.as_bytes()).unwrap(), report);
    let schema =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/conform.v1.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    let faults: Vec<String> =
        schema.iter_errors(&serde_json::from_str(&text).unwrap()).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    for (text, why) in [
        ("", "it is not valid JSON (line 1, column 0)"),
        ("{\"version\": 1}", "missing field `toolcheck` at line 1 column 14"),
        ("{\"version\": 7}", "it has version 7, but this program reads version 1"),
    ] {
        assert_eq!(Report::read(text.as_bytes()).unwrap_err().to_string(), why);
    }
}

#[test]
fn only_what_counts_and_is_not_known_is_unexpected() {
    let report = sample();
    let unexpected: Vec<bool> = report.runs.iter().map(ScenarioRun::is_unexpected).collect();
    assert_eq!(unexpected, [true, true, false, true, false, false]);
}

#[test]
fn exchanges_are_kept_up_to_a_bound() {
    let mut run = ScenarioRun::new("single-call", "", "anthropic", false);
    let line = format!("{{\"request\": \"{}\"}}", "x".repeat(10_000));
    run.keep(std::iter::repeat_n(line, 20));
    assert_eq!((run.exchanges.len(), run.exchanges_left_out), (6, 14));
    run.judge();
    assert_eq!(run.status, Status::Pass);
}
