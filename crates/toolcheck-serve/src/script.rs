//! What the model says, turn by turn.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use toolcheck_core::Error;

/// A turn of a script.
///
/// ```
/// use toolcheck_serve::Turn;
///
/// let script = toolcheck_serve::script(r#"
/// [[turn]]
/// calls = [{ tool = "tides", arguments = { harbour = "Cuxhaven" } }]
/// [[turn]]
/// text = "Low at six."
/// "#)?;
/// assert_eq!(script[1], Turn::text("Low at six."));
/// # Ok::<(), toolcheck_serve::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Turn {
    /// What the model says.
    pub text: String,
    /// What it thinks before that, where the format has room for it.
    pub reasoning: Option<String>,
    /// Whether the reasoning is also in Chat Completions, whose own API has no room for it: servers that are compatible
    /// with it send `reasoning_content`.
    pub reasoning_content: bool,
    /// Whether there is reasoning that the provider has encrypted as a whole, where the format has room for it.
    pub redacted: bool,
    /// The tools that the provider has run itself before the text, where the format has room for them.
    pub server_calls: Vec<ScriptedServerCall>,
    /// The tools that it calls.
    pub calls: Vec<ScriptedCall>,
    /// The reason to stop, if it is not the one that follows from the rest.
    pub stop: Option<ScriptedStop>,
    /// The status of an error in place of the turn.
    pub status: Option<u16>,
    /// After how many events of a stream an error ends it, in place of the turn; one that is not streamed is whole.
    pub error_after: Option<usize>,
    /// The message of an error by the id of the format, in place of the text.
    pub texts: BTreeMap<String, String>,
    /// After how many seconds a client may try again.
    pub retry_after: Option<u64>,
    /// How often the same request gets the error before it gets the next turn; always, if it is not said.
    pub attempts: Option<u32>,
    /// Whether the error or the turn is given only once, whatever is sent then: the next request gets the next turn, even
    /// if less of the conversation is left in it.
    pub once: bool,
    /// The tokens of the request, as the API counts them: a client that is near its limit may compact the conversation.
    pub tokens: Option<u64>,
    /// The number of characters of each piece of a stream.
    pub pieces: Option<usize>,
    /// Whether the pieces of parallel calls take turns.
    pub interleaved: bool,
    /// Whether each call of a stream has the number 0.
    pub index_zero: bool,
    /// Whether what says only that the stream has ended is missing.
    pub without_end: bool,
    /// After how many events a stream is cut off.
    pub cut_after: Option<usize>,
    /// Where a stream is cut off, whatever events the format has.
    pub cut_in: Option<CutIn>,
    /// Whether a stream that is cut off ends as if it were complete, and the connection does not break.
    pub clean_end: bool,
}

/// A place in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CutIn {
    /// In the middle of the arguments of the first call, where the format sends them in pieces.
    Arguments,
    /// After the first call, before another one or the reason to stop, where the format sends that later.
    BetweenCalls,
}

/// A call of a script.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ScriptedCall {
    /// The name of the tool; if it is empty, that of the first tool of the request.
    pub tool: String,
    /// The arguments; if there are none, they are made from the tool's schema.
    pub arguments: Option<Map<String, Json>>,
    /// A text in place of the arguments, which need not be JSON.
    pub raw: Option<String>,
    /// The id, if it is not to be one in the provider's form.
    pub id: Option<String>,
    /// Whether it has a signature, where the format has room for it.
    pub signed: bool,
}

/// A call of a script that the provider carries out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ScriptedServerCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Json>,
    /// What it finds, as the API writes it.
    pub result: Vec<Json>,
}

/// A reason to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ScriptedStop {
    /// The model is done.
    End,
    /// It calls tools.
    Calls,
    /// It has no more tokens.
    Length,
    /// It is not done, and goes on if its turn is sent back.
    Pause,
}

impl Turn {
    /// A turn in which the model only says this.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A turn in which the model calls tools.
    pub fn calls(calls: impl IntoIterator<Item = ScriptedCall>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::default() }
    }

    /// Whether an error takes the place of the turn.
    pub fn is_error(&self) -> bool {
        self.status.is_some() || self.error_after.is_some()
    }

    /// An error in place of a turn.
    pub fn error(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }
}

impl ScriptedCall {
    /// A call of a tool, with arguments that are made from its schema.
    pub fn of(tool: impl Into<String>) -> Self {
        Self { tool: tool.into(), ..Self::default() }
    }

    /// A call of a tool with these arguments, which count only if they are an object.
    pub fn with(tool: impl Into<String>, arguments: Json) -> Self {
        let arguments = match arguments {
            Json::Object(members) => Some(members),
            _ => None,
        };
        Self { tool: tool.into(), arguments, ..Self::default() }
    }

    /// The call with this text in place of arguments.
    pub fn raw(mut self, text: impl Into<String>) -> Self {
        self.raw = Some(text.into());
        self
    }
}

/// Reads the turns of a script: TOML with a `[[turn]]` for each.
///
/// # Errors
///
/// It is not TOML of that shape; the message says the line and column.
pub fn script(text: &str) -> Result<Vec<Turn>, Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default, rename = "turn")]
        turns: Vec<Turn>,
    }
    let file = toml::from_str::<File>(text);
    let turns = file.map_err(|error| Error::in_toml(text, error.span(), error.message()))?.turns;
    let no_status = |turn: &Turn| turn.status.filter(|status| !(200..600).contains(status));
    match turns.iter().enumerate().find_map(|(number, turn)| Some((number + 1, no_status(turn)?))) {
        Some((number, status)) => {
            Err(Error::new(format!("turn {number}: {status} is not the status of a response (200 to 599)")))
        }
        None => Ok(turns),
    }
}
