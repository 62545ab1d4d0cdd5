//! A conversation without a wire format.

use serde_json::{Map, Value as Json};
use toolcheck_core::ir::{Arguments, Body, Executor, Role, Transcript};
use toolcheck_json::{Document, Kind, Value};

use crate::check::known_format;

/// A conversation: what is said and done, and nothing of how a provider writes it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    /// Its turns.
    pub turns: Vec<Turn>,
}

/// What one side says or does before the other has its turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// The user speaks.
    User(String),
    /// The model speaks, calls, or both.
    Assistant {
        /// What it says; empty where it only calls.
        text: String,
        /// The calls that the client carries out.
        calls: Vec<Call>,
        /// The tools that the provider ran itself, by name.
        server_tools: Vec<String>,
    },
    /// The client answers the calls.
    Results(Vec<Answer>),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its id. Formats without ids leave it out.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Json>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The call's id.
    pub id: String,
    /// The tool's name, for formats that repeat it.
    pub name: String,
    /// What came of it.
    pub text: String,
    /// Whether it failed, for formats that say so.
    pub failed: bool,
}

impl Conversation {
    /// Reads a request of a format, so that two can be compared: before and after an adapter, or in two formats.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolcheck_test::Conversation;
    ///
    /// let chat = json!({"messages": [{"role": "user", "content": "hello"}]});
    /// let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]});
    /// assert_eq!(Conversation::read(&chat, "openai-chat"), Conversation::read(&gemini, "gemini"));
    /// ```
    ///
    /// System texts, definitions of tools, reasoning and media are no part of it, and calls are numbered anew.
    ///
    /// # Panics
    ///
    /// Where there is no such format, or the body is no request of it.
    #[must_use]
    #[track_caller]
    pub fn read(body: &Json, format: &str) -> Self {
        let format = known_format(format);
        let text = body.to_string();
        let document = Document::read(text.as_bytes());
        match format.read(document.root()) {
            Some(transcript) => Self::of(&transcript, &document),
            None => panic!("the body holds no list of messages of {}", format.id),
        }
    }

    /// Folds a reading into turns.
    ///
    /// What formats write differently becomes one: results in messages of their own or in the user's, arguments in a
    /// string or an object. What a format leaves out is filled in from the call: a result's tool, and ids, which are
    /// numbered anew, because some formats have none. Failure is kept only where the format says it.
    #[must_use]
    pub fn of(transcript: &Transcript<'_>, document: &Document<'_>) -> Self {
        let mut folded = Self::default();
        for (message, parts) in transcript.messages_with_parts() {
            for part in parts {
                match &part.body {
                    Body::Text(text) => match message.role {
                        Role::Assistant => folded.assistant().0.push_str(&text.string.decode()),
                        Role::User if !text.string.is_empty() => {
                            folded.user().push_str(&text.string.decode())
                        }
                        _ => {}
                    },
                    Body::Call(call) if call.executor == Executor::Client => {
                        let arguments = match call.arguments {
                            Arguments::Text(text, _) => {
                                serde_json::from_str(&text.decode()).unwrap_or_default()
                            }
                            Arguments::Object(place) => object(document.value(place.node)),
                            _ => Map::new(),
                        };
                        let id = name(call.id.as_ref());
                        let call = Call { id, name: name(call.name.as_ref()), arguments };
                        folded.assistant().1.push(call);
                    }
                    Body::Call(call) => folded.assistant().2.push(name(call.name.as_ref())),
                    Body::Result(result) if result.executor == Executor::Client => {
                        let text = result.content_place.map(|place| plain_text(document.value(place.node)));
                        folded.results().push(Answer {
                            id: name(result.call_id.as_ref()),
                            name: name(result.name.as_ref()),
                            text: text.unwrap_or_default(),
                            failed: result.is_error == Some(true),
                        });
                    }
                    _ => {}
                }
            }
        }
        folded.number_and_name();
        folded
    }

