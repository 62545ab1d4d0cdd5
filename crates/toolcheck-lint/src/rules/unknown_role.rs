use std::cell::LazyCell;

use foldhash::HashMap;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::formats;
use toolcheck_core::ir::{Body, Content, Executor, Message, Named, Part, Place, Role};
use toolcheck_core::shape::{Answer, is_near};
use toolcheck_core::targets::Verdict;
use toolcheck_core::text::shorten;
use toolcheck_json::{NodeId, Value};

use super::empty_content::{is_no_message, lifted};
use crate::rule::{Context, Sink, declare_rule};
use crate::view::roles::{RESULTS, allowed, as_result, names_call};
use crate::view::shape;

declare_rule! {
    UnknownRole in Fields, since "0.1.0", warning on wire reports shape, check,
    values MESSAGE, ROLE
}

/// Whether roles that the target does not know are reported.
pub(super) fn is_reported(cx: &Context<'_, '_>) -> bool {
    match cx.entry(&RULE, None) {
        Verdict::Unknown => cx.policy.is_none(),
        known => known.is_harmful(),
    }
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    let allowed = allowed(cx);
    // Roles that differ only in their case are meant, unless the message list has others beside them: an API of its own.
    let is_same = |known: &str, name: &str| known.eq_ignore_ascii_case(name);
    let knows = |name: &str| allowed.is_some_and(|allowed| allowed.iter().any(|role| is_same(role, name)));
    let is_meant = LazyCell::new(|| {
        let unknown = cx.transcript.messages.iter().filter(|message| is_none_of(allowed, message));
        unknown.filter(|message| message.role == Role::Unknown).all(|message| {
            let name = message.role_name.as_ref().map(|name| &*name.text);
            let is_meant = |name| {
                knows(name) || cx.known_shape().is_some_and(|shape| shape.meant_value("role", name).is_some())
            };
            name.is_some_and(is_meant) || by_content(cx, message).is_some()
        })
    });
    let mut faults: Vec<Fault> = Vec::new();
    // The last fault of each role, and of what is to be done about it.
    let mut of_role: HashMap<(&str, String), usize> = HashMap::default();
    for (number, message) in cx.transcript.messages.iter().enumerate() {
        if is_no_message(cx, message) {
            continue;
        }
        if !is_none_of(allowed, message) {
            if message.role == Role::System {
                system_message(cx, number, message, out);
            }
            continue;
        }
        let meant = match &message.role_name {
            Some(name) => of_name(cx, message, name, &|| *is_meant),
            None => of_nameless(cx, message).map(|(help, fix)| (help, Some(fix))),
        };
        let (help, fix) = meant.unwrap_or_else(|| {
            let help = match allowed {
                // The role of results, as this target calls it.
                Some(allowed) if message.role == Role::Tool && allowed.iter().any(|role| role == "tool") => {
                    "use the role `tool`, with the id of the call".to_owned()
                }
                Some(allowed) => format!("use one of `{}`", allowed.join("`, `")),
                None => "use a role that the API defines".to_owned(),
            };
            (help, None)
        });
        let instead = || as_user(cx, message).or_else(|| shape::translated(cx, message.place.node, None));
        let fix = fix.or_else(instead);
        let place = message.role_name.as_ref().map_or(message.place, |name| name.place);
        let name = message.role_name.as_ref().map(|name| &*name.text);
        let known = name.map(|name| of_role.entry((name, help.clone())).or_insert(usize::MAX));
        if let Some(known) = known {
            if faults.get_mut(*known).is_some_and(|first| first.is_also_at(place, fix.as_ref())) {
                continue;
            }
            *known = faults.len();
        }
        faults.push(Fault { number, place, help, fix, others: Vec::new() });
    }
    faults.into_iter().for_each(|fault| fault.report(cx, out));
}

