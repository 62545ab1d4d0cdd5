//! Reading templates from files.

use toolcheck_json::Document;
use toolcheck_template::{Input, LoadError, Template, gguf_metadata_end};

fn rendered(template: &Template, body: &str) -> String {
    let body = Document::read(body.as_bytes());
    template.render(&Input::of_request(body.root()).unwrap()).unwrap().text
}

const WITHOUT: &str = r#"{"messages": []}"#;
const WITH_TOOLS: &str = r#"{"messages": [], "tools": [{}]}"#;

#[test]
fn tokenizer_config() {
    let config =
        br#"{"bos_token": {"content": "<s>", "lstrip": false}, "eos_token": "</s>", "pad_token": null,
        "chat_template": "{{ bos_token }}{{ eos_token }}{{ pad_token }}."}"#;
    let template = Template::from_file_bytes("model/tokenizer_config.json", config).unwrap();
    assert_eq!(rendered(&template, WITHOUT), "<s></s>.");
}

#[test]
fn a_list_of_templates() {
    let config = br#"{"chat_template": [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools"}]}"#;
    let template = Template::from_file_bytes("tokenizer_config.json", config).unwrap();
    assert_eq!(rendered(&template, WITHOUT), "plain");
    assert_eq!(rendered(&template, WITH_TOOLS), "tools");
    assert_eq!(template.names().collect::<Vec<_>>(), ["default", "tool_use"]);
}

#[test]
fn a_folder() {
    let config: &[u8] = br#"{"bos_token": "<s>", "chat_template": "old"}"#;
    let files = [
        ("m/tokenizer_config.json", config),
        ("m/additional_chat_templates/tool_use.jinja", b"{{ bos_token }}tools"),
        ("m/chat_template.jinja", b"{{ bos_token }}new"),
    ];
    let template = Template::from_files(&files).unwrap();
    assert_eq!(rendered(&template, WITHOUT), "<s>new");
    assert_eq!(rendered(&template, WITH_TOOLS), "<s>tools");
    assert_eq!(Template::from_files(&[]).unwrap_err(), LoadError::NoneInFolder);
    let files = [
        ("m/special_tokens_map.json", &br#"{"bos_token": "<map>", "eos_token": {"content": "<end>"}}"#[..]),
        (
            "m/tokenizer_config.json",
            br#"{"bos_token": "<s>", "chat_template": "{{ bos_token }}{{ eos_token }}"}"#,
        ),
    ];
    assert_eq!(rendered(&Template::from_files(&files).unwrap(), WITHOUT), "<s><end>");
}

#[test]
fn tokens_of_another_file() {
    let mut template = Template::from_file_bytes("m/chat_template.jinja", b"{{ bos_token }}.").unwrap();
    template.add_tokens_of(br#"{"bos_token": "<s>", "chat_template": "old"}"#);
    template.add_tokens_of(br#"{"bos_token": "<map>"}"#);
    template.add_tokens_of(b"{");
    assert_eq!(rendered(&template, WITHOUT), "<s>.");
}

#[test]
fn other_files() {
    let load = |name: &str, bytes: &[u8]| {
        Template::from_file_bytes(name, bytes).map(|found| found.source(false).to_owned())
    };
    assert_eq!(load("t.jinja", b"{\"a\": {{ 1 }}}").unwrap(), "{\"a\": {{ 1 }}}");
    assert_eq!(load("t.jinja", "\u{feff}{{ 1 }}".as_bytes()).unwrap(), "\u{feff}{{ 1 }}", "it is printed");
    assert_eq!(load("chat_template.json", br#"{"chat_template": "x"}"#).unwrap(), "x");
    assert_eq!(load("config.json", b"{}"), Err(LoadError::NoTemplate));
    assert!(matches!(load("config.json", b"{"), Err(LoadError::Json(_))));
    assert_eq!(load("t.jinja", b"\xff"), Err(LoadError::NotText));
    // A broken template is no fault of the conversation.
    for (name, bytes) in
        [("t.jinja", &b"a\n{{ messages[0].content "[..]), ("c.json", br#"{"chat_template": "a\n{% if x"}"#)]
    {
        let error = load(name, bytes).unwrap_err();
        assert!(matches!(error, LoadError::Syntax { line: 2, .. }), "{error}");
        assert!(error.to_string().starts_with("the chat template is broken: "), "{error}");
    }
    assert_eq!(load("t.gguf", b"GGUF"), Err(LoadError::MoreNeeded));
}

/// A GGUF file with a template, two tokens, and values of other types.
pub(super) fn gguf(big: bool, version: u32) -> Vec<u8> {
    let u32_of = |number: u32| if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let u64_of = |number: u64| if big { number.to_be_bytes() } else { number.to_le_bytes() };
    let text = |text: &str| [&u64_of(text.len() as u64)[..], text.as_bytes()].concat();
    let member = |key: &str, kind: u32, value: &[u8]| [&text(key)[..], &u32_of(kind), value].concat();
    let members = [
        member("general.name", 8, &text("a model")),
        member("some.bool", 7, &[1]),
        member("some.numbers", 9, &[&u32_of(6)[..], &u64_of(2), &[0; 8]].concat()),
        member("tokenizer.ggml.bos_token_id", 4, &u32_of(1)),
        member(
            "tokenizer.ggml.tokens",
            9,
            &[&u32_of(8)[..], &u64_of(3), &text("a"), &text("<s>"), &text("b")].concat(),
        ),
        member("tokenizer.ggml.eos_token_id", 4, &u32_of(7)),
        member("tokenizer.chat_templates", 9, &[&u32_of(8)[..], &u64_of(1), &text("tool_use")].concat()),
        member("tokenizer.chat_template", 8, &text("{{ bos_token }}plain")),
        member("tokenizer.chat_template.tool_use", 8, &text("tools")),
    ];
    let head = [
        b"GGUF".to_vec(),
        u32_of(version).to_vec(),
        u64_of(0).to_vec(),
        u64_of(members.len() as u64).to_vec(),
    ];
    [head.concat(), members.concat()].concat()
}

#[test]
fn gguf_files() {
    for (big, version) in [(false, 2), (false, 3), (true, 3)] {
        let mut file = gguf(big, version);
        let end = file.len() as u64;
        file.extend([7; 1000]);
        let template = Template::from_file_bytes("model.gguf", &file).unwrap();
        assert_eq!(rendered(&template, WITHOUT), "<s>plain");
        assert_eq!(rendered(&template, WITH_TOOLS), "tools");
        assert_eq!(template.tokens(), [("bos_token".to_owned(), "<s>".to_owned())]);
        assert_eq!(gguf_metadata_end(&file), Some(end));
        assert_eq!(rendered(&Template::from_gguf(&file[..]).unwrap(), WITHOUT), "<s>plain");
        for length in 0..end as usize {
            assert_eq!(gguf_metadata_end(&file[..length]), None);
        }
    }
    assert!(matches!(Template::from_gguf(&gguf(false, 1)[..]), Err(LoadError::Gguf(_))));
}

#[test]
fn a_length_that_is_only_claimed_takes_no_memory() {
    let mut file = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    let key = b"\x17\0\0\0\0\0\0\0tokenizer.chat_template\x08\0\0\0";
    file.extend(key);
    for length in [1_000_000, 100_000_000, u64::MAX] {
        let claimed = [&file[..], &length.to_le_bytes()].concat();
        let error = Template::from_gguf(&claimed[..]).unwrap_err();
        assert!(
            matches!(error, LoadError::MoreNeeded | LoadError::Gguf(_) | LoadError::TooLong),
            "{error:?}"
        );
    }
}
