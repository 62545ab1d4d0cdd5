//! Properties that say themselves that they are needed.

use toolcheck_core::fix::{Change, Fix};
use toolcheck_json::{Kind, Value};

/// The name of a property that is needed, in the list of the object that has it.
pub(crate) fn required_above(schema: Value<'_, '_>, part: Value<'_, '_>) -> Option<Fix> {
    if !part.has_key("required") || part.kind() != Kind::Bool {
        return None;
    }
    let is_around = |value: &Value<'_, '_>| value.span().contains(part.span());
    let mut around = vec![schema];
    while let Some(inner) = around.last()?.children().find(is_around) {
        around.push(inner);
    }
    let [.., object, properties, property, _] = around[..] else { return None };
    let name = property.key_text().filter(|_| properties.has_key("properties"))?;
    let name = serde_json::Value::from(name).to_string();
    let listed = object.get("required").filter(|listed| listed.is_array());
    let known = listed.into_iter().flat_map(Value::elements);
    let mut names: Vec<_> = known.map(|known| String::from_utf8_lossy(known.raw())).collect();
    let is_new = part.raw() == b"true" && !names.iter().any(|known| *known == name);
    names.extend(is_new.then(|| name.into()));
    let json = format!("[{}]", names.join(", "));
    let list = match listed {
        Some(listed) => Change::Write(listed.id(), json),
        None => Change::Add(object.id(), "required".to_owned(), json),
    };
    Some(Fix::safe([Change::Remove(part.id())].into_iter().chain(is_new.then_some(list))))
}
