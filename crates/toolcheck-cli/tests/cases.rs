//! Runs the cases in `tests/cases`: command lines with their files, and exactly what they print and write.
//!
//! A file has cases as `cram` has them: after a heading, lines that are indented by two spaces are commands, the files
//! that they write and what they print, and all others are prose:
//!
//! ```text
//! # a call without a result
//!
//!   $ write a.json
//!   > {"messages": []}
//!   $ toolcheck lint a.json
//!   printed to the standard output
//!   ! printed to the standard error
//!   * changed.json
//!   [1]
//! ```
//!
//! The last lines are the files that are new, gone or not what they were, and the exit status if it is not 0.
//! `Run::command` lists the commands, and `filter` the filters for long outputs. `[folder]` is the folder of the case,
//! which is empty when it begins, and `[root]` the repository; `start`, `upstream`, `let` and the filter `keep` give names to
//! more. Control characters are shown by their pictures, such as `␛`, and an empty line by `␊`. `TOOLCHECK_CASES=NAME` runs
//! only the files whose path contains the name, and `TOOLCHECK_BLESS=1` writes what was printed.

mod editor;
mod servers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use editor::Editor;
use serde_json::Value as Json;
use servers::Server;

use crate::common::{assert_fits, folder, gzip, root, toolcheck_in, validator, with_input, write};

#[test]
fn every_case_prints_what_it_says() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let folders = [
        ("", true),
        ("unix", cfg!(unix)),
        ("lsp", cfg!(feature = "lsp")),
        ("serve", cfg!(feature = "serve")),
        ("clients", cfg!(all(unix, feature = "serve"))),
    ];
    let mut paths = Vec::new();
    for (name, _) in folders.iter().filter(|(_, holds)| *holds) {
        let entries = fs::read_dir(here.join(name)).unwrap().map(|entry| entry.unwrap().path());
        paths.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "case")));
    }
    let wanted = std::env::var("TOOLCHECK_CASES").unwrap_or_default();
    paths.retain(|path| path.to_str().unwrap().contains(&wanted));
    assert!(!paths.is_empty(), "no file has `{wanted}` in its path");
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = failure(path);
                    failures.lock().unwrap().extend(found);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}\nTOOLCHECK_BLESS=1 writes what was printed", failures.join("\n"));
}

/// Where a file of cases does not say what is printed. A blessed file has no failure.
fn failure(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).unwrap();
    let name =
        path.with_extension("").to_str().unwrap().rsplit_once("cases").unwrap().1.replace(['/', '\\'], "-");
    let printed: String =
        cases(&text).into_iter().map(|case| Run::of(&format!("cases{name}")).case(case)).collect();
    // The places of Windows have other separators.
    let plain = |text: &str| if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
    if plain(&printed) == plain(&text) {
        return None;
    }
    if std::env::var_os("TOOLCHECK_BLESS").is_some() {
        fs::write(path, printed).unwrap();
        return None;
    }
    let same = text.lines().zip(printed.lines()).take_while(|(old, new)| old == new).count();
    let part =
        |text: &str| text.lines().skip(same).take(20).map(|line| format!("{line}\n")).collect::<String>();
    let (said, is) = (part(&text), part(&printed));
    Some(format!("{}:{}: the case says\n{said}but it is\n{is}", path.display(), same + 1))
}

/// The cases of a file, each from its heading on.
fn cases(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("\n# ").map(|(at, _)| at + 1).collect();
    starts.insert(0, 0);
    starts.push(text.len());
    starts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect()
}

/// The control characters that are shown by pictures: all but tabs and line ends.
fn picture(character: char) -> char {
    match character {
        '\t' | '\n' => character,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap(),
        '\u{7f}' => '\u{2421}',
        _ => character,
    }
}

fn pictured(character: char) -> char {
    match character {
        '\u{2400}'..='\u{241f}' => char::from_u32(u32::from(character) - 0x2400).unwrap(),
        '\u{2421}' => '\u{7f}',
        _ => character,
    }
}

