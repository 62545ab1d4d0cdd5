//! The tests of templates, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod bounds;
mod examine;
mod files;
mod prompts;
mod properties;

use toolcheck_json::Document;
use toolcheck_template::{Arguments, Examination, Input, Now, Prompt, Refusal, Template};

/// The template with this text and the special tokens that the expectations were made with.
fn template(source: &str) -> Template {
    let tokens =
        [("bos_token", "<s>"), ("eos_token", "</s>"), ("pad_token", "<pad>"), ("unk_token", "<unk>")];
    Template::from_text(source, &tokens)
}

fn named(name: &str) -> Template {
    let path = format!("{}/tests/templates/{name}.jinja", env!("CARGO_MANIFEST_DIR"));
    template(&std::fs::read_to_string(path).unwrap())
}

fn input<'d>(body: &'d Document<'d>) -> Input<'d> {
    let mut input = Input::of_request(body.root()).unwrap();
    input.now = Some(Now::from_unix(1_764_163_200));
    input
}

fn render(source: &str, body: &str) -> Result<Prompt, Refusal> {
    let body = Document::read(body.as_bytes());
    assert!(body.faults().is_empty(), "{:?}", body.faults());
    template(source).render(&input(&body))
}

fn examine(template: &Template, body: &str, arguments: Arguments) -> Examination {
    let body = Document::read(body.as_bytes());
    assert!(body.faults().is_empty(), "{:?}", body.faults());
    template.examine(&Input { arguments, ..input(&body) })
}
