//! Values as Python has them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::budget::work;
use super::fault::{Fault, RefusalKind, Step, too_much, type_error};
use super::text::Text;

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Undefined(Rc<Missing>),
    None,
    Bool(bool),
    Int(i128),
    /// An integer that is too large to count with, as it is written.
    Big(Arc<str>),
    Float(f64),
    Str(Text),
    List(Rc<List>),
    Tuple(Rc<List>),
    Dict(Rc<Dict>),
    /// What `items()`, `keys()` and `values()` of a dict return.
    View(Rc<Dict>, View),
    Range(Rc<(i128, i128, i128)>),
    /// What can be gone through once.
    Generator(Rc<Generator>),
    Namespace(usize),
    Loop(usize),
    /// A macro and the scope that it sees.
    Macro(u32, usize),
    Method(Rc<(Value, Arc<str>)>),
    Function(Function),
    /// What `cycler` returns, and the number of the next item.
    Cycler(Rc<(Vec<Value>, RefCell<usize>)>),
    /// What `joiner` returns, and whether it was called.
    Joiner(Rc<(Text, RefCell<bool>)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Items,
    Keys,
    Values,
}

/// A function that templates can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    RaiseException,
    StrftimeNow,
    Namespace,
    Range,
    Dict,
    Cycler,
    Joiner,
    Lipsum,
}

/// Why a value is undefined.
#[derive(Debug, Clone)]
pub(crate) enum Missing {
    Name(Arc<str>),
    /// The type of the value, and the name.
    Attribute(&'static str, Arc<str>),
    /// The type of the value, and what was asked for.
    Element(&'static str, String),
    Hint(String),
    /// Something that the sandbox hides.
    Unsafe(String),
}

impl Missing {
    /// The error of a use of the value.
    pub(crate) fn fault(&self) -> Box<Fault> {
        let of = |name: &str| if name == "NoneType" { "None".to_owned() } else { format!("{name} object") };
        let message = match self {
            Self::Name(name) => format!("{} is undefined", super::print::quoted(name)),
            Self::Attribute(type_name, name) => {
                format!("'{}' has no attribute {}", of(type_name), super::print::quoted(name))
            }
            Self::Element(type_name, element) => format!("{} has no element {element}", of(type_name)),
            Self::Hint(hint) => hint.clone(),
            Self::Unsafe(message) => return Fault::new(RefusalKind::Security, message.clone()),
        };
        Fault::new(RefusalKind::Undefined, message)
    }
}

#[derive(Debug, Default, Clone)]
pub(crate) struct List {
    pub(crate) items: Vec<Value>,
    /// How many containers are inside one another.
    depth: u16,
    /// The part of the request that it is.
    pub(crate) source: Option<u32>,
}

/// The most containers inside one another that a template may build.
const DEEPEST: u16 = 150;

impl List {
    pub(crate) fn new(items: Vec<Value>) -> Step<Rc<Self>> {
        let depth = deeper(items.iter())?;
        Ok(Rc::new(Self { items, depth, source: None }))
    }

    pub(crate) fn of_source(items: Vec<Value>, source: Option<u32>) -> Step<Rc<Self>> {
        let depth = deeper(items.iter())?;
        Ok(Rc::new(Self { items, depth, source }))
    }

    /// Adds an item at the end.
    pub(crate) fn push(&mut self, item: Value) -> Step<()> {
        self.depth = self.depth.max(deeper(std::iter::once(&item))?);
        self.items.push(item);
        Ok(())
    }
}

/// What can be gone through once.
#[derive(Debug)]
pub(crate) struct Generator {
    items: RefCell<std::collections::VecDeque<Value>>,
    /// The error that comes after the items.
    fault: RefCell<Option<Box<Fault>>>,
    depth: u16,
}

impl Generator {
    /// A generator of these items. Python would find an error only when it is gone through, so it is kept until then.
    pub(crate) fn of(found: (Vec<Value>, Step<()>)) -> Step<Value> {
        let (items, ended) = found;
        let depth = deeper(items.iter())?;
        let fault = match ended {
            Err(fault) if fault.kind == RefusalKind::TooMuch => return Err(fault),
            ended => RefCell::new(ended.err()),
        };
        Ok(Value::Generator(Rc::new(Self { items: RefCell::new(items.into()), fault, depth })))
    }

    pub(crate) fn whole(items: Vec<Value>) -> Step<Value> {
        Self::of((items, Ok(())))
    }

    /// What is left of it, which is nothing afterwards.
    pub(crate) fn take(&self) -> Step<Vec<Value>> {
        let items = std::mem::take(&mut *self.items.borrow_mut());
        self.fault.borrow_mut().take().map_or(Ok(items.into()), Err)
    }

    pub(crate) fn next(&self) -> Step<Option<Value>> {
        match self.items.borrow_mut().pop_front() {
            None => self.fault.borrow_mut().take().map_or(Ok(None), Err),
            item => Ok(item),
        }
    }
}

fn deeper<'v>(values: impl Iterator<Item = &'v Value>) -> Step<u16> {
    let depth = values.map(Value::depth).max().unwrap_or(0) + 1;
    if depth > DEEPEST { too_much("values are inside one another too deeply") } else { Ok(depth) }
}

/// A dict, in the order in which its keys were added.
#[derive(Debug, Default)]
pub(crate) struct Dict {
    pub(crate) entries: Vec<(Value, Value)>,
    /// The places of the entries in the order of their keys, if there are many of them.
    sorted: Vec<u32>,
    depth: u16,
    /// The part of the request that it is.
    pub(crate) source: Option<u32>,
}

/// With more keys than this, a dict is searched by halves.
const FEW: usize = 12;

impl Dict {
    /// A dict of these entries. The last value of a key counts, at the place of the first.
    pub(crate) fn new(entries: Vec<(Value, Value)>, source: Option<u32>) -> Step<Rc<Self>> {
        // A copy goes through all of it, and sorts it.
        work(entries.len() * 4);
        let depth = deeper(entries.iter().flat_map(|(key, value)| [key, value]))?;
        for (key, _) in &entries {
            key.check_hashable()?;
        }
        let mut dict = Self { entries, sorted: Vec::new(), depth, source };
        dict.unite();
        Ok(Rc::new(dict))
    }

