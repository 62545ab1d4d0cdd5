//! Conversations and agents that Mistral's API keeps.

use hyper::Method;
use serde_json::{Value as Json, json};
use toolcheck_core::targets::Verdict;
use toolcheck_core::{RuleId, entries};

use super::{Held, Item, Stored, found};
use crate::answer::{Answer, Refused};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entries {
    /// A request to the model: to begin a conversation, to go on with one, or with its beginning.
    Start,
    Append(String),
    Restart(String),
    List(&'static str),
    Get(String),
    Delete(String),
    History(String),
    Messages(String),
    NewAgent,
    ChangeAgent(String),
}

/// What a request to the model is in its conversation.
#[derive(Debug)]
pub(crate) struct Round {
    id: String,
    settings: Json,
    before: Vec<Json>,
    sent: Vec<Json>,
    pub(crate) refused: Option<Refused>,
}

const AGENT: &str = "ag_";
const CONVERSATION: &str = "conv_";

impl Entries {
    /// What a path asks for; `None` if that is nothing of this.
    pub(crate) fn of(method: &Method, path: &str) -> Option<Self> {
        let steps: Vec<&str> = path.trim_end_matches('/').rsplitn(4, '/').collect();
        let own = |id: &str| id.to_owned();
        Some(match (method.as_str(), &steps[..]) {
            ("POST", ["conversations", ..]) => Self::Start,
            ("POST", ["agents", ..]) => Self::NewAgent,
            ("GET", ["conversations", ..]) => Self::List(CONVERSATION),
            ("GET", ["agents", ..]) => Self::List(AGENT),
            ("POST", [id, "conversations", ..]) => Self::Append(own(id)),
            ("POST", ["restart", id, "conversations", ..]) => Self::Restart(own(id)),
            ("GET", ["history", id, "conversations", ..]) => Self::History(own(id)),
            ("GET", ["messages", id, "conversations", ..]) => Self::Messages(own(id)),
            ("GET", [id, "conversations" | "agents", ..]) => Self::Get(own(id)),
            ("DELETE", [id, "conversations" | "agents", ..]) => Self::Delete(own(id)),
            ("PATCH", [id, "agents", ..]) => Self::ChangeAgent(own(id)),
            _ => return None,
        })
    }

    /// Whether the model answers.
    pub(crate) fn is_round(&self) -> bool {
        matches!(self, Self::Start | Self::Append(_) | Self::Restart(_))
    }
}

impl Round {
    /// The request with its whole conversation.
    pub(crate) fn whole(&self, request: &Json) -> String {
        let all: Vec<Json> = self.before.iter().chain(&self.sent).cloned().collect();
        entries::whole(&self.id, &self.settings, &all, request).to_string()
    }

    /// Whether what is found is of this request: the API goes on with a part of the results.
    pub(crate) fn takes(&self, rule: RuleId) -> bool {
        rule == RuleId::UnansweredToolCall && !entries::has_others(&self.sent)
    }

    /// The place in the request of one in the whole.
    pub(crate) fn place(&self, place: &str) -> String {
        let mut steps = place.splitn(4, '/').skip(2);
        let number = steps.next().and_then(|number| number.parse::<usize>().ok());
        match number.and_then(|number| number.checked_sub(self.before.len())) {
            Some(number) => {
                let rest = steps.next().map_or_else(String::new, |rest| format!("/{rest}"));
                format!("/inputs/{number}{rest}")
            }
            None => "/inputs".to_owned(),
        }
    }
}

impl Stored {
    /// A request to the model in its conversation; one that the server does not know is new.
    pub(crate) fn round(&mut self, asks: &Entries, request: &Json) -> Round {
        let sent = entries::entries(&request["inputs"], || format!("{:032}", self.next()));
        let mut settings = entries::settings(request);
        let mut before = Vec::new();
        let mut refused = None;
        if let Entries::Append(id) | Entries::Restart(id) = asks {
            let held = self.by_id.get(id);
            before = held.map_or_else(Vec::new, Held::entries);
            if let Some(held) = held {
                settings = held.json();
            }
            let from = request["from_entry_id"].as_str();
            let is_restart = matches!(asks, Entries::Restart(_));
            let last = before.iter().position(|entry| entry["id"].as_str() == from);
            before.truncate(last.filter(|_| is_restart).map_or(usize::MAX, |last| last + 1));
            let is_unknown = held.is_none() || is_restart && last.is_none();
            let unknown = || {
                let (name, place) =
                    if held.is_none() { (&**id, "") } else { (from.unwrap_or_default(), "/from_entry_id") };
                refusal(RuleId::UnresolvedReference, format!("`{name}` was not given"), place, 404)
            };
            refused = is_unknown.then(unknown);
            let mut extra = refusal(RuleId::UnknownField, String::new(), "", 422);
            let text = extra.text.as_deref().unwrap_or_default();
            if let Some((key, error)) = entries::extra(request, text).filter(|_| refused.is_none()) {
                extra.message =
                    format!("`{key}` holds for the whole conversation, and is sent when it begins");
                (extra.place, extra.error) = (format!("/{key}"), error.into_iter().collect());
                refused = Some(extra);
            }
        } else if let Some(agent) = request["agent_id"].as_str().and_then(|id| self.by_id.get(id)) {
            settings = entries::with(agent.json(), settings);
        }
        if *asks == Entries::Start && request["inputs"].is_null() {
            refused = Some(refusal(RuleId::MissingField, "`inputs` is missing".to_owned(), "", 422));
        }
        let id = match asks {
            Entries::Append(id) => id.clone(),
            _ => format!("{CONVERSATION}{:032}", self.next()),
        };
        Round { id, settings, before, sent, refused }
    }

    /// Keeps what was answered.
    pub(crate) fn go_on(&mut self, round: Round, request: &Json, response: &Json) {
        if !entries::is_kept(request) {
            return;
        }
        let all = round.before.into_iter().chain(round.sent).chain(entries::outputs(response));
        let items = all.map(|entry| Item {
            id: entry["id"].as_str().unwrap_or_default().into(),
            text: entry.to_string().into(),
        });
        let held = Held { body: round.settings.to_string().into(), items: items.collect() };
        self.take(&round.id);
        self.put(&round.id, held);
    }

    /// The answer to who asks for what is kept; `None` if it is not there.
    pub(crate) fn told(&mut self, asks: &Entries, request: &Json) -> Option<Answer> {
        let described = |id: &str, held: &Held| {
            let kind = if id.starts_with(AGENT) { "agent" } else { "conversation" };
            entries::described(id, kind, &held.json())
        };
        let entries_of = |held: &Held, key: &str, id: &str, all: bool| {
            let own: Vec<Json> =
                held.entries().into_iter().filter(|entry| all || entries::is_message(entry)).collect();
            json!({"object": format!("conversation.{key}"), "conversation_id": id, (if all { "entries" } else { key }): own})
        };
        let answer = match asks {
            Entries::List(prefix) => {
                let own = self.by_id.iter().filter(|(id, _)| id.starts_with(prefix));
                let mut own: Vec<(&String, &Held)> = own.collect();
                own.sort_by_key(|(id, _)| *id);
                own.into_iter().map(|(id, held)| described(id, held)).collect()
            }
            Entries::Get(id) => described(id, self.by_id.get(id)?),
            Entries::History(id) => entries_of(self.by_id.get(id)?, "history", id, true),
            Entries::Messages(id) => entries_of(self.by_id.get(id)?, "messages", id, false),
            Entries::Delete(id) => {
                self.take(id)?;
                return Some(Answer { status: 204, ..Answer::default() });
            }
            Entries::NewAgent | Entries::ChangeAgent(_) => {
                let said = entries::settings(request);
                let (id, settings) = match asks {
                    Entries::ChangeAgent(id) => (id.clone(), entries::with(self.take(id)?.json(), said)),
                    _ => (format!("{AGENT}{:032}", self.next()), said),
                };
                let held = Held { body: settings.to_string().into(), items: Vec::new() };
                let told = described(&id, &held);
                self.put(&id, held);
                told
            }
            Entries::Start | Entries::Append(_) | Entries::Restart(_) => return None,
        };
        Some(found(answer.to_string()))
    }
}

impl Held {
    fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    fn entries(&self) -> Vec<Json> {
        self.items.iter().map(|item| serde_json::from_str(&item.text).unwrap_or_default()).collect()
    }
}

/// A refusal in the words of the API, as far as they are known; `status` counts where nothing is.
fn refusal(rule: RuleId, message: String, place: &str, status: u16) -> Refused {
    let known = match entries::TARGET.verdict(rule, None, None, None) {
        Verdict::Refused(known) => Some(known),
        _ => None,
    };
    Refused {
        rule,
        message,
        place: place.to_owned(),
        text: known.and_then(|known| known.text.clone().map(String::from)),
        status: known.and_then(|known| known.status).unwrap_or(status),
        source: known.and_then(|known| known.sources.first()).map(|source| source.to_string()),
        error: Default::default(),
    }
}
