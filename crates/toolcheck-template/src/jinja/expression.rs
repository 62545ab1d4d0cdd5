//! Reads the expressions of a template.

use std::sync::Arc;

use super::ast::{Applied, Arguments, Binary, Comparison, Expr, Kind, Literal};
use super::fault::Step;
use super::lex::Token;
use super::parse::Parser;
use super::{filters, predicates};

/// The most operators of one statement, because each may be one level of the tree.
const MOST_OPERATORS: u32 = 1500;

impl Parser {
    pub(crate) fn expression(&mut self) -> Step<Expr> {
        self.nested(|parser| parser.condition_expression(true))
    }

    /// One or more expressions with commas between them.
    pub(crate) fn tuple(&mut self, with_condition: bool, ends: &[&str]) -> Step<Expr> {
        let line = self.line();
        let mut items = Vec::new();
        let mut is_tuple = false;
        loop {
            let at_end = matches!(self.peek(), Token::VariableEnd | Token::BlockEnd)
                || self.is_sign(")")
                || ends.iter().any(|end| self.is_word(end));
            if at_end {
                break;
            }
            items.push(self.nested(|parser| parser.condition_expression(with_condition))?);
            if !self.skip_sign(",") {
                break;
            }
            is_tuple = true;
        }
        match items.pop() {
            Some(only) if !is_tuple => Ok(only),
            Some(last) => {
                items.push(last);
                Ok(Expr { line, kind: Kind::Tuple(items) })
            }
            None => self.fault(format!("Expected an expression, got '{}'", self.peek().describe())),
        }
    }

    fn condition_expression(&mut self, with_condition: bool) -> Step<Expr> {
        let line = self.line();
        let mut found = self.or()?;
        if !with_condition {
            return Ok(found);
        }
        while self.skip_word("if") {
            self.operator()?;
            self.conditional += 1;
            let test = self.or()?;
            let otherwise = if self.skip_word("else") {
                Some(self.nested(|p| p.condition_expression(true))?)
            } else {
                None
            };
            self.conditional -= 1;
            found = Expr { line, kind: Kind::Cond(Box::new((found, test, otherwise))) };
        }
        Ok(found)
    }

    fn operator(&mut self) -> Step<()> {
        self.operators += 1;
        if self.operators <= MOST_OPERATORS {
            return Ok(());
        }
        let message = "the template has too many operators in one statement";
        Err(super::fault::Fault::at(super::fault::RefusalKind::TooMuch, message, self.line()))
    }

    fn or(&mut self) -> Step<Expr> {
        self.joined("or", Kind::Or, Self::and)
    }

    fn and(&mut self) -> Step<Expr> {
        self.joined("and", Kind::And, Self::not)
    }

    fn joined(
        &mut self,
        word: &str,
        join: fn(Box<(Expr, Expr)>) -> Kind,
        inner: fn(&mut Self) -> Step<Expr>,
    ) -> Step<Expr> {
        let line = self.line();
        let mut left = inner(self)?;
        while self.skip_word(word) {
            self.operator()?;
            left = Expr { line, kind: join(Box::new((left, inner(self)?))) };
        }
        Ok(left)
    }

    fn not(&mut self) -> Step<Expr> {
        let line = self.line();
        if self.skip_word("not") {
            let inner = self.nested(Self::not)?;
            return Ok(Expr { line, kind: Kind::Not(Box::new(inner)) });
        }
        self.compare()
    }

    fn compare(&mut self) -> Step<Expr> {
        let line = self.line();
        let left = self.sum()?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison() {
            rest.push((comparison, self.sum()?));
        }
        if rest.is_empty() {
            return Ok(left);
        }
        Ok(Expr { line, kind: Kind::Compare(Box::new(left), rest) })
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let (found, length) = match self.peek() {
            Token::Sign("==") => (Comparison::Equal, 1),
            Token::Sign("!=") => (Comparison::Unequal, 1),
            Token::Sign("<") => (Comparison::Less, 1),
            Token::Sign("<=") => (Comparison::LessEqual, 1),
            Token::Sign(">") => (Comparison::Greater, 1),
            Token::Sign(">=") => (Comparison::GreaterEqual, 1),
            Token::Name(name) if &**name == "in" => (Comparison::In, 1),
            Token::Name(name) if &**name == "not" => match self.peek_second() {
                Token::Name(second) if &**second == "in" => (Comparison::NotIn, 2),
                _ => return None,
            },
            _ => return None,
        };
        for _ in 0..length {
            self.next();
        }
        Some(found)
    }