    fn unite(&mut self) {
        if self.entries.len() <= FEW {
            let mut at = 0;
            while at < self.entries.len() {
                let first = self.entries[..at].iter().position(|(key, _)| same_key(key, &self.entries[at].0));
                match first {
                    Some(first) => self.entries[first].1 = self.entries.remove(at).1,
                    None => at += 1,
                }
            }
            return;
        }
        let mut order: Vec<u32> = (0..self.entries.len() as u32).collect();
        order.sort_by_cached_key(|at| (order_key(&self.entries[*at as usize].0), *at));
        let mut dropped = vec![false; self.entries.len()];
        let mut last: Option<usize> = None;
        for at in order {
            let at = at as usize;
            if let Some(first) = last
                && same_key(&self.entries[first].0, &self.entries[at].0)
            {
                self.entries[first].1 = self.entries[at].1.clone();
                dropped[at] = true;
            } else {
                last = Some(at);
            }
        }
        let mut at = 0;
        self.entries.retain(|_| {
            at += 1;
            !dropped[at - 1]
        });
        self.sorted = (0..self.entries.len() as u32).collect();
        let entries = &self.entries;
        self.sorted.sort_by_cached_key(|at| order_key(&entries[*at as usize].0));
    }

    pub(crate) fn get_str(&self, key: &str) -> Option<&Value> {
        if self.sorted.is_empty() {
            let is_key = |own: &Value| matches!(own, Value::Str(text) if text.as_str() == key);
            return self.entries.iter().find(|(own, _)| is_key(own)).map(|(_, value)| value);
        }
        self.find(&(0, Cow::Borrowed(key))).map(|(_, value)| value)
    }

