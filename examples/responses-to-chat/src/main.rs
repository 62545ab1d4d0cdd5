//! The adapter as a program for `toolcheck conform --adapter`: a line of JSON in, a line of JSON out.
//!
//! With `--item-by-item` it is the first version, with its bug.

use std::io::{self, BufRead, Write};

use responses_to_chat::{convert, convert_item_by_item};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let is_first_version = std::env::args().any(|argument| argument == "--item-by-item");
    let convert = if is_first_version { convert_item_by_item } else { convert };
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        writeln!(output, "{}", answer(&line?, convert))?;
        output.flush()?;
    }
    Ok(())
}

fn answer(line: &str, convert: impl Fn(&Value) -> Result<Value, String>) -> Value {
    let case: Value = match serde_json::from_str(line) {
        Ok(case) => case,
        Err(error) => return json!({"error": error.to_string()}),
    };
    if case["kind"] != "request" {
        return json!({"skip": "only requests are converted"});
    }
    match convert(&case["body"]) {
        Ok(body) => json!({"body": body}),
        Err(why) => json!({"error": why}),
    }
}
