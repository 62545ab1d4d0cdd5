//! The places that an error names, and where they are in the request.

use std::io;

use serde_json::{Value, json};
use toolcheck_core::recognise::NamedPlace;
use toolcheck_core::text::bounded;
use toolcheck_core::unsupported::list_of;
use toolcheck_json::{Document, Position, locate, pointers};

use super::{Explained, Wording};

/// The most characters of a place that are shown.
pub(super) const LONGEST_PLACE: usize = 120;

/// A place that an error names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Named {
    /// The place as the error writes it.
    pub place: NamedPlace,
    /// The JSON Pointer and the position of the value in the request; `None` if it is not there, or there is none.
    pub found: Option<(String, Position)>,
    is_sought: bool,
}

impl Named {
    pub(super) fn all_in(error: &str) -> Vec<Self> {
        let places = NamedPlace::all_in(error).into_iter();
        places.map(|place| Self { place, found: None, is_sought: false }).collect()
    }

    /// Looks the places up in a request, if that is one JSON document.
    pub(super) fn locate(named: &mut [Self], request: &[u8]) {
        if named.is_empty() {
            return;
        }
        let document = Document::read(request);
        if !document.faults().is_empty() {
            return;
        }
        // What a recording holds has places of its own.
        let is_request = list_of(document.root()).is_some();
        let mut values = Vec::new();
        let mut sought = Vec::new();
        for one in named {
            one.is_sought = is_request;
            if let Some(value) = one.place.find_in(document.root()) {
                values.push(value);
                one.is_sought = true;
                sought.push(one);
            }
        }
        let ids: Vec<_> = values.iter().map(|value| value.id()).collect();
        let starts: Vec<usize> = values.iter().map(|value| value.span().range().start).collect();
        let found = pointers(&document, &ids).into_iter().zip(locate(request, &starts));
        for (one, found) in sought.into_iter().zip(found) {
            one.found = Some(found);
        }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "text": self.place.text,
            "pointer": self.found.as_ref().map(|(pointer, _)| pointer),
            "line": self.found.as_ref().map(|(_, position)| position.line),
            "column": self.found.as_ref().map(|(_, position)| position.column),
        })
    }
}

impl Explained {
    /// Writes which places the error names, and where they are.
    pub(super) fn write_named(&self, wording: &Wording<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        if let Some(id) = self.absent_ids.first() {
            let (id, noun) = (bounded(id, LONGEST_PLACE), wording.noun);
            writeln!(out)?;
            let text = format!(
                "The error names `{id}`, which is not in this {noun}: another request failed, probably."
            );
            wording.write_wrapped(&text, out)?;
        }
        if self.named.iter().all(|one| !one.is_sought) {
            return Ok(());
        }
        writeln!(out)?;
        for one in &self.named {
            let noun = wording.noun;
            let place = bounded(&one.place.text, LONGEST_PLACE);
            let text = match &one.found {
                Some((_, Position { line, column, .. })) => {
                    format!("The error names `{place}`: line {line}, column {column} of this {noun}.")
                }
                None => format!("The error names `{place}`, which is not in this {noun}."),
            };
            wording.write_wrapped(&text, out)?;
        }
        Ok(())
    }
}
