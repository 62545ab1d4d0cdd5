//! Tools by how they are called: by name alone, or by namespace and name.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::tool;
use crate::ir::{Executor, MissingKey, Named, Place, Transcript};
use crate::names::words;

/// The names of tools by how they are called: functions in the request's own list by name alone, others by namespace
/// and name.
#[derive(Default)]
pub(super) struct Namespaces<'s> {
    /// The names that need no namespace. Until the calls are checked, only those of tools declared in the input.
    default: HashSet<Cow<'s, str>>,
    /// The names of tools in a namespace, with the case of a call without it, if one is refused, and their definitions.
    /// Each deferred function is a namespace of its own.
    other: HashMap<Cow<'s, str>, (Option<&'static str>, Place)>,
    /// The namespaces themselves.
    names: HashSet<Cow<'s, str>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    /// In the request's own list.
    InList,
    InNamespace,
    /// In an item of the input.
    Later,
    /// In a namespace of an item of the input.
    InLaterNamespace,
}

impl<'s> Namespaces<'s> {
    /// The namespaces in a request's own list of tools. Most lists have none.
    pub(super) fn of(transcript: &mut Transcript<'s>, tools: Option<Value<'_, 's>>) -> Self {
        let mut namespaces = Self::default();
        let (mut has_search, mut has_server) = (false, false);
        for value in tools.into_iter().flat_map(|tools| tools.elements()) {
            let kind = value.get_str("type");
            match kind.as_deref() {
                Some("function" | "custom" | "namespace") | None => {}
                // A tool search finds the tools declared here, and those that the client returns in its output.
                Some("tool_search") => {
                    has_search = true;
                    transcript.request.tools.hides_some |= transcript.request.continues_remote_state;
                }
                Some("mcp") => has_server = true,
                Some(kind) => {
                    let is_known = WITHOUT_FUNCTIONS.iter().any(|known| kind.starts_with(known));
                    transcript.request.tools.hides_some |= !is_known;
                }
            }
            namespaces.declare(transcript, value, kind.as_deref(), Declared::InList);
        }
        // An MCP server's tools have their own type of call, unless a tool search finds them.
        transcript.request.tools.hides_some |= has_search && has_server;
        namespaces
    }

    /// Adds the tools that an item of the input declares.
    pub(super) fn add(&mut self, transcript: &mut Transcript<'s>, item: Value<'_, 's>) {
        for value in item.list("tools") {
            self.declare(transcript, value, value.get_str("type").as_deref(), Declared::Later);
        }
    }

    /// Adds an entry of a list of tools: one tool, or a namespace of several.
    fn declare(
        &mut self,
        transcript: &mut Transcript<'s>,
        value: Value<'_, 's>,
        kind: Option<&str>,
        declared: Declared,
    ) {
        match kind {
            Some("namespace") => {
                let Some(members) = value.get("tools").filter(|tools| tools.is_array()) else {
                    transcript.request.tools.hides_some = true;
                    return;
                };
                self.names.extend(value.get_str("name"));
                let is_later = declared == Declared::Later;
                let declared = if is_later { Declared::InLaterNamespace } else { Declared::InNamespace };
                for member in members.elements() {
                    self.function(transcript, member, declared);
                }
            }
            Some("tool_search") => {
                transcript.request.tools.search.get_or_insert(Place::of(value));
                let is_client = value.is("execution", "client");
                transcript.request.tools.is_hosted_search |= !is_client;
                if is_client && value.get("description").is_none_or(Value::is_null) {
                    let (case, key, place) = ("search-description", "description", Place::of(value));
                    let missing = MissingKey { case, key, place, name: None, because: None };
                    transcript.details.missing_keys.push(missing);
                }
            }
            _ => self.function(transcript, value, declared),
        }
    }

