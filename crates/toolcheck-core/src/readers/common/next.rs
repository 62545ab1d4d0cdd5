//! What becomes of the faults of a history in the request that an agent makes of it, as data: a file in `agents/` each.

use std::collections::VecDeque;
use std::fmt;

use foldhash::{HashMap, HashSet};
use serde::Deserialize;
use toolcheck_json::Value;

use super::{ConversationEnd, Policy};
use crate::conversation::{Assistant, Call, Conversation, ToolOutput, Turn};
use crate::level::Level;
use crate::rule_id::RuleId;
use crate::tables::{AGENTS, Tables};

static ALL: Tables<NextRequest, { AGENTS.1.len() }> = Tables::new(AGENTS);

/// How an agent makes its next request of the session that it has written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NextRequest {
    /// The agent, as people call it.
    pub name: String,
    /// The target that answers the request if the session names no provider; `None` if users choose it.
    pub target: Option<String>,
    /// Where a session names its provider, as keys in its messages and its records with dots between them: the last one counts.
    #[serde(default, rename = "named-at")]
    pub named_at: Vec<String>,
    /// The targets of the providers, by the names in sessions, of which `*` may be the end. Others are not known.
    #[serde(default)]
    pub providers: HashMap<String, String>,
    /// The family of the wire format in which the agent keeps its messages, and sends them as they are.
    #[serde(rename = "wire-format")]
    pub wire_format: Option<String>,
    /// Where the agent's own code or its users show that.
    pub sources: Vec<String>,
    /// The version of the agent that was looked at.
    pub version: String,
    /// What is in doubt, as a sentence.
    pub doubt: Option<String>,
    /// The table of the versions before another one, which the last record with a version shows.
    pub older: Option<Older>,
    /// Whether it writes calls only once they have results, so that one without a result has lost it even at the end.
    #[serde(default, rename = "has-no-open-end")]
    pub has_no_open_end: bool,
    /// Whether its compactions keep no result without its call, so that one whose call is before a compaction is none.
    #[serde(default, rename = "keeps-pairs")]
    pub keeps_pairs: bool,
    /// Whether it looks for the call of a result behind it too, before it leaves the result out.
    #[serde(default, rename = "looks-ahead")]
    pub looks_ahead: bool,
    /// Where its answers to calls without results come among the results that there are.
    #[serde(default, rename = "answers-come")]
    pub answers_come: Order,
    /// Whether it answers a call whose result comes too late, too, and sends the result as well: also where only the model has
    /// said something before the result.
    #[serde(default, rename = "answers-late")]
    pub answers_late: bool,
    /// Whether it makes the roles alternate first: it joins what the model says in a row, and leaves results behind words of the
    /// user out.
    #[serde(default)]
    pub alternates: bool,
    /// What it answers to the calls without results of the model's last turn, if it does otherwise with others.
    #[serde(rename = "answers-last")]
    pub answers_last: Option<String>,
    /// The rules of which it is only inferred that what they find is sent as it is, each with why that is in doubt.
    #[serde(default)]
    pub doubted: HashMap<RuleId, String>,
    /// What the agent does itself about the findings of a rule before it sends the request.
    #[serde(default)]
    pub repairs: HashMap<RuleId, Repair>,
    /// What it does instead where a history may also be the input of a run; `None` if it makes no difference.
    #[serde(rename = "as-input")]
    pub as_input: Option<String>,
    /// Whether it passes over lines that are no JSON, and sends what is before and behind them.
    #[serde(default, rename = "skips-broken-lines")]
    pub skips_broken_lines: bool,
    /// The rules of which it makes what they find a fault of its request, each with how, after its name.
    #[serde(default)]
    pub breaks: HashMap<RuleId, String>,
    /// The cases of other rules of which it puts right itself what they find.
    #[serde(default, rename = "repaired-cases")]
    pub repaired_cases: HashMap<RuleId, Vec<String>>,
    /// The cases of the repaired rules that it does not repair, where a framework keeps them.
    #[serde(default, rename = "unrepaired-cases")]
    pub unrepaired_cases: HashMap<RuleId, Vec<String>>,
}

/// How an agent made its requests before a version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Older {
    /// The first version that does otherwise.
    pub before: String,
    /// The name of the file in `agents/`.
    pub agent: String,
}

/// Where an agent puts its own answers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Order {
    /// In the order of the calls.
    #[default]
    AsCalled,
    /// Before the other results of the turn.
    First,
    /// After the other results of the turn.
    Last,
    /// Right after its call, even before other calls.
    AfterCall,
}

