//! Gateways: we are the client in front of one and the API behind it.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value as Json;
use toolcheck_conform::adapter::{
    Answer, BodyKind, Plan, Question, TestConversation, Translation, bodies, examine,
};
use toolcheck_core::reply::Stop;
use toolcheck_core::text::{bounded, reason};
use toolcheck_serve::{MockProvider, ScriptedCall, ScriptedStop, Turn, Upstream, path};

use super::adapter;
use super::known::Known;
use crate::args::ConformArgs;
use crate::commands::shapes;
use crate::{Status, screen};

/// The most characters of an error that are shown.
const SHOWN: usize = 300;
/// The most bytes of a response of the gateway.
const MOST: usize = 64 << 20;

/// A gateway between a client and an API.
struct Gateway<'a> {
    url: Upstream,
    headers: Vec<(String, String)>,
    model: &'a str,
    upstream: MockProvider,
    timeout: Duration,
}

pub(super) fn run(args: &ConformArgs, out: &mut dyn Write) -> Result<Status> {
    let own = &args.translation;
    let mut known = Known::read(args.known.as_deref())?;
    let (from, to) = own.from.zip(own.to).context("`--from` and `--to` are needed")?;
    let target = own.target.as_deref().map(shapes::load).transpose()?;
    let url = Upstream::parse(own.gateway.as_deref().unwrap_or_default())?;
    let timeout = Duration::from_secs(args.timeout);
    url.reach(timeout).map_err(|error| anyhow!("cannot reach the gateway at {url}: {}", reason(&error)))?;
    let headers = own.header.iter().map(|header| {
        let (name, value) = header.split_once(':').context("a header has a colon after its name")?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    let headers = headers.collect::<Result<Vec<_>>>()?;
    let upstream =
        MockProvider::builder().target(to.id)?.port(own.upstream_port).check_on_drop(false).start();
    let upstream = upstream
        .map_err(|error| anyhow!("cannot listen on port {}: {}", own.upstream_port, reason(&error)))?;
    screen::message("note", &format!("the gateway's upstream is {}", upstream.url()));
    let there = Translation::new(from, to).with_target(target).with_renamed_model();
    let back = Translation::new(to, from);
    let translation =
        |kind: BodyKind| (kind, if kind == BodyKind::Request { there.clone() } else { back.clone() });
    let translations = adapter::kinds(own).into_iter().map(translation).collect();
    let plan =
        Plan { translations, conversations: adapter::conversations(args)?, model: Some(own.model.clone()) };
    let gateway = Gateway { url, headers, model: &own.model, upstream, timeout };
    let examination = examine(&plan, |question| gateway.ask(question))?;
    adapter::report(args, &examination, &mut known, out)
}

impl Gateway<'_> {
    fn ask(&self, question: &Question<'_>) -> Result<Answer> {
        let is_request = question.kind == BodyKind::Request;
        // The client's format is what a request comes from and what a response becomes.
        let client = if is_request { question.translation.from } else { question.translation.to };
        let is_streamed = question.kind == BodyKind::Stream;
        let turn = if is_request { Turn::text("Done.") } else { turn(question.conversation) };
        // The same turn whatever the history: a reply is judged by itself.
        let turns = std::iter::repeat_n(turn, 1 + question.conversation.turns.len());
        // What an earlier question has left is no answer to this one.
        let _ = self.upstream.take();
        self.upstream.follow(turns);
        let mut body =
            if is_request { question.body.clone() } else { bodies::question(question.conversation, client) };
        // Of a request, only what it is asked to translate counts.
        if !is_request && !path(client, self.model, is_streamed).contains(self.model) {
            body["model"] = self.model.into();
            body["stream"] = is_streamed.into();
        }
        let address = path(client, self.model, is_streamed);
        let answer =
            self.url.post(&address, &self.headers, body.to_string().into_bytes(), (self.timeout, MOST));
        let seen = self.upstream.take();
        let answer = match answer {
            Ok(answer) => answer,
            // It has ended: the other questions would say nothing about it.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                bail!("the gateway at {} has ended: {}", self.url, reason(&error))
            }
            Err(error) => return Ok(Answer::Broke(reason(&error))),
        };
        // A gateway may ask more than once; what it sent first is what it made of the request.
        if is_request && let Some(exchange) = seen.exchanges.into_iter().next() {
            return Ok(Answer::Body(exchange.request.into_json()));
        }
        if let Some(path) = seen.unexpected.first() {
            return Ok(Answer::Errored(format!("it asked another API: {path}")));
        }
        let value = answer.value();
        if is_request || answer.status >= 400 {
            let text = bounded(&value.to_string(), SHOWN);
            return Ok(Answer::Errored(format!("it answered {}: {text}", answer.status)));
        }
        Ok(Answer::Body(value))
    }
}

/// The last turn of the model as the API behind the gateway says it.
fn turn(conversation: &TestConversation) -> Turn {
    let Some(reply) = bodies::reply(conversation) else { return Turn::default() };
    let calls = reply.said.calls.iter().enumerate().map(|(number, call)| {
        let mut scripted = ScriptedCall::with(&*call.name, Json::Object(call.arguments.clone()));
        scripted.id = Some(call.id.clone());
        scripted.raw = reply.raw_arguments.get(&number).cloned();
        scripted
    });
    let mut turn = Turn::calls(calls);
    turn.text.clone_from(&reply.said.text);
    turn.stop = (reply.stop == Stop::Length).then_some(ScriptedStop::Length);
    turn.reasoning = reply.said.reasoning.first().map(|reasoning| reasoning.text.clone());
    turn
}
