//! Texts that are not JSON, and what to do with them.

use super::{AS_EXCHANGE, languages, lines};

/// A kind of file that is not JSON, recognised by its first bytes.
#[derive(Debug)]
pub struct Text {
    /// What it is, with its article.
    pub name: &'static str,
    /// What to do.
    pub advice: &'static str,
    pub(super) sniff: fn(&[u8]) -> bool,
}

pub(super) const fn text(name: &'static str, advice: &'static str, sniff: fn(&[u8]) -> bool) -> Text {
    Text { name, advice, sniff }
}

const BODIES: &str = "check the JSON bodies in it, each as a file or one per line";

/// The kinds of files with rows that may be transcripts.
static TABLES: &[Text] = &[
    Text {
        name: "a Parquet file",
        advice: "write its rows as JSON Lines first: `duckdb -c \"COPY 'FILE' TO 'rows.jsonl' (FORMAT json)\"`",
        // The second is the start of one with an encrypted footer.
        sniff: |head| head.starts_with(b"PAR1") || head.starts_with(b"PARE"),
    },
    Text {
        name: "an Arrow file",
        advice: "write its rows as JSON Lines first: `load_dataset(\"arrow\", data_files=\"FILE\", split=\"train\").to_json(\"rows.jsonl\")`, with `load_dataset` of `datasets`",
        // The second is the start of a stream, a mark and the length of its schema.
        sniff: |head| {
            head.starts_with(b"ARROW1\0\0") || matches!(head, [0xFF, 0xFF, 0xFF, 0xFF, _, _, 0, 0, ..])
        },
    },
    text(
        "a SQLite database",
        "write its rows as JSON Lines first: `sqlite3 -json FILE 'SELECT ...'`",
        |head| head.starts_with(b"SQLite format 3\0"),
    ),
    // The length of a record, its checksum, and JSON or an `Example`.
    text("a TFRecord file", "write its rows as JSON Lines first, with `tf.data.TFRecordDataset`", |head| {
        matches!(head, [_, _, _, _, 0, 0, 0, 0, _, _, _, _, b'{' | b'\n', ..])
    }),
];

/// The other kinds of files that are recognised by their first bytes.
static TEXTS: &[Text] = &[
    text("a ZIP archive", "unpack it, and check the JSON files in it", |head| {
        head.starts_with(b"PK\x03\x04")
    }),
    text("a PDF file", "leave it out", |head| head.starts_with(b"%PDF-")),
    text("an image", "leave it out", |head| {
        head.starts_with(b"\x89PNG") || head.starts_with(b"\xFF\xD8\xFF") || head.starts_with(b"GIF8")
    }),
    text("an executable file", "leave it out", |head| head.starts_with(b"\x7FELF")),
    text("an httprr recording of HTTP requests", BODIES, |head| head.starts_with(b"httprr trace v1")),
    text("an event stream: a streamed response", AS_EXCHANGE, is_event_stream),
    text("a curl command", "check only the body: the argument of `-d`", |head| head.starts_with(b"curl ")),
    text("an HTTP message", "check the body alone", |head| {
        head.starts_with(b"POST ") || head.starts_with(b"HTTP/1") || head.starts_with(b"HTTP/2")
    }),
    Text {
        name: "LangChain's messages as Python prints them",
        advice: "write them as JSON: `json.dumps(messages_to_dict(messages))`, with `messages_to_dict` of `langchain_core.messages`",
        sniff: is_langchain,
    },
    text("a YAML cassette of recorded HTTP requests", BODIES, is_cassette),
    Text {
        name: "Markdown without a code block that holds a readable request",
        advice: "put the whole request into a block of its own, between two lines of three backticks, or into a file of its own",
        sniff: is_markdown,
    },
    text(
        "the lines of a log, and none of them holds a message that can be read",
        "check the JSON in it, one value per line",
        |head| head.trim_ascii_start().strip_prefix(b"[").is_some_and(lines::is_bracketed),
    ),
    Text {
        name: "messages of Protocol Buffers as text",
        advice: "write them as JSON: `type(message).to_json(message)` of `proto-plus`, or `MessageToJson` of `google.protobuf.json_format`",
        sniff: is_protocol_buffers,
    },
    text("YAML", "convert it: `yq -o=json FILE`", is_yaml),
];

