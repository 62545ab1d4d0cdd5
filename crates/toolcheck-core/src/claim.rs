//! How sure a format is of a document, judged by its messages.

use toolcheck_json::Value;

/// How sure a format is of a message or a document, from 0 (it is not of the format) to 100.
///
/// The surest format wins, so the numbers are compared with those of other formats: what several formats write the same
/// way is below [`SURE`], and what dialects share is below [`SURE_OF_DIALECT`]. A number between two of these constants
/// only decides which of two formats goes first.
pub(crate) mod certainty {
    /// Another format is more likely.
    pub(crate) const FAINT: u8 = 5;
    /// A list without messages, or a message that says little.
    pub(crate) const WEAK: u8 = 10;
    /// A message of plain text, as several formats write it.
    pub(crate) const TEXT: u8 = 20;
    /// Something that this format writes and few others do. From here on a format counts as recognised.
    pub(crate) const SURE: u8 = 40;
    /// A key of the body, or a type of block, that few other formats have.
    pub(crate) const LIKELY: u8 = 60;
    /// Enough for a record to be read in another format than most records of its file.
    pub(crate) const SURE_OF_RECORD: u8 = 70;
    /// The same between dialects, whose records look alike: only marks unique to one of them count.
    pub(crate) const SURE_OF_DIALECT: u8 = 80;
    /// The name of a model that only one dialect has.
    pub(crate) const OWN_MODEL: u8 = 84;
    /// A setting of the body that only one dialect has.
    pub(crate) const OWN_SETTING: u8 = 85;
    /// From here on, no other format is possible.
    pub(crate) const CERTAIN: u8 = 90;
    /// A message whose shape is unique to one format.
    pub(crate) const OWN_SHAPE: u8 = 95;
}

use certainty::SURE;

/// How many messages a format looks at to recognise a document.
pub(crate) const MESSAGES_LOOKED_AT: usize = 200;

/// How well a single message fits a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The format has no such messages.
    Foreign,
    /// The message is one that only another protocol has, so the whole document is not in the format.
    Never,
    /// The message is no evidence for or against the format.
    Open,
    /// The message may be in the format, with this certainty.
    Sure(u8),
}

impl Claim {
    /// Judges a message by its blocks. Each item is a block's certainty: 0 if the format does not know the block,
    /// `None` if the block belongs to another format. `empty` is the claim for a message without blocks.
    pub(crate) fn of_blocks(blocks: impl Iterator<Item = Option<u8>>, empty: Self) -> Self {
        let mut surest = None;
        for sure in blocks {
            let Some(sure) = sure else { return Self::Foreign };
            surest = surest.max(Some(sure));
        }
        match surest {
            None => empty,
            Some(0) => Self::Foreign,
            Some(sure) => Self::Sure(sure),
        }
    }

    /// The claim for a message whose role the format does not know: if the rest of the message fits, the role is a
    /// mistake; otherwise the message belongs to another format.
    pub(crate) fn of_unknown_role(message: Value<'_, '_>) -> Self {
        let says = |value: Value<'_, '_>| value.is_string();
        let is_message = message.get("role").is_some_and(says) && message.get("content").is_some_and(says);
        if is_message { Self::Open } else { Self::Foreign }
    }
}

/// The [`certainty`] of a format from a document's list of messages. Foreign messages count against it; the search
/// stops at the first message with a certainty of at least `enough`.
pub(crate) fn surest_message<'d, 's>(
    list: Value<'d, 's>,
    enough: u8,
    claim: impl Fn(Value<'d, 's>) -> Claim,
) -> u8 {
    let (mut surest, mut own, mut foreign) = (0, 0, 0);
    for message in list.elements().take(MESSAGES_LOOKED_AT) {
        match claim(message) {
            Claim::Never => return 0,
            Claim::Foreign => foreign += 1,
            Claim::Open => {}
            Claim::Sure(sure) => {
                own += 1;
                surest = surest.max(sure);
                if surest >= enough {
                    return surest;
                }
            }
        }
    }
    if foreign > own || own == 0 {
        0
    } else if foreign > 0 && surest < SURE {
        (surest / FAINTER).max(1)
    } else {
        surest
    }
}

