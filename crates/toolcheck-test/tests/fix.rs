//! Fixes of the corpus, and of generated conversations with a fault.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Case, cases, fixtures};
use proptest::prelude::*;
use toolcheck_core::ir::{Body, Place, TranscriptKind};
use toolcheck_core::{Format, RuleId, formats, targets};
use toolcheck_json::Document;
use toolcheck_lint::{FixOptions, Options, fix};
use toolcheck_test::strategies::{Fault, conversations, faults};
use toolcheck_test::{Conversation, Feature, Turn};

#[test]
fn what_is_fixed_is_the_fixed_case_or_there_is_a_reason() {
    let how = FixOptions::new().unsafe_fixes(true);
    let otherwise: BTreeMap<String, String> = toml::from_str(include_str!("fixed_otherwise.toml")).unwrap();
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    let (mut same, mut differs) = (0, 0);
    for Case { name, bytes, options } in cases() {
        let Some((stem, ending)) = name.rsplit_once('.') else { continue };
        let Ok(wanted) = std::fs::read(fixtures().join(format!("{stem}-fixed.{ending}"))) else { continue };
        let fixed = fix(&name, &bytes, &options, &how);
        // What needs no guess is done without.
        if fixed.applied.iter().all(|done| done.cost.is_none()) {
            assert_eq!(fix(&name, &bytes, &options, &FixOptions::new()).bytes, fixed.bytes, "{name}");
        }
        let lines = |text: &[u8]| -> Vec<Option<serde_json::Value>> {
            match ending {
                "jsonl" => {
                    text.split(|byte| *byte == b'\n').map(|line| serde_json::from_slice(line).ok()).collect()
                }
                _ => vec![serde_json::from_slice(text).ok()],
            }
        };
        for (record, (own, wanted)) in lines(&fixed.bytes).into_iter().zip(lines(&wanted)).enumerate() {
            let is_of = |found: &&toolcheck_lint::Finding| found.spot.record == record;
            let mut found = fixed.before.findings.iter().filter(is_of);
            // What has no fix is not expected to be fixed.
            if own.is_none() || found.clone().next().is_none() || !found.all(|found| found.fixable.is_some())
            {
                continue;
            }
            if own == wanted {
                same += 1;
                continue;
            }
            differs += 1;
            let mut rules = fixed.before.findings.iter().filter(is_of).map(|found| found.rule);
            match rules.clone().find_map(|rule| otherwise.get_key_value(rule.as_str())) {
                Some((rule, _)) => _ = known.insert(rule),
                None => wrong.push(format!(
                    "{name}, record {record}: {:?}: {}",
                    rules.next(),
                    difference(&own.unwrap_or_default(), &wanted.unwrap_or_default())
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{same} are the same, {} not:\n{}", wrong.len(), wrong.join("\n"));
    let unused: Vec<_> = otherwise.keys().filter(|rule| !known.contains(rule)).collect();
    assert!(unused.is_empty(), "no case needs {unused:?}");
    assert!(same >= 287, "{same} and {differs}");
}

/// The keys below which everything was said.
const SAID: [&str; 9] =
    ["input", "arguments", "args", "response", "parameters", "output", "json", "data", "toolUseResult"];

/// A value in which each text is a secret, and so is each key of what was said.
fn with_secrets(value: &serde_json::Value, is_said: bool) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        Json::String(_) => Json::from("my \\ secret"),
        Json::Number(_) if is_said => Json::from(31_337),
        Json::Array(items) => items.iter().map(|item| with_secrets(item, is_said)).collect(),
        Json::Object(members) => members
            .iter()
            .map(|(key, value)| {
                let value = with_secrets(value, is_said || SAID.contains(&key.as_str()));
                (if is_said { format!("{key} secret") } else { key.clone() }, value)
            })
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn a_text_without_values_has_no_secret_wherever_it_is() {
    let mut count = 0;
    for Case { name, bytes: text, .. } in cases() {
        let records = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        let records: Vec<serde_json::Value> = match serde_json::from_slice(&text) {
            Ok(whole) => vec![whole],
            Err(_) => records.collect(),
        };
        for record in records {
            let secret = with_secrets(&record, false);
            for text in [secret.to_string(), format!("{secret:#}")] {
                let shown = toolcheck_core::fix_style::without_values(text.as_bytes());
                let shown = String::from_utf8(shown).unwrap();
                assert!(!shown.contains("secret") && !shown.contains("31337"), "{name}: {shown}");
                assert_eq!(shown.lines().count(), text.lines().count());
                count += 1;
            }
        }
    }
    assert!(count >= 11_000, "{count}");
}

/// The first place where two values differ.
fn difference(own: &serde_json::Value, wanted: &serde_json::Value) -> String {
    use serde_json::Value as Json;
    match (own, wanted) {
        (Json::Object(own), Json::Object(wanted)) => {
            for (key, value) in own {
                match wanted.get(key) {
                    Some(other) if other == value => {}
                    Some(other) => return format!("/{key}{}", difference(value, other)),
                    None => return format!("/{key} is more"),
                }
            }
            wanted
                .keys()
                .find(|key| !own.contains_key(*key))
                .map_or_else(String::new, |key| format!("/{key} is missing"))
        }
        (Json::Array(one), Json::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate().filter(|(_, (one, other))| one != other);
            pairs
                .next()
                .map_or_else(String::new, |(at, (one, other))| format!("/{at}{}", difference(one, other)))
        }
        (own, wanted) => format!(" is {own}, not {wanted}"),
    }
}

/// Broken cases with the repaired ones that were written by hand.
const REPAIRED: [(&str, &str, Oracle); 4] = [
    ("seeds/coco-before.json", "seeds/coco-after.json", Oracle::ButForResults),
    ("seeds/litellm-before.json", "seeds/litellm-after.json", Oracle::Same),
    (
        "seeds/roo-duplicate-result.json",
        "seeds/roo-fixed.json",
        Oracle::Differs("the two results differ, and a fix keeps both"),
    ),
    (
        "seeds/goclaw-last-kept.jsonl",
        "seeds/goclaw-last-kept-mended.jsonl",
        Oracle::Differs("the response has the dropped calls, and exchanges are not changed"),
    ),
];

enum Oracle {
    /// The same conversation comes out.
    Same,
    /// The same, but for the text of results that nobody knows.
    ButForResults,
    /// Another one, and why.
    Differs(&'static str),
}

#[test]
fn repairs_by_hand_are_oracles() {
    for (broken, repaired, oracle) in REPAIRED {
        let Case { bytes: text, options, .. } = cases().find(|case| case.name == broken).unwrap();
        let fixed = fix(broken, &text, &options, &FixOptions::new().unsafe_fixes(true).accepted(true));
        let format = fixed.before.format.unwrap();
        let read = |text: &[u8]| toolcheck_test::conversation(&serde_json::from_slice(text).unwrap(), format);
        let wanted = std::fs::read(fixtures().join(repaired)).unwrap();
        let strip = |mut conversation: Conversation| {
            for turn in &mut conversation.turns {
                if let Turn::Results(outputs) = turn {
                    outputs
                        .iter_mut()
                        .for_each(|output| (output.text, output.failed) = (String::new(), false));
                }
            }
            conversation
        };
        match oracle {
            Oracle::Same => assert_eq!(read(&fixed.bytes), read(&wanted), "{broken}"),
            Oracle::ButForResults => assert_eq!(strip(read(&fixed.bytes)), strip(read(&wanted)), "{broken}"),
            Oracle::Differs(why) => assert_ne!(*fixed.bytes, *wanted, "{broken}: {why}"),
        }
    }
}

fn format() -> impl Strategy<Value = &'static Format> {
    prop::sample::select(formats::ALL.to_vec())
}

/// The texts of a body that may not be lost: results, arguments and what was said, as they are written in it.
fn contents(format: &Format, body: &[u8]) -> Vec<Vec<u8>> {
    let document = Document::read(body);
    let transcript = format.read(document.root()).unwrap();
    let raw = |place: Place| body[document.value(place.node).span().range()].to_vec();
    let mut all: Vec<Vec<u8>> = transcript
        .parts
        .iter()
        .filter_map(|part| match &part.body {
            Body::Text(text) => Some(raw(text.place)),
            Body::Call(call) => call.arguments.place().map(raw),
            Body::Result(result) => result.content_place.map(raw),
            _ => None,
        })
        .collect();
    all.retain(|text| text != b"\"\"");
    all.sort();
    // A result that is there twice may be there once.
    all.dedup();
    all
}

/// The strings in some texts of JSON, as they are written, without their quotes.
fn strings(contents: &[Vec<u8>]) -> Vec<String> {
    let mut all = Vec::new();
    for content in contents {
        let document = Document::read(content);
        let mut values = vec![document.root()];
        while let Some(value) = values.pop() {
            if value.as_str().is_some() {
                let raw = String::from_utf8_lossy(value.raw());
                all.push(raw[1..raw.len() - 1].to_owned());
            }
            values.extend(value.children());
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_conversation_without_findings_comes_back_borrowed(
        conversation in conversations(), format in format(), kind in kinds(),
    ) {
        let body = format.write_request(&conversation).body.to_string();
        let options = Options::new().format(Some(format)).kind(kind);
        let fixed = fix("case", body.as_bytes(), &options, &FixOptions::new().unsafe_fixes(true));
        prop_assert!(fixed.is_unchanged(), "{:?}", fixed.applied);
    }

    #[test]
    fn a_planted_fault_is_fixed(
        mut conversation in conversations(), fault in faults(), format in format(), at: prop::sample::Index, pretty: bool
    ) {
        prop_assume!(fault.plant(&mut conversation, at).is_some());
        let body = format.write_request(&conversation).body;
        let text = if pretty { serde_json::to_string_pretty(&body) } else { serde_json::to_string(&body) }.unwrap();
        let options = Options::new().format(Some(format));
        let expected = fault.rule(&conversation, format.can_hold(Feature::CallIds));
        for is_unsafe in [false, true] {
            let how = FixOptions::new().unsafe_fixes(is_unsafe).accepted(true);
            let fixed = fix("case", text.as_bytes(), &options, &how);
            let again = fix("case", &fixed.bytes, &options, &how);
            prop_assert!(again.is_unchanged(), "{:?}", again.applied);
            let left: Vec<_> = fixed.report().findings.iter().map(|finding| finding.rule).collect();
            // Without ids, nobody knows which of the calls of one tool has no result.
            let has_ids = format.can_hold(Feature::CallIds);
            let is_safe = fault == Fault::ReuseId
                || fault == Fault::DropResult && has_ids
                || fault == Fault::RepeatResult && expected == Some(RuleId::DuplicateToolResult);
            // Without ids, a result that is missing may make one turn of two messages that cannot be merged, because each
            // has one string of text and one of reasoning.
            let is_possible = format.id != "ollama" || fault != Fault::DropResult;
            if is_possible && (is_unsafe || is_safe && !has_signature(&conversation, format)) {
                prop_assert_eq!(left, Vec::<&str>::new(), "{:?} in {}: skipped {:?}: {}", fault, format.id, fixed.skipped.iter().map(|left| &left.reason).collect::<Vec<_>>(), text);
            }
            if !is_unsafe {
                let (before, after) = (contents(format, text.as_bytes()), contents(format, &fixed.bytes));
                prop_assert!(before.iter().all(|own| after.contains(own)), "{:?} in {}: {}", fault, format.id, text);
            }
        }
    }

    #[test]
    fn up_to_five_faults_are_fixed_and_nothing_is_lost(
        mut conversation in conversations(),
        planted in prop::collection::vec((faults(), any::<prop::sample::Index>()), 2..=5),
        format in format(),
    ) {
        for (fault, at) in &planted {
            fault.plant(&mut conversation, *at);
        }
        let text = format.write_request(&conversation).body.to_string();
        let options = Options::new().format(Some(format));
        let how = FixOptions::new().unsafe_fixes(true).accepted(true);
        let fixed = fix("case", text.as_bytes(), &options, &how);
        let left: Vec<_> = fixed.report().findings.iter().map(|finding| finding.rule).collect();
        let reasons: Vec<_> = fixed.skipped.iter().map(|left| &left.reason).collect();
        // Without ids, a result may be that of another call, and bear its name.
        if format.can_hold(Feature::CallIds) {
            prop_assert_eq!(left, Vec::<&str>::new(), "{:?} in {}: {:?}: {}", planted, format.id, reasons, text);
        }
        prop_assert!(fix("case", &fixed.bytes, &options, &how).is_unchanged());
        for own in strings(&contents(format, text.as_bytes())) {
            let after = String::from_utf8_lossy(&fixed.bytes);
            // What becomes a text of the user is written as JSON in it.
            let is_there = after.contains(&own) || after.contains(&own.replace('\\', "\\\\"));
            prop_assert!(is_there, "{:?} in {}: {} is lost of {}", planted, format.id, own, text);
        }
    }

    #[test]
    fn a_fault_is_fixed_in_json_lines_as_alone_and_the_start_stays(
        mut conversation in conversations(), other in conversations(), fault in faults(), format in format(), at: prop::sample::Index,
    ) {
        let whole = format.write_request(&other).body.to_string();
        prop_assume!(fault.plant(&mut conversation, at).is_some());
        let broken = format.write_request(&conversation).body.to_string();
        let options = Options::new().format(Some(format));
        for how in [FixOptions::new(), FixOptions::new().unsafe_fixes(true)] {
            let alone = fix("case", broken.as_bytes(), &options, &how);
            let lines = format!("{whole}\n{broken}\r\n{whole}");
            let fixed = fix("case", lines.as_bytes(), &options, &how);
            let wanted = [whole.as_bytes(), b"\n", &alone.bytes, b"\r\n", whole.as_bytes()].concat();
            prop_assert_eq!(String::from_utf8_lossy(&fixed.bytes), String::from_utf8_lossy(&wanted));
            let first = fixed.first_changed_byte(lines.as_bytes());
            prop_assert!(first.is_none_or(|first| first > whole.len()));
            // What is planned loses nothing of the length but what it says.
            prop_assert!(alone.bytes.len() < 4 * broken.len() + 4096);
        }
    }

    #[test]
    fn a_lost_result_comes_back_but_for_its_text(
        conversation in conversations(), format in format(), at: prop::sample::Index,
    ) {
        let outputs = |turn: &Turn| matches!(turn, Turn::Results(_));
        let results: Vec<usize> =
            (0..conversation.turns.len()).filter(|turn| outputs(&conversation.turns[*turn])).collect();
        prop_assume!(!results.is_empty() && format.can_hold(Feature::CallIds));
        let turn = results[at.index(results.len())];
        let mut broken = conversation.clone();
        let mut wanted = conversation;
        let (Turn::Results(lost), Turn::Results(kept)) = (&mut broken.turns[turn], &mut wanted.turns[turn]) else { unreachable!() };
        let gone = at.index(lost.len());
        // If no result of a turn is left, two turns of the model may have become one.
        prop_assume!(lost.len() > 1);
        lost.remove(gone);
        kept[gone].text = toolcheck_lint::fix::PLACEHOLDER.to_owned();
        let body = format.write_request(&broken).body.to_string();
        let how = FixOptions::new().unsafe_fixes(true).accepted(true);
        let fixed = fix("case", body.as_bytes(), &Options::new().format(Some(format)), &how);
        prop_assume!(!fixed.is_unchanged());
        let read = |text: &[u8]| {
            let mut all = toolcheck_test::conversation(&serde_json::from_slice(text).unwrap(), format.id);
            for turn in &mut all.turns {
                if let Turn::Results(outputs) = turn {
                    outputs.iter_mut().for_each(|output| output.failed = false);
                }
            }
            all
        };
        let mut after = read(&fixed.bytes);
        let expected = read(format.write_request(&wanted).body.to_string().as_bytes());
        // An error is written under a key of its own in some formats.
        for turn in &mut after.turns {
            if let Turn::Results(outputs) = turn {
                for output in outputs.iter_mut().filter(|output| output.text.contains(toolcheck_lint::fix::PLACEHOLDER)) {
                    toolcheck_lint::fix::PLACEHOLDER.clone_into(&mut output.text);
                }
            }
        }
        prop_assert_eq!(after, expected);
    }

    #[test]
    fn any_bytes_are_fixed_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..256), is_unsafe: bool) {
        let how = FixOptions::new().unsafe_fixes(is_unsafe);
        let fixed = fix("case", &bytes, &Options::new(), &how);
        prop_assert!(fix("case", &fixed.bytes, &Options::new(), &how).is_unchanged());
    }
}

/// Whether some changes are not safe because reasoning is signed.
fn has_signature(conversation: &Conversation, format: &Format) -> bool {
    let is_signed = |turn: &Turn| match turn {
        Turn::Assistant(said) => said.reasoning.iter().any(|reasoning| reasoning.signature.is_some()),
        _ => false,
    };
    targets::find(format.id).is_some_and(|target| target.binds_signatures())
        && conversation.turns.iter().any(is_signed)
}

fn kinds() -> impl Strategy<Value = TranscriptKind> {
    prop::sample::select(TranscriptKind::ALL.to_vec())
}
