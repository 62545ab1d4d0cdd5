//! Logs of exchanges: requests with their responses.

use serde_json::{Map, Value as Json};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Turn};
use toolcheck_core::formats;

use super::Shape;

pub(crate) fn all() -> Vec<Shape> {
    formats::ALL
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
        .collect()
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
