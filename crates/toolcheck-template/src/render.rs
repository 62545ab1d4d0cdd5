//! Renders a prompt.

use std::fmt;
use std::ops::Range;

use crate::convert::{self, Changes, RenderMode, Source};
use crate::input::{Input, Preparation};
use crate::jinja::ast::Ast;
use crate::jinja::budget::Budget;
use crate::jinja::fault::Fault;
use crate::jinja::llama_cpp::Engine;
use crate::jinja::run;
use crate::jinja::text::Mark;
use crate::load::Template;
use crate::now::Now;
use crate::server::{Abilities, Server};

pub use crate::jinja::fault::RefusalKind;

/// What a model reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// The bytes that `{% generation %}` blocks cover: what the model wrote itself, for training.
    pub generated: Vec<Range<usize>>,
}

/// Why there is no prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of refusal it is.
    pub kind: RefusalKind,
    /// The text of `raise_exception(...)`, or that of the error which Jinja or Python would raise.
    pub message: String,
    /// The line of the template, from 1.
    pub line: u32,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {} of the template)", self.message, self.line)
    }
}

impl std::error::Error for Refusal {}

impl From<&Fault> for Refusal {
    fn from(fault: &Fault) -> Self {
        Self { kind: fault.kind, message: fault.message.clone(), line: fault.line.max(1) }
    }
}

/// A prompt that knows where its bytes come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traced {
    pub(crate) prompt: Prompt,
    pub(crate) marks: Vec<Mark>,
    pub(crate) sources: Vec<Source>,
    /// What the server puts a text for that is not known, so that the prompt is not whole.
    left_out: Option<&'static str>,
}

impl Traced {
    /// The same, if the prompt is whole.
    pub(crate) fn whole(self) -> Result<Self, Refusal> {
        let Some(medium) = self.left_out else { return Ok(self) };
        let message =
            format!("the server puts a text of its own in the place of the {medium}, which is not known");
        Err(Refusal { kind: RefusalKind::Unsupported, message, line: 1 })
    }
}

impl Template {
    /// Renders the prompt. Fails if the template refuses the conversation, or exceeds the limits.
    pub fn render(&self, input: &Input<'_>) -> Result<Prompt, Refusal> {
        let trial = RenderMode { traces: false, changes: &Changes::new(), most_messages: usize::MAX };
        self.trial(input, &trial)?.whole().map(|traced| traced.prompt)
    }

    /// Renders a prompt, perhaps of a changed conversation.
    pub(crate) fn trial(&self, input: &Input<'_>, trial: &RenderMode<'_>) -> Result<Traced, Refusal> {
        let has_tools = input.tools.is_some();
        let ast = self.chosen(has_tools);
        let ast = ast.as_ref().map_err(|fault| Refusal::from(&**fault))?;
        let server = match input.preparation {
            Preparation::AsGiven => None,
            Preparation::Vllm => Some(Server::Vllm { reads_parts: ast.goes_through_content() }),
            Preparation::LlamaCpp => Some(Server::LlamaCpp(self.abilities(ast, has_tools))),
        };
        rendered(ast, input, self.tokens(), trial, server).map_err(|fault| self.refusal(&fault))
    }

    fn abilities(&self, ast: &Ast, has_tools: bool) -> Abilities {
        let trial = RenderMode { traces: false, changes: &Changes::new(), most_messages: usize::MAX };
        let tries = Some(Server::LlamaCppTries);
        let render =
            |input: &Input<'_>| Some(rendered(ast, input, self.tokens(), &trial, tries).ok()?.prompt.text);
        let made = || Abilities::of(self.source(has_tools), ast.goes_through_content(), render);
        self.known(has_tools).map_or_else(made, |known| *known.get_or_init(made))
    }

    fn refusal(&self, fault: &Fault) -> Refusal {
        let refusal = Refusal::from(fault);
        let lacks_token = refusal.kind == RefusalKind::Undefined
            && self.tokens().is_empty()
            && refusal.message.ends_with("_token' is undefined");
        if !lacks_token {
            return refusal;
        }
        // A Jinja file alone does not have the special tokens that its model has.
        let message = format!("{}: the tokenizer_config.json of the model has it", refusal.message);
        Refusal { kind: RefusalKind::Unsupported, message, ..refusal }
    }
}

fn rendered(
    ast: &Ast,
    input: &Input<'_>,
    tokens: &[(String, String)],
    trial: &RenderMode<'_>,
    server: Option<Server>,
) -> Result<Traced, Box<Fault>> {
    let (context, sources, left_out) = convert::context(input, tokens, trial, server)?;
    let parts = [Some(input.messages), input.tools, input.documents, input.variables];
    let size: usize = parts.into_iter().flatten().map(|part| part.raw().len()).sum();
    let longest = input.limits.prompt.saturating_add(size as u64 * 16);
    // Marks count their bytes from the start in 32 bits.
    let budget = Budget::new(input.limits.steps, input.limits.bytes, longest.min(1 << 31));
    let now = input.now.unwrap_or_else(Now::of_system);
    let engine = server.map_or(Engine::Python, Server::engine);
    let (text, generated) = run::run(ast, context, budget, now, engine)?;
    let prompt = Prompt { text: text.as_str().to_owned(), generated };
    Ok(Traced { prompt, marks: text.marks().to_vec(), sources, left_out })
}
