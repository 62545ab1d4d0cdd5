//! The shapes of requests: their tables, what is known of them, and what is found to be right before.

mod described;
mod kept;
mod samples;
mod tables;

use toolcheck_core::targets::{self, shape::Shape};

/// The shapes of the targets, each with the id of its target.
fn shapes() -> impl Iterator<Item = (&'static str, &'static Shape)> {
    targets::all().filter_map(|target| Some((&*target.id, target.shape()?)))
}
