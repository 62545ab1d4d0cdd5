//! Why a render ends early.

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FaultKind {
    Raised,
    Syntax,
    Undefined,
    Type,
    Value,
    Security,
    TooMuch,
    Unsupported,
}

/// Why a render ended early.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
    /// The line of the template, from 1; 0 until it is known.
    pub(crate) line: u32,
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Box<Self> {
        Self::at(kind, message, 0)
    }

    pub(crate) fn at(kind: FaultKind, message: impl Into<String>, line: u32) -> Box<Self> {
        Box::new(Self { kind, message: message.into(), line })
    }
}

/// The result of a step.
pub(crate) type Step<T> = Result<T, Box<Fault>>;

/// A `TypeError` of Python.
pub(crate) fn type_error<T>(message: impl Into<String>) -> Step<T> {
    Err(Fault::new(FaultKind::Type, message))
}

/// A `ValueError` or another error of Python.
pub(crate) fn value_error<T>(message: impl Into<String>) -> Step<T> {
    Err(Fault::new(FaultKind::Value, message))
}

/// Something of Jinja or Python that is not implemented.
pub(crate) fn unsupported<T>(message: impl Into<String>) -> Step<T> {
    Err(Fault::new(FaultKind::Unsupported, message))
}

/// A limit was reached.
pub(crate) fn too_much<T>(message: impl Into<String>) -> Step<T> {
    Err(Fault::new(FaultKind::TooMuch, message))
}
