//! Reads templates from the files that models come with.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

use toolcheck_json::{Document, Kind, Value};

use crate::error::LoadError;
use crate::gguf;
use crate::jinja::ast::Ast;
use crate::jinja::fault::{Fault, RefusalKind};
use crate::jinja::parse;
use crate::server::Abilities;

/// The files of a model folder that say something about its template, in the order in which they count. A caller reads
/// those that are there and gives them to [`Template::from_files`].
pub const FILES_OF_A_FOLDER: &[&str] =
    &["chat_template.jinja", "chat_template.json", "tokenizer_config.json", "special_tokens_map.json"];

/// Those of them that have special tokens.
pub const FILES_WITH_TOKENS: [&str; 2] = ["tokenizer_config.json", "special_tokens_map.json"];

/// The folder of a model folder whose files `NAME.jinja` are further templates, such as `tool_use`.
pub const ADDITIONAL_FOLDER: &str = "additional_chat_templates";

/// The most bytes of a template. Real ones have 30 kB at most.
const LONGEST: usize = 4 << 20;

/// A chat template, or several of one model.
#[derive(Debug, Default)]
pub struct Template {
    /// The templates with their names; that of a single one is `default`.
    variants: Vec<Variant>,
    /// The special tokens, such as `bos_token`, with their texts.
    tokens: Vec<(String, String)>,
}

#[derive(Debug)]
struct Variant {
    name: String,
    source: String,
    ast: Result<Ast, Box<Fault>>,
    /// What it reads, once somebody asked.
    abilities: OnceLock<Abilities>,
}

impl Template {
    /// Reads a template from a file, whose name and content say what it is: `tokenizer_config.json` or other JSON with
    /// `chat_template`, a GGUF file, or else the text of a template. Fails if the file has no template, or is
    /// malformed, or the template is. [`LoadError::MoreNeeded`] if it is the beginning of a GGUF file and too short:
    /// see [`Self::from_gguf`].
    pub fn from_file_bytes(name: &str, bytes: &[u8]) -> Result<Self, LoadError> {
        let mut template = Self::default();
        template.add_file(name, bytes)?;
        template.or(LoadError::NoTemplate)
    }

    /// Reads the template of a model folder from those of its files that are there: [`FILES_OF_A_FOLDER`], and those in
    /// [`ADDITIONAL_FOLDER`], each with its name. As in transformers, `chat_template.jinja` counts more than
    /// `chat_template.json`, and both more than `tokenizer_config.json`, which also has the special tokens. Those that
    /// it lacks may be in `special_tokens_map.json`. Fails if no file has a template, or one of them or the template is
    /// malformed.
    pub fn from_files(files: &[(&str, &[u8])]) -> Result<Self, LoadError> {
        let rank = |name: &str| {
            let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
            FILES_OF_A_FOLDER.iter().position(|own| *own == last)
        };
        let mut ordered: Vec<_> = files.iter().collect();
        ordered.sort_by_key(|(name, _)| rank(name).map_or(0, |rank| rank + 1));
        let mut template = Self::default();
        for (name, bytes) in ordered {
            template.add_file(name, bytes)?;
        }
        template.or(LoadError::NoneInFolder)
    }

    /// Reads the template of a GGUF file. Only the metadata are read, a few megabytes at the beginning; the reader
    /// should have a buffer. Fails if reading fails, or the file is malformed or has no template, or the template is
    /// malformed.
    ///
    /// ```
    /// use toolcheck_template::{LoadError, Template};
    ///
    /// let file: &[u8] = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    /// let error = Template::from_gguf(file).expect_err("a file without metadata");
    /// assert_eq!(error, LoadError::NoTemplate);
    /// ```
    pub fn from_gguf(reader: impl Read) -> Result<Self, LoadError> {
        let mut template = Self::default();
        template.add_gguf(&gguf::metadata(reader)?)?;
        template.or(LoadError::NoTemplate)
    }

    /// What was read, if it has a template and those that requests are rendered with are not wrong.
    fn or(self, none: LoadError) -> Result<Self, LoadError> {
        if self.variants.is_empty() {
            return Err(none);
        }
        let faults = [false, true].map(|has_tools| self.chosen(has_tools).as_ref().err());
        let broken = faults.into_iter().flatten().find(|fault| fault.kind == RefusalKind::Syntax);
        let broken =
            broken.map(|fault| LoadError::Syntax { line: fault.line.max(1), message: fault.message.clone() });
        broken.map_or(Ok(self), Err)
    }

    /// The template with this text, which knows these special tokens: names such as `bos_token` with their texts. A wrong one
    /// can be read, and rendering with it is refused.
    pub fn from_text(source: &str, tokens: &[(&str, &str)]) -> Self {
        let mut template = Self::default();
        template.add("default", source.to_owned());
        template.tokens =
            tokens.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        template
    }

