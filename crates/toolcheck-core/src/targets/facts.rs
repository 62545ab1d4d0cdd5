//! What a target's file states of results, ids, roles, names, tools and content.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Pattern;

/// Where results must stand.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Results {
    /// How near to its call a result must be.
    pub placement: Option<Placement>,
    /// Whether consecutive messages of the model count as one turn before the results are looked for.
    pub merges_assistant_messages: Option<bool>,
    /// Whether consecutive messages of the user count as one before results are looked for in it.
    pub merges_user_messages: Option<bool>,
    /// Whether a result is accepted if no call has its id.
    pub accepts_unknown_ids: Option<bool>,
}

/// How near to its call a result must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// In the turn right after the call's.
    NextTurn,
    /// Anywhere behind it.
    AfterCall,
    /// Anywhere.
    Anywhere,
}

/// What ids look like.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Ids {
    /// The regular expression that a call's id must match as a whole.
    pub pattern: Option<Pattern>,
    /// The most characters that a call's id may have.
    pub max_length: Option<usize>,
    /// Whether the calls of one turn need different ids.
    pub must_be_unique: Option<bool>,
    /// The regular expression that the id of a call which the provider carried out must match as a whole.
    pub server_pattern: Option<Pattern>,
    /// How the ids of items begin, by the items' types in the words of the wire format.
    #[serde(default)]
    pub item_prefixes: BTreeMap<String, String>,
    /// The regular expression that the id of an item must match as a whole.
    pub item_pattern: Option<Pattern>,
    /// The most characters that the id of an item may have.
    pub item_max_length: Option<usize>,
    /// How the id of a response begins that a request continues.
    pub response_prefix: Option<String>,
    /// The form of the ids that the API gives to calls: `{n}` stands for `n` letters and digits.
    pub made: Option<String>,
    /// The models whose calls get ids, where those of others get none.
    pub made_model: Option<Pattern>,
    /// The same of the ids that it gives to responses.
    pub response_made: Option<String>,
}

/// What the parts of a message may hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct ContentFacts {
    /// The most characters of a text, of a result as of a message.
    pub max_length: Option<usize>,
    /// The most marks for the cache that a request may have.
    pub max_cache_marks: Option<usize>,
    /// Whether a signature of the model's reasoning holds only as long as everything before it is as it was.
    pub binds_signatures: Option<bool>,
    /// What it takes in place of the signature of a call from whoever has no real one.
    #[serde(default)]
    pub signature_placeholders: Vec<String>,
}

/// What the names of tools look like.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Names {
    /// The regular expression that a tool's name must match as a whole.
    pub pattern: Option<Pattern>,
    /// The most characters that a tool's name may have.
    pub max_length: Option<usize>,
}

/// What holds for the tools of a request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Tools {
    /// The most tools that a request may declare.
    pub max: Option<usize>,
    /// The most tools that may ask for calls which keep to their schema exactly.
    pub max_strict: Option<usize>,
    /// The most optional parameters that those tools may have together.
    pub max_strict_optional: Option<usize>,
    /// The most parameters of several types that those tools may have together.
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
#[non_exhaustive]
pub struct UnsupportedTools {
    /// The models.
    pub model: Pattern,
    /// The types.
    pub types: Vec<String>,
}

/// Which models may advise a model through a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Advisors {
    /// The models that are advised.
    pub model: Pattern,
    /// The only models that may advise them.
    pub advisor: Pattern,
}

/// How the arguments of a call are written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct ArgumentFacts {
    /// The shape that the target takes; nothing is said where this is `None`.
    pub shape: Option<ArgumentType>,
}

/// What a server makes of a request before the chat template of its model sees it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct PromptFacts {
    /// Whether the texts of parts become one text, and `null` an empty one.
    #[serde(default)]
    pub joins_parts: bool,
    /// Whether the server tries what the template reads, and rewrites messages for it: a system message that it doesn't read
    /// is put before the next, arguments become objects only for a template that prints one, and developers are the system.
    #[serde(default)]
    pub adapts_to_template: bool,
    /// What is in the templates of models whose prompts the server makes itself.
    #[serde(default)]
    pub makes_own: Vec<String>,
}

/// The two ways to write arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentType {
    /// JSON in a string.
    Text,
    /// An object.
    Object,
}

/// Which roles there are.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct Roles {
    /// The roles of messages, in the words of the wire format.
    pub allowed: Option<Vec<String>>,
}
