//! The tools that a server has listed, and whether its list is known.

use toolcheck_json::Value;

use super::{Listed, Session, is_tool, tools_of};
use crate::ir::{Call, Named, Place, ToolDef};

impl<'s> Session<'s> {
    /// Follows a request for the list, or for a page of it.
    pub(super) fn ask_for_list(&mut self, params: Option<Value<'_, 's>>) {
        let is_first = params.and_then(|params| params.get_str("cursor")).is_none();
        if self.listed == Listed::Changed && is_first {
            self.listed = Listed::Asked;
        }
    }

    /// Follows a response with a list, or with a page of it.
    pub(super) fn end_list(&mut self) {
        if self.listed == Listed::Asked && !self.has_next_page {
            self.listed = Listed::Known;
        }
    }

    /// A tool that is called while the list is not known may be in it.
    pub(super) fn may_be_unlisted(&mut self, call: &Call<'s>) {
        if self.listed != Listed::Known
            && let Some(name) = call.name.clone().filter(|name| !self.tools.contains_key(&name.text))
        {
            self.transcript.request.tools.references.push(name);
        }
    }

    /// Adds the tools of a list, each once: a client asks for them again, or a page at a time.
    pub(super) fn declare(&mut self, message: Value<'_, 's>) {
        // A tool that stands alone is its own list.
        let single = Some(message).filter(|message| is_tool(*message));
        let Some(list) = tools_of(message).or(single) else { return };
        self.lists += 1;
        let tools = &mut self.transcript.request.tools;
        tools.place.get_or_insert(Place::of(list));
        let known = tools.list.get_or_insert_default();
        let elements = list.elements().filter(|_| single.is_none());
        // A list alone may be of a framework, whose schemas are wrapped or of another kind.
        let names_type = |tool: Value<'_, '_>| tool.get_in(&["inputSchema", "type"]).is_some();
        let wants_object =
            message.has("jsonrpc") || single.into_iter().chain(elements.clone()).any(names_type);
        for tool in single.into_iter().chain(elements).filter(|tool| tool.is_object()) {
            let name = tool.get("name").and_then(Named::of);
            let text = name.as_ref().map(|name| name.text.clone());
            let schema = tool.get("inputSchema").map(Place::of);
            let result_schema = tool.get("outputSchema").filter(|schema| !schema.is_null()).map(Place::of);
            let mut tool =
                ToolDef { name, schema, result_schema, wants_object, ..ToolDef::new(Place::of(tool)) };
            // Twice in one list is a mistake, and in two lists none.
            let before = text.and_then(|text| self.tools.insert(text, (self.lists, known.len())));
            match before {
                Some((of_list, at)) if of_list != self.lists => {
                    if let Some(text) = tool.name.as_ref().map(|name| name.text.clone()) {
                        self.tools.insert(text, (self.lists, at));
                    }
                    let raw = |place: Option<Place>| place.map(|at| message.document().value(at.node).raw());
                    let is_same = [(known[at].schema, schema), (known[at].result_schema, result_schema)]
                        .into_iter()
                        .all(|(old, new)| raw(old) == raw(new));
                    tool.since = if is_same { known[at].since } else { self.transcript.parts.len() };
                    known[at] = tool;
                }
                _ => known.push(tool),
            }
        }
    }
}
