//! Reads the statements of a template.

use std::sync::Arc;

use super::ast::{Ast, Expr, For, Kind, Macro, Name, Node, Statement, Takes, Target};
use super::fault::{Fault, RefusalKind, Step};
use super::lex::{self, Token};

/// The most statements, or the most expressions, inside one another.
const DEEPEST: u32 = 60;

/// Statements that are known and not run.
const UNSUPPORTED: [&str; 5] = ["autoescape", "extends", "include", "import", "from"];

pub(crate) fn parse(source: &str) -> Step<Ast> {
    let tokens = lex::tokens(source)?;
    let mut parser = Parser { tokens, ..Parser::default() };
    let body = parser.statements(&[])?;
    parser.ast.body = body;
    Ok(parser.ast)
}

#[derive(Default)]
pub(crate) struct Parser {
    tokens: Vec<(u32, Token)>,
    at: usize,
    ast: Ast,
    depth: u32,
    /// How many conditions are around: an unknown filter inside one is an error only if it is reached.
    pub(crate) conditional: u32,
    loops: u32,
    /// The ends of the open statements, for errors.
    open: Vec<&'static [&'static str]>,
    takes: Takes,
    /// The operators of this statement. Each may be a level of its tree.
    pub(crate) operators: u32,
}

impl Parser {
    pub(crate) fn line(&self) -> u32 {
        self.tokens.get(self.at).map_or(0, |token| token.0)
    }

