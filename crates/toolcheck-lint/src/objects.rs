//! The objects of a request by the names that targets have for them.

use toolcheck_core::ir::Body;
use toolcheck_json::Value;

use crate::rule::Context;

/// Shows `see` every object that one of the names is of: `body`, `call`, `reasoning`, `tool`, `message.` and a role, and behind that
/// the keys that lead to what stands below, such as `call.function`.
pub(crate) fn visit<'n>(
    cx: &Context<'_, '_>,
    names: impl IntoIterator<Item = &'n String>,
    mut see: impl FnMut(&'n str, Value<'_, '_>),
) {
    let names: Vec<Name<'n>> = names.into_iter().map(|name| Name::new(name)).collect();
    let mut look = |root: Root<'_>, node| {
        for name in names.iter().filter(|name| name.root == root) {
            let object = cx.document.value(node);
            let below = name.path.iter().try_fold(object, |object, key| object.get(key));
            if let Some(below) = below.filter(|below| name.path.is_empty() || below.is_object()) {
                see(name.whole, below);
            }
        }
    };
    if cx.transcript.is_body {
        look(Root::Named("body"), cx.transcript.place.node);
    }
    for (message, parts) in cx.transcript.messages_with_parts() {
        let role = message.role_name.as_ref().map_or("", |role| &*role.text);
        look(Root::Message(role), message.place.node);
        for part in parts {
            match part.body {
                Body::Call(_) => look(Root::Named("call"), part.place.node),
                Body::Reasoning(_) => look(Root::Named("reasoning"), part.place.node),
                _ => {}
            }
        }
    }
    for tool in cx.transcript.tools.iter().flatten() {
        look(Root::Named("tool"), tool.place.node);
    }
}

/// The name of a kind of object.
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
