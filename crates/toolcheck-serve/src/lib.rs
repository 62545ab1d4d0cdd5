//! A mock of LLM APIs that refuses what the real ones refuse, in their own words.
//!
//! ```
//! use toolcheck_serve::{MockProvider, ScriptedCall, Turn};
//!
//! let provider = MockProvider::builder()
//!     .target("anthropic")?
//!     .turn(Turn::calls([ScriptedCall::of("tides")]))
//!     .turn(Turn::text("Low at six."))
//!     .start()?;
//! // Run the agent against `provider.url()` here.
//! # assert!(provider.url().starts_with("http://127.0.0.1:"));
//! provider.finish().assert_conformant();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It listens on the loopback interface only, keeps no header, and each body has a limit.
//!
//! With the feature `tls`, a [`Proxy`] passes requests on to an API over TLS.

mod answer;
mod arguments;
mod body;
mod comparison;
mod content;
mod cors;
mod cut;
mod frames;
mod http;
mod ids;
mod limits;
mod listener;
mod mock;
mod model;
mod model_endpoints;
mod origin_check;
mod provider;
mod proxy;
mod received;
mod recording;
mod refusal;
mod route;
mod script;
mod script_turn;
mod secrets;
mod seen;
mod state;
mod stored;
#[cfg(feature = "tls")]
mod tls;
mod upstream;

pub use answer::{Opaque, Refused};
pub use comparison::{Comparison, Difference};
pub use content::Content;
pub use mock::{Builder, MockProvider};
pub use provider::{Strictness, status};
pub use proxy::{Passed, Proxy, ProxyBuilder};
pub use received::Received;
pub use recording::Recording;
pub use route::path;
pub use script::{CutIn, ScriptedCall, ScriptedServerCall, ScriptedStop, Turn, script};
pub use seen::{Exchange, MockLog};
pub use toolcheck_core::Error;
pub use upstream::Upstream;
