//! Evaluates the expressions of a template.

use super::args::Args;
use super::ast::{Applied, Arguments, Comparison, Expr, Kind, Literal};
use super::fault::{Step, type_error};
use super::llama_cpp::{self, Engine};
use super::run::Run;
use super::value::{Dict, Value};
use super::{access, ops};

impl<'t> Run<'t> {
    pub(crate) fn eval(&mut self, expr: &'t Expr, scope: usize) -> Step<Value> {
        self.budget.step()?;
        match &expr.kind {
            Kind::Const(literal) => Ok(constant(literal)),
            Kind::Name(name) => Ok(self.lookup(*name, scope)),
            _ => self.nested(|run| run.compound(expr, scope)),
        }
    }

    fn compound(&mut self, expr: &'t Expr, scope: usize) -> Step<Value> {
        match &expr.kind {
            Kind::Const(_) | Kind::Name(_) => self.eval(expr, scope),
            Kind::Attribute(value, name) => {
                let value = self.eval(value, scope)?;
                self.at_line(expr.line);
                self.attribute(&value, name)
            }
            Kind::Item(parts) => {
                let value = self.eval(&parts.0, scope)?;
                let key = self.eval(&parts.1, scope)?;
                self.at_line(expr.line);
                self.item(&value, &key)
            }
            Kind::Slice(parts) => self.slice(&parts.0, &parts.1, scope),
            Kind::Call(parts) => self.call_expression(&parts.0, &parts.1, expr.line, scope),
            Kind::Filter(applied) => self.filter(applied, expr.line, scope),
            Kind::Test(applied) => self.test(applied, expr.line, scope),
            Kind::Binary(operator, parts) => {
                let left = self.eval(&parts.0, scope)?;
                let right = self.eval(&parts.1, scope)?;
                self.at_line(expr.line);
                let joined = match self.engine {
                    Engine::LlamaCpp { .. } => llama_cpp::joined(self, *operator, &left, &right),
                    Engine::Python => None,
                };
                joined.unwrap_or_else(|| ops::binary(*operator, &left, &right, &self.budget))
            }
            Kind::Compare(first, rest) => self.compare(first, rest, expr.line, scope),
            Kind::Concat(parts) => {
                let mut values = self.all(parts, scope)?;
                if self.engine != Engine::Python {
                    values = values.iter().map(|value| self.present(value)).collect();
                }
                ops::concat(&values, &self.budget)
            }
            _ => self.logic(expr, scope),
        }
    }

