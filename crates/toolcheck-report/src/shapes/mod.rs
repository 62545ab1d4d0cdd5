//! What an API asks of requests, and what is known of models, for people and programs.

mod catalog;
mod json;
mod models;
mod page;

pub use self::catalog::{Catalog, Named, Parent, View};
pub use self::json::{refusal_json, report, tolerance_json};
pub use self::models::{models_in_short, models_json, models_page};
pub use self::page::page;
