//! What a rule says, and about which place.

use std::borrow::Cow;
use std::ops::Range;

use toolcheck_json::{NodeId, Position};

use crate::ir::{Call, Place, ToolResult};
use crate::level::Level;
use crate::target::Grounds;

/// A second place that a finding speaks of: the other end of a pair, the message that stands between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What is there, lower case, one line.
    pub message: Cow<'static, str>,
    /// The same, where it stands in another text of the file than the finding.
    pub elsewhere: Option<Spot>,
}

/// A place in a file, as a person names it and as a program finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The number of its JSON Lines record, from 0.
    pub record: usize,
    /// The bytes of that record in the file.
    pub record_bytes: Range<usize>,
    /// Where it begins.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
    /// Its bytes in the file, 0-based and half-open.
    pub bytes: Range<usize>,
    /// The value that it belongs to, in the document of its record.
    pub node: NodeId,
    /// That value's JSON Pointer in the record.
    pub pointer: String,
}

/// What the target answers to it, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The id of the target that answers.
    pub target: String,
    /// Which case of the rule the target's data has this answer for; `None` for one that holds for all.
    pub case: Option<String>,
    /// The HTTP status, where there is one.
    pub status: Option<u16>,
    /// The text, with the names and numbers of this transcript filled in.
    pub text: Option<String>,
    /// How well it is known that it answers so.
    pub grounds: Grounds,
    /// Why the finding is a warning although the target refuses it: a clause.
    pub only_warns: Option<String>,
}

/// One fault of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule that found it.
    pub rule: &'static str,
    /// How bad it is for the target.
    pub level: Level,
    /// What is wrong: lower case, one line, naming the id. Never an argument, a result or a text.
    pub message: String,
    /// The place to look at first.
    pub place: Place,
    /// What is there, for the excerpt.
    pub caption: Cow<'static, str>,
    /// The other places.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<Cow<'static, str>>,
    /// What the target answers, where that is known.
    pub answer: Option<Answer>,
    /// What harm it does where the target accepts it.
    pub note: Option<String>,
    /// The id of the tool call that it is about.
    pub tool_call_id: Option<String>,
    /// The name of the tool that it is about.
    pub tool_name: Option<String>,
    /// Which of the rule's cases it is, for targets that tell them apart. Once the rule is done, they are in the order in
    /// which it declares them: the most telling first.
    pub cases: Vec<&'static str>,
    /// The worst level that it may have, whatever the target says.
    pub at_most: Level,
    /// The least level that it has, whatever the target says; `None` where the target decides.
    pub at_least: Option<Level>,
    /// How well it is known that the target refuses this very thing, where its refusal is about many.
    pub grounds: Option<Grounds>,
    /// Why a refusal of it is worth a warning only, where the rule knows: a clause.
    pub doubt: Option<&'static str>,
    /// What the target's text is filled in with.
    pub values: Vec<(&'static str, String)>,
}

impl Finding {
    /// A finding of `rule` at `place`. Its level and the target's answer are filled in when the rule is done.
    #[must_use]
    pub fn new(rule: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self {
            rule,
            level: Level::Warning,
            message: message.into(),
            place,
            caption: Cow::Borrowed(""),
            labels: Vec::new(),
            help: None,
            answer: None,
            note: None,
            tool_call_id: None,
            tool_name: None,
            cases: Vec::new(),
            at_most: Level::Error,
            at_least: None,
            grounds: None,
            doubt: None,
            values: Vec::new(),
        }
    }

    /// Says what is at the finding's own place.
    pub fn caption(&mut self, caption: impl Into<Cow<'static, str>>) -> &mut Self {
        self.caption = caption.into();
        self
    }

    /// Adds a second place.
    pub fn label(&mut self, place: Place, message: impl Into<Cow<'static, str>>) -> &mut Self {
        self.labels.push(Label { place, message: message.into(), elsewhere: None });
        self
    }

    /// Adds a second place that may stand in another text of the file.
    pub fn label_at(
        &mut self,
        place: Place,
        elsewhere: Option<Spot>,
        message: impl Into<Cow<'static, str>>,
    ) -> &mut Self {
        self.labels.push(Label { place, message: message.into(), elsewhere });
        self
    }

    /// Says what to do.
    pub fn help(&mut self, help: impl Into<Cow<'static, str>>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    /// Adds one of the rule's cases. If there are several, the order in which the rule declares them decides which the
    /// target is asked for first.
    pub fn case(&mut self, case: &'static str) -> &mut Self {
        self.cases.push(case);
        self
    }

    /// Adds one of the rule's cases, if it is one.
    pub fn case_if(&mut self, is_case: bool, case: &'static str) -> &mut Self {
        if is_case { self.case(case) } else { self }
    }

    /// Adds several of the rule's cases, or one that there may be.
    pub fn add_cases(&mut self, cases: impl IntoIterator<Item = &'static str>) -> &mut Self {
        self.cases.extend(cases);
        self
    }

    /// Says that it is never worse than this.
    pub fn at_most(&mut self, level: Level) -> &mut Self {
        self.at_most = level;
        self
    }

    /// Says that it is never better than this: it does harm whatever the target takes.
    pub fn at_least(&mut self, level: Level) -> &mut Self {
        self.at_least = Some(level);
        self
    }

    /// Says how well it is known that the target refuses this very thing.
    pub fn grounds(&mut self, grounds: Grounds) -> &mut Self {
        self.grounds = Some(grounds);
        self
    }

    /// Says that a refusal of it is worth a warning only, and why: a clause that follows on "only a warning:".
    pub fn doubt(&mut self, doubt: &'static str) -> &mut Self {
        self.doubt = Some(doubt);
        self.at_most(Level::Warning)
    }

    /// Gives a value for the target's text.
    pub fn value(&mut self, name: &'static str, value: impl ToString) -> &mut Self {
        self.values.push((name, value.to_string()));
        self
    }

    /// Names the call that it is about.
    pub fn about_call(&mut self, call: &Call<'_>) -> &mut Self {
        self.tool_call_id = call.id.as_ref().map(|id| id.text.to_string());
        self.tool_name = call.name.as_ref().map(|name| name.text.to_string());
        self
    }

    /// Names the call and the tool that a result speaks of.
    pub fn about_result(&mut self, result: &ToolResult<'_>) -> &mut Self {
        self.tool_call_id = result.call_id.as_ref().map(|id| id.text.to_string());
        self.tool_name = result.name.as_ref().map(|name| name.text.to_string());
        self
    }
}
