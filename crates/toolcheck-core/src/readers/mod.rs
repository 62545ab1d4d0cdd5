//! Readers of files that hold conversations but are not requests: logs of agents, histories of frameworks, data sets.
//!
//! One file each. A reader finds the conversations of a file and folds what the program wrote into what was said: a turn
//! in several records becomes one message, records that only mirror others are left out. A reader names the wire format
//! whose blocks its file holds, and reads them with that format. Adding a reader takes a file and two lines here; that of a
//! protocol whose messages are events takes a table in `events`, and two lines.

mod agent_events;
mod atif;
mod claude_code;
mod cline;
mod codex;
mod common;
mod continue_dev;
mod copilot_cli;
mod extensions_ai;
mod framework_messages;
mod gemini_cli;
mod glaive;
mod google_adk;
mod goose;
mod hermes;
mod hermes_agent;
mod inspect;
mod kimi_cli;
mod kimi_code;
mod langchain;
mod langfuse;
mod letta;
mod litellm;
mod mcp;
mod message_lines;
mod message_list;
mod mistral_conversations;
mod open_interpreter;
mod openai_agents;
mod opencode;
mod openhands;
mod openinference;
mod otel_genai;
mod pi;
mod protocols;
mod pydantic_ai;
mod qwen_code;
mod role_tool_call;
mod sharegpt;
mod smolagents;
mod swe_agent;
mod trl;
mod vercel_ai;
mod xlam;
mod zeroclaw;

use std::collections::BTreeMap;

use toolcheck_json::{Document, Expanded, Value};

use crate::claim::certainty::{self, SURE};
use crate::formats::{self, Format};
use crate::ir::{FormatId, Transcript, UnpairedReason, Unread};
use crate::names::{names, words};
use crate::{unread, unsupported};

use common::{
    answers, bare_calls, broken, event_log, file_style, lists, nested, next, parts, postprocess, prefilter,
    python, search, spans, tagged, threads, traces, turns,
};

pub use common::broken::is_broken;
pub use common::columns::Columns;
pub use common::file_style::{FileFixStyle, NewRecord};
pub use common::next::{NextRequest, Repair};
pub use common::policy::Policy;
pub(crate) use mistral_conversations::request as request_of_entries;

/// A reader of files that hold conversations.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reader {
    /// The id on the command line and in reports.
    pub id: &'static str,
    /// The display name.
    pub name: &'static str,
    /// What its files are, which decides what may be said of them.
    pub kind: SourceKind,
    /// How its files are divided.
    pub unit: Unit,
    /// Returns how certain it is of the first records of a file, from 0 (certainly not) to 100 (certainly). It must leave
    /// requests to the formats, because readers are asked first.
    pub sniff: Sniff,
    /// Reads the records of one unit, which are all of the same document.
    pub(crate) read: Read,
    /// Whether programs also print or keep the records of a file as one list.
    or_one_list: bool,
    /// Whether programs also keep each record of a file within one of their own, as what they have received and when.
    or_wrapped: bool,
    /// How its files are fixed; `None` if their messages are not those of a wire format.
    pub file_style: Option<&'static FileFixStyle>,
    /// Whether its files may be tables whose columns have calls and contents as texts.
    has_texts: bool,
    /// Whether its messages are those that chat templates read: a role, a content and calls with functions.
    pub(crate) is_chat: bool,
    /// The texts of which one is in records whose lists of messages repeat each other.
    repeating_if: &'static [&'static str],
}

type Sniff = for<'d, 's> fn(&[Value<'d, 's>]) -> u8;
type Read = for<'d, 's> fn(&[Value<'d, 's>]) -> Reading<'s>;

names! {
    /// What files are, which decides what may be said of them: see [`SourceKind::policy`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum SourceKind {
        /// What an agent writes down while it works. It is not what the agent sends: it may fix the history first.
        AgentLog = "agent-log",
        /// What a framework keeps to send it again.
        History = "history",
        /// Examples to train a model with.
        Dataset = "dataset",
        /// What somebody recorded of requests, such as spans. Only a part of a request may be in it.
        Trace = "trace",
        /// What two programs have sent to each other in a protocol of their own.
        Protocol = "protocol",
    }
    /// The name in the data and in reports.
    as_str
}

/// How the files of a reader are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// All records of a file belong together.
    File,
    /// Each record stands for itself, so that a long file can be read in pieces.
    Record,
}

