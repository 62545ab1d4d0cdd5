//! Who sent or raised an error: the form of an API's error body, the exception of a library, the words of a proxy. As data,
//! compiled in.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::expression::{Expression, Window};
use super::{LAST, windows};
use crate::tables::{ENVELOPES, Tables};

/// What wraps an error's text.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Envelope {
    /// Who writes it, in prose.
    pub name: String,
    /// What shows it, as texts with placeholders; any of them is enough.
    pub signs: Vec<String>,
    /// What shows that another program has written it, which does so in a similar form.
    #[serde(default)]
    pub unless: Vec<String>,
    /// What it means that it is there, where that helps: sentences.
    pub meaning: Option<String>,
    /// Where its form is described.
    pub source: String,
}

static FILES: Tables<File, { ENVELOPES.1.len() }> = Tables::new(ENVELOPES);

#[derive(Deserialize)]
struct File {
    #[serde(rename = "envelope")]
    envelopes: Vec<Envelope>,
}

static ALL: LazyLock<Vec<&Envelope>> =
    LazyLock::new(|| FILES.all().flat_map(|file| &file.envelopes).collect());

static SIGNS: LazyLock<Vec<(Expression, usize)>> = LazyLock::new(|| {
    let signs = ALL.iter().enumerate().flat_map(|(index, envelope)| {
        envelope.signs.iter().map(move |sign| (Expression::of(sign, LAST), index))
    });
    signs.collect()
});

/// A status, as clients write it beside an error.
static STATUS: LazyLock<Regex> = LazyLock::new(|| {
    let before = r#"(?i)(?:status(?:[ _]?code)?|error(?: code)?|HTTP(?:/[\d.]+)?|code)\\?["']?\s*[:=( ]\s*\\?["']?([45]\d\d)\b"#;
    let after = r"\b([45]\d\d)\)?:? (?i:bad request|unauthorized|payment required|forbidden|not found|method not allowed|request timeout|conflict|payload too large|request entity too large|unprocessable|too many requests|internal server error|bad gateway|service unavailable|gateway timeout|status code|\{)";
    Regex::new(&format!("{before}|{after}")).expect("it is a regular expression")
});

impl Envelope {
    /// All envelopes, those of libraries before those of APIs.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter().copied()
    }

    /// The envelopes of an error.
    pub fn all_in(error: &str) -> Vec<&'static Self> {
        let windows: Vec<Window<'_>> = windows(error).collect();
        let is_in = |sign: &Expression| windows.iter().any(|error| sign.found_in(error).is_some());
        let mut found: Vec<usize> =
            SIGNS.iter().filter(|(sign, _)| is_in(sign)).map(|(_, index)| *index).collect();
        found.dedup();
        let is_other = |envelope: &Self| envelope.unless.iter().any(|sign| error.contains(&**sign));
        found.into_iter().map(|index| ALL[index]).filter(|envelope| !is_other(envelope)).collect()
    }
}

/// The HTTP status that an error names; `None` if it names none.
pub(super) fn status_in(error: &str) -> Option<u16> {
    windows(error).find_map(|error| {
        let found = STATUS.captures(&error)?;
        found.iter().skip(1).flatten().find_map(|group| group.as_str().parse().ok())
    })
}
