//! The shape of requests: which keys the objects of a wire format have, of which types and values, as data.
//!
//! One TOML file a format describes what its documents say (`shapes`); `[shape]` in a target's file says what this API
//! enforces of it, with evidence and texts. A target's shape is compiled once; a request is checked against it in one
//! walk.

mod check;
mod compile;
mod fault;
mod foreign;
mod tables;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use toolcheck_json::Value;

use self::compile::Object;
pub use self::fault::{Answer, Condition, Detail, Fault};
pub use self::foreign::Foreign;
use self::tables::ShapeFile;
pub use self::tables::{Enforced, FactTable, FaultKind, JsonType, Kind, TextTable, Unseen};
use crate::error::Error;
use crate::target::Evidence;

/// The file of a format, by the format's id.
struct Builtin {
    id: &'static str,
    text: &'static str,
    read: OnceLock<ShapeFile>,
}

macro_rules! shapes {
    ($($id:literal)*) => {
        static SHAPES: [Builtin; [$($id),*].len()] = [$(Builtin {
            id: $id,
            text: include_str!(concat!("../../shapes/", $id, ".toml")),
            read: OnceLock::new(),
        }),*];
    };
}

// The list of shapes, one line each. What several formats write alike is called by the name of the first.
shapes! {
    "openai-chat"
    "anthropic"
    "openai-responses"
    "gemini"
    "bedrock-converse"
    "cohere"
    "mistral"
    "ollama"
    "mcp"
    "langchain"
}

/// The description of a format.
fn file(format: &str) -> Option<(&'static str, &'static ShapeFile)> {
    let builtin = SHAPES.iter().find(|builtin| builtin.id == format)?;
    let file = builtin.read.get_or_init(|| {
        toml::from_str(builtin.text).unwrap_or_else(|error| panic!("shapes/{}.toml: {error}", builtin.id))
    });
    Some((builtin.id, file))
}

/// The formats whose shape is described.
pub fn formats() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|builtin| builtin.id)
}

/// The keys that are looked at to tell whether an object is a request.
const KEYS_LOOKED_AT: usize = 64;

/// What an API enforces of the shape of requests.
#[derive(Debug, Clone)]
pub struct Shape {
    /// The format's id.
    format: &'static str,
    /// The facts that hold where no model is known.
    plain_facts: OnceLock<ModelFacts>,
    objects: Vec<Object>,
    /// The keys of which a request has one if it is whole.
    whole_if: Vec<String>,
    request: usize,
    message: usize,
    null_is_absent: bool,
    sources: Vec<String>,
    seen: String,
    unseen: Unseen,
    words: BTreeMap<String, String>,
    texts: Vec<TextTable>,
    facts: Vec<FactTable>,
    accepted: Vec<FactTable>,
}

/// Which facts of a shape hold for a model.
#[derive(Debug, Clone, Default)]
pub struct ModelFacts(Arc<[bool]>);

impl ModelFacts {
    fn holds(&self, fact: usize) -> bool {
        self.0.get(fact).copied().unwrap_or_default()
    }
}

impl Shape {
    /// The shape of a format as a target enforces it. `None` if the format is not described.
    ///
    /// # Errors
    ///
    /// Where the tables do not fit together.
    pub(crate) fn of(format: &str, enforced: &Enforced) -> Option<Result<Self, Error>> {
        let (format, file) = file(format)?;
        Some(compile::compile(format, file, enforced).map_err(Error::new))
    }

    /// The name of the API in prose.
    fn name(&self) -> &'static str {
        let file = file(self.format).and_then(|(_, file)| file.name.as_deref());
        file.or_else(|| crate::target::find(self.format).map(|target| &*target.name)).unwrap_or(self.format)
    }

    /// Which of its facts hold for a model.
    #[must_use]
    pub fn facts_for(&self, model: Option<&str>) -> ModelFacts {
        ModelFacts(self.facts.iter().map(|fact| fact.fits(model)).collect())
    }

    /// What is wrong with a body. If it may be only what somebody has kept of a request, no key of the request itself is
    /// missing or unknown; `is_sent` says that it is about to be sent.
    #[must_use]
    pub fn check_request<'f>(
        &'f self,
        facts: &ModelFacts,
        body: Value<'_, '_>,
        is_sent: bool,
    ) -> Vec<Fault<'f>> {
        let has_any = self.whole_if.iter().any(|key| body.get(key).is_some());
        let is_whole = is_sent && (self.whole_if.is_empty() || has_any);
        let mut checker = check::Checker::new(self, facts.clone(), Some(body), is_whole);
        checker.request(body);
        checker.faults
    }

    /// Whether an object without a list of messages is a request of this format all the same, by its other keys. If it
    /// `is_of_another` format too, somebody must have seen the API refuse it.
    #[must_use]
    pub fn knows_request(&self, body: Value<'_, '_>, is_of_another: bool) -> bool {
        let request = &self.objects[self.request];
        let is_known = |key: &str| {
            request.numbers.get(key).is_some_and(|number| request.fields[*number as usize].is_known)
        };
        let keys = body.members().take(KEYS_LOOKED_AT).filter_map(Value::key_text);
        let (known, other): (Vec<_>, Vec<_>) = keys.partition(|key| is_known(key));
        if known.len() < 2 || known.len() < other.len() {
            return false;
        }
        // The list of messages is what is wrong, or what is there in place of it.
        let is_list = |fault: &Fault<'_>| fault.field.is_some_and(|field| field.items == Some(self.message));
        let facts = self.plain_facts.get_or_init(|| self.facts_for(None));
        let faults = self.check_request(facts, body, true);
        faults
            .iter()
            .any(|fault| fault.is_of_request() && (is_list(fault) || fault.kind == FaultKind::Unknown))
    }

    /// Whether anything is wrong with a body, whatever its model.
    #[must_use]
    pub fn refuses(&self, body: Value<'_, '_>) -> bool {
        let facts = self.plain_facts.get_or_init(|| self.facts_for(None));
        let faults = self.check_request(facts, body, true);
        faults.iter().any(|fault| fault.is_refused(self, None))
    }

    /// What is wrong with a list of messages by itself.
    #[must_use]
    pub fn check_messages<'f>(&'f self, facts: &ModelFacts, list: Value<'_, '_>) -> Vec<Fault<'f>> {
        let mut checker = check::Checker::new(self, facts.clone(), None, false);
        checker.messages(list);
        checker.faults
    }
}