/// A message with a role that the target does not know.
struct Fault {
    number: usize,
    place: Place,
    help: String,
    fix: Option<Fix>,
    /// Where else the same role is.
    others: Vec<Place>,
}

impl Fault {
    /// Adds another message with the same role, if one fix can change both.
    fn is_also_at(&mut self, place: Place, fix: Option<&Fix>) -> bool {
        let writes = |fix: &Fix| fix.changes.iter().all(|change| matches!(change, Change::Write(..)));
        match (&self.fix, fix) {
            (None, None) => {}
            (Some(own), Some(other)) if own.cost == other.cost && writes(own) && writes(other) => {
                let Some(both) = own.clone().and(other.clone()) else { return false };
                self.fix = Some(both);
            }
            _ => return false,
        }
        self.others.push(place);
        true
    }

    fn report(self, cx: &Context<'_, '_>, out: &mut Sink<'_>) {
        let message = &cx.transcript.messages[self.number];
        let mut text = match &message.role_name {
            Some(name) => format!("unknown role `{}`", shorten(&name.text)),
            None => "the message has no role".to_owned(),
        };
        if !self.others.is_empty() {
            text.push_str(&format!(" (in {} places)", self.others.len() + 1));
        }
        let finding = out.report(self.place, text);
        finding.caption("not a known role").help(self.help).at(cx, (self.number, message)).fix(self.fix);
        if let Some(name) = &message.role_name {
            finding.value("role", shorten(&name.text)).case_if(name.text == RESULTS, TOOL);
        }
        self.others.into_iter().for_each(|other| finding.and_here(other));
    }
}

/// The role that a message with another one was meant to have, in words, and what gives it that. `is_meant` says that roles
/// which differ only in their case are.
fn of_name(
    cx: &Context<'_, '_>,
    message: &Message<'_>,
    name: &Named<'_>,
    is_meant: &dyn Fn() -> bool,
) -> Option<(String, Option<Fix>)> {
    let allowed = allowed(cx);
    let write = |meant: &str| [Change::Write(name.place.node, format!("\"{meant}\""))];
    if let Some(meant) = by_content(cx, message) {
        return Some((format!("use `{meant}`, which its content belongs to"), Some(Fix::safe(write(meant)))));
    }
    // Where no result is, nor a call to answer, somebody else said it.
    let of_its_place = || {
        let is_half = |part: &Part<'_>| matches!(part.body, Body::Call(_) | Body::Result(_));
        let is_other = matches!(message.role, Role::Tool | Role::Unknown);
        let is_free = is_other && !cx.transcript.parts_of(message).iter().any(is_half);
        let meant = by_place(cx, message).filter(|_| is_free)?;
        let meant = allowed?.iter().find(|role| meant.contains(&role.as_str()))?;
        Some(Fix::guess(of_place(meant), write(meant)))
    };
    let shape = cx.known_shape();
    let text = name.text.trim();
    if let Some(instead) = shape.and_then(|shape| shape.instead_of_value("role", text)) {
        let meant = shape.and_then(|shape| shape.meant_value("role", text));
        let is_allowed =
            |meant: &&str| allowed.is_none_or(|allowed| allowed.iter().any(|role| *role == **meant));
        let meant = meant.filter(|_| message.role == Role::Unknown).filter(is_allowed);
        let fix = meant.map(|meant| Fix::safe(write(meant)));
        return Some((instead, fix.or_else(of_its_place)));
    }
    let guess =
        |meant: &str| Fix::guess(format!("assumes that the role was meant to be `{meant}`"), write(meant));
    let is_own = |role: &&String| role.eq_ignore_ascii_case(&name.text);
    if let Some(meant) = allowed?.iter().find(is_own) {
        let fix = if is_meant() { Fix::safe(write(meant)) } else { guess(meant) };
        return Some((format!("use `{meant}`"), Some(fix)));
    }
    let Some(near) = allowed?.iter().find(|role| is_near(role, text)) else {
        return Some((
            format!("use one of `{}`", allowed?.join("`, `")),
            Some(of_its_place().filter(|_| message.role == Role::Unknown)?),
        ));
    };
    let fix = match near.eq_ignore_ascii_case(text) {
        true => Fix::safe(write(near)),
        false => guess(near),
    };
    Some((format!("did you mean `{near}`?"), Some(fix)))
}