/// The words of a command line, which may be in quotes of either kind.
pub(crate) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in line.chars().map(pictured) {
        match (character, quote) {
            ('\'' | '"', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (_, Some(end)) if character == end => quote = None,
            (' ', None) => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// What a command printed, as a case shows it.
#[derive(Default)]
struct Printed {
    out: String,
    err: String,
    status: i32,
    /// The files of the case that are no longer what they were.
    changed: Vec<String>,
}

impl Printed {
    fn out(out: impl AsRef<[u8]>) -> Self {
        Self { out: String::from_utf8(out.as_ref().to_vec()).unwrap(), ..Self::default() }
    }

    /// The lines of both streams, in which a `!` marks those of the standard error.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (stream, mark) in [(&self.out, ""), (&self.err, "! ")] {
            lines.extend(stream.split_terminator('\n').map(|line| format!("{mark}{line}")));
            if !stream.is_empty() && !stream.ends_with('\n') {
                lines.push(format!("{mark}(no line end)"));
            }
        }
        lines
    }

    /// The JSON that was printed, as a whole or in lines, which may be those of a stream.
    fn values(&self) -> Vec<Json> {
        if let Ok(json) = serde_json::from_str(&self.out) {
            return vec![json];
        }
        let lines = self.out.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let values: Vec<Json> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
        assert!(!values.is_empty(), "this is not JSON: {}", self.out);
        values
    }
}

/// The files below a folder.
type Files = BTreeMap<String, Vec<u8>>;

struct Run {
    folder: PathBuf,
    /// Where its commands run.
    current: PathBuf,
    /// What stands for a name in brackets, and whether the name is shown in its place. What contains another comes first.
    names: Vec<(String, String, bool)>,
    /// The servers by their names, each with the files that were there when it was started.
    servers: BTreeMap<String, (Server, Files)>,
    upstreams: BTreeMap<String, JoinHandle<String>>,
    editor: Option<Editor>,
}

impl Run {
    fn of(name: &str) -> Self {
        let folder = folder(name);
        let own = |name: &str, path: &Path| (name.to_owned(), path.to_str().unwrap().to_owned(), true);
        let path = folder.display().to_string().replace('\\', "/");
        let uri = format!("file://{}{path}", if path.starts_with('/') { "" } else { "/" });
        let names = vec![("uri".to_owned(), uri, true), own("folder", &folder), own("root", &root())];
        let (servers, upstreams, editor) = (BTreeMap::new(), BTreeMap::new(), None);
        Self { current: folder.clone(), folder, names, servers, upstreams, editor }
    }

    fn name(&mut self, name: &str, value: &str, is_shown: bool) {
        self.names.retain(|(own, ..)| own != name);
        self.names.push((name.to_owned(), value.to_owned(), is_shown));
    }

    fn name_server(&mut self, name: &str, url: &str) {
        self.name(name, url, true);
        self.name(&format!("{name}.port"), url.rsplit(':').next().unwrap(), false);
    }

    /// A text with what its names stand for.
    fn filled(&self, text: &str) -> String {
        let names = self.names.iter().map(|(name, value, _)| (format!("[{name}]"), value));
        names.fold(text.to_owned(), |text, (name, value)| text.replace(&name, value))
    }

    /// The text of a case with what its commands print now.
    fn case(&mut self, text: &str) -> String {
        let mut written = String::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            written.push_str(&format!("{line}\n"));
            let Some(command) = line.strip_prefix("  $ ") else { continue };
            let mut input = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with("  >")) {
                written.push_str(&format!("{line}\n"));
                input.extend(line[3..].strip_prefix(' ').unwrap_or(&line[3..]).chars().map(pictured));
                input.push('\n');
            }
            while lines.next_if(|line| line.starts_with("  ") && !line.starts_with("  $ ")).is_some() {}
            let printed = self.piped(command, &input);
            for line in printed.lines() {
                let shown = self.shown(&line);
                // What would be a command or its input, and spaces that nobody sees.
                let mark = if shown.starts_with(['$', '>', '\\']) { "\\" } else { "" };
                let end = if shown.is_empty() || shown.ends_with(' ') { "␊" } else { "" };
                written.push_str(&format!("  {mark}{shown}{end}\n"));
            }
            written.extend(printed.changed.iter().map(|name| format!("  * {name}\n")));
            if printed.status != 0 {
                written.push_str(&format!("  [{}]\n", printed.status));
            }
        }
        written
    }

    fn shown(&self, line: &str) -> String {
        let names = self.names.iter().filter(|(.., is_shown)| *is_shown);
        let line =
            names.fold(line.to_owned(), |line, (name, value, _)| line.replace(value, &format!("[{name}]")));
        line.chars().map(picture).collect()
    }

    /// A command and the filters behind it.
    fn piped(&mut self, line: &str, input: &str) -> Printed {
        let words: Vec<String> = words(line).iter().map(|word| self.filled(word)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut parts = words.split(|word| *word == "|");
        let mut input = self.filled(input).into_bytes();
        let mut command = parts.next().unwrap();
        // The lines that follow, or a file.
        if let [words @ .., "<", path] = command {
            (command, input) = (words, fs::read(self.current.join(path)).unwrap());
        }
        let printed = self.command(command, &input);
        parts.fold(printed, |printed, part| match part {
            ["keep", name, pointer] => {
                let json = printed.values().into_iter().find_map(|json| json.pointer(pointer).cloned());
                let json = json.unwrap_or_else(|| panic!("{line}: {}", printed.out));
                let text = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
                self.name(name, &text, json.is_string());
                printed
            }
            _ => filter(printed, part),
        })
    }

    fn command(&mut self, words: &[&str], input: &[u8]) -> Printed {
        let at = |path: &str| self.current.join(path);
        let text = std::str::from_utf8(input).unwrap_or_default();
        match *words {
            // Files with the lines that follow, or with the end of the last one left out.
            ["write", "-n", path] => write(&self.current, path, input.strip_suffix(b"\n").unwrap()),
            ["write", ref paths @ ..] => paths.iter().for_each(|path| write(&self.current, path, input)),
            ["gzip", path, to] => write(&self.current, to, gzip(fs::read(at(path)).unwrap())),
            ["cat", path] => return Printed::out(fs::read(at(path)).unwrap_or_else(|_| panic!("{path}"))),
            ["ls"] => {
                let names = contents(&self.current).into_keys();
                return Printed::out(names.map(|name| name + "\n").collect::<String>());
            }
            ["cd", path] => self.current = at(path),
            ["mkdir", path] => fs::create_dir_all(at(path)).unwrap(),
            ["rm", path] if at(path).is_dir() => fs::remove_dir_all(at(path)).unwrap(),
            ["rm", path] => fs::remove_file(at(path)).unwrap(),
            ["cp", from, to] if at(from).is_dir() => {
                for (name, bytes) in contents(&at(from)) {
                    write(&self.current, &format!("{to}/{name}"), bytes);
                }
            }
            ["cp", from, to] => write(&self.current, to, fs::read(at(from)).unwrap()),
            #[cfg(unix)]
            ["ln", to, path] => {
                fs::create_dir_all(at(path).parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(to, at(path)).unwrap();
            }
            #[cfg(unix)]
            ["ln", "-h", to, path] => fs::hard_link(at(to), at(path)).unwrap(),
            // What the lines that follow say, so that it need not be said again.
            ["let", name] => self.name(name, text.trim_end(), false),
            _ => return self.served(words, input),
        }
        Printed::default()
    }

    /// Commands of servers and of what asks them.
    fn served(&mut self, words: &[&str], input: &[u8]) -> Printed {
        let text = std::str::from_utf8(input).unwrap_or_default();
        match *words {
            // A server, whose address then has its name.
            ["start", name, ref words @ ..] => return self.start(name, words),
            ["stop", name] if self.upstreams.contains_key(name) => {
                let url = self.filled(&format!("[{name}]"));
                return servers::received(&url, self.upstreams.remove(name).unwrap());
            }
            ["stop", name] => {
                let (server, before) = self.servers.remove(name).unwrap();
                let printed = server.stop();
                return Printed { changed: self.changed_since(&before), ..printed };
            }
            // An API that says what follows to each request; `stop` shows them.
            ["upstream", name] => {
                let (url, requests) = servers::upstream(input);
                self.upstreams.insert(name.to_owned(), requests);
                self.name_server(name, &url);
            }
            // A request as it follows, with its headers.
            ["send", url] => return servers::send(url, input),
            [method, url, ref headers @ ..] if url.starts_with("http://") => {
                return servers::ask(method, url, headers, input.trim_ascii_end());
            }
            // An editor, what it does, and what the server says then.
            ["editor", ref words @ ..] => self.editor = Some(Editor::start(&mut self.program(words))),
            ["tell", method] => return self.editor().tell(method, text),
            ["ask", method] => return self.editor().ask(method, text),
            ["open", uri] => return self.editor().open(uri, text),
            ["change", uri, version] => return self.editor().change(uri, version, text),
            ["frame"] => return self.editor().send(text.trim_end()),
            ["close"] => return self.editor.take().unwrap().close(),
            _ => return self.toolcheck(words, input),
        }
        Printed::default()
    }

    fn editor(&mut self) -> &mut Editor {
        self.editor.as_mut().unwrap()
    }

    fn start(&mut self, name: &str, words: &[&str]) -> Printed {
        let before = contents(&self.folder);
        let (server, ready, [control, url]) = Server::start(&mut self.program(words));
        let Some(url) = url else { return server.stop() };
        if let Some(control) = control {
            self.name(&format!("{name}.control"), &control, true);
        }
        self.name_server(name, &url);
        self.servers.insert(name.to_owned(), (server, before));
        Printed::out(ready)
    }

    /// `NAME=VALUE ... toolcheck ARGUMENTS`.
    fn program(&self, words: &[&str]) -> Command {
        let at = words.iter().position(|word| *word == "toolcheck").unwrap_or_else(|| panic!("{words:?}"));
        let mut command = toolcheck_in(&self.current);
        command.envs(words[..at].iter().map(|word| word.split_once('=').unwrap())).args(&words[at + 1..]);
        command
    }

    fn toolcheck(&self, words: &[&str], input: &[u8]) -> Printed {
        let mut command = self.program(words);
        let before = contents(&self.folder);
        let output =
            if input.is_empty() { command.output().unwrap() } else { with_input(&mut command, input) };
        let utf8 = |bytes| String::from_utf8(bytes).unwrap();
        let status = output.status.code().unwrap();
        let changed = self.changed_since(&before);
        Printed { out: utf8(output.stdout), err: utf8(output.stderr), status, changed }
    }

    fn changed_since(&self, before: &Files) -> Vec<String> {
        let after = contents(&self.folder);
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        names.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
    }
}

/// What is in the files below a folder, and where the links lead.
fn contents(folder: &Path) -> Files {
    fn add(folder: &Path, above: &str, all: &mut Files) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{above}{}", path.file_name().unwrap().to_str().unwrap());
            match fs::read_link(&path) {
                Ok(to) => _ = all.insert(format!("{name} -> {}", to.display()), Vec::new()),
                Err(_) if path.is_dir() => add(&path, &format!("{name}/"), all),
                Err(_) => _ = all.insert(name, fs::read(&path).unwrap()),
            }
        }
    }
    let mut all = Files::new();
    add(folder, "", &mut all);
    all
}

