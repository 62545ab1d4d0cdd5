//! What a provider enforces, as data with its evidence.
//!
//! One TOML file a target, compiled in. A file holds *facts* (where results must stand, what ids look like),
//! *refusals* (what the provider answers, in its own words, seen by whom and when) and *tolerances* (what it
//! accepts, and what harm that does). No code knows a provider by name.

mod error_body;
mod facts;
mod inherit;
mod models_body;
mod pattern;
mod refusal;
pub mod shape;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use regex::Regex;
use serde::{Deserialize, Deserializer};
use toolcheck_toml::{Deferred, Text};

pub use error_body::{ErrorBody, ErrorDetail, WrittenError};
pub use facts::{
    Advisors, ArgumentFacts, ArgumentType, ContentFacts, Ids, Names, Placement, PromptFacts, Results, Roles,
    Tools, UnsupportedTools,
};
pub use models_body::ModelsBody;
pub use pattern::Pattern;
pub use refusal::FREE;
pub use refusal::{Evidence, EvidenceSummary, Refusal, Tolerance, Verdict};
pub(crate) use refusal::{first_source, leave_out};

use self::shape::{Shape, TargetShape};
use crate::error::Error;
use crate::formats;
use crate::ir::{FormatId, Transcript, TranscriptKind};
use crate::level::Level;
use crate::rule_id::RuleId;
use crate::tables::{TARGETS, Tables};

static ALL: Tables<Target, { TARGETS.1.len() }> =
    Tables::read_by(TARGETS, |packed| Target::read(packed, true));

/// The ids of the targets that are compiled in.
pub fn ids() -> impl Iterator<Item = &'static str> {
    ALL.ids()
}

/// The targets that are compiled in.
pub fn all() -> impl Iterator<Item = &'static Target> {
    ALL.all()
}

/// The packed file of a target that is compiled in.
pub(crate) fn packed(id: &str) -> Option<&'static str> {
    ALL.packed(id)
}

/// The target of that id. Its file is read on first use.
pub fn find(id: &str) -> Option<&'static Target> {
    ALL.find(id)
}

/// The target of that id, or the one that has this alias.
pub fn named(name: &str) -> Option<&'static Target> {
    find(name).or_else(|| all().find(|target| target.aliases.iter().any(|alias| alias == name)))
}

/// The ids and aliases of the targets that are compiled in.
pub fn names() -> impl Iterator<Item = &'static str> {
    ids().chain(all().flat_map(|target| target.aliases.iter().map(String::as_str)))
}

