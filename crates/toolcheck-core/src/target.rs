//! What a provider enforces, as data with its evidence.
//!
//! One TOML file a target, compiled in. A file holds *facts* (where results must stand, what ids look like),
//! *refusals* (what the provider answers, in its own words, seen by whom and when) and *tolerances* (what it
//! accepts, and what harm that does). No code knows a provider by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use regex::Regex;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer};
use toml::Table;

use crate::formats;
use crate::ir::TranscriptKind;
use crate::level::Level;

/// A target's file, by its id.
struct Builtin {
    id: &'static str,
    text: &'static str,
    loaded: OnceLock<Target>,
}

macro_rules! builtin {
    ($($id:literal)*) => {
        static BUILTIN: [Builtin; [$($id),*].len()] = [$(Builtin {
            id: $id,
            text: include_str!(concat!("../targets/", $id, ".toml")),
            loaded: OnceLock::new(),
        }),*];
    };
}

// The list of targets, sorted: one line each.
builtin! {
    "anthropic"
    "azure-openai"
    "bedrock"
    "bedrock-converse"
    "cerebras"
    "cohere"
    "dashscope"
    "databricks"
    "deepseek"
    "fireworks"
    "gemini"
    "github-copilot"
    "groq"
    "llama-cpp"
    "mcp-sampling"
    "minimax"
    "mistral"
    "mistral-v11"
    "mistral-v13"
    "mistral-v3"
    "mistral-v7"
    "moonshot"
    "ollama"
    "ollama-openai"
    "openai-chat"
    "openai-fine-tuning"
    "openai-responses"
    "openrouter"
    "portable"
    "vercel-gateway"
    "vertex-anthropic"
    "vertex-gemini"
    "vllm"
    "xai"
    "zai"
}

/// The ids of the targets that are compiled in.
pub fn ids() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|builtin| builtin.id)
}

/// The targets that are compiled in.
pub fn all() -> impl Iterator<Item = &'static Target> {
    BUILTIN.iter().map(load)
}

/// The text of the file of a target that is compiled in.
#[must_use]
pub fn text_of(id: &str) -> Option<&'static str> {
    BUILTIN.iter().find(|builtin| builtin.id == id).map(|builtin| builtin.text)
}

/// The target of that id. Its file is read on first use.
#[must_use]
pub fn find(id: &str) -> Option<&'static Target> {
    BUILTIN.iter().find(|builtin| builtin.id == id).map(load)
}

/// The target of that id, or the one that has this alias.
#[must_use]
pub fn named(name: &str) -> Option<&'static Target> {
    find(name).or_else(|| all().find(|target| target.aliases.iter().any(|alias| alias == name)))
}

/// The ids and aliases of the targets that are compiled in.
pub fn names() -> impl Iterator<Item = &'static str> {
    ids().chain(all().flat_map(|target| target.aliases.iter().map(String::as_str)))
}

fn load(builtin: &'static Builtin) -> &'static Target {
    builtin.loaded.get_or_init(|| {
        Target::read(builtin.text).unwrap_or_else(|error| panic!("targets/{}.toml: {error}", builtin.id))
    })
}

/// A provider's API, or what stands for one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Target {
    /// The id on the command line and in reports.
    pub id: String,
    /// The name in prose.
    pub name: String,
    /// Other names that stand for the id on the command line and in the configuration.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The id of the wire format that it speaks; none where it stands for several.
    #[serde(default)]
    pub format: Option<String>,
    /// The target that this one is a variant of: what this file does not say, that one says.
    #[serde(default)]
    pub extends: Option<String>,
    /// Whether another vendor's server speaks the same shape here: what was seen of the one that this target extends is
    /// then inferred of this one, and refuses nothing.
    #[serde(default)]
    pub is_compatible_only: bool,
    /// The targets whose refusals count here too: what one of them refuses is refused.
    #[serde(default)]
    pub union: Vec<String>,
    /// What the transcripts for it are, where nobody says otherwise.
    #[serde(default, deserialize_with = "kind")]
    pub kind: Option<TranscriptKind>,
    /// What a reader should know about the target as a whole.
    #[serde(default)]
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
    /// Which keys the objects of a request may and must have.
    #[serde(default)]
    pub fields: Fields,
    /// What it refuses.
    #[serde(default, rename = "refusal")]
    pub refusals: Vec<Refusal>,
    /// What it accepts.
    #[serde(default, rename = "tolerance")]
    pub tolerances: Vec<Tolerance>,
    /// Where the entries of each rule are: many rules ask for every transcript.
    #[serde(skip)]
    by_rule: FxHashMap<String, Entries>,
}

