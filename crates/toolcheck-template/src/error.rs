//! Why a template can't be read.

use std::fmt;

/// Why a file has no template that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The file has no chat template.
    NoTemplate,
    /// No file of the folder has a chat template.
    NoneInFolder,
    /// The template is wrong: no conversation can be rendered.
    Syntax {
        /// The line of the template, from 1.
        line: u32,
        /// What is wrong.
        message: String,
    },
    /// The template is not UTF-8.
    NotText,
    /// The file is malformed JSON; with the first fault.
    Json(String),
    /// The file is a malformed GGUF file, or one of an unknown version.
    Gguf(&'static str),
    /// The metadata of the GGUF file go on beyond the bytes that were given.
    MoreNeeded,
    /// The template is too long.
    TooLong,
    /// Reading failed.
    Read(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTemplate => f.write_str(
                "the file has no chat template: if another file of the model has it, name that file or their folder",
            ),
            Self::NoneInFolder => f.write_str("the folder has no chat template"),
            Self::Syntax { line, message } => {
                write!(f, "the chat template is broken: {message} (line {line} of the template)")
            }
            Self::NotText => f.write_str("the chat template is not UTF-8"),
            Self::Json(fault) => write!(f, "the file is malformed JSON: {fault}"),
            Self::Gguf(what) => write!(f, "the GGUF file is malformed: {what}"),
            Self::MoreNeeded => f.write_str("the metadata of the GGUF file is incomplete"),
            Self::TooLong => f.write_str("the chat template is too long"),
            Self::Read(error) => write!(f, "reading failed: {error}"),
        }
    }
}

impl std::error::Error for LoadError {}