    /// The calls and results, and the tools that the provider ran.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        self.turns.iter().fold((0, 0), |(calls, results), turn| match turn {
            Turn::User(_) => (calls, results),
            Turn::Assistant { calls: own, server_tools, .. } => {
                (calls + own.len() + server_tools.len(), results)
            }
            Turn::Results(answers) => (calls, results + answers.len()),
        })
    }

    fn user(&mut self) -> &mut String {
        if !matches!(self.turns.last(), Some(Turn::User(_))) {
            self.turns.push(Turn::User(String::new()));
        }
        match self.turns.last_mut() {
            Some(Turn::User(text)) => text,
            _ => unreachable!("the last turn is the user's"),
        }
    }

    fn assistant(&mut self) -> (&mut String, &mut Vec<Call>, &mut Vec<String>) {
        if !matches!(self.turns.last(), Some(Turn::Assistant { .. })) {
            self.turns.push(Turn::Assistant {
                text: String::new(),
                calls: Vec::new(),
                server_tools: Vec::new(),
            });
        }
        match self.turns.last_mut() {
            Some(Turn::Assistant { text, calls, server_tools }) => (text, calls, server_tools),
            _ => unreachable!("the last turn is the model's"),
        }
    }

    fn results(&mut self) -> &mut Vec<Answer> {
        if !matches!(self.turns.last(), Some(Turn::Results(_))) {
            self.turns.push(Turn::Results(Vec::new()));
        }
        match self.turns.last_mut() {
            Some(Turn::Results(answers)) => answers,
            _ => unreachable!("the last turn holds results"),
        }
    }

    /// Numbers calls anew. A result gets the number and tool of the call whose id it names, or, where it names none,
    /// of the call at its position.
    pub fn number_and_name(&mut self) {
        let mut next = 0;
        // The old id, the new one and the tool of the calls of the last turn.
        let mut open: Vec<(String, String, String)> = Vec::new();
        for turn in &mut self.turns {
            match turn {
                Turn::User(_) => {}
                Turn::Assistant { calls, .. } => {
                    open.clear();
                    for call in calls {
                        let id = format!("call_{next}");
                        let old = std::mem::replace(&mut call.id, id.clone());
                        next += 1;
                        open.push((old, id, call.name.clone()));
                    }
                }
                Turn::Results(answers) => {
                    for (position, answer) in answers.iter_mut().enumerate() {
                        let named = open.iter().find(|(old, ..)| !old.is_empty() && *old == answer.id);
                        if let Some((_, id, name)) = named.or_else(|| open.get(position)) {
                            answer.id.clone_from(id);
                            answer.name.clone_from(name);
                        }
                    }
                }
            }
        }
    }
}

fn name(name: Option<&toolcheck_core::ir::Named<'_>>) -> String {
    name.map(|name| name.text.to_string()).unwrap_or_default()
}

/// A value of the document as `serde_json` has it.
fn json(value: Value<'_, '_>) -> Json {
    match value.kind() {
        Kind::Bool => Json::Bool(value.as_bool().unwrap_or_default()),
        Kind::Number => serde_json::from_slice(value.raw()).unwrap_or_default(),
        Kind::String => Json::String(value.as_str().unwrap_or_default().into_owned()),
        Kind::Array => value.elements().map(json).collect(),
        Kind::Object => Json::Object(object(value)),
        Kind::Null | Kind::Invalid => Json::Null,
    }
}

fn object(value: Value<'_, '_>) -> Map<String, Json> {
    let members =
        value.members().filter_map(|member| Some((member.key()?.decode().into_owned(), json(member))));
    members.collect()
}

/// All the text of a result's content, whatever it is wrapped in.
fn plain_text(value: Value<'_, '_>) -> String {
    match value.kind() {
        Kind::String => value.as_str().unwrap_or_default().into_owned(),
        Kind::Array => value.elements().map(plain_text).collect(),
        Kind::Object => {
            let is_text = |member: &Value<'_, '_>| !member.has_key("type") && !member.has_key("id");
            value.members().filter(is_text).map(plain_text).collect()
        }
        _ => String::new(),
    }
}
