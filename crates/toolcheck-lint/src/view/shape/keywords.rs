//! Keywords of schemas that have no effect because they are spelled wrong.

use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::Place;
use toolcheck_core::shape::Answer;
use toolcheck_core::text::{kept, shorten};
use toolcheck_json::{NodeId, Value};
use toolcheck_schema::misspelt;

use super::MOST_LABELS;
use crate::rule::{Context, Sink};

/// The misspelt keywords of a request's schemas: one finding for each way to spell one, as whoever writes one schema so writes
/// all so.
#[derive(Default)]
pub(crate) struct Keywords(Vec<Keyword>);

struct Keyword {
    key: String,
    meant: &'static str,
    /// The tool, if all of them are in one.
    tool: Option<String>,
    nodes: Vec<NodeId>,
}

/// The most ways to spell keywords that are told apart.
const MOST_KEYWORDS: usize = 64;

impl Keywords {
    /// Adds those of a schema.
    pub(crate) fn find(&mut self, schema: Value<'_, '_>, tool: &str) {
        misspelt(schema, |member, meant| {
            let key = member.key_text().unwrap_or_default();
            let is_full = self.0.len() >= MOST_KEYWORDS;
            match self.0.iter_mut().find(|known| known.meant == meant && *known.key == *key) {
                Some(known) => {
                    known.nodes.push(member.id());
                    known.tool.take_if(|known| *known != kept(tool));
                }
                None if !is_full => {
                    let (key, tool) = (key.into_owned(), Some(kept(tool)));
                    self.0.push(Keyword { key, meant, tool, nodes: vec![member.id()] });
                }
                None => {}
            }
        });
    }

    /// Reports those that the shape of the format does not tell.
    pub(crate) fn report(self, cx: &Context<'_, '_>, out: &mut Sink<'_>) {
        for Keyword { key, meant, tool, nodes } in self.0 {
            let [first, others @ ..] = &nodes[..] else { continue };
            if cx.shape_faults().tells_of_keyword(&key, meant) {
                continue;
            }
            let place = |node: &NodeId| Place::of_key(cx.document.value(*node));
            let mut what = format!("unknown key `{}`", shorten(&key));
            if !others.is_empty() {
                what.push_str(&format!(" (in {} places)", nodes.len()));
            }
            let finding = out.report(place(first), what);
            finding.caption("not a known key").help(format!("did you mean `{meant}`?"));
            for other in others.iter().take(MOST_LABELS) {
                finding.label(place(other), "and here");
            }
            let changes = nodes.iter().map(|node| Change::Rename(*node, meant.to_owned()));
            finding.fix(Some(if key.eq_ignore_ascii_case(meant) {
                Fix::safe(changes)
            } else {
                Fix::guess(format!("assumes that `{}` was meant to be `{meant}`", shorten(&key)), changes)
            }));
            let said = finding.say();
            said.repeats = others.len();
            said.tool_name = tool;
            said.answer = Some(Answer::ignored());
        }
    }
}
