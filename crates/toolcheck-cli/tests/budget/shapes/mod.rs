//! Shapes of input that cost much, or did once: too much of one thing, or of two at the same time.
//!
//! To add a shape, add a line to `shapes.toml` if there is as much as there is room for of some things, or else to `all` of
//! the file for its kind: a name and a function that makes about this many bytes of it. If its cost is a product, such as of
//! findings and the length of a name, give each half of the bytes.

pub(crate) mod conversations;
pub(crate) mod diffs;
pub(crate) mod exchanges;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod projects;
pub(crate) mod recordings;
pub(crate) mod requests;
pub(crate) mod schemas;

use std::collections::BTreeMap;

use serde::Deserialize;

/// A shape of input.
pub(crate) struct Shape {
    /// What there is much of.
    pub(crate) name: String,
    /// What is run.
    pub(crate) run: Run,
    /// Makes the files of about this many bytes.
    pub(crate) make: Box<dyn Fn(usize) -> Vec<File>>,
    /// The smallest size that is tried. Twice and four times as much are tried too.
    pub(crate) from: usize,
    /// The most bytes that may be held at once for each byte of the files.
    pub(crate) held: usize,
    /// The most bytes that may be written for each byte of the files.
    pub(crate) written: usize,
}

/// A file of a shape.
#[derive(Clone)]
pub(crate) struct File {
    /// Its path in the folder of the run.
    pub(crate) name: String,
    /// Its content.
    pub(crate) bytes: Vec<u8>,
    /// The number of bytes that are read of it: more than it has if it is compressed.
    pub(crate) read: usize,
}

/// What is run in the folder with the files. If files have these names, they are used: `toolcheck.toml`, `target.toml`,
/// `tools.json`, `list.txt` (the list of files) and `baseline.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Run {
    /// `toolcheck lint`, in each output.
    Lint,
    /// `toolcheck lint --kind dataset`.
    Dataset,
    /// `toolcheck lint` with all rules, those of taste too.
    AllRules,
    /// `toolcheck lint --write-baseline`.
    WriteBaseline,
    /// `toolcheck show --all --text` of the file `input.json`, in each output.
    Show,
    /// `toolcheck explain --error` with the content of `error.txt`.
    Explain,
    /// `toolcheck test`.
    Test,
    /// `toolcheck diff` of the files `before.json` and `after.json`, in each output.
    Diff,
}

impl Shape {
    /// A shape of one file.
    pub(crate) fn new(name: impl Into<String>, make: impl Fn(usize) -> String + 'static) -> Self {
        Self::of_bytes(name, move |size| make(size).into_bytes())
    }

    /// A shape of one file that is not text.
    pub(crate) fn of_bytes(name: impl Into<String>, make: impl Fn(usize) -> Vec<u8> + 'static) -> Self {
        Self::of_files(name, move |size| vec![File::new("input.json", make(size))])
    }

    /// A shape of several files.
    pub(crate) fn of_files(name: impl Into<String>, make: impl Fn(usize) -> Vec<File> + 'static) -> Self {
        Self { name: name.into(), run: Run::Lint, make: Box::new(make), from: 8 << 10, held: 64, written: 64 }
    }

    /// The shape, if something else is run.
    pub(crate) fn run(mut self, run: Run) -> Self {
        self.run = run;
        self
    }

    /// The shape, if less than this many bytes have another cost, as with what is read in pieces.
    pub(crate) fn from(mut self, from: usize) -> Self {
        self.from = from;
        self
    }

    /// The shape, if it has a fault for every few bytes: of 256 KB, more findings are found than listed, and 64 MB may be
    /// held.
    pub(crate) fn of_findings(self) -> Self {
        self.from(64 << 10).holds(256)
    }

    /// The shape, if it may hold this many bytes for each byte.
    pub(crate) fn holds(mut self, held: usize) -> Self {
        self.held = held;
        self
    }
}

impl File {
    /// A file that is read as it is.
    pub(crate) fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self { name: name.into(), read: bytes.len(), bytes }
    }
}

/// A shape in `shapes.toml`, which says what the keys mean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    name: String,
    #[serde(default)]
    each: String,
    r#in: Option<String>,
    around: Option<[String; 3]>,
    file: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, Vec<Part>>,
    #[serde(default)]
    findings: bool,
    run: Option<Run>,
    from: Option<usize>,
    holds: Option<usize>,
}

/// A part of a file.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Part {
    Text(String),
    Named { text: String },
    Things(Things),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Things {
    each: String,
    between: Option<String>,
    share: Option<f64>,
    times: Option<usize>,
    per: Option<usize>,
    #[serde(default)]
    first: usize,
}

