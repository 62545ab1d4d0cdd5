//! Writes replies, as a body and as events.

use serde_json::{Value as Json, json};

use crate::reply::{Event, Pieces, Reply};

const REASONS: [&str; 3] = ["end_turn", "tool_use", "max_tokens"];

pub(super) fn write(reply: &Reply) -> Json {
    let said = &reply.said;
    let reasoning = said.reasoning.iter().map(|reasoning| {
        let mut text = json!({"text": reasoning.text});
        if let Some(signature) = &reasoning.signature {
            text["signature"] = json!(signature);
        }
        json!({"reasoningContent": {"reasoningText": text}})
    });
    let text = (!said.text.is_empty()).then(|| json!({"text": said.text}));
    let calls = said.calls.iter().enumerate().map(|(number, call)| {
        let input = reply.arguments_value(number);
        json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": input}})
    });
    let content: Vec<Json> = reasoning.chain(text).chain(calls).collect();
    let (usage, metrics) = measures(reply);
    json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": reply.reason(REASONS),
        "usage": usage,
        "metrics": metrics
    })
}

pub(super) fn events(reply: &Reply, pieces: &Pieces) -> Vec<Event> {
    let said = &reply.said;
    let mut events = vec![Event::new("messageStart", json!({"role": "assistant"}))];
    let mut index = 0;
    let mut block = |start: Option<Json>, deltas: Vec<Json>| {
        if let Some(start) = start {
            events.push(Event::new("contentBlockStart", json!({"contentBlockIndex": index, "start": start})));
        }
        for delta in deltas {
            events.push(Event::new("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta})));
        }
        events.push(Event::new("contentBlockStop", json!({"contentBlockIndex": index})));
        index += 1;
    };
    for reasoning in &said.reasoning {
        let text = pieces.divide(&reasoning.text).into_iter().map(|piece| json!({"text": piece}));
        let signature = reasoning.signature.iter().map(|signature| json!({"signature": signature}));
        block(None, text.chain(signature).map(|piece| json!({"reasoningContent": piece})).collect());
    }
    if !said.text.is_empty() {
        block(None, pieces.divide(&said.text).into_iter().map(|piece| json!({"text": piece})).collect());
    }
    for (number, call) in said.calls.iter().enumerate() {
        let start = json!({"toolUse": {"toolUseId": call.id, "name": call.name}});
        let arguments = reply.arguments_text(number);
        let deltas = pieces.divide(&arguments).into_iter().map(|piece| json!({"toolUse": {"input": piece}}));
        block(Some(start), deltas.collect());
    }
    events.push(Event::new("messageStop", json!({"stopReason": reply.reason(REASONS)})));
    let (usage, metrics) = measures(reply);
    events.push(Event::new("metadata", json!({"usage": usage, "metrics": metrics})));
    events
}

pub(super) fn error(text: &str, _: usize) -> Event {
    Event::new("serviceUnavailableException", json!({"message": text}))
}

fn measures(reply: &Reply) -> (Json, Json) {
    let (input, output) = (reply.input_tokens, reply.output_tokens);
    let usage = json!({"inputTokens": input, "outputTokens": output, "totalTokens": input + output});
    (usage, json!({"latencyMs": 1}))
}
