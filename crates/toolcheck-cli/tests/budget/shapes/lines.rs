//! JSON Lines: many records, and what stands between them.

use super::{File, Shape, beside, call, calling, list};

pub(crate) fn all() -> Vec<Shape> {
    let of = |name: &str, make: fn(usize) -> String| {
        Shape::of_files(name, move |size| vec![File::new("input.jsonl", make(size))])
    };
    vec![
        of("records with many findings", |size| {
            list(size, "", "\n", "\n", |_| {
                beside("x", &list(2000, "[", ",", "]", |_| "{\"a\":1,\"a\":2}".to_owned()))
            })
        })
        .holds(160),
        of("records in eight formats", |size| {
            let bodies: Vec<String> = super::conversations::small();
            list(size, "", "\n", "\n", |number| bodies[number % bodies.len()].clone())
        }),
    ]
}

/// A request with a call that has no result.
pub(super) fn unanswered(id: &str) -> String {
    let call = calling(&call(id, "f", "{}"));
    format!(
        "{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}},{call},{{\"role\":\"user\",\"content\":\"?\"}}]}}"
    )
}
