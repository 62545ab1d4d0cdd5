//! Agents with tools of their own: which of them stands for which standard tool.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use toolcheck_core::Error;
use toolcheck_serve::{ScriptedCall, Turn};

use crate::scenarios::Scenario;

/// The tools of an agent that can't be given the standard ones.
///
/// ```
/// use toolcheck_conform::{Profile, scenarios};
///
/// let profile = Profile::read(r#"
/// [tools.echo]
/// tool = "exec_command"
/// arguments = { cmd = "echo got {text}" }
/// "#)?;
/// let scenario = profile.apply(scenarios::find("single-call").expect("there is such a scenario"))?;
/// assert_eq!(scenario.turns[0].calls[0].tool, "exec_command");
/// # Ok::<(), toolcheck_conform::Error>(())
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Profile {
    /// The agent's tool for each standard tool.
    #[serde(default)]
    pub tools: BTreeMap<String, OwnTool>,
    /// The call with which a run ends, if it does not end with a text.
    #[serde(rename = "final")]
    pub last: Option<OwnTool>,
}

/// A tool of an agent, with the arguments that it is called with.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OwnTool {
    /// Its name.
    pub tool: String,
    /// Its arguments; `{text}` is replaced by the argument of the standard tool.
    #[serde(default)]
    pub arguments: Map<String, Json>,
}

/// The tools that every loop has.
pub(crate) const STANDARD: [&str; 6] = ["echo", "fail", "slow", "none", "empty", "optional"];
/// The argument of the standard tools.
const ARGUMENT: &str = "text";
/// What stands for it in a profile.
const PLACEHOLDER: &str = "{text}";
/// How an object with the argument of a standard tool begins.
const BEGINNING: &str = r#"{"text": ""#;
/// A character that nobody writes.
const MARK: char = '\u{F8FF}';

impl Profile {
    /// Reads a profile: TOML with a table `[tools.NAME]` for each standard tool, and `final`.
    ///
    /// # Errors
    ///
    /// It is not TOML of that shape, or names a tool that no scenario calls.
    pub fn read(text: &str) -> Result<Self, Error> {
        let profile: Self =
            toml::from_str(text).map_err(|error| Error::in_toml(text, error.span(), error.message()))?;
        let all: Vec<&str> = crate::scenarios::all()
            .iter()
            .flat_map(|scenario| scenario.tools.iter().map(String::as_str))
            .chain(STANDARD)
            .collect();
        match profile.tools.keys().find(|name| !all.contains(&name.as_str())) {
            Some(name) => Err(Error::new(format!("`{name}` is not a standard tool"))),
            None => Ok(profile),
        }
    }

    /// The scenario with the agent's own tools.
    ///
    /// # Errors
    ///
    /// The agent has no tool for one that is called, or no way to say what the model says of it.
    pub fn apply(&self, scenario: &Scenario) -> Result<Scenario, Error> {
        let turns: Result<Vec<Turn>, Error> =
            scenario.turns.iter().map(|turn| self.turn(turn, scenario)).collect();
        Ok(Scenario {
            turns: turns?,
            as_written: scenario.turns.clone(),
            // An agent has its own tools anyway, but a loop declares those that it is asked for.
            tools: scenario.tools.iter().filter(|name| self.keeps(name)).cloned().collect(),
            final_tool: self.last.as_ref().map(|last| last.tool.clone()),
            ..scenario.clone()
        })
    }

    /// Whether a standard tool has its own name.
    fn keeps(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|own| own.tool == name)
    }

    fn turn(&self, turn: &Turn, scenario: &Scenario) -> Result<Turn, Error> {
        let mut own = turn.clone();
        for call in &mut own.calls {
            self.call(call, scenario)?;
        }
        let ends = turn.calls.is_empty() && turn.status.is_none() && turn.stop.is_none();
        if let Some(last) = self.last.as_ref().filter(|_| ends && !turn.text.is_empty()) {
            own.text.clear();
            own.calls = vec![ScriptedCall::with(&*last.tool, Json::Object(last.filled(&turn.text)))];
        }
        Ok(own)
    }

    fn call(&self, call: &mut ScriptedCall, scenario: &Scenario) -> Result<(), Error> {
        let name = call.tool.clone();
        let Some(own) = self.tools.get(&name) else {
            // A tool that no agent has stays one.
            return if STANDARD.contains(&&*name) || scenario.tools.contains(&name) {
                Err(Error::new(format!("the profile has no tool for `{name}`")))
            } else {
                Ok(())
            };
        };
        call.tool.clone_from(&own.tool);
        if let Some(raw) = &call.raw {
            let cannot = || Error::new(format!("the profile cannot say `{raw}` of `{name}`"));
            call.raw = Some(own.raw(raw).ok_or_else(cannot)?);
        }
        if let Some(arguments) = &call.arguments {
            let own = own.arguments_of(arguments);
            call.arguments =
                Some(own.ok_or_else(|| Error::new(format!("`{name}` is called with arguments of its own")))?);
        }
        Ok(())
    }
}

impl OwnTool {
    fn filled(&self, text: &str) -> Map<String, Json> {
        let mut arguments = Json::Object(self.arguments.clone());
        fill(&mut arguments, text);
        match arguments {
            Json::Object(arguments) => arguments,
            _ => Map::new(),
        }
    }

    /// The arguments for those of the standard tool; `None` if those are others than the tool has.
    fn arguments_of(&self, arguments: &Map<String, Json>) -> Option<Map<String, Json>> {
        match arguments.get(ARGUMENT) {
            Some(Json::String(text)) if arguments.len() == 1 => Some(self.filled(text)),
            None if arguments.is_empty() => Some(self.filled("")),
            _ => None,
        }
    }

