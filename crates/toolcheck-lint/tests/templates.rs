//! Chat templates that toolcheck can't run to their end, and conversations that are fixed for a template.

use std::sync::Arc;

use toolcheck_core::Level;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_lint::{FixOptions, Options, fix, lint};
use toolcheck_template::Template;

/// The findings about a clean request, with this template: their level, place and message.
fn findings(template: &str) -> Vec<(Level, String, String)> {
    findings_of(template, r#"{"messages": [{"role": "user", "content": "when is high tide?"}]}"#)
}

fn findings_of(template: &str, text: &str) -> Vec<(Level, String, String)> {
    let template = Template::from_file_bytes("a.jinja", template.as_bytes()).unwrap();
    let options = Options::new().template(Some(Arc::new(template.into())));
    let report = lint("request.json", text.as_bytes(), &options);
    let findings = report.findings.into_iter();
    findings
        .map(|finding| (finding.level, finding.spot.pointer.to_string(), finding.message.to_string()))
        .collect()
}

#[test]
fn what_is_not_checked_is_not_clean() {
    let unknown = findings("{% include 'tools.jinja' %}{% for m in messages %}{{ m.content }}{% endfor %}");
    let endless = findings("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}");
    let warning = |message: &str| vec![(Level::Warning, "/messages".to_owned(), message.to_owned())];
    assert_eq!(
        unknown,
        warning("toolcheck can't run the chat template here: the tag include, which needs other files")
    );
    assert_eq!(
        endless,
        warning("toolcheck can't run the chat template here: the template makes too many texts")
    );
    // A Jinja file alone has no special tokens.
    let token = findings("{{ bos_token + 'a' }}{% for m in messages %}{{ m.content }}{% endfor %}");
    assert_eq!(
        token,
        warning(
            "toolcheck can't run the chat template here: 'bos_token' is undefined: the tokenizer_config.json of the model has it"
        )
    );
    assert_eq!(findings("{% for m in messages %}{{ m.content }}{% endfor %}"), []);
}

/// The text that fixes make with this template, and the rules whose findings are left.
fn fixed(
    template: &str,
    text: &str,
    (kind, is_unsafe): (TranscriptKind, bool),
) -> (String, Vec<&'static str>) {
    let template = Template::from_file_bytes("a.jinja", template.as_bytes()).unwrap();
    let options = Options::new().kind(kind).template(Some(Arc::new(template.into())));
    let fixed = fix("request.json", text.as_bytes(), &options, &FixOptions::new().unsafe_fixes(is_unsafe));
    let left = fixed.report().findings.iter().map(|finding| finding.rule.as_str()).collect();
    (String::from_utf8_lossy(&fixed.bytes).into_owned(), left)
}

/// Prints everything.
const ALL: &str = "{% for m in messages %}<{{ m.role }}>{{ m.name }} {{ m.content }}{% for c in m.tool_calls or [] %}\
    {{ {'id': c.id, 'name': c.function.name, 'arguments': c.function.arguments} | tojson }}{% endfor %}{% endfor %}";

const CALLED: &str = r#"{"messages": [
  {"role": "user", "content": "tide and wind?"},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{\"port\": \"Oban\"}"}},
    {"id": "call_2", "type": "function", "function": {"name": "wind", "arguments": "{}"}}
  ]},
  {"role": "tool", "tool_call_id": "call_1", "content": "at noon"},
  {"role": "tool", "tool_call_id": "call_2", "content": "from the west"}
]}"#;

const REQUEST: (TranscriptKind, bool) = (TranscriptKind::Request, false);
const GUESSED: (TranscriptKind, bool) = (TranscriptKind::Request, true);
const ROW: (TranscriptKind, bool) = (TranscriptKind::Dataset, false);

#[test]
fn null_becomes_an_empty_text() {
    let expected = CALLED.replace("null", "\"\"");
    assert_eq!(fixed(ALL, CALLED, REQUEST), (expected, vec![]));
}

