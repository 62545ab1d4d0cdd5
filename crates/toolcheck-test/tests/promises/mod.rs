//! What help, `lint`, `fix` and `diff` say of a request is one truth, in every case of the corpus.

mod diffs;
mod harm;
mod invented;
mod losses;
mod marks;
mod printed;
mod reasons;
mod renames;
mod roles;
