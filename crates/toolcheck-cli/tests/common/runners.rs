//! How CI runners read the streams of a program: what they would take for a command in them.
//!
//! The parsers are stricter than the runners: a command counts whether or not its name exists and its end is there.

use std::sync::LazyLock;

/// The commands in a stream, with the runner that would obey them.
pub(crate) fn commands(stream: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stream);
    // Runners end a line at a lone carriage return too.
    let lines = text.split(['\n', '\r']);
    let found = lines.flat_map(|line| {
        let plain = without_colors(line);
        [github(&plain), hashes(&plain), sections(&plain)].into_iter().flatten().collect::<Vec<_>>()
    });
    let mut found: Vec<String> = found.collect();
    if text.contains('\r') {
        found.push("a carriage return, which ends a section's marker on GitLab".to_owned());
    }
    found
}

/// `TryParseV2` of `ActionCommand` in GitHub's runner: `::name key=value::data` at the beginning of a line.
fn github(line: &str) -> Option<String> {
    line.trim_start().starts_with("::").then(|| format!("for GitHub: {line:?}"))
}

/// `TryParse` of `ActionCommand` in GitHub's runner, which looks for `##[` anywhere in a line, `Command.TryParse` in the
/// agent of Azure Pipelines (`##vso[`) and the service messages of TeamCity (`##teamcity[`).
fn hashes(line: &str) -> Option<String> {
    let is_command = |(at, _): (usize, &str)| {
        line[at + 2..]
            .trim_start_matches(|character: char| character.is_ascii_alphanumeric())
            .starts_with('[')
    };
    // Overlapping ones too, as in `###[`.
    let mut places = line.char_indices().filter_map(|(at, _)| Some((at, line[at..].get(..2)?)));
    let found = places.any(|(at, start)| start == "##" && is_command((at, start)));
    found.then(|| format!("for GitHub, Azure Pipelines or TeamCity: {line:?}"))
}

/// The markers of sections in logs of GitLab: `section_start:1700000000:name`, a carriage return and `ESC[0K`. Without
/// colors, any escape is somebody else's.
fn sections(line: &str) -> Option<String> {
    line.contains('\u{1b}').then(|| format!("an escape sequence: {line:?}"))
}

pub(crate) fn without_colors(line: &str) -> String {
    static OURS: LazyLock<regex::Regex> =
        LazyLock::new(|| regex::Regex::new("\u{1b}\\[[0-9;]*m|\u{1b}\\]8;;[ -~]*?\u{1b}\\\\").unwrap());
    OURS.replace_all(line, "").into_owned()
}

/// Whether a command is one of the annotations that `--output-format github` writes.
pub(crate) fn is_annotation(command: &str) -> bool {
    ["::error file=", "::warning file=", "::notice title=toolcheck::"]
        .iter()
        .any(|ours| command.starts_with(&format!("for GitHub: \"{ours}")))
}

#[test]
fn commands_are_recognised() {
    for command in [
        "::error::x",
        " \u{a0}::set-output name=a::b",
        "a\r::add-mask::b",
        "see ##[set-output name=exit-status]0",
        "`##vso[task.setvariable variable=x]y`",
        "##teamcity[buildStatus text='x']",
        "###[group]",
        "\u{1b}[1m::error::x",
        "\u{1b}[0Ksection_start:1:x\r\u{1b}[0K",
        "\u{1b}]8;;a\u{7}",
    ] {
        assert!(!commands(command.as_bytes()).is_empty(), "{command:?}");
    }
    for plain in ["a::b", "error[x]: ##", "## [a]", "\u{1b}[1mbold\u{1b}[0m", "#[a]", "# ##\n[a]"] {
        assert!(commands(plain.as_bytes()).is_empty(), "{plain:?}");
    }
}
