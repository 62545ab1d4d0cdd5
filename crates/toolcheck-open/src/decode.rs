//! Base64 and compressed data, decoded up to a bound.

#[cfg(any(feature = "compress", feature = "zip"))]
use std::io::Read;

#[cfg(feature = "compress")]
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use toolcheck_json::from_base64;
use toolcheck_json::origins::Mapped;

use crate::budget::Budget;
use crate::reason::Reason;

#[cfg(feature = "compress")]
use crate::zstd::ZstdFrames;

/// How many bytes one byte of compressed data may become, where that is more than [`MODEST`].
#[cfg(any(feature = "compress", feature = "zip"))]
const MOST_RATIO: usize = 10_000;
/// The size after decompression that is never too much for what is compressed.
#[cfg(any(feature = "compress", feature = "zip"))]
const MODEST: usize = 16 << 20;
/// How many bytes are decompressed at a time.
#[cfg(any(feature = "compress", feature = "zip"))]
const STEP: usize = 8192;
/// The largest window of a body in Zstandard (RFC 9659).
#[cfg(feature = "compress")]
pub(crate) const MOST_WINDOW: u64 = 8 << 20;
/// The first bytes of gzip data (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The first bytes of Zstandard data (RFC 8878).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether data begins like gzip data.
pub fn is_gzip(data: &[u8]) -> bool {
    data.starts_with(&GZIP)
}

/// Whether data begins like Zstandard data: with a frame, or with one to be skipped, as `pzstd` writes it (RFC 8878, 3.1).
pub fn is_zstd(data: &[u8]) -> bool {
    data.starts_with(&ZSTD) || matches!(data, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Decodes base64; `None` if it is something else.
pub(crate) fn base64(text: &Mapped) -> Option<Mapped> {
    let bytes = from_base64(text.text())?;
    let span = text.source_of(0..text.text().len()).unwrap_or(0..0);
    Some(Mapped::whole(bytes, span))
}

/// Decodes hexadecimal digits; `None` if it is something else, or nothing.
pub(crate) fn hexadecimal(text: &Mapped) -> Option<Mapped> {
    let digits = text.text();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let bytes = digits.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?));
    let bytes: Vec<u8> = bytes.collect::<Option<_>>().filter(|bytes: &Vec<u8>| !bytes.is_empty())?;
    Some(Mapped::whole(bytes, text.source_of(0..digits.len()).unwrap_or(0..0)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    Brotli,
    Deflate,
    Gzip,
    Zstd,
}

impl Compression {
    /// How a body is compressed; `None` if it is not. `encoding` is what the headers call it: many recordings keep the
    /// header, although the body is plain.
    fn of(body: &[u8], encoding: Option<&str>) -> Option<Self> {
        if is_gzip(body) {
            return Some(Self::Gzip);
        }
        if is_zstd(body) {
            return Some(Self::Zstd);
        }
        let is_text = || matches!(body.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'{' | b'['));
        match encoding.map(str::trim)? {
            "deflate" if !is_text() => Some(Self::Deflate),
            // Text is not compressed, whatever the headers say.
            "br" if std::str::from_utf8(body).is_err() => Some(Self::Brotli),
            "zstd" if std::str::from_utf8(body).is_err() => Some(Self::Zstd),
            _ => None,
        }
    }

    #[cfg(feature = "compress")]
    fn named(name: &str) -> Option<Self> {
        let names = [
            ("br", Self::Brotli),
            ("deflate", Self::Deflate),
            ("gzip", Self::Gzip),
            ("x-gzip", Self::Gzip),
            ("zstd", Self::Zstd),
        ];
        names.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, own)| *own)
    }

    #[cfg(feature = "compress")]
    fn unpack(self, packed: &[u8], budget: &Budget) -> Result<Vec<u8>, Reason> {
        match self {
            Self::Brotli => {
                unpack(brotli_decompressor::Decompressor::new(packed, STEP), packed.len(), budget)
            }
            Self::Deflate => unpack(ZlibDecoder::new(packed), packed.len(), budget)
                .or_else(|_| unpack(DeflateDecoder::new(packed), packed.len(), budget)),
            Self::Gzip => unpack(MultiGzDecoder::new(packed), packed.len(), budget),
            Self::Zstd => unpack(ZstdFrames::new(packed, MOST_WINDOW), packed.len(), budget),
        }
    }

    #[cfg(not(feature = "compress"))]
    fn unpack(self, _: &[u8], _: &Budget) -> Result<Vec<u8>, Reason> {
        Err(Reason::NotBuilt)
    }
}

