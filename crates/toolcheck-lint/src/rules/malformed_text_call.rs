use toolcheck_core::ir::{Place, TranscriptKind};
use toolcheck_core::protocols::Malformation;
use toolcheck_core::text::{kept, shorten};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MalformedTextCall in TextProtocols, since "0.1.0", warning (error in dataset) looks at [TEXT, CALLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let last = cx.transcript.messages.len().saturating_sub(1) as u32;
    // A block that is unfinished may still be closed later, except in a training example, which is complete.
    let may_continue = cx.is_cut_off || cx.transcript.kind != TranscriptKind::Dataset;
    let of_protocol = cx.text_calls().malformed.iter().map(|block| FaultyCall {
        name: block.name.as_deref(),
        opening: block.opening,
        malformation: block.malformation,
        place: block.place,
        message: block.message,
    });
    let of_reader = cx.transcript.details.malformed_text_calls.iter().map(|call| FaultyCall {
        name: call.name.as_deref(),
        opening: call.opening,
        malformation: call.malformation,
        place: call.place,
        message: call.message,
    });
    for fault in of_protocol.chain(of_reader) {
        if may_continue && fault.malformation.is_open() && fault.message == last {
            continue;
        }
        let finding = out.report(fault.place, fault.text());
        match fault.malformation {
            Malformation::Unclosed => finding.caption("never closed"),
            Malformation::UnclosedParameter => {
                finding.caption("never closed").label(fault.opening, "the call")
            }
            Malformation::Json(kind) => finding.caption(kind.describe()).label(fault.opening, "the call"),
            Malformation::Nameless if fault.place.span == fault.opening.span => {
                finding.caption("no name here")
            }
            Malformation::Nameless => finding.caption("no name here").label(fault.opening, "the call"),
            Malformation::OtherKey => finding.caption("no `arguments` here").label(fault.opening, "the call"),
        };
        finding.help(match cx.transcript.kind {
            TranscriptKind::Dataset => {
                "fix the call or remove the example; otherwise, the model learns to write such calls"
            }
            _ => "return an error that says what is wrong, so that the model can write the call again",
        });
        finding.say().tool_name = fault.name.map(kept);
    }
}

/// A call that is malformed, whoever has found it.
struct FaultyCall<'f> {
    name: Option<&'f str>,
    opening: Place,
    malformation: Malformation,
    place: Place,
    message: u32,
}

impl FaultyCall<'_> {
    fn text(&self) -> String {
        let call = self.name.map_or("a call".to_owned(), |name| format!("a call to `{}`", shorten(name)));
        match self.malformation {
            Malformation::Unclosed => format!("{call} in the text is never closed"),
            Malformation::UnclosedParameter => format!("a parameter of {call} in the text is never closed"),
            Malformation::Json(_) => format!("{call} in the text is not valid JSON"),
            Malformation::Nameless => format!("{call} in the text does not name a tool"),
            Malformation::OtherKey => {
                format!("{call} in the text has its arguments under another key than `arguments`")
            }
        }
    }
}
