//! What pages and tables say of models: when an API stops answering for one, how long its answer may be, what it reads. As
//! data with its evidence: one TOML file a provider, compiled in. What was seen to be refused is in the files of targets.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::tables::{MODELS, Tables};
use crate::targets::Evidence;

static ALL: Tables<File, { MODELS.1.len() }> = Tables::new(MODELS);

#[derive(Deserialize)]
struct File {
    #[serde(rename = "model")]
    models: Vec<ModelFacts>,
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
    /// Whether they are of the model that a request names, which may have its provider or a region in front.
    fn are_of(&self, model: &str) -> bool {
        // Of Vertex AI's names, the version is behind an `@`.
        let own = model.rsplit('/').next().unwrap_or(model).replace('@', "-");
        let is_it = |id: &String| {
            own == *id || own.strip_suffix(&**id).is_some_and(|before| before.ends_with('.')) || model == *id
        };
        self.ids.iter().any(is_it)
    }
}

/// What is said of a model, or of all, each with the provider.
pub fn facts_of(model: Option<&str>) -> impl Iterator<Item = (&'static str, &'static ModelFacts)> {
    let all =
        ALL.ids().zip(ALL.all()).flat_map(|(id, file)| file.models.iter().map(move |facts| (id, facts)));
    all.filter(move |(_, facts)| model.is_none_or(|model| facts.are_of(model)))
}
