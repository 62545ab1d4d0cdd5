//! JSON that people read too. Characters that hide or reorder text on a screen are escaped, and one of each command for a CI
//! runner, since people read JSON in terminals and logs; a JSON parser reads them back unchanged.

use std::io::{self, Write as _};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use toolcheck_core::text::{hash_commands, is_hidden};

/// Writes a value as indented JSON and a line end, without holding the text.
///
/// # Errors
///
/// The value can't be written.
pub fn write_json(value: &(impl Serialize + ?Sized), out: &mut dyn io::Write) -> io::Result<()> {
    write_with(PrettyFormatter::new(), value, out)
}

/// The same on one line.
///
/// # Errors
///
/// The value can't be written.
pub fn write_json_line(value: &(impl Serialize + ?Sized), out: &mut dyn io::Write) -> io::Result<()> {
    write_with(CompactFormatter, value, out)
}

fn write_with(
    formatter: impl Formatter,
    value: &(impl Serialize + ?Sized),
    out: &mut dyn io::Write,
) -> io::Result<()> {
    // A serializer writes each comma by itself.
    let mut out = io::BufWriter::new(out);
    value.serialize(&mut Serializer::with_formatter(&mut out, Visible(formatter)))?;
    writeln!(out)?;
    out.into_inner()?;
    Ok(())
}

/// Writes JSON text and a line end.
///
/// # Errors
///
/// The text can't be written.
pub fn write_json_text(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    // Outside strings, JSON has no such character but a line end.
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        write_visible(line, out)?;
        out.write_all(end.as_bytes())?;
    }
    writeln!(out)
}

/// Writes what is inside strings with [`write_visible`].
struct Visible<F>(F);

macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*)),* $(,)?) => {
        $(fn $name<W: ?Sized + io::Write>(&mut self, out: &mut W $(, $argument: $type)*) -> io::Result<()> {
            self.0.$name(out $(, $argument)*)
        })*
    };
}

impl<F: Formatter> Formatter for Visible<F> {
    pass_on!(
        begin_array(),
        end_array(),
        begin_array_value(first: bool),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first: bool),
        end_object_key(),
        begin_object_value(),
        end_object_value(),
    );

    // What must be escaped in JSON is a fragment of its own, so a command for a runner is in one fragment.
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        write_visible(text, out)
    }
}

/// Writes a part of a string with its hidden characters and commands escaped.
fn write_visible(text: &str, out: &mut (impl io::Write + ?Sized)) -> io::Result<()> {
    let mut from = 0;
    for at in hash_commands(text) {
        write_without_hidden(&text[from..at], out)?;
        out.write_all(b"\\u0023")?;
        from = at + 1;
    }
    write_without_hidden(&text[from..], out)
}

fn write_without_hidden(text: &str, out: &mut (impl io::Write + ?Sized)) -> io::Result<()> {
    let mut rest = text;
    let mut from = 0;
    // Most text is plain ASCII, which can be checked by its bytes.
    let is_suspect = |byte: &u8| !(b' '..=b'~').contains(byte);
    while let Some(at) = rest.as_bytes()[from..].iter().position(is_suspect) {
        let at = from + at;
        let Some(suspect) = rest[at..].chars().next() else { break };
        from = at + suspect.len_utf8();
        if is_hidden(suspect) {
            out.write_all(&rest.as_bytes()[..at])?;
            for unit in suspect.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &rest[from..];
            from = 0;
        }
    }
    out.write_all(rest.as_bytes())
}
