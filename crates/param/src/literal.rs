//! Literals and terms, over any kind of atom: the source's (symbols indexed by process variables) and the cubes'
//! (cells of named processes, values of reads).
//!
//! Invariants: the two sides of `Eq` and `Ne` are ordered; a mask is neither empty nor full where the domain is
//! known; a linear form is sorted by atom, has no zero coefficient, is divided by the gcd of its coefficients and,
//! over the integers, has no strict inequality. Constant literals do not exist: they are [`Fact::True`] or
//! [`Fact::False`].
//!
//! Arithmetic that overflows yields [`Fact::True`]: the literal is forgotten, which makes a cube larger, never smaller.

use smallvec::SmallVec;
use std::fmt::Debug;
use std::hash::Hash;

/// What literals are built from.
pub trait AtomKind: Copy + Ord + Hash + Debug {
    /// Whether two different atoms are constants that can never be equal (two named processes).
    fn distinct(self, other: Self) -> bool;
}

/// `sum of coefficient * atom + constant`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Linear<A> {
    /// Atoms with their coefficients.
    pub terms: SmallVec<[(A, i64); 2]>,
    /// The constant.
    pub constant: i64,
    /// Over the integers rather than the reals.
    pub int: bool,
}

/// Comparison of a linear form with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinOp {
    /// `= 0`
    Eq,
    /// `<> 0`
    Ne,
    /// `<= 0`
    Le,
    /// `< 0`, over the reals only
    Lt,
}

/// A literal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lit<A> {
    /// An atom of an enumeration lies in a set of constructors.
    In(A, u64),
    /// Equality of processes, enumerations or abstract values.
    Eq(A, A),
    /// Its negation.
    Ne(A, A),
    /// The order of processes.
    Lt(A, A),
    /// Linear arithmetic.
    Lin(LinOp, Linear<A>),
}

