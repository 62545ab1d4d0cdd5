//! Which turn of a script comes next.

use std::collections::{HashMap, HashSet};

use toolcheck_core::conversation::Turn as Said;

use crate::ids::call_id;
use crate::script::Turn;

/// The number of turns of the model before a request: those that the server keeps, and those of its own.
///
/// A client may write two turns as one, or one as two, so the ids of calls count: each says in which turn it was made. Where
/// none is known, each turn of the history counts as one.
pub(crate) fn number(script: &[Turn], form: &str, turns: &[Said], before: Option<usize>) -> usize {
    let mut number = before.unwrap_or_default();
    let made = if turns.iter().any(has_ids) { turns_by_id(script, form) } else { HashMap::new() };
    let mut called: HashSet<&str> = HashSet::new();
    // Ids may be used again: of several turns with the same, it is the next one.
    let turn_of = |id: &str, number: usize| made.get(id)?.iter().find(|turn| **turn >= number);
    for turn in turns {
        match turn {
            Said::Assistant(said) => {
                let is_known = said.calls.iter().any(|call| made.contains_key(&call.id));
                for call in &said.calls {
                    called.insert(&call.id);
                    number = turn_of(&call.id, number).map_or(number, |turn| turn + 1);
                }
                number += usize::from(!is_known);
            }
            // Results whose calls were left out.
            Said::Results(results) if before.is_none() => {
                for result in results.iter().filter(|result| !called.contains(&*result.call_id)) {
                    number = turn_of(&result.call_id, number).map_or(number, |turn| turn + 1);
                }
            }
            _ => {}
        }
    }
    number
}

fn has_ids(turn: &Said) -> bool {
    match turn {
        Said::Assistant(said) => said.calls.iter().any(|call| !call.id.is_empty()),
        Said::Results(results) => results.iter().any(|result| !result.call_id.is_empty()),
        _ => false,
    }
}

/// The numbers of the turns of a script in which a call with this id is made, the first one first.
fn turns_by_id(script: &[Turn], form: &str) -> HashMap<String, Vec<usize>> {
    let mut made: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, turn) in script.iter().filter(|turn| !turn.is_error()).enumerate() {
        for (call, scripted) in turn.calls.iter().enumerate() {
            let id = scripted.id.clone().unwrap_or_else(|| call_id(form, number, call));
            made.entry(id).or_default().push(number);
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use toolcheck_core::conversation::{Assistant, Call};

    use super::*;
    use crate::script::ScriptedCall;

    const FORM: &str = "call_{4}";

    fn script() -> Vec<Turn> {
        let two = || Turn::calls([ScriptedCall::of("a"), ScriptedCall::of("b")]);
        vec![two(), Turn::error(500), two(), Turn::text("Done.")]
    }

    fn call(id: &str) -> Call {
        Call::new(id, "a", serde_json::Map::new())
    }

    fn made((turn, number): &(usize, usize)) -> Call {
        call(&call_id(FORM, *turn, *number))
    }

    fn calls(of: &[(usize, usize)]) -> Said {
        Said::Assistant(Assistant::new("").with_calls(of.iter().map(made).collect()))
    }

    fn results(of: &[(usize, usize)]) -> Said {
        Said::Results(of.iter().map(|of| made(of).output("1")).collect())
    }

    #[test]
    fn a_turn_is_told_by_the_ids_of_its_calls() {
        let user = || Said::User("Moin.".to_owned());
        let text = || Said::Assistant(Assistant::new("Well."));
        let renamed = || Said::Assistant(Assistant::new("").with_calls(vec![call("x")]));
        let (first, second) = ([(0, 0), (0, 1)], [(1, 0), (1, 1)]);
        let both = [first, second].concat();
        for (history, before, wanted) in [
            (vec![user()], None, 0),
            (vec![user(), calls(&first), results(&first)], None, 1),
            (vec![user(), calls(&first), results(&first), calls(&second), results(&second)], None, 2),
            // Two turns as one, one as two.
            (vec![user(), calls(&both), results(&both)], None, 2),
            (
                vec![
                    user(),
                    calls(&first[..1]),
                    results(&first[..1]),
                    calls(&first[1..]),
                    results(&first[1..]),
                ],
                None,
                1,
            ),
            // What came first is left out.
            (vec![user(), calls(&second), results(&second)], None, 2),
            (vec![results(&second)], None, 2),
            // It is on the server.
            (vec![results(&first)], Some(1), 1),
            (vec![user()], Some(2), 2),
            // Nothing is known of the ids.
            (vec![user(), renamed(), text(), user()], None, 2),
            (vec![user(), calls(&first), results(&first), text(), user()], None, 2),
        ] {
            assert_eq!(number(&script(), FORM, &history, before), wanted, "{history:?}");
        }
    }

    #[test]
    fn ids_may_be_used_again() {
        let again = |_| Turn::calls([ScriptedCall { id: Some("call".to_owned()), ..ScriptedCall::of("a") }]);
        let script: Vec<Turn> = (0..3).map(again).collect();
        let said = || Said::Assistant(Assistant::new("").with_calls(vec![call("call")]));
        let result = || Said::Results(vec![call("call").output("1")]);
        let mut history = Vec::new();
        for wanted in 0..3 {
            assert_eq!(number(&script, FORM, &history, None), wanted);
            history.extend([said(), result()]);
        }
    }
}
