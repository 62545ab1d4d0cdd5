use super::keeps_order::conversation;
use super::{Check, Seen, outputs};

pub(super) static CHECK: Check = Check {
    id: "keeps-result",
    summary: "The result of a call says what the tool returned.",
    help: "write what the tool returned into the result as text, whole, and leave it there in later requests",
    judge: |seen| seen.flattened().or_else(|| lost(seen).into()),
};

/// The standard tools that return `got TEXT`. Those that a profile puts in their place may return something else.
const ECHOES: [&str; 3] = ["echo", "optional", "slow"];

/// A result without the words that the tool returned, wherever else a client may have put them in the request.
fn lost(seen: &Seen<'_>) -> Option<String> {
    let calls = seen.case.scenario.said().iter().flat_map(|turn| &turn.calls);
    let texts: Vec<&str> = calls.filter_map(|call| call.arguments.as_ref()?.get("text")?.as_str()).collect();
    (0..seen.said.len()).find_map(|number| {
        let said = conversation(seen, number)?;
        let request = seen.case.run.exchanges[number].request.to_string();
        outputs(&said).find_map(|output| {
            let mut calls = said.turns.iter().flat_map(|turn| turn.calls());
            let call =
                calls.find(|call| call.id == output.call_id && ECHOES.contains(&call.name.as_str()))?;
            let text = call.arguments.get("text")?.as_str().filter(|text| texts.contains(text))?;
            let words = format!("got {text}");
            (!has(&output.text, &words) && !has(&request, &words)).then(|| {
                let (name, own) = (&call.name, &output.text);
                format!("`{name}` returned `{words}`, but in the history its result is `{own}`")
            })
        })
    })
}

/// Whether a text has these words, whatever stands before them: an escaped line break looks like a letter.
fn has(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| !text[at + words.len()..].starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_the_words_does_not_matter() {
        for text in ["got one", "Tool output:\\ngot one\\n", r#"{\"result\": \"got one\"}"#] {
            assert!(has(text, "got one"), "{text}");
        }
        for text in ["", "go", "got ones", "[object Object]"] {
            assert!(!has(text, "got one"), "{text}");
        }
    }
}
