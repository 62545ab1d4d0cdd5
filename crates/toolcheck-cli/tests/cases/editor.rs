//! An editor that asks a language server.

#[path = "../../../toolcheck-server/tests/client/frame.rs"]
mod frame;

use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::json;

use self::frame::read;
use super::Printed;

pub(super) struct Editor {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Editor {
    pub(super) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from }
    }

    /// Sends a text that need not be a message, and shows what the server says to it.
    pub(super) fn send(&mut self, text: &str) -> Printed {
        self.frame(text);
        self.said(&[])
    }

    fn frame(&mut self, text: &str) {
        // A server that was told to exit reads no more.
        let _ = write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len());
    }

    pub(super) fn tell(&mut self, method: &str, params: &str) -> Printed {
        self.send(&message(None, method, params))
    }

    /// Asks for something, and shows the answer and what else the server says.
    pub(super) fn ask(&mut self, method: &str, params: &str) -> Printed {
        self.frame(&message(Some("asked"), method, params));
        self.said(&["asked"])
    }

    pub(super) fn open(&mut self, uri: &str, text: &str) -> Printed {
        let document = json!({"uri": uri, "languageId": "json", "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": document}).to_string())
    }

    /// Changes a text as a whole.
    pub(super) fn change(&mut self, uri: &str, version: &str, text: &str) -> Printed {
        let version: i32 = version.parse().unwrap();
        let params =
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]});
        self.tell("textDocument/didChange", &params.to_string())
    }

    /// What the server says, each message on a line, until it has answered these and has read all that was sent: it
    /// answers a question that it does not know.
    fn said(&mut self, asked: &[&str]) -> Printed {
        const LAST: &str = "all is read";
        self.frame(&message(Some(LAST), "toolcheck/nothing", "null"));
        let (mut awaited, mut out) = ([asked, &[LAST]].concat(), String::new());
        while !awaited.is_empty() {
            let Some(mut message) = read(&mut self.from) else { break };
            let members = message.as_object_mut().unwrap();
            members.remove("jsonrpc");
            let id = members.remove("id");
            awaited.retain(|awaited| id.as_ref().is_none_or(|id| id != awaited));
            if id.is_none_or(|id| id != LAST) {
                out.push_str(&format!("{message}\n"));
            }
        }
        Printed::out(out)
    }

    /// Closes the input, and shows how the server ends.
    pub(super) fn close(self) -> Printed {
        drop(self.to);
        let output = self.child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        Printed { err, status: output.status.code().unwrap(), ..Printed::default() }
    }
}

fn message(id: Option<&str>, method: &str, params: &str) -> String {
    let id = id.map_or_else(String::new, |id| format!("\"id\": {}, ", json!(id)));
    let params = if params.trim().is_empty() { "null" } else { params };
    format!("{{\"jsonrpc\": \"2.0\", {id}\"method\": {}, \"params\": {params}}}", json!(method))
}
