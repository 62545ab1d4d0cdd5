//! Properties of conversations in every format.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_core::{Format, RuleId, formats, targets};
use toolcheck_json::Document;
use toolcheck_lint::{FileReport, Options, Report, lint};
use toolcheck_report::{Style, View, outline, outputs, show};
use toolcheck_test::strategies::{conversations, faults};
use toolcheck_test::{Assistant, Conversation, Feature, Turn};
use unicode_width::UnicodeWidthStr;

fn format() -> impl Strategy<Value = &'static Format> {
    prop::sample::select(formats::ALL.to_vec())
}

fn lint_value(value: &Json, format: &'static Format, pretty: bool) -> FileReport {
    let text =
        if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }.unwrap();
    lint("case", text.as_bytes(), &Options::new().format(Some(format)))
}

fn ids(report: &FileReport) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.rule.as_str()).collect()
}

fn outline_text(outline: &toolcheck_report::Outline, width: usize) -> String {
    let mut text = Vec::new();
    let style = Style::new().width(width);
    (show::outputs::find("text").unwrap().write)(outline, &style, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The message number at the beginning of a line of an outline, if the line has one.
fn row_number(line: &str) -> Option<usize> {
    let number = line.strip_prefix("  ")?.split_whitespace().next()?;
    // A number further to the right belongs to the message above.
    let is_in_column = line.find(number)? < 6;
    number.parse().ok().filter(|_| is_in_column)
}

fn messages(body: &mut Json) -> &mut Vec<Json> {
    let members = body.as_object_mut().unwrap();
    let key = ["messages", "input", "contents"].into_iter().find(|key| members.contains_key(*key));
    members[key.unwrap()].as_array_mut().unwrap()
}

/// Replaces, removes or repeats one value somewhere in `value`.
fn disturb(value: &mut Json, steps: &[prop::sample::Index], with: &Json, how: u8) {
    let [step, rest @ ..] = steps else {
        *value = with.clone();
        return;
    };
    match value {
        Json::Array(elements) if !elements.is_empty() => {
            let at = step.index(elements.len());
            match (rest.is_empty(), how) {
                (true, 0) => drop(elements.remove(at)),
                (true, 1) => elements.insert(at, elements[at].clone()),
                _ => disturb(&mut elements[at], rest, with, how),
            }
        }
        Json::Object(members) if !members.is_empty() => {
            let key = members.keys().nth(step.index(members.len())).unwrap().clone();
            if rest.is_empty() && how == 0 {
                members.remove(&key);
            } else {
                disturb(&mut members[&key], rest, with, how);
            }
        }
        other => *other = with.clone(),
    }
}

/// Options that name the target if the format of a request cannot be detected: without a model, a system text and calls,
/// messages are the same in Anthropic Messages and in Chat Completions.
fn naming_target(conversation: &Conversation, format: &Format) -> Options {
    let has_calls = conversation.turns.iter().any(|turn| !turn.calls().is_empty());
    let is_distinct = format.id != "anthropic" || !conversation.system.is_empty() || has_calls;
    Options::new().target(targets::find(format.id).filter(|_| !is_distinct))
}

proptest! {
    #[test]
    fn every_part_has_a_place_inside_its_document(conversation in conversations(), format in format()) {
        let body = format.write_request(&conversation).body.to_string();
        let document = Document::read(body.as_bytes());
        let transcript = format.read(document.root()).unwrap();
        let whole = transcript.place.span;
        let mut last = 0;
        for (message, parts) in transcript.messages_with_parts() {
            prop_assert!(whole.contains(message.place.span));
            for part in parts {
                prop_assert!(message.place.span.contains(part.place.span), "{part:?} outside {message:?}");
                prop_assert_eq!(document.value(part.place.node).span(), part.place.span);
            }
            prop_assert!(message.place.span.start >= last, "messages are in the order of the text");
            last = message.place.span.start;
        }
    }

    #[test]
    fn written_requests_are_clean_and_recognised(conversation in conversations(), format in format(), pretty: bool) {
        let body = format.write_request(&conversation).body;
        let report = lint_value(&body, format, pretty);
        prop_assert_eq!(ids(&report), Vec::<&str>::new(), "{}: {}", format.id, body);
        let detected = lint("case", body.to_string().as_bytes(), &naming_target(&conversation, format));
        prop_assert_eq!(detected.format, Some(format.id), "{}", body);
    }

    #[test]
    fn the_exchanges_of_a_conversation_are_clean(conversation in conversations(), format in format(), pretty: bool) {
        let exchanges = format.write_exchanges(&conversation, Conversation::clone);
        let lines: String = exchanges.iter().map(|exchange| format!("{exchange}\n")).collect();
        let count = exchanges.len();
        let reports = [
            lint("case", lines.as_bytes(), &naming_target(&conversation, format)),
            lint_value(&Json::Array(exchanges), format, pretty),
        ];
        for report in reports {
            prop_assert_eq!(ids(&report), Vec::<&str>::new(), "{}: {}", format.id, lines);
            prop_assert_eq!((report.format, report.transcripts), (Some(format.id), count));
        }
    }

    #[test]
    fn a_call_that_is_dropped_is_found_once(
        conversation in conversations(), format in format(), at: prop::sample::Index, which: prop::sample::Index
    ) {
        let is_parallel = |turn: &Turn| turn.calls().len() > 1;
        let turns: Vec<usize> =
            (0..conversation.turns.len()).filter(|number| is_parallel(&conversation.turns[*number])).collect();
        prop_assume!(!turns.is_empty());
        let turn = turns[at.index(turns.len())];
        let calls = conversation.turns[turn].calls();
        let (total, dropped) = (calls.len(), calls[which.index(calls.len())].clone());
        // The application neither stores nor runs the call.
        let keep = |conversation: &Conversation| {
            let mut kept = conversation.clone();
            for turn in &mut kept.turns {
                match turn {
                    Turn::Assistant(message) => message.calls.retain(|call| call.id != dropped.id),
                    Turn::Results(outputs) => outputs.retain(|output| output.call_id != dropped.id),
                    _ => {}
                }
            }
            kept
        };
        let exchanges = format.write_exchanges(&conversation, keep);
        let lines: String = exchanges.iter().map(|exchange| format!("{exchange}\n")).collect();
        let report = lint("case", lines.as_bytes(), &Options::default());
        prop_assert_eq!(ids(&report), ["dropped-tool-call"], "{}: {}", format.id, lines);
        let finding = &report.findings[0];
        prop_assert_eq!(finding.level, toolcheck_core::Level::Error);
        prop_assert!(finding.message.contains(&format!("called {total} tools")), "{}", finding.message);
        prop_assert_eq!(finding.labels.len(), 1);
        prop_assert_eq!(finding.labels[0].spot.record + 1, finding.spot.record);
        if format.can_hold(Feature::CallIds) {
            prop_assert_eq!(finding.tool_call_id.as_ref(), Some(&dropped.id));
        }
    }

    #[test]
    fn a_planted_fault_is_found_once_under_its_id(
        mut conversation in conversations(), fault in faults(), format in format(), at: prop::sample::Index, pretty: bool
    ) {
        let has_ids = format.can_hold(Feature::CallIds);
        let id = fault.plant(&mut conversation, at);
        prop_assume!(id.is_some());
        let body = format.write_request(&conversation).body;
        let report = lint_value(&body, format, pretty);
        // One target accepts ids of earlier calls.
        let is_silent = fault.rule(&conversation, has_ids) == Some(RuleId::ReusedToolCallId) && format.id == "mistral";
        let expected: Vec<_> = fault.rule(&conversation, has_ids).into_iter().filter(|_| !is_silent).map(RuleId::as_str).collect();
        prop_assert_eq!(ids(&report), expected, "{:?} in {}: {}", fault, format.id, body);
        if let (Some(finding), true) = (report.findings.first(), has_ids) {
            prop_assert_eq!(&finding.tool_call_id, &id);
        }
    }

    #[test]
    fn a_message_between_calls_and_results_is_one_late_result(
        mut conversation in conversations(), format in format(), pretty: bool
    ) {
        let first = conversation.turns.iter().position(|turn| matches!(turn, Turn::Results(_)));
        prop_assume!(first.is_some() && format.id != "openai-responses");
        let model = Turn::Assistant(Assistant::new("One moment."));
        conversation.turns.splice(first.unwrap()..first.unwrap(), [Turn::User("Well?".to_owned()), model]);
        let body = format.write_request(&conversation).body;
        prop_assert_eq!(ids(&lint_value(&body, format, pretty)), vec!["late-tool-result"], "{}: {}", format.id, body);
    }

    #[test]
    fn a_turn_in_several_messages_is_one_split_turn(conversation in conversations(), pretty: bool) {
        let format = formats::find("openai-chat").unwrap();
        let mut body = format.write_request(&conversation).body;
        let list = messages(&mut body);
        let calls = |message: &Json| message["tool_calls"].as_array().map_or(0, Vec::len);
        let whole = list.iter().position(|message| calls(message) > 1);
        prop_assume!(whole.is_some());
        let whole = whole.unwrap();
        let parts: Vec<Json> = list[whole]["tool_calls"].as_array().unwrap().iter()
            .map(|call| json!({"role": "assistant", "content": null, "tool_calls": [call]})).collect();
        let count = parts.len();
        list.splice(whole..=whole, parts);
        let report = lint_value(&body, format, pretty);
        prop_assert_eq!(ids(&report), vec!["split-assistant-turn"], "{}", body);
        prop_assert_eq!(&report.findings[0].spot.pointer, &format!("/messages/{whole}"));
        prop_assert_eq!(report.findings[0].labels.len(), count - 1);
    }

    #[test]
    fn nothing_panics_on_damaged_conversations(
        conversation in conversations(),
        format in format(),
        steps in prop::collection::vec(any::<prop::sample::Index>(), 1..7),
        how in 0..4u8,
        with in prop::sample::select(vec![json!(null), json!(1), json!("x"), json!([]), json!({}), json!([[1]])]),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut body = format.write_request(&conversation).body;
        disturb(&mut body, &steps, &with, how);
        let text = body.to_string();
        let cut = if how == 3 { cut.index(text.len() + 1) } else { text.len() };
        for format in [None, Some(format)] {
            let bytes = &text.as_bytes()[..cut];
            let file = lint("case", bytes, &Options::new().format(format));
            for finding in &file.findings {
                prop_assert!(finding.spot.bytes.end <= bytes.len() && finding.spot.bytes.start <= finding.spot.bytes.end);
            }
            let found: Vec<_> = file.findings.iter().map(|found| (found.rule, found.spot.bytes.clone())).collect();
            let report = Report::new(vec![file]);
            for output in outputs::ALL {
                (output.write)(&report, &Style::default(), &mut Vec::new()).unwrap();
            }
            let shown = outline("case", bytes, &Options::new().format(format), &View::default());
            let shown_findings = &shown.report.files[0].findings;
            prop_assert_eq!(found, shown_findings.iter().map(|found| (found.rule, found.spot.bytes.clone())).collect::<Vec<_>>());
            let text = outline_text(&shown, 80);
            for found in shown_findings.iter().filter(|_| shown_findings.len() < 7) {
                prop_assert!(text.contains(found.rule.as_str()), "{} in {}", found.rule.as_str(), text);
            }
        }
    }

    #[test]
    fn any_bytes_are_linted_and_reported(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let file = lint("case", &bytes, &Options::default());
        let report = Report::new(vec![file]);
        for output in outputs::ALL {
            (output.write)(&report, &Style::new().width(40).color(true), &mut Vec::new()).unwrap();
        }
    }

    #[test]
    fn any_bytes_have_an_outline(
        bytes in prop::collection::vec(any::<u8>(), 0..400), width in 0..200usize, shows_all: bool, shows_text: bool
    ) {
        let view = View::new().shows_all(shows_all).shows_text(shows_text).more("toolcheck lint case");
        let shown = outline("case", &bytes, &Options::default(), &view);
        for output in show::outputs::ALL {
            (output.write)(&shown, &Style::new().width(width).color(true), &mut Vec::new()).unwrap();
        }
    }

    #[test]
    fn every_message_has_its_row_in_order_and_no_row_is_too_wide(
        conversation in conversations(), format in format(), width in 32..150usize, shows_text: bool
    ) {
        let mut body = format.write_request(&conversation).body;
        let count = messages(&mut body).len();
        let text = body.to_string();
        let view = View::new().shows_all(true).shows_text(shows_text);
        let shown = outline("case", text.as_bytes(), &Options::new().format(Some(format)), &view);
        let text = outline_text(&shown, width);
        let rows: Vec<usize> = text.lines().filter_map(row_number).collect();
        let mut sorted = rows.clone();
        sorted.sort();
        sorted.dedup();
        prop_assert_eq!(&rows, &sorted, "{}", text);
        prop_assert_eq!(rows.len(), shown.report.files[0].messages, "{}", text);
        prop_assert!(rows.last().is_none_or(|last| *last < count), "{}", text);
        for line in text.lines() {
            prop_assert!(line.width() <= width, "{} columns: {:?}", width, line);
        }
        // A call and its result have the same number.
        let numbers = |sign: &str| -> Vec<String> {
            let signs = text.lines().filter_map(|line| line.split_once(sign).map(|(_, rest)| rest.trim_start()));
            signs.map(|rest| rest.split(' ').next().unwrap().to_owned()).collect()
        };
        if !shows_text {
            prop_assert_eq!(numbers("→ "), numbers("← "), "{}", text);
        }
    }

    #[test]
    fn linting_is_a_function_of_the_bytes(conversation in conversations(), format in format()) {
        let body = format.write_request(&conversation).body;
        let show = |report: FileReport| format!("{:?}", report.findings);
        prop_assert_eq!(show(lint_value(&body, format, true)), show(lint_value(&body, format, true)));
    }
}
