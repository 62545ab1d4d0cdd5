//! From places in a made text to places in the file that it was made of.

use std::ops::Range;
use std::sync::Arc;

use toolcheck_json::origins::Opened;

use crate::finding::Spot;
use crate::report::FileReport;

/// Gives the findings of a made text their places in the file.
pub(crate) fn relocate(report: &mut FileReport, opened: &Opened, file: &[u8]) {
    let source = opened.source(file);
    let mut spots: Vec<&mut Spot> = Vec::new();
    for finding in &mut report.findings {
        // What was sent is not changed.
        finding.fixable = None;
        spots.push(&mut finding.spot);
        spots.extend(finding.labels.iter_mut().map(|label| &mut label.spot));
    }
    spots.extend(report.refusals.iter_mut().map(|refusal| &mut refusal.spot));
    for spot in &mut spots {
        let Some(found) = opened.origins.locate(spot.bytes.clone()) else {
            // Nothing of the made text is in the file: the file is empty.
            (spot.bytes, spot.record_bytes) = (0..0, window(source, 0));
            continue;
        };
        spot.bytes = found.source.start.min(source.len())..found.source.end.min(source.len());
        spot.record_bytes = window(source, spot.bytes.start);
        spot.origin = Some(Arc::clone(found.origin));
        if let Some(inside) = spot.pointer.strip_prefix(found.pointer) {
            spot.pointer = inside.to_owned();
        }
    }
    let offsets: Vec<usize> = spots.iter().flat_map(|spot| [spot.bytes.start, spot.bytes.end]).collect();
    let places = opened.locate(file, &offsets);
    for (spot, ends) in spots.into_iter().zip(places.chunks_exact(2)) {
        (spot.start, spot.end) = (ends[0], ends[1]);
    }
}

/// How much of a line is kept on either side of a place.
const AROUND: usize = 512;

/// The part of a line around a place that an excerpt may show.
fn window(source: &[u8], at: usize) -> Range<usize> {
    let (least, most) = (at.saturating_sub(AROUND), (at + AROUND).min(source.len()));
    let is_end = |byte: &u8| *byte == b'\n';
    let from = source[least..at].iter().rposition(is_end).map_or(least, |before| least + before + 1);
    let to = source[at..most].iter().position(is_end).map_or(most, |after| at + after);
    from..to
}
