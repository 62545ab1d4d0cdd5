//! Requests with too much of one thing, or of two.

use super::{Run, Shape, beside, blocks, call, calling, list, messages, result, tool};

pub fn all() -> Vec<Shape> {
    let mut all = names();
    all.extend(objects());
    all.extend(texts());
    all.extend(outlines());
    all
}

fn names() -> Vec<Shape> {
    vec![
        Shape::new("a long name and many results", |size| {
            let call = calling(&call("c", &"n".repeat(size / 2), "{}"));
            messages(size, |number| if number == 0 { call.clone() } else { result("c", "ok") })
        }),
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
        Shape::new("tools of one name", |size| {
            beside("tools", &list(size, "[", ",", "]", |_| tool("f", "{\"type\":\"object\"}")))
        }),
        Shape::new("tools without a name", |size| {
            beside("tools", &list(size, "[", ",", "]", |_| "{\"type\":\"function\"}".to_owned()))
        }),
        Shape::new("tools of other APIs", |size| {
            beside(
                "tools",
                &list(size, "[", ",", "]", |number| {
                    format!("{{\"name\":\"f{number}\",\"input_schema\":{{}}}}")
                }),
            )
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
        Shape::new("calls that fail again and again", |size| {
            messages(size, |number| {
                let id = format!("c{number}");
                format!("{},{}", calling(&call(&id, "f", "{}")), result(&id, "Error: no such file"))
            })
        }),
    ]
}

/// Objects that are not as an API has them.
fn objects() -> Vec<Shape> {
    let of_messages = |name: &'static str, item: &'static str| {
        Shape::new(name, move |size| messages(size, |_| item.to_owned()))
    };
    let of_blocks = |name: &'static str, item: &'static str| {
        Shape::new(name, move |size| blocks(size, |_| item.to_owned()))
    };
    vec![
        of_messages("unknown roles", "{\"role\":\"x\",\"content\":\"a\"}").holds(160),
        of_messages("messages of the system", "{\"role\":\"system\",\"content\":\"a\"}"),
        of_messages("messages without a role", "{\"content\":\"a\"}").holds(160),
        of_messages("messages that are numbers", "1").of_findings(),
        of_messages("messages that are empty", "{}").of_findings(),
        of_messages("empty texts", "{\"role\":\"assistant\",\"content\":\"\"}"),
        of_messages("blank texts", "{\"role\":\"assistant\",\"content\":\"  \"}"),
        of_messages(
            "keys in another spelling",
            "{\"role\":\"user\",\"content\":\"a\",\"Name\":\"b\",\"tool_cals\":[]}",
        ),
        of_messages(
            "broken arguments",
            "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{'a': [\"}}]}",
        ),
        of_messages(
            "arguments that are not text",
            "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":[1]}}]}",
        ),
        of_messages(
            "parts of the wrong type",
            "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":1},{\"type\":\"image_url\",\"image_url\":\"x\"}]}",
        ),
        of_blocks("unknown blocks", "{\"type\":\"x\"}").holds(240),
        of_blocks("blocks without a type", "{}").of_findings(),
        of_blocks("blocks with unknown keys", "{\"type\":\"text\",\"text\":\"a\",\"b\":1,\"c\":2,\"txt\":3}")
            .holds(240),
        of_blocks(
            "blocks with marks of the cache",
            "{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{\"type\":\"ephemeral\"}}",
        ),
        of_blocks(
            "blocks of other APIs",
            "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBORw0KGgo=\"}}",
        ),
        of_blocks(
            "images of another type",
            "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"/9j/4AAQSkZJRg==\"}}",
        ),
        of_blocks("reasoning of the user", "{\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"\"}"),
        of_blocks(
            "calls of the provider's tools",
            "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"web_search\",\"input\":{}}",
        ),
        of_blocks(
            "results of the provider's tools",
            "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_1\",\"content\":[]}",
        ),
        of_blocks(
            "blocks in blocks",
            "{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":[{\"type\":\"x\"}]}]}",
        ),
        of_blocks("unknown tools in references", "{\"type\":\"tool_reference\",\"tool_name\":\"x\"}"),
        Shape::new("blocks that show no format", |size| {
            let start = "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":[";
            list(size, start, ",", "]}]}", |_| "{}".to_owned())
        }),
        Shape::new("a message with many unknown keys", |size| {
            let start = "{\"model\":\"m\",\"max_tokens\":9,\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\"a\",";
            list(size, start, ",", "}]}", |number| format!("\"k{number}\":1"))
        })
        .of_findings(),
        Shape::new("a message of another role with many unknown keys", |size| {
            let start = "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"tool\",";
            list(size, start, ",", "}]}", |number| format!("\"role_{number}\":\"tool\""))
        })
        .of_findings(),
        Shape::new("an object of many lists of messages", |size| {
            list(size, "{", ",", "}", |number| {
                format!("\"a{number}\":[{{\"role\":\"user\",\"content\":\"x\"}}]")
            })
        }),
        Shape::new("a turn of a data set with many keys", |size| {
            let start = "{\"conversations\":[{\"from\":\"human\",\"value\":\"x\"},{\"from\":\"gpt\",\"value\":\"y\",";
            list(size, start, ",", "}]}", |number| format!("\"from_{number}\":\"gpt\""))
        }),
        Shape::new("items of one id", |size| {
            list(
                size,
                "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"hi\"},",
                ",",
                "]}",
                |_| "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]}".to_owned(),
            )
        }),
        Shape::new("items of unknown types", |size| {
            list(
                size,
                "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":\"hi\"},",
                ",",
                "]}",
                |number| format!("{{\"type\":\"x_{number}\"}}"),
            )
        })
        .holds(240),
        Shape::new("settings that no API has", |size| {
            let members = list(size, "1", "", "", |number| format!(",\"temperatur{number}\":1"));
            beside("x", &members)
        })
        .holds(160),
        Shape::new("an object in place of a list", |size| {
            list(size, "{\"model\":\"m\",\"messages\":{", ",", "}}", |number| {
                format!("\"{number}\":{{\"role\":\"user\",\"content\":\"a\"}}")
            })
        }),
    ]
}

/// What stands in texts and arguments.
fn texts() -> Vec<Shape> {
    let of_texts = |name: &'static str, item: &'static str| {
        Shape::new(name, move |size| {
            let start = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"";
            list(size, start, "\\n", "\"},{\"role\":\"user\",\"content\":\"ok\"}]}", |_| item.to_owned())
        })
    };
    let of_commands = |name: &'static str, make: fn(usize) -> String| {
        Shape::new(name, move |size| {
            let arguments = serde_json::json!({"command": make(size)}).to_string();
            messages(1, |_| calling(&call("c", "bash", &arguments)))
        })
        .run(Run::AllRules)
    };
    vec![
        of_texts(
            "calls in a text",
            "<tool_call>{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {}}</tool_call>",
        ),
        of_texts("broken calls in a text", "<tool_call>{\\\"name\\\": \\\"f\\\", </tool_call>"),
        of_texts("calls without an end in a text", "<tool_call>{\\\"name\\\":"),
        of_texts("ends of calls in a text", "</tool_call></invoke></function_calls>"),
        of_texts(
            "calls in XML in a text",
            "<function_calls><invoke name=\\\"f\\\"><parameter name=\\\"a\\\">1</parameter></invoke></function_calls>",
        ),
        of_texts("tags of agents in a text", "<read_file><path>a</path></read_file><attempt_completion>"),
        of_texts("fences in a text", "```\\n<tool_call>"),
        Shape::new("calls in texts, with results", |size| {
            messages(size, |_| {
                "{\"role\":\"assistant\",\"content\":\"<tool_call>{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{}}</tool_call>\"},{\"role\":\"user\",\"content\":\"<tool_response>ok</tool_response>\"}".to_owned()
            })
        }),
        of_commands("a long command", |size| "echo a && ".repeat(size / 10)),
        of_commands("a command in brackets", |size| "$(".repeat(size / 2)),
        of_commands("a command with files", |size| "cat > a <<E\nx\nE\n".repeat(size / 17)),
        of_commands("a command of quotes", |size| "'\"".repeat(size / 2)),
        Shape::new("many commands", |size| {
            messages(size, |number| {
                let arguments = "{\"command\":\"echo a > b; cat <<E > c\\nd\\nE\"}";
                calling(&call(&format!("c{number}"), "bash", arguments))
            })
        })
        .run(Run::AllRules),
        Shape::new("deep arguments", |size| {
            let chain = format!("{}{}", "[".repeat(9_000), "]".repeat(9_000));
            let arguments = list(size, "{\"a\":[", ",", "]}", |_| chain.clone());
            messages(1, |_| calling(&call("c", "f", &arguments)))
        }),
        Shape::new("arguments with many faults", |size| {
            let arguments = list(size, "{\"a\":[", ",", "]}", |_| "{b:1,}".to_owned());
            messages(1, |_| calling(&call("c", "f", &arguments)))
        }),
        Shape::new("arguments with many equal keys", |size| {
            let arguments = list(size, "{", ",", "}", |_| "\"a\":1".to_owned());
            messages(1, |_| calling(&call("c", "f", &arguments)))
        }),
        Shape::new("a long text of results", |size| {
            messages(1, |_| {
                format!("{},{}", calling(&call("c", "f", "{}")), result("c", &"Error: ".repeat(size / 7)))
            })
        }),
    ]
}

