//! Calls in XML-style tags, as Cline and Roo Code have the model write them: a tag named after the tool, with a tag
//! inside for each parameter. One call per message: the harness runs the first and stops reading.
//!
//! It is not XML: a value is the unescaped text between its tags, and unknown tags are text.
//!
//! Sources: in `cline/cline` the files `src/shared/tools.ts`, `src/core/assistant-message/index.ts` and
//! `parse-assistant-message.ts` beside it, and `src/core/prompts/responses.ts`; in `RooCodeInc/Roo-Code` the files
//! `packages/types/src/tool.ts` and `src/shared/tools.ts`, and in `src/core/assistant-message` the files
//! `presentAssistantMessage.ts` and `AssistantMessageParser.ts`.

use std::ops::Range;

use super::{Answers, Block, Malformation, Protocol, trimmed, up_to};

use crate::names::words;

pub(super) static PROTOCOL: Protocol = Protocol {
    id: "xml-tools",
    name: "XML-style tool tags",
    is_serial: true,
    may_hold,
    block_at,
    teaches,
    is_taught_by_user: true,
    reminder: Some("[ERROR] You did not use a tool in your previous response"),
    answers,
    interruption: Some("[Response interrupted by "),
};

/// The tools of both agents, in all their versions.
static TOOLS: [&str; 37] = words(
    "access_mcp_resource act_mode_respond apply_diff apply_patch ask_followup_question attempt_completion \
    browser_action codebase_search condense edit_file execute_command fetch_instructions focus_chain \
    generate_explanation generate_image insert_content list_code_definition_names list_files \
    load_mcp_documentation new_rule new_task plan_mode_respond read_file replace_in_file report_bug \
    run_slash_command search_and_replace search_files search_replace summarize_task switch_mode \
    update_todo_list use_mcp_tool use_skill web_fetch web_search write_to_file",
);

/// The parameters of all tools. The agents' parsers use a single list too.
static PARAMETERS: [&str; 64] = words(
    "action additional_context allowed_domains api_request_output args arguments blocked_domains code_edit \
    command content context coordinate cwd diff end_line file_path file_pattern follow_up from_ref \
    ignore_case image input instructions line line_count message mode mode_slug needs_more_exploration \
    new_string old_string operations options patch path prompt query question reason recursive regex \
    replace requires_approval response result search server_name size skill_name start_line \
    steps_to_reproduce target_file task task_progress text timeout title to_ref todos tool_name uri url \
    use_regex what_happened",
);

/// The parameters for whole files, which may contain the parameter's own closing tag.
const FILES: [&str; 2] = ["content", "diff"];

/// What the harness writes about a call that it did not run.
const REFUSALS: [&str; 3] = [
    "was not executed because a tool has already been used",
    "was interrupted and not executed",
    "due to user rejecting a previous tool",
];

/// The end of a result's first line, after the description of the call.
const RESULT: &str = "] Result:";

/// What may follow the tool's name in the description of a call.
const DESCRIPTIONS: [&str; 4] = [RESULT, " for ", " to ", " in "];

fn may_hold(raw: &[u8]) -> bool {
    memchr::memchr_iter(b'<', raw).any(|at| tag(&raw[at..]).is_some_and(|name| TOOLS.contains(&name)))
}

const LONGEST: usize = 32;

/// The name in the opening tag at the beginning of `bytes`.
fn tag(bytes: &[u8]) -> Option<&str> {
    let inside = bytes.strip_prefix(b"<")?;
    let is_of_name = |byte: &&u8| byte.is_ascii_lowercase() || **byte == b'_';
    let length = inside.iter().take(LONGEST).take_while(is_of_name).count();
    let is_tag = length > 0 && inside.get(length) == Some(&b'>');
    std::str::from_utf8(&inside[..length]).ok().filter(|_| is_tag)
}

/// The name of the parameter whose opening tag is at the beginning of `text`.
fn parameter(text: &str) -> Option<&str> {
    tag(text.as_bytes()).filter(|name| PARAMETERS.contains(name))
}

/// Whether `text` begins with the closing tag of `name`.
fn closes(text: &str, name: &str) -> bool {
    let inside = text.strip_prefix("</").and_then(|rest| rest.strip_prefix(name));
    inside.is_some_and(|rest| rest.starts_with('>'))
}

fn block_at(text: &str, at: usize) -> Option<Block> {
    let tool = tag(&text.as_bytes()[at..]).filter(|name| TOOLS.contains(name))?;
    let name = at + 1..at + 1 + tool.len();
    let opening = at..name.end + 1;
    // A tag that is not followed by a parameter is a mention in prose.
    let beginning = text[opening.end..].trim_start();
    if !beginning.is_empty() && parameter(beginning).is_none() && !closes(beginning, tool) {
        return None;
    }
    let mut at = opening.end;
    let mut block = Block {
        whole: opening.start..text.len(),
        opening,
        name: Some((tool.to_owned(), name)),
        arguments: Vec::new(),
        fault: None,
    };
    while let Some(length) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
        at += length;
        let rest = &text[at..];
        if closes(rest, tool) {
            block.whole.end = at + tool.len() + "</>".len();
            return Some(block);
        }
        let Some(name) = parameter(rest) else {
            at += 1;
            continue;
        };
        let opening = at..at + name.len() + "<>".len();
        let Some(value) = value(text, opening.end, name, tool) else {
            block.fault = Some((Malformation::UnclosedParameter, opening));
            return Some(block);
        };
        at = value.end + name.len() + "</>".len();
        block.arguments.push((name.to_owned(), trimmed(text, value)));
    }
    block.fault = Some((Malformation::Unclosed, block.opening.clone()));
    Some(block)
}

/// The value of a parameter that begins at `from`, up to its closing tag; for whole files, up to the closing tag after
/// which the call continues.
fn value(text: &str, from: usize, name: &str, tool: &str) -> Option<Range<usize>> {
    let closing = format!("</{name}>");
    let mut value = up_to(text, from, &closing)?;
    if !FILES.contains(&name) {
        return Some(value);
    }
    loop {
        let behind = text[value.end + closing.len()..].trim_start();
        if behind.is_empty() || closes(behind, tool) || parameter(behind).is_some() {
            return Some(value);
        }
        match up_to(text, value.end + closing.len(), &closing) {
            Some(next) => value.end = next.end,
            None => return Some(value),
        }
    }
}

fn teaches(text: &str) -> bool {
    let shows = |tool: &&str| text.contains(&format!("<{tool}>")) && text.contains(&format!("</{tool}>"));
    text.contains("XML-style tags") && TOOLS.iter().any(shows)
}

/// Results begin with words such as `[read_file for 'a.ts'] Result:`. They count anywhere in the text, because some
/// histories join the texts of a message without a line break.
fn answers(text: &str) -> Answers<'_> {
    let mut answers =
        Answers { refuses: REFUSALS.iter().any(|refusal| text.contains(refusal)), ..Answers::default() };
    // No result begins after the last occurrence of `RESULT`.
    let Some(last) = text.rfind(RESULT) else { return answers };
    let first = text.len() - text.trim_start().len();
    for at in memchr::memchr_iter(b'[', &text.as_bytes()[..last]) {
        let inside = &text[at + 1..];
        let length = inside.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count();
        let (tool, behind) = inside.split_at(length);
        if TOOLS.contains(&tool) && DESCRIPTIONS.iter().any(|word| behind.starts_with(word)) {
            answers.is_answer |= at == first;
            answers.tools.push(tool);
        }
    }
    answers
}
