use toolcheck_core::ir::{Place, Role};
use toolcheck_json::Value;

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A message of a training example whose weight is neither 0 nor 1.
    ///
    /// ## Why is this bad?
    ///
    /// `weight` says whether the model learns from an assistant message: 1 says that it does, which is the default, and
    /// 0 that it does not. There are no shades between. Services that check the file refuse any other value, and others
    /// ignore it, so that the model learns from what it should not.
    ///
    /// Where every assistant message of an example has the weight 0, the model learns nothing from it at all. That is
    /// a finding of this rule too, a warning.
    ///
    /// Only data sets are checked (`--kind dataset`).
    ///
    /// ## Fails
    ///
    /// ```json openai-chat kind=dataset
    /// {"messages": [
    ///   {"role": "user", "content": "Where is Adam?"},
    ///   {"role": "assistant", "content": "In the garden.", "weight": 0.5}  // flagged
    /// ]}
    /// ```
    ///
    /// ```json openai-chat kind=dataset
    /// {"messages": [
    ///   {"role": "user", "content": "Where is Adam?"},
    ///   {"role": "assistant", "content": "In the house.", "weight": 0},  // flagged
    ///   {"role": "user", "content": "No, he is not."},
    ///   {"role": "assistant", "content": "In the garden.", "weight": 0}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat kind=dataset
    /// {"messages": [
    ///   {"role": "user", "content": "Where is Adam?"},
    ///   {"role": "assistant", "content": "In the house.", "weight": 0},
    ///   {"role": "user", "content": "No, he is not."},
    ///   {"role": "assistant", "content": "In the garden.", "weight": 1}
    /// ]}
    /// ```
    "invalid-weight" in DataSets, since "0.1.0", warning, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if !cx.is_training_example() {
        return;
    }
    let weight_of = |place: Place| Weight::of(cx.document.value(place.node));
    // Where the weights of 0 begin, as long as no message of the model's has another.
    let mut first_zero = None;
    let mut is_learned = false;
    for (number, message) in cx.transcript.messages.iter().enumerate() {
        let weight = message.weight.map(|place| (place, weight_of(place)));
        if let Some((place, Weight::Other)) = weight {
            out.report(place, "the weight of a message is neither 0 nor 1")
                .caption("this weight")
                .case("value")
                .help("write 1 to train on the message and 0 to leave it out")
                .at(cx, number, message, None);
        }
        if message.role == Role::Assistant {
            match weight {
                Some((place, Weight::Zero)) => first_zero = first_zero.or(Some(place)),
                _ => is_learned = true,
            }
        }
    }
    if let Some(place) = first_zero.filter(|_| !is_learned && !cx.is_cut_off) {
        out.report(place, "every assistant message of this example has the weight 0, so it teaches nothing")
            .caption("the first of them")
            .case("all-zero")
            .help("give the message that the model is to learn the weight 1, or leave the example out");
    }
}

/// What a weight says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Zero,
    One,
    Other,
}

impl Weight {
    fn of(value: Value<'_, '_>) -> Self {
        // `1.0` and `true` are what Python's writers make of 1, and readers take them for it.
        match (value.as_bool(), value.raw()) {
            (Some(false), _) | (_, b"0" | b"0.0" | b"-0" | b"-0.0") => Self::Zero,
            (Some(true), _) | (_, b"1" | b"1.0") => Self::One,
            _ => Self::Other,
        }
    }
}