/// Reads a kind by its name.
fn kind<'de, D: Deserializer<'de>>(value: D) -> Result<Option<TranscriptKind>, D::Error> {
    let name = String::deserialize(value)?;
    name.parse().map(Some).map_err(serde::de::Error::custom)
}

/// The numbers of a rule's entries.
#[derive(Debug, Clone, Default)]
struct Entries {
    refusals: Vec<usize>,
    tolerances: Vec<usize>,
}

/// Where results must stand.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Results {
    /// How near to its call a result must be.
    #[serde(default)]
    pub stand: Option<Stand>,
    /// Whether consecutive messages of the model count as one turn before the results are looked for.
    #[serde(default)]
    pub merges_assistant_messages: Option<bool>,
    /// Whether consecutive messages of the user count as one before results are looked for in it.
    #[serde(default)]
    pub merges_user_messages: Option<bool>,
}

/// How near to its call a result must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stand {
    /// In the turn right after the call's.
    NextTurn,
    /// Anywhere.
    Anywhere,
}

/// What ids look like.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ids {
    /// The regular expression that a call's id must match as a whole.
    #[serde(default)]
    pub pattern: Option<Pattern>,
    /// The most characters that a call's id may have.
    #[serde(default)]
    pub max_length: Option<usize>,
    /// The regular expression that the id of a call which the provider carried out must match as a whole.
    #[serde(default)]
    pub server_pattern: Option<Pattern>,
    /// How the ids of items begin, by the items' types in the words of the wire format.
    #[serde(default)]
    pub item_prefixes: BTreeMap<String, String>,
    /// The regular expression that the id of an item must match as a whole.
    #[serde(default)]
    pub item_pattern: Option<Pattern>,
    /// The most characters that the id of an item may have.
    #[serde(default)]
    pub item_max_length: Option<usize>,
    /// How the id of a response begins that a request continues.
    #[serde(default)]
    pub response_prefix: Option<String>,
}

/// What the parts of a message may hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ContentFacts {
    /// The most characters of a text, of a result as of a message.
    #[serde(default)]
    pub max_length: Option<usize>,
    /// The most marks for the cache that a request may have.
    #[serde(default)]
    pub max_cache_marks: Option<usize>,
}

/// What the names of tools look like.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Names {
    /// The regular expression that a tool's name must match as a whole.
    #[serde(default)]
    pub pattern: Option<Pattern>,
    /// The most characters that a tool's name may have.
    #[serde(default)]
    pub max_length: Option<usize>,
}

/// What holds for the tools of a request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tools {
    /// The most tools that a request may declare.
    #[serde(default)]
    pub max: Option<usize>,
    /// The most tools that may ask for calls which keep to their schema exactly.
    #[serde(default)]
    pub max_strict: Option<usize>,
    /// The most optional parameters that those tools may have together.
    #[serde(default)]
    pub max_strict_optional: Option<usize>,
    /// The most parameters of several types that those tools may have together.
    #[serde(default)]
    pub max_strict_unions: Option<usize>,
    /// Keywords of array schemas that those tools may not use.
    #[serde(default)]
    pub strict_refused_keywords: Vec<String>,
    /// The provider's own tools whose calls and results are taken only while the request declares them.
    #[serde(default)]
    pub needed_in_history: Vec<String>,
    /// The types of tools that some models do not take.
    #[serde(default)]
    pub unsupported: Vec<UnsupportedTools>,
    /// Which models may work behind a tool, for some models.
    #[serde(default)]
    pub advisors: Vec<Advisors>,
}

