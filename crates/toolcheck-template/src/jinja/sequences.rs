//! Filters of lists and dicts.

use super::args::Args;
use super::fault::{Step, type_error, unsupported, value_error};
use super::run::Run;
use super::text::Builder;
use super::value::{Generator, Value};
use super::{access, filters, ops, predicates, print};

pub(crate) fn apply(run: &Run<'_>, name: &str, value: &Value, args: &Args) -> Step<Value> {
    match name {
        "list" => Value::list(run.items(value)?),
        "join" => join(run, value, args),
        "first" | "last" => end(run, name, value),
        "reverse" => reverse(run, value),
        "items" => items(value),
        "dictsort" => dictsort(value, args),
        "sort" => sort(run, value, args),
        "min" | "max" => extreme(run, name, value, args),
        "sum" => sum(run, value, args),
        "unique" => unique(run, value, args),
        "batch" | "slice" => chunks(run, name, value, args),
        "map" => map(run, value, args),
        "select" | "reject" | "selectattr" | "rejectattr" => select(run, name, value, args),
        _ => unsupported(format!("the filter {name}")),
    }
}

/// The test that is named at a place in the arguments, with those that follow.
fn test_of(args: &Args, at: usize) -> Option<(&str, Args)> {
    let test = args.positional.get(at)?;
    let rest = Args { positional: args.positional[at + 1..].to_vec(), named: args.named.clone() };
    Some((test.as_str().unwrap_or_default(), rest))
}

/// Whether an item passes a test, or counts as true if there is none.
fn passes(run: &Run<'_>, item: &Value, test: Option<&(&str, Args)>) -> Step<bool> {
    match test {
        Some((test, rest)) => predicates::apply(test, item, rest, &run.budget),
        None => Ok(item.is_true()),
    }
}

fn at_path(run: &Run<'_>, item: &Value, path: &Value) -> Step<Value> {
    let Some(text) = path.as_str() else { return run.item(item, path) };
    run.budget.go_through(path)?;
    // Most are one name.
    if text.bytes().all(|byte| byte != b'.' && !byte.is_ascii_digit()) {
        run.budget.step()?;
        return run.item(item, path);
    }
    let mut found = item.clone();
    for part in text.split('.') {
        run.budget.step()?;
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let key = match part.parse() {
            Ok(number) if is_number => Value::Int(number),
            _ => Value::str(part),
        };
        found = run.item(&found, &key)?;
    }
    Ok(found)
}

/// Goes through a value as generators do: not at all if it counts as false, and up to the first error.
fn generate(
    run: &Run<'_>,
    value: &Value,
    mut step: impl FnMut(Value) -> Step<Option<Value>>,
) -> (Vec<Value>, Step<()>) {
    let mut found = Vec::new();
    if !value.is_true() {
        return (found, Ok(()));
    }
    let ended = run.items(value).and_then(|items| {
        for item in items {
            run.budget.step()?;
            found.extend(step(item)?);
        }
        Ok(())
    });
    (found, ended)
}

fn select(run: &Run<'_>, name: &str, value: &Value, args: &Args) -> Step<Value> {
    let wanted = name.starts_with("select");
    let by_attribute = name.ends_with("attr");
    if by_attribute && args.positional.is_empty() {
        return Generator::of((Vec::new(), value_error("Missing parameter for attribute name")));
    }
    let test = test_of(args, usize::from(by_attribute));
    Generator::of(generate(run, value, |item| {
        let passes = match args.positional.first().filter(|_| by_attribute) {
            Some(attribute) => passes(run, &at_path(run, &item, attribute)?, test.as_ref())?,
            None => passes(run, &item, test.as_ref())?,
        };
        Ok((passes == wanted).then_some(item))
    }))
}

fn map(run: &Run<'_>, value: &Value, args: &Args) -> Step<Value> {
    let named = |wanted: &str| args.named.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| value);
    if let (Some(attribute), true) = (named("attribute"), args.positional.is_empty()) {
        return Generator::of(generate(run, value, |item| {
            Ok(Some(match (at_path(run, &item, attribute)?, named("default")) {
                (Value::Undefined(_), Some(default)) => default.clone(),
                (mapped, _) => mapped,
            }))
        }));
    }
    let Some(Value::Str(filter)) = args.positional.first() else {
        return Generator::of((Vec::new(), value_error("map requires a filter argument")));
    };
    let rest = Args { positional: args.positional[1..].to_vec(), named: args.named.clone() };
    Generator::of(generate(run, value, |item| filters::apply(run, filter.as_str(), &item, &rest).map(Some)))
}

