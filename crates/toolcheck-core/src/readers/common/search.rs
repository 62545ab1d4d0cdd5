//! The search for lists of messages in a document, for readers of data sets and traces.

use foldhash::{HashMap, HashSet};
use toolcheck_json::{NodeId, Value};

use super::answers::{
    has_own_calls, holds_call, is_of_blocks, read_own_calls, read_responses, reader_of_answer,
};
use super::forms::{
    How, is_copy, is_expected_in_gym, is_of_sdk, is_page, may_end_with_chosen, own_form, repeated_by_voice,
    surest,
};
use super::lists::Beside;
use super::traces::Side;
use super::{
    Columns, Conversation, ConversationEnd, LeftOut, Reader, Reading, SourceKind, flattened,
    framework_messages, lists, message_lines, paused, spans, steps, traces, trl, turns, vercel_ai,
};
use crate::formats::{self, Format, openai_chat, openai_responses};
use crate::ir::{Body, Place, Role, Transcript, UnpairedReason, Unread, UnreadKind};
use crate::names::words;
use crate::{unread, unsupported};

pub(crate) fn read_as<'s>(reader: &Reader, records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    for record in records {
        read_value(reader, *record, None, &mut reading);
    }
    reading
}

struct FoundList<'d, 's> {
    list: Value<'d, 's>,
    around: Around<'d, 's>,
    how: How,
}

/// What stands around a value.
#[derive(Clone, Copy, Default)]
struct Around<'d, 's> {
    /// The object that holds it.
    row: Option<Value<'d, 's>>,
    /// The tools of a list of rows or of a table, for rows that have none of their own.
    tools: Option<Value<'d, 's>>,
    /// What the span that it is in says of it.
    side: Side<'d, 's>,
    /// The prompt in another column, of an answer.
    prompt: Option<Value<'d, 's>>,
}

impl<'d, 's> Around<'d, 's> {
    /// What stands around a member of an object that has these tools. Tables have an object for each column, with the numbers
    /// of the rows as its keys (`DataFrame.to_json` of pandas).
    fn member(self, row: Value<'d, 's>, own: Option<Value<'d, 's>>, member: Value<'d, 's>) -> Self {
        let is_column = |tools: &Value<'_, '_>| tools.has("0");
        let of_row = |tools: Value<'d, 's>| match member.key_text() {
            Some(key) if is_column(&tools) => tools.get(&key),
            _ => Some(tools),
        };
        // Of DashScope, whose input is an object.
        let is_sent = member.is_object() && member.has_key("input");
        let tools = match own {
            Some(own) => Some(own).filter(|own| {
                is_sent || is_column(own) || member.elements().next().is_some_and(lists::are_in_row)
            }),
            None => self.tools.and_then(of_row).filter(|_| member.is_array()),
        };
        let side = member.key_text().map_or(self.side, |key| self.side.within(row, &key));
        Self { row: Some(row), tools, side, prompt: None }
    }
}

/// Reads the lists of messages at a place, or in columns, that the user has named. Rows without any of the columns are
/// searched.
pub(crate) fn read_at<'s>(
    reader: &Reader,
    record: Value<'_, 's>,
    (at, format): (Option<&str>, Option<&'static Format>),
    columns: &Columns,
) -> Reading<'s> {
    let mut reading = Reading::default();
    if let Some(pointer) = at {
        let read = || format?.read(record.pointer(pointer)?);
        if let Some(transcript) = read() {
            reading.conversations.push(Conversation::new("", transcript, ConversationEnd::Open));
            return reading;
        }
        let parent = pointer.rfind('/').and_then(|end| record.pointer(&pointer[..end]));
        if let Some(value) = record.pointer(pointer) {
            read_row(reader, value, parent.filter(|parent| parent.is_object()), columns, &mut reading);
        }
        return reading;
    }
    let is_rows = columns.messages_of(record).is_none();
    let rows = record.elements().filter(|_| is_rows).map(Some);
    for row in rows.chain([Some(record).filter(|record| !is_rows || !record.is_array())]).flatten() {
        match columns.messages_of(row) {
            Some(messages) => read_row(reader, messages, Some(row), columns, &mut reading),
            None => read_value(reader, row, None, &mut reading),
        }
    }
    reading
}

