//! Reading and writing files so that nothing hangs, nothing is cut off and nothing is lost.
//!
//! ```
//! # let folder = std::env::temp_dir().join(format!("toolcheck-files-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let path = folder.join("baseline.json");
//! toolcheck_files::write(&path, |out| out.write_all(b"{}"))?;
//! let seen = toolcheck_files::read(&path)?;
//! // Fails if another program has written to the file in between.
//! toolcheck_files::replace(&path, Some(&seen), b"{\"version\": 1}")?;
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! - [`read`] reads settings: a configuration, a baseline, an expectation. Pipes and devices are refused, and so is a
//!   file of more than [`MAX_BYTES`].
//! - [`open()`] opens what may be large, such as a transcript. A pipe is waited for, because only the user can have named
//!   it, and nothing else is.
//! - [`write()`] and [`replace`] write a temporary file beside the file and rename it, so that readers see the old file
//!   or the new one, whatever happens in between.
//! - [`Identity`] tells whether two paths lead to one file.
//! - [`Trusted`] tells whether a file that was found belongs to somebody else.

mod identity;
mod open;
mod owner;
mod pending;
mod place;
mod read;
mod write;

pub use identity::Identity;
pub use open::open;
pub use owner::{Owner, Trusted};
pub use pending::{Unfinished, remove_unfinished};
pub use read::{MAX_BYTES, check, read, read_limited, read_named, text};
pub use write::{create, create_log, replace, write};
