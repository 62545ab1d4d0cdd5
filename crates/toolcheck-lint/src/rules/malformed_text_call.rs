use toolcheck_core::ir::{TranscriptKind, shorten};
use toolcheck_core::protocols::{Malformation, MalformedCall};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A call in plain text that can't be read: it is never closed, or its JSON is broken.
    ///
    /// ## Why is this bad?
    ///
    /// Some agents let the model write its calls into its answer, in tags such as `<tool_call>` or `<read_file>`. A block
    /// that is broken is no call for the harness, or another one than the model meant: the rest of the message becomes
    /// the value of a parameter.
    ///
    /// Blocks are looked for only where the transcript speaks the protocol. A block that is never closed is no fault at
    /// the end of a recording or a request, where the model is still to go on, and none where the harness says that it
    /// cut the message off.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": "<tool_call>\n{\"name\": \"tide\", \"arguments\": {\"port\": }}\n</tool_call>"},  // flagged
    ///   {"role": "user", "content": "<tool_response>\nno such call\n</tool_response>"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": "<tool_call>\n{\"name\": \"tide\", \"arguments\": {\"port\": \"Husum\"}}\n</tool_call>"},
    ///   {"role": "user", "content": "<tool_response>\n06:12\n</tool_response>"}
    /// ]}
    /// ```
    "malformed-text-call" in TextProtocols, since "0.1.0", warning (error in dataset), check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let last = cx.transcript.messages.len().saturating_sub(1) as u32;
    // What is not finished yet may still be closed; what a model shall learn is finished.
    let goes_on = cx.is_cut_off || cx.transcript.kind != TranscriptKind::Dataset;
    for block in &cx.text_calls().malformed {
        if goes_on && block.malformation.is_open() && block.message == last {
            continue;
        }
        let finding = out.report(block.place, message(block));
        match block.malformation {
            Malformation::Unclosed => finding.caption("never closed"),
            Malformation::UnclosedParameter => {
                finding.caption("never closed").label(block.opening, "the call")
            }
            Malformation::Json(kind) => finding.caption(kind.describe()).label(block.opening, "the call"),
            Malformation::Nameless => finding.caption("no name in here").label(block.opening, "the call"),
        };
        finding
            .help("answer with an error that says what is broken, so that the model writes the call again");
        finding.tool_name = block.name.clone();
    }
}

fn message(block: &MalformedCall) -> String {
    let call =
        block.name.as_ref().map_or("a call".to_owned(), |name| format!("a call of `{}`", shorten(name)));
    match block.malformation {
        Malformation::Unclosed => format!("{call} in the text is never closed"),
        Malformation::UnclosedParameter => format!("a parameter of {call} in the text is never closed"),
        Malformation::Json(_) => format!("{call} in the text is no JSON"),
        Malformation::Nameless => format!("{call} in the text names no tool"),
    }
}