/// What gives a message the role that it has none: one that is there under a key which no message has, or the one that its
/// content shows.
fn of_nameless(cx: &Context<'_, '_>, message: &Message<'_>) -> Option<(String, Fix)> {
    let allowed = allowed(cx)?;
    let object = cx.document.value(message.place.node);
    let own = object.get("role");
    let is_role = |member: &Value<'_, '_>| {
        let key = member.key_text().unwrap_or_default();
        let is_other = !cx.known_shape().is_some_and(|shape| shape.has_in_messages(&key));
        is_other && member.as_str().is_some_and(|text| allowed.iter().any(|role| *role == text))
    };
    if let (None, Some(member)) = (own, object.members().take(MOST_KEYS).find(is_role)) {
        let key = member.key_text().unwrap_or_default();
        let fix = Fix::safe([Change::Rename(member.id(), "role".to_owned())]);
        return Some((format!("rename `{}` to `role`", shorten(&key)), fix));
    }
    if let Some(fix) = lifted(cx, message) {
        return Some(("write the message itself, without what is around it".to_owned(), fix));
    }
    let change = |meant: &str| {
        let json = format!("\"{meant}\"");
        [own.map_or_else(
            || Change::Add(object.id(), "role".to_owned(), json.clone()),
            |own| Change::Write(own.id(), json.clone()),
        )]
    };
    if let Some(meant) = by_content(cx, message) {
        return Some((format!("use `{meant}`, which its content belongs to"), Fix::safe(change(meant))));
    }
    let meant = by_place(cx, message).filter(|_| message.content == Content::Filled)?;
    let meant = allowed.iter().find(|role| meant.contains(&role.as_str()))?;
    let help = format!("use one of `{}`", allowed.join("`, `"));
    Some((help, Fix::guess(of_place(meant), change(meant))))
}

/// What it is a guess that a message has a role.
fn of_place(meant: &str) -> String {
    format!("assumes that the message has the role `{meant}`, because of those around it")
}

/// The role that a message has if the user and the model take turns.
fn by_place(cx: &Context<'_, '_>, message: &Message<'_>) -> Option<&'static [&'static str]> {
    let messages = &cx.transcript.messages;
    let number = messages.partition_point(|other| other.place.node < message.place.node);
    let is_said = |other: &&Message<'_>| other.role != Role::System;
    let before = messages[..number].iter().rfind(is_said).map(|before| before.role);
    let after = messages.get(number + 1..)?.iter().find(is_said).map(|after| after.role);
    match (before, after) {
        (None, _) | (Some(Role::Assistant), None | Some(Role::Assistant)) => Some(&["user"]),
        (Some(Role::User | Role::Tool), None | Some(Role::User)) => Some(&["assistant", "model"]),
        _ => None,
    }
}

/// The most keys of a message that are looked at for its role.
const MOST_KEYS: usize = 64;

/// The role that the content of a message shows: only one may have calls, and only one results.
fn by_content<'c>(cx: &Context<'c, '_>, message: &Message<'_>) -> Option<&'c str> {
    let allowed = allowed(cx).filter(|_| is_unknown(cx, message))?;
    let parts = cx.transcript.parts_of(message);
    let has = |is: fn(&Body<'_>) -> bool| parts.iter().any(|part| is(&part.body));
    let has_calls = has(|body| matches!(body, Body::Call(_)));
    let has_results = has(|body| matches!(body, Body::Result(result) if result.executor == Executor::Client));
    let repair = formats::find(cx.transcript.format?.id)?.fix_style;
    // What is known to be a result may be the answer to a call without an id.
    let is_result =
        names_call(cx, message.place.node).is_some() || has_results && message.role == Role::Unknown;
    let roles: &[&str] = match (has_calls, is_result) {
        (true, false) => &["assistant", "model"],
        (false, true) if repair.blocks.is_some() => &["user"],
        (false, true) => &["tool"],
        _ => return None,
    };
    roles.iter().find_map(|role| allowed.iter().find(|known| known == role)).map(String::as_str)
}

