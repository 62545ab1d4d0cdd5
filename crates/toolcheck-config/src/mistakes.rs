//! What is said of mistakes in the files of users.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Config, parse_target};

#[derive(Deserialize)]
struct Mistake {
    text: String,
    starts: String,
    #[serde(default)]
    ends: String,
}

#[test]
fn mistakes_have_a_place_and_a_suggestion() {
    let all: BTreeMap<String, Vec<Mistake>> =
        toml::from_str(include_str!("mistakes.toml")).expect("it is TOML");
    for (kind, Mistake { text, starts, ends }) in
        all.iter().flat_map(|(kind, all)| all.iter().map(move |one| (&**kind, one)))
    {
        let error = match kind {
            "config" => Config::parse(text).map(drop).expect_err(text),
            _ => parse_target(text).map(drop).expect_err(text),
        };
        let faults: Vec<String> = error.all().map(ToString::to_string).collect();
        assert!(faults.len() == 1 || kind != "target", "{text}\n{faults:#?}");
        assert!(faults[0].starts_with(&**starts) && faults[0].ends_with(&**ends), "{text}\n{faults:#?}");
    }
}
