//! The stores of agents in SQLite, which a build with the feature `sqlite` reads.
//!
//! `cargo test --package toolcheck-open --features sqlite --test sqlite`
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use proptest::prelude::*;
use rusqlite::{Connection, MAIN_DB};
use serde_json::{Value as Json, json};
use toolcheck_open::{Limits, Opened, open};

fn database(statements: &str) -> Vec<u8> {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(statements).unwrap();
    connection.serialize(MAIN_DB).unwrap().to_vec()
}

fn sessions(opened: &Opened) -> Vec<Json> {
    let text = std::str::from_utf8(&opened.text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const OPENCODE: &str = include_str!("sqlite/opencode.sql");
const ZEROCLAW: &str = include_str!("sqlite/zeroclaw.sql");
const GOOSE: &str = include_str!("sqlite/goose.sql");

#[test]
fn a_session_of_opencode_is_what_it_exports() {
    let opened = open(&database(OPENCODE), Limits::default()).unwrap();
    assert_eq!((opened.id, opened.exchanges, opened.broken_at), ("sqlite", 2, None));
    assert_eq!(
        sessions(&opened),
        [
            json!({"info": {"id": "ses_1", "revert": {"messageID": "msg_9"}}, "messages": [
                {"info": {"id": "msg_1", "role": "user"}, "parts": [{"id": "prt_1", "type": "text", "text": "Count"}]},
                {"info": {"id": "msg_2", "role": "assistant", "parentID": "msg_1"}, "parts": [
                    {"id": "prt_2", "type": "tool", "callID": "call_1", "tool": "read", "state": {"status": "completed", "input": {}, "output": "9"}},
                    {"id": "prt_3", "type": "text", "text": "Nine."},
                ]},
            ]}),
            json!({"info": {"id": "ses_2", "parentID": "ses_1"}, "messages": [{"info": {"id": "msg_3"}, "parts": [null]}]}),
        ]
    );
    // What is broken is counted.
    assert_eq!(opened.left_out.iter().map(|left| left.count).sum::<usize>(), 1);
    let at = String::from_utf8_lossy(&opened.text).find("call_1").unwrap();
    let place = opened.origins.locate(at..at + 6).unwrap();
    assert_eq!(&*place.origin.label, "message msg_2, part prt_2");
    assert_eq!(place.pointer, "/messages/1/parts/0");
    assert_eq!(&opened.source(b"")[place.source], b"call_1");
}

#[test]
fn a_session_of_goose_is_what_it_exports() {
    let opened = open(&database(GOOSE), Limits::default()).unwrap();
    let call = json!({"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value": {"name": "shell", "arguments": {}}}});
    assert_eq!(
        sessions(&opened),
        [json!({"id": "20260302_1", "session_type": "user", "conversation": [
            {"role": "user", "created": 1, "content": [{"type": "text", "text": "Count"}]},
            {"role": "assistant", "created": 2, "content": [call], "metadata": {"agentVisible": false}},
        ]})]
    );
}

#[test]
fn a_session_of_zeroclaw_is_its_messages_in_their_order() {
    let opened = open(&database(ZEROCLAW), Limits::default()).unwrap();
    let chat = json!({"type": "Chat", "data": {"role": "user", "content": "Count"}});
    let results = json!({"type": "ToolResults", "data": [{"tool_call_id": "c1", "content": "9"}]});
    assert_eq!(sessions(&opened), [json!({"session_id": "s1", "messages": [chat, results]})]);
}

#[test]
fn a_database_in_a_write_ahead_log_is_read() {
    let mut bytes = database(GOOSE);
    bytes[18..20].copy_from_slice(&[2, 2]);
    assert_eq!(open(&bytes, Limits::default()).unwrap().exchanges, 1);
}

#[test]
fn another_database_is_said_not_to_be_read() {
    let opened = open(&database("CREATE TABLE t (a)"), Limits::default()).unwrap();
    assert_eq!((opened.exchanges, opened.unread.is_some()), (0, true));
    // A column is missing: what there is can't be told.
    let opened =
        open(&database("CREATE TABLE sessions (name); CREATE TABLE messages (a)"), Limits::default())
            .unwrap();
    assert_eq!((opened.exchanges, opened.broken_at), (0, Some(0)));
}

#[test]
fn a_query_that_never_ends_is_stopped() {
    // The index of a generated column is computed when the table is read.
    let endless = "CREATE TABLE sessions (id TEXT); INSERT INTO sessions VALUES ('s');
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER,
            metadata_json TEXT AS (hex(zeroblob(100000000))));
        INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('s', 'user', '[]', 1);";
    let opened = open(&database(endless), Limits::new(1 << 20)).unwrap();
    assert!(opened.text.len() <= 1 << 20);
}

#[test]
fn there_is_room_for_so_many_sessions() {
    let opened = open(&database(OPENCODE), Limits::new(200)).unwrap();
    assert!(opened.broken_at.is_some());
    assert!(opened.text.len() <= 400, "{}", opened.text.len());
    assert!(sessions(&opened).len() == 1);
}

proptest! {
    #[test]
    fn nothing_of_a_damaged_database_panics(at in 0_usize..20_000, byte: u8, cut in 0_usize..20_000) {
        let mut bytes = database(OPENCODE);
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = open(&bytes, Limits::default());
        bytes.truncate(cut.max(16));
        let _ = open(&bytes, Limits::default());
    }
}
