//! Long conversations, in each format.

use serde_json::Map;
use toolcheck_core::conversation::{Assistant, Call, Conversation, Turn};
use toolcheck_core::formats::{self, Format};

use super::Shape;

type Long = (&'static str, fn(usize) -> Conversation);

static LONG: &[Long] = &[
    ("messages", |count| {
        conversation(count, |number| {
            vec![Turn::User(format!("and {number}?")), Turn::Assistant(Assistant::new("Yes."))]
        })
    }),
    ("calls", |count| {
        conversation(count, |number| {
            let call = call(number);
            let output = call.output("low");
            vec![Turn::Assistant(Assistant::new("").with_calls(vec![call])), Turn::Results(vec![output])]
        })
    }),
    ("calls in one turn", |count| {
        let calls: Vec<Call> = (0..count).map(call).collect();
        let outputs = calls.iter().map(|call| call.output("low")).collect();
        conversation(1, |_| {
            vec![
                Turn::Assistant(Assistant::new("").with_calls(calls.clone())),
                Turn::Results(Vec::clone(&outputs)),
            ]
        })
    }),
    ("calls without results", |count| {
        conversation(count, |number| {
            vec![
                Turn::Assistant(Assistant::new("").with_calls(vec![call(number)])),
                Turn::User("and?".to_owned()),
            ]
        })
    }),
    ("results without calls", |count| {
        conversation(count, |number| {
            vec![Turn::Results(vec![call(number).output("low")]), Turn::Assistant(Assistant::new("Low."))]
        })
    }),
    ("results of one call", |count| {
        let only = call(0);
        let outputs = (0..count).map(|_| only.output("low")).collect();
        conversation(1, |_| {
            vec![
                Turn::Assistant(Assistant::new("").with_calls(vec![call(0)])),
                Turn::Results(Vec::clone(&outputs)),
            ]
        })
    }),
    ("calls with one id", |count| {
        conversation(count, |_| {
            let output = call(0).output("low");
            vec![
                Turn::Assistant(Assistant::new("").with_calls(vec![call(0), call(0)])),
                Turn::Results(vec![output]),
            ]
        })
    }),
    ("results that come later", |count| {
        let ask = |number| Turn::Assistant(Assistant::new("").with_calls(vec![call(number)]));
        let mut turns: Vec<Turn> =
            (0..count).flat_map(|number| [Turn::User("and?".to_owned()), ask(number)]).collect();
        turns.extend((0..count).flat_map(|number| {
            [Turn::Results(vec![call(number).output("low")]), Turn::User("so?".to_owned())]
        }));
        Conversation::new(turns)
    }),
    ("tools", |count| {
        conversation(count, |number| {
            let call = Call::new(format!("call_{number:06}"), format!("tool_{number}"), Map::new());
            let output = call.output("low");
            vec![Turn::Assistant(Assistant::new("").with_calls(vec![call])), Turn::Results(vec![output])]
        })
    }),
];

pub(crate) fn all() -> Vec<Shape> {
    let each = formats::ALL.iter().flat_map(|format| LONG.iter().map(move |long| (*format, *long)));
    each.map(|(format, (name, make))| {
        Shape::new(format!("{}: {name}", format.id), move |size| sized(format, make, size))
    })
    .collect()
}

/// A short request in each format.
pub(super) fn small() -> Vec<String> {
    formats::ALL.iter().map(|format| written(format, &LONG[1].1(3))).collect()
}

fn sized(format: &Format, make: fn(usize) -> Conversation, size: usize) -> String {
    let some = 50;
    let each = (written(format, &make(2 * some)).len() - written(format, &make(some)).len()).div_ceil(some);
    written(format, &make((size / each).max(1)))
}

fn written(format: &Format, conversation: &Conversation) -> String {
    let mut body = format.write_request(conversation).body;
    if body.get("model").is_none() {
        body["model"] = "m".into();
    }
    body.to_string()
}

fn conversation(count: usize, turns: impl Fn(usize) -> Vec<Turn>) -> Conversation {
    let mut all = vec![Turn::User("When is low tide?".to_owned())];
    all.extend((0..count).flat_map(turns));
    all.push(Turn::User("Thank you.".to_owned()));
    Conversation::new(all)
}

fn call(number: usize) -> Call {
    Call::new(format!("call_{number:06}"), "tides", Map::new())
}
