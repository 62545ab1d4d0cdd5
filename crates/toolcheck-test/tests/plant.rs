//! Faults that break requests, planted into a body that an API accepts. Every other byte stays.
//!
//! They are the faults that agents and frameworks leave behind: after an interrupted tool, a trimmed history, or a
//! conversion.

use toolcheck_core::Format;
use toolcheck_core::ir::{Arguments, Body, Message, Part, Role, Transcript};
use toolcheck_json::edit::{Edits, Piece};
use toolcheck_json::{Document, NodeId, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Plant {
    /// A result is gone.
    LostResult,
    /// A call is gone, and its result is not.
    LostCall,
    /// A result is there twice.
    DoubledResult,
    /// The user has said something between a call and its result.
    LateResult,
    /// The results of a turn are in two messages.
    SplitResults,
    /// The calls of a turn are in two messages.
    SplitTurn,
    /// Two calls have the same id.
    ReusedId,
    /// An id has characters that APIs refuse.
    MalformedId,
    /// The arguments of a call are not JSON.
    BrokenArguments,
    /// The content of a result is `null`.
    NullResult,
    /// A call has no id.
    MissingId,
    /// A system message is between a call and its result.
    SystemMessage,
    /// The user has sent a message without a text.
    EmptyMessage,
    /// The model speaks first.
    ModelFirst,
    /// A text begins with half a character.
    LoneSurrogate,
}

impl Plant {
    pub(crate) const ALL: [Self; 15] = [
        Self::LostResult,
        Self::LostCall,
        Self::DoubledResult,
        Self::LateResult,
        Self::SplitResults,
        Self::SplitTurn,
        Self::ReusedId,
        Self::MalformedId,
        Self::BrokenArguments,
        Self::NullResult,
        Self::MissingId,
        Self::SystemMessage,
        Self::EmptyMessage,
        Self::ModelFirst,
        Self::LoneSurrogate,
    ];

    /// The body with the fault at one of the places where there can be one, which `at` chooses; `None` if there is none.
    pub(crate) fn plant(self, body: &[u8], format: &Format, at: usize) -> Option<Vec<u8>> {
        let document = Document::read(body);
        let transcript = format.read(document.root())?;
        let mut garden = Garden { document: &document, format, edits: Edits::new(&document) };
        let all = Sites::of(&transcript);
        match self {
            Self::LostResult => garden.remove(pick(&all.results, at)?.place.node, &transcript)?,
            Self::LostCall => garden.remove(pick(&all.calls, at)?.place.node, &transcript)?,
            Self::DoubledResult => {
                let node = pick(&all.results, at)?.place.node;
                garden.put(garden.list_of(node)?, node, [None, Some(&Piece::Node(node))]);
            }
            Self::LateResult => garden.say_before(pick(&all.results, at)?.place.node)?,
            Self::SplitResults => garden.split(&all.results, at)?,
            Self::SplitTurn => garden.split(&all.calls, at)?,
            Self::ReusedId => {
                let id = |part: &Part<'_>| Some(part.call()?.id.as_ref()?.text.to_string());
                let first = id(all.calls.first()?)?;
                let others: Vec<String> =
                    all.calls.iter().filter_map(|call| id(call)).filter(|id| *id != first).collect();
                garden.rename(&all, pick(&others, at)?, &first)?;
            }
            Self::MalformedId => {
                let Body::Call(call) = &pick(&all.calls, at)?.body else { return None };
                let id = call.id.as_ref()?.text.to_string();
                garden.rename(&all, &id, &format!("{id}:\u{e4} "))?;
            }
            Self::BrokenArguments => garden.cut_arguments(&all, at)?,
            Self::NullResult => {
                let Body::Result(result) = &pick(&all.results, at)?.body else { return None };
                garden.edits.replace(result.content_place?.node, Piece::Raw(b"null".to_vec()));
            }
            Self::MissingId => {
                let Body::Call(call) = &pick(&all.calls, at)?.body else { return None };
                let id = call.id.as_ref()?.place.node;
                let path = garden.path(id);
                garden.edits.remove_member(path.get(path.len().checked_sub(2)?)?.id(), id);
            }
            Self::SystemMessage => {
                let result = pick(&all.results, at)?.place.node;
                garden.insert_before(result, "Be brief.", Some(Piece::text("system")))?;
            }
            Self::EmptyMessage => garden.insert_before(pick(&all.results, at)?.place.node, "", None)?,
            Self::ModelFirst => {
                let is_of_model = |message: &&Message<'_>| message.role == Role::Assistant;
                let role = transcript.messages.iter().find(is_of_model)?.role_name.as_ref()?.place.node;
                let first = transcript.messages.iter().find(|message| message.role != Role::System)?;
                garden.insert_before(first.place.node, "Hello.", Some(Piece::Node(role)))?;
            }
            Self::LoneSurrogate => {
                let is_text = |part: &&Part<'_>| matches!(&part.body, Body::Text(_));
                let texts: Vec<_> = transcript.parts.iter().filter(is_text).collect();
                let text = document.value(pick(&texts, at)?.place.node);
                let text = if text.is_object() { text.get("text")? } else { text };
                text.as_json_str()?;
                let half = [&b"\"\\ud83d "[..], &text.raw()[1..]].concat();
                garden.edits.replace(text.id(), Piece::Raw(half));
            }
        }
        Some(garden.edits.apply().into_owned())
    }
}

fn pick<T>(all: &[T], at: usize) -> Option<&T> {
    all.get(at % all.len().max(1))
}

fn kept(value: Value<'_, '_>) -> Vec<Piece> {
    vec![Piece::Node(value.id())]
}

/// The calls and results that the client is responsible for.
struct Sites<'t, 's> {
    calls: Vec<&'t Part<'s>>,
    results: Vec<&'t Part<'s>>,
}

impl<'t, 's> Sites<'t, 's> {
    fn of(transcript: &'t Transcript<'s>) -> Self {
        use toolcheck_core::ir::Executor::Client;
        let is_call = |part: &&Part<'_>| matches!(&part.body, Body::Call(call) if call.executor == Client);
        let is_result =
            |part: &&Part<'_>| matches!(&part.body, Body::Result(result) if result.executor == Client);
        Self {
            calls: transcript.parts.iter().filter(is_call).collect(),
            results: transcript.parts.iter().filter(is_result).collect(),
        }
    }
}

struct Garden<'d, 's> {
    document: &'d Document<'s>,
    format: &'d Format,
    edits: Edits<'d, 's>,
}

impl<'d, 's> Garden<'d, 's> {
    /// The values from the root to a value.
    fn path(&self, node: NodeId) -> Vec<Value<'d, 's>> {
        let mut path = vec![self.document.root()];
        while let Some(at) = path.last().filter(|at| at.id() != node) {
            let Some(inner) = at.children().take_while(|child| child.id() <= node).last() else { break };
            path.push(inner);
        }
        path
    }

    /// The innermost list with a value as its element.
    fn list_of(&self, node: NodeId) -> Option<Value<'d, 's>> {
        let path = self.path(node);
        path.get(path.len().checked_sub(2)?).copied().filter(|list| list.is_array())
    }

    /// The message that a value is in, and the list of messages.
    fn message_of(&self, node: NodeId) -> Option<(Value<'d, 's>, Value<'d, 's>)> {
        let path = self.path(node);
        let list = path.iter().position(|value| value.is_array())?;
        Some((*path.get(list + 1)?, path[list]))
    }

    fn set(&mut self, list: Value<'d, 's>, change: impl Fn(Value<'d, 's>) -> Vec<Piece>) {
        self.edits.set_elements(list.id(), list.elements().flat_map(change).collect::<Vec<_>>());
    }

    /// Removes a part, and its message if nothing but reasoning and empty texts are left in it.
    fn remove(&mut self, node: NodeId, transcript: &Transcript<'_>) -> Option<()> {
        let list = self.list_of(node)?;
        let (message, messages) = self.message_of(node)?;
        let is_last = list.elements().count() == 1;
        let stays = |part: &Part<'_>| {
            let is_inside = self.path(part.place.node).iter().any(|value| value.id() == message.id());
            let is_nothing = match &part.body {
                Body::Reasoning(_) => true,
                Body::Text(text) => text.string.is_empty(),
                _ => false,
            };
            is_inside && part.place.node != node && !is_nothing
        };
        if list.id() != messages.id() && !transcript.parts.iter().any(stays) {
            self.set(messages, |element| if element.id() == message.id() { vec![] } else { kept(element) });
        } else if is_last && message.is_object() && list.id() != messages.id() {
            self.edits.remove_member(message.id(), list.id());
        } else {
            self.set(list, |element| if element.id() == node { vec![] } else { kept(element) });
        }
        Some(())
    }

    /// Puts pieces before and after an element of a list.
    fn put(&mut self, list: Value<'d, 's>, node: NodeId, [before, after]: [Option<&Piece>; 2]) {
        self.set(list, |element| {
            let is_there = element.id() == node;
            let of = |piece: Option<&Piece>| piece.filter(|_| is_there).cloned();
            of(before).into_iter().chain(kept(element)).chain(of(after)).collect()
        });
    }

    /// Has the user say something before the message that a value is in.
    fn say_before(&mut self, node: NodeId) -> Option<()> {
        let (message, messages) = self.message_of(node)?;
        let said = (self.format.fix_style.user)(vec![(self.format.fix_style.text)(Piece::text("wait"))]);
        let said = if self.format.fix_style.blocks.is_some() {
            said
        } else {
            (self.format.fix_style.said)(Piece::text("wait"))
        };
        self.put(messages, message.id(), [Some(&said), None]);
        Some(())
    }

    /// Inserts a message with a text before the one that a value is in, with another role than that of the user.
    fn insert_before(&mut self, node: NodeId, text: &str, role: Option<Piece>) -> Option<()> {
        let (message, messages) = self.message_of(node)?;
        let Piece::Object(mut members) = (self.format.fix_style.said)(Piece::text(text)) else { return None };
        if let Some(role) = role {
            members.iter_mut().find(|(key, _)| key == "role")?.1 = role;
        }
        self.put(messages, message.id(), [Some(&Piece::Object(members)), None]);
        Some(())
    }

    /// Puts something before the arguments of a call, so that they are not JSON.
    fn cut_arguments(&mut self, all: &Sites<'_, '_>, at: usize) -> Option<()> {
        let texts = all.calls.iter().filter_map(|part| match &part.body {
            Body::Call(call) => match call.arguments {
                Arguments::Text(text, _) => Some((call.arguments.place()?.node, text)),
                _ => None,
            },
            _ => None,
        });
        let texts: Vec<_> = texts.collect();
        let (node, text) = pick(&texts, at)?;
        let cut = format!("{{\"cut\": {}", text.decode());
        self.edits.replace(*node, Piece::text(&cut));
        Some(())
    }

    /// Moves the last of several parts of a message into a message of its own after it.
    fn split(&mut self, parts: &[&Part<'_>], at: usize) -> Option<()> {
        let in_lists = parts.iter().filter_map(|part| {
            let list = self.list_of(part.place.node)?;
            let (message, messages) = self.message_of(part.place.node)?;
            (list.id() != messages.id()).then_some((part.place.node, list, message, messages))
        });
        let all: Vec<_> = in_lists.collect();
        let several: Vec<_> = all.windows(2).filter(|pair| pair[0].1.id() == pair[1].1.id()).collect();
        let (node, list, message, messages) = pick(&several, at)?[1];
        let key = list.key_text()?.into_owned();
        let role = message.get("role")?;
        let second = Piece::Object(vec![
            ("role".into(), Piece::Node(role.id())),
            (key.into(), Piece::List(vec![Piece::Node(node)])),
        ]);
        let second = match (second, self.format.fix_style.calls) {
            (Piece::Object(mut members), Some((_, text))) => {
                members.insert(1, (text.into(), Piece::text("")));
                Piece::Object(members)
            }
            (second, _) => second,
        };
        self.set(list, |element| if element.id() == node { vec![] } else { kept(element) });
        self.put(messages, message.id(), [None, Some(&second)]);
        Some(())
    }

    /// Gives a call and its results another id.
    fn rename(&mut self, all: &Sites<'_, '_>, old: &str, new: &str) -> Option<()> {
        for part in all.calls.iter().chain(&all.results) {
            let id = match &part.body {
                Body::Call(call) => call.id.as_ref(),
                Body::Result(result) => result.call_id.as_ref(),
                _ => None,
            };
            if let Some(id) = id.filter(|id| id.text == *old) {
                self.edits.replace(id.place.node, Piece::text(new));
            }
        }
        Some(())
    }
}
