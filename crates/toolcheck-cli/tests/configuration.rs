//! The effects of a configuration on a run, as users see them.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::common::{CLEAN, assert_fits, folder, seen_in, text, toolcheck_in, unanswered, validator, write};

fn uncommented(template: &str) -> String {
    let is_setting = |line: &str| {
        let begins = line.split([' ', '.', '=']).next().unwrap_or_default();
        line.starts_with('[')
            || line.contains(" = ") && begins.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    };
    let on = template.lines().filter_map(|line| line.strip_prefix("# ").filter(|line| is_setting(line)));
    on.map(|line| format!("{line}\n")).collect()
}

#[test]
fn init_writes_all_options() {
    let folder = folder("init");
    insta::assert_snapshot!("init", seen_in(&folder, &["init"]));
    insta::assert_snapshot!("init-again", seen_in(&folder, &["init"]));
    assert!(toolcheck_in(&folder).args(["init", "--force"]).output().unwrap().status.success());
    let template = std::fs::read_to_string(folder.join("toolcheck.toml")).unwrap();
    // All options are commented out, so it changes nothing.
    assert!(template.lines().all(|line| line.is_empty() || line.starts_with('#')));
    assert!(template.lines().all(|line| line.chars().count() <= 100));
    // All options in it are valid, and no option is missing.
    let on = uncommented(&template);
    toolcheck_config::Config::parse(&on).unwrap_or_else(|error| panic!("{error}\n{on}"));
    let schema: Json = serde_json::from_str(&text("schemas/config.v1.schema.json")).unwrap();
    let mut keys: BTreeSet<&str> =
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    for table in ["FilesTable", "AllowTable", "PolicyTable", "RulesTable", "OversizedTable", "RepeatedTable"]
    {
        keys.extend(schema["$defs"][table]["properties"].as_object().unwrap().keys().map(String::as_str));
    }
    for key in keys {
        let is_named = [format!("{key} ="), format!("{key}."), format!("[{key}"), format!(".{key}]")]
            .iter()
            .any(|form| on.contains(form.as_str()));
        // `tools` is in the template as `extend-tools`, which is enough.
        assert!(is_named || key == "tools", "`{key}` is not in the template");
    }
    assert_fits(&validator("config"), &toml::from_str(&on).unwrap());
}

#[test]
fn the_schema_rejects_what_the_program_rejects() {
    let schema = validator("config");
    for invalid in [
        "ingore = []",
        "select = [\"blank-txt\"]",
        "levels.blank-text = \"off\"",
        "levels.blank-txt = \"error\"",
        "kind = \"log\"",
        "[[allow]]\nrule = \"blank-text\"",
        "[[files]]\nkind = \"session\"",
        "[rules.repeated-failing-call]\ntimes = \"three\"",
        "text-protocols = [\"xml\"]",
    ] {
        assert!(!schema.is_valid(&toml::from_str(invalid).unwrap()), "{invalid}");
        assert!(toolcheck_config::Config::parse(invalid).is_err(), "{invalid}");
    }
}

/// Whether a text contains control characters, or characters that change its direction or are invisible.
fn has_hidden(text: &str) -> bool {
    text.contains(|character: char| {
        character.is_control() && character != '\n' || "\u{202e}\u{200b}\u{e0041}".contains(character)
    })
}

