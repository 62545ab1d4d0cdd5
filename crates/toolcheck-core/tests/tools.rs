//! Definitions of tools in a file of their own, in each form.

use toolcheck_core::tools::{self, read};
use toolcheck_json::Document;

/// Definitions as JSON writes them, and what should be one and is none.
fn texts(kind: &str) -> Vec<String> {
    let mut all: std::collections::BTreeMap<String, Vec<String>> =
        serde_json::from_str(include_str!("tools.json")).unwrap();
    all.remove(kind).unwrap()
}

#[test]
fn every_form_says_the_same() {
    let schema = Some(br#"{"type": "object"}"#.to_vec());
    let wanted = vec![("tide".to_owned(), schema)];
    for form in texts("forms") {
        let found = read(Document::read(form.as_bytes()).root());
        let found = found.map(|found| found.into_iter().map(|one| (one.name, one.schema)).collect());
        assert_eq!(found.as_ref(), Some(&wanted), "{form}");
    }
    assert_eq!(read(Document::read(b"{}").root()), None);
}

#[test]
fn an_element_that_should_define_a_tool_is_found() {
    let misfit = |list: &str| {
        let document = Document::read(list.as_bytes());
        tools::misfit(document.root()).map(|tool| String::from_utf8_lossy(tool.raw()).into_owned())
    };
    for wrong in texts("wrong") {
        assert_eq!(misfit(&format!(r#"[{{"name": "low"}}, {wrong}]"#)).as_ref(), Some(&wrong));
        let grouped = format!(r#"{{"tools": [{{"functionDeclarations": [{wrong}]}}]}}"#);
        assert_eq!(misfit(&grouped).as_ref(), Some(&wrong));
    }
    for right in texts("right") {
        assert_eq!(misfit(&format!("[{right}]")), None, "{right}");
    }
}