/// Reads the messages of a row with the tools and the system text in its columns.
fn read_row<'d, 's>(
    reader: &Reader,
    messages: Value<'d, 's>,
    row: Option<Value<'d, 's>>,
    columns: &Columns,
    reading: &mut Reading<'s>,
) {
    let before = reading.conversations.len();
    read_value(reader, messages, None, reading);
    let Some(row) = row else { return };
    for conversation in &mut reading.conversations[before..] {
        lists::add_columns(&mut conversation.transcript, row, columns);
    }
}

/// Reads the lists of messages in a value of a record. `row` is the object around it, which may have the tools.
pub(crate) fn read_value<'d, 's>(
    reader: &Reader,
    root: Value<'d, 's>,
    row: Option<Value<'d, 's>>,
    reading: &mut Reading<'s>,
) {
    if root.elements().next().is_some_and(unsupported::is_response) {
        read_responses(reader, root, reading);
        return;
    }
    let mut search = Search { is_trace: reader.kind == SourceKind::Trace, ..Search::default() };
    search.run(root, row);
    toolcheck_json::sort_by_position(&mut search.found, |found| found.list.id().index());
    search.add_unread_rows(root);
    search.left_out.iter().for_each(|(what, count)| reading.left_out.add(what, count));
    let before = reading.conversations.len();
    let mut rows: HashMap<NodeId, Row<'_, '_>> = HashMap::default();
    let mut spent = 0;
    let conversation =
        |transcript| Conversation { title: String::new(), transcript, end: ConversationEnd::Open };
    let may_repeat = search.found.len() > 1 && root.is_object() && !search.is_trace;
    let may_repeat = may_repeat && !reader.repeats_lists(root);
    let repeated = if may_repeat { search.repeated() } else { HashMap::default() };
    let mut left_out = LeftOut::default();
    let transcripts = search.found.iter().enumerate().filter_map(|(number, found)| {
        let Around { row, tools, side, .. } = found.around;
        let beside = row.map(|row| rows.entry(row.id()).or_insert_with(|| Row::of(row)).next());
        let beside = beside
            .map(|beside| beside.or_tools(tools).or_known_tools(side.tools.filter(|_| spent <= MOST_BESIDE)));
        spent += beside.map_or(0, Beside::size);
        let mut transcript = found.read(reader, beside.filter(|_| spent <= MOST_BESIDE))?;
        if repeated.contains_key(&number) && transcript.counts().0 > 0 {
            left_out.add("lists of messages that another one begins with", 1);
            return None;
        }
        // Edits of one would not be in the others.
        if repeated.values().any(|other| *other == number) {
            transcript.format = Some(reader.key());
        }
        paused::settle(row, &mut transcript);
        transcript.details.is_answered |= side.is_over(&transcript);
        transcript.details.is_of_span = side.is_known;
        transcript.details.row = row.filter(|row| row.key_text().is_none()).map(|row| row.id());
        Some(conversation(transcript))
    });
    reading.conversations.extend(transcripts);
    if search.is_trace {
        spans::settle_agents(root, &mut reading.conversations[before..]);
    }
    left_out.iter().for_each(|(what, count)| reading.left_out.add(what, count));
    // A history of a framework is named, also where it is all that there is, and so is what was sent in a span.
    let is_named = !search.foreign.is_empty() || search.is_trace && !search.unknown.is_empty();
    if is_named && reading.conversations.len() == before {
        reading.conversations.push(conversation(Transcript::of_conversation(reader.key(), root)));
    }
    if let Some(last) = reading.conversations[before..].last_mut() {
        last.transcript.unread.extend(search.foreign);
        last.transcript.unread.extend(search.unread);
        last.transcript.unread.extend(search.unknown);
    }
}