/// What an agent does about a fault. As text, it is what follows the agent's name.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Repair {
    /// It answers the call with this text, also where it has a result that comes late, which it leaves out.
    Answers(String),
    /// It answers the call, with a text that is not known or not always the same; said in these words.
    AnswersAs(String),
    /// It moves the result to its call.
    Moves,
    /// It gives the second of two calls another id.
    Renames,
    /// It leaves out what was found; said in these words.
    LeavesOut(String),
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answers(text) => write!(f, "answers the call with `{text}`"),
            Self::Moves => f.write_str("moves the result to its call"),
            Self::Renames => f.write_str("gives the second call an id of its own"),
            Self::AnswersAs(words) | Self::LeavesOut(words) => f.write_str(words),
        }
    }
}

impl NextRequest {
    /// How an agent makes its next request of a session; `None` if that is not known.
    pub fn of(agent: &str) -> Option<&'static Self> {
        ALL.find(agent)
    }

    /// The agent that writes sessions of a version: the table of its older versions has an id of its own.
    pub(crate) fn at_version(agent: &'static str, version: Option<&str>) -> &'static str {
        let numbers =
            |version: &str| -> Vec<u32> { version.split('.').map_while(|part| part.parse().ok()).collect() };
        let older = Self::of(agent).and_then(|next| next.older.as_ref());
        let older = older.filter(|older| version.is_some_and(|own| numbers(own) < numbers(&older.before)));
        older.and_then(|older| ALL.ids().find(|id| *id == older.agent)).unwrap_or(agent)
    }

    /// A sentence about the agent, with what is in doubt.
    pub fn say(&self, words: &str) -> String {
        let doubt = self.doubt.as_ref().map_or_else(String::new, |doubt| format!(". {doubt}"));
        format!("{} {words}{doubt}", self.name)
    }

    /// Whether the agent itself puts right what a rule finds.
    pub fn repairs(&self, rule: RuleId) -> bool {
        self.repairs.contains_key(&rule)
    }

    fn leaves_out(&self, rule: RuleId) -> bool {
        matches!(self.repairs.get(&rule), Some(Repair::LeavesOut(_)))
    }

    /// Whether the agent itself puts right one of these cases of a rule.
    pub fn repairs_case(&self, rule: RuleId, cases: &[&str]) -> bool {
        names_case(&self.repaired_cases, rule, cases)
    }

    /// What it does about a finding with these cases in what a framework keeps, if it puts that right.
    pub fn repair_of(&self, rule: RuleId, cases: &[&str]) -> Option<&Repair> {
        self.repairs.get(&rule).filter(|_| !names_case(&self.unrepaired_cases, rule, cases))
    }

    /// What it does with a result that comes too late, as what follows on its name, if it does not send it.
    pub fn discards(&self, rule: RuleId, cases: &[&str]) -> Option<String> {
        match self.repairs.get(&rule)? {
            _ if rule != RuleId::LateToolResult || self.repairs_case(rule, cases) => None,
            Repair::Moves | Repair::Renames => None,
            Repair::LeavesOut(words) => Some(words.clone()),
            answers => Some(format!("{answers}, and leaves the result out")),
        }
    }

    /// Whether it moves results that come late, but only those before the model has said something else.
    pub(crate) fn moves_unseen(&self) -> bool {
        self.repairs_case(RuleId::LateToolResult, &["unseen"])
    }

    pub(crate) fn needs_calls(&self) -> bool {
        !self.keeps_pairs && !self.repairs(RuleId::OrphanToolResult)
    }

    /// The level of a rule's findings in the next request, where the API is not known; `None` if it is that of any log.
    pub fn level(&self, rule: RuleId) -> Option<Level> {
        if self.repairs(rule) { None } else { Policy::of_next_request().level(rule) }
    }

    /// The target that answers the next request of a session.
    pub(crate) fn target_of<'d, 's: 'd>(
        &'static self,
        places: impl Iterator<Item = Value<'d, 's>>,
    ) -> Option<&'static str> {
        let at =
            |place, path: &str| path.split('.').try_fold(place, |value: Value<'d, 's>, key| value.get(key));
        let named = |place: Value<'d, 's>| self.named_at.iter().find_map(|path| at(place, path)?.as_str());
        let mut places = places.filter(|_| !self.named_at.is_empty());
        let Some(name) = places.find_map(named) else { return self.target.as_deref() };
        let is_own =
            |own: &str| own == name || own.strip_suffix('*').is_some_and(|own| name.starts_with(own));
        self.providers.iter().find(|(own, _)| is_own(own)).map(|(_, target)| &**target)
    }

    /// A conversation as the agent sends it: with what the agent itself puts right.
    pub fn repaired(&self, mut conversation: Conversation) -> Conversation {
        conversation.turns.dedup_by(|next, before| match (before, next) {
            (Turn::Assistant(before), Turn::Assistant(next)) if self.alternates => {
                before.text.push_str(&next.text);
                before.calls.append(&mut next.calls);
                true
            }
            _ => false,
        });
        if conversation.lacks_ids() { conversation } else { self.paired(conversation) }
    }

    fn paired(&self, mut conversation: Conversation) -> Conversation {
        let of_all = conversation.turns.iter().filter(|_| self.looks_ahead).flat_map(Turn::calls);
        let ahead: HashSet<String> = of_all.map(|call| call.id.clone()).collect();
        // The last turns with calls, by their ids, and which of these calls have results.
        let mut called: HashMap<String, usize> = HashMap::default();
        let mut answered: HashSet<(Option<usize>, String)> = HashSet::default();
        let mut moved: HashMap<usize, Vec<ToolOutput>> = HashMap::default();
        // The last turn of the model, and the last one that is no result.
        let (mut spoke, mut said_last) = (0, 0);
        for (number, turn) in conversation.turns.iter_mut().enumerate() {
            match turn {
                Turn::User(_) => said_last = number,
                Turn::Assistant(said) => {
                    (spoke, said_last) = (number, number);
                    said.calls.retain(|call| {
                        let is_second = called.contains_key(&call.id);
                        let is_sent = !is_second || !self.leaves_out(RuleId::DuplicateToolCallId);
                        called.extend(is_sent.then(|| (call.id.clone(), number)));
                        is_sent
                    });
                }
                Turn::Results(outputs) => outputs.retain(|output| {
                    let turn = called.get(&output.call_id).copied();
                    if turn.is_none() && !ahead.contains(&output.call_id) {
                        return !self.repairs(RuleId::OrphanToolResult);
                    }
                    let late = self.repairs.get(&RuleId::LateToolResult);
                    let is_unseen = turn.is_some_and(|turn| turn >= spoke);
                    let moves = matches!(late, Some(Repair::Moves)) || is_unseen && self.moves_unseen();
                    let last = if moves || self.alternates { said_last } else { spoke };
                    let late = late.filter(|_| turn.is_some_and(|turn| turn < last));
                    match (late.filter(|_| !moves), turn) {
                        (Some(Repair::Answers(text)), Some(turn)) => {
                            if answered.insert((Some(turn), output.call_id.clone())) {
                                let text = text.clone();
                                let answer = ToolOutput { text, failed: true, ..output.clone() };
                                moved.entry(turn).or_default().push(answer);
                            }
                            return false;
                        }
                        (Some(Repair::AnswersAs(_) | Repair::LeavesOut(_)), _) => return false,
                        _ => {}
                    }
                    if self.answers_late && turn.is_some_and(|turn| turn < said_last) {
                        return true;
                    }
                    if !answered.insert((turn, output.call_id.clone())) {
                        return !self.repairs(RuleId::DuplicateToolResult);
                    }
                    if let (Some(_), Some(turn)) = (late, turn) {
                        moved.entry(turn).or_default().push(output.clone());
                    }
                    late.is_none()
                }),
            }
        }
        let mut turns: Vec<Turn> = Vec::with_capacity(conversation.turns.len());
        // What comes among the results of the last turn with calls.
        let mut more: Vec<ToolOutput> = Vec::new();
        for (number, turn) in std::mem::take(&mut conversation.turns).into_iter().enumerate() {
            if !matches!(turn, Turn::Results(_)) {
                self.put_among_results(&mut turns, &mut more);
            }
            match (turn, turns.last_mut()) {
                (Turn::Results(outputs), Some(Turn::Results(before))) => before.extend(outputs),
                (Turn::Results(outputs), _) if outputs.is_empty() => {}
                (Turn::Assistant(mut said), _) => {
                    let was_empty = said == Assistant::default();
                    more = moved.remove(&number).unwrap_or_default();
                    more.extend(self.answers(&mut said, (number, number == spoke), &answered));
                    turns
                        .extend((was_empty || said != Assistant::default()).then_some(Turn::Assistant(said)));
                }
                (turn, _) => turns.push(turn),
            }
        }
        self.put_among_results(&mut turns, &mut more);
        conversation.turns = turns;
        conversation
    }

    /// The agent's own answers to the calls of a turn that have no result, if it does not leave these calls out.
    fn answers(
        &self,
        said: &mut Assistant,
        (turn, is_last): (usize, bool),
        answered: &HashSet<(Option<usize>, String)>,
    ) -> Vec<ToolOutput> {
        let is_open =
            |call: &Call| [Some(turn), None].iter().all(|turn| !answered.contains(&(*turn, call.id.clone())));
        let own = self.answers_last.as_deref().filter(|_| is_last);
        let text = match (own, self.repairs.get(&RuleId::UnansweredToolCall)) {
            (Some(text), _) => text,
            (None, Some(Repair::Answers(text))) => &**text,
            (None, Some(Repair::AnswersAs(_))) => "no result",
            (None, Some(_)) => {
                said.calls.retain(|call| !is_open(call));
                return Vec::new();
            }
            (None, None) => return Vec::new(),
        };
        let open = said.calls.iter().filter(|call| is_open(call));
        open.map(|call| ToolOutput { failed: true, ..call.output(text) }).collect()
    }

    /// Puts results among those of the last turn with calls, where the agent puts them.
    fn put_among_results(&self, turns: &mut Vec<Turn>, more: &mut Vec<ToolOutput>) {
        if more.is_empty() {
            return;
        }
        if self.answers_come == Order::AfterCall {
            return put_after_calls(turns, more);
        }
        let calls = turns.iter().rev().find(|turn| !turn.calls().is_empty()).map_or(&[][..], Turn::calls);
        let places: HashMap<String, usize> =
            calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)).collect();
        if !matches!(turns.last(), Some(Turn::Results(_))) {
            turns.push(Turn::Results(Vec::new()));
        }
        let Some(Turn::Results(outputs)) = turns.last_mut() else { return };
        for (number, one) in more.drain(..).enumerate() {
            let place = |output: &ToolOutput| places.get(&output.call_id).copied();
            let at = match self.answers_come {
                Order::First => Some(number),
                Order::AsCalled => outputs.iter().position(|other| place(other) > place(&one)),
                Order::Last | Order::AfterCall => None,
            };
            outputs.insert(at.unwrap_or(outputs.len()), one);
        }
    }
}

