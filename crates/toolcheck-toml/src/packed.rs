//! A parsed text in few bytes: each value is a tag, its place if it has one, and what it holds. What is read from it is
//! borrowed, and a part that nobody asks for is skipped. It is a text itself, so that no text in it has to be checked for
//! UTF-8 again: tags and numbers are characters of ASCII.
//!
//! A program that has tables of its own packs them when it is built: then no run parses their text.

use std::ops::Range;

use serde::de::Error as _;
use toml::Spanned as Parsed;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use crate::Error;

/// The name by which the deserializer knows that the bytes of a packed value are enough.
pub(crate) const DEFERRED: &str = "toolcheck_toml::Deferred";

const FALSE: u8 = 0;
const TRUE: u8 = 1;
const SIGNED: u8 = 2;
const UNSIGNED: u8 = 3;
const FLOAT: u8 = 4;
const STRING: u8 = 5;
const ARRAY: u8 = 6;
const TABLE: u8 = 7;
const DATE: u8 = 8;
/// A number that is none, with what is wrong.
const FAULT: u8 = 9;
/// Set in the tag of a value with a place.
const PLACED: u8 = 0x40;

/// Packs a text, without the places of its values. Fails if the text is not TOML.
pub fn pack(text: &str) -> Result<String, Error> {
    let table = DeTable::parse(text)?;
    let mut packed = String::new();
    put_table(&mut packed, table.get_ref(), false);
    Ok(packed)
}

/// Packs a text with the places of its values.
pub(crate) fn with_places(text: &str) -> Result<String, Error> {
    let table = DeTable::parse(text).map_err(|error| unclosed(text).unwrap_or_else(|| error.into()))?;
    let mut packed = String::new();
    put_tag(&mut packed, TABLE, Some(table.span()));
    put_long(&mut packed, &members(table.get_ref(), true));
    Ok(packed)
}

/// The error about the first quote that is not closed: what follows it is not read as it was meant. All errors of a long text
/// would be too many.
fn unclosed(text: &str) -> Option<Error> {
    const LONGEST: usize = 1 << 14;
    if text.len() > LONGEST {
        return None;
    }
    let errors = DeTable::parse_recoverable(text).1.into_iter();
    let strings = errors.filter(|error| error.message().contains(" string, expected"));
    let error = strings.min_by_key(|error| error.span().map(|span| span.end))?;
    let end = error.span()?.end;
    let quote = error.message().strip_suffix('`')?.chars().last()?.to_string();
    let quotes = quote.repeat(if error.message().contains("multi-line") { 3 } else { 1 });
    Some(Error::custom(error.message()).at(text.get(..end)?.rfind(&quotes)?..end))
}

/// A packed table with what it lacks of another one, in the tables below it too. These keys of the other do not count.
/// Fails if one is not a packed table.
pub fn overlay(own: &str, other: &str, without: &[&str]) -> Result<String, Error> {
    let (own, other) = (Packed::whole(own)?, Packed::whole(other)?);
    let Content::Table(others) = other.content()? else { return Err(damaged()) };
    let kept = others.members().filter(|member| match member {
        Ok((key, _)) => key.text().is_ok_and(|key| !without.contains(&key)),
        Err(_) => true,
    });
    laid_over(own, kept)
}

fn laid_over<'p>(
    own: Packed<'p>,
    others: impl Iterator<Item = Result<(Packed<'p>, Packed<'p>), Error>>,
) -> Result<String, Error> {
    let Content::Table(below) = own.content()? else { return Err(damaged()) };
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let mut members = String::new();
    let mut known = Vec::new();
    for member in below.members() {
        let (key, value) = member?;
        let name = key.text()?;
        known.push(name);
        members.push_str(key.whole);
        let other = others.iter().find(|(other, _)| other.text().is_ok_and(|other| other == name));
        match (value.content()?, other.map(|(_, other)| other.content()).transpose()?) {
            (Content::Table(_), Some(Content::Table(other))) => {
                members.push_str(&laid_over(value, other.members())?);
            }
            _ => members.push_str(value.whole),
        }
    }
    for (key, value) in others {
        if !known.contains(&key.text()?) {
            members.push_str(key.whole);
            members.push_str(value.whole);
        }
    }
    let mut packed = String::with_capacity(members.len() + 16);
    put_tag(&mut packed, TABLE, own.place());
    put_long(&mut packed, &members);
    Ok(packed)
}

/// A packed table, whose values are looked at one by one.
#[derive(Debug, Clone, Copy)]
pub struct Table<'p>(Values<'p>);

