//! The outputs of an outline.

use toolcheck_core::targets;
use toolcheck_lint::Options;
use toolcheck_report::{Outline, Style, View, outline, show};
use unicode_width::UnicodeWidthStr;

use crate::testing::{fixtures, ids_in, root};

fn of_text(text: &str, view: &View<'_>) -> Outline {
    outline("case", text.as_bytes(), &Options::default(), view)
}

fn show(outline: &Outline, output: &str, width: usize) -> String {
    styled(outline, output, &Style::new().width(width))
}

fn styled(outline: &Outline, output: &str, style: &Style) -> String {
    let mut text = Vec::new();
    (show::outputs::find(output).unwrap().write)(outline, style, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The outputs that draw an outline.
fn pictures() -> impl Iterator<Item = &'static show::outputs::Output> {
    show::outputs::ALL.iter().copied().filter(|output| !output.is_request)
}

/// The first conversation as a request, as it is printed.
fn as_request(text: &str, target: Option<&str>) -> String {
    let target = target.map(|id| targets::find(id).unwrap());
    let view = View::new().as_request(true);
    show(&outline("case", text.as_bytes(), &Options::new().target(target), &view), "request", 80)
}

/// Nothing in it can act on a terminal, and it says the same.
#[test]
fn a_conversation_is_printed_as_a_request() {
    let said = serde_json::json!({"messages": [{"role": "user", "content": HOSTILE}]});
    let printed = as_request(&said.to_string(), Some("openai-chat"));
    let hidden = |character: char| character != '\n' && toolcheck_core::text::is_hidden(character);
    assert!(!printed.chars().any(hidden), "{printed:?}");
    let body: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(body["messages"][0]["content"], HOSTILE);
}

#[test]
fn what_an_agent_leaves_out_itself_is_not_in_the_request() {
    for (path, [out, kept]) in [
        ("fixtures/inputs/codex/compacted-in-call.jsonl", ["call_01", "call_02"]),
        ("fixtures/inputs/cline/roo-summary.json", ["toolu_01", "toolu_02"]),
    ] {
        let bytes = std::fs::read(root().join(path)).unwrap();
        let options = Options::new().conversation(Some(Options::NEXT));
        let printed = show(&outline(path, &bytes, &options, &View::new().as_request(true)), "request", 80);
        assert!(printed.contains(kept) && !printed.contains(out), "{printed}");
        let report = toolcheck_lint::lint("next.json", printed.as_bytes(), &Options::new());
        assert_eq!(report.findings.len(), 0, "{:?}", report.findings);
    }
}

#[test]
fn the_table_equals_its_directory() {
    let ids: Vec<&str> = show::outputs::ALL.iter().map(|output| output.id).collect();
    assert_eq!(ids, ids_in("src/show/outputs", "rs"));
}

#[test]
fn a_colored_screen_has_links() {
    let path = "seeds/coco-before.json";
    let bytes = std::fs::read(fixtures().join(path)).unwrap();
    let command = format!("toolcheck lint {path}");
    let sample = outline(path, &bytes, &Options::new(), &View::new().more(&command));
    let style = Style::new().color(true).width(100);
    insta::assert_snapshot!("colored", styled(&sample, "text", &style));
    let linked = styled(&sample, "text", &style.has_links(true));
    let link = "\u{1b}]8;;https://github.com/toolcheck/toolcheck/blob/main/docs/rules/unanswered-tool-call.md\u{1b}\\";
    assert_eq!((linked.matches(link).count(), linked.matches("\u{1b}]8;;\u{1b}\\").count()), (1, 1));
}

/// A request with every kind of message part.
const ALL_KINDS: &str = include_str!("all_kinds.json");

/// No output shows a value without `shows_text`.
#[test]
fn values_are_shown_only_on_request() {
    let with_text = View::new().shows_text(true);
    for output in pictures() {
        assert!(!show(&of_text(ALL_KINDS, &View::default()), output.id, 80).contains("hunter2"));
        assert!(show(&of_text(ALL_KINDS, &with_text), output.id, 80).contains("hunter2"));
    }
}

/// Characters with a meaning in terminals, HTML or Markdown.
const HOSTILE: &str =
    "\u{1b}[31m\n::error::]]><script>x</script>|`\u{202e}\"'\\ @u #1 [x](//e) &lt; www.e.e </style>";

fn hostile_outlines() -> Vec<Outline> {
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    let request = format!(
        r#"{{"model": {quoted}, "max_tokens": 1, {quoted}: 1, {quoted}: 2, "messages": [{{"role": {quoted}, "content": {quoted}}},
 {{"role": "assistant", "content": [{{"type": "tool_use", "id": {quoted}, "name": {quoted}, "input": {{{quoted}: 1}}}}]}},
 {{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "x|</li>{}", "content": {quoted}}}]}}]}}"#,
        "<img src=x>"
    );
    let exchange = format!(
        "{}\n",
        serde_json::json!({"request": serde_json::from_str::<serde_json::Value>(&request).unwrap(),
            "response": {"type": "message", "role": "assistant", "stop_reason": "tool_use",
                "content": [{"type": "text", "text": HOSTILE}, {"type": "tool_use", "id": HOSTILE, "name": HOSTILE, "input": {}}]}})
    );
    let command = format!("toolcheck lint '{HOSTILE}'");
    let view = View::new().shows_text(true).more(&command);
    let of = |text: &str| outline(HOSTILE, text.as_bytes(), &Options::default(), &view);
    vec![of(&request), of(&exchange.repeat(2)), of(HOSTILE), of("")]
}

