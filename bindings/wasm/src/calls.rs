//! What can be asked.

use serde::Deserialize;
use serde_json::json;
use toolcheck_core::diff::Kind;
use toolcheck_core::endpoint::Endpoint;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::{formats, targets};
use toolcheck_embed::{Comparison, Linter, Settings, Side, fix_options};
use toolcheck_open::FileFormat;
use toolcheck_report::explained::Wording;
use toolcheck_report::fixed::plan_v1;
use toolcheck_report::outputs::json::report_v1;
use toolcheck_report::{Style, View, diff, outputs, shapes, show, unified};
use toolcheck_test::{ActualFinding, Difference, Expected};

/// An answer: JSON, and what is a text of its own.
pub(crate) struct Answer {
    pub(crate) json: String,
    pub(crate) text: Vec<u8>,
}

/// The first line of a request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    call: Call,
    /// The lengths of the parts that follow.
    parts: Vec<usize>,
    #[serde(default)]
    options: Options,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
enum Call {
    /// A report: the body, and the tools if there are any.
    Lint,
    /// A report as text: the same.
    Render,
    /// A picture: the same.
    Show,
    /// A body that is fixed: the same.
    Fix,
    /// What changed: the body before, and the one after.
    Diff,
    /// What an error means: its text, and the request if there is one.
    Explain,
    /// How a report differs from what is expected: the body, and the tools.
    Expect,
    /// What an address is for: the address.
    Endpoint,
    /// What is known of a model, or of all: its name if there is one.
    Models,
    /// The names of targets, formats and outputs.
    Names,
}

/// The options of all calls. Users write them, so what is not known is an error.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Options {
    name: Option<String>,
    target: Option<String>,
    format: Option<String>,
    kind: Option<String>,
    config: Option<String>,
    select: Option<Vec<String>>,
    extend_select: Option<Vec<String>>,
    ignore: Option<Vec<String>>,
    conversation: Option<String>,
    at: Option<String>,
    output: Option<String>,
    color: bool,
    width: Option<usize>,
    text: bool,
    all: bool,
    unsafe_fixes: bool,
    only: Vec<String>,
    place: Option<String>,
    unified: bool,
    before_format: Option<String>,
    after_format: Option<String>,
    allow: Vec<String>,
    expected: Vec<String>,
}

struct Parts<'r>(Vec<&'r [u8]>);

impl<'r> Parts<'r> {
    fn read(mut bytes: &'r [u8], lengths: &[usize]) -> Option<Self> {
        let mut parts = Vec::new();
        for length in lengths {
            let (part, rest) = bytes.split_at_checked(*length)?;
            parts.push(part);
            bytes = rest;
        }
        bytes.is_empty().then_some(Self(parts))
    }

    fn get(&self, at: usize) -> Option<&'r [u8]> {
        self.0.get(at).copied()
    }

    fn needed(&self, at: usize) -> Result<&'r [u8], String> {
        self.get(at).ok_or_else(|| "a part of the request is missing".to_owned())
    }
}

