//! The objects of a request, by the names that targets use for them.

use crate::finding::Draft;
use toolcheck_core::ir::{Body, Message, Part, ToolKind};
use toolcheck_json::Value;

use crate::rule::Context;

/// An object of a request, and its position.
pub(crate) struct Object<'n, 'c, 's> {
    /// Its name in targets.
    pub(crate) name: &'n str,
    pub(crate) value: Value<'c, 's>,
    message: Option<(usize, &'c Message<'s>)>,
    part: Option<&'c Part<'s>>,
    tool: Option<usize>,
}

impl Object<'_, '_, '_> {
    /// The kind of object, as a case of a rule.
    pub(crate) fn kind(&self) -> &'static str {
        match self.name.split('.').next() {
            Some("body") => "body",
            Some("call") => "call",
            Some("reasoning") => "reasoning",
            Some("tool") => "tool",
            _ => "message",
        }
    }

    /// The number of the message that it is or is part of.
    pub(crate) fn message_number(&self) -> Option<usize> {
        self.message.map(|(number, _)| number)
    }

    /// Sets the numbers that the provider would print in a finding.
    pub(crate) fn number(&self, cx: &Context<'_, '_>, finding: &mut Draft) {
        if let Some((number, message)) = self.message {
            finding.at(cx, (number, message, self.part)).value("role", message.role_text());
        }
        if let Some(tool) = self.tool {
            finding.value("index", tool);
        }
    }
}

/// Calls `see` with every object that has one of the names: `body`, `call`, `reasoning`, `tool`, or `message.` and a
/// role, optionally followed by the keys that lead to an object inside it, such as `call.function`.
pub(crate) fn visit<'n, 'c, 's>(
    cx: &Context<'c, 's>,
    names: impl IntoIterator<Item = &'n String>,
    mut see: impl FnMut(&Object<'n, 'c, 's>),
) {
    let names: Vec<Name<'n>> = names.into_iter().map(|name| Name::new(name)).collect();
    let mut look = |root: Root<'_>, node, message, part, tool| {
        for name in names.iter().filter(|name| name.root == root) {
            let object = cx.document.value(node);
            let below = name.path.iter().try_fold(object, |object, key| object.get(key));
            if let Some(value) = below.filter(|below| name.path.is_empty() || below.is_object()) {
                see(&Object { name: name.whole, value, message, part, tool });
            }
        }
    };
    if cx.transcript.is_body {
        look(Root::Named("body"), cx.transcript.place.node, None, None, None);
    }
    // Messages and parts are skipped if no name needs them.
    let of_messages = names.iter().any(|name| matches!(name.root, Root::Message(_)));
    let of_parts = names.iter().any(|name| matches!(name.root, Root::Named("call" | "reasoning")));
    let messages = cx.transcript.messages_with_parts().enumerate();
    for (number, (message, parts)) in messages.filter(|_| of_messages || of_parts) {
        let role = message.role_name.as_ref().map_or("", |role| &*role.text);
        look(Root::Message(role), message.place.node, Some((number, message)), None, None);
        for part in parts.iter().filter(|_| of_parts) {
            let kind = match &part.body {
                // The legacy form has other keys.
                Body::Call(call) if call.kind != ToolKind::LegacyFunction => "call",
                Body::Reasoning(_) => "reasoning",
                _ => continue,
            };
            look(Root::Named(kind), part.place.node, Some((number, message)), Some(part), None);
        }
    }
    for (number, tool) in cx.transcript.request.tools.listed().iter().enumerate() {
        look(Root::Named("tool"), tool.place.node, None, None, Some(number));
    }
}

/// The parsed name of a kind of object.
struct Name<'n> {
    whole: &'n str,
    root: Root<'n>,
    path: Vec<&'n str>,
}

#[derive(PartialEq, Eq)]
enum Root<'n> {
    Message(&'n str),
    Named(&'n str),
}

impl<'n> Name<'n> {
    fn new(whole: &'n str) -> Self {
        let mut keys = whole.split('.');
        let root = match keys.next().unwrap_or_default() {
            "message" => Root::Message(keys.next().unwrap_or_default()),
            root => Root::Named(root),
        };
        Self { whole, root, path: keys.collect() }
    }
}
