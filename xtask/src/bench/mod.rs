//! `cargo xtask bench`: measures whole runs of programs and writes `docs/benchmarks.md`.

mod inputs;
mod measure;
mod peers;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::root;
use measure::{Program, Taken, in_turns, ratio, shown, size};

pub(crate) use measure::{LAUNCHER, launch};

/// How often each program is run; the lowest value counts.
const ROUNDS: usize = 7;
/// The size of JSON Lines files, in bytes.
const LINES: u64 = 200_000_000;
/// The size of the largest one.
const LARGEST: u64 = 1_000_000_000;
/// The number of calls in the conversation for other tools: 10,000 messages, because one of them takes minutes for more.
const CALLS_FOR_PEERS: usize = 4_000;

/// The programs of `benchmarks`, and their rows. All of them do what the first does, and are compared with the second.
const READERS: &[(&str, &str)] = &[
    ("nothing", "the file, held in memory"),
    ("serde_json", "`serde_json`, to a `Value`"),
    ("serde_json-ignored", "`serde_json`, ignoring everything"),
    ("jiter", "`jiter`, to a `JsonValue`"),
    ("jiter-skip", "`jiter`, skipping everything"),
    ("simd-json", "`simd-json`, to a borrowed value"),
    ("simd-json-tape", "`simd-json`, to a tape"),
    ("toolcheck-json", "toolcheck's parser, with all spans"),
];
/// The output formats of toolcheck, and their rows.
const LINTS: &[(&str, &str)] = &[
    ("concise", "**`toolcheck lint`**, one line per finding"),
    ("full", "`toolcheck lint`, excerpts for each finding"),
];

pub(crate) fn run() -> Result<()> {
    let tools = Tools::build()?;
    let mut page = format!(
        "{}\n\nMeasured on {}, with {} and version {} of toolcheck.\n",
        include_str!("head.md").trim_end(),
        machine(),
        tools.compiler,
        env!("CARGO_PKG_VERSION"),
    );
    print!("{page}");
    for section in [lines, threads, memory, small, huge, beside_peers] {
        let known = page.len();
        section(&tools, &mut page)?;
        print!("{}", &page[known..]);
    }
    Ok(fs::write(root().join("docs/benchmarks.md"), &page)?)
}

/// The programs that are measured.
struct Tools {
    toolcheck: PathBuf,
    readers: PathBuf,
    folder: PathBuf,
    /// The name and version of the compiler.
    compiler: String,
}

