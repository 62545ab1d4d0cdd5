//! What is known of shapes, as it is read and shown.

use serde_json::json;
use toolcheck_core::Level;
use toolcheck_core::shape::{
    Action, Asked, Condition, JsonType, Scalar, ShapeFaultKind, Verdict, is_placeholder, placeholders,
};
use toolcheck_core::targets::Target;

use super::shapes;
use crate::table;
use crate::testing::ids_in;

#[test]
fn words() {
    let values: Vec<Scalar> = serde_json::from_value(json!(["a", "b", "c"])).unwrap();
    let values = &values[..];
    let cases = [
        (Asked::Present { unless: vec!["a", "b"] }, "required unless there is `a` or `b`"),
        (Asked::Types(&[JsonType::String, JsonType::Null]), "a string or null"),
        (Asked::OneOf { values: values.into(), any_case: false }, "\"a\", \"b\" or \"c\""),
        (Asked::Items { min: Some(1), max: None }, "at least 1 element"),
        (Asked::Length { min: None, max: Some(64) }, "at most 64 characters"),
        (Asked::Range { min: Some(0.0), max: Some(1.5) }, "0 to 1.5"),
        (Asked::Among("/tools/*/function/name"), "one of `tools[].function.name`"),
        (
            Asked::Other { condition: Condition::OnlyIf, keys: vec!["mode"], values },
            "only if `mode` is \"a\", \"b\" or \"c\"",
        ),
    ];
    for (asked, words) in cases {
        assert_eq!(asked.to_string(), words);
    }
}

#[test]
fn every_demand_of_every_target_is_known() {
    for (id, shape) in shapes() {
        for (object, demand) in shape.demands() {
            assert!(!demand.known.is_empty(), "{id}: {} {}", object.name(), demand.key);
        }
    }
}

#[test]
fn every_placeholder_is_listed() {
    let mut count = 0;
    for (id, text) in texts_of_targets() {
        for name in placeholders(&text) {
            assert!(is_placeholder(name), "{id}: {{{name}}} in {text:?}");
            count += 1;
        }
    }
    assert!(count > 500, "{count}");
}

/// The texts of the faults of a shape and of what was seen of it, in the files of the targets.
fn texts_of_targets() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for id in ids_in("targets", "toml") {
        let target = table("targets", &id);
        let also = target.get("also").and_then(|also| also.as_table()).into_iter().flatten();
        for shape in target.get("shape").into_iter().chain(also.map(|(_, shape)| shape)) {
            let said = ["text", "fact"].iter().filter_map(|kind| shape.get(kind)?.as_array()).flatten();
            texts.extend(said.filter_map(|one| Some((id.clone(), one.get("text")?.as_str()?.to_owned()))));
        }
    }
    texts
}

#[test]
fn what_a_target_says_is_described() {
    let target = Target::parse(include_str!("../gateway.toml")).expect("it is a target");
    let shape = target.shape().expect("it has a shape");
    let request = shape.request();
    assert_eq!(request.demands()[0].asked, Asked::OnlyKnownKeys);
    assert_eq!(request.demands()[0].known[0].level, None);

    let demands = request.field("metadata").expect("a fact names it").demands();
    let faults: Vec<&str> = demands.iter().map(|demand| demand.fault.name()).collect();
    assert_eq!(faults, ["missing", "unknown"]);
    let known = &demands[0].known;
    assert_eq!((known.len(), known[0].verdict, known[0].level), (1, Verdict::Refused, Some(Level::Error)));
    assert_eq!((known[0].model, known[0].status), (Some("^tide-"), Some(422)));
    assert_eq!(known[0].text, Some("{path} is missing"));

    let demands = request.field("model").expect("it is a field").demands();
    let of_type = demands.iter().find(|demand| demand.fault == ShapeFaultKind::Type).expect("it has a type");
    let levels: Vec<_> = of_type.known.iter().map(|known| (known.verdict, known.level)).collect();
    assert_eq!(levels, [(Verdict::Refused, Some(Level::Warning)), (Verdict::Documented, None)]);

    let demands = shape.message().field("role").expect("it is a field").demands();
    let of_type = demands.iter().find(|demand| demand.fault == ShapeFaultKind::Type);
    assert_eq!(of_type.map(|demand| demand.known[0].verdict), Some(Verdict::Accepted));
}

#[test]
fn a_help_tells_what_to_do() {
    for (help, action) in [
        ("add `\"type\": \"object\"`", Some(Action::Add { key: "type", json: "\"object\"" })),
        ("add `\"n\": 1`, or leave it", Some(Action::Add { key: "n", json: "1" })),
        ("leave `top_p` out", Some(Action::LeaveOut(Some("top_p")))),
        ("leave it out, or use another model", Some(Action::LeaveOut(None))),
        ("move it to the request, which has this key", Some(Action::Move(None))),
        ("move it to `text.format`, written as it is there", Some(Action::Move(Some("text.format")))),
        ("rename `max_token` to `max_tokens`", Some(Action::Rename(Some("max_tokens")))),
        ("rename `a` to `b`, or to `c`", Some(Action::Rename(None))),
        ("use `auto`", Some(Action::Use("auto"))),
        ("use `auto` or `none`", None),
        ("write `low`, or leave it out", Some(Action::Write("low"))),
        ("write it as {\"type\": \"text\"}", Some(Action::WriteAs("{\"type\": \"text\"}"))),
        ("write it in a block", None),
        ("Use another model.", None),
    ] {
        assert_eq!(Action::of(help), action, "{help}");
    }
}
