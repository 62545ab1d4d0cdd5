//! `explain --error`: what an API's error means, and what in a file causes it.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use toolcheck_core::RuleId;
use toolcheck_core::text::bounded;
use toolcheck_lint::{Finding, Options, lint, lint_opened};
use toolcheck_project::{Input, Limits, read_template};
use toolcheck_report::explained::{Explained, Places, Wording};
use toolcheck_report::outputs;

use crate::args::{Color, ExplainArgs, ListFormat};
use crate::{Status, screen};

pub(crate) fn run(error: &str, args: &ExplainArgs, out: &mut dyn Write) -> Result<Status> {
    let file = args.subject.as_deref();
    let from_input;
    let error = if error == "-" {
        if file == Some("-") {
            bail!("standard input can't be both the error and the request");
        }
        let bytes = toolcheck_files::read_limited(std::io::stdin().lock());
        let bytes = bytes.context("cannot read the error from standard input")?;
        from_input = String::from_utf8_lossy(&bytes).into_owned();
        &from_input
    } else {
        error
    };
    if error.trim().is_empty() {
        bail!("the error text is empty");
    }
    if args.error.as_deref() != Some("-") && Path::new(error).is_file() {
        let file = bounded(error, 80);
        bail!("`{file}` is a file: to read the error from it, use `--error - < {file}`");
    }
    let target = args.target.as_deref().map(super::shapes::load).transpose()?;
    let template = args.template.as_deref().map(read_template).transpose()?;
    let options = Options::new().target(target).template(template.map(|template| Arc::new(template.into())));
    let explained = match file {
        None => Explained::without_request(error, &options),
        Some(file) => with_file(error, file, &options)?,
    };
    match args.output_format {
        ListFormat::Json => outputs::write_json(&explained.to_json(), out)?,
        ListFormat::Text => {
            let style = screen::style(Color::Auto).has_excerpts(!screen::is_ci());
            let width = screen::is_wrapped().then_some(style.width);
            let wording = Wording::new("file", ": --error TEXT FILE").style(style).width(width);
            explained.write(&wording, out)?;
        }
    }
    Ok(if explained.is_explained() { Status::Clean } else { Status::Findings })
}

/// What an error means for the request in a file.
fn with_file(error: &str, file: &str, options: &Options) -> Result<Explained> {
    let input = Input::file(Path::new(file));
    let bytes = input.read()?;
    let opened = toolcheck_project::open(&bytes, None, Limits::default());
    let explained = Explained::with_request(error, options, |options| match &opened {
        Some(opened) => lint_opened(&input.name, &bytes, opened, options),
        None => lint(&input.name, &bytes, options),
    });
    // Nothing is known of a file in another encoding.
    let report = explained.places.as_ref().map(Places::report);
    for read in report.into_iter().flat_map(|report| &report.files).filter(|file| file.transcripts == 0) {
        if let [Finding { rule: RuleId::InvalidUtf8, message, .. }] = &read.findings[..] {
            bail!("cannot read {file}: {message}");
        }
    }
    Ok(explained.located_in(&bytes))
}
