//! The decision procedure for conjunctions of literals: equality over processes, enumerations and abstract values,
//! the order of processes, linear arithmetic. Acyclicity of `ghb` is kept by `memory`.
//!
//! [`simplify`] decides and normalises in one go; [`entails`] asks whether a simplified conjunction implies a literal;
//! [`explain`] finds a small contradictory part. "Contradictory" and "implied" are always right; the other answers may
//! err on the side of keeping a cube.

use crate::cube::{Atom, CubeLit};
use crate::fourier;
use crate::literal::{Fact, LinOp, Linear, Lit, linear};

/// What the solver must know of the atoms.
pub struct Theory<'a> {
    /// All values of an atom's enumeration.
    pub full: &'a dyn Fn(Atom) -> u64,
    /// Processes are ordered by their number (their count is fixed).
    pub ordered_procs: bool,
}

/// The literals in normal form, or `None` if they contradict each other.
pub fn simplify(theory: &Theory, mut lits: Vec<CubeLit>) -> Option<Vec<CubeLit>> {
    lits.sort();
    lits.dedup();
    if lits.iter().all(|l| matches!(l, Lit::In(..))) {
        return masks_only(theory, lits);
    }
    Classes::new(theory, &lits).normal_form()
}

fn masks_only(theory: &Theory, lits: Vec<CubeLit>) -> Option<Vec<CubeLit>> {
    let mut result: Vec<CubeLit> = Vec::with_capacity(lits.len());
    let mut at = 0;
    while at < lits.len() {
        let Lit::In(atom, mut mask) = lits[at] else { return None };
        at += 1;
        while let Some(Lit::In(next, more)) = lits.get(at)
            && *next == atom
        {
            mask &= more;
            at += 1;
        }
        let full = (theory.full)(atom);
        if mask & full == 0 {
            return None;
        }
        if mask & full != full {
            result.push(Lit::In(atom, mask & full));
        }
    }
    Some(result)
}

/// Classes of equal atoms with what is known of each.
struct Classes<'a> {
    theory: &'a Theory<'a>,
    lits: &'a [CubeLit],
    atoms: Vec<Atom>,
    parent: Vec<usize>,
    mask: Vec<u64>,
}

impl<'a> Classes<'a> {
    fn new(theory: &'a Theory<'a>, lits: &'a [CubeLit]) -> Self {
        let mut atoms: Vec<Atom> = Vec::new();
        for lit in lits.iter().filter(|l| !matches!(l, Lit::Lin(..))) {
            lit.for_each_atom(|a| atoms.push(a));
        }
        atoms.sort();
        atoms.dedup();
        let mask = atoms.iter().map(|a| (theory.full)(*a)).collect();
        Classes { theory, lits, parent: (0..atoms.len()).collect(), atoms, mask }
    }

    fn find(&self, atom: Atom) -> usize {
        let mut i = self.atoms.binary_search(&atom).unwrap_or(0);
        while self.parent[i] != i {
            i = self.parent[i];
        }
        i
    }

    /// Processes sort last and become representatives; otherwise the smallest atom does.
    fn union(&mut self, a: Atom, b: Atom) -> bool {
        let (mut a, mut b) = (self.find(a), self.find(b));
        if a == b {
            return true;
        }
        let is_proc = |i: usize| matches!(self.atoms[i], Atom::Proc(_));
        if is_proc(a) && is_proc(b) {
            return false;
        }
        if is_proc(b) || (b < a && !is_proc(a)) {
            (a, b) = (b, a);
        }
        self.mask[a] &= self.mask[b];
        self.parent[b] = a;
        true
    }

    fn normal_form(mut self) -> Option<Vec<CubeLit>> {
        for lit in self.lits {
            let consistent = match lit {
                Lit::In(a, mask) => {
                    let class = self.find(*a);
                    self.mask[class] &= mask;
                    true
                }
                Lit::Eq(a, b) => self.union(*a, *b),
                _ => true,
            };
            if !consistent {
                return None;
            }
        }
        if !self.propagate_disequalities() {
            return None;
        }
        let mut result = self.equalities()?;
        self.disequalities(&mut result)?;
        self.order(&mut result)?;
        self.arithmetic(&mut result)?;
        result.sort();
        result.dedup();
        Some(result)
    }

    /// `a <> b` where one side has a single value removes it from the other, until nothing changes.
    fn propagate_disequalities(&mut self) -> bool {
        loop {
            let mut changed = false;
            for lit in self.lits {
                let Lit::Ne(a, b) = lit else { continue };
                let (a, b) = (self.find(*a), self.find(*b));
                if a == b {
                    return false;
                }
                for (x, y) in [(a, b), (b, a)] {
                    if self.mask[x].count_ones() == 1 && self.mask[y] & self.mask[x] != 0 {
                        self.mask[y] &= !self.mask[x];
                        changed = true;
                    }
                }
            }
            if (0..self.atoms.len()).any(|i| self.parent[i] == i && self.mask[i] == 0) {
                return false;
            }
            if !changed {
                return true;
            }
        }
    }

