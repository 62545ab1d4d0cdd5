//! Which bytes of a prompt come from which part of the request.

use std::collections::HashMap;
use std::ops::Range;

use toolcheck_json::{NodeId, pointers};

use crate::convert::{Changes, InputPart, RenderMode};
use crate::input::Input;
use crate::load::Template;
use crate::render::{Refusal, Traced};

/// Where a piece of a prompt comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A part of the request.
    Part {
        /// The JSON Pointer of the part in its document.
        pointer: String,
        /// The JSON Pointer inside the part, if that is a text which was read as JSON.
        inner: String,
    },
    /// The text of the template, or a value that it made up.
    Template,
    /// A special token of the template, such as `<|im_start|>`.
    SpecialToken,
}

/// A piece of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The bytes of the prompt.
    pub range: Range<usize>,
    /// Where they come from.
    pub origin: Origin,
}

impl Template {
    /// The prompt in pieces, each with its origin: one after another, they are the whole prompt.
    ///
    /// Texts of the request are followed through the template. A number or a Boolean that a template prints by itself
    /// counts as the template's. Fails if the template refuses the conversation, or exceeds the limits.
    pub fn segments(&self, input: &Input<'_>) -> Result<Vec<Segment>, Refusal> {
        let trial = RenderMode { traces: true, changes: &Changes::new(), most_messages: usize::MAX };
        let traced = self.trial(input, &trial)?.whole()?;
        let owners = owners(&traced);
        let named = Pointers::of(input, &traced);
        let text = &traced.prompt.text;
        let mut found = Vec::new();
        let mut start = 0;
        while start < owners.len() {
            let owner = owners[start];
            let length = owners[start..].iter().take_while(|own| **own == owner).count();
            let mut end = start + length;
            while !text.is_char_boundary(end) {
                end += 1;
            }
            match traced.sources.get(owner as usize) {
                Some(source) => {
                    let (pointer, inner) = (named.get(source.of, source.node), source.inner.clone());
                    found.push(Segment { range: start..end, origin: Origin::Part { pointer, inner } });
                }
                None => self.push_own(text, start..end, &mut found),
            }
            start = end;
        }
        Ok(found)
    }

    /// Appends a piece of the template, with its special tokens by themselves.
    fn push_own(&self, text: &str, range: Range<usize>, found: &mut Vec<Segment>) {
        let mut start = range.start;
        let mut at = range.start;
        while at < range.end {
            let length = self.token_at(&text[at..range.end]);
            if length == 0 {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            if start < at {
                found.push(Segment { range: start..at, origin: Origin::Template });
            }
            found.push(Segment { range: at..at + length, origin: Origin::SpecialToken });
            at += length;
            start = at;
        }
        if start < range.end {
            found.push(Segment { range: start..range.end, origin: Origin::Template });
        }
    }

    /// The length of the special token that a text begins with; 0 if there is none.
    fn token_at(&self, text: &str) -> usize {
        let known =
            self.tokens().iter().filter(|(_, token)| !token.is_empty() && text.starts_with(token.as_str()));
        if let Some(length) = known.map(|(_, token)| token.len()).max() {
            return length;
        }
        for (start, end) in
            [("<|", "|>"), ("<｜", "｜>"), ("<start_of_", ">"), ("<end_of_", ">"), ("[/", "]"), ("[", "]")]
        {
            let Some(inner) = text.strip_prefix(start) else { continue };
            let Some(length) = inner.find(end).filter(|length| *length <= 40) else { continue };
            let is_name = |c: char| c.is_alphanumeric() || "_-▁:.".contains(c);
            let is_token = match start {
                "[" | "[/" => inner[..length].chars().all(|c| c.is_ascii_uppercase() || c == '_'),
                _ => inner[..length].chars().all(is_name),
            };
            if is_token && length > 0 {
                return start.len() + length + end.len();
            }
        }
        0
    }
}

/// For each byte of the prompt, the number of the smallest part that it comes from.
fn owners(traced: &Traced) -> Vec<u32> {
    let mut owners = vec![u32::MAX; traced.prompt.text.len()];
    // A mark comes before the smaller ones inside it.
    for mark in &traced.marks {
        if let Some(covered) = owners.get_mut(mark.start as usize..mark.end as usize) {
            covered.fill(mark.source);
        }
    }
    owners
}

pub(crate) struct Pointers {
    found: HashMap<(InputPart, NodeId), String>,
}

impl Pointers {
    pub(crate) fn of(input: &Input<'_>, traced: &Traced) -> Self {
        let mut found = HashMap::new();
        let values = [
            (InputPart::Messages, Some(input.messages)),
            (InputPart::Tools, input.tools),
            (InputPart::Documents, input.documents),
            (InputPart::Variables, input.variables),
        ];
        for (of, value) in values {
            let Some(value) = value else { continue };
            let mut ids: Vec<NodeId> =
                traced.sources.iter().filter(|source| source.of == of).map(|source| source.node).collect();
            ids.sort_unstable();
            ids.dedup();
            let texts = pointers(value.document(), &ids);
            found.extend(ids.into_iter().map(|id| (of, id)).zip(texts));
        }
        Self { found }
    }

    pub(crate) fn get(&self, of: InputPart, node: NodeId) -> String {
        self.found.get(&(of, node)).cloned().unwrap_or_default()
    }
}
