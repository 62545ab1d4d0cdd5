//! Loops against the scenarios: one that does everything right passes, and each that does something wrong is caught by the
//! check for that.

mod agent;
mod tools;
mod wire;

use std::sync::{LazyLock, Mutex};

use serde::Deserialize;
use toolcheck_conform::{Case, Expected, Outcome, Scenario, checks, judge, scenarios};
use toolcheck_core::response;
use toolcheck_core::{Format, formats};
use toolcheck_json::Document;
use toolcheck_report::conform::{Status, Verdict};
use toolcheck_serve::{MockLog, MockProvider};

use agent::Loop;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Fault {
    /// It runs tools with whatever it can make of the arguments.
    RunsUnfinished,
    /// The last result of a turn is lost.
    LosesResults,
    /// Each call of a turn becomes a turn of its own.
    SplitsTurns,
    ChangesArguments,
    DropsReasoning,
    SwapsResults,
    /// A result says what a client wrote of an object.
    WritesObjects,
    /// Results of earlier turns are taken out.
    ForgetsResults,
    /// A turn with calls is gone once there is another one.
    ForgetsTurns,
    /// A result does not say that the tool failed.
    HidesFailures,
    /// Whatever goes wrong, the user is told that it is done.
    HidesErrors,
    RepeatsRefused,
    /// It does not try again when the server is busy or the conversation too long.
    GivesUp,
    DoesNotWait,
    NeverEnds,
    /// What came before an error is taken for the answer.
    TellsHalves,
    SendsHalves,
    WritesImages,
    /// What it has no name for is lost.
    DropsOpaque,
    /// A turn that is paused counts as the end.
    TakesPauses,
    /// A conversation that is too long loses calls, and keeps their results.
    CutsPairs,
    /// A summary takes the place of calls, and their results stay.
    CompactsApart,
    /// Whatever they are, the last two turns stay beside a summary.
    KeepsTail,
    /// A run that is ended leaves its calls without results.
    LeavesCalls,
    /// Another API gets only the texts.
    ForgetsCalls,
    /// Without tools, nothing is left of what says that there were some.
    WithdrawsAll,
    WritesCallsAsText,
    /// What is not JSON becomes an empty object in the history.
    EmptiesArguments,
    /// Each call gets an id of the loop's own, and so does its result.
    RenamesIds,
    /// Until another API is spoken to, results are texts in an object.
    WrapsResults,
    /// It runs tools with whatever it can make of the arguments, and writes that into the history.
    RunsEmptied,
    /// An empty message stands in place of calls.
    EmptiesTurns,
    /// The history goes on without a turn with calls.
    SkipsTurns,
    /// A copy of a conversation ends with calls.
    ForksApart,
    /// A sub-agent begins with the call that it is run by.
    InheritsCalls,
}

type CaughtBy = (String, Option<String>);

/// The checks that must catch each fault, and for each a scenario in which it does so if it is not any.
static CAUGHT: LazyLock<Vec<(Fault, Vec<CaughtBy>)>> = LazyLock::new(|| {
    include_str!("caught.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
});

/// A scenario in a format, streamed or not.
type Way = (&'static Scenario, &'static Format, bool);

fn ways() -> impl Iterator<Item = Way> {
    let of_scenario = |scenario: &'static Scenario| {
        let is_about = |format: &&&Format| scenario.is_about(format.id);
        formats::ALL
            .iter()
            .filter(is_about)
            .flat_map(move |format| [false, true].map(|is_streamed| (scenario, *format, is_streamed)))
    };
    scenarios::all().iter().flat_map(of_scenario).filter(|(scenario, format, is_streamed)| {
        // The frames of Converse are binary, and are read from recordings.
        let is_binary = *is_streamed && format.id == "bedrock-converse";
        // A server that asks to wait costs its time, and so do megabytes.
        let is_slow = ["rate-limited-mid-loop", "huge-result"].contains(&&*scenario.id)
            && (format.id != "anthropic" || *is_streamed);
        (*is_streamed || !scenario.wants_stream(format.id)) && !is_binary && !is_slow
    })
}

fn verdicts_of(way: Way, fault: Option<Fault>) -> Vec<(String, Verdict)> {
    played(way, fault).0
}