fn join(run: &Run<'_>, value: &Value, args: &Args) -> Step<Value> {
    let separator = args.get(0, "d").map_or_else(|| "".into(), print::str);
    let mut built = Builder::default();
    for (at, item) in run.items(value)?.iter().enumerate() {
        let before = built.text.len();
        if at > 0 {
            built.push(&separator);
        }
        match args.get(1, "attribute") {
            Some(attribute) => print::push_str(&at_path(run, item, attribute)?, &mut built),
            None => print::push_str(item, &mut built),
        }
        run.budget.charge(built.text.len() - before)?;
    }
    Ok(Value::Str(built.finish()))
}

fn end(run: &Run<'_>, name: &str, value: &Value) -> Step<Value> {
    if name == "first" {
        let first = match value {
            Value::List(list) | Value::Tuple(list) => list.items.first().cloned(),
            Value::Generator(generator) => generator.next()?,
            _ => run.items(value)?.into_iter().next(),
        };
        return Ok(first.unwrap_or_else(|| Value::hint("No first item, sequence was empty.")));
    }
    if !predicates::is_sequence(value) && !matches!(value, Value::View(..)) {
        return type_error(format!("'{}' object is not reversible", value.type_name()));
    }
    let last = match value {
        Value::List(list) | Value::Tuple(list) => list.items.last().cloned(),
        _ => run.items(value)?.pop(),
    };
    Ok(last.unwrap_or_else(|| Value::hint("No last item, sequence was empty.")))
}

fn reverse(run: &Run<'_>, value: &Value) -> Step<Value> {
    if matches!(value, Value::Str(_)) {
        return access::slice(value, [Value::None, Value::None, Value::Int(-1)], &run.budget);
    }
    let Ok(mut items) = run.items(value) else { return value_error("argument must be iterable") };
    items.reverse();
    Generator::whole(items)
}

fn items(value: &Value) -> Step<Value> {
    match value {
        Value::Dict(dict) => Generator::whole(ops::pairs(dict)?),
        Value::Undefined(_) => Generator::whole(Vec::new()),
        _ => Generator::of((Vec::new(), type_error("Can only get item pairs from a mapping."))),
    }
}

fn sort_key(value: &Value, case_sensitive: bool) -> Value {
    match value {
        Value::Str(text) if !case_sensitive => {
            super::budget::work(super::budget::weight(value));
            Value::str(text.as_str().to_lowercase())
        }
        _ => value.clone(),
    }
}

fn sort_by(mut keyed: Vec<(Value, Value)>, is_reverse: bool) -> Step<Vec<Value>> {
    ops::sort(&mut keyed, |(key, _)| key, is_reverse)?;
    Ok(keyed.into_iter().map(|(_, item)| item).collect())
}

fn keyed(run: &Run<'_>, value: &Value, attribute: Option<&Value>, case: bool) -> Step<Vec<(Value, Value)>> {
    let mut found = Vec::new();
    for item in run.items(value)? {
        run.budget.step()?;
        let key = match attribute {
            Some(Value::None) | None => item.clone(),
            Some(attribute) => at_path(run, &item, attribute)?,
        };
        found.push((sort_key(&key, case), item));
    }
    Ok(found)
}

fn sort(run: &Run<'_>, value: &Value, args: &Args) -> Step<Value> {
    let case = args.flag(1, "case_sensitive", false);
    let paths: Vec<Value> = match args.get(2, "attribute") {
        None | Some(Value::None) => Vec::new(),
        Some(Value::Str(paths)) => paths.as_str().split(',').map(Value::str).collect(),
        Some(other) => vec![other.clone()],
    };
    // The keys are lists, which differ only where their items are not equal: undefined values are.
    let mut keyed = Vec::new();
    for item in run.items(value)? {
        run.budget.step()?;
        let mut keys = Vec::new();
        for path in &paths {
            keys.push(sort_key(&at_path(run, &item, path)?, case));
        }
        if paths.is_empty() {
            keys.push(sort_key(&item, case));
        }
        keyed.push((Value::list(keys)?, item));
    }
    Value::list(sort_by(keyed, args.flag(0, "reverse", false))?)
}

