//! Every format reads what it writes.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Feature, Reasoning, Turn};
use toolcheck_core::detection::Detection;
use toolcheck_core::ir::{Body, Executor, Signature};
use toolcheck_core::reply::{Event, Framing, Pieces, Reply, ServerCall, Stop};
use toolcheck_core::{Format, formats, response};
use toolcheck_json::Document;

fn format() -> impl Strategy<Value = &'static Format> {
    prop::sample::select(formats::ALL.to_vec())
}

/// Whatever a string may hold; never empty, since an empty text is not a turn.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}[ -~\u{e4}\u{4e2d}\u{1F600}\n\t]{0,24}",
        any::<String>().prop_map(|text| format!("{text}."))
    ]
}

fn arguments() -> impl Strategy<Value = Map<String, Json>> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::from),
        any::<i16>().prop_map(|eighths| Json::from(f64::from(eighths) / 8.0)),
        any::<String>().prop_map(Json::String),
        Just(Json::Null),
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::Array),
            prop::collection::vec((any::<String>(), inner), 0..3)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    });
    prop::collection::vec((any::<String>(), value), 0..4).prop_map(|members| members.into_iter().collect())
}

#[derive(Debug, Clone)]
enum Draft {
    User(String),
    Assistant(Assistant),
    /// Results of the calls so far, in any order, of some of them more than one and of others none.
    Results(Vec<(prop::sample::Index, String, bool)>),
}

fn draft() -> impl Strategy<Value = Draft> {
    let call = || ("[a-z_]{1,8}", arguments()).prop_map(|(name, arguments)| Call::new("", name, arguments));
    let said = prop_oneof![
        text().prop_map(Assistant::new),
        (prop::option::of(text()), prop::collection::vec(call(), 1..4))
            .prop_map(|(text, calls)| Assistant::new(text.unwrap_or_default()).with_calls(calls)),
    ];
    let server_tools = prop::collection::vec("[a-z_]{1,8}", 0..2);
    let reasoning = (text(), prop::option::of("[A-Za-z0-9+/]{1,12}="))
        .prop_map(|(text, signature)| Reasoning::new(text, signature));
    let said = (said, server_tools, prop::collection::vec(reasoning, 0..4)).prop_map(
        |(mut said, server_tools, reasoning)| {
            said.server_tools = server_tools;
            reasoning.into_iter().fold(said, Assistant::with_reasoning)
        },
    );
    let results = prop::collection::vec((any::<prop::sample::Index>(), any::<String>(), any::<bool>()), 1..4);
    prop_oneof![
        1 => text().prop_map(Draft::User),
        2 => said.prop_map(Draft::Assistant),
        2 => results.prop_map(Draft::Results),
    ]
}

/// Any conversation at all, whether a provider accepts it or not. Two turns of one side in a row are one turn.
fn conversations() -> impl Strategy<Value = Conversation> {
    (prop::option::of(text()), prop::collection::vec(draft(), 1..10)).prop_map(|(system, drafts)| {
        let mut conversation = Conversation::default();
        conversation.system = system.unwrap_or_default();
        let mut made: Vec<Call> = Vec::new();
        for draft in drafts {
            let turn = match (draft, conversation.turns.last()) {
                (Draft::User(_), Some(Turn::User(_)))
                | (Draft::Assistant(_), Some(Turn::Assistant(_)))
                | (Draft::Results(_), Some(Turn::Results(_))) => continue,
                (Draft::Results(_), _) if made.is_empty() => continue,
                (Draft::User(text), _) => Turn::User(text),
                (Draft::Assistant(mut said), _) => {
                    for call in &mut said.calls {
                        call.id = format!("call-{}", made.len());
                        made.push(call.clone());
                    }
                    Turn::Assistant(said)
                }
                (Draft::Results(results), _) => {
                    let output = |(at, text, failed): (prop::sample::Index, String, bool)| {
                        let mut output = at.get(&made).output(text);
                        output.failed = failed;
                        output
                    };
                    Turn::Results(results.into_iter().map(output).collect())
                }
            };
            conversation.turns.push(turn);
        }
        conversation
    })
}

/// What a format declares that it can hold of a conversation, and what it cannot.
fn held(conversation: &Conversation, format: &Format) -> (Conversation, Vec<Feature>) {
    let (mut held, mut lost) = (conversation.clone(), Vec::new());
    for feature in Feature::ALL.into_iter().filter(|feature| !format.can_hold(*feature)) {
        lost.extend(Some(feature).filter(|feature| held.has(*feature)));
        held = held.without(feature);
        assert!(!held.has(feature));
    }
    (held, lost)
}

/// Whether a request tells its format from all others. Without a model and a system text, messages of text alone are the
/// same in Anthropic Messages and in Chat Completions.
fn is_distinct(conversation: &Conversation, format: &Format) -> bool {
    let has_blocks = |turn: &Turn| match turn {
        Turn::Assistant(said) => !said.calls.is_empty() || !said.reasoning.is_empty(),
        Turn::Results(_) => true,
        _ => false,
    };
    format.id != "anthropic" || !conversation.system.is_empty() || conversation.turns.iter().any(has_blocks)
}

