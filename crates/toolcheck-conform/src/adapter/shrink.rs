//! The smallest conversation that still shows a fault.

use std::collections::BTreeSet;

use super::conversation::{
    PLAIN_REASONING, PLAIN_SYSTEM, PLAIN_TEXT, PLAIN_TOOLS, PLAIN_USER, TestCall, TestConversation, TestTurn,
    plain_result,
};

/// Makes a conversation smaller as long as it still fails, and at most for this many tries. The second value is whether
/// no single step makes it smaller any more.
pub fn shrink(
    conversation: &TestConversation,
    most: usize,
    mut fails: impl FnMut(&TestConversation) -> bool,
) -> (TestConversation, bool) {
    let mut smallest = conversation.clone();
    let mut tries = 0;
    'again: loop {
        for step in steps(&smallest) {
            if tries == most {
                return (smallest, false);
            }
            tries += 1;
            if fails(&step) {
                smallest = step;
                continue 'again;
            }
        }
        return (smallest, true);
    }
}

/// The conversations that are one step smaller, the smallest first as far as that is easily told.
pub fn steps(conversation: &TestConversation) -> Vec<TestConversation> {
    let mut steps = Vec::new();
    let count = conversation.turns.len();
    let mut size = count / 2;
    while size > 0 {
        for start in (0..count).step_by(size) {
            let end = (start + size).min(count);
            steps.push(changed(conversation, |conversation| drop(conversation.turns.drain(start..end))));
        }
        size /= 2;
    }
    steps.push(changed(conversation, |conversation| conversation.undeclared = false));
    steps.push(changed(conversation, |conversation| conversation.also.clear()));
    for (format, own) in &conversation.also {
        steps.extend(own.keys().map(|key| {
            changed(conversation, |conversation| {
                conversation.also.get_mut(format).map(|own| own.remove(key));
            })
        }));
    }
    steps.extend(
        texts(&conversation.system, &["", PLAIN_SYSTEM])
            .into_iter()
            .map(|text| changed(conversation, |conversation| conversation.system = text)),
    );
    let tools = conversation.turns.iter().flat_map(|turn| &turn.calls).map(|call| &call.tool);
    for tool in tools.collect::<BTreeSet<_>>() {
        for plain in PLAIN_TOOLS {
            steps.push(changed(conversation, |conversation| {
                let calls = conversation.turns.iter_mut().flat_map(|turn| &mut turn.calls);
                calls.filter(|call| call.tool == *tool).for_each(|call| plain.clone_into(&mut call.tool));
            }));
        }
    }
    for (number, turn) in conversation.turns.iter().enumerate() {
        let in_turn = |change: &dyn Fn(&mut TestTurn)| {
            changed(conversation, |conversation| change(&mut conversation.turns[number]))
        };
        steps.extend(steps_of_turn(turn, &in_turn));
        for (at, call) in turn.calls.iter().enumerate() {
            let in_call = |change: &dyn Fn(&mut TestCall)| in_turn(&|turn| change(&mut turn.calls[at]));
            steps.extend(steps_of_call(call, at, &in_call));
        }
    }
    steps.retain(|step| step.size() < conversation.size() && !step.turns.is_empty());
    steps
}

fn changed(conversation: &TestConversation, change: impl FnOnce(&mut TestConversation)) -> TestConversation {
    let mut conversation = conversation.clone();
    change(&mut conversation);
    conversation
}

/// Makes the conversation in which a part of it is changed.
type Changed<'c, T> = &'c dyn Fn(&dyn Fn(&mut T)) -> TestConversation;

/// The conversations in which each of these texts takes a place in a part of it.
fn each<T>(
    texts: Vec<String>,
    changed: Changed<'_, T>,
    put: fn(&mut T, String),
) -> impl Iterator<Item = TestConversation> {
    texts.into_iter().map(move |text| changed(&|part| put(part, text.clone())))
}

fn steps_of_turn(turn: &TestTurn, changed: Changed<'_, TestTurn>) -> Vec<TestConversation> {
    let mut steps: Vec<TestConversation> =
        (0..turn.calls.len()).map(|at| changed(&|turn| drop(turn.calls.remove(at)))).collect();
    if let Some(text) = &turn.user {
        steps.extend(each(texts(text, &[PLAIN_USER]), changed, |turn, text| turn.user = Some(text)));
    }
    if let Some(text) = &turn.system {
        steps.push(changed(&|turn| turn.user = turn.system.take()));
        steps.extend(each(texts(text, &[PLAIN_USER]), changed, |turn, text| turn.system = Some(text)));
    }
    if let Some(text) = &turn.reasoning {
        steps.push(changed(&|turn| turn.reasoning = None));
        let texts = texts(text, &[PLAIN_REASONING]);
        steps.extend(each(texts, changed, |turn, text| turn.reasoning = Some(text)));
    }
    steps.extend(each(texts(&turn.text, &["", PLAIN_TEXT]), changed, |turn, text| turn.text = text));
    steps.push(changed(&|turn| turn.reversed = false));
    steps.push(changed(&|turn| turn.cut_off = false));
    steps
}

fn steps_of_call(call: &TestCall, at: usize, changed: Changed<'_, TestCall>) -> Vec<TestConversation> {
    let mut steps = vec![
        changed(&|call| call.failed = false),
        changed(&|call| call.id = None),
        changed(&|call| call.raw = None),
        changed(&|call| call.arguments.clear()),
    ];
    for tool in PLAIN_TOOLS {
        steps.push(changed(&|call| tool.clone_into(&mut call.tool)));
    }
    for key in call.arguments.keys() {
        steps.push(changed(&|call| drop(call.arguments.remove(key))));
        // The plainest value that still is one, and the plainest key.
        steps.push(changed(&|call| drop(call.arguments.insert(key.clone(), 1.into()))));
        steps.push(changed(&|call| {
            call.arguments.remove(key);
            call.arguments.insert("a".to_owned(), 1.into());
        }));
    }
    if let Some(raw) = &call.raw {
        let texts = texts(raw, &["", "{", "[]", "1"]);
        steps.extend(each(texts, changed, |call, text| call.raw = Some(text)));
    }
    if let Some(id) = &call.id {
        steps.extend(each(pieces(id), changed, |call, text| call.id = Some(text)));
    }
    let own = plain_result(at);
    steps.extend(each(texts(&call.result, &[&own, ""]), changed, |call, text| call.result = text));
    steps
}

/// Texts in place of a text: these, and pieces of it.
fn texts(text: &str, plain: &[&str]) -> Vec<String> {
    plain.iter().map(|plain| (*plain).to_owned()).chain(pieces(text)).filter(|other| other != text).collect()
}

/// The longest text of which single characters are left out.
const LONGEST: usize = 24;

/// The halves of a text; of a short one, also what is left without each character.
fn pieces(text: &str) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    let (first, second) = all.split_at(all.len() / 2);
    let mut pieces = vec![first.iter().collect::<String>(), second.iter().collect()];
    if all.len() <= LONGEST {
        let without =
            |at: usize| all.iter().enumerate().filter(|(own, _)| *own != at).map(|(_, one)| one).collect();
        pieces.extend((0..all.len()).map(without));
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
