//! The arguments of calls, checked against the schemas of their tools: once for all rules that ask, in bounded time.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::sync::Arc;

use foldhash::HashMap;
use toolcheck_core::ir::Executor;
use toolcheck_json::{Document, Value};
use toolcheck_schema::{Fuel, Schema, Unusable, Verdict};

use crate::rule::Context;
use crate::view::arguments;

/// What checking the arguments of a transcript's calls has shown.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// The calls whose arguments their schemas don't allow, in order.
    pub(crate) violations: Vec<Violation>,
    /// The tools some of whose calls could not be checked, in the order of these calls.
    pub(crate) unchecked: Vec<Unchecked>,
}

/// A call whose arguments its schema does not allow.
#[derive(Debug)]
pub(crate) struct Violation {
    /// The index of the call among the parts.
    pub(crate) part: usize,
    schema: Arc<Result<Schema, Unusable>>,
}

impl Violation {
    pub(crate) fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref().as_ref().ok()
    }
}

/// A tool some of whose calls could not be checked.
#[derive(Debug)]
pub(crate) struct Unchecked {
    pub(crate) tool: String,
    /// The index of the first such call among the parts.
    pub(crate) part: usize,
    /// The number of calls, with those of other tools for which no time was left.
    pub(crate) calls: usize,
    /// What made the first of them unknown.
    verdict: Verdict,
    /// Whether the schema stands in the transcript's list of tools, and not elsewhere.
    pub(crate) is_own: bool,
}

impl Unchecked {
    /// Why the schema can't be used.
    pub(crate) fn reason(&self) -> Cow<'static, str> {
        let why = match self.verdict {
            Verdict::TooLarge => {
                "contains a regular expression that is too large to check the arguments of a call"
            }
            Verdict::TooLong => {
                "contains a regular expression with lookaround or backreferences, which takes too long for texts over 16 KiB"
            }
            _ => "takes too long to check against the arguments of a call",
        };
        match self.calls {
            1 => why.into(),
            calls => format!("{why}, so {calls} calls are not checked").into(),
        }
    }
}

/// What a call without arguments is checked as.
pub(crate) const NO_ARGUMENTS: &[u8] = b"{}";

/// The schema of a tool that may be called.
#[derive(Clone, Copy)]
struct Declared<'t> {
    text: &'t [u8],
    is_own: bool,
    /// The number of the first part that it is for.
    since: usize,
}

pub(crate) fn of(cx: &Context<'_, '_>) -> Checks {
    let mut checks = Checks::default();
    if arguments::numbered_calls(cx).next().is_none() {
        return checks;
    }
    let declared = declared(cx);
    if declared.is_empty() {
        return checks;
    }
    let mut fuel = Fuel::of_record(cx.document.value(cx.transcript.place.node).raw().len());
    // A schema is compiled when its tool is first called: most tools never are.
    let mut compiled: HashMap<&str, Arc<Result<Schema, Unusable>>> = HashMap::default();
    let mut buffers = arguments::Buffers::default();
    // A model that is trained on a call without arguments learns to leave them out. Of what is sent to an API, the shape
    // says whether they may be missing.
    let is_learned = cx.is_training_example() && (cx.named_target.is_none() || cx.known_shape().is_none());
    let are_empty = LazyCell::new(|| {
        is_learned || cx.transcript.details.absent_arguments_are_empty && cx.shape_faults().are_none()
    });
    // The tool whose call took the last steps, and the others of which a call is not checked.
    let mut last = None;
    let mut known: HashMap<&str, usize> = HashMap::default();
    for (part, call) in arguments::numbered_calls(cx) {
        let Some(name) = &call.name else { continue };
        let tool = declared.get(&*name.text).copied().flatten().filter(|tool| part >= tool.since);
        let Some(tool) = tool else { continue };
        let verdict = if fuel.is_spent() {
            Verdict::TooSlow
        } else {
            let schema = compiled.entry(&name.text).or_insert_with(|| {
                let schema = cx.schemas.of(tool.text);
                take_compiling(&schema, &mut fuel);
                schema
            });
            let mut check = |root: Value<'_, '_>| match &**schema {
                Ok(usable) => usable.check(root, &mut fuel),
                Err(Unusable::TooLarge) => Verdict::TooLarge,
                // A schema that can't be used has a finding of its own.
                Err(_) => Verdict::Unknown,
            };
            let verdict = if let Some(text) = cx.transcript.details.streamed_arguments.get(&part) {
                let said = Document::read(text.as_bytes());
                said.faults().is_empty().then(|| check(said.root()))
            } else if call.arguments.are_absent() && *are_empty {
                Some(check(Document::read(NO_ARGUMENTS).root()))
            } else {
                arguments::with_value(cx, &call.arguments, &mut buffers, check)
            };
            if verdict == Some(Verdict::Violated) && !arguments::is_cleared(cx, part) {
                checks.violations.push(Violation { part, schema: Arc::clone(schema) });
            }
            verdict.unwrap_or(Verdict::Unknown)
        };
        if !matches!(verdict, Verdict::TooSlow | Verdict::TooLarge | Verdict::TooLong) {
            continue;
        }
        let before = last.filter(|_| fuel.is_spent()).or_else(|| known.get(&*name.text).copied());
        let at = before.unwrap_or_else(|| {
            checks.unchecked.push(Unchecked {
                tool: name.text.to_string(),
                part,
                calls: 0,
                verdict,
                is_own: tool.is_own,
            });
            checks.unchecked.len() - 1
        });
        checks.unchecked[at].calls += 1;
        known.insert(&name.text, at);
        if fuel.is_spent() {
            last = Some(at);
        }
    }
    checks
}

/// Takes the steps of compiling a schema from those of the record. If they are all that is left, the next call is the
/// first that is not checked.
fn take_compiling(schema: &Result<Schema, Unusable>, fuel: &mut Fuel) {
    let _ = match schema {
        Ok(schema) => schema.take_compiling(fuel),
        Err(why) => why.take_compiling(fuel),
    };
}

/// The schemas of the tools that may be called, by name; `None` if it is unclear which of several is called.
fn declared<'c>(cx: &'c Context<'_, '_>) -> HashMap<&'c str, Option<Declared<'c>>> {
    let mut schemas: HashMap<&str, Option<Declared<'_>>> = HashMap::default();
    // If a name is declared twice, it is unclear which of the two tools is called.
    let tools = &cx.transcript.request.tools;
    for (number, tool) in tools.declared().enumerate() {
        let Some(name) = &tool.name else { continue };
        let is_own = number < tools.listed().len();
        let schema = tool.schema.filter(|_| tool.executor == Executor::Client);
        let schema = schema.map(|place| cx.document.value(place.node).raw());
        // A tool search repeats the definitions that it found.
        schemas
            .entry(&name.text)
            .and_modify(|known| *known = known.filter(|known| Some(known.text) == schema))
            .or_insert(schema.map(|text| Declared { text, is_own, since: tool.since }));
    }
    // Of two that are declared outside the transcript, the last one counts.
    for tool in cx.definitions_called().rev() {
        let schema = tool.schema.as_deref().map(|text| Declared { text, is_own: false, since: 0 });
        schemas.entry(&tool.name).or_insert(schema);
    }
    schemas
}
