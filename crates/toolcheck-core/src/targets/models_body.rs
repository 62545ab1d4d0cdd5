//! How a target describes its models.

use serde::Deserialize;
use serde_json::Value as Json;

use super::error_body::{fill_all, json};
use super::refusal::Evidence;

/// How the API answers to the question which models it has, in which `{id}` stands for the name of one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelsBody {
    /// The list of all models, as JSON, without the models.
    #[serde(deserialize_with = "json")]
    pub list: Json,
    /// The key of the models in it.
    pub key: String,
    /// One model, as JSON.
    #[serde(deserialize_with = "json")]
    pub entry: Json,
    /// How it is known.
    pub evidence: Evidence,
    /// Where.
    pub sources: Vec<String>,
    /// The day it was last seen, or the days.
    pub seen: String,
}

impl ModelsBody {
    /// Describes one model.
    pub fn entry(&self, id: &str) -> Json {
        let mut entry = self.entry.clone();
        fill_all(&mut entry, &|template: &str| Json::from(template.replace("{id}", id)));
        entry
    }

    /// Lists models.
    pub fn list(&self, ids: &[&str]) -> Json {
        let mut list = self.list.clone();
        list[&*self.key] = ids.iter().map(|id| self.entry(id)).collect();
        list
    }
}
