//! Renders the chat templates of language models, and says what a model does not get to read of a conversation.
//!
//! A self-hosted model reads what its chat template makes of a request: a Jinja program that transformers, vLLM and
//! llama.cpp run. A template refuses or silently drops what it was not written for.
//!
//! ```
//! use toolcheck_json::Document;
//! use toolcheck_template::{Input, Kind, Template};
//!
//! let source = "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}";
//! let template = Template::from_file_bytes("chat_template.jinja", source.as_bytes()).expect("a template");
//!
//! let body = Document::read(br#"{"messages": [{"role": "assistant", "content": "So:", "tool_calls": [
//!     {"id": "a", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}}]}]}"#);
//! let input = Input::of_request(body.root()).expect("it has messages");
//! assert_eq!(template.render(&input).expect("it renders").text, "<assistant>So:");
//!
//! let examination = template.examine(&input);
//! assert_eq!(examination.observations[0].kind, Kind::Loses);
//! assert_eq!(examination.observations[0].pointer, "/messages/0/tool_calls/0");
//! ```
//!
//! Jinja and as much of Python as templates use are implemented here, because the values, the printed forms and the errors
//! have to be those of Python: `None` where a text is missing, `dict.items` where a schema has the key `items`, an
//! undefined value that says what it was an attribute of. What isn't implemented is a refusal of its own kind
//! ([`RefusalKind::Unsupported`]), which says nothing about the template.

mod bind;
mod chat_request;
mod convert;
mod error;
mod evidence;
mod examine;
mod findings;
mod forms;
mod gguf;
mod input;
mod jinja;
mod load;
mod mask;
mod now;
mod parts;
mod prepare;
mod render;
mod segments;
mod server;
mod tools;

pub use self::chat_request::ChatRequest;
pub use self::error::LoadError;
pub use self::examine::Examination;
pub use self::findings::{Kind, Observation, Part};
pub use self::forms::{Change, OtherForm};
pub use self::gguf::gguf_metadata_end;
pub use self::input::{Arguments, Input, Limits, Nulls, Preparation};
pub use self::jinja::{FILTERS, METHODS_OF_TEXTS, TESTS};
pub use self::load::{ADDITIONAL_FOLDER, FILES_OF_A_FOLDER, FILES_WITH_TOKENS, Template};
pub use self::now::Now;
pub use self::render::{Prompt, Refusal, RefusalKind};
pub use self::segments::{Origin, Segment};
