//! A file as a tree whose keys and values have places, which the types that a target is read into do not keep.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::names::{Named, meaning};
use crate::values::FileFault;

pub(super) type Table<'t> = DeTable<'t>;

/// A string, or a key, and its place in the file.
#[derive(Debug, Clone)]
pub(super) struct Name<'t> {
    pub(super) text: &'t str,
    pub(super) span: Range<usize>,
}

impl Name<'_> {
    pub(super) fn fault(&self, message: impl Into<String>) -> FileFault {
        FileFault(self.span.clone(), message.into())
    }

    /// The thing with this name. That there is none is put with what else was found.
    pub(super) fn meaning<N: Named>(&self, found: &mut Vec<FileFault>) -> Option<N::Meaning> {
        meaning::<N>(self.text, self.span.clone()).map_err(|fault| found.push(fault)).ok()
    }
}

pub(super) fn under<'t>(table: &'t Table<'t>, key: &str) -> Option<&'t Table<'t>> {
    table.get(key)?.get_ref().as_table()
}

pub(super) fn tables<'t>(table: &'t Table<'t>, key: &str) -> impl Iterator<Item = &'t Table<'t>> {
    elements(table.get(key)).filter_map(|element| element.get_ref().as_table())
}

pub(super) fn named_tables<'t>(table: &'t Table<'t>) -> impl Iterator<Item = (Name<'t>, &'t Table<'t>)> {
    table.iter().filter_map(|(key, value)| {
        let name = Name { text: key.get_ref(), span: key.span() };
        Some((name, value.get_ref().as_table()?))
    })
}

/// The members of a table that are strings.
pub(super) fn texts<'t>(table: &'t Table<'t>) -> impl Iterator<Item = Name<'t>> {
    table.values().filter_map(name_of)
}

/// The strings under these keys, alone or in lists.
pub(super) fn names<'t, 'k>(
    table: &'t Table<'t>,
    keys: &'k [&'k str],
) -> impl Iterator<Item = Name<'t>> + use<'t, 'k> {
    keys.iter().flat_map(|key| {
        let value = table.get(*key);
        value.into_iter().filter_map(name_of).chain(elements(value).filter_map(name_of))
    })
}

fn elements<'t>(value: Option<&'t Spanned<DeValue<'t>>>) -> impl Iterator<Item = &'t Spanned<DeValue<'t>>> {
    value.and_then(|value| value.get_ref().as_array()).into_iter().flat_map(|list| list.iter())
}

pub(super) fn name_of<'t>(value: &'t Spanned<DeValue<'t>>) -> Option<Name<'t>> {
    Some(Name { text: value.get_ref().as_str()?, span: value.span() })
}
