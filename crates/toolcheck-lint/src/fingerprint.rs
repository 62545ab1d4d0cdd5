//! The fingerprints that identify findings from one run to the next.

use foldhash::HashMap;

use crate::finding::Finding;

/// Makes the fingerprints of a report, in its order.
///
/// A fingerprint consists of the rule, the file, the call and the tool that the finding names, and the bytes at its
/// place. It does not contain the line and the pointer, because recordings grow and histories are trimmed, nor the
/// message, because wording changes from one version to the next. Equal findings in a file are numbered to make them
/// unique.
#[derive(Debug, Default)]
pub struct Fingerprints {
    seen: HashMap<u128, u32>,
}

impl Fingerprints {
    /// The fingerprint of the next finding: 32 hexadecimal digits.
    pub fn next<'f>(&mut self, path: &str, finding: &'f Finding) -> String {
        let name = |name: &'f Option<String>| name.as_deref().unwrap_or_default().as_bytes();
        let (id, tool) = (name(&finding.tool_call_id), name(&finding.tool_name));
        let parts = [finding.rule.as_str().as_bytes(), path.as_bytes(), id, tool, finding.head.bytes()];
        let hash = fnv_of(&parts);
        let count = self.seen.entry(hash).or_default();
        *count += 1;
        let hash = if *count == 1 { hash } else { fnv(hash, &count.to_le_bytes()) };
        format!("{hash:032x}")
    }
}

/// FNV-1a of 128 bits: not secret, but the same in every version and on every machine.
const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

pub(crate) fn fnv_of(parts: &[&[u8]]) -> u128 {
    // The length separates the parts.
    parts.iter().fold(BASIS, |hash, part| fnv(fnv(hash, &(part.len() as u64).to_le_bytes()), part))
}

/// A number in which every bit depends on all of a hash: the last bytes of a text hardly reach the high bits of FNV.
pub(crate) fn mixed(hash: u128) -> u128 {
    let fold = |hash: u128| (hash ^ hash >> 64).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let folded = fold(fold(hash));
    folded ^ folded >> 64
}

fn fnv(hash: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}
