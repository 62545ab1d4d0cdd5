//! `toolcheck show`: the outline of a transcript.

use std::io::Write;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use toolcheck_config::allow::Allow;
use toolcheck_core::text::{Counted, name_of, shown};
use toolcheck_json::Records;
use toolcheck_lint::{Finding, FixOptions, Options, fix};
use toolcheck_project::{Configs, Input, Limits, Resolver};
use toolcheck_report::{Outline, View, outline, outline_opened, unified};

use super::{no_such_conversation, no_such_record};
use crate::args::{self, ShowArgs, again, quoted};
use crate::{Status, screen};

pub(crate) fn run(args: &ShowArgs, out: &mut dyn Write) -> Result<Status> {
    let overrides = args::overrides(&args.reading, &args.selection)?;
    let configs = Arc::new(Configs::new(&args.config.options())?);
    let mut resolver = Resolver::new(overrides, configs)?;
    let input = Input::file(&args.file);
    let Some(settings) = resolver.resolve(&input) else {
        screen::messages("error", &resolver.errors());
        return Ok(Status::Trouble);
    };
    screen::messages("warning", &resolver.foreign_configs());
    let mut bytes = input.read()?;
    if let Some(number) = args.record {
        bytes =
            record(&bytes, number).with_context(|| no_such_record(&shown(&input.name), number, &bytes))?;
    }
    let (bytes, changed) =
        if args.fix { fixed(args, &input, &bytes, &settings.options()) } else { (bytes, Vec::new()) };
    let allows = &settings.config.config.allows;
    let allows: Vec<&Allow> = allows.iter().filter(|allow| allow.is_for(&input.real)).collect();
    let command = lint_command(args);
    let is_allowed = |finding: &Finding| allows.iter().any(|allow| allow.allows(finding));
    let view = View::new().shows_all(args.outline.all).shows_text(args.outline.text);
    let view = view.more(&command).is_allowed(&is_allowed).changed(&changed);
    let view = view.as_request(args.outline.output_format.is_request);
    let options = settings.options();
    let outline = match toolcheck_project::open(&bytes, settings.container(), Limits::default()) {
        Some(opened) => outline_opened(&input.name, &bytes, &opened, &options, &view),
        None => outline(&input.name, &bytes, &options, &view),
    };
    if let Some(why) = no_such_conversation(args.reading.conversation(), &outline.report) {
        bail!(why);
    }
    if args.outline.output_format.is_request {
        says_what_is_missing(&outline)?;
    }
    (args.outline.output_format.write)(&outline, &screen::style(args.outline.color), out)?;
    Ok(Status::Clean)
}

/// A record of a file, in the line that it has there.
fn record(bytes: &[u8], number: NonZeroUsize) -> Option<Vec<u8>> {
    let record = Records::new(bytes).nth(number.get() - 1)?;
    let before = bytes[..record.start].iter().filter(|byte| **byte == b'\n');
    Some(before.chain(record.bytes).copied().collect())
}

/// Says what the request of a conversation lacks.
///
/// # Errors
///
/// There is no such request, or there are several.
fn says_what_is_missing(outline: &Outline) -> Result<()> {
    if outline.total() > 1 {
        bail!(
            "the file contains {} conversations: choose one with --next or --conversation",
            outline.total()
        );
    }
    let Some(request) = outline.request() else { bail!("the file contains no conversation") };
    if request.body.is_none() {
        bail!("the API that this is sent to is unknown: name it with --target");
    }
    let mut missing: Vec<String> =
        request.dropped.iter().map(|feature| feature.as_str().to_owned()).collect();
    if request.left_out > 0 {
        missing.push(Counted(request.left_out, "image, file or other part").to_string());
    }
    if !missing.is_empty() {
        screen::messages("warning", &[format!("not in the request: {}", missing.join(", "))]);
    }
    Ok(())
}

/// The text as `toolcheck fix` would write it, and what of it is new.
fn fixed(args: &ShowArgs, input: &Input, bytes: &[u8], options: &Options) -> (Vec<u8>, Vec<Range<usize>>) {
    let how = FixOptions::new().unsafe_fixes(args.unsafe_fixes).accepted(args.selection.names_rules());
    let fixed = fix(&input.name, bytes, options, &how);
    let changed = unified::edits(bytes, &fixed.bytes).into_iter().map(|(_, new)| new).collect();
    (fixed.bytes.into_owned(), changed)
}

/// The command that prints the same findings in full.
fn lint_command(args: &ShowArgs) -> String {
    let file = name_of(args.file.as_os_str().as_encoded_bytes());
    // It would be taken for an option.
    let file = if file.starts_with('-') && file != "-" { format!("./{file}") } else { file };
    let options = again(&args.reading, &args.selection, &args.config);
    format!("toolcheck lint{options} {}", quoted(&file))
}
