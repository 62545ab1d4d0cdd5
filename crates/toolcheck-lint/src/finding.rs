//! What a rule reports, before and after it has its place in the file.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use toolcheck_core::fix::Fix;
use toolcheck_core::ir::{Call, Place, ToolResult};
use toolcheck_core::shape::Answer;
use toolcheck_core::targets::EvidenceSummary;
use toolcheck_core::text::{Line, kept};
use toolcheck_core::{Level, RuleId};
use toolcheck_json::origins::Origin;
use toolcheck_json::{Head, NodeId, Position};

/// A problem in a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finding {
    /// The id of the rule.
    pub rule: RuleId,
    /// How bad it is for the target.
    pub level: Level,
    /// What is wrong: lower case, naming the id. Never an argument, a result or a text.
    pub message: Line,
    /// Where it is.
    pub spot: Spot,
    /// What is at that place; may be empty.
    pub caption: Line,
    /// The other places.
    pub labels: Vec<Label>,
    /// The number of other places with the same mistake, of which the labels show the first.
    pub repeats: usize,
    /// What to do.
    pub help: Option<Line>,
    /// The id of the target that its transcript was checked against; `None` if there is none for the format.
    pub target: Option<Arc<str>>,
    /// What harm it does if the target accepts it.
    pub harm: Option<Line>,
    /// What the target answers.
    pub provider_error: Option<ProviderError>,
    /// The id of the tool call that it is about, up to a kilobyte.
    pub tool_call_id: Option<String>,
    /// The name of the tool that it is about, up to a kilobyte.
    pub tool_name: Option<String>,
    /// How `toolcheck fix` fixes it; `None` if it does not, or if [`Options::marks_fixes`](crate::Options::marks_fixes) is off.
    pub fixable: Option<Fixable>,
    /// What fixes it in its place.
    pub(crate) fix: Option<Box<Fix>>,
    /// The start of the text at its place, which identifies it in later runs.
    pub(crate) head: Head,
    /// What it is known by if a later conversation of the file may say it again.
    pub(crate) reported: Option<FindingKey>,
    /// The number of the finding that it repeats, with which it is fixed: it is not reported.
    pub(crate) copy_of: Option<usize>,
}

/// What a finding is known by, as hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FindingKey {
    /// The rule, the value, and what was said before it.
    pub(crate) said: u64,
    pub(crate) call: Option<CallKey>,
}

/// The rule, the value and the call that it is in. A span has its answer alone, and the next one has it in its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKey {
    pub(crate) in_answer: u64,
    pub(crate) in_history: u64,
    pub(crate) is_in_answer: bool,
}

impl CallKey {
    /// What is known of it where it is.
    pub(crate) fn own(&self) -> u64 {
        if self.is_in_answer { self.in_answer } else { self.in_history }
    }
}

/// The rule of a finding that is left, and the start of the text at its place, wherever that is then.
pub(crate) type LeftOut = (RuleId, Box<[u8]>);

impl Finding {
    /// What identifies it where it may be left out.
    pub(crate) fn left_out(&self) -> LeftOut {
        (self.rule, self.head.bytes().into())
    }
}

/// How a finding may be fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fixable {
    /// Without losing or guessing anything, in most cases.
    Safe,
    /// Only by losing or guessing something.
    Unsafe,
}

impl Fixable {
    /// The name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        }
    }
}

/// The number of bytes of a finding that count. A place may be a whole request of megabytes.
pub(crate) const MOST_BYTES: usize = 4096;

/// A second place that a finding refers to, such as the other end of a pair.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Label {
    /// What is there; may be empty.
    pub message: Line,
    /// Where.
    pub spot: Spot,
}

