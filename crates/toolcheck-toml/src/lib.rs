//! Reads TOML into types that implement [`Deserialize`](serde::Deserialize), with the place of each error.
//!
//! The `toml` crate parses. Its deserializer is generic over what reads a value, so that each type with fields is compiled
//! three times, with every sort of value that it does not expect: for the types of toolcheck that was an eighth of all
//! code of its WebAssembly module. This one has one source of members, and asks only for what a type expects. Values and
//! errors are those of `toml`, which a test compares. Dates are not supported.
//!
//! ```
//! #[derive(serde::Deserialize, Debug)]
//! struct Server {
//!     port: u16,
//! }
//!
//! let server: Server = toolcheck_toml::from_str("port = 8080").expect("a valid text");
//! assert_eq!(server.port, 8080);
//!
//! let text = "port = \"http\"";
//! let error = toolcheck_toml::from_str::<Server>(text).expect_err("a port is a number");
//! assert_eq!(error.message(), "invalid type: string \"http\", expected u16");
//! assert_eq!(error.span().map(|span| &text[span]), Some("\"http\""));
//! ```

mod deferred;
mod error;
mod packed;
mod read;
mod spanned;
mod text;

pub use self::deferred::{Changes, Deferred};
pub use self::error::Error;
pub use self::packed::{Item, Table, overlay, pack};
pub use self::read::{from_packed, from_str};
pub use self::spanned::Spanned;
pub use self::text::{Text, read_in_place};