/// A value of a packed table.
#[derive(Debug, Clone, Copy)]
pub enum Item<'p> {
    /// A text.
    Text(&'p str),
    /// A table.
    Table(Table<'p>),
    /// Anything else.
    Other,
}

impl<'p> Table<'p> {
    /// The table that was packed; `None` if this is none.
    pub fn of(packed: &'p str) -> Option<Self> {
        match Packed::whole(packed).ok()?.content() {
            Ok(Content::Table(members)) => Some(Self(members)),
            _ => None,
        }
    }

    /// Its keys with their values, as far as they can be read.
    pub fn members(self) -> impl Iterator<Item = (&'p str, Item<'p>)> {
        self.0.members().flatten().filter_map(Self::member)
    }

    /// The same for some keys. What is under others is not looked at: it may be long.
    pub fn members_under<const N: usize>(self, keys: [&str; N]) -> impl Iterator<Item = (&'p str, Item<'p>)> {
        let is_wanted = move |key: Packed<'_>| keys.contains(&key.held);
        self.0.members().flatten().filter(move |(key, _)| is_wanted(*key)).filter_map(Self::member)
    }

    fn member((key, value): (Packed<'p>, Packed<'p>)) -> Option<(&'p str, Item<'p>)> {
        let value = match value.content().ok()? {
            Content::String(text) => Item::Text(text),
            Content::Table(members) => Item::Table(Table(members)),
            _ => Item::Other,
        };
        Some((key.text().ok()?, value))
    }

    /// The texts under some keys. What is under others is not looked at.
    pub fn texts<const N: usize>(self, keys: [&str; N]) -> [Option<&'p str>; N] {
        let mut texts = [None; N];
        for (key, value) in self.0.members().flatten() {
            if let Some(place) = keys.iter().position(|own| *own == key.held) {
                texts[place] = value.text().ok();
                if texts.iter().all(Option::is_some) {
                    break;
                }
            }
        }
        texts
    }

    /// The text under a key.
    pub fn text(self, key: &str) -> Option<&'p str> {
        self.texts([key])[0]
    }
}

fn put(out: &mut String, value: &Parsed<DeValue<'_>>, has_places: bool) {
    let place = has_places.then(|| value.span());
    match value.get_ref() {
        DeValue::String(text) => put_string(out, STRING, text, place),
        DeValue::Boolean(value) => put_tag(out, if *value { TRUE } else { FALSE }, place),
        DeValue::Integer(number) => match integer(number) {
            Some(Number::Signed(number)) => {
                put_tag(out, SIGNED, place);
                put_number(out, number.cast_unsigned());
            }
            Some(Number::Unsigned(number)) => {
                put_tag(out, UNSIGNED, place);
                put_number(out, number);
            }
            None => put_string(out, FAULT, "integer number overflowed", place),
        },
        DeValue::Float(number) => match float(number) {
            Ok(number) => {
                put_tag(out, FLOAT, place);
                put_number(out, number.to_bits());
            }
            Err(fault) => put_string(out, FAULT, fault, place),
        },
        DeValue::Datetime(_) => put_tag(out, DATE, place),
        DeValue::Array(elements) => {
            let mut inner = String::new();
            for element in elements.iter() {
                put(&mut inner, element, has_places);
            }
            put_tag(out, ARRAY, place);
            put_long(out, &inner);
        }
        DeValue::Table(table) => {
            put_tag(out, TABLE, place);
            put_long(out, &members(table, has_places));
        }
    }
}

fn put_table(out: &mut String, table: &DeTable<'_>, has_places: bool) {
    put_tag(out, TABLE, None);
    put_long(out, &members(table, has_places));
}

fn members(table: &DeTable<'_>, has_places: bool) -> String {
    let mut members = String::new();
    for (key, value) in table {
        put_string(&mut members, STRING, key.get_ref(), has_places.then(|| key.span()));
        put(&mut members, value, has_places);
    }
    members
}

fn put_tag(out: &mut String, tag: u8, place: Option<Range<usize>>) {
    match place {
        Some(Range { start, end }) => {
            out.push(char::from(tag | PLACED));
            put_number(out, start as u64);
            put_number(out, end as u64);
        }
        None => out.push(char::from(tag)),
    }
}

fn put_string(out: &mut String, tag: u8, text: &str, place: Option<Range<usize>>) {
    put_tag(out, tag, place);
    put_long(out, text);
}

fn put_long(out: &mut String, held: &str) {
    put_number(out, held.len() as u64);
    out.push_str(held);
}

/// Six bits a character, the lowest first; the seventh says that there are more.
fn put_number(out: &mut String, mut number: u64) {
    while number >= 0x40 {
        out.push(char::from(number as u8 & 0x3f | 0x40));
        number >>= 6;
    }
    out.push(char::from(number as u8));
}

enum Number {
    Signed(i64),
    Unsigned(u64),
}

fn integer(integer: &DeInteger<'_>) -> Option<Number> {
    let (digits, radix) = (integer.as_str(), integer.radix());
    let signed = i64::from_str_radix(digits, radix).map(Number::Signed);
    signed.or_else(|_| u64::from_str_radix(digits, radix).map(Number::Unsigned)).ok()
}

