//! The tables of formats, protocols and targets against their directories.

use std::path::Path;

use toolcheck_core::models::{facts_of, own_name};
use toolcheck_core::targets::{self, Evidence, Target};
use toolcheck_core::{Level, RuleId, formats, framework, protocols, readers};

use crate::testing::ids_in;

pub(crate) fn file_of(id: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("targets");
    std::fs::read_to_string(folder.join(format!("{id}.toml"))).unwrap()
}

#[test]
fn formats_equal_their_directory() {
    let ids: Vec<&str> = formats::ALL.iter().map(|format| format.id).collect();
    assert_eq!(ids, ids_in("src/formats", "rs"));
}

/// Whatever was linted before, in the same run.
#[test]
fn a_target_has_the_same_shapes_before_and_after_its_file_is_read() {
    for target in targets::all() {
        for format in formats::ALL.iter().map(|format| format.key()) {
            let is_there = target.has_shape_for(format);
            let is_read = target.shape_for(format).is_some();
            assert_eq!(
                (is_there, is_read),
                (is_read, target.has_shape_for(format)),
                "{} {format:?}",
                target.id
            );
        }
    }
}

/// The list needs no number in prose, but must be whole.
#[test]
fn the_readme_names_every_format() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let list = readme.lines().find_map(|line| line.split_once("in these wire formats: ")).unwrap().1;
    let mut named: Vec<&str> =
        list.trim_end_matches('.').split(", ").map(|id| id.trim_matches('`')).collect();
    named.sort();
    assert_eq!(named, formats::ALL.iter().map(|format| format.id).collect::<Vec<_>>());
}

#[test]
fn every_format_has_a_shape_a_row_and_its_conversations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/detection.md")).unwrap();
    let shapes = ids_in("shapes", "toml");
    let mut same: Vec<_> = std::fs::read_dir(root.join("fixtures/same")).unwrap().flatten().collect();
    // Not every format can express these.
    same.retain(|group| group.file_name() != "picture" && group.file_name() != "server-tool");
    for id in formats::ALL.iter().map(|format| format.id) {
        assert!(shapes.iter().any(|shape| shape == id), "`shapes` has no description of {id}");
        assert!(page.contains(&format!("\n| `{id}` |")), "docs/detection.md does not list {id}");
        for group in &same {
            let file = group.path().join(format!("{id}.json"));
            assert!(file.exists(), "there is no {}", file.display());
        }
    }
}

#[test]
fn protocols_equal_their_directory() {
    let ids: Vec<&str> = protocols::ALL.iter().map(|protocol| protocol.id).collect();
    assert_eq!(ids, ids_in("src/protocols", "rs"));
}

#[test]
fn targets_equal_their_directory() {
    let ids: Vec<&str> = targets::ids().collect();
    assert_eq!(ids, ids_in("targets", "toml"));
    for target in targets::all() {
        assert!(targets::find(&target.id).is_some(), "{}: its id is its file's name", target.id);
        if let Some(format) = &target.format {
            assert!(formats::find(format).is_some(), "{}: {format}", target.id);
        }
    }
}

#[test]
fn every_format_has_its_own_target() {
    for format in formats::ALL {
        assert_eq!(targets::find(format.id).unwrap().format.as_deref(), Some(format.id));
    }
}

#[test]
fn an_alias_stands_for_one_id_and_is_none_itself() {
    let names: Vec<&str> = targets::names().collect();
    for (number, name) in names.iter().enumerate() {
        assert!(!names[..number].contains(name), "`{name}` names two targets");
    }
    for (alias, id) in [("openai", "openai-chat"), ("claude", "anthropic"), ("z.ai", "zai")] {
        assert_eq!(targets::named(alias).unwrap().id, id.into());
        assert!(targets::find(alias).is_none(), "`{alias}` is not an id");
    }
    assert_eq!(&*targets::named("bedrock").unwrap().id, "bedrock");
    assert!(targets::named("nobody").is_none());
    let names: Vec<&str> = formats::names().collect();
    for (number, name) in names.iter().enumerate() {
        assert!(!names[..number].contains(name), "`{name}` names two formats");
    }
    assert_eq!(formats::named("bedrock").unwrap().id, "bedrock-converse");
    assert_eq!(formats::named("openai").unwrap().id, "openai-chat");
    // One name must not mean two things: a format by its id or alias, and a target of another format.
    for name in names {
        let (format, target) = (formats::named(name).unwrap(), targets::named(name));
        let speaks = target.and_then(|target| target.format.as_deref());
        assert!(speaks.is_none_or(|speaks| speaks == format.id), "`{name}`: {speaks:?}");
    }
}

