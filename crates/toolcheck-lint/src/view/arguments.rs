//! The arguments of calls, and the places in the file of the values inside them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use jsonschema::error::{ValidationError, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use toolcheck_core::ir::{Arguments, Body, Call, Executor, Part, Place, ToolKind};
use toolcheck_json::{Arena, Decoded, Document, Span, Value};
use toolcheck_schema::{Index, Schema};

use crate::rule::Context;

/// A call whose arguments could be read.
pub(crate) struct Seen<'a, 'c, 's> {
    pub(crate) place: Place,
    pub(crate) call: &'c Call<'s>,
    pub(crate) arguments: &'a Json,
    cx: &'a Context<'c, 's>,
}

impl Seen<'_, '_, '_> {
    /// The place of the argument with this key, or of an element of it, or of these bytes of its text.
    pub(crate) fn place_in(&self, key: &str, element: Option<usize>, bytes: Option<Range<usize>>) -> Place {
        let find = |root: Value<'_, '_>, place: &PlaceOf<'_>| {
            let Some(argument) = root.get(key) else { return place(root, root.span()) };
            let value = element.and_then(|number| argument.elements().nth(number)).unwrap_or(argument);
            let span = bytes.as_ref().and_then(|bytes| span_in_text(value, bytes)).unwrap_or(value.span());
            place(value, span)
        };
        with_spans(self.cx, &self.call.arguments, find).unwrap_or(self.place)
    }
}

fn span_in_text(value: Value<'_, '_>, bytes: &Range<usize>) -> Option<Span> {
    let span = Decoded::new(value.as_json_str()?, value.span().start).span_of(bytes.clone());
    (span.start < span.end).then_some(span)
}

/// The calls of functions whose tool name is `wanted`.
pub(crate) fn of_functions<'c, 's>(
    cx: &Context<'c, 's>,
    wanted: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&'c Part<'s>, &'c Call<'s>)> {
    let transcript: &'c _ = cx.transcript;
    transcript.parts.iter().filter_map(move |part| match &part.body {
        Body::Call(call) if call.is_of_function() => {
            let name = call.name.as_ref()?;
            wanted(&name.text).then_some((part, call))
        }
        _ => None,
    })
}

/// The calls of functions, each with the index of its part.
pub(crate) fn numbered_calls<'c, 's>(cx: &Context<'c, 's>) -> impl Iterator<Item = (usize, &'c Call<'s>)> {
    let transcript: &'c _ = cx.transcript;
    transcript.parts.iter().enumerate().filter_map(|(number, part)| match &part.body {
        Body::Call(call) if call.is_of_function() && call.name.is_some() => Some((number, call)),
        _ => None,
    })
}

/// Buffers for decoded arguments, reused from one call to the next.
#[derive(Default)]
pub(crate) struct Buffers {
    text: Vec<u8>,
    arena: Arena,
}

/// Calls `see` with the arguments, if they are a valid JSON object or a string that contains one.
pub(crate) fn with_object<R>(
    cx: &Context<'_, '_>,
    arguments: &Arguments<'_>,
    buffers: &mut Buffers,
    see: impl FnOnce(Value<'_, '_>) -> R,
) -> Option<R> {
    let see = |root: Value<'_, '_>| root.is_object().then(|| see(root));
    with_value(cx, arguments, buffers, see).flatten()
}

/// Calls `see` with the arguments, if they are a valid JSON object or a string that contains JSON. `null` stands for
/// none. Other arguments are reported by other rules.
pub(crate) fn with_value<R>(
    cx: &Context<'_, '_>,
    arguments: &Arguments<'_>,
    buffers: &mut Buffers,
    see: impl FnOnce(Value<'_, '_>) -> R,
) -> Option<R> {
    match *arguments {
        Arguments::Object(place) => {
            let root = cx.document.value(place.node);
            is_json(cx.document, root).then(|| see(root))
        }
        Arguments::Text(text, _) => {
            buffers.text.clear();
            text.decode_bytes_into(&mut buffers.text);
            let document = Document::read_in(&buffers.text, std::mem::take(&mut buffers.arena));
            let root = Some(document.root()).filter(|root| !root.is_null() && is_json(&document, *root));
            let seen = root.map(see);
            buffers.arena = document.into_arena();
            seen
        }
        Arguments::Missing | Arguments::Null(_) | Arguments::Other(_) => None,
    }
}

/// Whether a value is valid JSON. Almost every document is.
fn is_json(document: &Document<'_>, value: Value<'_, '_>) -> bool {
    document.faults().is_empty() || serde_json::from_slice::<IgnoredAny>(value.raw()).is_ok()
}

pub(crate) fn place_of_violation(cx: &Context<'_, '_>, call: &Call<'_>, schema: &Schema) -> Option<Place> {
    let first = |root: Value<'_, '_>, locate: &Locate<'_>| {
        let index = Index::default();
        let place_of = |error: &ValidationError<'_>| {
            let at = value_of(root, &index, error)?;
            // The first of the keys that are not allowed.
            let unexpected = match error.kind() {
                ValidationErrorKind::AdditionalProperties { unexpected }
                | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected.first(),
                _ => None,
            };
            let key = unexpected.and_then(|key| index.get(at, key));
            Some(key.map_or_else(|| locate(at, false), |key| locate(key, true)))
        };
        schema.with_errors(root, false, |errors| errors.listed.iter().find_map(place_of))
    };
    with_places(cx, &call.arguments, first).flatten()
}

