//! What is wrong with what an adapter made.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use toolcheck_core::diff::files::{File, Located, compare};
use toolcheck_core::diff::{Kind, Level as Change};
use toolcheck_core::{Format, InputFormat, Level, RuleId, names};
use toolcheck_lint::{Finding, Options, TargetRef, lint, rules};

use super::bodies::{self, BodyKind};
use super::conversation::TestConversation;
use super::reasons;

/// From which format an adapter translates to which one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Translation {
    /// The format of what it gets.
    pub from: &'static Format,
    /// The format of what it makes.
    pub to: &'static Format,
    /// What its requests are linted for; if there is none, it is the target of the format.
    pub target: Option<TargetRef>,
    /// Whether it may name another model, as a gateway does that has names of its own.
    pub renames_model: bool,
}

impl Translation {
    /// From one format to another.
    pub fn new(from: &'static Format, to: &'static Format) -> Self {
        Self { from, to, target: None, renames_model: false }
    }

    /// The same, with requests for a target.
    pub fn with_target(mut self, target: Option<TargetRef>) -> Self {
        self.target = target;
        self
    }

    /// The same, in which the model may have another name.
    pub fn with_renamed_model(mut self) -> Self {
        self.renames_model = true;
        self
    }
}

names! {
    /// How bad a fault is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Gravity {
        /// The model reads something else, or the API puts up with it.
        Weak = "weak",
        /// Something is lost, altered or refused.
        Fail = "fail",
    }
    /// The name in reports.
    as_str
}

names! {
    /// Who has seen a fault.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Origin {
        /// The linter: the class is the id of a rule.
        Lint = "lint",
        /// The comparison: the class is the id of a kind of change.
        Diff = "diff",
        /// The adapter itself, which answered with an error, nothing or nonsense.
        Adapter = "adapter",
    }
    /// The name in reports.
    as_str
}

/// A fault of an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdapterFault {
    /// Who has seen it.
    pub origin: Origin,
    /// What sort of fault it is; with the origin, this is what tells two faults apart.
    pub class: String,
    /// How bad it is.
    pub gravity: Gravity,
    /// What is wrong.
    pub message: String,
    /// Where it is, as a JSON Pointer: in the body before for what is gone, and else in the body after.
    pub place: String,
}

/// The class of an answer that is not a body of the format after.
pub(super) const UNREADABLE: &str = "unreadable";

impl AdapterFault {
    pub(super) fn of_adapter(class: &str, message: String) -> Self {
        Self {
            origin: Origin::Adapter,
            class: class.to_owned(),
            gravity: Gravity::Fail,
            message,
            place: String::new(),
        }
    }

    pub(super) fn of_comparison(class: &str, message: String) -> Self {
        Self { origin: Origin::Diff, ..Self::of_adapter(class, message) }
    }

    /// Whether it is the same fault as another one.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.origin, &self.class, self.gravity) == (other.origin, &other.class, other.gravity)
    }
}

/// A body as the linter and the comparison read it: a response with a request before it, which is no matter of the
/// adapter's.
fn text(conversation: &TestConversation, kind: BodyKind, format: &Format, body: &Json) -> Vec<u8> {
    match kind {
        BodyKind::Request => body.to_string(),
        BodyKind::Response | BodyKind::Stream => {
            json!({"request": bodies::question(conversation, format), "response": body}).to_string()
        }
    }
    .into_bytes()
}

fn place_in_body(pointer: &str, kind: BodyKind) -> String {
    let own = if kind == BodyKind::Request { Some(pointer) } else { pointer.strip_prefix("/response") };
    own.unwrap_or(pointer).to_owned()
}

fn findings(text: &[u8], format: &'static Format, target: Option<&TargetRef>) -> Vec<Finding> {
    let options = Options::new().format(Some(format)).ignored([rules::get(RuleId::AbandonedCall)]);
    let options = match target {
        Some(target) => options.target(Some(target.clone())),
        None => options,
    };
    lint("body.json", text, &options).findings
}

/// Whether a conversation is one that an adapter must be able to translate: its own API takes it, and it can be read.
pub(super) fn is_fair(
    conversation: &TestConversation,
    kind: BodyKind,
    format: &'static Format,
    body: &Json,
) -> bool {
    let text = text(conversation, kind, format, body);
    let read = File::read(&text, Some(InputFormat::Wire(format)));
    read.is_ok_and(|file| file.unread == 0)
        && findings(&text, format, None).iter().all(|finding| finding.level != Level::Error)
}

