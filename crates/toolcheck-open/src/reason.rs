//! Why something in a file is not read.

use toolcheck_json::origins::Mapped;

/// Why something in a file is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    NoBody,
    NotJson,
    CutOff,
    NotForLlm,
    NotRead,
    #[cfg_attr(
        not(any(feature = "compress", feature = "zip")),
        expect(dead_code, reason = "nothing is decompressed")
    )]
    Compressed,
    NotBuilt,
    TooLarge,
    Elsewhere,
    OddResponse,
    Damaged,
    OddAnswer,
    NoAnswer,
    NoRequest,
    OddFrames,
}

impl Reason {
    /// What was left out: one of them, and several.
    pub(crate) fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::NoBody => ("request without a body", "requests without a body"),
            Self::NotJson => ("request whose body is not JSON", "requests whose body is not JSON"),
            Self::CutOff => ("request whose body is cut off", "requests whose body is cut off"),
            Self::NotForLlm => ("request that is not to an LLM", "requests that are not to an LLM"),
            Self::NotRead => {
                ("request to an LLM API that is not read", "requests to an LLM API that are not read")
            }
            Self::Compressed => ("body that can't be decompressed", "bodies that can't be decompressed"),
            Self::NotBuilt => ("body that is compressed", "bodies that are compressed"),
            Self::TooLarge => ("body that is too large", "bodies that are too large"),
            Self::Elsewhere => ("body that is in another file", "bodies that are in other files"),
            Self::OddResponse => {
                ("response that is neither JSON nor events", "responses that are neither JSON nor events")
            }
            Self::Damaged => ("event stream that is damaged", "event streams that are damaged"),
            Self::NoRequest => {
                ("block of Markdown without a request", "blocks of Markdown without a request")
            }
            Self::OddFrames => ("WebSocket that is not read", "WebSockets that are not read"),
            Self::NoAnswer => ("result without a response", "results without a response"),
            Self::OddAnswer => ("response in an unsupported format", "responses in an unsupported format"),
        }
    }
}

/// A body, or why there is none.
pub(crate) type Body = Result<Mapped, Reason>;
