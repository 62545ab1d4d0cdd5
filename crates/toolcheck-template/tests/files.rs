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
