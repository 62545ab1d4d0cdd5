//! JSON Lines: many records, and what stands between them.

use super::{File, Run, Shape, beside, call, calling, list};

pub fn all() -> Vec<Shape> {
    let of = |name: &str, make: fn(usize) -> String| {
        Shape::of_files(name, move |size| vec![File::new("input.jsonl", make(size))])
    };
    vec![
        of("records", |size| list(size, "", "\n", "\n", |_| beside("x", "1"))),
        of("records with a finding", |size| list(size, "", "\n", "\n", |number| unanswered(&format!("c{number}")))),
        of("records with many findings", |size| {
            list(size, "", "\n", "\n", |_| beside("x", &list(2000, "[", ",", "]", |_| "{\"a\":1,\"a\":2}".to_owned())))
        }).holds(160),
        of("records in eight formats", |size| {
            let bodies: Vec<String> = super::conversations::small();
            list(size, "", "\n", "\n", |number| bodies[number % bodies.len()].clone())
        }),
        of("records in no format", |size| list(size, "", "\n", "\n", |number| format!("{{\"a\":{number}}}"))),
        of("records that are not objects", |size| list(size, "", "\n", "\n", |number| number.to_string())),
        of("broken records", |size| list(size, "", "\n", "\n", |_| "{\"messages\":[{\"role\":\"user\"".to_owned())),
        of("records with a text that has no end", |size| {
            list(size, "", "\n", "\n", |_| "{\"messages\":[{\"role\":\"us".to_owned())
        }),
        of("blank lines", |size| beside("x", "1") + "\n" + &"\n".repeat(size) + &beside("x", "1")),
        of("blank lines of whitespace", |size| list(size, "", "\n", "\n", |_| beside("x", "1") + "\n   \n")),
        of("blank lines at the end", |size| beside("x", "1") + &"\r\n".repeat(size / 2)),
        of("records with two line ends", |size| list(size, "", "\r\n", "\r\n", |_| beside("x", "1"))),
        of("records of several lines", |size| {
            list(size, "", "\n", "\n", |_| beside("x", "1").replace(',', ",\n"))
        }),
        of("records without line ends", |size| list(size, "", "", "\n", |_| beside("x", "1"))),
        of("records as elements of a sequence", |size| list(size, "", "\n", "", |_| format!("\u{1e}{}", beside("x", "1")))),
        of("a long record among short ones", |size| {
            let long = beside("x", &format!("\"{}\"", "text ".repeat(size / 10)));
            list(size / 4, "", "\n", "\n", |_| beside("x", "1")) + &long + "\n" + &list(size / 4, "", "\n", "\n", |_| beside("x", "1"))
        }),
        of("examples of a data set", |size| {
            list(size, "", "\n", "\n", |number| {
                format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{number}\"}},{{\"role\":\"assistant\",\"content\":\"<tool_call>{{}}</tool_call>\",\"weight\":2}}]}}")
            })
        })
        .run(Run::Dataset),
        of("examples with weights and empty lines", |size| {
            list(size, "", "\n\n", "\n", |_| "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}".to_owned())
        })
        .run(Run::Dataset),
    ]
}

/// A request with a call that has no result.
pub(super) fn unanswered(id: &str) -> String {
    let call = calling(&call(id, "f", "{}"));
    format!(
        "{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}},{call},{{\"role\":\"user\",\"content\":\"?\"}}]}}"
    )
}
