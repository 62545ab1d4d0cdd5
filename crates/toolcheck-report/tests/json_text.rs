//! JSON as it is printed.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use toolcheck_report::outputs::{write_json, write_json_line, write_json_text};

fn written(write: impl Fn(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

proptest! {
    #[test]
    fn a_value_is_written_as_its_text_is(key: String, text in ".*|(##?[a-z]{0,3}\\[|\u{202e}|\\n|a){0,9}") {
        let value = json!({key: [text, 1, {"##[": "##vso[x"}, [], {}, null]});
        let pretty = written(|out| write_json(&value, out));
        let as_text = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(&pretty, &written(|out| write_json_text(&as_text, out)));
        let line = written(|out| write_json_line(&value, out));
        let as_text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(&line, &written(|out| write_json_text(&as_text, out)));
        for text in [pretty, line] {
            let is_absent = |hidden: &str| !text.contains(hidden);
            prop_assert!(["##[", "##vso[", "\u{202e}"].into_iter().all(is_absent), "{}", text);
            prop_assert_eq!(&serde_json::from_str::<Json>(&text).unwrap(), &value);
        }
    }
}
