//! What the chat template of a model makes of a request.

use toolcheck_core::ir::Place;
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
}

/// Reports what the template does that this rule is about.
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
        if !observed.is_certain {
            finding.at_most(Level::Warning).caption("the prompt of these messages is not checked");
        }
    }
}

#[cfg(not(feature = "template"))]
fn examine(template: &crate::template::ChatTemplate, _: &Context<'_, '_>) -> Vec<Observed> {
    template.never()
}

#[cfg(feature = "template")]
use with_template::examine;

#[cfg(feature = "template")]
mod with_template {
    use foldhash::HashMap;
    use toolcheck_core::RuleId;
    use toolcheck_core::formats::is_of_templates;
    use toolcheck_core::ir::{Body, Place};
    use toolcheck_core::text::kept;
    use toolcheck_json::{NodeId, Value};
    use toolcheck_template::{Arguments, Input, Kind, Observation, Part, Preparation, Refusal};

    use super::Observed;
    use crate::rule::Context;
    use crate::template::ChatTemplate;

    pub(super) fn examine(template: &ChatTemplate, cx: &Context<'_, '_>) -> Vec<Observed> {
        let is_read = cx.transcript.format.is_some_and(|format| is_of_templates(format.id));
        let root = cx.document.value(cx.transcript.place.node);
        let Some(input) = is_read.then(|| input(cx, root)).flatten() else { return Vec::new() };
        let found = template.template().examine(&input);
        let refusal = found.refusal.as_ref();
        // What is not checked is not clean.
        if let Some(unknown) = refusal.filter(|refusal| !refusal.kind.is_certain()) {
            return vec![not_run(&input, unknown)];
        }
        let places = Places::new(cx, &input);
        found
            .observations
            .iter()
            .filter(|observation| !observation.by_design)
            .filter_map(|observation| observed(&places, observation, refusal))
            .collect()
    }

    /// What the server of the target renders.
    fn input<'d>(cx: &Context<'d, 'd>, root: Value<'d, 'd>) -> Option<Input<'d>> {
        let mut input = Input::of(root)?;
        let target = cx.named_target.or(cx.known_target);
        if target.is_some_and(|target| target.prompt.joins_parts) {
            input.preparation = Preparation::Vllm;
        } else if cx.is_training_example() {
            // Servers read arguments into an object first, and trainers do not.
            input.arguments = Arguments::AsGiven;
        }
        Some(input)
    }

    /// That nothing is known of the prompt.
    fn not_run(input: &Input<'_>, refusal: &Refusal) -> Observed {
        Observed {
            rule: RuleId::TemplateRefuses,
            place: Place::of(input.messages),
            message: format!("toolcheck can't run the chat template here: {}", kept(&refusal.message)),
            help: in_line(refusal),
            is_certain: false,
        }
    }

    fn in_line(refusal: &Refusal) -> String {
        format!("line {} of the template", refusal.line)
    }

    /// Where the parts of a request are.
    struct Places<'c> {
        root: Value<'c, 'c>,
        list: Value<'c, 'c>,
        /// The elements of the list.
        messages: Vec<Value<'c, 'c>>,
        /// The calls and results, by their places.
        parts: HashMap<NodeId, &'c Body<'c>>,
    }

    impl<'c> Places<'c> {
        fn new(cx: &Context<'c, 'c>, input: &Input<'c>) -> Self {
            let parts = cx.transcript.parts.iter();
            let parts = parts.filter(|part| matches!(part.body, Body::Call(_) | Body::Result(_)));
            Self {
                root: cx.document.root(),
                list: input.messages,
                messages: input.messages.elements().collect(),
                parts: parts.map(|part| (part.place.node, &part.body)).collect(),
            }
        }

        /// The value that a JSON Pointer names.
        fn at(&self, pointer: &str) -> Option<Value<'c, 'c>> {
            pointer.split('/').skip(1).try_fold(self.root, |value, step| match value.is_array() {
                true if value.id() == self.list.id() => {
                    self.messages.get(step.parse::<usize>().ok()?).copied()
                }
                true => value.elements().nth(step.parse().ok()?),
                false => value.get(&step.replace("~1", "/").replace("~0", "~")),
            })
        }
    }

    fn observed(
        places: &Places<'_>,
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
            _ => return None,
        };
        let message = match observation.kind {
            Kind::Refuses => format!("the chat template refuses the conversation here: {}", kept(note)),
            Kind::Loses => format!("{what} is not in the prompt"),
            Kind::Doubles if observation.part == Part::Argument => {
                format!("{what} are encoded twice in the prompt")
            }
            Kind::Doubles => format!("{what} is in the prompt twice"),
            Kind::Misbinds => "nothing in the prompt says to which call this result belongs".to_owned(),
            _ => "the prompt has `None` here, where the content is null".to_owned(),
        };
        let help = match observation.kind {
            Kind::Refuses => refusal.map_or_else(String::new, in_line),
            Kind::Loses => note.to_owned(),
            Kind::Doubles if observation.part == Part::Argument => {
                "give the arguments as an object: a trainer does not read the text first".to_owned()
            }
            Kind::Misbinds => "put the results in the order of their calls".to_owned(),
            Kind::PrintsNone => "give an empty text instead of null".to_owned(),
            _ => String::new(),
        };
        Some(Observed { rule, place: Place::of(value), message, help, is_certain: true })
    }

    /// A part in words.
    fn what(places: &Places<'_>, observation: &Observation, value: Value<'_, '_>) -> String {
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
            Part::Tool => "the definition of a tool",
            _ => "a part",
        };
        of_part.to_owned()
    }
}
