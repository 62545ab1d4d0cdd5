//! Runs the statements of a template.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::args::Args;
use super::ast::{Ast, Expr, For, Kind, Macro, Name, Node, Statement, Target};
use super::budget::{Budget, PER_STEP, work};
use super::fault::{Fault, RefusalKind, Step, type_error, unsupported, value_error};
use super::llama_cpp::{self, Engine};
use super::text::{Builder, Text};
use super::value::{Function, Value};
use super::{access, functions, ops, print};
use crate::now::Now;

/// The most statements, expressions and calls inside one another at run time.
const DEEPEST: u32 = 220;

/// Where a statement goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

#[derive(Debug, Default)]
struct Scope {
    /// In the order of the names: most scopes have a few, and names are numbered as they come.
    values: Vec<(Name, Value)>,
    parent: usize,
}

struct Loop<'t> {
    items: Vec<Value>,
    at: usize,
    depth: usize,
    /// The arguments of the last `loop.changed(...)`.
    changed: Option<Vec<Value>>,
    recursive: Option<(&'t For, usize)>,
}

pub(crate) struct Run<'t> {
    ast: &'t Ast,
    pub(crate) engine: Engine,
    pub(crate) budget: Budget,
    pub(crate) now: Now,
    /// Scopes, the outermost first. Those that a macro may still see are kept to the end.
    scopes: Vec<Scope>,
    pub(crate) namespaces: Vec<BTreeMap<Arc<str>, Value>>,
    loops: Vec<Loop<'t>>,
    /// How many macros were made: each keeps the scopes around it.
    captures: usize,
    out: Builder,
    /// The length of the prompt before what is being captured, and how many captures are open.
    main: usize,
    capturing: u32,
    generated: Vec<Range<usize>>,
    depth: u32,
    line: u32,
}

/// What a template printed, and which ranges of it are in generation blocks.
pub(crate) type Printed = (Text, Vec<Range<usize>>);

pub(crate) fn run(
    ast: &Ast,
    context: Vec<(Arc<str>, Value)>,
    budget: Budget,
    now: Now,
    engine: Engine,
) -> Step<Printed> {
    let mut run = Run {
        ast,
        engine,
        budget,
        now,
        scopes: vec![Scope { values: Vec::new(), parent: usize::MAX }],
        namespaces: Vec::new(),
        loops: Vec::new(),
        captures: 0,
        out: Builder::default(),
        main: 0,
        capturing: 0,
        generated: Vec::new(),
        depth: 0,
        line: 1,
    };
    for (name, value) in context {
        if let Some(name) = ast.numbers.get(&name) {
            run.set(0, *name, value);
        }
    }
    // What ran out in the last statement shows in a step after it.
    match run.nodes(&ast.body, 0).and_then(|_| run.budget.step()) {
        Ok(()) => Ok((run.out.finish(), run.generated)),
        Err(mut fault) => {
            if fault.line == 0 {
                fault.line = run.line;
            }
            Err(fault)
        }
    }
}

