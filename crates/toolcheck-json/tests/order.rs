//! Lists are sorted by positions.

use proptest::prelude::*;
use toolcheck_json::{sort_by_position, sort_by_positions};

proptest! {
    #[test]
    fn it_sorts_as_the_standard_library_does(keys in prop::collection::vec((0..9_usize, 0..9_usize), 0..60)) {
        let list: Vec<_> = keys.iter().copied().enumerate().collect();
        let (mut by_one, mut by_two) = (list.clone(), list.clone());
        sort_by_position(&mut by_one, |(_, (first, _))| *first);
        sort_by_positions(&mut by_two, |(_, both)| *both);
        let (mut one, mut two) = (list.clone(), list);
        one.sort_by_key(|(_, (first, _))| *first);
        two.sort_by_key(|(_, both)| *both);
        prop_assert_eq!((by_one, by_two), (one, two));
    }
}
