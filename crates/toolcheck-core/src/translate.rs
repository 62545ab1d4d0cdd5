//! Messages that are written as another API has them, in the form of this one.

use toolcheck_json::{Document, Value};

use crate::conversation::{Conversation, Feature, Turn};
use crate::diff::{Level, Side, diff};
use crate::formats::Format;
use crate::ir::{Body, Executor, ToolKind};
use crate::shape::{ShapeFault, ShapeFaultKind};
use crate::targets;

/// What another API says, as this one writes it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Translated {
    /// Elements of a list, in one line.
    pub json: String,
    /// Whether they are calls or results.
    pub has_calls: bool,
    /// The keys that neither API knows and that say nothing but a word, which are left out.
    pub left_out: Vec<String>,
}

/// The longest word that is left out, in bytes of JSON.
const LONGEST_WORD: usize = 64;

/// The keys in a list of messages that its API does not know; `None` if one of them may say something.
fn unknown_keys(document: &Document<'_>, format: &Format) -> Option<Vec<String>> {
    let shape = targets::find(format.id)?.shape()?;
    let faults = shape.check_messages(&shape.facts_for(None), document.root());
    // What says two things at once is read as one of them.
    if faults.iter().any(|fault| fault.kind == ShapeFaultKind::Union || fault.condition().is_some()) {
        return None;
    }
    let unknown = faults.iter().filter(|fault| fault.kind == ShapeFaultKind::Unknown);
    let key = |fault: &ShapeFault<'_>| {
        let value = document.value(fault.node());
        let is_word = value.children().next().is_none() && value.raw().len() <= LONGEST_WORD;
        value.key_text().filter(|_| is_word && fault.alike.is_empty()).map(|key| key.into_owned())
    };
    unknown.map(key).collect()
}

/// What a message in the format `from` says, as the format `to` writes it. `None` if something would be lost. `name_of` knows
/// the tools of calls by their ids.
pub fn translated(
    message: Value<'_, '_>,
    (from, to): (&Format, &Format),
    name_of: impl Fn(&str) -> Option<String>,
) -> Option<Translated> {
    let text = [b"[", message.raw(), b"]"].concat();
    let document = Document::read(&text);
    let left_out = unknown_keys(&document, from)?;
    let before = from.read(document.root())?;
    let is_common = |body: &Body<'_>| match body {
        Body::Text(_) => true,
        Body::Call(call) => call.executor == Executor::Client && call.kind == ToolKind::Function,
        Body::Result(result) => result.executor == Executor::Client,
        _ => false,
    };
    let mut said = Conversation::of(&before, &document);
    let is_all = before.unread.is_empty() && before.parts.iter().all(|part| is_common(&part.body));
    if !is_all || !said.system.is_empty() {
        return None;
    }
    for turn in &mut said.turns {
        let Turn::Results(outputs) = turn else { continue };
        for output in outputs.iter_mut().filter(|output| output.name.is_empty()) {
            // Where there are no ids, the name says whose result it is.
            output.name =
                name_of(&output.call_id).or_else(|| to.can_hold(Feature::CallIds).then(String::new))?;
        }
    }
    let body = to.write_request_with(&said, &[]).body;
    let list =
        body.as_object()?.values().find_map(|member| member.as_array()).filter(|list| !list.is_empty())?;
    let json = serde_json::to_string(list).ok()?;
    let written = Document::read(json.as_bytes());
    let after = to.read(written.root())?;
    let compared = diff(&Side::new(&before, &document), &Side::new(&after, &written));
    let is_kept = compared.level().is_none_or(|level| level < Level::Loss);
    let json = json[1..json.len() - 1].to_owned();
    is_kept.then(|| Translated { json, has_calls: said.counts() != (0, 0), left_out })
}

/// What a block of a message in the format `from` says, as a block of the format `to`.
pub fn translated_block(
    block: Value<'_, '_>,
    (from, to): (&Format, &Format),
    name_of: impl Fn(&str) -> Option<String>,
) -> Option<Translated> {
    let (key, own_key) = from.fix_style.blocks.zip(to.fix_style.blocks)?;
    let block = String::from_utf8_lossy(block.raw());
    ["assistant", "model", "user"].iter().find_map(|role| {
        let text = format!(r#"{{"role": "{role}", "{key}": [{block}]}}"#);
        let message = Document::read(text.as_bytes());
        let said = translated(message.root(), (from, to), &name_of)?;
        let written = Document::read(said.json.as_bytes());
        let list = written.root().get(own_key).filter(|_| written.faults().is_empty())?;
        let only = list.elements().next().filter(|_| list.children().count() == 1)?;
        Some(Translated { json: String::from_utf8_lossy(only.raw()).into_owned(), ..said })
    })
}
