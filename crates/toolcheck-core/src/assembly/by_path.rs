//! Arguments that come as values, each with the path at which it belongs.

use serde_json::{Value as Json, json};

/// No path is followed deeper.
const DEEPEST: usize = 64;

/// Puts a value where its path says, such as `$.steps[0].name`, or appends it to the text there; `None` if it has no place
/// there.
pub(super) fn put(root: &mut Json, path: &str, value: Json) -> Option<()> {
    let path = path.strip_prefix("$.").filter(|path| path.matches(['.', '[']).count() < DEEPEST)?;
    let mut at = root;
    for step in path.split('.') {
        let (name, mut indices) = step.split_at(step.find('[').unwrap_or(step.len()));
        if name.is_empty() || name.contains(['\'', '"', '\\', ']', '*']) {
            return None;
        }
        at = filled(at, json!({})).as_object_mut()?.entry(name).or_insert(Json::Null);
        while !indices.is_empty() {
            let (index, rest) = indices.strip_prefix('[')?.split_once(']')?;
            let index: usize = index.parse().ok()?;
            let list = filled(at, json!([])).as_array_mut()?;
            if index == list.len() {
                list.push(Json::Null);
            }
            (at, indices) = (list.get_mut(index)?, rest);
        }
    }
    match (&mut *at, value) {
        (Json::String(text), Json::String(more)) => text.push_str(&more),
        (Json::Null, value) => *at = value,
        _ => return None,
    }
    Some(())
}

/// What is here, which is this if nothing was here before.
fn filled(at: &mut Json, with: Json) -> &mut Json {
    if at.is_null() {
        *at = with;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_where_their_paths_say() {
        let mut root = json!({});
        let pieces = [
            ("$.steps[0].name", json!("sta")),
            ("$.steps[0].weight", json!(0.5)),
            ("$.steps[0].name", json!("rt")),
            ("$.steps[1].name", json!("")),
            ("$.grid[0][0]", json!(true)),
            ("$.none", Json::Null),
        ];
        for (path, value) in pieces {
            assert_eq!(put(&mut root, path, value), Some(()), "{path}");
        }
        let steps = json!([{"name": "start", "weight": 0.5}, {"name": ""}]);
        assert_eq!(root, json!({"steps": steps, "grid": [[true]], "none": null}));
        let deep = format!("$.a{}", "[0]".repeat(DEEPEST));
        for path in
            ["$", "steps", "$.steps[3]", "$.steps.name", "$.steps[0].weight", "$['a']", "$.a[*]", &deep]
        {
            assert_eq!(put(&mut root, path, json!(1)), None, "{path}");
        }
    }
}
