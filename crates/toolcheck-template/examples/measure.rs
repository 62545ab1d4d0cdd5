//! Measures a render and an examination of a history of about 100 kB: `measure TEMPLATE...`.

use std::io::{self, Write};
use std::time::Instant;

use toolcheck_json::Document;
use toolcheck_template::{Input, Template};

fn main() -> io::Result<()> {
    let body = history();
    let document = Document::read(body.as_bytes());
    let Some(input) = Input::of_request(document.root()) else { return Ok(()) };
    let mut out = io::stdout().lock();
    writeln!(out, "{} bytes", body.len())?;
    for file in std::env::args().skip(1) {
        let Ok(template) = Template::from_file_bytes(&file, &std::fs::read(&file)?) else { continue };
        let start = Instant::now();
        let rounds = 10;
        let mut rendered = true;
        for _ in 0..rounds {
            rendered &= template.render(&input).is_ok();
        }
        let render = start.elapsed() / rounds;
        let start = Instant::now();
        let found = template.examine(&input).observations.len();
        writeln!(
            out,
            "{render:>10.2?} render, {:>10.2?} examine ({found}), {rendered}: {file}",
            start.elapsed()
        )?;
    }
    Ok(())
}

/// A conversation with calls and long results.
fn history() -> String {
    let mut messages = vec![r#"{"role": "system", "content": "Be brief."}"#.to_owned()];
    for at in 0..60 {
        let text = format!("line {at} of a log with \\\"quotes\\\" and\\nline ends; ").repeat(20);
        messages.push(format!(r#"{{"role": "user", "content": "question {at}: {}"}}"#, "why? ".repeat(30)));
        messages.push(format!(
            r#"{{"role": "assistant", "content": "", "tool_calls": [{{"id": "call{at:05}", "type": "function",
               "function": {{"name": "search", "arguments": "{{\"query\": \"q{at}\", \"limit\": 5}}"}}}}]}}"#
        ));
        messages.push(format!(r#"{{"role": "tool", "tool_call_id": "call{at:05}", "content": "{text}"}}"#));
        messages.push(format!(r#"{{"role": "assistant", "content": "answer {at}"}}"#));
    }
    format!(
        r#"{{"messages": [{}], "tools": [{{"type": "function", "function": {{"name": "search", "description": "Searches.",
           "parameters": {{"type": "object", "properties": {{"query": {{"type": "string"}}}}}}}}}}]}}"#,
        messages.join(", ")
    )
}