#[test]
fn hostile_text_in_a_configuration_is_escaped() {
    let folder = folder("hostile-config");
    // Escape sequences, a change of direction, invisible characters, and a workflow command.
    let hostile = "a\\u001b[31m\\u009b\\u202e\\u200b\\U000e0041\\n::error::b";
    write(&folder, "a.json", unanswered("toolu_1"));
    write(&folder, "gateway.toml", format!("\"{hostile}\" = \"a secret\"\n"));
    let broken = [
        format!("\"{hostile}\" = 1"),
        format!("ignore = [\"{hostile}\"]"),
        format!("exclude = [\"[{hostile}\"]"),
        format!("extend = \"{hostile}\""),
        format!("target = \"{hostile}\""),
        format!("target = \"{hostile}.toml\""),
        format!("tools = \"{hostile}.json\""),
        format!("[[allow]]\nrule = \"blank-text\"\npointer = \"{hostile}\"\nreason = \"seen\""),
        format!("[[policy]]\nid = \"a\"\ntools = [\"[{hostile}\"]\nschema = {{}}"),
        format!("[[policy]]\nid = \"a\"\ntools = []\nschema.properties.\"{hostile}\".type = 1"),
        "target = \"gateway.toml\"".to_owned(),
    ];
    for text in &broken {
        write(&folder, "toolcheck.toml", text);
        // `show` prints the same error, and exits.
        let output = toolcheck_in(&folder).args(["show", "a.json"]).output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}\n{printed}");
        assert!(printed.starts_with("error: "), "{printed}");
        assert!(!has_hidden(&printed) && !printed.contains("\n::"), "{text}\n{printed:?}");
        assert!(!printed.contains("secret"), "{printed}");
    }
    let fine = format!(
        "[[allow]]\nrule = \"unanswered-tool-call\"\npath = \"a.json\"\nreason = \"{hostile}\"\n\
         [[policy]]\nid = \"{hostile}\"\ntools = [\"*\"]\nmessage = \"{hostile}\"\nschema = {{}}\n\
         [rules.completion-after-failure]\ntools = [\"{}\"]\n",
        hostile.replace('[', "")
    );
    write(&folder, "toolcheck.toml", fine);
    for arguments in [["lint", "--show-settings"], ["show", "a.json"]] {
        let seen = seen_in(&folder, &arguments);
        assert!(seen.starts_with("status: 0"), "{seen}");
        assert!(!has_hidden(&seen) && !seen.contains("\n::"), "{seen:?}");
    }
}

#[test]
fn endless_configurations_are_reported() {
    let folder = folder("endless-config");
    write(&folder, "a.json", CLEAN);
    for number in 0..50 {
        write(&folder, &format!("{number}.toml"), format!("extend = \"{}.toml\"", number + 1));
    }
    write(&folder, "toolcheck.toml", "extend = \"0.toml\"");
    let seen = seen_in(&folder, &["lint", "a.json"]);
    assert!(seen.starts_with("status: 2") && seen.contains("20 configurations extend each other"), "{seen}");
    #[cfg(unix)]
    for (key, name) in [("extend", "/dev/zero"), ("tools", "/dev/zero")] {
        write(&folder, "toolcheck.toml", format!("{key} = \"{name}\""));
        let seen = seen_in(&folder, &["lint", "a.json"]);
        assert!(seen.starts_with("status: 2") && seen.contains("it is a device, not a file"), "{seen}");
    }
}

/// Anybody may put settings into a folder that many share: only those of the user and of the folder's owner hold.
#[cfg(unix)]
#[test]
fn settings_of_another_user_are_named_and_not_used() {
    use std::os::unix::fs::chown;

    const NOBODY: u32 = 65534;
    let folder = folder("strange-settings");
    write(&folder, "own/a.json", unanswered("toolu_1"));
    write(&folder, "shared/.toolcheck.toml", "ignore = [\"unanswered-tool-call\"]\n");
    write(&folder, "shared/a.json", unanswered("toolu_2"));
    let lint = |arguments: &[&str]| {
        seen_in(&folder, &[&["lint", "--output-format", "concise", "shared/a.json"], arguments].concat())
    };
    assert!(lint(&[]).starts_with("status: 0"), "{}", lint(&[]));
    // Only root can give a file away.
    if chown(folder.join("shared/.toolcheck.toml"), Some(NOBODY), None).is_err() {
        return;
    }
    let note = "shared/.toolcheck.toml is not used, because it belongs to another user (uid 65534)";
    let seen = lint(&[]);
    assert!(seen.starts_with("status: 1") && seen.contains("toolu_2"), "{seen}");
    assert_eq!(seen.matches(note).count(), 1, "{seen}");
    // Who names it wants it.
    let named = lint(&["--config", "shared/.toolcheck.toml"]);
    assert!(named.starts_with("status: 0") && !named.contains(note), "{named}");
    assert!(!lint(&["--isolated"]).contains(note), "{}", lint(&["--isolated"]));
}
