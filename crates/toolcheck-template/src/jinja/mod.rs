//! Jinja as Python runs it: a template is read into a tree, and the tree is run with Python's values.
//!
//! Nothing of a template can do more than print: there are no files, no includes and no attributes of Python's own
//! classes. What a render costs is counted, and lists and dicts can't change, as in Jinja's immutable sandbox. llama.cpp
//! has a Jinja of its own, which differs.

mod access;
mod args;
pub(crate) mod ast;
pub(crate) mod budget;
mod eval;
mod expression;
pub(crate) mod fault;
mod filters;
mod format;
mod functions;
mod lex;
pub(crate) mod llama_cpp;
mod methods;
mod ops;
pub(crate) mod parse;
mod predicates;
pub(crate) mod print;
pub(crate) mod run;
mod sequences;
pub(crate) mod text;
pub(crate) mod value;

pub use self::access::OF_TEXTS as METHODS_OF_TEXTS;
pub use self::filters::KNOWN as FILTERS;
pub use self::predicates::KNOWN as TESTS;
