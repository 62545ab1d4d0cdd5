use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    MissingField in Fields, since "0.1.0", silent on wire reports shape, check,
    fix [
        safe: "A misnamed key is renamed, including the one that says what the object is. A key with only one possible value is added.",
        unsafe: "Missing arguments become `{}`, and an unknown key becomes the only missing one; a tool, a call, a result or a text in another form gets that of the API.",
        otherwise: "the value of the key is unknown" with help,
    ],
    cases [
        "filename": "a file without a name",
        "search-description": "a tool that a tool search finds, without a description",
        "namespace": "a call of a tool in a namespace, without the namespace",
        "lone-namespace": "a call of a tool that a search has loaded alone, without its namespace",
        "caller": "a call of a program, without the program",
        "call-name" for users: "a call in the log of a protocol, without the name of the tool",
        "response" for users: "a response in the log of a protocol, without a key that the other side needs",
        "row": "a row of a data set without the keys that each has, once for a file",
        "retry" for users: "a call in the log of a protocol that is sent again, without what the server asked for or its state",
    ],
    values TOOL_OR_PART [
        "field" for users: "the key",
        "name": "the name of the tool that is affected",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    for missing in &cx.transcript.details.missing_keys {
        if cx.policy.is_none() && !cx.entry(&RULE, Some(missing.case)).is_harmful() {
            continue;
        }
        let finding = out.report(missing.place, format!("required key `{}` is missing", missing.key));
        finding
            .caption("missing here")
            .help(format!("add `{}`", missing.key))
            .case(missing.case)
            .value("field", missing.key);
        finding.value_of("name", missing.name.as_ref().map(|name| &name.text));
        finding.label(missing.because, "required because of this");
    }
}