/// Calls `see` with every call that runs a shell command: calls of the functions in the settings, and the shell calls
/// of some formats.
pub(crate) fn visit_shells<'c, 's>(cx: &Context<'c, 's>, mut see: impl FnMut(&Seen<'_, 'c, 's>)) {
    let is_shell = |call: &Call<'_>| match call.kind {
        ToolKind::LocalShell | ToolKind::Shell => call.executor == Executor::Client,
        _ => {
            call.is_of_function()
                && call.name.as_ref().is_some_and(|name| cx.settings.shell_tools.contains(&name.text))
        }
    };
    let mut buffers = Buffers::default();
    let transcript: &'c _ = cx.transcript;
    for Part { body, place, .. } in &transcript.parts {
        let Body::Call(call) = body else { continue };
        if !is_shell(call) {
            continue;
        }
        let read = with_object(cx, &call.arguments, &mut buffers, |root| serde_json::from_slice(root.raw()));
        if let Some(Ok(arguments)) = read {
            see(&Seen { place: *place, call, arguments: &arguments, cx });
        }
    }
}

/// The value in the arguments that an error is about.
pub(crate) fn value_of<'a>(
    root: Value<'a, 'a>,
    index: &Index<'a>,
    error: &ValidationError<'_>,
) -> Option<Value<'a, 'a>> {
    error.instance_path().iter().try_fold(root, |at, segment| match segment {
        LocationSegment::Property(key) => index.get(at, &key),
        LocationSegment::Index(number) => index.nth(at, number),
    })
}

/// Returns the place in the file of a value inside the arguments, or of its key if the flag is set.
pub(crate) type Locate<'l> = dyn Fn(Value<'_, '_>, bool) -> Place + 'l;

/// Returns the place in the file of a span of a value inside the arguments.
type PlaceOf<'p> = dyn Fn(Value<'_, '_>, Span) -> Place + 'p;

/// Calls `see` with the arguments and a function that locates values in them. If they are JSON in a string, they are
/// read as a separate document, and each span is mapped back through the escapes.
pub(crate) fn with_places<R>(
    cx: &Context<'_, '_>,
    arguments: &Arguments<'_>,
    see: impl FnOnce(Value<'_, '_>, &Locate<'_>) -> R,
) -> Option<R> {
    with_spans(cx, arguments, |root, place| {
        see(root, &|at, of_key| {
            let key = if of_key { at.key_span() } else { None };
            place(at, key.unwrap_or(at.span()))
        })
    })
}

/// Like [`with_places`], for any span of a value.
fn with_spans<R>(
    cx: &Context<'_, '_>,
    arguments: &Arguments<'_>,
    see: impl FnOnce(Value<'_, '_>, &PlaceOf<'_>) -> R,
) -> Option<R> {
    match *arguments {
        Arguments::Object(place) => {
            Some(see(cx.document.value(place.node), &|at, span| Place { node: at.id(), span }))
        }
        Arguments::Text(text, place) => {
            let decoded = Decoded::new(text, place.span.start);
            let document = Document::read(decoded.text().as_bytes());
            let locate = |_: Value<'_, '_>, span: Span| match cx.is_assembled {
                // They are nowhere in the file as they are.
                true => place,
                false => Place { node: place.node, span: decoded.span_of(span.range()) },
            };
            Some(see(document.root(), &locate))
        }
        Arguments::Missing | Arguments::Null(_) | Arguments::Other(_) => None,
    }
}

/// Rewrites whole numbers as integers: many languages don't distinguish `1.0` from `1`.
fn spell_numbers_alike(value: &mut Json) {
    match value {
        Json::Number(number) => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < EXACT);
            if let Some(whole) = whole {
                *value = Json::from(whole as i64);
            }
        }
        Json::Array(elements) => elements.iter_mut().for_each(spell_numbers_alike),
        Json::Object(members) => members.values_mut().for_each(spell_numbers_alike),
        _ => {}
    }
}

/// Below this, every integer is exactly representable as a floating-point number.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The hash of a call's arguments, regardless of how they are written.
pub(crate) fn hash<'s>(arguments: &Arguments<'s>, document: &Document<'s>) -> u64 {
    hash_of_json(&arguments.json(document))
}

/// The hash of a JSON text, regardless of whitespace and the order of keys. An empty text counts as `{}`.
pub(crate) fn hash_of_json(text: &[u8]) -> u64 {
    match serde_json::from_slice::<Json>(text) {
        Ok(Json::Null) => hash_of("{}"),
        Ok(mut value) => {
            spell_numbers_alike(&mut value);
            hash_of(value.to_string())
        }
        Err(_) if text.trim_ascii().is_empty() => hash_of("{}"),
        Err(_) => hash_of(text),
    }
}

/// A hash that stands for a value: two values with the same one would be taken for one.
pub(crate) fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Whether a call has no arguments because the client has cleared it, with its result, to save room.
pub(crate) fn is_cleared(cx: &Context<'_, '_>, part: usize) -> bool {
    let answer = || cx.pairing.answer_of(cx.pairing.call_at(part)?);
    let is_empty = |call: &Call<'_>| call.arguments.json(cx.document).trim_ascii() == b"{}";
    cx.transcript.parts[part].call().is_some_and(is_empty)
        && answer().is_some_and(|site| site.result.is_cleared())
}
