//! No output holds a command of a CI runner, whatever the files, names, ids, keys and texts are.

use crate::common::runners::{commands, is_annotation};
use crate::common::{self, EXPLAINED, filled, folder, toolcheck_in};
use proptest::prelude::*;
use toolcheck_core::targets;
use toolcheck_lint::{Options, Report, lint};
use toolcheck_report::{Style, View, outline, outputs, show};

/// Names made of the pieces of commands.
fn names() -> impl Strategy<Value = String> {
    const PIECES: &str = "##¦#¦[¦]¦##[¦vso[¦##vso[¦teamcity[¦::¦:¦error¦set-output name=a¦ ¦\n¦\r¦\u{1b}¦\u{1b}[0K¦section_start:1:a¦`¦'¦\"¦\\¦<¦&¦|¦%¦/¦~1¦{¦}¦\u{fe0f}¦\u{a0}¦\u{85}¦漢¦a¦wide and long words to fill the line";
    prop::collection::vec(prop::sample::select(PIECES.split('¦').collect::<Vec<_>>()), 1..8)
        .prop_map(|pieces| pieces.concat())
}

/// Requests with the names wherever a file may have one.
fn requests([first, second, third]: &[String; 3]) -> Vec<String> {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let (a, b, c) = (quoted(first), quoted(second), quoted(third));
    let anthropic = format!(
        r#"{{"max_tokens": 1, "model": {c}, {a}: 1, {a}: 2, {b}: {{{c}: 1}}, "tools": [{{"name": {a}, "input_schema": {{"type": {b}}}}}, {{"name": {a}, "input_schema": {{"type": "object", "required": [{c}], "properties": {{{b}: {{"enum": [{a}]}}}}}}}}],
"messages": [{{"role": "user", "content": {b}}}, {{"role": "assistant", "content": [{{"type": "tool_use", "id": {a}, "name": {b}, "input": {{{c}: {a}}}}}, {{"type": "tool_use", "id": {b}, "name": {a}, "input": {{{b}: 1, {c}: {{}}}}}}]}},
{{"role": {c}, "content": {a}}}, {{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": {c}, "content": {b}}}, {{"type": {b}, {c}: 1}}]}}]}}"#
    );
    let chat = format!(
        r#"{{"model": {a}, {b}: 1, "messages": [{{"role": "user", "content": {b}}}, {{"role": "assistant", "content": null, "tool_calls": [{{"id": {a}, "type": "function", "function": {{"name": {b}, "arguments": {c}}}}}]}},
{{"role": {b}, "content": "b", {c}: 0}}, {{"role": "tool", "tool_call_id": {c}, "name": {a}, "content": {b}}}]}}"#
    );
    let responses = format!(
        r#"{{"model": {a}, "input": [{{"type": "message", "role": "user", "content": {a}}}, {{"type": "function_call", "id": {a}, "call_id": {b}, "name": {c}, "arguments": "{{"}}, {{"type": {a}, {b}: {c}}}]}}"#
    );
    let exchange =
        format!(r#"{{"request": {}, "response": {{"type": "message", {a}: {b}}}}}"#, chat.replace('\n', " "));
    vec![anthropic, chat, responses, exchange.clone(), format!("{exchange}\n{exchange}\n"), first.clone()]
}

fn assert_inert(what: &str, text: &[u8]) {
    let mut commands = commands(text);
    commands.retain(|command| !(what == "github" && is_annotation(command)));
    assert!(commands.is_empty(), "{what}: {commands:#?}\n{}", String::from_utf8_lossy(text));
}

fn styles(width: usize) -> impl Iterator<Item = Style> {
    let style = Style::new().width(width).with_statistics(true);
    [style, style.has_excerpts(false), style.color(true).has_links(true)].into_iter()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn no_output_has_a_command(names in [names(), names(), names()], width in 20..130_usize) {
        let target = targets::all().find(|target| *target.id == *"openai");
        for (number, text) in requests(&names).iter().enumerate() {
            let path = if number % 2 == 0 { names[0].clone() } else { format!("{}.json", names[1]) };
            let options = Options::default().target(target.filter(|_| number == 0)).keeps_source(true);
            let report = Report::new(vec![lint(&path, text.as_bytes(), &options)]);
            let more = format!("toolcheck lint '{}'", names[2]);
            let view = View::new().shows_text(true).shows_all(true).more(&more);
            let outline = outline(&path, text.as_bytes(), &Options::default(), &view);
            for style in styles(width) {
                for output in outputs::ALL {
                    let mut written = Vec::new();
                    (output.write)(&report, &style, &mut written).unwrap();
                    assert_inert(output.id, &written);
                }
                for output in show::outputs::ALL {
                    let mut written = Vec::new();
                    (output.write)(&outline, &style, &mut written).unwrap();
                    assert_inert(output.id, &written);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn no_message_of_the_program_has_a_command(
        // The program would search the whole disk for `/`, also in a list of files.
        name in names().prop_filter("a path from the root", |name| !name.lines().any(|line| line.trim().starts_with('/'))),
        width in 20..130_usize,
    ) {
        let folder = folder("runners-arguments");
        for line in include_str!("commands/messages.txt").lines() {
            let (line, input) = line.split_once(" < ").unwrap_or((line, ""));
            let (arguments, input) = (filled(line, &[("{name}", &name)]), input.replace("{name}", &name));
            let mut command = toolcheck_in(&folder);
            command.args(&arguments).env("COLUMNS", width.to_string());
            let output = common::with_input(&mut command, input.as_bytes());
            assert_inert("stdout", &output.stdout);
            assert_inert("stderr", &output.stderr);
            assert!([Some(0), Some(1), Some(2)].contains(&output.status.code()), "{arguments:?}: {output:?}");
        }
    }
}

#[test]
fn lists_and_pages_have_no_command() {
    let folder = folder("runners-pages");
    let shapes = targets::all().map(|target| vec!["shapes", &*target.id]);
    let lists = "rules,formats,targets,--help,lint --help,man,explain unanswered-tool-call --output-format=json,\
        completions bash,completions zsh,completions fish,completions powershell";
    let lists = lists.split(',').map(common::words);
    let run = |arguments: Vec<&str>| toolcheck_in(&folder).args(&arguments).output().unwrap();
    let pages = EXPLAINED.iter().cloned();
    for output in lists.chain(shapes).map(run).chain(pages) {
        assert_inert("stdout", &output.stdout);
        assert_inert("stderr", &output.stderr);
    }
}
