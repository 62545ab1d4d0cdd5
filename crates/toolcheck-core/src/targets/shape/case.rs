//! Keys in the two ways to write them: `toolConfig` and `tool_config`.

use toolcheck_json::Value;

/// A key of mixed case in snake case.
pub(super) fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for character in key.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

/// The member with a key, which some formats write in snake case too.
pub(super) fn member<'d, 's>(value: Value<'d, 's>, key: &str) -> Option<Value<'d, 's>> {
    value.get(key).or_else(|| {
        let capitals = key.bytes().filter(u8::is_ascii_uppercase).count();
        let is_snake = |own: &[u8]| own.len() == key.len() + capitals && is_in_snake_case(own, key);
        let is_own = |member: &Value<'d, 's>| match member.plain_key() {
            Some(own) => is_snake(own),
            None => member.key_text().is_some_and(|own| is_snake(own.as_bytes())),
        };
        value.members().filter(|_| capitals > 0).filter(is_own).last()
    })
}

/// Whether a text is a key in snake case.
fn is_in_snake_case(snake: &[u8], key: &str) -> bool {
    let of_key = key.bytes().flat_map(|byte| {
        let before = byte.is_ascii_uppercase().then_some(b'_');
        before.into_iter().chain([byte.to_ascii_lowercase()])
    });
    of_key.eq(snake.iter().copied())
}

#[cfg(test)]
mod tests {
    use toolcheck_json::Document;

    use super::*;

    #[test]
    fn a_key_is_found_in_both_ways_to_write_it() {
        let document =
            Document::read(br#"{"a_b": 1, "toolConfig": 2, "x_\u0079_z": 3, "tool_config": 4, "q": 5}"#);
        let found = |key: &str| member(document.root(), key).map(|value| value.raw());
        let in_turn = |key: &str| {
            let root = document.root();
            root.get(key).or_else(|| root.get(&snake_case(key))).map(|value| value.raw())
        };
        for key in ["aB", "a_b", "toolConfig", "xYZ", "q", "Q", "none", "noneAtAll", ""] {
            assert_eq!(found(key), in_turn(key), "{key}");
        }
        assert_eq!(found("aB"), Some(&b"1"[..]));
        assert_eq!(found("xYZ"), Some(&b"3"[..]));
    }
}