impl<'t> Run<'t> {
    pub(crate) fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> Step<T>) -> Step<T> {
        if self.depth >= DEEPEST {
            return super::fault::too_much("the template calls itself too deeply");
        }
        self.depth += 1;
        let found = step(self);
        self.depth -= 1;
        found
    }

    pub(crate) fn at_line(&mut self, line: u32) {
        self.line = line;
    }

    fn nodes(&mut self, nodes: &'t [Node], scope: usize) -> Step<Flow> {
        self.nested(|run| {
            for node in nodes {
                let flow = run.node(node, scope)?;
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
            Ok(Flow::Next)
        })
    }

    fn node(&mut self, node: &'t Node, scope: usize) -> Step<Flow> {
        self.budget.step()?;
        self.line = node.line;
        match &node.kind {
            Statement::Data(text) => {
                self.out.push_str(text);
                self.budget.charge(text.len())?;
            }
            Statement::Print(expr) => self.print(expr, scope)?,
            Statement::For(details) => return self.for_statement(details, scope),
            Statement::If { branches, otherwise } => {
                for (test, body) in branches {
                    let found = self.eval(test, scope)?;
                    if found.is_true() {
                        return self.nodes(body, scope);
                    }
                }
                return self.nodes(otherwise, scope);
            }
            Statement::Set(target, expr) => {
                let value = self.eval(expr, scope)?;
                self.assign(target, value, scope)?;
            }
            Statement::SetBlock(target, filter, body) => {
                self.set_block(target, filter.as_ref(), body, scope)?
            }
            Statement::Macro(name, id) => {
                self.captures += 1;
                self.set(scope, *name, Value::Macro(*id, scope));
            }
            Statement::Call(call, id) => self.call_block(call, *id, scope)?,
            Statement::Filter(filter, body) => {
                let text = self.capture(body, scope)?;
                let filtered = self.filter_block(filter, Value::Str(text), scope)?;
                self.push(&filtered)?;
            }
            Statement::With(values, body) => return self.with(values, body, scope),
            Statement::Block(body) => {
                self.scoped(0, |run, inner| run.nodes(body, inner))?;
            }
            Statement::Generation(body) => self.generation(body, scope)?,
            Statement::Break => return Ok(Flow::Break),
            Statement::Continue => return Ok(Flow::Continue),
            Statement::Unsupported(what) => {
                return unsupported(format!("the tag {what}, which needs other files"));
            }
        }
        Ok(Flow::Next)
    }

    fn print(&mut self, expr: &'t Expr, scope: usize) -> Step<()> {
        let value = self.eval(expr, scope)?;
        self.push(&value)
    }

    fn push(&mut self, value: &Value) -> Step<()> {
        let start = self.out.text.len();
        match self.engine {
            Engine::Python => print::push_str(value, &mut self.out),
            Engine::LlamaCpp { .. } => llama_cpp::push_printed(value, &mut self.out),
        }
        self.budget.charge(self.out.text.len() - start)?;
        self.budget.check_length(self.out.text.len())
    }

    fn scoped<T>(&mut self, parent: usize, inner: impl FnOnce(&mut Self, usize) -> Step<T>) -> Step<T> {
        let captures = self.captures;
        let scope = self.scopes.len();
        self.scopes.push(Scope { values: Vec::new(), parent });
        self.budget.charge(size_of::<Scope>())?;
        let found = inner(self, scope);
        if self.captures == captures {
            self.scopes.truncate(scope);
        }
        found
    }

    fn captured<T>(&mut self, inner: impl FnOnce(&mut Self) -> Step<T>) -> Step<Text> {
        if self.capturing == 0 {
            self.main = self.out.text.len();
        }
        self.capturing += 1;
        let outer = std::mem::take(&mut self.out);
        let found = inner(self);
        let captured = std::mem::replace(&mut self.out, outer);
        self.capturing -= 1;
        found?;
        Ok(captured.finish())
    }

    fn capture(&mut self, body: &'t [Node], scope: usize) -> Step<Text> {
        self.captured(|run| run.scoped(scope, |run, inner| run.nodes(body, inner)))
    }

    fn set(&mut self, scope: usize, name: Name, value: Value) {
        let values = &mut self.scopes[scope].values;
        match values.binary_search_by_key(&name, |(own, _)| *own) {
            Ok(at) => values[at].1 = value,
            Err(at) => {
                work((values.len() - at) / PER_STEP);
                values.insert(at, (name, value));
            }
        }
    }

    /// The values of all names and of the attributes of namespaces.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let scopes = self.scopes.iter_mut().flat_map(|scope| scope.values.iter_mut().map(|(_, value)| value));
        scopes.chain(self.namespaces.iter_mut().flat_map(BTreeMap::values_mut))
    }

    pub(crate) fn lookup(&self, name: Name, scope: usize) -> Value {
        let (mut at, mut passed) = (scope, 0);
        while let Some(scope) = self.scopes.get(at) {
            if let Ok(found) = scope.values.binary_search_by_key(&name, |(own, _)| *own) {
                work(passed / 8);
                return scope.values[found].1.clone();
            }
            (at, passed) = (scope.parent, passed + 1);
        }
        work(passed / 8);
        let text = &self.ast.names[name as usize];
        functions::named(text).unwrap_or_else(|| Value::undefined(text))
    }

    fn assign(&mut self, target: &Target, value: Value, scope: usize) -> Step<()> {
        match target {
            Target::Name(name) => self.set(scope, *name, value),
            Target::Attribute(name, attribute) => {
                let Value::Namespace(at) = self.lookup(*name, scope) else {
                    let message = "cannot assign attribute on non-namespace object";
                    return Err(Fault::new(RefusalKind::Type, message));
                };
                functions::check_name(attribute)?;
                let Some(attributes) = self.namespaces.get_mut(at) else { return Ok(()) };
                attributes.insert(attribute.clone(), value);
            }
            Target::Tuple(targets) => {
                let items = match &value {
                    Value::Undefined(_) | Value::Namespace(_) => Vec::new(),
                    Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                        return type_error(format!(
                            "cannot unpack non-iterable {} object",
                            value.type_name()
                        ));
                    }
                    _ => self.items(&value)?,
                };
                let (wanted, given) = (targets.len(), items.len());
                if given < wanted {
                    return value_error(format!(
                        "not enough values to unpack (expected {wanted}, got {given})"
                    ));
                }
                if given > wanted {
                    return value_error(format!("too many values to unpack (expected {wanted})"));
                }
                for (target, item) in targets.iter().zip(items) {
                    self.assign(target, item, scope)?;
                }
            }
        }
        Ok(())
    }

    fn set_block(
        &mut self,
        target: &'t Target,
        filter: Option<&'t Expr>,
        body: &'t [Node],
        scope: usize,
    ) -> Step<()> {
        let mut value = Value::Str(self.capture(body, scope)?);
        if let Some(filter) = filter {
            value = self.filter_block(filter, value, scope)?;
        }
        self.assign(target, value, scope)
    }

    fn filter_block(&mut self, expr: &'t Expr, input: Value, scope: usize) -> Step<Value> {
        let Kind::Filter(applied) = &expr.kind else { return Ok(input) };
        let input = match &applied.input {
            Some(inner) => self.nested(|run| run.filter_block(inner, input, scope))?,
            None => input,
        };
        let args = self.arguments(&applied.arguments, scope)?;
        self.line = expr.line;
        self.filtered(&applied.name, &input, &args)
    }

    fn with(&mut self, values: &'t [(Target, Expr)], body: &'t [Node], scope: usize) -> Step<Flow> {
        self.scoped(scope, |run, inner| {
            for (target, expr) in values {
                let value = run.eval(expr, inner)?;
                run.assign(target, value, inner)?;
            }
            run.nodes(body, inner)
        })
    }

    fn generation(&mut self, body: &'t [Node], scope: usize) -> Step<()> {
        let text = self.capture(body, scope)?;
        let start = if self.capturing == 0 { self.out.text.len() } else { self.main };
        self.generated.push(start..start + text.as_str().len());
        self.budget.charge_items(1)?;
        self.push(&Value::Str(text))
    }

    fn call_block(&mut self, call: &'t Expr, id: u32, scope: usize) -> Step<()> {
        let Kind::Call(parts) = &call.kind else { return Ok(()) };
        self.captures += 1;
        let callee = self.eval(&parts.0, scope)?;
        let mut args = self.arguments(&parts.1, scope)?;
        args.named.push(("caller".into(), Value::Macro(id, scope)));
        self.line = call.line;
        let found = self.call(&callee, &args)?;
        self.push(&found)
    }

    fn for_statement(&mut self, details: &'t For, scope: usize) -> Step<Flow> {
        let iterable = self.eval(&details.iterable, scope)?;
        if self.engine != Engine::Python {
            llama_cpp::check_iterable(&iterable)?;
        }
        self.for_loop(details, &iterable, scope, 0)?;
        Ok(Flow::Next)
    }

    fn for_loop(&mut self, details: &'t For, iterable: &Value, scope: usize, depth: usize) -> Step<()> {
        let mut items = self.items(iterable)?;
        if let Some(filter) = &details.filter {
            let mut kept = Vec::new();
            for item in items {
                let keeps = self.scoped(scope, |run, inner| {
                    run.assign(&details.target, item.clone(), inner)?;
                    let found = run.eval(filter, inner)?;
                    Ok(found.is_true())
                })?;
                if keeps {
                    kept.push(item);
                }
            }
            items = kept;
        }
        if items.is_empty() {
            self.scoped(scope, |run, inner| run.nodes(&details.otherwise, inner))?;
            return Ok(());
        }
        let recursive = details.recursive.then_some((details, scope));
        let captures = self.captures;
        let number = self.loops.len();
        self.loops.push(Loop { items, at: 0, depth, changed: None, recursive });
        let found = self.iterations(details, number, (scope, self.ast.numbers.get("loop").copied()));
        if self.captures == captures {
            self.loops.truncate(number);
        }
        found
    }

    fn iterations(&mut self, details: &'t For, number: usize, around: (usize, Option<Name>)) -> Step<()> {
        let (scope, loop_name) = around;
        loop {
            let Some(current) = self.loops.get(number) else { return Ok(()) };
            let Some(item) = current.items.get(current.at).cloned() else { return Ok(()) };
            self.budget.step()?;
            let flow = self.scoped(scope, |run, inner| {
                if let Some(name) = loop_name {
                    run.set(inner, name, Value::Loop(number));
                }
                run.assign(&details.target, item, inner)?;
                run.nodes(&details.body, inner)
            })?;
            if flow == Flow::Break {
                return Ok(());
            }
            if let Some(current) = self.loops.get_mut(number) {
                current.at += 1;
            }
        }
    }

    pub(crate) fn items(&self, value: &Value) -> Step<Vec<Value>> {
        match value {
            Value::Namespace(_) => type_error("'TemplateNamespace' object is not iterable"),
            _ => ops::items(value, &self.budget),
        }
    }

    /// `value.name`
    pub(crate) fn attribute(&self, value: &Value, name: &Arc<str>) -> Step<Value> {
        if self.stays_undefined(value) {
            return Ok(value.clone());
        }
        work(name.len() / PER_STEP);
        let found = match value {
            Value::Namespace(at) => {
                self.namespaces.get(*at).and_then(|attributes| attributes.get(name).cloned())
            }
            Value::Loop(at) => self.loop_attribute(*at, name),
            Value::Macro(id, _) => self.macro_attribute(*id, name)?,
            _ => None,
        };
        found.map_or_else(|| access::attribute(value, name), Ok)
    }

    /// `value[key]`
    pub(crate) fn item(&self, value: &Value, key: &Value) -> Step<Value> {
        if self.stays_undefined(value) {
            return Ok(value.clone());
        }
        if let (Value::Namespace(_) | Value::Loop(_) | Value::Macro(..), Value::Str(name)) = (value, key) {
            return self.attribute(value, &name.shared());
        }
        access::item(value, key)
    }

    fn loop_attribute(&self, number: usize, name: &str) -> Option<Value> {
        let current = self.loops.get(number)?;
        let (at, length) = (current.at, current.items.len());
        let count = |count: usize| Value::Int(count as i128);
        Some(match name {
            "index" => count(at + 1),
            "index0" => count(at),
            "revindex" => count(length - at),
            "revindex0" => count(length - at - 1),
            "first" => Value::Bool(at == 0),
            "last" => Value::Bool(at + 1 == length),
            "length" => count(length),
            "depth" => count(current.depth + 1),
            "depth0" => count(current.depth),
            "previtem" => match at.checked_sub(1).and_then(|at| current.items.get(at)) {
                Some(item) => item.clone(),
                None => Value::hint("there is no previous item"),
            },
            "nextitem" => match current.items.get(at + 1) {
                Some(item) => item.clone(),
                None => Value::hint("there is no next item"),
            },
            "cycle" | "changed" => Value::Method(std::rc::Rc::new((Value::Loop(number), name.into()))),
            _ => return None,
        })
    }

    fn macro_attribute(&self, id: u32, name: &str) -> Step<Option<Value>> {
        let Some(found) = self.ast.macros.get(id as usize) else { return Ok(None) };
        Ok(match name {
            "name" => Some(found.name.clone().map_or(Value::None, Value::str)),
            "arguments" => {
                self.budget.charge_items(found.parameters.len())?;
                let names = found.parameters.iter();
                let names = names.map(|(name, _)| Value::str(self.ast.names[*name as usize].clone()));
                Some(Value::tuple(names.collect())?)
            }
            "caller" => Some(Value::Bool(found.takes.caller)),
            "catch_kwargs" => Some(Value::Bool(found.takes.kwargs)),
            "catch_varargs" => Some(Value::Bool(found.takes.varargs)),
            _ => None,
        })
    }

    pub(crate) fn call(&mut self, callee: &Value, args: &Args) -> Step<Value> {
        self.budget.apply(callee, args)?;
        match callee {
            Value::Function(Function::Lipsum) => unsupported("the function lipsum"),
            Value::Function(function) => functions::call(self, *function, args),
            Value::Method(method) => match (&method.0, &*method.1) {
                (Value::Loop(number), name) => self.loop_method(*number, name, args),
                (receiver, name) => super::methods::call(receiver, name, args, &self.budget),
            },
            Value::Macro(id, scope) => {
                let Some(found) = self.ast.macros.get(*id as usize) else { return Ok(Value::None) };
                self.nested(|run| run.macro_call(found, *scope, args)).map(Value::Str)
            }
            Value::Loop(number) => self.recurse(*number, args),
            Value::Joiner(joiner) => {
                let was_used = joiner.1.replace(true);
                Ok(if was_used { Value::Str(joiner.0.clone()) } else { Value::str("") })
            }
            _ => type_error(format!("'{}' object is not callable", callee.defined()?.type_name())),
        }
    }

    fn loop_method(&mut self, number: usize, name: &str, args: &Args) -> Step<Value> {
        let Some(current) = self.loops.get_mut(number) else { return Ok(Value::None) };
        if name == "cycle" {
            if args.positional.is_empty() {
                return type_error("no items for cycling given");
            }
            return Ok(args.positional[current.at % args.positional.len()].clone());
        }
        let is_same = current.changed.as_ref().is_some_and(|last| {
            last.len() == args.positional.len()
                && last.iter().zip(&args.positional).all(|(left, right)| ops::equal(left, right))
        });
        current.changed = Some(args.positional.clone());
        Ok(Value::Bool(!is_same))
    }

    fn recurse(&mut self, number: usize, args: &Args) -> Step<Value> {
        let current = self.loops.get(number).and_then(|current| Some((current.recursive?, current.depth)));
        let Some(((details, scope), depth)) = current else {
            return type_error("The loop must have the 'recursive' marker to be called recursively.");
        };
        let iterable = args.need(0, "iterable", "loop")?.clone();
        let text =
            self.nested(|run| run.captured(|run| run.for_loop(details, &iterable, scope, depth + 1)))?;
        Ok(Value::Str(text))
    }

    fn macro_call(&mut self, found: &'t Macro, scope: usize, args: &Args) -> Step<Text> {
        let line = self.line;
        let text = self.captured(|run| {
            run.scoped(scope, |run, inner| {
                run.parameters(found, inner, args)?;
                run.nodes(&found.body, inner)
            })
        })?;
        self.line = line;
        Ok(text)
    }

    fn parameters(&mut self, found: &'t Macro, scope: usize, args: &Args) -> Step<()> {
        let name = || found.name.as_ref().map_or_else(|| "None".to_owned(), |name| print::quoted(name));
        let mut named = args.named.clone();
        let mut defaults = Vec::new();
        for (at, (parameter, default)) in found.parameters.iter().enumerate() {
            let text = &self.ast.names[*parameter as usize];
            work((named.len() + text.len()) / PER_STEP);
            self.budget.step()?;
            let given = args.positional.get(at).cloned().or_else(|| {
                let place = named.iter().position(|(own, _)| own == text)?;
                Some(named.remove(place).1)
            });
            let is_given = given.is_some();
            let missing = || Value::hint(format!("parameter {} was not provided", print::quoted(text)));
            self.set(scope, *parameter, given.unwrap_or_else(missing));
            if let (false, Some(default)) = (is_given, default) {
                defaults.push((*parameter, default));
            }
        }
        for (parameter, default) in defaults {
            let value = self.eval(default, scope)?;
            self.set(scope, parameter, value);
        }
        let number = |name: &str| self.ast.numbers.get(name).copied();
        if let (true, Some(caller)) = (found.takes.caller, number("caller")) {
            let place = named.iter().position(|(own, _)| &**own == "caller");
            let value = place.map_or_else(|| Value::hint("No caller defined"), |place| named.remove(place).1);
            self.set(scope, caller, value);
        }
        if let (true, Some(kwargs)) = (found.takes.kwargs, number("kwargs")) {
            let entries = named.drain(..).map(|(name, value)| (Value::str(name), value)).collect();
            let value = super::value::Dict::new(entries, None).map(Value::Dict)?;
            self.set(scope, kwargs, value);
        } else if let Some((unknown, _)) = named.first() {
            let unknown = print::quoted(unknown);
            return type_error(format!("macro {} takes no keyword argument {unknown}", name()));
        }
        let rest = args.positional.get(found.parameters.len()..).unwrap_or_default();
        if let (true, Some(varargs)) = (found.takes.varargs, number("varargs")) {
            let value = Value::tuple(rest.to_vec())?;
            self.set(scope, varargs, value);
        } else if !rest.is_empty() {
            let most = found.parameters.len();
            return type_error(format!("macro {} takes not more than {most} argument(s)", name()));
        }
        Ok(())
    }
}
