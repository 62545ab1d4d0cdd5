//! Sets of scenarios, frozen by year: what a loop passes today, it passes as long as neither changes.
//!
//! A scenario that is in no set yet is run, and counts from the next set on.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::scenarios::Scenario;

/// A set of scenarios.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Set {
    /// Its name: a year, and a number.
    pub id: &'static str,
    /// The ids of the scenarios in it.
    pub scenarios: Vec<String>,
}

impl Set {
    /// Whether a scenario belongs to the set.
    pub fn has(&self, scenario: &Scenario) -> bool {
        self.scenarios.contains(&scenario.id)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    scenarios: Vec<String>,
}

/// The texts of the sets, the oldest first.
const TEXTS: &[(&str, &str)] = &[("2026.1", include_str!("../sets/2026.1.toml"))];

static ALL: LazyLock<Vec<Set>> = LazyLock::new(|| {
    let read = |(id, text): &(&'static str, &str)| {
        let file: File =
            toml::from_str(text).unwrap_or_else(|error| panic!("the set {id} can be read: {error}"));
        Set { id, scenarios: file.scenarios }
    };
    TEXTS.iter().map(read).collect()
});

/// All sets, the oldest first.
pub fn all() -> &'static [Set] {
    &ALL
}

/// The set with an id.
pub fn find(id: &str) -> Option<&'static Set> {
    ALL.iter().find(|set| set.id == id)
}

/// The newest set.
pub fn newest() -> &'static Set {
    ALL.last().expect("there is a set")
}

/// The first set that a scenario belongs to.
pub fn first_with(scenario: &Scenario) -> Option<&'static Set> {
    ALL.iter().find(|set| set.has(scenario))
}
