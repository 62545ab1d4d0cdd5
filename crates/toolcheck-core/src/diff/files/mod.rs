//! Files with conversations, compared with each other.

mod compared;
mod continued;

use toolcheck_json::origins::{Mapped, Opened};
use toolcheck_json::{Document, Expanded, Layout, Position, Record, Records, Value, locate};

use super::Side;
use super::events::Answer;
use crate::detection::{Candidate, Detection};
use crate::error::Error;
use crate::formats::Format;
use crate::input_format::InputFormat;
use crate::ir::{Place, Transcript};
use crate::readers::{self, Reader, Unit};
use crate::{exchange, response, unsupported};

pub use compared::{Located, Report, Spot, compare};

/// The conversations of a file: a request, several in JSON Lines, or what a reader finds. Of exchanges, a conversation is
/// the last request of it with the answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct File<'s> {
    /// The id of what it was read as: the kind of recording or archive, or else the first format, if the records have
    /// several.
    pub format: &'static str,
    /// The number of parts with calls, results or messages that could not be read.
    pub unread: usize,
    documents: Vec<(Document<'s>, Record<'s>)>,
    conversations: Vec<Conversation<'s>>,
    /// What the text was made of, with the text of the file.
    made_of: Option<(MadeOf<'s>, &'s [u8])>,
}

#[derive(Debug, Clone, Copy)]
enum MadeOf<'s> {
    Opened(&'s Opened),
    /// A text with lists of messages in strings.
    Strings(&'s Mapped),
}

/// The text of a file whose conversations are in strings, as in traces and tables, with these as lists; `None` of any other
/// file.
pub fn expanded(bytes: &[u8], format: Option<InputFormat>) -> Option<Mapped> {
    let (records, _) = Records::reading(bytes);
    let layout = records.layout();
    let first: Vec<Document<'_>> =
        records.take(readers::LOOKED_AT).map(|record| Document::read(record.bytes)).collect();
    let roots: Vec<Value<'_, '_>> = first.iter().map(Document::root).collect();
    let reader = match format {
        Some(format) => format.reader()?,
        None => readers::detect(&roots).or_else(|| is_of_lists(first.iter()).then(readers::of_lists))?,
    };
    let document = match layout {
        Layout::Single => Document::read(bytes),
        _ => Records::laid_out(bytes, layout).document(),
    };
    reader.opened(&document).map(Expanded::into_mapped)
}

/// Whether records that no reader is sure of are in no format either.
fn is_of_lists<'r, 's: 'r>(records: impl Iterator<Item = &'r Document<'s>> + Clone) -> bool {
    let mut detection = Detection::default();
    records.clone().for_each(|record| detection.add(record));
    let mut roots = records.map(Document::root);
    detection.best(None).is_none()
        && roots.any(|root| exchange::exchanges(root).is_none() && readers::may_hold_lists(root))
}

#[derive(Debug)]
struct Conversation<'s> {
    title: String,
    transcript: Transcript<'s>,
    answers: Vec<Answer<'s>>,
    /// Whether it is a request of an exchange, which a later one may continue.
    is_exchange: bool,
    document: usize,
}

impl<'s> Conversation<'s> {
    /// One that a reader has found in a document.
    fn found(title: String, transcript: Transcript<'s>, document: usize) -> Self {
        Self { title, transcript, answers: Vec::new(), is_exchange: false, document }
    }
}

impl<'s> File<'s> {
    /// Reads the conversations in a recording or an archive; `source` is the text of the file. Fails if it is broken,
    /// this program cannot read it, or there is no conversation in it.
    pub fn read_opened(source: &'s [u8], opened: &'s Opened) -> Result<Self, Error> {
        if let Some(lacking) = opened.not_built {
            return Err(Error::new(format!("this build does not read {}: {}", lacking.what, lacking.advice)));
        }
        if let Some(at) = opened.broken_at {
            let line = locate(source, &[at])[0].line;
            return Err(Error::new(format!("the {} is broken in line {line}", opened.name)));
        }
        let why = opened.unread.as_ref().map(|unread| unread.what.clone());
        match why {
            Some(why) if opened.is_other() => return Err(Error::new(why)),
            _ if opened.exchanges > 0 => {}
            why => {
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                return Err(Error::new(format!("there is no conversation in the {}{why}", opened.name)));
            }
        }
        let mut file = Self::read(&opened.text, None)?;
        file.format = opened.id;
        file.unread += usize::from(opened.unread.is_some());
        file.made_of = Some((MadeOf::Opened(opened), source));
        Ok(file)
    }

