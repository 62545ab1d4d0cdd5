//! Detects the format of a document from its content.
//!
//! A format claims a document by its messages: a role *and* a block or key that it knows. One key, such as `input` or
//! `parts`, never is enough, because logs, traces and data sets use the same words. `docs/detection.md` tells users.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::LazyLock;

use toolcheck_json::{Document, JsonStr, Value, sort_by_position};

use crate::claim::certainty::{self, CERTAIN, SURE, SURE_OF_DIALECT, SURE_OF_RECORD};
use crate::claim::{self, MESSAGES_LOOKED_AT};
use crate::formats::{self, ALL, Format};
use crate::ir::FormatId;
use crate::keys::Keys;
use crate::{exchange, response, unsupported};

/// How near the second format must come to the first, in percent, to be reported.
const NEAR: u32 = 70;

/// How much surer than the usual dialect of its file another must be of a record that has marks of neither.
const MUCH_SURER: u8 = 20;

/// How many exchanges of a document are looked at to recognise their format.
const EXCHANGES_LOOKED_AT: usize = 16;

/// What is known of a file's format.
#[derive(Debug)]
#[non_exhaustive]
pub struct Detection {
    /// For each format of [`ALL`], how sure it is of the documents together.
    sure: Vec<u32>,
    /// The same of the documents that leave it open.
    open: Vec<u32>,
    /// How sure the surest was of one document.
    surest: u8,
}

impl Default for Detection {
    fn default() -> Self {
        Self { sure: vec![0; ALL.len()], open: vec![0; ALL.len()], surest: 0 }
    }
}

/// The format of a file, and what speaks against it.
#[derive(Debug, Clone, Copy)]
pub struct Detected {
    /// The surest format.
    pub format: &'static Format,
    /// Another one that is nearly as likely.
    pub rival: Option<&'static Format>,
}

/// A value whose format is looked for, with how sure each format is of it: none is asked twice.
#[derive(Debug)]
pub struct Candidate<'d, 's> {
    value: Value<'d, 's>,
    /// By the numbers of the formats in [`ALL`].
    sure: [OnceCell<u8>; ALL.len()],
}

impl<'d, 's> Candidate<'d, 's> {
    /// A candidate that no format was asked about.
    pub fn new(value: Value<'d, 's>) -> Self {
        Self { value, sure: [const { OnceCell::new() }; ALL.len()] }
    }

    /// The value.
    pub fn value(&self) -> Value<'d, 's> {
        self.value
    }

    /// How sure a format is of the value.
    pub fn sure(&self, format: &Format) -> u8 {
        let number = ALL.iter().position(|known| known.id == format.id);
        number.map_or(0, |number| self.sure_by_number(number))
    }

    /// Whether a format is sure enough of the value to read it as one of its own in a file of another.
    pub fn is_likely(&self, format: &Format) -> bool {
        self.sure(format) >= SURE_OF_RECORD
    }

    /// Whether no other format is possible.
    pub fn is_certain(&self, format: &Format) -> bool {
        self.sure(format) >= CERTAIN
    }

    /// Whether it is what a program stores of a session, and no request.
    pub fn is_stored(&self) -> bool {
        claim::is_stored(self.value)
    }

    fn sure_by_number(&self, number: usize) -> u8 {
        *self.sure[number].get_or_init(|| (ALL[number].sniff)(self.value))
    }

    /// The surest of the formats whose numbers `counts` lets through, and how sure it is.
    fn surest(&self, counts: impl Fn(usize) -> bool) -> Option<(u8, &'static Format)> {
        let numbers = (0..ALL.len()).filter(|number| counts(*number));
        numbers.map(|number| (self.sure_by_number(number), ALL[number])).max_by_key(|(sure, _)| *sure)
    }

    /// The formats that are as likely as the one that most of the file is written in, the surest first, each with how
    /// sure it is: those of the same family, or any other, if the usual one hardly knows the value.
    pub fn likely_as(&self, usual: &Format) -> Vec<(u8, &'static Format)> {
        let own = self.sure(usual);
        let is_other =
            |other: &Format| other.id != usual.id && (own < certainty::TEXT || other.family == usual.family);
        let others = (0..ALL.len()).filter(|number| is_other(ALL[*number]));
        let others = others.map(|number| (self.sure_by_number(number), ALL[number]));
        let mut likely: Vec<_> = others.filter(|(sure, _)| *sure > 0 && *sure >= own).collect();
        sort_by_position(&mut likely, |(sure, _)| usize::from(u8::MAX - sure));
        likely
    }
}