/// Answers a request; the error is for whoever wrote the call.
pub(crate) fn answer(request: &[u8]) -> Result<Answer, String> {
    let end = request.iter().position(|byte| *byte == b'\n').ok_or("the request has no first line")?;
    let (header, rest) = request.split_at(end);
    let Request { call, parts, options } = serde_json::from_slice(header).map_err(|error| {
        // The place in the line says nothing to the user.
        let error = error.to_string();
        error.split(" at line ").next().unwrap_or_default().to_owned()
    })?;
    let parts = Parts::read(&rest[1..], &parts).ok_or("the lengths of the parts are wrong")?;
    match call {
        Call::Lint => {
            let report = options.linter(&parts)?.report(parts.needed(0)?);
            to_answer(&report_v1(&report), Vec::new())
        }
        Call::Render => {
            let report = options.linter(&parts)?.report(parts.needed(0)?);
            let output = options.output.as_deref().unwrap_or("full");
            let output = outputs::find(output)
                .ok_or_else(|| unknown("output", output, outputs::ALL.iter().map(|output| output.id)))?;
            written(|out| (output.write)(&report, &options.style(), out))
        }
        Call::Show => options.show(&parts),
        Call::Fix => options.fix(&parts),
        Call::Diff => options.diff(&parts),
        Call::Explain => {
            let error = String::from_utf8_lossy(parts.needed(0)?);
            let linter = options.linter(&Parts(Vec::new()))?;
            let explained = linter.explain_error(&error, parts.get(1));
            let wording = Wording::new("request", "").style(options.style()).width(options.width);
            let mut text = Vec::new();
            explained.write(&wording, &mut text).map_err(|error| error.to_string())?;
            let mut json = explained.to_json();
            json["explained"] = json!(explained.is_explained());
            to_answer(&json, text)
        }
        Call::Expect => options.expect(&parts),
        Call::Endpoint => {
            let Endpoint { purpose, format, target, .. } =
                Endpoint::of(&String::from_utf8_lossy(parts.needed(0)?));
            let format = format.map(|format| format.id);
            let target = target.map(|target| &*target.id);
            to_answer(&json!({ "call": purpose.as_str(), "format": format, "target": target }), Vec::new())
        }
        Call::Models => {
            let model = parts.get(0).map(String::from_utf8_lossy);
            to_answer(&shapes::models_json(model.as_deref()), Vec::new())
        }
        Call::Names => {
            let targets = targets::all()
                .map(|target| json!({"id": &*target.id, "name": target.name, "format": target.format}));
            let formats = FileFormat::all().map(FileFormat::id);
            let kinds = TranscriptKind::ALL.iter().map(|kind| kind.as_str());
            to_answer(
                &json!({
                    "version": env!("CARGO_PKG_VERSION"),
                    "targets": targets.collect::<Vec<_>>(),
                    "formats": formats.collect::<Vec<_>>(),
                    "kinds": kinds.collect::<Vec<_>>(),
                }),
                Vec::new(),
            )
        }
    }
}

impl Options {
    fn linter(&self, parts: &Parts<'_>) -> Result<Linter, String> {
        self.settings(parts).map(|settings| settings.linter()).map_err(|error| error.to_string())
    }

    fn settings(&self, parts: &Parts<'_>) -> Result<Settings, toolcheck_embed::Error> {
        fn names(rules: Option<&Vec<String>>) -> Option<impl Iterator<Item = &str>> {
            rules.map(|rules| rules.iter().map(String::as_str))
        }
        Settings::new()
            .given(self.config.as_deref(), Settings::config)?
            .given(self.name.as_deref(), |own, name| Ok(own.name(name)))?
            .given(self.format.as_deref(), Settings::format)?
            .given(self.target.as_deref(), Settings::target)?
            .given(self.kind.as_deref(), Settings::kind)?
            .given(parts.get(1), Settings::tools)?
            .given(names(self.select.as_ref()), Settings::select)?
            .given(names(self.extend_select.as_ref()), Settings::extend_select)?
            .given(names(self.ignore.as_ref()), Settings::ignore)?
            .given(self.conversation.as_deref(), |own, conversation| Ok(own.conversation(conversation)))?
            .given(self.at.as_deref(), Settings::at)
    }

    fn style(&self) -> Style {
        let style = Style::new().color(self.color);
        self.width.map_or(style, |width| style.width(width))
    }

    fn show(&self, parts: &Parts<'_>) -> Result<Answer, String> {
        let output = self.output.as_deref().unwrap_or("html");
        let output = show::outputs::find(output)
            .ok_or_else(|| unknown("output", output, show::outputs::ALL.iter().map(|output| output.id)))?;
        let view = View::new().shows_all(self.all).shows_text(self.text).as_request(output.is_request);
        let outline = self.linter(parts)?.outline(parts.needed(0)?, &view);
        written(|out| (output.write)(&outline, &self.style(), out))
    }

