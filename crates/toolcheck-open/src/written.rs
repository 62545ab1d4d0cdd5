//! Writes a YAML tree as JSON, in which each value keeps its place.

use std::ops::Range;

use toolcheck_json::origins::Mapped;

use crate::budget::Budget;
use crate::reason::{Body, Reason};
use crate::tree::{Id, Kind, Scalar, Style, Tree};

/// How deep values are written; deeper ones are not bodies of requests.
const DEEPEST: usize = 200;

/// About what the place of a piece takes, which may be longer than the piece.
const PLACE: usize = 12;

/// A value as JSON, if there is room for it: aliases may make it much larger than the file.
pub(crate) fn json(tree: &Tree<'_>, node: Id, budget: &Budget) -> Body {
    let mut out = Out { written: Mapped::default(), budget };
    write(tree, node, 0, &mut out)?;
    Ok(out.written)
}

/// A body that is a text, or JSON that was parsed.
pub(crate) fn body(tree: &Tree<'_>, node: Id, budget: &Budget) -> Body {
    if tree.str(node).is_some() { tree.text(node, budget) } else { json(tree, node, budget) }
}

struct Out<'b> {
    written: Mapped,
    budget: &'b Budget,
}

impl Out<'_> {
    fn push(&mut self, text: &str, span: Range<usize>) -> Result<(), Reason> {
        self.budget.write(text.len() + PLACE)?;
        self.written.push_whole(text.as_bytes(), span);
        Ok(())
    }
}

fn write(tree: &Tree<'_>, node: Id, depth: usize, out: &mut Out<'_>) -> Result<(), Reason> {
    if depth > DEEPEST {
        return Err(Reason::TooLarge);
    }
    let span = tree.span(node);
    match tree.kind(node) {
        Some(Kind::Map(entries)) => {
            out.push("{", span.clone())?;
            for (number, (key, value)) in entries.iter().enumerate() {
                if number > 0 {
                    out.push(", ", span.clone())?;
                }
                let text = tree.str(*key).unwrap_or_default();
                out.budget.fits(text.len())?;
                out.push(&quoted(text), tree.span(*key))?;
                out.push(": ", span.clone())?;
                write(tree, *value, depth + 1, out)?;
            }
            out.push("}", span)?;
        }
        Some(Kind::List(items)) => {
            out.push("[", span.clone())?;
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    out.push(", ", span.clone())?;
                }
                write(tree, *item, depth + 1, out)?;
            }
            out.push("]", span)?;
        }
        Some(Kind::Scalar(scalar)) => {
            // What does not fit need not be quoted.
            out.budget.fits(scalar.text.len())?;
            out.push(&scalar_text(scalar), span)?;
        }
        Some(Kind::Alias(_)) | None => out.push("null", span)?,
    }
    Ok(())
}

/// A scalar as JSON: only what is not quoted can be something other than a string.
fn scalar_text(scalar: &Scalar<'_>) -> String {
    let text = &*scalar.text;
    if scalar.style == Style::Plain {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return "null".to_owned(),
            "true" | "True" | "TRUE" => return "true".to_owned(),
            "false" | "False" | "FALSE" => return "false".to_owned(),
            _ if is_number(text) => return text.to_owned(),
            _ => {}
        }
    }
    quoted(text)
}

fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest.starts_with('0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let length = digits(exponent);
        if length == 0 {
            return false;
        }
        rest = &exponent[length..];
    }
    rest.is_empty()
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::is_number;

    #[test]
    fn numbers_are_those_of_json() {
        for text in ["0", "-0", "10", "1.5", "-1.50e+10", "2E5", "0.1e-7"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "0x10", "1_000", "1 ", "-a", "1.5.6"] {
            assert!(!is_number(text), "{text}");
        }
    }
}
