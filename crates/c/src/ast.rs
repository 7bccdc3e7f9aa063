//! The typed syntax tree: what the parser makes and the lowering reads.
//!
//! Names are resolved, conversions are explicit, `sizeof`, `_Generic` and `typeof` are gone. An expression is a value
//! unless its kind is a place ([`ExprKind::is_place`]); [`ExprKind::Load`] turns a place into its value.

use crate::builtins::Builtin;
use crate::intern::Symbol;
use crate::types::{Bits, QTy, Ty, Types};
use fencepost_diag::Span;
use fencepost_ir::{BinaryOp, Fence};

/// A variable of a function, by its index in [`FunctionDef::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocalId(pub u32);

/// A variable with static or thread storage duration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GlobalId(pub u32);

/// A function, defined or not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FuncId(pub u32);

/// A label of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LabelId(pub u32);

/// A whole translation unit.
#[derive(Default)]
pub struct Unit {
    /// All types.
    pub types: Types,
    /// Variables with static or thread storage duration.
    pub globals: Vec<Global>,
    /// Functions.
    pub functions: Vec<FunctionDef>,
    /// The enumerators of each enumeration, for reports.
    pub enumerations: Vec<Vec<(i64, Symbol)>>,
    /// `malloc` and its kin may find no memory.
    pub malloc_fails: bool,
    /// Functions without a body return any value.
    pub any_result: bool,
}

/// A variable with static or thread storage duration.
#[derive(Clone)]
pub struct Global {
    /// Name, for reports.
    pub name: String,
    /// Type.
    pub ty: QTy,
    /// Initialiser; without one it is zero.
    pub init: Option<Init>,
    /// Each thread has its own.
    pub thread_local: bool,
    /// Only declared so far, with `extern`.
    pub external: bool,
    /// Only known to its own file.
    pub internal: bool,
    /// Where.
    pub span: Span,
}

/// A function.
#[derive(Clone)]
pub struct FunctionDef {
    /// Name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// Parameters, a prefix of `locals`.
    pub params: Vec<LocalId>,
    /// All variables of all its blocks.
    pub locals: Vec<Local>,
    /// Names of labels.
    pub labels: Vec<Symbol>,
    /// The labels whose addresses are taken, and the object whose bytes stand for them.
    pub label_values: (Vec<LabelId>, Option<GlobalId>),
    /// The variable that has the memory of `alloca`.
    pub frame: Option<LocalId>,
    /// Where its calls of `setjmp` return once more, and the variable that stands for the running call of the function.
    pub landings: (Vec<LabelId>, Option<LocalId>),
    /// Only known to its own file.
    pub internal: bool,
    /// The body, if it is defined.
    pub body: Option<Block>,
    /// Why its body could not be read, if that is so: an error only for programs that need it.
    pub refused: Option<Box<fencepost_diag::Diagnostic>>,
    /// Called, or its address taken, somewhere.
    pub used: Option<Span>,
    /// Where it is declared.
    pub span: Span,
}

/// A variable of a function.
#[derive(Clone)]
pub struct Local {
    /// Name; empty for temporaries.
    pub name: String,
    /// Type.
    pub ty: QTy,
    /// Where.
    pub span: Span,
    /// It is given a value by its declaration.
    pub initialised: bool,
    /// It points to an array of variable length, which ends with its block.
    pub heap: bool,
}

/// A block with the variables that live in it.
#[derive(Clone, Default)]
pub struct Block {
    /// Variables whose scope this is.
    pub locals: Vec<LocalId>,
    /// Statements.
    pub stmts: Vec<Stmt>,
    /// The closing brace.
    pub end: Span,
}

