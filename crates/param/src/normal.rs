//! Disjunctive normal form. A formula in negation normal form becomes a list of conjunctions; existential
//! quantifiers are lifted into parameters (a bound process is either a new one or one that is already named), and
//! universal ones stay as separate conjuncts.

use crate::literal::{Fact, Lit, Term};
use crate::system::{ProcRef, SrcAtom, SrcLit, Universal};

/// A formula in negation normal form.
#[derive(Clone, Debug)]
pub enum Formula {
    /// A literal or a constant.
    Fact(Fact<SrcAtom>),
    /// `fence()`
    Fence,
    /// Conjunction.
    And(Vec<Formula>),
    /// Disjunction.
    Or(Vec<Formula>),
    /// A quantifier over pairwise distinct processes.
    Quant {
        /// Universal rather than existential.
        universal: bool,
        /// Bound processes differ from the declared parameters.
        other: bool,
        /// Bound variables.
        vars: Vec<u8>,
        /// Scope.
        body: Box<Formula>,
    },
}

/// One disjunct.
#[derive(Clone, Debug, Default)]
pub struct Conj {
    /// Literals, sorted; at most one mask per atom.
    pub lits: Vec<SrcLit>,
    /// `fence()` is among the conjuncts.
    pub fence: bool,
    /// Existential blocks: variables, and whether they differ from the declared parameters.
    pub exists: Vec<(Vec<u8>, bool)>,
    /// Universal conjuncts.
    pub universals: Vec<Universal>,
}

/// Why a formula has no normal form here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// More disjuncts than anyone can mean.
    TooLarge,
    /// A quantifier below a universal one.
    Nested,
}

/// More disjuncts than this are refused.
const MAX_DISJUNCTS: usize = 4096;

/// The set of all values of an atom's enumeration.
pub type Full<'a> = &'a dyn Fn(SrcAtom) -> u64;

/// The disjuncts of a formula.
pub fn dnf(formula: &Formula, full: Full) -> Result<Vec<Conj>, Refused> {
    match formula {
        Formula::Fact(Fact::True) => Ok(vec![Conj::default()]),
        Formula::Fact(Fact::False) => Ok(vec![]),
        Formula::Fact(Fact::Lit(lit)) => Ok(vec![Conj { lits: vec![lit.clone()], ..Conj::default() }]),
        Formula::Fence => Ok(vec![Conj { fence: true, ..Conj::default() }]),
        Formula::And(parts) => {
            let mut result = vec![Conj::default()];
            for part in parts {
                let right = dnf(part, full)?;
                let mut product = Vec::new();
                for a in &result {
                    for b in &right {
                        product.extend(conjoin(a, b));
                        if product.len() > MAX_DISJUNCTS {
                            return Err(Refused::TooLarge);
                        }
                    }
                }
                result = product;
            }
            Ok(result)
        }
        Formula::Or(parts) => {
            let mut result: Vec<Conj> = Vec::new();
            for part in parts {
                for conj in dnf(part, full)? {
                    absorb(&mut result, conj, full);
                }
                if result.len() > MAX_DISJUNCTS {
                    return Err(Refused::TooLarge);
                }
            }
            Ok(result)
        }
        Formula::Quant { universal: false, other, vars, body } => {
            let mut result = dnf(body, full)?;
            for conj in &mut result {
                conj.exists.insert(0, (vars.clone(), *other));
            }
            Ok(result)
        }
        Formula::Quant { universal: true, other, vars, body } => {
            let inner = dnf(body, full)?;
            if inner.iter().any(|c| !c.exists.is_empty() || !c.universals.is_empty()) {
                return Err(Refused::Nested);
            }
            let fence = inner.iter().any(|c| c.fence);
            if fence && !inner.iter().all(|c| c.fence) {
                return Err(Refused::Nested);
            }
            let dnf = inner.into_iter().map(|c| c.lits).collect();
            let universal = Universal { vars: vars.clone(), other: *other, dnf };
            Ok(vec![Conj { fence, universals: vec![universal], ..Conj::default() }])
        }
    }
}

