//! What identifies a finding from one run to the next.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::finding::Finding;

/// The number of bytes of a finding that count. A place may be a whole request of megabytes.
const MOST_BYTES: usize = 4096;

/// The start of the text at the place of a finding. Findings at the same place share it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head(Arc<[u8]>);

impl Head {
    /// The start of a text.
    pub(crate) fn of(text: &[u8]) -> Self {
        Self(text[..text.len().min(MOST_BYTES)].into())
    }
}

/// Makes the fingerprints of a report, in its order.
///
/// Neither a line nor a pointer counts, because recordings grow and histories are trimmed, and no wording, because it
/// changes from one version to the next: the rule, the file, the call and tool that it names and the bytes at the place
/// do. Equal findings of a file are numbered, so that each has a fingerprint of its own.
#[derive(Debug, Default)]
pub struct Fingerprints {
    seen: FxHashMap<u128, u32>,
}

impl Fingerprints {
    /// The fingerprint of the next finding: 32 hexadecimal digits.
    pub fn next<'f>(&mut self, path: &str, finding: &'f Finding) -> String {
        let name = |name: &'f Option<String>| name.as_deref().unwrap_or_default().as_bytes();
        let (id, tool) = (name(&finding.tool_call_id), name(&finding.tool_name));
        let parts = [finding.rule.as_bytes(), path.as_bytes(), id, tool, &finding.head.0];
        let hash = parts.iter().fold(BASIS, |hash, part| {
            // The length tells where a part ends.
            fnv(fnv(hash, &(part.len() as u64).to_le_bytes()), part)
        });
        let count = self.seen.entry(hash).or_default();
        *count += 1;
        let hash = if *count == 1 { hash } else { fnv(hash, &count.to_le_bytes()) };
        format!("{hash:032x}")
    }
}

/// FNV-1a of 128 bits: not secret, but the same in every version and on every machine.
const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn fnv(hash: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}