impl Detection {
    /// Adds a document.
    pub fn add(&mut self, document: &Document<'_>) {
        let root = document.root();
        match exchange::exchanges(root) {
            Some(exchanges) => {
                exchanges
                    .iter()
                    .take(EXCHANGES_LOOKED_AT)
                    .for_each(|exchange| self.add_request(exchange.request, exchange.response));
            }
            None => self.add_request(root, None),
        }
    }

    fn add_request(&mut self, root: Value<'_, '_>, response: Option<Value<'_, '_>>) {
        if unsupported::find(root).is_some() {
            return;
        }
        let mut sure = ALL.iter().map(|format| (format.sniff)(root)).collect::<Vec<u8>>();
        let mut surest = sure.iter().copied().max().unwrap_or_default();
        let mut is_answered = false;
        if surest < CERTAIN {
            // The API that answered is surer than what several write alike.
            let shown = response.into_iter().flat_map(response::formats_of);
            let numbers = shown.filter_map(|shown| ALL.iter().position(|format| format.id == shown.id));
            let best = numbers.filter(|number| sure[*number] > 0).max_by_key(|number| sure[*number]);
            if let Some(best) = best.filter(|best| sure[*best] < surest) {
                sure[best] = surest + 1;
                is_answered = true;
            }
            surest = sure.iter().copied().max().unwrap_or_default();
        }
        self.surest = self.surest.max(surest);
        for (number, sure) in sure.into_iter().enumerate() {
            self.sure[number] += u32::from(sure);
            if surest < SURE_OF_DIALECT && !is_answered {
                self.open[number] += u32::from(sure);
            }
        }
    }

    /// The format of one record of a file that is written in `usual`, as far as that is known: a log or a data set may
    /// hold several. What a record leaves open, the other records decide.
    ///
    /// The second value says whether the record itself shows the format, so that no other need be looked at.
    pub fn of_record(
        usual: Option<&'static Format>,
        record: &Candidate<'_, '_>,
    ) -> (Option<&'static Format>, bool) {
        let own = usual.map_or(0, |usual| record.sure(usual));
        match usual.filter(|_| own >= SURE_OF_RECORD) {
            None => {
                let format = Self::of_unsure_record(usual, own, record);
                // Of a format that it would be read as in a file of its own, too.
                let is_other = |format: &Format| {
                    usual.is_none_or(|usual| usual.id != format.id) && record.is_likely(format)
                };
                let is_sure = format.is_some_and(|format| {
                    is_other(format)
                        && (record.sure(format) >= SURE_OF_DIALECT || !shows_dialect(format, record.value))
                });
                (format, is_sure)
            }
            // What all dialects write makes a format sure too, so one of them may be surer by its own marks.
            Some(usual) if own < SURE_OF_DIALECT && shows_dialect(usual, record.value) => {
                let is_dialect =
                    |other: usize| ALL[other].family == usual.family && ALL[other].id != usual.id;
                match record.surest(is_dialect).filter(|(sure, _)| *sure >= SURE_OF_DIALECT) {
                    Some((_, dialect)) => (Some(dialect), true),
                    None => (Some(usual), false),
                }
            }
            Some(_) => (usual, true),
        }
    }

