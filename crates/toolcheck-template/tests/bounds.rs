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

#[test]
fn long_texts_are_not_made() {
    for source in [
        "{{ 'a' * 1000000000 }}",
        "{{ ['a'] * 1000000000 }}",
        "{{ 'a'.ljust(10**12) }}",
        "{{ 'a'|center(1000000000) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:1000000000}'.format('a') }}",
        "{{ 'a\\nb'|indent(1000000000) }}",
        "{{ messages|tojson(indent=1000000000) }}",
        "{{ (('x' * 100000).replace('x', 'y' * 100000))|length }}",
        "{{ (('x' * 3000000)|list)|join('x' * 3000000) }}",
        "{% set ns = namespace(a='aaaaaaaaaa') %}{% for i in range(1000) %}{% set ns.a = ns.a + ns.a %}{% endfor %}",
        "{% set ns = namespace(a=[1]) %}{% for i in range(1000) %}{% set ns.a = ns.a + ns.a %}{% endfor %}",
        "{% for i in range(1000) %}{% for j in range(1000) %}{{ 'a' * 100 }}{% endfor %}{% endfor %}",
    ] {
        too_much(source);
    }
}

#[test]
fn loops_end() {
    too_much(
        "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}",
    );
    too_much(
        "{% for a in range(99999) %}{% for b in range(99999) %}{% set x = [a, b]|length %}{% endfor %}{% endfor %}",
    );
}

/// Values that share their parts are larger than all memory when they are gone through, and a filter may go through much.
#[test]
fn walks_end() {
    let shared = "{% set ns = namespace(s=['l'], t=['l']) %}{% for i in range(40) %}{% set ns.s = [ns.s, ns.s] %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}";
    for source in [
        "{{ ns.s == ns.t }}{{ 1 }}",
        "{{ ns.s|tojson|length }}",
        "{{ ns.s|string|length }}",
        "{{ range(100000)|unique|list|length }}",
        "{% set t = namespace(t=(1,)) %}{% for i in range(40) %}{% set t.t = (t.t, t.t) %}{% endfor %}{{ {t.t: 1} }}",
        "{% set a = 'a' * 1000000 %}{% set b = 'a' * 500000 + 'b' %}{% for i in range(100000) %}{% if b in a %}{% endif %}{% endfor %}",
    ] {
        too_much(&format!("{shared}{source}"));
    }
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
fn recursion_ends() {
    too_much("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}");
    too_much(
        "{% macro m(x) %}{% if x %}{% for y in [x] %}{{ m([y]) }}{% endfor %}{% endif %}{% endmacro %}{{ m([1]) }}",
    );
    too_much(
        "{% set ns = namespace(x=1) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
    );
    too_much(
        "{% set ns = namespace(x=1) %}{% for i in range(100000) %}{% set ns.x = {'a': ns.x} %}{% endfor %}{{ ns.x }}",
    );
    // Each copy of a dict costs its size.
    too_much(
        "{% set ns = namespace(d={}) %}{% for i in range(99999) %}{% set ns.d = dict(ns.d, **{i|string: 1}) %}{% endfor %}",
    );
    too_much("{% for x in [[1]] recursive %}{{ loop([x]) }}{% endfor %}");
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
