//! Python objects as JSON text.
//!
//! Only what JSON can say is written; anything else is an error that says where it is. Nothing is left out or guessed.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use pyo3::{PyTypeInfo, intern};

use crate::text::{write_string, write_string_with_surrogates};

/// The most lists and dictionaries that are in one another.
const DEEPEST: usize = 500;
/// The most bytes of text that are written. A list can contain another one many times, so that a small object has a text
/// of any size.
const LONGEST: usize = 256 << 20;
/// The most steps of a path that an error shows.
const STEPS_SHOWN: usize = 20;

/// Writes an object as JSON; errors name the argument that it is.
pub(crate) fn dump(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<Vec<u8>> {
    let mut writer = Writer { py: object.py(), out: Vec::with_capacity(1024), open: Vec::new() };
    writer.write(object).map_err(|fault| fault.into_error(object.py(), argument))?;
    Ok(writer.out)
}

/// Why an object can't be written.
struct Fault {
    reason: Reason,
    /// Where, from the inside out.
    path: Vec<Step>,
}

enum Reason {
    Type(String),
    Value(String),
    /// What Python code has raised.
    Raised(PyErr),
}

enum Step {
    Key(String),
    Index(usize),
}

impl Fault {
    fn types(reason: impl Into<String>) -> Box<Self> {
        Box::new(Self { reason: Reason::Type(reason.into()), path: Vec::new() })
    }

    fn value(reason: impl Into<String>) -> Box<Self> {
        Box::new(Self { reason: Reason::Value(reason.into()), path: Vec::new() })
    }

    fn at(mut self: Box<Self>, step: Step) -> Box<Self> {
        self.path.push(step);
        self
    }

    fn into_error(self, py: Python<'_>, argument: &str) -> PyErr {
        let mut path = String::from(argument);
        for step in self.path.iter().rev().take(STEPS_SHOWN) {
            match step {
                Step::Key(key) => path.push_str(&format!("[{key}]")),
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        if self.path.len() > STEPS_SHOWN {
            path.push('…');
        }
        match self.reason {
            Reason::Type(reason) => PyTypeError::new_err(format!("{path}: {reason}")),
            Reason::Value(reason) => PyValueError::new_err(format!("{path}: {reason}")),
            Reason::Raised(error) => {
                // A note cannot be added to everything that can be raised; the error matters more.
                let _ = error.value(py).call_method1(intern!(py, "add_note"), (format!("at {path}"),));
                error
            }
        }
    }
}

impl From<PyErr> for Box<Fault> {
    fn from(error: PyErr) -> Self {
        Box::new(Fault { reason: Reason::Raised(error), path: Vec::new() })
    }
}

type Written = Result<(), Box<Fault>>;

struct Writer<'py> {
    py: Python<'py>,
    out: Vec<u8>,
    /// The addresses of the lists and dictionaries that are being written.
    open: Vec<usize>,
}

impl<'py> Writer<'py> {
    fn write(&mut self, object: &Bound<'py, PyAny>) -> Written {
        if let Ok(text) = object.cast::<PyString>() {
            self.write_text(text)
        } else if let Ok(dict) = object.cast::<PyDict>() {
            self.write_dict(dict)
        } else if let Ok(list) = object.cast::<PyList>() {
            self.write_list(object, list.iter())
        } else if object.is_none() {
            self.out.extend_from_slice(b"null");
            Ok(())
        } else if let Ok(value) = object.cast::<PyBool>() {
            self.out.extend_from_slice(if value.is_true() { b"true" } else { b"false" });
            Ok(())
        } else if let Ok(number) = object.cast::<PyInt>() {
            self.write_int(number)
        } else if let Ok(number) = object.cast::<PyFloat>() {
            self.write_float(number.value())
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            self.write_list(object, tuple.iter())
        } else {
            self.write_foreign(object)
        }
    }

    fn write_text(&mut self, text: &Bound<'py, PyString>) -> Written {
        match text.to_str() {
            Ok(text) => write_string(text.as_bytes(), &mut self.out),
            Err(_) => write_string_with_surrogates(&encoded(text)?, &mut self.out),
        }
        if self.out.len() > LONGEST {
            return Err(Fault::value(format!("the object is longer than {} MiB as text", LONGEST >> 20)));
        }
        Ok(())
    }

    fn write_int(&mut self, number: &Bound<'py, PyInt>) -> Written {
        if let Ok(small) = number.extract::<i64>() {
            let mut digits = itoa::Buffer::new();
            self.out.extend_from_slice(digits.format(small).as_bytes());
            return Ok(());
        }
        // A subclass, such as an enumeration, may be shown in any way. Python has a limit for digits, because to write them
        // takes time that grows with their square.
        let shown = PyInt::type_object(self.py).call_method1(intern!(self.py, "__repr__"), (number,));
        let shown = shown.map_err(|_| Fault::value("the integer has more digits than Python writes"))?;
        self.out.extend_from_slice(shown.cast_into::<PyString>().map_err(PyErr::from)?.to_str()?.as_bytes());
        Ok(())
    }

    fn write_float(&mut self, number: f64) -> Written {
        if !number.is_finite() {
            let name = if number.is_nan() { "NaN" } else { "an infinite number" };
            return Err(Fault::types(format!("{name} is not valid JSON")));
        }
        serde_json::to_writer(&mut self.out, &number).map_err(|error| Fault::value(error.to_string()))
    }

    fn enter(&mut self, object: &Bound<'py, PyAny>) -> Written {
        let address = object.as_ptr() as usize;
        if self.open.contains(&address) {
            return Err(Fault::value("the object contains itself"));
        }
        if self.open.len() == DEEPEST {
            return Err(Fault::value(format!("the object is nested more than {DEEPEST} levels deep")));
        }
        self.open.push(address);
        Ok(())
    }

    fn write_dict(&mut self, dict: &Bound<'py, PyDict>) -> Written {
        self.enter(dict)?;
        self.out.push(b'{');
        // A copy, because objects of SDKs run code, which may change the dictionary.
        let mut is_first = true;
        for item in dict.items().iter() {
            let item = item.cast_into::<PyTuple>().map_err(PyErr::from)?;
            let (key, value) = (item.get_item(0)?, item.get_item(1)?);
            let Ok(name) = key.cast::<PyString>() else {
                let shown =
                    key.repr().map_or_else(|_| String::from("…"), |shown| bounded(&shown.to_string_lossy()));
                let kind = kind_of(&key);
                return Err(Fault::types(format!("the key {shown} is not a string, but {kind}")));
            };
            if is_left_out(&value) {
                continue;
            }
            if !is_first {
                self.out.push(b',');
            }
            is_first = false;
            self.write_text(name)?;
            self.out.push(b':');
            self.write(&value).map_err(|fault| {
                let shown =
                    name.repr().map_or_else(|_| String::from("…"), |shown| bounded(&shown.to_string_lossy()));
                fault.at(Step::Key(shown))
            })?;
        }
        self.out.push(b'}');
        self.open.pop();
        Ok(())
    }

    fn write_list(
        &mut self,
        object: &Bound<'py, PyAny>,
        elements: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> Written {
        self.enter(object)?;
        self.out.push(b'[');
        for (number, element) in elements.enumerate() {
            if number > 0 {
                self.out.push(b',');
            }
            self.write(&element).map_err(|fault| fault.at(Step::Index(number)))?;
            if self.out.len() > LONGEST {
                return Err(Fault::value(format!("the object is longer than {} MiB as text", LONGEST >> 20)));
            }
        }
        self.out.push(b']');
        self.open.pop();
        Ok(())
    }

    /// Writes an object of an SDK, a dataclass or another mapping, as it would be sent.
    fn write_foreign(&mut self, object: &Bound<'py, PyAny>) -> Written {
        self.enter(object)?;
        let module = self.py.import(intern!(self.py, "toolcheck_lint._plain"))?;
        let plain = module.getattr(intern!(self.py, "plain"))?.call1((object,))?;
        if plain.is_none() {
            let hint = match object.getattr_opt(intern!(self.py, "ndim"))? {
                // A value or an array of numpy.
                Some(ndim) if ndim.eq(0)? => ": pass its `.item()`",
                Some(_) => ": pass its `.tolist()`",
                None => "",
            };
            let kind = kind_of(object);
            return Err(Fault::types(format!("{kind} is neither JSON nor an object of an SDK{hint}")));
        }
        self.write(&plain)?;
        self.open.pop();
        Ok(())
    }
}

/// The bytes of a text in which halves of surrogate pairs stand alone.
pub(crate) fn encoded(text: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    let py = text.py();
    let bytes =
        text.call_method1(intern!(py, "encode"), (intern!(py, "utf-8"), intern!(py, "surrogatepass")))?;
    bytes.extract()
}

/// The packages whose placeholders mean that a key is not sent.
const SDKS: [&str; 6] = ["anthropic", "cerebras", "groq", "mistralai", "openai", "together"];
/// The names of the types of placeholders.
const PLACEHOLDERS: [&str; 3] = ["NotGiven", "Omit", "Unset"];

/// Whether a value of a dictionary stands for a key that an SDK does not send.
fn is_left_out(value: &Bound<'_, PyAny>) -> bool {
    if value.is_none()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyDict>()
        || value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyInt>()
    {
        return false;
    }
    let kind = value.get_type();
    let is_named = kind.name().is_ok_and(|name| PLACEHOLDERS.iter().any(|known| name == *known));
    is_named
        && kind.module().is_ok_and(|module| {
            SDKS.contains(&module.to_string_lossy().split('.').next().unwrap_or_default())
        })
}

/// What an object is, for messages.
pub(crate) fn kind_of(object: &Bound<'_, PyAny>) -> String {
    let kind = object.get_type();
    let name = kind
        .qualname()
        .map_or_else(|_| String::from("an object"), |name| name.to_string_lossy().into_owned());
    match kind.module() {
        Ok(module) if module != "builtins" => format!("{}.{name}", module.to_string_lossy()),
        _ => name,
    }
}

/// The most characters of a key that an error shows.
const KEY_SHOWN: usize = 60;

fn bounded(text: &str) -> String {
    match text.char_indices().nth(KEY_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
