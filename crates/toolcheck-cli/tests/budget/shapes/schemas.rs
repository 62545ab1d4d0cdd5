//! Schemas of tools and policies, and the arguments that are compared with them.

use super::{File, Shape, beside, call, calling, list, messages, tool};

pub(crate) fn all() -> Vec<Shape> {
    vec![
        Shape::new("schemas that are used", |size| {
            let tools = list(size / 2, "[", ",", "]", |number| {
                tool(
                    &format!("t{number}"),
                    &object("a", &format!("{{\"type\":\"string\",\"maxLength\":{number}}}")),
                )
            });
            let calls = messages(size / 2, |number| {
                calling(&call(&format!("c{number}"), &format!("t{number}"), "{\"a\": 1}"))
            });
            format!("{},\"tools\":{tools}}}", calls.trim_end_matches('}'))
        }),
        Shape::new("arguments that violate one schema", |size| {
            with_tool(
                &object("a", "{\"type\":\"string\"}"),
                &messages(size, |number| calling(&call(&format!("c{number}"), "f", "{\"a\": 1}"))),
            )
        }),
        Shape::new("a long value that violates its schema", |size| {
            of_items("{\"type\":\"number\"}", &format!("[\"{}\"]", "text ".repeat(size / 5)))
        }),
        Shape::new("values that violate their schema", |size| {
            of_items(
                "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
                &list(size, "[", ",", "]", |number| number.to_string()),
            )
        }),
        Shape::new("keys that a schema does not have", |size| {
            let arguments = list(size, "{", ",", "}", |number| format!("\"k{number}\":1"));
            let call = messages(1, |_| calling(&call("c", "f", &arguments)));
            with_tool("{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}", &call)
        }),
        product("objects in enum", [r#"{"enum":["#, r#"{"e":#}"#, "]}"], r#"{"e": -1}"#),
        product("texts in enum", [r#"{"enum":["#, r#""e#""#, "]}"], r#""no""#),
        product("constants in anyOf", [r#"{"anyOf":["#, r#"{"const":#}"#, "]}"], "-1"),
        product("schemas in allOf", [r#"{"allOf":["#, r#"{"not":{"const":#}}"#, "]}"], "-1"),
        product("patterns", [r#"{"anyOf":["#, r#"{"pattern":"^x#$"}"#, "]}"], r#""aaaaaaaaaaaaaaaa""#),
        product(
            "patterns that go back",
            [r#"{"anyOf":["#, r#"{"pattern":"(a+)+(?=z#)$"}"#, "]}"],
            r#""aaaaaaaaaaaaaaaa!""#,
        ),
        product("required keys", [r#"{"type":"object","required":["#, r#""k#""#, "]}"], "{}"),
        Shape::new("required keys that are there", |size| {
            let count = size / 16;
            let keys: Vec<String> = (0..count).map(|number| format!("\"k{number}\"")).collect();
            let arguments: Vec<String> = (0..count).map(|number| format!("\"k{number}\":1")).collect();
            let call = messages(1, |_| calling(&call("c", "f", &format!("{{{}}}", arguments.join(",")))));
            with_tool(&format!("{{\"type\":\"object\",\"required\":[{}]}}", keys.join(",")), &call)
        }),
        Shape::new("values that must differ", |size| {
            of_items(
                "{\"type\":\"array\",\"uniqueItems\":true}",
                &list(size, "[", ",", "]", |number| format!("[{number}]")),
            )
        }),
        Shape::new("a pattern as long as a file", |size| {
            of_items(&format!("{{\"pattern\":\"{}\"}}", "a|b".repeat(size / 3)), "\"c\"")
        }),
        Shape::new("schemas in each other", |size| {
            let depth = size / 30;
            let schema =
                format!("{}{{}}{}", "{\"type\":\"array\",\"items\":".repeat(depth), "}".repeat(depth));
            of_items(&schema, "[[[1]]]")
        }),
        Shape::new("references in a row", |size| {
            let definitions = list(size, "{", ",", "}", |number| {
                format!("\"d{number}\":{{\"$ref\":\"#/$defs/d{}\"}}", number + 1)
            });
            let schema = format!(
                "{{\"type\":\"object\",\"properties\":{{\"a\":{{\"$ref\":\"#/$defs/d0\"}}}},\"$defs\":{definitions}}}"
            );
            with_tool(&schema, &messages(1, |_| calling(&call("c", "f", "{\"a\": 1}"))))
        }),
        Shape::new("a schema that refers to itself", |size| {
            let schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}}}";
            let depth = 900;
            let deep = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
            with_tool(schema, &messages(size, |number| calling(&call(&format!("c{number}"), "f", &deep))))
        }),
        // Each policy may have a finding at each call, so there is much of one of them only.
        Shape::of_files("policies", |size| {
            vec![
                File::new("toolcheck.toml", list(size, "", "\n", "\n", policy)),
                File::new("input.json", messages(1, |_| calling(&call("c", "f", "{}")))),
            ]
        }),
        Shape::of_files("calls that violate policies", |size| {
            let policies: String = (0..4).map(policy).collect();
            let calls = messages(size, |number| calling(&call(&format!("c{number}"), "f", "{}")));
            vec![File::new("toolcheck.toml", policies), File::new("input.json", calls)]
        })
        .holds(160),
        Shape::of_files("tools for records without tools", |size| {
            let tools = list(size / 2, "[", ",", "]", |number| {
                tool(&format!("t{number}"), &object("a", "{\"type\":\"string\"}"))
            });
            let line = |_| messages(1, |_| calling(&call("c", "t0", "{\"a\": 1}")));
            vec![
                File::new("tools.json", tools),
                File::new("input.jsonl", list(size / 2, "", "\n", "\n", line)),
            ]
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

fn policy(number: usize) -> String {
    let schema = format!("'{{\"required\": [\"k{number}\"]}}'");
    format!("[[policy]]\nid = \"p{number}\"\ntools = [\"f*\"]\nmessage = \"no\"\nschema = {schema}\n")
}

fn object(key: &str, schema: &str) -> String {
    format!("{{\"type\":\"object\",\"properties\":{{\"{key}\":{schema}}}}}")
}

/// A request with this tool, called `f`.
fn with_tool(schema: &str, messages: &str) -> String {
    format!("{},\"tools\":[{}]}}", messages.trim_end_matches('}'), tool("f", schema))
}

/// A call of a tool whose argument has this schema and this value.
fn of_items(schema: &str, value: &str) -> String {
    with_tool(&object("a", schema), &messages(1, |_| calling(&call("c", "f", &format!("{{\"a\":{value}}}")))))
}

/// As many of one thing in the schema, in which `#` is its number, as values that are compared with all of them.
fn product(name: &str, [start, each, end]: [&'static str; 3], item: &'static str) -> Shape {
    Shape::new(format!("{name}, and values"), move |size| {
        let schema = list(size / 2, start, ",", end, |number| each.replace('#', &number.to_string()));
        let items = list(size / 2, "[", ",", "]", |_| item.to_owned());
        of_items(&format!("{{\"type\":\"array\",\"items\":{schema}}}"), &items)
    })
    .from(2 << 10)
}
