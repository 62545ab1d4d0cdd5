//! Logs of exchanges: requests with their responses.

use serde_json::{Map, Value as Json};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Turn};
use toolcheck_core::formats;

use super::{Shape, list};

pub(crate) fn all() -> Vec<Shape> {
    let mut all: Vec<Shape> = formats::ALL
        .iter()
        .map(|format| {
            Shape::new(format!("{}: exchanges with whole histories", format.id), move |size| {
                // A log grows with the square of its turns.
                let mut turns = 1;
                loop {
                    let log =
                        Json::from(format.write_exchanges(&conversation(turns), Clone::clone)).to_string();
                    if log.len() >= size {
                        break log;
                    }
                    turns += 1 + turns / 8;
                }
            })
        })
        .collect();
    all.extend([
        Shape::new("a response whose calls are dropped", |size| {
            let said = "{\"role\":\"user\",\"content\":\"a\"}";
            let next = exchange(&format!("{said},{{\"role\":\"assistant\",\"content\":\"b\"}},{said}"), "null");
            format!("[{},{next}]", exchange(said, &response(size / 75)))
        }),
        Shape::new("responses whose calls are dropped", |size| {
            list(size, "[", ",", "]", |number| {
                let said = format!("{{\"role\":\"user\",\"content\":\"{number}\"}}");
                let next = exchange(&format!("{said},{{\"role\":\"assistant\",\"content\":\"b\"}},{said}"), "null");
                format!("{},{next}", exchange(&said, &response(2)))
            })
        }),
        Shape::new("a response whose calls have other arguments", |size| {
            let said = "{\"role\":\"user\",\"content\":\"a\"}";
            let calls: Vec<String> =
                (0..size / 250).map(|number| super::call(&format!("c{number}"), "f", "{\"a\":1}")).collect();
            let next = exchange(&format!("{said},{}", super::calling(&calls.join(","))), "null");
            format!("[{},{next}]", exchange(said, &response(size / 250)))
        }),
        Shape::new("a request that is refused again and again", |size| {
            let refused = |number: usize| {
                let request = exchange(&format!("{{\"role\":\"user\",\"content\":\"{}\"}}", number / 2), "null");
                format!("{},\"status\":400}}", request.trim_end_matches('}'))
            };
            list(size, "[", ",", "]", |number| refused(number).replace("\"response\":null", "\"response\":{}"))
        }),
        Shape::new("reasoning in many blocks", |size| {
            let said = "{\"role\":\"user\",\"content\":\"a\"}";
            let blocks = |mark: &str| list(size / 3, "[", ",", "]", |number| format!("{{\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"{mark}{number}\"}}"));
            let turn = |mark: &str| format!("{{\"role\":\"assistant\",\"stop_reason\":\"tool_use\",\"content\":{},{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{{}}}}]}}", blocks(mark).trim_end_matches(']'));
            let request = |messages: &str| format!("{{\"request\":{{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{messages}]}}");
            format!("[{},\"response\":{}}},{}}}]", request(said), turn("s"), request(&format!("{said},{}", turn("r").replace("\"stop_reason\":\"tool_use\",", ""))))
        }),
        Shape::new("a stream with many calls", |size| {
            let event = |number: usize| format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":{number},\"id\":\"c{number}\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}}}}]}}");
            streamed(&list(size, "[", ",", "]", event))
        }),
        Shape::new("a stream with many pieces of one call", |size| {
            let event = |number: usize| {
                let id = if number == 0 { "\"id\":\"c\"," } else { "" };
                format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,{id}\"function\":{{\"arguments\":\" \"}}}}]}}}}]}}")
            };
            streamed(&list(size, "[", ",", "]", event))
        }),
        Shape::new("a stream with many choices", |size| {
            let event = |number: usize| format!("{{\"choices\":[{{\"index\":{number},\"delta\":{{\"content\":\"a\"}}}}]}}");
            streamed(&list(size, "[", ",", "]", event))
        }),
        Shape::new("a stream in a text", |size| {
            let event = |_| "data: {\\\"choices\\\":[{\\\"index\\\":0,\\\"delta\\\":{\\\"content\\\":\\\"a\\\"}}]}\\n\\n".to_owned();
            streamed(&list(size, "\"", "", "\"", event))
        }),
        Shape::new("a stream in a text without blank lines", |size| {
            let event = |_| "data: {\\\"choices\\\":[{\\\"index\\\":0,\\\"delta\\\":{\\\"content\\\":\\\"a\\\"}}]}\\n".to_owned();
            streamed(&list(size, "\"", "", "\"", event))
        }),
        Shape::new("a stream of Messages with many blocks", |size| {
            let event = |number: usize| format!("{{\"type\":\"content_block_start\",\"index\":{number},\"content_block\":{{\"type\":\"tool_use\",\"id\":\"t{number}\",\"name\":\"f\",\"input\":{{}}}}}},{{\"type\":\"content_block_stop\",\"index\":{number}}}");
            format!("[{{\"request\":{{\"model\":\"m\",\"max_tokens\":9,\"tools\":[{{\"name\":\"f\",\"input_schema\":{{\"type\":\"object\"}}}}],\"messages\":[{{\"role\":\"user\",\"content\":\"a\"}}]}},\"response\":{}}}]", list(size, "[", ",", "]", event))
        }),
        Shape::new("a stream of Responses with many items", |size| {
            let event = |number: usize| format!("{{\"type\":\"response.output_item.done\",\"output_index\":{number},\"item\":{{\"type\":\"function_call\",\"id\":\"fc_{number}\",\"call_id\":\"c{number}\",\"name\":\"f\",\"arguments\":\"{{}}\"}}}}");
            format!("[{{\"request\":{{\"model\":\"m\",\"input\":[{{\"role\":\"user\",\"content\":\"a\"}}]}},\"response\":{}}}]", list(size, "[", ",", "]", event))
        }),
    ]);
    all
}

fn conversation(turns: usize) -> Conversation {
    let mut all = vec![Turn::User("When is low tide?".to_owned())];
    for number in 0..turns {
        let call = Call::new(format!("call_{number:06}"), "tides", Map::new());
        let output = call.output("low at six");
        all.extend([Turn::Assistant(Assistant::new("").with_calls(vec![call])), Turn::Results(vec![output])]);
    }
    all.push(Turn::Assistant(Assistant::new("At six.")));
    Conversation::new(all)
}

fn exchange(messages: &str, response: &str) -> String {
    format!("{{\"request\":{{\"model\":\"m\",\"messages\":[{messages}]}},\"response\":{response}}}")
}

fn response(calls: usize) -> String {
    let calls: Vec<String> = (0..calls).map(|number| super::call(&format!("c{number}"), "f", "{}")).collect();
    format!(
        "{{\"choices\":[{{\"index\":0,\"message\":{},\"finish_reason\":\"tool_calls\"}}]}}",
        super::calling(&calls.join(","))
    )
}

/// A streamed response, and a request without its calls.
fn streamed(events: &str) -> String {
    let said = "{\"role\":\"user\",\"content\":\"a\"}";
    let next = exchange(&format!("{said},{{\"role\":\"assistant\",\"content\":\"b\"}},{said}"), "null");
    format!("[{},{next}]", exchange(said, events))
}
