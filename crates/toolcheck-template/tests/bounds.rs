//! Templates of strangers cost little.

use std::time::{Duration, Instant};

use toolcheck_json::Document;
use toolcheck_template::{
    FILTERS, Input, Limits, METHODS_OF_TEXTS, Preparation, RefusalKind, TESTS, Template,
};

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
    // The languages of TranslateGemma are a dict of nearly 600 entries.
    let names = format!(
        "{{% set names = {{{}}} %}}{{{{ names|length }}}}",
        (0..600).map(|n| format!("'{n}': 'a',")).collect::<String>()
    );
    assert_eq!(super::render(&names, r#"{"messages": []}"#).unwrap().text, "600");
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

/// Whether the budget ends what goes through 64 kB a thousand times: 40,000 steps are worth 1.3 MB, and new texts
/// may take 32 MB.
fn ends(expression: &str) -> Option<RefusalKind> {
    let source = format!(
        "{{% set a = 'a' * 65536 %}}{{% set a2 = 'a' * 65536 %}}{{% set b = 'a' * 32768 + 'b' %}}{{% set e = 'é' * 32768 %}}\
         {{% set l = range(8192)|list %}}{{% set l2 = range(8192)|list %}}{{% set d = {{a: 1}} %}}{{% set n = {{'s': a}} %}}\
         {{% set s = namespace() %}}{{% for i in range(1000) %}}{{% set x = {expression} %}}{{% endfor %}}"
    );
    let body = Document::read(br#"{"messages": []}"#);
    let mut input = Input::of_request(body.root()).unwrap();
    input.limits = Limits { steps: 40_000, bytes: 32 << 20, ..Limits::default() };
    Template::from_text(&source, &[]).render(&input).err().map(|refusal| refusal.kind)
}

#[test]
fn whatever_goes_through_a_text_or_a_list_is_counted() {
    let expressions = "b in a; b not in a; a is in a2; e in a; -1 in l; a in [a2]; [a] == [a2]; l == l2; \
         l < l2; a == a2; a != a2; a < a2; a >= a2; a is eq(a2); d[a2]; a2 in d; {a: 1, a2: 2}; \
         a.b[a2]; n[a]; s[a]; e[-1]; e[30000]; e[-3:-2]; e[5:6]; l[1:2]; a[::9]; a ~ 1; a + '1'; \
         a * 2; l + l; (a, 1) == (a2, 2); '%s' % a; '{}'.format(a); [a]|select('odd'); \
         ['']|map('attr', a); ['']|map('replace', a, a); 'x'.join([a]); ''.startswith((a, a2)); \
         dict(l2); range(40000)|list; strftime_now(a); l|sum; l|min; [a]|sort; [a]|unique; \
         [a]|map(attribute=a)";
    for expression in expressions.split("; ") {
        assert!(ends(expression).is_some(), "{expression}");
    }
    for name in FILTERS.split(' ') {
        for value in ["a", "e", "l"] {
            for arguments in ["", ", 1", ", a", ", a, b"] {
                // What an error ends is gone through before it.
                let expression = format!("[{value}]|map('{name}'{arguments})");
                assert_eq!(ends(&expression), Some(RefusalKind::TooMuch), "{expression}");
            }
        }
    }
    for name in TESTS.split(' ') {
        let is_of_type = ends(&format!("a is {name}")).is_none();
        let of_types = "boolean callable defined escaped false float integer iterable mapping none number sequence \
                        string true undefined";
        assert_eq!(is_of_type, of_types.split(' ').any(|own| own == name), "{name}");
    }
    for name in METHODS_OF_TEXTS.iter() {
        for arguments in ["", "1", "a", "b, a", "b, 2, 9"] {
            let expression = format!("e.{name}({arguments})");
            assert!(ends(&expression).is_some(), "{expression}");
        }
    }
}
