//! How a file is divided into its JSON texts.

use toolcheck_json::{Layout, Records};

fn records(text: &str) -> (Layout, Vec<(usize, &str, u64, u64)>) {
    let records = Records::new(text.as_bytes());
    let layout = records.layout();
    let found = records.map(|record| {
        let text = std::str::from_utf8(record.bytes).unwrap();
        (record.index, text, record.position.line, record.position.column)
    });
    (layout, found.collect())
}

#[test]
fn one_text_over_many_lines() {
    let text = "{\n  \"a\": 1\n}\n";
    assert_eq!(records(text), (Layout::Single, vec![(0, text, 1, 1)]));
}

#[test]
fn lines_may_be_blank_end_in_crlf_or_lack_the_final_newline() {
    let (layout, found) = records("{\"a\":1}\r\n\r\n\n[2]\n{\"c\":3}");
    assert_eq!(layout, Layout::Lines);
    assert_eq!(found, [(0, "{\"a\":1}\r", 1, 1), (1, "[2]", 4, 1), (2, "{\"c\":3}", 5, 1)]);
}

#[test]
fn the_first_blank_line_is_known_after_the_next_record() {
    let mut records = Records::of_lines(b"[1]\n[2]\n \r\n\n[3]\n\n");
    let blank = |records: &Records<'_>| {
        records.first_blank_line().map(|line| (line.index, line.start, line.position.line, line.bytes.len()))
    };
    assert_eq!((records.nth(1).map(|record| record.index), blank(&records)), (Some(1), None));
    assert_eq!(records.next().map(|record| record.index), Some(2));
    assert_eq!(blank(&records), Some((2, 8, 3, 2)));
    assert_eq!((records.next(), blank(&records)), (None, Some((2, 8, 3, 2))));
    assert_eq!(Records::of_lines(b"[1]\n[2]\n").by_ref().map(|_| ()).count(), 2);
}

#[test]
fn one_broken_line_among_good_ones() {
    let (layout, found) = records("{\"a\":\n{\"b\":1}\n{\"c\":1}\n");
    assert_eq!((layout, found.len()), (Layout::Lines, 3));
    let (layout, found) = records("{\"a\":1}\n{\"b\":\n{\"c\":1}\n");
    assert_eq!((layout, found.len()), (Layout::Lines, 3));
}

#[test]
fn one_text_after_the_other() {
    let (layout, found) = records("{\n\"a\":1\n} {\n\"b\":2\n}\n");
    assert_eq!(layout, Layout::Concatenated);
    assert_eq!(found[1], (1, "{\n\"b\":2\n}", 3, 3));
}

#[test]
fn the_texts_of_a_sequence_begin_with_a_separator() {
    let (layout, found) =
        records("\u{1e}{\"a\": 1}\n\u{1e}{\n\"b\": 2\n}\n\u{1e}{\"c\": [3\u{1e}{\"d\": 4}\n");
    assert_eq!(layout, Layout::Concatenated);
    let texts = ["{\"a\": 1}", "{\n\"b\": 2\n}", "{\"c\": [3", "{\"d\": 4}"];
    assert_eq!(found.iter().map(|record| record.1).collect::<Vec<_>>(), texts);
    assert_eq!(records("\u{1e}{\"a\": 1}").1, [(0, "{\"a\": 1}", 1, 2)]);
}

#[test]
fn a_truncated_text_is_one_text() {
    assert_eq!(records("{\n\"a\": [\n1,\n").0, Layout::Single);
    assert_eq!(records("").0, Layout::Single);
}
