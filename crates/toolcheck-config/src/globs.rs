//! Patterns for files and folders in a configuration.

use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};
use toolcheck_core::text;

use crate::Error;

/// Patterns for files and folders, with the syntax of `.gitignore`, but for `!`: a pattern without a slash matches a name at any
/// depth, one with a slash a path relative to a folder. `*` matches within a name, `**` across folders.
#[derive(Debug, Clone, Default)]
pub struct PathGlobs {
    /// The folder that the patterns are relative to.
    folder: PathBuf,
    patterns: Vec<PathGlob>,
}

#[derive(Debug, Clone)]
struct PathGlob {
    pattern: Pattern,
    /// Whether it matches a name at any depth.
    is_name: bool,
}

/// `*` matches within a name, and names that start with a dot are like any other.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

impl PathGlobs {
    /// Compiles patterns relative to a folder.
    ///
    /// # Errors
    ///
    /// A pattern is invalid.
    pub fn new<'p>(folder: &Path, patterns: impl IntoIterator<Item = &'p str>) -> Result<Self, Error> {
        Self::compile(folder, patterns).map_err(|(_, message)| Error::new(message))
    }

    /// Like [`Self::new`], but the error is the number of the invalid pattern and a message.
    pub(crate) fn compile<'p>(
        folder: &Path,
        patterns: impl IntoIterator<Item = &'p str>,
    ) -> Result<Self, (usize, String)> {
        let compile = |(number, text)| PathGlob::new(text).map_err(|message| (number, message));
        let patterns = patterns.into_iter().enumerate().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { folder: folder.to_owned(), patterns })
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether all patterns are paths without wildcards, relative to the folder.
    pub fn is_literal(&self) -> bool {
        let is_path = |glob: &PathGlob| !glob.is_name && !glob.pattern.as_str().contains(['*', '?', '[']);
        self.patterns.iter().all(is_path)
    }

    /// Whether a pattern matches this file or folder itself.
    pub fn is_exactly(&self, path: &Path) -> bool {
        self.below(path).is_some_and(|names| self.match_names(&names))
    }

    /// Whether a pattern matches this file, or a folder that contains it.
    pub fn covers(&self, path: &Path) -> bool {
        self.below(path).is_some_and(|names| (1..=names.len()).any(|depth| self.match_names(&names[..depth])))
    }

    fn match_names(&self, names: &[String]) -> bool {
        let path = names.join("/");
        self.patterns.iter().any(|glob| {
            let text = if glob.is_name { names.last().map_or("", String::as_str) } else { &path };
            glob.pattern.matches_with(text, OPTIONS)
        })
    }

    /// The names on the way from the folder to a path; `None` if the path is not inside the folder.
    fn below(&self, path: &Path) -> Option<Vec<String>> {
        if self.is_empty() {
            return None;
        }
        let below = path.strip_prefix(&self.folder).ok()?;
        let names = below.components().filter(|part| matches!(part, Component::Normal(_)));
        // Of names that are not UTF-8, none is matched by the name of another.
        Some(names.map(|name| text::name_of(name.as_os_str().as_encoded_bytes())).collect())
    }
}

impl PathGlob {
    fn new(text: &str) -> Result<Self, String> {
        if Path::new(text)
            .components()
            .any(|part| matches!(part, Component::ParentDir | Component::Prefix(_)))
        {
            return Err(format!("`{text}` points outside the folder that it is relative to"));
        }
        if text.starts_with('!') {
            let why = "is negated, which is not supported; write `[!]` for a literal `!`";
            return Err(format!("`{text}` {why}"));
        }
        let inner = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
        if inner.is_empty() {
            return Err(format!("`{text}` matches nothing; use `*` to match everything"));
        }
        let pattern = Pattern::new(inner.trim_start_matches('/'));
        let pattern = pattern.map_err(|error| format!("`{text}` is not a valid glob: {error}"))?;
        Ok(Self { pattern, is_name: !inner.contains('/') })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_the_folder_do_not_match() {
        let globs = PathGlobs::new(Path::new("/project"), ["*"]).expect("it is a glob");
        assert!(!globs.covers(Path::new("/elsewhere/a.json")));
        assert!(!globs.covers(Path::new("/project")));
        assert!(!PathGlobs::default().covers(Path::new("a.json")));
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_not_utf8_is_no_other() {
        use std::os::unix::ffi::OsStrExt as _;

        let path = Path::new(std::ffi::OsStr::from_bytes(b"/project/a\xff.json"));
        let covers =
            |pattern: &str| PathGlobs::new(Path::new("/project"), [pattern]).expect(pattern).covers(path);
        assert!(covers("*.json") && covers("a*"));
        assert!(!covers("a\u{fffd}.json") && !covers("b*"));
    }

    #[test]
    fn an_exact_match_ignores_the_contents_of_a_folder() {
        let globs = PathGlobs::new(Path::new("/project"), ["vendor"]).expect("it is a glob");
        assert!(
            globs.is_exactly(Path::new("/project/a/vendor"))
                && !globs.is_exactly(Path::new("/project/vendor/a.json"))
        );
    }

    #[test]
    fn patterns_that_match_nothing_are_rejected() {
        for (pattern, message) in [
            ("../a", "`../a` points outside the folder that it is relative to"),
            ("", "`` matches nothing; use `*` to match everything"),
            ("!a", "`!a` is negated, which is not supported; write `[!]` for a literal `!`"),
            ("./", "`./` matches nothing; use `*` to match everything"),
        ] {
            let patterns = ["fine", pattern];
            let error = PathGlobs::compile(Path::new("/project"), patterns).expect_err(pattern);
            assert_eq!(error, (1, message.to_owned()));
            let error = PathGlobs::new(Path::new("/project"), patterns).expect_err(pattern);
            assert_eq!((error.to_string(), error.position()), (message.to_owned(), None));
        }
        assert!(PathGlobs::new(Path::new(""), ["[a"]).is_err());
    }
}
