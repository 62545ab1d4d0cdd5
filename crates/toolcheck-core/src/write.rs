//! Requests, responses and logs of exchanges, written in any format.

use serde_json::{Map, Value as Json, json};
use toolcheck_json::Value;

use crate::conversation::{Assistant, Conversation, Feature, Turn};
use crate::formats::Format;
use crate::reply::{Event, Pieces, Reply};

/// What a format has written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Written {
    /// The body of the request or response.
    pub body: Json,
    /// What the conversation contains and the format cannot hold, so that it is missing in the body.
    pub dropped: Vec<Feature>,
}

impl Format {
    /// Whether a request of the format can hold it.
    pub fn can_hold(&self, feature: Feature) -> bool {
        self.holds.contains(&feature)
    }

    /// Writes a conversation as a request body that the format's own provider accepts once it names a model: which one is
    /// for the caller to say. It declares the tools that are called.
    ///
    /// Without a model, a request of text alone may not show which format it is written in.
    ///
    /// ```
    /// use toolcheck_core::conversation::{Assistant, Call, Conversation, Feature, Turn};
    /// use toolcheck_core::formats;
    ///
    /// let call = Call::new("call_1", "tides", serde_json::Map::new());
    /// let output = call.output("low at six");
    /// let conversation = Conversation::new(vec![
    ///     Turn::User("When is low tide?".to_owned()),
    ///     Turn::Assistant(Assistant::new("").with_calls(vec![call])),
    ///     Turn::Results(vec![output]),
    /// ]);
    /// let gemini = formats::find("gemini").expect("there is such a format").write_request(&conversation);
    /// assert_eq!(gemini.body["contents"][1]["parts"][0]["functionCall"]["name"], "tides");
    /// assert_eq!(gemini.dropped, [Feature::CallIds]);
    /// ```
    pub fn write_request(&self, conversation: &Conversation) -> Written {
        self.write_request_with(conversation, &conversation.called_tools())
    }

    /// Writes a conversation as a request body that declares these tools, whether or not they are called.
    pub fn write_request_with(&self, conversation: &Conversation, tools: &[&str]) -> Written {
        let (held, dropped) = self.held(conversation);
        Written { body: (self.write_request)(&held, tools), dropped }
    }

    /// Writes a reply as a body.
    pub fn write_reply(&self, reply: &Reply) -> Json {
        (self.write_reply)(&self.held_reply(reply))
    }

    /// What a response repeats of a request.
    pub fn repeated(&self, request: Value<'_, '_>) -> Map<String, Json> {
        let read = |key: &&str| {
            let value = request.get(key)?;
            Some(((*key).to_owned(), serde_json::from_slice(value.raw()).ok()?))
        };
        self.repeats.iter().filter_map(read).collect()
    }

    /// Writes a reply as the events of a stream.
    pub fn write_stream(&self, reply: &Reply, pieces: Pieces) -> Vec<Event> {
        (self.write_events)(&self.held_reply(reply), &pieces)
    }

    /// Writes the error that ends a stream after this many events; `None` if it is not known how the API says that.
    pub fn write_stream_error(&self, text: &str, after: usize) -> Option<Event> {
        self.write_error.map(|write| write(text, after))
    }

    fn held_reply(&self, reply: &Reply) -> Reply {
        let mut said = self.held_turn(&reply.said).0;
        if reply.has_plain_reasoning && said.reasoning.is_empty() {
            said.reasoning.clone_from(&reply.said.reasoning);
        }
        if reply.has_call_ids {
            said.calls
                .iter_mut()
                .zip(&reply.said.calls)
                .for_each(|(held, call)| held.id.clone_from(&call.id));
        }
        Reply { said, ..reply.clone() }
    }

    /// Writes a turn of the model as a response that came at once.
    pub fn write_response(&self, said: &Assistant) -> Written {
        let (said, dropped) = self.held_turn(said);
        Written { body: (self.write_reply)(&Reply::new(said)), dropped }
    }

    pub(crate) fn held_turn(&self, said: &Assistant) -> (Assistant, Vec<Feature>) {
        let (held, dropped) = self.held(&Conversation::new(vec![Turn::Assistant(said.clone())]));
        let said = held.turns.into_iter().find_map(|turn| match turn {
            Turn::Assistant(said) => Some(said),
            Turn::User(_) | Turn::Results(_) => None,
        });
        (said.unwrap_or_default(), dropped)
    }

    /// Writes a log of the requests in which a conversation came about, each with its response, in order of time.
    ///
    /// `kept` is what the application keeps of a conversation: the history of each request is `kept` of what was said
    /// before, and each response is what the model said.
    pub fn write_exchanges(
        &self,
        conversation: &Conversation,
        kept: impl Fn(&Conversation) -> Conversation,
    ) -> Vec<Json> {
        // An application declares its tools from the beginning, and not only those that were called.
        let tools = conversation.called_tools();
        let request = |said: &Conversation| self.write_request_with(&kept(said), &tools).body;
        let mut exchanges = Vec::new();
        for (number, turn) in conversation.turns.iter().enumerate() {
            let Turn::Assistant(said) = turn else { continue };
            let turns = conversation.turns[..number].to_vec();
            let before = Conversation { turns, ..conversation.clone() };
            let response = self.write_response(said).body;
            exchanges.push(json!({"request": request(&before), "response": response}));
        }
        if !matches!(conversation.turns.last(), Some(Turn::Assistant(_))) {
            exchanges.push(json!({"request": request(conversation), "response": null}));
        }
        exchanges
    }

    fn held(&self, conversation: &Conversation) -> (Conversation, Vec<Feature>) {
        let (mut held, mut dropped) = (conversation.clone(), Vec::new());
        // One after the other: signatures are gone with the reasoning, and need no mention then.
        for feature in Feature::ALL {
            if !self.can_hold(feature) && held.has(feature) {
                held = held.without(feature);
                dropped.push(feature);
            }
        }
        (held, dropped)
    }
}
