use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use toolcheck_config::allow::Allow;
use toolcheck_core::text::shown;
use toolcheck_lint::Rule;
use toolcheck_report::{View, outline};

use crate::args::ShowArgs;
use crate::config::{Configs, real};
use crate::inputs::{Input, Source, Text};
use crate::progress::Progress;
use crate::settle::Settler;
use crate::{Status, screen};

pub(crate) fn run(args: &ShowArgs, out: &mut dyn Write) -> Result<Status> {
    let configs = Arc::new(Configs::new(&args.config)?);
    let mut settler = Settler::new(&args.reading, &args.selection, &configs)?;
    let input = input(&args.file);
    let Some(settled) = settler.settle(&input) else {
        for trouble in settler.troubles.into_iter().chain(configs.troubles()) {
            screen::tell("error", &trouble);
        }
        return Ok(Status::Trouble);
    };
    let bytes = whole(&input)?;
    let allows = &settled.loaded.config.allows;
    let allows: Vec<&Allow> = allows.iter().filter(|allow| allow.is_for(&input.real)).collect();
    let view = View {
        shows_all: args.outline.all,
        shows_text: args.outline.text,
        more: &lint_command(args),
        is_allowed: Some(&|finding| allows.iter().any(|allow| allow.allows(finding))),
    };
    let outline = outline(&input.name, &bytes, &settled.options(), &view);
    (args.outline.output_format.write)(&outline, &screen::style(args.outline.color), out)?;
    Ok(Status::Clean)
}

/// The one file that a command is for.
pub(super) fn input(file: &Path) -> Input {
    let (path, source) = if file == Path::new("-") {
        (Path::new("<stdin>"), Source::Stdin)
    } else {
        (file, Source::File(file.to_owned()))
    };
    Input { real: real(path), name: path.display().to_string(), source, is_named: true }
}

/// The whole text of it, unpacked.
pub(super) fn whole(input: &Input) -> Result<Vec<u8>> {
    let progress = Progress::unseen();
    let text = Text::open(input, u32::MAX.into(), &progress).and_then(|mut text| text.rest());
    text.with_context(|| format!("cannot read {}", shown(&input.name)))
}

/// The command that shows the same findings whole.
fn lint_command(args: &ShowArgs) -> String {
    let mut words = vec!["toolcheck".to_owned(), "lint".to_owned()];
    let mut add = |flag: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), quoted(&value)]));
    };
    let path = |path: &Path| path.display().to_string();
    let ids = |rules: &[&'static Rule]| {
        let ids: Vec<&str> = rules.iter().map(|rule| rule.id).collect();
        (!ids.is_empty()).then(|| ids.join(","))
    };
    add("--format", args.reading.format.map(|format| format.id.to_owned()));
    add("--target", args.reading.target.clone());
    add("--kind", args.reading.kind.map(|kind| kind.to_string()));
    add("--tools", args.reading.tools.as_deref().map(path));
    add("--select", ids(&args.selection.select));
    add("--extend-select", ids(&args.selection.extend_select));
    add("--ignore", ids(&args.selection.ignore));
    add("--config", args.config.config.as_deref().map(path));
    if args.config.isolated {
        words.push("--isolated".to_owned());
    }
    words.push(quoted(&path(&args.file)));
    words.join(" ")
}

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./:=@+,".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