    fn fix(&self, parts: &Parts<'_>) -> Result<Answer, String> {
        let body = parts.needed(0)?;
        let linter = self.linter(parts)?;
        let only = self.only.iter().map(String::as_str);
        let how = fix_options(self.unsafe_fixes, only, self.place.as_deref());
        let how = how.map_err(|error| error.to_string())?;
        let how = if self.select.is_some() { how.accepted(true) } else { how };
        let fixed = linter.fix(body, &how).map_err(|error| error.to_string())?;
        let mut json = plan_v1(linter.name(), body, &fixed);
        json["changed"] = json!(!fixed.is_unchanged());
        if self.unified {
            let mut text = Vec::new();
            unified::write(linter.name(), body, &fixed.bytes, &mut text)
                .map_err(|error| error.to_string())?;
            json["diff"] = json!(String::from_utf8_lossy(&text));
        }
        to_answer(&json, fixed.bytes.into_owned())
    }

    fn diff(&self, parts: &Parts<'_>) -> Result<Answer, String> {
        let side = |at, name: &str, format: Option<&String>| {
            let format = format.map(|id| {
                FileFormat::named(id)
                    .ok_or_else(|| unknown("format", id, FileFormat::all().map(FileFormat::id)))
            });
            Ok::<_, String>(Side::new(name, parts.needed(at)?).format(format.transpose()?))
        };
        let (before, after) =
            (side(0, "before", self.before_format.as_ref())?, side(1, "after", self.after_format.as_ref())?);
        let target = self
            .target
            .as_ref()
            .map(|id| targets::named(id).ok_or_else(|| unknown("target", id, targets::ids())));
        let bound_as = target.transpose()?.and_then(|target| formats::find(target.format.as_deref()?));
        let kind = |id: &String| {
            Kind::ALL
                .iter()
                .copied()
                .find(|kind| kind.id() == id)
                .ok_or_else(|| unknown("change", id, Kind::ALL.iter().map(|kind| kind.id())))
        };
        let allowed = self.allow.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
        let comparison =
            Comparison::new(before, after, bound_as).map_err(|error| error.to_string())?.allow(&allowed);
        let output = self.output.as_deref().unwrap_or("json");
        let output = diff::find(output)
            .ok_or_else(|| unknown("output", output, diff::ALL.iter().map(|output| output.id)))?;
        let unread: usize = comparison.unread().map(|(_, unread)| unread).sum();
        let left_out: Vec<String> =
            comparison.left_out().map(|(name, what)| format!("{name}: {what}")).collect();
        let mut text = Vec::new();
        comparison.write(output, &self.style(), self.text, &mut text).map_err(|error| error.to_string())?;
        to_answer(&json!({"unread": unread, "leftOut": left_out}), text)
    }

    fn expect(&self, parts: &Parts<'_>) -> Result<Answer, String> {
        let expected =
            self.expected.iter().map(|text| text.parse::<Expected>().map_err(|error| error.to_string()));
        let expected = expected.collect::<Result<Vec<_>, _>>()?;
        let linter = self.linter(parts)?;
        let file = linter.lint(parts.needed(0)?);
        let found: Vec<ActualFinding> = file.findings.iter().map(ActualFinding::from).collect();
        let difference = Difference::of(&expected, &found);
        to_answer(
            &json!({"pass": difference.is_empty(), "lines": difference.lines(linter.name())}),
            Vec::new(),
        )
    }
}

fn to_answer(json: &impl serde::Serialize, text: Vec<u8>) -> Result<Answer, String> {
    let json = serde_json::to_string(json).map_err(|error| error.to_string())?;
    Ok(Answer { json, text })
}

/// An answer that is a text.
fn written(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<Answer, String> {
    let mut text = Vec::new();
    write(&mut text).map_err(|error| error.to_string())?;
    Ok(Answer { json: "{}".to_owned(), text })
}

fn unknown<'i>(noun: &str, id: &str, known: impl Iterator<Item = &'i str>) -> String {
    let known: Vec<&str> = known.collect();
    format!("there is no {noun} `{}`; there are {}", toolcheck_core::text::shown(id), known.join(", "))
}
