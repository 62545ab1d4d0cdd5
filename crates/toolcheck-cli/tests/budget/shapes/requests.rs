//! Requests with too much of one thing, or of two.

use super::{Run, Shape, call, calling, list, messages, result, tool};

pub(crate) fn all() -> Vec<Shape> {
    let long_name = |size| {
        let call = calling(&call("c", &"n".repeat(size / 2), "{}"));
        messages(size, |number| if number == 0 { call.clone() } else { result("c", "ok") })
    };
    vec![
        Shape::new("a long name and many results", long_name),
        Shape::new("show: a long name and many results", long_name).run(Run::Show),
        Shape::new("a long id and many results", |size| {
            let call = calling(&call(&"i".repeat(size / 2), "f", "{}"));
            messages(size, |number| if number == 0 { call.clone() } else { result("c", "ok") })
        }),
        Shape::new("long names", |size| {
            messages(size, |number| calling(&call(&format!("c{number}"), &"n".repeat(1000), "{}")))
        }),
        Shape::new("long ids", |size| {
            messages(size, |number| calling(&call(&format!("{number:01000}"), "f", "{}")))
        }),
        Shape::new("long roles", |size| {
            messages(size, |_| format!("{{\"role\":\"{}\",\"content\":\"a\"}}", "r".repeat(1000)))
        }),
        Shape::new("a long model and many findings", |size| {
            let start = format!("{{\"model\":\"{}\",\"messages\":[", "m".repeat(size / 2));
            list(size, &start, ",", "]}", |number| result(&format!("c{number}"), "ok"))
        }),
        Shape::new("names with signs that are escaped", |size| {
            messages(size, |number| calling(&call(&format!("c{number}"), &"\\u001b<&|`*".repeat(20), "{}")))
        }),
        Shape::new("unknown names beside many tools", |size| {
            let calls = messages(size / 2, |number| {
                calling(&call(&format!("c{number}"), &format!("look_up{number}"), "{}"))
            });
            let tools = list(size / 2, "[", ",", "]", |number| {
                tool(&format!("lookup_{number}"), "{\"type\":\"object\"}")
            });
            format!("{},\"tools\":{tools}}}", calls.trim_end_matches('}'))
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
        Shape::new("show: deep arguments", |size| {
            let arguments = format!("{}{}", "[".repeat(size / 2), "]".repeat(size / 2));
            messages(1, |_| calling(&call("c", "f", &arguments)))
        })
        .run(Run::Show),
    ]
}
