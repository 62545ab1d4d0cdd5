use toolcheck_core::Level;
use toolcheck_core::protocols::{Reply, TextCall};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Several calls in one message of a text protocol that executes only one.
    ///
    /// ## Why is this bad?
    ///
    /// Cline and Roo Code have the model write its calls as XML-style tags, one per message. If it writes several,
    /// the harness executes the first and drops the others, and the model continues as if all of them had been
    /// executed.
    ///
    /// It is an error if the reply contains results for some of the calls and doesn't mention another: that call is
    /// lost. It is a warning if the message is the last one, if no result can be recognised in the text, if only the
    /// call that ends the task has none, or if the harness said that it executed only one. If every call has its
    /// result, nothing is reported.
    ///
    /// Calls are read from text only if the transcript uses the protocol: the system prompt teaches it, or a reply
    /// has its form (`[read_file for 'a.ts'] Result:`). A call in a code fence is an example.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "compare the two tide tables"},
    ///   {"role": "assistant", "content": "<read_file>\n<path>north.csv</path>\n</read_file>\n<read_file>\n<path>south.csv</path>\n</read_file>"},  // flagged
    ///   {"role": "user", "content": "[read_file for 'north.csv'] Result:\nhigh 06:12"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "compare the two tide tables"},
    ///   {"role": "assistant", "content": "<read_file>\n<path>north.csv</path>\n</read_file>"},
    ///   {"role": "user", "content": "[read_file for 'north.csv'] Result:\nhigh 06:12"},
    ///   {"role": "assistant", "content": "<read_file>\n<path>south.csv</path>\n</read_file>"},
    ///   {"role": "user", "content": "[read_file for 'south.csv'] Result:\nhigh 07:40"}
    /// ]}
    /// ```
    ParallelCallsInSerialProtocol in TextProtocols, since "0.1.0", error looks at [TEXT], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let calls = &cx.text_calls().calls;
    let is_together = |one: &TextCall, other: &TextCall| {
        one.message == other.message && std::ptr::eq(one.protocol, other.protocol)
    };
    for calls in calls.chunk_by(is_together) {
        let [first, second, ..] = calls else { continue };
        let results = calls.iter().filter(|call| call.reply == Reply::Result).count();
        if !first.protocol.is_serial || results == calls.len() {
            continue;
        }
        // A completion that is accepted ends the task, and has no result in any harness.
        let is_lost = |call: &TextCall| {
            call.reply == Reply::Nothing && !cx.settings.completion_tools.contains(&call.name)
        };
        let is_lost = results > 0 && calls.iter().any(is_lost);
        let finding = out.report(
            second.place,
            format!(
                "a message contains {} calls, but only one of them is executed: `{}` is the second",
                calls.len(),
                shorten(&second.name)
            ),
        );
        finding
            .caption("one call too many")
            .label(first.place, "the first call")
            .help("tell the model to write one call and wait for its result, and stop reading after the first call")
            .at_most(if is_lost { Level::Error } else { Level::Warning });
        finding.about_tool(&second.name);
    }
}
