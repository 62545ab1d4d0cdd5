//! Data sets in Parquet, which a build with the feature `parquet` reads.
//!
//! `cargo test --package toolcheck-open --features parquet --test parquet`

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_open::{Limits, Opened, open};

/// The values of a column, with their definition and repetition levels.
enum Column {
    Texts(Vec<&'static str>, Vec<i16>, Vec<i16>),
    Integers(Vec<i64>, Vec<i16>),
    Doubles(Vec<f64>, Vec<i16>, Vec<i16>),
}

fn file(schema: &str, columns: &[Column], compression: Compression) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for column in columns {
        let mut writer = group.next_column().unwrap().unwrap();
        match column {
            Column::Texts(values, definitions, repetitions) => {
                let values: Vec<ByteArray> = values.iter().map(|text| ByteArray::from(*text)).collect();
                let repetitions = Some(&repetitions[..]).filter(|levels| !levels.is_empty());
                let typed = writer.typed::<ByteArrayType>();
                typed.write_batch(&values, Some(definitions), repetitions).unwrap();
            }
            Column::Integers(values, definitions) => {
                writer.typed::<Int64Type>().write_batch(values, Some(definitions), None).unwrap();
            }
            Column::Doubles(values, definitions, repetitions) => {
                let typed = writer.typed::<DoubleType>();
                typed.write_batch(values, Some(definitions), Some(repetitions)).unwrap();
            }
        }
        writer.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

fn rows(opened: &Opened) -> Vec<Json> {
    let text = std::str::from_utf8(&opened.text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const TEXTS: &str = "message rows { optional binary messages (UTF8); optional binary system (UTF8); optional int64 id; optional binary picture; }";

fn texts(compression: Compression) -> Vec<u8> {
    let messages = Column::Texts(
        vec![r#"[{"role": "user", "content": "a\n"}]"#, "[{'role': 'user'}]"],
        vec![1, 1, 0],
        vec![],
    );
    let system = Column::Texts(vec!["Be brief."], vec![0, 1, 0], vec![]);
    let id = Column::Integers(vec![7, 8, 9], vec![1, 1, 1]);
    let picture = Column::Texts(vec!["{}"], vec![1, 0, 0], vec![]);
    file(TEXTS, &[messages, system, id, picture], compression)
}

#[test]
fn texts_with_json_are_read_as_that() {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
        zstd,
    ] {
        let opened = open(&texts(compression), Limits::default()).unwrap();
        assert_eq!(
            (opened.id, opened.exchanges, opened.broken_at, opened.is_table),
            ("parquet", 3, None, true)
        );
        // What is not JSON stays a text, so that it is reported.
        let wanted = [
            json!({"messages": [{"role": "user", "content": "a\n"}]}),
            json!({"messages": "[{'role': 'user'}]", "system": "Be brief."}),
            json!({}),
        ];
        assert_eq!(rows(&opened), wanted);
        let left_out: Vec<String> = opened.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(left_out, ["2 columns without texts"]);
    }
}

#[test]
fn a_place_is_a_row_and_a_column() {
    let opened = open(&texts(Compression::SNAPPY), Limits::default()).unwrap();
    let text = std::str::from_utf8(&opened.text).unwrap();
    let at = text.find("Be brief.").unwrap();
    let place = opened.origins.locate(at..at + 9).unwrap();
    assert_eq!((&*place.origin.label, place.pointer), ("row 1, column system", "/system"));
    assert_eq!(&opened.source(b"")[place.source.clone()], b"Be brief.");
    // Each column of a row starts at line 1.
    let positions = opened.locate(b"", &[place.source.start]);
    assert_eq!((positions[0].line, positions[0].column), (1, 2));
}

#[test]
fn lists_of_structs_are_read_without_their_padding() {
    let schema = "message rows { optional group messages (LIST) { repeated group list { optional group element { optional binary role (UTF8); optional group tool_calls (LIST) { repeated group list { optional group element { optional binary name (UTF8); } } } optional double weight; } } } }";
    // Row 0 has two messages, of which the second calls two tools; row 1 has an empty list, and row 2 none.
    let role = Column::Texts(vec!["user", "assistant"], vec![4, 4, 1, 0], vec![0, 1, 0, 0]);
    let name = Column::Texts(vec!["tide", "ebb"], vec![3, 7, 7, 1, 0], vec![0, 1, 2, 0, 0]);
    // One that is not a number of JSON.
    let weight = Column::Doubles(vec![f64::NAN, 0.5], vec![4, 4, 1, 0], vec![0, 1, 0, 0]);
    let bytes = file(schema, &[role, name, weight], Compression::UNCOMPRESSED);
    let opened = open(&bytes, Limits::default()).unwrap();
    let wanted = [
        json!({"messages": [{"role": "user", "weight": null}, {"role": "assistant", "tool_calls": [{"name": "tide"}, {"name": "ebb"}], "weight": 0.5}]}),
        json!({"messages": []}),
        json!({}),
    ];
    assert_eq!(rows(&opened), wanted);
    let text = std::str::from_utf8(&opened.text).unwrap();
    let at = text.find("ebb").unwrap();
    let place = opened.origins.locate(at..at + 3).unwrap();
    assert_eq!((&*place.origin.label, place.pointer), ("row 0, column messages", "/messages"));
}

#[test]
fn what_has_no_room_is_no_secret() {
    let bytes = texts(Compression::SNAPPY);
    let opened = open(&bytes, Limits::new(60)).unwrap();
    assert!(opened.broken_at.is_some());
    assert!(opened.exchanges < 3 && rows(&opened).len() == opened.exchanges);
}

#[test]
fn a_file_that_is_cut_off_is_broken() {
    let bytes = texts(Compression::SNAPPY);
    for end in [4, 20, bytes.len() / 2, bytes.len() - 1] {
        let opened = open(&bytes[..end], Limits::default()).unwrap();
        assert_eq!((opened.exchanges, opened.broken_at), (0, Some(0)));
    }
}

proptest! {
    #[test]
    fn damaged_files_are_opened_without_panics(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = texts(Compression::SNAPPY);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(opened) = open(&bytes, Limits::new(1 << 20)) {
            prop_assert_eq!(rows(&opened).len(), opened.exchanges);
        }
    }
}
