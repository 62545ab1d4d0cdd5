//! Why a render ends early.

/// What kind of refusal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalKind {
    /// The template called `raise_exception`.
    Raised,
    /// The template itself is wrong: no conversation can be rendered.
    Syntax,
    /// Something that doesn't exist was used, such as an attribute of an undefined value.
    Undefined,
    /// A value has the wrong type, such as `None` or a list in the place of a text.
    Type,
    /// Another error of Python, such as a `ValueError`.
    Value,
    /// The sandbox forbids it.
    Security,
    /// It exceeds the [limits](crate::Limits). Nothing is known of what the template would print.
    TooMuch,
    /// Something of Jinja that is not implemented here. Nothing is known of what the template would print.
    Unsupported,
}

impl RefusalKind {
    /// Whether the model's server would refuse the conversation too. Otherwise, it is only not known.
    pub fn is_certain(self) -> bool {
        !matches!(self, Self::TooMuch | Self::Unsupported)
    }
}

/// Why a render ended early.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) kind: RefusalKind,
    pub(crate) message: String,
    /// The line of the template, from 1; 0 until it is known.
    pub(crate) line: u32,
}

impl Fault {
    pub(crate) fn new(kind: RefusalKind, message: impl Into<String>) -> Box<Self> {
        Self::at(kind, message, 0)
    }

    pub(crate) fn at(kind: RefusalKind, message: impl Into<String>, line: u32) -> Box<Self> {
        Box::new(Self { kind, message: message.into(), line })
    }
}

pub(crate) type Step<T> = Result<T, Box<Fault>>;

/// A `TypeError` of Python.
pub(crate) fn type_error<T>(message: impl Into<String>) -> Step<T> {
    Err(Fault::new(RefusalKind::Type, message))
}

/// A `ValueError` or another error of Python.
pub(crate) fn value_error<T>(message: impl Into<String>) -> Step<T> {
    Err(Fault::new(RefusalKind::Value, message))
}

pub(crate) fn unsupported<T>(message: impl Into<String>) -> Step<T> {
    Err(Fault::new(RefusalKind::Unsupported, message))
}

pub(crate) fn too_much<T>(message: impl Into<String>) -> Step<T> {
    Err(Fault::new(RefusalKind::TooMuch, message))
}
