//! Two files that are compared: much of what is kept, lost, moved or changed between them.

use super::{File, Run, Shape, messages};

pub(crate) fn all() -> Vec<Shape> {
    let of = |name: &str, before: fn(usize) -> String, after: fn(usize) -> String| {
        let make = move |size: usize| {
            vec![File::new("before.json", before(size / 2)), File::new("after.json", after(size / 2))]
        };
        // What is compared is two transcripts with their events; each change has words and places.
        Shape::of_files(format!("diff: {name}"), make).run(Run::Diff).from(32 << 10).holds(256)
    };
    vec![
        of(
            "the other way round",
            |size| texts(size, |number| number),
            |size| texts(size, |number| 9_999_999 - number),
        ),
        of("texts that were merged", |size| pieces(size, 1), |size| pieces(size, 2)),
        of("recorded requests", recorded, recorded),
    ]
}

fn texts(size: usize, word: impl Fn(usize) -> usize) -> String {
    messages(size, |number| {
        let role = if number % 2 == 0 { "assistant" } else { "user" };
        format!("{{\"role\":\"{role}\",\"content\":\"text {}\"}}", word(number))
    })
}

/// The same words in messages of so many words.
fn pieces(size: usize, words: usize) -> String {
    messages(size, |number| {
        let text: String =
            (number * words..(number + 1) * words).map(|word| format!("word{word:07} ")).collect();
        format!("{{\"role\":\"user\",\"content\":\"{text}\"}}")
    })
}

/// Requests, each of which continues the one before it: there are as many as each is long.
fn recorded(size: usize) -> String {
    let count = (size / 50).isqrt();
    let message = |number: usize| format!("{{\"role\":\"user\",\"content\":\"text {number}\"}}");
    let mut text = String::new();
    for end in 1..=count {
        let said: Vec<String> = (0..end).map(message).collect();
        text.push_str(&format!("{{\"request\":{{\"model\":\"m\",\"messages\":[{}]}}}}\n", said.join(",")));
    }
    text
}
