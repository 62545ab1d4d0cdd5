//! Makes lists of the texts of scenarios, of conversations and of the sources of checks, in the order of `<folder>.txt`.
#![allow(clippy::disallowed_macros, reason = "Cargo reads what a build script prints")]

use std::path::Path;
use std::{env, fs};

fn main() {
    let out = env::var_os("OUT_DIR").expect("Cargo names the folder");
    let root = env::current_dir().expect("there is a folder");
    for folder in ["scenarios", "conversations", "checks"] {
        println!("cargo::rerun-if-changed={folder}\ncargo::rerun-if-changed={folder}.txt");
        let ids = fs::read_to_string(format!("{folder}.txt")).expect("there is a list");
        let path = |id: &str| root.join(folder).join(id).with_extension("toml");
        let list: String =
            ids.lines().map(|id| format!("({id:?}, include_str!({:?})), ", path(id))).collect();
        let made = Path::new(&out).join(format!("{folder}.rs"));
        fs::write(made, format!("&[{list}]")).expect("it can be written");
    }
}