    fn binary(&mut self, signs: &[(&str, Binary)], inner: fn(&mut Self) -> Step<Expr>) -> Step<Expr> {
        let line = self.line();
        let mut left = inner(self)?;
        while let Some((_, operator)) = signs.iter().find(|(sign, _)| self.is_sign(sign)) {
            self.operator()?;
            self.next();
            left = Expr { line, kind: Kind::Binary(*operator, Box::new((left, inner(self)?))) };
        }
        Ok(left)
    }

    fn sum(&mut self) -> Step<Expr> {
        self.binary(&[("+", Binary::Add), ("-", Binary::Sub)], Self::concat)
    }

    fn concat(&mut self) -> Step<Expr> {
        let line = self.line();
        let first = self.product()?;
        if !self.is_sign("~") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.skip_sign("~") {
            parts.push(self.product()?);
        }
        Ok(Expr { line, kind: Kind::Concat(parts) })
    }

    fn product(&mut self) -> Step<Expr> {
        let signs = [("*", Binary::Mul), ("/", Binary::Div), ("//", Binary::FloorDiv), ("%", Binary::Mod)];
        self.binary(&signs, Self::power)
    }

    fn power(&mut self) -> Step<Expr> {
        self.binary(&[("**", Binary::Pow)], |parser| parser.unary(true))
    }

    fn unary(&mut self, with_filters: bool) -> Step<Expr> {
        let line = self.line();
        let found = if self.skip_sign("-") {
            let inner = self.nested(|parser| parser.unary(false))?;
            Expr { line, kind: Kind::Negative(Box::new(inner)) }
        } else if self.skip_sign("+") {
            let inner = self.nested(|parser| parser.unary(false))?;
            Expr { line, kind: Kind::Positive(Box::new(inner)) }
        } else {
            self.primary()?
        };
        let found = self.postfix(found)?;
        if with_filters { self.filtered(found) } else { Ok(found) }
    }

    fn primary(&mut self) -> Step<Expr> {
        let line = self.line();
        let kind = match self.next() {
            Token::Name(name) => match &*name {
                "true" | "True" => Kind::Const(Literal::Bool(true)),
                "false" | "False" => Kind::Const(Literal::Bool(false)),
                "none" | "None" => Kind::Const(Literal::None),
                _ => Kind::Name(self.intern(&name)),
            },
            Token::Str(mut text) => {
                while let Token::Str(more) = self.peek() {
                    text.push_str(more);
                    self.next();
                }
                Kind::Const(Literal::Str(text.into()))
            }
            Token::Int(number) => Kind::Const(Literal::Int(number)),
            Token::Float(number) => Kind::Const(Literal::Float(number)),
            Token::Sign("(") => {
                if self.skip_sign(")") {
                    Kind::Tuple(Vec::new())
                } else {
                    let inner = self.tuple(true, &[])?;
                    self.expect_sign(")")?;
                    return Ok(inner);
                }
            }
            Token::Sign("[") => Kind::List(self.separated("]", Self::expression)?),
            Token::Sign("{") => Kind::Dict(self.separated("}", |parser| {
                let key = parser.expression()?;
                parser.expect_sign(":")?;
                Ok((key, parser.expression()?))
            })?),
            other => {
                let message = format!("unexpected '{}'", other.describe());
                return Err(super::fault::Fault::at(super::fault::RefusalKind::Syntax, message, line));
            }
        };
        Ok(Expr { line, kind })
    }

    fn postfix(&mut self, mut found: Expr) -> Step<Expr> {
        loop {
            found = match self.peek() {
                Token::Sign("." | "[") => self.subscript(found)?,
                Token::Sign("(") => self.call(found)?,
                _ => return Ok(found),
            };
            self.operator()?;
        }
    }

    fn filtered(&mut self, mut found: Expr) -> Step<Expr> {
        loop {
            found = match self.peek() {
                Token::Sign("|") => self.filters(Some(found), false)?,
                Token::Name(name) if &**name == "is" => self.test(found)?,
                Token::Sign("(") => self.call(found)?,
                _ => return Ok(found),
            };
            self.operator()?;
        }
    }

    fn call(&mut self, callee: Expr) -> Step<Expr> {
        let line = self.line();
        let arguments = self.arguments()?;
        Ok(Expr { line, kind: Kind::Call(Box::new((callee, arguments))) })
    }