    /// The format of the API that answered a request, if the format that the request was detected as has no such
    /// responses: several APIs have requests in common.
    pub fn of_response(
        detected: Option<&'static Format>,
        request: &Candidate<'_, '_>,
        response: Value<'_, '_>,
    ) -> Option<&'static Format> {
        if detected.is_some_and(|format| request.is_certain(format)) {
            return None;
        }
        let shown = response::formats_of(response);
        if shown.iter().any(|format| detected.is_some_and(|detected| detected.id == format.id)) {
            return None;
        }
        let possible = shown.into_iter().filter(|format| request.sure(format) > 0);
        // Of equals the last one: the common form of a dialect comes after it.
        possible.max_by_key(|format| request.sure(format))
    }

    fn of_unsure_record(
        usual: Option<&'static Format>,
        own: u8,
        record: &Candidate<'_, '_>,
    ) -> Option<&'static Format> {
        // A record that the usual format does not know at all may be of any.
        let marked = if own == 0 { EVERY } else { marked(record.value) };
        if marked == 0 {
            // Text alone: the others decide.
            return usual;
        }
        let counts = |format: usize| {
            marked & (1 << format) != 0 && usual.is_none_or(|usual| ALL[format].id != usual.id)
        };
        let other = record.surest(counts);
        let other = other.filter(|(sure, best)| {
            let is_dialect = usual.is_some_and(|usual| usual.family == best.family);
            let least = match own {
                0 => SURE,
                // The usual dialect writes most of what the others do. One that hardly knows the record writes less.
                _ if is_dialect => SURE_OF_DIALECT.min(SURE_OF_RECORD.max(own + MUCH_SURER)),
                _ => SURE_OF_RECORD,
            };
            *sure >= least
        });
        match other {
            None if own > 0 => usual,
            // A record in the shape of the others is not a log or trace.
            _ if own == 0 && (unsupported::find(record.value).is_some() || is_recording(record.value)) => {
                None
            }
            None => usual,
            Some((_, best)) => Some(best),
        }
    }

    /// Whether a glance at a record lets a format, by its number in [`ALL`], look at it.
    pub fn may_be_sure(format: usize, record: Value<'_, '_>) -> bool {
        marked(record) & (1 << format) != 0
    }

    /// Whether a format, by its id, knows a document as one of its own.
    pub fn knows(format: &str, document: Value<'_, '_>) -> bool {
        formats::find(format).is_some_and(|format| (format.sniff)(document) >= SURE)
    }

    /// The format that a document looks like to somebody who reads it as `format` and understands little.
    pub fn instead_of(format: FormatId, document: Value<'_, '_>) -> Option<&'static Format> {
        let candidate = Candidate::new(document);
        let (sure, best) = candidate.surest(|other| ALL[other].family != format.family)?;
        (sure >= SURE).then_some(best)
    }

    /// Whether a document has been seen that only one format writes, so that no other need be looked at.
    pub fn is_certain(&self) -> bool {
        self.surest >= CERTAIN
    }

    /// The format that is surest of the documents together; `None` where none recognises any. `wanted` is the format
    /// of the target that somebody named: it counts where no other is sure, since a text alone is written alike in
    /// many formats.
    pub fn best(&self, wanted: Option<&str>) -> Option<Detected> {
        let wanted = wanted.and_then(|id| ALL.iter().position(|format| format.id == id));
        if let Some(index) = wanted.filter(|index| self.sure[*index] > 0 && self.surest < SURE) {
            return Some(Detected { format: ALL[index], rival: None });
        }
        // Of equals the first: they are equal only where no document shows a difference.
        let (index, sure) = self.sure.iter().enumerate().rev().max_by_key(|(_, sure)| **sure)?;
        if *sure == 0 {
            return None;
        }
        // Documents that are certain ask for no second opinion.
        let others = self.open.iter().enumerate().rev().filter(|(other, _)| *other != index);
        let rival = others.max_by_key(|(_, sure)| **sure);
        let is_near = |(_, sure): &(usize, &u32)| **sure > 0 && **sure * 100 >= self.open[index] * NEAR;
        let rival = rival.filter(is_near).filter(|_| self.open[index] > 0);
        Some(Detected { format: ALL[index], rival: rival.map(|(index, _)| ALL[index]) })
    }
}

/// Whether a record is a list of requests with their addresses, whose bodies may be texts.
fn is_recording(record: Value<'_, '_>) -> bool {
    let first = record.elements().next().and_then(|first| first.get("request"));
    first.is_some_and(|request| request.is_object() && request.get_any(&["url", "uri"]).is_some())
}

/// Whether a record has a mark of a dialect of its format: a glance, as that of [`marked`], since most records of most
/// files are looked at.
fn shows_dialect(usual: &Format, record: Value<'_, '_>) -> bool {
    let is_dialect = |format: &&&Format| format.family == usual.family && format.id != usual.id;
    let any =
        |has_mark: &dyn Fn(&Format) -> bool| ALL.iter().filter(is_dialect).any(|format| has_mark(format));
    let shows = |message: Value<'_, '_>| {
        message.members().any(|member| match member.key_text().as_deref() {
            Some("role" | "name") | None => false,
            Some("content") => member.elements().take(BLOCKS_LOOKED_AT).any(is_unusual),
            Some(key) if usual.marks.message.contains(&key) => false,
            Some(key) => any(&|format| format.marks.message.contains(&key)),
        })
    };
    let is_shown_in = |list: Value<'_, '_>| list.elements().take(MESSAGES_LOOKED_AT).any(shows);
    is_shown_in(record)
        || record.members().any(|member| match member.key_text().as_deref() {
            Some("messages") => is_shown_in(member),
            Some("model") => {
                member.as_str().is_some_and(|model| any(&|format| format.marks.has_model(&model)))
            }
            Some("tools" | "stream" | "temperature") | None => false,
            Some(key) => any(&|format| format.marks.body.contains(&key)),
        })
}