    fn logic(&mut self, expr: &'t Expr, scope: usize) -> Step<Value> {
        match &expr.kind {
            Kind::Not(inner) => {
                let value = self.eval(inner, scope)?;
                Ok(Value::Bool(!value.is_true()))
            }
            Kind::Negative(inner) | Kind::Positive(inner) => {
                let value = self.eval(inner, scope)?;
                self.at_line(expr.line);
                ops::negative(&value, matches!(expr.kind, Kind::Negative(_)))
            }
            Kind::And(parts) => {
                let left = self.eval(&parts.0, scope)?;
                if left.is_true() { self.eval(&parts.1, scope) } else { Ok(left) }
            }
            Kind::Or(parts) => {
                let left = self.eval(&parts.0, scope)?;
                if left.is_true() { Ok(left) } else { self.eval(&parts.1, scope) }
            }
            Kind::Cond(parts) => {
                let test = self.eval(&parts.1, scope)?;
                if test.is_true() {
                    return self.eval(&parts.0, scope);
                }
                match &parts.2 {
                    Some(otherwise) => self.eval(otherwise, scope),
                    None => Ok(Value::hint(format!(
                        "the inline if-expression on line {} evaluated to false and no else section was defined.",
                        expr.line
                    ))),
                }
            }
            Kind::List(items) => Value::list(self.all(items, scope)?),
            Kind::Tuple(items) => Value::tuple(self.all(items, scope)?),
            Kind::Dict(entries) => {
                let mut found = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    found.push((self.eval(key, scope)?, self.eval(value, scope)?));
                }
                self.budget.charge_items(found.len() * 2)?;
                Dict::new(found, None).map(Value::Dict)
            }
            _ => self.eval(expr, scope),
        }
    }

    fn all(&mut self, exprs: &'t [Expr], scope: usize) -> Step<Vec<Value>> {
        self.budget.charge_items(exprs.len())?;
        exprs.iter().map(|expr| self.eval(expr, scope)).collect()
    }

    fn slice(&mut self, value: &'t Expr, parts: &'t [Option<Expr>; 3], scope: usize) -> Step<Value> {
        let value = self.eval(value, scope)?;
        let mut places = [Value::None, Value::None, Value::None];
        for (place, part) in places.iter_mut().zip(parts) {
            if let Some(part) = part {
                *place = self.eval(part, scope)?;
            }
        }
        access::slice(&value, places, &self.budget)
    }

    fn compare(
        &mut self,
        first: &'t Expr,
        rest: &'t [(Comparison, Expr)],
        line: u32,
        scope: usize,
    ) -> Step<Value> {
        let mut left = self.eval(first, scope)?;
        for (comparison, right) in rest {
            let right = self.eval(right, scope)?;
            self.at_line(line);
            if !ops::compare(*comparison, &left, &right)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    fn filter(&mut self, applied: &'t Applied, line: u32, scope: usize) -> Step<Value> {
        let input = match &applied.input {
            Some(input) => self.eval(input, scope)?,
            None => Value::str(""),
        };
        let args = self.arguments(&applied.arguments, scope)?;
        self.at_line(line);
        self.filtered(&applied.name, &input, &args)
    }

    pub(crate) fn filtered(&self, name: &str, value: &Value, args: &Args) -> Step<Value> {
        if self.engine == Engine::Python {
            return super::filters::apply(self, name, value, args);
        }
        let own = llama_cpp::filtered(name, value, args);
        own.unwrap_or_else(|| super::filters::apply(self, name, value, args)).and_then(llama_cpp::listed)
    }

    fn test(&mut self, applied: &'t Applied, line: u32, scope: usize) -> Step<Value> {
        let input = match &applied.input {
            Some(input) => self.eval(input, scope)?,
            None => Value::None,
        };
        let args = self.arguments(&applied.arguments, scope)?;
        self.at_line(line);
        super::predicates::apply(&applied.name, &input, &args, &self.budget).map(Value::Bool)
    }

    fn call_expression(
        &mut self,
        callee: &'t Expr,
        arguments: &'t Arguments,
        line: u32,
        scope: usize,
    ) -> Step<Value> {
        if let (Engine::LlamaCpp { .. }, Kind::Attribute(value, name)) = (self.engine, &callee.kind)
            && matches!(&**name, "append" | "pop")
        {
            let args = self.arguments(arguments, scope)?;
            let value = self.eval(value, scope)?;
            self.at_line(line);
            if let Value::List(list) = value {
                return self.change_list(list, name, &args);
            }
            let callee = self.attribute(&value, name)?;
            return self.call(&callee, &args);
        }
        let callee = self.eval(callee, scope)?;
        let args = self.arguments(arguments, scope)?;
        self.at_line(line);
        self.call(&callee, &args)
    }

    pub(crate) fn arguments(&mut self, arguments: &'t Arguments, scope: usize) -> Step<Args> {
        let mut args = Args::default();
        if !arguments.positional.is_empty() {
            args.positional = self.all(&arguments.positional, scope)?;
        }
        for (name, expr) in &arguments.named {
            args.named.push((name.clone(), self.eval(expr, scope)?));
        }
        if let Some(rest) = &arguments.rest {
            let rest = self.eval(rest, scope)?;
            args.positional.extend(self.items(&rest)?);
        }
        if let Some(rest) = &arguments.rest_named {
            let rest = self.eval(rest, scope)?;
            let Value::Dict(dict) = rest.defined()? else {
                let name = rest.type_name();
                return type_error(format!("argument after ** must be a mapping, not {name}"));
            };
            self.budget.charge_items(dict.entries.len() * 2)?;
            for (key, value) in &dict.entries {
                let Value::Str(key) = key else { return type_error("keywords must be strings") };
                args.named.push((key.shared(), value.clone()));
            }
        }
        Ok(args)
    }
}

fn constant(literal: &Literal) -> Value {
    match literal {
        Literal::None => Value::None,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(number) => Value::Int(*number),
        Literal::Float(number) => Value::Float(*number),
        Literal::Str(text) => Value::str(text.clone()),
    }
}
