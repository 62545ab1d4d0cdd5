//! Prompts and errors are those of transformers, which `conformance/templates/check.py` wrote down.

use std::fs;

use serde_json::Value;
use toolcheck_json::Document;
use toolcheck_template::{Arguments, Input, Template};

fn read(name: &str) -> String {
    fs::read_to_string(format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn check(template: &Template, input: &Input<'_>, expected: &Value, name: &str, differing: &mut Vec<String>) {
    let wanted = match expected["prompt"].as_str() {
        Some(prompt) => Ok(prompt.to_owned()),
        None => Err(expected["refusal"].as_str().unwrap_or_default().to_owned()),
    };
    let found = template.render(input).map(|prompt| prompt.text).map_err(|refusal| refusal.message);
    if found != wanted {
        differing.push(format!("{name}\n  expected {wanted:?}\n  found    {found:?}"));
    }
}

#[test]
fn templates_print_what_transformers_prints() {
    let expected: Value = serde_json::from_str(&read("expected.json")).unwrap();
    let mut differing = Vec::new();
    let cases = expected.as_object().unwrap();
    assert!(cases.len() > 250);
    for (case, expected) in cases {
        let [name, history, variant] = case.split('/').collect::<Vec<_>>()[..] else { panic!("{case}") };
        let text = read(&format!("histories/{history}.json"));
        let body = Document::read(text.as_bytes());
        let arguments = if variant == "object" { Arguments::Parsed } else { Arguments::AsGiven };
        check(
            &super::named(name),
            &Input { arguments, ..super::input(&body) },
            expected,
            case,
            &mut differing,
        );
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// What is known to differ: printed addresses, one letter's title case, `self`, and three texts of errors.
const DIFFERENT: &[&str] = &[
    "{{ none[1:] }}|{{ d[1:] }}",
    "{{ d.items }}",
    "{{ raise_exception() }}",
    "{{ raise_exception(d) }}",
    "{% include 'x' %}",
    "{{ 'ß'.upper() }} {{ 'İ'.lower()|length }} {{ 'ǆ'.title() }}",
    "{{ caller }}|{{ self }}",
    "{{ self.x }}",
    "{{ none|items }}",
];

#[test]
fn snippets_print_what_transformers_prints() {
    let text = read("snippets.json");
    let parsed: Value = serde_json::from_str(&text).unwrap();
    let document = Document::read(text.as_bytes());
    let request = document.root().get("request").unwrap();
    let mut input = Input::of_request(request).unwrap();
    input.variables = document.root().get("variables");
    input.now = Some(toolcheck_template::Now::from_unix(1_764_163_200));
    let mut differing = Vec::new();
    let snippets = parsed["snippets"].as_object().unwrap();
    assert!(snippets.len() > 200);
    for (snippet, expected) in snippets.iter().filter(|(snippet, _)| !DIFFERENT.contains(&&***snippet)) {
        check(&Template::from_text(snippet, &[]), &input, expected, snippet, &mut differing);
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn what_the_model_wrote_is_known() {
    let body = r#"{"messages": [{"role": "user", "content": "é?"}, {"role": "assistant", "content": "ü!"}]}"#;
    let prompt = {
        let document = Document::read(body.as_bytes());
        let input = Input { add_generation_prompt: false, ..super::input(&document) };
        super::named("plain").render(&input).unwrap()
    };
    let generated: Vec<&str> = prompt.generated.iter().map(|range| &prompt.text[range.clone()]).collect();
    assert_eq!(generated, ["ü!<|end|>"]);
}

#[test]
fn an_error_has_its_line() {
    let refusal =
        super::render("a\nb\n{{ 1 }}\n{{ raise_exception('no') }}", r#"{"messages": []}"#).unwrap_err();
    assert_eq!((refusal.line, &*refusal.message), (4, "no"));
    let refusal = super::render("a\n{% for x in messages %}\n", r#"{"messages": []}"#).unwrap_err();
    assert_eq!(refusal.kind, toolcheck_template::RefusalKind::Syntax);
}
