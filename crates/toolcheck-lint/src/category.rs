//! The categories of rules, for lists of them.

use toolcheck_core::names;

names! {
    /// The category of a rule.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Category {
        /// Which result answers which call.
        Pairing = "pairing",
        /// The order of messages, calls and results.
        Order = "order",
        /// Ids of calls and items.
        Ids = "ids",
        /// The arguments of calls.
        Arguments = "arguments",
        /// The tools that a request declares.
        Tools = "tools",
        /// Text, images and results.
        Content = "content",
        /// The keys of a request.
        Fields = "fields",
        /// The reasoning of a model.
        Reasoning = "reasoning",
        /// The behaviour of an agent: how it handles failing calls, and the commands that it runs.
        Agents = "agents",
        /// Calls that agents write into plain text.
        TextProtocols = "text-protocols",
        /// What the chat template of a model makes of a request.
        Templates = "templates",
        /// Training examples.
        DataSets = "data-sets",
        /// The text of the file.
        Files = "files",
    }
    /// Its name in JSON.
    id
}

impl Category {
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
