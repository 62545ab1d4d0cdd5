//! A user's own targets, and transcripts that are linted against them.

use std::sync::LazyLock;

use toolcheck_config::parse_target;
use toolcheck_lint::{Options, rules};

use super::config::check_error;
use super::seeds::written;
use super::{lint, take};

/// Transcripts in several formats, with a fault or two in each.
static TRANSCRIPTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| written("transcripts"));

/// The first byte chooses the transcript; the rest is the target's file.
pub fn run(mut data: &[u8]) {
    let transcript = &TRANSCRIPTS[take(&mut data) % TRANSCRIPTS.len()];
    let Ok(text) = std::str::from_utf8(data) else { return };
    let target = match parse_target(text) {
        Ok(target) => target,
        Err(error) => {
            error.all().for_each(|error| check_error(text, error));
            return;
        }
    };
    assert!(!target.id.is_empty());
    // Neither a byte order mark nor a comment changes it.
    let unmarked = text.trim_start_matches('\u{feff}');
    let commented = parse_target(&format!("\u{feff}# Ours\n{unmarked}\n# The end")).expect("it was valid");
    assert_eq!(format!("{commented:?}"), format!("{target:?}"));
    let options = Options::new().target(Some(target)).rules(rules::ALL.to_vec());
    lint::check(transcript, &options);
}