    /// What is wrong with a text in place of arguments, of the agent's own.
    fn raw(&self, raw: &str) -> Option<String> {
        match serde_json::from_str(raw) {
            Ok(Json::Object(arguments)) => Some(Json::Object(self.arguments_of(&arguments)?).to_string()),
            // JSON in a string.
            Ok(Json::String(inner)) => Some(Json::from(self.raw(&inner)?).to_string()),
            // A list, `null`: no tool takes them.
            Ok(_) => Some(raw.to_owned()),
            Err(_) if raw.is_empty() => Some(String::new()),
            Err(_) => self.broken(raw),
        }
    }

    /// Arguments that break off, or that are written as Python writes them.
    fn broken(&self, raw: &str) -> Option<String> {
        if let Some(text) = raw.strip_prefix(BEGINNING) {
            let whole = Json::Object(self.filled(&format!("{text}{MARK}"))).to_string();
            return whole.split_once(MARK).map(|(before, _)| before.to_owned());
        }
        if BEGINNING.starts_with(raw) {
            let whole = Json::Object(self.filled("")).to_string();
            // A few characters are never all of it: what follows is at least an end.
            return Some(whole.chars().take(raw.len()).collect()).filter(|cut| *cut != whole);
        }
        let quoted = raw.replace('\'', "\"");
        let arguments: Map<String, Json> = serde_json::from_str(&quoted).ok()?;
        Some(Json::Object(self.arguments_of(&arguments)?).to_string().replace('"', "'"))
    }
}

fn fill(value: &mut Json, text: &str) {
    match value {
        Json::String(template) => *template = template.replace(PLACEHOLDER, text),
        Json::Array(elements) => elements.iter_mut().for_each(|element| fill(element, text)),
        Json::Object(members) => members.values_mut().for_each(|member| fill(member, text)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scenarios;

    fn profile(more: &str) -> Profile {
        let text = format!(
            r#"
            {more}
            [tools.echo]
            tool = "exec_command"
            arguments = {{ cmd = "echo got {{text}}" }}
            [tools.optional]
            tool = "exec_command"
            arguments = {{ cmd = "echo got {{text}}" }}
            [tools.none]
            tool = "update_plan"
            "#
        );
        Profile::read(&text).expect("it can be read")
    }

    fn applied(id: &str, more: &str) -> Result<Vec<Turn>, String> {
        let scenario = scenarios::find(id).expect("there is such a scenario");
        profile(more).apply(scenario).map(|own| own.turns).map_err(|error| error.to_string())
    }

    /// The arguments of the first call, as text.
    fn raw(id: &str) -> Result<String, String> {
        let turns = applied(id, "")?;
        let call = &turns[0].calls[0];
        let arguments = call.arguments.clone().map(Json::Object);
        Ok(call.raw.clone().or(arguments.map(|arguments| arguments.to_string())).unwrap_or_default())
    }

    #[test]
    fn calls_become_those_of_the_agent() {
        let turns = applied("parallel-calls", "").expect("the tools are there");
        let calls = turns[0].calls.iter().map(|call| (&*call.tool, call.arguments.clone().map(Json::Object)));
        let own = |text: &str| ("exec_command", Some(json!({"cmd": format!("echo got {text}")})));
        assert_eq!(calls.collect::<Vec<_>>(), [own("one"), own("two")]);
        assert_eq!(turns[1], Turn::text("All done."));
        // What nobody has stays so.
        let turns = applied("unknown-beside-known", "").expect("the tools are there");
        assert_eq!(turns[0].calls[1].tool, "vanished");
    }

    #[test]
    fn a_run_ends_with_a_call() {
        let more = r#"final = { tool = "final_answer", arguments = { answer = "{text}" } }"#;
        let turns = applied("single-call", more).expect("the tools are there");
        assert_eq!(
            turns[1],
            Turn::calls([ScriptedCall::with("final_answer", json!({"answer": "All done."}))])
        );
        // A turn with a call is none that ends.
        let turns = applied("text-beside-call", more).expect("the tools are there");
        assert_eq!((&*turns[0].text, &*turns[0].calls[0].tool), ("Let me look.", "exec_command"));
        // What the run is held against is what the scenario says.
        let scenario = profile(more).apply(&scenarios::all()[0]).expect("the tools are there");
        assert_eq!(scenario.said(), scenarios::all()[0].turns);
        assert_eq!(scenario.final_tool.as_deref(), Some("final_answer"));
        let tools = |more| profile(more).apply(scenarios::find("sub-agent-ends").unwrap()).unwrap().tools;
        assert_eq!(
            tools("tools.delegate = { tool = \"delegate\", arguments = { text = \"{text}\" } }"),
            ["delegate"]
        );
        assert!(tools("tools.delegate = { tool = \"spawn\", arguments = { text = \"{text}\" } }").is_empty());
    }

    #[test]
    fn broken_arguments_stay_broken() {
        assert_eq!(raw("broken-arguments"), Ok(r#"{"cmd":"echo got on"#.to_owned()));
        assert_eq!(raw("cut-off-optional"), Ok(r#"{"cm"#.to_owned()));
        assert_eq!(raw("array-arguments"), Ok(r#"["one"]"#.to_owned()));
        assert_eq!(raw("null-arguments"), Ok("null".to_owned()));
        assert_eq!(raw("no-arguments-empty-string"), Ok(String::new()));
        assert_eq!(raw("double-encoded-arguments"), Ok(r#""{\"cmd\":\"echo got one\"}""#.to_owned()));
        assert_eq!(raw("python-arguments"), Ok("{'cmd':'echo got one'}".to_owned()));
    }
}
