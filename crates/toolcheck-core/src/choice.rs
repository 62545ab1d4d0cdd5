//! What a choice of a tool says, in whichever API's form it is written.

use std::borrow::Cow;

use toolcheck_json::Value;

use crate::fix_style::FixStyle;

/// The keys under which APIs have the choice of a tool.
const KEYS: [&str; 5] = ["tool_choice", "toolChoice", "function_call", "toolConfig", "tool_config"];

/// Whether an API has the choice of a tool under a key.
pub fn is_choice_key(key: &str) -> bool {
    KEYS.contains(&key)
}

/// Whether an API has what a choice says under a key, or under one inside that key.
pub fn is_in_choice(key: &str) -> bool {
    is_choice_key(key) || key == "functionCallingConfig"
}

/// What a choice says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chosen<'s> {
    /// The model decides.
    Free,
    /// Some tool.
    Any,
    /// No tool.
    Nothing,
    /// The tool with this name.
    Tool(Cow<'s, str>),
}

/// What a choice says, if it says no more than that.
pub(crate) fn chosen<'s>(value: Value<'_, 's>) -> Option<Chosen<'s>> {
    let (mut mode, mut name) = (None, None);
    read(value, &mut mode, &mut name, 0)?;
    match (mode.as_deref(), name) {
        (Some("auto"), None) => Some(Chosen::Free),
        (Some("any" | "required"), None) => Some(Chosen::Any),
        (Some("none"), None) => Some(Chosen::Nothing),
        (Some("tool" | "function") | None, Some(name)) => Some(Chosen::Tool(name.as_str()?)),
        // The only name that may be called.
        (Some("any"), Some(name)) if name.key_text().is_none() => Some(Chosen::Tool(name.as_str()?)),
        _ => None,
    }
}

/// Reads the word and the name in a choice; `None` if there is anything else.
fn read<'d, 's>(
    value: Value<'d, 's>,
    mode: &mut Option<String>,
    name: &mut Option<Value<'d, 's>>,
    depth: usize,
) -> Option<()> {
    if let Some(word) = value.as_str() {
        return mode.replace(word.to_ascii_lowercase()).is_none().then_some(());
    }
    if !value.is_object() || depth > 2 {
        return None;
    }
    for member in value.members() {
        match &*member.key_text()? {
            "type" | "mode" if member.is_string() => read(member, mode, name, depth)?,
            "name" if name.is_none() => *name = Some(member),
            "allowedFunctionNames" if name.is_none() => {
                let mut names = member.elements();
                *name = Some(names.next().filter(|_| names.next().is_none())?);
            }
            key @ ("auto" | "any" | "none") if mode.is_none() && member.says_nothing() => {
                *mode = Some(key.to_owned());
            }
            "function" | "tool" | "functionCallingConfig" => read(member, mode, name, depth + 1)?,
            _ => return None,
        }
    }
    Some(())
}

impl FixStyle {
    /// A choice of a tool that is written as another API has it, as this one does: the same, and no more.
    pub fn choice_of(&self, value: Value<'_, '_>) -> Option<String> {
        let [free, any, nothing, tool] = self.choices;
        let form = match chosen(value)? {
            Chosen::Free => free,
            Chosen::Any => any,
            Chosen::Nothing => nothing,
            Chosen::Tool(name) => &tool.replace("NAME", &serde_json::Value::from(name).to_string()),
        };
        (!form.is_empty()).then(|| form.to_owned())
    }
}
