//! The readers, each used on a slice as its documentation recommends.

use std::hint::black_box;

use anyhow::Result;

use crate::Lines;

pub(crate) struct Reader {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Reads each line and returns their number.
    pub(crate) read: fn(&mut Lines<'_>) -> Result<usize>,
}

pub(crate) static ALL: &[Reader] = &[
    Reader { name: "nothing", read: nothing },
    Reader { name: "serde_json", read: serde_json },
    Reader { name: "serde_json-ignored", read: serde_json_ignored },
    Reader { name: "jiter", read: jiter },
    Reader { name: "jiter-skip", read: jiter_skip },
    Reader { name: "simd-json", read: simd_json },
    Reader { name: "simd-json-tape", read: simd_json_tape },
    Reader { name: "toolcheck-json", read: toolcheck_json },
];

/// Only holds the file in memory and splits its lines.
fn nothing(lines: &mut Lines<'_>) -> Result<usize> {
    Ok(lines.count())
}

fn serde_json(lines: &mut Lines<'_>) -> Result<usize> {
    each(lines, |line| Ok(drop(black_box(serde_json::from_slice::<serde_json::Value>(line)?))))
}

fn serde_json_ignored(lines: &mut Lines<'_>) -> Result<usize> {
    each(lines, |line| {
        black_box(serde_json::from_slice::<serde::de::IgnoredAny>(line)?);
        Ok(())
    })
}

fn jiter(lines: &mut Lines<'_>) -> Result<usize> {
    each(lines, |line| Ok(drop(black_box(jiter::JsonValue::parse(line, false)?))))
}

fn jiter_skip(lines: &mut Lines<'_>) -> Result<usize> {
    each(lines, |line| Ok(jiter::Jiter::new(line).next_skip()?))
}

/// It parses in place, so the line is copied first.
fn simd_json(lines: &mut Lines<'_>) -> Result<usize> {
    let mut copy = Vec::new();
    each(lines, |line| {
        copy.clear();
        copy.extend_from_slice(line);
        Ok(drop(black_box(simd_json::to_borrowed_value(&mut copy)?)))
    })
}

fn simd_json_tape(lines: &mut Lines<'_>) -> Result<usize> {
    let (mut copy, mut buffers) = (Vec::new(), simd_json::Buffers::default());
    each(lines, |line| {
        copy.clear();
        copy.extend_from_slice(line);
        Ok(drop(black_box(simd_json::to_tape_with_buffers(&mut copy, &mut buffers)?)))
    })
}

fn toolcheck_json(lines: &mut Lines<'_>) -> Result<usize> {
    let mut arena = toolcheck_json::Arena::default();
    each(lines, |line| {
        let document = toolcheck_json::Document::read_in(line, std::mem::take(&mut arena));
        black_box(document.root().count());
        arena = document.into_arena();
        Ok(())
    })
}

fn each(lines: &mut Lines<'_>, mut read: impl FnMut(&[u8]) -> Result<()>) -> Result<usize> {
    let mut records = 0;
    for line in lines {
        read(line)?;
        records += 1;
    }
    Ok(records)
}
