use toolcheck_core::ir::{Place, Role};
use toolcheck_json::Value;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    InvalidWeight in DataSets, since "0.1.0", warning, check,
    values MESSAGE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if !cx.is_training_example() {
        return;
    }
    let weight_of = |place: Place| Weight::of(cx.document.value(place.node));
    // The first weight of 0, as long as no assistant message has another weight.
    let mut first_zero = None;
    let mut is_learned = false;
    for (number, message) in cx.transcript.messages.iter().enumerate() {
        let weight = message.weight.map(|place| (place, weight_of(place)));
        if let Some((place, Weight::Other)) = weight {
            out.report(place, "the weight of this message is neither 0 nor 1")
                .caption("this weight")
                .case("value")
                .help("use 1 to train on the message, or 0 to skip it")
                .at(cx, (number, message));
        }
        if message.role == Role::Assistant {
            match weight {
                Some((place, Weight::Zero)) => first_zero = first_zero.or(Some(place)),
                _ => is_learned = true,
            }
        }
    }
    if let Some(place) = first_zero.filter(|_| !is_learned && !cx.is_cut_off) {
        out.report(
            place,
            "every assistant message of this example has weight 0, so the model learns nothing from it",
        )
        .caption("the first weight of 0")
        .case("all-zero")
        .help("set the weight of the message to learn from to 1, or remove the example");
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Zero,
    One,
    Other,
}

impl Weight {
    fn of(value: Value<'_, '_>) -> Self {
        // Python code may write 1 as `1.0` or `true`, and readers accept these as 1.
        match (value.as_bool(), value.raw()) {
            (Some(false), _) | (_, b"0" | b"0.0" | b"-0" | b"-0.0") => Self::Zero,
            (Some(true), _) | (_, b"1" | b"1.0") => Self::One,
            _ => Self::Other,
        }
    }
}
