//! What lints bodies.

use std::path::PathBuf;
use std::sync::Arc;

use toolcheck_config::allow::{self, Allow};
use toolcheck_lint::{FileReport, Finding, FixOptions, Fixed, Options, Report, fix, lint, lint_opened};
use toolcheck_open::{Container, Limits};
use toolcheck_report::explained::Explained;
use toolcheck_report::{Outline, View, outline, outline_opened};

use crate::open::open;
use toolcheck_core::Error;

/// Lints bodies, one after the other or on several threads. It owns its settings, so that it can be kept; a clone of it is
/// cheap.
#[derive(Debug, Clone)]
pub struct Linter {
    name: Arc<str>,
    path: PathBuf,
    options: Options,
    allows: Arc<[Allow]>,
    container: Option<&'static Container>,
    limits: Limits,
}

impl Linter {
    /// A linter with options that are already read. `name` is the name of bodies in reports; `allows` are the findings that
    /// are not reported.
    pub fn new(name: &str, options: Options, allows: impl Into<Arc<[Allow]>>) -> Self {
        Self {
            name: name.into(),
            path: name.into(),
            options,
            allows: allows.into(),
            container: None,
            limits: Limits::default(),
        }
    }

    /// What all bodies are, if they hold requests inside something else; by default it is detected.
    pub fn container(mut self, container: Option<&'static Container>) -> Self {
        self.container = container;
        self
    }

    /// The name of bodies in reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How bodies are linted.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The findings that are not reported.
    pub fn allows(&self) -> &[Allow] {
        &self.allows
    }

    /// Lints a body: a request, a list of messages, an exchange, a log, a recording, or JSON Lines of them.
    pub fn lint(&self, body: &[u8]) -> FileReport {
        let mut file = match open(body, self.container, self.limits) {
            Some(opened) => lint_opened(&self.name, body, &opened, &self.options),
            None => lint(&self.name, body, &self.options),
        };
        // Which entries are unused is only known over all bodies.
        let _ = allow::apply(&self.allows, &self.path, &mut file);
        file
    }

    /// Lints a body, for the outputs of [`toolcheck_report::outputs`].
    pub fn report(&self, body: &[u8]) -> Report {
        Report::new(vec![self.lint(body)])
    }

    /// What an API's error means and, if there is a body, what in it causes the error. If the linter has a target, that is the
    /// API.
    pub fn explain_error(&self, error: &str, body: Option<&[u8]>) -> Explained {
        let Some(body) = body else { return Explained::without_request(error, &self.options) };
        let opened = open(body, self.container, self.limits);
        Explained::with_request(error, &self.options, |options| match &opened {
            Some(opened) => lint_opened(&self.name, body, opened, options),
            None => lint(&self.name, body, options),
        })
        .located_in(body)
    }

    /// Fixes a body. What the user allows is fixed too if it is wrong in the same record.
    ///
    /// # Errors
    ///
    /// If the body is a recording or an archive, which are not changed.
    pub fn fix<'b>(&self, body: &'b [u8], how: &FixOptions) -> Result<Fixed<'b>, Error> {
        match open(body, self.container, self.limits) {
            Some(opened) => Err(Error::new(format!("recordings are not changed ({})", opened.name))),
            None => Ok(fix(&self.name, body, &self.options, how)),
        }
    }

    /// Draws a body: its messages, calls and results, and what is wrong with them. The outputs of
    /// [`toolcheck_report::show`] write it.
    pub fn outline(&self, body: &[u8], view: &View<'_>) -> Outline {
        let allows: Vec<&Allow> = self.allows.iter().filter(|allow| allow.is_for(&self.path)).collect();
        let is_allowed = |finding: &Finding| allows.iter().any(|allow| allow.allows(finding));
        let view = view.is_allowed(&is_allowed);
        match open(body, self.container, self.limits) {
            Some(opened) => outline_opened(&self.name, body, &opened, &self.options, &view),
            None => outline(&self.name, body, &self.options, &view),
        }
    }
}
