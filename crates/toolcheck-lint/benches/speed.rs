//! Reading and linting against `serde_json::Value` on the same bytes, in the same run.
//!
//! `cargo xtask bench` runs this and prints the ratios. The inputs are made here; where the trajectories of tau-bench
//! lie beside the checkout, they are measured too.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot read its input has nothing to measure")]
#![allow(missing_docs, reason = "criterion's macros make public functions")]

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value as Json, json};
use toolcheck_core::formats;
use toolcheck_json::{Document, Records};
use toolcheck_lint::{Options, lint};

/// An OpenAI-shaped conversation with this many calls, two a turn.
fn conversation(calls: usize) -> Json {
    let mut messages = vec![json!({"role": "system", "content": "You help customers of an airline."})];
    for turn in 0..calls / 2 {
        let call = |number: usize| {
            let arguments = format!("{{\"reservation\": \"R{number}\", \"note\": \"window seat, no meal\"}}");
            json!({"id": format!("call_{number:08}"), "type": "function",
                   "function": {"name": "look_up_reservation", "arguments": arguments}})
        };
        let result = |number: usize| {
            let content =
                format!("Reservation R{number}: two passengers, economy, paid by card.\nStatus: open.");
            json!({"role": "tool", "tool_call_id": format!("call_{number:08}"), "content": content})
        };
        messages.push(json!({"role": "user", "content": format!("What about my bookings of day {turn}?")}));
        messages.push(
            json!({"role": "assistant", "content": null, "tool_calls": [call(2 * turn), call(2 * turn + 1)]}),
        );
        messages.extend([result(2 * turn), result(2 * turn + 1)]);
        messages.push(
            json!({"role": "assistant", "content": "Both bookings are open and paid. Shall I change them?"}),
        );
    }
    messages.push(json!({"role": "user", "content": "Thank you."}));
    json!({"model": "gpt-4o", "messages": messages})
}

/// JSON Lines of conversations, a few megabytes.
fn lines() -> Vec<u8> {
    let line = conversation(40).to_string();
    std::iter::repeat_n(line.as_str(), 400).collect::<Vec<_>>().join("\n").into_bytes()
}

/// The trajectories of tau-bench as JSON Lines, where they are there.
fn tau_bench() -> Option<Vec<u8>> {
    let path = "../../../shared/data/transcripts/tau-bench/historical_trajectories_gpt-4o-airline.json";
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()?;
    let trajectories: Vec<Json> = serde_json::from_slice(&bytes).unwrap();
    let lines: Vec<String> =
        trajectories.iter().map(|row| json!({"messages": row["traj"]}).to_string()).collect();
    Some(lines.join("\n").into_bytes())
}

fn whole_files(criterion: &mut Criterion) {
    let options = Options { format: formats::find("openai-chat"), ..Options::default() };
    let mut inputs = vec![("generated", lines())];
    match tau_bench() {
        Some(bytes) => inputs.push(("tau-bench", bytes)),
        None => eprintln!("skipped: the trajectories of tau-bench are not beside this checkout"),
    }
    for (name, bytes) in &inputs {
        let mut group = criterion.benchmark_group(*name);
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(20);
        group.bench_function("serde_json", |bencher| {
            bencher.iter(|| {
                for line in bytes.split(|byte| *byte == b'\n') {
                    black_box(serde_json::from_slice::<Json>(line).unwrap());
                }
            });
        });
        group.bench_function("read", |bencher| {
            bencher.iter(|| {
                let mut arena = toolcheck_json::Arena::default();
                for record in Records::new(bytes) {
                    let document = Document::read_in(record.bytes, arena);
                    black_box(document.len());
                    arena = document.into_arena();
                }
            });
        });
        group.bench_function("lint", |bencher| bencher.iter(|| black_box(lint("bench", bytes, &options))));
        group.finish();
    }
}

fn one_transcript(criterion: &mut Criterion) {
    let options = Options { format: formats::find("openai-chat"), ..Options::default() };
    let mut group = criterion.benchmark_group("calls");
    group.sample_size(10);
    for calls in [10_000, 100_000] {
        let bytes = conversation(calls).to_string().into_bytes();
        group.throughput(Throughput::Elements(calls as u64));
        group.bench_with_input(BenchmarkId::new("lint", calls), &bytes, |bencher, bytes| {
            bencher.iter(|| black_box(lint("bench", bytes, &options)));
        });
    }
    group.finish();
}

criterion_group!(benches, whole_files, one_transcript);
criterion_main!(benches);
