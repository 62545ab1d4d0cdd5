//! The tokens of a prompt, as the model's tokenizer makes them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The file of a model folder that says how its texts become tokens.
const FILE: &str = "tokenizer.json";

/// A token of a prompt.
pub(super) struct Token {
    /// Its number in the model's vocabulary.
    pub(super) id: u32,
    /// The bytes of the prompt that it stands for. Several tokens may stand for one character, with the same bytes.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The tokenizer beside a chat template, or in the folder of its model.
pub(super) fn beside(template: &Path) -> PathBuf {
    if template.is_dir() { template.join(FILE) } else { template.with_file_name(FILE) }
}

/// The tokens of a prompt, in order. No special token is added: the template has written them. A text of a message that is
/// spelled as one becomes one, as it does in transformers. Fails if the file can't be read or is no tokenizer.
#[cfg(feature = "tokens")]
pub(super) fn of(prompt: &str, file: &Path) -> Result<Vec<Token>> {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use tokenizers::Tokenizer;

    let name = toolcheck_project::printable(file);
    let bytes =
        toolcheck_files::read_named(file).with_context(|| format!("cannot read the tokenizer {name}"))?;
    // The file is a stranger's, and what reads it was not written for that.
    let encoded = catch_unwind(AssertUnwindSafe(|| {
        let mut tokenizer = Tokenizer::from_bytes(&bytes)?;
        tokenizer.with_padding(None).with_truncation(None)?;
        tokenizer.encode(prompt, false)
    }));
    let encoded = encoded.unwrap_or_else(|_| Err("it is broken".into()));
    let encoding = encoded.map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
    let tokens = encoding.get_ids().iter().zip(encoding.get_offsets());
    Ok(tokens.map(|(id, (start, end))| Token { id: *id, start: *start, end: *end }).collect())
}

#[cfg(not(feature = "tokens"))]
pub(super) fn of(_: &str, _: &Path) -> Result<Vec<Token>> {
    None.context("tokens are not built in: `cargo install toolcheck-cli --features tokens`")
}
