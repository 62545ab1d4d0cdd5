//! How files are linted.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use toolcheck_core::InputFormat;
use toolcheck_core::formats::Format;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::readers::Reader;
use toolcheck_core::targets::Target;
use toolcheck_core::tools::Definition;

use crate::rule::Rule;
use crate::rules;
use crate::settings::Settings;
use crate::template::ChatTemplate;

/// How a file is linted. It owns what it holds, so that it can be kept, cloned and sent to other threads at no cost.
///
/// ```
/// use toolcheck_core::{formats, targets};
/// use toolcheck_lint::Options;
///
/// let options = Options::new().format(formats::find("openai-chat")).target(targets::find("vllm"));
/// let file = toolcheck_lint::lint("request.json", b"{\"messages\": []}", &options);
/// assert_eq!(file.target.as_deref(), Some("vllm"));
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Options {
    pub(crate) format: Option<&'static Format>,
    pub(crate) reader: Option<&'static Reader>,
    pub(crate) conversation: Option<Arc<str>>,
    pub(crate) target: Option<TargetRef>,
    pub(crate) kind: TranscriptKind,
    pub(crate) tools: Arc<[Definition]>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) template: Option<Arc<ChatTemplate>>,
    pub(crate) rules: Arc<[&'static Rule]>,
    pub(crate) ignored: Arc<[&'static Rule]>,
    pub(crate) keeps_source: bool,
    pub(crate) max_findings: usize,
    pub(crate) at: Option<Arc<str>>,
    pub(crate) is_over: bool,
    pub(crate) is_body: bool,
    pub(crate) names_model: bool,
    pub(crate) path_model: Option<Arc<str>>,
    pub(crate) as_model: Option<Arc<str>>,
    pub(crate) reports_hidden: bool,
    pub(crate) marks: Marks,
}

/// What findings say of how a fix fixes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    Off,
    /// What is planned, which may be no better once it is tried.
    Planned,
    /// What a fix does: it was tried.
    Tried,
}

pub(crate) use toolcheck_core::setters;

/// What most files of a run are linted with is made once.
static DEFAULT_SETTINGS: LazyLock<Arc<Settings>> = LazyLock::new(Arc::default);
static DEFAULT_RULES: LazyLock<Arc<[&'static Rule]>> =
    LazyLock::new(|| rules::ALL.iter().copied().filter(|rule| !rule.is_optional).collect());

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            reader: None,
            conversation: None,
            target: None,
            kind: TranscriptKind::default(),
            tools: Arc::default(),
            settings: Arc::clone(&DEFAULT_SETTINGS),
            template: None,
            rules: Arc::clone(&DEFAULT_RULES),
            ignored: Arc::default(),
            keeps_source: true,
            max_findings: usize::MAX,
            at: None,
            is_over: false,
            is_body: false,
            names_model: false,
            path_model: None,
            as_model: None,
            reports_hidden: false,
            marks: Marks::Tried,
        }
    }
}

impl Options {
    /// Names the conversation that an agent sends next, where its reader knows that.
    pub const NEXT: &str = "next";

