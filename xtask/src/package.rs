//! Packages the crates, and checks them as their users get them.
//!
//! Cargo's own verification is not used: it unpacks a dependency into the registry's folder only once per version, so
//! after a change it would build against the old contents.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{cargo, notices, root, target};

/// Packages the crates into `target/package`, and checks that they build: all at once, or `each` by itself.
///
/// In one build, a feature that one crate enables hides that another forgot it. One by one finds that, and takes ten times
/// as long.
pub(crate) fn check(how: Option<&str>) -> Result<()> {
    ensure!(matches!(how, None | Some("each")), "usage: cargo xtask package [each]");
    notices::check()?;
    let packages = target().join("package");
    // Packages of an earlier version or of removed crates.
    for old in crates(&packages).unwrap_or_default() {
        fs::remove_file(packages.join(format!("{old}.crate")))?;
    }
    run(cargo(&root()).args([
        "package",
        "--package=toolcheck-*",
        "--no-verify",
        "--locked",
        "--allow-dirty",
        "--quiet",
    ]))?;
    let crates = crates(&packages)?;
    let unpacked = packages.join("unpacked");
    if unpacked.exists() {
        fs::remove_dir_all(&unpacked)?;
    }
    fs::create_dir_all(&unpacked)?;
    let mut manifest =
        String::from("[workspace]\nresolver = \"3\"\nmembers = [\"toolcheck-*\"]\n\n[patch.crates-io]\n");
    for folder in &crates {
        let package = packages.join(format!("{folder}.crate"));
        // `m`: all files of a package have the same old date, so cargo would not notice changes.
        run(Command::new("tar").arg("-xmzf").arg(&package).arg("-C").arg(&unpacked))?;
        println!("{:5} KiB  {folder}", fs::metadata(&package)?.len().div_ceil(1024));
        let (name, _) = folder.rsplit_once('-').context("a package has a version")?;
        manifest.push_str(&format!("{name} = {{ path = \"{folder}\" }}\n"));
    }
    let (_, notices) = notices::FILE.rsplit_once('/').context("the notices are in a folder")?;
    let program = crates.iter().find(|folder| folder.starts_with("toolcheck-cli-"));
    let program = program.context("the program has a package")?;
    ensure!(unpacked.join(program).join(notices).is_file(), "the package of the program has no {notices}");
    // With other profiles, all dependencies would be checked again.
    let own = fs::read_to_string(root().join("Cargo.toml"))?;
    let profiles = own.find("[profile.").context("the workspace has profiles")?;
    manifest.push_str(&own[profiles..]);
    fs::write(unpacked.join("Cargo.toml"), manifest)?;
    fs::copy(root().join("Cargo.lock"), unpacked.join("Cargo.lock"))?;
    if how.is_none() {
        return run(checking(&unpacked).arg("--workspace"));
    }
    for folder in &crates {
        run(&mut checking(&unpacked.join(folder)))?;
    }
    Ok(())
}

/// Checks what is in a folder, with the dependencies that are checked already.
fn checking(folder: &Path) -> Command {
    let mut cargo = cargo(folder);
    cargo.args(["check", "--quiet"]).env("CARGO_TARGET_DIR", target());
    cargo
}

/// The packages in a folder, sorted: `toolcheck-json-0.1.0`.
fn crates(packages: &Path) -> Result<Vec<String>> {
    let mut crates = Vec::new();
    for entry in fs::read_dir(packages)? {
        let name = entry?.file_name().into_string().ok();
        crates.extend(name.as_deref().and_then(|name| name.strip_suffix(".crate")).map(str::to_owned));
    }
    crates.sort();
    Ok(crates)
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