    /// The names of the templates, such as `default` and `tool_use`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variants.iter().map(|variant| variant.name.as_str())
    }

    /// The text of the template that is taken for a request with or without tools.
    pub fn source(&self, has_tools: bool) -> &str {
        self.variant(has_tools).map_or("", |variant| &variant.source)
    }

    /// The special tokens: names such as `bos_token` with their texts.
    pub fn tokens(&self) -> &[(String, String)] {
        &self.tokens
    }

    fn variant(&self, has_tools: bool) -> Option<&Variant> {
        let named = |name: &str| self.variants.iter().find(|variant| variant.name == name);
        let tool_use = if has_tools { named("tool_use") } else { None };
        tool_use.or_else(|| named("default")).or(self.variants.first())
    }

    pub(crate) fn chosen(&self, has_tools: bool) -> &Result<Ast, Box<Fault>> {
        static NONE: Result<Ast, Box<Fault>> =
            Ok(Ast { names: Vec::new(), numbers: BTreeMap::new(), body: Vec::new(), macros: Vec::new() });
        self.variant(has_tools).map_or(&NONE, |variant| &variant.ast)
    }

    /// What is known of the template that is taken for a request with or without tools.
    pub(crate) fn known(&self, has_tools: bool) -> Option<&OnceLock<Abilities>> {
        self.variant(has_tools).map(|variant| &variant.abilities)
    }

    /// Adds a template, unless there is already one with this name.
    fn add(&mut self, name: &str, source: String) {
        if !self.variants.iter().any(|variant| variant.name == name) {
            let ast = parse::parse(&source);
            self.variants.push(Variant { name: name.to_owned(), source, ast, abilities: OnceLock::new() });
        }
    }

    /// Takes the special tokens that it lacks from another file of the model. Malformed JSON has none.
    pub fn add_tokens_of(&mut self, bytes: &[u8]) {
        let document = Document::read(bytes);
        if document.faults().is_empty() {
            self.add_tokens(document.root());
        }
    }

    fn add_tokens(&mut self, root: Value<'_, '_>) {
        for member in root.members() {
            let name = member.key_text().unwrap_or_default();
            let text = match member.kind() {
                Kind::String => member.as_str(),
                Kind::Object => member.get_str("content"),
                _ => None,
            };
            if let (Some(text), true) = (text, name.ends_with("_token")) {
                self.add_token(&name, text.into_owned());
            }
        }
    }

    fn add_token(&mut self, name: &str, text: String) {
        if !self.tokens.iter().any(|(own, _)| own == name) {
            self.tokens.push((name.to_owned(), text));
        }
    }

    fn add_file(&mut self, name: &str, bytes: &[u8]) -> Result<(), LoadError> {
        if bytes.starts_with(b"GGUF") || bytes.starts_with(b"FUGG") {
            return self.add_gguf(&gguf::metadata(bytes)?);
        }
        let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let is_template = [".jinja", ".jinja2", ".j2"].iter().any(|end| last.ends_with(end));
        let begins_object =
            bytes.trim_ascii_start().starts_with(b"{\"") || bytes.trim_ascii_start().starts_with(b"{\n");
        if !is_template && (last.ends_with(".json") || begins_object) {
            return self.add_json(bytes);
        }
        if bytes.len() > LONGEST {
            return Err(LoadError::TooLong);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| LoadError::NotText)?;
        let folder = name.rsplit(['/', '\\']).nth(1);
        let own = if folder == Some(ADDITIONAL_FOLDER) {
            last.split('.').next().unwrap_or(last)
        } else {
            "default"
        };
        self.add(own, text.to_owned());
        Ok(())
    }

    fn add_json(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let document = Document::read(bytes);
        if let Some(fault) = document.faults().first() {
            return Err(LoadError::Json(fault.kind.describe().to_owned()));
        }
        let root = document.root();
        self.add_tokens(root);
        match root.get("chat_template") {
            Some(template) if template.is_array() => {
                for named in template.children() {
                    let Some((name, source)) = named.get_str("name").zip(named.get_str("template")) else {
                        continue;
                    };
                    self.add(&name, checked(source.into_owned())?);
                }
            }
            Some(template) => {
                if let Some(source) = template.as_str() {
                    self.add("default", checked(source.into_owned())?);
                }
            }
            None => self.add_named(root)?,
        }
        Ok(())
    }

    /// Templates of an object with names and texts, as some tools write them.
    fn add_named(&mut self, root: Value<'_, '_>) -> Result<(), LoadError> {
        let Some(templates) = root.get("chat_templates") else { return Ok(()) };
        for member in templates.members() {
            if let Some((name, source)) = member.key_text().zip(member.as_str()) {
                self.add(&name, checked(source.into_owned())?);
            }
        }
        Ok(())
    }

    fn add_gguf(&mut self, metadata: &gguf::Metadata) -> Result<(), LoadError> {
        for (name, source) in &metadata.templates {
            self.add(name, checked(source.clone())?);
        }
        for (name, text) in &metadata.tokens {
            self.add_token(name, text.clone());
        }
        Ok(())
    }
}

fn checked(source: String) -> Result<String, LoadError> {
    if source.len() > LONGEST { Err(LoadError::TooLong) } else { Ok(source) }
}
