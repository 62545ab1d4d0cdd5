//! Loops against the scenarios: one that does everything right passes, and each that does something wrong is caught by the
//! check for that.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use toolcheck_conform::{Case, Expected, Outcome, Scenario, Status, Verdict, checks, judge, scenarios};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Reasoning, ToolOutput, Turn};
use toolcheck_core::response::{self, Choice};
use toolcheck_core::{Format, formats};
use toolcheck_json::Document;
use toolcheck_serve::MockProvider;

/// An agent loop.
struct Loop<'l> {
    url: &'l str,
    format: &'static Format,
    is_streamed: bool,
    /// What it does wrong.
    fault: Option<Fault>,
    history: Conversation,
}

/// What a loop may do wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// A result does not say that the tool failed.
    HidesFailures,
    /// Whatever goes wrong, the user is told that it is done.
    HidesErrors,
    /// A refused request is sent again.
    RepeatsRefused,
    /// It does not try again when the server is busy.
    GivesUp,
    /// It tries again at once.
    DoesNotWait,
    NeverEnds,
}

/// The check that must catch each fault.
const CAUGHT: [(Fault, &str); 16] = [
    (Fault::RunsUnfinished, "runs-only-finished"),
    (Fault::RunsUnfinished, "never-says-default"),
    (Fault::LosesResults, "answers-every-call"),
    (Fault::LosesResults, "is-not-refused"),
    (Fault::LosesResults, "is-valid"),
    (Fault::SplitsTurns, "keeps-turn"),
    (Fault::ChangesArguments, "keeps-arguments"),
    (Fault::DropsReasoning, "keeps-reasoning"),
    (Fault::SwapsResults, "keeps-order"),
    (Fault::HidesFailures, "tells-failure"),
    (Fault::HidesErrors, "reports-error"),
    (Fault::HidesErrors, "finishes"),
    (Fault::RepeatsRefused, "respects-refusal"),
    (Fault::GivesUp, "tries-again"),
    (Fault::DoesNotWait, "waits"),
    (Fault::NeverEnds, "does-not-loop"),
];

