//! The calls, results, tools and messages of a text, with their places: what leads from one to the other.

use std::collections::HashMap;
use std::ops::Range;

use toolcheck_core::ir::{Arguments, Message, Named, Place};
use toolcheck_core::readers::Conversation;
use toolcheck_core::text::bounded;
use toolcheck_json::{Document, Record, Span};
use toolcheck_lint::observe::{Context, Observer};
use toolcheck_lint::{Finding, Options, lint_with};

/// The longest name that is shown, in characters.
const NAME: usize = 80;

/// The most messages of a file that are looked at.
const MOST_MESSAGES: usize = 20_000;

/// What is in a text. All places are bytes of it.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    pub(crate) transcripts: Vec<TranscriptSite>,
    pub(crate) calls: Vec<CallSite>,
    pub(crate) results: Vec<ResultSite>,
    pub(crate) tools: Vec<ToolSite>,
}

#[derive(Debug)]
pub(crate) struct TranscriptSite {
    pub(crate) place: Range<usize>,
    pub(crate) messages: Vec<MessageSite>,
}

#[derive(Debug)]
pub(crate) struct MessageSite {
    pub(crate) place: Range<usize>,
    /// Its number as the API counts, and its role.
    pub(crate) title: String,
    pub(crate) calls: Vec<usize>,
    pub(crate) results: Vec<usize>,
}

