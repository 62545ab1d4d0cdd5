//! Templates of strangers cost little.

use std::time::{Duration, Instant};

use toolcheck_json::Document;
use toolcheck_template::{Input, Preparation, RefusalKind};

/// Renders a template that must be refused because it costs too much, quickly.
fn too_much(source: &str) {
    let start = Instant::now();
    let body = r#"{"messages": [{"role": "user", "content": "hi"}]}"#;
    let refusal = super::render(source, body).map(|prompt| prompt.text.len()).unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::TooMuch, "{source}: {refusal}");
    assert!(start.elapsed() < Duration::from_secs(60), "{source}: {:?}", start.elapsed());
}

/// Texts, loops and recursion without end. Values that share their parts are larger than all memory when they are gone
/// through, and a filter may go through much.
#[test]
fn what_costs_too_much_is_refused() {
    let all: std::collections::BTreeMap<String, Vec<String>> =
        serde_json::from_str(include_str!("costly.json")).unwrap();
    all.values().flatten().for_each(|source| too_much(source));
}

/// llama.cpp prints the items of lists one after another.
#[test]
fn printing_for_llama_cpp_ends() {
    let body = Document::read(br#"{"messages": [{"role": "user", "content": "hi"}]}"#);
    let source = "{% set ns = namespace(s=['l']) %}{% for i in range(40) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}";
    let input = Input { preparation: Preparation::LlamaCpp, ..super::input(&body) };
    assert_eq!(super::template(source).render(&input).unwrap_err().kind, RefusalKind::TooMuch);
}

#[test]
fn deep_templates_are_refused() {
    for (open, inner, close) in
        [("(", "1", ")"), ("[", "1", "]"), ("-", "1", ""), ("not ", "1", ""), ("f(", "1", ")")]
    {
        too_much(&format!("{{{{ {}{inner}{} }}}}", open.repeat(50_000), close.repeat(50_000)));
    }
    too_much(&format!("{{{{ 1{} }}}}", " + 1".repeat(50_000)));
    too_much(&format!("{{{{ 'a'{} }}}}", "|upper".repeat(50_000)));
    too_much(&format!("{{{{ a{} }}}}", ".b".repeat(50_000)));
    too_much(&"{% if true %}".repeat(50_000));
    let nested = format!("{}1{}", "(".repeat(40), ")".repeat(40));
    assert_eq!(super::render(&format!("{{{{ {nested} }}}}"), r#"{"messages": []}"#).unwrap().text, "1");
    let chain = format!("{{{{ 'a'{} }}}}", " + 'a'".repeat(150));
    assert_eq!(super::render(&chain, r#"{"messages": []}"#).unwrap().text.len(), 151);
}

#[test]
fn deep_requests_are_refused() {
    let deep = format!(
        r#"{{"messages": [{{"role": "user", "content": {}{}}}]}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let refusal = super::render("{{ messages }}", &deep).unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::TooMuch);
}

#[test]
fn a_closed_namespace_is_no_leak_or_overflow() {
    let source = "{% set ns = namespace() %}{% set ns.x = ns %}{% for i in range(5000) %}{% set ns.y = namespace(z=ns.y) %}\
                  {% endfor %}{{ ns.x.x.x is defined }}";
    assert_eq!(super::render(source, r#"{"messages": []}"#).unwrap().text, "True");
}

#[test]
fn a_template_can_be_shared() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<toolcheck_template::Template>();
}
