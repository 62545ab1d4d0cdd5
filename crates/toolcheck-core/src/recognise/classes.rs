//! What an error is about that no rule finds: the server could not read the model's output, the model does not take a
//! parameter, the key is wrong. As data with its evidence: one TOML file a class, compiled in.

use std::cmp::Reverse;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::beginnings::Cut;
use super::expression::{Expression, Window, literals};
use super::{Extent, LAST, LONGEST_NAME, captured, pattern, similar, windows};
use crate::rule_id::RuleId;
use crate::tables::{ERRORS, Tables};

static ALL: Tables<ErrorClass, { ERRORS.1.len() }> = Tables::new(ERRORS);

/// What errors are about, beside what rules find.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct ErrorClass {
    /// The id in reports. No rule has the same.
    pub id: String,
    /// Its place among all, those of which the words are in errors of others later.
    pub order: u32,
    /// What went wrong: a sentence.
    pub summary: String,
    /// What to do about it: sentences.
    pub help: String,
    /// Whether its words are in errors of other classes too, so that those come first.
    #[serde(default)]
    pub is_general: bool,
    /// Whether the cause is in the request. Otherwise the request may be fine.
    #[serde(default)]
    pub is_in_request: bool,
    /// Whether its errors have the codes of JSON-RPC, which are negative numbers: where there is another, words that errors of
    /// other classes have too do not speak for it.
    #[serde(default)]
    pub is_json_rpc: bool,
    /// The HTTP statuses that say as much where nothing else is known.
    #[serde(default)]
    pub statuses: Vec<u16>,
    /// Words that show an error of the class, as texts with placeholders. Upper and lower case are the same.
    #[serde(default)]
    pub signs: Vec<String>,
    /// Words that say where the error is from, such as the name of a protocol, and not what went wrong: signs that count less than
    /// those of other classes.
    #[serde(default)]
    pub around: Vec<String>,
    /// The rules whose texts are of the class, so that what is said in other words is told by theirs.
    #[serde(default)]
    pub rules: Vec<RuleId>,
    /// The texts that are known.
    #[serde(default, rename = "error")]
    pub errors: Vec<ClassError>,
    /// What some words mean in any text of the class, with forms of them between ` | `. They are signs, too.
    #[serde(default, rename = "hint")]
    pub hints: Vec<ClassError>,
}

impl ErrorClass {
    /// All classes. Where two fit an error equally well, the first is meant.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.all()
    }
}

/// A text of an error that no rule finds. How and where it is known stands in the files only.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct ClassError {
    /// Who prints it, in prose.
    pub from: String,
    /// The text, with placeholders as in a target's file.
    pub text: String,
    /// What it means, where that is more than the class says: sentences.
    pub meaning: Option<String>,
    /// What to do about it, where that is more than the class says: sentences.
    pub help: Option<String>,
    /// The rule that finds the likely cause in a request.
    pub rule: Option<RuleId>,
    /// Of a hint whose words are in errors of any program: others in small letters, of which the text must have one.
    #[serde(default)]
    pub needs: Vec<String>,
}

/// What an error is about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Classified {
    /// The class.
    pub class: &'static ErrorClass,
    /// The other class that it can be, where its words do not say which.
    pub other: Option<&'static ErrorClass>,
    /// The text that is known; `None` where only its words or its status are.
    pub error: Option<&'static ClassError>,
    /// Whether not all of that text was found: its beginning, because it was cut, or most of its words.
    pub is_cut: bool,
    /// The values of the text's placeholders, by name.
    pub captures: Vec<(String, String)>,
}

/// The texts of all classes.
pub(super) fn texts() -> impl Iterator<Item = (&'static ErrorClass, &'static ClassError)> {
    ErrorClass::all().flat_map(|class| class.errors.iter().map(move |error| (class, error)))
}

static TEXTS: LazyLock<Vec<(&'static ErrorClass, &'static ClassError, Expression)>> =
    LazyLock::new(|| texts().map(|(class, own)| (class, own, Expression::of(&own.text, LAST))).collect());

/// The texts of classes that are long enough to be recognised by their beginning.
static CUTS: LazyLock<Vec<(&'static ErrorClass, &'static ClassError, Cut)>> =
    LazyLock::new(|| texts().filter_map(|(class, own)| Some((class, own, Cut::of(&own.text)?))).collect());

/// The share of the votes that the class of a sign needs. The more texts are known, the less each has.
const LEAST: f64 = 0.15;

/// The letters of a hint whose words say enough by themselves.
const SURE: usize = 11;

struct Sign {
    class: &'static ErrorClass,
    hint: Option<&'static ClassError>,
    is_around: bool,
    words: Expression,
}

/// The signs of classes, for an error in small letters, with what they mean.
static SIGNS: LazyLock<Vec<Sign>> = LazyLock::new(|| {
    let of_class = |class: &'static ErrorClass| {
        let of_hint =
            |hint: &'static ClassError| hint.text.split(" | ").map(move |sign| (sign, Some(hint), false));
        let signs = class.signs.iter().map(|sign| (&**sign, None, false));
        let around = class.around.iter().map(|sign| (&**sign, None, true));
        let all = signs.chain(around).chain(class.hints.iter().flat_map(of_hint));
        all.map(move |(sign, hint, is_around)| {
            // A sign is whole words, and what is in its placeholders is short: `mcp` is not in `memcpy`.
            let pattern = format!(r"(?i)(?:^|\b|_){}", pattern(sign, LAST).replace(".*?", ".{0,60}?"));
            let words = Expression::new(pattern, literals(sign).to_lowercase());
            Sign { class, hint, is_around, words }
        })
    };
    ErrorClass::all().flat_map(of_class).collect()
});

