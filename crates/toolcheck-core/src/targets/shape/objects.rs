//! The objects of a shape, each compiled when a value is first checked against it.
//!
//! A format has hundreds of objects, and a file has values of a few of them. So an object gets its number when another
//! one refers to it, and is compiled when it is asked for.

use std::borrow::Cow;
use std::fmt;
use std::ops::Index;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::HashMap;
use toolcheck_toml::Deferred;

use super::compile::Object;
use super::outline::{KnownLinks, Outline};
use super::tables::{Fact, ObjectTable, ShapeFile, TargetShape, object_of};

/// The most objects of a shape are these squared.
const A_BLOCK: usize = 64;

/// The objects of a shape, by number.
pub(super) struct Objects {
    file: &'static ShapeFile,
    pub(super) enforced: Arc<TargetShape>,
    blocks: [OnceLock<Box<[Slot]>>; A_BLOCK],
    numbers: Mutex<HashMap<Names, usize>>,
    /// The numbers in the order in which the tables refer to the objects.
    order: OnceLock<Vec<usize>>,
    /// The numbers of the facts, and of those of what is accepted.
    by_object: OnceLock<[NumbersByObject; 2]>,
}

/// The numbers of facts, by the name of the object that they are about.
type NumbersByObject = HashMap<Box<str>, Vec<usize>>;

/// The name of an object, and that of the object that it is a variant of.
type Names = (Box<str>, Option<Box<str>>);

/// An object that has a number.
#[derive(Default)]
struct Slot {
    names: OnceLock<Names>,
    outline: OnceLock<Outline>,
    object: OnceLock<Object>,
}

impl Objects {
    /// The objects of a format, as a target enforces them. None is compiled yet.
    pub(super) fn new(file: &'static ShapeFile, enforced: Arc<TargetShape>) -> Self {
        Self {
            file,
            enforced,
            blocks: [const { OnceLock::new() }; A_BLOCK],
            numbers: Mutex::default(),
            order: OnceLock::new(),
            by_object: OnceLock::new(),
        }
    }

    /// The number of an object, by itself or as a variant of `base`.
    pub(super) fn number(&self, name: &str, base: Option<&str>) -> Result<usize, String> {
        if !self.enforced.objects.contains_key(name) && !self.file.objects.contains_key(name) {
            return Err(undescribed(name));
        }
        let key = (Box::from(name), base.map(Box::from));
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = numbers.get(&key) {
            return Ok(*number);
        }
        let number = numbers.len();
        let block = self.blocks.get(number / A_BLOCK).ok_or("there are too many objects")?;
        let block = block.get_or_init(|| std::iter::repeat_with(Slot::default).take(A_BLOCK).collect());
        block[number % A_BLOCK].names.get_or_init(|| key.clone());
        numbers.insert(key, number);
        Ok(number)
    }

    fn slot(&self, number: usize) -> Result<(&Slot, &Names), String> {
        let slot = self.blocks[number / A_BLOCK].get().map(|block| &block[number % A_BLOCK]);
        slot.and_then(|slot| Some((slot, slot.names.get()?)))
            .ok_or_else(|| "there is no such object".to_owned())
    }

    /// The name of an object, and that of the object that it is a variant of.
    pub(super) fn names(&self, number: usize) -> Option<(&str, Option<&str>)> {
        let (_, (name, base)) = self.slot(number).ok()?;
        Some((name, base.as_deref()))
    }

    /// What an object is and leads to.
    pub(super) fn outline_of(&self, number: usize) -> Result<&Outline, String> {
        // What is needed for a new outline is more than all that is done with one that is there.
        match self.slot(number)?.0.outline.get() {
            Some(outline) => Ok(outline),
            None => self.outline_with(number, &mut KnownLinks::default()),
        }
    }

    fn outline_with<'o>(&'o self, number: usize, known: &mut KnownLinks<'o>) -> Result<&'o Outline, String> {
        let (slot, (name, base)) = self.slot(number)?;
        if let Some(outline) = slot.outline.get() {
            return Ok(outline);
        }
        let outline = self.outline(name, base.as_deref(), known)?;
        // Another thread may have done the same.
        Ok(slot.outline.get_or_init(|| outline))
    }

    /// Compiles an object if nothing has asked for it yet.
    fn compiled(&self, number: usize) -> Result<&Object, String> {
        let (slot, (name, base)) = self.slot(number)?;
        if let Some(object) = slot.object.get() {
            return Ok(object);
        }
        let mut object = self.compile(name, base.as_deref())?;
        object.base.clone_from(base);
        Ok(slot.object.get_or_init(|| object))
    }

    /// Compiles all objects that can be reached from these.
    ///
    /// # Errors
    ///
    /// If the tables do not fit together.
    pub(super) fn compile_all(&self, from: [usize; 2]) -> Result<(), String> {
        self.all(from)?.iter().try_for_each(|number| self.compiled(*number).map(drop))
    }

