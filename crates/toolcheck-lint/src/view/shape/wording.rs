//! What findings about the shape say.

use toolcheck_core::shape::{Action, Condition, Detail, JsonType, Kind, ShapeFault, ShapeFaultKind};
use toolcheck_core::text::shorten;
use toolcheck_json::Document;

use super::Refused;

pub(super) struct Wording {
    pub(super) message: String,
    pub(super) caption: &'static str,
    pub(super) help: Option<String>,
}

impl Wording {
    pub(super) fn of(document: &Document<'_>, refused: &Refused<'_>) -> Self {
        let fault = &refused.fault;
        let mut wording = match &fault.detail {
            _ if refused.is_all_unknown() => Self {
                message: format!("none of the keys of {} is known", noun(document, refused)),
                caption: "unknown keys",
                help: fault.object_example().map(|example| format!("write it as {example}")),
            },
            _ if fault.kind == ShapeFaultKind::Missing => missing(document, refused),
            Detail::None if fault.kind == ShapeFaultKind::Unknown => unknown(document, fault),
            Detail::Types { expected, got } => wrong_type(document, fault, expected, *got),
            Detail::Other { key, values } => conflict(fault, key, values),
            _ => invalid(document, fault),
        };
        let times = refused.times;
        let is_counted = refused.is_all_unknown() && fault.object_kind().is_some();
        if times > 1 && fault.kind != ShapeFaultKind::Missing && !is_counted {
            wording.message.push_str(&format!(" (in {times} places)"));
        }
        if let Some(other) = refused.unknown.iter().find(|other| other.means.is_some()) {
            let means = other.means.as_deref().unwrap_or_default();
            wording.help = Some(format!("rename `{}` to `{means}`", shorten(&other.key)));
        }
        if let Some(means) = &refused.means {
            wording.help = Some(format!("rename `{}` to `{means}`", shorten(&fault.key)));
        }
        // Nothing would be left.
        let is_removal = |help: &str| refused.is_all_unknown() && Action::of(help) == Some(Action::Remove);
        if let Some(help) = refused.help.as_ref().filter(|help| !is_removal(help)) {
            let there = match Action::of(help) {
                Some(Action::Rename(there)) if fault.is_of_known_key() => there,
                _ => None,
            };
            let there = there.filter(|key| document.value(fault.object_node()).get(key).is_some());
            let both = there.map(|there| format!("remove it: `{there}` is there too"));
            wording.help = both.or_else(|| Some(help.clone().into_owned()));
        }
        if let Some(help) = fault.instead(document) {
            wording.help = Some(help.to_owned());
        }
        if let Some(form) = fault.own_form(document).filter(|_| refused.is_all_unknown()) {
            wording.help = Some(format!("write it as {form}"));
        }
        wording
    }
}

/// What the object is that has a fault: "tool `search`", "this message", "`source`".
fn noun(document: &Document<'_>, refused: &Refused<'_>) -> String {
    let fault = &refused.fault;
    let times = refused.times;
    if let Some(noun) = fault.noun() {
        return match fault.parent_key() {
            (Some(key), false) if fault.is_entry() => format!("{noun} `{}`", shorten(key)),
            _ if times > 1 => format!("{times} {}", plural(noun)),
            (Some(key), false) => format!("`{}`", shorten(key)),
            _ => format!("this {noun}"),
        };
    }
    match fault.object_kind() {
        Some(Kind::Request) => "the request".to_owned(),
        Some(kind) if times > 1 => format!("{times} {}", plural(kind.name())),
        Some(kind) => match fault.name(document).filter(|_| matches!(kind, Kind::Tool | Kind::ToolCall)) {
            Some(name) => format!("{} `{}`", kind.name(), shorten(&name)),
            None => format!("this {}", kind.name()),
        },
        None if fault.is_of_request() => "the request".to_owned(),
        None => match fault.parent_key() {
            (Some(key), true) => format!("an element of `{}`", shorten(key)),
            (Some(key), false) => format!("`{}`", shorten(key)),
            (None, _) => "this object".to_owned(),
        },
    }
}

