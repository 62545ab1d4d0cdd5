//! The loop.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use toolcheck_conform::Outcome;
use toolcheck_core::Format;
use toolcheck_core::conversation::{Assistant, Call, Conversation, Reasoning, ToolOutput, Turn};
use toolcheck_core::ir::Executor;
use toolcheck_core::response::{self, Choice};
use toolcheck_json::Document;

use super::Fault;
use super::tools::{HALF, run};
use super::wire;

pub(crate) struct Loop<'l> {
    url: &'l str,
    format: &'static Format,
    is_streamed: bool,
    fault: Option<Fault>,
    history: Conversation,
    /// The messages that are sent back as they came, by the number of their turn.
    verbatim: BTreeMap<usize, Json>,
    /// The arguments that are not JSON, by the id of their call.
    broken: BTreeMap<String, String>,
    /// Whether the user ends the run as soon as `slow` is called.
    pub(crate) is_interrupted: bool,
    /// How many requests a run may send.
    pub(crate) most_requests: Option<u32>,
    pub(crate) declares_tools: bool,
}

/// What comes of a turn of the model.
enum Next {
    Done,
    GoOn,
    Stopped,
}

/// More tokens than this are too many.
const NEARLY_FULL: u64 = 100_000;

/// The tokens of the request, whatever the API calls them.
fn tokens(body: &str) -> u64 {
    let keys = ["input_tokens", "prompt_tokens", "promptTokenCount", "inputTokens", "prompt_eval_count"];
    let after = keys.iter().flat_map(|key| body.match_indices(key).map(|(at, key)| &body[at + key.len()..]));
    let number = |rest: &str| {
        let rest = rest.trim_start_matches(['"', '\\', ':', ' ']);
        rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
    };
    after.filter_map(number).max().unwrap_or_default()
}

/// What the APIs say of a conversation that is too long.
const TOO_LONG: [&str; 3] = ["too long", "maximum context", "exceeds the maximum number of tokens"];