/// The kind of file whose text begins like this, where that is not JSON and is known.
pub fn of_text(bytes: &[u8]) -> Option<&'static Text> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    // JSON begins with a bracket or a quote; magic bytes have no whitespace before them.
    match head.trim_ascii_start() {
        [] | [b'"', ..] => return None,
        [b'[', rest @ ..] if lines::is_bracketed(rest) || is_protocol_buffers(rest) => {}
        [b'{' | b'[', rest @ ..] if !is_literal(rest) => return languages::find(head),
        _ => {}
    }
    of_table(bytes).or_else(|| languages::find(head)).or_else(|| TEXTS.iter().find(|kind| (kind.sniff)(head)))
}

/// The kind of file that begins like this, where it has rows that may be transcripts.
pub fn of_table(bytes: &[u8]) -> Option<&'static Text> {
    TABLES.iter().find(|kind| (kind.sniff)(bytes))
}

/// Whether the first bracket of a text is one of Python, and not of JSON.
fn is_literal(rest: &[u8]) -> bool {
    rest.first().is_some_and(|byte| *byte == b'\'' || byte.is_ascii_uppercase())
}

/// The first lines of contents and of responses of Gemini, as `google-generativeai` prints them.
const PROTOCOL_BUFFERS: [&[u8]; 3] = [b"parts {", b"candidates {", b"contents {"];

/// Whether a text, perhaps in a list of Python's, begins as a message of Protocol Buffers that has another one in it.
fn is_protocol_buffers(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let first = lines(head.strip_prefix(b"[").unwrap_or(head)).next().unwrap_or_default();
    PROTOCOL_BUFFERS.contains(&first.trim_ascii())
}

const MESSAGES_OF_LANGCHAIN: [&[u8]; 5] =
    [b"HumanMessage(", b"AIMessage(", b"SystemMessage(", b"ToolMessage(", b"AIMessageChunk("];

/// Whether a text is what Python prints of a list of LangChain's messages, or of the state of a graph with one.
fn is_langchain(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let list = head.strip_prefix(b"{'messages': ").unwrap_or(head);
    let first = list.strip_prefix(b"[").unwrap_or(list);
    MESSAGES_OF_LANGCHAIN.iter().any(|class| first.starts_with(class))
}

/// How much of a file is looked at.
const HEAD: usize = 64 << 10;

/// Whether a text has a block of Markdown. Texts in YAML may have one too, but then it is indented.
fn is_markdown(head: &[u8]) -> bool {
    let is_fence = |line: &[u8]| {
        line.starts_with(b"```") && !line.iter().skip_while(|byte| **byte == b'`').any(|byte| *byte == b'`')
            || line.starts_with(b"~~~")
    };
    let is_inner = |line: &[u8]| {
        let marks = line.iter().take_while(|byte| matches!(byte, b' ' | b'>' | b'-')).count();
        is_fence(&line[marks..])
    };
    let mut lines = head.split(|byte| *byte == b'\n');
    if is_yaml(head) { lines.any(is_fence) } else { lines.any(is_inner) }
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty())
}

fn is_event_stream(head: &[u8]) -> bool {
    lines(head).find(|line| !line.starts_with(b":")).is_some_and(|line| {
        line.strip_prefix(b"data:")
            .is_some_and(|data| matches!(data.trim_ascii_start().first(), Some(b'{' | b'[')))
            || line.starts_with(b"event:")
    })
}

/// The words that begin a recording of HTTP requests, at the beginning of a line.
const CASSETTES: [&[u8]; 4] = [b"interactions:", b"http_interactions:", b"when:", b"requests:"];

/// Whether a text begins like a recording of HTTP requests: a program may write one that cannot be read.
pub fn is_recording(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    is_cassette(head) && memchr::memmem::find(head, b"http").is_some()
}

fn is_cassette(head: &[u8]) -> bool {
    // Evaluations have a list of this name too, without requests in it.
    let is_own = |word: &[u8]| word != CASSETTES[0] || memchr::memmem::find(head, b"request").is_some();
    lines(head).take(4).any(|line| CASSETTES.iter().any(|word| line.starts_with(word) && is_own(word)))
}

/// Whether the text begins with the mark of a YAML document, or with keys that have no quotes.
fn is_yaml(head: &[u8]) -> bool {
    let is_key = |line: &[u8]| {
        let length = line
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            .count();
        length > 0
            && line[0].is_ascii_alphabetic()
            && line[length..].starts_with(b":")
            && matches!(line.get(length + 1), None | Some(b' '))
    };
    let mut lines = lines(head).filter(|line| !line.starts_with(b"#"));
    lines.next().is_some_and(|first| {
        first == b"---" || first.starts_with(b"--- ") || is_key(first) && lines.next().is_some()
    })
}
