//! The Model Context Protocol: a log of JSON-RPC messages between a client and the servers that have the tools, or the tools
//! of a server alone.
//!
//! Each `tools/call` is a call, and the response with its id the result. Both sides send requests, with ids of their own, so
//! that a response is told by what it holds where the ids of both are the same.

use std::borrow::Cow;
use std::collections::BTreeSet;

use foldhash::HashMap;
use toolcheck_json::{Span, Value};

use super::common::events;
use super::parts::{call, result};
use super::{Conversation, Reader, Reading, own_shape};
use crate::ir::{
    Body, Call, Details, MisplacedEvent, Misplacement, MissingKey, Named, Place, Role, Transcript,
    UnpairedReason,
};
use crate::names::words;
use requests::{Request, Requests};

mod listed;
mod requests;
mod sampling;
mod shapes;

pub(super) static READER: Reader = Reader::protocol("mcp", "Model Context Protocol log", sniff, read);

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| {
        is_message(unwrapped(record))
            || is_list_of_tools(record)
            || is_lone_result(record)
            || is_batch(record)
            || list_in(record).is_some()
    })
}

/// Whether a list has messages. Every file is looked at, so a glance at the first is enough.
fn is_batch(list: Value<'_, '_>) -> bool {
    list.is_array()
        && list.elements().next().is_some_and(|first| unwrapped(first).has("jsonrpc"))
        && list.elements().take(super::LOOKED_AT).any(|one| is_message(unwrapped(one)))
}

/// The list of messages in a document that says more of them.
fn list_in<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    const KEYS: [&str; 5] = words("messages entries events frames log");
    let is_message = record.has("jsonrpc");
    KEYS.iter().filter(|_| !is_message).find_map(|key| record.get(key).filter(|list| is_batch(*list)))
}

/// A message, without what a log says of it: when it came, and from where.
fn unwrapped<'d, 's>(record: Value<'d, 's>) -> Value<'d, 's> {
    let is_message = |value: &Value<'_, '_>| value.get_str("jsonrpc").is_some();
    let inner = || events::wrapped(record).find(is_message);
    Some(record).filter(is_message).or_else(inner).unwrap_or(record)
}

/// Whether a value is a message of JSON-RPC that only MCP has.
fn is_message(message: Value<'_, '_>) -> bool {
    if message.get_str("jsonrpc").is_none() {
        return false;
    }
    if let Some(method) = message.get_str("method") {
        const STARTS: [&str; 7] =
            words("tools/ resources/ prompts/ sampling/ elicitation/ notifications/ completion/");
        // The other protocols that are built on JSON-RPC begin in the same way, with a version that is a number.
        let params = message.get("params");
        let has_version = || params.and_then(|params| params.get_str("protocolVersion")).is_some();
        return match &*method {
            "initialize" => has_version(),
            "server/discover" | "roots/list" | "logging/setLevel" => true,
            method => STARTS.iter().any(|start| method.starts_with(start)),
        };
    }
    message.get("result").is_some_and(|result| {
        let has = |key: &str| result.get(key).is_some();
        has("protocolVersion") && has("serverInfo")
            || has("supportedVersions")
            || result.has_list("tools")
            || has("content") && (has("isError") || has("structuredContent"))
    })
}

/// Whether a value is tools of a server alone: one, a list, or an object with a list, as `tools/list` returns it.
fn is_list_of_tools(record: Value<'_, '_>) -> bool {
    // What else such a result has, such as where the next page begins, is no list. A request has messages.
    let is_beside = |member: Value<'_, '_>| {
        let is_single = !member.is_array() && !member.is_object();
        is_single || member.key_text().is_some_and(|key| matches!(&*key, "tools" | "_meta"))
    };
    is_tool(record)
        || record.members().all(is_beside)
            && tools_of(record).is_some_and(|list| {
                // One without a schema is a fault in such a list.
                let is_like_one = |tool: Value<'_, '_>| tool.get_str("name").is_some();
                list.elements().all(is_like_one) && list.elements().any(is_tool)
            })
}

