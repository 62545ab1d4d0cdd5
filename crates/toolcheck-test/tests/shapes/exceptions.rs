//! What is not as simple as one mistake and one finding.

use toolcheck_lint::Finding;

use super::mutations::Mutant;

/// Rules that report what follows from a mistake that is made in one place only, each with the reason.
pub(crate) const CONSEQUENCES: &[(&str, &str)] = &[
    ("orphan-tool-result", "the result still names the call as it was"),
    ("unanswered-tool-call", "the call still waits for the result as it was"),
    ("late-tool-result", "another message is in place of the result"),
    ("misplaced-tool-result", "the result is no longer that of a tool of the provider"),
    ("reordered-tool-results", "results are matched by the order of the calls that are left"),
    ("tool-name-mismatch", "the result still has the name of the call as it was"),
    ("orphan-server-result", "the result still names the call as it was"),
    ("unanswered-server-call", "the call still waits for the result as it was"),
    ("unknown-tool", "the calls still have the name of the tool as it was"),
    ("missing-tool-definitions", "the tools are no longer there to be read"),
    ("undeclared-server-tool", "the tool is no longer declared"),
    ("conflicting-parameters", "the choice of tools still means the tools as they were"),
    ("arguments-schema-mismatch", "the arguments still follow the schema as it was"),
    ("duplicate-tool-definition", "a second tool is a copy of the first"),
];

/// Mutations whose findings are others than the data say, with the reason.
#[derive(Debug)]
pub(crate) struct Exception {
    formats: &'static [&'static str],
    /// The names of objects; all if there are none.
    objects: &'static [&'static str],
    key: &'static str,
    fault: &'static str,
    rules: &'static [&'static str],
    #[expect(dead_code, reason = "printed by a failing test")]
    reason: &'static str,
}

pub(crate) const EXCEPTIONS: &[Exception] = &[
    Exception {
        formats: &["mistral"],
        objects: &["message.tool"],
        key: "name",
        fault: "type",
        rules: &["invalid-tool-name", "wrong-type"],
        reason: "`invalid-tool-name` looks at every name of a tool",
    },
    Exception {
        formats: &["openai-chat"],
        objects: &["message.function"],
        key: "name",
        fault: "type",
        rules: &["invalid-tool-name", "wrong-type"],
        reason: "`invalid-tool-name` looks at every name of a tool",
    },
    Exception {
        formats: &["openai-responses"],
        objects: &["function_call_output", "custom_tool_call_output"],
        key: "name",
        fault: "type",
        rules: &["invalid-tool-name", "wrong-type"],
        reason: "`invalid-tool-name` looks at every name of a tool",
    },
    Exception {
        formats: &["openai-responses"],
        objects: &["function_call_output"],
        key: "name",
        fault: "length",
        rules: &["invalid-tool-name", "invalid-value"],
        reason: "`invalid-tool-name` looks at every name of a tool",
    },
    Exception {
        formats: &["bedrock-converse"],
        objects: &["contentBlock"],
        key: "toolUse",
        fault: "type",
        rules: &["missing-tool-call-id", "wrong-type"],
        reason: "what is not an object has no id either",
    },
    Exception {
        formats: &["bedrock-converse"],
        objects: &["contentBlock"],
        key: "toolResult",
        fault: "type",
        rules: &["missing-tool-call-id", "wrong-type"],
        reason: "what is not an object has no id either",
    },
    Exception {
        formats: &["gemini-interactions"],
        objects: &["request"],
        key: "tools[]",
        fault: "type",
        rules: &["unread-content"],
        reason: "that it is refused is not known, but the tools are not read",
    },
    Exception {
        formats: &["bedrock-converse"],
        objects: &["toolConfig"],
        key: "tools[]",
        fault: "type",
        rules: &["empty-tool-list", "wrong-type"],
        reason: "only a cache point is left",
    },
    Exception {
        formats: &["bedrock-converse"],
        objects: &["tool"],
        key: "",
        fault: "none",
        rules: &["empty-tool-list", "invalid-value"],
        reason: "only a cache point is left",
    },
    Exception {
        formats: &["gemini"],
        objects: &["part"],
        key: "functionResponse",
        fault: "conflict",
        rules: &["conflicting-parameters", "unsigned-reasoning"],
        reason: "the call beside the result has no signature",
    },
    Exception {
        formats: &["mistral"],
        objects: &["message.assistant"],
        key: "tool_calls",
        fault: "type",
        rules: &["empty-content", "wrong-type"],
        reason: "without calls that can be read, the message is empty",
    },
    Exception {
        formats: &["openai-chat"],
        objects: &["message.assistant"],
        key: "tool_calls",
        fault: "items",
        rules: &["empty-content", "empty-tool-calls"],
        reason: "without calls, the message is empty",
    },
    Exception {
        formats: &["mistral"],
        objects: &["message.assistant"],
        key: "prefix",
        fault: "type",
        rules: &["trailing-assistant", "wrong-type"],
        reason: "what is not true marks no prefix",
    },
    Exception {
        formats: &["openai-responses"],
        objects: &["message.unnamed"],
        key: "id",
        fault: "type",
        rules: &["missing-field", "wrong-type"],
        reason: "a null is taken for no id, which leaves a message without a role",
    },
    Exception {
        formats: &["openai-chat"],
        objects: &["file"],
        key: "filename",
        fault: "type",
        rules: &["missing-field", "wrong-type"],
        reason: "a null is taken for no name, which the data needs",
    },
    Exception {
        formats: &["anthropic"],
        objects: &["message"],
        key: "role",
        fault: "type",
        rules: &["unknown-field", "unknown-role"],
        reason: "keys of a system message are there, and it is none",
    },
    Exception {
        formats: &["anthropic"],
        objects: &["request"],
        key: "fallbacks[]",
        fault: "type",
        rules: &["invalid-value"],
        reason: "the strings of the list are looked at first",
    },
    Exception {
        formats: &["bedrock-converse"],
        objects: &["document.source"],
        key: "s3Location",
        fault: "unknown",
        rules: &["invalid-value"],
        reason: "a source has one of its keys, and that it has two is looked at first",
    },
];

impl Exception {
    pub(crate) fn covers(&self, format: &str, mutant: &Mutant, findings: &[&Finding]) -> bool {
        let mut rules: Vec<&str> = findings
            .iter()
            .map(|finding| finding.rule.as_str())
            .filter(|rule| self.rules.contains(rule) || !CONSEQUENCES.iter().any(|(other, _)| other == rule))
            .collect();
        rules.sort_unstable();
        rules.dedup();
        self.formats.contains(&format)
            && (self.objects.is_empty() || self.objects.contains(&mutant.object.name()))
            && self.key == mutant.demand.key
            && self.fault == mutant.demand.fault.name()
            && self.rules == rules
    }
}
