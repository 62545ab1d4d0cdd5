//! Ids that a target takes, made from those that it refuses.

use foldhash::HashSet;
use toolcheck_core::targets::Target;

const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The most other ids that are tried.
const TRIES: u64 = 64;

/// An id for the same call that the target takes and that is not in use: a function of the old id, so that other copies
/// of the conversation get the same one. `use_number` is 1 for the first use of the id, 2 for the second.
pub(super) fn replacement(
    id: &str,
    use_number: usize,
    target: &Target,
    used: &HashSet<String>,
) -> Option<String> {
    let max = target.ids.max_length.unwrap_or(usize::MAX);
    let fits = |id: &str| {
        !id.is_empty()
            && id.chars().count() <= max
            && target.ids.pattern.as_ref().is_none_or(|pattern| pattern.is_match(id))
            && !used.contains(id)
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let mut plain: String = id.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    if use_number > 1 {
        plain = format!("{plain}_{use_number}");
    }
    if fits(&plain) {
        return Some(plain);
    }
    let salted = (0..TRIES).map(|salt| hash(id, use_number as u64 + (salt << 32)));
    salted.flat_map(|hash| [letters(hash, 9), format!("call_{}", letters(hash, 11))]).find(|id| fits(id))
}

/// An id for a record that comes after the one with this id, in the form of a UUID of version 8.
pub(super) fn record_id(after: &str, number: usize) -> String {
    let [high, low] = [0, 1_u64 << 32].map(|salt| hash(after, number as u64 + salt));
    format!(
        "{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        (low >> 48) & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

/// FNV-1a with a salt: the same on every machine and in every version.
fn hash(text: &str, salt: u64) -> u64 {
    let bytes = text.bytes().chain(salt.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The last step of splitmix64: similar ids must not get similar hashes.
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

fn letters(mut hash: u64, count: usize) -> String {
    let mut text = String::with_capacity(count);
    for _ in 0..count {
        text.push(char::from(LETTERS[(hash % 62) as usize]));
        hash /= 62;
    }
    text
}