impl<'l> Loop<'l> {
    pub(crate) fn new(
        url: &'l str,
        format: &'static Format,
        is_streamed: bool,
        fault: Option<Fault>,
    ) -> Self {
        Self {
            url,
            format,
            is_streamed,
            fault,
            history: Conversation::default(),
            verbatim: BTreeMap::new(),
            broken: BTreeMap::new(),
            is_interrupted: false,
            most_requests: None,
            declares_tools: true,
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn runs_unfinished(&self) -> bool {
        self.has(Fault::RunsUnfinished) || self.has(Fault::RunsEmptied)
    }

    /// Goes back to before the model's last answer.
    pub(crate) fn fork(&mut self) {
        let turns = &mut self.history.turns;
        let is_answer = |turn: &Turn| matches!(turn, Turn::Assistant(_)) && turn.calls().is_empty();
        turns.pop_if(|last| is_answer(last));
        if self.fault == Some(Fault::ForksApart) {
            turns.pop_if(|last| matches!(last, Turn::Results(_)));
        }
        self.verbatim.clear();
    }

    /// Runs another agent, and returns its answer.
    fn delegate(&self, call: &Call, text: &str) -> (String, bool) {
        let mut own = Self::new(self.url, self.format, self.is_streamed, self.fault);
        if self.has(Fault::InheritsCalls) {
            own.history = self.history.clone();
            let mut said = Assistant::default();
            said.calls = vec![call.clone()];
            own.history.turns.push(Turn::Assistant(said));
        }
        let outcome = own.say(text);
        (outcome.text, !outcome.is_done)
    }

    pub(crate) fn switch(&mut self, format: &'static Format) {
        self.format = format;
        self.verbatim.clear();
        self.fault.take_if(|fault| *fault == Fault::WrapsResults);
        if self.has(Fault::ForgetsCalls) {
            self.history.turns.retain(|turn| !matches!(turn, Turn::Results(_)));
            for turn in &mut self.history.turns {
                if let Turn::Assistant(said) = turn {
                    said.calls.clear();
                }
            }
        }
    }

    /// Sends the history, and returns the status, the seconds to wait and the body; `None` if the connection broke.
    fn send(&self) -> Option<(u16, u64, String)> {
        let mut body = self.format.write_request(&self.history).body;
        if !matches!(self.format.id, "gemini" | "bedrock-converse") {
            body["model"] = json!("m");
            body["stream"] = json!(self.is_streamed);
            if self.is_streamed && self.format.id == "openai-chat" {
                body["stream_options"] = json!({"include_usage": true});
            }
        }
        let list = if self.format.id == "gemini" { "contents" } else { "messages" };
        for (turn, message) in &self.verbatim {
            body[list][*turn] = message.clone();
        }
        let empties = self.has(Fault::EmptiesArguments) || self.has(Fault::RunsEmptied);
        if !empties && matches!(self.format.id, "openai-chat" | "openai-responses") {
            wire::keep_arguments(&mut body, &self.broken);
        }
        if !self.has(Fault::WritesImages) {
            wire::show_image(self.format, &mut body);
        }
        // Converse wants the tools of a history to be declared.
        if !self.declares_tools && (self.format.id != "bedrock-converse" || self.has(Fault::WithdrawsAll)) {
            for key in ["tools", "toolConfig"] {
                body.as_object_mut().unwrap().remove(key);
            }
        }
        let mut body = body.to_string();
        if self.has(Fault::WrapsResults) {
            body = body.replace(r#""got one""#, r#""{\"content\":\"got one\",\"name\":\"echo\"}""#);
        }
        if self.has(Fault::SendsHalves) {
            body = body.replace(HALF, "\\ud83d");
        }
        wire::post(self.url, &wire::path(self.format, self.is_streamed), &body)
    }

    pub(crate) fn say(&mut self, text: &str) -> Outcome {
        let outcome = self.run(text);
        if self.has(Fault::HidesErrors) && !outcome.is_done {
            return Outcome::done("");
        }
        outcome
    }

    fn run(&mut self, text: &str) -> Outcome {
        self.history.turns.push(Turn::User(text.to_owned()));
        let mut tries = 0;
        let most = if self.has(Fault::NeverEnds) { 45 } else { 12 };
        for number in 1..=most {
            let Some((status, wait, body)) = self.send() else {
                return Outcome::error("the connection broke");
            };
            let may_pass = [429, 500, 503, 529].contains(&status) && !self.has(Fault::GivesUp);
            if (may_pass || status != 200 && self.has(Fault::RepeatsRefused)) && tries < 2 {
                tries += 1;
                let waits = !self.has(Fault::DoesNotWait);
                std::thread::sleep(Duration::from_secs(if waits { wait } else { 0 }));
                continue;
            }
            let is_too_long = status == 400 && TOO_LONG.iter().any(|words| body.contains(words));
            if is_too_long && !self.has(Fault::GivesUp) && self.shorten() {
                continue;
            }
            if status != 200 {
                return Outcome::error(format!("{status}: {body}"));
            }
            let Some(said) = self.read(&body) else { return Outcome::error("nothing can be read") };
            if !said.is_whole && self.has(Fault::TellsHalves) {
                return Outcome::done(said.text);
            }
            if !said.is_whole && !self.runs_unfinished() {
                // What ends without a reason to stop may have been an error that passes.
                tries += 1;
                if self.is_streamed && tries < 3 {
                    continue;
                }
                return Outcome::error("the model was cut off");
            }
            let is_paused = body.contains("pause_turn") && !self.has(Fault::TakesPauses);
            let is_last = self.most_requests == Some(number);
            let next = self.go_on(&said, &body, is_last);
            if tokens(&body) > NEARLY_FULL {
                self.compact();
            }
            match next {
                Next::Done if !is_paused => return Outcome::done(said.text),
                Next::Stopped => return Outcome::error("the user has ended it"),
                _ if is_last => return Outcome::error("too many requests"),
                _ => {}
            }
            if self.repeats_itself() && !self.has(Fault::NeverEnds) {
                return Outcome::error("the model repeats itself");
            }
        }
        Outcome::error("too many turns")
    }

    /// Puts a summary in the place of all but the last turn.
    fn compact(&mut self) {
        let turns = &mut self.history.turns;
        let calls = turns.iter().rposition(|turn| matches!(turn, Turn::Assistant(_))).unwrap_or(0);
        let kept = turns.split_off(match self.fault {
            Some(Fault::CompactsApart) => calls + 1,
            Some(Fault::KeepsTail) => turns.len().saturating_sub(2),
            _ => calls,
        });
        *turns = vec![Turn::User("So far, texts were echoed.".to_owned())];
        turns.extend(kept);
        self.verbatim.clear();
    }

    /// Drops the first calls with their results; false if there are none.
    fn shorten(&mut self) -> bool {
        let turns = &mut self.history.turns;
        let Some(at) = turns.iter().position(|turn| !turn.calls().is_empty()) else { return false };
        turns.remove(at);
        if self.fault != Some(Fault::CutsPairs) && matches!(turns.get(at), Some(Turn::Results(_))) {
            turns.remove(at);
        }
        self.verbatim.clear();
        true
    }

    /// Adds what the model said and what its tools returned to the history.
    fn go_on(&mut self, said: &Choice, body: &str, is_last: bool) -> Next {
        let own = said.calls.iter().filter(|call| call.executor == Executor::Client);
        let calls: Vec<_> = own.enumerate().map(|(number, call)| self.call(number, call)).collect();
        let is_ended = self.is_interrupted && calls.iter().any(|(call, _)| call.name == "slow");
        let mut outputs: Vec<ToolOutput> =
            calls.iter().map(|(call, arguments)| self.output(call, arguments.as_ref())).collect();
        let mut calls: Vec<Call> = calls.into_iter().map(|(call, _)| call).collect();
        let last = outputs.len().saturating_sub(1);
        self.spoil(&mut outputs);
        match self.fault {
            Some(Fault::LosesResults) => drop(outputs.pop()),
            Some(Fault::LeavesCalls) if is_ended || is_last => outputs.clear(),
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
        for block in said.reasoning.iter().filter(|_| !self.has(Fault::DropsReasoning)) {
            turn = turn.with_reasoning(Reasoning::new(&*block.text, block.signature.clone()));
        }
        let is_done = calls.is_empty();
        if self.has(Fault::SplitsTurns) && calls.len() > 1 {
            for (call, output) in calls.into_iter().zip(outputs) {
                self.history.turns.push(Turn::Assistant(Assistant::new("").with_calls(vec![call])));
                self.history.turns.push(Turn::Results(vec![output]));
            }
            return Next::GoOn;
        }
        if self.has(Fault::WritesCallsAsText) && !is_done {
            let text: Vec<String> =
                calls.iter().map(|call| format!("Calling {} ({})", call.name, call.id)).collect();
            self.history.turns.push(Turn::Assistant(Assistant::new(text.join("\n"))));
            let text: Vec<&str> = outputs.iter().map(|output| &*output.text).collect();
            self.history.turns.push(Turn::User(format!("Observation: {}", text.join("\n"))));
            return Next::GoOn;
        }
        if self.has(Fault::EmptiesTurns) && !is_done {
            // In a dialect of Chat: what is written of an empty turn differs.
            self.history.turns.push(Turn::Assistant(Assistant::new("")));
            self.history.turns.push(Turn::User("Go on.".to_owned()));
            return Next::GoOn;
        }
        if self.has(Fault::SkipsTurns) && !is_done {
            self.history.turns.push(Turn::User("Go on.".to_owned()));
            return Next::GoOn;
        }
        let own = said.calls.iter().filter(|call| call.executor == Executor::Client);
        for (call, made) in own.zip(&calls) {
            if serde_json::from_str::<Json>(&call.arguments).is_err() && !call.arguments.is_empty() {
                self.broken.insert(made.id.clone(), call.arguments.to_string());
            }
        }
        let verbatim = wire::message(self.format, self.is_streamed, body);
        let number = self.history.turns.len();
        let drops = |message: &Json| {
            let is_reasoned = message.get("reasoning_content").is_some();
            self.has(if is_reasoned { Fault::DropsReasoning } else { Fault::DropsOpaque })
        };
        let kept = verbatim.filter(|message| !drops(message));
        self.verbatim.extend(kept.map(|message| (number, message)));
        self.history.turns.push(Turn::Assistant(turn.with_calls(calls)));
        if !outputs.is_empty() {
            self.history.turns.push(Turn::Results(outputs));
        }
        match (is_ended, is_done) {
            (true, _) => Next::Stopped,
            (_, true) => Next::Done,
            _ => Next::GoOn,
        }
    }

    /// What becomes of results, and of those of earlier turns.
    fn spoil(&mut self, outputs: &mut [ToolOutput]) {
        match self.fault {
            Some(Fault::WritesObjects) => {
                outputs.iter_mut().for_each(|output| output.text = "[object Object]".to_owned());
            }
            Some(Fault::ForgetsTurns) => {
                let turns = &mut self.history.turns;
                let first = turns.iter().position(|turn| !turn.calls().is_empty());
                first.into_iter().for_each(|first| drop(turns.drain(first..first + 2)));
            }
            Some(Fault::ForgetsResults) => {
                let turns = self.history.turns.iter_mut();
                let earlier =
                    turns.filter_map(|turn| if let Turn::Results(own) = turn { Some(own) } else { None });
                earlier.flatten().for_each(|output| output.text = "[removed]".to_owned());
            }
            _ => {}
        }
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
        let prompt = arguments.and_then(|arguments| arguments.get("text")).and_then(Json::as_str);
        let (text, failed) = match run(&call.name, arguments) {
            _ if call.name == "delegate" && prompt.is_some() => {
                self.delegate(call, prompt.unwrap_or_default())
            }
            (_, true) if self.has(Fault::HidesFailures) => ("{\"is_error\": false}".to_owned(), false),
            _ if self.is_interrupted && call.name == "slow" => ("The user has ended it.".to_owned(), true),
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
        let id = id.filter(|_| !self.has(Fault::RenamesIds));
        let id = id.unwrap_or_else(|| format!("call{}", self.history.turns.len() * 100 + number));
        let made = Call::new(id, call.name.clone().unwrap_or_default(), read.clone().unwrap_or_default());
        (made, if self.runs_unfinished() { Some(read.unwrap_or_default()) } else { read })
    }

    fn read(&self, body: &str) -> Option<Choice> {
        let text = if self.is_streamed { json!(body).to_string() } else { body.to_owned() };
        let document = Document::read(text.as_bytes());
        response::read(self.format, document.root())?.0.into_iter().next()
    }
}
