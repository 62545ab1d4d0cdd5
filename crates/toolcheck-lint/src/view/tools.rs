//! What the tools of a request say of names that are none of theirs.

use toolcheck_core::shape::is_near;

use crate::rule::Context;

/// The most tools whose names are compared with one that is not declared.
const MOST_TOOLS: usize = 512;

/// The only tool of the request that somebody may have meant who wrote this name.
pub(crate) fn meant<'c>(cx: &'c Context<'_, '_>, name: &str) -> Option<&'c str> {
    let names = cx.transcript.request.tools.declared().filter_map(|tool| tool.name.as_ref());
    let mut near = names.take(MOST_TOOLS).map(|own| &*own.text).filter(|own| is_near(own, name));
    let meant = near.next()?;
    near.all(|other| other == meant).then_some(meant)
}
