//! The samples in an archive.

use std::collections::BTreeMap;
use std::sync::Arc;

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipFileHeaderRecord, ZipSliceArchive};
use toolcheck_json::Document;
use toolcheck_json::origins::{Builder, LeftOut, Mapped, Opened, Origin, Unpacked, Unread};

use super::CONTAINER;
use crate::budget::Budget;
use crate::reason::Reason;
#[cfg(feature = "compress")]
use crate::zstd::ZstdFrames;
use crate::{Limits, decode};

const SAMPLES: &[u8] = b"samples/";

/// How much of a text shows its encoding.
const HEAD: usize = 4096;
/// What some texts begin with that are UTF-8.
const BOM: &[u8] = b"\xEF\xBB\xBF";

pub(super) fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let archive = ZipArchive::from_slice(bytes).ok()?;
    let mut builder = Builder::default();
    let budget = Budget::of_file(bytes.len(), limits);
    let (mut unpacked, mut large, mut broken, mut others) = (Unpacked::default(), 0, 0, 0);
    let mut taken = Taken::default();
    let mut entries = archive.entries();
    let (mut samples, mut seen) = (0, 0);
    let is_whole = loop {
        let entry = match entries.next_entry() {
            Ok(Some(entry)) => entry,
            Ok(None) => break seen >= archive.entries_hint(),
            Err(_) => break false,
        };
        seen += 1;
        let path = entry.file_path();
        let name: &[u8] = path.as_ref();
        if !name.starts_with(SAMPLES) || !name.ends_with(b".json") {
            others += usize::from(!entry.is_dir());
            continue;
        }
        match text_of(&archive, &entry, &mut taken, &budget) {
            Err(Reason::TooLarge) => large += 1,
            Err(_) => broken += 1,
            Ok(text) => {
                let start = unpacked.add(&text);
                let mut origin = Origin::new("");
                origin.member = Some(String::from_utf8_lossy(name).into_owned());
                builder.value("", Arc::new(origin), &Mapped::same(&text, start));
                builder.glue("\n");
                samples += 1;
            }
        }
    };
    let (text, origins) = builder.finish();
    let left_out = [
        ("sample that is too large", "samples that are too large", large),
        ("sample that can't be read", "samples that can't be read", broken),
        ("file that is not a sample", "files that are not samples", others),
    ];
    let left_out = left_out.into_iter().filter(|(.., count)| *count > 0);
    let many = |count, (one, more): (&str, &str)| match count {
        1 => format!("a sample of this archive {one}"),
        _ => format!("{count} samples of this archive {more}"),
    };
    let what = match (large, broken, is_whole) {
        (0, 0, true) => None,
        (0, 0, false) => {
            Some("the directory of this archive is damaged: it may hold more samples".to_owned())
        }
        (_, 0, _) => {
            let most = limits.most_bytes;
            let lost = many(large, ("was", "were"));
            Some(format!("{lost} not read: unpacked, the archive has more than {most} bytes"))
        }
        (..) => Some(many(large + broken, ("can't be read", "can't be read"))),
    };
    let advice = (large > 0).then(|| "raise the limit with `--max-document`".to_owned());
    Some(Opened {
        text,
        origins,
        exchanges: samples,
        left_out: left_out.map(|(one, what, count)| LeftOut { one, what, count }).collect(),
        unread: what.map(|what| Unread { what, at: 0, origin: None, advice }),
        unpacked: Some(unpacked),
        ..CONTAINER.opened()
    })
}

/// The parts of an archive that were unpacked: each is unpacked once, whatever the directory says.
#[derive(Default)]
struct Taken(BTreeMap<u64, u64>);

impl Taken {
    /// Takes some bytes, unless they overlap with earlier ones.
    fn take(&mut self, (start, end): (u64, u64)) -> bool {
        let before = self.0.range(..end).next_back();
        if before.is_some_and(|(_, end)| *end > start) {
            return false;
        }
        self.0.insert(start, end);
        true
    }
}

fn text_of(
    archive: &ZipSliceArchive<&[u8]>,
    entry: &ZipFileHeaderRecord<'_>,
    taken: &mut Taken,
    budget: &Budget,
) -> Result<Vec<u8>, Reason> {
    let found = archive.get_entry(entry.wayfinder()).map_err(|_| Reason::Damaged)?;
    if !taken.take(found.compressed_data_range()) {
        return Err(Reason::Damaged);
    }
    // One that says how large it is leaves the room to the others.
    if entry.uncompressed_size_hint() > budget.room() as u64 {
        return Err(Reason::TooLarge);
    }
    let packed = found.data();
    // An error at the end if the size or the checksum is another one.
    let mut text = match entry.compression_method() {
        CompressionMethod::STORE => decode::unpack(found.verifying_reader(packed), packed.len(), budget),
        CompressionMethod::DEFLATE => {
            decode::unpack(found.verifying_reader(DeflateDecoder::new(packed)), packed.len(), budget)
        }
        // What version 0.3.285 writes (`src/inspect_ai/_util/compression.py`).
        #[cfg(feature = "compress")]
        CompressionMethod::ZSTD => {
            let frames = ZstdFrames::new(packed, decode::MOST_WINDOW);
            decode::unpack(found.verifying_reader(frames), packed.len(), budget)
        }
        _ => Err(Reason::Compressed),
    }?;
    // One text in UTF-16 would make the whole look like that.
    let start = Document::read(&text[..text.len().min(HEAD)]);
    if start.faults().iter().any(|fault| fault.kind.is_other_encoding()) {
        return Err(Reason::NotJson);
    }
    if text.starts_with(BOM) {
        text.drain(..BOM.len());
    }
    Ok(text)
}