impl Tools {
    /// Builds toolcheck and the JSON parsers with the release profile.
    fn build() -> Result<Self> {
        let build = |arguments: &[&str]| {
            let status =
                Command::new(env!("CARGO")).arg("build").args(arguments).current_dir(root()).status()?;
            ensure!(status.success(), "cargo build {} failed", arguments.join(" "));
            Ok(())
        };
        build(&["--profile", "dist", "--locked", "--package", "toolcheck-cli"])?;
        build(&["--release", "--locked", "--manifest-path", "benchmarks/Cargo.toml"])?;
        let program = |path: &str| root().join(path).with_extension(std::env::consts::EXE_EXTENSION);
        let compiler = Command::new("rustc").arg("--version").output()?.stdout;
        let compiler = String::from_utf8(compiler)?.split(" (").next().unwrap_or_default().to_owned();
        Ok(Self {
            toolcheck: program("target/dist/toolcheck"),
            readers: program("benchmarks/target/release/toolcheck-benchmarks"),
            folder: inputs::folder()?,
            compiler,
        })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Lints a file on one thread, with one line per finding.
    fn lint(&self, path: &Path) -> Program {
        self.lint_as("concise", 1, path)
    }

    fn lint_as(&self, output: &str, threads: usize, path: &Path) -> Program {
        let threads = threads.to_string();
        let arguments = ["lint", "--output-format", output, "--isolated", "-j", &threads];
        Program::new(&self.toolcheck, &arguments).and(path)
    }

    fn reader(&self, name: &str, path: &Path) -> Program {
        Program::new(&self.readers, &[name]).and(path)
    }

    /// JSON Lines of this size: recorded conversations if there are any, otherwise generated ones.
    fn real_lines(&self, bytes: u64) -> Result<PathBuf> {
        let path = self.file("lines.jsonl");
        inputs::repeated(&path, &inputs::recorded()?.unwrap_or_else(inputs::generated), bytes)?;
        Ok(path)
    }
}

fn machine() -> String {
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor =
        field(&text("/proc/cpuinfo"), "model name").unwrap_or_else(|| "an unknown processor".into());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = field(&text("/proc/meminfo"), "MemTotal").and_then(|total| {
        let kilobytes: u64 = total.split(' ').next()?.parse().ok()?;
        Some(format!(", {} of memory", size(kilobytes * 1024)))
    });
    let (system, kind) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{processor} ({cores} cores{}, {system} on {kind})", memory.unwrap_or_default())
}

/// Linting JSON Lines, compared with parsing them.
fn lines(tools: &Tools, page: &mut String) -> Result<()> {
    let files = [
        ("Recorded conversations", "recorded.jsonl", inputs::recorded()?),
        ("Generated conversations", "generated.jsonl", Some(inputs::generated())),
    ];
    writeln!(page, "\n## JSON Lines of {}\n", size(LINES))?;
    writeln!(page, "{}", include_str!("lines.md").trim_end())?;
    for (what, name, lines) in files {
        let Some(lines) = lines else { continue };
        let path = tools.file(name);
        inputs::repeated(&path, &lines, LINES)?;
        let mut programs: Vec<Program> = READERS.iter().map(|(name, _)| tools.reader(name, &path)).collect();
        programs.extend(LINTS.iter().map(|(output, _)| tools.lint_as(output, 1, &path)));
        let taken = in_turns(&programs, ROUNDS)?;
        let (nothing, base) = (taken[0].cpu, taken[1].cpu);
        writeln!(
            page,
            "\n{what}:\n\n| | processor time | without the file | times as fast as `Value` |\n| --- | ---: | ---: | ---: |"
        )?;
        for (number, ((_, row), taken)) in READERS.iter().chain(LINTS).zip(&taken).enumerate() {
            // Only the parsers hold the file in memory, and the first does nothing else.
            let holds_it = (1..READERS.len()).contains(&number);
            let alone = if holds_it { shown(taken.cpu.saturating_sub(nothing)) } else { String::new() };
            writeln!(page, "| {row} | {} | {alone} | {:.2} |", shown(taken.cpu), ratio(base, taken.cpu))?;
        }
        fs::remove_file(path)?;
    }
    Ok(())
}

fn threads(tools: &Tools, page: &mut String) -> Result<()> {
    let path = tools.real_lines(LARGEST)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let counts: Vec<usize> = [1, 2, 4, 8, 16].into_iter().filter(|count| *count <= cores).collect();
    let programs: Vec<Program> =
        counts.iter().map(|threads| tools.lint_as("concise", *threads, &path)).collect();
    let taken = in_turns(&programs, ROUNDS)?;
    writeln!(page, "\n## Threads\n\n{}\n", include_str!("threads.md").trim_end())?;
    writeln!(
        page,
        "| threads | time | times as fast as one | processor time |\n| ---: | ---: | ---: | ---: |"
    )?;
    for (count, now) in counts.iter().zip(&taken) {
        let faster = ratio(taken[0].wall, now.wall);
        writeln!(page, "| {count} | {} | {faster:.2} | {} |", shown(now.wall), shown(now.cpu))?;
    }
    Ok(())
}

/// Time and memory by file size.
fn memory(tools: &Tools, page: &mut String) -> Result<()> {
    writeln!(page, "\n## Size\n\n{}\n", include_str!("size.md").trim_end())?;
    writeln!(page, "| JSON Lines | processor time | memory |\n| ---: | ---: | ---: |")?;
    for bytes in [1_000_000, 10_000_000, 100_000_000, LARGEST] {
        let path = tools.real_lines(bytes)?;
        let taken = in_turns(&[tools.lint(&path)], ROUNDS.min(3))?[0];
        let real = fs::metadata(&path)?.len();
        writeln!(page, "| {} | {} | {} |", size(real), shown(taken.cpu), size(taken.memory))?;
        fs::remove_file(path)?;
    }
    Ok(())
}

/// A run with almost nothing to do.
fn small(tools: &Tools, page: &mut String) -> Result<()> {
    let path = tools.file("small.json");
    fs::write(&path, serde_json::json!({"messages": inputs::messages(0, 4)}).to_string())?;
    let taken = in_turns(&[tools.lint(&path)], 50)?[0];
    let (bytes, cpu) = (fs::metadata(&path)?.len(), shown(taken.cpu));
    writeln!(
        page,
        "\nA file of {} takes {cpu} of processor time, including the start, and {} of memory.",
        size(bytes),
        size(taken.memory)
    )?;
    Ok(())
}

/// Inputs with a very large number of one thing.
fn huge(tools: &Tools, page: &mut String) -> Result<()> {
    writeln!(page, "\n## Extreme inputs\n\n{}\n", include_str!("huge.md").trim_end())?;
    writeln!(
        page,
        "| | number | size | processor time | memory | ten times as many take |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for huge in inputs::HUGE {
        let mut fewer: Option<Taken> = None;
        for count in huge.counts {
            let path = tools.file("huge.json");
            inputs::huge(&path, huge, count)?;
            let taken = in_turns(&[tools.lint(&path)], 3)?[0];
            let times =
                fewer.map_or(String::new(), |fewer| format!("{:.1} times", ratio(taken.cpu, fewer.cpu)));
            let bytes = size(fs::metadata(&path)?.len());
            writeln!(
                page,
                "| {} | {} | {bytes} | {} | {} | {times} |",
                huge.what,
                grouped(count),
                shown(taken.cpu),
                size(taken.memory)
            )?;
            fewer = Some(taken);
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Other tools with the same file.
fn beside_peers(tools: &Tools, page: &mut String) -> Result<()> {
    let programs = peers::install(&tools.folder)?;
    let messages = inputs::messages(0, CALLS_FOR_PEERS);
    let count = messages.len();
    let (list, body) = (tools.file("list.json"), tools.file("body.json"));
    fs::write(&list, serde_json::to_vec(&messages)?)?;
    fs::write(&body, serde_json::json!({"messages": messages}).to_string())?;
    let own = in_turns(&[tools.lint(&body)], ROUNDS)?[0];
    writeln!(page, "\n## Compared with Python tools\n\n{}\n", include_str!("peers.md").trim_end())?;
    writeln!(
        page,
        "One conversation of {} messages, {}:\n\n| | checks | processor time | memory | toolcheck is |\n| --- | --- | ---: | ---: | ---: |",
        grouped(count),
        size(fs::metadata(&body)?.len())
    )?;
    writeln!(page, "| **toolcheck** | all rules | {} | {} | |", shown(own.cpu), size(own.memory))?;
    for peer in peers::ALL {
        let file = if peer.takes_list { &list } else { &body };
        let (program, arguments) = peers::command(peer, &programs, file)?;
        let program = arguments.into_iter().fold(Program::new(&program, &[]), Program::and);
        let taken = in_turns(&[program], 2).with_context(|| peer.name)?[0];
        writeln!(
            page,
            "| {} {} | {} | {} | {} | {:.0} times as fast |",
            peer.name,
            peer.version,
            peer.looks_for,
            shown(taken.cpu),
            size(taken.memory),
            ratio(taken.cpu, own.cpu)
        )?;
    }
    Ok(())
}

/// A number with thousands separators.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
