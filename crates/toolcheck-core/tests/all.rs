//! The tests of the readers, writers and tables, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod classes;
mod data;
mod detection;
mod diff;
mod endpoint;
mod expressions;
mod histories;
mod marks;
mod names;
mod pasted;
mod patterns;
mod protocols;
mod python;
mod recognise;
mod round_trip;
mod shapes;
mod streams;
mod tables;
mod testing;
mod tools;
mod unread;
mod unsupported;

// Modules of the library itself, some with their tests: what they do can't be seen from outside. The rest of what is in them
// is used by the library.
#[allow(dead_code, unreachable_pub)]
#[path = "../src/diff/align.rs"]
mod align;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/assembly/by_path.rs"]
mod by_path;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/targets/shape/cache.rs"]
mod cache;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/diff/canonical.rs"]
mod canonical;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/targets/shape/case.rs"]
mod case;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/recognise/escapes.rs"]
mod escapes;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/recognise/expression.rs"]
mod expression;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/keys.rs"]
mod keys;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/readers/common/literal.rs"]
mod literal;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/targets/pattern/plain.rs"]
mod plain;
#[allow(dead_code, unreachable_pub)]
#[path = "../src/exchange/timing.rs"]
mod timing;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use toolcheck_core::{targets, text};

/// Errors in the forms in which logs and people have them.
#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Errors {
    /// By what they show: what each is read as, and its text.
    read: BTreeMap<String, Vec<(String, String)>>,
    /// The rule that is the first to be recognised, and the text.
    pasted: Vec<(String, String)>,
    /// What is captured under a name, what it is, and the text.
    captures: Vec<(String, String, String)>,
    /// Texts that begin like others, and go on otherwise.
    begins_alike: Vec<String>,
    /// The framework that raises it, the rule, what is captured, and the text.
    of_frameworks: Vec<(String, String, BTreeMap<String, String>, String)>,
}

static ERRORS: LazyLock<Errors> =
    LazyLock::new(|| serde_json::from_str(include_str!("errors.json")).unwrap());

/// A file of a folder of data.
fn table(folder: &str, id: &str) -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("{id}.toml"));
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}
