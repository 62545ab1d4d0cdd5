//! A packed text reads as the text does, tables are laid over each other, and damaged bytes are an error.

use proptest::prelude::*;
use toolcheck_toml::{Item, Table, from_packed, from_str, overlay, pack};

const TEXT: &str = "id = 'one'\nratio = 1.5\ncount = -3\nlarge = 18446744073709551615\nis-on = true\n\
    names = ['a', 'b']\n[limits]\nlow = 1\ninner = { deep = 'x', empty = {} }\n[[entry]]\nrule = 'é'\n[[entry]]\n";

fn value(text: &str) -> toml::Value {
    let mut value: toml::Value = from_str(&text.replace("large = 18446744073709551615\n", "")).unwrap();
    if let Some(table) = value.as_table_mut() {
        table.remove("large");
    }
    value
}

fn unpacked(packed: &str) -> toml::Value {
    from_packed(packed).unwrap()
}

#[test]
fn a_packed_text_reads_as_the_text_does() {
    let text = TEXT.replace("large = 18446744073709551615\n", "");
    assert_eq!(unpacked(&pack(&text).unwrap()), value(&text));
    #[derive(serde::Deserialize)]
    struct Large {
        large: u64,
    }
    let large: Large = from_packed(&pack(TEXT).unwrap()).unwrap();
    assert_eq!(large.large, u64::MAX);
}

#[test]
fn a_packed_table_says_what_it_has() {
    let packed = pack(TEXT).unwrap();
    let table = Table::of(&packed).unwrap();
    assert_eq!(["count", "id", "none"].map(|key| table.text(key)), [None, Some("one"), None]);
    let tables = table.members().filter_map(|(key, value)| matches!(value, Item::Table(_)).then_some(key));
    assert_eq!(tables.collect::<Vec<_>>(), ["limits"]);
    assert!(Table::of("").is_none() && Table::of(&pack("").unwrap()).unwrap().members().next().is_none());
}

#[test]
fn a_table_is_laid_over_another() {
    let own = pack("a = 1\n[t]\nx = 'own'\n[t.u]\nk = 1\n").unwrap();
    let other = pack("a = 2\nb = 3\nsecret = 4\n[t]\nx = 'other'\ny = 'other'\nsecret = 5\n[t.u]\nk = 2\nl = 2\n[v]\nw = 1\n").unwrap();
    let both = unpacked(&overlay(&own, &other, &["secret"]).unwrap());
    // Only the keys at the top are left out.
    let expected = "a = 1\nb = 3\n[t]\nx = 'own'\ny = 'other'\nsecret = 5\n[t.u]\nk = 1\nl = 2\n[v]\nw = 1\n";
    assert_eq!(both, value(expected));
}

proptest! {
    #[test]
    fn what_is_damaged_is_an_error(at in 0..200_usize, other: char, cut in 0..200_usize) {
        let packed = pack(&TEXT.replace("large = 18446744073709551615\n", "")).unwrap();
        let mut changed: Vec<char> = packed.chars().collect();
        let at = at % changed.len();
        changed[at] = other;
        changed.truncate(changed.len().min(cut.max(1)));
        let changed = String::from_iter(changed);
        let read: Result<toml::Value, _> = from_packed(&changed);
        let _ = (overlay(&packed, &changed, &[]), overlay(&changed, &packed, &[]), Table::of(&changed).map(|table| table.members().count()));
        prop_assert!(read.is_ok() || !read.unwrap_err().message().is_empty());
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "([\\x00-\\x7f]|é){0,60}") {
        let read: Result<toml::Value, _> = from_packed(&text);
        prop_assert!(read.is_ok() || !read.unwrap_err().message().is_empty());
    }

    #[test]
    fn every_number_is_packed(signed: i64, unsigned: u64, ratio in proptest::num::f64::NORMAL) {
        #[derive(serde::Deserialize)]
        struct Numbers {
            signed: i64,
            unsigned: u64,
            ratio: f64,
        }
        let text = format!("signed = {signed}\nunsigned = {unsigned}\nratio = {ratio:e}\n");
        let read: Numbers = from_packed(&pack(&text).unwrap()).unwrap();
        prop_assert_eq!((read.signed, read.unsigned, read.ratio), (signed, unsigned, ratio));
    }
}