/// The [`certainty`] of a format that has nothing in common with Chat Completions: where most calls and results are written
/// as there or as Anthropic writes them, a message in this format is the mistake.
pub(crate) fn surest_of_most<'d, 's>(
    list: Value<'d, 's>,
    enough: u8,
    claim: impl Fn(Value<'d, 's>) -> Claim,
) -> u8 {
    let sure = surest_message(list, enough, &claim);
    if sure >= SURE && are_mostly_others(list, claim) { certainty::FAINT } else { sure }
}

/// Whether more messages have calls or results of those formats than are surely of the format that claims them.
fn are_mostly_others<'d, 's>(list: Value<'d, 's>, claim: impl Fn(Value<'d, 's>) -> Claim) -> bool {
    let is_of_chat = |message: Value<'_, '_>| {
        message.get("tool_calls").is_some_and(|calls| calls.elements().next().is_some())
            || message.has("tool_call_id") && message.is("role", "tool")
    };
    let is_block =
        |block: Value<'_, '_>| matches!(block.get_str("type").as_deref(), Some("tool_use" | "tool_result"));
    let (mut own, mut others) = (0, 0);
    for message in list.elements().take(MESSAGES_LOOKED_AT) {
        if is_of_chat(message) {
            others += 1;
        } else if matches!(claim(message), Claim::Sure(sure) if sure >= SURE) {
            own += 1;
        } else if message.list("content").any(is_block) {
            others += 1;
        }
    }
    // One alone may be the mistake.
    others > own.max(1)
}

/// The divisor of the certainty if some messages are foreign and the others are below [`SURE`].
const FAINTER: u8 = 3;

/// Whether a document is what a program stores of a session or a run, and no request: it has two or more keys of such, which
/// no API takes. The tools of Agno's (`RunOutput` in `libs/agno/agno/run/agent.py`) are those that have run. CodeWhale keeps
/// them apart from the messages (`SavedSession` in `crates/tui/src/session_manager.rs`), and names no model beside those.
/// CrewAI's output of an agent names its role (`LiteAgentOutput` in `lib/crewai/src/crewai/lite_agent_output.py`).
/// Braintrust's rows are spans, those of DSPy's `history` have ids, and those of AgentDojo and tau2-bench name what was run.
pub(crate) fn is_stored(root: Value<'_, '_>) -> bool {
    let is_mark = |member: &Value<'_, '_>| {
        matches!(
            member.plain_key(),
            Some(
                b"title"
                    | b"created_at"
                    | b"createdAt"
                    | b"updated_at"
                    | b"updatedAt"
                    | b"working_dir"
                    | b"workspace"
                    | b"cwd"
                    | b"parent_id"
                    | b"run_id"
                    | b"agent_id"
                    | b"team_id"
                    | b"session_id"
                    | b"provider_key"
                    | b"span_id"
                    | b"span_attributes"
                    | b"suite_name"
                    | b"user_task_id"
                    | b"benchmark_name"
                    | b"benchmark_version"
                    | b"task_name"
                    | b"eval_result"
                    | b"uuid"
                    | b"model_type"
                    | b"agent_role"
                    | b"usage_metrics"
            )
        )
    };
    let is_one = |value: Value<'_, '_>| value.members().filter(is_mark).nth(1).is_some();
    is_one(root) || root.get("metadata").is_some_and(is_one) && root.get("model").is_none()
}

/// Whether an item is a message of OpenCode 2, which has a type and no role (`packages/schema/src/session-message.ts` of
/// anomalyco/opencode).
pub(crate) fn is_of_opencode(item: Value<'_, '_>) -> bool {
    item.has("type")
        && item.get("role").is_none()
        && item.get_str("id").is_some_and(|id| id.starts_with("msg_"))
        && item.get_in(&["time", "created"]).is_some()
}