/// A statement.
#[derive(Clone)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone)]
pub enum StmtKind {
    /// An expression, or nothing.
    Expr(Option<Expr>),
    /// The declaration of a variable with its initialiser.
    Declare(LocalId, Option<Init>),
    /// A block.
    Block(Block),
    /// `if`.
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `while`.
    While(Expr, Box<Stmt>),
    /// `do ... while`.
    DoWhile(Box<Stmt>, Expr),
    /// `for`; a declaration in its head is in the block around it.
    For(Option<Expr>, Option<Expr>, Box<Stmt>),
    /// `switch`.
    Switch {
        /// What is compared.
        value: Expr,
        /// Values and labels of its cases; a range has two values.
        cases: Vec<(i64, i64, LabelId)>,
        /// Where it goes otherwise.
        default: Option<LabelId>,
        /// The body.
        body: Box<Stmt>,
    },
    /// A label and what follows: `case`, `default` and named ones.
    Label(LabelId, Box<Stmt>),
    /// `goto`.
    Goto(LabelId),
    /// `goto *value;`.
    GotoValue(Expr),
    /// From here on, leaving the block evaluates this (`__attribute__((cleanup(...)))`).
    Cleanup(Expr),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`.
    Return(Option<Expr>),
    /// Inline assembly that is only fences.
    Asm(Vec<Fence>),
}

/// An initialiser, flattened: scalars (or whole structs) at offsets, in the order of the source.
#[derive(Clone)]
pub struct Init {
    /// What is stored where.
    pub items: Vec<InitItem>,
    /// The rest of the object is zero.
    pub zero_rest: bool,
}

/// One part of an initialiser.
#[derive(Clone)]
pub struct InitItem {
    /// Byte offset in the object.
    pub offset: u64,
    /// Type of the part.
    pub ty: QTy,
    /// Set for a bit-field.
    pub bits: Option<Bits>,
    /// The value, converted to that type.
    pub value: Expr,
}

/// An expression.
#[derive(Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type; qualifiers matter on places only.
    pub ty: QTy,
    /// Where.
    pub span: Span,
}

/// Arithmetic operators; both operands have the type of the operation, except for shifts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ArithOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl ArithOp {
    /// Gives 0 or 1.
    pub fn is_comparison(self) -> bool {
        matches!(self, ArithOp::Eq | ArithOp::Ne | ArithOp::Lt | ArithOp::Le | ArithOp::Gt | ArithOp::Ge)
    }

    /// The IR operator for integers and pointers.
    pub fn integer(self, signed: bool) -> BinaryOp {
        match self {
            ArithOp::Add => BinaryOp::Add,
            ArithOp::Sub => BinaryOp::Sub,
            ArithOp::Mul => BinaryOp::Mul,
            ArithOp::Div => [BinaryOp::DivU, BinaryOp::DivS][usize::from(signed)],
            ArithOp::Rem => [BinaryOp::RemU, BinaryOp::RemS][usize::from(signed)],
            ArithOp::And => BinaryOp::And,
            ArithOp::Or => BinaryOp::Or,
            ArithOp::Xor => BinaryOp::Xor,
            ArithOp::Shl => BinaryOp::Shl,
            ArithOp::Shr => [BinaryOp::ShrU, BinaryOp::ShrS][usize::from(signed)],
            ArithOp::Eq => BinaryOp::Eq,
            ArithOp::Ne => BinaryOp::Ne,
            ArithOp::Lt => [BinaryOp::LtU, BinaryOp::LtS][usize::from(signed)],
            ArithOp::Le => [BinaryOp::LeU, BinaryOp::LeS][usize::from(signed)],
            ArithOp::Gt => [BinaryOp::GtU, BinaryOp::GtS][usize::from(signed)],
            ArithOp::Ge => [BinaryOp::GeU, BinaryOp::GeS][usize::from(signed)],
        }
    }
}

/// Operators of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum PrefixOp {
    Neg,
    BitNot,
    Not,
}

/// The kinds of expression.
#[derive(Clone)]
pub enum ExprKind {
    /// An integer, extended to 64 bits as its type says.
    Int(u64),
    /// A floating-point number.
    Float(f64),
    /// Place: a local variable.
    Local(LocalId),
    /// Place: a global variable or string literal.
    Global(GlobalId),
    /// The address of a function.
    Function(FuncId),
    /// Place: what a pointer points to.
    Deref(Box<Expr>),
    /// Place: a member of a place at a byte offset.
    Member(Box<Expr>, u64, Option<Bits>),
    /// Place: a compound literal, initialised when it is reached.
    Compound(LocalId, Box<Init>),
    /// Place: the struct that a value expression gives, in a temporary.
    Temporary(LocalId, Box<Expr>),
    /// The value of a place.
    Load(Box<Expr>),
    /// The address of a place; also what an array becomes.
    AddrOf(Box<Expr>),
    /// Prefix operator.
    Prefix(PrefixOp, Box<Expr>),
    /// Arithmetic and comparisons.
    Binary(ArithOp, Box<Expr>, Box<Expr>),
    /// Pointer plus integer times size.
    PtrAdd(Box<Expr>, Box<Expr>, i64),
    /// Difference of pointers divided by a size.
    PtrDiff(Box<Expr>, Box<Expr>, u64),
    /// `&&` (true) or `||`.
    Logical(bool, Box<Expr>, Box<Expr>),
    /// `a ? b : c`.
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a ?: b`.
    Elvis(Box<Expr>, Box<Expr>),
    /// `a, b`.
    Comma(Box<Expr>, Box<Expr>),
    /// `place = value`.
    Assign(Box<Expr>, Box<Expr>),
    /// `place op= value`, computed in the given type; `value` has that type (shifts: its own). For pointers, the value
    /// is scaled already.
    AssignOp(ArithOp, Box<Expr>, Box<Expr>, Ty),
    /// `place++` and `place--`: the value is the old one; the step is scaled for pointers.
    PostStep(Box<Expr>, i64),
    /// Conversion to the expression's own type.
    Cast(Box<Expr>),
    /// A call; the temporary receives a struct result.
    Call(Box<Expr>, Vec<Expr>, Option<LocalId>),
    /// A call of something that we know.
    Builtin(Builtin, Vec<Expr>),
    /// The same atomic operation for each value of a memory order that is not a constant: the order, and the operation
    /// for each number that it may be.
    ByOrder(Box<Expr>, Vec<Expr>),
    /// `({ ... })`; the last statement is the value.
    Stmt(Block),
}

