//! A checked system: names resolved, types checked, guards in disjunctive normal form with one transition per
//! disjunct, quantifiers lifted. Everything after the front end works on this.
//!
//! Process variables are numbered: in a transition first the declared parameters, then those that existential
//! quantifiers added, then the bound ones of universal guards and whole-array updates. Parameters are pairwise
//! distinct processes.

use crate::cube::Atom;
use crate::literal::{AtomKind, Lit, Term};
use fencepost_diag::Span;

/// Most indices of an array.
pub const MAX_ARITY: usize = 3;
/// No index.
pub const NONE: u8 = 255;
/// Most constructors of an enumeration: a set of them is one machine word.
pub const MAX_CONSTRUCTORS: usize = 64;

/// A process in the source: a variable by number, or a constant `#n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcRef(pub u8);

impl ProcRef {
    /// The constant `#n`, counted from one.
    pub fn constant(n: u32) -> ProcRef {
        ProcRef(127 + n as u8)
    }

    /// The process that this denotes, given those of the variables; processes count from zero.
    pub fn resolve(self, variables: &[u8]) -> u8 {
        if self.0 == NONE {
            NONE
        } else if self.0 >= 128 {
            self.0 - 128
        } else {
            variables[self.0 as usize]
        }
    }
}

/// Index of a symbol in [`System::symbols`].
pub type SymId = u16;

/// An atom of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SrcAtom {
    /// A variable, constant or cell; if it is weak, as the acting process sees it (in init: the initial value).
    Sym(SymId, [ProcRef; MAX_ARITY]),
    /// A weak variable or cell as the given process sees it.
    View(ProcRef, SymId, [ProcRef; MAX_ARITY]),
    /// A process.
    Proc(ProcRef),
}

impl AtomKind for SrcAtom {
    fn distinct(self, other: Self) -> bool {
        matches!((self, other), (SrcAtom::Proc(a), SrcAtom::Proc(b)) if a.0 >= 128 && b.0 >= 128 && a != b)
    }
}

/// A literal of the source.
pub type SrcLit = Lit<SrcAtom>;
/// A term of the source.
pub type SrcTerm = Term<SrcAtom>;

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Integers.
    Int,
    /// Reals, stored multiplied by [`System::real_scale`].
    Real,
    /// Processes.
    Proc,
    /// An enumeration; number 0 is `bool`.
    Enum(u16),
    /// A type about which nothing is known but equality.
    Abstract(u16),
}

/// A constant, variable or array.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Number of indices.
    pub arity: usize,
    /// Type of its values.
    pub sort: Sort,
    /// Accessed through the memory model.
    pub weak: bool,
    /// Never assigned: a constant, or a variable or array without weak memory that no transition assigns.
    pub rigid: bool,
}

/// `for all distinct params: dnf`.
#[derive(Clone, Debug)]
pub struct InitClause {
    /// Number of parameters.
    pub params: u8,
    /// The body in disjunctive normal form.
    pub dnf: Vec<Vec<SrcLit>>,
}

/// `exists distinct params: literals`: one disjunct of an unsafe or invariant declaration.
#[derive(Clone, Debug)]
pub struct Bad {
    /// Name for messages.
    pub name: String,
    /// Number of parameters.
    pub params: u8,
    /// The conjunction.
    pub lits: Vec<SrcLit>,
    /// Where.
    pub span: Span,
}

/// `for all vars: dnf`, a part of a guard.
#[derive(Clone, Debug)]
pub struct Universal {
    /// Numbers of the bound variables, pairwise distinct processes.
    pub vars: Vec<u8>,
    /// They differ from the declared parameters too.
    pub other: bool,
    /// The body.
    pub dnf: Vec<Vec<SrcLit>>,
}

/// What is assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One cell (a variable has no indices).
    Cell([ProcRef; MAX_ARITY]),
    /// All cells; the given variables stand for the indices.
    Every([ProcRef; MAX_ARITY]),
}

/// The new value: exclusive conditions, each with its term; `None` is any value.
#[derive(Clone, Debug)]
pub struct Update {
    /// Symbol.
    pub sym: SymId,
    /// Which cells.
    pub target: Target,
    /// Exactly one of the conditions holds.
    pub branches: Vec<(Vec<SrcLit>, Option<SrcTerm>)>,
}

impl Update {
    /// Whether a branch of an assignment to all cells leaves the cell as it is, in so many words: `| _ : A[j]`. Anything
    /// else is a write, and a cell that it names is read, also where the two happen to be the same.
    pub fn keeps(&self, term: &Option<SrcTerm>) -> bool {
        let Target::Every(idx) = self.target else { return false };
        let own = SrcAtom::Sym(self.sym, idx);
        match term {
            Some(Term::Atom(atom)) => *atom == own,
            Some(Term::Lin(form)) => form.constant == 0 && form.terms[..] == [(own, 1)],
            _ => false,
        }
    }
}