fn is_tool(tool: Value<'_, '_>) -> bool {
    tool.has_object("inputSchema") && tool.get_str("name").is_some()
}

/// Whether a value is the result of a call alone, or what a server asks before it answers.
fn is_lone_result(record: Value<'_, '_>) -> bool {
    // Python prints `_meta` as `meta`.
    const KEYS: [&str; 8] =
        words("_meta content inputRequests isError meta requestState resultType structuredContent");
    let is_own = |member: Value<'_, '_>| KEYS.iter().any(|key| member.has_key(key));
    let is_list = record.has_list("content");
    let is_asked = record.get("resultType").and(record.get("inputRequests")).is_some_and(Value::is_object);
    (is_asked || is_list && record.get_any(&["isError", "structuredContent"]).is_some())
        && record.members().all(is_own)
}

fn tools_of<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let result = record.get("result").unwrap_or(record);
    Some(result).filter(|list| list.is_array()).or_else(|| result.get("tools").filter(|list| list.is_array()))
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    let mut sessions: HashMap<Option<Cow<'s, str>>, Session<'s>> = HashMap::default();
    let all = || records.iter().flat_map(|record| records_of(*record));
    // One that is only on some may be of one side.
    let connection = CONNECTIONS
        .into_iter()
        .find(|key| all().all(|record| record.get("jsonrpc").is_none() && record.get_str(key).is_some()));
    reading.is_apart = connection.is_some();
    let messages = all().flat_map(|record| {
        let beside = response_beside(record).map(|response| (record, response, None));
        [Some((record, unwrapped(record), record.get_str("direction"))), beside]
    });
    for (record, message, direction) in messages.flatten() {
        let connection = connection.and_then(|key| record.get_str(key));
        if is_list_of_tools(message) && message.get("jsonrpc").is_none() {
            let session = sessions.entry(connection).or_insert_with(|| Session::new(message));
            session.declare(message);
            continue;
        }
        if is_lone_result(message) {
            let session = sessions.entry(connection).or_insert_with(|| Session::new(message));
            session.answer(message, Some(message), None, Some(UnpairedReason::Elsewhere));
            continue;
        }
        if message.get_str("jsonrpc").is_none() {
            reading.leave_out_unknown("records that are not JSON-RPC", message);
            continue;
        }
        // A client that connects anew counts its ids from the start.
        let begins = message.is("method", "initialize");
        let is_over = |session: &Session<'_>| session.has_begun || !session.transcript.parts.is_empty();
        if begins && sessions.get(&connection).is_some_and(is_over) {
            reading.conversations.extend(sessions.remove(&connection).into_iter().flat_map(Session::end));
        }
        let session = sessions.entry(connection).or_insert_with(|| Session::new(message));
        session.has_begun |= begins;
        let version = message.get("params").and_then(|params| params.get_str("protocolVersion"));
        // Later versions take any value.
        session.is_structure_object |= begins && version.is_some_and(|version| *version < *"2026");
        if let Some(left_out) = session.add(message, direction) {
            reading.leave_out(left_out);
        }
    }
    reading.conversations.extend(sessions.into_values().flat_map(Session::end));
    reading.in_order()
}

/// What logs of several servers name the connection by.
const CONNECTIONS: [&str; 4] = words("connectionId sessionId server serverName");

/// The response that MCP Inspector keeps in the record of a request.
fn response_beside<'d, 's>(record: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let is_asked = record.get("message").is_some_and(is_message);
    record.get("response").filter(|answer| is_asked && answer.get_str("jsonrpc").is_some())
}

/// A record, or each message of a batch. A list of tools is one.
fn records_of<'d, 's>(record: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    let record = list_in(record).unwrap_or(record);
    let is_whole = record.is_object() || is_list_of_tools(record);
    let whole = Some(record).filter(|_| is_whole);
    let elements = (!is_whole).then(|| record.elements());
    whole.into_iter().chain(elements.into_iter().flatten())
}

