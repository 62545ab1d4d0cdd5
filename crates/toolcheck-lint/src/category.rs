//! The categories of rules, for lists of them.

/// The category of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Category {
    /// Which result answers which call.
    Pairing,
    /// The order of messages, calls and results.
    Order,
    /// Ids of calls and items.
    Ids,
    /// The arguments of calls.
    Arguments,
    /// The tools that a request declares.
    Tools,
    /// Text, images and results.
    Content,
    /// The keys of a request.
    Fields,
    /// The reasoning of a model.
    Reasoning,
    /// The behaviour of an agent: how it handles failing calls, and the commands that it runs.
    Agents,
    /// Calls that agents write into plain text.
    TextProtocols,
    /// What the chat template of a model makes of a request.
    Templates,
    /// Training examples.
    DataSets,
    /// The text of the file.
    Files,
}

impl Category {
    /// All categories, in the order of lists.
    pub const ALL: [Self; 13] = [
        Self::Pairing,
        Self::Order,
        Self::Ids,
        Self::Arguments,
        Self::Tools,
        Self::Content,
        Self::Fields,
        Self::Reasoning,
        Self::Agents,
        Self::TextProtocols,
        Self::Templates,
        Self::DataSets,
        Self::Files,
    ];

    /// Its name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Pairing => "pairing",
            Self::Order => "order",
            Self::Ids => "ids",
            Self::Arguments => "arguments",
            Self::Tools => "tools",
            Self::Content => "content",
            Self::Fields => "fields",
            Self::Reasoning => "reasoning",
            Self::Agents => "agents",
            Self::TextProtocols => "text-protocols",
            Self::Templates => "templates",
            Self::DataSets => "data-sets",
            Self::Files => "files",
        }
    }

    /// The heading of its rules.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Pairing => "Calls and their results",
            Self::Order => "Order of messages and results",
            Self::Ids => "Ids",
            Self::Arguments => "Arguments",
            Self::Tools => "Tool definitions",
            Self::Content => "Content of messages and results",
            Self::Fields => "Fields of the request",
            Self::Reasoning => "Reasoning",
            Self::Agents => "Behaviour of the agent",
            Self::TextProtocols => "Calls in plain text",
            Self::Templates => "Chat templates",
            Self::DataSets => "Training data",
            Self::Files => "Files",
        }
    }
}