/// What is known of single rules has its sources and its day by the schema.
#[test]
fn every_form_of_errors_has_a_source_and_a_day() {
    for target in targets::all() {
        if let Some(error) = &target.error {
            assert!(error.sources.iter().all(|source| source.starts_with("https://")), "{}", target.id);
            assert!(error.seen.starts_with("20") && !error.sources.is_empty(), "{}", target.id);
        }
    }
}

#[test]
fn every_error_of_a_framework_has_a_source_and_a_day() {
    let ids: Vec<&str> = framework::all().map(|framework| framework.id.as_str()).collect();
    assert!(ids.is_sorted() && ids.len() > 1, "{ids:?}");
    for framework in framework::all() {
        let id = &framework.id;
        assert!(targets::named(id).is_none(), "`{id}` is a target too");
        assert!(!framework.errors.is_empty(), "{id}");
        for error in &framework.errors {
            assert!(error.text.is_some() && error.status.is_none(), "{id}: {}", error.rule);
            assert!(error.seen.starts_with("20"), "{id}: {}", error.rule);
            assert!(!error.sources.is_empty(), "{id}: {}", error.rule);
            assert!(
                error.sources.iter().all(|source| source.starts_with("https://")),
                "{id}: {}",
                error.rule
            );
        }
    }
}

/// The text of an error is found again in what is written around it, and nothing of a template is left.
#[test]
fn errors_are_written_and_read() {
    let text = "messages: the \"text\" of {index}";
    for target in targets::all() {
        // Those that stand for several APIs, or for none that is asked over HTTP, have none.
        let Some(error) = &target.error else { continue };
        for status in [400, 429, 500] {
            let written = error.write(status, text, "req_1", "/messages/0");
            let body = written.body.to_string();
            let document = toolcheck_json::Document::read(body.as_bytes());
            let read = toolcheck_core::response::error_text(document.root());
            assert_eq!(read.as_deref(), Some(text), "{}: {body}", target.id);
            let left = ["{text}", "{kind}", "{status}", "{request-id}"];
            let parts = written.headers.iter().map(|(_, value)| &**value).chain([&*body]);
            assert!(
                parts.clone().all(|part| !left.iter().any(|mark| part.contains(mark))),
                "{}: {body}",
                target.id
            );
        }
    }
    let with_none: Vec<&str> =
        targets::all().filter(|target| target.error.is_none()).map(|target| &*target.id).collect();
    assert_eq!(with_none, ["portable"]);
}

/// The tables of `[shape]` in the files of all targets, each with the target's id.
fn shape_entries() -> Vec<(&'static str, serde_json::Value)> {
    let of_target = |id: &'static str| {
        let file: serde_json::Value = toml::from_str(&file_of(id)).unwrap();
        let lists = ["text", "fact", "accepted"].map(|list| file["shape"][list].clone());
        let entries = lists.into_iter().flat_map(|list| list.as_array().cloned().unwrap_or_default());
        entries.map(move |entry| (id, entry)).collect::<Vec<_>>()
    };
    targets::ids().flat_map(of_target).collect()
}

#[test]
fn nothing_is_said_of_shapes_without_a_source() {
    for (id, entry) in shape_entries() {
        let sources = entry["sources"].as_array().map_or(&[][..], Vec::as_slice);
        assert!(!sources.is_empty(), "{id}: {entry} has no source");
        for source in sources {
            assert!(source.as_str().unwrap().starts_with("https://"), "{id}: {source}");
        }
        assert!(entry["seen"].as_str().unwrap().starts_with("20"), "{id}: {entry}");
    }
}

