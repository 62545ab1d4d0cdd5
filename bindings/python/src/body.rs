//! The bodies that are given to the linter.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

use crate::dump;

/// The text of a body. What can't change is not copied, so that it can be read while other threads run.
pub(crate) enum Body {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
    Own(Vec<u8>),
}

const ENDINGS: [&str; 6] = [".json", ".jsonl", ".ndjson", ".har", ".yaml", ".yml"];
/// The length of the longest text that may be the path of a file.
const LONGEST_PATH: usize = 4096;

impl Body {
    /// The text of bytes, of a string, or of an object that is written as JSON.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::named(object, "body")
    }

    /// The same of another argument, which errors name.
    pub(crate) fn named(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone().into()));
        }
        if let Ok(text) = object.cast::<PyString>() {
            return match PyBackedStr::try_from(text.clone()) {
                Ok(text) if is_like_a_path(&text) => {
                    let why =
                        "this is the text of a body and not a path: a file is linted by `lint_file(path)`";
                    Err(PyValueError::new_err(format!("{argument}: {why}")))
                }
                Ok(text) => Ok(Self::Text(text)),
                // Half of a character is found in the text.
                Err(_) => dump::encoded(text).map(Self::Own),
            };
        }
        if let Ok(bytes) = object.cast::<PyByteArray>() {
            return Ok(Self::Own(bytes.to_vec()));
        }
        if !object.is_instance_of::<pyo3::types::PyDict>()
            && !object.is_instance_of::<pyo3::types::PyList>()
            && let Ok(view) = PyMemoryView::from(object)
        {
            // A memory map or another buffer, which others may change.
            return view.call_method0("tobytes")?.extract().map(Self::Own);
        }
        if object.hasattr("__fspath__")? {
            let why = "a path is not read: pass `path.read_bytes()`, or lint the file with `lint_file(path)`";
            return Err(PyTypeError::new_err(format!("{argument}: {why}")));
        }
        if object.hasattr("read")? && object.hasattr("close")? && !object.hasattr("model_dump")? {
            let why = "a file is not read: pass `file.read()`, or lint it with `lint_file(path)`";
            return Err(PyTypeError::new_err(format!("{argument}: {why}")));
        }
        dump::dump(object, argument).map(Self::Own)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
            Self::Own(bytes) => bytes,
        }
    }
}

/// Whether a text can't be a body and looks like a path.
fn is_like_a_path(text: &str) -> bool {
    text.len() <= LONGEST_PATH
        && ENDINGS.iter().any(|ending| {
            // The ending may not begin between two characters.
            text.len()
                .checked_sub(ending.len())
                .and_then(|at| text.get(at..))
                .is_some_and(|end| end.eq_ignore_ascii_case(ending))
        })
        && !text.contains(['\n', '{', '[', '"'])
}
