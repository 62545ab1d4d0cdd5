//! Errors and the texts and places in them.

use std::collections::BTreeMap;

use toolcheck_core::recognise::{NamedPlace, Nearness, Pasted};

const TEXT: &str = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01AbCdEf. Each `tool_use` block must have a corresponding one.";

#[test]
fn what_is_pasted_contains_the_text() {
    let forms = [
        (TEXT.to_owned(), true),
        (TEXT.trim_end_matches('.').to_owned(), true),
        (format!("> {}", TEXT.replace(' ', "\n> ")), true),
        (format!("{{\"error\":{}}}", serde_json::Value::from(TEXT)), true),
        (
            serde_json::Value::from(serde_json::Value::from(format!("a\n{TEXT}\nb")).to_string()).to_string(),
            true,
        ),
        (TEXT.replace("AbCdEf", "..."), true),
        (TEXT.replace("toolu_01AbCdEf", "\u{2026}"), true),
        (TEXT.replace("AbCdEf", "[...]"), true),
        (TEXT[..60].to_owned(), false),
        (format!("{}...", &TEXT[..60]), false),
        (format!("{{'message': '{}'}}", &TEXT[..60]), false),
    ];
    for (form, is_whole) in forms {
        let found = Pasted::new(&form).contains(TEXT);
        assert_eq!(found.map(|found| found.is_whole), Some(is_whole), "{form}");
    }
}

#[test]
fn what_says_something_else_does_not() {
    for other in [
        "",
        "Something went wrong.",
        &TEXT.replace("messages.2", "messages.3"),
        &TEXT.replace("messages.2", "messages.23"),
        &TEXT.replace("messages.2", "submessages.2"),
        &TEXT.replace("AbCdEf", "Xy"),
        &TEXT[..12],
        &format!("{} and more", &TEXT[..60]),
    ] {
        assert_eq!(Pasted::new(other).contains(TEXT), None, "{other}");
    }
    assert_eq!(Pasted::new("field `ab` is missing").contains("field `a"), None);
    let longer = Pasted::new("tools.0.custom.input_schema.type: Field required");
    assert_eq!(longer.contains("tools.0.custom.input_schema: Field required"), None);
}

#[test]
fn of_two_texts_the_longer_is_contained_more() {
    let pasted = Pasted::new("an object is needed here, not a string");
    assert!(pasted.contains("an object is needed here, not") > pasted.contains("an object is needed"));
}

fn nearness(error: &str, pointer: &str) -> Option<Nearness> {
    NamedPlace::all_in(error).iter().filter_map(|place| place.nearness(pointer)).max()
}

#[test]
fn places_are_named_in_many_ways_and_others_are_elsewhere() {
    type Cases = BTreeMap<String, Vec<(String, String)>>;
    let cases: Cases = serde_json::from_str(include_str!("places.json")).unwrap();
    for (error, pointer) in &cases["near"] {
        assert!(nearness(error, pointer).is_some(), "{error} {pointer}");
    }
    for (error, pointer) in &cases["elsewhere"] {
        assert_eq!(nearness(error, pointer), None, "{error} {pointer}");
    }
}

#[test]
fn the_very_place_is_the_nearest() {
    let error = "messages.3.content.1.text: bad";
    let near = |pointer: &str| nearness(error, pointer).unwrap_or_else(|| panic!("{pointer}"));
    assert!(near("/messages/3/content/1/text") > near("/messages/3/content/1"));
    assert!(near("/messages/3/content/1") > near("/messages/3"));
    assert!(near("/messages/3/content/1/text") > near("/messages/3/content/1/text/deeper"));
    assert_eq!(nearness(error, "/messages/3/role"), None);
}
