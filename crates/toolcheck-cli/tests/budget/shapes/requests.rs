//! Requests with too much of one thing, or of two.

use super::{Shape, call, calling, list, messages, result};

pub(crate) fn all() -> Vec<Shape> {
    vec![
        Shape::new("long names", |size| {
            messages(size, |number| calling(&call(&format!("c{number}"), &"n".repeat(1000), "{}")))
        }),
        Shape::new("long ids", |size| {
            messages(size, |number| calling(&call(&format!("{number:01000}"), "f", "{}")))
        }),
        Shape::new("long roles", |size| {
            messages(size, |_| format!("{{\"role\":\"{}\",\"content\":\"a\"}}", "r".repeat(1000)))
        }),
        Shape::new("names with signs that are escaped", |size| {
            messages(size, |number| calling(&call(&format!("c{number}"), &"\\u001b<&|`*".repeat(20), "{}")))
        }),
        Shape::new("results of all calls in another order", |size| {
            let count = size / 170;
            let calls: Vec<String> =
                (0..count).map(|number| call(&format!("call_{number}"), "f", "{}")).collect();
            let results: Vec<String> =
                (0..count).rev().map(|number| result(&format!("call_{number}"), "ok")).collect();
            format!(
                "{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}},{},{}]}}",
                calling(&calls.join(",")),
                results.join(",")
            )
        }),
        Shape::new("deep arguments", |size| {
            let chain = format!("{}{}", "[".repeat(9_000), "]".repeat(9_000));
            let arguments = list(size, "{\"a\":[", ",", "]}", |_| chain.clone());
            messages(1, |_| calling(&call("c", "f", &arguments)))
        }),
    ]
}
