//! A unified diff of two texts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

use toolcheck_core::diff::longest_increasing;
use toolcheck_core::fix_style::without_values;
use toolcheck_core::text::{shown, shown_with_tabs};

/// The lines around a change that are shown.
const CONTEXT: usize = 3;

/// Lines of the old text and the lines that take their place in the new one.
type Change = (Range<usize>, Range<usize>);

/// What is said of lines that differ only in what is not shown.
const HIDDEN: &str = " what differs is not shown; --show-values shows it";

/// Prints the lines that change, so that `patch` applies it.
pub fn write(name: &str, before: &[u8], after: &[u8], out: &mut dyn Write) -> io::Result<()> {
    write_as(name, [before, after], ([before, after], printed), out)
}

/// Prints the lines that change, without what was said in them. It is nothing that `patch` could apply, so long lines of
/// JSON are laid out in several.
pub fn write_without_values(name: &str, before: &[u8], after: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let [old, new] = [before, after].map(without_values);
    write_as(name, [before, after], ([&old, &new], visible), out)
}

type Printed = fn(&str) -> Cow<'_, str>;

/// Prints the lines that change from one text to another as they are in two other texts, which have as many lines.
fn write_as(
    name: &str,
    texts: [&[u8]; 2],
    (shown_as, printed): ([&[u8]; 2], Printed),
    out: &mut dyn Write,
) -> io::Result<()> {
    if texts[0] == texts[1] {
        return Ok(());
    }
    let name = shown(name);
    writeln!(out, "--- {name}\n+++ {name}")?;
    let is_patch = texts == shown_as;
    let texts = Texts { texts: texts.map(lines), shown_as: shown_as.map(lines), printed };
    texts.write(if is_patch { Layout::Patch } else { Layout::Lines }, out)
}

/// How lines are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// As `patch` takes them.
    Patch,
    /// Long ones laid out in several.
    Lines,
    /// Those of a long one.
    Inside,
}

/// Two texts, and what is printed of them: as many lines.
struct Texts<'t> {
    texts: [Vec<&'t [u8]>; 2],
    shown_as: [Vec<&'t [u8]>; 2],
    printed: Printed,
}

impl Texts<'_> {
    fn write(&self, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
        let ([before, after], [old, new]) = (&self.texts, &self.shown_as);
        let print = |mark: &str, lines: &[&[u8]], out: &mut dyn Write| print(mark, lines, self.printed, out);
        let is_hidden = |(removed, added): &Change| {
            old[removed.clone()] == new[added.clone()] && before[removed.clone()] != after[added.clone()]
        };
        // Other records of a log show nothing of the one that changes.
        let has_long = layout == Layout::Lines && before.iter().any(is_long);
        let around = if has_long { 0 } else { CONTEXT };
        let changes = changes(before, after);
        let mut shown = 0;
        for hunk in changes.chunk_by(|one, next| next.0.start - one.0.end <= 2 * around) {
            let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
            let lead = first.0.start.min(around);
            let tail = around.min(old.len() - last.0.end);
            let side = |start: usize, end: usize| {
                let (start, count) = (start - lead, end + tail + lead - start);
                // A side without lines is named by the line before it.
                format!("{},{count}", start + usize::from(count > 0))
            };
            let (from, to) = (side(first.0.start, last.0.end), side(first.1.start, last.1.end));
            let about = if hunk.iter().any(is_hidden) { HIDDEN } else { "" };
            let mut at = first.0.start - lead;
            match layout {
                Layout::Inside if at == shown && about.is_empty() => {}
                Layout::Inside => writeln!(out, " \u{2026}{about}")?,
                Layout::Patch | Layout::Lines => writeln!(out, "@@ -{from} +{to} @@{about}")?,
            }
            for change in hunk {
                print(" ", &old[at..change.0.start], out)?;
                match self.laid_out(change).filter(|_| has_long) {
                    Some([before, after, old, new]) => {
                        let [texts, shown_as] = [[&before, &after], [&old, &new]];
                        let [texts, shown_as] = [texts, shown_as].map(|texts| texts.map(|text| lines(text)));
                        Texts { texts, shown_as, ..*self }.write(Layout::Inside, out)?;
                    }
                    None => {
                        print("-", &old[change.0.clone()], out)?;
                        print("+", &new[change.1.clone()], out)?;
                    }
                }
                at = change.0.end;
            }
            shown = at + tail;
            print(" ", &old[at..shown], out)?;
        }
        if layout == Layout::Inside && shown < old.len() { writeln!(out, " \u{2026}") } else { Ok(()) }
    }

    /// The lines of a change in both texts, and as they are printed, laid out; `None` if they are not as many.
    fn laid_out(&self, (removed, added): &Change) -> Option<[Vec<u8>; 4]> {
        let [before, after] = &self.texts;
        let [old, new] = &self.shown_as;
        let [before, old] = [before, old].map(|lines| laid_out(&lines[removed.clone()]));
        let [after, new] = [after, new].map(|lines| laid_out(&lines[added.clone()]));
        let are_as_many = |one: &[u8], other: &[u8]| lines(one).len() == lines(other).len();
        (are_as_many(&before, &old) && are_as_many(&after, &new)).then_some([before, after, old, new])
    }
}