#[test]
fn the_arguments_of_rows_become_objects() {
    let row = r#"{"messages": [{"role": "user", "content": "tide?"}, {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{\"port\":\n \"Oban\"}"}}]}, {"role": "tool", "tool_call_id": "call_1", "name": "tide", "content": "at noon"}]}"#;
    let expected = row.replace(r#""{\"port\":\n \"Oban\"}""#, r#"{"port": "Oban"}"#);
    assert_eq!(fixed(&ALL.replace("m.content", "(m.content or '')"), row, ROW), (expected, vec![]));
}

#[test]
fn several_forms_are_needed_at_once() {
    let strict = format!(
        "{{% for m in messages %}}{{% if m.content is none %}}{{{{ raise_exception('no content') }}}}{{% endif %}}\
         {{% for c in m.tool_calls or [] %}}{{% if c.id | length != 9 %}}{{{{ raise_exception('nine') }}}}{{% endif %}}\
         {{% endfor %}}{{% endfor %}}{ALL}"
    );
    let (text, left) = fixed(&strict, CALLED, REQUEST);
    assert_eq!(left, [""; 0]);
    assert!(
        text.contains(r#""content": """#) && !text.contains("call_1") && !text.contains("call_2"),
        "{text}"
    );
}

#[test]
fn results_are_put_into_the_order_of_their_calls() {
    let lines: Vec<&str> = CALLED.lines().collect();
    let (one, other) = (lines[6].trim_end_matches(','), lines[7]);
    let swapped = format!("{}\n{other},\n{one}\n]}}", lines[..6].join("\n")).replace("null", "\"\"");
    let nameless = ALL.replace("{{ m.name }}", "");
    assert_eq!(fixed(&nameless, &swapped, REQUEST), (CALLED.replace("null", "\"\""), vec![]));
    // This one prints names.
    let (text, left) = fixed(&ALL.replace("'id': c.id, ", ""), &swapped, REQUEST);
    assert_eq!(left, [""; 0]);
    assert!(text.find("at noon") < text.find("from the west"), "{text}");
}

#[test]
fn a_text_beside_calls_goes_before_them_and_calls_one_after_another() {
    let one_call = "{% for m in messages %}{% if m.tool_calls %}{% if m.tool_calls | length != 1 %}\
        {{ raise_exception('one call at a time') }}{% endif %}{{ m.tool_calls[0].function | tojson }}\
        {% else %}{{ m.content }}{% endif %}{% endfor %}";
    let text = CALLED.replace("null", "\"I look.\"");
    assert_eq!(fixed(one_call, &text, REQUEST).1, ["template-refuses"]);
    let (text, left) = fixed(one_call, &text, GUESSED);
    assert_eq!(left, [""; 0], "{text}");
    assert!(text.contains(r#"{"role": "assistant", "content": "I look."},"#), "{text}");
    let second = r#"{"role": "assistant", "content": "", "tool_calls": [{"id": "call_2", "#;
    assert!(text.find("at noon") < text.find(second) && text.contains(second), "{text}");
}

#[test]
fn messages_of_the_user_are_merged() {
    let alternating = "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}\
        {{ raise_exception('roles must alternate') }}{% endif %}{{ m.content }}{% endfor %}";
    let text =
        r#"{"messages": [{"role": "user", "content": "tide?"}, {"role": "user", "content": "in Oban"}]}"#;
    let merged = r#"{"messages": [{"role": "user", "content": "tide?\n\nin Oban"}]}"#.to_owned();
    assert_eq!(fixed(alternating, text, GUESSED), (merged, vec![]));
}

#[test]
fn what_no_form_helps_is_left() {
    let knows_no_calls = "{% for m in messages %}{{ m.content }}{% endfor %}";
    let text = CALLED.replace("null", "\"\"");
    let (same, left) = fixed(knows_no_calls, &text, GUESSED);
    assert_eq!(same, text);
    assert_eq!(left, ["template-loses"; 2]);
}

#[test]
fn what_a_server_makes_of_other_formats_is_rendered() {
    let silent = "{% for m in messages %}{{ m.content or m.tool_calls }}{% if m.role == 'tool' %}{{ m.tool_call_id }}\
        {% endif %}{% endfor %}";
    let lost = |place: &str| {
        vec![(Level::Warning, place.to_owned(), "tool call `call_1` is not in the prompt".to_owned())]
    };
    let messages = r#"{"model": "m", "max_tokens": 64, "system": "Be brief.", "messages": [
        {"role": "user", "content": "tide?"},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."},
          {"type": "tool_use", "id": "call_1", "name": "tide", "input": {"port": "Oban"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "at noon"}]}]}"#;
    assert_eq!(findings_of(silent, messages), lost("/messages/1/content/1"));
    let items = r#"{"model": "m", "instructions": "Be brief.", "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "tide?"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {"type": "function_call", "call_id": "call_1", "name": "tide", "arguments": "{\"port\": \"Oban\"}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "at noon"}]}"#;
    assert_eq!(findings_of(silent, items), lost("/input/2"));
    for text in [messages, items] {
        assert_eq!(findings_of(ALL, text), [], "{text}");
    }
    let no_system =
        format!("{{% if messages[0].role == 'system' %}}{{{{ raise_exception('no') }}}}{{% endif %}}{ALL}");
    let refused = |text| findings_of(&no_system, text).pop().map(|(_, place, _)| place);
    assert_eq!(refused(messages).as_deref(), Some("/system"));
    assert_eq!(refused(items).as_deref(), Some("/instructions"));
    // What becomes of an image, the template does not say.
    let image = r#"{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}"#;
    let image = messages.replace(r#""content": "tide?""#, &format!(r#""content": [{image}]"#));
    let [(level, _, message)] = &findings_of(ALL, &image)[..] else { panic!("one finding") };
    assert!(*level == Level::Warning && message.contains("can't run"), "{message}");
}

#[test]
fn what_the_system_says_comes_first() {
    let strict = format!(
        "{{% for m in messages %}}{{% if m.role == 'system' and not loop.first %}}\
         {{{{ raise_exception('System message must be at the beginning') }}}}{{% endif %}}{{% endfor %}}{ALL}"
    );
    let text = r#"{"messages": [{"role": "user", "content": "tide?"}, {"role": "system", "content": "Be brief."}, {"role": "user", "content": "and wind?"}]}"#;
    let (text, left) = fixed(&strict, text, GUESSED);
    assert_eq!(left, [""; 0]);
    assert!(
        text.starts_with(r#"{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user""#),
        "{text}"
    );
}

/// Rows of a data set whose conversation is in two lists.
const ROWS_OF_LISTS: [&str; 3] = [
    r#"{"prompt": [USER], "completion": [CALL]}"#,
    r#"{"prompt": [USER], "chosen": [CALL], "rejected": [USER]}"#,
    r#"{"messages": [USER], "chosen": CALL, "rejected": USER}"#,
];

#[test]
fn prompt_and_answer_of_a_row_are_one_conversation() {
    let template = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}";
    let call = r#"{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "tide", "arguments": "{\"port\": \"Oban\"}"}}]}"#;
    for row in ROWS_OF_LISTS {
        let row = row.replace("USER", r#"{"role": "user", "content": "when?"}"#).replace("CALL", call);
        let found = findings_of(template, &row);
        let is_at_answer = |pointer: &str| {
            pointer.ends_with("/tool_calls/0/function/arguments") && !pointer.starts_with("/prompt")
        };
        assert!(
            matches!(&found[..], [(Level::Error, pointer, message)]
                if is_at_answer(pointer) && message.contains("encoded twice")),
            "{row}: {found:?}"
        );
        let [(_, at, _)] = &findings_of("{{ raise_exception('no') }}", &row)[..] else { panic!("{row}") };
        assert!(matches!(&**at, "/prompt" | "/prompt/0" | "/messages" | "/messages/0"), "{at}");
    }
}

#[test]
fn rows_that_only_a_server_rewrites_are_counted() {
    let template = Template::from_file_bytes("a.jinja", b"{{ raise_exception('no') }}").unwrap();
    let options = Options::new().kind(TranscriptKind::Dataset).template(Some(Arc::new(template.into())));
    let row = r#"{"system": "so", "messages": [{"role": "user", "content": "when?"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]}]}"#;
    let report = lint("row.jsonl", row.as_bytes(), &options);
    assert_eq!(report.findings.len(), 0, "{:?}", report.findings);
    assert_eq!(report.not_read.iter().map(|left| left.count).sum::<usize>(), 1);
}
