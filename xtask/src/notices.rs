//! The licences of the crates that are linked into what is published: the program, the module of WebAssembly and the
//! extension of Python, for the file `THIRD-PARTY-NOTICES.txt` in each of their packages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::root;

/// The generated file, which is part of the program's packages.
pub(crate) const FILE: &str = "crates/toolcheck-cli/THIRD-PARTY-NOTICES.txt";

/// Something that is published with other crates linked into it.
struct Product {
    /// The crate that is built, and what it becomes.
    name: &'static str,
    what: &'static str,
    workspace: &'static str,
    /// The systems that it is built for.
    target: &'static str,
    /// The features that a release has, besides those by default.
    features: &'static str,
    file: &'static str,
}

const PRODUCTS: [Product; 3] = [
    Product {
        name: "toolcheck-cli",
        what: "The program toolcheck",
        workspace: ".",
        target: "all",
        features: "tls",
        file: FILE,
    },
    Product {
        name: "toolcheck-wasm",
        what: "The module toolcheck.wasm",
        workspace: "bindings/wasm",
        target: "wasm32-unknown-unknown",
        features: "",
        file: "bindings/wasm/THIRD-PARTY-NOTICES.txt",
    },
    Product {
        name: "toolcheck-python",
        what: "The Python package toolcheck-lint",
        workspace: "bindings/python",
        target: "all",
        features: "",
        file: "bindings/python/THIRD-PARTY-NOTICES.txt",
    },
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    authors: Vec<String>,
    repository: Option<String>,
    manifest_path: PathBuf,
    /// `None` for the crates of this repository.
    source: Option<String>,
}

pub(crate) fn write() -> Result<()> {
    PRODUCTS.iter().try_for_each(|product| Ok(fs::write(root().join(product.file), product.notices()?)?))
}

/// Checks that the files are up to date.
pub(crate) fn check() -> Result<()> {
    for product in &PRODUCTS {
        let there = fs::read_to_string(root().join(product.file)).unwrap_or_default();
        ensure!(there == product.notices()?, "{} is not up to date: run `cargo xtask notices`", product.file);
    }
    Ok(())
}

impl Product {
    fn notices(&self) -> Result<String> {
        let metadata = cargo(self, &["metadata", "--locked", "--all-features", "--format-version=1"])?;
        page(self.what, &serde_json::from_str(&metadata)?, &self.linked()?)
    }

    /// The crates that are linked into it, as `name vVERSION`.
    fn linked(&self) -> Result<BTreeSet<String>> {
        let (package, target) = (format!("--package={}", self.name), format!("--target={}", self.target));
        let features = format!("--features={}", self.features);
        let tree = cargo(
            self,
            &[
                "tree",
                "--locked",
                &package,
                &features,
                "--edges=normal,no-proc-macro",
                &target,
                "--prefix=none",
                "--format={p}",
            ],
        )?;
        let name = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        Ok(tree.lines().map(name).collect())
    }
}

/// What the file says of the crates that are linked.
fn page(what: &str, metadata: &Metadata, linked: &BTreeSet<String>) -> Result<String> {
    let is_linked = |package: &&Package| {
        package.source.is_some() && linked.contains(&format!("{} v{}", package.name, package.version))
    };
    let packages: Vec<&Package> = metadata.packages.iter().filter(is_linked).collect();
    ensure!(packages.len() > 50, "the linked crates are found");
    // The crates of each text: many have the same.
    let mut texts = BTreeMap::<String, BTreeSet<String>>::new();
    let mut list = BTreeSet::new();
    for package in &packages {
        let name = format!("{} {}", package.name, package.version);
        let license = package.license.as_deref().context("a crate has a licence")?;
        list.insert(format!("{name} ({license}) {}", package.repository.as_deref().unwrap_or_default()));
        for text in texts_of(with_texts(package, &packages)?, license)? {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    let mut page = format!(
        "{what} contains the standard library of Rust (MIT OR Apache-2.0) and the following libraries.\nFile written by `cargo xtask notices`.\n\n",
    );
    list.iter().for_each(|line| page.push_str(&format!("{}\n", line.trim_end())));
    let mut texts: Vec<_> = texts.iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    for (names, text) in texts {
        let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        page.push_str(&format!("\n{}\n{names}\n\n{text}\n", "=".repeat(80)));
    }
    Ok(page)
}

/// The crate with the licence texts of a crate: its own, unless its package has none, and another one of the same
/// repository has them and is under the same licence.
fn with_texts<'p>(package: &'p Package, all: &[&'p Package]) -> Result<&'p Package> {
    let has_texts = |package: &Package| -> Result<bool> {
        let folder = package.manifest_path.parent().context("a manifest is in a folder")?;
        Ok(!license_files(folder)?.is_empty())
    };
    if has_texts(package)? || package.license.as_deref().is_some_and(|license| license.contains("MIT")) {
        return Ok(package);
    }
    for other in all {
        let is_sibling = other.repository.is_some()
            && (&other.repository, &other.license) == (&package.repository, &package.license);
        if is_sibling && has_texts(other)? {
            return Ok(other);
        }
    }
    Ok(package)
}

/// The texts to ship for a crate: those of MIT where that is offered, and otherwise all; notices always.
fn texts_of(package: &Package, license: &str) -> Result<Vec<String>> {
    let folder = package.manifest_path.parent().context("a manifest is in a folder")?;
    let offers_mit = !license.contains("AND") && license.contains("MIT");
    let mut files = license_files(folder)?;
    let is_of_mit = |name: &String| name.to_uppercase().contains("MIT");
    if offers_mit && files.iter().any(is_of_mit) {
        files.retain(|name| is_of_mit(name) || name.to_uppercase().starts_with("NOTICE"));
    }
    if files.is_empty() {
        // The package has no text of its licence, so it is that of MIT with the names of its authors.
        ensure!(offers_mit, "{} {} has no licence text: {license}", package.name, package.version);
        let own = fs::read_to_string(root().join("LICENSE-MIT"))?;
        let (_, terms) = own.split_once("\n\nPermission").context("our own licence is MIT")?;
        let authors = match package.authors.join(", ") {
            authors if authors.is_empty() => format!("the authors of {}", package.name),
            authors => authors,
        };
        return Ok(vec![format!("Copyright (c) {authors}\n\nPermission{}", tidy(terms))]);
    }
    files.extend(license_files_of_sources(&folder.join("c_src"))?.iter().map(|name| format!("c_src/{name}")));
    files.iter().map(|name| Ok(tidy(&fs::read_to_string(folder.join(name))?))).collect()
}

/// The licence files below a folder with the sources of C libraries, which have licences of their own.
fn license_files_of_sources(folder: &Path) -> Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = license_files(folder)?;
    for entry in fs::read_dir(folder)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let below = license_files_of_sources(&path)?;
        names.extend(below.iter().map(|file| format!("{}/{file}", name.display())));
    }
    names.sort();
    Ok(names)
}

/// The names of the files with licences and notices in a folder, sorted.
fn license_files(folder: &Path) -> Result<Vec<String>> {
    const BEGINNINGS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "UNLICENSE", "NOTICE"];
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if BEGINNINGS.iter().any(|start| name.to_uppercase().starts_with(start)) && entry.path().is_file() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// A text without differences that nobody sees.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// The standard output of cargo in the workspace of a product.
fn cargo(product: &Product, arguments: &[&str]) -> Result<String> {
    let mut command = crate::cargo(&root().join(product.workspace));
    let output = command.args(arguments).output().context("cannot run cargo")?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
