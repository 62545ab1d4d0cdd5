//! The sessions of a database, a line each, as the agent itself exports them.
//!
//! SQLite reads a copy of the file in memory. What stands in a write-ahead log beside it is not in the file.

use std::sync::Arc;

use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, MAIN_DB, Row};
use toolcheck_json::Document;
use toolcheck_json::origins::{Builder, LeftOut, Mapped, Opened, Origin, Unpacked, Unread};

use super::CONTAINER;
use crate::Limits;
use crate::written::quoted;

/// The bytes of the header that say how the file is written, and what they are without a write-ahead log.
const WRITTEN_AS: std::ops::Range<usize> = 18..20;
const AS_JOURNAL: [u8; 2] = [1, 1];

/// How many instructions of SQLite's own machine are run: a table may be a view that never ends.
const MOST_STEPS: i32 = 100_000;
const STEPS_AT_ONCE: i32 = 10_000;

struct Store {
    tables: &'static [&'static str],
    write: fn(&mut Sessions, &Connection) -> Result<(), Error>,
}

const STORES: [Store; 3] = [
    Store { tables: &["session", "message", "part"], write: opencode },
    Store { tables: &["sessions", "messages"], write: goose },
    Store { tables: &["acp_sessions", "acp_messages"], write: zeroclaw },
];

pub(super) fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let mut sessions = Sessions { limits, ..Sessions::default() };
    let end = sessions.read(bytes);
    let broken_at = (!matches!(end, Ok(Some(true) | None))).then_some(sessions.unpacked.text.len());
    let unread = matches!(end, Ok(None)).then(|| Unread {
        what: "not a known session database".to_owned(),
        at: 0,
        origin: None,
        advice: Some(
            "only the databases of goose, OpenCode and ZeroClaw can be read; export other sessions with their agent"
                .to_owned(),
        ),
    });
    let (text, origins) = sessions.builder.finish();
    let left_out = LeftOut {
        one: "message that is not JSON",
        what: "messages that are not JSON",
        count: sessions.broken,
    };
    Some(Opened {
        text,
        origins,
        exchanges: sessions.count,
        left_out: Some(left_out).filter(|left| left.count > 0).into_iter().collect(),
        broken_at,
        unread,
        unpacked: Some(sessions.unpacked),
        ..CONTAINER.opened()
    })
}

#[derive(Default)]
struct Sessions {
    limits: Limits,
    builder: Builder,
    unpacked: Unpacked,
    count: usize,
    /// The number of values that should be JSON and are not.
    broken: usize,
    is_full: bool,
}

impl Sessions {
    /// Reads all sessions, and returns whether there was room for them; `None` if the database has none.
    fn read(&mut self, bytes: &[u8]) -> Result<Option<bool>, Error> {
        let mut copy = bytes.to_vec();
        if let Some(written_as) = copy.get_mut(WRITTEN_AS) {
            written_as.copy_from_slice(&AS_JOURNAL);
        }
        let mut connection = Connection::open_in_memory()?;
        connection.deserialize_read_exact(MAIN_DB, &*copy, copy.len(), true)?;
        drop(copy);
        let longest = i32::try_from(self.limits.most_bytes).unwrap_or(i32::MAX);
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest)?;
        let mut left = MOST_STEPS;
        connection.progress_handler(
            STEPS_AT_ONCE,
            Some(move || {
                left -= 1;
                left < 0
            }),
        )?;
        let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
        let tables: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let has = |wanted: &&str| tables.iter().any(|table| table == wanted);
        let Some(store) = STORES.iter().find(|store| store.tables.iter().all(has)) else { return Ok(None) };
        (store.write)(self, &connection)?;
        Ok(Some(!self.is_full))
    }

    /// Adds the JSON of a column. `opening` comes before its members, if it is an object.
    fn add(&mut self, json: &str, opening: &str, pointer: &str, origin: &Arc<Origin>) {
        if self.is_full || json.len() > self.limits.most_bytes.saturating_sub(self.builder.len()) {
            self.is_full = true;
            self.builder.glue("null");
            return;
        }
        let document = Document::read(json.as_bytes());
        let root = document.root();
        if !document.faults().is_empty() || !root.is_object() && !root.is_array() {
            self.broken += 1;
            self.builder.glue("null");
            return;
        }
        // A line break in JSON is only whitespace.
        let line: String = json.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
        let start = self.unpacked.add(line.as_bytes());
        let inner = if opening.is_empty() { 0 } else { line.find('{').map_or(0, |brace| brace + 1) };
        if inner > 0 {
            let is_empty = line[inner..].trim_start().starts_with('}');
            self.builder.glue(if is_empty { opening.trim_end_matches([',', ' ']) } else { opening });
        }
        let mapped = Mapped::same(&line.as_bytes()[inner..], start + inner);
        self.builder.value(pointer.to_owned(), Arc::clone(origin), &mapped);
    }

    fn end(&mut self) {
        self.builder.glue("]}\n");
        self.count += 1;
    }
}

/// The text of a column; empty if it is of another kind.
fn text(row: &Row<'_>, column: usize) -> Result<String, Error> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    })
}

/// The number in a column; 0 if it is of another kind.
fn number(row: &Row<'_>, column: usize) -> Result<i64, Error> {
    Ok(row.get_ref(column)?.as_i64().unwrap_or_default())
}

