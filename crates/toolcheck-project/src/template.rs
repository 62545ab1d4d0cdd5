//! Reads the chat template of a model.

use std::path::Path;

use toolcheck_template::{ADDITIONAL_FOLDER, FILES_OF_A_FOLDER, FILES_WITH_TOKENS, Template};

use crate::error::Error;
use crate::paths::printable;

/// The chat template in a file, or in the folder of a model. Fails if it cannot be read, or there is none.
pub fn read(path: &Path) -> Result<Template, Error> {
    let name = printable(path);
    let unread = |error| Error::caused(format!("cannot read the chat template {name}"), &error);
    let template = if path.is_dir() {
        let files = files_of(path).map_err(unread)?;
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (&**name, &**bytes)).collect();
        Template::from_files(&files)
    } else if path.extension().is_some_and(|extension| extension == "gguf") {
        // Only what comes before the tensors is read.
        Template::from_gguf(std::io::BufReader::new(toolcheck_files::open(path).map_err(unread)?))
    } else {
        let bytes = toolcheck_files::read_named(path).map_err(unread)?;
        Template::from_file_bytes(&name, &bytes).map(|template| with_tokens_beside(template, path))
    };
    template.map_err(|error| Error::new(format!("{name}: {error}")))
}

/// A template with the special tokens that it lacks, from the files beside it: a Jinja file has none itself.
fn with_tokens_beside(mut template: Template, path: &Path) -> Template {
    for beside in FILES_WITH_TOKENS {
        if let Ok(bytes) = toolcheck_files::read(&path.with_file_name(beside)) {
            template.add_tokens_of(&bytes);
        }
    }
    template
}

/// The files of a model's folder that may have a template, by their names.
fn files_of(folder: &Path) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for name in FILES_OF_A_FOLDER {
        let path = folder.join(name);
        if path.is_file() {
            files.push(((*name).to_owned(), toolcheck_files::read(&path)?));
        }
    }
    let additional = folder.join(ADDITIONAL_FOLDER);
    if additional.is_dir() {
        for entry in std::fs::read_dir(&additional)? {
            let path = entry?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if path.extension().is_some_and(|extension| extension == "jinja") {
                files.push((format!("{ADDITIONAL_FOLDER}/{name}"), toolcheck_files::read(&path)?));
            }
        }
    }
    files.sort();
    Ok(files)
}
