//! A client that speaks with the server in the same process.

mod frame;

use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value as Json, json};

use self::frame::read;

/// A pipe from one thread to another.
struct End {
    bytes: Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

impl Read for End {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.bytes.recv().unwrap_or_default();
        }
        let count = self.rest.len().min(into.len());
        into[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}

struct Start(Sender<Vec<u8>>);

impl Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    to: Option<Sender<Vec<u8>>>,
    from: Receiver<Json>,
    server: Option<JoinHandle<io::Result<bool>>>,
    ids: i64,
    /// What the server has sent unasked, and nobody has looked at.
    unasked: Vec<Json>,
}

impl Client {
    /// A server that was not initialized.
    pub(crate) fn raw() -> Self {
        let (to, bytes) = channel();
        let (out, answers) = channel();
        let input = BufReader::new(End { bytes, rest: Vec::new() });
        let server = thread::spawn(move || toolcheck_server::serve(input, &mut Start(out)));
        let (sender, from) = channel();
        thread::spawn(move || {
            let mut answers = BufReader::new(End { bytes: answers, rest: Vec::new() });
            while let Some(message) = read(&mut answers) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { to: Some(to), from, server: Some(server), ids: 0, unasked: Vec::new() }
    }

    /// A server that was initialized, with places in these units.
    pub(crate) fn new(encoding: &str) -> Self {
        let mut client = Self::raw();
        let capabilities = json!({"general": {"positionEncodings": [encoding]}});
        client.ask("initialize", json!({"capabilities": capabilities}));
        client.tell("initialized", json!({}));
        client
    }

    pub(crate) fn send(&self, body: &str) {
        let message = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.to.as_ref().expect("the input is open").send(message.into_bytes()).expect("the server reads");
    }

    pub(crate) fn tell(&self, method: &str, params: Json) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Asks, and returns the result.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Json) -> Json {
        self.ids += 1;
        let id = self.ids;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        loop {
            let message = self.next();
            if message["id"] == json!(id) && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
            self.unasked.push(message);
        }
    }

    pub(crate) fn next(&mut self) -> Json {
        self.from.recv_timeout(PATIENCE).expect("the server sends something")
    }

    pub(crate) fn wait_for(&mut self, method: &str) -> Json {
        if let Some(at) = self.unasked.iter().position(|message| message["method"] == method) {
            return self.unasked.remove(at)["params"].clone();
        }
        loop {
            let message = self.next();
            if message["method"] == method {
                return message["params"].clone();
            }
            self.unasked.push(message);
        }
    }

    pub(crate) fn diagnostics(&mut self, version: i64) -> Json {
        loop {
            let published = self.wait_for("textDocument/publishDiagnostics");
            if published["version"] == version {
                return published["diagnostics"].clone();
            }
        }
    }

    pub(crate) fn open(&self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "json", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    pub(crate) fn change(&self, uri: &str, version: i64, changes: Json) {
        let document = json!({"uri": uri, "version": version});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    /// Closes the input, and returns whether the server was shut down.
    pub(crate) fn end(mut self) -> io::Result<bool> {
        self.to = None;
        self.server.take().expect("it runs").join().expect("it does not panic")
    }

    pub(crate) fn shut_down(mut self) {
        self.ask("shutdown", Json::Null);
        self.tell("exit", Json::Null);
        assert!(self.end().expect("the connection is whole"));
    }
}
