//! Tool definitions from a separate file, in the form of any supported API or of an MCP server.

use toolcheck_json::{Document, Value};

use crate::names::words;

/// A tool's name and the text of its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// The name that calls use.
    pub name: String,
    /// The JSON text of the schema of its arguments, if it has one.
    pub schema: Option<Vec<u8>>,
}

/// Keys that lead to a list of tools: in a request, in an MCP server's response, in Bedrock's configuration.
const LISTS: [&str; 5] = ["tools", "functions", "result", "toolConfig", "params"];
/// Keys under which one tool groups several definitions.
const GROUPS: [&str; 2] = ["functionDeclarations", "function_declarations"];
const WRAPPINGS: [&str; 3] = ["function", "custom", "toolSpec"];
/// Data sets have the word of LangChain too, and Datadog's spans `schema`.
const SCHEMAS: [&str; 7] = words(
    "input_schema inputSchema parameters parametersJsonSchema parameters_json_schema schema args_schema",
);

/// The tools that a document declares. The document is a bare list, a request of any format, or an MCP server's
/// response to `tools/list`. Returns `None` if there is no list of tools.
pub fn read(root: Value<'_, '_>) -> Option<Vec<Definition>> {
    read_with(root, |_| None)
}

/// The same, of schemas that are written otherwise: `schema_of` makes one of them, where they are no schema.
pub(crate) fn read_with(root: Value<'_, '_>, schema_of: SchemaOf) -> Option<Vec<Definition>> {
    Some(elements(list(root)?).filter_map(|tool| definition_with(tool, schema_of)).collect())
}

type SchemaOf = fn(Value<'_, '_>) -> Option<Vec<u8>>;

/// The first element of a list of tools that defines none, although it should: it is not a tool that the API itself has,
/// such as a web search, which needs no name. Calls of it would go unchecked.
pub fn misfit<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let is_of_api = |tool: Value<'_, '_>| match tool.get_str("type") {
        Some(kind) => !WRAPPINGS.contains(&&*kind),
        None => tool.members().next().is_some() && tool.members().all(Value::is_object),
    };
    let is_ours = |tool: Value<'_, '_>| tool.get_any(&WRAPPINGS).or_else(|| tool.get_any(&SCHEMAS)).is_some();
    elements(list(root)?).find(|tool| definition(*tool).is_none() && (is_ours(*tool) || !is_of_api(*tool)))
}

fn list<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let mut list = root;
    // The list is at most a few levels down: `result.tools`, `toolConfig.tools`.
    for _ in 0..3 {
        if list.is_array() {
            break;
        }
        list = list.get_any(&LISTS)?;
    }
    Some(list).filter(|list| list.is_array())
}

/// The elements of a list of tools, without their groups.
fn elements<'d, 's>(list: Value<'d, 's>) -> impl Iterator<Item = Value<'d, 's>> {
    list.elements().flat_map(|tool| {
        let functions = tool.get_any(&GROUPS);
        let alone = functions.is_none().then_some(tool);
        functions.into_iter().flat_map(Value::elements).chain(alone)
    })
}

/// The tools that an element of a list defines in any form, as `template` has them; `None` if that is its own form.
pub fn rewritten(tool: Value<'_, '_>, template: &str) -> Option<String> {
    let each = tool.get_any(&GROUPS).map_or(vec![tool], |group| group.elements().collect());
    let each = each.into_iter().map(|tool| {
        let Definition { name, schema } = definition(tool)?;
        let about = tool.get_any(&WRAPPINGS).unwrap_or(tool).get("description");
        let about = about.filter(|about| about.is_string()).map(Value::raw);
        let name = serde_json::Value::from(name).to_string();
        let about = about.map_or(name.clone(), |about| String::from_utf8_lossy(about).into_owned());
        // A tool of an API has none.
        let schema = schema?;
        let schema = String::from_utf8_lossy(&schema);
        let (start, rest) = template.split_once("NAME")?;
        let (before, rest) = rest.split_once("ABOUT")?;
        let (between, end) = rest.split_once("SCHEMA")?;
        Some([start, &name, before, &about, between, &schema, end].concat())
    });
    let json = each.collect::<Option<Vec<_>>>()?.join(", ").replace(['\n', '\r'], "");
    let is_own = || {
        let list = format!("[{json}]");
        let written = Document::read(list.as_bytes());
        let keys = |tool: Value<'_, '_>| {
            tool.members().map(|one| one.key_text().map(|key| key.into_owned())).collect::<Vec<_>>()
        };
        written.root().elements().next().is_some_and(|first| keys(first) == keys(tool))
    };
    (!json.is_empty() && !is_own()).then_some(json)
}

/// The definition in a JSON text, if there is one.
pub(crate) fn read_text(text: &str, schema_of: SchemaOf) -> Option<Definition> {
    let document = Document::read(text.as_bytes());
    let root = Some(document.root()).filter(|root| root.is_object())?;
    definition_with(root, schema_of)
}

pub(crate) fn definition(tool: Value<'_, '_>) -> Option<Definition> {
    definition_with(tool, |_| None)
}

pub(crate) fn definition_with(tool: Value<'_, '_>, schema_of: SchemaOf) -> Option<Definition> {
    // Spans have a tool as the text of what was sent.
    let nested = || tool.get_in(&["tool", "json_schema"]);
    match tool.get("tool.json_schema").or_else(nested) {
        Some(text) if text.is_string() => {
            definition_in(Document::read(text.as_str()?.as_bytes()).root(), schema_of)
        }
        Some(inner) => definition_in(inner, schema_of),
        None => definition_in(tool, schema_of),
    }
}

fn definition_in(tool: Value<'_, '_>, schema_of: SchemaOf) -> Option<Definition> {
    let spec = tool.get_any(&WRAPPINGS).filter(|spec| spec.is_object()).unwrap_or(tool);
    let name = spec.get_str("name")?.into_owned();
    let schema = spec.get_any(&SCHEMAS);
    // Bedrock wraps the schema in another object.
    let schema = schema.map(|schema| schema.get("json").filter(|inner| inner.is_object()).unwrap_or(schema));
    let json = |schema: Value<'_, '_>| schema_in_text(schema).unwrap_or_else(|| schema.raw().to_vec());
    let schema = schema.map(|schema| schema_of(schema).unwrap_or_else(|| json(schema)));
    Some(Definition { name, schema })
}

/// The schema that a table has as the text of JSON.
pub(crate) fn schema_in_text(schema: Value<'_, '_>) -> Option<Vec<u8>> {
    let text = schema.as_str()?;
    let document = Document::read(text.as_bytes());
    let is_schema = document.faults().is_empty() && document.root().is_object();
    is_schema.then(|| text.into_owned().into_bytes())
}
