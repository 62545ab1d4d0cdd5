//! The tables of shapes fit together, and are compiled as far as they are asked for.

use toolcheck_core::shape::{Kind, Shape, formats, formats_with_keys};
use toolcheck_core::targets::{self, Target};
use toolcheck_json::Document;

use crate::table;
use crate::tables::file_of;

/// The tables of a user's target are checked when it is read, and those that are compiled in are written alike.
#[test]
fn the_tables_of_all_targets_fit_together() {
    let mut checked = 0;
    for target in targets::all() {
        let own =
            Target::parse(&file_of(&target.id)).unwrap_or_else(|error| panic!("{}: {error}", target.id));
        for format in formats() {
            let is_there = target.shape_in(format).is_some();
            assert_eq!(own.shape_in(format).is_some(), is_there, "{} in {format}", target.id);
            checked += usize::from(is_there);
        }
    }
    assert!(checked >= 20, "only {checked} shapes");
}

/// How many objects of a shape are compiled.
fn compiled(shape: &Shape) -> usize {
    let shown = format!("{shape:?}");
    let (_, count) = shown.split_once("Objects { compiled: ").expect("it says so");
    count.split_once(',').and_then(|(count, _)| count.parse().ok()).expect("it is a number")
}

#[test]
fn an_object_is_compiled_when_it_is_asked_for() {
    let target = targets::find("anthropic").expect("it is compiled in");
    let objects = target.shape().expect("it is described").objects();
    let of_kind = objects.iter().filter(|object| object.kind() == Some(Kind::Message)).count();
    // Unlike `Target::parse`, this checks nothing.
    let target: Target = toolcheck_toml::from_str(&file_of("anthropic")).expect("it is a target");
    let shape = target.shape().expect("it is described");
    assert_eq!(compiled(shape), 0);
    assert!(shape.request().field("messages").is_some());
    assert_eq!(compiled(shape), 1);
    assert!(!shape.has_in_messages("no such key"));
    assert!(of_kind > 0 && compiled(shape) == 1 + of_kind, "{of_kind}: an outline is not compiled");
    assert!(shape.objects().len() > 50);
    assert!(compiled(shape) > 50);
}

/// Files are asked for the keys of a body before a shape is compiled.
#[test]
fn every_key_of_a_shape_is_in_its_files() {
    let mut count = 0;
    for format in formats() {
        let described =
            format!("id = \"own\"\nname = \"Own\"\nformat = \"{format}\"\n[shape]\nunseen = \"nothing\"");
        let described = Target::parse(&described).expect("it is a target");
        let shape = targets::find(format).unwrap_or(&described).shape().expect("it is described");
        let is_known = |key: &str| {
            let body = serde_json::json!({key: 1}).to_string();
            formats_with_keys(Document::read(body.as_bytes()).root()).contains(&format)
        };
        let is_in_snake_case = table("shapes", format).contains_key("snake-case");
        for object in shape.objects() {
            for field in object.fields().filter(|field| field.is_known()) {
                count += 1;
                assert!(is_known(field.key()), "{format}: {}", field.key());
                if is_in_snake_case {
                    let key = snake_case(field.key());
                    assert!(is_known(&key), "{format}: {key}");
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
}

fn snake_case(key: &str) -> String {
    key.chars().fold(String::new(), |mut snake, letter| {
        snake.extend(letter.is_ascii_uppercase().then_some('_'));
        snake.push(letter.to_ascii_lowercase());
        snake
    })
}
