//! Readers of protocols whose messages are events. What each event does, and what shows a protocol, is data in `events`.

use super::{Reader, event_log};

macro_rules! protocols {
    ($($reader:ident = $id:literal, $name:literal;)*) => {$(
        pub(super) static $reader: Reader = Reader::protocol(
            $id,
            $name,
            |records| event_log::sniff($id, records),
            |records| event_log::read(&$reader, records),
        );
    )*};
}

protocols! {
    ACP = "acp", "Agent Client Protocol log";
    AG_UI = "ag-ui", "Agent-User Interaction protocol (AG-UI)";
    GEMINI_LIVE = "gemini-live", "Gemini Live log";
    OPENAI_REALTIME = "openai-realtime", "OpenAI Realtime log";
    VERCEL_FULL_STREAM = "vercel-full-stream", "Vercel AI SDK full stream";
    VERCEL_UI_STREAM = "vercel-ui-stream", "Vercel AI SDK UI message stream";
}