/// What Pydantic prints of the request, in which any words may be, and what Codex puts in front of an API's error.
static DUMPS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)input_value=.*?(?:, input_type=|$)|stream disconnected before completion:\s+\b")
        .expect("it is a regular expression")
});

/// A code that is no negative number, which those of JSON-RPC are.
static OTHER_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:[{,]\s*|["'])code["']?\s*:\s*["']?[a-z0-9]"#).expect("it is a regular expression")
});

/// What an error is about whose whole text is known, if that is longer than what is known of a rule's, and not in front
/// of it: then it is its title.
pub(super) fn known(error: &str, of_rule: &Extent) -> Option<Classified> {
    windows(error).find_map(|error| {
        let longer = TEXTS.iter().filter(|(.., own)| own.own > of_rule.own);
        let found = longer.filter_map(|(class, text, own)| {
            let expression = own.found_in(&error)?;
            let is_title = of_rule.own > 0 && expression.find(&error)?.end() <= of_rule.span.start;
            (!is_title).then_some((class, text, own.own, expression))
        });
        // Of several, the first.
        let (class, text, _, expression) = found.min_by_key(|(_, _, own, _)| Reverse(*own))?;
        let mut captures = captured(expression, &error, &expression.captures(&error)?);
        captures.retain(|(_, value)| value.len() <= LONGEST_NAME);
        Some(Classified { class, other: None, error: Some(text), is_cut: false, captures })
    })
}

/// What an error is about that begins like a text that is known, and was then cut.
pub(super) fn cut(error: &str) -> Option<Classified> {
    windows(error).find_map(|error| {
        let found = CUTS.iter().filter_map(|(class, text, cut)| Some((class, text, cut.found_in(&error)?)));
        // Of several, the first.
        let (class, text, _) = found.min_by_key(|(.., own)| Reverse(*own))?;
        Some(Classified { class, other: None, error: Some(text), is_cut: true, captures: Vec::new() })
    })
}

/// What an error is probably about, by its words, or by the HTTP status that it names; `None` if they say nothing.
pub(super) fn probable(error: &str, status: Option<u16>) -> Option<Classified> {
    let windows: Vec<String> =
        windows(error).map(|error| DUMPS.replace_all(&error, "").to_lowercase()).collect();
    let windows: Vec<Window<'_>> = windows.iter().map(|error| Window::new(error)).collect();
    let mut weights: Vec<(&'static ErrorClass, bool, usize)> = Vec::new();
    let mut hints = Vec::new();
    for Sign { class, hint, is_around, words } in &*SIGNS {
        let needs = hint.map_or(&[][..], |hint| &hint.needs);
        let is_about = |error: &str| needs.is_empty() || needs.iter().any(|word| error.contains(&**word));
        if !windows.iter().any(|error| words.found_in(error).is_some() && is_about(error)) {
            continue;
        }
        hints.extend(hint.map(|hint| (class.id.as_str(), hint, words.own)));
        let says_what = !class.is_general && !is_around;
        match weights.iter_mut().find(|(known, ..)| known.id == class.id) {
            Some((_, is_sure, weight)) => (*is_sure, *weight) = (*is_sure || says_what, *weight + words.own),
            None => weights.push((class, says_what, words.own)),
        }
    }
    let order = |(_, is_sure, weight): &(&ErrorClass, bool, usize)| (*is_sure, *weight);
    let by_signs = weights.into_iter().rev().max_by_key(order).map(|(class, ..)| class);
    let by_status = || {
        let status = status?;
        ErrorClass::all().find(|class| class.statuses.contains(&status))
    };
    let hint = |class: &ErrorClass| {
        let own = hints.iter().filter(|(id, ..)| *id == class.id);
        own.max_by_key(|(_, _, own)| *own).map(|(_, hint, own)| (*hint, *own))
    };
    let found = by_signs.and_then(|class| match hint(class) {
        Some((_, own)) if own >= SURE => Some((class, None)),
        _ => agreed(class, &votes(error)),
    });
    let (class, other) = found.or_else(|| Some((by_status()?, None)))?;
    let error = hint(class).map(|(hint, _)| hint);
    Some(Classified { class, other, error, is_cut: error.is_some(), captures: Vec::new() })
}

/// The classes that the words of known texts speak for.
fn votes(error: &str) -> Vec<(&'static ErrorClass, f64)> {
    let mut votes = similar::votes(error);
    votes.retain(|(class, _)| !class.is_json_rpc || !OTHER_CODE.is_match(error));
    votes
}

/// The class of an error's signs if the words of known texts speak for it too, or both if they speak for another; `None` if that
/// is not sure enough. Words alone are in any text.
fn agreed(
    class: &'static ErrorClass,
    votes: &[(&'static ErrorClass, f64)],
) -> Option<(&'static ErrorClass, Option<&'static ErrorClass>)> {
    match votes.first() {
        Some((voted, share)) if voted.id == class.id => (*share >= LEAST).then_some((class, None)),
        voted => Some((class, voted.map(|(voted, _)| *voted))),
    }
}