#[test]
fn nothing_is_injected_into_any_outline() {
    let outlines = hostile_outlines();
    assert!(outlines[0].report.files[0].findings.len() >= 3);
    for (number, outline) in outlines.iter().enumerate() {
        for output in pictures() {
            let text = show(outline, output.id, 60);
            let hidden = |character: char| character != '\n' && toolcheck_core::text::is_hidden(character);
            assert!(!text.chars().any(hidden), "{}: {text:?}", output.id);
            assert!(number > 1 || text.contains("error::"), "{}: {text}", output.id);
            match output.id {
                // No line begins with text from a name that contains a line end.
                "text" => assert!(!text.lines().any(|line| line.starts_with("::")), "{text}"),
                "markdown" => {
                    assert!(
                        !text.contains("<script") && !text.contains("[x]") && !text.contains("<img"),
                        "{text}"
                    );
                    assert!(!text.contains('`') && !text.contains("www.e") && !text.contains("@u"), "{text}");
                    for line in text.lines().filter(|line| line.contains('|')) {
                        assert!(line.starts_with('|') && line.matches('|').count() == 5, "{line}");
                    }
                }
                "html" => {
                    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
                    let page = roxmltree::Document::parse_with_options(&text, options).unwrap();
                    let names = page.descendants().filter(roxmltree::Node::is_element);
                    let known = "html head meta title style body header h1 h2 p code nav ul ol li a span main section div blockquote strong footer";
                    let mut ids = std::collections::HashSet::new();
                    let mut links = Vec::new();
                    for node in names {
                        let name = node.tag_name().name();
                        assert!(known.split(' ').any(|known| known == name), "<{name}>");
                        for attribute in node.attributes() {
                            let known =
                                ["class", "id", "href", "title", "rel", "role", "lang", "name", "content"];
                            let is_known = known.contains(&attribute.name())
                                || ["charset", "http-equiv", "aria-label", "aria-labelledby", "aria-hidden"]
                                    .contains(&attribute.name());
                            assert!(is_known, "{}", attribute.name());
                        }
                        if let Some(id) = node.attribute("id") {
                            assert!(ids.insert(id), "two elements have the id {id}");
                        }
                        links.extend(node.attribute("href"));
                    }
                    for link in links {
                        let rules = "https://github.com/toolcheck/toolcheck/blob/main/docs/rules/";
                        let is_ours =
                            link.strip_prefix('#').map_or(link.starts_with(rules), |id| ids.contains(id));
                        assert!(is_ours, "{link} leads nowhere");
                    }
                }
                other => panic!("{other} is not tested with hostile names"),
            }
        }
    }
}