/// What a client and a server say to each other, from one connection on.
struct Session<'s> {
    transcript: Transcript<'s>,
    has_begun: bool,
    /// Whether what is structured must be an object.
    is_structure_object: bool,
    has_requests: bool,
    /// What is wrong with responses. What is wrong with calls may be taken back.
    checked: Details<'s>,
    open: Requests<'s>,
    /// The calls whose results are no errors, as the numbers of their parts.
    accepted: BTreeSet<usize>,
    /// Whether the last list of tools says that it goes on.
    has_next_page: bool,
    lists: usize,
    listed: Listed,
    /// The tools by their names: the number of the list, and the place among all tools.
    tools: HashMap<Cow<'s, str>, (usize, usize)>,
    /// What the server asked the client's model, each a conversation of its own.
    sampled: Vec<Transcript<'s>>,
    /// The schemas of the forms that a result asks for, by the keys that the next call answers them under.
    forms: HashMap<Cow<'s, str>, Place>,
    /// The calls whose results are asked for later, by the ids of their tasks: the numbers of their parts.
    tasks: HashMap<Cow<'s, str>, usize>,
    /// Which keys a tool's last result wants back.
    wanted: HashMap<Cow<'s, str>, Vec<&'static str>>,
}

/// Whether the tools of a server are those that it has listed last.
#[derive(Default, PartialEq, Eq)]
enum Listed {
    #[default]
    Known,
    /// They have changed since.
    Changed,
    /// They have changed, and the client has asked for them again.
    Asked,
}

/// What a call that is sent again has beside its arguments, each because of a key of the result.
const OF_RETRY: [(&str, &str); 2] = [("inputResponses", "inputRequests"), ("requestState", "requestState")];

impl<'s> Session<'s> {
    fn new(message: Value<'_, 's>) -> Self {
        let mut transcript = Transcript::of_conversation(READER.key(), message);
        transcript.details.absent_arguments_are_empty = true;
        transcript.details.results_may_wait = true;
        Self {
            transcript,
            has_begun: false,
            is_structure_object: false,
            has_requests: false,
            checked: Details::default(),
            open: Requests::default(),
            accepted: BTreeSet::new(),
            has_next_page: false,
            lists: 0,
            listed: Listed::default(),
            tools: HashMap::default(),
            sampled: Vec::new(),
            forms: HashMap::default(),
            tasks: HashMap::default(),
            wanted: HashMap::default(),
        }
    }

