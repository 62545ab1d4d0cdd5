//! `toolcheck models`: what is known of models, by the evidence in targets.

use std::io::Write;

use anyhow::{Result, bail};
use toolcheck_report::outputs::write_json;
use toolcheck_report::shapes::{models_json, models_page};

use crate::Status;
use crate::args::{ListFormat, ModelsArgs};

pub(crate) fn run(args: &ModelsArgs, out: &mut dyn Write) -> Result<Status> {
    let model = args.model.as_deref();
    if model.is_some_and(|model| model.trim().is_empty()) {
        bail!("the name of the model is empty");
    }
    match args.output_format {
        ListFormat::Json => write_json(&models_json(model), out)?,
        ListFormat::Text => super::write_page(&models_page(model), out)?,
    }
    Ok(Status::Clean)
}
