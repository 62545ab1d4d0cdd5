//! The files of data against what they are about.

use std::collections::BTreeSet;

use toolcheck_core::readers::{self, Policy, SourceKind};

use crate::table;
use crate::testing::ids_in;

/// A list of a table; empty if it is not there.
fn list<'t>(table: &'t toml::Table, key: &str) -> &'t [toml::Value] {
    table.get(key).and_then(|list| list.as_array()).map_or(&[], Vec::as_slice)
}

fn texts<'t>(table: &'t toml::Table, key: &str) -> Vec<&'t str> {
    list(table, key).iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn each_protocol_is_valid() {
    for id in ids_in("events", "toml") {
        let protocol = table("events", &id);
        assert!(readers::find(&id).is_some(), "{id}");
        let sources = texts(&protocol, "sources");
        assert!(sources.iter().all(|source| source.starts_with("https://")), "{id}");
        assert!(!sources.is_empty(), "{id}");
        assert!(!list(&protocol, "shown-by").is_empty(), "{id}");
        for event in list(&protocol, "event") {
            assert!(event.get("kind").is_some() != event.get("has").is_some(), "{id}: {event:?}");
        }
    }
}

/// The name of an event in phases: if nothing says it, its kind, or the last key of the first place that it has.
fn name_of(event: &toml::Value) -> &str {
    let said = event.get("named").or(event.get("kind")).or(event.get("has"));
    let path = said.and_then(|said| said.as_str()).unwrap_or_default();
    let is_said = event.get("named").or(event.get("kind")).is_some();
    if is_said { path } else { path.split('|').next().and_then(|path| path.split('.').next_back()).unwrap() }
}

#[test]
fn phases_name_events_and_phases() {
    let mut count = 0;
    for id in ids_in("events", "toml") {
        let protocol = table("events", &id);
        let events: BTreeSet<&str> = list(&protocol, "event").iter().map(name_of).collect();
        for begin in texts(&protocol, "begins") {
            assert!(events.contains(begin), "{id}: {begin}");
        }
        let phases = list(&protocol, "phase");
        let names: Vec<&str> = phases.iter().map(|phase| phase["name"].as_str().unwrap()).collect();
        for phase in phases {
            let of = |key: &str| phase.get(key).and_then(|of| of.as_table()).into_iter().flatten();
            for (event, _) in of("to").chain(of("refuses")) {
                assert!(events.contains(&**event), "{id}: {event}");
                count += 1;
            }
            for (_, to) in of("to") {
                assert!(names.contains(&to.as_str().unwrap()), "{id}: {to}");
            }
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn each_sort_has_a_policy_with_reasons() {
    for kind in SourceKind::ALL {
        assert!(kind.policy().rules().count() > 0);
    }
    assert!(
        [Policy::of_next_request(), Policy::of_sent_messages()].iter().all(|one| one.rules().count() > 0)
    );
    for id in ids_in("readers", "toml") {
        for (rule, entry) in table("readers", &id) {
            let because = entry.get("because").and_then(|because| because.as_str()).unwrap_or_default();
            assert!(!because.is_empty(), "{id}: {rule}");
        }
    }
}

#[test]
fn each_place_in_an_order_is_taken_once() {
    for folder in ["envelopes", "errors", "shapes"] {
        let mut places = BTreeSet::new();
        for id in ids_in(folder, "toml") {
            assert!(places.insert(table(folder, &id)["order"].as_integer().unwrap()), "{folder}/{id}");
        }
    }
}