impl Loop<'_> {
    fn path(&self) -> &'static str {
        match (self.format.id, self.is_streamed) {
            ("anthropic", _) => "/v1/messages",
            ("bedrock-converse", false) => "/model/m/converse",
            ("bedrock-converse", true) => "/model/m/converse-stream",
            ("cohere", _) => "/v2/chat",
            ("gemini", false) => "/v1beta/models/m:generateContent",
            ("gemini", true) => "/v1beta/models/m:streamGenerateContent?alt=sse",
            ("ollama", _) => "/api/chat",
            ("openai-responses", _) => "/v1/responses",
            _ => "/v1/chat/completions",
        }
    }

    /// Sends the history, and returns the status, the seconds to wait and the body; `None` if the connection broke.
    fn send(&self) -> Option<(u16, u64, String)> {
        let mut body = self.format.write_request(&self.history).body;
        if !matches!(self.format.id, "gemini" | "bedrock-converse") {
            body["model"] = json!("m");
            body["stream"] = json!(self.is_streamed);
        }
        let body = body.to_string();
        let host = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        let (path, length) = (self.path(), body.len());
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).ok()?;
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let wait = head.split("retry-after: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        let body = if head.contains("transfer-encoding: chunked") {
            chunks(&bytes[end + 4..])?
        } else {
            bytes[end + 4..].to_vec()
        };
        Some((
            head[9..12].parse().ok()?,
            wait.unwrap_or_default(),
            String::from_utf8_lossy(&body).into_owned(),
        ))
    }

    fn say(&mut self, text: &str) -> Outcome {
        let outcome = self.run(text);
        if self.fault == Some(Fault::HidesErrors) && !outcome.is_done {
            return Outcome::done("");
        }
        outcome
    }

    fn run(&mut self, text: &str) -> Outcome {
        self.history.turns.push(Turn::User(text.to_owned()));
        let mut tries = 0;
        let most = if self.fault == Some(Fault::NeverEnds) { 45 } else { 12 };
        for _ in 0..most {
            let Some((status, wait, body)) = self.send() else {
                return Outcome::error("the connection broke");
            };
            let may_pass = [429, 500, 503, 529].contains(&status) && self.fault != Some(Fault::GivesUp);
            if (may_pass || status != 200 && self.fault == Some(Fault::RepeatsRefused)) && tries < 2 {
                tries += 1;
                let waits = self.fault != Some(Fault::DoesNotWait);
                std::thread::sleep(Duration::from_secs(if waits { wait } else { 0 }));
                continue;
            }
            if status != 200 {
                return Outcome::error(format!("{status}: {body}"));
            }
            let Some(said) = self.read(&body) else { return Outcome::error("nothing can be read") };
            if !said.is_whole && self.fault != Some(Fault::RunsUnfinished) && !said.calls.is_empty() {
                return Outcome::error("the model was cut off");
            }
            if self.go_on(&said) {
                return Outcome::done(said.text);
            }
            if self.repeats_itself() && self.fault != Some(Fault::NeverEnds) {
                return Outcome::error("the model repeats itself");
            }
        }
        Outcome::error("too many turns")
    }

    /// Adds what the model said and what its tools returned to the history; true if the model is done.
    fn go_on(&mut self, said: &Choice) -> bool {
        let calls: Vec<_> =
            said.calls.iter().enumerate().map(|(number, call)| self.call(number, call)).collect();
        let mut outputs: Vec<ToolOutput> =
            calls.iter().map(|(call, arguments)| self.output(call, arguments.as_ref())).collect();
        let mut calls: Vec<Call> = calls.into_iter().map(|(call, _)| call).collect();
        let last = outputs.len().saturating_sub(1);
        match self.fault {
            Some(Fault::LosesResults) => drop(outputs.pop()),
            Some(Fault::SwapsResults) if last > 0 => {
                let first = std::mem::take(&mut outputs[0].text);
                let other = std::mem::replace(&mut outputs[last].text, first);
                outputs[0].text = other;
            }
            Some(Fault::ChangesArguments) => {
                calls
                    .iter_mut()
                    .for_each(|call| drop(call.arguments.insert("text".to_owned(), json!("other"))));
            }
            _ => {}
        }
        let mut turn = Assistant::new(if said.text.trim().is_empty() { "" } else { &said.text });
        for block in said.reasoning.iter().filter(|_| self.fault != Some(Fault::DropsReasoning)) {
            turn = turn.with_reasoning(Reasoning::new(&*block.text, block.signature.clone()));
        }
        let is_done = calls.is_empty();
        if self.fault == Some(Fault::SplitsTurns) && calls.len() > 1 {
            for (call, output) in calls.into_iter().zip(outputs) {
                self.history.turns.push(Turn::Assistant(Assistant::new("").with_calls(vec![call])));
                self.history.turns.push(Turn::Results(vec![output]));
            }
            return false;
        }
        self.history.turns.push(Turn::Assistant(turn.with_calls(calls)));
        if !outputs.is_empty() {
            self.history.turns.push(Turn::Results(outputs));
        }
        is_done
    }

    /// Whether the last five turns of the model are the same calls.
    fn repeats_itself(&self) -> bool {
        let of_model = |turn: &Turn| match turn {
            Turn::Assistant(said) => Some(
                said.calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect::<Vec<_>>(),
            ),
            _ => None,
        };
        let turns: Vec<_> = self.history.turns.iter().rev().filter_map(of_model).take(5).collect();
        turns.len() == 5 && turns.windows(2).all(|pair| pair[0] == pair[1])
    }

    fn output(&self, call: &Call, arguments: Option<&Map<String, Json>>) -> ToolOutput {
        let (text, failed) = match run(&call.name, arguments) {
            (_, true) if self.fault == Some(Fault::HidesFailures) => ("ok".to_owned(), false),
            ran => ran,
        };
        let mut output = call.output(text);
        output.failed = failed;
        output
    }

    /// The call for the history, and the arguments to run it with; `None` if it is not to be run.
    fn call(&self, number: usize, call: &response::ChoiceCall) -> (Call, Option<Map<String, Json>>) {
        let read = match &*call.arguments {
            "" => Some(Map::new()),
            text => serde_json::from_str(text).ok(),
        };
        let id = call.id.clone().filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| format!("call{}", self.history.turns.len() * 100 + number));
        let made = Call::new(id, call.name.clone().unwrap_or_default(), read.clone().unwrap_or_default());
        (made, if self.fault == Some(Fault::RunsUnfinished) { Some(read.unwrap_or_default()) } else { read })
    }

    fn read(&self, body: &str) -> Option<Choice> {
        let text = if self.is_streamed { json!(body).to_string() } else { body.to_owned() };
        let document = Document::read(text.as_bytes());
        response::read(self.format, document.root())?.0.into_iter().next()
    }
}

/// The body of a response that came in chunks; `None` if the last one did not come.
fn chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?, 16).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend(rest.get(line + 2..line + 2 + length)?);
        rest = rest.get(line + 2 + length + 2..)?;
    }
}

