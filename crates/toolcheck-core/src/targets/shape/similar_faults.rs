//! Of very many faults that are one mistake only the first are held; the others are counted.

use std::hash::{DefaultHasher, Hash, Hasher};

use foldhash::HashMap;
use toolcheck_json::NodeId;

use super::fault::{PathStep, ShapeFault};

/// The most faults that are alike and held one by one. A fault takes hundreds of bytes, and an object that has one may
/// take three.
const MOST_ALIKE: usize = 256;

/// The faults of a request that are alike.
#[derive(Debug, Default)]
pub(super) struct Alike {
    groups: HashMap<u64, Group>,
    /// Whether there were so many faults that some may have to be left out. Most requests have few.
    is_counting: bool,
}

#[derive(Debug, Default)]
struct Group {
    held: usize,
    /// The objects of those that are not held.
    objects: Vec<NodeId>,
}

impl Alike {
    /// Leaves out those of an object's own faults, from the first one, of which enough are held.
    #[cold]
    pub(super) fn leave_out(&mut self, faults: &mut Vec<ShapeFault<'_>>, first: usize, object: NodeId) {
        if !self.is_counting {
            if faults.len() <= MOST_ALIKE {
                return;
            }
            self.is_counting = true;
            for fault in faults.iter().filter(|fault| fault.parent != object) {
                self.is_held(fault);
            }
        }
        let mut end = first;
        for number in first..faults.len() {
            if faults[number].parent != object || self.is_held(&faults[number]) {
                faults.swap(end, number);
                end += 1;
            }
        }
        faults.truncate(end);
    }

    fn is_held(&mut self, fault: &ShapeFault<'_>) -> bool {
        let group = self.groups.entry(pattern(fault)).or_default();
        if group.held < MOST_ALIKE {
            group.held += 1;
            return true;
        }
        group.objects.push(fault.parent);
        false
    }

    /// Adds those that are not held to the first one that is like them.
    pub(super) fn add_to(mut self, faults: &mut [ShapeFault<'_>]) {
        self.groups.retain(|_, group| !group.objects.is_empty());
        for fault in faults {
            if self.groups.is_empty() {
                return;
            }
            if let Some(group) = self.groups.remove(&pattern(fault)) {
                fault.alike = group.objects;
            }
        }
    }
}

/// The same for faults that differ only in the elements of arrays that they are in.
fn pattern(fault: &ShapeFault<'_>) -> u64 {
    // Two patterns with one hash would be told as one, so it must be a good one.
    let mut hasher = DefaultHasher::new();
    (fault.kind, std::ptr::from_ref(fault.object), &*fault.key, &fault.detail).hash(&mut hasher);
    fault.fact.map(std::ptr::from_ref).hash(&mut hasher);
    for step in &fault.path {
        match step {
            PathStep::Key(key) | PathStep::Entry(key, _) | PathStep::Variant(key) => key.hash(&mut hasher),
            PathStep::Index(_) => 0_u8.hash(&mut hasher),
        }
    }
    hasher.finish()
}