#[derive(Deserialize)]
struct Lists {
    places: BTreeMap<String, [String; 3]>,
    texts: BTreeMap<String, String>,
    #[serde(flatten)]
    groups: BTreeMap<String, Vec<Listed>>,
}

/// The shapes of a group that `shapes.toml` has.
pub(crate) fn listed(group: &str) -> Vec<Shape> {
    let mut lists: Lists = toml::from_str(include_str!("../shapes.toml")).expect("it is a list of shapes");
    let shapes = lists.groups.remove(group).unwrap_or_default();
    shapes.into_iter().map(|shape| shape.made(&lists)).collect()
}

impl Listed {
    fn made(self, lists: &Lists) -> Shape {
        let mut files = self.files;
        if files.is_empty() {
            let place = self.r#in.as_deref().unwrap_or_default();
            let [start, between, end] = self.around.unwrap_or_else(|| lists.places[place].clone());
            let file = if place == "lines" { "input.jsonl" } else { "input.json" };
            let things = Things {
                each: self.each,
                between: Some(between),
                share: None,
                times: None,
                per: None,
                first: 0,
            };
            let parts = vec![Part::Text(start), Part::Things(things), Part::Text(end)];
            files.insert(self.file.unwrap_or_else(|| file.to_owned()), parts);
        }
        for part in files.values_mut().flatten() {
            if let Part::Named { text } = part {
                *part = Part::Text(lists.texts[text].clone());
            }
        }
        let is_input =
            |name: &String| name.starts_with("input") || name == "error.txt" || name == "before.json";
        let input = (!files.keys().any(is_input)).then(|| File::new("input.json", lines::unanswered("c")));
        let shape = Shape::of_files(self.name, move |size| {
            let made = files.iter().map(|(name, parts)| File::new(name, text(parts, size)));
            made.chain(input.clone()).collect()
        });
        let shape = if self.findings { shape.of_findings() } else { shape };
        let (run, from, held) = (shape.run, shape.from, shape.held);
        shape.run(self.run.unwrap_or(run)).from(self.from.unwrap_or(from)).holds(self.holds.unwrap_or(held))
    }
}

fn text(parts: &[Part], size: usize) -> String {
    let lengths = parts.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 0 });
    let room = size.saturating_sub(lengths.sum()) as f64;
    let made = parts.iter().map(|part| match part {
        Part::Text(text) | Part::Named { text } => text.clone(),
        Part::Things(things) => {
            let Things { each, between, share, times, per, first } = things;
            let (between, share) = (between.as_deref().unwrap_or(","), share.unwrap_or(1.0));
            let item = |number: usize| {
                let [own, next] = [0, 1].map(|more| (first + number + more).to_string());
                each.replace("#+", &next).replace('#', &own)
            };
            match times.or(per.map(|per| size / per)) {
                Some(times) => (0..times).map(item).collect::<Vec<_>>().join(between),
                None => list((room * share) as usize, "", between, "", item),
            }
        }
    });
    made.collect()
}

/// As many items as there is room for, between a beginning and an end, with something between them.
pub(crate) fn list(
    size: usize,
    start: &str,
    between: &str,
    end: &str,
    item: impl Fn(usize) -> String,
) -> String {
    let mut text = start.to_owned();
    for number in 0.. {
        if text.len() + end.len() >= size && number > 0 {
            break;
        }
        if number > 0 {
            text.push_str(between);
        }
        text.push_str(&item(number));
    }
    text + end
}

/// A request with a member beside its messages.
pub(crate) fn beside(key: &str, value: &str) -> String {
    format!("{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}],\"{key}\":{value}}}")
}

/// A Chat Completions request with many messages.
pub(crate) fn messages(size: usize, item: impl Fn(usize) -> String) -> String {
    list(size, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},", ",", "]}", item)
}

/// A call of Chat Completions.
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> String {
    let arguments = arguments.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "{{\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":\"{name}\",\"arguments\":\"{arguments}\"}}}}"
    )
}

/// A message of Chat Completions with calls.
pub(crate) fn calling(calls: &str) -> String {
    format!("{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{calls}]}}")
}

/// A result of Chat Completions.
pub(crate) fn result(id: &str, text: &str) -> String {
    format!("{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"{text}\"}}")
}

/// A tool of Chat Completions.
pub(crate) fn tool(name: &str, schema: &str) -> String {
    format!("{{\"type\":\"function\",\"function\":{{\"name\":\"{name}\",\"parameters\":{schema}}}}}")
}