    pub(crate) fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |token| &token.1)
    }

    pub(crate) fn peek_second(&self) -> &Token {
        self.tokens.get(self.at + 1).map_or(&Token::End, |token| &token.1)
    }

    pub(crate) fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len());
        token
    }

    pub(crate) fn fault<T>(&self, message: impl Into<String>) -> Step<T> {
        Err(Fault::at(RefusalKind::Syntax, message, self.line()))
    }

    /// Whether the next token is this operator; steps over it then.
    pub(crate) fn skip_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(own) if *own == sign)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if &**name == word)
    }

    pub(crate) fn skip_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect_sign(&mut self, sign: &str) -> Step<()> {
        if self.skip_sign(sign) { Ok(()) } else { self.expected(sign) }
    }

    fn expected<T>(&self, what: &str) -> Step<T> {
        if *self.peek() == Token::End {
            return self.fault(format!("unexpected end of template, expected '{what}'."));
        }
        self.fault(format!("expected token '{what}', got '{}'", self.peek().describe()))
    }

    pub(crate) fn expect_name(&mut self) -> Step<Arc<str>> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.expected("name"),
        }
    }

    /// What is read up to a sign, with commas in between, and perhaps one at the end.
    pub(crate) fn separated<T>(
        &mut self,
        end: &str,
        mut read: impl FnMut(&mut Self) -> Step<T>,
    ) -> Step<Vec<T>> {
        let mut items = Vec::new();
        while !self.is_sign(end) {
            if !items.is_empty() {
                self.expect_sign(",")?;
                if self.is_sign(end) {
                    break;
                }
            }
            items.push(read(self)?);
        }
        self.expect_sign(end)?;
        Ok(items)
    }

    fn expect_word(&mut self, word: &str) -> Step<()> {
        if self.skip_word(word) { Ok(()) } else { self.expected(word) }
    }

    fn expect_end(&mut self) -> Step<()> {
        if *self.peek() == Token::BlockEnd {
            self.at += 1;
            return Ok(());
        }
        self.expected("end of statement block")
    }

    pub(crate) fn intern(&mut self, name: &str) -> Name {
        match name {
            "caller" => self.takes.caller = true,
            "kwargs" => self.takes.kwargs = true,
            "varargs" => self.takes.varargs = true,
            _ => {}
        }
        if let Some(known) = self.ast.numbers.get(name) {
            return *known;
        }
        let (name, number): (Arc<str>, _) = (name.into(), self.ast.names.len() as Name);
        self.ast.names.push(name.clone());
        self.ast.numbers.insert(name, number);
        number
    }

    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Step<T>) -> Step<T> {
        if self.depth >= DEEPEST {
            let message = "the template nests its statements or expressions too deeply";
            return Err(Fault::at(RefusalKind::TooMuch, message, self.line()));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// The statements up to a tag with one of these names, which is next then; its beginning is passed.
    fn statements(&mut self, ends: &'static [&'static str]) -> Step<Vec<Node>> {
        self.open.push(ends);
        let found = self.nested(|parser| parser.statements_inside(ends));
        self.open.pop();
        found
    }

    fn statements_inside(&mut self, ends: &[&str]) -> Step<Vec<Node>> {
        let mut body = Vec::new();
        loop {
            let line = self.line();
            self.operators = 0;
            match self.next() {
                Token::Data(text) => body.push(Node { line, kind: Statement::Data(text) }),
                Token::VariableBegin => {
                    let printed = self.tuple(true, &[])?;
                    if *self.peek() != Token::VariableEnd {
                        return self.expected("end of print statement");
                    }
                    self.at += 1;
                    body.push(Node { line, kind: Statement::Print(printed) });
                }
                Token::BlockBegin => {
                    if let Token::Name(name) = self.peek()
                        && ends.contains(&&**name)
                    {
                        return Ok(body);
                    }
                    let line = self.line();
                    self.statement(line, &mut body)?;
                    self.expect_end()?;
                }
                _ if ends.is_empty() => return Ok(body),
                _ => return self.unexpected_end(),
            }
        }
    }

    fn unexpected_end<T>(&self) -> Step<T> {
        let wanted = self.open.last().copied().unwrap_or_default();
        let list = wanted.iter().map(|end| format!("'{end}'")).collect::<Vec<_>>().join(" or ");
        let innermost = wanted.first().map_or("", |end| end.strip_prefix("end").unwrap_or(end));
        let innermost = if innermost == "elif" { "if" } else { innermost };
        self.fault(format!(
            "Unexpected end of template. Jinja was looking for the following tags: {list}. \
             The innermost block that needs to be closed is '{innermost}'."
        ))
    }

    fn statement(&mut self, line: u32, body: &mut Vec<Node>) -> Step<()> {
        let Token::Name(name) = self.peek().clone() else { return self.fault("tag name expected") };
        self.at += 1;
        let kind = match &*name {
            "for" => self.for_loop()?,
            "if" => self.condition()?,
            "set" => self.set()?,
            "macro" => self.macro_statement()?,
            "call" => self.call_block()?,
            "filter" => {
                let filter = self.filters(None, true)?;
                Statement::Filter(filter, self.body(&["endfilter"])?)
            }
            "with" => self.with()?,
            "block" => {
                self.expect_name()?;
                while matches!(self.peek(), Token::Name(_)) {
                    self.at += 1;
                }
                let inner = self.body(&["endblock"])?;
                if matches!(self.peek(), Token::Name(_)) {
                    self.at += 1;
                }
                Statement::Block(inner)
            }
            "generation" => {
                let loops = std::mem::take(&mut self.loops);
                let inner = self.body(&["endgeneration"])?;
                self.loops = loops;
                Statement::Generation(inner)
            }
            "break" | "continue" if self.loops == 0 => return self.fault(format!("'{name}' outside loop")),
            "break" => Statement::Break,
            "continue" => Statement::Continue,
            "print" => return self.print_statement(line, body),
            _ => match UNSUPPORTED.into_iter().find(|own| *own == &*name) {
                Some(what) => {
                    while !matches!(self.peek(), Token::BlockEnd | Token::End) {
                        self.at += 1;
                    }
                    Statement::Unsupported(what)
                }
                None => return self.unknown(&name),
            },
        };
        body.push(Node { line, kind });
        Ok(())
    }

    fn unknown<T>(&mut self, name: &str) -> Step<T> {
        self.at -= 1;
        let mut message = format!("Encountered unknown tag '{name}'.");
        if let Some(ends) = self.open.iter().rev().find(|ends| !ends.is_empty()) {
            let list = ends.iter().map(|end| format!("'{end}'")).collect::<Vec<_>>().join(" or ");
            message = format!(
                "Encountered unknown tag '{name}'. Jinja was looking for the following tags: {list}. \
                 The innermost block that needs to be closed is '{}'.",
                ends[0].strip_prefix("end").map_or("if", |name| if name.is_empty() { "if" } else { name })
            );
        }
        self.fault(message)
    }

    /// The body of a statement up to its end tag, whose name is passed.
    fn body(&mut self, ends: &'static [&'static str]) -> Step<Vec<Node>> {
        self.skip_sign(":");
        self.expect_end()?;
        let body = self.statements(ends)?;
        self.at += 1;
        Ok(body)
    }

    fn print_statement(&mut self, line: u32, body: &mut Vec<Node>) -> Step<()> {
        while *self.peek() != Token::BlockEnd {
            let printed = self.expression()?;
            body.push(Node { line, kind: Statement::Print(printed) });
            if !self.skip_sign(",") {
                break;
            }
        }
        Ok(())
    }

    fn for_loop(&mut self) -> Step<Statement> {
        let target = self.target()?;
        self.expect_word("in")?;
        let iterable = self.tuple(false, &["recursive"])?;
        let filter = if self.skip_word("if") { Some(self.expression()?) } else { None };
        let recursive = self.skip_word("recursive");
        self.skip_sign(":");
        self.expect_end()?;
        self.loops += 1;
        let body = self.statements(&["endfor", "else"])?;
        self.loops -= 1;
        let otherwise = if self.skip_word("else") { self.body(&["endfor"])? } else { Vec::new() };
        self.skip_word("endfor");
        Ok(Statement::For(Box::new(For { target, iterable, filter, body, otherwise, recursive })))
    }

    fn condition(&mut self) -> Step<Statement> {
        self.conditional += 1;
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            self.operators = 0;
            let test = self.tuple(false, &[])?;
            self.skip_sign(":");
            self.expect_end()?;
            branches.push((test, self.statements(&["elif", "else", "endif"])?));
            if self.skip_word("elif") {
                continue;
            }
            if self.skip_word("else") {
                otherwise = self.body(&["endif"])?;
            } else {
                self.at += 1;
            }
            break;
        }
        self.conditional -= 1;
        Ok(Statement::If { branches, otherwise })
    }

    fn set(&mut self) -> Step<Statement> {
        let target = self.target()?;
        if self.skip_sign("=") {
            return Ok(Statement::Set(target, self.tuple(true, &[])?));
        }
        let filter = if self.is_sign("|") { Some(self.filters(None, false)?) } else { None };
        Ok(Statement::SetBlock(target, filter, self.body(&["endset"])?))
    }

    fn with(&mut self) -> Step<Statement> {
        let mut values = Vec::new();
        while *self.peek() != Token::BlockEnd {
            if !values.is_empty() {
                self.expect_sign(",")?;
            }
            let name = self.expect_name()?;
            let target = Target::Name(self.intern(&name));
            self.expect_sign("=")?;
            values.push((target, self.expression()?));
        }
        Ok(Statement::With(values, self.body(&["endwith"])?))
    }

    fn macro_statement(&mut self) -> Step<Statement> {
        let name = self.expect_name()?;
        let parameters = self.signature()?;
        let (body, takes) = self.macro_body(&["endmacro"])?;
        let id = self.ast.macros.len() as u32;
        self.ast.macros.push(Macro { name: Some(name.clone()), parameters, body, takes });
        Ok(Statement::Macro(self.intern(&name), id))
    }

    fn call_block(&mut self) -> Step<Statement> {
        let parameters = if self.is_sign("(") { self.signature()? } else { Vec::new() };
        let call = self.expression()?;
        if !matches!(call.kind, Kind::Call(_)) {
            return self.fault("expected call");
        }
        let (body, takes) = self.macro_body(&["endcall"])?;
        let id = self.ast.macros.len() as u32;
        self.ast.macros.push(Macro { name: None, parameters, body, takes });
        Ok(Statement::Call(call, id))
    }

    fn macro_body(&mut self, ends: &'static [&'static str]) -> Step<(Vec<Node>, Takes)> {
        let outer = std::mem::take(&mut self.takes);
        let loops = std::mem::take(&mut self.loops);
        let body = self.body(ends)?;
        self.loops = loops;
        Ok((body, std::mem::replace(&mut self.takes, outer)))
    }

    fn signature(&mut self) -> Step<Vec<(Name, Option<Expr>)>> {
        self.expect_sign("(")?;
        let mut has_default = false;
        self.separated(")", |parser| {
            let name = parser.expect_name()?;
            let name = parser.intern(&name);
            let default = if parser.skip_sign("=") { Some(parser.expression()?) } else { None };
            if default.is_none() && has_default {
                return parser.fault("non-default argument follows default argument");
            }
            has_default = default.is_some();
            Ok((name, default))
        })
    }

    /// What is assigned to: a name, an attribute of a namespace, or several.
    fn target(&mut self) -> Step<Target> {
        let mut targets = Vec::new();
        let mut is_tuple = false;
        loop {
            if self.skip_sign("(") {
                targets.push(self.nested(Self::target)?);
                self.expect_sign(")")?;
            } else {
                targets.push(self.one_target()?);
            }
            if !self.skip_sign(",") {
                break;
            }
            is_tuple = true;
            if self.is_word("in") || self.is_sign("=") || self.is_sign(")") {
                break;
            }
        }
        match targets.pop() {
            Some(one) if !is_tuple => Ok(one),
            Some(last) => {
                targets.push(last);
                Ok(Target::Tuple(targets))
            }
            None => self.fault("expected a name"),
        }
    }

    fn one_target(&mut self) -> Step<Target> {
        if !matches!(self.peek(), Token::Name(_)) {
            return self.fault(format!("unexpected '{}'", self.peek().describe()));
        }
        let text = self.expect_name()?;
        if matches!(&*text, "true" | "false" | "none" | "True" | "False" | "None") {
            return self.fault(format!("can't assign to '{}'", text.to_lowercase()));
        }
        let name = self.intern(&text);
        if self.skip_sign(".") {
            return Ok(Target::Attribute(name, self.expect_name()?));
        }
        Ok(Target::Name(name))
    }
}