/// What a client has received of a stream: its text, or of binary messages, their names and data.
fn received(format: &Format, events: &[Event]) -> Json {
    if format.framing == Framing::Binary {
        return events.iter().map(|event| json!({&*event.name: event.data})).collect();
    }
    Json::String(String::from_utf8(format.framing.frames(events).concat()).unwrap())
}

type Read = (bool, String, Vec<(Option<String>, Option<String>, Json)>, Vec<(String, Option<String>)>);

fn read_choices(format: &Format, body: &Json) -> Vec<Read> {
    let text = body.to_string();
    let document = Document::read(text.as_bytes());
    let (choices, _) = response::read(format, document.root()).unwrap();
    let call = |call: response::ChoiceCall| {
        (call.id, call.name, serde_json::from_str(&call.arguments).unwrap_or(Json::String(call.arguments)))
    };
    choices
        .into_iter()
        .map(|choice| {
            // The parts of a Gemini stream have no numbers, and the signatures of reasoning come with calls too.
            let reasoning = choice.reasoning.into_iter().filter(|_| format.id != "gemini");
            let reasoning = reasoning.map(|block| (block.text, block.signature)).collect();
            (choice.is_whole, choice.text, choice.calls.into_iter().map(call).collect(), reasoning)
        })
        .collect()
}

#[derive(Debug, Clone)]
struct Besides {
    redacted: Vec<String>,
    server_calls: Vec<(String, Map<String, Json>, String)>,
    signed: Vec<bool>,
}

fn besides() -> impl Strategy<Value = Besides> {
    let redacted = prop::collection::vec("[A-Za-z0-9+/]{1,12}=", 0..3);
    let server_calls = prop::collection::vec(("[a-z_]{1,8}", arguments(), any::<String>()), 0..3);
    let signed = prop::collection::vec(any::<bool>(), 4);
    (redacted, server_calls, signed).prop_map(|(redacted, server_calls, signed)| Besides {
        redacted,
        server_calls,
        signed,
    })
}

impl Besides {
    fn of(&self, said: &Assistant) -> Reply {
        let mut reply = Reply::new(said.clone());
        for data in &self.redacted {
            reply = reply.with_redacted(&**data);
        }
        for (number, (name, arguments, found)) in self.server_calls.iter().enumerate() {
            let found = json!([{"type": "text", "text": found}]);
            let call = ServerCall::new(format!("srvtoolu_{number}"), &**name, arguments.clone(), found);
            reply = reply.with_server_call(call);
        }
        let signed =
            said.calls.iter().zip(&self.signed).enumerate().filter(|(_, (_, is_signed))| **is_signed);
        for (number, _) in signed {
            reply = reply.with_call_signature(number, format!("c2ln{number}"));
        }
        reply
    }
}

/// What a body has besides what is said: encrypted reasoning, the ids of the provider's calls and results, and which calls
/// are signed.
fn read_besides(format: &Format, body: &Json) -> (usize, Vec<String>, Vec<bool>) {
    let text = body.to_string();
    let document = Document::read(text.as_bytes());
    let (_, said) = response::read(format, document.root()).unwrap();
    let (mut redacted, mut ids, mut signed) = (0, Vec::new(), Vec::new());
    for part in &said[0].transcript.parts {
        match &part.body {
            Body::Reasoning(reasoning) if reasoning.is_redacted => redacted += 1,
            Body::Call(call) if call.executor == Executor::Server => {
                ids.extend(call.id.as_ref().map(|id| id.text.to_string()));
            }
            Body::Call(call) => signed.push(call.signature == Signature::Present),
            Body::Result(result) => ids.extend(result.call_id.as_ref().map(|id| id.text.to_string())),
            _ => {}
        }
    }
    (redacted, ids, signed)
}