fn dictsort(value: &Value, args: &Args) -> Step<Value> {
    let Value::Dict(dict) = value.defined()? else {
        let name = value.type_name();
        return type_error(format!("'{name}' object has no attribute 'items'"));
    };
    let case = args.flag(0, "case_sensitive", false);
    let by_value = match args.get(1, "by").and_then(Value::as_str) {
        None | Some("key") => false,
        Some("value") => true,
        Some(_) => return value_error("You can only sort by either \"key\" or \"value\""),
    };
    let pairs = ops::pairs(dict)?;
    let keys = dict.entries.iter().map(|(key, value)| sort_key(if by_value { value } else { key }, case));
    Value::list(sort_by(keys.zip(pairs).collect(), args.flag(2, "reverse", false))?)
}

fn extreme(run: &Run<'_>, name: &str, value: &Value, args: &Args) -> Step<Value> {
    let mut found: Option<(Value, Value)> = None;
    let sign = if name == "min" { "<" } else { ">" };
    for (key, item) in keyed(run, value, args.get(1, "attribute"), args.flag(0, "case_sensitive", false))? {
        let is_better = match &found {
            None => true,
            Some((best, _)) => {
                let order = ops::order(&key, best, sign)?;
                if name == "min" { order.is_lt() } else { order.is_gt() }
            }
        };
        if is_better {
            found = Some((key, item));
        }
    }
    Ok(found.map_or_else(|| Value::hint("No aggregated item, sequence was empty."), |(_, item)| item))
}

fn sum(run: &Run<'_>, value: &Value, args: &Args) -> Step<Value> {
    let mut total = args.get(1, "start").cloned().unwrap_or(Value::Int(0));
    if let Value::Str(_) = total {
        return type_error("sum() can't sum strings [use ''.join(seq) instead]");
    }
    for item in run.items(value)? {
        run.budget.step()?;
        let item = match args.get(0, "attribute") {
            None | Some(Value::None) => item,
            Some(attribute) => at_path(run, &item, attribute)?,
        };
        total = ops::binary(super::ast::Binary::Add, &total, &item, &run.budget)?;
    }
    Ok(total)
}

fn unique(run: &Run<'_>, value: &Value, args: &Args) -> Step<Value> {
    let mut seen: Vec<Value> = Vec::new();
    let mut found = Vec::new();
    for (key, item) in keyed(run, value, args.get(1, "attribute"), args.flag(0, "case_sensitive", false))? {
        key.check_hashable()?;
        run.budget.step()?;
        if !seen.iter().any(|own| ops::equal(own, &key)) {
            seen.push(key);
            found.push(item);
        }
    }
    Generator::whole(found)
}

fn chunks(run: &Run<'_>, name: &str, value: &Value, args: &Args) -> Step<Value> {
    let count = match args.int(0, "linecount", 0)? {
        count @ 1..=100_000 => count as usize,
        _ => return unsupported(format!("{name} with such a number")),
    };
    let fill = args.get(1, "fill_with").filter(|fill| !matches!(fill, Value::None));
    let items = run.items(value)?;
    run.budget.charge_items(count)?;
    let mut found = Vec::new();
    if name == "batch" {
        for chunk in items.chunks(count) {
            let mut chunk = chunk.to_vec();
            if let Some(fill) = fill {
                chunk.resize(count, fill.clone());
            }
            found.push(Value::list(chunk)?);
        }
        return Generator::whole(found);
    }
    let (each, longer) = (items.len() / count, items.len() % count);
    let mut start = 0;
    for at in 0..count {
        let length = each + usize::from(at < longer);
        let mut chunk = items[start..start + length].to_vec();
        start += length;
        if let (Some(fill), true) = (fill, at >= longer && longer > 0) {
            chunk.push(fill.clone());
        }
        found.push(Value::list(chunk)?);
    }
    Generator::whole(found)
}
