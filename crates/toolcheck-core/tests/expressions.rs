//! Errors are searched for the literal characters of a text before its expression is compiled.

use toolcheck_core::recognise::texts;

use crate::expression::{literals, pattern};

#[test]
fn the_literals_of_a_text_are_in_its_pattern() {
    let texts = texts().map(|(.., text)| text);
    let mut count = 0;
    for text in texts.chain(["a {name} b. {id}.", "{} {no.", "'{count}' '. x", "{index}."]) {
        let (literals, pattern) = (literals(text), pattern(text, "[^}]*"));
        for word in literals.split(' ') {
            assert!(pattern.contains(&regex::escape(word)), "{text}: {word}");
        }
        count += 1;
    }
    assert!(count > 900, "{count}");
}
