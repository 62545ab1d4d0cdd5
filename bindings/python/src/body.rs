//! The bodies that are given to the linter.

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

impl Body {
    /// The text of bytes, of a string, or of an object that is written as JSON.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone().into()));
        }
        if let Ok(text) = object.cast::<PyString>() {
            return match PyBackedStr::try_from(text.clone()) {
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
        dump::dump(object).map(Self::Own)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
            Self::Own(bytes) => bytes,
        }
    }
}
