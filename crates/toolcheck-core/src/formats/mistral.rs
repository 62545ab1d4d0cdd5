//! Mistral's chat completions: a dialect of Chat Completions.

use toolcheck_json::Value;

use super::openai_chat::{self, Dialect};
use super::{Format, blocks, list_of, surest_message};
use crate::ir::{Role, Room, Transcript};

use crate::response::{Assembly, Locate, Said};

pub(super) static FORMAT: Format = Format {
    id: "mistral",
    name: "Mistral Chat Completions",
    aliases: &[],
    family: "chat",
    sniff,
    read_in,
    answers,
    event,
};

static DIALECT: Dialect =
    Dialect { format: FORMAT.id, result_name: &["name"], text: &[], roles: &[("function", Role::Tool)] };

/// How the names of Mistral's own models begin. A slash before them is another provider's.
const MODELS: [&str; 8] = [
    "mistral-",
    "open-mistral-",
    "open-mixtral-",
    "codestral-",
    "devstral-",
    "magistral-",
    "ministral-",
    "pixtral-",
];

fn sniff(root: Value<'_, '_>) -> u8 {
    let Some(list) = list_of(root, "messages") else { return 0 };
    let sure = surest_message(list, |message| {
        if message.get("prefix").is_some() {
            return 85;
        }
        let thinks = |block: Value<'_, '_>| block.get("thinking").is_some_and(Value::is_array);
        if blocks(message, "content").any(thinks) {
            return 95;
        }
        if message.get("role").is_some() { 5 } else { 0 }
    });
    if sure > 0 && root.get_any(&["safe_prompt", "random_seed", "prompt_mode"]).is_some() {
        return sure.max(85);
    }
    let model = root.get_str("model").unwrap_or_default();
    if sure > 0 && MODELS.iter().any(|name| model.starts_with(name)) { sure.max(80) } else { sure }
}

fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Said<'s>>> {
    openai_chat::choices(value, &DIALECT)
}

fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    openai_chat::event(assembly, event, locate);
}

fn read_in<'s>(root: Value<'_, 's>, room: Room<'s>) -> Option<Transcript<'s>> {
    openai_chat::read_dialect(root, &DIALECT, room)
}
