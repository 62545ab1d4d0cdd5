//! Sorts lists by positions, and leaves out what they have twice.

/// Sorts a list by the position of each element. Elements with the same position keep their order.
///
/// All lists share the code that sorts, where `sort_by_key` is compiled again for each type. That is 4 kB of
/// WebAssembly for each of the many lists of things with a place in a file.
///
/// ```
/// let mut words = vec![("b", 7), ("a", 2), ("c", 7)];
/// toolcheck_json::sort_by_position(&mut words, |word| word.1);
/// assert_eq!(words, [("a", 2), ("b", 7), ("c", 7)]);
/// ```
pub fn sort_by_position<T>(list: &mut [T], mut position: impl FnMut(&T) -> usize) {
    sort_by_positions(list, |element| (position(element), 0));
}

/// Sorts a list by two positions of each element, as [`sort_by_position`] does by one: those that agree in the first are
/// in the order of the second.
pub fn sort_by_positions<T>(list: &mut [T], mut positions: impl FnMut(&T) -> (usize, usize)) {
    if list.len() < 2 {
        return;
    }
    let numbered = list.iter().enumerate().map(|(index, element)| (positions(element), index));
    let mut goes_to = ranks(numbered.collect());
    for index in 0..list.len() {
        // Each swap brings one element to its place for good.
        while goes_to[index] != index {
            let place = goes_to[index];
            list.swap(index, place);
            goes_to.swap(index, place);
        }
    }
}

/// The values of a short list, each once, in the order in which they come first.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// The place of each element in the sorted list, by the index that it has now.
fn ranks(mut elements: Vec<((usize, usize), usize)>) -> Vec<usize> {
    // The index makes each element different, so that equal ones keep their order.
    elements.sort_unstable();
    let mut ranks = vec![0; elements.len()];
    for (rank, (_, index)) in elements.into_iter().enumerate() {
        ranks[index] = rank;
    }
    ranks
}
