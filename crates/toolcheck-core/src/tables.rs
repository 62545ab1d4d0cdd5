//! The tables that are compiled in: folders of TOML files, which the build script has packed and listed.

use std::sync::OnceLock;

use serde::de::DeserializeOwned;

use crate::error::Error;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// A folder with the names and the packed contents of its files.
type Folder = (&'static str, &'static [(&'static str, &'static str)]);

/// The `N` tables of a folder, by the names of their files. Each is read when it is first asked for.
pub(crate) struct Tables<T: 'static, const N: usize> {
    folder: Folder,
    read: fn(&str) -> Result<T, Error>,
    tables: [OnceLock<T>; N],
}

impl<T: DeserializeOwned, const N: usize> Tables<T, N> {
    pub(crate) const fn new(folder: Folder) -> Self {
        Self::read_by(folder, |packed| {
            toolcheck_toml::from_packed(packed).map_err(|error| Error::new(error.message()))
        })
    }
}

impl<T, const N: usize> Tables<T, N> {
    pub(crate) const fn read_by(folder: Folder, read: fn(&str) -> Result<T, Error>) -> Self {
        Self { folder, read, tables: [const { OnceLock::new() }; N] }
    }

    /// The names of the files: those with an `order` by it, and others sorted.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.folder.1.iter().map(|(id, _)| *id)
    }

    pub(crate) fn all(&'static self) -> impl Iterator<Item = &'static T> {
        (0..N).map(|number| self.load(number))
    }

    pub(crate) fn find(&'static self, id: &str) -> Option<&'static T> {
        self.number(id).map(|number| self.load(number))
    }

    pub(crate) fn packed(&self, id: &str) -> Option<&'static str> {
        self.number(id).map(|number| self.folder.1[number].1)
    }

    fn number(&self, id: &str) -> Option<usize> {
        let files = self.folder.1;
        // Most folders are sorted by the names.
        let sorted = files.binary_search_by_key(&id, |(own, _)| own).ok();
        sorted.or_else(|| files.iter().position(|(own, _)| *own == id))
    }

    fn load(&'static self, number: usize) -> &'static T {
        self.tables[number].get_or_init(|| {
            let (folder, files) = self.folder;
            let (id, packed) = files[number];
            // Tests read each table, so that it can't fail for users.
            toolcheck_toml::read_in_place(packed, || (self.read)(packed))
                .unwrap_or_else(|error| panic!("{folder}/{id}.toml: {error}"))
        })
    }
}
