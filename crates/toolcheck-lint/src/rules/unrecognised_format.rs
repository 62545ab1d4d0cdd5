use toolcheck_core::ir::Place;
use toolcheck_core::unsupported::{self, Unsupported};
use toolcheck_json::Value;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    UnrecognisedFormat in Files, since "0.1.0", error, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // Malformed JSON is reported by another rule.
    let is_broken = cx.document.faults().iter().any(|fault| !fault.kind.is_harmless());
    if cx.transcript.format.is_some() || is_broken {
        return;
    }
    let root = cx.document.value(cx.transcript.place.node);
    let unsupported = unsupported::find(root).or_else(|| unsupported::conversation(root));
    let messages = unsupported::messages_of(root).filter(|_| unsupported.is_none());
    let what = unsupported.map(Unsupported::describe);
    let what = what.or_else(|| unsupported::describe(root).map(message));
    let nested = if what.is_none() { unsupported::nested(root) } else { None };
    let is_at = |value: Value<'_, '_>| messages.is_some_and(|messages| messages.id() == value.id());
    match (what, nested, messages) {
        (Some(what), ..) => {
            let advice = unsupported.and_then(|kind| kind.advice);
            out.report(cx.transcript.place, what)
                .caption(NOT_CHECKED)
                .help(advice.unwrap_or("check the requests that are sent to the API, or leave the file out"));
        }
        (None, Some(nested), _) if !is_at(nested.value) => {
            let at = nested.path.as_ref().map_or_else(String::new, |path| format!(" at `{path}`"));
            let finding = out.report(
                cx.transcript.place,
                format!("not a request itself, but something{at} looks like {}", nested.format.id),
            );
            finding.caption(NOT_CHECKED).label(Place::of_key(nested.value), "this looks like one");
            match nested.path {
                Some(path) => {
                    finding.help(format!("check that part: `jq -c '{path}' FILE | toolcheck lint -`"))
                }
                None => finding.help("check that part as a file of its own"),
            };
        }
        (None, nested, Some(messages)) => {
            let key = messages.key_text().unwrap_or_default();
            let finding = out.report(
                Place::of_key(messages),
                match (&nested, cx.wanted_format) {
                    (Some(nested), Some(wanted)) => {
                        format!("`{key}` looks like {}, and not like {}", nested.format.id, wanted.id)
                    }
                    (Some(nested), None) => {
                        format!("`{key}` looks like {}, which is not read under this key", nested.format.id)
                    }
                    (None, _) if messages.is_string() => {
                        // As `str()` and `to_csv` write a list.
                        let is_printed = messages.as_str().is_some_and(|text| text.starts_with("[{'"));
                        let what = if is_printed { "a list as Python prints it" } else { "a string" };
                        let wanted = if is_printed { "JSON" } else { "a list of messages" };
                        format!("`{key}` is {what}, but {wanted} is expected")
                    }
                    (None, _) => format!("no format understands the messages in `{key}`"),
                },
            );
            finding.caption(NOT_CHECKED).help(match nested.filter(|_| cx.wanted_format.is_some()) {
                Some(nested) => format!("leave out --format, or use --format {}", nested.format.id),
                None => "write the messages as the API's reference describes".to_owned(),
            });
        }
        (None, ..) => {
            let finding = out.report(cx.transcript.place, "no list of messages found in this document");
            finding.caption(NOT_CHECKED);
            match cx.wanted_format {
                Some(format) => finding
                    .help(format!("is it {}? Without --format, toolcheck detects the format", format.name)),
                None => finding.help("name the format with --format, or leave the file out"),
            };
        }
    }
}

/// What is said of the place.
pub(crate) const NOT_CHECKED: &str = "nothing in here was checked";

/// The message for a document or text that is known to be something else.
pub(crate) fn message(what: &str) -> String {
    format!("not a request, but {what}")
}