/// The first version of OpenCode's store, as `opencode export` prints its sessions.
fn opencode(sessions: &mut Sessions, connection: &Connection) -> Result<(), Error> {
    let mut of_sessions =
        connection.prepare("SELECT id, parent_id, revert FROM session ORDER BY time_created, id")?;
    let mut of_messages =
        connection.prepare("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id")?;
    let mut of_parts = connection.prepare("SELECT id, data FROM part WHERE message_id = ? ORDER BY id")?;
    let mut rows = of_sessions.query([])?;
    while let Some(row) = rows.next()?
        && !sessions.is_full
    {
        let (id, parent, revert) = (text(row, 0)?, text(row, 1)?, text(row, 2)?);
        let origin = Arc::new(Origin::new(format!("session {id}")));
        sessions.builder.glue(&format!("{{\"info\": {{\"id\": {}", quoted(&id)));
        if !parent.is_empty() {
            sessions.builder.glue(&format!(", \"parentID\": {}", quoted(&parent)));
        }
        if !revert.is_empty() {
            sessions.builder.glue(", \"revert\": ");
            sessions.add(&revert, "", "/info/revert", &origin);
        }
        sessions.builder.glue("}, \"messages\": [");
        let mut messages = of_messages.query([&id])?;
        let mut number = 0;
        while let Some(row) = messages.next()?
            && !sessions.is_full
        {
            let (message, data) = (text(row, 0)?, text(row, 1)?);
            let origin = Arc::new(Origin::new(format!("message {message}")));
            sessions.builder.glue(if number == 0 { "{\"info\": " } else { ", {\"info\": " });
            sessions.add(&data, &opening(&message), &format!("/messages/{number}/info"), &origin);
            sessions.builder.glue(", \"parts\": [");
            let mut parts = of_parts.query([&message])?;
            let mut count = 0;
            while let Some(row) = parts.next()?
                && !sessions.is_full
            {
                let (part, data) = (text(row, 0)?, text(row, 1)?);
                let origin = Arc::new(Origin::new(format!("message {message}, part {part}")));
                sessions.builder.glue(if count == 0 { "" } else { ", " });
                let pointer = format!("/messages/{number}/parts/{count}");
                sessions.add(&data, &opening(&part), &pointer, &origin);
                count += 1;
            }
            sessions.builder.glue("]}");
            number += 1;
        }
        sessions.end();
    }
    Ok(())
}

fn opening(id: &str) -> String {
    format!("{{\"id\": {}, ", quoted(id))
}

/// goose's store, as `goose session export` prints its sessions.
fn goose(sessions: &mut Sessions, connection: &Connection) -> Result<(), Error> {
    let mut of_sessions = connection.prepare("SELECT id FROM sessions ORDER BY id")?;
    let mut of_messages = connection.prepare(
        "SELECT role, content_json, created_timestamp, metadata_json FROM messages WHERE session_id = ? ORDER BY created_timestamp, id",
    )?;
    let mut rows = of_sessions.query([])?;
    while let Some(row) = rows.next()?
        && !sessions.is_full
    {
        let id = text(row, 0)?;
        let origin = Arc::new(Origin::new(format!("session {id}")));
        sessions
            .builder
            .glue(&format!("{{\"id\": {}, \"session_type\": \"user\", \"conversation\": [", quoted(&id)));
        let mut messages = of_messages.query([&id])?;
        let mut number = 0;
        while let Some(row) = messages.next()?
            && !sessions.is_full
        {
            let (role, content, metadata) = (text(row, 0)?, text(row, 1)?, text(row, 3)?);
            let created = self::number(row, 2)?;
            // goose skips other rows when it loads a session.
            if !matches!(&*role, "user" | "assistant") {
                continue;
            }
            let comma = if number == 0 { "" } else { ", " };
            let head = format!("{comma}{{\"role\": {}, \"created\": {created}, \"content\": ", quoted(&role));
            sessions.builder.glue(&head);
            sessions.add(&content, "", &format!("/conversation/{number}/content"), &origin);
            if !metadata.is_empty() {
                sessions.builder.glue(", \"metadata\": ");
                sessions.add(&metadata, "", &format!("/conversation/{number}/metadata"), &origin);
            }
            sessions.builder.glue("}");
            number += 1;
        }
        sessions.end();
    }
    Ok(())
}

/// The store of ZeroClaw's ACP server.
fn zeroclaw(sessions: &mut Sessions, connection: &Connection) -> Result<(), Error> {
    let mut of_sessions =
        connection.prepare("SELECT session_id FROM acp_sessions ORDER BY created_at, session_id")?;
    let mut of_messages =
        connection.prepare("SELECT id, message_json FROM acp_messages WHERE session_id = ? ORDER BY id")?;
    let mut rows = of_sessions.query([])?;
    while let Some(row) = rows.next()?
        && !sessions.is_full
    {
        let id = text(row, 0)?;
        sessions.builder.glue(&format!("{{\"session_id\": {}, \"messages\": [", quoted(&id)));
        let mut messages = of_messages.query([&id])?;
        let mut count = 0;
        while let Some(row) = messages.next()?
            && !sessions.is_full
        {
            let origin = Arc::new(Origin::new(format!("session {id}, message {}", number(row, 0)?)));
            sessions.builder.glue(if count == 0 { "" } else { ", " });
            sessions.add(&text(row, 1)?, "", &format!("/messages/{count}"), &origin);
            count += 1;
        }
        sessions.end();
    }
    Ok(())
}
