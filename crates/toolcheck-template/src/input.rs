//! What a template is rendered with.

use toolcheck_json::Value;

use crate::Now;

/// How the arguments of calls are given to the template, where the request has them as the text of a JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arguments {
    /// As they are, like transformers and TRL.
    AsGiven,
    /// Read into an object, as servers do for most templates. A text that is no JSON object stays a text.
    #[default]
    Parsed,
}

/// What a server makes of messages before the template sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preparation {
    /// Nothing, but for [`Arguments`] and [`Nulls`], like transformers and TRL.
    #[default]
    AsGiven,
    /// What vLLM does (seen in its source in November 2026). Arguments are objects, and what is no JSON becomes an empty
    /// one. Content that is `null` is empty, and an empty list of calls is left out. The texts of parts become one text
    /// with line ends between them, unless the template goes through parts: then a text becomes a list of one part,
    /// except in a result. Reasoning gets both keys, `reasoning` and `reasoning_content`, and other keys are left out.
    Vllm,
    /// What llama.cpp does (seen in its source in November 2026), which first tries what the template reads. Arguments are
    /// objects if the template prints one. A first system message that it doesn't print is put before the next message.
    /// The texts of parts become one text, unless the template goes through parts; if it reads nothing else, a text becomes a
    /// list of one part. Developers are the system, unless the template has channels. Content that is `null` or missing is
    /// empty, and other keys are left out. Tools have a description and parameters, and are undefined if there are none.
    /// Templates of some families get the reasoning under another key, or results in the order of their calls. The template
    /// is run as llama.cpp's own Jinja runs it, with `enable_thinking`, and special tokens that are not known are empty.
    LlamaCpp,
}

/// What happens to keys of messages whose value is `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nulls {
    /// The template gets `None`.
    #[default]
    Kept,
    /// The key is left out, as `apply_chat_template` of transformers 5 does.
    Dropped,
}

/// What a render may cost. A template that exceeds it is refused with [`RefusalKind::TooMuch`](crate::RefusalKind).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most steps: statements, expressions and items of a loop.
    pub steps: u64,
    /// The most bytes of all values that the template makes, including those that it drops again.
    pub bytes: u64,
    /// The most bytes of the prompt, and of any other text, beyond sixteen times the size of the input.
    pub prompt: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 20_000_000, bytes: 256 << 20, prompt: 4 << 20 }
    }
}

/// What a template is rendered with: the conversation, and what goes with it.
#[derive(Debug, Clone, Copy)]
pub struct Input<'d> {
    /// The list of messages.
    pub messages: Value<'d, 'd>,
    /// The list of tools.
    pub tools: Option<Value<'d, 'd>>,
    /// The list of documents, which some templates know.
    pub documents: Option<Value<'d, 'd>>,
    /// Further variables of the template, such as `enable_thinking`: the members of an object.
    pub variables: Option<Value<'d, 'd>>,
    /// Whether the prompt ends with the beginning of an answer.
    pub add_generation_prompt: bool,
    /// Whether it is a row that a model is trained on, of which it counts what `{% generation %}` blocks cover.
    pub is_training: bool,
    /// What a server makes of the messages first.
    pub preparation: Preparation,
    /// How arguments are given to the template.
    pub arguments: Arguments,
    /// What happens to `null`.
    pub nulls: Nulls,
    /// The date and the time that the template is told; those of the system by default.
    pub now: Option<Now>,
    /// What the render may cost.
    pub limits: Limits,
}

impl<'d> Input<'d> {
    /// These messages, with nothing else and a generation prompt.
    pub fn new(messages: Value<'d, 'd>) -> Self {
        Self {
            messages,
            tools: None,
            documents: None,
            variables: None,
            add_generation_prompt: true,
            is_training: false,
            preparation: Preparation::default(),
            arguments: Arguments::default(),
            nulls: Nulls::default(),
            now: None,
            limits: Limits::default(),
        }
    }

    /// What a server renders for a value that is a list of messages, or else the [body of a request](Self::of_request).
    pub fn of(value: Value<'d, 'd>) -> Option<Self> {
        if value.is_array() { Some(Self::new(value)) } else { Self::of_request(value) }
    }

    /// What a server renders for the body of a Chat Completions request; `None` if it has no list of messages.
    ///
    /// Of its keys, `messages`, `tools`, `documents`, `add_generation_prompt` and `chat_template_kwargs` count. The last
    /// three are vLLM's.
    pub fn of_request(body: Value<'d, 'd>) -> Option<Self> {
        let mut input = Self::new(body.get("messages").filter(|messages| messages.is_array())?);
        input.tools = body.get("tools").filter(|tools| tools.is_array());
        input.documents = body.get("documents").filter(|documents| documents.is_array());
        input.variables = body.get("chat_template_kwargs").filter(|variables| variables.is_object());
        if let Some(add) = body.get("add_generation_prompt").and_then(Value::as_bool) {
            input.add_generation_prompt = add;
        }
        Some(input)
    }
}
