//! Schemas of tools and policies, and the arguments that are compared with them.

use super::{File, Shape, beside, call, calling, list, messages, tool};

pub(crate) fn all() -> Vec<Shape> {
    vec![
        Shape::new("a schema that refers to itself", |size| {
            let schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}}}";
            let depth = 900;
            let deep = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            with_tool(schema, &messages(size, |number| calling(&call(&format!("c{number}"), "f", &deep))))
        }),
        Shape::of_files("records with the same tools", |size| {
            let tools = list(4000, "[", ",", "]", |number| {
                tool(&format!("t{number}"), &object("a", "{\"type\":\"string\"}"))
            });
            vec![File::new("input.jsonl", list(size, "", "\n", "\n", |_| beside("tools", &tools)))]
        }),
        Shape::of_files("records with tools of their own", |size| {
            let tools = |record: usize| {
                list(1000, "[", ",", "]", |number| {
                    tool(
                        &format!("t{number}"),
                        &object(
                            "a",
                            &format!("{{\"type\":\"string\",\"maxLength\":{}}}", record * 10 + number),
                        ),
                    )
                })
            };
            vec![File::new(
                "input.jsonl",
                list(size, "", "\n", "\n", |record| beside("tools", &tools(record))),
            )]
        }),
    ]
}

fn object(key: &str, schema: &str) -> String {
    format!("{{\"type\":\"object\",\"properties\":{{\"{key}\":{schema}}}}}")
}

/// A request with this tool, called `f`.
fn with_tool(schema: &str, messages: &str) -> String {
    format!("{},\"tools\":[{}]}}", messages.trim_end_matches('}'), tool("f", schema))
}
