//! What must be built in to read a kind of file.

use toolcheck_json::origins::NotBuilt;

/// What must be built in to read a kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// The feature `yaml`, unless the file is JSON.
    Yaml,
    Otel,
    Zip,
    Parquet,
    Sqlite,
}

impl Needs {
    pub(crate) fn lacking(self, bytes: &[u8]) -> Option<NotBuilt> {
        match self {
            Self::Yaml if !cfg!(feature = "yaml") && !is_json(bytes) => Some(YAML),
            Self::Otel if !cfg!(feature = "otel") => Some(OTEL),
            Self::Zip if !cfg!(feature = "zip") => Some(ZIP),
            Self::Parquet if !cfg!(feature = "parquet") => Some(PARQUET),
            Self::Sqlite if !cfg!(feature = "sqlite") => Some(SQLITE),
            _ => None,
        }
    }
}

const YAML: NotBuilt = NotBuilt::new("YAML", "build it with the feature `yaml` of toolcheck-open");
const OTEL: NotBuilt = NotBuilt::new(
    "messages as events of OpenTelemetry",
    "build it with the feature `otel` of toolcheck-open",
);
const ZIP: NotBuilt = NotBuilt::new("ZIP archives", "build it with the feature `zip` of toolcheck-open");
const PARQUET: NotBuilt = NotBuilt::new(
    "Parquet",
    "write its rows as JSON Lines first: `duckdb -c \"COPY 'FILE' TO 'rows.jsonl' (FORMAT json)\"`, or install it with `--features parquet`",
);
const SQLITE: NotBuilt = NotBuilt::new(
    "SQLite",
    "export the session with its agent first: `opencode export`, `goose session export --format json`; or install it with `--features sqlite`",
);
pub(crate) const COMPRESSED: NotBuilt =
    NotBuilt::new("compressed bodies", "build it with the feature `compress` of toolcheck-open");

pub(crate) fn is_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}
