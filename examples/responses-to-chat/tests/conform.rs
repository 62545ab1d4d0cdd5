//! The adapter under `toolcheck conform --adapter`, without a process in between.

use std::convert::Infallible;

use responses_to_chat::{convert, convert_item_by_item};
use serde_json::Value;
use toolcheck_conform::adapter::{
    Answer, BodyKind, Examination, Plan, Translation, conversations, examine, generated,
};
use toolcheck_core::formats;

fn examined(convert: impl Fn(&Value) -> Result<Value, String>) -> Examination {
    let format = |id: &str| formats::find(id).expect("there is such a format");
    let plan = Plan {
        translations: vec![(
            BodyKind::Request,
            Translation::new(format("openai-responses"), format("openai-chat")),
        )],
        conversations: conversations().iter().cloned().chain(generated(0, 50)).collect(),
        model: Some("a-model".to_owned()),
    };
    let Ok(examination) = examine(&plan, |question| {
        Ok::<_, Infallible>(convert(question.body).map_or_else(Answer::Errored, Answer::Body))
    });
    examination
}

#[test]
fn the_fixed_version_has_no_faults() {
    let examination = examined(convert);
    assert!(examination.cases.len() > 60, "{} cases", examination.cases.len());
    let told: Vec<_> = examination.found.iter().map(|found| (&found.fault.class, &found.before)).collect();
    assert!(told.is_empty(), "{told:#?}");
}

#[test]
fn the_bug_of_the_first_version_comes_down_to_two_calls_of_a_turn() {
    let examination = examined(convert_item_by_item);
    let [found] = &examination.found[..] else {
        panic!("there is one fault: {:#?}", examination.found);
    };
    assert_eq!(found.fault.class, "split-assistant-turn");
    assert!(found.is_smallest);
    let calls: Vec<usize> = found.conversation.turns.iter().map(|turn| turn.calls.len()).collect();
    assert_eq!(calls, [0, 2]);
}