/// Lints what an adapter made of a body, and compares both. The worst fault of each class comes once.
pub(super) fn faults(
    conversation: &TestConversation,
    kind: BodyKind,
    translation: &Translation,
    before: &Json,
    after: &Json,
) -> Vec<AdapterFault> {
    let is_of_kind = match kind {
        BodyKind::Request | BodyKind::Response => after.is_object(),
        // A stream without events says nothing.
        BodyKind::Stream => {
            after.as_array().is_some_and(|events| !events.is_empty() && events.iter().all(Json::is_object))
        }
    };
    if !is_of_kind {
        return vec![AdapterFault::of_adapter(
            UNREADABLE,
            format!("it is not a {} of {}", kind.as_str(), translation.to.id),
        )];
    }
    let texts =
        [text(conversation, kind, translation.from, before), text(conversation, kind, translation.to, after)];
    let read = |text, format| File::read(text, Some(InputFormat::Wire(format)));
    let mut found = Vec::new();
    match (read(&texts[0], translation.from), read(&texts[1], translation.to)) {
        (_, Err(error)) => {
            let what = format!("it is not a {} of {}: {error}", kind.as_str(), translation.to.id);
            return vec![AdapterFault::of_adapter(UNREADABLE, what)];
        }
        (_, Ok(after)) if after.unread > 0 && kind != BodyKind::Request => {
            return vec![AdapterFault::of_adapter(
                UNREADABLE,
                format!("it is not a {} of {}", kind.as_str(), translation.to.id),
            )];
        }
        (Err(_), _) => {}
        (Ok(before), Ok(after)) => {
            found = changes(conversation, kind, translation, &before, &after);
        }
    }
    found.extend(reasons::fault(conversation, kind, translation, after));
    let own = findings(&texts[0], translation.from, None);
    for finding in findings(&texts[1], translation.to, translation.target.as_ref()) {
        let gravity = match finding.level {
            Level::Error => Gravity::Fail,
            Level::Warning => Gravity::Weak,
        };
        // What is as bad in the conversation itself is not the adapter's.
        if own.iter().any(|own| own.rule == finding.rule && own.level >= finding.level) {
            continue;
        }
        found.push(AdapterFault {
            origin: Origin::Lint,
            class: finding.rule.to_string(),
            gravity,
            message: finding.message.to_string(),
            place: place_in_body(&finding.spot.pointer, kind),
        });
    }
    worst_of_each(found)
}

/// What the comparison finds.
fn changes(
    conversation: &TestConversation,
    kind: BodyKind,
    translation: &Translation,
    before: &File<'_>,
    after: &File<'_>,
) -> Vec<AdapterFault> {
    let mut found = Vec::new();
    for change in compare(before, after, None).changes {
        let gravity = match change.level {
            Change::Loss => Gravity::Fail,
            Change::Change => Gravity::Weak,
            Change::Form => continue,
        };
        if change.kind == Kind::ParameterLost
            && is_lost_by_all(conversation, kind, translation, before, &change)
        {
            continue;
        }
        let is_model = change.kind == Kind::ParameterChanged && change.about == "`model`";
        if is_model && translation.renames_model {
            continue;
        }
        let place = change.before.or(change.after).map(|spot| place_in_body(&spot.pointer, kind));
        found.push(AdapterFault {
            origin: Origin::Diff,
            class: change.kind.id().to_owned(),
            gravity,
            message: said(change.kind.summary(), &change.about.to_string()),
            place: place.unwrap_or_default(),
        });
    }
    found
}

/// Whether the format after has no place for a parameter: then it is not in the conversation as it is written there.
fn is_lost_by_all(
    conversation: &TestConversation,
    kind: BodyKind,
    translation: &Translation,
    before: &File<'_>,
    lost: &Located,
) -> bool {
    let Some(written) = bodies::body(conversation, kind, translation.to) else { return false };
    let text = text(conversation, kind, translation.to, &written);
    File::read(&text, Some(InputFormat::Wire(translation.to))).is_ok_and(|written| {
        let changes = compare(before, &written, None).changes;
        changes.iter().any(|change| (change.kind, &change.about) == (lost.kind, &lost.about))
    })
}

fn said(summary: &str, about: &str) -> String {
    if about.is_empty() { summary.to_owned() } else { format!("{} ({about})", summary.trim_end_matches('.')) }
}

fn worst_of_each(found: Vec<AdapterFault>) -> Vec<AdapterFault> {
    let mut worst: BTreeMap<(Origin, String), AdapterFault> = BTreeMap::new();
    for fault in found {
        let key = (fault.origin, fault.class.clone());
        if worst.get(&key).is_none_or(|known| known.gravity < fault.gravity) {
            worst.insert(key, fault);
        }
    }
    worst.into_values().collect()
}
