//! What the clients of the official SDKs check of a response, and refuse: `CallToolResult`, `ListToolsResult` and
//! `JSONRPCMessage` in `types.ts` of `@modelcontextprotocol/sdk` 1.32.2 and in the package `mcp` 2.3.0 for Python. What only
//! one of them refuses is doubtful.

use toolcheck_json::{Kind, Value};

use crate::ir::{Details, MissingKey, Place, WrongValue};

/// The keys of each type of block, which are texts but for that of `resource`.
const BLOCKS: [(&str, &[&str]); 5] = [
    ("text", &["text"]),
    ("image", &["data", "mimeType"]),
    ("audio", &["data", "mimeType"]),
    ("resource_link", &["uri", "name"]),
    ("resource", &["resource"]),
];

fn missing(details: &mut Details<'_>, of: Value<'_, '_>, key: &'static str) {
    let place = Place::of(of);
    details.missing_keys.push(MissingKey { case: "response", key, place, name: None, because: None });
}

/// Says of a value that it must be something else. `is_doubtful` is whether a client takes it.
fn wrong(
    details: &mut Details<'_>,
    value: Value<'_, '_>,
    key: &'static str,
    wants: &'static str,
    is_doubtful: bool,
) {
    details.wrong_values.push(WrongValue { place: Place::of(value), key, wants, is_doubtful });
}

/// Checks what is there of a response, whatever it answers.
pub(super) fn check_response(details: &mut Details<'_>, message: Value<'_, '_>) {
    if let Some(version) = message.get("jsonrpc").filter(|version| version.as_str().as_deref() != Some("2.0"))
    {
        wrong(details, version, "jsonrpc", "`2.0`", false);
    }
    // Only an error may answer what could not be read.
    if let Some(id) = message.get("id").filter(|id| id.is_null() && message.has("result")) {
        wrong(details, id, "id", "that of the request", false);
    }
    match (message.get("result"), message.get("error")) {
        (None, None) => missing(details, message, "result"),
        (Some(result), None) if !result.is_object() => wrong(details, result, "result", "an object", false),
        (None, Some(error)) if !error.is_object() => wrong(details, error, "error", "an object", false),
        (None, Some(error)) => {
            match error.get("code") {
                None => missing(details, error, "code"),
                Some(code) if code.raw().iter().any(|byte| !matches!(byte, b'-' | b'0'..=b'9')) => {
                    wrong(details, code, "code", "an integer", true)
                }
                _ => {}
            }
            match error.get("message") {
                None => missing(details, error, "message"),
                Some(text) if text.as_json_str().is_none() => {
                    wrong(details, text, "message", "a string", false)
                }
                _ => {}
            }
        }
        (Some(result), Some(error)) if !result.is_null() && !error.is_null() => {
            wrong(details, error, "error", "left out where there is a `result`", true)
        }
        _ => {}
    }
}

/// Checks the answer to `tools/list`.
pub(super) fn check_list(details: &mut Details<'_>, result: Value<'_, '_>) {
    match result.get("tools") {
        None => missing(details, result, "tools"),
        Some(tools) if !tools.is_array() => wrong(details, tools, "tools", "a list", false),
        Some(tools) => {
            for tool in tools.elements().filter(|tool| tool.is_object()) {
                match tool.get("name") {
                    None => missing(details, tool, "name"),
                    Some(name) if name.as_json_str().is_none() => {
                        wrong(details, name, "name", "a string", false)
                    }
                    _ => {}
                }
                for key in ["title", "description"] {
                    let text = tool.get(key).filter(|text| text.as_json_str().is_none() && !text.is_null());
                    if let Some(text) = text {
                        wrong(details, text, key, "a string", false);
                    }
                }
                // JSON Schema takes it.
                if let Some(schema) = tool.get("inputSchema").filter(|schema| schema.as_bool().is_some()) {
                    wrong(details, schema, "inputSchema", "an object", false);
                }
            }
        }
    }
}

/// Checks the answer to `tools/call`. `is_structured_read` is whether a schema says more of the structure.
pub(super) fn check_result(details: &mut Details<'_>, result: Value<'_, '_>, is_structured_read: bool) {
    const OTHERS: [&str; 4] = ["inputRequests", "requestState", "task", "toolResult"];
    match result.get("content") {
        None if result.get_any(&OTHERS).is_some() => return,
        None => wrong(details, result, "content", "a list, even if it is empty", true),
        Some(content) if !content.is_array() => wrong(details, content, "content", "a list of blocks", false),
        Some(content) => content.elements().for_each(|block| check_block(details, block)),
    }
    if let Some(failed) =
        result.get("isError").filter(|failed| failed.as_bool().is_none() && !failed.is_null())
    {
        wrong(details, failed, "isError", "`true` or `false`", true);
    }
    let structured = result.get("structuredContent").filter(|it| !it.is_object() && !it.is_null());
    if let Some(structured) = structured.filter(|_| !is_structured_read) {
        wrong(details, structured, "structuredContent", "an object", true);
    }
}

fn check_block(details: &mut Details<'_>, block: Value<'_, '_>) {
    if !block.is_object() {
        return wrong(details, block, "content", "a list of objects", false);
    }
    check_annotations(details, block);
    let Some(kind) = block.get("type") else {
        return wrong(details, block, "type", "given in each block", true);
    };
    let known = kind.as_str().and_then(|kind| BLOCKS.iter().find(|(name, _)| *name == kind));
    let Some((name, keys)) = known else {
        let wants = "`text`, `image`, `audio`, `resource_link` or `resource`";
        // One that a later version of the protocol has is refused by clients of today.
        return wrong(details, kind, "type", wants, kind.is_string());
    };
    for key in *keys {
        match block.get(key) {
            None => missing(details, block, key),
            Some(value) if *name == "resource" => check_resource(details, value),
            Some(value) if value.as_json_str().is_none() => wrong(details, value, key, "a string", false),
            _ => {}
        }
    }
}

/// Checks for whom a block is and how important.
fn check_annotations(details: &mut Details<'_>, block: Value<'_, '_>) {
    let Some(annotations) = block.get("annotations") else { return };
    let is_number = |value: &Value<'_, '_>| value.kind() == Kind::Number;
    if let Some(priority) = annotations.get("priority").filter(is_number)
        && !std::str::from_utf8(priority.raw())
            .is_ok_and(|number| number.parse().is_ok_and(|number: f64| (0.0..=1.0).contains(&number)))
    {
        wrong(details, priority, "priority", "from 0 to 1", false);
    }
    let is_unknown =
        |role: &Value<'_, '_>| !role.as_str().is_some_and(|role| matches!(&*role, "user" | "assistant"));
    if let Some(audience) = annotations.get("audience").filter(|audience| !audience.is_null())
        && (!audience.is_array() || audience.elements().any(|role| is_unknown(&role)))
    {
        wrong(details, audience, "audience", "a list of `user` and `assistant`", false);
    }
}

fn check_resource(details: &mut Details<'_>, resource: Value<'_, '_>) {
    if !resource.is_object() {
        return wrong(details, resource, "resource", "an object", false);
    }
    if resource.get("uri").is_none() {
        missing(details, resource, "uri");
    }
    if resource.get_any(&["text", "blob"]).is_none() {
        missing(details, resource, "text");
    }
}
