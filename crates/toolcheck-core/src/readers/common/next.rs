//! What becomes of the faults of a history in the request that an agent makes of it, as data: a file in `agents/` each.

use foldhash::HashMap;
use serde::Deserialize;

use super::{Conversation, ConversationEnd, Policy};
use crate::level::Level;
use crate::rule_id::RuleId;
use crate::tables::{AGENTS, Tables};

static ALL: Tables<NextRequest, { AGENTS.1.len() }> = Tables::new(AGENTS);

/// How an agent makes its next request of the session that it has written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NextRequest {
    /// The agent, as people call it.
    pub name: String,
    /// The target that answers the request; `None` if users choose it.
    pub target: Option<String>,
    /// Where the agent's own code or its users show that.
    pub sources: Vec<String>,
    /// The version of the agent that was looked at.
    pub version: String,
    /// What is in doubt, as a sentence.
    pub doubt: Option<String>,
    /// Whether it writes calls only once they have results, so that one without a result has lost it even at the end.
    #[serde(default, rename = "has-no-open-end")]
    pub has_no_open_end: bool,
    /// Whether its compactions keep no result without its call, so that one whose call is before a compaction is none.
    #[serde(default, rename = "keeps-pairs")]
    pub keeps_pairs: bool,
    /// Whether it looks for the call of a result behind it too, before it leaves the result out.
    #[serde(default, rename = "looks-ahead")]
    pub looks_ahead: bool,
    /// What the agent does itself about the findings of a rule before it sends the request: what follows its name, such as
    /// "answers the call with `aborted`".
    #[serde(default)]
    pub repairs: HashMap<RuleId, String>,
}

impl NextRequest {
    /// How an agent makes its next request of a session; `None` if that is not known.
    pub fn of(agent: &str) -> Option<&'static Self> {
        ALL.find(agent)
    }

    /// Whether the agent itself puts right what a rule finds.
    pub fn repairs(&self, rule: RuleId) -> bool {
        self.repairs.contains_key(&rule)
    }

    pub(crate) fn needs_calls(&self) -> bool {
        !self.keeps_pairs && !self.repairs(RuleId::OrphanToolResult)
    }

    /// The level of a rule's findings in the next request; `None` if it is that of any log.
    pub fn level(&self, rule: RuleId) -> Option<Level> {
        if self.repairs(rule) { None } else { Policy::of_next_request().level(rule) }
    }
}

/// Marks the last conversation of a thread as what an agent sends next, if it goes on.
pub(crate) fn mark(conversations: &mut [Conversation<'_>], thread: &str, agent: &'static str) {
    let is_of_thread = |one: &&mut Conversation<'_>| {
        one.title.strip_prefix(thread).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    if let Some(last) = conversations.iter_mut().rfind(is_of_thread)
        && matches!(last.end, ConversationEnd::Open | ConversationEnd::Aborted)
    {
        last.transcript.sent_next_by = Some(agent);
    }
}
