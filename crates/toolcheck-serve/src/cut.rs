//! Where a stream is cut off.

use toolcheck_core::Format;
use toolcheck_core::conversation::Call;
use toolcheck_core::reply::{Event, Pieces, Reply};

use crate::script::{CutIn, Turn};

/// After how many of the events of a reply its stream is cut off; `None` if it is not.
pub(crate) fn cut(
    format: &Format,
    reply: &Reply,
    turn: &Turn,
    pieces: Pieces,
    events: &[Event],
) -> Option<usize> {
    let at = match turn.cut_in {
        None => turn.cut_after?,
        // What is the same whatever comes next was sent before it: so no format needs to be asked where that is.
        Some(place) => {
            let [one, other] = others(reply, place, pieces).map(|other| format.write_stream(&other, pieces));
            let all = events.iter().zip(&one).zip(&other);
            all.take_while(|((event, one), other)| event == one && event == other).count()
        }
    };
    (at < events.len()).then_some(at)
}

/// Two replies that go on otherwise after a place.
fn others(reply: &Reply, place: CutIn, pieces: Pieces) -> [Reply; 2] {
    ["one", "other"].map(|name| {
        let mut other = reply.clone();
        match place {
            CutIn::Arguments => {
                let text = reply.arguments_of(0);
                let sent = (text.chars().count() / 2).max(pieces.chars);
                let text: String = text.chars().take(sent).chain(name.chars()).collect();
                other.raw_arguments.insert(0, text);
            }
            CutIn::BetweenCalls => {
                other.said.calls.truncate(1);
                other.said.calls.push(Call::new(name, name, serde_json::Map::new()));
                other.raw_arguments.retain(|call, _| *call == 0);
                other.call_signatures.retain(|call, _| *call == 0);
            }
        }
        other
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolcheck_core::conversation::Assistant;
    use toolcheck_core::formats;

    use super::*;

    /// What is left of two calls in a format.
    fn left(id: &str, place: CutIn) -> String {
        let format = formats::find(id).expect("there is such a format");
        let text = |text: &str| json!({"text": text}).as_object().cloned().unwrap_or_default();
        let call = |id: &str, said: &str| Call::new(id, "echo", text(said));
        let calls = vec![call("id_1", "a longer text in many pieces"), call("id_2", "the second")];
        let reply = Reply::new(Assistant::new("Well.").with_calls(calls));
        let pieces = Pieces::of(5);
        let turn = Turn { cut_in: Some(place), ..Turn::default() };
        let events = format.write_stream(&reply, pieces);
        let at = cut(format, &reply, &turn, pieces, &events).expect("it is cut");
        events[..at].iter().map(|event| event.data.to_string()).collect()
    }

    fn formats_but(others: &[&str]) -> impl Iterator<Item = &'static str> {
        formats::ALL.iter().map(|format| format.id).filter(move |id| !others.contains(id))
    }

    #[test]
    fn arguments_break_off_in_each_format_that_sends_them_in_pieces() {
        // The others send arguments whole.
        for id in formats_but(&["gemini", "mistral", "ollama"]) {
            let left = left(id, CutIn::Arguments);
            assert!(left.contains("echo") && left.contains(" long"), "{id}: {left}");
            assert!(!left.contains("piec") && !left.contains("id_2"), "{id}: {left}");
        }
    }

    #[test]
    fn the_first_call_is_whole_and_nothing_says_that_the_second_will_come() {
        // The others send all calls of a turn together.
        for id in formats_but(&["mistral", "ollama"]) {
            let left = left(id, CutIn::BetweenCalls);
            let end = if id == "gemini" { "pieces" } else { "es\\\"}" };
            assert!(left.contains("echo") && left.contains(end), "{id}: {left}");
            assert!(!left.contains("id_2") && !left.contains("second"), "{id}: {left}");
            for reason in [
                "reason\":\"tool",
                "stopReason",
                "TOOL_CALL",
                "STOP",
                "response.completed",
                "interaction.completed",
            ] {
                assert!(!left.contains(reason), "{id}: {left}");
            }
        }
    }
}
