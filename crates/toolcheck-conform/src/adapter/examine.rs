//! An adapter gets every conversation, and each of its faults becomes as small as it can be.

use std::cell::Cell;

use serde_json::Value as Json;

use super::bodies::{self, BodyKind};
use super::conversation::TestConversation;
use super::faults::{self, AdapterFault, Translation};
use super::shrink::shrink;

/// What an adapter is asked to translate.
#[derive(Debug)]
#[non_exhaustive]
pub struct Question<'q> {
    /// The id of the conversation; while one is made smaller, that of the one it comes from.
    pub id: &'q str,
    /// What the body is.
    pub kind: BodyKind,
    /// From which format to which one.
    pub translation: &'q Translation,
    /// The body.
    pub body: &'q Json,
    /// The conversation in it.
    pub conversation: &'q TestConversation,
}

/// What an adapter answers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The body in the other format.
    Body(Json),
    /// It has no way to translate that, and why.
    Skipped(String),
    /// It says that it can't.
    Errored(String),
    /// It crashed, took too long or answered nonsense.
    Broke(String),
}

/// What is examined.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What is translated, and how: responses may go another way than requests.
    pub translations: Vec<(BodyKind, Translation)>,
    /// The conversations.
    pub conversations: Vec<TestConversation>,
    /// Names the model in each body that has room for it.
    pub model: Option<String>,
}

/// What came of a conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CaseReport {
    /// The id of the conversation.
    pub id: String,
    /// What was translated.
    pub kind: BodyKind,
    /// What is wrong.
    pub faults: Vec<AdapterFault>,
    /// Why it was skipped.
    pub skipped: Option<String>,
}

impl CaseReport {
    fn given_up(id: &str, kind: BodyKind) -> Self {
        let why = format!("it has answered none of the first {MOST_SILENT}");
        Self { id: id.to_owned(), kind, faults: Vec::new(), skipped: Some(why) }
    }
}

/// A fault with the smallest conversation that shows it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReducedFault {
    /// The fault.
    pub fault: AdapterFault,
    /// What was translated.
    pub kind: BodyKind,
    /// The smallest conversation.
    pub conversation: TestConversation,
    /// Its body.
    pub before: Json,
    /// What the adapter made of it, if it made something.
    pub after: Option<Json>,
    /// Whether no single step makes it smaller. If not, the tries were used up.
    pub is_smallest: bool,
    /// The conversations that come down to it, in the order in which they were examined.
    pub cases: Vec<String>,
}

/// What an examination has found.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Examination {
    /// The conversations.
    pub cases: Vec<CaseReport>,
    /// The faults, each once: the worst first.
    pub found: Vec<ReducedFault>,
}

/// How often an adapter is asked to make a conversation smaller.
const MOST_TRIES: usize = 600;
/// The same for one that crashes or takes its time, which is slow.
const MOST_BROKEN_TRIES: usize = 24;
/// How many conversations with the same class of fault are made smaller. Another cause may hide behind each.
const MOST_OF_A_CLASS: usize = 24;

/// After how many conversations one is given up that has answered nothing.
const MOST_SILENT: usize = 3;

const ERRORED: &str = "errored";
const BROKE: &str = "broke";

/// Has an adapter translate the conversations of a plan.
///
/// # Errors
///
/// What `ask` fails with: that the adapter could not even be asked.
pub fn examine<E>(
    plan: &Plan,
    mut ask: impl FnMut(&Question<'_>) -> Result<Answer, E>,
) -> Result<Examination, E> {
    let mut examination = Examination::default();
    let has_answered = Cell::new(false);
    let mut ask = |question: &Question<'_>| {
        ask(question).inspect(|answer| {
            has_answered.set(has_answered.get() || !matches!(answer, Answer::Broke(_)));
        })
    };
    for (kind, translation) in &plan.translations {
        let mut asker = Asker { kind: *kind, translation, model: plan.model.as_deref(), ask: &mut ask };
        for conversation in &plan.conversations {
            if !has_answered.get() && examination.cases.len() >= MOST_SILENT {
                examination.cases.push(CaseReport::given_up(&conversation.id, *kind));
                continue;
            }
            let Some(tried) = asker.try_it(conversation, &conversation.id)? else { continue };
            for fault in &tried.faults {
                let is_of_class = |found: &&ReducedFault| found.kind == *kind && found.fault.is_same(fault);
                let of_class = examination.found.iter().filter(is_of_class);
                if of_class.map(|found| found.cases.len()).sum::<usize>() < MOST_OF_A_CLASS {
                    let found = asker.smallest(conversation, fault)?;
                    examination.add(found);
                }
            }
            examination.cases.push(CaseReport {
                id: conversation.id.clone(),
                kind: *kind,
                faults: tried.faults,
                skipped: tried.skipped,
            });
        }
    }
    examination.found.sort_by_key(|found| (std::cmp::Reverse(found.fault.gravity), found.kind));
    Ok(examination)
}

