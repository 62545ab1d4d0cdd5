//! Which element of one sequence is which of another, in time that grows with their length.

use std::collections::VecDeque;
use std::ops::Range;

use foldhash::HashMap;

/// The pairs of two sequences that were found so far.
#[derive(Debug)]
pub(super) struct Pairs {
    /// For each element before, the one after.
    pub(super) before: Vec<Option<usize>>,
    /// For each element after, the one before.
    pub(super) after: Vec<Option<usize>>,
    /// The number of elements that were looked at, each time.
    pub(super) steps: usize,
}

/// A key of an element, by its number; `None` if it takes no part.
pub(super) type Keys = Vec<Option<u64>>;

impl Pairs {
    pub(super) fn new(before: usize, after: usize) -> Self {
        Self { before: vec![None; before], after: vec![None; after], steps: 0 }
    }

    pub(super) fn add(&mut self, before: usize, after: usize) {
        self.before[before] = Some(after);
        self.after[after] = Some(before);
    }

    fn free<'k>(
        keys: &'k Keys,
        pairs: &'k [Option<usize>],
        range: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = (usize, u64)> + 'k {
        range.filter(|number| pairs[*number].is_none()).filter_map(|number| Some((number, keys[number]?)))
    }

    /// Pairs the elements whose key nothing else on their side has.
    pub(super) fn unique(&mut self, before: &Keys, after: &Keys) {
        self.steps += before.len() + after.len();
        // The only element with a key on each side; `None` if there are several.
        let mut seen: HashMap<u64, [(usize, u32); 2]> = HashMap::default();
        for (number, key) in Self::free(before, &self.before, 0..before.len()) {
            let [own, _] = seen.entry(key).or_default();
            *own = (number, own.1 + 1);
        }
        for (number, key) in Self::free(after, &self.after, 0..after.len()) {
            if let Some([_, own]) = seen.get_mut(&key) {
                *own = (number, own.1 + 1);
            }
        }
        let found: Vec<(usize, usize)> = Self::free(before, &self.before, 0..before.len())
            .filter_map(|(number, key)| match seen[&key] {
                [(_, 1), (other, 1)] => Some((number, other)),
                _ => None,
            })
            .collect();
        found.into_iter().for_each(|(before, after)| self.add(before, after));
    }

    /// Pairs the elements with equal keys between the pairs of the chain: at first those that begin and end a gap alike,
    /// then the others in order.
    pub(super) fn in_gaps(&mut self, before: &Keys, after: &Keys) {
        let mut from = (0, 0);
        let chain = self.chain();
        for to in chain.into_iter().chain([(before.len(), after.len())]) {
            self.in_gap(before, after, from.0..to.0, from.1..to.1);
            from = (to.0 + 1, to.1 + 1);
        }
    }

    fn in_gap(&mut self, before: &Keys, after: &Keys, in_before: Range<usize>, in_after: Range<usize>) {
        self.steps += in_before.len() + in_after.len();
        let mut one: VecDeque<(usize, u64)> = Self::free(before, &self.before, in_before).collect();
        let mut other: VecDeque<(usize, u64)> = Self::free(after, &self.after, in_after).collect();
        while let (Some(first), Some(second)) = (one.front(), other.front())
            && first.1 == second.1
        {
            self.add(first.0, second.0);
            one.pop_front();
            other.pop_front();
        }
        while let (Some(first), Some(second)) = (one.back(), other.back())
            && first.1 == second.1
        {
            self.add(first.0, second.0);
            one.pop_back();
            other.pop_back();
        }
        self.in_order(one, other);
    }

    pub(super) fn anywhere(&mut self, before: &Keys, after: &Keys) {
        self.steps += before.len() + after.len();
        let one = Self::free(before, &self.before, 0..before.len()).collect();
        let other = Self::free(after, &self.after, 0..after.len()).collect();
        self.in_order(one, other);
    }

    fn in_order(&mut self, before: VecDeque<(usize, u64)>, after: VecDeque<(usize, u64)>) {
        if before.is_empty() || after.is_empty() {
            return;
        }
        let mut waiting: HashMap<u64, VecDeque<usize>> = HashMap::default();
        for (number, key) in after {
            waiting.entry(key).or_default().push_back(number);
        }
        for (number, key) in before {
            if let Some(other) = waiting.get_mut(&key).and_then(VecDeque::pop_front) {
                self.add(number, other);
            }
        }
    }

    /// The longest chain of pairs that have the same order on both sides.
    pub(super) fn chain(&mut self) -> Vec<(usize, usize)> {
        self.steps += self.before.len();
        let pairs = self.before.iter().enumerate().filter_map(|(before, after)| Some((before, (*after)?)));
        longest_increasing(&pairs.collect::<Vec<_>>())
    }
}

/// The longest part of the pairs, which are in the order of their first numbers, that is in the order of the second ones.
pub fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair that ends the chain with the smallest number; for each pair, the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut earlier: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (number, (_, second)) in pairs.iter().enumerate() {
        // Almost everything is in order.
        let length = match ends.last() {
            Some(last) if pairs[*last].1 < *second => ends.len(),
            _ => ends.partition_point(|end| pairs[*end].1 < *second),
        };
        earlier.push(length.checked_sub(1).map(|length| ends[length]));
        if length == ends.len() {
            ends.push(number);
        } else {
            ends[length] = number;
        }
    }
    let mut chain = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(number) = next {
        chain.push(pairs[number]);
        next = earlier[number];
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Keys {
        text.bytes().map(|byte| (byte != b'.').then(|| byte.into())).collect()
    }

    fn aligned(before: &str, after: &str) -> Vec<Option<usize>> {
        let (before, after) = (keys(before), keys(after));
        let mut pairs = Pairs::new(before.len(), after.len());
        pairs.unique(&before, &after);
        pairs.in_gaps(&before, &after);
        pairs.before
    }

    #[test]
    fn what_was_dropped_is_found_among_equals() {
        assert_eq!(aligned("axbxcx", "axbcx"), [Some(0), Some(1), Some(2), None, Some(3), Some(4)]);
        assert_eq!(aligned("xxx", "xx"), [Some(0), Some(1), None]);
        assert_eq!(aligned("xyxyx", "xyyx"), [Some(0), Some(1), None, Some(2), Some(3)]);
        assert_eq!(aligned("a.b", "ab"), [Some(0), None, Some(1)]);
    }

    #[test]
    fn a_chain_is_as_long_as_it_can_be() {
        let chain = longest_increasing(&[(0, 3), (1, 0), (2, 1), (3, 2), (4, 4)]);
        assert_eq!(chain, [(1, 0), (2, 1), (3, 2), (4, 4)]);
        assert_eq!(longest_increasing(&[]), []);
    }
}
