//! `toolcheck render --tokens`, with a tokenizer that splits at spaces.

use crate::common::{folder, seen_in, write};

const MODEL: &str = r#"{"version": "1.0", "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
 "padding": null, "added_tokens": [{"id": 9, "content": "<end>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
 "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
 "model": {"type": "WordLevel", "vocab": {"?": 0, "tide": 1, "in": 2, "Büsum": 3, "<end>": 9}, "unk_token": "?"}}"#;

#[test]
fn tokens_are_told_apart_and_counted() {
    let folder = folder("tokens");
    write(&folder, "tokenizer.json", MODEL);
    write(&folder, "a.jinja", "{% for m in messages %}{{ m.content }}<end>{% endfor %}");
    write(&folder, "a.json", r#"{"messages": [{"role": "user", "content": "tide in Büsum <end>?"}]}"#);
    write(&folder, "broken.json", "{}");
    let render = |more: &[&str]| {
        seen_in(&folder, &[&["render", "a.json", "--template", "a.jinja", "--color", "never"], more].concat())
    };
    if !cfg!(feature = "tokens") {
        let seen = render(&["--tokens"]);
        assert!(seen.starts_with("status: 2") && seen.contains("--features tokens"), "{seen}");
        return;
    }
    insta::assert_snapshot!(render(&["--tokens"]));
    insta::assert_snapshot!(render(&["--tokens=tokenizer.json", "--output-format", "json"]));
    insta::assert_snapshot!(render(&["--tokens=broken.json"]));
    let html = render(&["--tokens", "--output-format", "html"]);
    assert!(html.contains(r#"<i title="1">tide </i><i title="2">in </i>"#), "{html}");
}