    /// All objects that can be reached from these, in the order in which the tables refer to them.
    ///
    /// # Errors
    ///
    /// If the tables do not fit together.
    pub(super) fn all(&self, from: [usize; 2]) -> Result<&[usize], String> {
        if let Some(order) = self.order.get() {
            return Ok(order);
        }
        let mut known = KnownLinks::default();
        let mut order: Vec<usize> = Vec::new();
        let mut is_known: Vec<bool> = Vec::new();
        let mut next: Vec<usize> = from.into_iter().rev().collect();
        while let Some(number) = next.pop() {
            if is_known.len() <= number {
                is_known.resize(number + 1, false);
            }
            if std::mem::replace(&mut is_known[number], true) {
                continue;
            }
            order.push(number);
            next.extend(self.outline_with(number, &mut known)?.below().rev());
        }
        Ok(self.order.get_or_init(|| order))
    }

    /// What the target's table of an object says, over that of the format.
    pub(super) fn tables(&self, name: &str) -> impl Iterator<Item = &Deferred<ObjectTable>> {
        self.enforced.objects.get(name).into_iter().chain(self.file.objects.get(name))
    }

    pub(super) fn table(&self, name: &str) -> Option<Cow<'_, ObjectTable>> {
        let base = self.file.objects.get(name);
        Some(match (self.enforced.objects.get(name), base) {
            (Some(own), Some(base)) => Cow::Owned(own.over(base)),
            (Some(own), None) => Cow::Owned(own.over(&ObjectTable::default())),
            (None, base) => Cow::Borrowed(base?.get()),
        })
    }

    /// Whether keys may also be written in snake case.
    pub(super) fn is_in_snake_case(&self) -> bool {
        self.file.snake_case
    }

    pub(super) fn facts(&self) -> &[Fact] {
        &self.enforced.facts
    }

    /// The numbers of the facts about an object that has these names, in their order.
    pub(super) fn about(&self, names: &[Box<str>]) -> Vec<usize> {
        numbers_of(&self.by_object()[0], names)
    }

    /// The same of the facts of what is accepted.
    pub(super) fn accepted_of(&self, names: &[Box<str>]) -> Vec<usize> {
        numbers_of(&self.by_object()[1], names)
    }

    fn by_object(&self) -> &[NumbersByObject; 2] {
        self.by_object.get_or_init(|| {
            [&self.enforced.facts, &self.enforced.accepted].map(|facts| {
                let mut numbers = NumbersByObject::default();
                for (number, fact) in facts.iter().enumerate() {
                    match numbers.get_mut(object_of(fact)) {
                        Some(known) => known.push(number),
                        None => drop(numbers.insert(object_of(fact).into(), vec![number])),
                    }
                }
                numbers
            })
        })
    }
}

/// The numbers of the facts about an object that has these names.
fn numbers_of(all: &NumbersByObject, names: &[Box<str>]) -> Vec<usize> {
    let mut numbers: Vec<usize> = names.iter().filter_map(|name| all.get(name)).flatten().copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// An object with all that it adds to, and their names.
pub(super) fn extended<T, N: AsRef<str>>(
    name: &str,
    find: impl Fn(&str) -> Result<T, String>,
    extends: impl Fn(&T) -> Option<N>,
    over: impl Fn(T, T) -> T,
) -> Result<(T, Vec<Box<str>>), String> {
    let mut object = find(name)?;
    let mut names: Vec<Box<str>> = vec![name.into()];
    let mut next = extends(&object);
    while let Some(parent) = next {
        let parent = parent.as_ref();
        if names.iter().any(|known| **known == *parent) {
            return Err(format!("the object `{name}` extends itself"));
        }
        let above = find(parent)?;
        next = extends(&above);
        object = over(object, above);
        names.push(parent.into());
    }
    Ok((object, names))
}

/// The error about an object that no table describes.
pub(super) fn undescribed(name: &str) -> String {
    format!("the object `{name}` is not described")
}

impl Index<usize> for Objects {
    type Output = Object;

    #[inline]
    fn index(&self, number: usize) -> &Object {
        let block = self.blocks[number / A_BLOCK].get();
        let object = block.and_then(|block| block[number % A_BLOCK].object.get());
        object.unwrap_or_else(|| self.first_asked(number))
    }
}

impl Objects {
    /// An object that is asked for the first time. [`Self::compile_all`] has shown that it can be compiled: in a test for
    /// the tables that are compiled in, and when it was read for the file of a user.
    #[cold]
    #[inline(never)]
    fn first_asked(&self, number: usize) -> &Object {
        self.compiled(number).unwrap_or_else(|error| panic!("a shape: {error}"))
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = self.blocks.iter().filter_map(OnceLock::get).flatten();
        let compiled = slots.filter(|slot| slot.object.get().is_some()).count();
        f.debug_struct("Objects").field("compiled", &compiled).finish_non_exhaustive()
    }
}
