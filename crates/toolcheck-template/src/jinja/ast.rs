//! What a template says, as a tree.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A name of the template, by its place in [`Ast::names`].
pub(crate) type Name = u32;

/// A template that was read.
#[derive(Debug, Default)]
pub(crate) struct Ast {
    /// The text of each name.
    pub(crate) names: Vec<Arc<str>>,
    /// The numbers of the names.
    pub(crate) numbers: BTreeMap<Arc<str>, Name>,
    /// The statements at the top.
    pub(crate) body: Vec<Node>,
    /// Macros, and the bodies of call blocks, which are macros without a name.
    pub(crate) macros: Vec<Macro>,
}

/// A statement and its line.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) line: u32,
    pub(crate) kind: Statement,
}

#[derive(Debug)]
pub(crate) enum Statement {
    /// Text that is printed as it is.
    Data(Arc<str>),
    /// `{{ ... }}`
    Print(Expr),
    /// `{% for %}`
    For(Box<For>),
    /// `{% if %}` with all its branches.
    If { branches: Vec<(Expr, Vec<Node>)>, otherwise: Vec<Node> },
    /// `{% set a = b %}`
    Set(Target, Expr),
    /// `{% set a | filter %}...{% endset %}`
    SetBlock(Target, Option<Expr>, Vec<Node>),
    /// `{% macro %}`, by its place in [`Ast::macros`].
    Macro(Name, u32),
    /// `{% call %}`: the call, and its body.
    Call(Expr, u32),
    /// `{% filter %}`
    Filter(Expr, Vec<Node>),
    /// `{% with %}`
    With(Vec<(Target, Expr)>, Vec<Node>),
    /// `{% block %}`
    Block(Vec<Node>),
    /// `{% generation %}`: what the model wrote.
    Generation(Vec<Node>),
    /// `{% break %}`
    Break,
    /// `{% continue %}`
    Continue,
    /// A statement that needs other files.
    Unsupported(&'static str),
}

#[derive(Debug)]
pub(crate) struct For {
    pub(crate) target: Target,
    pub(crate) iterable: Expr,
    pub(crate) filter: Option<Expr>,
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Vec<Node>,
    pub(crate) recursive: bool,
}

#[derive(Debug)]
pub(crate) enum Target {
    Name(Name),
    Attribute(Name, Arc<str>),
    Tuple(Vec<Target>),
}

/// A macro, or the body of a call block.
#[derive(Debug)]
pub(crate) struct Macro {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) parameters: Vec<(Name, Option<Expr>)>,
    pub(crate) body: Vec<Node>,
    /// Whether the body mentions `caller`, `kwargs` and `varargs`, which makes them parameters.
    pub(crate) takes: Takes,
}

/// Which parameters a macro has because its body mentions them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Takes {
    pub(crate) caller: bool,
    pub(crate) kwargs: bool,
    pub(crate) varargs: bool,
}

/// An expression and its line.
#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) line: u32,
    pub(crate) kind: Kind,
}

/// The arguments of a call, a filter or a test.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) positional: Vec<Expr>,
    pub(crate) named: Vec<(Arc<str>, Expr)>,
    /// `*list`
    pub(crate) rest: Option<Box<Expr>>,
    /// `**dict`
    pub(crate) rest_named: Option<Box<Expr>>,
}

/// A filter or a test that is applied.
#[derive(Debug)]
pub(crate) struct Applied {
    /// What it is applied to; nothing for the filter of a block.
    pub(crate) input: Option<Expr>,
    pub(crate) name: Arc<str>,
    pub(crate) arguments: Arguments,
}

#[derive(Debug, Clone)]
pub(crate) enum Literal {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(Arc<str>),
}

#[derive(Debug)]
pub(crate) enum Kind {
    Const(Literal),
    Name(Name),
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Attribute(Box<Expr>, Arc<str>),
    Item(Box<(Expr, Expr)>),
    Slice(Box<(Expr, [Option<Expr>; 3])>),
    Call(Box<(Expr, Arguments)>),
    Filter(Box<Applied>),
    Test(Box<Applied>),
    Binary(Binary, Box<(Expr, Expr)>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Positive(Box<Expr>),
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    And(Box<(Expr, Expr)>),
    Or(Box<(Expr, Expr)>),
    Concat(Vec<Expr>),
    /// `then if test else otherwise`
    Cond(Box<(Expr, Expr, Option<Expr>)>),
}

/// An operator of two numbers, and of some other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
}

impl Binary {
    /// The operator as Python's errors name it.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::FloorDiv => "//",
            Self::Mod => "%",
            Self::Pow => "** or pow()",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
}

impl Ast {
    /// Whether a loop goes through the content of a message, so that the template knows parts.
    pub(crate) fn goes_through_content(&self) -> bool {
        goes_through_content(&self.body) || self.macros.iter().any(|own| goes_through_content(&own.body))
    }
}

fn goes_through_content(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match &node.kind {
        Statement::For(details) => {
            is_content(&details.iterable)
                || goes_through_content(&details.body)
                || goes_through_content(&details.otherwise)
        }
        Statement::If { branches, otherwise } => {
            branches.iter().any(|(_, body)| goes_through_content(body)) || goes_through_content(otherwise)
        }
        Statement::SetBlock(_, _, body)
        | Statement::Filter(_, body)
        | Statement::With(_, body)
        | Statement::Block(body)
        | Statement::Generation(body) => goes_through_content(body),
        _ => false,
    })
}

/// Whether an expression is the content of something, perhaps with filters.
fn is_content(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Attribute(_, name) => &**name == "content",
        Kind::Item(parts) => matches!(&parts.1.kind, Kind::Const(Literal::Str(text)) if &**text == "content"),
        Kind::Slice(parts) => is_content(&parts.0),
        Kind::Filter(applied) | Kind::Test(applied) => applied.input.as_ref().is_some_and(is_content),
        _ => false,
    }
}
