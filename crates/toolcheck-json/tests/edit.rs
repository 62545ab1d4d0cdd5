//! Edits change what they are asked to change, and no other byte.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_json::edit::{Edits, Piece};
use toolcheck_json::{Document, NodeId, Value};

fn edited<'s>(text: &'s str, edit: impl Fn(&Document<'s>, &mut Edits<'_, 's>)) -> String {
    let document = Document::read(text.as_bytes());
    let mut edits = Edits::new(&document);
    edit(&document, &mut edits);
    String::from_utf8(edits.apply().into_owned()).expect("it is text")
}

fn nodes(list: Value<'_, '_>) -> Vec<Piece> {
    list.elements().map(|element| Piece::Node(element.id())).collect()
}

fn ids_below(root: Value<'_, '_>) -> Vec<NodeId> {
    let mut open = vec![root];
    let mut ids = Vec::new();
    while let Some(value) = open.pop() {
        ids.push(value.id());
        open.extend(value.children());
    }
    ids
}

#[test]
fn a_member_gets_another_key_and_keeps_the_rest() {
    let text = r#"{"a" :  1e0, "b":{"c":[ 2 ]}}"#;
    let renamed = edited(text, |document, edits| {
        let root = document.root();
        let (a, b) = (root.get("a").expect("is there"), root.get("b").expect("is there"));
        edits.rename_member(root.id(), a.id(), "x\"y");
        edits.rename_member(root.id(), b.id(), "d");
        edits.replace(a.id(), Piece::Raw(b"7".to_vec()));
        edits.set_member(b.id(), "e", Piece::text("f"));
    });
    // What is new in an object of one member is written as the document begins.
    assert_eq!(renamed, r#"{"x\"y" :  7, "d":{"c":[ 2 ], "e" :  "f"}}"#);
    let removed = edited(text, |document, edits| {
        let root = document.root();
        let a = root.get("a").expect("is there").id();
        edits.rename_member(root.id(), a, "x");
        edits.remove_member(root.id(), a);
    });
    assert_eq!(removed, r#"{"b":{"c":[ 2 ]}}"#);
}

#[test]
fn elements_are_inserted_in_the_style_of_their_neighbours() {
    let with_another = |text| {
        edited(text, |document, edits| {
            let mut elements = nodes(document.root());
            let list = Piece::List(vec![Piece::text("x")]);
            elements.insert(1, Piece::object([("id", Piece::text("b\"")), ("list", list)]));
            edits.set_elements(document.root().id(), elements);
        })
    };
    let pretty =
        "\u{feff}[\r\n  {\r\n    \"id\": \"\\u0061\"\r\n  },\r\n  {\r\n    \"id\": 1.0\r\n  }\r\n]\r\n";
    let wanted = "\u{feff}[\r\n  {\r\n    \"id\": \"\\u0061\"\r\n  },\r\n  {\r\n    \"id\": \"b\\\"\",\r\n    \"list\": [\r\n      \"x\"\r\n    ]\r\n  },\r\n  {\r\n    \"id\": 1.0\r\n  }\r\n]\r\n";
    assert_eq!(with_another(pretty), wanted);
    assert_eq!(with_another("[{\"id\":1}]\n"), "[{\"id\":1},{\"id\":\"b\\\"\",\"list\":[\"x\"]}]\n");
    assert_eq!(with_another("[{\"id\": 1}, 2]"), "[{\"id\": 1}, {\"id\": \"b\\\"\", \"list\": [\"x\"]}, 2]");
}

#[test]
fn removing_leaves_the_separators_of_what_stays() {
    let without = |text, wanted: usize| {
        edited(text, |document, edits| {
            let mut elements = nodes(document.root());
            elements.remove(wanted);
            edits.set_elements(document.root().id(), elements);
        })
    };
    let text = "[ 1 , [2],\n 3 ]";
    assert_eq!(without(text, 0), "[ [2],\n 3 ]");
    assert_eq!(without(text, 1), "[ 1,\n 3 ]");
    assert_eq!(without(text, 2), "[ 1 , [2] ]");
    assert_eq!(without("[ 1 ]", 0), "[]");
}

#[test]
fn what_is_moved_keeps_its_own_changes() {
    let moved = edited(r#"{"a": [{"x": 1}, 2], "b": []}"#, |document, edits| {
        let (a, b) = (document.root().get("a").unwrap(), document.root().get("b").unwrap());
        let first = a.elements().next().unwrap();
        edits.replace(first.get("x").unwrap().id(), Piece::Raw(b"1e2".to_vec()));
        edits.set_elements(a.id(), nodes(a).split_off(1));
        edits.set_elements(b.id(), [Piece::Node(first.id())]);
    });
    assert_eq!(moved, r#"{"a": [2], "b": [{"x": 1e2}]}"#);
}

#[test]
fn members_are_set_and_removed_and_a_text_becomes_a_block() {
    let text = r#"{"role": "user", "content":  "\u00e4", "old": [1]}"#;
    let changed = edited(text, |document, edits| {
        let root = document.root();
        let content = root.get("content").unwrap().id();
        let block = Piece::object([("type", Piece::text("text")), ("text", Piece::Node(content))]);
        edits.replace(content, Piece::List(vec![block]));
        edits.remove_member(root.id(), root.get("old").unwrap().id());
        edits.set_member(root.id(), "new", Piece::Raw(b"true".to_vec()));
        edits.set_member(root.id(), "role", Piece::text("tool"));
    });
    let wanted = r#"{"role": "tool", "content":  [{"type": "text", "text": "\u00e4"}], "new": true}"#;
    assert_eq!(changed, wanted);
}

#[test]
fn a_change_that_a_value_does_not_allow_changes_nothing() {
    for text in ["7", "\"x\"", "null", "[]", "nul", ""] {
        let changed = edited(text, |document, edits| {
            let root = document.root();
            edits.set_member(root.id(), "id", Piece::text("1"));
            edits.remove_member(root.id(), root.id());
            edits.rename_member(root.id(), root.id(), "other");
        });
        assert_eq!(changed, text);
    }
    let changed = edited("{}", |document, edits| edits.set_elements(document.root().id(), []));
    assert_eq!(changed, "{}");
}

#[test]
fn many_edits_of_a_long_list_take_linear_time() {
    let count = 200_000;
    let text = format!("[{}]", vec!["{\"n\": 1}"; count].join(", "));
    let document = Document::read(text.as_bytes());
    let mut edits = Edits::new(&document);
    for element in document.root().elements() {
        edits.replace(element.get("n").unwrap().id(), Piece::Raw(b"22".to_vec()));
    }
    let mut order = nodes(document.root());
    order.reverse();
    edits.set_elements(document.root().id(), order);
    assert_eq!(edits.apply().len(), text.len() + count);
}

fn json_value() -> impl Strategy<Value = Json> {
    let leaf =
        prop_oneof![Just(json!(null)), any::<i32>().prop_map(Json::from), ".{0,4}".prop_map(Json::from)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let object = prop::collection::btree_map("[a-c]{1,2}", inner.clone(), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Json::from),
            object.prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_list_gets_exactly_the_wanted_elements(
        items in prop::collection::vec(json_value(), 0..6),
        new in json_value(),
        order in prop::collection::btree_set(0_usize..8, 0..8),
        gaps in prop::collection::vec(prop::sample::select(vec!["", " ", "\n", "\r\n  ", "\t"]), 8),
    ) {
        let texts: Vec<String> = items.iter().zip(gaps.iter().cycle()).map(|(item, gap)| format!("{gap}{item}")).collect();
        let text = format!("\n [{}{}] \r\n", texts.join(","), gaps[7]);
        let document = Document::read(text.as_bytes());
        let all = nodes(document.root());
        let new_piece = Piece::Raw(new.to_string().into_bytes());
        let mut edits = Edits::new(&document);
        edits.set_elements(
            document.root().id(),
            order.iter().rev().map(|at| all.get(*at).unwrap_or(&new_piece).clone()),
        );
        let changed = edits.apply();
        let wanted: Vec<Json> = order.iter().rev().map(|at| items.get(*at).unwrap_or(&new).clone()).collect();
        let read: Json = serde_json::from_slice(&changed).expect("it is JSON");
        prop_assert_eq!(read, Json::from(wanted));
        prop_assert!(changed.starts_with(b"\n [") && changed.ends_with(b"] \r\n"));
    }

    #[test]
    fn a_replaced_value_changes_and_every_other_byte_stays(
        value in json_value(), new in json_value(), number in any::<prop::sample::Index>(),
    ) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let document = Document::read(text.as_bytes());
        let ids = ids_below(document.root());
        let id = ids[number.index(ids.len())];
        let span = document.value(id).span().range();
        let mut edits = Edits::new(&document);
        edits.replace(id, Piece::Raw(new.to_string().into_bytes()));
        let wanted = [&text[..span.start], &new.to_string(), &text[span.end..]].concat();
        prop_assert_eq!(edits.apply().into_owned(), wanted.into_bytes());
    }

    #[test]
    fn no_change_is_the_text_itself(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let document = Document::read(&bytes);
        let is_same = matches!(Edits::new(&document).apply(), std::borrow::Cow::Borrowed(text) if text == document.bytes());
        prop_assert!(is_same);
    }

    #[test]
    fn broken_text_is_edited_without_a_panic(text in r#"[\[\]{}",:a1 ]{0,40}"#) {
        let document = Document::read(text.as_bytes());
        let mut edits = Edits::new(&document);
        for id in ids_below(document.root()) {
            let value = document.value(id);
            if value.is_array() {
                let mut elements = nodes(value);
                elements.push(Piece::text("new"));
                elements.reverse();
                edits.set_elements(id, elements);
            } else if value.is_object() {
                edits.set_member(id, "new", Piece::List(vec![]));
            }
        }
        prop_assert!(edits.apply().len() <= text.len() * 40 + 80);
    }
}

#[test]
fn records_are_added_and_removed_as_lines() {
    for end in ["\n", "\r\n"] {
        let text = ["{\"a\":1}", "{\"b\": 2}", "[3]"].join(end) + end;
        let document = toolcheck_json::Records::new(text.as_bytes()).document();
        let mut records = nodes(document.root());
        records.remove(1);
        records.insert(1, Piece::object([("new", Piece::List(vec![Piece::text("x")]))]));
        let mut edits = Edits::new(&document);
        edits.set_elements(document.root().id(), records);
        let wanted = ["{\"a\":1}", "{\"new\":[\"x\"]}", "[3]"].join(end) + end;
        assert_eq!(edits.apply().into_owned(), wanted.into_bytes());
    }
}

#[test]
fn a_member_that_has_or_gets_a_key_is_not_written_a_second_time() {
    let text = r#"{"a": 1, "b": 2}"#;
    let set = |text: &str, twice: bool| {
        edited(text, |document, edits| {
            let root = document.root();
            edits.rename_member(root.id(), root.get("a").expect("is there").id(), "c");
            for value in if twice { &["3", "4"][..] } else { &["3"] } {
                edits.set_member(root.id(), "c", Piece::Raw(value.as_bytes().to_vec()));
                edits.set_member(root.id(), "b", Piece::Raw(value.as_bytes().to_vec()));
                edits.set_member(root.id(), "d", Piece::Raw(value.as_bytes().to_vec()));
            }
        })
    };
    assert_eq!(set(text, false), r#"{"c": 3, "b": 3, "d": 3}"#);
    assert_eq!(set(text, true), r#"{"c": 4, "b": 4, "d": 4}"#);
}