fn float(float: &DeFloat<'_>) -> Result<f64, &'static str> {
    // As in TOML, `inf` and `nan` are numbers.
    let number: f64 = float.as_str().parse().map_err(|_| "not a number")?;
    if number.is_infinite() && !float.as_str().contains("inf") {
        return Err("floating-point number overflowed");
    }
    Ok(number)
}

/// A packed value, taken apart once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed<'p> {
    /// All of it.
    whole: &'p str,
    tag: u8,
    /// What it holds: a number, or the text after its tag, its place and its length.
    held: &'p str,
}

/// What a packed value is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'p> {
    Boolean(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    String(&'p str),
    Array(Values<'p>),
    Table(Values<'p>),
    Date,
    Fault(&'p str),
}

fn damaged() -> Error {
    Error::custom("the packed table is damaged")
}

impl<'p> Packed<'p> {
    /// The value that was packed.
    pub(crate) fn whole(packed: &'p str) -> Result<Self, Error> {
        let mut values = Values(packed);
        values.value().filter(|_| values.0.is_empty()).ok_or_else(damaged)
    }

    fn place(self) -> Option<Range<usize>> {
        let mut rest = Rest(self.whole.as_bytes().get(1..).filter(|_| self.tag & PLACED != 0)?);
        let mut offset = || usize::try_from(rest.number()?).ok();
        Some(offset()?..offset()?)
    }

    /// The same; an empty place where it has none.
    pub(crate) fn span(self) -> Range<usize> {
        self.place().unwrap_or(0..0)
    }

    /// All of it, if it has no place.
    pub(crate) fn without_place(self) -> Option<&'p str> {
        (self.tag & PLACED == 0).then_some(self.whole)
    }

    #[inline]
    pub(crate) fn content(self) -> Result<Content<'p>, Error> {
        self.read().ok_or_else(damaged)
    }

    #[inline]
    fn read(self) -> Option<Content<'p>> {
        let number = || Rest(self.held.as_bytes()).number();
        Some(match self.tag & !PLACED {
            STRING => Content::String(self.held),
            TABLE => Content::Table(Values(self.held)),
            ARRAY => Content::Array(Values(self.held)),
            FALSE => Content::Boolean(false),
            TRUE => Content::Boolean(true),
            SIGNED => Content::Signed(number()?.cast_signed()),
            UNSIGNED => Content::Unsigned(number()?),
            FLOAT => Content::Float(f64::from_bits(number()?)),
            FAULT if !self.held.is_empty() => Content::Fault(self.held),
            DATE => Content::Date,
            _ => return None,
        })
    }

    fn text(self) -> Result<&'p str, Error> {
        match self.content()? {
            Content::String(text) => Ok(text),
            _ => Err(damaged()),
        }
    }
}

/// Packed values one after another: the elements of an array, or the keys and values of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values<'p>(&'p str);

impl<'p> Values<'p> {
    /// The next value; `None` if there is none, or if it is damaged.
    #[inline]
    fn value(&mut self) -> Option<Packed<'p>> {
        let mut rest = Rest(self.0.as_bytes());
        let tag = rest.byte()?;
        if tag & PLACED != 0 {
            rest.number()?;
            rest.number()?;
        }
        let length = match tag & !PLACED {
            STRING | ARRAY | TABLE | FAULT => usize::try_from(rest.number()?).ok()?,
            FALSE | TRUE | DATE => 0,
            SIGNED | UNSIGNED | FLOAT => rest.length_of_number()?,
            _ => return None,
        };
        let start = self.0.len() - rest.0.len();
        let (whole, rest) = self.0.split_at_checked(start.checked_add(length)?)?;
        self.0 = rest;
        // What starts within a character is damaged.
        Some(Packed { whole, tag, held: whole.get(start..)? })
    }

    /// The next key of a table, with its value.
    pub(crate) fn next_member(&mut self) -> Option<Result<(Packed<'p>, Packed<'p>), Error>> {
        let key = self.next()?;
        let value = self.value().ok_or_else(damaged);
        Some(key.and_then(|key| Ok((key, value?))))
    }

    /// The keys and values of a table.
    pub(crate) fn members(mut self) -> impl Iterator<Item = Result<(Packed<'p>, Packed<'p>), Error>> {
        std::iter::from_fn(move || self.next_member())
    }
}

impl<'p> Iterator for Values<'p> {
    type Item = Result<Packed<'p>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let value = self.value();
        if value.is_none() {
            // Nothing follows what is damaged.
            self.0 = "";
        }
        Some(value.ok_or_else(damaged))
    }
}

/// What is not read yet.
struct Rest<'p>(&'p [u8]);

impl Rest<'_> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            small @ ..0x40 => Some(small.into()),
            first => self.large_number(first),
        }
    }

    fn large_number(&mut self, first: u8) -> Option<u64> {
        let mut number = u64::from(first & 0x3f);
        for shift in (6..u64::BITS).step_by(6) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x3f) << shift;
            if byte & 0x40 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn length_of_number(&self) -> Option<usize> {
        self.0.iter().position(|byte| byte & 0x40 == 0).map(|last| last + 1)
    }
}
