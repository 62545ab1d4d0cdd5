//! What the model says to a request: a turn of the script, or one that is made up, as the API would send it.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value as Json};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Reasoning, Turn as Said};
use toolcheck_core::ir::{Executor, ToolDef};
use toolcheck_core::reply::{Reply, ServerCall, Stop};
use toolcheck_core::targets::{Refusal, Target, Verdict};
use toolcheck_core::{RuleId, formats};
use toolcheck_lint::observe::Context;
use toolcheck_lint::server_state::StoredAfterResponse;

use crate::arguments::{TEXT, arguments, value};
use crate::ids::{call_id, id_form, made};
use crate::recording::Beside;
use crate::route::Route;
use crate::script::{ScriptedCall, ScriptedStop, Turn};

/// What the answer to a request depends on.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    pub(crate) conversation: Conversation,
    pub(crate) tools: Vec<Tool>,
    pub(crate) answer_schema: Option<Json>,
    pub(crate) model: Option<String>,
    /// Whether the model is to reason; `None` if the request does not say.
    pub(crate) reasons: Option<bool>,
    pub(crate) stream: Option<bool>,
    /// Whether a stream is to say how many tokens there were.
    pub(crate) streams_usage: bool,
    /// The number of turns of the model in what the server keeps before it; `None` if it brings everything itself.
    pub(crate) turns_before: Option<usize>,
    /// Whether it goes on from something that is not known.
    pub(crate) is_unclear: bool,
    pub(crate) previous_response: Option<String>,
    pub(crate) repeated: Map<String, Json>,
    /// What it goes on from, and its images, if a recording is answered from.
    pub(crate) beside: Beside,
    pub(crate) sent: Option<StoredAfterResponse>,
    pub(crate) prompt: Option<String>,
}

/// A tool whose calls the client answers.
#[derive(Debug)]
pub(crate) struct Tool {
    name: String,
    schema: Option<Json>,
    /// Whether it takes free text in place of arguments.
    takes_text: bool,
    /// The name of the group of tools in which it is.
    namespace: Option<String>,
}

/// The tools that the model may call: those of the list, and then those inside of one of the list.
pub(crate) fn tools(context: &Context<'_, '_>) -> Vec<Tool> {
    let all = &context.transcript.request.tools;
    let span = |tool: &ToolDef<'_>| context.document.value(tool.place.node).span();
    let name = |tool: &ToolDef<'_>| Some(tool.name.as_ref()?.text.to_string());
    let around = |tool: &ToolDef<'_>| {
        let before = all.listed().partition_point(|outer| span(outer).start < span(tool).start);
        all.listed()[..before].last().filter(|outer| span(tool).end < span(outer).end).and_then(name)
    };
    let read = |tool: &ToolDef<'_>, namespace: Option<String>| {
        let is_answered = tool.executor == Executor::Client || tool.runs_in_client;
        let schema = tool.schema.map(|place| context.document.value(place.node));
        let schema = schema.and_then(|schema| serde_json::from_slice(schema.raw()).ok());
        Some(Tool { name: name(tool)?, schema, takes_text: tool.takes_text, namespace })
            .filter(|_| is_answered)
    };
    let listed = all.listed().iter().filter_map(|tool| read(tool, None));
    let inner = all.added.iter().filter_map(|tool| read(tool, Some(around(tool)?)));
    listed.chain(inner).collect()
}

/// What the next turn depends on.
pub(crate) struct Moment<'r> {
    /// How many turns of the model the history holds: the turn is chosen by that, so that a retry gets the same answer.
    pub(crate) number: usize,
    pub(crate) said: &'r Asks,
    pub(crate) route: &'r Route,
    pub(crate) target: Option<&'r Target>,
    /// The request, which tells the response from all others, if the server keeps it.
    pub(crate) own: Option<&'r str>,
}

/// How often the model calls in a conversation without a script: some agents speak again whenever a task has ended.
const MOST_TURNS: usize = 3;

/// A turn that is made up: a call of the first tool of the request, and then an answer. A sub-agent that was called with a
/// text from here calls nothing, or it would call one of its own.
pub(crate) fn made_up(said: &Asks) -> Turn {
    let turns = &said.conversation.turns;
    let calls = turns.iter().filter(|turn| matches!(turn, Said::Assistant(own) if !own.calls.is_empty()));
    let may_call = !said.tools.is_empty() && calls.count() < MOST_TURNS;
    match (turns.last(), &said.answer_schema) {
        (Some(Said::User(text)), _) if may_call && text.lines().last() != Some(TEXT) => {
            Turn::calls([ScriptedCall::default()])
        }
        (_, Some(schema)) => Turn::text(value(schema).to_string()),
        _ => Turn::text("Done."),
    }
}

impl Moment<'_> {
    fn model(&self) -> Option<&str> {
        self.route.model.as_deref().or(self.said.model.as_deref())
    }

    /// How the API refuses a case of a rule for the model, if it does.
    fn refusal(&self, rule: RuleId, case: &str) -> Option<&Refusal> {
        let family = formats::find(self.route.format)?.family;
        match self.target?.verdict(rule, Some(case), self.model(), Some(family)) {
            Verdict::Refused(refusal) if refusal.doubt.is_none() => Some(refusal),
            _ => None,
        }
    }

    /// Whether the model reasons before it calls a tool: where the API takes no calls without reasoning, it sends none.
    fn reasons(&self) -> bool {
        let refusal = |case| self.refusal(RuleId::MissingReasoning, case);
        let is_refused = |case| refusal(case).is_some_and(|refusal| refusal.case.is_some());
        let is_later = matches!(self.said.conversation.turns.last(), Some(Said::Results(_)));
        self.said.reasons.unwrap_or_else(|| is_refused("by-default"))
            && refusal("call").is_some()
            && (!is_later || is_refused("earlier"))
    }

    /// Whether the model signs the first call of a turn, for the same reason.
    fn signs(&self) -> bool {
        self.refusal(RuleId::UnsignedReasoning, "call").is_some()
    }

    /// Whether calls get ids in a format in which they need none.
    fn gives_ids(&self) -> bool {
        let models = self.target.and_then(|target| target.ids.made_model.as_ref());
        models.zip(self.model()).is_some_and(|(models, model)| models.is_match(model))
    }
}

