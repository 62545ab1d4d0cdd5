//! Files that are made to cost much, and such that are damaged.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};
use toolcheck_json::to_base64;
use toolcheck_open::{Limits, Opened, open};

fn opened(bytes: &[u8]) -> Opened {
    open(bytes, Limits::default()).expect("it is a recording")
}

fn left_out(opened: &Opened) -> Vec<String> {
    opened.left_out.iter().map(ToString::to_string).collect()
}

const CHAT: &str = "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}";

#[test]
fn aliases_of_aliases_are_not_written_without_end() {
    let mut text = String::from(
        "interactions:\n- request: &r\n    uri: http://localhost/\n    body:\n      messages: [{role: user, content: hi}]\n      a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n",
    );
    for number in 1..9 {
        let inner = vec![format!("*a{}", number - 1); 10].join(",");
        writeln!(text, "      a{number}: &a{number} [{inner}]").unwrap();
    }
    // Each of them would cost as much as the first.
    text.push_str(&"- {request: *r}\n".repeat(200));
    let opened = opened(text.as_bytes());
    assert_eq!(left_out(&opened), ["201 bodies that are too large"]);
    assert_eq!(opened.exchanges, 0);
}

#[test]
fn a_text_with_many_names_is_not_copied_without_end() {
    let body = format!("{}{CHAT}", " ".repeat(1 << 20));
    let mut text = format!("interactions:\n- request: &r\n    uri: http://localhost/\n    body: '{body}'\n");
    text.push_str(&"- {request: *r}\n".repeat(1_000));
    let opened = opened(text.as_bytes());
    assert!(opened.exchanges > 0 && opened.exchanges < 60, "{}", opened.exchanges);
}

#[test]
fn a_map_with_many_names_is_not_searched_without_end() {
    let keys: String = (0..20_000).map(|number| format!("k{number}: 1, ")).collect();
    let mut text = format!("interactions:\n- request: &r {{{keys}}}\n");
    text.push_str(&"- {request: *r}\n".repeat(20_000));
    let opened = opened(text.as_bytes());
    assert_eq!(left_out(&opened).len(), 2, "{:?}", left_out(&opened));
}

#[test]
fn what_is_unpacked_and_dropped_counts() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&[b' '; 1 << 20]).unwrap();
    let packed = to_base64(&gzip.finish().unwrap());
    let part = format!("- request: {{uri: http://localhost/, body: !!binary \"{packed}\"}}\n");
    let text = format!("interactions:\n{}", part.repeat(8));
    let opened = open(text.as_bytes(), Limits::new(4 << 20)).expect("it is a recording");
    assert_eq!(left_out(&opened), ["4 requests without a body", "4 bodies that are too large"]);
}

/// A file of an archive: its name, its text, and the checksum that the archive has of it.
struct Member<'t> {
    name: &'t [u8],
    text: Vec<u8>,
    crc: u32,
}

impl<'t> Member<'t> {
    fn new(name: &'t [u8], text: impl Into<Vec<u8>>) -> Self {
        let text = text.into();
        let mut crc = Crc::new();
        crc.update(&text);
        Self { name, crc: crc.sum(), text }
    }
}

