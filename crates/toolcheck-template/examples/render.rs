//! Renders requests with templates, for the comparison with Jinja.
//!
//! Reads one JSON object per line from the standard input: `{"template": file, "request": file or object, ...}`. Writes one
//! line for each: `{"prompt": ..., "generated": [...]}` or `{"refusal": ..., "kind": ..., "line": ...}`.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};
use toolcheck_json::Document;
use toolcheck_template::{Arguments, Input, Nulls, Preparation, Template};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let job = Document::read(line.as_bytes());
        let answer = answer(&job).unwrap_or_else(|error| json!({"error": error}));
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

fn answer(job: &Document<'_>) -> Result<Value, String> {
    let job = job.root();
    let file = job.get_str("template").unwrap_or_default();
    let source = job.get_str("source");
    let template = match source {
        Some(source) => Template::from_text(&source, &[]),
        None => {
            let bytes = std::fs::read(&*file).map_err(|error| error.to_string())?;
            Template::from_file_bytes(&file, &bytes).map_err(|error| error.to_string())?
        }
    };
    let request = job.get("request").ok_or("no request")?;
    let Some(mut input) = Input::of_request(request) else { return Err("no messages".to_owned()) };
    input.variables = job.get("variables");
    input.arguments = if job.is("arguments", "parsed") { Arguments::Parsed } else { Arguments::AsGiven };
    if job.is("nulls", "dropped") {
        input.nulls = Nulls::Dropped;
    }
    input.preparation = match job.get_str("server").as_deref() {
        Some("vllm") => Preparation::Vllm,
        Some("llama-cpp") => Preparation::LlamaCpp,
        _ => Preparation::AsGiven,
    };
    if let Some(add) = job.get("add_generation_prompt").and_then(|value| value.as_bool()) {
        input.add_generation_prompt = add;
    }
    input.now = Some(toolcheck_template::Now::from_unix(1_764_163_200));
    if job.get("examine").and_then(|value| value.as_bool()) == Some(true) {
        return Ok(examined(&template, &input));
    }
    Ok(match template.render(&input) {
        Ok(prompt) => {
            let generated: Vec<_> = prompt.generated.iter().map(|range| [range.start, range.end]).collect();
            json!({"prompt": prompt.text, "generated": generated})
        }
        Err(refusal) => {
            json!({"refusal": refusal.message, "kind": format!("{:?}", refusal.kind), "line": refusal.line})
        }
    })
}

fn examined(template: &Template, input: &Input<'_>) -> Value {
    let examination = template.examine(input);
    let observations: Vec<_> = examination
        .observations
        .iter()
        .map(|found| {
            json!({
                "kind": format!("{:?}", found.kind),
                "part": format!("{:?}", found.part),
                "pointer": found.pointer,
                "inner": found.inner,
                "by_design": found.by_design,
                "note": found.note,
            })
        })
        .collect();
    json!({"observations": observations, "refusal": examination.refusal.map(|refusal| refusal.message)})
}