/// Types of tools that some models do not take.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct UnsupportedTools {
    /// The models.
    pub model: Pattern,
    /// The types.
    pub types: Vec<String>,
}

/// Which models may advise a model through a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Advisors {
    /// The models that are advised.
    pub model: Pattern,
    /// The only models that may advise them.
    pub advisor: Pattern,
}

/// Which keys the objects of a request may and must have. An object that is not named may have any.
///
/// Objects are named `body`, `message.<role>`, `call`, `tool`, and by a key what stands under it: `tool.function`.
/// Each fact is about certain keys of one object, and has its own evidence.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fields {
    /// The only keys that an object may have.
    #[serde(default)]
    pub known: BTreeMap<String, KeyFacts>,
    /// The keys that an object must have.
    #[serde(default)]
    pub required: BTreeMap<String, KeyFacts>,
    /// Keys that an object may not have, where the others are not known.
    #[serde(default)]
    pub refused: BTreeMap<String, KeyFacts>,
}

/// What is known of the keys of one object.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "WrittenKeyFacts")]
pub struct KeyFacts(pub Vec<KeyFact>);

impl KeyFacts {
    /// The fact about this key.
    #[must_use]
    pub fn about(&self, key: &str) -> Option<&KeyFact> {
        self.0.iter().find(|fact| fact.keys.iter().any(|known| known == key))
    }

    /// All keys, each with its fact.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &KeyFact)> {
        self.0.iter().flat_map(|fact| fact.keys.iter().map(move |key| (&**key, fact)))
    }
}

/// The two ways to write facts about keys.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenKeyFacts {
    /// Names alone. Nothing shows that they are right, so they are no more than inferred.
    Bare(Vec<String>),
    Facts(Vec<KeyFact>),
}

impl From<WrittenKeyFacts> for KeyFacts {
    fn from(written: WrittenKeyFacts) -> Self {
        match written {
            WrittenKeyFacts::Facts(facts) => Self(facts),
            WrittenKeyFacts::Bare(keys) => Self(vec![KeyFact {
                keys,
                evidence: Evidence::Inferred,
                sources: Vec::new(),
                seen: String::new(),
                doubt: None,
            }]),
        }
    }
}

/// What is known of some keys of an object.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct KeyFact {
    /// The keys. All of them have been seen, not only others of their kind.
    pub keys: Vec<String>,
    /// How it is known of these very keys.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<String>,
    /// The day it was last seen, or the days.
    pub seen: String,
    /// Why it may not hold: a clause that reads well after "only a warning:".
    #[serde(default)]
    pub doubt: Option<String>,
}

impl KeyFact {
    /// How well it is known.
    #[must_use]
    pub fn grounds(&self) -> Grounds {
        Grounds { evidence: self.evidence, doubt: self.doubt.clone() }
    }
}

/// How well a refusal is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grounds {
    /// How it is known.
    pub evidence: Evidence,
    /// Why it may not hold.
    pub doubt: Option<String>,
}

impl Grounds {
    /// How bad a refusal that is known so well makes a finding.
    #[must_use]
    pub fn level(&self) -> Level {
        if self.caution().is_some() { Level::Warning } else { Level::Error }
    }

    /// Why it is not enough for an error: a clause. `None` where it is enough.
    #[must_use]
    pub fn caution(&self) -> Option<&str> {
        let inferred =
            (self.evidence == Evidence::Inferred).then_some("inferred, but nobody has reported it");
        self.doubt.as_deref().or(inferred)
    }
}

/// How the arguments of a call are written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ArgumentFacts {
    /// The shape that the target takes; nothing is said where this is `None`.
    #[serde(default)]
    pub shape: Option<Shape>,
}

/// The two ways to write arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// JSON in a string.
    Text,
    /// An object.
    Object,
}

/// A regular expression, compiled when it is first asked: most models are never named.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self { text, compiled: OnceLock::new() }
    }
}

