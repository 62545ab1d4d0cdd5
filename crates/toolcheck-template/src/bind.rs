//! Whether a model can tell which result answers which of its parallel calls.

use toolcheck_json::Value;

use crate::convert::{Change, Changes, InputPart};
use crate::evidence::{Evidence, Place};
use crate::findings::{Findings, Kind, Part};
use crate::parts::texts_of;

/// A result of a group of parallel calls.
struct Answer<'d> {
    message: Value<'d, 'd>,
    call: Value<'d, 'd>,
    /// The number of the call in its message.
    number: usize,
    /// Where the text of the result is in the prompt.
    place: Place,
}

/// Looks at each message with several calls, and at the results after it.
pub(crate) fn examine(findings: &mut Findings<'_>) {
    let evidence = findings.evidence;
    let messages: Vec<Value<'_, '_>> = evidence.input.messages.children().collect();
    for (at, message) in messages.iter().enumerate() {
        let Some(calls) = message.get("tool_calls").filter(|calls| calls.children().nth(1).is_some()) else {
            continue;
        };
        let calls: Vec<Value<'_, '_>> = calls.children().collect();
        // Of a call that is lost, nobody asks for the result.
        if !calls
            .iter()
            .all(|call| evidence.leaves(InputPart::Messages, *call).iter().any(|leaf| leaf.is_read))
        {
            continue;
        }
        let is_result = |message: &&Value<'_, '_>| message.is("role", "tool");
        let results = messages[at + 1..].iter().take_while(is_result);
        let Some(mut answers) =
            results.map(|result| answer(evidence, *result, &calls)).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        // Some templates put results into the order of their calls.
        answers.sort_by_key(|answer| answer.place.start);
        let Some(wrong) = answers.windows(2).position(|pair| pair[0].number > pair[1].number) else {
            continue;
        };
        let unbound = (0..answers.len()).any(|at| !is_bound(evidence, &answers, at));
        if unbound && !shows_order(evidence, [&answers[wrong], &answers[wrong + 1]]) {
            let message = answers[wrong].message;
            let mut found =
                findings.observation(Kind::Misbinds, Part::Result, (InputPart::Messages, message));
            found.note = "the results are not in the order of their calls, and the prompt does not show which belongs to which"
                .to_owned();
            findings.observations.push(found);
        }
    }
}

fn answer<'d>(
    evidence: &Evidence<'_>,
    message: Value<'d, 'd>,
    calls: &[Value<'d, 'd>],
) -> Option<Answer<'d>> {
    let id = message.get_str("tool_call_id")?;
    let number = calls.iter().position(|call| call.get_str("id").as_deref() == Some(&*id))?;
    let text = texts_of(message).first().copied()?;
    let place = evidence.places_of(InputPart::Messages, text).first().copied()?;
    Some(Answer { message, call: calls[number], number, place })
}

/// Whether the id or the name beside a result says which call it answers.
fn is_bound(evidence: &Evidence<'_>, answers: &[Answer<'_>], at: usize) -> bool {
    let answer = &answers[at];
    let is_in_prompt = |value: Option<Value<'_, '_>>| {
        value.is_some_and(|value| !evidence.places_of(InputPart::Messages, value).is_empty())
    };
    let function = answer.call.get("function");
    let name = function.and_then(|function| function.get("name"));
    let names: Vec<_> =
        answers.iter().filter_map(|answer| answer.call.get("function")?.get_str("name")).collect();
    let own = name.and_then(Value::as_str);
    let is_only = names.iter().filter(|name| Some(&***name) == own.as_deref()).count() == 1;
    // A call's id or name that is printed again, beside its result.
    let start = at.checked_sub(1).map(|before| answers[before].place.end);
    let end = answers.get(at + 1).map_or(usize::MAX, |next| next.place.start);
    let is_beside = |value: Option<Value<'_, '_>>| {
        let Some(value) = value else { return false };
        let places = evidence.places_of(InputPart::Messages, value);
        match start {
            Some(start) => places.iter().any(|place| start <= place.start && place.end <= end),
            // Before the first result are the calls themselves.
            None => places.iter().filter(|place| place.end <= end).count() > 1,
        }
    };
    let id = answer.call.get("id");
    // Some templates put together the ids that their model makes, which the request then has.
    let first = answers.iter().map(|answer| answer.place.start).min().unwrap_or(0);
    let calls = evidence.traced.prompt.text.get(..first).unwrap_or_default();
    let is_made = id.and_then(Value::as_str).is_some_and(|id| id.len() > 2 && calls.contains(&*id));
    let by_id =
        (is_in_prompt(id) || is_made) && (is_in_prompt(answer.message.get("tool_call_id")) || is_beside(id));
    let by_name =
        is_only && is_in_prompt(name) && (is_in_prompt(answer.message.get("name")) || is_beside(name));
    by_id || by_name || is_whole(evidence, answer)
}

/// Whether the prompt is another one if two calls exchange their ids, and if their results do: then a template makes
/// something else of the ids, such as the numbers of calls. It counts as shown if it isn't known.
fn shows_order(evidence: &Evidence<'_>, answers: [&Answer<'_>; 2]) -> bool {
    [false, true].into_iter().all(|of_calls| {
        let ids = answers.map(|answer| match of_calls {
            true => answer.call.get("id"),
            false => answer.message.get("tool_call_id"),
        });
        let [Some(one), Some(other)] = ids else { return false };
        let text = |id: Value<'_, '_>| Change::Text(id.as_str().unwrap_or_default().as_ref().into());
        let all = |id: Value<'_, '_>, new: Value<'_, '_>| {
            let numbers = evidence.numbers(InputPart::Messages, id).iter();
            numbers.map(|number| (*number, text(new))).collect::<Vec<_>>()
        };
        let changes: Changes = all(one, other).into_iter().chain(all(other, one)).collect();
        !changes.is_empty() && !evidence.is_same_with(&changes)
    })
}

/// Whether the whole message was printed, with all that is in it.
fn is_whole(evidence: &Evidence<'_>, answer: &Answer<'_>) -> bool {
    !evidence.places_of(InputPart::Messages, answer.message).is_empty()
}