/// What a reader has found in a unit.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reading<'s> {
    /// The conversations, in the order in which they begin.
    pub conversations: Vec<Conversation<'s>>,
    /// What was left out on purpose.
    pub left_out: LeftOut,
    /// Whether none of the conversations has what another one lacks.
    is_apart: bool,
    /// Records that the reader does not know although they look as if they held calls or results.
    unread: Vec<Unread<'s>>,
}

impl<'s> Reading<'s> {
    /// Reads the records of which each is a session; `read` says whether one is.
    pub(crate) fn of_sessions<'d>(
        records: &[Value<'d, 's>],
        mut read: impl FnMut(Value<'d, 's>, &mut Self) -> bool,
    ) -> Self {
        let mut own = Self::default();
        for &record in records {
            if !read(record, &mut own) {
                own.leave_out_unknown("records that are not sessions", record);
            }
        }
        parts::number_titles(&mut own.conversations);
        own
    }

    /// Adds a conversation of an agent's log, unless nothing is said in it. The agent goes on with the one that is open.
    fn add_log(
        &mut self,
        agent: &Reader,
        title: impl Into<String>,
        mut transcript: Transcript<'s>,
        end: ConversationEnd,
    ) {
        if transcript.messages.is_empty() {
            return;
        }
        match end {
            ConversationEnd::Open => transcript.sent_next_by = Some(agent.id),
            _ => transcript.settle_calls_of_last_turn(UnpairedReason::Aborted),
        }
        transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        self.conversations.push(Conversation::new(title, transcript, end));
    }

    /// The conversations in the order in which they begin; those that have the same title are numbered.
    fn in_order(mut self) -> Self {
        parts::in_order(&mut self.conversations);
        parts::number_titles(&mut self.conversations);
        self
    }

    /// Leaves out a record of a kind that the reader does not know. If it looks as if it held calls or results, it is
    /// reported. One that is not whole is reported as that.
    pub(crate) fn leave_out_unknown(&mut self, what: &'static str, record: Value<'_, 's>) {
        if broken::is_broken(record) {
            return;
        }
        match unread::record(record) {
            Some(unread) => self.unread.push(unread),
            None if record.is_object() => self.leave_out(what),
            None => self.leave_out("lines that are not records"),
        }
    }

    /// Counts something that was left out on purpose.
    pub(crate) fn leave_out(&mut self, what: &'static str) {
        self.left_out.add(what, 1);
    }
}

/// What was left out on purpose, in words for people such as `progress records`, and how many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<&'static str, usize>);

impl LeftOut {
    /// Counts more of something.
    pub fn add(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// Each with its number, in the order of the words.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.0.iter().map(|(what, count)| (*what, *count))
    }
}

/// A conversation in a file that holds several.
#[derive(Debug)]
#[non_exhaustive]
pub struct Conversation<'s> {
    /// Which one it is, such as `main`, `agent a1b2` or `sample 7`.
    pub title: String,
    /// What is said in it.
    pub transcript: Transcript<'s>,
    /// How it ends.
    pub end: ConversationEnd,
}

names! {
    /// How a conversation ends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    #[non_exhaustive]
    pub enum ConversationEnd {
        /// It may go on.
        #[default]
        Open = "open",
        /// The file says that it is over.
        Complete = "complete",
        /// The user or an error ended it.
        Aborted = "aborted",
        /// The agent replaced it by a summary and went on in the next conversation.
        Compacted = "compacted",
        /// The user went back to an earlier message and on from there.
        Abandoned = "abandoned",
        /// The file itself says what took its place: it is checked, but the file's totals do not count it.
        Replaced = "replaced",
    }
    /// The name in reports.
    as_str
}

impl<'s> Conversation<'s> {
    fn new(title: impl Into<String>, transcript: Transcript<'s>, end: ConversationEnd) -> Self {
        Self { title: title.into(), transcript, end }
    }
}