fn names_case(table: &HashMap<RuleId, Vec<String>>, rule: RuleId, cases: &[&str]) -> bool {
    table.get(&rule).is_some_and(|own| cases.iter().any(|case| own.iter().any(|own| own == case)))
}

/// Puts results right after their calls, so that what the model called after one is a turn of its own.
fn put_after_calls(turns: &mut Vec<Turn>, more: &mut Vec<ToolOutput>) {
    let Some(number) = turns.iter().rposition(|turn| !turn.calls().is_empty()) else { return };
    let mut own: HashMap<String, VecDeque<ToolOutput>> = HashMap::default();
    more.drain(..).for_each(|one| own.entry(one.call_id.clone()).or_default().push_back(one));
    let mut rest = turns.split_off(number).into_iter().peekable();
    let Some(Turn::Assistant(mut said)) = rest.next() else { return };
    for call in std::mem::take(&mut said.calls) {
        let answer = own.get_mut(&call.id).and_then(VecDeque::pop_front);
        said.calls.push(call);
        if let Some(answer) = answer {
            turns.extend([Turn::Assistant(std::mem::take(&mut said)), Turn::Results(vec![answer])]);
        }
    }
    if said != Assistant::default() {
        turns.push(Turn::Assistant(said));
    } else if let Some(Turn::Results(before)) = turns.last_mut()
        && let Some(Turn::Results(after)) = rest.next_if(|turn| matches!(turn, Turn::Results(_)))
    {
        before.extend(after);
    }
    turns.extend(rest);
}

/// Marks the last conversation of a thread as what an agent sends next, if it goes on.
pub(crate) fn mark(conversations: &mut [super::Conversation<'_>], thread: &str, agent: &'static str) {
    let is_of_thread = |one: &&mut super::Conversation<'_>| {
        one.title.strip_prefix(thread).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    if let Some(last) = conversations.iter_mut().rfind(is_of_thread)
        && matches!(last.end, ConversationEnd::Open | ConversationEnd::Aborted)
    {
        last.transcript.sent_next_by = Some(agent);
    }
}