/// A guarded command; its guard is a conjunction.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Name.
    pub name: String,
    /// Declared parameters, the first ones.
    pub declared: u8,
    /// All existential parameters.
    pub params: u8,
    /// Number of variables including bound ones.
    pub variables: u8,
    /// Acting process, if given.
    pub acting: Option<u8>,
    /// Literals of the guard.
    pub guard: Vec<SrcLit>,
    /// Universal parts of the guard.
    pub universals: Vec<Universal>,
    /// The guard has `fence()`.
    pub fence: bool,
    /// Assignments.
    pub updates: Vec<Update>,
    /// Reads some weak symbol.
    pub reads: bool,
    /// Writes some weak symbol.
    pub writes: bool,
    /// Number of the declaration it came from.
    pub source: usize,
    /// Where.
    pub span: Span,
}

impl Transition {
    /// A read-modify-write: locked, that is atomic and with the buffers empty.
    pub fn is_rmw(&self) -> bool {
        self.reads && self.writes
    }
}

/// A whole system.
#[derive(Clone, Debug)]
pub struct System {
    /// Fixed number of processes, if any.
    pub number_procs: Option<u8>,
    /// Names of enumerations and their constructors.
    pub enums: Vec<(String, Vec<String>)>,
    /// Names of abstract types.
    pub abstracts: Vec<String>,
    /// All symbols.
    pub symbols: Vec<Symbol>,
    /// Initial states: the conjunction of these.
    pub init: Vec<InitClause>,
    /// Bad states.
    pub bad: Vec<Bad>,
    /// States assumed unreachable.
    pub assumed: Vec<Bad>,
    /// Transitions, one per disjunct of a guard.
    pub transitions: Vec<Transition>,
    /// What reals are multiplied by.
    pub real_scale: i64,
    /// No process can be told from another by a constant: any permutation of processes is a symmetry.
    pub symmetric: bool,
}

impl System {
    /// The symbol.
    pub fn symbol(&self, sym: SymId) -> &Symbol {
        &self.symbols[sym as usize]
    }

    /// The set of all constructors of an enumeration.
    pub fn full_mask(&self, sort: Sort) -> u64 {
        match sort {
            Sort::Enum(e) => u64::MAX >> (64 - self.enums[e as usize].1.len().clamp(1, 64)),
            _ => u64::MAX,
        }
    }

    /// Whether something depends on the order of processes.
    pub fn orders_processes(&self) -> bool {
        let is_order = |l: &SrcLit| matches!(l, Lit::Lt(..));
        let in_guard = |t: &Transition| {
            t.guard.iter().any(is_order)
                || t.universals.iter().any(|u| u.dnf.iter().flatten().any(is_order))
                || t.updates.iter().any(|u| u.branches.iter().any(|b| b.0.iter().any(is_order)))
        };
        self.transitions.iter().any(in_guard)
            || self.init.iter().any(|c| c.dnf.iter().flatten().any(is_order))
            || self.bad.iter().chain(&self.assumed).any(|b| b.lits.iter().any(is_order))
    }

    /// Variables and constants that name a process and are never assigned.
    pub fn process_constants(&self) -> impl Iterator<Item = SymId> + '_ {
        let is_constant = |s: &Symbol| s.rigid && s.arity == 0 && s.sort == Sort::Proc;
        (0..self.symbols.len() as SymId).filter(move |sym| is_constant(self.symbol(*sym)))
    }

    /// Variables and constants that are numbers and are never assigned.
    pub fn number_constants(&self) -> Vec<Atom> {
        let is_constant = |s: &Symbol| s.rigid && s.arity == 0 && matches!(s.sort, Sort::Int | Sort::Real);
        let symbols = (0..self.symbols.len() as SymId).filter(|sym| is_constant(self.symbol(*sym)));
        symbols.map(|sym| Atom::Cell(sym, [NONE; MAX_ARITY])).collect()
    }

    /// Whether any access goes through the memory model.
    pub fn has_weak(&self) -> bool {
        self.symbols.iter().any(|s| s.weak)
    }

    /// A value as the user writes it.
    pub fn show_value(&self, sort: Sort, value: i64) -> String {
        match sort {
            Sort::Int => value.to_string(),
            Sort::Real if value % self.real_scale == 0 => format!("{}.0", value / self.real_scale),
            Sort::Real => format!("{}", value as f64 / self.real_scale as f64),
            Sort::Proc => format!("#{}", value + 1),
            Sort::Enum(e) => {
                self.enums[e as usize].1.get(value as usize).cloned().unwrap_or_else(|| value.to_string())
            }
            Sort::Abstract(a) => format!("{}!{value}", self.abstracts[a as usize]),
        }
    }
}