    fn equalities(&self) -> Option<Vec<CubeLit>> {
        let mut result = Vec::new();
        for (i, &atom) in self.atoms.iter().enumerate() {
            let class = self.find(atom);
            let mask = self.mask[class];
            if mask == 0 {
                return None;
            }
            if mask != (self.theory.full)(atom) {
                result.push(Lit::In(atom, mask));
            }
            if class != i && mask.count_ones() != 1 {
                let other = self.atoms[class];
                result.push(Lit::Eq(atom.min(other), atom.max(other)));
            }
        }
        Some(result)
    }

    fn disequalities(&self, result: &mut Vec<CubeLit>) -> Option<()> {
        for lit in self.lits {
            let Lit::Ne(a, b) = lit else { continue };
            let (x, y) = (self.find(*a), self.find(*b));
            let (a, b) = (self.atoms[x].min(self.atoms[y]), self.atoms[x].max(self.atoms[y]));
            let apart = self.mask[x] & self.mask[y] == 0;
            let named = matches!((a, b), (Atom::Proc(_), Atom::Proc(_)));
            if !apart && !named {
                result.push(Lit::Ne(a, b));
            }
        }
        Some(())
    }

    /// The order of processes must have no cycle.
    fn order(&self, result: &mut Vec<CubeLit>) -> Option<()> {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for lit in self.lits {
            if let Lit::Lt(a, b) = lit {
                pairs.push((self.find(*a), self.find(*b)));
            }
        }
        if pairs.is_empty() {
            return Some(());
        }
        let n = self.atoms.len();
        let mut less = vec![false; n * n];
        for &(a, b) in &pairs {
            less[a * n + b] = true;
        }
        if self.theory.ordered_procs {
            for i in 0..n {
                for j in 0..n {
                    if let (Atom::Proc(p), Atom::Proc(q)) = (self.atoms[i], self.atoms[j])
                        && p < q
                    {
                        less[i * n + j] = true;
                    }
                }
            }
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    less[i * n + j] |= less[i * n + k] && less[k * n + j];
                }
            }
        }
        if (0..n).any(|i| less[i * n + i]) {
            return None;
        }
        for (a, b) in pairs {
            let (a, b) = (self.atoms[a], self.atoms[b]);
            let known = self.theory.ordered_procs && matches!((a, b), (Atom::Proc(_), Atom::Proc(_)));
            if !known {
                result.push(Lit::Lt(a, b));
            }
        }
        Some(())
    }

    fn arithmetic(&self, result: &mut Vec<CubeLit>) -> Option<()> {
        let mut forms: Vec<(LinOp, Linear<Atom>)> = Vec::new();
        for lit in self.lits {
            if let Lit::Lin(op, form) = lit {
                forms.push((*op, form.clone()));
            }
        }
        if forms.is_empty() {
            return Some(());
        }
        substitute_values(&mut forms)?;
        if !fourier::satisfiable(&forms) {
            return None;
        }
        // A bound that another one on the same form implies is dropped.
        let implied = |i: usize| {
            forms.iter().enumerate().any(|(j, stronger)| {
                i != j
                    && implies_directly(stronger, &forms[i])
                    && (j < i || !implies_directly(&forms[i], stronger))
            })
        };
        for (i, (op, form)) in forms.iter().enumerate() {
            if !implied(i) {
                result.push(Lit::Lin(*op, form.clone()));
            }
        }
        Some(())
    }
}

/// `x = c` is used in all other literals.
fn substitute_values(forms: &mut Vec<(LinOp, Linear<Atom>)>) -> Option<()> {
    let mut done = 0;
    while let Some(at) = (done..forms.len())
        .find(|&i| forms[i].0 == LinOp::Eq && forms[i].1.terms.len() == 1 && forms[i].1.terms[0].1 == 1)
    {
        forms.swap(done, at);
        let (_, equation) = forms[done].clone();
        let atom = equation.terms[0].0;
        done += 1;
        let mut next: Vec<(LinOp, Linear<Atom>)> = forms[..done].to_vec();
        for (op, form) in &forms[done..] {
            let factor = form.terms.iter().find(|t| t.0 == atom).map_or(0, |t| t.1);
            match form.add(-factor, &equation).map(|f| linear(*op, f)) {
                Some(Fact::False) => return None,
                Some(Fact::Lit(Lit::Lin(op, form))) => next.push((op, form)),
                _ => {}
            }
        }
        *forms = next;
    }
    Some(())
}