impl Reader {
    const fn log(id: &'static str, name: &'static str, sniff: Sniff, read: Read) -> Self {
        let (kind, unit) = (SourceKind::AgentLog, Unit::File);
        let (or_one_list, or_wrapped, has_texts, is_chat) = (false, false, false, false);
        let (file_style, repeating_if): (Option<&'static FileFixStyle>, &'static [&'static str]) =
            (None, &[]);
        Self {
            id,
            name,
            kind,
            unit,
            sniff,
            read,
            or_one_list,
            or_wrapped,
            file_style,
            has_texts,
            is_chat,
            repeating_if,
        }
    }

    const fn history(id: &'static str, name: &'static str, sniff: Sniff, read: Read) -> Self {
        Self { kind: SourceKind::History, ..Self::log(id, name, sniff, read) }
    }

    const fn protocol(id: &'static str, name: &'static str, sniff: Sniff, read: Read) -> Self {
        Self { kind: SourceKind::Protocol, ..Self::log(id, name, sniff, read) }
    }

    const fn dataset(id: &'static str, name: &'static str, sniff: Sniff, read: Read) -> Self {
        Self { kind: SourceKind::Dataset, ..Self::log(id, name, sniff, read).by_record() }
    }

    const fn trace(id: &'static str, name: &'static str, sniff: Sniff, read: Read) -> Self {
        Self { kind: SourceKind::Trace, ..Self::log(id, name, sniff, read).by_record() }
    }

    const fn by_record(self) -> Self {
        Self { unit: Unit::Record, ..self }
    }

    const fn or_one_list(self) -> Self {
        Self { or_one_list: true, ..self }
    }

    const fn or_wrapped(self) -> Self {
        Self { or_wrapped: true, ..self }
    }

    const fn with_texts(self) -> Self {
        Self { has_texts: true, ..self }
    }

    const fn of_chat(self) -> Self {
        Self { is_chat: true, ..self }
    }

    const fn fixed_by(self, style: &'static FileFixStyle) -> Self {
        Self { file_style: Some(style), ..self }
    }

    const fn repeating_if(self, texts: &'static [&'static str]) -> Self {
        Self { repeating_if: texts, ..self }
    }

    /// The id and family by which a transcript identifies its reader. Rules about how a message is written hold only in the
    /// family of a wire format, and a reader is a family of its own.
    pub const fn key(&self) -> FormatId {
        FormatId { id: self.id, family: self.id }
    }

    /// How certain it is of the first records of a file. A list may stand in the place of the lines of a log, and a log in
    /// that of another program.
    pub fn certainty(&self, records: &[Value<'_, '_>]) -> u8 {
        match self.certainty_as_it_is(records) {
            0 if self.or_wrapped && self.list_of_lines(records).is_none() => {
                unwrapped_records(records).map_or(0, |inner| self.certainty_unwrapped(&inner))
            }
            sure => sure,
        }
    }

    /// Whether records are of its files: also what the exporter of a trace has written beside messages.
    pub fn knows(&self, records: &[Value<'_, '_>]) -> bool {
        self.certainty(records) > 0
            || self.kind == SourceKind::Trace && records.iter().all(|record| traces::is_batch(*record))
    }

    fn certainty_as_it_is(&self, records: &[Value<'_, '_>]) -> u8 {
        let sure = (self.sniff)(records);
        match self.list_of_lines(records).filter(|_| sure == 0) {
            Some(list) => (self.sniff)(&list.elements().take(LOOKED_AT).collect::<Vec<_>>()),
            None => sure,
        }
    }

    /// The same of what the records of another program hold: what a reader knows as it is goes first.
    fn certainty_unwrapped(&self, inner: &[Value<'_, '_>]) -> u8 {
        (self.sniff)(inner).min(certainty::LIKELY)
    }

    /// The list that stands in the place of the lines of a log, if one does.
    fn list_of_lines<'d, 's>(&self, records: &[Value<'d, 's>]) -> Option<Value<'d, 's>> {
        let [list] = records else { return None };
        Some(*list).filter(|list| list.is_array() && self.or_one_list)
    }

    /// Reads the records of one unit, which are all of the same document.
    pub fn read<'s>(&self, records: &[Value<'_, 's>]) -> Reading<'s> {
        let listed: Vec<Value<'_, '_>>;
        let records = match self.list_of_lines(records) {
            Some(list) => {
                listed = list.elements().collect();
                &listed
            }
            None => records,
        };
        let knows = |records: &[Value<'_, '_>]| (self.sniff)(&records[..records.len().min(LOOKED_AT)]) > 0;
        let unwrapped = Some(records).filter(|_| self.or_wrapped && !knows(records));
        let unwrapped = unwrapped.and_then(unwrapped_records).filter(|inner| knows(inner));
        let mut reading = (self.read)(unwrapped.as_deref().unwrap_or(records));
        if unwrapped.is_some() {
            let transcripts = reading.conversations.iter_mut().map(|one| &mut one.transcript);
            // The agent goes on from its own file, and not from what another program has written down.
            transcripts.for_each(|transcript| {
                (transcript.details.is_wrapped, transcript.sent_next_by) = (true, None);
            });
        }
        if let Some(first) = records.first() {
            postprocess::all(self, &mut reading, records, first.document());
        }
        reading
    }

    /// Whether the lists of messages in a record repeat each other, as those of a trace do.
    pub fn repeats_lists(&self, record: Value<'_, '_>) -> bool {
        let is_in = |text: &&str| toolcheck_json::contains(record.raw(), text.as_bytes());
        (record.is_object() || record.is_array()) && self.repeating_if.iter().any(is_in)
    }

    /// The record, or all records, with the lists in strings as lists, for a reader whose records may have some.
    pub fn opened<'s>(&self, document: &Document<'s>) -> Option<Expanded<'s>> {
        if self.has_texts {
            return lists::opened_rows(document);
        }
        let may_have_some =
            self.unit == Unit::Record && matches!(self.kind, SourceKind::Dataset | SourceKind::Trace);
        if may_have_some { lists::opened(document) } else { None }
    }
}