/// A request with `calls` calls in a row, each in its own message; call number `broken` has no result.
fn long(calls: usize, broken: usize) -> String {
    let mut messages = vec![r#"{"role": "user", "content": "go"}"#.to_owned()];
    for number in 0..calls {
        messages.push(format!(
            r#"{{"role": "assistant", "content": [{{"type": "tool_use", "id": "t{number}", "name": "f", "input": {{}}}}]}}"#
        ));
        messages.push(if number == broken {
            r#"{"role": "user", "content": "well?"}"#.to_owned()
        } else {
            format!(r#"{{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "t{number}", "content": "x"}}]}}"#)
        });
    }
    format!(r#"{{"model": "m", "max_tokens": 1, "messages": [{}]}}"#, messages.join(",\n"))
}

#[test]
fn the_middle_of_a_long_transcript_is_left_out_except_for_findings() {
    let text = long(2_000, 1_000);
    let shown = show(&of_text(&text, &View::default()), "text", 80);
    insta::assert_snapshot!(shown);
    for output in pictures() {
        let shown = show(&of_text(&text, &View::default()), output.id, 80);
        assert!(shown.len() < 30_000, "{}: {}", output.id, shown.len());
        assert!(shown.contains("unanswered-tool-call"), "{shown}");
    }
    let all = show(&of_text(&text, &View::new().shows_all(true)), "text", 80);
    assert_eq!(all.lines().filter(|line| line.contains("assistant")).count(), 2_000);
    assert!(!all.contains('⋮'));
}

#[test]
fn a_file_of_many_records_shows_the_broken_ones() {
    let clean = r#"{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}]}"#;
    let broken = r#"{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": []}]}"#;
    let log = |count: usize, every: usize| -> String {
        (0..count)
            .map(|number| format!("{}\n", if number % every == every - 1 { broken } else { clean }))
            .collect()
    };
    let shown = show(&of_text(&log(500, 100), &View::default()), "text", 80);
    assert_eq!(shown.matches("! empty-content").count(), 5, "{shown}");
    assert!(shown.contains("⋮ 91 more records without findings\n\nrecord 100 of 500, line 100\n"), "{shown}");
    // However many records are broken, the outline is bounded, and the summary counts them all.
    let shown = show(&of_text(&log(5_000, 1), &View::default()), "text", 80);
    assert_eq!(shown.matches("! empty-content").count(), 40);
    assert!(shown.contains("⋮ 4960 more records, 4960 with findings\n"), "{shown}");
    assert!(shown.contains("4960 findings not shown here\n0 errors, 5000 warnings"), "{shown}");
}

#[test]
fn a_line_with_many_findings_counts_the_rest() {
    let keys: Vec<String> = (0..300).map(|number| format!(r#""k{number}": 1, "k{number}": 2"#)).collect();
    let text = format!(
        r#"{{"model": "m", "max_tokens": 1, "messages": [{{"role": "user", "content": "a"}},
 {{"role": "assistant", "content": [{{"type": "tool_use", "id": "x", "name": "f", "input": {{{}}}}}]}},
 {{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "x", "content": "x"}}]}}]}}"#,
        keys.join(", ")
    );
    let outline = of_text(&text, &View::default());
    let found = outline.report.files[0].findings.len();
    assert!(found > 10, "{found}");
    let shown = show(&outline, "text", 80);
    assert_eq!(shown.matches("duplicate-key").count(), 6, "{shown}");
    assert!(shown.contains(&format!("and {} more findings\n", found - 6)), "{shown}");
}

#[test]
fn remarks_are_cut_before_an_id_is_left_out() {
    let text = r#"{"model": "m", "messages": [{"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "tides", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_2", "content": "Low tide is at six."}]}"#;
    let shown = show(&of_text(text, &View::new()), "text", 80);
    let row = shown.lines().find(|line| line.contains("orphan-tool-result")).unwrap();
    assert!(row.contains("call_2  no match") && row.contains("…  ✗ orphan-tool-result"), "{shown}");
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let wide = format!(
        r#"{{"role": "assistant", "content": [{{"type": "tool_use", "id": "{0}", "name": "{0}", "input": {{}}}}]}}"#,
        "中文 name ".repeat(20)
    );
    let texts = [
        ALL_KINDS.to_owned(),
        long(500, 250),
        format!(
            r#"{{"model": "m", "max_tokens": 1, "messages": [{{"role": "user", "content": "a"}}, {wide}, {wide}]}}"#
        ),
        HOSTILE.to_owned(),
    ];
    let view = View::new().shows_text(true);
    for (text, width) in texts.iter().flat_map(|text| (32..=140).map(move |width| (text, width))) {
        let shown =
            show(&outline(&"long/".repeat(40), text.as_bytes(), &Options::default(), &view), "text", width);
        let widest = shown.lines().max_by_key(|line| line.width()).unwrap();
        assert!(widest.width() <= width, "{width}: {widest:?} in\n{shown}");
    }
}
