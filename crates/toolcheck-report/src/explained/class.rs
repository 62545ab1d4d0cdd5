//! What is said of an error that no rule is known for.

use std::io;

use serde_json::{Value, json};
use toolcheck_core::recognise::Classified;
use toolcheck_core::text::{bounded, shown};

use super::named::LONGEST_PLACE;
use super::{Explained, Wording, label_of};

pub(super) fn to_json(found: &Classified) -> Value {
    let class = found.class;
    let captures: serde_json::Map<String, Value> =
        found.captures.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "id": class.id,
        "or": found.other.map(|other| &other.id),
        "summary": class.summary,
        "meaning": found.error.and_then(|error| error.meaning.as_ref()),
        "help": found.error.and_then(|error| error.help.as_ref()).unwrap_or(&class.help),
        "rule": found.error.and_then(|error| error.rule),
        "in_request": class.is_in_request,
        "captures": captures,
        "probable": found.error.is_none() || found.is_cut,
    })
}

impl Explained {
    /// Writes what an error is about that no rule is known for.
    pub(super) fn write_class(
        &self,
        found: &Classified,
        wording: &Wording<'_>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let (class, error) = (found.class, found.error);
        let known = error.filter(|error| class.errors.iter().any(|known| std::ptr::eq(known, *error)));
        match known {
            Some(error) if found.is_cut => writeln!(out, "probably {} ({})\n", class.id, error.from)?,
            Some(error) => writeln!(out, "{} ({})\n", class.id, error.from)?,
            None => {
                let or = found.other.map(|other| format!(" or {}", other.id)).unwrap_or_default();
                writeln!(out, "probably {}{or}\n", class.id)?;
            }
        }
        let summary = error.and_then(|error| error.meaning.as_ref()).unwrap_or(&class.summary);
        wording.write_wrapped(summary, out)?;
        if let Some(other) = found.other {
            wording.write_wrapped(&format!("Or: {}", other.summary), out)?;
        }
        if found.is_cut && known.is_some() {
            wording.write_wrapped("Only a part of the error text matches.", out)?;
        }
        if known.is_none() {
            wording.write_wrapped("The exact text is not known; this is inferred from its wording, and it may be about something else.", out)?;
        }
        if !found.captures.is_empty() {
            writeln!(out)?;
        }
        for (name, value) in &found.captures {
            writeln!(out, "  {}: {}", label_of(name), shown(value))?;
        }
        self.write_around(wording, out)?;
        writeln!(out)?;
        wording.write_wrapped(error.and_then(|error| error.help.as_ref()).unwrap_or(&class.help), out)?;
        if let Some(other) = found.other {
            wording.write_wrapped(&format!("Or: {}", other.help), out)?;
        }
        let rule = error.and_then(|error| error.rule);
        match &self.places {
            None if class.is_in_request || rule.is_some() => {
                writeln!(out, "\nTo find the cause, add the request that failed{}", wording.how_to_add)?;
            }
            None => {}
            Some(places) if places.cause().is_some() => return wording.write_cause(places, out),
            Some(_) if known.is_some() && self.names_place_in_request() => {}
            Some(places) => {
                writeln!(out)?;
                let title = format!("The problems in this {}:", wording.noun);
                return wording.write_others(places.report(), &title, out);
            }
        }
        match rule {
            Some(rule) => writeln!(out, "\nmore: toolcheck explain {rule}"),
            None => Ok(()),
        }
    }

    /// Which places the text names, without a request to look them up in, but for those that are shown.
    pub(super) fn places_alone(&self, shown: &[(String, String)]) -> Option<String> {
        let named = self.named.iter().filter(|_| self.places.is_none()).map(|one| &one.place.text);
        let named = named.filter(|place| shown.iter().all(|(_, value)| !place.contains(value.as_str())));
        let places: Vec<String> = named.map(|place| format!("`{}`", bounded(place, LONGEST_PLACE))).collect();
        (!places.is_empty()).then(|| format!("It names {} in the request.", places.join(", ")))
    }

    /// Writes what the text says beside what it is about: who wrote it, with which status, and which places it names.
    pub(super) fn write_around(&self, wording: &Wording<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let reading = &self.reading;
        let names: Vec<&str> = reading.envelopes.iter().map(|envelope| &*envelope.name).collect();
        let mut sentences = Vec::new();
        if !names.is_empty() {
            sentences.push(format!("It has the form of errors from {}.", names.join(" and ")));
        }
        // What a library says itself, it does not repeat.
        let from = reading.class.as_ref().and_then(|found| found.error).map(|error| &error.from);
        let others = reading.envelopes.iter().filter(|envelope| from != Some(&envelope.name));
        sentences.extend(others.filter_map(|envelope| envelope.meaning.clone()));
        sentences.extend(reading.status.map(|status| format!("The HTTP status is {status}.")));
        sentences.extend(self.places_alone(&[]));
        if !sentences.is_empty() {
            writeln!(out)?;
            wording.write_wrapped(&sentences.join(" "), out)?;
        }
        self.write_named(wording, out)
    }
}