/// A call that needs a result.
#[derive(Debug)]
pub(crate) struct CallSite {
    pub(crate) place: Range<usize>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) name_place: Option<Range<usize>>,
    pub(crate) arguments: Option<Range<usize>>,
    pub(crate) results: Vec<usize>,
    pub(crate) tool: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct ResultSite {
    pub(crate) place: Range<usize>,
    pub(crate) content: Option<Range<usize>>,
    pub(crate) call: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct ToolSite {
    pub(crate) place: Range<usize>,
    pub(crate) name: String,
    pub(crate) schema: Option<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    Call(usize),
    Result(usize),
    Tool(usize),
}

impl Sites {
    /// What is in a text that is read with these options. Of logs and data sets with a reader of their own it is nothing:
    /// their conversations are made of several places.
    pub(crate) fn of(name: &str, bytes: &[u8], options: &Options) -> Self {
        let mut collector = Collector::default();
        // Only what is read is of interest here, and not what is wrong with it.
        let options = options.clone().rules([]).keeps_source(false).marks_fixes(false);
        let _ = lint_with(name, bytes, &options, &mut collector);
        collector.all
    }

    pub(crate) fn at(&self, byte: usize) -> Option<Site> {
        let calls = self.calls.iter().enumerate().map(|(number, call)| (&call.place, Site::Call(number)));
        let results =
            self.results.iter().enumerate().map(|(number, result)| (&result.place, Site::Result(number)));
        let tools = self.tools.iter().enumerate().map(|(number, tool)| (&tool.place, Site::Tool(number)));
        let all = calls.chain(results).chain(tools);
        let around = all.filter(|(place, _)| place.start <= byte && byte <= place.end);
        around.min_by_key(|(place, _)| place.len()).map(|(_, site)| site)
    }

    pub(crate) fn place(&self, site: Site) -> Range<usize> {
        match site {
            Site::Call(number) => self.calls[number].place.clone(),
            Site::Result(number) => self.results[number].place.clone(),
            Site::Tool(number) => self.tools[number].place.clone(),
        }
    }

    pub(crate) fn calls_of(&self, tool: usize) -> impl Iterator<Item = usize> {
        let calls = self.calls.iter().enumerate();
        calls.filter(move |(_, call)| call.tool == Some(tool)).map(|(number, _)| number)
    }

    /// The call and the results that belong to a call or a result, with the call first.
    pub(crate) fn pair(&self, site: Site) -> Vec<Site> {
        let call = match site {
            Site::Call(number) => Some(number),
            Site::Result(number) => self.results[number].call,
            Site::Tool(_) => None,
        };
        match call {
            Some(number) => {
                let results = self.calls[number].results.iter().copied().map(Site::Result);
                std::iter::once(Site::Call(number)).chain(results).collect()
            }
            None => vec![site],
        }
    }
}

/// Collects sites while a text is read.
#[derive(Debug, Default)]
struct Collector {
    all: Sites,
    /// Where the sites of the current record begin: the number of calls, results, tools and transcripts before it.
    before: [usize; 4],
    messages: usize,
    /// Whether the current transcript is one of several in a log.
    is_of_log: bool,
}

fn bytes(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

fn place(place: Place) -> Range<usize> {
    bytes(place.span)
}

fn title(message: &Message<'_>) -> String {
    format!("{} {}", message.index, bounded(message.speaker().unwrap_or("unknown role"), NAME))
}

impl Observer for Collector {
    fn conversation(&mut self, _conversation: &Conversation<'_>) {
        self.is_of_log = true;
    }

    fn transcript(&mut self, context: &Context<'_, '_>, _known: usize, _is_clean: bool) {
        if std::mem::take(&mut self.is_of_log) || self.messages > MOST_MESSAGES {
            return;
        }
        self.messages += context.transcript.messages.len();
        let all = &mut self.all;
        let mut tools: HashMap<&str, usize> = HashMap::new();
        let request = &context.transcript.request;
        for tool in request.tools.listed().iter().chain(&request.tools.added) {
            let Some(Named { text, .. }) = &tool.name else { continue };
            tools.entry(text).or_insert(all.tools.len());
            all.tools.push(ToolSite {
                place: place(tool.place),
                name: bounded(text, NAME),
                schema: tool.schema.map(place),
            });
        }
        let (first_call, first_result) = (all.calls.len(), all.results.len());
        let mut messages: Vec<MessageSite> = context
            .transcript
            .messages
            .iter()
            .map(|message| MessageSite {
                place: place(message.place),
                title: title(message),
                calls: Vec::new(),
                results: Vec::new(),
            })
            .collect();
        for site in &context.pairing.calls {
            let call = site.call;
            messages[site.message_number].calls.push(all.calls.len());
            all.calls.push(CallSite {
                place: place(site.part.place),
                id: call.id.as_ref().map(|id| bounded(&id.text, NAME)),
                name: call.name.as_ref().map(|name| bounded(&name.text, NAME)),
                name_place: call.name.as_ref().map(|name| place(name.place)),
                arguments: match &call.arguments {
                    Arguments::Missing => None,
                    Arguments::Null(at)
                    | Arguments::Text(_, at)
                    | Arguments::Object(at)
                    | Arguments::Other(at) => Some(place(*at)),
                },
                results: Vec::new(),
                tool: call.name.as_ref().and_then(|name| tools.get(&*name.text).copied()),
            });
        }
        for site in &context.pairing.results {
            let call = site.paired_with.call().map(|number| first_call + number);
            if let Some(call) = call.and_then(|number| all.calls.get_mut(number)) {
                call.results.push(first_result + site.number);
            }
            messages[site.message_number].results.push(all.results.len());
            all.results.push(ResultSite {
                place: place(site.part.place),
                content: site.result.content_place.map(place),
                call,
            });
        }
        all.transcripts.push(TranscriptSite { place: place(context.transcript.place), messages });
    }

    fn record(&mut self, record: &Record<'_>, _document: &Document<'_>, _findings: &[Finding]) {
        let all = &mut self.all;
        let [calls, results, tools, transcripts] = self.before;
        let mut places: Vec<&mut Range<usize>> = Vec::new();
        for call in &mut all.calls[calls..] {
            places.push(&mut call.place);
            places.extend(call.name_place.as_mut());
            places.extend(call.arguments.as_mut());
        }
        for result in &mut all.results[results..] {
            places.push(&mut result.place);
            places.extend(result.content.as_mut());
        }
        for tool in &mut all.tools[tools..] {
            places.push(&mut tool.place);
            places.extend(tool.schema.as_mut());
        }
        for transcript in &mut all.transcripts[transcripts..] {
            places.push(&mut transcript.place);
            places.extend(transcript.messages.iter_mut().map(|message| &mut message.place));
        }
        for place in places {
            *place = place.start + record.start..place.end + record.start;
        }
        self.before = [all.calls.len(), all.results.len(), all.tools.len(), all.transcripts.len()];
    }
}