/// Whether a block of a message has another type than those that dialects share.
fn is_unusual(block: Value<'_, '_>) -> bool {
    let is_usual = |kind: JsonStr<'_>| ["text", "image_url"].iter().any(|usual| kind.eq_str(usual));
    !block.get("type").and_then(Value::as_json_str).is_some_and(is_usual)
}

/// Every format, one bit each by their numbers in [`ALL`].
const EVERY: u16 = (1 << ALL.len()) - 1;

/// The formats that may be sure of a record: a glance, since every record of a long file may be looked at.
fn marked(record: Value<'_, '_>) -> u16 {
    /// The formats that have a key for a mark.
    static KEYS: LazyLock<Keys> = LazyLock::new(|| {
        let mut keys = BTreeMap::<&str, u16>::new();
        for (number, format) in ALL.iter().enumerate() {
            format.marks.keys().for_each(|key| *keys.entry(key).or_default() |= 1 << number);
        }
        Keys::new(keys.into_iter().map(|(key, formats)| (key.into(), formats)))
    });
    /// The formats that a role or a type may show, of those that do not show all.
    static WORDS: LazyLock<Keys> = LazyLock::new(|| {
        let mut words = BTreeMap::<&str, u16>::new();
        for (number, format) in ALL.iter().enumerate() {
            let words_of = format.marks.says_nothing.iter();
            words_of.for_each(|word| *words.entry(*word).or_insert(EVERY) &= !(1 << number));
        }
        Keys::new(words.into_iter().map(|(word, formats)| (word.into(), formats)))
    });
    let (keys, words) = (&*KEYS, &*WORDS);
    // By some of these words, some formats are ruled out.
    let rules_out = Cell::new(false);
    // What a message or a block says by its members.
    let of_members = |value: Value<'_, '_>| {
        let by_word = |member: Value<'_, '_>, usual: &[&str]| {
            let shown = match member.as_str() {
                Some(word) if !usual.contains(&&*word) => words.get(&word).unwrap_or(EVERY),
                _ => 0,
            };
            rules_out.set(rules_out.get() || shown != 0);
            shown
        };
        let mut found = 0;
        for member in value.members() {
            found |= match member.key_text().as_deref() {
                Some("content" | "name") | None => 0,
                Some("type") => by_word(member, &["text"]),
                Some("role") => by_word(member, &USUAL_ROLES),
                Some(key) => keys.get(key).unwrap_or_default(),
            };
            if found == EVERY {
                break;
            }
        }
        found
    };
    let mut found = if record.is_object() { of_members(record) } else { 0 };
    if let Some(model) = record.get("model").and_then(Value::as_str) {
        for (number, format) in ALL.iter().enumerate() {
            found |= u16::from(format.marks.has_model(&model)) << number;
        }
    }
    let lists = record.members().filter(|member| member.is_array());
    let lists = lists.chain(Some(record).filter(|record| record.is_array()));
    // What is not looked at, and calls without a type, may show a format that a word rules out.
    let mut may_show_more = false;
    for message in lists.flat_map(|list| list.elements().take(MESSAGES_LOOKED_AT)) {
        found |= of_members(message);
        for member in message.members() {
            let is_of_calls = member.has_key("tool_calls");
            for (number, part) in blocks_of(member).enumerate() {
                found |= of_members(part);
                may_show_more |= number + 1 == BLOCKS_LOOKED_AT || is_of_calls && part.get("type").is_none();
            }
        }
        if found == EVERY {
            break;
        }
    }
    if may_show_more && rules_out.get() { EVERY } else { found }
}

/// The roles that messages of text alone have in most formats.
const USUAL_ROLES: [&str; 3] = ["user", "assistant", "system"];

/// The objects that a member of a message holds: those of a list, or itself.
fn blocks_of<'d, 's>(member: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    member.elements().chain(Some(member).filter(|member| member.is_object())).take(BLOCKS_LOOKED_AT)
}

const BLOCKS_LOOKED_AT: usize = 64;
