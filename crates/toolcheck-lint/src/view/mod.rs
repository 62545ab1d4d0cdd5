//! Everything that a rule may look at besides the transcript itself.

pub(crate) mod arguments;
pub(crate) mod exchanges;
pub(crate) mod failure;
pub(crate) mod objects;
pub(crate) mod pairing;
pub(crate) mod server_pairs;
pub(crate) mod shell;
