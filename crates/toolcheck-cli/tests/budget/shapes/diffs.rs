//! Two files that are compared: much of what is kept, lost, moved or changed between them.

use super::{File, Run, Shape, call, calling, list, messages, result};

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
            "nothing has changed",
            |size| rounds(size, |number| round(number, "low")),
            |size| rounds(size, |number| round(number, "low")),
        ),
        of(
            "all results are gone",
            |size| rounds(size, |number| round(number, "low")),
            |size| rounds(size, |number| calling(&call(&format!("c{number}"), "tides", &arguments(number)))),
        ),
        of(
            "all results say something else",
            |size| rounds(size, |number| round(number, "low")),
            |size| rounds(size, |number| round(number, "high")),
        ),
        of(
            "all calls are the same",
            |size| rounds(size, |_| round(0, "low")),
            |size| rounds(size * 3 / 4, |_| round(0, "low")),
        ),
        of(
            "all calls are others",
            |size| rounds(size, |number| round(number, "low")),
            |size| rounds(size, |number| round(number + 1_000_000, "high")),
        ),
        of(
            "the other way round",
            |size| texts(size, |number| number),
            |size| texts(size, |number| 9_999_999 - number),
        ),
        of("texts that are the same", |size| texts(size, |_| 1), |size| texts(size / 2, |_| 1)),
        of(
            "texts that have changed",
            |size| texts(size, |number| number),
            |size| texts(size, |number| number + 5_000_000),
        ),
        of("texts that were merged", |size| pieces(size, 1), |size| pieces(size, 2)),
        of(
            "results that are text now",
            |size| rounds(size, |number| round(number, &said(number))),
            |size| {
                messages(size, |number| {
                    format!("{{\"role\":\"user\",\"content\":\"[result] {}\"}}", said(number))
                })
            },
        ),
        of(
            "results of one turn that are text now",
            |size| one_turn(size, |number| result(&format!("c{number}"), &said(number))),
            |size| one_turn(size, |number| format!("{{\"role\":\"user\",\"content\":\"not {number}\"}}")),
        ),
        of("parameters", |size| parameters(size, 0), |size| parameters(size, 1)),
        of("conversations", |size| lines(size, 0), |size| lines(size, 7)),
        of("conversations that are the same", |size| lines_of(size, |_| 0), |size| lines_of(size / 2, |_| 0)),
        of("recorded requests", recorded, recorded),
    ]
}

fn arguments(number: usize) -> String {
    format!("{{\"port\":{number}}}")
}

fn said(number: usize) -> String {
    format!("It is low at {number}.")
}

/// A call with its result.
fn round(number: usize, text: &str) -> String {
    let id = format!("c{number}");
    format!("{},{}", calling(&call(&id, "tides", &arguments(number))), result(&id, text))
}

fn rounds(size: usize, round: impl Fn(usize) -> String) -> String {
    messages(size, round)
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

/// A turn with many calls, and what follows it.
fn one_turn(size: usize, after: impl Fn(usize) -> String) -> String {
    let count = size / 200;
    let calls: Vec<String> =
        (0..count).map(|number| call(&format!("c{number}"), "tides", &arguments(number))).collect();
    let asked = calling(&calls.join(","));
    messages(size / 4 + asked.len(), |number| if number == 0 { asked.clone() } else { after(number - 1) })
}

fn parameters(size: usize, value: usize) -> String {
    let start = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],";
    list(size, start, ",", "}", |number| format!("\"p{number}\":{value}"))
}

fn lines(size: usize, from: usize) -> String {
    lines_of(size, |number| number + from)
}

fn lines_of(size: usize, word: impl Fn(usize) -> usize) -> String {
    list(size, "", "\n", "\n", |number| {
        format!(
            "{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"text {}\"}}]}}",
            word(number)
        )
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
