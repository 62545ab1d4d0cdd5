//! The Python tools that do a part of the same job, with their versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A tool that toolcheck is compared with.
pub(super) struct Peer {
    /// Its name, which is also the name of its package.
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// A short description of what it checks.
    pub(super) looks_for: &'static str,
    pub(super) run: Run,
    /// Whether it expects a bare list of messages instead of a request body.
    pub(super) takes_list: bool,
}

/// How a peer is run.
pub(super) enum Run {
    /// A program with these arguments, in which `{tools}` is the path of a file with this text.
    Program { arguments: &'static [&'static str], tools: &'static str },
    /// A library: a Python script, which has the list of messages in `messages`.
    Library(&'static str),
}

pub(super) static ALL: &[Peer] = &[
    Peer {
        name: "toolcall-linter",
        version: "0.4.0",
        looks_for: "undeclared tools; arguments against their schemas",
        run: Run::Program {
            arguments: &["--tools", "{tools}"],
            tools: r#"[{"name": "look_up_reservation", "parameters": {"type": "object", "properties":
                {"reservation": {"type": "string"}, "note": {"type": "string"}}, "required": ["reservation"]}}]"#,
        },
        takes_list: true,
    },
    Peer {
        name: "tracelint",
        version: "0.14.0",
        looks_for: "arguments, loops and failures in a trace, but not whether calls have results",
        run: Run::Program {
            arguments: &["check", "--format", "openai", "--tools", "{tools}"],
            tools: r#"{"tools": {"look_up_reservation": {"schema": {"type": "object", "properties":
                {"reservation": {"type": "string"}, "note": {"type": "string"}}, "required": ["reservation"]}}}}"#,
        },
        takes_list: false,
    },
    Peer {
        name: "turnsafe",
        version: "0.1.0",
        looks_for: "whether calls have results, for two providers",
        run: Run::Library("import turnsafe\nturnsafe.validate(messages, provider='openai')"),
        takes_list: true,
    },
    Peer {
        name: "mistral-common",
        version: "1.13.1",
        looks_for: "what Mistral's API accepts",
        run: Run::Library(
            "from mistral_common.protocol.instruct.messages import *\n\
             from mistral_common.protocol.instruct.validator import MistralRequestValidatorV13 as Validator\n\
             kinds = {'system': SystemMessage, 'user': UserMessage, 'assistant': AssistantMessage, 'tool': ToolMessage}\n\
             Validator().validate_messages([kinds[m['role']](**m) for m in messages])",
        ),
        takes_list: true,
    },
];

/// Installs the peers into a virtual environment in `folder`, unless it exists, and returns the folder of its programs.
pub(super) fn install(folder: &Path) -> Result<PathBuf> {
    let environment = folder.join("peers");
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let packages = ALL.iter().map(|peer| format!("{}=={}", peer.name, peer.version));
    let done = environment.join("installed");
    let wanted = packages.clone().collect::<Vec<_>>().join(" ");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(programs);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&environment).status();
    ensure!(made.context("python3")?.success(), "cannot create a virtual environment");
    let installed = Command::new(programs.join("python"))
        .args(["-m", "pip", "install", "--quiet"])
        .args(packages)
        .status();
    ensure!(installed.context("pip")?.success(), "cannot install the peers");
    fs::write(done, wanted)?;
    Ok(programs)
}

/// The program and arguments to check a file with a peer.
pub(super) fn command(peer: &Peer, programs: &Path, file: &Path) -> Result<(PathBuf, Vec<String>)> {
    let file = file.display().to_string();
    Ok(match &peer.run {
        Run::Program { arguments, tools } => {
            let path = programs.join(format!("{}-tools.json", peer.name));
            fs::write(&path, tools)?;
            let arguments = arguments.iter().map(|one| one.replace("{tools}", &path.display().to_string()));
            (programs.join(peer.name), arguments.chain([file]).collect())
        }
        Run::Library(script) => {
            let script = format!("import json, sys\nmessages = json.load(open(sys.argv[1]))\n{script}\n");
            (programs.join("python"), vec!["-c".to_owned(), script, file])
        }
    })
}
