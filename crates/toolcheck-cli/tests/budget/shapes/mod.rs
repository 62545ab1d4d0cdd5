//! Shapes of input that cost much, or did once: too much of one thing, or of two at the same time.
//!
//! To add a shape, add a line to `all` of the file for its kind: a name and a function that makes about this many bytes of
//! it. If its cost is a product, such as of findings and the length of a name, give each half of the bytes.

pub mod conversations;
pub mod diffs;
pub mod exchanges;
pub mod json;
pub mod lines;
pub mod projects;
pub mod recordings;
pub mod requests;
pub mod schemas;

/// A shape of input.
pub struct Shape {
    /// What there is much of.
    pub name: String,
    /// What is run.
    pub run: Run,
    /// Makes the files of about this many bytes.
    pub make: Box<dyn Fn(usize) -> Vec<File>>,
    /// The smallest size that is tried. Twice and four times as much are tried too.
    pub from: usize,
    /// The most bytes that may be held at once for each byte of the files.
    pub held: usize,
    /// The most bytes that may be written for each byte of the files.
    pub written: usize,
}

/// A file of a shape.
pub struct File {
    /// Its path in the folder of the run.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// The number of bytes that are read of it: more than it has if it is compressed.
    pub read: usize,
}

/// What is run in the folder with the files. If files have these names, they are used: `toolcheck.toml`, `target.toml`,
/// `tools.json`, `list.txt` (the list of files) and `baseline.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
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

/// The size from which a log or an archive is read in several pieces.
pub const PIECES: usize = 256 << 10;

impl Shape {
    /// A shape of one file.
    pub fn new(name: impl Into<String>, make: impl Fn(usize) -> String + 'static) -> Self {
        Self::of_bytes(name, move |size| make(size).into_bytes())
    }

    /// A shape of one file that is not text.
    pub fn of_bytes(name: impl Into<String>, make: impl Fn(usize) -> Vec<u8> + 'static) -> Self {
        Self::of_files(name, move |size| vec![File::new("input.json", make(size))])
    }

    /// A shape of several files.
    pub fn of_files(name: impl Into<String>, make: impl Fn(usize) -> Vec<File> + 'static) -> Self {
        Self { name: name.into(), run: Run::Lint, make: Box::new(make), from: 8 << 10, held: 64, written: 64 }
    }

    /// The shape, if something else is run.
    pub fn run(mut self, run: Run) -> Self {
        self.run = run;
        self
    }

    /// The shape, if less than this many bytes have another cost, as with what is read in pieces.
    pub fn from(mut self, from: usize) -> Self {
        self.from = from;
        self
    }

    /// The shape, if it has a fault for every few bytes: of 256 KB, more findings are found than listed, and 64 MB may be
    /// held.
    pub fn of_findings(self) -> Self {
        self.from(64 << 10).holds(256)
    }

    /// The shape, if it may hold this many bytes for each byte.
    pub fn holds(mut self, held: usize) -> Self {
        self.held = held;
        self
    }
}

impl File {
    /// A file that is read as it is.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self { name: name.into(), read: bytes.len(), bytes }
    }
}

/// All shapes.
pub fn all() -> Vec<Shape> {
    let groups = [
        json::all(),
        lines::all(),
        conversations::all(),
        requests::all(),
        schemas::all(),
        exchanges::all(),
        recordings::all(),
        projects::all(),
        diffs::all(),
    ];
    groups.into_iter().flatten().collect()
}

/// As many items as there is room for, between a beginning and an end, with something between them.
pub fn list(size: usize, start: &str, between: &str, end: &str, item: impl Fn(usize) -> String) -> String {
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
pub fn beside(key: &str, value: &str) -> String {
    format!("{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}],\"{key}\":{value}}}")
}

/// A Chat Completions request with many messages.
pub fn messages(size: usize, item: impl Fn(usize) -> String) -> String {
    list(size, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},", ",", "]}", item)
}

/// A request of the Messages API with many blocks in one message, the first of which shows the format.
pub fn blocks(size: usize, item: impl Fn(usize) -> String) -> String {
    let first = "{\"type\":\"text\",\"text\":\"hi\",\"cache_control\":{\"type\":\"ephemeral\"}}";
    let start = "{\"model\":\"claude-x\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":[";
    list(size, &format!("{start}{first},"), ",", "]}]}", item)
}

/// A call of Chat Completions.
pub fn call(id: &str, name: &str, arguments: &str) -> String {
    let arguments = arguments.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "{{\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":\"{name}\",\"arguments\":\"{arguments}\"}}}}"
    )
}

/// A message of Chat Completions with calls.
pub fn calling(calls: &str) -> String {
    format!("{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{calls}]}}")
}

/// A result of Chat Completions.
pub fn result(id: &str, text: &str) -> String {
    format!("{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"{text}\"}}")
}

/// A tool of Chat Completions.
pub fn tool(name: &str, schema: &str) -> String {
    format!("{{\"type\":\"function\",\"function\":{{\"name\":\"{name}\",\"parameters\":{schema}}}}}")
}
