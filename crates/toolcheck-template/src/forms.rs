//! Another form of the same conversation, which a chat template reads.

use std::borrow::Cow;

use std::collections::{HashMap, HashSet};

use toolcheck_json::edit::{Edits, Piece};
use toolcheck_json::{Document, NodeId, Span, Value};

use crate::convert::{Changes, RenderMode};
use crate::examine::Examination;
use crate::findings::{Kind, Observation, Part};
use crate::input::{Arguments, Input};
use crate::load::Template;
use crate::parts::REASONING;
use crate::render::RefusalKind;

/// The longest text of which other forms are tried: each is rendered many times.
const MOST_TRIED: usize = 1 << 18;

/// The roles under which templates know results, other than `tool`.
const RESULT_ROLES: [&str; 3] = ["ipython", "observation", "function"];

/// Another form of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherForm {
    /// What changes in the document.
    pub changes: Vec<Change>,
    /// What is a guess of it, each as a clause; nothing if only the spelling changes.
    pub guesses: Vec<&'static str>,
    /// Which of the observations are gone then.
    pub solves: Vec<bool>,
}

/// A change in one place of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A value becomes this JSON, which is on one line.
    Write(NodeId, String),
    /// An object gets a member with this key and this JSON.
    Add(NodeId, String, String),
    /// A member gets another key.
    Rename(NodeId, String),
    /// An element is removed from its list.
    Remove(NodeId),
    /// A message gets another before it, which is this JSON.
    Before(NodeId, String),
}

impl Change {
    /// The value that it is about.
    pub fn node(&self) -> NodeId {
        match self {
            Self::Write(node, _)
            | Self::Add(node, ..)
            | Self::Rename(node, _)
            | Self::Remove(node)
            | Self::Before(node, _) => *node,
        }
    }
}

impl Template {
    /// Another form of a conversation, of which less is refused, lost or doubled; `None` if none is found.
    ///
    /// `root` is the value that the input was made [of](Input::of). Each form is examined as the first was.
    pub fn other_form(
        &self,
        input: &Input<'_>,
        root: Value<'_, '_>,
        first: &Examination,
    ) -> Option<OtherForm> {
        Forms { template: self, input, root }.best(first)
    }
}

/// A prompt, or why there is none.
type Printed = Result<String, String>;

/// What is needed to try other forms of a conversation.
struct Forms<'f> {
    template: &'f Template,
    input: &'f Input<'f>,
    root: Value<'f, 'f>,
}

