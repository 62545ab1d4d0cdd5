//! The tables of scenarios and checks agree.

use toolcheck_conform::{Expected, Profile, checks, evidence, scenarios, sets};

#[test]
fn each_scenario_is_whole() {
    for scenario in scenarios::all() {
        let id = &scenario.id;
        assert!(!scenario.sources.is_empty(), "{id}");
        assert!(!scenario.checks.is_empty(), "{id}");
        for expected in &scenario.checks {
            let said = [&expected.must, &expected.should, &expected.info];
            assert_eq!(said.into_iter().flatten().count(), 1, "{id}: {expected:?}");
            assert!(checks::find(expected.check()).is_some(), "{id}: {expected:?}");
        }
        for format in &scenario.formats {
            assert!(toolcheck_core::formats::find(format).is_some(), "{id}: {format}");
        }
    }
}

#[test]
fn each_scenario_has_the_name_of_its_file() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
    let files = std::fs::read_dir(folder).expect("there is such a folder").count();
    assert_eq!(scenarios::all().len(), files);
    for scenario in scenarios::all() {
        assert!(
            std::path::Path::new(folder).join(format!("{}.toml", scenario.id)).is_file(),
            "{}",
            scenario.id
        );
    }
}

#[test]
fn each_check_is_used() {
    for check in checks::ALL {
        let is_it = |expected: &Expected| expected.check() == check.id;
        assert!(scenarios::all().iter().any(|scenario| scenario.checks.iter().any(is_it)), "{}", check.id);
    }
}

#[test]
fn the_profile_of_the_documentation_is_read() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conform.md");
    let page = std::fs::read_to_string(page).expect("there is such a page");
    let (_, rest) = page.split_once("```toml profile\n").expect("it shows one");
    let (text, _) = rest.split_once("```").expect("it ends");
    let profile = Profile::read(text).expect("it is one");
    assert_eq!(profile.tools.len(), 2);
    assert!(profile.last.is_some());
    // It is enough for most of what is about one tool.
    let single = scenarios::find("single-call").expect("there is such a scenario");
    assert!(profile.apply(single).is_ok());
}

#[test]
fn what_a_scenario_needs_is_on_the_page() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conform.md");
    let page = std::fs::read_to_string(page).expect("there is such a page");
    for scenario in scenarios::all() {
        for need in scenario.needs() {
            let word =
                need.strip_prefix("tool:").map_or_else(|| format!("`{need}`"), |tool| format!("`{tool}("));
            assert!(page.contains(&word), "{}: {word}", scenario.id);
        }
        for format in scenario.then_formats.iter().chain(&scenario.formats) {
            assert!(toolcheck_core::formats::find(format).is_some(), "{}: {format}", scenario.id);
        }
        let goes_on =
            scenario.interrupt || scenario.fork || scenario.max_turns.is_some() || scenario.withdraws_tools;
        let switches = !scenario.then_formats.is_empty();
        assert!(scenario.then.is_some() || !(goes_on || switches), "{}: nobody goes on", scenario.id);
    }
}

#[test]
fn each_scenario_of_a_set_is_there_and_no_newer_than_the_set() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/sets");
    assert_eq!(sets::all().len(), std::fs::read_dir(folder).expect("there is such a folder").count());
    assert!(sets::all().is_sorted_by(|one, other| one.id < other.id), "the newest comes last");
    for set in sets::all() {
        assert!(!set.scenarios.is_empty(), "{}", set.id);
        for (number, id) in set.scenarios.iter().enumerate() {
            let scenario = scenarios::find(id);
            assert!(scenario.is_some_and(|scenario| *scenario.since <= *set.id), "{}: {id}", set.id);
            assert!(!set.scenarios[..number].contains(id), "{}: {id} is there twice", set.id);
        }
    }
}

#[test]
fn each_must_has_a_source_in_each_of_its_formats() {
    for scenario in scenarios::all() {
        for format in toolcheck_core::formats::ALL.iter().filter(|format| scenario.is_about(format.id)) {
            let held = scenario.checks.iter().filter(|expected| expected.is_held_in(Some(format.id)));
            for expected in held.clone().filter(|expected| expected.must.is_some()) {
                let sources = expected.sources_in(format.id);
                assert!(!sources.is_empty(), "{}: {} in {}", scenario.id, expected.check(), format.id);
            }
            // Neither twice nor in two ways.
            let mut checks: Vec<&str> = held.map(Expected::check).collect();
            let count = checks.len();
            checks.sort_unstable();
            checks.dedup();
            assert_eq!(checks.len(), count, "{} in {}", scenario.id, format.id);
        }
    }
}

#[test]
fn each_piece_of_evidence_is_whole_and_used() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/checks");
    let files = std::fs::read_dir(folder).expect("there is such a folder").count();
    let is_must = |check: &str| {
        let is_it = |expected: &Expected| expected.must.as_deref() == Some(check);
        scenarios::all().iter().any(|scenario| scenario.checks.iter().any(is_it))
    };
    let with_evidence: Vec<&str> =
        checks::ALL.iter().map(|check| check.id).filter(|id| !evidence::of(id).is_empty()).collect();
    assert_eq!(with_evidence.len(), files, "{with_evidence:?}");
    for id in with_evidence {
        assert!(is_must(id), "{id} is not a must of any scenario");
        for own in evidence::of(id) {
            assert!(!own.sources.is_empty() && !own.seen.is_empty(), "{id}: {own:?}");
            for format in &own.formats {
                assert!(toolcheck_core::formats::find(format).is_some(), "{id}: {format}");
            }
        }
    }
    for expected in scenarios::all().iter().flat_map(|scenario| &scenario.checks) {
        assert!(expected.sources.is_empty() || expected.must.is_some(), "{expected:?}");
    }
}

#[test]
fn a_call_after_the_end_of_a_turn_is_held_against_no_loop_of_an_api_that_says_not_to_run_it() {
    let scenario = scenarios::find("stop-says-end").expect("there is such a scenario");
    let of_anthropic = scenario.checks.iter().filter(|expected| expected.is_held_in(Some("anthropic")));
    let musts: Vec<&str> = of_anthropic.filter_map(|expected| expected.must.as_deref()).collect();
    assert_eq!(musts, ["is-not-refused"]);
}