/// What stands beside the lists of an object: for all of them, or, in a table with one for each column, for each.
struct Row<'d, 's> {
    beside: Beside<'d, 's>,
    of_column: std::vec::IntoIter<Value<'d, 's>>,
}

impl<'d, 's> Row<'d, 's> {
    fn of(row: Value<'d, 's>) -> Self {
        let is_list = |tools: Value<'_, '_>| {
            let is_text = || tools.as_json_str().is_some_and(|text| text.may_begin_with(b"["));
            tools.is_array() || is_text() || lists::holds_tools(tools)
        };
        let tools = row.get_any(&lists::TOOLS).or_else(|| row.get("toolConfig"));
        let tools = tools.filter(|tools| tools.elements().next().is_some_and(is_list));
        let of_column: Vec<Value<'d, 's>> = tools.into_iter().flat_map(|tools| tools.elements()).collect();
        Self { beside: Beside::of(row), of_column: of_column.into_iter() }
    }

    fn next(&mut self) -> Beside<'d, 's> {
        self.of_column.next().map_or(self.beside, |tools| self.beside.with_tools(tools))
    }
}

/// The most bytes of tools that are read for the lists of a document, again for each list.
const MOST_BESIDE: usize = 64 << 20;

impl<'s> FoundList<'_, 's> {
    fn read(&self, reader: &Reader, beside: Option<Beside<'_, 's>>) -> Option<Transcript<'s>> {
        let mut transcript = match self.how {
            How::Body(format) => format.read(self.around.row?)?,
            How::List(format) => format.read(self.list)?,
            _ => Transcript::of_conversation(reader.key(), self.list),
        };
        match self.how {
            How::Turns => {
                turns::read(&mut transcript, self.list, beside.is_some_and(|beside| beside.size() > 0));
            }
            How::Divided => trl::read_divided(&mut transcript, self.list, self.around.prompt),
            How::Outputs => {
                for (number, message) in (0..).zip(self.list.children()) {
                    let Some(items) = message_lines::items_of(message) else {
                        openai_chat::read_message(&mut transcript, message, number);
                        continue;
                    };
                    let items = items.elements();
                    items.for_each(|item| openai_responses::read_item(&mut transcript, item, number));
                }
            }
            How::Sdk => vercel_ai::read_list(&mut transcript, self.list),
            How::Parts => spans::read_parts(&mut transcript, self.list),
            How::Wrapped => {
                let entries = spans::with_answer(self.list, self.around.row);
                let has_blocks = entries.iter().filter_map(|one| one.get("message")).any(is_of_blocks);
                let read = if has_blocks { spans::read_blocks } else { spans::read_wrapped };
                read(&mut transcript, &entries);
                transcript.unread.extend(unread::beside_messages(entries.into_iter(), &transcript));
            }
            How::Flat => spans::read_flat(&mut transcript, self.list, self.around.row),
            How::Entries => {
                let messages: Vec<_> =
                    self.list.children().map(|one| lists::wrapped(one).unwrap_or(one)).collect();
                let has_own = messages.iter().copied().any(has_own_calls);
                let read = if has_own { read_own_calls } else { message_lines::form_of(&messages) };
                (0..).zip(messages).for_each(|(number, message)| read(&mut transcript, message, number));
            }
            How::Joined => {
                let steps = self.list.elements().filter_map(steps::messages);
                let messages: Vec<_> = steps.flat_map(|step| step.elements()).collect();
                let read = message_lines::form_of(&messages);
                (0..).zip(messages).for_each(|(number, message)| read(&mut transcript, message, number));
            }
            How::Answer(read) => read(&mut transcript, self.list, 0),
            How::Body(_) | How::List(_) => {}
        }
        if let How::Entries = self.how {
            transcript.unread.extend(unread::beside_messages(self.list.elements(), &transcript));
        }
        if let Some(chosen) = self.around.row.and_then(lists::chosen) {
            match self.how {
                How::Turns => turns::read_one(&mut transcript, chosen),
                How::Body(format) | How::List(format) if format.family == "chat" => {
                    openai_chat::read_message(&mut transcript, chosen, self.list.elements().count());
                }
                _ => {}
            }
        }
        if let How::Body(_) = self.how {
            // What stands beside the list is searched by itself.
            let own = self.list.span();
            let is_beside = |unread: &Unread<'_>| !own.contains(unread.place.span);
            transcript.unread.retain(|unread| unread.what != UnreadKind::Calls || !is_beside(unread));
        }
        if let Some(page) = self.around.row.filter(|row| is_page(*row)) {
            self.settle_page(page, reader, &mut transcript);
        }
        if let Some(beside) = beside.or(matches!(self.how, How::Turns).then(Beside::default)) {
            beside.add_to(&mut transcript);
        }
        if reader.kind == SourceKind::Trace || self.around.side.is_known {
            flattened::settle(&mut transcript, self.list.document());
        }
        if reader.kind == SourceKind::Trace {
            spans::settle_beginning(&mut transcript);
        }
        transcript.is_body = matches!(self.how, How::Body(_));
        Some(transcript)
    }

    /// Puts the items of a page into their order, and says what of the conversation may be elsewhere.
    fn settle_page(&self, page: Value<'_, '_>, reader: &Reader, transcript: &mut Transcript<'s>) {
        if lists::is_newest_first(transcript) {
            lists::reverse(transcript, self.list);
            // What is not in the order of the file has none that could be restored.
            transcript.format = Some(reader.key());
        }
        // What came before is on another page, unless this is the only one.
        let is_whole = page.get("has_more").and_then(|more| more.as_bool()) == Some(false)
            && transcript.messages.first().is_some_and(|first| first.role == Role::User);
        transcript.request.continues_remote_state |= !is_whole;
        // The server goes on without the calls of a turn that was stopped.
        for part in &mut transcript.parts {
            let item = self.list.document().value(part.place.node);
            let is_stopped =
                item.has("turn_id") && item.get_str("status").is_some_and(|it| it != "completed");
            if let Body::Call(call) = &mut part.body
                && is_stopped
            {
                call.unpaired = Some(UnpairedReason::Aborted);
            }
        }
    }
}

