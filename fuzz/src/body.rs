//! The body of a request to a mock, and the status that it gets.

use std::io::Write;

use serde_json::Value as Json;
use toolcheck_core::formats;

use super::take;

/// What is said of how a body is encoded, which may be true or not.
const ENCODINGS: [Option<&str>; 7] =
    [None, Some("gzip"), Some("deflate"), Some("br"), Some("zstd"), Some("gzip, zstd"), Some("compress")];

/// The first bytes choose the API and the encoding.
pub fn run(mut data: &[u8]) {
    let (format, encoding) = (take(&mut data), take(&mut data));
    let format = formats::ALL[format % formats::ALL.len()];
    let path = toolcheck_serve::path(format, "m", false);
    let status = |encoding, body: &[u8]| {
        let status = toolcheck_serve::status(&path, encoding, body).expect("each format has a path");
        assert!(matches!(status, 200 | 400..=499), "{path}: {status}");
        status
    };
    let plain = status(None, data);
    assert_eq!(plain, status(None, data), "the same body gets the same answer");
    if plain == 200 {
        let text = std::str::from_utf8(data).expect("an API reads UTF-8");
        let is_object = serde_json::from_str::<Json>(text).map(|value| value.is_object());
        // Half a character is JSON that a string of Rust can't hold.
        assert!(is_object.unwrap_or_else(|_| text.to_ascii_lowercase().contains("\\ud")), "{text}");
    }
    let _ = status(ENCODINGS[encoding % ENCODINGS.len()], data);
    assert_eq!(status(Some("gzip"), &gzip(data)), plain, "what is packed is judged as what is not");
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(data).expect("writing to memory never fails");
    packer.finish().expect("writing to memory never fails")
}