/// What is said of a scenario, and what happened in it.
fn played(
    (scenario, format, is_streamed): Way,
    fault: Option<Fault>,
) -> (Vec<(String, Verdict)>, MockLog, Outcome) {
    let then_format = scenario.then_format(format.id);
    let mut provider = MockProvider::builder().turns(scenario.turns.clone());
    if then_format.is_none() {
        provider = provider.target(format.id).unwrap();
    }
    let provider = provider.start().unwrap();
    let url = provider.url();
    let mut client = Loop::new(&url, format, is_streamed, fault);
    client.is_interrupted = scenario.interrupt;
    client.most_requests = scenario.max_turns;
    let mut outcome = client.say(&scenario.prompt);
    if let Some(then) = &scenario.then {
        client.is_interrupted = false;
        if scenario.fork {
            client.fork();
        }
        client.most_requests = None;
        client.declares_tools = !scenario.withdraws_tools;
        if let Some(format) = then_format.and_then(formats::find) {
            client.switch(format);
        }
        outcome = client.say(then).after(outcome);
    }
    let run = provider.finish();
    let way = if is_streamed { "streamed" } else { "whole" };
    let name = format!("{} {} {way}", scenario.id, format.id);
    let verdicts = judge(&Case { scenario, run: &run, outcome: &outcome });
    let verdicts = verdicts.into_iter().map(|verdict| (name.clone(), verdict)).collect();
    (verdicts, run, outcome)
}

fn told(verdicts: &[(String, Verdict)]) -> String {
    let line = |(name, verdict): &(String, Verdict)| {
        format!("{name}: {} {}: {}", verdict.status.as_str(), verdict.check, verdict.reason)
    };
    verdicts.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Does something with each of these, on a few threads.
fn each<T: Copy + Send>(all: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let left: Mutex<Vec<T>> = Mutex::new(all.into_iter().collect());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().pop();
                    let Some(next) = next else { return };
                    work(next);
                }
            });
        }
    });
}

#[test]
fn a_loop_without_a_fault_passes() {
    let all = Mutex::new(Vec::new());
    each(ways(), |way| {
        let verdicts = verdicts_of(way, None);
        all.lock().unwrap().extend(verdicts);
    });
    let mut verdicts = all.into_inner().unwrap();
    assert!(verdicts.len() > 2000, "{}", verdicts.len());
    verdicts.retain(|(_, verdict)| !matches!(verdict.status, Status::Pass | Status::Info));
    // What should be, and is not: the loop keeps what the model has done wrong with its ids.
    verdicts.retain(|(name, verdict)| {
        verdict.status == Status::Fail || !["duplicate-id", "reused-id"].iter().any(|id| name.starts_with(id))
    });
    assert!(verdicts.is_empty(), "{}:\n{}", verdicts.len(), told(&verdicts));
}

#[test]
fn ids_may_be_renamed_alike_in_calls_and_results_and_texts_be_put_into_objects() {
    let ids = ["foreign-id", "single-call", "parallel-calls", "switch-provider"];
    for way in ways().filter(|(scenario, ..)| ids.contains(&&*scenario.id)) {
        let fault = if way.0.then_formats.is_empty() { Fault::RenamesIds } else { Fault::WrapsResults };
        let mut verdicts = verdicts_of(way, Some(fault));
        assert!(!verdicts.is_empty());
        verdicts.retain(|(_, verdict)| verdict.status != Status::Pass);
        assert!(verdicts.is_empty(), "{}", told(&verdicts));
    }
}

#[test]
fn results_of_other_calls_are_caught_in_each_format() {
    for way in ways().filter(|(scenario, ..)| scenario.id == "parallel-calls") {
        let verdicts = verdicts_of(way, Some(Fault::SwapsResults));
        let is_caught = |(_, verdict): &(String, Verdict)| {
            verdict.check == "keeps-order" && verdict.status == Status::Fail
        };
        assert!(verdicts.iter().any(is_caught), "{}", told(&verdicts));
    }
}

#[test]
fn each_fault_is_caught_by_the_check_for_it() {
    let all = CAUGHT.iter().flat_map(|(fault, caught)| caught.iter().map(move |one| (*fault, one)));
    each(all, |(fault, (check, scenario))| {
        let is_about = |(one, ..): &Way| {
            let is_it = |expected: &Expected| expected.check() == check;
            scenario.as_ref().is_none_or(|scenario| *scenario == one.id) && one.checks.iter().any(is_it)
        };
        let is_caught = |(_, verdict): &(String, Verdict)| {
            verdict.check == *check && matches!(verdict.status, Status::Fail | Status::Weak)
        };
        let mut seen = Vec::new();
        let found = ways().filter(is_about).any(|way| {
            let verdicts = verdicts_of(way, Some(fault));
            let is_found = verdicts.iter().any(is_caught);
            seen.extend(verdicts);
            is_found
        });
        assert!(found, "{fault:?} is not caught by {check}:\n{}", told(&seen));
    });
    for check in checks::ALL {
        let mut caught = CAUGHT.iter().flat_map(|(_, caught)| caught);
        assert!(caught.any(|(id, _)| *id == check.id), "nothing fails {}", check.id);
    }
}

/// The texts that the model said, and the names of the tools that it called last.
fn said(run: &MockLog) -> (Vec<String>, Vec<String>) {
    let mut texts = Vec::new();
    let mut last = Vec::new();
    for exchange in &run.exchanges {
        let record = exchange.response.to_string();
        let document = Document::read(record.as_bytes());
        let format = formats::find(exchange.format).unwrap();
        let choices = response::read(format, document.root()).map(|(choices, _)| choices).unwrap_or_default();
        last = choices.iter().flat_map(|choice| &choice.calls).filter_map(|call| call.name.clone()).collect();
        texts.extend(choices.into_iter().map(|choice| choice.text));
    }
    (texts, last)
}

