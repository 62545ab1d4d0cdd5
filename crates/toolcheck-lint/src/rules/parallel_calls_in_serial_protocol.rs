use toolcheck_core::Level;
use toolcheck_core::ir::shorten;
use toolcheck_core::protocols::{Reply, TextCall};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Several calls in one message of a text protocol that carries out one.
    ///
    /// ## Why is this bad?
    ///
    /// Cline and Roo Code have the model write its calls in XML-style tags, one a message. Where it writes several, the
    /// harness carries out the first and drops the others, and the model goes on as if all of them had been done.
    ///
    /// It is an error where the answer holds a result of some of the calls and no word about another: that call is lost.
    /// It is a warning where the message is the last one, where no result can be told from the text, where only the call
    /// that ends the task has none, and where the harness said that it carried out one only. Where each call has its
    /// result, nothing is said.
    ///
    /// Calls are read from texts only where the transcript speaks the protocol: where the system text teaches it, or
    /// where an answer has its form (`[read_file for 'a.ts'] Result:`). What stands in a code fence is an example.
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
    "parallel-calls-in-serial-protocol" in TextProtocols, since "0.1.0", error, check
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
        // A completion that is taken ends the task, and brings no result in any harness.
        let is_lost =
            |call: &TextCall| call.reply == Reply::Nothing && !cx.settings.completion_tools.hold(&call.name);
        let is_lost = results > 0 && calls.iter().any(is_lost);
        let finding = out.report(
            second.place,
            format!(
                "one message holds {} calls, and only one of them is carried out: `{}` comes second",
                calls.len(),
                shorten(&second.name)
            ),
        );
        finding
            .caption("one call too many")
            .label(first.place, "the first call")
            .help("tell the model to write one call and to wait for its result, and stop reading behind the first call")
            .at_most(if is_lost { Level::Error } else { Level::Warning });
        finding.tool_name = Some(second.name.clone());
    }
}