/// How many records may stand before the first that holds another.
const HEADERS: usize = 4;

/// What the records of a log hold, where each is of a program that has written down what it received.
fn unwrapped_records<'d, 's>(records: &[Value<'d, 's>]) -> Option<Vec<Value<'d, 's>>> {
    let may_be = records.iter().take(HEADERS).any(|record| wrapped(*record).is_some());
    may_be.then(|| records.iter().map(|record| wrapped(*record).unwrap_or(*record)).collect())
}

/// The only object that a record holds, beside when it came or who has sent it.
fn wrapped<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let mut inside = record.members().filter(|member| member.is_object() || member.is_array());
    let inner = inside.next().filter(|inner| inner.is_object())?;
    let has_own = record.members().nth(1).is_some();
    (has_own && inside.next().is_none()).then_some(inner)
}

/// How certain a reader is of records of which one is as only its program writes it.
fn own_shape(records: &[Value<'_, '_>], is_own: impl Fn(Value<'_, '_>) -> bool) -> u8 {
    if records.iter().any(|record| is_own(*record)) { certainty::OWN_SHAPE } else { 0 }
}

/// All readers, by id.
pub static ALL: &[&Reader] = &[
    &protocols::ACP,
    &protocols::AG_UI,
    &agent_events::READER,
    &atif::READER,
    &claude_code::READER,
    &cline::READER,
    &codex::READER,
    &continue_dev::READER,
    &copilot_cli::READER,
    &extensions_ai::READER,
    &framework_messages::READER,
    &gemini_cli::READER,
    &protocols::GEMINI_LIVE,
    &glaive::READER,
    &google_adk::READER,
    &goose::READER,
    &hermes::READER,
    &hermes_agent::READER,
    &inspect::READER,
    &kimi_cli::READER,
    &kimi_code::READER,
    &langchain::READER,
    &langfuse::READER,
    &letta::READER,
    &litellm::READER,
    &mcp::READER,
    &message_lines::READER,
    &message_list::READER,
    &mistral_conversations::READER,
    &open_interpreter::READER,
    &openai_agents::READER,
    &protocols::OPENAI_REALTIME,
    &opencode::READER,
    &openhands::READER,
    &openinference::READER,
    &otel_genai::READER,
    &pi::READER,
    &pydantic_ai::READER,
    &qwen_code::READER,
    &role_tool_call::READER,
    &sharegpt::READER,
    &smolagents::READER,
    &swe_agent::READER,
    &trl::READER,
    &vercel_ai::READER,
    &protocols::VERCEL_FULL_STREAM,
    &protocols::VERCEL_UI_STREAM,
    &xlam::READER,
    &zeroclaw::READER,
];

/// The number of records that a reader looks at to recognise a file.
pub const LOOKED_AT: usize = 32;

/// The reader with this id.
pub fn find(id: &str) -> Option<&'static Reader> {
    ALL.iter().copied().find(|reader| reader.id == id)
}

/// Whether the transcripts of the format or reader with this id have the messages that chat templates read: a role, a
/// content and calls with functions.
pub fn is_of_templates(id: &str) -> bool {
    formats::find(id).is_some_and(|format| format.family == "chat" || format.is_made_chat)
        || find(id).is_some_and(|reader| reader.is_chat)
}