impl Pattern {
    /// The expression.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether something in a text matches. [`Target::parse`] has seen to it that the expression is one.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| Regex::new(&self.text).ok());
        compiled.as_ref().is_some_and(|compiled| compiled.is_match(text))
    }
}

/// Which roles there are.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Roles {
    /// The roles of messages, in the words of the wire format.
    #[serde(default)]
    pub allowed: Option<Vec<String>>,
}

/// How a fact is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Concluded from something else. Never enough for an error.
    Inferred,
    /// Somebody quoted it in public.
    Reported,
    /// The vendor's documentation or schema says so, or the server's source does.
    Specified,
    /// The exchange with the API was recorded, or the vendor's validator was run.
    Recorded,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Inferred => "inferred",
            Self::Reported => "reported",
            Self::Specified => "specified",
            Self::Recorded => "recorded",
        })
    }
}

/// Something that a target refuses.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Refusal {
    /// The rule that finds it.
    pub rule: String,
    /// Which of the rule's cases; every case where it is absent.
    #[serde(default)]
    pub case: Option<String>,
    /// The models that it holds for; all where it is absent.
    #[serde(default)]
    pub model: Option<Pattern>,
    /// The models that it does not hold for.
    #[serde(default)]
    pub except_model: Option<Pattern>,
    /// The HTTP status; none where something refuses that does not speak HTTP, such as a client's library.
    #[serde(default)]
    pub status: Option<u16>,
    /// The text, with `{name}` where it names something of the transcript.
    #[serde(default)]
    pub text: Option<String>,
    /// How it is known.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<String>,
    /// The day it was last seen, or the days.
    pub seen: String,
    /// Why it may not hold: sources disagree, or the rule was softened. Such a refusal is a warning, and this is the
    /// clause that says why: it follows on "only a warning:".
    #[serde(default)]
    pub doubt: Option<String>,
    /// Whether the text is no longer printed, or belongs to another condition too: it serves to recognise a pasted
    /// error, and says nothing of a transcript.
    #[serde(default)]
    pub legacy: bool,
    /// Whether the entry was taken from the target that this one extends.
    #[serde(skip)]
    pub is_inherited: bool,
    /// The target that refuses it, where a union gathers several.
    #[serde(skip)]
    pub target: String,
    /// The wire format that this target speaks.
    #[serde(skip)]
    pub format: Option<String>,
}

impl Refusal {
    /// How bad the refusal makes a finding.
    #[must_use]
    pub fn level(&self) -> Level {
        self.grounds().level()
    }

    /// How well it is known.
    #[must_use]
    pub fn grounds(&self) -> Grounds {
        Grounds { evidence: self.evidence, doubt: self.doubt.clone() }
    }

    /// The text with the transcript's names and numbers in it. A number that is not known stays a `?`; where a name is
    /// not known there is no text.
    #[must_use]
    pub fn fill(&self, values: &[(&'static str, String)]) -> Option<String> {
        let mut rest = self.text.as_deref()?;
        let mut filled = String::with_capacity(rest.len());
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            filled.push_str(before);
            match values.iter().rev().find(|(known, _)| *known == name) {
                Some((_, value)) => filled.push_str(value),
                None if name == FREE => leave_out(&mut filled, after),
                // The provider's own numbers may be unknown; without a name there is no sentence.
                None if NUMBERS.contains(&name) => filled.push('?'),
                None => return None,
            }
            rest = after;
        }
        filled.push_str(rest);
        Some(filled)
    }
}

/// Leaves out words that are not known, so that what is around them still reads as a sentence.
fn leave_out(filled: &mut String, after: &str) {
    if after.is_empty() {
        // What introduces them goes too.
        filled.truncate(filled.trim_end_matches([' ', ':', ',']).len());
    } else if filled.ends_with('.') {
        // A step of a path.
        filled.push('?');
    } else if !filled.ends_with(char::is_alphanumeric) {
        filled.push_str("[...]");
    }
}

/// The numbers that a target's text may name: of a message and of a part in it, from 0 and from 1, of the message
/// before it, and of the line of a file that holds them.
const NUMBERS: [&str; 6] = ["index", "part", "member", "part-member", "before", "line"];

/// What stands for words that the provider makes up as it goes, such as another program's message.
pub(crate) const FREE: &str = "rest";

/// Something that a target accepts.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tolerance {
    /// The rule that would find it.
    pub rule: String,
    /// Which of the rule's cases; every case where it is absent.
    #[serde(default)]
    pub case: Option<String>,
    /// The models that it holds for; all where it is absent.
    #[serde(default)]
    pub model: Option<Pattern>,
    /// How it is known.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<String>,
    /// The day it was last seen, or the days.
    pub seen: String,
    /// What harm it does all the same. Only a tolerance with harm gives a warning; the others are silent.
    #[serde(default)]
    pub harm: Option<String>,
}

