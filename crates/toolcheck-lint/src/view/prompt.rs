//! What the chat template of a model makes of a request.

use toolcheck_core::fix::Fix;
use toolcheck_core::ir::Place;
use toolcheck_core::readers::is_of_templates;
use toolcheck_core::{Level, RuleId};

use crate::rule::{Context, Sink};

/// What a template does with a part of a request.
#[derive(Debug)]
pub(crate) struct Observed {
    rule: RuleId,
    place: Place,
    message: String,
    help: String,
    /// Whether the model's server surely does it. A warning says at most that something is not known.
    is_certain: bool,
    fix: Option<Fix>,
}

pub(crate) fn report(rule: RuleId, cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(template) = cx.template else { return };
    for observed in cx.in_prompt.get_or_init(|| examine(template, cx)) {
        if observed.rule != rule {
            continue;
        }
        let finding = out.report(observed.place, observed.message.clone());
        if !observed.help.is_empty() {
            finding.help(observed.help.clone());
        }
        if let Some(fix) = &observed.fix {
            finding.fix(fix.clone());
        }
        if !observed.is_certain {
            finding.at_most(Level::Warning).caption("the prompt of these messages is not checked");
        }
    }
}

impl Context<'_, '_> {
    /// Whether it is known what the chat template makes of it: there is one, and it was run.
    pub(crate) fn knows_prompt(&self) -> bool {
        self.transcript.format.is_some_and(|format| is_of_templates(format.id))
            && self.template.is_some_and(|template| {
                self.in_prompt.get_or_init(|| examine(template, self)).iter().all(|seen| seen.is_certain)
            })
    }

    /// The prompt that the chat template makes of it; `None` if there is no template, or no prompt.
    pub fn prompt(&self) -> Option<String> {
        self.template.and_then(|template| render(template, self))
    }
}

#[cfg(not(feature = "template"))]
fn render(template: &crate::template::ChatTemplate, _: &Context<'_, '_>) -> Option<String> {
    template.never()
}

#[cfg(not(feature = "template"))]
fn examine(template: &crate::template::ChatTemplate, _: &Context<'_, '_>) -> Vec<Observed> {
    template.never()
}

#[cfg(feature = "template")]
use with_template::{examine, render};

#[cfg(feature = "template")]
mod with_template {
    use foldhash::HashMap;
    use toolcheck_core::RuleId;
    use toolcheck_core::fix::{Change, Fix};
    use toolcheck_core::formats;
    use toolcheck_core::ir::{Body, Place};
    use toolcheck_core::readers::messages_of_row;
    use toolcheck_core::text::kept;
    use toolcheck_json::{Document, NodeId, Value};
    use toolcheck_template::{
        Arguments, Change as FormChange, ChatRequest, Input, Kind, Observation, OtherForm, Part, Preparation,
        Refusal, Template,
    };

    use super::{Observed, is_of_templates};
    use crate::rule::Context;
    use crate::template::ChatTemplate;

    pub(super) fn render(template: &ChatTemplate, cx: &Context<'_, '_>) -> Option<String> {
        let render =
            |_: Value<'_, '_>, input: &Input<'_>, _: Option<&ChatRequest>| template.template().render(input);
        on_input(cx, render)?.ok()?.ok().map(|prompt| prompt.text)
    }

