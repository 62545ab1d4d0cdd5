//! Tools that a system text describes between tags, as the templates of Hermes and Qwen write them.

use foldhash::HashSet;
use toolcheck_json::{Document, JsonStr};

use super::{literal, python};
use crate::ir::{Body, Role, Text, Transcript};
use crate::tools::Definition;

/// Adds the tools that the first texts of the system describe, where the conversation has none besides.
pub(crate) fn add<'s>(transcript: &mut Transcript<'s>, column: Option<Text<'s>>) {
    if transcript.request.tools.count() != Some(0) {
        return;
    }
    let first = transcript.messages.iter().take_while(|message| message.role == Role::System);
    let said = first.filter_map(|message| match &transcript.parts_of(message).first()?.body {
        Body::Text(text) => Some((text.string, text.place)),
        _ => None,
    });
    let described = |text| Some(of_text(text)).filter(|tools| !tools.is_empty());
    let mut found = said.filter_map(|(text, place)| Some((described(text)?, place)));
    let column = || column.and_then(|text| Some((described(text.string)?, text.place)));
    let Some((mut tools, place)) = found.next().or_else(column) else { return };
    let mut names: HashSet<_> = tools.iter().map(|tool| tool.name.clone()).collect();
    tools.extend(found.flat_map(|(tools, _)| tools).filter(|tool| names.insert(tool.name.clone())));
    transcript.request.tools.place = Some(place);
    transcript.request.tools.in_text = tools;
}

/// What stands before the list of tools in ToolACE's rows and in the prompt of Llama 3.2
/// (<https://github.com/meta-llama/llama-models/blob/main/models/llama3_2/text_prompt_format.md>).
const LISTED: &str = "list of functions in JSON format that you can invoke";

/// The tools between the first tags that have some: the words around them name the tags too.
fn of_text(text: JsonStr<'_>) -> Vec<Definition> {
    if text.may_have(LISTED) {
        let text = text.decode();
        let list =
            text.split_once(LISTED).and_then(|(_, rest)| Some(&rest[rest.find('[')?..])).unwrap_or_default();
        return python::tools(Document::read(list.as_bytes()).root()).unwrap_or_default();
    }
    if !text.may_have("</tools>") {
        return Vec::new();
    }
    let text = text.decode();
    let mut lists = text.split("<tools>").skip(1).filter_map(|rest| Some(rest.split_once("</tools>")?.0));
    lists.find_map(|list| Some(of_list(list.trim())).filter(|tools| !tools.is_empty())).unwrap_or_default()
}

/// The tools of a list, or of lines with one each. None, if one of them can't be read.
fn of_list(list: &str) -> Vec<Definition> {
    let of_json = |json: &str| {
        let document = Document::read(json.as_bytes());
        document.faults().is_empty().then(|| python::tools(document.root()))?
    };
    let lines = || {
        let lines = list.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(of_json).collect::<Option<Vec<_>>>().map(|tools| tools.concat())
    };
    of_json(list).or_else(lines).or_else(|| of_json(&literal::json_of(list)?)).unwrap_or_default()
}
