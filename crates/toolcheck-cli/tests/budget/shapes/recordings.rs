//! Recordings of HTTP traffic, and texts that hold requests.

use super::{File, Shape};

/// Any file may become 16 MB, which counts less the larger it is.
const FROM: usize = 256 << 10;
/// What a recording may hold for each byte: its aliases are written up to a factor, each piece with its place.
const HELD: usize = 192;

pub(crate) fn all() -> Vec<Shape> {
    vec![
        Shape::of_files("a cassette with aliases of aliases", |size| {
            let mut text = format!("{HEAD}      a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n");
            for number in 1..9 {
                let inner = vec![format!("*a{}", number - 1); 10].join(",");
                text.push_str(&format!("      a{number}: &a{number} [{inner}]\n"));
            }
            recording(repeated(text, "- {request: *r}\n", size))
        }),
        Shape::of_files("a cassette with many names of one request", |size| {
            let text = format!("{HEAD}      text: {}\n", "a".repeat(size / 2));
            recording(repeated(text, "- {request: *r}\n", size))
        }),
        Shape::of_files("a cassette with many names of one map", |size| {
            let keys: String = (0..size / 20).map(|number| format!("      k{number}: 1\n")).collect();
            recording(repeated(format!("{HEAD}{keys}"), "- {request: *r}\n", size))
        }),
        Shape::of_files("a cassette with a text that is not indented", |size| {
            let mut text = String::from("interactions:\n- request:\n    body: \"x\n");
            text.push_str(&"a\n".repeat(size / 2));
            recording(format!("{text}\"\n    uri: \"x\na\na\"\n"))
        }),
        Shape::of_files("a cassette with many texts that are not indented", |size| {
            let body = format!("- request:\n    body: \"x\n{}\"\n", "a\n".repeat(200));
            recording(repeated(String::from("interactions:\n"), &body, size))
        }),
        Shape::of_files("Markdown with many fences", |size| {
            markdown(repeated(String::from("# A role\n"), "```json\n> ~~~\n", size))
        }),
        Shape::of_files("Markdown with many requests", |size| {
            markdown(repeated(String::new(), &format!("```json\n{CHAT}\n```\n"), size))
        }),
        Shape::of_files("Markdown with many requests that are broken", |size| {
            markdown(repeated(String::new(), &format!("> ```\n> {}\n", &CHAT[..CHAT.len() - 6]), size))
        }),
        Shape::of_files("bodies that were encoded twice", |size| {
            let line = format!("\"{}\"\n", CHAT.replace('"', "\\\""));
            markdown(repeated(String::new(), &line, size))
        }),
    ]
    .into_iter()
    .map(|shape| shape.from(FROM).holds(HELD))
    .collect()
}

const CHAT: &str = r#"{"model": "m", "messages": [{"role": "user", "content": "When is high tide?"}]}"#;

/// A folder is not searched for Markdown, but it may have any name.
fn markdown(text: String) -> Vec<File> {
    vec![File::new("input.json", text)]
}

/// A cassette up to the body of its first request.
const HEAD: &str = "interactions:\n- request: &r\n    uri: http://localhost/\n    body:\n      messages: [{role: user, content: hi}]\n";

fn repeated(mut text: String, part: &str, size: usize) -> String {
    text.push_str(&part.repeat(size.saturating_sub(text.len()) / part.len()));
    text
}

fn recording(text: String) -> Vec<File> {
    vec![File::new("input.yaml", text)]
}