    pub(super) fn examine(template: &ChatTemplate, cx: &Context<'_, '_>) -> Vec<Observed> {
        let examine = |root: Value<'_, '_>, input: &Input<'_>, chat: Option<&ChatRequest>| {
            examine_input(template.template(), cx, (root, input), chat)
        };
        match on_input(cx, examine) {
            None => Vec::new(),
            Some(Ok(observed)) => observed,
            Some(Err(why)) => vec![not_run(cx.transcript.place, &why, String::new())],
        }
    }

    /// Does something with what is rendered of a transcript, if it is in a form that templates or servers read. An error
    /// says why that is not known.
    fn on_input<R>(
        cx: &Context<'_, '_>,
        then: impl FnOnce(Value<'_, '_>, &Input<'_>, Option<&ChatRequest>) -> R,
    ) -> Option<Result<R, String>> {
        let format = cx.transcript.format.filter(|format| is_of_templates(format.id))?;
        let root = cx.document.value(cx.transcript.place.node);
        if !formats::find(format.id).is_some_and(|format| format.is_made_chat) {
            let Some(messages) = cx.is_training_example().then(|| messages_of_row(root)).flatten() else {
                return Some(Ok(then(root, &input(cx, root)?, None)));
            };
            let row = ChatRequest::of_row(root, &messages);
            let document = Document::read(row.text.as_bytes());
            return Some(Ok(then(document.root(), &input(cx, document.root())?, Some(&row))));
        }
        // A trainer rewrites nothing.
        let made = ChatRequest::of(root).filter(|_| !cx.is_training_example())?;
        let chat = match made {
            Ok(chat) => chat,
            Err(why) => return Some(Err(why)),
        };
        let document = Document::read(chat.text.as_bytes());
        let input = Input { preparation: Preparation::Vllm, ..Input::of(document.root())? };
        Some(Ok(then(document.root(), &input, Some(&chat))))
    }

    fn examine_input(
        template: &Template,
        cx: &Context<'_, '_>,
        (root, input): (Value<'_, '_>, &Input<'_>),
        chat: Option<&ChatRequest>,
    ) -> Vec<Observed> {
        let found = template.examine(input);
        let refusal = found.refusal.as_ref();
        // What is not checked is not clean.
        if let Some(unknown) = refusal.filter(|refusal| !refusal.kind.is_certain()) {
            let place = if chat.is_some() { cx.transcript.place } else { Place::of(input.messages) };
            return vec![not_run(place, &unknown.message, in_line(unknown))];
        }
        let places = Places::new(cx, chat);
        let has_any = found.observations.iter().any(|observation| !observation.by_design);
        let is_wanted = cx.finds_forms && has_any && chat.is_none();
        let form = is_wanted.then(|| template.other_form(input, root, &found)).flatten();
        let fix = |number: usize| form.as_ref().filter(|form| form.solves[number]).map(self::fix);
        let observations = found.observations.iter().enumerate();
        observations
            .filter(|(_, observation)| !observation.by_design)
            .filter_map(|(number, observation)| {
                let own = observed(&places, observation, refusal)?;
                Some(Observed { fix: fix(number), ..own })
            })
            .collect()
    }

    /// What makes another form of a conversation.
    fn fix(form: &OtherForm) -> Fix {
        let changes = form.changes.iter().map(|change| match change.clone() {
            FormChange::Write(node, json) => Change::Write(node, json),
            FormChange::Add(object, key, json) => Change::Add(object, key, json),
            FormChange::Rename(member, key) => Change::Rename(member, key),
            FormChange::Remove(node) => Change::Remove(node),
            FormChange::Before(message, json) => Change::Before(message, json),
        });
        match &form.guesses[..] {
            [] => Fix::safe(changes),
            guesses => Fix::guess(guesses.join("; "), changes),
        }
    }

    /// What the server of the target renders.
    fn input<'d>(cx: &Context<'_, '_>, root: Value<'d, 'd>) -> Option<Input<'d>> {
        let mut input = Input::of(root)?;
        let target = cx.named_target.or(cx.known_target);
        let prompt = target.map(|target| &target.prompt);
        if prompt.is_some_and(|prompt| prompt.joins_parts) {
            input.preparation = Preparation::Vllm;
        } else if prompt.is_some_and(|prompt| prompt.adapts_to_template) {
            input.preparation = Preparation::LlamaCpp;
        } else if cx.is_training_example() {
            // Servers read arguments into an object first, and trainers do not.
            input.arguments = Arguments::AsGiven;
            input.is_training = true;
        }
        Some(input)
    }

    /// That nothing is known of the prompt.
    fn not_run(place: Place, why: &str, help: String) -> Observed {
        Observed {
            rule: RuleId::TemplateRefuses,
            place,
            message: format!("toolcheck can't run the chat template here: {}", kept(why)),
            help,
            is_certain: false,
            fix: None,
        }
    }

    fn in_line(refusal: &Refusal) -> String {
        format!("line {} of the template", refusal.line)
    }

    struct Places<'c, 'a> {
        root: Value<'c, 'c>,
        list: NodeId,
        /// The elements of the list.
        messages: Vec<Value<'c, 'c>>,
        /// What a server made of the request, if not the request itself is rendered.
        chat: Option<&'a ChatRequest>,
        /// The calls and results, by their places.
        parts: HashMap<NodeId, &'c Body<'c>>,
    }

    impl<'c, 'a> Places<'c, 'a> {
        fn new(cx: &Context<'c, 'c>, chat: Option<&'a ChatRequest>) -> Self {
            let parts = cx.transcript.parts.iter();
            let parts = parts.filter(|part| matches!(part.body, Body::Call(_) | Body::Result(_)));
            let own = cx.document.value(cx.transcript.place.node);
            let list = if chat.is_none() { Input::of(own).map(|input| input.messages) } else { None };
            Self {
                root: cx.document.root(),
                list: list.unwrap_or(own).id(),
                messages: list.into_iter().flat_map(Value::elements).collect(),
                chat,
                parts: parts.map(|part| (part.place.node, &part.body)).collect(),
            }
        }

        fn at(&self, pointer: &str) -> Option<Value<'c, 'c>> {
            if let Some(chat) = self.chat {
                return chat.value_at(self.root.document(), pointer);
            }
            pointer.split('/').skip(1).try_fold(self.root, |value, step| match value.is_array() {
                true if value.id() == self.list => self.messages.get(step.parse::<usize>().ok()?).copied(),
                _ => value.step(step),
            })
        }
    }

    fn observed(
        places: &Places<'_, '_>,
        observation: &Observation,
        refusal: Option<&Refusal>,
    ) -> Option<Observed> {
        let value = places.at(&observation.pointer)?;
        let what = what(places, observation, value);
        let note = &*observation.note;
        let rule = match observation.kind {
            Kind::Refuses => RuleId::TemplateRefuses,
            Kind::Loses => RuleId::TemplateLoses,
            Kind::Doubles => RuleId::TemplateDoubles,
            Kind::Misbinds => RuleId::TemplateMisbinds,
            Kind::PrintsNone => RuleId::TemplatePrintsNone,
            Kind::Untrained => RuleId::TemplateUntrained,
            _ => return None,
        };
        let message = match observation.kind {
            Kind::Refuses => format!("the chat template refuses the conversation here: {}", kept(note)),
            Kind::Loses => format!("{what} is not in the prompt"),
            Kind::Doubles if observation.part == Part::Argument => {
                format!("{what} are encoded twice in the prompt")
            }
            Kind::Doubles => format!("{what} is in the prompt twice"),
            Kind::Untrained => format!("{what} is not trained on"),
            Kind::Misbinds => "the prompt does not show which call this result belongs to".to_owned(),
            _ if observation.part == Part::Reasoning => {
                "the prompt has `None` here, where the reasoning is null".to_owned()
            }
            _ => "the prompt has `None` here, where the content is null".to_owned(),
        };
        let help = match observation.kind {
            Kind::Refuses => refusal.map_or_else(String::new, in_line),
            Kind::Loses | Kind::Untrained => note.to_owned(),
            Kind::Doubles if observation.part == Part::Argument => {
                "give the arguments as an object: a trainer does not read the text first".to_owned()
            }
            Kind::Misbinds => "put the results in the order of their calls".to_owned(),
            Kind::PrintsNone if observation.part == Part::Reasoning => {
                "leave the key out, or give an empty text".to_owned()
            }
            Kind::PrintsNone => "give an empty text instead of null".to_owned(),
            _ => String::new(),
        };
        Some(Observed { rule, place: Place::of(value), message, help, is_certain: true, fix: None })
    }

    fn what(places: &Places<'_, '_>, observation: &Observation, value: Value<'_, '_>) -> String {
        match places.parts.get(&value.id()) {
            Some(Body::Call(call)) => return format!("tool call {}", call.title()),
            Some(Body::Result(result)) => return format!("tool result {}", result.title()),
            _ => {}
        }
        let of_part = match observation.part {
            Part::Message => "a message",
            Part::SystemText => "the text of the system message",
            Part::UserText => "the text of the user",
            Part::AssistantText => "the text of the assistant",
            Part::Reasoning => "the reasoning",
            Part::Call => "a tool call",
            Part::CallName => "the name of a call",
            Part::Argument => match observation.kind {
                Kind::Doubles => "the arguments of a call",
                _ => "an argument of a call",
            },
            Part::Result => "a tool result",
            Part::Medium => "a part that is no text",
            Part::Tool => "the definition of a tool",
            _ => "a part",
        };
        of_part.to_owned()
    }
}