proptest! {
    /// The conversation is equal but for what the format declares that it cannot hold, and the writer reports that.
    #[test]
    fn every_format_reads_what_it_writes(conversation in conversations(), format in format()) {
        let written = format.write_request(&conversation);
        let (expected, dropped) = held(&conversation, format);
        let read = Conversation::read(&written.body, format);
        prop_assert_eq!(read, Some(expected), "{}: {}", format.id, written.body);
        prop_assert_eq!(written.dropped, dropped, "{}", format.id);
    }

    #[test]
    fn what_is_written_is_recognised(conversation in conversations(), format in format()) {
        // Without a message there is nothing to recognise.
        prop_assume!(!conversation.turns.is_empty());
        let body = format.write_request(&conversation).body.to_string();
        let document = Document::read(body.as_bytes());
        let mut detection = Detection::default();
        detection.add(&document);
        let wanted = (!is_distinct(&held(&conversation, format).0, format)).then_some(format.id);
        let detected = detection.best(wanted).map(|best| best.format.id);
        prop_assert_eq!(detected, Some(format.id), "{}", body);
    }

    #[test]
    fn every_format_reads_the_responses_that_it_writes(conversation in conversations(), format in format()) {
        for turn in &conversation.turns {
            let Turn::Assistant(said) = turn else { continue };
            let body = format.write_response(said).body.to_string();
            let document = Document::read(body.as_bytes());
            let (choices, said) = response::read(format, document.root()).unwrap();
            prop_assert_eq!((choices.len(), said.len()), (1, 1), "{}: {}", format.id, body);
            prop_assert!(choices[0].is_whole, "{}: {}", format.id, body);
            let (expected, _) = held(&Conversation::new(vec![turn.clone()]), format);
            prop_assert_eq!(Conversation::of(&said[0].transcript, &document), expected, "{}: {}", format.id, body);
        }
    }

    /// However a reply is divided, its stream says what its body says.
    #[test]
    fn every_format_reads_the_streams_that_it_writes(
        conversation in conversations(), format in format(), chars in 1..9_usize, is_interleaved: bool,
        has_index_zero: bool, besides in besides(),
        stop in prop::sample::select(vec![Stop::Natural, Stop::End, Stop::Calls, Stop::Length, Stop::Pause]),
    ) {
        let mut pieces = Pieces::of(chars);
        if is_interleaved {
            pieces = pieces.interleaved();
        }
        if has_index_zero {
            pieces = pieces.with_index_zero();
        }
        for turn in &conversation.turns {
            let Turn::Assistant(said) = turn else { continue };
            let reply = besides.of(said).with_stop(stop);
            let whole = read_choices(format, &format.write_reply(&reply));
            let events = format.write_stream(&reply, pieces);
            let streamed = read_choices(format, &received(format, &events));
            prop_assert_eq!(&streamed, &whole, "{}: {:#?}", format.id, events);
            prop_assert_eq!(whole[0].0, stop != Stop::Length, "{}", format.id);
            // A stream that is cut off is not whole, and no more so if it ends with an error.
            let cut = &events[..events.len().saturating_sub(2)];
            let error = format.write_stream_error("Overloaded", cut.len());
            for events in [cut.to_vec(), cut.iter().cloned().chain(error).collect()] {
                let cut = received(format, &events);
                if let Some((choices, _)) = response::read(format, Document::read(cut.to_string().as_bytes()).root()) {
                    prop_assert!(!choices[0].is_whole, "{}: {}", format.id, cut);
                }
            }
            // What only says that a stream has ended is not needed to read it.
            let open = format.write_stream(&reply, pieces.without_end());
            prop_assert!(events.starts_with(&open) && events.len() - open.len() < 2, "{}", format.id);
            prop_assert_eq!(read_choices(format, &received(format, &open)), whole, "{}", format.id);
        }
    }

    /// What a reply has besides what is said is there where the format has room for it.
    #[test]
    fn formats_write_what_a_reply_has_besides(
        conversation in conversations(), format in format(), besides in besides()
    ) {
        for turn in &conversation.turns {
            let Turn::Assistant(said) = turn else { continue };
            let reply = besides.of(said);
            let (redacted, ids, signed) = read_besides(format, &format.write_reply(&reply));
            let all: Vec<&str> = reply.server_calls.iter().flat_map(|call| [&*call.id, &*call.id]).collect();
            let has_blocks = format.id == "anthropic";
            prop_assert_eq!(redacted, if has_blocks { reply.redacted.len() } else { 0 }, "{}", format.id);
            prop_assert_eq!(ids, if has_blocks { all } else { Vec::new() }, "{}", format.id);
            let is_signed = |number| format.can_hold(Feature::CallSignatures) && reply.call_signatures.contains_key(&number);
            let expected: Vec<bool> = (0..said.calls.len()).map(is_signed).collect();
            prop_assert_eq!(signed, expected, "{}", format.id);
        }
    }

    /// Numbers stand for ids: they keep which call a result answers.
    #[test]
    fn numbering_keeps_what_belongs_together(conversation in conversations()) {
        let numbered = conversation.clone().numbered();
        prop_assert_eq!(numbered.clone().numbered(), numbered.clone());
        prop_assert_eq!(
            numbered.clone().without(Feature::CallIds), conversation.clone().without(Feature::CallIds)
        );
        let pairs = |conversation: &Conversation| -> Vec<Option<usize>> {
            let calls = conversation.turns.iter().flat_map(Turn::calls).map(|call| call.id.clone());
            let calls: Vec<String> = calls.collect();
            let outputs = conversation.turns.iter().filter_map(|turn| match turn {
                Turn::Results(outputs) => Some(outputs),
                _ => None,
            });
            outputs.flatten().map(|output| calls.iter().position(|id| *id == output.call_id)).collect()
        };
        prop_assert_eq!(pairs(&numbered), pairs(&conversation));
    }
}

/// Each feature is held by some format or by none for the reason that it gives.
#[test]
fn features_are_declared_once() {
    for format in formats::ALL {
        let mut holds = format.holds.to_vec();
        holds.sort();
        holds.dedup();
        assert_eq!(holds, format.holds, "{}: its features are in order, each once", format.id);
    }
}