#[test]
fn nothing_is_said_of_the_model_that_it_did_not_say() {
    // Each fault in each scenario, in ways that take turns.
    let all = CAUGHT.iter().enumerate().flat_map(|(number, (fault, _))| {
        scenarios::all().iter().enumerate().filter_map(move |(at, scenario)| {
            let own: Vec<Way> = ways().filter(|(one, ..)| one.id == scenario.id).collect();
            let slow = *fault == Fault::NeverEnds && scenario.id == "huge-result";
            (!slow && !own.is_empty()).then(|| (*fault, own[(number * 7 + at) % own.len()]))
        })
    });
    let claims = Mutex::new(0);
    each(all.collect::<Vec<_>>(), |(fault, way)| {
        let (verdicts, run, outcome) = played(way, Some(fault));
        let (texts, last) = said(&run);
        let first = outcome.first.as_deref().map_or("", |first| &first.text);
        for (name, verdict) in &verdicts {
            let reason = &verdict.reason;
            for turn in way.0.turns.iter().filter(|turn| !turn.text.is_empty()) {
                let is_claimed = reason.contains(&format!("`{}`", turn.text));
                let is_told = outcome.text.contains(&turn.text) || first.contains(&turn.text);
                let is_said = texts.iter().any(|text| text.contains(&turn.text));
                assert!(!is_claimed || is_told || is_said, "{fault:?} {name}: {reason}");
                *claims.lock().unwrap() += usize::from(is_claimed || reason.contains("the run ended with"));
            }
            if let Some((text, _)) =
                reason.strip_prefix("the model said `").and_then(|rest| rest.split_once("` last"))
            {
                assert_eq!(texts.last().map(|last| last.trim()), Some(text), "{fault:?} {name}: {reason}");
            }
            if let Some((_, rest)) = reason.split_once("the run ended with the call of `") {
                let (tool, _) = rest.split_once('`').unwrap();
                assert!(last.iter().any(|name| name == tool), "{fault:?} {name}: {reason}");
            }
            if reason.contains("unanswered, and") {
                assert!(!last.is_empty(), "{fault:?} {name}: {reason}");
            }
        }
        // A refusal is only told with what says that there is one.
        for refused in run.refused() {
            assert!(refused.source.is_some(), "{fault:?} {:?}: {refused:?}", way.0.id);
        }
    });
    let claims = claims.into_inner().unwrap();
    assert!(claims > 0, "nothing was claimed");
}

#[test]
fn of_a_history_without_calls_nothing_is_judged_that_needs_them() {
    let of_calls = [
        "answers-every-call",
        "keeps-turn",
        "keeps-arguments",
        "keeps-opaque",
        "keeps-order",
        "keeps-reasoning",
        "keeps-result",
        "runs-only-finished",
    ];
    let ids = ["single-call", "parallel-calls", "broken-arguments", "reasoning-kept"];
    for way in ways().filter(|(scenario, ..)| ids.contains(&&*scenario.id)) {
        let verdicts = verdicts_of(way, Some(Fault::WritesCallsAsText));
        let (named, others): (Vec<_>, Vec<_>) =
            verdicts.into_iter().partition(|(_, verdict)| of_calls.contains(&&*verdict.check));
        assert!(!named.is_empty());
        for (name, verdict) in &named {
            assert_eq!(verdict.status, Status::Inconclusive, "{name}: {}: {}", verdict.check, verdict.reason);
            assert!(verdict.reason.contains("as text"), "{}", verdict.reason);
        }
        // What does not need them is judged.
        assert!(others.iter().all(|(_, verdict)| verdict.status == Status::Pass), "{}", told(&others));
    }
}

#[test]
fn of_a_run_without_requests_nothing_is_judged() {
    for scenario in scenarios::all() {
        let run = MockProvider::builder().turns(scenario.turns.clone()).start().unwrap().finish();
        let judged = |outcome: &Outcome| judge(&Case { scenario, run: &run, outcome });
        for verdict in judged(&Outcome::done("All done.")) {
            assert!(
                matches!(verdict.status, Status::Inconclusive | Status::Info)
                    && verdict.reason == "no request was sent",
                "{}: {}: {}",
                scenario.id,
                verdict.check,
                verdict.reason
            );
        }
        // An error before the first request is one.
        for verdict in judged(&Outcome::error("TypeError")) {
            let is_end = verdict.check == "finishes";
            let wrong = [Status::Fail, Status::Weak].contains(&verdict.status);
            assert_eq!(is_end && verdict.status != Status::Info, wrong, "{}: {}", scenario.id, verdict.check);
        }
    }
}