/// What a target says of one case of one rule.
#[derive(Debug, Clone, Copy)]
pub enum Verdict<'t> {
    /// It refuses it.
    Refused(&'t Refusal),
    /// It accepts it.
    Tolerated(&'t Tolerance),
    /// Nothing is known.
    Unknown,
}

/// Why a target's file could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetError {
    message: String,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TargetError {}

impl Target {
    /// Reads a target's file. What it extends must be one of the targets that are compiled in.
    ///
    /// # Errors
    ///
    /// Where the text is not TOML of that shape, or names a target, that does not exist; the message says the
    /// line and column.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let target = Self::read(text)?;
        let ids = &target.ids;
        let own = [&ids.pattern, &ids.server_pattern, &ids.item_pattern, &target.names.pattern];
        let models = target.refusals.iter().flat_map(|refusal| [&refusal.model, &refusal.except_model]);
        let models = models.chain(target.tolerances.iter().map(|tolerance| &tolerance.model));
        for pattern in own.into_iter().chain(models).flatten() {
            if let Err(error) = Regex::new(&pattern.text) {
                let at = text.find(pattern.as_str()).unwrap_or_default();
                return Err(fault_at(text, at, &format!("not a regular expression: {error}")));
            }
        }
        Ok(target)
    }

    /// Reads a target's file without a look at its expressions.
    fn read(text: &str) -> Result<Self, TargetError> {
        let mut target: Self = toml::from_str(text).map_err(|error| {
            fault_at(text, error.span().map_or(0, |span| span.start), error.message().trim())
        })?;
        let known = |id: &str| {
            find(id).ok_or_else(|| TargetError {
                message: format!("`{id}` is no target; there are {}", ids().collect::<Vec<_>>().join(", ")),
            })
        };
        if let Some(parent) = &target.extends {
            let parent = known(parent)?;
            target = overlaid(text).map_err(|error| TargetError { message: error.message().to_owned() })?;
            target.inherit(parent);
        }
        for refusal in &mut target.refusals {
            refusal.target.clone_from(&target.id);
            refusal.format.clone_from(&target.format);
        }
        for member in std::mem::take(&mut target.union) {
            target.refusals.extend(known(&member)?.refusals.iter().cloned());
            target.union.push(member);
        }
        target.index();
        Ok(target)
    }

    /// Sorts the entries by rule.
    fn index(&mut self) {
        for (number, refusal) in self.refusals.iter().enumerate() {
            self.by_rule.entry(refusal.rule.clone()).or_default().refusals.push(number);
        }
        for (number, tolerance) in self.tolerances.iter().enumerate() {
            self.by_rule.entry(tolerance.rule.clone()).or_default().tolerances.push(number);
        }
    }

    /// The refusals and tolerances of a rule, in the order of the file.
    fn entries(
        &self,
        rule: &str,
    ) -> (impl DoubleEndedIterator<Item = &Refusal>, impl DoubleEndedIterator<Item = &Tolerance>) {
        let entries = self.by_rule.get(rule);
        let refusals = entries.map_or(&[][..], |entries| &entries.refusals);
        let tolerances = entries.map_or(&[][..], |entries| &entries.tolerances);
        (
            refusals.iter().map(|number| &self.refusals[*number]),
            tolerances.iter().map(|number| &self.tolerances[*number]),
        )
    }

    /// The target that nothing is known of.
    #[must_use]
    pub fn unknown() -> &'static Self {
        static UNKNOWN: OnceLock<Target> = OnceLock::new();
        UNKNOWN.get_or_init(|| Self {
            id: "unknown".to_owned(),
            name: "an unknown API".to_owned(),
            ..Self::default()
        })
    }

    /// Takes from the parent the keys of objects and the entries that this file does not say.
    fn inherit(&mut self, parent: &Self) {
        let is_compatible_only = self.is_compatible_only;
        let elsewhere = format!("seen for {}, but not for {}", parent.name, self.name);
        let doubt_here = |evidence: Evidence, doubt: &Option<String>| {
            let is_seen = evidence != Evidence::Inferred;
            doubt.clone().or_else(|| (is_compatible_only && is_seen).then(|| elsewhere.clone()))
        };
        let fields = |own: &mut BTreeMap<String, KeyFacts>, parent: &BTreeMap<String, KeyFacts>| {
            for (object, facts) in parent {
                own.entry(object.clone()).or_insert_with(|| {
                    let mut facts = facts.clone();
                    if is_compatible_only {
                        for fact in &mut facts.0 {
                            fact.doubt = doubt_here(fact.evidence, &fact.doubt);
                            fact.evidence = Evidence::Inferred;
                        }
                    }
                    facts
                });
            }
        };
        fields(&mut self.fields.known, &parent.fields.known);
        fields(&mut self.fields.required, &parent.fields.required);
        fields(&mut self.fields.refused, &parent.fields.refused);
        // What this file says of a case replaces what the parent says of it; a text that only serves to recognise an
        // error says nothing.
        let said: Vec<(String, Option<String>)> = self
            .refusals
            .iter()
            .filter(|refusal| !refusal.legacy)
            .map(|refusal| (refusal.rule.clone(), refusal.case.clone()))
            .chain(self.tolerances.iter().map(|tolerance| (tolerance.rule.clone(), tolerance.case.clone())))
            .collect();
        let is_new = |rule: &str, case: &Option<String>| {
            !said
                .iter()
                .any(|(known, known_case)| known == rule && (known_case.is_none() || known_case == case))
        };
        let inherited = parent.refusals.iter().filter(|refusal| is_new(&refusal.rule, &refusal.case));
        self.refusals.extend(inherited.map(|refusal| Refusal {
            is_inherited: true,
            evidence: if is_compatible_only { Evidence::Inferred } else { refusal.evidence },
            doubt: doubt_here(refusal.evidence, &refusal.doubt),
            ..refusal.clone()
        }));
        self.tolerances.extend(
            parent.tolerances.iter().filter(|tolerance| is_new(&tolerance.rule, &tolerance.case)).cloned(),
        );
    }

    /// Whether there is a case of a rule that the target refuses or takes harm from, and so something to say.
    ///
    /// With `wire`, as for [`Self::verdict`].
    #[must_use]
    pub fn minds(&self, rule: &str, wire: Option<&str>) -> bool {
        let (mut refusals, mut tolerances) = self.entries(rule);
        refusals.any(|refusal| !refusal.legacy && reads(refusal.format.as_deref(), wire))
            || tolerances.any(|tolerance| tolerance.harm.is_some() && reads(self.format.as_deref(), wire))
    }

    /// What the target says of a case of a rule, for a model.
    ///
    /// An entry for the very case goes before one for all cases, an entry for the very model before one for all
    /// models, and a refusal before a tolerance. With `wire`, the id of a format, only what is known of APIs that read
    /// this format or a dialect of it counts.
    #[must_use]
    pub fn verdict(
        &self,
        rule: &str,
        case: Option<&str>,
        model: Option<&str>,
        wire: Option<&str>,
    ) -> Verdict<'_> {
        let fits = |own_case: &Option<String>, own_model: &Option<Pattern>| {
            let case_fits = own_case.is_none() || own_case.as_deref() == case;
            let model_fits =
                own_model.as_ref().is_none_or(|pattern| model.is_some_and(|model| pattern.is_match(model)));
            (case_fits && model_fits).then_some((own_case.is_some(), own_model.is_some()))
        };
        // `max_by_key` takes the last of equals: reversed, the first of the file.
        let (refusals, tolerances) = self.entries(rule);
        let refusal = refusals
            .rev()
            .filter_map(|entry| Some((fits(&entry.case, &entry.model)?, entry)))
            .filter(|(_, entry)| reads(entry.format.as_deref(), wire) && !entry.legacy)
            .filter(|(_, entry)| {
                !entry
                    .except_model
                    .as_ref()
                    .is_some_and(|pattern| model.is_some_and(|model| pattern.is_match(model)))
            })
            .max_by_key(|(fit, _)| *fit);
        let tolerance = tolerances
            .rev()
            .filter_map(|entry| Some((fits(&entry.case, &entry.model)?, entry)))
            .filter(|_| reads(self.format.as_deref(), wire))
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
    #[must_use]
    pub fn knows_case(&self, rule: &str, case: &str) -> bool {
        let (mut refusals, mut tolerances) = self.entries(rule);
        refusals.any(|refusal| !refusal.legacy && refusal.case.as_deref() == Some(case))
            || tolerances.any(|tolerance| tolerance.case.as_deref() == Some(case))
    }

    /// How near to its call a result must be. Next to it where the file does not say.
    #[must_use]
    pub fn stand(&self) -> Stand {
        self.results.stand.unwrap_or(Stand::NextTurn)
    }

    /// Whether consecutive messages of the model are one turn.
    #[must_use]
    pub fn merges_assistant_messages(&self) -> bool {
        self.results.merges_assistant_messages.unwrap_or(false)
    }

    /// Whether consecutive messages of the user are one.
    #[must_use]
    pub fn merges_user_messages(&self) -> bool {
        self.results.merges_user_messages.unwrap_or(false)
    }
}

