//! The starts of the texts at many places.

use std::sync::Arc;

use crate::Span;

/// The start of the text at a place, which identifies it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// A part of the record, which the places in it share: thousands may be inside one another.
    part: Arc<[u8]>,
    start: u32,
    end: u32,
}

impl Head {
    /// The starts of the texts at some places of a record, in their order, of at most this many bytes each. Together they
    /// take no more memory than the record.
    pub fn all_of(record: &[u8], places: &[Span], most: usize) -> Vec<Self> {
        let ends = |place: &Span| (place.end as usize).min(place.start as usize + most).min(record.len());
        let mut order: Vec<usize> = (0..places.len()).collect();
        crate::sort_by_position(&mut order, |index| places[*index].start as usize);
        let mut heads = vec![Self::default(); places.len()];
        let mut rest = &order[..];
        while let Some(first) = rest.first() {
            let start = (places[*first].start as usize).min(record.len());
            let mut end = start;
            let count = rest
                .iter()
                .take_while(|index| {
                    let is_in = **index == *first || places[**index].start as usize <= end;
                    end = if is_in { end.max(ends(&places[**index])) } else { end };
                    is_in
                })
                .count();
            let part: Arc<[u8]> = record[start..end].into();
            for index in &rest[..count] {
                let place = &places[*index];
                let own = (place.start as usize).min(end).saturating_sub(start);
                let own_end = ends(place).saturating_sub(start).max(own);
                heads[*index] = Self { part: Arc::clone(&part), start: own as u32, end: own_end as u32 };
            }
            rest = &rest[count..];
        }
        heads
    }

    /// The text.
    pub fn bytes(&self) -> &[u8] {
        &self.part[self.start as usize..self.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Head;
    use crate::Span;

    const MOST_BYTES: usize = 4096;

    proptest! {
        #[test]
        fn heads_are_the_starts_of_the_texts(
            length in 0..20_000usize,
            places in proptest::collection::vec((0..20_000u32, 0..9_000u32), 0..12),
        ) {
            let record: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let places: Vec<Span> =
                places.into_iter().map(|(start, length)| Span::new(start, start + length)).collect();
            let heads = Head::all_of(&record, &places, MOST_BYTES);
            prop_assert_eq!(heads.len(), places.len());
            for (head, place) in heads.iter().zip(&places) {
                let start = (place.start as usize).min(length);
                let end = (place.end as usize).clamp(start, length).min(start + MOST_BYTES);
                prop_assert_eq!(head.bytes(), &record[start..end]);
            }
            let mut parts: Vec<_> = heads.iter().map(|head| (head.part.as_ptr(), head.part.len())).collect();
            parts.sort_unstable();
            parts.dedup();
            prop_assert!(parts.iter().map(|(_, length)| length).sum::<usize>() <= length);
        }
    }
}
