//! Blocks of reasoning with their signatures, as OpenRouter and those that follow it keep them beside a text that repeats
//! them (<https://openrouter.ai/docs/use-cases/reasoning-tokens>).

use std::borrow::Cow;

use toolcheck_json::Value;

use crate::conversation::Reasoning;

/// The key of a message, or of a piece of a stream, that has them.
pub(crate) const KEY: &str = "reasoning_details";

/// Reads the blocks in a list of details.
pub(crate) fn read<'d, 's>(details: Value<'d, 's>) -> impl Iterator<Item = (Value<'d, 's>, Reasoning)> {
    let text = |block: Value<'_, '_>, keys: [&str; 2]| {
        keys.iter().find_map(|key| block.get_str(key)).map(Cow::into_owned).filter(|text| !text.is_empty())
    };
    details.elements().map(move |block| {
        let signature = text(block, ["signature", "data"]);
        (block, Reasoning::new(text(block, ["text", "summary"]).unwrap_or_default(), signature))
    })
}