/// The roles of instructions in other APIs.
const OF_SYSTEM: [&str; 2] = ["system", "developer"];

/// The case of a message with that role.
const TOOL: &str = "tool";

/// What the target answers to a message for its role, if that is known of the role of results: then it is looked at
/// before the keys.
pub(super) fn answer_to_results(cx: &Context<'_, '_>, node: NodeId) -> Option<Answer> {
    let message = cx.transcript.messages.iter().find(|message| message.place.node == node)?;
    let role = message.role_name.as_ref().filter(|role| role.text == RESULTS && is_unknown(cx, message))?;
    let Verdict::Refused(refusal) = cx.entry(&RULE, Some(TOOL)) else { return None };
    Some(refusal.answer(&[("role", shorten(&role.text).into_owned())]))
}

/// The case of a system message that the API accepts but the model does not.
pub(super) const SYSTEM: &str = "system";

/// A system message among the others, where the target says which models accept it.
fn system_message(cx: &Context<'_, '_>, number: usize, message: &Message<'_>, out: &mut Sink<'_>) {
    // A target's entry for the whole rule is about roles that the API does not know.
    if !cx.entry(&RULE, Some(SYSTEM)).is_harmful() {
        return;
    }
    let Some(name) = &message.role_name else { return };
    let instead = cx.known_shape().and_then(|shape| shape.instead_of_value("role", &name.text));
    let instead = instead
        .unwrap_or_else(|| "move it to the field of the request that holds the system prompt".to_owned());
    let message_text = format!("the model doesn't support messages with the role `{}`", shorten(&name.text));
    let finding = out.report(name.place, message_text);
    finding
        .caption("not supported by this model")
        .help(format!("{instead}, or use a model that supports the role"))
        .case(SYSTEM)
        .at(cx, (number, message))
        .value("role", shorten(&name.text));
    finding.fix(as_user(cx, message));
}

/// A system message as one of the user, in its place.
pub(super) fn as_user(cx: &Context<'_, '_>, message: &Message<'_>) -> Option<Fix> {
    if let Some(fix) = as_result(cx, message.place.node) {
        return Some(fix);
    }
    let is_system = |name: &str| message.role == Role::System || OF_SYSTEM.contains(&name);
    let name = message.role_name.as_ref().filter(|name| is_system(&name.text))?;
    let is_known = |role: &str| allowed(cx).is_none_or(|allowed| allowed.iter().any(|known| known == role));
    let write = |role: &str| [Change::Write(name.place.node, format!("\"{role}\""))];
    let is_refused = || cx.entry(&RULE, Some(SYSTEM)).is_refused();
    if is_none_of(allowed(cx), message) && is_known("system") && !is_refused() {
        return Some(Fix::safe(write("system")));
    }
    let guess = "the model reads instructions as words of the user";
    shape::in_own_field(cx, message, name)
        .or_else(|| is_known("user").then(|| Fix::guess(guess, write("user"))))
}

/// Whether the target does not know the role of a message.
pub(super) fn is_unknown(cx: &Context<'_, '_>, message: &Message<'_>) -> bool {
    is_none_of(allowed(cx), message)
}

fn is_none_of(allowed: Option<&Vec<String>>, message: &Message<'_>) -> bool {
    match (&message.role_name, allowed) {
        (Some(name), Some(allowed)) => !allowed.iter().any(|role| *role == name.text),
        _ => message.role == Role::Unknown,
    }
}
