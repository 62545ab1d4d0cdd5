//! Frames of a WebSocket on which requests to the Responses API and the events of their responses follow each other
//! (<https://developers.openai.com/api/docs/guides/websocket-mode>), of several streams at once.

use toolcheck_json::origins::Mapped;
use toolcheck_json::{Document, Value};

use crate::exchanges::{Encoded, Maker, Recorded};
use crate::reason::Reason;
use crate::tree::{Id, Tree};

/// Where a log has a frame, beside when it came and who sent it.
const WRAPPERS: [&str; 4] = ["data", "message", "payload", "event"];
/// What a frame has beside the body of its request, and what does not hold there: a connection keeps its responses.
const NOT_OF_BODY: [&str; 3] = ["type", "stream_id", "store"];
/// The events after which nothing more comes of a response.
const LAST: [&str; 4] = ["response.completed", "response.failed", "response.incomplete", "error"];
/// The most streams that are read at once.
const MOST_OPEN: usize = 64;

/// The frame in a record of a log, as an object or as its text.
pub(super) fn frame_of<'d, 's>(record: Value<'d, 's>) -> Value<'d, 's> {
    let is_frame = |inner: &Value<'_, '_>| inner.is_object() || inner.is_string();
    let inside = || record.get_any(&WRAPPERS).filter(is_frame);
    let is_event = record.get_str("type").is_some_and(|kind| kind.starts_with("response."));
    if is_event { record } else { inside().unwrap_or(record) }
}

/// Whether a record has a frame that asks for a response. One of the Realtime API has what it asks for under `response`.
pub(super) fn is_request(record: Value<'_, '_>) -> bool {
    let frame = frame_of(record);
    let asks = |frame: Value<'_, '_>| {
        frame.is("type", "response.create")
            && frame.get("response").is_none()
            && frame.get_any(&["input", "previous_response_id"]).is_some()
    };
    frame.as_str().map_or_else(|| asks(frame), |text| asks(Document::read(text.as_bytes()).root()))
}

/// The frames of a connection so far, or of all in a log.
pub(crate) struct Frames {
    url: String,
    open: Vec<Open>,
}

/// A request whose response has not ended.
struct Open {
    stream: String,
    label: String,
    request: Mapped,
    events: Mapped,
}

impl Frames {
    pub(super) fn to(url: String) -> Self {
        Self { url, open: Vec::new() }
    }

    /// Reads the frames of a connection, which have their bodies under this key; `None` if none of them is a request.
    pub(crate) fn of(
        tree: &Tree<'_>,
        (list, key): (Id, &str),
        label: &str,
        url: &str,
        maker: &mut Maker,
    ) -> Option<()> {
        let mut frames = Self::to(url.to_owned());
        let mut is_read = false;
        for (number, frame) in tree.items(list).iter().enumerate() {
            let body = tree.get(*frame, key).and_then(|body| tree.text(body, &maker.budget).ok());
            let label = format!("{label}[{number}].{key}");
            is_read |= body.is_some_and(|body| frames.see(label, &body, maker));
        }
        frames.finish(maker);
        is_read.then_some(())
    }

    /// Whether events may come.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Reads a frame; `false` if it is neither a request nor an event of its response.
    pub(super) fn see(&mut self, label: String, frame: &Mapped, maker: &mut Maker) -> bool {
        let document = Document::read(frame.text());
        let root = document.root();
        let kind = root.get_str("type").unwrap_or_default();
        let stream = root.get_str("stream_id").unwrap_or_default();
        let at = self.open.iter().position(|open| open.stream == *stream);
        let place = || frame.source_of(0..frame.text().len()).unwrap_or(0..0);
        if is_request(root) {
            if document.faults().iter().any(|fault| !fault.kind.is_in_text()) {
                maker.leave_out(Reason::CutOff);
                return true;
            }
            if let Some(at) = at.or((self.open.len() == MOST_OPEN).then_some(0)) {
                self.end(at, maker);
            }
            let mut request = Mapped::default();
            for member in root.members().filter(|member| !NOT_OF_BODY.iter().any(|key| member.has_key(key))) {
                request.push_whole(if request.text().is_empty() { b"{" } else { b"," }, place());
                request.push_part(frame, member.member_span().range());
            }
            request.push_whole(b"}", place());
            self.open.push(Open { stream: stream.into_owned(), label, request, events: Mapped::default() });
            return true;
        }
        let Some(at) = at.filter(|_| kind.starts_with("response.") || kind == "error") else { return false };
        let events = &mut self.open[at].events;
        events.push_whole(if events.text().is_empty() { b"[" } else { b"," }, place());
        events.push_part(frame, 0..frame.text().len());
        if LAST.contains(&&*kind) {
            self.end(at, maker);
        }
        true
    }

    fn end(&mut self, at: usize, maker: &mut Maker) {
        let Open { label, request, mut events, .. } = self.open.remove(at);
        let place = events.source_of(0..events.text().len()).unwrap_or(0..0);
        let response: Option<Encoded<'_>> = (!events.text().is_empty()).then(|| {
            events.push_whole(b"]", place);
            Box::new(move |_: &_| Ok(events)) as _
        });
        maker.add(Recorded {
            response_label: format!("events after {label}"),
            request_label: label,
            request: Box::new(move |_| Ok(request)),
            url: self.url.clone(),
            response,
            status: None,
        });
    }

    /// Ends what no event has ended.
    pub(super) fn finish(mut self, maker: &mut Maker) {
        while !self.open.is_empty() {
            self.end(0, maker);
        }
    }
}