/// Whether one literal implies another on the same sum.
fn implies_directly(a: &(LinOp, Linear<Atom>), b: &(LinOp, Linear<Atom>)) -> bool {
    if a == b {
        return true;
    }
    if a.1.terms != b.1.terms {
        return false;
    }
    let (c, d) = (a.1.constant, b.1.constant);
    match (a.0, b.0) {
        (LinOp::Eq, LinOp::Ne) => c != d,
        (LinOp::Eq, LinOp::Le) => c >= d,
        (LinOp::Eq, LinOp::Lt) => c > d,
        (LinOp::Le, LinOp::Le) | (LinOp::Lt, LinOp::Lt) | (LinOp::Lt, LinOp::Le) => c >= d,
        (LinOp::Le, LinOp::Lt) => c > d,
        (LinOp::Le, LinOp::Ne) => c > d,
        (LinOp::Lt, LinOp::Ne) => c >= d,
        _ => false,
    }
}

/// The mask that a simplified conjunction gives an atom.
fn mask_of(lits: &[CubeLit], atom: Atom) -> Option<u64> {
    let at = lits.partition_point(|l| matches!(l, Lit::In(a, _) if *a < atom));
    match lits.get(at) {
        Some(Lit::In(a, mask)) if *a == atom => Some(*mask),
        _ => None,
    }
}

/// The process that a simplified conjunction says an atom is.
fn process_of(lits: &[CubeLit], atom: Atom) -> Option<u8> {
    if let Atom::Proc(p) = atom {
        return Some(p);
    }
    lits.iter().find_map(|l| match l {
        Lit::Eq(a, Atom::Proc(p)) if *a == atom => Some(*p),
        _ => None,
    })
}

/// The representative of an atom's class in a simplified conjunction: a process if it is one, else the smallest atom.
fn representative(lits: &[CubeLit], atom: Atom) -> Atom {
    let mut smallest = atom;
    for lit in lits {
        let Lit::Eq(a, b) = lit else { continue };
        let other = if *a == atom {
            *b
        } else if *b == atom {
            *a
        } else {
            continue;
        };
        if matches!(other, Atom::Proc(_)) {
            return other;
        }
        smallest = smallest.min(other);
    }
    smallest
}

/// Whether a simplified conjunction implies a literal.
pub fn entails(lits: &[CubeLit], lit: &CubeLit) -> bool {
    if let Lit::In(atom, mask) = lit {
        return mask_of(lits, *atom).is_some_and(|m| m & !mask == 0);
    }
    if lits.binary_search(lit).is_ok() {
        return true;
    }
    match lit {
        Lit::Eq(a, b) => {
            let same_value = match (mask_of(lits, *a), mask_of(lits, *b)) {
                (Some(m), Some(n)) => m == n && m.count_ones() == 1,
                _ => false,
            };
            same_value
                || process_of(lits, *a).is_some_and(|p| process_of(lits, *b) == Some(p))
                || representative(lits, *a) == representative(lits, *b)
        }
        Lit::Ne(a, b) => {
            let apart = matches!((mask_of(lits, *a), mask_of(lits, *b)), (Some(m), Some(n)) if m & n == 0);
            let ordered = || lits.iter().any(|l| *l == Lit::Lt(*a, *b) || *l == Lit::Lt(*b, *a));
            apart
                || matches!((process_of(lits, *a), process_of(lits, *b)), (Some(p), Some(q)) if p != q)
                || ordered()
                || {
                    let (a, b) = (representative(lits, *a), representative(lits, *b));
                    lits.binary_search(&Lit::Ne(a.min(b), a.max(b))).is_ok()
                }
        }
        Lit::Lin(op, form) => {
            let mut forms: Vec<(LinOp, Linear<Atom>)> = Vec::new();
            for l in lits {
                if let Lit::Lin(op, form) = l {
                    forms.push((*op, form.clone()));
                }
            }
            let wanted = (*op, form.clone());
            if forms.is_empty() {
                return false;
            }
            if forms.iter().any(|f| implies_directly(f, &wanted)) {
                return true;
            }
            lit.negate().into_iter().all(|negation| match negation {
                Fact::False => true,
                Fact::Lit(Lit::Lin(op, form)) => {
                    let mut with = forms.clone();
                    with.push((op, form));
                    !fourier::satisfiable(&with)
                }
                _ => false,
            })
        }
        Lit::Lt(a, b) => {
            let (a, b) = (representative(lits, *a), representative(lits, *b));
            lits.binary_search(&Lit::Lt(a, b)).is_ok()
        }
        Lit::In(..) => false,
    }
}

/// A part of contradictory literals that is contradictory and of which nothing can be left out.
pub fn explain(theory: &Theory, lits: &[CubeLit]) -> Vec<CubeLit> {
    let mut core = lits.to_vec();
    let mut at = 0;
    while at < core.len() {
        let mut without = core.clone();
        without.remove(at);
        if simplify(theory, without.clone()).is_none() {
            core = without;
        } else {
            at += 1;
        }
    }
    core
}