/// What an id, a name or a role looks like is known from what is answered to others: an entry with its source.
#[test]
fn every_shape_has_an_entry_with_its_evidence() {
    for target in targets::all() {
        let (ids, names, content) = (&target.ids, &target.names, &target.content);
        let shapes = [
            ("malformed-tool-call-id", ids.pattern.is_some() || ids.max_length.is_some()),
            ("malformed-server-call-id", ids.server_pattern.is_some()),
            ("malformed-item-id", ids.item_pattern.is_some() || ids.item_max_length.is_some()),
            ("malformed-item-id", !ids.item_prefixes.is_empty()),
            ("invalid-tool-name", names.pattern.is_some() || names.max_length.is_some()),
            ("duplicate-tool-call-id", ids.must_be_unique.is_some()),
            ("orphan-tool-result", target.results.accepts_unknown_ids.is_some()),
            ("unknown-role", target.roles.allowed.is_some()),
            ("too-many-tools", target.tools.max.is_some()),
            ("oversized-content", content.max_length.is_some()),
            ("invalid-cache-mark", content.max_cache_marks.is_some()),
        ];
        for (rule, is_used) in shapes {
            let refused = target.refusals().iter().any(|entry| entry.rule == rule && !entry.legacy);
            let is_known = refused || target.tolerances().iter().any(|entry| entry.rule == rule);
            assert!(!is_used || is_known, "{}: nothing says how {rule} is known", target.id);
        }
    }
}

/// It is printed behind "only a warning:".
#[test]
fn doubts_are_clauses() {
    for target in targets::all() {
        for doubt in target.refusals().iter().filter_map(|entry| entry.doubt.as_deref()) {
            assert_is_clause(&target.id, doubt);
        }
    }
    for (id, entry) in shape_entries() {
        if let Some(doubt) = entry["doubt"].as_str() {
            assert_is_clause(id, doubt);
        }
    }
}

fn assert_is_clause(id: &str, doubt: &str) {
    assert!(!doubt.ends_with('.') && !doubt.contains(". "), "{id}: {doubt}");
    assert!(!doubt.starts_with("The ") && !doubt.starts_with("It "), "{id}: {doubt}");
}

/// What another vendor's server does with the same keys is a guess.
#[test]
fn what_was_seen_elsewhere_only_warns() {
    let body = r#"{"model": "m", "messages": [{"role": "user", "content": "a", "name": "b"}]}"#;
    let document = toolcheck_json::Document::read(body.as_bytes());
    let grounds = |text: &str| {
        let target = Target::parse(text).unwrap();
        let shape = target.shape().unwrap();
        let faults = shape.check_request(&shape.facts_for(None), document.root(), true);
        let refused: Vec<_> = faults.iter().filter(|fault| fault.is_refused(shape, None)).collect();
        assert_eq!(refused.len(), 1);
        refused[0].answer(shape, &document, None).grounds
    };
    let variant = "id = \"clone\"\nname = \"Clone\"\nextends = \"mistral\"\n";
    assert_eq!(grounds(variant).level(), Level::Error);
    let clone = grounds(&format!("{variant}is-compatible-only = true\n"));
    assert_eq!(clone.level(), Level::Warning);
    assert_eq!(clone.caution(), Some("seen for Mistral API, but not for Clone"));
}

/// A deployment may be called like a model and be of another one.
#[test]
fn what_was_seen_of_a_model_only_warns_of_a_deployment() {
    let of = |body: &str, target: &str| {
        let document = toolcheck_json::Document::read(body.as_bytes());
        let shape = targets::find(target).unwrap().shape().unwrap();
        let facts = shape.facts_for(Some("gpt-5"));
        let faults = shape.check_request(&facts, document.root(), true);
        assert_eq!(faults.len(), 1, "{body}");
        faults[0].answer(shape, &document, Some("gpt-5")).grounds.level()
    };
    let of_a_model =
        r#"{"model": "gpt-5", "messages": [{"role": "user", "content": "a"}], "temperature": 0.5}"#;
    assert_eq!(of(of_a_model, "openai-chat"), Level::Error);
    assert_eq!(of(of_a_model, "azure-openai"), Level::Warning);
    let of_all = r#"{"model": "gpt-5", "messages": [{"role": "user", "content": null}]}"#;
    assert_eq!(of(of_all, "azure-openai"), Level::Error);
}

