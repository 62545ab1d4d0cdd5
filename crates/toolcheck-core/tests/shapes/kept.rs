//! Objects that were right before are not checked again.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use toolcheck_core::shape::{ModelFacts, Shape, ShapeFault};
use toolcheck_core::targets;
use toolcheck_json::{Document, escape_step};

/// Each body with a wrong object behind one like it must have the faults that it has when nothing was kept before.
#[test]
fn what_is_kept_hides_no_fault() {
    let (mut found, mut models) = (0, 0);
    for target in targets::all() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/shapes").join(&*target.id);
        for path in bodies(&folder) {
            let text = std::fs::read_to_string(&path).expect("the fixture is read");
            let body: Json = serde_json::from_str(&text).expect("the fixture is JSON");
            let shape = target.shape().expect("the target has a shape");
            // Those of earlier bodies are kept too.
            let kept = shape.facts_for(None);
            let mut doubled = Vec::new();
            double(&body, &mut Vec::new(), &mut doubled);
            for body in doubled {
                // Nothing was kept for a model that is named for the first time.
                models += 1;
                let new = shape.facts_for(Some(&format!("none-{models}")));
                let [with, without] = [&kept, &new].map(|facts| faults(shape, facts, &body));
                assert_eq!(with, without, "{}: {body}", path.display());
                found += with.len();
            }
        }
    }
    assert!(found > 1000, "only {found} faults");
}

fn bodies(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let is_body = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with(".json") && !name.ends_with(".expect.json")
    };
    files.filter(is_body).collect()
}

/// The body with each element of each array again, changed in all ways.
fn double(body: &Json, way: &mut Vec<String>, doubled: &mut Vec<Json>) {
    let pointer: String = way.iter().map(|step| format!("/{step}")).collect();
    match body.pointer(&pointer) {
        Some(Json::Array(elements)) => {
            for element in elements {
                for changed in changes(element) {
                    let mut whole = body.clone();
                    let list = whole.pointer_mut(&pointer).and_then(Json::as_array_mut);
                    list.expect("the list is there").extend([element.clone(), changed]);
                    doubled.push(whole);
                }
            }
            for index in 0..elements.len() {
                way.push(index.to_string());
                double(body, way, doubled);
                way.pop();
            }
        }
        Some(Json::Object(members)) => {
            for key in members.keys() {
                way.push(escape_step(key).into_owned());
                double(body, way, doubled);
                way.pop();
            }
        }
        _ => {}
    }
}

/// A value with one thing changed, at any depth.
fn changes(value: &Json) -> Vec<Json> {
    let mut all = Vec::new();
    let Json::Object(members) = value else { return all };
    all.push(with(value, "zzz", json!(1)));
    for (key, member) in members {
        let mut less = value.clone();
        less.as_object_mut().expect("it is an object").remove(key);
        all.push(less);
        for other in [json!(7), json!(""), json!("zzz"), Json::Null, json!([]), json!({})] {
            all.push(with(value, key, other));
        }
        let inner = match member {
            Json::Array(elements) => elements.first().map_or(Vec::new(), changes),
            _ => changes(member),
        };
        for changed in inner {
            let changed = if member.is_array() { json!([changed]) } else { changed };
            all.push(with(value, key, changed));
        }
    }
    all
}

fn with(value: &Json, key: &str, member: Json) -> Json {
    let mut value = value.clone();
    value[key] = member;
    value
}

fn faults(shape: &Shape, facts: &ModelFacts, body: &Json) -> Vec<String> {
    let text = body.to_string();
    let document = Document::read(text.as_bytes());
    let faults = shape.check_body(facts, document.root(), false);
    let shown = |fault: &ShapeFault<'_>| {
        let place = (fault.parent, &fault.key, fault.place(&document));
        format!("{:?} {place:?} {:?}", fault.kind, fault.detail)
    };
    faults.iter().map(shown).collect()
}
