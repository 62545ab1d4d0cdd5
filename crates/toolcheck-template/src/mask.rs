//! What a template says that the model wrote itself, which a trainer may train on alone.

use toolcheck_json::Value;

use crate::convert::InputPart;
use crate::findings::{Findings, Kind, Part};
use crate::parts::{role, texts_of};

/// Looks for answers and calls that are outside of all `{% generation %}` blocks, if the template has any.
pub(crate) fn examine(findings: &mut Findings<'_>) {
    let evidence = findings.evidence;
    let source = evidence.template.source(evidence.input.tools.is_some());
    if !evidence.input.is_training || !source.contains("endgeneration") {
        return;
    }
    let generated = &evidence.traced.prompt.generated;
    let mut outside = Vec::new();
    let mut look = |value: Value<'_, '_>, part: Part| {
        let numbers = evidence.numbers_in(InputPart::Messages, value);
        let mut places = numbers.iter().flat_map(|number| evidence.places(*number)).peekable();
        let is_printed = places.peek().is_some();
        let is_inside = places
            .any(|place| generated.iter().any(|range| range.start < place.end && place.start < range.end));
        if is_printed && !is_inside {
            outside.push((value.id(), part));
        }
    };
    for message in evidence.input.messages.children().filter(|message| role(*message) == "assistant") {
        texts_of(message).into_iter().for_each(|text| look(text, Part::AssistantText));
        let calls = message.get("tool_calls").filter(|calls| calls.is_array());
        calls.into_iter().flat_map(Value::children).for_each(|call| look(call, Part::Call));
    }
    let Some((first, part)) = outside.first().copied() else { return };
    let value = evidence.input.messages.document().value(first);
    let mut found = findings.observation(Kind::Untrained, part, (InputPart::Messages, value));
    found.note = match outside.len() {
        1 => "it is outside the generation blocks of the template".to_owned(),
        count => {
            format!("{count} parts are outside the generation blocks of the template; this is the first")
        }
    };
    findings.observations.push(found);
}