/// A body without its compression, if there is room for it.
pub(crate) fn decompressed(body: Mapped, encoding: Option<&str>, budget: &Budget) -> Result<Mapped, Reason> {
    let packed = body.text();
    let Some(compression) = Compression::of(packed, encoding) else { return Ok(body) };
    let unpacked = compression.unpack(packed, budget)?;
    let span = body.source_of(0..packed.len()).unwrap_or(0..0);
    Ok(Mapped::whole(unpacked, span))
}

/// Why a body that was sent is not decoded.
#[cfg(feature = "compress")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undecoded {
    /// Its encoding is none of gzip, deflate, br and zstd.
    Unknown,
    /// It is not in the encoding that it says.
    Damaged,
    /// It would be larger than allowed.
    TooLarge,
}

/// The most encodings that a body has on top of one another.
#[cfg(feature = "compress")]
const MOST_ENCODINGS: usize = 4;

/// A body that was sent with this `Content-Encoding`, decoded to at most `most` bytes. The header is believed: what
/// says nothing is plain. Fails if it is in another encoding, or too large.
#[cfg(feature = "compress")]
pub fn decoded(body: &[u8], encoding: &str, most: usize) -> Result<Vec<u8>, Undecoded> {
    let named = encoding.split(',').map(str::trim).filter(|name| !name.is_empty());
    let named = named.filter(|name| !name.eq_ignore_ascii_case("identity"));
    let all: Vec<Compression> =
        named.map(Compression::named).collect::<Option<_>>().ok_or(Undecoded::Unknown)?;
    if all.len() > MOST_ENCODINGS {
        return Err(Undecoded::Unknown);
    }
    // The last one was applied last.
    let unpack = |body: Vec<u8>, compression: &Compression| {
        compression.unpack(&body, &Budget::new(0, most)).map_err(|reason| match reason {
            Reason::TooLarge => Undecoded::TooLarge,
            _ => Undecoded::Damaged,
        })
    };
    all.iter().rev().try_fold(body.to_vec(), unpack)
}

/// The bytes of a reader of `packed` bytes, if there is room for them.
#[cfg(any(feature = "compress", feature = "zip"))]
pub(crate) fn unpack(mut reader: impl Read, packed: usize, budget: &Budget) -> Result<Vec<u8>, Reason> {
    if budget.room() == 0 {
        return Err(Reason::TooLarge);
    }
    let most = MODEST.max(packed.saturating_mul(MOST_RATIO));
    let mut bytes = Vec::new();
    let mut step = [0; STEP];
    loop {
        match reader.read(&mut step) {
            Ok(0) => return Ok(bytes),
            Ok(count) if bytes.len() + count > most => return Err(Reason::TooLarge),
            Ok(count) => {
                budget.unpack(count)?;
                bytes.extend_from_slice(&step[..count]);
            }
            Err(_) => return Err(Reason::Compressed),
        }
    }
}

