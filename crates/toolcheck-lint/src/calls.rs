//! The arguments of calls, and the way from a place inside them back to the file.

use serde_json::Value as Json;
use toolcheck_core::ir::{Arguments, Body, Call, Part, Place};
use toolcheck_json::{Document, Span, Value};

use crate::rule::Context;

/// A call of a function with arguments that could be read.
pub(crate) struct Seen<'a, 'c, 's> {
    /// The name of its tool.
    pub(crate) tool: &'a str,
    /// Where the call stands.
    pub(crate) place: Place,
    /// The call.
    pub(crate) call: &'c Call<'s>,
    /// Its arguments, an object.
    pub(crate) arguments: &'a Json,
    cx: &'a Context<'c, 's>,
}

impl Seen<'_, '_, '_> {
    /// The place of the argument with this key.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        let find = |root: Value<'_, '_>, locate: &Locate<'_>| locate(root.get(key).unwrap_or(root), false);
        with_places(self.cx, &self.call.arguments, find).unwrap_or(self.place)
    }
}

/// Shows `see` the calls of functions whose tool is `wanted`, with their arguments.
pub(crate) fn visit<'c, 's>(
    cx: &Context<'c, 's>,
    wanted: impl Fn(&str) -> bool,
    mut see: impl FnMut(&Seen<'_, 'c, 's>),
) {
    let mut room = String::new();
    let transcript: &'c _ = cx.transcript;
    for Part { body, place, .. } in &transcript.parts {
        let Body::Call(call) = body else { continue };
        let Some(name) = call.name.as_ref().filter(|name| call.is_of_function() && wanted(&name.text)) else {
            continue;
        };
        if let Some(arguments) = object(cx, &call.arguments, &mut room) {
            see(&Seen { tool: &name.text, place: *place, call, arguments: &arguments, cx });
        }
    }
}

/// The arguments where they are a JSON object, or one written in a string. What is broken or of another kind is another
/// rule's. `room` serves many calls.
pub(crate) fn object(cx: &Context<'_, '_>, arguments: &Arguments<'_>, room: &mut String) -> Option<Json> {
    let read = match *arguments {
        Arguments::Object(place) => serde_json::from_slice(cx.document.value(place.node).raw()),
        Arguments::Text(text, _) => {
            room.clear();
            text.decode_into(room);
            serde_json::from_str(room)
        }
        Arguments::Missing | Arguments::Null(_) | Arguments::Other(_) => return None,
    };
    read.ok().filter(Json::is_object)
}

/// Where a value inside the arguments stands in the file, or its key where the flag says so.
pub(crate) type Locate<'l> = dyn Fn(Value<'_, '_>, bool) -> Place + 'l;

/// Shows `see` the arguments as a value with places. Where they are JSON in a string they are read there as a document
/// of its own, and each span is mapped back through the escapes.
pub(crate) fn with_places<R>(
    cx: &Context<'_, '_>,
    arguments: &Arguments<'_>,
    see: impl FnOnce(Value<'_, '_>, &Locate<'_>) -> R,
) -> Option<R> {
    let place_in = |at: Value<'_, '_>, of_key| if of_key { Place::of_key(at) } else { Place::of(at) };
    match *arguments {
        Arguments::Object(place) => Some(see(cx.document.value(place.node), &place_in)),
        Arguments::Text(text, place) => {
            let (decoded, offsets) = text.decode_with_offsets();
            let document = Document::read(decoded.as_bytes());
            // Behind the opening quote.
            let first = place.span.start + 1;
            let in_file =
                |at: u32| first + offsets.get(at as usize).copied().unwrap_or(text.raw().len() as u32);
            let locate = |at: Value<'_, '_>, of_key| {
                let inner = place_in(at, of_key).span;
                Place {
                    node: place.node,
                    span: Span { start: in_file(inner.start), end: in_file(inner.end) },
                }
            };
            document.root().map(|root| see(root, &locate))
        }
        Arguments::Missing | Arguments::Null(_) | Arguments::Other(_) => None,
    }
}