/// A place in a file, for people and for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The number of its JSON Lines record, from 0.
    pub record: usize,
    /// The bytes of that record in the file.
    pub record_bytes: Range<usize>,
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
    /// Its bytes in the file, 0-based and half-open.
    pub bytes: Range<usize>,
    /// The value that it belongs to, in the document of its record.
    pub node: NodeId,
    /// That value's JSON Pointer in the record; of a long one, the middle is left out (see
    /// [`toolcheck_json::LONGEST_POINTER`]).
    pub pointer: String,
    /// What it is in, if the file holds the request inside something else. The pointer is then the one in that value.
    pub origin: Option<Arc<Origin>>,
}

impl Spot {
    /// Its value by name: the JSON Pointer, after the name of the body that it is in, if the file holds that inside
    /// something else. Empty for a whole record.
    pub fn name(&self) -> Cow<'_, str> {
        match &self.origin {
            Some(origin) => Cow::Owned(origin.name_of(&self.pointer)),
            None => Cow::Borrowed(&self.pointer),
        }
    }
}

/// What the target answers to a request with this problem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderError {
    /// The id of the target.
    pub target: Arc<str>,
    /// The case of the rule that the target's data has this answer for; `None` if it holds for all.
    pub case: Option<String>,
    /// The HTTP status, if there is one.
    pub status: Option<u16>,
    /// The text, with the names and numbers of this transcript filled in. It may have several lines.
    pub text: Option<String>,
    /// How well the answer is known.
    pub grounds: EvidenceSummary,
    /// Why the finding is only a warning although the target refuses it: a clause.
    pub only_warns: Option<String>,
}

/// A finding that a rule builds. Its level and the target's answer are set when the rule is done with it.
#[derive(Debug, Clone)]
pub struct Draft {
    pub(crate) rule: RuleId,
    pub(crate) level: Level,
    pub(crate) place: Place,
    pub(crate) tool_call_id: Option<String>,
    /// How bad it is for the target, whatever the user has set.
    pub(crate) target_level: Level,
    /// What it is about, if it is about the shape of a request.
    pub(crate) of_shape: Option<Box<OfShape>>,
    /// Whether its rule is about the form of messages.
    pub(crate) is_on_wire: bool,
    /// Whether its rule is about the text of the file.
    pub(crate) is_on_text: bool,
    /// What it says; `None` if it is one of too many.
    said: Option<Box<DraftContent>>,
    /// What is left of that then.
    counted: Counted,
}

/// What a [`Draft`] that is only counted needs to settle with others.
#[derive(Debug, Clone, Default)]
struct Counted {
    labels: Box<[NodeId]>,
    is_refused: bool,
    has_harm: bool,
}