/// The protocol of a message, or of a list of some.
pub fn of_protocol(record: Value<'_, '_>) -> Option<&'static Reader> {
    let first = record.elements().next().unwrap_or(record);
    let may_be = first.has("jsonrpc") || common::events::may_be_event(first);
    may_be.then(|| detect(&[record]))?.filter(|it| it.kind == SourceKind::Protocol)
}

/// The reader of events that a server of agents has streamed, which are no response of an API.
pub fn streamed(events: Value<'_, '_>) -> Option<&'static Reader> {
    let may_be_ui = events.elements().take(LOOKED_AT).any(prefilter::is_ui_chunk);
    let all = [&mistral_conversations::READER, &google_adk::READER, &protocols::VERCEL_UI_STREAM];
    let mut asked = all
        .into_iter()
        .filter(|reader| reader.kind != SourceKind::Protocol || reader.or_one_list || may_be_ui);
    asked.find(|reader| (reader.sniff)(&[events]) > 0)
}

/// Whether a request asks a server of agents for such events.
pub fn asks_for_events(request: Value<'_, '_>) -> bool {
    google_adk::is_run(request) || vercel_ai::is_chat(request)
}

/// The reader that is surest of a file, by its first records.
pub fn detect(records: &[Value<'_, '_>]) -> Option<&'static Reader> {
    let records = &records[..records.len().min(LOOKED_AT)];
    let may_be_protocol = prefilter::may_be_protocol(records);
    let asked = ALL.iter().filter(|reader| reader.kind != SourceKind::Protocol || may_be_protocol);
    let sure = asked.map(|reader| (reader.certainty_as_it_is(records), *reader));
    let (sure, best) = sure.rev().max_by_key(|(sure, _)| *sure)?;
    if sure < certainty::LIKELY
        && let Some(inner) = unwrapped_records(records)
    {
        let asked = ALL.iter().rev().filter(|reader| reader.or_wrapped);
        let (inside, reader) = asked.map(|it| (it.certainty_unwrapped(&inner), *it)).max_by_key(|it| it.0)?;
        if inside > sure {
            return (inside >= SURE).then_some(reader);
        }
    }
    (sure >= SURE).then_some(best)
}

/// The reader of lists of messages, for records that neither another reader nor a format knows.
pub fn of_lists() -> &'static Reader {
    &message_list::READER
}

/// Reads the lists of messages in a record that the user has named the places of, in a format that the user has named or
/// that they show.
pub fn read_at<'s>(
    record: Value<'_, 's>,
    at: Option<&str>,
    format: Option<&'static Format>,
    columns: &Columns,
) -> Reading<'s> {
    let mut reading = search::read_at(&message_list::READER, record, (at, format), columns);
    postprocess::all(&message_list::READER, &mut reading, &[record], record.document());
    reading
}

/// Whether a record that neither a reader nor a format knows may hold lists of messages.
pub fn may_hold_lists(record: Value<'_, '_>) -> bool {
    message_list::may_read(record)
}

/// Whether a record that neither a reader nor a format knows holds lists of messages.
pub fn holds_lists(document: &Document<'_>) -> bool {
    let holds = |root: Value<'_, '_>| !of_lists().read(&[root]).conversations.is_empty();
    may_hold_lists(document.root())
        && match of_lists().opened(document) {
            Some(opened) => holds(opened.document().root()),
            None => holds(document.root()),
        }
}

/// What a record that neither a reader nor a format knows holds of calls and results, beside the lists of other records.
pub fn read_unknown<'s>(record: Value<'_, 's>) -> Option<Reading<'s>> {
    let mut reading = Reading { unread: vec![unread::record(record)?], ..Reading::default() };
    postprocess::all(of_lists(), &mut reading, &[record], record.document());
    Some(reading)
}

/// Whether calls of a transcript were not read because they stand in a text, as data sets store them.
pub fn has_calls_in_text(transcript: &Transcript<'_>, record: Value<'_, '_>) -> bool {
    let list = record.get("messages").unwrap_or(record);
    message_list::has_calls_in_text(transcript, record)
        || tagged::has_tagged_calls(list)
        || bare_calls::are_answered(list)
}

/// Adds the tools that a row of a data set has under a key of its own, unless it declares tools as requests do.
pub fn add_tools<'s>(transcript: &mut Transcript<'s>, row: Value<'_, 's>) {
    lists::add_tools(transcript, row, &lists::TOOLS);
}