/// What is wrong at a byte of a target's file. The line itself is not quoted: who names a file that is no target may have
/// named anything.
fn fault_at(text: &str, byte: usize, message: &str) -> TargetError {
    let at = toolcheck_json::locate(text.as_bytes(), &[byte]);
    let (line, column) = at.first().map_or((1, 1), |at| (at.line, at.column));
    TargetError { message: format!("line {line}, column {column}: {message}") }
}

/// Whether an API that speaks a format reads what is written in the format `wire`.
fn reads(format: Option<&str>, wire: Option<&str>) -> bool {
    wire.is_none_or(|wire| format.is_some_and(|format| formats::are_dialects(format, wire)))
}

/// The keys of a file that are about this target alone, or that are put together with more care than facts are.
const NOT_FACTS: [&str; 10] = [
    "id",
    "name",
    "aliases",
    "extends",
    "is-compatible-only",
    "union",
    "notes",
    "fields",
    "refusal",
    "tolerance",
];

/// A target with the facts of those that it extends, as far as its own file does not state them.
fn overlaid(text: &str) -> Result<Target, toml::de::Error> {
    let mut table: Table = toml::from_str(text)?;
    let parent_of = |table: &Table| table.get("extends").and_then(|id| text_of(id.as_str()?));
    let mut above = parent_of(&table);
    while let Some(text) = above {
        let mut parent: Table = toml::from_str(text)?;
        above = parent_of(&parent);
        parent.retain(|key, _| !NOT_FACTS.contains(&key));
        fill_in(&mut table, parent);
    }
    table.try_into()
}

/// Adds what a table lacks, in the tables below it too.
fn fill_in(own: &mut Table, parent: Table) {
    for (key, value) in parent {
        match (own.get_mut(&key), value) {
            (Some(toml::Value::Table(own)), toml::Value::Table(parent)) => fill_in(own, parent),
            (Some(_), _) => {}
            (None, value) => {
                own.insert(key, value);
            }
        }
    }
}