    /// Reads the conversations of a file that has them in strings; `source` is its text. Fails if it is not JSON, or
    /// there is no conversation in it.
    pub fn read_expanded(
        source: &'s [u8],
        expanded: &'s Mapped,
        format: Option<InputFormat>,
    ) -> Result<Self, Error> {
        let mut file = Self::read(expanded.text(), format)?;
        file.made_of = Some((MadeOf::Strings(expanded), source));
        Ok(file)
    }

    /// Reads the conversations of a file, in this format if one is given. Fails if it is not JSON, or there is no
    /// conversation in it.
    pub fn read(bytes: &'s [u8], format: Option<InputFormat>) -> Result<Self, Error> {
        let (records, _) = Records::reading(bytes);
        let layout = records.layout();
        let read = |record: Record<'s>| (Document::read(record.bytes), record);
        let documents: Vec<_> = Records::laid_out(bytes, layout).map(read).collect();
        if let Some((fault, record)) = documents.iter().find_map(|(document, record)| {
            let is_broken = |fault: &&toolcheck_json::SyntaxError| !fault.kind.is_harmless();
            Some((document.faults().iter().find(is_broken)?, record))
        }) {
            if let Some(kind) = unsupported::of_text(bytes) {
                return Err(Error::new(format!("not a request, but {}", kind.name)));
            }
            let line = record.position.line + locate(record.bytes, &[fault.span.start as usize])[0].line - 1;
            return Err(Error::new(format!("malformed JSON in line {line}: {}", fault.kind.describe())));
        }
        let roots: Vec<Value<'_, 's>> =
            documents.iter().take(readers::LOOKED_AT).map(|(document, _)| document.root()).collect();
        let reader = match format {
            Some(format) => format.reader(),
            None => readers::detect(&roots),
        };
        let file = match reader {
            Some(reader) => Self::read_log(reader, bytes, layout, documents),
            None => {
                let read = Self::read_requests(format.and_then(InputFormat::wire), documents);
                // Lists of messages may be anywhere, in what is nothing else.
                let lists = |documents: Vec<_>| {
                    let are_lists = format.is_none() && are_lists(&documents);
                    are_lists.then(|| Self::read_log(readers::of_lists(), bytes, layout, documents))
                };
                let is_read = |file: &Self| !file.conversations.is_empty();
                read.or_else(|documents| lists(documents).filter(is_read).ok_or(()))
                    .map_err(|()| Error::new("its format is not recognised"))?
            }
        };
        if file.conversations.is_empty() {
            return Err(Error::new("there is no conversation in it"));
        }
        Ok(file)
    }

    fn read_log(
        reader: &'static Reader,
        bytes: &'s [u8],
        layout: Layout,
        documents: Vec<(Document<'s>, Record<'s>)>,
    ) -> Self {
        let mut file =
            Self { format: reader.id, unread: 0, documents, conversations: Vec::new(), made_of: None };
        let is_whole = layout != Layout::Single && reader.unit == Unit::File;
        if is_whole {
            let whole = Record { index: 0, bytes, start: 0, position: Position { line: 1, column: 1 } };
            file.documents = vec![(Records::laid_out(bytes, layout).document(), whole)];
        }
        let mut found = Vec::new();
        for (number, (document, _)) in file.documents.iter().enumerate() {
            let records: Vec<Value<'_, 's>> =
                if is_whole { document.root().elements().collect() } else { vec![document.root()] };
            let read = reader.read(&records).conversations.into_iter();
            found.extend(read.map(|one| Conversation::found(one.title, one.transcript, number)));
        }
        file.unread = found.iter().map(|one| one.transcript.unread.len()).sum();
        file.conversations = found;
        file
    }