impl ExprKind {
    /// It names an object in memory.
    pub fn is_place(&self) -> bool {
        matches!(
            self,
            ExprKind::Local(_)
                | ExprKind::Global(_)
                | ExprKind::Deref(_)
                | ExprKind::Member(..)
                | ExprKind::Compound(..)
                | ExprKind::Temporary(..)
        )
    }
}

impl Block {
    /// Shows every expression of the block to `see`, outer ones before inner ones.
    pub fn visit(&self, see: &mut dyn FnMut(&Expr)) {
        self.stmts.iter().for_each(|stmt| stmt.visit(see));
    }
}

impl Stmt {
    fn visit(&self, see: &mut dyn FnMut(&Expr)) {
        match &self.kind {
            StmtKind::Expr(expr) | StmtKind::Return(expr) => expr.iter().for_each(|e| e.visit(see)),
            StmtKind::Declare(_, init) => init.iter().for_each(|init| init.visit(see)),
            StmtKind::Block(block) => block.visit(see),
            StmtKind::If(condition, then, otherwise) => {
                condition.visit(see);
                then.visit(see);
                otherwise.iter().for_each(|s| s.visit(see));
            }
            StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
                condition.visit(see);
                body.visit(see);
            }
            StmtKind::For(condition, step, body) => {
                condition.iter().chain(step).for_each(|e| e.visit(see));
                body.visit(see);
            }
            StmtKind::Switch { value, body, .. } => {
                value.visit(see);
                body.visit(see);
            }
            StmtKind::Label(_, inner) => inner.visit(see),
            StmtKind::GotoValue(expr) | StmtKind::Cleanup(expr) => expr.visit(see),
            StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Asm(_) => {}
        }
    }
}

impl Init {
    fn visit(&self, see: &mut dyn FnMut(&Expr)) {
        self.items.iter().for_each(|item| item.value.visit(see));
    }
}

impl Expr {
    /// Shows this expression and all its parts to `see`.
    pub fn visit(&self, see: &mut dyn FnMut(&Expr)) {
        see(self);
        match &self.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Function(_) => {}
            ExprKind::Deref(inner)
            | ExprKind::Member(inner, _, _)
            | ExprKind::Temporary(_, inner)
            | ExprKind::Load(inner)
            | ExprKind::AddrOf(inner)
            | ExprKind::Prefix(_, inner)
            | ExprKind::PostStep(inner, _)
            | ExprKind::Cast(inner) => inner.visit(see),
            ExprKind::Compound(_, init) => init.visit(see),
            ExprKind::Binary(_, a, b)
            | ExprKind::PtrAdd(a, b, _)
            | ExprKind::PtrDiff(a, b, _)
            | ExprKind::Logical(_, a, b)
            | ExprKind::Elvis(a, b)
            | ExprKind::Comma(a, b)
            | ExprKind::Assign(a, b)
            | ExprKind::AssignOp(_, a, b, _) => {
                a.visit(see);
                b.visit(see);
            }
            ExprKind::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| e.visit(see)),
            ExprKind::Call(callee, args, _) => {
                callee.visit(see);
                args.iter().for_each(|e| e.visit(see));
            }
            ExprKind::Builtin(_, args) => args.iter().for_each(|e| e.visit(see)),
            ExprKind::ByOrder(order, choices) => {
                order.visit(see);
                choices.iter().for_each(|e| e.visit(see));
            }
            ExprKind::Stmt(block) => block.visit(see),
        }
    }
}