/// A provider's API, or what stands for one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Target {
    /// The id on the command line and in reports.
    pub id: Arc<str>,
    /// The name in prose.
    pub name: String,
    /// Other names that stand for the id on the command line and in the configuration.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// How the names begin that the API's own clients send as their user agent, where other APIs share its paths.
    #[serde(default)]
    pub clients: Vec<String>,
    /// What is in the paths that only this API has of those of its format.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The hosts that serve the API, those in one of these domains included; one that begins with `-` is the end of a
    /// name. From the API's reference.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The id of the wire format that it speaks; none where it stands for several.
    pub format: Option<String>,
    /// The target that this one is a variant of: what this file does not say, that one says.
    pub extends: Option<String>,
    /// Whether another vendor's server speaks the same shape here: what was seen of the one that this target extends is
    /// then inferred of this one, and refuses nothing.
    #[serde(default)]
    pub is_compatible_only: bool,
    /// Whether a request names a deployment, which may be of another model than its name says: what was seen of keys for
    /// some models only is then in doubt.
    #[serde(default)]
    pub names_deployments: bool,
    /// The targets that know more of some models of this API: where nobody names a target, their requests are checked
    /// against these.
    #[serde(default)]
    pub by_model: Vec<ByModel>,
    /// The targets whose refusals count here too: what one of them refuses is refused.
    #[serde(default)]
    pub union: Vec<String>,
    /// What the transcripts for it are, where nobody says otherwise.
    #[serde(default, deserialize_with = "kind")]
    pub kind: Option<TranscriptKind>,
    /// The keys that each row of a file for it has: all of one of these lists.
    #[serde(default)]
    pub rows: Vec<Vec<String>>,
    /// What a reader should know about the target as a whole.
    pub notes: Option<String>,
    /// Where results must stand.
    #[serde(default)]
    pub results: Results,
    /// What ids look like.
    #[serde(default)]
    pub ids: Ids,
    /// Which roles there are.
    #[serde(default)]
    pub roles: Roles,
    /// What the names of tools look like.
    #[serde(default)]
    pub names: Names,
    /// What holds for the tools of a request.
    #[serde(default)]
    pub tools: Tools,
    /// What the parts of a message may hold.
    #[serde(default)]
    pub content: ContentFacts,
    /// How the arguments of a call are written.
    #[serde(default)]
    pub arguments: ArgumentFacts,
    /// What it makes of a request before the chat template of its model sees it.
    #[serde(default)]
    pub prompt: PromptFacts,
    /// What it puts around the text of an error.
    pub error: Option<ErrorBody>,
    /// What errors with certain texts say besides.
    #[serde(default)]
    pub error_detail: Vec<ErrorDetail>,
    /// How the API describes its models.
    pub models: Option<ModelsBody>,
    /// What it enforces of the shape of its format.
    #[serde(default)]
    pub shape: Deferred<Arc<TargetShape>>,
    /// What it enforces of the shape of other formats, which it speaks at other addresses, by the id of the format, besides
    /// what the format's own target says.
    #[serde(default)]
    pub also: BTreeMap<String, Deferred<Arc<TargetShape>>>,
    /// What its own file says that it refuses and accepts: of another format's target, only the shape may be asked for.
    #[serde(default, rename = "refusal")]
    own_refusals: Deferred<Vec<Refusal>>,
    #[serde(default, rename = "tolerance")]
    own_tolerances: Deferred<Vec<Tolerance>>,
    /// The family of the format, if there is a format of that id.
    #[serde(skip)]
    family: Option<&'static str>,
    #[serde(skip)]
    answers: OnceLock<Answers>,
    #[serde(skip)]
    shapes: OnceLock<Shapes>,
}

/// The target for some models of an API.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct ByModel {
    /// What the names of the models match.
    pub model: Pattern,
    /// The id of the target.
    pub target: String,
}

/// The shapes of the formats that a target speaks, by their ids: each is compiled when it is first asked.
type Shapes = Vec<(String, OnceLock<Option<Arc<Shape>>>)>;

fn kind<'de, D: Deserializer<'de>>(value: D) -> Result<Option<TranscriptKind>, D::Error> {
    let name = String::deserialize(value)?;
    name.parse().map(Some).map_err(serde::de::Error::custom)
}

/// What a target refuses and accepts, with what it takes from others.
#[derive(Debug, Clone, Default)]
struct Answers {
    refusals: Vec<Refusal>,
    tolerances: Vec<Tolerance>,
    /// Where the entries of each rule are: many rules ask for every transcript.
    by_rule: BTreeMap<RuleId, Entries>,
}

#[derive(Debug, Clone, Default)]
struct Entries {
    refusals: Vec<usize>,
    tolerances: Vec<usize>,
}