/// What a [`Draft`] says.
#[derive(Debug, Clone, Default)]
pub struct DraftContent {
    pub(crate) message: Line,
    pub(crate) caption: Line,
    pub(crate) labels: Vec<DraftLabel>,
    pub(crate) repeats: usize,
    pub(crate) help: Option<Line>,
    pub(crate) provider_error: Option<ProviderError>,
    pub(crate) target: Option<Arc<str>>,
    pub(crate) harm: Option<Line>,
    pub(crate) tool_name: Option<String>,
    /// The rule's cases, for targets that distinguish them. Once the rule is done, they are in the order of its
    /// declaration: the most specific first.
    pub(crate) cases: Vec<&'static str>,
    /// The worst level that it may have, whatever the target says.
    pub(crate) at_most: Option<Level>,
    /// The least level that it has, whatever the target says; `None` if the target decides.
    pub(crate) at_least: Option<Level>,
    /// Why a refusal of it is only a warning, if the rule knows: a clause.
    pub(crate) doubt: Option<&'static str>,
    /// Whether it is in nothing that is sent, though the file goes on.
    pub(crate) stays: bool,
    /// The placeholders of the target's text.
    pub(crate) values: Vec<(&'static str, String)>,
    /// What the target answers, if the rule knows it.
    pub(crate) answer: Option<Answer>,
    pub(crate) fix: Option<Box<Fix>>,
    /// What it is known by, to be left out of a later conversation of the file.
    pub(crate) reported: Option<FindingKey>,
}

/// What a finding about the shape of a request is about, for the findings of other rules that may be about the same.
#[derive(Debug, Clone)]
pub(crate) struct OfShape {
    pub(crate) node: NodeId,
    /// The object that has it, or lacks it.
    pub(crate) object: NodeId,
    /// Whether it is about the value, rather than about one that is not there.
    pub(crate) is_value: bool,
    /// The rules that report it wherever in an object they point.
    pub(crate) checked_by: Vec<(NodeId, RuleId)>,
    /// The same, if they point at something that holds it.
    pub(crate) checked_around_by: Vec<(NodeId, RuleId)>,
    pub(crate) element: NodeId,
    /// Whether its help says what to rename.
    pub(crate) renames: bool,
    /// The rules that miss in an object what it has under a wrong key or in a wrong place: they say less.
    pub(crate) explains: Vec<(NodeId, RuleId)>,
    /// Whether it is about the calls of a message, none of which is read, or about results, or about tools.
    pub(crate) hides_calls: bool,
    pub(crate) hides_results: bool,
    pub(crate) hides_tools: bool,
    /// Whether it is a key that was meant to be another.
    pub(crate) is_misspelt: bool,
    /// Whether it is about an element of a list that is not an object.
    pub(crate) is_no_object: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct DraftLabel {
    pub(crate) place: Place,
    pub(crate) message: Line,
    /// Where, if it is in another record of the file than the finding.
    pub(crate) elsewhere: Option<Spot>,
}

/// The most places that a finding shows besides its own.
const MOST_REPEATS: usize = 4;

impl Draft {
    pub(crate) fn new(rule: RuleId, place: Place, message: impl Into<Line>) -> Self {
        Self {
            rule,
            level: Level::Warning,
            place,
            tool_call_id: None,
            target_level: Level::Warning,
            of_shape: None,
            is_on_wire: false,
            is_on_text: false,
            said: Some(Box::new(DraftContent { message: message.into(), ..DraftContent::default() })),
            counted: Counted::default(),
        }
    }

    /// What it says; `None` if it is only counted.
    pub(crate) fn said(&self) -> Option<&DraftContent> {
        self.said.as_deref()
    }

    /// What it says, to change it; `None` if it is only counted.
    pub(crate) fn said_mut(&mut self) -> Option<&mut DraftContent> {
        self.said.as_deref_mut()
    }

    pub(crate) fn say(&mut self) -> &mut DraftContent {
        self.said.get_or_insert_default()
    }

    /// What it says, without itself; `None` if it is only counted.
    pub(crate) fn into_said(self) -> Option<DraftContent> {
        self.said.map(|said| *said)
    }

    /// Leaves what they say to the first `most` of these.
    pub(crate) fn only_count_after(drafts: &mut [Self], most: usize) {
        drafts.iter_mut().filter(|draft| draft.said().is_some()).skip(most).for_each(Self::only_count);
    }

    /// Forgets what it says, because there are too many. It still settles with others about the same thing, and is
    /// counted.
    pub(crate) fn only_count(&mut self) {
        self.counted = Counted {
            labels: self.label_nodes().collect(),
            is_refused: self.is_refused(),
            has_harm: self.has_harm(),
        };
        self.said = None;
    }

    /// The values that its labels are at, in the same record.
    pub(crate) fn label_nodes(&self) -> impl Iterator<Item = NodeId> {
        let labels = self.said().map_or(&[][..], |said| &said.labels);
        let here = labels.iter().filter(|label| label.elsewhere.is_none()).map(|label| label.place.node);
        here.chain(self.counted.labels.iter().copied())
    }

    /// Whether the target is known to refuse it.
    pub(crate) fn is_refused(&self) -> bool {
        self.said().map_or(self.counted.is_refused, |said| said.provider_error.is_some())
    }

    /// Whether it is known to do harm if the target accepts it.
    pub(crate) fn has_harm(&self) -> bool {
        self.said().map_or(self.counted.has_harm, |said| said.harm.is_some())
    }

