//! The corpus as one archive, for programs that do not build this project: `cargo xtask corpus [DIR]`.
//!
//! The same files give the same bytes, on any day and on any machine.

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

/// The folder of the cases.
const FIXTURES: &str = "fixtures";
/// What goes with the cases: how they are described, and on which terms they may be used.
const BESIDE: [&str; 7] = [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/corpus.md",
    "schemas/corpus-manifest.v1.schema.json",
    "schemas/corpus-run.v1.schema.json",
    "schemas/expect.v1.schema.json",
    "schemas/report.v1.schema.json",
];
/// What every file of the archive was last changed at, in seconds since 1970: 1 January 1980, the first day that every
/// archive format can tell.
const CHANGED_AT: u64 = 315_532_800;

/// What the archive holds. Version 1 of the vocabulary: keys may be added.
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

/// Packs the corpus into a directory, the build's own where none is named.
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
    let mut open: Vec<PathBuf> = BESIDE.iter().map(|path| root.join(path)).collect();
    open.push(root.join(FIXTURES));
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                let entry = entry?;
                // What editors and systems leave behind.
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

/// The manifest of a corpus that is as expected; no other is packed.
fn manifest(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>> {
    let sums: BTreeMap<&str, String> =
        files.iter().map(|(path, bytes)| (path.as_str(), sha256(bytes))).collect();
    let corpus = Corpus::open(&root().join(FIXTURES))?;
    let (cases, _) = corpus.select(&[]);
    let run = corpus.run(&cases, Bless::Nothing);
    let is_as_expected = run.failed() + run.unreadable() + run.troubles.len() == 0;
    ensure!(is_as_expected, "the corpus is not as expected: `toolcheck test` tells where");
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
        rules: result.found.iter().map(|found| found.rule).collect(),
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