/// `toolcheck show` and `toolcheck explain --error`.
fn outlines() -> Vec<Shape> {
    let show =
        |name: &str, make: fn(usize) -> String| Shape::new(format!("show: {name}"), make).run(Run::Show);
    let explain = |name: &str, make: fn(usize) -> String| {
        Shape::of_files(format!("explain: {name}"), move |size| {
            vec![super::File::new("error.txt", make(size))]
        })
        .run(Run::Explain)
    };
    vec![
        show("messages", |size| messages(size, |_| "{\"role\":\"user\",\"content\":\"a\"}".to_owned())),
        show("calls without results", |size| {
            messages(size, |number| calling(&call(&format!("c{number}"), "f", "{\"a\": 1}")))
        }),
        show("a long text", |size| {
            messages(1, |_| format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "text ".repeat(size / 5)))
        }),
        show("a text of many lines", |size| {
            messages(1, |_| format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "a\\n".repeat(size / 3)))
        }),
        show("a long name and many results", |size| {
            let call = calling(&call("c", &"n".repeat(size / 2), "{}"));
            messages(size, |number| if number == 0 { call.clone() } else { result("c", "ok") })
        }),
        show("deep arguments", |size| {
            let arguments = format!("{}{}", "[".repeat(size / 2), "]".repeat(size / 2));
            messages(1, |_| calling(&call("c", "f", &arguments)))
        }),
        show("equal findings", |size| messages(size, |_| result("c", "ok"))),
        show("a list of requests", |size| list(size, "[", ",", "]", |_| beside("x", "1"))),
        explain("a long word", |size| "a".repeat(size)),
        explain("a long list of ids", |size| {
            format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                "call_1, ".repeat(size / 8)
            )
        }),
        explain("many errors", |size| {
            "messages.1: `tool_use` ids were found without `tool_result` blocks\n".repeat(size / 67)
        }),
        explain("an error in an error", |size| "{\"error\": {\"message\": \"".repeat(size / 23)),
        explain("quotes and escapes", |size| "\\\"".repeat(size / 2)),
    ]
}
