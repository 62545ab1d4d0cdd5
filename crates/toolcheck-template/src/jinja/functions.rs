//! Functions that templates can call by their names.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::args::Args;
use super::fault::{Fault, RefusalKind, Step, type_error, unsupported, value_error};
use super::run::Run;
use super::value::{Dict, Function, Value};
use super::{ops, print};

pub(crate) fn named(name: &str) -> Option<Value> {
    Some(Value::Function(match name {
        "raise_exception" => Function::RaiseException,
        "strftime_now" => Function::StrftimeNow,
        "namespace" => Function::Namespace,
        "range" => Function::Range,
        "dict" => Function::Dict,
        "cycler" => Function::Cycler,
        "joiner" => Function::Joiner,
        "lipsum" => Function::Lipsum,
        _ => return None,
    }))
}

/// The most items that the sandbox lets a range have.
const LONGEST_RANGE: i128 = 100_000;

pub(crate) fn call(run: &mut Run<'_>, function: Function, args: &Args) -> Step<Value> {
    match function {
        Function::RaiseException => {
            let message = args.need(0, "message", "raise_exception")?;
            Err(Fault::new(RefusalKind::Raised, print::str(message).as_str()))
        }
        Function::StrftimeNow => {
            let format = args.text(0, "format", "strftime")?;
            match run.now.format(format.as_str()) {
                Some(text) => run.budget.charge(text.len()).map(|()| Value::str(text)),
                None => unsupported(format!("the date format {}", print::quoted(format.as_str()))),
            }
        }
        Function::Namespace => {
            let entries = entries(run, args)?;
            let mut attributes = BTreeMap::new();
            for (name, value) in entries {
                let Value::Str(name) = name else { return unsupported("a namespace with such a name") };
                check_name(name.as_str())?;
                attributes.insert(name.shared(), value);
            }
            run.budget.charge_items(attributes.len() * 2)?;
            run.namespaces.push(attributes);
            Ok(Value::Namespace(run.namespaces.len() - 1))
        }
        Function::Dict => Dict::new(entries(run, args)?, None).map(Value::Dict),
        Function::Range => range(args),
        Function::Cycler => {
            if args.positional.is_empty() {
                return type_error("at least one item has to be provided");
            }
            let items = args.positional.clone();
            // For the limit of depth.
            Value::list(items.clone())?;
            Ok(Value::Cycler(Rc::new((items, std::cell::RefCell::new(0)))))
        }
        Function::Joiner => {
            let separator = args.get(0, "sep").map_or_else(|| ", ".into(), print::str);
            Ok(Value::Joiner(Rc::new((separator, std::cell::RefCell::new(false)))))
        }
        Function::Lipsum => unsupported("this function"),
    }
}

/// An error if a namespace may not have an attribute with this name.
pub(crate) fn check_name(name: &str) -> Step<()> {
    if !name.starts_with('_') {
        return Ok(());
    }
    let message = format!(
        "Chat templates cannot store underscore-prefixed attributes on a namespace, but got {}. \
         Please rename the attribute.",
        print::quoted(name)
    );
    Err(Fault::new(RefusalKind::Security, message))
}

/// The entries that `dict(...)` would have.
fn entries(run: &Run<'_>, args: &Args) -> Step<Vec<(Value, Value)>> {
    let mut entries = Vec::new();
    match args.positional.first() {
        None => {}
        Some(Value::Dict(dict)) => entries.extend(dict.entries.iter().cloned()),
        Some(other) => {
            for pair in ops::items(other.defined()?, &run.budget)? {
                let pair = ops::items(&pair, &run.budget)?;
                let [key, value] = &pair[..] else {
                    return value_error(
                        "dictionary update sequence element #0 has the wrong length; 2 is required",
                    );
                };
                entries.push((key.clone(), value.clone()));
            }
        }
    }
    entries.extend(args.named.iter().map(|(name, value)| (Value::str(name.clone()), value.clone())));
    Ok(entries)
}

fn range(args: &Args) -> Step<Value> {
    let mut numbers = Vec::new();
    for value in &args.positional {
        match value.defined()?.as_int() {
            Some(number) if number.unsigned_abs() < 1 << 100 => numbers.push(number),
            Some(_) => return unsupported("a range of very large integers"),
            None => {
                let name = value.type_name();
                return type_error(format!("'{name}' object cannot be interpreted as an integer"));
            }
        }
    }
    let range = match numbers[..] {
        [stop] => (0, stop, 1),
        [start, stop] => (start, stop, 1),
        [_, _, 0] => return value_error("range() arg 3 must not be zero"),
        [start, stop, step] => (start, stop, step),
        [] => return type_error("range expected at least 1 argument, got 0"),
        _ => return type_error(format!("range expected at most 3 arguments, got {}", numbers.len())),
    };
    if super::value::range_length(&range) > LONGEST_RANGE {
        let message =
            format!("Range too big. The sandbox blocks ranges larger than MAX_RANGE ({LONGEST_RANGE}).");
        return Err(Fault::new(RefusalKind::Security, message));
    }
    Ok(Value::Range(Rc::new(range)))
}
