//! The chat template of a model.

/// The chat template of a model.
#[derive(Debug)]
pub struct ChatTemplate {
    #[cfg(feature = "template")]
    template: toolcheck_template::Template,
    #[cfg(not(feature = "template"))]
    never: std::convert::Infallible,
}

#[cfg(feature = "template")]
impl From<toolcheck_template::Template> for ChatTemplate {
    fn from(template: toolcheck_template::Template) -> Self {
        Self { template }
    }
}

#[cfg(feature = "template")]
impl ChatTemplate {
    /// The template.
    pub fn template(&self) -> &toolcheck_template::Template {
        &self.template
    }

    pub(crate) fn contains(&self, text: &str) -> bool {
        self.template.source(true).contains(text)
    }
}

#[cfg(not(feature = "template"))]
impl ChatTemplate {
    pub(crate) fn contains(&self, _: &str) -> bool {
        self.never()
    }

    /// Anything, because there is none.
    pub(crate) fn never<T>(&self) -> T {
        match self.never {}
    }
}