impl Target {
    /// Reads a target's file. What it extends must be one of the targets that are compiled in. Fails where the text is
    /// not TOML of that shape, or names a target that does not exist; the message says the line and column.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |error: toolcheck_toml::Error| {
            fault_at(text, error.span().map_or(0, |span| span.start), error.message().trim())
        };
        // First with the places of its values, for what is wrong with them.
        toolcheck_toml::from_str::<Self>(text).map_err(wrong)?;
        let target = Self::read(&toolcheck_toml::pack(text).map_err(wrong)?, false)?;
        let ids = &target.ids;
        let own =
            [&ids.pattern, &ids.server_pattern, &ids.item_pattern, &ids.made_model, &target.names.pattern];
        let models = target.refusals().iter().flat_map(|refusal| [&refusal.model, &refusal.except_model]);
        let models = models.chain(target.tolerances().iter().map(|tolerance| &tolerance.model));
        for pattern in own.into_iter().chain(models).flatten() {
            if let Err(error) = Regex::new(pattern.as_str()) {
                let at = text.find(pattern.as_str()).unwrap_or_default();
                return Err(fault_at(text, at, &format!("not a regular expression: {error}")));
            }
        }
        target.shape.get();
        for (format, enforced) in target.enforced() {
            if let Some(shape) = Shape::of(format, enforced) {
                shape.check_tables()?;
            }
        }
        Ok(target)
    }

    /// The shape that its requests must have. `None` if it says nothing of it, or its format is not described.
    pub fn shape(&self) -> Option<&Shape> {
        self.shape_in(self.format.as_deref()?)
    }

    /// The shape that its requests in a format must have, by the id of the format.
    pub fn shape_in(&self, format: &str) -> Option<&Shape> {
        let shapes = self.shapes.get_or_init(|| {
            self.enforced().map(|(format, _)| (format.to_owned(), OnceLock::new())).collect()
        });
        let (_, shape) = shapes.iter().find(|(id, _)| id == format)?;
        let compile = || {
            let (_, enforced) = self.enforced().find(|(id, _)| *id == format)?;
            Shape::of(format, enforced).map(Arc::new)
        };
        shape.get_or_init(compile).as_deref()
    }

    /// The shape for a transcript in a format: that of the target's own format if it is of the same family.
    pub fn shape_for(&self, format: FormatId) -> Option<&Shape> {
        self.shape_in(self.id_of_shape(format)?)
    }

    /// Whether there is a shape for a transcript in a format, which nothing is compiled for.
    pub fn has_shape_for(&self, format: FormatId) -> bool {
        let is_described = |id: &str| shape::formats().any(|own| own == id);
        let id = self.id_of_shape(format);
        id.is_some_and(|id| self.enforced().any(|(own, _)| own == id) && is_described(id))
    }

    fn id_of_shape(&self, format: FormatId) -> Option<&str> {
        if self.family == Some(format.family) { self.format.as_deref() } else { Some(format.id) }
    }

    /// What it enforces of the shape of each format that it speaks, by the id of the format.
    pub(crate) fn enforced(&self) -> impl Iterator<Item = (&str, &Deferred<Arc<TargetShape>>)> {
        // What was packed and not read is there.
        let own = self.format.as_deref().filter(|_| !self.shape.is_read() || !self.shape.is_empty());
        let also = self.also.iter().map(|(format, enforced)| (&**format, enforced));
        own.map(|format| (format, &self.shape)).into_iter().chain(also)
    }

    /// The target that knows more of a model of this API, if there is one.
    pub fn of_model(&self, model: &str) -> Option<&'static Self> {
        find(&self.by_model.iter().find(|own| own.model.is_match(model))?.target)
    }

    /// The same, or this target, where none knows more.
    pub fn for_model<'t>(&'t self, model: Option<&str>) -> &'t Self {
        model.and_then(|model| self.of_model(model)).unwrap_or(self)
    }

    /// Whether a client with this name is one of the API's own.
    pub fn has_client(&self, agent: &str) -> bool {
        self.clients.iter().any(|client| agent.starts_with(&**client))
    }

    /// Whether a path is one that only this API has.
    pub fn has_path(&self, path: &str) -> bool {
        self.paths.iter().any(|part| path.contains(&**part))
    }

    /// Reads a target's packed file without a look at its expressions.
    fn read(packed: &str, is_of_program: bool) -> Result<Self, Error> {
        let mut target: Self =
            toolcheck_toml::from_packed(packed).map_err(|error| Error::new(error.message()))?;
        let known = |id: &str| {
            find(id).ok_or_else(|| {
                let known = ids().collect::<Vec<_>>().join(", ");
                Error::new(format!("`{id}` is not a target; there are {known}"))
            })
        };
        if let Some(parent) = &target.extends {
            let parent = known(parent)?;
            target = inherit::overlaid(packed, is_of_program).map_err(|error| Error::new(error.message()))?;
            target.inherit_shape(parent);
        }
        target.family = target.format.as_deref().and_then(formats::find).map(|format| format.family);
        for member in &target.union {
            known(member)?;
        }
        if let Some(error) = &mut target.error {
            error.details = std::mem::take(&mut target.error_detail);
        }
        Ok(target)
    }

    /// What it refuses.
    pub fn refusals(&self) -> &[Refusal] {
        &self.answers().refusals
    }

    /// What it accepts.
    pub fn tolerances(&self) -> &[Tolerance] {
        &self.answers().tolerances
    }

    fn answers(&self) -> &Answers {
        self.answers.get_or_init(|| {
            let mut answers = Answers {
                refusals: self.own_refusals.owned(),
                tolerances: self.own_tolerances.owned(),
                by_rule: BTreeMap::new(),
            };
            if let Some(parent) = self.extends.as_deref().and_then(find) {
                self.inherit(parent, &mut answers);
            }
            for refusal in &mut answers.refusals {
                refusal.target = Arc::clone(&self.id);
                refusal.family = self.family;
            }
            for member in self.union.iter().filter_map(|id| find(id)) {
                answers.refusals.extend(member.refusals().iter().cloned());
            }
            for (number, refusal) in answers.refusals.iter().enumerate() {
                answers.by_rule.entry(refusal.rule).or_default().refusals.push(number);
            }
            for (number, tolerance) in answers.tolerances.iter().enumerate() {
                answers.by_rule.entry(tolerance.rule).or_default().tolerances.push(number);
            }
            answers
        })
    }

    /// The refusals and tolerances of a rule, in the order of the file.
    fn entries(
        &self,
        rule: RuleId,
    ) -> (impl DoubleEndedIterator<Item = &Refusal>, impl DoubleEndedIterator<Item = &Tolerance>) {
        let answers = self.answers();
        let entries = answers.by_rule.get(&rule);
        let refusals = entries.map_or(&[][..], |entries| &entries.refusals);
        let tolerances = entries.map_or(&[][..], |entries| &entries.tolerances);
        (
            refusals.iter().map(|number| &answers.refusals[*number]),
            tolerances.iter().map(|number| &answers.tolerances[*number]),
        )
    }

    /// The target that nothing is known of.
    pub fn unknown() -> &'static Self {
        static UNKNOWN: OnceLock<Target> = OnceLock::new();
        UNKNOWN.get_or_init(|| Self {
            id: "unknown".into(),
            name: "an unknown API".to_owned(),
            ..Self::default()
        })
    }

    /// Whether the target refuses some case of a rule, or accepts it with harm.
    ///
    /// With `wire`, as for [`Self::verdict`].
    pub fn has_entry(&self, rule: RuleId, wire: Option<&str>) -> bool {
        let (mut refusals, mut tolerances) = self.entries(rule);
        refusals.any(|refusal| !refusal.legacy && reads(refusal.family, wire))
            || tolerances.any(|tolerance| tolerance.harm.is_some() && reads(self.family, wire))
    }

    /// Whether it also speaks a format whose own API neither refuses what a rule finds nor takes it without harm.
    pub fn leaves_open(&self, rule: RuleId, format: FormatId) -> bool {
        let own = find(format.id).filter(|_| self.also.contains_key(format.id));
        own.is_some_and(|own| {
            let (mut refusals, mut tolerances) = own.entries(rule);
            refusals.all(|refusal| refusal.legacy) && tolerances.all(|tolerance| tolerance.harm.is_some())
        })
    }

    /// What the target says of a case of a rule, for a model.
    ///
    /// An entry for the very case goes before one for all cases, an entry for the very model before one for all
    /// models, and a refusal before a tolerance. With `wire`, the family of a format, only what is known of APIs that read
    /// formats of this family counts.
    pub fn verdict(
        &self,
        rule: RuleId,
        case: Option<&str>,
        model: Option<&str>,
        wire: Option<&str>,
    ) -> Verdict<'_> {
        let fits = |own_case: &Option<Text>, own_model: &Option<Pattern>| {
            let case_fits = own_case.is_none() || own_case.as_deref() == case;
            // The expression of a case that does not matter is not compiled.
            let is_match = |pattern: &Pattern| model.is_some_and(|model| pattern.is_match(model));
            let model_fits = || own_model.as_ref().is_none_or(is_match);
            (case_fits && model_fits()).then_some((own_case.is_some(), own_model.is_some()))
        };
        // What another member says of a narrower case, or with a doubt, takes nothing from a refusal.
        let members = self.union.iter().rev().filter_map(|id| find(id));
        let of_members = members.filter_map(|member| match member.verdict(rule, case, model, wire) {
            Verdict::Refused(refusal) => Some(refusal),
            _ => None,
        });
        let is_sure =
            |refusal: &&Refusal| (refusal.level() == Level::Error, refusal.evidence != Evidence::Inferred);
        if let Some(surest) = of_members.max_by_key(is_sure) {
            return Verdict::Refused(surest);
        }
        // `max_by_key` takes the last of equals: reversed, the first of the file.
        let (refusals, tolerances) = self.entries(rule);
        let refusal = refusals
            .rev()
            .filter_map(|entry| Some((fits(&entry.case, &entry.model)?, entry)))
            .filter(|(_, entry)| reads(entry.family, wire) && !entry.legacy)
            .filter(|(_, entry)| {
                let excepted = entry.except_model.as_ref().zip(model);
                !excepted.is_some_and(|(pattern, model)| pattern.is_match(model))
            })
            .max_by_key(|(fit, _)| *fit);
        let tolerance = tolerances
            .rev()
            .filter_map(|entry| Some((fits(&entry.case, &entry.model)?, entry)))
            .filter(|_| reads(self.family, wire))
            .max_by_key(|(fit, _)| *fit);
        match (refusal, tolerance) {
            (Some((refused, refusal)), Some((tolerated, _))) if refused >= tolerated => {
                Verdict::Refused(refusal)
            }
            (_, Some((_, tolerance))) => Verdict::Tolerated(tolerance),
            (Some((_, refusal)), None) => Verdict::Refused(refusal),
            (None, None) => Verdict::Unknown,
        }
    }

    /// Whether the target has an entry for this very case of a rule.
    pub fn knows_case(&self, rule: RuleId, case: &str) -> bool {
        let (mut refusals, mut tolerances) = self.entries(rule);
        refusals.any(|refusal| !refusal.legacy && refusal.case.as_deref() == Some(case))
            || tolerances.any(|tolerance| tolerance.case.as_deref() == Some(case))
    }

    /// The family of the wire format that it speaks.
    pub fn family(&self) -> Option<&'static str> {
        self.family
    }

    /// How near to its call a result must be: by default, in the next turn. Where somebody recorded what was sent to an API
    /// that is not known, the format says it.
    pub(crate) fn result_placement(&self, transcript: &Transcript<'_>) -> Placement {
        if transcript.details.results_may_wait {
            return Placement::AfterCall;
        }
        let sent = transcript.format.filter(|_| transcript.kind == TranscriptKind::Session);
        let own = || sent.and_then(|format| find(format.id)?.results.placement);
        self.results.placement.or_else(own).unwrap_or(Placement::NextTurn)
    }

    /// Whether consecutive messages of the model are one turn.
    pub fn merges_assistant_messages(&self) -> bool {
        self.results.merges_assistant_messages.unwrap_or(false)
    }

    /// Whether a signature of the model's reasoning holds only as long as everything before it is as it was.
    pub fn binds_signatures(&self) -> bool {
        self.content.binds_signatures.unwrap_or(false)
    }

    /// Whether the calls of one turn need different ids.
    pub fn needs_unique_ids(&self) -> bool {
        self.ids.must_be_unique.unwrap_or(true)
    }

    /// Whether a result is accepted if no call has its id.
    pub fn accepts_unknown_ids(&self) -> bool {
        self.results.accepts_unknown_ids.unwrap_or(false)
    }

    pub(crate) fn merges_user_messages(&self) -> bool {
        self.results.merges_user_messages.unwrap_or(false)
    }
}

/// What is wrong at a byte of a target's file. The line itself is not quoted: who names a file that is not a target may have
/// named anything.
fn fault_at(text: &str, byte: usize, message: &str) -> Error {
    let at = toolcheck_json::locate(text.as_bytes(), &[byte]);
    let (line, column) = at.first().map_or((1, 1), |at| (at.line, at.column));
    Error::new(format!("line {line}, column {column}: {message}"))
}

/// Whether an API that speaks a format of one family reads what is written in the family `wire`.
fn reads(family: Option<&str>, wire: Option<&str>) -> bool {
    wire.is_none() || family == wire
}