#[derive(Default)]
struct Search<'d, 's> {
    found: Vec<FoundList<'d, 's>>,
    /// Calls outside of lists.
    unread: Vec<Unread<'s>>,
    /// Lists of messages that no format knows.
    unknown: Vec<Unread<'s>>,
    /// Histories of frameworks, which no reader reads.
    foreign: Vec<Unread<'s>>,
    left_out: LeftOut,
    /// Whether lists are those of spans, which may overlap.
    is_trace: bool,
    /// The list that was looked at last, and its form: what holds a list asks before the list is searched itself.
    last: Option<(NodeId, Option<How>)>,
}

/// What lists of messages with calls have, in whatever form.
const MARKS_OF_CALLS: [&str; 4] = words("tool_call function_call tool_use functionCall");

impl<'d, 's> Search<'d, 's> {
    /// Adds the rows of a list whose messages are in no known form, under a key where other rows have theirs.
    fn add_unread_rows(&mut self, root: Value<'d, 's>) {
        if !root.is_array() || self.is_trace {
            return;
        }
        let Some(key) = self.found.iter().find_map(|found| found.list.key_text()) else { return };
        let rows = self.found.iter().filter_map(|found| found.around.row);
        let read: HashSet<NodeId> = rows.map(Value::id).collect();
        let mut told: Vec<usize> =
            self.foreign.iter().chain(&self.unknown).map(|unread| unread.place.node.index()).collect();
        told.sort_unstable();
        for row in root.elements().filter(|row| row.is_object() && !read.contains(&row.id())) {
            let Some(list) = row.get(&key).filter(|list| lists::is_list(*list)) else { continue };
            let first = list.id().index();
            let next_told = told.partition_point(|node| *node < first);
            if told.get(next_told).is_some_and(|node| *node < first + list.count()) {
                continue;
            }
            if MARKS_OF_CALLS.iter().any(|mark| memchr::memmem::find(list.raw(), mark.as_bytes()).is_some()) {
                let (place, name) = (Place::of(list), key.to_string().into());
                self.unknown.push(Unread { place, what: UnreadKind::Calls, name, is_known: true });
            } else {
                self.left_out.add("lists of messages in no known form", 1);
            }
        }
    }