    fn function(&mut self, transcript: &mut Transcript<'s>, value: Value<'_, 's>, declared: Declared) {
        let is_deferred = is_deferred(value);
        let is_of_request = matches!(declared, Declared::InList | Declared::InNamespace);
        if is_deferred && is_of_request {
            transcript.request.tools.deferred.get_or_insert(Place::of(value));
        }
        if declared == Declared::InList && !is_deferred {
            return;
        }
        let tool = tool(value);
        if let Some(name) = tool.name.as_ref().filter(|_| tool.executor == Executor::Client) {
            if is_deferred && matches!(declared, Declared::InList | Declared::Later) {
                self.names.insert(name.text.clone());
            }
            // What waits in the request's own list is found without its namespace until a search has loaded it.
            let case = match declared {
                Declared::InNamespace | Declared::InList if is_deferred => None,
                Declared::Later => Some("lone-namespace"),
                _ => Some("namespace"),
            };
            if is_deferred || declared != Declared::Later {
                let known = self.other.entry(name.text.clone()).or_insert((case, tool.place));
                *known = if case > known.0 { (case, tool.place) } else { *known };
            } else {
                self.default.insert(name.text.clone());
            }
        }
        if declared != Declared::InList {
            transcript.request.tools.added.push(tool);
        }
    }

    /// Finds function calls that need a namespace but have none, or one that is not declared.
    pub(super) fn look_at_calls(
        mut self,
        transcript: &mut Transcript<'s>,
        tools: Option<Value<'_, 's>>,
        list: Value<'_, 's>,
    ) {
        if self.other.is_empty() {
            return;
        }
        let own = tools.into_iter().flat_map(|tools| tools.elements()).filter(|value| !is_deferred(*value));
        let own = own.map(tool).filter(|tool| tool.executor == Executor::Client);
        self.default.extend(own.filter_map(|tool| tool.name).map(|name| name.text));
        for value in list.elements() {
            let is_call = value.is("type", "function_call");
            let Some(name) = value.get("name").and_then(Named::of).filter(|_| is_call) else { continue };
            if let Some(namespace) = value.get("namespace").filter(|namespace| !namespace.is_null()) {
                let is_declared = |namespace: &Named<'_>| self.names.contains(&namespace.text);
                let unknown = Named::of(namespace).filter(|namespace| !is_declared(namespace));
                // A tool that is not declared is a fault of its own.
                let unknown = unknown.filter(|_| self.other.contains_key(&name.text));
                transcript.details.unknown_namespaces.extend(unknown);
                continue;
            }
            let other = self.other.get(&name.text).filter(|_| !self.default.contains(&name.text));
            let Some((Some(case), because)) = other else { continue };
            let (key, place) = ("namespace", Place::of(value));
            let missing = MissingKey { case, key, place, name: Some(name), because: Some(*because) };
            transcript.details.missing_keys.push(missing);
        }
    }
}

/// Finds outputs without a `caller` whose call was made by a program.
pub(super) fn look_at_callers<'s>(transcript: &mut Transcript<'s>, list: Value<'_, 's>) {
    let is_of_program = |value: Value<'_, '_>| {
        let caller = value.get("caller").and_then(|caller| caller.get_str("type"));
        caller.is_some_and(|kind| kind == "program")
    };
    let ends_with = |value: Value<'_, '_>, end| value.get_str("type").is_some_and(|kind| kind.ends_with(end));
    let mut called = HashMap::default();
    for value in list.elements() {
        let Some(id) = value.get("call_id").and_then(Named::of) else { continue };
        if ends_with(value, "_call") && is_of_program(value) {
            called.insert(id.text, Place::of(value));
        } else if ends_with(value, "_output")
            && value.get("caller").is_none()
            && let Some(because) = called.get(&id.text)
        {
            let (key, place) = ("caller", Place::of(value));
            let missing = MissingKey { case: key, key, place, name: None, because: Some(*because) };
            transcript.details.missing_keys.push(missing);
        }
    }
}

/// The types of tools that add no functions to call. A version may follow the type.
const WITHOUT_FUNCTIONS: [&str; 9] = words(
    "web_search file_search code_interpreter image_generation computer local_shell shell apply_patch \
    programmatic_tool_calling",
);

/// Whether a tool is loaded only after a search has found it.
fn is_deferred(tool: Value<'_, '_>) -> bool {
    tool.is_true("defer_loading")
}