    fn subscript(&mut self, value: Expr) -> Step<Expr> {
        let line = self.line();
        if self.skip_sign(".") {
            let kind = match self.next() {
                Token::Name(name) => Kind::Attribute(Box::new(value), name),
                Token::Int(number) => {
                    let index = Expr { line, kind: Kind::Const(Literal::Int(number)) };
                    Kind::Item(Box::new((value, index)))
                }
                _ => return self.fault("expected name or number"),
            };
            return Ok(Expr { line, kind });
        }
        self.expect_sign("[")?;
        let mut items = Vec::new();
        while !self.is_sign("]") {
            if !items.is_empty() {
                self.expect_sign(",")?;
            }
            items.push(self.subscribed()?);
        }
        self.expect_sign("]")?;
        let Some(last) = items.pop() else { return self.fault("expected subscript expression") };
        let kind = match last {
            Subscript::Slice(slice) if items.is_empty() => Kind::Slice(Box::new((value, *slice))),
            Subscript::Item(item) if items.is_empty() => Kind::Item(Box::new((value, item))),
            _ => return self.fault("several subscripts at once are not supported"),
        };
        Ok(Expr { line, kind })
    }

    fn subscribed(&mut self) -> Step<Subscript> {
        let mut parts = [None, None, None];
        let mut at = 0;
        if !self.is_sign(":") {
            let first = self.expression()?;
            if !self.is_sign(":") {
                return Ok(Subscript::Item(first));
            }
            parts[0] = Some(first);
        }
        while self.skip_sign(":") {
            at += 1;
            if at > 2 {
                return self.fault("expected token ']', got ':'");
            }
            if !self.is_sign("]") && !self.is_sign(",") && !self.is_sign(":") {
                parts[at] = Some(self.expression()?);
            }
        }
        Ok(Subscript::Slice(Box::new(parts)))
    }

    pub(crate) fn filters(&mut self, mut input: Option<Expr>, mut starts: bool) -> Step<Expr> {
        loop {
            self.operator()?;
            if !starts {
                self.expect_sign("|")?;
            }
            starts = false;
            let line = self.line();
            let name = self.dotted()?;
            if !filters::is_known(&name) && self.conditional == 0 {
                return self.fault(format!("No filter named '{name}'."));
            }
            let arguments = if self.is_sign("(") { self.arguments()? } else { Arguments::default() };
            let applied = Applied { input: input.take(), name, arguments };
            let found = Expr { line, kind: Kind::Filter(Box::new(applied)) };
            if input.is_none() && !self.is_sign("|") {
                return Ok(found);
            }
            input = Some(found);
        }
    }

    fn dotted(&mut self) -> Step<Arc<str>> {
        let mut name = self.expect_name()?.to_string();
        while self.skip_sign(".") {
            name.push('.');
            name.push_str(&self.expect_name()?);
        }
        Ok(name.into())
    }

    fn test(&mut self, input: Expr) -> Step<Expr> {
        let line = self.line();
        self.next();
        let negated = self.skip_word("not");
        let name = self.dotted()?;
        if !predicates::is_known(&name) && self.conditional == 0 {
            return self.fault(format!("No test named '{name}'."));
        }
        let takes_one = match self.peek() {
            Token::Name(word) => !matches!(&**word, "else" | "or" | "and"),
            Token::Str(_) | Token::Int(_) | Token::Float(_) | Token::Sign("[" | "{") => true,
            _ => false,
        };
        let mut arguments = Arguments::default();
        if self.is_sign("(") {
            arguments = self.arguments()?;
        } else if takes_one {
            if self.is_word("is") {
                return self.fault("You cannot chain multiple tests with is");
            }
            let argument = self.primary()?;
            arguments.positional.push(self.postfix(argument)?);
        }
        let applied = Applied { input: Some(input), name, arguments };
        let found = Expr { line, kind: Kind::Test(Box::new(applied)) };
        Ok(if negated { Expr { line, kind: Kind::Not(Box::new(found)) } } else { found })
    }

    fn arguments(&mut self) -> Step<Arguments> {
        self.expect_sign("(")?;
        let mut found = Arguments::default();
        self.separated(")", |parser| {
            if parser.skip_sign("*") {
                found.rest = Some(Box::new(parser.expression()?));
            } else if parser.skip_sign("**") {
                found.rest_named = Some(Box::new(parser.expression()?));
            } else if let (Token::Name(name), Token::Sign("=")) =
                (parser.peek().clone(), parser.peek_second())
            {
                parser.next();
                parser.next();
                found.named.push((name, parser.expression()?));
            } else if found.rest.is_none() && found.rest_named.is_none() && found.named.is_empty() {
                found.positional.push(parser.expression()?);
            } else {
                return parser.fault("invalid syntax for function call expression");
            }
            Ok(())
        })?;
        Ok(found)
    }
}

enum Subscript {
    Item(Expr),
    Slice(Box<[Option<Expr>; 3]>),
}