/// Whether a line is laid out in several.
fn is_long(line: &&[u8]) -> bool {
    const LONG: usize = 160;
    let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_start();
    line.len() > LONG && matches!(text.first(), Some(b'{' | b'['))
}

/// Lines of JSON, with each member and element on a line of its own.
fn laid_out(lines: &[&[u8]]) -> Vec<u8> {
    /// Deeper values are not indented further.
    const DEEPEST: usize = 32;
    let (mut text, mut depth) = (Vec::new(), 0_usize);
    for line in lines {
        let mut last: &[u8] = b"\n";
        for token in tokens(line) {
            let (opened, closes) = (matches!(last, b"{" | b"["), matches!(token, b"}" | b"]"));
            if token[0].is_ascii_whitespace() && (opened || last == b",") {
                continue;
            }
            depth = depth.saturating_sub(usize::from(closes));
            if last == b"," || opened != closes {
                text.push(b'\n');
                text.resize(text.len() + 2 * depth.min(DEEPEST), b' ');
            }
            depth += usize::from(matches!(token, b"{" | b"["));
            text.extend_from_slice(token);
            last = token;
        }
    }
    text
}

/// Changes with no more bytes between them are one: what is moved has brackets and keys in common with its neighbours.
const NEAR: usize = 40;

/// The bytes of the old text that change, each with the bytes that take their place in the new one: whole words,
/// strings and brackets.
pub fn edits(before: &[u8], after: &[u8]) -> Vec<Change> {
    let in_lines = changes(&lines(before), &lines(after));
    let (line_starts, new_starts) = (starts(&lines(before)), starts(&lines(after)));
    let mut edits: Vec<Change> = Vec::new();
    for (removed, added) in in_lines {
        let (from, to) = (line_starts[removed.start], new_starts[added.start]);
        let old = tokens(&before[from..line_starts[removed.end]]);
        let new = tokens(&after[to..new_starts[added.end]]);
        let (old_starts, new_starts) = (starts(&old), starts(&new));
        for (removed, added) in changes(&old, &new) {
            let own = from + old_starts[removed.start]..from + old_starts[removed.end];
            let its = to + new_starts[added.start]..to + new_starts[added.end];
            match edits.last_mut().filter(|last| own.start - last.0.end <= NEAR) {
                Some(last) => *last = (last.0.start..own.end, last.1.start..its.end),
                None => edits.push((own, its)),
            }
        }
    }
    edits
}

/// Where each part of a text starts, and where the last one ends.
fn starts(parts: &[&[u8]]) -> Vec<usize> {
    let mut at = 0;
    let mut starts = vec![0];
    for part in parts {
        at += part.len();
        starts.push(at);
    }
    starts
}