/// A ZIP archive whose directory has these members, by their numbers, and where its entries start.
fn archive(members: &[Member<'_>], directory: &[usize]) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut central, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    let heads: Vec<(u32, Vec<u8>)> = members
        .iter()
        .map(|member| {
            let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
            packed.write_all(&member.text).unwrap();
            let packed = packed.finish().unwrap();
            let mut head = vec![0, 0, 8, 0, 0, 0, 0, 0];
            head.extend(member.crc.to_le_bytes());
            head.extend((packed.len() as u32).to_le_bytes());
            head.extend((member.text.len() as u32).to_le_bytes());
            head.extend((member.name.len() as u16).to_le_bytes());
            head.extend([0, 0]);
            let at = bytes.len() as u32;
            bytes.extend(b"PK\x03\x04\x14\x00");
            bytes.extend(&head);
            bytes.extend(member.name);
            bytes.extend(packed);
            (at, head)
        })
        .collect();
    for number in directory {
        let (at, head) = &heads[*number];
        starts.push(bytes.len() + central.len());
        central.extend(b"PK\x01\x02\x14\x00\x14\x00");
        central.extend(head);
        central.extend([0; 10]);
        central.extend(at.to_le_bytes());
        central.extend(members[*number].name);
    }
    let (start, count) = (bytes.len() as u32, directory.len() as u16);
    bytes.extend(&central);
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    bytes.extend((central.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    (bytes, starts)
}

fn samples() -> Vec<Member<'static>> {
    vec![Member::new(b"samples/1.json", CHAT), Member::new(b"samples/2.json", CHAT)]
}

fn unread(opened: &Opened) -> Option<&str> {
    opened.unread.as_ref().map(|unread| &*unread.what)
}

#[test]
fn an_archive_is_read() {
    let opened = opened(&archive(&samples(), &[0, 1]).0);
    assert_eq!((opened.exchanges, unread(&opened)), (2, None));
}

#[test]
fn a_member_is_unpacked_once_whatever_the_directory_says() {
    let opened = opened(&archive(&samples(), &[0, 0, 1, 0]).0);
    assert_eq!((opened.exchanges, unread(&opened)), (2, Some("2 samples of this archive can't be read")));
}

#[test]
fn a_member_that_is_too_large_leaves_the_room_to_the_others() {
    let large = || Member::new(b"samples/1.json", vec![b' '; 300_000]);
    let members = [large(), large(), Member::new(b"samples/2.json", CHAT)];
    let (mut bytes, starts) = archive(&members, &[0, 1, 2]);
    let read = |bytes: &[u8]| {
        let opened = open(bytes, Limits::new(400_000)).expect("it is an archive");
        (opened.exchanges, unread(&opened).unwrap_or_default().to_owned())
    };
    let why = "a sample of this archive was not read: unpacked, the archive has more than 400000 bytes";
    assert_eq!(read(&bytes), (2, why.to_owned()));
    // One that lies about its size is read no further than that.
    bytes[starts[1] + 24..starts[1] + 28].copy_from_slice(&9_u32.to_le_bytes());
    assert_eq!(read(&bytes), (2, "a sample of this archive can't be read".to_owned()));
}

#[test]
fn a_directory_that_is_damaged_is_said_to_be() {
    let (mut bytes, starts) = archive(&samples(), &[0, 1]);
    bytes[starts[1]] = b'Q';
    let opened = opened(&bytes);
    let what = "the directory of this archive is damaged: it may hold more samples";
    assert_eq!((opened.exchanges, unread(&opened)), (1, Some(what)));
}

#[test]
fn a_sample_that_is_not_what_the_archive_says_is_not_read() {
    let mut members = samples();
    members[1].crc ^= 1;
    let opened = opened(&archive(&members, &[0, 1]).0);
    assert_eq!((opened.exchanges, unread(&opened)), (1, Some("a sample of this archive can't be read")));
    assert_eq!(left_out(&opened), ["1 sample that can't be read"]);
}

#[test]
fn a_sample_in_utf_16_is_lost_alone_and_one_with_a_byte_order_mark_is_read() {
    let utf_16: Vec<u8> = "\u{FEFF}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let members = [
        Member::new(b"samples/1.json", format!("\u{FEFF}{CHAT}")),
        Member::new(b"samples/2.json", utf_16),
        Member::new(b"samples/\xff.json", CHAT),
    ];
    let opened = opened(&archive(&members, &[0, 1, 2]).0);
    assert_eq!((opened.exchanges, unread(&opened)), (2, Some("a sample of this archive can't be read")));
    assert_eq!(std::str::from_utf8(&opened.text).unwrap().lines().collect::<Vec<_>>(), [CHAT, CHAT]);
}

#[test]
fn a_byte_order_mark_hides_no_recording() {
    let yaml =
        format!("interactions:\n- request:\n    uri: http://localhost/\n    body: '{CHAT}'\nversion: 1\n");
    let json = format!("{{\"interactions\": [{{\"request\": {{\"uri\": \"\", \"body\": {CHAT}}}}}]}}");
    for text in [yaml, json] {
        let opened = opened(format!("\u{FEFF}{text}").as_bytes());
        assert_eq!((opened.id, opened.exchanges, opened.broken_at), ("vcr", 1, None), "{text}");
    }
}