fn plural(noun: &str) -> String {
    noun.strip_suffix('y').map_or_else(|| format!("{noun}s"), |stem| format!("{stem}ies"))
}

fn missing(document: &Document<'_>, refused: &Refused<'_>) -> Wording {
    let fault = &refused.fault;
    let times = refused.times;
    let keys: Vec<String> = refused.missing().map(|key| format!("`{}`", shorten(key))).collect();
    let noun = noun(document, refused);
    let is_counted = fault.object_kind().is_some() || fault.noun().is_some() && !fault.is_entry();
    let is = if times > 1 && is_counted { "are" } else { "is" };
    let mut message = format!("{noun} {is} missing {}", listed(&keys, "and"));
    if times > 1 && !is_counted {
        message.push_str(&format!(" (in {times} places)"));
    }
    let example = fault.object_example().filter(|_| !refused.also_missing.is_empty());
    let help = example.map(|example| format!("write it as {example}"));
    Wording { message, caption: "missing here", help: help.or_else(|| fault.advice(document)) }
}

fn unknown(document: &Document<'_>, fault: &ShapeFault<'_>) -> Wording {
    let key = shorten(&fault.key).into_owned();
    let (message, caption) = match fault.is_of_known_key() {
        true => (format!("key `{key}` is not allowed here"), "not allowed"),
        false => (format!("unknown key `{key}`"), "not a known key"),
    };
    Wording { message, caption, help: fault.advice(document) }
}

fn wrong_type(
    document: &Document<'_>,
    fault: &ShapeFault<'_>,
    expected: &[JsonType],
    got: JsonType,
) -> Wording {
    let key = shorten(&fault.key).into_owned();
    let one = match (key.strip_suffix("[]"), key.strip_suffix("{}")) {
        (Some(list), _) => format!("an element of `{list}`"),
        (_, Some(map)) => match (fault.part_noun(), document.value(fault.node()).key_text()) {
            (Some(noun), Some(name)) => format!("{noun} `{}`", shorten(&name)),
            _ => format!("a value in `{map}`"),
        },
        _ => format!("`{key}`"),
    };
    // `null` is worth a word only where nothing else is allowed.
    let is_wanted = |wanted: &&JsonType| **wanted != JsonType::Null || expected.len() == 1;
    let wanted = expected.iter().filter(is_wanted);
    let words: Vec<String> = wanted.map(|wanted| wanted.with_article().to_owned()).collect();
    let message = format!("{one} is {}, but it must be {}", got.with_article(), listed(&words, "or"));
    Wording { message, caption: got.with_article(), help: fault.advice(document) }
}

