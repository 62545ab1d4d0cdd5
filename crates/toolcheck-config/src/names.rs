//! The names of rules, formats, targets and the like in a configuration.

use std::ops::Range;

use serde::Deserialize;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::protocols::{self, Protocol};
use toolcheck_core::{Level, RuleId, targets};
use toolcheck_toml::Spanned;

use crate::values::FileFault;
use toolcheck_core::suggest::{similar, unknown};
use toolcheck_lint::Rule;
use toolcheck_lint::rules;
use toolcheck_lint::settings::{CommandLimit, SYSTEMS};
use toolcheck_open::FileFormat;

/// A value and its place in the file.
#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
pub(super) struct At<T>(Spanned<T>);

impl<T> At<T> {
    pub(super) fn get(&self) -> &T {
        self.0.get()
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.0.span()
    }

    pub(super) fn fault(&self, message: impl Into<String>) -> FileFault {
        FileFault(self.span(), message.into())
    }

    pub(super) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// A name that can be looked up, such as the id of a rule.
pub(super) trait Named {
    /// The type of the named thing.
    type Meaning;
    /// The kind of name in messages, such as `rule`.
    const KIND: &'static str;

    /// The name as written.
    fn text(&self) -> &str;

    /// The names to list in messages.
    fn all() -> Vec<&'static str>;

    /// All names that are accepted, including aliases.
    fn names() -> Vec<&'static str> {
        Self::all()
    }

    /// Finds the thing with this name.
    fn find(name: &str) -> Option<Self::Meaning>;
}

impl<N: Named> At<N> {
    /// Finds the named thing, or returns an error that the name is unknown.
    pub(super) fn meaning(&self) -> Result<N::Meaning, FileFault> {
        meaning::<N>(self.get().text(), self.span())
    }
}

/// Finds the thing with a name at a place of the file, or returns an error that the name is unknown.
pub(super) fn meaning<N: Named>(name: &str, span: Range<usize>) -> Result<N::Meaning, FileFault> {
    N::find(name).ok_or_else(|| {
        let all = N::all();
        let unknown = unknown(N::KIND, name, N::names());
        // A short list is shown in full. A suggestion says more.
        let is_listed = all.len() < 10 && similar(name, N::names()).name().is_none();
        let others = if is_listed { format!(" (expected one of {})", all.join(", ")) } else { String::new() };
        FileFault(span, format!("{unknown}{others}"))
    })
}

macro_rules! named {
    ($(#[doc = $doc:literal] $name:ident, $kind:literal: $all:expr, $find:expr $(, or $names:expr)? => $meaning:ty;)+) => {$(
        #[doc = $doc]
        #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
        #[serde(transparent)]
        pub(super) struct $name(String);

        impl Named for $name {
            type Meaning = $meaning;
            const KIND: &'static str = $kind;

            fn text(&self) -> &str {
                &self.0
            }

            fn all() -> Vec<&'static str> {
                $all.collect()
            }

            $(fn names() -> Vec<&'static str> {
                $names.collect()
            })?

            fn find(name: &str) -> Option<$meaning> {
                $find(name)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "description": $doc.trim(), "type": "string", "enum": Self::names() })
            }
        }
    )+};
}

pub(super) use named;

named! {
    /// The id of a rule.
    RuleName, "rule": RuleId::ALL.iter().map(|id| id.as_str()), rules::find => &'static Rule;
    /// The id of a format.
    FormatId, "format": FileFormat::all().map(FileFormat::id), FileFormat::named, or FileFormat::names() => FileFormat;
    /// The level of a finding.
    LevelName, "level": ["error", "warning"].into_iter(), |name: &str| name.parse().ok() => Level;
    /// The kind of transcript; a session or dataset may end with calls that have no result yet.
    KindName, "kind": TranscriptKind::ALL.iter().map(|kind| kind.as_str()), |name: &str| name.parse().ok() => TranscriptKind;
    /// A protocol for tool calls in plain text.
    ProtocolId, "protocol": protocols::ALL.iter().map(|protocol| protocol.id), |name: &str| {
        protocols::ALL.iter().copied().find(|protocol| protocol.id == name)
    } => &'static Protocol;
    /// An operating system that runs commands.
    SystemName, "system": ["linux", "macos", "windows"].into_iter(), |name: &str| {
        let is_named = |limit: &&CommandLimit| limit.system.is_some_and(|system| system.eq_ignore_ascii_case(name));
        SYSTEMS.iter().find(is_named).cloned()
    } => CommandLimit;
}

/// The id of a target, or the path of a TOML file that describes one, relative to the configuration's folder.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct TargetText(pub(super) String);

impl At<TargetText> {
    pub(super) fn unknown(&self) -> FileFault {
        let text = &self.get().0;
        self.fault(unknown("target", text, targets::names()))
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}
