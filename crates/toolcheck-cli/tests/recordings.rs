//! Recordings of HTTP traffic, from the command line to every output.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::common::{folder, report, text, toolcheck_in, write};
use serde_json::Value as Json;

fn corpus(name: &str) -> String {
    text(&format!("fixtures/{name}"))
}

/// A folder with these files of the corpus.
fn with(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = folder(name);
    for (file, case) in files {
        write(&folder, file, corpus(case));
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    toolcheck_in(folder).args(arguments).output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_finding_is_at_its_line_in_the_cassette() {
    let folder = with("recording-place", &[("a.yaml", "vcr/unanswered.yaml")]);
    let report = report(&folder, &["a.yaml"]);
    let (file, finding) = (&report["files"][0], &report["findings"][0]);
    assert_eq!((&file["format"], &file["readings"][0]["format"]), (&"vcr".into(), &"openai-chat".into()));
    assert_eq!(
        (&file["transcripts"], &file["tool_calls"], &file["tool_results"]),
        (&2.into(), &2.into(), &1.into())
    );
    assert_eq!(finding["pointer"], "/messages/1/tool_calls/1");
    assert_eq!(finding["origin"]["label"], "interactions[1].request.body");
    assert_eq!(finding["origin"]["status"], 400);
    // The place is that of the call in the cassette, inside a quoted text over several lines.
    let text = corpus("vcr/unanswered.yaml");
    let bytes =
        finding["byte_start"].as_u64().unwrap() as usize..finding["byte_end"].as_u64().unwrap() as usize;
    assert!(text[bytes.clone()].starts_with("{\"id\": \"call_tide_2\""), "{}", &text[bytes]);
    let line = text.lines().nth(finding["line"].as_u64().unwrap() as usize - 1).unwrap();
    let rest: String = line.chars().skip(finding["column"].as_u64().unwrap() as usize - 1).collect();
    assert!(rest.starts_with("{\"id\": \"call_tide_2\""), "{rest}");
}

#[test]
fn every_output_names_the_body() {
    let folder = with("recording-outputs", &[("a.yaml", "vcr/unanswered.yaml")]);
    let name = "interactions[1].request.body /messages/1/tool_calls/1";
    for output in ["concise", "grouped", "agent", "github", "gitlab", "junit", "sarif", "jsonl"] {
        let (text, _) = texts(&run(&folder, &["lint", "a.yaml", "--output-format", output]));
        let is_named =
            text.contains(name) || output == "jsonl" && text.contains("interactions[1].request.body");
        assert!(is_named, "{output}: {text}");
    }
    let (full, _) = texts(&run(&folder, &["lint", "a.yaml"]));
    assert!(full.contains("call_tide_2") && full.contains("never answered"), "{full}");
}

#[test]
fn what_the_api_refused_for_no_known_reason_is_listed() {
    let folder = with("recording-refused", &[("a.yaml", "vcr/refused.yaml")]);
    let found = report(&folder, &["a.yaml"]);
    let refusal = &found["files"][0]["refusals"][0];
    assert_eq!((&refusal["status"], &refusal["line"]), (&400.into(), &3.into()));
    assert_eq!(refusal["message"], "The model `gpt-4o` does not speak Frisian.");
    let (_, notes) = texts(&run(&folder, &["lint", "a.yaml", "--verbose"]));
    let expected = "a.yaml:3:12 (interactions[0].request.body): the API refused this for a reason that no rule reports: 400: The model";
    assert!(notes.contains(expected), "{notes}");
    let (_, notes) = texts(&run(&folder, &["lint", "a.yaml"]));
    assert!(notes.contains("the API refused 1 request for a reason that no rule reports"), "{notes}");
    // A rule says why.
    let folder = with("recording-known", &[("a.yaml", "vcr/unanswered.yaml")]);
    assert_eq!(report(&folder, &["a.yaml"])["files"][0].get("refusals"), None);
}

#[test]
fn what_the_api_refused_is_explained_by_a_warning_that_is_about_it() {
    let folder = with("recording-warned", &[]);
    let refused = |message: &str| {
        let request = serde_json::json!({"model": "tram-mini", "messages": [
            {"role": "user", "content": "Which ferry goes to the harbour?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "ferries", "arguments": "{}"}}]},
            {"role": "user", "content": "Hello?"},
        ]});
        let response = serde_json::json!({"error": {"message": message, "type": "invalid_request_error"}});
        let url = "https://api.groq.com/openai/v1/chat/completions";
        let exchange =
            serde_json::json!({"url": url, "status": 400, "request": request, "response": response});
        std::fs::write(folder.join("a.jsonl"), format!("{exchange}\n")).unwrap();
        let found = report(&folder, &["a.jsonl"]);
        let finding = &found["findings"][0];
        assert_eq!(
            (&finding["rule"], &finding["level"]),
            (&"unanswered-tool-call".into(), &"warning".into())
        );
        found["files"][0].get("refusals").is_some()
    };
    assert!(!refused(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
    ));
    assert!(refused("The ferry does not run today."));
}

#[test]
fn what_the_api_accepted_is_a_warning_unless_a_target_is_named() {
    let folder = with("recording-accepted", &[("a.yaml", "vcr/accepted.yaml")]);
    let found = report(&folder, &["a.yaml"]);
    assert_eq!(found["findings"][0]["level"], "warning");
    assert!(found["findings"][0]["doubt"].as_str().unwrap().contains("accepted"));
    let found = report(&folder, &["a.yaml", "--target", "openai-chat"]);
    assert_eq!(found["findings"][0]["level"], "error");
}

#[test]
fn folders_are_searched_for_recordings_and_other_yaml_is_left_out() {
    let files = [
        ("a.yaml", "vcr/unanswered.yaml"),
        ("b.har", "har/browser.har"),
        ("c.httprr", "httprr/chunked.httprr"),
        ("d.yml", "vcr/models.yaml"),
    ];
    let folder = with("recording-folder", &files);
    write(&folder, "workflow.yaml", "on: push\njobs: {}\n");
    let (shown, _) = texts(&run(&folder, &["lint", "--show-files"]));
    assert_eq!(shown.lines().collect::<Vec<_>>(), ["a.yaml", "b.har", "c.httprr", "d.yml"]);
    let found = report(&folder, &["."]);
    let paths: Vec<&str> =
        found["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["a.yaml", "b.har", "c.httprr"]);
    let skipped = found["skipped"][0]["reason"].as_str().unwrap();
    assert_eq!(skipped, "no readable request to an LLM in this VCR cassette: 1 request without a body");
}

#[test]
fn markdown_is_read_where_it_is_named_and_not_looked_for_in_folders() {
    let broken = r#"{"messages": [{"role": "tool", "tool_call_id": "c1", "content": "low at six"}]}"#;
    let folder = folder("recording-markdown");
    for name in ["README.md", "notes.txt", "prompt.yaml"] {
        write(&folder, name, format!("# Notes\n\n```json\n{broken}\n```\n"));
    }
    write(&folder, "a.json", r#"{"messages": [{"role": "user", "content": "hello"}]}"#);
    let found = report(&folder, &["."]);
    let paths: Vec<&Json> = found["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!((paths, &found["summary"]["errors"]), (vec![&Json::from("a.json")], &Json::from(0)));
    let found = report(&folder, &["README.md"]);
    let rules: Vec<&Json> =
        found["findings"].as_array().unwrap().iter().map(|found| &found["rule"]).collect();
    assert_eq!(rules, ["malformed-json", "orphan-tool-result"]);
    // What holds no request says that it is Markdown.
    write(&folder, "README.md", "# Notes\n\n```sh\nnpm install\n```\n");
    let found = report(&folder, &["README.md"]);
    let (rule, message) = (&found["findings"][0]["rule"], found["findings"][0]["message"].as_str().unwrap());
    assert_eq!(rule, "unrecognised-format");
    assert!(message.contains("Markdown without a code block"), "{message}");
}

#[test]
fn a_recording_comes_from_the_standard_input_too() {
    let folder = folder("recording-stdin");
    let mut child = toolcheck_in(&folder)
        .args(["lint", "-", "--output-format", "concise"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(corpus("sse/arguments.sse").as_bytes()).unwrap();
    let (text, _) = texts(&child.wait_with_output().unwrap());
    assert!(text.contains("<stdin>:3:"), "{text}");
    assert!(text.contains("warning invalid-arguments-json"), "{text}");
}

#[test]
fn a_file_that_is_not_of_the_kind_that_is_named_is_an_error() {
    let files =
        [("a.har", "har/browser.har"), ("a.yaml", "vcr/unanswered.yaml"), ("a.json", "anthropic/crlf.json")];
    let folder = with("recording-other", &files);
    let cases = [
        ("vcr", "a.har", "it looks like `har`: use that, or leave out --format"),
        ("har", "a.yaml", "it looks like `vcr`: use that, or leave out --format"),
        ("go-vcr", "a.json", "it looks like `anthropic`: use that, or leave out --format"),
        ("inspect-eval", "a.json", "it looks like `anthropic`: use that, or leave out --format"),
        ("sse", "a.json", "it looks like `anthropic`: use that, or leave out --format"),
    ];
    for (format, file, help) in cases {
        let found = report(&folder, &[file, "--format", format]);
        let [finding] = &found["findings"].as_array().unwrap()[..] else { panic!("{found}") };
        assert_eq!(finding["rule"], "unrecognised-format");
        assert_eq!(finding["message"], format!("this does not look like `{format}`"));
        assert_eq!((&finding["help"], &finding["level"]), (&help.into(), &"error".into()));
        let (shown, _) = texts(&run(&folder, &["show", file, "--format", format]));
        assert!(shown.contains("1 error"), "{shown}");
    }
}

#[test]
fn a_request_to_an_llm_that_is_not_read_is_an_error_in_a_folder_too() {
    let files = [("a.yaml", "vcr/not-read.yaml"), ("b.yaml", "vcr/not-read-alone.yaml")];
    let folder = with("recording-not-read", &files);
    let found = report(&folder, &["."]);
    let findings: Vec<(&str, &str, &str)> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            let text = Json::as_str;
            let path = text(&finding["path"]).unwrap();
            (path, text(&finding["message"]).unwrap(), text(&finding["origin"]["label"]).unwrap())
        })
        .collect();
    assert_eq!(
        findings,
        [
            (
                "a.yaml",
                "this is a request of Cohere's v1 API, which toolcheck cannot read yet",
                "interactions[1].request.body"
            ),
            (
                "b.yaml",
                "2 requests to an LLM API are in an unsupported format",
                "interactions[0].request.body"
            ),
        ]
    );
    let (text, _) = texts(&run(&folder, &["lint", "a.yaml"]));
    assert!(text.contains("left out: requests to an LLM API that are not read (2)"), "{text}");
}

#[test]
fn a_kind_of_file_can_be_named() {
    let folder = with("recording-format", &[("a.txt", "vcr/unanswered.yaml")]);
    let found = report(&folder, &["a.txt", "--format", "vcr"]);
    assert_eq!(
        (&found["files"][0]["format"], found["findings"].as_array().unwrap().len()),
        (&"vcr".into(), 1)
    );
    let (listed, _) = texts(&run(&folder, &["formats"]));
    assert!(toolcheck_open::ALL.iter().all(|container| listed.contains(container.id)), "{listed}");
    let (settings, _) = texts(&run(&folder, &["lint", "a.txt", "--format", "go-vcr", "--show-settings"]));
    assert!(settings.contains("format = \"go-vcr\""), "{settings}");
}

#[test]
fn what_is_not_built_in_is_named() {
    if toolcheck_open::find("parquet").unwrap().is_built() {
        return;
    }
    let folder = with("recording-not-built", &[("a.har", "har/browser.har")]);
    // Larger than a document may be: it need not be read to be named.
    let mut table = b"PAR1".to_vec();
    table.resize(300_000, 0xff);
    std::fs::write(folder.join("rows.parquet"), &table).unwrap();
    let output = run(&folder, &["lint", "rows.parquet", "--max-document", "200000"]);
    let (text, errors) = texts(&output);
    assert_eq!((output.status.code(), &*errors), (Some(1), ""));
    for part in
        ["this build of toolcheck can't read Parquet", "nothing in here was checked", "duckdb", "1 error"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let (listed, _) = texts(&run(&folder, &["formats"]));
    assert!(listed.contains("Parquet file (not in this build)"), "{listed}");
    // In a folder such files are left out, as are others that are not read.
    let (shown, _) = texts(&run(&folder, &["lint", "--show-files"]));
    assert_eq!(shown.trim(), "a.har");
}

#[test]
fn tables_in_a_folder_are_not_left_out_in_silence() {
    let folder = with("recording-tables", &[("a.har", "har/browser.har")]);
    std::fs::write(folder.join("rows.arrow"), b"ARROW1\0\0\xff\xff\xff\xff").unwrap();
    std::fs::write(folder.join("stream.arrow"), b"\xff\xff\xff\xff\x10\x01\0\0").unwrap();
    std::fs::write(folder.join("sessions.db"), b"SQLite format 3\0\x10\0").unwrap();
    std::fs::write(folder.join("thumbs.db"), b"something else").unwrap();
    let note = "note: 3 files in Parquet, Arrow or SQLite were not read (--verbose lists them)\n";
    let (_, notes) = texts(&run(&folder, &["lint", "."]));
    assert!(notes.contains(note) && !notes.contains("without a transcript"), "{notes}");
    let (_, notes) = texts(&run(&folder, &["lint", ".", "--verbose"]));
    let skipped = "skipped: rows.arrow: this is an Arrow file, which this build of toolcheck can't read\n";
    assert!(notes.contains(skipped), "{notes}");
    assert_eq!(report(&folder, &["."])["skipped"].as_array().unwrap().len(), 3);
    let (text, _) = texts(&run(&folder, &["lint", "stream.arrow"]));
    assert!(text.contains("not a request, but an Arrow file") && text.contains("load_dataset"), "{text}");

    std::fs::remove_file(folder.join("a.har")).unwrap();
    let output = run(&folder, &["lint", "."]);
    let (_, errors) = texts(&output);
    let nothing = "`.` has no .json, .jsonl, .ndjson or .traj file and no recording; 3 files in Parquet, Arrow or SQLite were not read\n";
    assert!(output.status.code() == Some(2) && errors.contains(nothing), "{errors}");
    write(&folder, "toolcheck.toml", "include = [\"*.txt\"]\n");
    let (_, notes) = texts(&run(&folder, &["lint", "."]));
    assert!(!notes.contains("Arrow"), "{notes}");
}

#[test]
fn an_outline_has_the_lines_of_the_file() {
    let folder = with("recording-show", &[("a.yaml", "vcr/unanswered.yaml")]);
    let (shown, _) = texts(&run(&folder, &["show", "a.yaml"]));
    let text = corpus("vcr/unanswered.yaml");
    let lines: Vec<usize> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains("    body: '"))
        .map(|(at, _)| at + 1)
        .collect();
    for line in lines {
        assert!(shown.contains(&format!("line {line}")), "{shown}");
    }
}

#[test]
fn findings_of_a_recording_are_allowed_by_their_pointer() {
    let folder = with("recording-allow", &[("a.yaml", "vcr/unanswered.yaml")]);
    let entry = "[[allow]]\nrule = \"unanswered-tool-call\"\npath = \"a.yaml\"\npointer = \"/messages/1\"\nreason = \"a test\"\n";
    write(&folder, "toolcheck.toml", entry);
    let found = report(&folder, &["a.yaml"]);
    assert_eq!((found["findings"].as_array().unwrap().len(), &found["summary"]["allowed"]), (0, &1.into()));
}
