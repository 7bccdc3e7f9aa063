//! Syntax trees of the cat language, with spans. Chains of one operator are one node, so the depth of a tree is the
//! nesting that the user wrote.

use fencepost_diag::Span;
use std::rc::Rc;

/// A name with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A whole file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct File {
    /// The word before the title, an architecture in herd7 (`C`, `AArch64`, ...).
    pub architecture: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// What it says.
    pub statements: Vec<Statement>,
}

/// An instruction of a model.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// `let p = e and ...`.
    Let {
        /// With `rec`.
        recursive: bool,
        /// The definitions.
        bindings: Vec<Binding>,
    },
    /// A check.
    Test(Test),
    /// `include "file"`.
    Include {
        /// The file's name.
        file: String,
        /// Of the string.
        span: Span,
    },
    /// `procedure f(x) = ... end`.
    Procedure {
        /// Its name.
        name: Name,
        /// Its parameters.
        parameters: Vec<Option<Name>>,
        /// What it does.
        body: Rc<Vec<Statement>>,
    },
    /// `call f(e)`.
    Call {
        /// The procedure.
        name: Name,
        /// The argument.
        argument: Expr,
    },
    /// `if "variant" ... else ... end`.
    If {
        /// The condition on variants.
        condition: Condition,
        /// If it holds.
        then: Vec<Statement>,
        /// If not.
        otherwise: Vec<Statement>,
    },
    /// `with x from e`.
    With {
        /// What is chosen.
        name: Name,
        /// From what.
        from: Expr,
    },
    /// `show`, `unshow`, `debug`: no effect here.
    Nothing,
}

/// `let pattern = value`; a function definition is a binding of a [`ExprKind::Fun`].
#[derive(Clone, PartialEq, Debug)]
pub struct Binding {
    /// What is bound; more than one name takes a tuple apart. `None` is `_`.
    pub pattern: Vec<Option<Name>>,
    /// The value.
    pub value: Expr,
}

/// A check, `flag ~empty e as name`.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// What follows from it.
    pub role: Role,
    /// With `~`.
    pub negated: bool,
    /// What is asked.
    pub question: Question,
    /// Of what.
    pub expr: Expr,
    /// `as name`.
    pub name: Option<Name>,
    /// All of it.
    pub span: Span,
}

/// What follows from a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The execution is inconsistent unless it holds.
    Axiom,
    /// The execution is flagged if it holds.
    Flag,
    /// The program's behaviour is undefined unless it holds.
    UndefinedUnless,
}

/// The three questions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Question {
    Acyclic,
    Irreflexive,
    Empty,
}

impl Question {
    /// The keyword.
    pub fn text(self) -> &'static str {
        match self {
            Question::Acyclic => "acyclic",
            Question::Irreflexive => "irreflexive",
            Question::Empty => "empty",
        }
    }
}

/// A condition on herd7's variants, all of which are off here.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// `"variant"`.
    Variant(String),
    /// `not c`.
    Not(Box<Condition>),
    /// `c && d`.
    And(Box<Condition>, Box<Condition>),
    /// `c || d`.
    Or(Box<Condition>, Box<Condition>),
}

/// Operators of many operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// `|`.
    Union,
    /// `;`.
    Sequence,
    /// `\`.
    Difference,
    /// `&`.
    Intersection,
    /// `*` between sets.
    Product,
}

impl Binary {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            Binary::Union => "|",
            Binary::Sequence => ";",
            Binary::Difference => "\\",
            Binary::Intersection => "&",
            Binary::Product => "*",
        }
    }
}

/// Operators of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// `~`.
    Complement,
    /// `+` after the operand.
    Plus,
    /// `*` after the operand.
    Star,
    /// `?`.
    Optional,
    /// `^-1`.
    Inverse,
    /// `[ ]`.
    Identity,
}

impl Unary {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            Unary::Complement => "~",
            Unary::Plus => "+",
            Unary::Star => "*",
            Unary::Optional => "?",
            Unary::Inverse => "^-1",
            Unary::Identity => "[ ]",
        }
    }
}

/// An expression with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: ExprKind,
}

/// Expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A name.
    Name(String),
    /// `0` and `{}`.
    Empty,
    /// `_`.
    Universe,
    /// `a op b op c`, two operands or more.
    Binary(Binary, Vec<Expr>),
    /// One operand.
    Unary(Unary, Box<Expr>),
    /// `(a, b)` and `()`.
    Tuple(Vec<Expr>),
    /// `f x`.
    Apply(Box<Expr>, Box<Expr>),
    /// `fun x -> e`; one parameter takes the argument whole, several take a tuple apart.
    Fun(Vec<Option<Name>>, Rc<Expr>),
    /// `let ... in e`.
    Let {
        /// With `rec`.
        recursive: bool,
        /// The definitions.
        bindings: Vec<Binding>,
        /// Where they hold.
        body: Box<Expr>,
    },
    /// `if "variant" then a else b`.
    If(Condition, Box<Expr>, Box<Expr>),
    /// Something about sets of sets or of relations, which is read and has no value here; what it is.
    Beyond(&'static str),
    /// `try a with b`: `b` if `a` mentions something that is not defined.
    Try(Box<Expr>, Box<Expr>),
}