    fn own_form(&mut self, list: Value<'d, 's>) -> Option<How> {
        let known = self.last.filter(|(id, _)| *id == list.id());
        let (id, form) = known.unwrap_or_else(|| (list.id(), own_form(list, self.is_trace)));
        self.last = Some((id, form));
        form
    }

    fn run(&mut self, root: Value<'d, 's>, row: Option<Value<'d, 's>>) {
        // Strands keeps a file for each message (`src/strands/session/file_session_manager.py`).
        if root.has_all(&["message", "message_id", "redact_message"]) {
            self.left_out.add("other files of this conversation, which has one for each message", 1);
        }
        // Each value with the object around it.
        let side = row.zip(root.key_text()).and_then(|(span, key)| Side::of(span, &key)).unwrap_or_default();
        let mut stack = vec![(root, Around { row, side, ..Around::default() })];
        while let Some((value, around)) = stack.pop() {
            if let Some(read) = reader_of_answer(value) {
                self.found.push(FoundList { list: value, around, how: How::Answer(read) });
            } else if let Some(how) = self.list_of(value, around) {
                self.found.extend(how.map(|how| FoundList { list: value, around, how }));
            } else if spans::has_flat_keys(value) {
                self.found.push(FoundList { list: value, around, how: How::Flat });
            } else if value.is_object() && !add_cells(value, &mut stack) {
                self.search_object(value, around, &mut stack);
            } else {
                self.search_list(value, around, &mut stack);
            }
        }
    }

    /// Searches a list that is none of messages. Its entries may wrap the messages of a conversation, each under any key;
    /// beside one with calls, what looks like a result is not passed over.
    fn search_list(&mut self, list: Value<'d, 's>, around: Around<'d, 's>, stack: &mut Stack<'d, 's>) {
        if !self.is_trace && steps::are_joined(list) {
            self.found.push(FoundList { list, around, how: How::Joined });
            return;
        }
        let mut messages = list.elements().filter_map(lists::wrapped);
        let holds_calls = messages.any(|message| reader_of_answer(message).is_some());
        let is_conversation = holds_calls && !self.is_trace && lists::wrap(list.elements());
        if is_conversation {
            self.found.push(FoundList { list, around, how: How::Entries });
        }
        let rest = list.elements().filter(|entry| !is_conversation || lists::wrapped(*entry).is_none());
        for entry in rest.filter(|entry| may_hold(*entry)) {
            let is_asked = holds_calls && lists::wrapped(entry).is_none();
            match unread::part(entry).filter(|unread| is_asked && unread.what == UnreadKind::Results) {
                Some(unread) => self.unread.push(unread),
                None => {
                    let side = entry.get_str("key").and_then(|key| Side::of(list, &key));
                    stack.push((entry, Around { side: side.unwrap_or(around.side), ..around }));
                }
            }
        }
    }