/// Nobody asks further about what the API is known to accept, and a key that was meant is still found.
#[test]
fn a_lack_that_is_known_to_be_accepted_is_no_fault() {
    let count = |tool: &str| {
        let body = format!(r#"{{"model": "gpt-4.1", "input": "a", "tools": [{tool}]}}"#);
        let document = toolcheck_json::Document::read(body.as_bytes());
        let shape = targets::find("openai-responses").unwrap().shape().unwrap();
        let faults = shape.check_request(&shape.facts_for(None), document.root(), true);
        let refused = faults.iter().filter(|fault| fault.is_refused(shape, None));
        (faults.len(), refused.count())
    };
    assert_eq!(count(r#"{"type": "function", "name": "hours"}"#), (0, 0));
    assert_eq!(count(r#"{"type": "function"}"#).1, 1);
}

/// Python writes 1.0 where the documents say 1.
#[test]
fn a_number_may_be_written_in_another_way() {
    let count = |temperature: &str| {
        let body = format!(
            r#"{{"model": "o3", "messages": [{{"role": "user", "content": "a"}}], "temperature": {temperature}}}"#
        );
        let document = toolcheck_json::Document::read(body.as_bytes());
        let shape = targets::find("openai-chat").unwrap().shape().unwrap();
        shape.check_request(&shape.facts_for(Some("o3")), document.root(), true).len()
    };
    for same in ["1", "1.0", "1e0", "null"] {
        assert_eq!(count(same), 0, "{same}");
    }
    for other in ["0", "0.1", "1.01"] {
        assert_eq!(count(other), 1, "{other}");
    }
}

#[test]
fn only_evidence_makes_an_error() {
    for refusal in targets::all().flat_map(Target::refusals) {
        let is_sure = refusal.evidence != Evidence::Inferred && refusal.doubt.is_none();
        assert_eq!(refusal.level() == Level::Error, is_sure);
    }
}

/// What another member doubts, or says of a narrower case, takes nothing from it.
#[test]
fn a_union_refuses_what_a_member_refuses() {
    let is_error = |target: &Target, refusal: &targets::Refusal| {
        let verdict = target.verdict(refusal.rule, refusal.case.as_deref(), None, None);
        matches!(verdict, targets::Verdict::Refused(refusal) if refusal.level() == Level::Error)
    };
    let union = targets::find("portable").unwrap();
    let members = union.union.iter().map(|id| targets::find(id).unwrap());
    let refused: Vec<_> = members
        .flat_map(|member| member.refusals().iter().filter(move |refusal| is_error(member, refusal)))
        .collect();
    assert!(refused.len() > 100, "{}", refused.len());
    for refusal in refused {
        assert!(is_error(union, refusal), "{} {:?}", refusal.rule, refusal.case);
    }
}

#[test]
fn a_target_of_ones_own() {
    let text = include_str!("own_target.toml");
    let target = Target::parse(text).unwrap();
    assert_eq!((target.format.as_deref(), target.ids.max_length), (Some("openai-chat"), Some(12)));
    let verdict = target.verdict(RuleId::MalformedToolCallId, Some("length"), None, None);
    let targets::Verdict::Refused(refusal) = verdict else { panic!("{verdict:?}") };
    let filled = refusal.fill(&[("id", "x{max}".to_owned()), ("max", "12".to_owned())]);
    assert_eq!(filled.as_deref(), Some("id x{max} is longer than 12"));
    // What it does not say, its parent says.
    assert!(matches!(
        target.verdict(RuleId::UnansweredToolCall, None, None, None),
        targets::Verdict::Refused(_)
    ));
}

#[test]
fn facts_are_inherited_one_by_one() {
    let text = include_str!("own_facts.toml");
    let (target, parent) = (Target::parse(text).unwrap(), targets::find("openai-responses").unwrap());
    assert_eq!((&*target.id, &target.format), ("gateway", &parent.format));
    assert_eq!((target.ids.item_max_length, target.ids.max_length), (Some(12), parent.ids.max_length));
    // A table below a table, and a list as a whole.
    let prefixes = |target: &Target, kind: &str| target.ids.item_prefixes.get(kind).cloned();
    assert_eq!(prefixes(&target, "message").as_deref(), Some("own"));
    assert_eq!(prefixes(&target, "reasoning"), prefixes(parent, "reasoning"));
    assert!(prefixes(&target, "reasoning").is_some());
    assert_eq!(target.tools.strict_refused_keywords, ["contains"]);
    assert_eq!(target.roles.allowed, parent.roles.allowed);
    // What only describes the other target is not taken over.
    assert!(parent.notes.is_some() && target.notes.is_none() && target.aliases.is_empty());
    // The parent's own parent counts too.
    let text = "id = \"clone\"\nname = \"Clone\"\nextends = \"mistral-v13\"\n";
    let (target, oldest) = (Target::parse(text).unwrap(), targets::find("mistral").unwrap());
    assert!(oldest.format.is_some() && target.format == oldest.format);
}

#[test]
fn a_mistake_in_a_target_is_told_with_its_place() {
    let error = Target::parse("id = \"x\"\nname = \"x\"\nrefusals = []\n").unwrap_err().to_string();
    assert!(error.starts_with("line 3, column 1: ") && error.contains("refusals"), "{error}");
    // What somebody names may be no target but a secret, and logs are public.
    let error = Target::parse("id = \"x\"\npassword = \"tides\"\n").unwrap_err().to_string();
    assert!(error.contains("line 2") && !error.contains("tides"), "{error}");
    let error = Target::parse("id = \"x\"\nname = \"x\"\nextends = \"nobody\"\n").unwrap_err().to_string();
    assert!(error.contains("nobody") && error.contains("anthropic"), "{error}");
    assert!(Target::parse("id = \"x\"\nname = \"x\"\n[ids]\npattern = '['\n").is_err());
}

#[test]
fn every_target_fits_the_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schema = std::fs::read(root.join("../../schemas/target.v1.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    for id in targets::ids() {
        let value: serde_json::Value = toml::from_str(&file_of(id)).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{error} at {}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{id}: {errors:#?}");
    }
    assert!(!validator.is_valid(&serde_json::json!({"id": "x", "name": "x", "refusals": []})));
}

/// The expressions of targets that are compiled in are only compiled when they are asked.
#[test]
fn what_is_said_of_a_model_has_a_source_and_is_said_once() {
    let mut said = std::collections::BTreeSet::new();
    for (provider, facts) in facts_of(None) {
        assert!(facts.sources.iter().any(|source| source.starts_with("https://")), "{facts:?}");
        let is_day = |day: &String| day.len() == 10 && day.starts_with("20") && day.matches('-').count() == 2;
        assert!(facts.shutdown.iter().all(is_day) && facts.evidence != Evidence::Inferred, "{facts:?}");
        // An entry may say some of it, by its own sources.
        let told = [facts.shutdown.is_some(), facts.max_output.is_some(), facts.reads_images.is_some()];
        for (key, _) in told.iter().enumerate().filter(|(_, is_told)| **is_told) {
            assert!(facts.ids.iter().all(|id| said.insert((provider, id, key))), "{provider}: {facts:?}");
        }
    }
    let providers = |model| facts_of(Some(model)).map(|(provider, _)| provider).collect::<Vec<_>>();
    assert_eq!(providers("openai/gpt-4.5-preview"), ["openai"]);
    assert_eq!(providers("us.amazon.nova-pro-v1:0"), ["bedrock"]);
    assert_eq!(providers("not-gpt-4.5-preview"), [""; 0]);
}

#[test]
fn names_of_routers_and_clouds_are_read() {
    for (given, own) in [
        ("openrouter/openai/gpt-5:free", "gpt-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("anthropic/claude-4.5-sonnet-20250929", "claude-sonnet-4-5-20250929"),
        ("claude-3.7-sonnet", "claude-3-7-sonnet"),
        ("claude-opus-4-7[1m]", "claude-opus-4-7"),
        ("vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"),
        ("publishers/anthropic/models/claude-opus-4-7@default", "claude-opus-4-7"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("ft:gpt-4o-mini-2024-07-18:tides::id", "gpt-4o-mini-2024-07-18"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("gpt-4.1", "gpt-4.1"),
    ] {
        assert_eq!(own_name(given), own, "{given}");
    }
}

#[test]
fn every_expression_is_one() {
    for id in targets::ids() {
        let parsed = Target::parse(&file_of(id));
        assert!(parsed.is_ok(), "{id}: {}", parsed.unwrap_err());
    }
}

#[test]
fn readers_equal_their_directory() {
    let ids: Vec<&str> = readers::ALL.iter().map(|reader| reader.id).collect();
    let mut files = ids_in("src/readers", "rs");
    files.retain(|stem| stem != "common" && stem != "protocols");
    files.extend(ids_in("events", "toml"));
    files.sort();
    assert_eq!(ids, files);
    assert!(ids.iter().all(|id| formats::named(id).is_none()), "an id names one thing");
}

#[test]
fn every_reader_has_a_page() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/inputs");
    let list = std::fs::read_to_string(docs.join("README.md")).unwrap();
    for reader in readers::ALL {
        let page = std::fs::read_to_string(docs.join(format!("{}.md", reader.id))).unwrap();
        assert!(page.starts_with("# "), "{}", reader.id);
        assert!(list.contains(&format!("[`{0}`]({0}.md)", reader.id)), "{} is not in the list", reader.id);
    }
}