/// The strings, words, brackets and gaps of a text of JSON.
fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(&first) = rest.first() {
        let is_gap = |byte: &u8| byte.is_ascii_whitespace();
        let is_word = |byte: &u8| !is_gap(byte) && !b"\"[]{},:".contains(byte);
        let length = match first {
            b'"' => {
                let mut end = 1;
                while end < rest.len() && rest[end] != b'"' && rest[end] != b'\n' {
                    end += if rest[end] == b'\\' { 2 } else { 1 };
                }
                (end + 1).min(rest.len())
            }
            _ if is_gap(&first) => rest.iter().take_while(|byte| is_gap(byte)).count(),
            _ if is_word(&first) => rest.iter().take_while(|byte| is_word(byte)).count(),
            _ => 1,
        };
        let (token, left) = rest.split_at(length);
        tokens.push(token);
        rest = left;
    }
    tokens
}

/// The lines of a text, with their ends.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn print(mark: &str, lines: &[&[u8]], printed: Printed, out: &mut dyn Write) -> io::Result<()> {
    for text in lines {
        let text = String::from_utf8_lossy(text);
        let whole = text.strip_suffix('\n');
        writeln!(out, "{mark}{}", printed(whole.unwrap_or(&text)))?;
        if whole.is_none() {
            writeln!(out, "\\ No newline at end of file")?;
        }
    }
    Ok(())
}

/// A line of a file in which all characters are visible, and no CI runner finds a command.
fn visible(text: &str) -> Cow<'_, str> {
    let (text, end) = text.strip_suffix('\r').map_or((text, ""), |text| (text, "\r"));
    // It begins a file, and is nothing to see there.
    let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |text| ("\u{feff}", text));
    Cow::Owned(mark.to_owned() + &shown_with_tabs(text) + end)
}

/// A line of a file without what a terminal would act on. `patch` needs the rest as it is.
fn printed(text: &str) -> Cow<'_, str> {
    let is_hidden = |letter: char| letter.is_control() && letter != '\t' && letter != '\r';
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|letter| if is_hidden(letter) { '\u{fffd}' } else { letter }).collect())
}

/// How often the lines between two that both texts have once are searched for such lines in turn. Of lines in reverse
/// order, each search finds one.
const SEARCHES: usize = 32;

/// The changes from one list of lines to another. Lines that both have once hold the texts together; between two of them,
/// what is alike at the start and at the end stays.
fn changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut open = vec![(0..old.len(), 0..new.len(), SEARCHES)];
    while let Some((mut from, mut to, searches)) = open.pop() {
        while !from.is_empty() && !to.is_empty() && old[from.start] == new[to.start] {
            (from.start, to.start) = (from.start + 1, to.start + 1);
        }
        while !from.is_empty() && !to.is_empty() && old[from.end - 1] == new[to.end - 1] {
            (from.end, to.end) = (from.end - 1, to.end - 1);
        }
        if from.is_empty() && to.is_empty() {
            continue;
        }
        let anchors = if searches == 0 { Vec::new() } else { anchors(old, new, (&from, &to)) };
        if anchors.is_empty() {
            changes.push((from, to));
            continue;
        }
        let mut at = (from.start, to.start);
        for (one, other) in anchors {
            open.push((at.0..one, at.1..other, searches - 1));
            at = (one + 1, other + 1);
        }
        open.push((at.0..from.end, at.1..to.end, searches - 1));
    }
    toolcheck_json::sort_by_positions(&mut changes, |change| (change.0.start, change.1.start));
    changes
}

/// The longest run of lines that both have exactly once, in the same order.
fn anchors(old: &[&[u8]], new: &[&[u8]], (from, to): (&Range<usize>, &Range<usize>)) -> Vec<(usize, usize)> {
    // How often each line is in both, and where it was seen last.
    let mut seen: HashMap<&[u8], [usize; 4]> = HashMap::new();
    for at in from.clone() {
        let entry = seen.entry(old[at]).or_default();
        (entry[0], entry[1]) = (entry[0] + 1, at);
    }
    for at in to.clone() {
        let entry = seen.entry(new[at]).or_default();
        (entry[2], entry[3]) = (entry[2] + 1, at);
    }
    let once = seen.values().filter(|entry| entry[0] == 1 && entry[2] == 1);
    let mut pairs: Vec<(usize, usize)> = once.map(|entry| (entry[1], entry[3])).collect();
    pairs.sort_unstable();
    longest_increasing(&pairs)
}
