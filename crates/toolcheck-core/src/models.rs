//! What pages and tables say of models: when an API stops answering for one, how long its answer may be, what it reads. As
//! data with its evidence: one TOML file a provider, compiled in. What was seen to be refused is in the files of targets.

use std::sync::Arc;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::tables::{MODELS, Tables};
use crate::targets::Evidence;

static ALL: Tables<File, { MODELS.1.len() }> = Tables::new(MODELS);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "model")]
    models: Vec<ModelFacts>,
    #[serde(default, rename = "name")]
    names: Vec<Rewriting>,
}

/// How somebody other than the provider writes names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rewriting {
    /// A regular expression.
    from: String,
    /// What to write in its place.
    to: String,
    #[serde(rename = "sources")]
    _sources: Vec<String>,
}

/// What is said of a model, or of several alike.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "kebab-case"), deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelFacts {
    /// The provider's names for them.
    pub ids: Vec<String>,
    /// The day on which the provider's own API stops answering, such as `2026-01-05`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown: Option<String>,
    /// What the provider recommends in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
    /// The most tokens of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Whether they read images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_images: Option<bool>,
    /// How it is known.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<Arc<str>>,
    /// The month in which it was said.
    pub seen: String,
}

impl ModelFacts {
    /// Whether they are of the model with this name, or with the name that a request has, which may have a region in front.
    fn are_of(&self, model: &str, own: &str) -> bool {
        let is_it = |id: &String| {
            own == *id || own.strip_suffix(&**id).is_some_and(|before| before.ends_with('.')) || model == *id
        };
        self.ids.iter().any(is_it)
    }
}

/// The provider's own name for the model that a router, a gateway or a cloud names: `gpt-5` of `openai/gpt-5:free`.
pub fn own_name(model: &str) -> String {
    let names = ALL.all().flat_map(|file| &file.names);
    names.fold(model.to_owned(), |name, rewriting| {
        let from = Regex::new(&rewriting.from).ok();
        from.map_or_else(|| name.clone(), |from| from.replace(&name, &*rewriting.to).into_owned())
    })
}

/// What is said of a model, or of all, each with the provider.
pub fn facts_of(model: Option<&str>) -> impl Iterator<Item = (&'static str, &'static ModelFacts)> {
    let all =
        ALL.ids().zip(ALL.all()).flat_map(|(id, file)| file.models.iter().map(move |facts| (id, facts)));
    let own = model.map(own_name);
    all.filter(move |(_, facts)| {
        model.zip(own.as_deref()).is_none_or(|(model, own)| facts.are_of(model, own))
    })
}