fn invalid(document: &Document<'_>, fault: &ShapeFault<'_>) -> Wording {
    let key = shorten(&fault.key).into_owned();
    let (message, caption, help): (String, &'static str, Option<String>) = match (fault.kind, &fault.detail) {
        (_, Detail::Values { got, .. }) => {
            let others = fault.among().and_then(|pointer| pointer.strip_prefix('/')?.split_once("/*/"));
            let what = match (got.as_str(), others) {
                ("", _) => format!("the value of `{key}` is not allowed"),
                (got, Some((list, other))) => {
                    format!("`{got}` does not match any `{}` in `{list}`", other.replace("/*/", "[]."))
                }
                (got, None) => format!("`{got}` is not an allowed value of `{key}`"),
            };
            (what, "not allowed", fault.advice(document))
        }
        (_, Detail::Pattern { pattern, got }) => {
            let what = match got.as_str() {
                "" => format!("`{key}` has an invalid value"),
                got => format!("`{got}` is not allowed in `{}`", key.trim_end_matches("{}")),
            };
            (what, "does not match", Some(format!("it must match the pattern {pattern}")))
        }
        (kind, Detail::Limit { min, max, got, is_low }) => {
            let limit = match (is_low, min, max) {
                (_, Some(only), Some(max)) if only == max && kind == ShapeFaultKind::Range => {
                    format!("only {only} is accepted")
                }
                (true, Some(min), _) => format!("the minimum is {min}"),
                (_, _, Some(max)) => format!("the maximum is {max}"),
                _ => "that is out of range".to_owned(),
            };
            let (verb, unit) = match kind {
                ShapeFaultKind::Length => ("has", if got == "1" { " character" } else { " characters" }),
                ShapeFaultKind::Items => ("has", if got == "1" { " element" } else { " elements" }),
                _ => ("is", ""),
            };
            (format!("`{key}` {verb} {got}{unit}, but {limit}"), "out of range", None)
        }
        (ShapeFaultKind::Base64, _) => (
            format!("`{key}` is not Base64"),
            "not Base64",
            Some("send the data alone, in Base64, without a `data:` prefix".to_owned()),
        ),
        (ShapeFaultKind::Unique, Detail::Value { got }) => (
            format!("two elements have the same `{key}`: `{got}`"),
            "the second",
            Some("use different names".to_owned()),
        ),
        (ShapeFaultKind::Names, Detail::Value { got }) => match fault.lists_all() {
            Some(of) => (
                format!("`{key}` must list every key of `{of}`, but `{got}` is not listed"),
                "incomplete",
                fault
                    .advice(document)
                    .or_else(|| Some(format!("add `{got}`, and allow `null` for it if it is optional"))),
            ),
            None => (
                format!("`{key}` lists `{got}`, which is not declared"),
                "not declared",
                Some("declare it, or remove it from the list".to_owned()),
            ),
        },
        (_, Detail::Union { of, count }) => {
            let keys: Vec<String> = of.iter().take(MOST_KEYS).map(|key| format!("`{key}`")).collect();
            let object =
                fault.parent_key().0.map_or("this object".to_owned(), |key| format!("`{}`", shorten(key)));
            let what = match count {
                0 => format!("{object} has none of the keys that define its kind"),
                _ => format!("{object} has {count} keys of which only one is allowed"),
            };
            (what, "this object", Some(format!("use exactly one of {}", keys.join(", "))))
        }
        _ => (format!("invalid `{key}`"), "invalid", None),
    };
    Wording { message, caption, help }
}

/// A key that something else in the request forbids.
fn conflict(fault: &ShapeFault<'_>, other: &str, values: &[&str]) -> Wording {
    let key = shorten(&fault.key).into_owned();
    let other = other.trim_start_matches('/').replace("/*", "").replace('/', ".");
    let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    let values = listed(&values, "or");
    let (message, help) = match fault.condition() {
        Some(Condition::Needs) => (
            format!("`{key}` needs `{other}`, which is missing"),
            format!("add `{other}`, or remove `{key}`"),
        ),
        Some(Condition::Excludes) => {
            (format!("`{key}` and `{other}` exclude each other"), format!("remove `{key}` or `{other}`"))
        }
        Some(Condition::OnlyIf) => (
            format!("`{key}` is allowed only if `{other}` is {values}"),
            format!("remove `{key}`, or change `{other}`"),
        ),
        Some(Condition::NotIf) => (
            format!("`{key}` is not allowed if `{other}` is {values}"),
            format!("remove `{key}`, or change `{other}`"),
        ),
        Some(Condition::LessThan) => {
            (format!("`{key}` must be less than `{other}`"), format!("lower `{key}`, or raise `{other}`"))
        }
        Some(Condition::NotAfter) => (
            match values.is_empty() {
                true => format!("`{key}` is not allowed after an element with `{other}`"),
                false => format!("`{key}` is not allowed after an element whose `{other}` is {values}"),
            },
            "move it, or put something else between the two".to_owned(),
        ),
        _ => (format!("`{key}` is not allowed here"), format!("remove `{key}`")),
    };
    Wording { message, caption: "this key", help: Some(help) }
}

const MOST_KEYS: usize = 12;

/// Words with a comma between them, and another word before the last.
fn listed(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., end] => format!("{} {last} {end}", others.join(", ")),
    }
}
