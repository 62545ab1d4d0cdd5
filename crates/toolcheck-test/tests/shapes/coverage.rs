//! Every object and field of the shape files is in some body.

use std::collections::BTreeSet;

use toml::Value as Toml;

use super::bodies::{Bodies, FORMATS};
use super::exceptions::KNOWN;
use crate::testing::root;

#[test]
fn every_object_and_field_is_in_a_body() {
    let mut missing = Vec::new();
    let mut needless = Vec::new();
    let mut count = 0;
    for format in FORMATS {
        let all = described(format);
        let covered = covered(&Bodies::of(format));
        count += all.len();
        for (object, part) in all {
            let is_left_out = (KNOWN.uncovered.iter())
                .any(|known| known.format == format && known.object == object && known.part == part);
            let is_covered = covered.contains(&(object.clone(), part.clone()));
            if !is_covered && !is_left_out {
                missing.push(format!("{format} {object} {part}"));
            } else if is_covered && is_left_out {
                needless.push(format!("{format} {object} {part}"));
            }
        }
    }
    assert!(count > 1_500, "the shapes have objects and fields: {count}");
    assert!(missing.is_empty(), "{} are in no body:\n{}", missing.len(), missing.join("\n"));
    assert!(needless.is_empty(), "these are in a body after all:\n{}", needless.join("\n"));
}

/// The objects of a shape file (``), their fields (`key`) and their variants (`= object`).
fn described(format: &str) -> BTreeSet<(String, String)> {
    let file = root().join(format!("crates/toolcheck-core/shapes/{format}.toml"));
    let table: toml::Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut all = BTreeSet::new();
    for (name, object) in table["objects"].as_table().unwrap() {
        all.insert((name.clone(), String::new()));
        let keys = |part: &str| object.get(part).and_then(Toml::as_table).into_iter().flatten();
        all.extend(keys("fields").map(|(key, _)| (name.clone(), key.clone())));
        let variants = keys("variants").map(|(_, variant)| variant).chain(object.get("otherwise"));
        all.extend(variants.map(|variant| (name.clone(), format!("= {}", variant.as_str().unwrap()))));
    }
    all
}

/// The same for what the bodies of a format have.
fn covered(bodies: &Bodies) -> BTreeSet<(String, String)> {
    let mut covered = BTreeSet::new();
    for (_, body) in &bodies.all {
        for found in bodies.objects(body) {
            let value = body.pointer(&found.pointer).unwrap();
            let names: Vec<&str> = std::iter::once(found.object.name()).chain(found.object.bases()).collect();
            for name in &names {
                covered.insert(((*name).to_owned(), String::new()));
                let there = found.object.fields().filter(|field| bodies.member(value, field.key()).is_some());
                covered.extend(there.map(|field| ((*name).to_owned(), field.key().to_owned())));
            }
            let chain = found.bases.iter().chain([&found.object]);
            for (base, next) in chain.clone().zip(chain.skip(1)) {
                for name in std::iter::once(base.name()).chain(base.bases()) {
                    covered.insert((name.to_owned(), format!("= {}", next.name())));
                    covered.insert((name.to_owned(), String::new()));
                }
            }
        }
    }
    covered
}
