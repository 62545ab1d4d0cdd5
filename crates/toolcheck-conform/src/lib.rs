//! Scenarios that an agent loop must get through, and checks of what it did.
//!
//! A [`Scenario`] says what the model and the server do, turn by turn, and what the loop must, should or may do then. A
//! run of it against a [mock](toolcheck_serve) is judged by its exchanges and by what the loop told its user.
//!
//! ```
//! use toolcheck_conform::{Case, Outcome, judge, scenarios};
//! use toolcheck_report::conform::Status;
//! use toolcheck_serve::MockProvider;
//!
//! let scenario = scenarios::find("single-call").expect("there is such a scenario");
//! let provider = MockProvider::builder().turns(scenario.turns.clone()).start()?;
//! // Run the loop against `provider.url()` here.
//! let outcome = Outcome::done("Done.");
//! let run = provider.finish();
//! let verdicts = judge(&Case { scenario, run: &run, outcome: &outcome });
//! // Nothing was asked of the model, so that nothing can be judged.
//! assert!(verdicts.iter().all(|verdict| verdict.status == Status::Inconclusive));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod adapter;
mod case;
pub mod checks;
pub mod evidence;
mod judge;
mod profile;
pub mod scenarios;
pub mod sets;

pub use case::{Case, Outcome};
pub use judge::judge;
pub use profile::{OwnTool, Profile};
pub use scenarios::{Expected, Scenario};
pub use toolcheck_core::Error;