/// The six standard tools.
fn run(tool: &str, arguments: Option<&Map<String, Json>>) -> (String, bool) {
    let Some(arguments) = arguments else {
        return ("The arguments are not a JSON object; the tool was not run.".to_owned(), true);
    };
    let text = arguments.get("text").and_then(Json::as_str);
    match (tool, text) {
        ("fail", _) => ("TOOL FAILED".to_owned(), true),
        ("none", _) => ("nothing to say".to_owned(), false),
        ("empty", _) => (String::new(), false),
        ("optional", text) if text.is_some() || arguments.is_empty() => {
            (format!("got {}", text.unwrap_or("DEFAULT")), false)
        }
        ("echo" | "slow", Some(text)) => (format!("got {text}"), false),
        ("echo" | "slow" | "optional", _) => ("The argument `text` is missing.".to_owned(), true),
        _ => (format!("There is no tool `{tool}`."), true),
    }
}

/// The verdicts on a loop in each scenario that is about a check, or in all, with their names.
fn verdicts(fault: Option<Fault>, about: Option<&str>) -> Vec<(String, Verdict)> {
    let mut verdicts = Vec::new();
    let is_about = |expected: &Expected| Some(expected.check()) == about;
    for scenario in scenarios::all() {
        if about.is_some() && !scenario.checks.iter().any(is_about) {
            continue;
        }
        for format in formats::ALL {
            if !scenario.formats.is_empty() && !scenario.formats.iter().any(|own| own == format.id) {
                continue;
            }
            for is_streamed in [false, true] {
                // The frames of Converse are binary, and are read from recordings.
                let is_binary = is_streamed && format.id == "bedrock-converse";
                let is_tried = (is_streamed || !scenario.streamed) && !is_binary;
                // A server that asks to wait costs its time.
                let is_slow =
                    scenario.id == "rate-limited-mid-loop" && (format.id != "anthropic" || is_streamed);
                if is_tried && !is_slow {
                    let way = if is_streamed { "streamed" } else { "whole" };
                    let name = format!("{} {} {way}", scenario.id, format.id);
                    let found = verdicts_of(scenario, format, is_streamed, fault);
                    verdicts.extend(found.into_iter().map(|verdict| (name.clone(), verdict)));
                }
            }
        }
    }
    verdicts
}

fn verdicts_of(
    scenario: &Scenario,
    format: &'static Format,
    is_streamed: bool,
    fault: Option<Fault>,
) -> Vec<Verdict> {
    let provider = MockProvider::builder().target(format.id).unwrap().turns(scenario.turns.clone());
    let provider = provider.start().unwrap();
    let url = provider.url();
    let mut client = Loop { url: &url, format, is_streamed, fault, history: Conversation::default() };
    let mut outcome = client.say(&scenario.prompt);
    if let Some(then) = &scenario.then {
        outcome = client.say(then);
    }
    let run = provider.finish();
    judge(&Case { scenario, run: &run, outcome: &outcome })
}

fn told(verdicts: &[(String, Verdict)]) -> String {
    let line = |(name, verdict): &(String, Verdict)| {
        format!("{name}: {} {}: {}", verdict.status.as_str(), verdict.check.id, verdict.reason)
    };
    verdicts.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_loop_without_a_fault_passes() {
    let mut verdicts = verdicts(None, None);
    assert!(verdicts.len() > 1500, "{}", verdicts.len());
    verdicts.retain(|(_, verdict)| !matches!(verdict.status, Status::Pass | Status::Info));
    // What should be, and is not: the loop keeps what the model has done wrong with its ids.
    verdicts.retain(|(name, verdict)| {
        verdict.status == Status::Fail || !["duplicate-id", "reused-id"].iter().any(|id| name.starts_with(id))
    });
    assert!(verdicts.is_empty(), "{}:\n{}", verdicts.len(), told(&verdicts));
}

#[test]
fn each_fault_is_caught_by_the_check_for_it() {
    for (fault, check) in CAUGHT {
        let found = verdicts(Some(fault), Some(check));
        let is_caught = |(_, verdict): &(String, Verdict)| {
            verdict.check.id == check && matches!(verdict.status, Status::Fail | Status::Weak)
        };
        assert!(found.iter().any(is_caught), "{fault:?} is not caught by {check}:\n{}", told(&found));
    }
    for check in checks::ALL {
        assert!(CAUGHT.iter().any(|(_, id)| *id == check.id), "nothing fails {}", check.id);
    }
}
