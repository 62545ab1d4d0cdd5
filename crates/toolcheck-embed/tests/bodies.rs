//! Bodies in memory, as bindings use the crate.

use proptest::prelude::*;
use toolcheck_embed::{Comparison, Error, FixOptions, Linter, Settings, Side, explain_error};
use toolcheck_open::FileFormat;
use toolcheck_report::{Style, View, diff, show};

const UNANSWERED: &[u8] = br#"{"messages": [
  {"role": "user", "content": "find Adam"},
  {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}]},
  {"role": "user", "content": "well?"}
]}"#;

const RECORDING: &[u8] = br#"{"log": {"version": "1.2", "entries": [{
  "request": {"method": "POST", "url": "https://api.anthropic.com/v1/messages", "headers": [],
    "postData": {"mimeType": "application/json", "text":
      "{\"model\": \"m\", \"max_tokens\": 1, \"messages\": [{\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"toolu_1\", \"name\": \"search\", \"input\": {}}]}, {\"role\": \"user\", \"content\": \"well?\"}]}"}},
  "response": {"status": 200, "content": {"mimeType": "application/json", "text": "{}"}}
}]}}"#;

fn rules(linter: &Linter, body: &[u8]) -> Vec<&'static str> {
    linter.lint(body).findings.iter().map(|finding| finding.rule.as_str()).collect()
}