/// A form: what changes, and what it costs. Nothing changes if the conversation has it already.
type Form = (Vec<Change>, Option<&'static str>);

/// How far a template is from reading a conversation: how many messages it refuses, and how much else there is to say.
type Score = (usize, usize);

impl<'f> Forms<'f> {
    fn best(&self, first: &Examination) -> Option<OtherForm> {
        let document = self.document();
        let is_whole = document.faults().iter().all(|fault| fault.kind.is_harmless());
        if !is_whole || document.bytes().len() > MOST_TRIED {
            return None;
        }
        let start = score(first, self.input);
        let (mut score, mut raised) = (start, raised(first));
        let mut printed = self.printed(self.input);
        let mut best = None;
        let (mut changes, mut guesses) = (Vec::new(), Vec::new());
        for (more, guess) in self.all() {
            if score == (0, 0) {
                break;
            }
            if more.is_empty() || !self.go_together(&changes, &more) {
                continue;
            }
            let all = [&changes[..], &more].concat();
            let Some((found, own, prompt)) = self.examined(&all, &printed) else { continue };
            // A template that asks for something else of the same message has got what it asked for before.
            let own_raised = self::raised(&found);
            let asks_for_more = raised.is_some() && own_raised.is_some() && own_raised != raised;
            if own < score || own == score && asks_for_more {
                (score, raised, best, changes) = (own, own_raised, Some(found), all);
                printed = prompt;
                guesses.extend(guess);
            }
        }
        let best = best.filter(|_| score < start)?;
        let is_moved = changes.iter().any(|change| matches!(change, Change::Before(..) | Change::Remove(_)));
        let is_left = |old: &Observation| {
            best.observations.iter().any(|new| {
                (old.kind, old.part) == (new.kind, new.part) && (is_moved || old.pointer == new.pointer)
            })
        };
        let solves = first.observations.iter().map(|old| !old.by_design && !is_left(old)).collect();
        // A server tells of a refusal, and nobody of a loss.
        let is_lost = |new: &Observation| new.kind == Kind::Loses && new.part == Part::Call && !new.by_design;
        if start.0 > 0 && best.observations.iter().any(is_lost) {
            guesses.push("the template prints no calls");
        }
        Some(OtherForm { changes, guesses, solves })
    }

    /// The forms that are tried: what changes least comes first.
    fn all(&self) -> Vec<Form> {
        let safe = [
            self.arguments_as_objects(),
            self.arguments_as_texts(),
            self.empty_for_null(&["content"]),
            self.empty_for_null(&REASONING),
            self.empty_for_missing(),
            self.text_for_part(),
            self.parts_for_text(),
            self.role("developer", "system"),
            self.reasoning_as("reasoning_content"),
            self.reasoning_as("reasoning"),
            self.names_of_results(),
            self.ids_of_nine(),
        ];
        let guesses = [
            (self.merged_messages(), "messages of the user are merged"),
            (self.system_first(), "later system messages are moved to the start"),
            (self.one_text_for_parts(), "the texts of a message are joined by a line end"),
            (self.text_before_calls(), "a text and its calls become two messages"),
            (self.calls_one_by_one(), "parallel calls become calls one after another"),
        ];
        let roles = RESULT_ROLES.map(|role| (self.results_as(role), None));
        let safe = safe.into_iter().map(|changes| (changes, None)).chain(roles);
        safe.chain(guesses.map(|(changes, guess)| (changes, Some(guess)))).collect()
    }

    fn document(&self) -> &'f Document<'f> {
        self.root.document()
    }

    fn printed(&self, input: &Input<'_>) -> Printed {
        let trial = RenderMode { traces: false, changes: &Changes::new(), most_messages: usize::MAX };
        let traced = self.template.trial(input, &trial);
        traced.map(|traced| traced.prompt.text).map_err(|refusal| refusal.message)
    }

    /// What is observed of the conversation with these changes, if they change what is printed.
    fn examined(&self, changes: &[Change], before: &Printed) -> Option<(Examination, Score, Printed)> {
        let text = self.changed(changes);
        let document = Document::read(&text);
        let mut pointers = toolcheck_json::pointers(self.document(), &[self.root.id()]);
        let pointer = pointers.pop()?;
        let root = document.root().pointer(&pointer)?;
        let Input { preparation, arguments, is_training, .. } = *self.input;
        let input = Input { preparation, arguments, is_training, ..Input::of(root)? };
        let printed = self.printed(&input);
        if printed == *before {
            return None;
        }
        let found = self.template.examine(&input);
        let is_known = found.refusal.as_ref().is_none_or(|refusal| refusal.kind.is_certain());
        let score = score(&found, &input);
        is_known.then_some((found, score, printed))
    }

    /// The text with these changes, each of which is of one of the sorts that are made here.
    fn changed(&self, changes: &[Change]) -> Vec<u8> {
        let mut edits = Edits::new(self.document());
        let mut gone: HashSet<NodeId> = HashSet::new();
        let mut before: HashMap<NodeId, &str> = HashMap::new();
        for change in changes {
            match change {
                Change::Write(node, json) => edits.replace(*node, Piece::Raw(json.clone().into_bytes())),
                Change::Add(object, key, json) => {
                    edits.set_member(*object, key.clone(), Piece::Raw(json.clone().into_bytes()));
                }
                Change::Before(node, json) => _ = before.insert(*node, json),
                Change::Remove(node) => _ = gone.insert(*node),
                Change::Rename(member, key) => {
                    let around = self.messages().find(|message| message.span().contains(self.span(*member)));
                    if let Some(message) = around {
                        edits.rename_member(message.id(), *member, key.clone());
                    }
                }
            }
        }
        if !gone.is_empty() {
            for calls in self.messages().filter_map(|message| message.get("tool_calls")) {
                let ids = calls.elements().map(Value::id);
                let left: Vec<Piece> = ids.filter(|id| !gone.contains(id)).map(Piece::Node).collect();
                edits.set_elements(calls.id(), left);
            }
        }
        if !before.is_empty() || !gone.is_empty() {
            let new = |id: &NodeId| Some(Piece::Raw((*before.get(id)?).into()));
            let left = self.input.messages.elements().map(Value::id).filter(|id| !gone.contains(id));
            let elements = left.flat_map(|id| new(&id).into_iter().chain([Piece::Node(id)]));
            edits.set_elements(self.input.messages.id(), elements.collect::<Vec<_>>());
        }
        edits.apply().into_owned()
    }

    fn span(&self, node: NodeId) -> Span {
        self.document().value(node).span()
    }

    /// Whether no change is inside of what another writes anew or removes.
    fn go_together(&self, these: &[Change], those: &[Change]) -> bool {
        let covers = |one: &Change, other: &Change| {
            let is_whole = matches!(one, Change::Write(..) | Change::Remove(_));
            let is_beside = matches!(other, Change::Before(..));
            is_whole && !is_beside && self.span(one.node()).contains(self.span(other.node()))
        };
        these.iter().all(|one| those.iter().all(|other| !covers(one, other) && !covers(other, one)))
    }

    fn messages(&self) -> impl Iterator<Item = Value<'f, 'f>> + use<'f> {
        self.input.messages.elements().filter(|message| message.is_object())
    }

    fn messages_of(&self, role: &'static str) -> impl Iterator<Item = Value<'f, 'f>> + use<'f> {
        self.messages().filter(move |message| message.is("role", role))
    }

    fn calls(&self) -> impl Iterator<Item = Value<'f, 'f>> + use<'f> {
        let lists = self.messages().filter_map(|message| message.get("tool_calls"));
        lists.flat_map(Value::elements)
    }

    /// The arguments of calls, where a text is not read into an object before the template sees it.
    fn arguments(&self) -> impl Iterator<Item = Value<'f, 'f>> + use<'f> {
        let is_given = self.input.arguments == Arguments::AsGiven;
        let calls = self.calls().filter(move |_| is_given);
        calls.filter_map(|call| call.get("function").unwrap_or(call).get("arguments"))
    }

    fn arguments_as_objects(&self) -> Vec<Change> {
        let object = |arguments: Value<'_, '_>| {
            let text = arguments.as_str()?;
            let document = Document::read(text.as_bytes());
            let is_object = document.root().is_object() && document.faults().is_empty();
            is_object.then(|| Change::Write(arguments.id(), on_one_line(&text)))
        };
        self.arguments().filter_map(object).collect()
    }

    fn arguments_as_texts(&self) -> Vec<Change> {
        let objects = self.arguments().filter(|arguments| arguments.is_object());
        objects.map(|arguments| write_text(arguments, &on_one_line(&raw(arguments)))).collect()
    }

    fn empty_for_null(&self, keys: &[&str]) -> Vec<Change> {
        let contents =
            self.messages().flat_map(|message| keys.iter().filter_map(move |key| message.get(key)));
        contents.filter(|content| content.is_null()).map(|content| write_text(content, "")).collect()
    }

    fn empty_for_missing(&self) -> Vec<Change> {
        let missing = self.messages().filter(|message| message.get("content").is_none());
        missing.map(|message| add_text(message, "content", "")).collect()
    }

    /// The contents that are lists of at least so many texts and nothing else.
    fn parts(&self, least: usize) -> impl Iterator<Item = (Value<'f, 'f>, Vec<String>)> + use<'f> {
        let contents = self.messages().filter_map(|message| message.get("content"));
        contents.filter(|content| content.is_array()).filter_map(move |content| {
            let text = |part: Value<'_, '_>| match part.get_str("type").as_deref() {
                // What else a part says, such as what is cached, would be lost.
                Some("text") if part.members().count() == 2 => Some(part.get_str("text")?.into_owned()),
                _ => None,
            };
            let texts = content.elements().map(text).collect::<Option<Vec<_>>>()?;
            (texts.len() >= least).then_some((content, texts))
        })
    }

    fn text_for_part(&self) -> Vec<Change> {
        let single = self.parts(1).filter(|(_, texts)| texts.len() == 1);
        single.map(|(content, texts)| write_text(content, &texts.concat())).collect()
    }

    fn one_text_for_parts(&self) -> Vec<Change> {
        self.parts(2).map(|(content, texts)| write_text(content, &texts.join("\n"))).collect()
    }

    fn parts_for_text(&self) -> Vec<Change> {
        let part = |content: Value<'_, '_>| {
            let text = Piece::text(&content.as_str()?);
            let part = Piece::List(vec![Piece::object([("type", Piece::text("text")), ("text", text)])]);
            Some(Change::Write(content.id(), part.json()?))
        };
        self.messages().filter_map(|message| part(message.get("content")?)).collect()
    }

    fn role(&self, from: &'static str, to: &str) -> Vec<Change> {
        let roles = self.messages_of(from).filter_map(|message| message.get("role"));
        roles.map(|role| write_text(role, to)).collect()
    }

    /// Results in another role. An API would not know it; a trainer has no roles of its own.
    fn results_as(&self, role: &'static str) -> Vec<Change> {
        if self.input.arguments == Arguments::AsGiven { self.role("tool", role) } else { Vec::new() }
    }

    fn reasoning_as(&self, key: &str) -> Vec<Change> {
        let other = |message: Value<'_, '_>| {
            let known: Vec<_> =
                REASONING.into_iter().filter_map(|name| Some((name, message.get(name)?))).collect();
            match known[..] {
                [(name, value)] if name != key => Some(Change::Rename(value.id(), key.to_owned())),
                _ => None,
            }
        };
        self.messages_of("assistant").filter_map(other).collect()
    }

    fn names_of_results(&self) -> Vec<Change> {
        let mut names: HashMap<String, String> = HashMap::new();
        for call in self.calls() {
            let name = call.get("function").and_then(|function| function.get_str("name"));
            if let (Some(id), Some(name)) = (call.get_str("id"), name) {
                names.insert(id.into_owned(), name.into_owned());
            }
        }
        let name = |message: Value<'_, '_>| names.get(&*message.get_str("tool_call_id")?);
        let nameless = self.messages_of("tool").filter(|message| message.get("name").is_none());
        nameless.filter_map(|message| Some(add_text(message, "name", name(message)?))).collect()
    }

    /// Ids of nine letters and digits, which is what the templates want that want any.
    fn ids_of_nine(&self) -> Vec<Change> {
        let of_results = self.messages_of("tool").filter_map(|message| message.get("tool_call_id"));
        let ids = self.calls().filter_map(|call| call.get("id")).chain(of_results);
        let is_other = |id: &str| id.len() != 9 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let other = |id: Value<'_, '_>| {
            let text = id.as_str().filter(|text| is_other(text))?;
            Some(write_text(id, &nine_letters(&text)))
        };
        ids.filter_map(other).collect()
    }

    /// One message for those of the user that follow each other.
    fn merged_messages(&self) -> Vec<Change> {
        let messages: Vec<_> = self.messages().collect();
        let text = |message: &Value<'_, '_>| match message.get_str("role").as_deref() {
            Some("user") if message.members().count() == 2 => Some(message.get_str("content")?.into_owned()),
            _ => None,
        };
        let mut changes = Vec::new();
        for run in messages.chunk_by(|one, next| text(one).is_some() && text(next).is_some()) {
            if let ([first, more @ ..], Some(content)) = (run, run[0].get("content"))
                && !more.is_empty()
            {
                let texts: Vec<String> = std::iter::once(first).chain(more).filter_map(text).collect();
                changes.push(write_text(content, &texts.join("\n\n")));
                changes.extend(more.iter().map(|message| Change::Remove(message.id())));
            }
        }
        changes
    }

    fn system_first(&self) -> Vec<Change> {
        let Some(first) = self.messages().next() else { return Vec::new() };
        let later: Vec<_> = self.messages_of("system").filter(|message| message.id() != first.id()).collect();
        let content = |message: &Value<'_, '_>| Some(message.get_str("content")?.into_owned());
        let own = self.messages_of("system").find(|message| message.id() == first.id());
        let said: Option<Vec<String>> = own.iter().chain(&later).map(content).collect();
        let Some(said) = said.filter(|_| !later.is_empty()).map(|said| said.join("\n\n")) else {
            return Vec::new();
        };
        let made = || format!(r#"{{"role": "system", "content": {}}}"#, text_json(&said));
        let change = match own.and_then(|own| own.get("content")) {
            Some(content) => write_text(content, &said),
            None => Change::Before(first.id(), made()),
        };
        std::iter::once(change).chain(later.iter().map(|message| Change::Remove(message.id()))).collect()
    }

    fn text_before_calls(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        for message in self.messages_of("assistant") {
            let has_calls = message.get("tool_calls").is_some_and(|calls| calls.elements().next().is_some());
            let content = message.get("content").filter(|content| !content.is_null());
            let Some(content) =
                content.filter(|content| has_calls && content.as_str().as_deref() != Some(""))
            else {
                continue;
            };
            let said = format!(r#"{{"role": "assistant", "content": {}}}"#, on_one_line(&raw(content)));
            changes.extend([Change::Before(message.id(), said), write_text(content, "")]);
        }
        changes
    }

    /// Each call of a message but the first in a message of its own, before its result.
    fn calls_one_by_one(&self) -> Vec<Change> {
        let messages: Vec<_> = self.messages().collect();
        let mut changes = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let calls: Vec<_> = message.get("tool_calls").into_iter().flat_map(Value::elements).collect();
            let answers = || calls.iter().zip(&messages[at + 1..]);
            let is_answer = |(call, answer): (&Value<'_, '_>, &Value<'_, '_>)| {
                let id = answer.get_str("tool_call_id");
                id.is_some() && id == call.get_str("id")
            };
            if calls.len() < 2 || answers().count() < calls.len() || !answers().all(is_answer) {
                continue;
            }
            for (call, answer) in answers().skip(1) {
                let call_alone = on_one_line(&raw(*call));
                let called =
                    format!(r#"{{"role": "assistant", "content": "", "tool_calls": [{call_alone}]}}"#);
                changes.extend([Change::Before(answer.id(), called), Change::Remove(call.id())]);
            }
        }
        changes
    }
}

fn score(found: &Examination, input: &Input<'_>) -> Score {
    let refused = found.observations.iter().find(|found| found.kind == Kind::Refuses).map(|refused| {
        let message = refused.pointer.rsplit('/').next().and_then(|last| last.parse().ok());
        input.messages.elements().count().saturating_sub(message.unwrap_or(0)).max(1)
    });
    (refused.unwrap_or(0), found.observations.iter().filter(|found| !found.by_design).count())
}

/// What a template says itself when it refuses a conversation.
fn raised(found: &Examination) -> Option<String> {
    let refusal = found.refusal.as_ref().filter(|refusal| refusal.kind == RefusalKind::Raised)?;
    Some(refusal.message.clone())
}

fn raw<'v>(value: Value<'v, '_>) -> Cow<'v, str> {
    String::from_utf8_lossy(value.raw())
}

/// JSON on one line: a string has no line ends in it.
fn on_one_line(json: &str) -> String {
    json.trim().split(['\n', '\r']).map(|line| line.trim_matches([' ', '\t'])).collect::<Vec<_>>().join(" ")
}

fn text_json(text: &str) -> String {
    Piece::text(text).json().unwrap_or_default()
}

fn write_text(value: Value<'_, '_>, text: &str) -> Change {
    Change::Write(value.id(), text_json(text))
}

fn add_text(object: Value<'_, '_>, key: &str, text: &str) -> Change {
    Change::Add(object.id(), key.to_owned(), text_json(text))
}

/// An id of nine letters and digits, made from another: the same on every machine.
fn nine_letters(id: &str) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // FNV-1a, and the last step of splitmix64, because similar ids must not get similar hashes.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let mut hash = hash ^ (hash >> 31);
    let mut text = String::with_capacity(9);
    for _ in 0..9 {
        text.push(char::from(LETTERS[(hash % 62) as usize]));
        hash /= 62;
    }
    text
}