    /// The defaults: everything is detected, and all rules run that are not opt-in.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// What the transcripts are for.
        kind: TranscriptKind,
        /// The tools of transcripts that declare none themselves.
        tools: impl Into<Arc<[Definition]>>,
        /// The chat template of the model, which the rules about templates run on each request.
        template: Option<Arc<ChatTemplate>>,
        /// The settings of the rules.
        settings: impl Into<Arc<Settings>>,
        /// Whether histories and logs are over: the calls at their end, which may otherwise still be running, get no results any
        /// more. The default is `false`.
        is_over: bool,
        /// Whether the path to which a body was sent names the model, so that the body need not ([`lint_body`](crate::lint_body)).
        /// The default is `false`.
        names_model: bool,
        /// Whether findings are reported that are otherwise hidden: because the target accepts them, because nothing is known of
        /// them, or because another finding says more of the same. Who has the error of an API knows more than the data of its
        /// target. The default is `false`.
        reports_hidden: bool,
        /// Whether reports keep the text that their findings refer to, for outputs that show it. The default is `true`.
        keeps_source: bool,
        /// The maximum number of findings that a report lists; there is no limit by default. The others are counted in
        /// [`FileReport::left_out`](crate::FileReport::left_out), and take little memory.
        max_findings: usize,
    }

    /// What files are read as: a wire format, or with a reader; `None` to detect it from their content.
    pub fn format(mut self, format: Option<impl Into<InputFormat>>) -> Self {
        let format = format.map(Into::into);
        self.format = format.and_then(InputFormat::wire);
        self.reader = format.and_then(InputFormat::reader);
        self
    }

    /// The only conversation to check in files that hold several, by its title, its number from 1, or [`NEXT`](Self::NEXT).
    pub fn conversation(mut self, conversation: Option<&str>) -> Self {
        self.conversation = conversation.map(Arc::from);
        self
    }

    /// The API to check against; `None` for the format's own provider.
    pub fn target(mut self, target: Option<impl Into<TargetRef>>) -> Self {
        self.target = target.map(Into::into);
        self
    }

    /// The rules to run.
    pub fn rules(mut self, rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        self.rules = rules.into_iter().collect();
        self
    }

    /// Rules to run besides the others.
    pub fn also_rules(mut self, rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        let mut all = self.rules.to_vec();
        for rule in rules {
            if all.iter().all(|known| known.id != rule.id) {
                all.push(rule);
            }
        }
        self.rules = all.into();
        self
    }

    /// The API to check against, if one is named.
    pub fn named_target(&self) -> Option<&TargetRef> {
        self.target.as_ref()
    }

    /// The chat template, unless the target makes the prompts of its model without it.
    pub(crate) fn template_in_use(&self) -> Option<&ChatTemplate> {
        let own = self.target.as_deref().map_or(&[][..], |target| &target.prompt.makes_own);
        self.template.as_deref().filter(|template| !own.iter().any(|mark| template.contains(mark)))
    }

    /// The rules that don't run because the user does not want to hear what they report: no other rule reports the same
    /// in their place, as it may for a rule that just was not selected.
    pub fn ignored(mut self, rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        self.ignored = rules.into_iter().collect();
        self
    }

    /// The place of the messages, or of the request, in each record, as a JSON Pointer; `None` to find them.
    pub fn at(mut self, pointer: Option<impl Into<Arc<str>>>) -> Self {
        self.at = pointer.map(Into::into);
        self
    }

    /// The model that the path names to which a body was sent, for one that names none ([`lint_body`](crate::lint_body)).
    pub fn path_model(mut self, model: Option<&str>) -> Self {
        self.path_model = model.map(Arc::from);
        self
    }

    /// The model that requests are checked for, whichever they name: who has the error of an API may know which ones it is
    /// for; `None` for their own.
    pub fn as_model(mut self, model: Option<&str>) -> Self {
        self.as_model = model.map(Arc::from);
        self
    }

    /// Whether findings say how a fix fixes them ([`Finding::fixable`](crate::Finding::fixable)), for outputs that show it. What
    /// could be fixed is tried for that. The default is `true`.
    pub fn marks_fixes(self, marks_fixes: bool) -> Self {
        self.marks(if marks_fixes { Marks::Tried } else { Marks::Off })
    }

    pub(crate) fn marks(mut self, marks: Marks) -> Self {
        self.marks = marks;
        self
    }
}

/// An API to check against: a built-in target, or the user's own.
#[derive(Clone)]
pub enum TargetRef {
    /// A built-in target.
    BuiltIn(&'static Target),
    /// The user's own.
    Own(Arc<Target>),
}

impl Deref for TargetRef {
    type Target = Target;

    fn deref(&self) -> &Target {
        match self {
            Self::BuiltIn(target) => target,
            Self::Own(target) => target,
        }
    }
}

impl fmt::Debug for TargetRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TargetRef").field(&self.id).finish()
    }
}

impl From<&'static Target> for TargetRef {
    fn from(target: &'static Target) -> Self {
        Self::BuiltIn(target)
    }
}

impl From<Target> for TargetRef {
    fn from(target: Target) -> Self {
        Self::Own(Arc::new(target))
    }
}

impl From<Arc<Target>> for TargetRef {
    fn from(target: Arc<Target>) -> Self {
        Self::Own(target)
    }
}
