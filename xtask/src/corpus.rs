//! Packs the corpus into an archive, for other programs: `cargo xtask corpus [DIR]`.
//!
//! The build is reproducible: the same files give the same bytes on any day and any machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use flate2::{Compression, GzBuilder};
use serde::Serialize;
use sha2::{Digest, Sha256};
use toolcheck_test::corpus::{Bless, CaseResult, Corpus};

use crate::root;

const FIXTURES: &str = "fixtures";
/// The files packed with the cases: descriptions, schemas and licences.
const EXTRAS: [&str; 7] = [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/corpus.md",
    "schemas/corpus-manifest.v1.schema.json",
    "schemas/corpus-run.v1.schema.json",
    "schemas/expect.v1.schema.json",
    "schemas/report.v1.schema.json",
];
/// The modification time of every file in the archive, in seconds since 1970: 1 January 1980, the first day that every
/// archive format can represent.
const CHANGED_AT: u64 = 315_532_800;

/// The contents of the archive. Version 1: keys may be added, but not removed or changed.
#[derive(Serialize)]
struct Manifest<'m> {
    version: u8,
    corpus: &'static str,
    cases: Vec<CaseV1<'m>>,
    files: BTreeMap<&'m str, String>,
}

#[derive(Serialize)]
struct CaseV1<'m> {
    path: String,
    sha256: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expectation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'m str>,
    kind: &'static str,
    rules: BTreeSet<&'static str>,
}

/// Packs the corpus into a directory, by default `target`.
pub(crate) fn pack(directory: Option<PathBuf>) -> Result<()> {
    let directory = directory.unwrap_or_else(|| root().join("target"));
    let name = concat!("toolcheck-corpus-", env!("CARGO_PKG_VERSION"));
    let files = files()?;
    let manifest = manifest(&files)?;
    let mut archive = tar::Builder::new(GzBuilder::new().mtime(0).write(Vec::new(), Compression::best()));
    append(&mut archive, &format!("{name}/manifest.json"), &manifest)?;
    for (path, bytes) in &files {
        append(&mut archive, &format!("{name}/{path}"), bytes)?;
    }
    let bytes = archive.into_inner()?.finish()?;
    fs::create_dir_all(&directory)?;
    let path = directory.join(format!("{name}.tar.gz"));
    fs::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{}  {}", sha256(&bytes), path.display());
    Ok(())
}

/// The files of the archive, by path.
fn files() -> Result<BTreeMap<String, Vec<u8>>> {
    let root = root();
    let mut files = BTreeMap::new();
    let mut open: Vec<PathBuf> = EXTRAS.iter().map(|path| root.join(path)).collect();
    open.push(root.join(FIXTURES));
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                let entry = entry?;
                // Hidden files come from editors and operating systems.
                if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                    open.push(entry.path());
                }
            }
            continue;
        }
        let below = path.strip_prefix(&root).unwrap_or(&path).components();
        let name: Vec<_> = below.map(|part| part.as_os_str().to_string_lossy()).collect();
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        files.insert(name.join("/"), bytes);
    }
    Ok(files)
}

/// The manifest of the corpus. A corpus with failed cases is not packed.
fn manifest(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>> {
    let sums: BTreeMap<&str, String> =
        files.iter().map(|(path, bytes)| (path.as_str(), sha256(bytes))).collect();
    let corpus = Corpus::open(&root().join(FIXTURES))?;
    let (cases, _) = corpus.select(&[]);
    let run = corpus.run(&cases, Bless::Nothing);
    let is_as_expected = run.failed() + run.unreadable() + run.troubles.len() == 0;
    ensure!(is_as_expected, "the corpus has failed cases: run `toolcheck test` to see them");
    let cases = run.results.iter().map(|result| case(result, &sums)).collect::<Result<_>>()?;
    let manifest = Manifest { version: 1, corpus: env!("CARGO_PKG_VERSION"), cases, files: sums.clone() };
    let mut text = serde_json::to_vec_pretty(&manifest)?;
    text.push(b'\n');
    Ok(text)
}

fn case<'m>(result: &'m CaseResult, sums: &'m BTreeMap<&str, String>) -> Result<CaseV1<'m>> {
    let path = format!("{FIXTURES}/{}", result.name);
    let read_as = result.read_as.as_ref().with_context(|| format!("{path} was not read"))?;
    let expectation = Path::new(&path).with_extension("expect.json").to_string_lossy().into_owned();
    Ok(CaseV1 {
        sha256: sums.get(&*path).with_context(|| format!("{path} is not packed"))?,
        expectation: Some(expectation).filter(|path| sums.contains_key(&**path)),
        path,
        format: read_as.format,
        target: read_as.target.as_deref(),
        kind: read_as.kind,
        rules: result.found.iter().map(|found| found.rule.as_str()).collect(),
    })
}

fn append(archive: &mut tar::Builder<impl Write>, path: &str, bytes: &[u8]) -> Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(CHANGED_AT);
    header.set_entry_type(tar::EntryType::Regular);
    archive.append_data(&mut header, path, bytes).with_context(|| format!("cannot pack {path}"))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