/// What the model thinks where it has to think something.
const THOUGHT: &str = "I look at what is asked.";

pub(crate) fn reply(turn: &Turn, moment: &Moment<'_>) -> Reply {
    let calls: Vec<Made<'_>> =
        turn.calls.iter().enumerate().map(|(number, call)| Made::of(call, number, moment)).collect();
    let mut said =
        Assistant::new(&*turn.text).with_calls(calls.iter().map(|made| made.call.clone()).collect());
    let unless_said = || (!turn.redacted && moment.reasons()).then_some(THOUGHT);
    if let Some(reasoning) = turn.reasoning.as_deref().or_else(unless_said) {
        let signature = format!("c2ln{:04}", moment.number);
        said = said.with_reasoning(Reasoning::new(reasoning, Some(signature)));
    }
    let name = moment.route.model.as_deref().or(moment.route.deployment.as_deref()).or(moment.model());
    let mut reply = Reply::new(said).from_model(response_id(moment), name.unwrap_or("model")).with_state(
        moment.said.previous_response.clone(),
        moment.said.sent.as_ref().is_some_and(StoredAfterResponse::is_kept),
    );
    let signs = moment.signs() && turn.calls.iter().all(|call| !call.signed);
    for (number, made) in calls.into_iter().enumerate() {
        if let Some(text) = made.free_text {
            reply = reply.with_free_text(number, text);
        } else if let Some(raw) = &made.scripted.raw {
            reply = reply.with_raw_arguments(number, raw);
        }
        if let Some(namespace) = made.namespace {
            reply = reply.with_namespace(number, namespace);
        }
        if made.scripted.signed || signs && number == 0 {
            // Base64, as it is read by clients that keep bytes.
            reply = reply.with_call_signature(number, format!("Y2Fs{:04}{number:04}", moment.number));
        }
    }
    if turn.reasoning_content {
        reply = reply.with_plain_reasoning();
    }
    if moment.gives_ids() {
        reply = reply.with_call_ids();
    }
    if moment.said.streams_usage {
        reply = reply.with_streamed_usage();
    }
    reply = reply.with_repeated(moment.said.repeated.clone());
    if let Some(tokens) = turn.tokens {
        reply = reply.with_input_tokens(tokens);
    }
    if turn.redacted {
        reply = reply.with_redacted(format!("cmVk{:04}", moment.number));
    }
    for (number, call) in turn.server_calls.iter().enumerate() {
        let id = format!("srvtoolu_{:024}", moment.number * 1000 + number + 1);
        let result = Json::Array(call.result.clone());
        reply = reply.with_server_call(ServerCall::new(id, &*call.tool, call.arguments.clone(), result));
    }
    reply.with_stop(match turn.stop {
        None => Stop::Natural,
        Some(ScriptedStop::End) => Stop::End,
        Some(ScriptedStop::Calls) => Stop::Calls,
        Some(ScriptedStop::Length) => Stop::Length,
        Some(ScriptedStop::Pause) => Stop::Pause,
    })
}

struct Made<'m> {
    scripted: &'m ScriptedCall,
    call: Call,
    /// What a tool gets that takes no arguments.
    free_text: Option<String>,
    namespace: Option<&'m str>,
}

impl<'m> Made<'m> {
    fn of(scripted: &'m ScriptedCall, number: usize, moment: &Moment<'m>) -> Self {
        let tools = &moment.said.tools;
        let tool = match &*scripted.tool {
            "" => tools.first(),
            name => tools.iter().find(|known| known.name == name),
        };
        let name = tool.map_or(&*scripted.tool, |tool| &tool.name);
        let schema = tool.and_then(|tool| tool.schema.as_ref());
        let made = scripted.arguments.clone();
        let made = made.or_else(|| schema.map(arguments));
        let free_text = tool.filter(|tool| tool.takes_text).map(|_| match (&scripted.raw, &made) {
            (Some(raw), _) => raw.clone(),
            (_, Some(made)) => Json::Object(made.clone()).to_string(),
            _ => "text".to_owned(),
        });
        let id = scripted.id.clone().unwrap_or_else(|| id_of(moment, number));
        let call = Call::new(id, name, made.unwrap_or_default());
        let namespace = tool.and_then(|tool| tool.namespace.as_deref());
        Self { scripted, call, free_text, namespace }
    }
}

/// The id of a call, in the form of the target: each call of a conversation has its own, and each run the same.
fn id_of(moment: &Moment<'_>, call: usize) -> String {
    call_id(id_form(moment.target), moment.number, call)
}

fn response_id(moment: &Moment<'_>) -> String {
    let form = moment.target.and_then(|target| target.ids.response_made.as_deref()).unwrap_or("reply_{24}");
    let own = moment.own.map_or(0, |own| {
        let mut hasher = DefaultHasher::new();
        own.hash(&mut hasher);
        hasher.finish() as usize % 1_000_000_000
    });
    made(form, own * 10_000 + moment.number + 1)
}