    fn search_object(&mut self, value: Value<'d, 's>, around: Around<'d, 's>, stack: &mut Stack<'d, 's>) {
        if unsupported::is_added_to_conversation(value) {
            return;
        }
        if !self.is_trace && lists::is_map(value) {
            let how = if message_lines::has_outputs(value) { How::Outputs } else { How::Entries };
            self.found.push(FoundList { list: value, around, how });
            return;
        }
        if value.has("type")
            && let Some(called) = unread::called(value)
        {
            self.unread.push(called);
            return;
        }
        // DashScope's own API has the messages in `input` and the tools in `parameters`.
        let of_dashscope = || value.get("parameters").filter(|_| value.has("input"))?.get("tools");
        let of_column = |config: &Value<'_, '_>| config.get("0").is_some_and(lists::holds_tools);
        let tools = value
            .get_any(&lists::TOOLS)
            .or_else(of_dashscope)
            .or_else(|| value.get("toolConfig").filter(of_column));
        if !self.is_trace && self.add_divided(value, tools, around) {
            return;
        }
        let taken = self.add_body(value, tools, around);
        let is_row = !self.is_trace
            && value.members().any(|member| lists::is_list(member) || member.members().any(lists::is_list));
        let chosen = lists::chosen(value).filter(|_| value.members().any(may_end_with_chosen)).map(Value::id);
        for member in value.members() {
            let is_tools = lists::TOOLS.iter().any(|key| member.has_key(key));
            let is_copy = is_copy(value, member) || self.is_trace && traces::repeats(value, member);
            if taken == Some(member.id()) || is_tools || is_copy {
                continue;
            }
            // Open WebUI keeps the messages that it shows as a list, and those of all branches by their ids.
            if member.has_key("history") && value.get("messages").is_some_and(message_lines::has_outputs) {
                let shown = value.list("messages");
                let shown: HashSet<_> = shown.filter_map(|message| message.get_str("id")).collect();
                let branches = member.get("messages").into_iter().flat_map(|all| all.members());
                let others = branches.filter(|one| one.key_text().is_none_or(|id| !shown.contains(&id)));
                stack.extend(others.map(|message| (message, Around::default())));
                continue;
            }
            if let Some(what) = repeated_by_voice(value, member) {
                self.left_out.add(what, 1);
                continue;
            }
            let is_of_gym = is_expected_in_gym(value, member);
            let is_beside = is_row && !lists::is_list(member);
            if is_of_gym || is_beside && super::is_of_grader(member) && unread::is_expected(member) {
                self.left_out.add("answers that a verifier expects", 1);
                continue;
            }
            if lists::is_rejected(value, member) {
                self.left_out.add("rejected answers", usize::from(!member.is_null()));
                continue;
            }
            if chosen == Some(member.id()) {
                continue;
            }
            let flat = if is_beside { unread::flat(member) } else { None };
            if let Some(unread) = flat.filter(|_| unread::member(member).is_none()) {
                if unread.name.contains("rejected") {
                    self.left_out.add("rejected answers", 1);
                } else if member.is_string() {
                    self.unread.push(unread);
                } else {
                    let around = around.member(value, tools, member);
                    self.found.push(FoundList { list: member, around, how: How::Answer(turns::read_flat) });
                }
                continue;
            }
            match unread::member(member).filter(|_| holds_call(member)) {
                Some(unread) => self.unread.push(unread),
                None if may_hold(member) => stack.push((member, around.member(value, tools, member))),
                None => {}
            }
        }
    }

    /// Adds a row whose prompt and answer are one conversation, or a table of them; `false` if an object is neither.
    fn add_divided(
        &mut self,
        value: Value<'d, 's>,
        tools: Option<Value<'d, 's>>,
        around: Around<'d, 's>,
    ) -> bool {
        let rejected = value.get_any(&lists::REJECTED).filter(|rejected| !rejected.is_null());
        let columns = trl::columns(value);
        let count = match &columns {
            Some((_, rows)) => rejected.map_or(0, |_| rows.len()),
            None if trl::is_divided(value) => usize::from(rejected.is_some()),
            None => return false,
        };
        self.left_out.add("rejected answers", count);
        let Some((column, rows)) = columns else {
            let around = Around { row: Some(value), ..around };
            self.found.push(FoundList { list: value, around, how: How::Divided });
            return true;
        };
        for [prompt, list] in rows {
            let key = list.key_text();
            let row = if key.is_some() { column } else { value };
            let tools = key.and_then(|key| tools?.get(&key));
            let around = Around { row: Some(row), tools, prompt: Some(prompt), ..Around::default() };
            self.found.push(FoundList { list, around, how: How::Divided });
        }
        true
    }