    /// Its conversations. One without anything said in it is left out beside others.
    fn end(mut self) -> Vec<Conversation<'s>> {
        // A server may read more than the protocol has.
        let spans: Vec<Span> =
            self.accepted.iter().map(|call| self.transcript.parts[*call].place.span).collect();
        let is_accepted = |place: Place| {
            let after = spans.partition_point(|span| span.range().start <= place.span.range().start);
            after > 0 && spans[after - 1].contains(place.span)
        };
        self.transcript.details.arguments_of_other_type.retain(|place| !is_accepted(*place));
        self.transcript.details.missing_keys.retain(|missing| !is_accepted(missing.place));
        self.transcript.request.tools.hides_some |= self.has_next_page;
        self.transcript.details.missing_keys.append(&mut self.checked.missing_keys);
        self.transcript.details.wrong_values = self.checked.wrong_values;
        let is_needed = !self.transcript.messages.is_empty() || self.sampled.is_empty();
        let own = Some(("session", self.transcript)).filter(|_| is_needed);
        let sampled = self.sampled.into_iter().map(|sampled| ("sampling", sampled));
        let conversation = |(title, transcript): (&str, Transcript<'s>)| Conversation {
            title: title.to_owned(),
            transcript,
            end: super::ConversationEnd::Open,
        };
        own.into_iter().chain(sampled).map(conversation).collect()
    }

    /// Adds a message, or says what it is if it is neither a call nor a result.
    fn add(&mut self, message: Value<'_, 's>, direction: Option<Cow<'s, str>>) -> Option<&'static str> {
        let id = message.get("id").and_then(Named::of).map(|id| id.text);
        let params = message.get("params");
        match (message.get_str("method"), id) {
            (Some(method), Some(id)) => {
                let number = match &*method {
                    "tools/call" => Some(self.call(message, params)),
                    "tasks/result" | "tasks/get" | "tasks/cancel" => {
                        params.and_then(|params| self.tasks.get(&params.get_str("taskId")?)).copied()
                    }
                    "tasks/update" => {
                        self.fill_in_each(params);
                        None
                    }
                    "sampling/createMessage" => {
                        let is_list = |params: &Value<'_, '_>| params.has_list("messages");
                        params.filter(is_list).map(|params| self.sample(params))
                    }
                    "tools/list" => {
                        self.ask_for_list(params);
                        None
                    }
                    _ => None,
                };
                let form = params.and_then(form_of);
                let is_read = number.is_some() || form.is_some();
                self.has_requests = true;
                if self.has_begun && self.open.has_other(&id, &method) {
                    let why = Misplacement::Open { thing: "request".to_owned(), id: id.clone().into_owned() };
                    self.misplaced(message, &method, why);
                }
                self.open.add(id, Request { method, number, form, direction });
                (!is_read).then_some("requests other than calls of tools")
            }
            (Some(method), None) => {
                match &*method {
                    "notifications/cancelled" => {
                        self.cancel(params.and_then(|params| params.get("requestId")), direction.as_deref())
                    }
                    "notifications/tasks" => {
                        params.map(|state| self.task(state));
                    }
                    "notifications/tools/list_changed" => self.listed = Listed::Changed,
                    _ => {}
                }
                Some("notifications")
            }
            // The SDK for Python has this id where others have `null`: it cannot tell to what request it is.
            (None, id) => self.response(message, id.filter(|id| id != "server-error"), direction.as_deref()),
        }
    }

    fn misplaced(&mut self, message: Value<'_, 's>, kind: &str, why: Misplacement) {
        let (place, kind) = (Place::of(message), kind.to_owned());
        let event = MisplacedEvent { place, kind, why, says: None, is_doubtful: false };
        self.transcript.details.misplaced_events.push(event);
    }

    fn call(&mut self, message: Value<'_, 's>, params: Option<Value<'_, 's>>) -> usize {
        let member = |key: &str| params.and_then(|params| params.get(key));
        self.fill_in_each(params);
        let is_again = OF_RETRY.iter().any(|(key, _)| member(key).is_some());
        let wanted = member("name").and_then(Value::as_str).and_then(|name| self.wanted.remove(&name));
        let wanted = wanted.into_iter().flatten().filter(|key| is_again && member(key).is_none());
        let place = Place::of(params.unwrap_or(message));
        let missing = wanted.map(|key| MissingKey { case: "retry", key, place, name: None, because: None });
        self.transcript.details.missing_keys.extend(missing);
        let call = call(message.get("id"), member("name"), member("arguments"));
        let is_other = |value: &Value<'_, '_>| !value.is_object() && !value.is_null();
        let arguments = member("arguments").filter(is_other).map(Place::of);
        self.transcript.details.arguments_of_other_type.extend(arguments);
        if member("name").is_none_or(Value::is_null) {
            let missing = MissingKey { case: "call-name", key: "name", place, name: None, because: None };
            self.transcript.details.missing_keys.push(missing);
        }
        self.may_be_unlisted(&call);
        self.transcript.turn(Role::Assistant, message).part(message, Body::Call(call));
        self.transcript.parts.len() - 1
    }

    /// Adds what the server asks the client's model.
    fn sample(&mut self, params: Value<'_, 's>) -> usize {
        let mut transcript = Transcript::of_conversation(READER.key(), params);
        for message in params.get("messages").into_iter().flat_map(Value::elements) {
            sampling::add(&mut transcript, message);
        }
        self.sampled.push(transcript);
        self.sampled.len() - 1
    }

    /// Adds what a person entered into the forms that a result asked for.
    fn fill_in_each(&mut self, params: Option<Value<'_, 's>>) {
        let responses = params.and_then(|params| params.get("inputResponses"));
        for response in responses.into_iter().flat_map(Value::members) {
            let form = response.key_text().and_then(|key| self.forms.remove(&*key));
            self.fill_in(form, Some(response));
        }
    }

    /// Adds what a task has come to. Since 2026-07-28 its state has the result.
    fn task(&mut self, state: Value<'_, 's>) -> Option<&'static str> {
        for asked in state.get("inputRequests").into_iter().flat_map(Value::members) {
            self.forms.extend(asked.key_text().zip(asked.get("params").and_then(form_of)));
        }
        let (id, answer) = (state.get_str("taskId"), state.get("result"));
        let number = id.as_ref().and_then(|id| self.tasks.get(id)).copied();
        if let Some(Body::Call(call)) = number.map(|number| &mut self.transcript.parts[number].body)
            && state.is("status", "cancelled")
        {
            call.unpaired = Some(UnpairedReason::Aborted);
        }
        if answer.or(state.get("error")).is_some_and(|end| end.is_object())
            && let Some(number) = id.and_then(|id| self.tasks.remove(&id))
        {
            self.check(Some("tools/call"), Some(number), answer);
            self.answer(state, answer, Some(number), None);
            return None;
        }
        Some("responses to other requests")
    }

    /// Adds what a person entered into a form, if they did.
    fn fill_in(&mut self, form: Option<Place>, answer: Option<Value<'_, 's>>) {
        let accepted = answer.filter(|answer| answer.is("action", "accept"));
        let entered = accepted.and_then(|answer| answer.get("content")).map(Place::of);
        self.transcript.details.filled_forms.extend(form.zip(entered));
    }

    /// A call that was cancelled gets no response.
    fn cancel(&mut self, id: Option<Value<'_, 's>>, direction: Option<&str>) {
        let part = id.and_then(Named::of).and_then(|id| self.open.cancelled(&id.text, direction));
        if let Some(Body::Call(call)) = part.map(|part| &mut self.transcript.parts[part].body) {
            call.unpaired = Some(UnpairedReason::Aborted);
        }
    }

    fn response(
        &mut self,
        message: Value<'_, 's>,
        id: Option<Cow<'s, str>>,
        direction: Option<&str>,
    ) -> Option<&'static str> {
        let answer = message.get("result");
        if answer.is_some_and(|answer| answer.has("tools")) {
            self.declare(message);
            self.has_next_page = answer.and_then(|answer| answer.get_str("nextCursor")).is_some();
            self.end_list();
        }
        shapes::check_response(&mut self.checked, message);
        let is_asked = id.as_ref().is_some_and(|id| !self.open.of(id).is_empty());
        let request = id.as_ref().and_then(|id| self.open.answered(id, answer, direction));
        if let Some(Request { method, number: Some(number), .. }) = &request
            && method == "sampling/createMessage"
        {
            let said = answer.map(|answer| sampling::add(&mut self.sampled[*number], answer));
            return said.is_none().then_some("responses to other requests");
        }
        if let Some(Request { form: form @ Some(_), .. }) = request {
            self.fill_in(form, answer);
            return None;
        }
        let called = request.as_ref().and_then(|request| request.number);
        if let Some(Request { method, .. }) = &request
            && let Some(state) = answer
            && matches!(&**method, "tasks/get" | "tasks/cancel")
        {
            return self.task(state);
        }
        if let Some((number, answer)) = called.zip(answer) {
            let is_task = answer.is("resultType", "task");
            let task = answer.get("task").or(Some(answer).filter(|_| is_task));
            if let Some(id) = task.and_then(|task| task.get_str("taskId")) {
                self.tasks.insert(id, number);
                return None;
            }
            if let Body::Call(Call { name: Some(name), .. }) = &self.transcript.parts[number].body {
                let wanted = OF_RETRY.into_iter().filter(|(_, because)| answer.get(because).is_some());
                self.wanted.insert(name.text.clone(), wanted.map(|(key, _)| key).collect());
            }
        }
        let is_error = answer.and_then(|answer| answer.get("isError")).and_then(Value::as_bool);
        if let Some(number) = called
            && answer.is_some_and(|answer| answer.get("inputRequests").is_none())
            && is_error != Some(true)
        {
            self.accepted.insert(number);
        }
        let method = request.map(|request| request.method);
        self.check(method.as_deref(), called, answer);
        let is_result = match &method {
            Some(method) => {
                method == "tools/call" || called.is_some() || self.has_begun && method == "tasks/result"
            }
            // A response to nothing, or a second one.
            None => answer.is_some_and(|answer| answer.has_list("content")),
        };
        if !is_result {
            if let Some(id) = id.filter(|_| method.is_none() && !is_asked && self.has_begun) {
                let why = Misplacement::NotOpen { thing: "request".to_owned(), id: id.into_owned() };
                self.misplaced(message, "response", why);
            }
            return Some("responses to other requests");
        }
        // A log may begin in the middle, or be a response alone.
        let is_unpaired = method.is_none() && !self.has_requests;
        self.answer(message, answer, called, is_unpaired.then_some(UnpairedReason::Elsewhere));
        None
    }

    /// Checks the shape of what answers a request about tools.
    fn check(&mut self, method: Option<&str>, called: Option<usize>, answer: Option<Value<'_, 's>>) {
        let Some((method, answer)) = method.zip(answer.filter(|answer| answer.is_object())) else { return };
        match method {
            "tools/list" => shapes::check_list(&mut self.checked, answer),
            _ if called.is_some() => {
                let has_schema = called.is_some_and(|number| self.has_result_schema(number));
                let is_read = has_schema || !self.is_structure_object;
                shapes::check_result(&mut self.checked, answer, is_read);
            }
            _ => {}
        }
    }

    /// Whether the tool of a call says how its results are structured.
    fn has_result_schema(&self, number: usize) -> bool {
        let Body::Call(Call { name: Some(name), .. }) = &self.transcript.parts[number].body else {
            return false;
        };
        let tools = self.transcript.request.tools.list.as_deref().unwrap_or_default();
        let tool = self.tools.get(&name.text).and_then(|(_, at)| tools.get(*at));
        tool.is_some_and(|tool| tool.result_schema.is_some())
    }

    /// Adds the result of a call, and what it asks the client's model.
    fn answer(
        &mut self,
        message: Value<'_, 's>,
        answer: Option<Value<'_, 's>>,
        called: Option<usize>,
        unpaired: Option<UnpairedReason>,
    ) {
        let asked = answer.and_then(|answer| answer.get("inputRequests"));
        for request in asked.into_iter().flat_map(Value::members) {
            let params = request.get("params");
            self.forms.extend(request.key_text().zip(params.and_then(form_of)));
            let params = params.filter(|params| params.has("messages"));
            params.map(|params| self.sample(params));
        }
        let error = message.get("error");
        let is_error = answer.and_then(|answer| answer.get("isError")).and_then(Value::as_bool);
        let content = answer.and_then(|answer| answer.get("content")).or(answer).or(error);
        let mut result =
            result(message.get("id"), content, if error.is_some() { Some(true) } else { is_error });
        let structured = answer.and_then(|answer| answer.get("structuredContent"));
        result.structured = structured.filter(|value| !value.is_null()).map(Place::of);
        let is_media = |block: Value<'_, '_>| block.get_str("type").is_some_and(|kind| kind != "text");
        result.has_media = content.is_some_and(|content| content.elements().any(is_media));
        result.unpaired = unpaired;
        // That of a task has the id of another request.
        if let Some(Body::Call(call)) = called.map(|number| &self.transcript.parts[number].body) {
            result.call_id = call.id.clone().or(result.call_id);
        }
        self.transcript.turn(Role::Tool, message).part(message, Body::Result(result));
    }
}

/// The schema of what a server wants a person to enter.
fn form_of(params: Value<'_, '_>) -> Option<Place> {
    params.get("requestedSchema").filter(|schema| schema.is_object()).map(Place::of)
}
