//! The syntax tree of a `.cub` file: what the user wrote, with spans, nothing resolved yet.
//!
//! One type per production of the grammar in `docs/PROVE.md`. Names are resolved and types checked by `typing`.

use fencepost_diag::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name as written.
    pub name: String,
    /// Where.
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// `number_procs N`, if given.
    pub number_procs: Option<(u32, Span)>,
    /// Type definitions, in order.
    pub types: Vec<TypeDef>,
    /// Constants, variables and arrays, in order.
    pub symbols: Vec<SymbolDecl>,
    /// Everything else, in order.
    pub decls: Vec<Decl>,
    /// The largest denominator of a real literal: scaled by it, all literals are integers.
    pub real_scale: i64,
}

/// `type t` (abstract) or `type t = A | B` (enumeration).
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// Name of the type.
    pub name: Ident,
    /// The constructors of an enumeration; none for an abstract type.
    pub constructors: Option<Vec<Ident>>,
}

/// What sort of symbol is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// Rigid: never assigned.
    Const,
    /// A single variable.
    Var,
    /// Indexed by processes.
    Array,
}

/// `[weak] var X : t`, `[weak] array A[proc] : t`, `const C : t`, `const C[proc] : t`.
#[derive(Clone, Debug)]
pub struct SymbolDecl {
    /// Constant, variable or array.
    pub kind: SymbolKind,
    /// Where `weak` stands, if it does.
    pub weak: Option<Span>,
    /// Name of the symbol.
    pub name: Ident,
    /// Number of process indices.
    pub arity: usize,
    /// Name of the type of the values.
    pub ty: Ident,
}

/// A declaration after the symbols.
#[derive(Clone, Debug)]
pub enum Decl {
    /// The initial states.
    Init(Quantified),
    /// States that must not be reached.
    Unsafe(Quantified),
    /// States that the user claims are never reached (same polarity as `unsafe`).
    Invariant(Quantified),
    /// A macro.
    Predicate(Quantified),
    /// A guarded command.
    Transition(Transition),
}

/// A formula over distinct processes: the body of init, unsafe, invariant or predicate.
#[derive(Clone, Debug)]
pub struct Quantified {
    /// Optional name (mandatory for a predicate).
    pub name: Option<Ident>,
    /// Its process parameters.
    pub params: Vec<Ident>,
    /// The formula.
    pub body: Expr,
    /// The declaration without its formula.
    pub span: Span,
    /// All of it.
    pub whole: Span,
}

/// `transition name ([p] q) requires { guard } { updates }`.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Its name.
    pub name: Ident,
    /// Its process parameters.
    pub params: Vec<Ident>,
    /// Which of them is bracketed: the acting process.
    pub acting: Option<usize>,
    /// The guard.
    pub guard: Option<Expr>,
    /// `let x = t in`.
    pub lets: Vec<(Ident, Term)>,
    /// The assignments.
    pub updates: Vec<Update>,
    /// The header of the transition.
    pub span: Span,
}

/// One assignment.
#[derive(Clone, Debug)]
pub struct Update {
    /// What is assigned.
    pub target: Ident,
    /// Indices, if it is an array.
    pub indices: Vec<Ident>,
    /// The new value.
    pub value: UpdateValue,
    /// The whole assignment.
    pub span: Span,
}

/// Right-hand side of an assignment.
#[derive(Clone, Debug)]
pub enum UpdateValue {
    /// `:= t`
    Term(Term),
    /// `:= ?`
    Nondet(Span),
    /// `:= case | c : t | _ : t`; a default has no condition.
    Case(Vec<(Option<Expr>, Term)>),
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cmp {
    /// `=`
    Eq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// A formula.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// The shapes of formulas.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `true` or `false`
    Const(bool),
    /// `fence()`
    Fence,
    /// `t op t`
    Compare(Cmp, Term, Term),
    /// `not e`
    Not(Box<Expr>),
    /// `e && e`
    And(Box<Expr>, Box<Expr>),
    /// `e || e`
    Or(Box<Expr>, Box<Expr>),
    /// `e => e`
    Implies(Box<Expr>, Box<Expr>),
    /// `e <=> e`
    Iff(Box<Expr>, Box<Expr>),
    /// `if c then t else e`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A quantifier.
    Quant {
        /// `forall` rather than `exists`
        universal: bool,
        /// The `_other` form.
        other: bool,
        /// Binders, pairwise distinct.
        vars: Vec<Ident>,
        /// Scope.
        body: Box<Expr>,
    },
    /// Call of a predicate.
    Call(Ident, Vec<Arg>),
    /// A bare name: a formula parameter of a predicate.
    Name(Ident),
}

/// An argument of a predicate.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A term.
    Term(Term),
    /// A formula.
    Expr(Expr),
}

/// A term.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where.
    pub span: Span,
}

/// The shapes of terms.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// A name: process variable, let-bound name, constructor, variable or constant.
    Name(String),
    /// `#n`
    ProcConst(u32),
    /// `A[i, j]`
    Cell(Ident, Vec<Ident>),
    /// `i @ X` or `i @ A[j]`
    View(Ident, Ident, Vec<Ident>),
    /// A number: numerator over a power of ten; `true` for a real literal.
    Number {
        /// Numerator.
        digits: i64,
        /// Denominator, a power of ten.
        denominator: i64,
        /// Written with a decimal point.
        real: bool,
    },
    /// `a + b` or, when the flag is set, `a - b`.
    Sum(Box<Term>, bool, Box<Term>),
    /// `n * t`
    Scale(i64, Box<Term>),
}
