//! Values, keys, strings and records say what they are.

use toolcheck_json::{Decoded, Document, Layout, Records};

#[test]
fn a_value_is_of_one_kind() {
    let document = Document::read(br#"[null, true, 1, "a", [2], {"b": 3}]"#);
    let kinds: Vec<_> = document
        .root()
        .children()
        .map(|value| (value.is_null(), value.is_array(), value.is_object(), value.as_str().is_some()))
        .collect();
    let of = |number: usize| (number == 0, number == 4, number == 5, number == 3);
    assert_eq!(kinds, (0..6).map(of).collect::<Vec<_>>());
}

#[test]
fn a_key_without_escapes_is_plain() {
    let document = Document::read(br#"{"ab": 1, "": 2, "a\u0062": 3}"#);
    let keys: Vec<_> = document.root().children().map(|value| value.plain_key()).collect();
    assert_eq!(keys, [Some(&b"ab"[..]), Some(b""), None]);
    assert_eq!(document.root().plain_key(), None);
}

#[test]
fn a_text_of_white_space_is_blank() {
    let document = Document::read(br#"["", " ", "\n\t", "\u3000", "a", "\u0061", " a"]"#);
    let blank: Vec<_> =
        document.root().children().filter_map(|value| Some(value.as_json_str()?.is_blank())).collect();
    assert_eq!(blank, [true, true, true, true, false, false, false]);
}

#[test]
fn the_text_of_a_string_is_inside_its_quotes() {
    for (text, inner) in [(&br#"  "tide""#[..], 2..4), (br#"  "t\u0069de""#, 2..4)] {
        let document = Document::read(text);
        let string = document.root().as_json_str().expect("it is a string");
        let decoded = Decoded::new(string, 2);
        assert_eq!(decoded.text(), "tide");
        let span = decoded.span_of(inner);
        assert_eq!(&text[span.start as usize..span.end as usize], b"de");
        // Beyond the text is the closing quote.
        let end = decoded.span_of(4..9);
        assert_eq!((end.start, end.end), (text.len() as u32 - 1, text.len() as u32 - 1));
    }
}

#[test]
fn lines_are_counted_with_the_last_record() {
    let mut records = Records::of_lines(b"[1]\n\n[2]\n[3]");
    let passed: Vec<_> =
        std::iter::from_fn(|| records.next().map(|record| (record.position.line, records.lines_passed())))
            .collect();
    assert_eq!(passed, [(1, 1), (3, 3), (4, 4)]);
}

#[test]
fn most_of_eight_more_lines_decide_the_layout() {
    let text = |broken: usize| "{\"a\":\n".repeat(1 + broken) + &"{\"b\": 1}\n".repeat(9);
    assert_eq!(Records::new(text(3).as_bytes()).layout(), Layout::Lines);
    assert_ne!(Records::new(text(4).as_bytes()).layout(), Layout::Lines);
}

#[test]
fn values_are_equal_if_they_are_the_same_one() {
    let (one, other) = (Document::read(b"[1, 1]"), Document::read(b"[1, 1]"));
    let (first, second) = (one.root().elements().next(), one.root().elements().nth(1));
    assert_eq!(first, one.root().elements().next());
    assert_ne!(first, second);
    assert_ne!(first, other.root().elements().next());
}

#[test]
fn numbers_and_strings_have_their_contents() {
    let document = Document::read(br#"[7, -7, "", "a"]"#);
    let numbers: Vec<_> = document.root().elements().map(|value| value.as_u64()).collect();
    assert_eq!(numbers, [Some(7), None, None, None]);
    let strings = document.root().elements().filter_map(|value| value.as_json_str());
    assert_eq!(strings.map(|string| string.is_empty()).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn the_text_of_a_key_is_inside_its_quotes() {
    for bytes in
        [&br#"{"ab" : 1, "" : 2, "a\u0062" : 3}"#[..], b"{\"ab\" : 1, \"\" : 2, \"a\\u0062\" : \"\xff\"}"]
    {
        let document = Document::read(bytes);
        let keys: Vec<_> = document.root().members().filter_map(|value| value.key_text()).collect();
        assert_eq!(keys, ["ab", "", "ab"]);
    }
}

#[test]
fn an_escape_may_be_anywhere_in_a_long_string() {
    for before in 0..200 {
        for (escape, decoded) in [("\\\"", "\""), ("\\\\", "\\"), ("\\\\\\\"", "\\\""), ("\\u0041", "A")] {
            let (start, end) = ("a".repeat(before), "b".repeat(150));
            let text = format!("[\"{start}{escape}{end}\", 1]");
            let document = Document::read(text.as_bytes());
            assert!(document.faults().is_empty(), "{text}");
            let values: Vec<_> = document.root().elements().collect();
            assert_eq!(values.len(), 2, "{text}");
            assert_eq!(values[0].as_str().as_deref(), Some(&*format!("{start}{decoded}{end}")));
        }
    }
}

#[test]
fn a_key_with_a_change_at_any_place_is_another() {
    let holds = |key: &[u8], asked: &[u8]| {
        let text = [&b"{\""[..], key, b"\": 1}"].concat();
        let document = Document::read(&text);
        let asked = std::str::from_utf8(asked).unwrap();
        let member = document.root().get(asked);
        assert_eq!(member.is_some(), document.root().members().any(|member| member.has_key(asked)));
        member.is_some()
    };
    assert!(holds(b"", b""));
    for length in 1..40 {
        let key = vec![b'k'; length];
        assert!(holds(&key, &key.clone()), "{length}");
        assert!(!holds(&key, &key[1..]), "{length}");
        for at in 0..length {
            let mut other = key.clone();
            other[at] = b'x';
            assert!(!holds(&key, &other), "{length} {at}");
        }
    }
}
