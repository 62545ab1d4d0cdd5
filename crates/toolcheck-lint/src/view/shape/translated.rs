//! Messages that are written for another API, in the form of this one.

use std::fmt::Write as _;

use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::formats::{self, Format};
use toolcheck_core::pairing::CallSite;
use toolcheck_core::text::shorten;
use toolcheck_core::translate::{self, Translated};
use toolcheck_json::{NodeId, Value};

use super::MOST_TRANSLATED;
use crate::rule::Context;

/// The longest message, in bytes, that is written anew: each of its blocks may ask for it.
const LONGEST: usize = 16 << 10;

/// The bytes that are written anew for each of a record, and those besides.
const BYTES_A_BYTE: usize = 4;
const BYTES_A_RECORD: usize = 64 << 10;

/// A message of which something is written as another API has it, as this one has all of it. Without a format, it has calls or
/// results in the one that the message shows.
pub(crate) fn translated(cx: &Context<'_, '_>, node: NodeId, from: Option<&str>) -> Option<Fix> {
    let most = BYTES_A_RECORD + BYTES_A_BYTE * cx.document.bytes().len();
    let tried = cx.bytes_translated.get();
    if tried >= most {
        return None;
    }
    let own = formats::find(cx.transcript.format?.id)?;
    let part = cx.document.value(node).span();
    let is_around = |value: &Value<'_, '_>| value.span().contains(part);
    let root = cx.document.value(cx.transcript.place.node);
    let list = if root.is_array() { Some(root) } else { root.members().find(is_around) };
    let message = list.filter(|list| list.is_array())?.elements().find(is_around)?;
    // A record may have as many faults as bytes, so that only some are tried.
    cx.bytes_translated.set(tried + message.raw().len().max(most / MOST_TRANSLATED));
    if message.raw().len() > LONGEST {
        return None;
    }
    let is_other = |format: &&'static Format| match from {
        Some(from) => format.id == from,
        None => format.family != own.family,
    };
    let others = || formats::ALL.iter().copied().filter(is_other);
    let is_said = |said: &Translated| from.is_some() || said.has_calls;
    let name = |id: &str| name_of(cx, node, id);
    let whole = |format| translate::translated(message, (format, own), name).filter(is_said);
    let write = |value: Value<'_, '_>, said: Translated| {
        let mut guess = "assumes that the message says what it says in another API".to_owned();
        for key in &said.left_out {
            let _ = write!(guess, ", without `{}`", shorten(key));
        }
        Fix::guess(guess, [Change::Write(value.id(), said.json)])
    };
    if let Some(said) = others().find_map(whole) {
        return Some(write(message, said));
    }
    // Its other blocks may be this one's own.
    let block = message.get(own.fix_style.blocks?)?.elements().find(is_around)?;
    let of_block = |format| translate::translated_block(block, (format, own), name).filter(is_said);
    others().find_map(of_block).map(|said| write(block, said))
}

/// The tool of the call with an id, or of all calls shortly before a message that have no result.
fn name_of(cx: &Context<'_, '_>, node: NodeId, id: &str) -> Option<String> {
    let calls = &cx.pairing.calls;
    let before = calls.partition_point(|site| site.part.place.node < node);
    let name = |site: &CallSite<'_, '_>| Some(site.call.name.as_ref()?.text.to_string());
    let own = |site: &&CallSite<'_, '_>| site.call.id.as_ref().is_some_and(|own| own.text == id);
    let near = calls[..before].iter().rev().take(MOST_TRANSLATED);
    let mut open = near.filter(|site| cx.pairing.answer_of(site).is_none());
    name(calls.iter().find(own).or_else(|| {
        let first = open.next()?;
        open.all(|other| name(other) == name(first)).then_some(first)
    })?)
}