    /// Describes what is at the finding's own place.
    pub(crate) fn caption(&mut self, caption: impl Into<Line>) -> &mut Self {
        self.say().caption = caption.into();
        self
    }

    /// Adds a second place.
    pub(crate) fn label(&mut self, place: impl Into<Option<Place>>, message: impl Into<Line>) -> &mut Self {
        let label = |place| DraftLabel { place, message: message.into(), elsewhere: None };
        self.say().labels.extend(place.into().map(label));
        self
    }

    /// Adds another place of the same mistake. Only the first are shown.
    pub(crate) fn and_here(&mut self, place: Place) {
        self.say().repeats += 1;
        if self.say().repeats <= MOST_REPEATS {
            self.label(place, "and here");
        }
    }

    /// Adds a second place that may be in another record of the file.
    pub(crate) fn label_at(
        &mut self,
        place: Place,
        elsewhere: Option<Spot>,
        message: impl Into<Line>,
    ) -> &mut Self {
        self.say().labels.push(DraftLabel { place, message: message.into(), elsewhere });
        self
    }

    pub(crate) fn help(&mut self, help: impl Into<Line>) -> &mut Self {
        self.say().help = Some(help.into());
        self
    }

    /// Adds one of the rule's cases. If there are several, the order in which the rule declares them decides which the
    /// target is asked for first.
    pub(crate) fn case(&mut self, case: &'static str) -> &mut Self {
        self.say().cases.push(case);
        self
    }

    /// Adds one of the rule's cases, if it is one.
    pub(crate) fn case_if(&mut self, is_case: bool, case: &'static str) -> &mut Self {
        if is_case { self.case(case) } else { self }
    }

    /// Adds several of the rule's cases, or one that there may be.
    pub(crate) fn add_cases(&mut self, cases: impl IntoIterator<Item = &'static str>) -> &mut Self {
        self.say().cases.extend(cases);
        self
    }

    /// Limits the level: never worse than this.
    pub(crate) fn at_most(&mut self, level: Level) -> &mut Self {
        self.say().at_most = Some(level);
        self
    }

    /// Limits the level: never better than this, because it does harm whatever the target accepts.
    pub(crate) fn at_least(&mut self, level: Level) -> &mut Self {
        self.say().at_least = Some(level);
        self
    }

    /// Makes a refusal of it a warning only. `doubt` is a clause that follows "only a warning:".
    pub(crate) fn doubt(&mut self, doubt: &'static str) -> &mut Self {
        self.say().doubt = Some(doubt);
        self.at_most(Level::Warning)
    }

    pub(crate) fn fix(&mut self, fix: impl Into<Option<Fix>>) -> &mut Self {
        self.say().fix = fix.into().map(Box::new).or_else(|| self.say().fix.take());
        self
    }

    /// Sets a placeholder of the target's text.
    pub(crate) fn value(&mut self, name: &'static str, value: impl ToString) -> &mut Self {
        self.value_of(name, Some(value))
    }

    /// The same, if there is one.
    pub(crate) fn value_of(&mut self, name: &'static str, value: Option<impl ToString>) -> &mut Self {
        self.say().values.extend(value.map(|value| (name, kept(&value.to_string()))));
        self
    }

    pub(crate) fn about_tool(&mut self, name: &str) -> &mut Self {
        self.say().tool_name = Some(kept(name));
        self
    }

    pub(crate) fn about_call(&mut self, call: &Call<'_>) -> &mut Self {
        self.tool_call_id = call.id.as_ref().map(|id| kept(&id.text));
        self.say().tool_name = call.name.as_ref().map(|name| kept(&name.text));
        self
    }

    /// Sets the call and the tool that a result names.
    pub(crate) fn about_result(&mut self, result: &ToolResult<'_>) -> &mut Self {
        self.tool_call_id = result.call_id.as_ref().map(|id| kept(&id.text));
        self.say().tool_name = result.name.as_ref().map(|name| kept(&name.text));
        self
    }
}
