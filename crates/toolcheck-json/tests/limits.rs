//! What is too deep, too long or has too many faults is not read.

use toolcheck_json::{Arena, DEEPEST, Document, MOST_FAULTS, SyntaxErrorKind, Value};

fn kinds(document: &Document<'_>) -> Vec<SyntaxErrorKind> {
    document.faults().iter().map(|fault| fault.kind).collect()
}

#[test]
fn what_is_too_deep_is_not_read() {
    for open in ["[", "{\"a\":"] {
        let (fine, deep) = (open.repeat(DEEPEST), open.repeat(DEEPEST * 3));
        let (fine, deep) = (Document::read(fine.as_bytes()), Document::read(deep.as_bytes()));
        assert!(!kinds(&fine).contains(&SyntaxErrorKind::TooDeep), "{open}");
        assert_eq!(kinds(&deep), [SyntaxErrorKind::TooDeep], "{open}");
        let span = deep.faults()[0].span;
        assert_eq!((span.start as usize, span.range().len()), (open.len() * DEEPEST, 1));
        assert!(deep.value_count() <= DEEPEST + 1);
    }
}

#[test]
fn too_many_values_are_not_read() {
    for element in ["0", "[]", "{\"a\":1}", "[[0]]", "\"a\"", "{\"a\":{\"b\":[1]}}"] {
        let text = format!("[{}]", vec![element; 2_000].join(","));
        for most in [1, 2, 3, 255, 256, 257, 999, 1_000] {
            let document = Document::read_in(text.as_bytes(), Arena::of_most(most));
            assert_eq!(kinds(&document), [SyntaxErrorKind::TooManyValues], "{most} {element}");
            assert_eq!(document.value_count(), most);
            let inside = document.root().children().map(Value::count).sum::<usize>();
            assert_eq!(inside + 1, most, "{most} {element}");
        }
    }
}

#[test]
fn a_text_that_is_not_read_on_says_so_even_after_many_faults() {
    let text = format!("[{}{}", "nul,".repeat(MOST_FAULTS + 9), "[".repeat(DEEPEST + 9));
    assert!(kinds(&Document::read(text.as_bytes())).contains(&SyntaxErrorKind::TooDeep));
}

#[test]
fn halves_of_characters_take_no_room_of_other_faults() {
    let text = format!("[\"{}\", nul]", "\\ud800".repeat(MOST_FAULTS + 9));
    let document = Document::read(text.as_bytes());
    assert_eq!((document.faults().len(), document.faults_left_out()), (MOST_FAULTS + 10, 0));
}

#[test]
fn the_first_faults_are_kept_and_the_others_counted() {
    for more in [0, 1, 5] {
        let text = format!("[{}1]", "nul,".repeat(MOST_FAULTS + more));
        let document = Document::read(text.as_bytes());
        assert_eq!((document.faults().len(), document.faults_left_out()), (MOST_FAULTS, more));
    }
}
