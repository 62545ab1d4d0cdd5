//! What the chat template of a model makes of a request.

use toolcheck_core::RuleId;
use toolcheck_core::ir::Place;

use crate::rule::{Context, Sink};

/// What a template does with a part of a request.
#[derive(Debug)]
pub(crate) struct Observed {
    rule: RuleId,
    place: Place,
    message: String,
    help: String,
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
    use toolcheck_core::RuleId;
    use toolcheck_core::formats::is_of_templates;
    use toolcheck_core::ir::Place;
    use toolcheck_core::text::kept;
    use toolcheck_json::Value;
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
        found
            .observations
            .iter()
            .filter(|observation| !observation.by_design)
            .filter_map(|observation| observed(cx, observation, refusal))
            .collect()
    }

    /// What the server of the target renders.
    fn input<'d>(cx: &Context<'d, 'd>, root: Value<'d, 'd>) -> Option<Input<'d>> {
        let mut input = if root.is_array() { Input::new(root) } else { Input::of_request(root)? };
        let target = cx.named_target.or(cx.known_target);
        if target.is_some_and(|target| target.prompt.joins_parts) {
            input.preparation = Preparation::Vllm;
        } else if cx.is_training_example() {
            // Servers read arguments into an object first, and trainers do not.
            input.arguments = Arguments::AsGiven;
        }
        Some(input)
    }

    fn observed(
        cx: &Context<'_, '_>,
        observation: &Observation,
        refusal: Option<&Refusal>,
    ) -> Option<Observed> {
        let value = at(cx.document.root(), &observation.pointer)?;
        let what = what(cx, observation, value);
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
            Kind::Refuses => {
                refusal.map_or_else(String::new, |refusal| format!("line {} of the template", refusal.line))
            }
            Kind::Loses => note.to_owned(),
            Kind::Doubles if observation.part == Part::Argument => {
                "give the arguments as an object; some servers do so by themselves: name yours with --target"
                    .to_owned()
            }
            Kind::Misbinds => "put the results in the order of their calls".to_owned(),
            Kind::PrintsNone => "give an empty text instead of null".to_owned(),
            _ => String::new(),
        };
        Some(Observed { rule, place: Place::of(value), message, help })
    }

    /// A part in words.
    fn what(cx: &Context<'_, '_>, observation: &Observation, value: Value<'_, '_>) -> String {
        use toolcheck_core::ir::Body;
        let node = value.id();
        let own = |place: Place| place.node == node;
        let title = cx.transcript.parts.iter().find_map(|part| match &part.body {
            Body::Call(call) if own(part.place) => Some(format!("tool call {}", call.title())),
            Body::Result(result) if own(part.place) => Some(format!("tool result {}", result.title())),
            _ => None,
        });
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
        title.unwrap_or_else(|| of_part.to_owned())
    }

    /// The value that a JSON Pointer names.
    fn at<'d, 's>(root: Value<'d, 's>, pointer: &str) -> Option<Value<'d, 's>> {
        pointer.split('/').skip(1).try_fold(root, |value, step| {
            if value.is_array() {
                return value.elements().nth(step.parse().ok()?);
            }
            value.get(&step.replace("~1", "/").replace("~0", "~"))
        })
    }
}