/// Filters of what is printed: `grep TEXT`, `grep -v TEXT` and `grep -c TEXT` leave lines of both streams with or without
/// the text, or their number; `at POINTER...` leaves values of JSON, in which `*` is each of a list; `keep NAME POINTER` gives
/// a name to one of them and leaves all; `fits NAME` checks it against its schema and leaves all; `head N` and `tail N` leave
/// lines of the standard output; `body` leaves out the other stream.
fn filter(printed: Printed, words: &[&str]) -> Printed {
    let of = |out: Vec<String>| out.into_iter().map(|line| line + "\n").collect::<String>();
    let kept = |text: &str, has: bool| -> String {
        of(printed.lines().into_iter().filter(|line| line.contains(text) == has).collect())
    };
    let lines = || printed.out.split_inclusive('\n').collect::<Vec<_>>();
    match words {
        ["grep", "-c", text] => {
            let number = kept(text, true).lines().count();
            Printed { out: format!("{number}\n"), err: String::new(), ..printed }
        }
        ["grep", "-v", text] => Printed { out: kept(text, false), err: String::new(), ..printed },
        ["grep", text] => Printed { out: kept(text, true), err: String::new(), ..printed },
        ["head", number] => {
            let out = lines().into_iter().take(number.parse().unwrap()).collect();
            Printed { out, ..printed }
        }
        ["tail", number] => {
            let all = lines();
            let out = all[all.len().saturating_sub(number.parse().unwrap())..].concat();
            Printed { out, ..printed }
        }
        ["body"] => Printed { err: String::new(), ..printed },
        ["at", ..] if printed.out.is_empty() => printed,
        ["at", pointers @ ..] => {
            let mut out = Vec::new();
            for json in printed.values() {
                pointers.iter().for_each(|pointer| values(&json, pointer, &mut out));
            }
            Printed { out: of(out), ..printed }
        }
        ["fits", name] => {
            assert_fits(&validator(name), &serde_json::from_str(&printed.out).unwrap());
            printed
        }
        _ => panic!("{words:?} is no filter"),
    }
}

/// The values that a pointer with `*` leads to.
fn values(json: &Json, pointer: &str, found: &mut Vec<String>) {
    match pointer.split_once("/*") {
        Some((before, after)) => match json.pointer(before) {
            Some(Json::Array(items)) => items.iter().for_each(|item| values(item, after, found)),
            Some(Json::Object(items)) => items.values().for_each(|item| values(item, after, found)),
            _ => found.push("none".to_owned()),
        },
        None => found.push(json.pointer(pointer).map_or("none".to_owned(), Json::to_string)),
    }
}