    /// The lists that another one repeats, with the number of that one. Requests are told by what was said before.
    fn repeated(&self) -> HashMap<usize, usize> {
        let plain = |found: &FoundList<'d, 's>| match found.how {
            How::Body(_) => found.around.row.filter(|row| row.get("model").is_none()).map(|_| found.list),
            How::List(_) | How::Turns => Some(found.list),
            _ => None,
        };
        steps::repeated(self.found.iter().map(plain).collect(), |number| {
            let Around { row, tools, .. } = self.found[number].around;
            tools.is_some() || row.is_some_and(|row| row.get_any(&lists::TOOLS).is_some())
        })
    }

    /// Adds an object that is like a request; returns the id of its list.
    fn add_body(
        &mut self,
        value: Value<'d, 's>,
        tools: Option<Value<'d, 's>>,
        around: Around<'d, 's>,
    ) -> Option<NodeId> {
        let is_own = |list: &Value<'d, 's>| lists::is_list(*list) && !is_copy(value, *list);
        let list = value.get_any(&["messages", "contents"]).filter(is_own)?;
        if self.own_form(list).is_some()
            || is_of_sdk(list)
            || framework_messages::unread_calls(list, Some(value)).is_some()
        {
            return None;
        }
        let format = surest(value)?;
        let around = around.member(value, tools, list);
        self.found.push(FoundList { list, around, how: How::Body(format) });
        Some(list.id())
    }

    /// How to read a value, if it is a list of messages; `Some(None)` if nobody knows.
    fn list_of(&mut self, list: Value<'d, 's>, around: Around<'d, 's>) -> Option<Option<How>> {
        if !list.is_array() {
            return None;
        }
        if list.elements().next().is_some_and(unsupported::is_event) {
            self.left_out.add("streamed answers", 1);
            return Some(None);
        }
        if let Some(how) = self.own_form(list) {
            return Some(Some(how));
        }
        if !lists::is_list(list) {
            return None;
        }
        if is_of_sdk(list) {
            return Some(Some(How::Sdk));
        }
        if let Some(unread) = framework_messages::unread_calls(list, around.row) {
            self.foreign.push(unread);
            return Some(None);
        }
        let is_traced = self.is_trace || around.side.is_known;
        let is_of_callback = || is_traced && list.elements().any(flattened::has_calls);
        if let Some(format) = surest(list).or_else(|| is_of_callback().then(formats::of_templates)) {
            return Some(Some(How::List(format)));
        }
        let mut members = list.elements().flat_map(|message| message.members());
        let found = members.find_map(|member| unread::member(member).filter(|_| holds_call(member)));
        self.unknown.extend(found.or_else(|| unread::in_answer(list)));
        Some(None)
    }
}

/// Whether there is anything to look for in a value. A file may have millions.
fn may_hold(value: Value<'_, '_>) -> bool {
    value.is_string() || value.children().next().is_some()
}

/// The values that are looked at next, with what stands around each.
type Stack<'d, 's> = Vec<(Value<'d, 's>, Around<'d, 's>)>;

/// Adds the cells of a table with the names of its columns apart, as pandas (`orient="split"`) and W&B write it, with the
/// tools of their row; `false` if an object is none.
fn add_cells<'d, 's>(table: Value<'d, 's>, stack: &mut Stack<'d, 's>) -> bool {
    let rows = || table.list("data");
    let are_tools = |name: Value<'_, '_>| name.as_str().is_some_and(|name| lists::TOOLS.contains(&&*name));
    let at = table.list("columns").into_iter().position(are_tools);
    let Some(at) = at.filter(|_| rows().next().is_some_and(Value::is_array)) else { return false };
    for row in rows() {
        let around = Around { row: Some(table), tools: row.elements().nth(at), ..Around::default() };
        let others = row.elements().enumerate().filter(|(number, _)| *number != at);
        stack.extend(others.map(|(_, cell)| (cell, around)));
    }
    true
}