impl Examination {
    fn add(&mut self, found: ReducedFault) {
        let is_known = |known: &&mut ReducedFault| {
            known.kind == found.kind
                && known.fault.is_same(&found.fault)
                && known.conversation.says_as(&found.conversation)
        };
        match self.found.iter_mut().find(is_known) {
            Some(known) => known.cases.extend(found.cases),
            None => self.found.push(found),
        }
    }
}

struct Asker<'a, A> {
    kind: BodyKind,
    translation: &'a Translation,
    model: Option<&'a str>,
    ask: &'a mut A,
}

struct Tried {
    before: Json,
    after: Option<Json>,
    faults: Vec<AdapterFault>,
    skipped: Option<String>,
}

impl<A> Asker<'_, A> {
    /// Asks for a conversation; `None` if it is none that the format before can hold.
    fn try_it<E>(&mut self, conversation: &TestConversation, id: &str) -> Result<Option<Tried>, E>
    where
        A: FnMut(&Question<'_>) -> Result<Answer, E>,
    {
        let Some(mut before) = bodies::body(conversation, self.kind, self.translation.from) else {
            return Ok(None);
        };
        if !faults::is_fair(conversation, self.kind, self.translation.from, &before) {
            return Ok(None);
        }
        if let Some(model) = self.model.filter(|_| self.kind == BodyKind::Request) {
            bodies::name_model(&mut before, self.translation.from, model);
        }
        let question =
            Question { id, kind: self.kind, translation: self.translation, body: &before, conversation };
        let answer = (self.ask)(&question)?;
        let mut tried = Tried { before, after: None, faults: Vec::new(), skipped: None };
        match answer {
            Answer::Body(after) => {
                tried.faults =
                    faults::faults(conversation, self.kind, self.translation, &tried.before, &after);
                tried.after = Some(after);
            }
            Answer::Skipped(why) => tried.skipped = Some(why),
            Answer::Errored(why) => tried.faults.push(AdapterFault::of_adapter(ERRORED, why)),
            Answer::Broke(why) => tried.faults.push(AdapterFault::of_adapter(BROKE, why)),
        }
        Ok(Some(tried))
    }

    fn smallest<E>(
        &mut self,
        conversation: &TestConversation,
        fault: &AdapterFault,
    ) -> Result<ReducedFault, E>
    where
        A: FnMut(&Question<'_>) -> Result<Answer, E>,
    {
        let most = if fault.class == BROKE { MOST_BROKEN_TRIES } else { MOST_TRIES };
        let mut failed = None;
        let (smallest, is_smallest) = shrink(conversation, most, |step| {
            if failed.is_some() {
                return false;
            }
            match self.try_it(step, &conversation.id) {
                Ok(tried) => tried.is_some_and(|tried| tried.faults.iter().any(|found| found.is_same(fault))),
                Err(error) => {
                    failed = Some(error);
                    false
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let tried = self.try_it(&smallest, &conversation.id)?;
        let (before, after, again) =
            tried.map_or((Json::Null, None, Vec::new()), |tried| (tried.before, tried.after, tried.faults));
        let fault = again.into_iter().find(|found| found.is_same(fault)).unwrap_or_else(|| fault.clone());
        let cases = vec![conversation.id.clone()];
        Ok(ReducedFault { fault, kind: self.kind, conversation: smallest, before, after, is_smallest, cases })
    }
}
