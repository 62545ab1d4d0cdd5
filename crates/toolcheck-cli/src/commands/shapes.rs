//! `toolcheck shapes`: what an API requires, allows and refuses in a request, and how that is known.

pub(crate) mod models;
pub(crate) mod seen;
mod tree;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use toolcheck_config::Overrides;
use toolcheck_core::suggest::similar;
use toolcheck_core::targets::Target;
use toolcheck_core::text::{bounded, guard, shown};
use toolcheck_lint::TargetRef;
use toolcheck_project::{ConfigOptions, Configs, Input, Resolver, find_target};
use toolcheck_report::outputs::write_json;
use toolcheck_report::shapes::{self, Catalog, Named};

use crate::args::{Color, ListFormat, ShapesArgs};
use crate::{Status, markdown, screen};

pub(crate) fn run(args: &ShapesArgs, out: &mut dyn Write) -> Result<Status> {
    let target = load(&args.target)?;
    let format = args.format.map(|format| format.id).or(target.format.as_deref());
    let shape =
        format.and_then(|format| target.shape_in(format)).ok_or_else(|| undescribed(&target, format))?;
    let catalog = Catalog::new(shape);
    let object = args.object.as_deref().map(|name| find(&catalog, name, &target)).transpose()?;
    let style = screen::style(Color::Auto);
    match (args.output_format, object) {
        (ListFormat::Json, object) => {
            let report = shapes::report(&target, shape, &catalog, object);
            write_json(&report, out)?;
        }
        (ListFormat::Text, None) => tree::write(&target, &catalog, &style, out)?,
        (ListFormat::Text, Some(object)) => write_page(&shapes::page(&target, shape, object), out)?,
    }
    Ok(Status::Clean)
}

/// Writes a page: drawn on a screen, and as it is elsewhere.
fn write_page(page: &str, out: &mut dyn Write) -> Result<()> {
    let style = screen::style(Color::Auto);
    if style.color || screen::is_wrapped() {
        markdown::write(page, &style, out)?;
    } else {
        for line in page.lines() {
            writeln!(out, "{}", guard(line))?;
        }
    }
    Ok(())
}

pub(super) fn load(name: &str) -> Result<TargetRef> {
    let mut overrides = Overrides::default();
    overrides.read_as.target = Some(find_target(name)?);
    let configs = Configs::new(&ConfigOptions::Isolated)?;
    let mut resolver = Resolver::new(overrides, Arc::new(configs))?;
    let settings = resolver.resolve(&Input::file(Path::new(name)));
    settings.and_then(|settings| settings.target).context("the target cannot be read")
}

fn undescribed(target: &Target, format: Option<&str>) -> anyhow::Error {
    let id = shown(&target.id);
    let Some(format) = format.map(shown) else {
        return anyhow!("`{id}` covers APIs with several formats, so its requests have no single shape");
    };
    let own = target.shape().is_some().then(|| target.format.clone()).flatten();
    let known: Vec<String> = own.iter().chain(target.also.keys()).map(|format| shown(format)).collect();
    if known.is_empty() {
        return anyhow!(
            "the shape of requests to `{id}` is unknown\n\n`toolcheck shapes {format}` shows that of its format"
        );
    }
    anyhow!("`{id}` is not known to accept requests in the format {format}\n\nformats: {}", known.join(", "))
}

/// The object of that name, or the only one whose name ends with it.
fn find<'c, 'f>(catalog: &'c Catalog<'f>, name: &str, target: &Target) -> Result<&'c Named<'f>> {
    let objects = &catalog.objects;
    if let Some(object) = objects.iter().find(|object| object.name == name) {
        return Ok(object);
    }
    let is_end = |object: &&Named<'_>| {
        object.name.strip_suffix(name).is_some_and(|start| !name.is_empty() && start.ends_with('.'))
    };
    let ends: Vec<&Named<'_>> = objects.iter().filter(is_end).collect();
    let asked = bounded(name, 80);
    match ends.as_slice() {
        [only] => Ok(only),
        [] => bail!(
            "`{}` has no object `{asked}`{}\n\n`toolcheck shapes {0}` lists its objects",
            shown(&target.id),
            shown(&similar(name, objects.iter().map(|object| object.name)).to_string())
        ),
        several => {
            let names: Vec<String> = several.iter().map(|object| shown(object.name)).collect();
            bail!("several objects end with `{asked}`: {}", names.join(", "))
        }
    }
}