fn error<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("there is no error"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_cannot_be_used_is_an_error_that_says_why() {
    let settings = Settings::new;
    assert!(
        error(settings().format("opnai-chat")).starts_with("there is no format `opnai-chat`; did you mean")
    );
    assert!(error(settings().kind("log")).ends_with("kinds: request, session, dataset"));
    assert_eq!(
        error(settings().ignore(["blank-txt"])),
        "there is no rule `blank-txt`; did you mean `blank-text`?"
    );
    assert!(error(settings().tools(b"[1, 2")).starts_with("no tools found: expected a list of tools"));
    assert_eq!(
        error(settings().tools(br#"[{"type": "function", "function": {"title": "tide"}}]"#)),
        "tools: 1:2: this is not a tool definition, as it has no `name`"
    );
    assert!(error(settings().own_target("id = 1")).starts_with("invalid target:\n"));
    assert_eq!(
        error(settings().config("\nignore = [\"blank-txt\"]")),
        "invalid configuration: 2:11: there is no rule `blank-txt`; did you mean `blank-text`?"
    );
    for names_a_file in ["extend = \"base.toml\"", "tools = \"tools.json\"", "target = \"./own.toml\""] {
        let message = error(settings().config(names_a_file));
        assert!(message.contains("files are not read"), "{names_a_file}: {message}");
    }
    assert!(!error(settings().target("\u{1b}[2J")).contains('\u{1b}'), "a terminal would obey it");
}

#[test]
fn options_take_precedence_over_the_configuration() -> Result<(), Error> {
    let config = "target = \"bedrock\"\nignore = [\"unanswered-tool-call\"]\n";
    let configured = Settings::new().config(config)?;
    assert_eq!(rules(&configured.linter(), UNANSWERED), [""; 0]);
    assert_eq!(configured.linter().lint(UNANSWERED).target.as_deref(), Some("bedrock"));
    let overridden = configured.extend_select(["unanswered-tool-call"])?.target("anthropic")?.linter();
    assert_eq!(rules(&overridden, UNANSWERED), ["unanswered-tool-call"]);
    assert_eq!(overridden.lint(UNANSWERED).target.as_deref(), Some("anthropic"));
    Ok(())
}

#[test]
fn settings_for_some_files_are_for_the_name() -> Result<(), Error> {
    let config = "[[files]]\npaths = [\"sessions/*.json\"]\nkind = \"session\"\n";
    let config = "[[allow]]\nrule = \"unanswered-tool-call\"\npath = \"old/*\"\nreason = \"known\"\n"
        .to_owned()
        + config;
    let settings = Settings::new().config(&config)?;
    assert_eq!(rules(&settings.linter(), UNANSWERED), ["unanswered-tool-call"]);
    let old = settings.name("old/body.json").linter();
    assert_eq!((rules(&old, UNANSWERED), old.lint(UNANSWERED).allowed), (vec![], 1));
    Ok(())
}

#[test]
fn a_recording_is_opened_and_never_changed() -> Result<(), Error> {
    let linter = Settings::new().linter();
    let file = linter.lint(RECORDING);
    assert_eq!(file.findings.len(), 1, "{:?}", file.findings);
    assert_eq!(file.findings[0].rule, "unanswered-tool-call");
    assert!(error(linter.fix(RECORDING, &FixOptions::new())).starts_with("recordings are not changed (HAR"));
    let no_cassette = Settings::new().format("har")?.linter().lint(UNANSWERED);
    assert_eq!(no_cassette.transcripts, 0);
    assert!(no_cassette.findings.iter().any(|finding| finding.message.contains("does not look like `har`")));
    Ok(())
}

#[test]
fn an_outline_marks_what_is_not_allowed() -> Result<(), Error> {
    let allow = "[[allow]]\nrule = \"unanswered-tool-call\"\nreason = \"known\"\n";
    let html = show::outputs::find("html").expect("the output exists");
    let drawn = |settings: Settings| {
        let outline = settings.linter().outline(UNANSWERED, &View::new());
        let mut text = Vec::new();
        (html.write)(&outline, &Style::new(), &mut text).expect("memory takes all");
        String::from_utf8(text).expect("it is text")
    };
    assert!(drawn(Settings::new()).contains("unanswered-tool-call"));
    assert!(!drawn(Settings::new().config(allow)?).contains("unanswered-tool-call"));
    Ok(())
}

#[test]
fn two_texts_are_compared() -> Result<(), Error> {
    let after =
        br#"{"messages": [{"role": "user", "content": "find Adam"}, {"role": "user", "content": "well?"}]}"#;
    let sides = || (Side::new("before.json", UNANSWERED), Side::new("after.json", *after));
    let (before, side) = sides();
    let comparison = Comparison::new(before, side, None)?;
    let lost = comparison.report().changes.len();
    assert!(lost > 0);
    let output = diff::find("concise").expect("the output exists");
    let mut text = Vec::new();
    comparison.write(output, &Style::new(), false, &mut text).expect("memory takes all");
    let text = String::from_utf8(text).expect("it is text");
    assert!(text.contains("before.json") || text.contains("after.json"), "{text}");
    let kinds: Vec<_> = comparison.report().changes.iter().map(|change| change.kind).collect();
    assert!(comparison.allow(&kinds).report().changes.is_empty());

    let nothing = Side::new("nothing.json", *b"{}").format_option("--after-format");
    let message = error(Comparison::new(sides().0, nothing, None));
    assert!(message.starts_with("nothing.json: "), "{message}");
    assert!(message.ends_with("; --after-format names one"), "{message}");
    let named = Side::new("nothing.json", *b"{}").format(FileFormat::named("anthropic")).format_option("x");
    assert!(!error(Comparison::new(sides().0, named, None)).contains("names one"));
    Ok(())
}

#[test]
fn an_error_is_explained_with_its_cause() {
    let error = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. \
        Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
    let explained = explain_error(error, Some(UNANSWERED));
    assert!(explained.is_explained());
    assert_eq!(explained.to_json()["findings"][0]["pointer"], "/messages/1/content/0");
    assert!(explain_error(error, None).is_explained());
    assert!(!explain_error("no such thing", Some(UNANSWERED)).is_explained());
    let clean = explain_error(error, Some(br#"{"messages": [{"role": "user", "content": "hello"}]}"#));
    assert!(!clean.is_explained());
    let linter = Settings::new().target("vertex-anthropic").expect("there is such a target").linter();
    for (linter, target) in [(Settings::new().linter(), "anthropic"), (linter, "vertex-anthropic")] {
        assert_eq!(linter.explain_error(error, None).to_json()["matches"][0]["target"], target);
    }
}

proptest! {
    /// Whatever the bytes are, nothing panics, and what a fix returns is linted as the fix says.
    #[test]
    fn any_bytes_are_read(start in 0..UNANSWERED.len(), length in 0..20_usize, bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        let mut body = UNANSWERED.to_vec();
        let end = (start + length).min(body.len());
        body.splice(start..end, bytes);
        let linter = Settings::new().linter();
        let report = linter.lint(&body);
        let findings = report.findings.len();
        let Ok(fixed) = linter.fix(&body, &FixOptions::new()) else {
            // What is read like a value that somebody printed is not rewritten, and has a finding that says so.
            prop_assert!(report.findings.iter().any(|finding| finding.rule == "malformed-json"));
            return Ok(());
        };
        prop_assert_eq!(fixed.before.findings.len(), findings);
        prop_assert_eq!(linter.lint(&fixed.bytes).findings.len(), fixed.report().findings.len());
        let _ = linter.outline(&body, &View::new());
        let _ = explain_error(&String::from_utf8_lossy(&body), Some(&body));
    }
}