/// Adds the calls and results that a row of a data set has beside its messages under keys that nobody reads.
pub fn add_unread<'s>(transcript: &mut Transcript<'s>, row: Value<'_, 's>) {
    let is_read = |member: Value<'_, '_>| {
        let lists = [&unread::LISTS[..], &lists::TOOLS, &lists::CHOSEN, &lists::REJECTED];
        lists.concat().iter().any(|key| member.has_key(key)) || is_of_grader(member)
    };
    let members = row.members().filter(|member| !is_read(*member));
    let found: Vec<_> = members.filter_map(|member| unread::beside(member, transcript)).collect();
    transcript.unread.extend(found);
    transcript.unread.extend(unread::hidden(transcript, row.document()));
}

/// Adds the first call that a chat program has under a key of its own in the messages that it keeps, if none was read.
pub fn add_hidden<'s>(transcript: &mut Transcript<'s>, root: Value<'_, 's>) {
    let format = transcript.format.and_then(|format| formats::find(format.id));
    let is_log = || root.get("model").is_none() && !unsupported::is_meant_as_request(root);
    if format.is_some_and(|format| format.family == "chat") && is_log() {
        transcript.unread.extend(unread::hidden(transcript, root.document()));
    }
}

/// The messages of a row of a data set that are the elements of more than one list; `None` if they are not.
pub fn messages_of_row<'d, 's>(row: Value<'d, 's>) -> Option<Vec<Value<'d, 's>>> {
    trl::messages(row)
}

/// Whether a row of a data set has what a grader judges an answer by. In rows for reinforcement, `messages` and `tools` are the
/// only reserved keys, and a grader may read all others (`FineTuneReinforcementRequestInput` in the specification of OpenAI's
/// API); Bedrock's have a `reference_answer`, and those of Gemini have `references`. Most other keys say where a row is from.
pub fn is_graded_row(row: Value<'_, '_>) -> bool {
    graded(row).next().is_some()
}

/// How many answers with calls a row has that a grader compares with what the model says.
pub fn expected_answers(row: Value<'_, '_>) -> usize {
    // An `answer` beside the messages may be the model's.
    let is_call = |value: Value<'_, '_>| unread::in_answer(value).is_some() || unread::is_flat(value);
    let holds_call = |value: &Value<'_, '_>| !value.has_key("answer") && unread::unwrapped(*value, is_call);
    graded(row).filter(holds_call).count()
}

/// What a row of a data set in a wire format has of tools and calls where nobody reads them, and how many.
pub fn left_out_of_row(transcript: &Transcript<'_>, row: Value<'_, '_>) -> LeftOut {
    let mut left_out = LeftOut::default();
    lists::count_unread(&mut left_out, std::iter::once(row), std::iter::once(transcript));
    left_out
}

/// Whether a model gives the answer to the messages of a row itself, or has it under another key of the row: rows of prompts and
/// of preferences, and those for a grader. `list` is what holds the messages.
pub fn is_prompt_row(row: Value<'_, '_>, list: Value<'_, '_>) -> bool {
    const OF_PROMPTS: [&str; 12] =
        words("prompt input context query question instruct history request rejected scenario task seed");
    const OF_ANSWERS: [&str; 10] =
        words("response completion output chosen reject reply label summar prefer result");
    let names = |member: Value<'_, '_>, words: &[&str]| {
        let key = member.key_text().unwrap_or_default().to_ascii_lowercase();
        words.iter().any(|word| key.contains(word))
    };
    let is_other = |member: &Value<'_, '_>| member.id() != list.id() && !member.is_null();
    list.id() != row.id() && names(list, &OF_PROMPTS)
        || row.members().filter(is_other).any(|member| is_of_grader(member) || names(member, &OF_ANSWERS))
}

/// Whether the messages of a transcript are in a form that only data sets have.
pub fn is_of_dataset(format: FormatId) -> bool {
    find(format.id).is_some_and(|reader| reader.kind == SourceKind::Dataset && reader.id != of_lists().id)
}

fn graded<'d, 's>(row: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    row.members().filter(|member| is_of_grader(*member))
}

pub(crate) fn is_of_grader(member: Value<'_, '_>) -> bool {
    const OF_GRADERS: [&str; 13] = words(
        "answer reference expected truth solution rubric grader reward verif ideal correct gold target",
    );
    let key = member.key_text().unwrap_or_default().to_ascii_lowercase();
    !member.is_null() && OF_GRADERS.iter().any(|word| key.contains(word))
}
