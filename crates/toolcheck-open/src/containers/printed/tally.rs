//! How the values of a text were written, for the finding that says so.

use toolcheck_json::origins::Notation;

use crate::literal::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    As(Language),
    /// In a string, encoded so often.
    Encoded(usize),
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    first: Option<usize>,
    python: usize,
    javascript: usize,
    json: usize,
    encoded: usize,
    /// How often those in strings were encoded, if that is the same for all.
    times: Option<usize>,
}

impl Tally {
    pub(super) fn add(&mut self, written: Written, at: usize) {
        self.first.get_or_insert(at);
        match written {
            Written::As(Language::Python) => self.python += 1,
            Written::As(Language::JavaScript) => self.javascript += 1,
            Written::As(Language::Json) => self.json += 1,
            Written::Encoded(times) => {
                let is_same = self.encoded == 0 || self.times == Some(times);
                self.times = Some(times).filter(|_| is_same);
                self.encoded += 1;
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.python + self.javascript + self.json + self.encoded
    }

    /// How they are written, in one finding: a program that encodes twice does so each time.
    pub(super) fn notation(&self) -> Option<Notation> {
        let times = match self.times {
            Some(2) => "twice".to_owned(),
            Some(times) => format!("{times} times"),
            None => "more than once".to_owned(),
        };
        let (encoded, all_encoded) = (
            format!("a body that was encoded {times}: JSON in a string"),
            format!("bodies that were encoded {times}: JSON in strings"),
        );
        let kinds: [(usize, &str, &str, &str); 4] = [
            (
                self.python,
                "a Python literal, not JSON",
                "Python literals, not JSON",
                "it was read as if written by `json.dumps`; use `json.dumps` to check exactly what is sent",
            ),
            (
                self.javascript,
                "a JavaScript literal, not JSON",
                "JavaScript literals, not JSON",
                "it was read as if written by `JSON.stringify`; use `JSON.stringify` to check exactly what is sent",
            ),
            (
                self.encoded,
                &encoded,
                &all_encoded,
                "only the contents of the string were checked; send those",
            ),
            (
                self.json,
                "JSON with other text around it (Markdown, or a line of a log)",
                "JSON values with other text around them (Markdown, or the lines of a log)",
                "only that value was checked; write it to a file of its own",
            ),
        ];
        let mut found = kinds.into_iter().filter(|(count, ..)| *count > 0);
        let said = |(count, one, several, _): (usize, &str, &str, &str)| match count {
            1 => one.to_owned(),
            count => format!("{count} {several}"),
        };
        let first = found.next()?;
        let what = std::iter::once(first).chain(found).map(said).collect::<Vec<_>>().join("; ");
        Some(Notation { what, at: self.first?, caption: "written like this", advice: first.3 })
    }
}
