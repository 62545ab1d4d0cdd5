//! Quoted scalars whose lines are not indented enough: most YAML parsers read them, and so people write them.

use super::Broken;

/// The most scalars that are repaired: each costs reading the file again.
const MOST: usize = 32;
/// More than any block is indented.
const INDENT: usize = 300;
/// How many bytes may be read again for each byte of the file, with those of the indentation.
const MOST_RATIO: usize = 8;
/// How many bytes may be read again of any file.
const MODEST: usize = 8 << 20;

/// A text with more indentation than the file.
#[derive(Default)]
pub(super) struct Repaired {
    /// The lines of the file that are indented, by their starts.
    lines: Vec<usize>,
    moved: Vec<usize>,
    rounds: usize,
    /// The number of bytes that all rounds read.
    reread: usize,
}

impl Repaired {
    /// Indents the lines of the scalar that has an error, if that can help.
    pub(super) fn repair(&mut self, text: &str, error: Option<Broken>) -> bool {
        let Some(error) = error.filter(|error| error.is_indent && self.rounds < MOST) else { return false };
        self.rounds += 1;
        let mut at =
            text.as_bytes()[..error.at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if self.lines.last().is_some_and(|last| *last >= at) {
            return false;
        }
        for line in text[at..].split_inclusive('\n') {
            if is_key(line) {
                break;
            }
            self.moved.push(at + self.lines.len() * INDENT);
            self.lines.push(at);
            at += line.len();
        }
        self.reread += text.len() + self.lines.len() * INDENT;
        self.reread <= text.len() * MOST_RATIO + MODEST
    }

    pub(super) fn apply(&self, text: &str) -> String {
        let mut longer = String::with_capacity(text.len() + self.lines.len() * INDENT);
        let mut done = 0;
        for line in &self.lines {
            longer.push_str(&text[done..*line]);
            longer.extend(std::iter::repeat_n(' ', INDENT));
            done = *line;
        }
        longer.push_str(&text[done..]);
        longer
    }

    /// The offset in the file of an offset in the repaired text.
    pub(super) fn in_file(&self, at: usize) -> usize {
        let moved = self.moved.partition_point(|start| *start <= at);
        let least = moved.checked_sub(1).map_or(0, |last| self.lines[last]);
        at.saturating_sub(moved * INDENT).max(least)
    }
}

/// Whether a line has a key of YAML, rather than text or a key of JSON, which is quoted.
fn is_key(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("- ");
    let name =
        line.len() - line.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c)).len();
    name > 0 && line[name..].starts_with(':') && line[name + 1..].starts_with([' ', '\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_of_too_many_lines_is_not_repaired() {
        let is_repaired = |lines: usize| {
            let text = format!("- a: 'b\n{}c'\n", "d\n".repeat(lines));
            Repaired::default().repair(&text, Some(Broken { at: 8, is_indent: true }))
        };
        assert!(is_repaired(1_000));
        assert!(!is_repaired(40_000));
    }

    #[test]
    fn scalars_of_many_lines_together_are_not_all_repaired() {
        let scalar = format!("- a: 'b\n{}c'\n", "d\n".repeat(2_000));
        let text = scalar.repeat(MOST);
        let mut repaired = Repaired::default();
        let starts = (0..MOST).map(|number| number * scalar.len() + 8);
        let count =
            starts.take_while(|at| repaired.repair(&text, Some(Broken { at: *at, is_indent: true }))).count();
        assert!(count > 2 && count < MOST, "{count}");
        assert!(repaired.reread < 12 << 20, "{}", repaired.reread);
    }
}