/// A literal after simplification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact<A> {
    /// Always holds.
    True,
    /// Never holds.
    False,
    /// Depends.
    Lit(Lit<A>),
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term<A> {
    /// A constructor of an enumeration.
    Value(u8),
    /// An atom that is not a number.
    Atom(A),
    /// A number.
    Lin(Linear<A>),
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

impl<A: AtomKind> Linear<A> {
    /// A constant.
    pub fn constant(constant: i64, int: bool) -> Self {
        Linear { terms: SmallVec::new(), constant, int }
    }

    /// An atom.
    pub fn atom(atom: A, int: bool) -> Self {
        Linear { terms: smallvec::smallvec![(atom, 1)], constant: 0, int }
    }

    /// `self + factor * other`, unless it overflows.
    pub fn add(&self, factor: i64, other: &Self) -> Option<Self> {
        let mut terms: SmallVec<[(A, i64); 2]> = SmallVec::new();
        let (mut i, mut j) = (0, 0);
        while i < self.terms.len() || j < other.terms.len() {
            let left = self.terms.get(i);
            let right = other.terms.get(j);
            let (atom, coefficient) = match (left, right) {
                (Some(l), Some(r)) if l.0 == r.0 => {
                    (i, j) = (i + 1, j + 1);
                    (l.0, l.1.checked_add(r.1.checked_mul(factor)?)?)
                }
                (Some(l), Some(r)) if l.0 < r.0 => {
                    i += 1;
                    *l
                }
                (Some(l), None) => {
                    i += 1;
                    *l
                }
                (_, Some(r)) => {
                    j += 1;
                    (r.0, r.1.checked_mul(factor)?)
                }
                (None, None) => break,
            };
            if coefficient != 0 {
                terms.push((atom, coefficient));
            }
        }
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(Linear { terms, constant, int: self.int })
    }

    /// Replaces atoms by linear forms.
    pub fn map<B: AtomKind>(&self, f: &mut impl FnMut(A) -> Term<B>) -> Option<Linear<B>> {
        let mut sum = Linear::constant(self.constant, self.int);
        for &(atom, coefficient) in &self.terms {
            let term = match f(atom) {
                Term::Lin(linear) => linear,
                Term::Atom(atom) => Linear::atom(atom, self.int),
                Term::Value(_) => return None,
            };
            sum = sum.add(coefficient, &term)?;
        }
        Some(sum)
    }
}

/// `form op 0`, simplified.
pub fn linear<A: AtomKind>(mut op: LinOp, mut form: Linear<A>) -> Fact<A> {
    if form.int && op == LinOp::Lt {
        let Some(next) = form.constant.checked_add(1) else { return Fact::True };
        (op, form.constant) = (LinOp::Le, next);
    }
    let c = form.constant;
    if form.terms.is_empty() {
        let holds = match op {
            LinOp::Eq => c == 0,
            LinOp::Ne => c != 0,
            LinOp::Le => c <= 0,
            LinOp::Lt => c < 0,
        };
        return if holds { Fact::True } else { Fact::False };
    }
    let mut g = form.terms.iter().fold(0, |g, t| gcd(g, t.1));
    if !form.int {
        g = gcd(g, c);
    }
    if g > 1 {
        if form.int && c % g != 0 {
            match op {
                LinOp::Eq => return Fact::False,
                LinOp::Ne => return Fact::True,
                _ => {}
            }
        }
        form.terms.iter_mut().for_each(|t| t.1 /= g);
        // Sum + c/g <= 0 over the integers is Sum + ceil(c/g) <= 0.
        form.constant = c.div_euclid(g) + i64::from(c.rem_euclid(g) != 0);
    }
    if matches!(op, LinOp::Eq | LinOp::Ne) && form.terms[0].1 < 0 {
        form.terms.iter_mut().for_each(|t| t.1 = -t.1);
        form.constant = -form.constant;
    }
    Fact::Lit(Lit::Lin(op, form))
}

/// `a = b` or, negated, `a <> b`, for terms of one type.
pub fn equal<A: AtomKind>(a: Term<A>, b: Term<A>, positive: bool) -> Fact<A> {
    let known = |holds: bool| if holds == positive { Fact::True } else { Fact::False };
    match (a, b) {
        (Term::Value(x), Term::Value(y)) => known(x == y),
        (Term::Value(v), Term::Atom(a)) | (Term::Atom(a), Term::Value(v)) => {
            Fact::Lit(Lit::In(a, if positive { 1 << v } else { !(1 << v) }))
        }
        (Term::Atom(a), Term::Atom(b)) => {
            if a == b {
                known(true)
            } else if a.distinct(b) {
                known(false)
            } else {
                let (a, b) = (a.min(b), a.max(b));
                Fact::Lit(if positive { Lit::Eq(a, b) } else { Lit::Ne(a, b) })
            }
        }
        (Term::Lin(a), Term::Lin(b)) => match a.add(-1, &b) {
            Some(difference) => linear(if positive { LinOp::Eq } else { LinOp::Ne }, difference),
            None => Fact::True,
        },
        // The type checker keeps numbers and other values apart.
        _ => Fact::True,
    }
}

impl<A: AtomKind> Lit<A> {
    /// Replaces atoms by terms.
    pub fn map<B: AtomKind>(&self, f: &mut impl FnMut(A) -> Term<B>) -> Fact<B> {
        match self {
            Lit::In(a, mask) => match f(*a) {
                Term::Value(v) => {
                    if mask >> v & 1 == 1 {
                        Fact::True
                    } else {
                        Fact::False
                    }
                }
                Term::Atom(a) => Fact::Lit(Lit::In(a, *mask)),
                Term::Lin(_) => Fact::True,
            },
            Lit::Eq(a, b) => equal(f(*a), f(*b), true),
            Lit::Ne(a, b) => equal(f(*a), f(*b), false),
            Lit::Lt(a, b) => match (f(*a), f(*b)) {
                (Term::Atom(a), Term::Atom(b)) if a == b => Fact::False,
                (Term::Atom(a), Term::Atom(b)) => Fact::Lit(Lit::Lt(a, b)),
                _ => Fact::True,
            },
            Lit::Lin(op, form) => match form.map(f) {
                Some(form) => linear(*op, form),
                None => Fact::True,
            },
        }
    }

    /// Renames atoms; the new names keep the atoms apart.
    pub fn rename<B: AtomKind>(&self, f: &mut impl FnMut(A) -> B) -> Fact<B> {
        self.map(&mut |a| Term::Atom(f(a)))
    }

    /// Calls `f` on every atom.
    pub fn for_each_atom(&self, mut f: impl FnMut(A)) {
        match self {
            Lit::In(a, _) => f(*a),
            Lit::Eq(a, b) | Lit::Ne(a, b) | Lit::Lt(a, b) => {
                f(*a);
                f(*b);
            }
            Lit::Lin(_, form) => form.terms.iter().for_each(|t| f(t.0)),
        }
    }

    /// Whether some atom satisfies `f`.
    pub fn mentions(&self, f: impl Fn(A) -> bool) -> bool {
        let mut found = false;
        self.for_each_atom(|a| found |= f(a));
        found
    }

    /// The negation, as a disjunction of at most two literals.
    pub fn negate(&self) -> Vec<Fact<A>> {
        match self {
            Lit::In(a, mask) => vec![Fact::Lit(Lit::In(*a, !mask))],
            Lit::Eq(a, b) => vec![Fact::Lit(Lit::Ne(*a, *b))],
            Lit::Ne(a, b) => vec![Fact::Lit(Lit::Eq(*a, *b))],
            Lit::Lt(a, b) => {
                vec![Fact::Lit(Lit::Lt(*b, *a)), equal(Term::Atom(*a), Term::Atom(*b), true)]
            }
            Lit::Lin(LinOp::Eq, form) => vec![linear(LinOp::Ne, form.clone())],
            Lit::Lin(LinOp::Ne, form) => vec![linear(LinOp::Eq, form.clone())],
            Lit::Lin(op, form) => {
                let zero = Linear::constant(0, form.int);
                let strict = if *op == LinOp::Le { LinOp::Lt } else { LinOp::Le };
                vec![zero.add(-1, form).map_or(Fact::True, |minus| linear(strict, minus))]
            }
        }
    }
}