    /// Reads a file of requests, or of exchanges. Without any, it gives the documents back.
    fn read_requests(
        wanted: Option<&'static Format>,
        documents: Vec<(Document<'s>, Record<'s>)>,
    ) -> Result<Self, Vec<(Document<'s>, Record<'s>)>> {
        let mut detection = Detection::default();
        for (document, _) in documents.iter().take(DETECTED_BY) {
            detection.add(document);
        }
        let usual = wanted.or_else(|| detection.best(None).map(|best| best.format));
        let mut conversations = Vec::new();
        let (mut first, mut unread) = (None, 0);
        for (number, (document, _)) in documents.iter().enumerate() {
            let root = document.root();
            let exchanges = exchange::exchanges(root);
            let requests: Vec<_> = match &exchanges {
                Some(exchanges) => exchanges.iter().map(|one| (one.request, one.response)).collect(),
                None => vec![(root, None)],
            };
            for (place, (request, answer)) in requests.into_iter().enumerate() {
                let format = wanted.or_else(|| Detection::of_record(usual, &Candidate::new(request)).0);
                let read = format.and_then(|format| Some((format, format.read(request)?)));
                let read = read.filter(|(_, read)| !read.lacks_messages);
                if read.is_none() && wanted.is_none() && exchanges.is_none() {
                    let lists = lists_in(request, number, documents.len());
                    if !lists.is_empty() {
                        first = first.or(Some(readers::of_lists().id));
                        unread += lists.iter().map(|one| one.transcript.unread.len()).sum::<usize>();
                        conversations.extend(lists);
                        continue;
                    }
                }
                let Some((format, transcript)) = read.or_else(|| under_other_key(format, request)) else {
                    unread += 1;
                    continue;
                };
                first = first.or(Some(format.id));
                unread += transcript.unread.len();
                let answers = answer.map(|answer| answers(format, answer));
                unread += usize::from(answers.as_ref().is_some_and(Option::is_none));
                conversations.push(Conversation {
                    title: title(number, exchanges.is_some().then_some(place), documents.len()),
                    transcript,
                    answers: answers.flatten().unwrap_or_default(),
                    is_exchange: exchanges.is_some(),
                    document: number,
                });
            }
        }
        let Some(format) = first else { return Err(documents) };
        let mut file = Self { format, unread, documents, conversations, made_of: None };
        file.keep_last_requests();
        Ok(file)
    }

    fn side<'f>(&'f self, number: usize, bound_as: Option<&Format>) -> Side<'f, 's> {
        let conversation = &self.conversations[number];
        let side = Side::new(&conversation.transcript, &self.documents[conversation.document].0);
        let side = side.answered(&conversation.answers);
        bound_as.map_or(side, |format| side.bound_as(format))
    }
}

fn are_lists(documents: &[(Document<'_>, Record<'_>)]) -> bool {
    documents.iter().all(|(document, _)| readers::may_hold_lists(document.root()))
}

/// The conversations of a record that no format reads: lists of messages at other places, as `toolcheck lint` finds them.
fn lists_in<'s>(record: Value<'_, 's>, number: usize, records: usize) -> Vec<Conversation<'s>> {
    if !readers::may_hold_lists(record) {
        return Vec::new();
    }
    let own = title(number, None, records);
    let read = readers::of_lists().read(&[record]).conversations.into_iter();
    let titled = |title: &str| [own.as_str(), title].join(" ").trim().to_owned();
    read.map(|one| Conversation::found(titled(&one.title), one.transcript, number)).collect()
}

/// The number of records that decide in which format the others are.
const DETECTED_BY: usize = 64;

/// The messages of a request that has them under the key of another API. The format is that of the list, if the request does
/// not show it.
fn under_other_key<'s>(
    format: Option<&'static Format>,
    request: Value<'_, 's>,
) -> Option<(&'static Format, Transcript<'s>)> {
    let list = unsupported::list_of(request).filter(|list| list.is_array())?;
    let format = format.or_else(|| Detection::of_record(None, &Candidate::new(list)).0)?;
    let read = format.read(list).filter(|read| !read.messages.is_empty())?;
    Some((format, read))
}

/// What the model answered; `None` if that could not be read. An error is no answer.
fn answers<'s>(format: &Format, answer: Value<'_, 's>) -> Option<Vec<Answer<'s>>> {
    let Some((choices, said)) = response::read(format, answer) else {
        return response::error_text(answer).is_some().then(Vec::new);
    };
    if said.is_empty() {
        let place = Place::of(answer);
        let choices = choices.into_iter().map(|choice| Answer::Streamed(choice, place));
        return Some(choices.collect());
    }
    Some(said.into_iter().map(|said| Answer::Whole(Box::new(said.transcript))).collect())
}

/// What to call a conversation in a file of several.
fn title(record: usize, exchange: Option<usize>, records: usize) -> String {
    match (exchange, records) {
        (Some(exchange), 1) => format!("request {}", exchange + 1),
        (None, 1) => String::new(),
        _ => format!("record {}", record + 1),
    }
}
