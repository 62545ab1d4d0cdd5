//! Conversations as data.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// A conversation that an adapter gets.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct TestConversation {
    /// Its id, which is also the name of its file.
    pub id: String,
    /// What is special about it.
    pub title: String,
    /// Where an adapter was seen to fail with it.
    #[serde(default)]
    pub sources: Vec<String>,
    /// The system text; empty if there is none.
    #[serde(default)]
    pub system: String,
    /// Whether the request declares no tools, although its history has calls.
    #[serde(default)]
    pub undeclared: bool,
    /// What the request of a format has besides, or in place of what is written of the turns, by the id of the format.
    #[serde(default)]
    pub also: BTreeMap<String, Map<String, Json>>,
    /// The turns.
    #[serde(rename = "turn")]
    pub turns: Vec<TestTurn>,
}

/// A turn of the user, of the system, or of the model with the results of its calls.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct TestTurn {
    /// What the user says.
    pub user: Option<String>,
    /// What a system message in the middle says.
    pub system: Option<String>,
    /// What the model thinks.
    pub reasoning: Option<String>,
    /// What the model says.
    pub text: String,
    /// The calls of the model.
    pub calls: Vec<TestCall>,
    /// Whether it ends because there are no more tokens.
    pub cut_off: bool,
    /// Whether the results come in the opposite order of the calls.
    pub reversed: bool,
}

/// A call with its result.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct TestCall {
    /// The name of the tool.
    pub tool: String,
    /// The id; numbered if there is none.
    pub id: Option<String>,
    /// The arguments.
    pub arguments: Map<String, Json>,
    /// A text in place of the arguments, which need not be JSON.
    pub raw: Option<String>,
    /// The text of the result.
    pub result: String,
    /// Whether the tool failed.
    pub failed: bool,
}

/// The plainest names of tools: what a conversation comes down to if names do not matter.
pub(super) const PLAIN_TOOLS: [&str; 2] = ["look_up", "other"];

/// The plainest result of a call of a turn: each its own, so that results which change sides are still seen.
pub(super) fn plain_result(at: usize) -> String {
    char::from(b'a' + (at % 26) as u8).to_string()
}

/// The plainest texts.
pub(super) const PLAIN_SYSTEM: &str = "Be brief.";
pub(super) const PLAIN_USER: &str = "Go.";
pub(super) const PLAIN_REASONING: &str = "Hm.";
pub(super) const PLAIN_TEXT: &str = "Yes.";

/// The size of a text, if there is one: the plain one is the smallest.
fn said(text: &str, own: usize, plain: &str) -> usize {
    match text {
        "" => 0,
        text if text == plain => own,
        text => own + text.chars().count(),
    }
}

impl TestTurn {
    fn size(&self) -> usize {
        let some = |text: &Option<String>, own: usize, plain: &str| {
            text.as_ref().map_or(0, |text| 10 + said(text, own, plain))
        };
        // A message of the system is stranger than one of the user.
        100 + some(&self.user, 10, PLAIN_USER)
            + some(&self.system, 30, PLAIN_USER)
            + some(&self.reasoning, 10, PLAIN_REASONING)
            + said(&self.text, 20, PLAIN_TEXT)
            + self.calls.iter().enumerate().map(|(at, call)| call.size(at)).sum::<usize>()
            + 30 * usize::from(self.reversed)
            + 30 * usize::from(self.cut_off)
    }

    pub(super) fn is_models(&self) -> bool {
        self.user.is_none() && self.system.is_none()
    }

    pub(super) fn says_something(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty()
    }
}

impl TestCall {
    /// The size of a call, at this place of its turn.
    fn size(&self, at: usize) -> usize {
        let result = if self.result == plain_result(at) { 0 } else { 1 + self.result.chars().count() };
        let tool = PLAIN_TOOLS.iter().position(|tool| *tool == self.tool).unwrap_or(PLAIN_TOOLS.len());
        let arguments = match self.arguments.is_empty() {
            true => 0,
            false => Json::Object(self.arguments.clone()).to_string().len(),
        };
        let raw = self.raw.as_ref().map_or(0, |raw| 40 + raw.chars().count());
        let id = self.id.as_ref().map_or(0, |id| 10 + id.chars().count());
        200 + tool + arguments + raw + id + result + 20 * usize::from(self.failed)
    }
}

impl TestConversation {
    /// How much there is in it. What is simpler is smaller, so making a conversation smaller comes to an end.
    pub fn size(&self) -> usize {
        let turns: usize = self.turns.iter().map(TestTurn::size).sum();
        let also: usize = self.also.values().flatten().map(|(_, value)| 30 + value.to_string().len()).sum();
        also + said(&self.system, 20, PLAIN_SYSTEM) + 30 * usize::from(self.undeclared) + turns
    }

    /// Whether an API may be asked to go on with it: the user speaks first, the model says something in each of its turns,
    /// and the user or a tool speaks last.
    pub fn is_open(&self) -> bool {
        let first = self.turns.iter().find(|turn| turn.system.is_none());
        first.is_some_and(|turn| turn.user.is_some())
            && self.turns.iter().all(|turn| !turn.is_models() || turn.says_something())
            && self.turns.last().is_some_and(|turn| !turn.is_models() || !turn.calls.is_empty())
    }

    /// Whether two conversations say the same, whatever they are called.
    pub fn says_as(&self, other: &Self) -> bool {
        (&self.system, self.undeclared, &self.also, &self.turns)
            == (&other.system, other.undeclared, &other.also, &other.turns)
    }
}

const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/conversations.rs"));

static ALL: LazyLock<Vec<TestConversation>> = LazyLock::new(|| {
    let read = |(id, text): &(&str, &str)| {
        toml::from_str(text).unwrap_or_else(|error| panic!("the conversation {id} can be read: {error}"))
    };
    TEXTS.iter().map(read).collect()
});

/// The conversations that were written by hand, the plainest first.
pub fn conversations() -> &'static [TestConversation] {
    &ALL
}