#[cfg(all(test, feature = "compress"))]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    #[test]
    fn base64_is_read_with_lines_and_without_padding() {
        assert_eq!(from_base64(b"aGVs\n  bG8=").as_deref(), Some(&b"hello"[..]));
        assert_eq!(from_base64(b"_-8").as_deref(), Some(&[0xff, 0xef][..]));
        assert_eq!(from_base64(b"{}"), None);
        assert_eq!(from_base64(b"aa==aa"), None);
    }

    #[test]
    fn decompression_is_bounded() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&[b' '; 100_000]).unwrap();
        let packed = gzip.finish().unwrap();
        let open = |most| decompressed(Mapped::same(&packed, 3), None, &Budget::new(0, most));
        assert_eq!(open(100_000).map(|body| body.text().len()).ok(), Some(100_000));
        assert!(matches!(open(99_999), Err(Reason::TooLarge)));
        let cut = decompressed(Mapped::same(&packed[..50], 3), None, &Budget::new(0, 1 << 20));
        assert!(matches!(cut, Err(Reason::Compressed)));
    }

    #[test]
    fn the_headers_say_how_a_body_is_compressed_unless_it_is_not() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(b"{}").unwrap();
        let packed = zlib.finish().unwrap();
        let open = |body: &[u8], encoding| {
            decompressed(Mapped::same(body, 0), Some(encoding), &Budget::new(0, 100))
                .ok()
                .map(|body| body.text().to_vec())
        };
        assert_eq!(open(&packed, "deflate").as_deref(), Some(&b"{}"[..]));
        assert_eq!(open(b"{\"a\": 1}", "br").as_deref(), Some(&b"{\"a\": 1}"[..]));
    }

    #[test]
    fn a_body_is_decoded_as_its_header_says() {
        let gzip = |bytes: &[u8]| {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
            gzip.write_all(bytes).unwrap();
            gzip.finish().unwrap()
        };
        let body = b"{\"a\": 1}";
        assert_eq!(super::decoded(body, "", 9).as_deref(), Ok(&body[..]));
        assert_eq!(super::decoded(body, "identity", 9).as_deref(), Ok(&body[..]));
        assert_eq!(super::decoded(&BROTLI, "br", 100).as_deref(), Ok(&body[..]));
        assert_eq!(super::decoded(&ZSTANDARD, "ZSTD", 100).as_deref(), Ok(&body[..]));
        assert_eq!(super::decoded(&gzip(&BROTLI), "br, gzip", 100).as_deref(), Ok(&body[..]));
        // Nothing is guessed.
        assert_eq!(super::decoded(body, "gzip", 100), Err(Undecoded::Damaged));
        assert_eq!(super::decoded(body, "compress", 100), Err(Undecoded::Unknown));
        assert_eq!(super::decoded(&gzip(body), "gzip", 7), Err(Undecoded::TooLarge));
        assert_eq!(super::decoded(body, "gzip, gzip, gzip, gzip, gzip", 100), Err(Undecoded::Unknown));
    }

    /// `{"a": 1}` in Brotli.
    const BROTLI: [u8; 12] = [0x8b, 0x03, 0x80, 0x7b, 0x22, 0x61, 0x22, 0x3a, 0x20, 0x31, 0x7d, 0x03];
    /// The same in Zstandard.
    const ZSTANDARD: [u8; 17] = [
        0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, 0x41, 0x00, 0x00, 0x7b, 0x22, 0x61, 0x22, 0x3a, 0x20, 0x31, 0x7d,
    ];

    fn opened(body: &[u8], encoding: Option<&str>, most: usize) -> Result<Vec<u8>, Reason> {
        decompressed(Mapped::same(body, 0), encoding, &Budget::new(0, most)).map(|body| body.text().to_vec())
    }

    #[test]
    fn brotli_and_zstandard_are_read() {
        assert_eq!(opened(&BROTLI, Some("br"), 100).ok().as_deref(), Some(&b"{\"a\": 1}"[..]));
        // Nothing tells Brotli but its header, and Zstandard needs none.
        assert_eq!(opened(&BROTLI, None, 100).ok().as_deref(), Some(&BROTLI[..]));
        for encoding in [None, Some("zstd"), Some("br")] {
            assert_eq!(opened(&ZSTANDARD, encoding, 100).ok().as_deref(), Some(&b"{\"a\": 1}"[..]));
        }
        assert!(matches!(opened(b"\xff\xff\xff", Some("br"), 100), Err(Reason::Compressed)));
        assert!(matches!(opened(&BROTLI[..8], Some("br"), 100), Err(Reason::Compressed)));
        assert!(matches!(opened(&ZSTANDARD[..12], None, 100), Err(Reason::Compressed)));
    }

    #[test]
    fn brotli_and_zstandard_are_bounded() {
        // 100,000 blanks each.
        let brotli = [0x5b, 0x9f, 0x86, 0x81, 0x5f, 0x02, 0x24, 0x1e, 0x0b, 0x04, 0xb2, 0xfc, 0x02, 0x00];
        let zstandard = [
            0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, 0x4d, 0x00, 0x00, 0x08, 0x20, 0x01, 0x00, 0x9c, 0x86, 0x39,
            0x10, 0x02,
        ];
        for (body, encoding) in [(&brotli[..], "br"), (&zstandard[..], "zstd")] {
            assert_eq!(opened(body, Some(encoding), 100_000).map(|body| body.len()).ok(), Some(100_000));
            assert!(matches!(opened(body, Some(encoding), 99_999), Err(Reason::TooLarge)));
        }
        // A window of 16 MiB.
        let window = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 0x01, 0x00, 0x00];
        assert!(matches!(opened(&window, None, 1 << 30), Err(Reason::Compressed)));
    }
}