    /// The entry at a place in the order of the keys.
    fn find(&self, wanted: &(u8, Cow<'_, str>)) -> Option<&(Value, Value)> {
        let entry = |at: &u32| &self.entries[*at as usize];
        let found = self.sorted.binary_search_by(|at| order_key(&entry(at).0).cmp(wanted));
        Some(entry(&self.sorted[found.ok()?]))
    }

    pub(crate) fn get(&self, key: &Value) -> Option<&Value> {
        if self.sorted.is_empty() {
            return self.entries.iter().find(|(own, _)| same_key(own, key)).map(|(_, value)| value);
        }
        let (own, value) = self.find(&order_key(key))?;
        same_key(own, key).then_some(value)
    }
}

/// Whether two keys are the same key of a dict.
fn same_key(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => left.is_same(right),
        _ => super::ops::equal(left, right),
    }
}

/// Something with an order that equal keys have in common.
fn order_key(key: &Value) -> (u8, Cow<'_, str>) {
    match key {
        Value::Str(text) => (0, text.as_str().into()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            (1, format!("{:?}", super::ops::as_float(key).unwrap_or(0.0)).into())
        }
        Value::None => (2, "".into()),
        other => (3, super::print::repr_unmarked(other).into()),
    }
}

impl Value {
    pub(crate) fn str(text: impl Into<Text>) -> Self {
        Self::Str(text.into())
    }

    pub(crate) fn undefined(name: &Arc<str>) -> Self {
        Self::Undefined(Rc::new(Missing::Name(name.clone())))
    }

    pub(crate) fn hint(hint: impl Into<String>) -> Self {
        Self::Undefined(Rc::new(Missing::Hint(hint.into())))
    }

    pub(crate) fn list(items: Vec<Self>) -> Step<Self> {
        List::new(items).map(Self::List)
    }

    pub(crate) fn tuple(items: Vec<Self>) -> Step<Self> {
        List::new(items).map(Self::Tuple)
    }

    fn depth(&self) -> u16 {
        match self {
            Self::List(list) | Self::Tuple(list) => list.depth,
            Self::Dict(dict) | Self::View(dict, _) => dict.depth,
            Self::Generator(generator) => generator.depth,
            Self::Method(method) => method.0.depth() + 1,
            Self::Cycler(cycler) if work(cycler.0.len() / 8) => {
                cycler.0.iter().map(Self::depth).max().unwrap_or(0) + 1
            }
            _ => 0,
        }
    }

    /// An error if it can't be a key of a dict.
    pub(crate) fn check_hashable(&self) -> Step<()> {
        match self {
            Self::List(_) | Self::Dict(_) => type_error(format!("unhashable type: '{}'", self.type_name())),
            Self::Tuple(items) if work(1) => items.items.iter().try_for_each(Self::check_hashable),
            _ => Ok(()),
        }
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Undefined(_) => "Undefined",
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Big(_) => "int",
            Self::Float(_) => "float",
            Self::Str(text) if text.is_markup() => "Markup",
            Self::Str(_) => "str",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "dict",
            Self::View(_, View::Items) => "dict_items",
            Self::View(_, View::Keys) => "dict_keys",
            Self::View(_, View::Values) => "dict_values",
            Self::Range(_) => "range",
            Self::Generator(_) => "generator",
            Self::Namespace(_) => "TemplateNamespace",
            Self::Loop(_) => "LoopContext",
            Self::Macro(..) => "Macro",
            Self::Method(_) => "builtin_function_or_method",
            Self::Function(Function::Range) => "type",
            Self::Function(Function::Dict) => "TemplateDict",
            Self::Function(_) => "function",
            Self::Cycler(_) => "Cycler",
            Self::Joiner(_) => "Joiner",
        }
    }

    /// Whether Python counts it as true.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Undefined(_) | Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Str(text) => !text.as_str().is_empty(),
            Self::List(list) | Self::Tuple(list) => !list.items.is_empty(),
            Self::Dict(dict) | Self::View(dict, _) => !dict.entries.is_empty(),
            Self::Range(range) => range_length(range) > 0,
            _ => true,
        }
    }

    /// The error of a use, if it is undefined.
    pub(crate) fn defined(&self) -> Step<&Self> {
        match self {
            Self::Undefined(missing) => Err(missing.fault()),
            _ => Ok(self),
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The integer, if the value is one; Booleans are.
    pub(crate) fn as_int(&self) -> Option<i128> {
        match self {
            Self::Bool(value) => Some(i128::from(*value)),
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }
}

/// The number of items of a range.
pub(crate) fn range_length(range: &(i128, i128, i128)) -> i128 {
    let (start, stop, step) = *range;
    let (distance, step) = if step > 0 { (stop - start, step) } else { (start - stop, -step) };
    if distance <= 0 { 0 } else { (distance - 1) / step + 1 }
}