/// Adds a disjunct, merging it with one that differs from it in a single mask only.
fn absorb(result: &mut Vec<Conj>, conj: Conj, full: Full) {
    for old in result.iter_mut() {
        let plain = |c: &Conj| c.exists.is_empty() && c.universals.is_empty();
        if !plain(old) || !plain(&conj) || old.fence != conj.fence || old.lits.len() != conj.lits.len() {
            continue;
        }
        let different: Vec<usize> = (0..old.lits.len()).filter(|&i| old.lits[i] != conj.lits[i]).collect();
        match different[..] {
            [] => return,
            [i] => {
                if let (Lit::In(a, m), Lit::In(b, n)) = (&old.lits[i], &conj.lits[i])
                    && a == b
                {
                    let (a, union) = (*a, m | n);
                    if union == full(a) {
                        old.lits.remove(i);
                    } else {
                        old.lits[i] = Lit::In(a, union);
                    }
                    return;
                }
            }
            _ => {}
        }
    }
    result.push(conj);
}

/// The conjunction of two disjuncts, if it is not plainly contradictory.
fn conjoin(a: &Conj, b: &Conj) -> Option<Conj> {
    let mut result = a.clone();
    result.fence |= b.fence;
    result.exists.extend(b.exists.iter().cloned());
    result.universals.extend(b.universals.iter().cloned());
    result.lits = conjoin_lits(&a.lits, &b.lits)?;
    Some(result)
}

/// The conjunction of two lists of literals, if it is not plainly contradictory.
pub fn conjoin_lits(a: &[SrcLit], b: &[SrcLit]) -> Option<Vec<SrcLit>> {
    let mut lits = a.to_vec();
    for lit in b {
        if let Lit::In(atom, mask) = lit
            && let Some(Lit::In(_, old)) = lits.iter_mut().find(|l| matches!(l, Lit::In(x, _) if x == atom))
        {
            *old &= mask;
            if *old == 0 {
                return None;
            }
            continue;
        }
        if lit
            .negate()
            .iter()
            .any(|n| matches!(n, Fact::Lit(n) if !matches!(lit, Lit::Lt(..)) && lits.contains(n)))
        {
            return None;
        }
        if !lits.contains(lit) {
            lits.push(lit.clone());
        }
    }
    lits.sort();
    Some(lits)
}

/// Replaces process variables in a literal.
pub fn rename_vars(lit: &SrcLit, map: &impl Fn(ProcRef) -> ProcRef) -> Fact<SrcAtom> {
    lit.map(&mut |atom| Term::Atom(rename_atom(atom, map)))
}

/// Replaces process variables in an atom.
pub fn rename_atom(atom: SrcAtom, map: &impl Fn(ProcRef) -> ProcRef) -> SrcAtom {
    match atom {
        SrcAtom::Sym(s, idx) => SrcAtom::Sym(s, idx.map(map)),
        SrcAtom::View(p, s, idx) => SrcAtom::View(map(p), s, idx.map(map)),
        SrcAtom::Proc(p) => SrcAtom::Proc(map(p)),
    }
}

/// Renames a list of literals; `None` when one of them became false.
pub fn rename_all(lits: &[SrcLit], map: &impl Fn(ProcRef) -> ProcRef) -> Option<Vec<SrcLit>> {
    let mut result: Vec<SrcLit> = Vec::new();
    for lit in lits {
        match rename_vars(lit, map) {
            Fact::True => {}
            Fact::False => return None,
            Fact::Lit(lit) => result = conjoin_lits(&result, &[lit])?,
        }
    }
    Some(result)
}

/// Resolves the existential blocks of a disjunct: each bound process is a new one or one already named. Yields, per
/// choice, the total number of parameters and the map from old to new variables. Universal and update variables
/// follow the parameters.
pub fn lift_exists(conj: &Conj, declared: u8, variables: u8) -> Vec<(u8, Vec<u8>)> {
    let start: Vec<u8> =
        (0..declared).chain(std::iter::repeat_n(crate::system::NONE, 128)).take(128).collect();
    let mut choices = vec![(declared, start)];
    for (vars, other) in &conj.exists {
        for (position, &var) in vars.iter().enumerate() {
            let mut next = Vec::new();
            for (count, map) in choices {
                let first = if *other { declared } else { 0 };
                let siblings: Vec<u8> = vars[..position].iter().map(|&v| map[v as usize]).collect();
                for old in (first..count).filter(|o| !siblings.contains(o)) {
                    let mut map = map.clone();
                    map[var as usize] = old;
                    next.push((count, map));
                }
                let mut map = map.clone();
                map[var as usize] = count;
                next.push((count + 1, map));
            }
            choices = next;
        }
    }
    for (count, map) in &mut choices {
        let mut next = *count;
        for slot in map.iter_mut().take(variables as usize) {
            if *slot == crate::system::NONE {
                *slot = next;
                next += 1;
            }
        }
    }
    choices
}
