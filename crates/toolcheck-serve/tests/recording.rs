//! Recordings that are answered again.

use serde_json::json;
use toolcheck_serve::{MockProvider, Recording, ScriptedCall, Turn};

use crate::common::post;

#[test]
fn every_format_is_answered_again_streamed_or_not() {
    for format in toolcheck_core::formats::ALL {
        let script = [Turn::calls([ScriptedCall::of("tides")]), Turn::text("Low at six.")];
        let provider = MockProvider::builder().target(format.id).unwrap().turns(script).start().unwrap();
        let mut sent = Vec::new();
        for is_streamed in [false, true] {
            let conversation =
                toolcheck_core::Conversation::new(vec![toolcheck_core::conversation::Turn::User(
                    "Tides?".to_owned(),
                )]);
            let path = toolcheck_serve::path(format, "a-model", is_streamed);
            let mut body = format.write_request(&conversation).body;
            if !path.contains("a-model") {
                (body["model"], body["stream"]) = (json!("a-model"), json!(is_streamed));
            }
            let answer = post(&provider, &path, &body.to_string());
            assert_eq!(answer.0, 200, "{}", answer.2);
            sent.push((path, body, answer.2));
        }
        let lines = provider.finish().json_lines();
        for (path, body, answer) in sent {
            // Each alone, so that what is asked for is what was recorded.
            let line = lines.lines().find(|line| {
                line.contains(&format!("\"path\":\"{path}\"")) && line.contains(&body.to_string())
            });
            let recording = Recording::read(line.unwrap().as_bytes()).unwrap();
            let provider =
                MockProvider::builder().target(format.id).unwrap().replay(recording).start().unwrap();
            let again = post(&provider, &path, &body.to_string());
            assert_eq!((again.0, again.2), (200, answer), "{}", format.id);
        }
    }
}
