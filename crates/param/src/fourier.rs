//! Linear arithmetic by Fourier-Motzkin elimination, over the rationals, with the rounding that `literal::linear` does
//! for integers. "Unsatisfiable" is always right; "satisfiable" may be wrong for integers and when a limit is hit,
//! which makes the search keep a cube that it could have dropped, never the other way round.

use crate::cube::Atom;
use crate::literal::{Fact, LinOp, Linear, Lit, Term, linear};

type Form = Linear<Atom>;

/// Constraints beyond which the question is given up as satisfiable.
const MAX_CONSTRAINTS: usize = 400;
/// Disequalities that are split; the rest is ignored.
const MAX_SPLITS: usize = 6;

/// Whether the linear literals have a common solution, as far as can be told.
pub fn satisfiable(constraints: &[(LinOp, Form)]) -> bool {
    let disequal = constraints.iter().position(|c| c.0 == LinOp::Ne);
    let splits = constraints.iter().filter(|c| c.0 == LinOp::Ne).count();
    match disequal {
        None => eliminate(constraints.to_vec()),
        Some(i) if splits > MAX_SPLITS => {
            let mut rest = constraints.to_vec();
            rest.remove(i);
            satisfiable(&rest)
        }
        Some(i) => {
            let mut rest = constraints.to_vec();
            let (_, form) = rest.remove(i);
            let minus = Linear::constant(0, form.int).add(-1, &form);
            [Some(form), minus].into_iter().flatten().any(|side| {
                let mut rest = rest.clone();
                match linear(LinOp::Lt, side) {
                    Fact::False => return false,
                    Fact::True => {}
                    Fact::Lit(Lit::Lin(op, form)) => rest.push((op, form)),
                    Fact::Lit(_) => {}
                }
                satisfiable(&rest)
            })
        }
    }
}

/// What the constraints say of everything but an atom: exact over the reals, weaker where a limit is hit, over the
/// integers and for disequalities of the atom.
pub fn project(constraints: Vec<(LinOp, Form)>, atom: Atom) -> Vec<(LinOp, Form)> {
    let coefficient = |form: &Form| form.terms.iter().find(|t| t.0 == atom).map_or(0, |t| t.1);
    let (about, mut rest): (Vec<_>, Vec<_>) =
        constraints.into_iter().partition(|(_, form)| coefficient(form) != 0);
    let mut keep = |op: LinOp, form: Option<Form>| {
        if let Some(Fact::Lit(Lit::Lin(op, form))) = form.map(|form| linear(op, form))
            && !rest.contains(&(op, form.clone()))
        {
            rest.push((op, form));
        }
        true
    };
    let equation = about.iter().position(|c| c.0 == LinOp::Eq && coefficient(&c.1).abs() == 1);
    match equation {
        Some(at) => {
            let equation = &about[at].1;
            for (op, form) in about.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, c)| c) {
                keep(*op, form.add(-coefficient(form) * coefficient(equation), equation));
            }
        }
        None => {
            let bounds: Vec<(LinOp, Form)> = about.into_iter().filter(|c| c.0 != LinOp::Ne).collect();
            combine(&bounds, &coefficient, &mut keep);
        }
    }
    rest
}

/// Values that satisfy the constraints, each as small as may be; where they are not found, whatever comes close.
pub fn model(constraints: &[(LinOp, Form)]) -> Vec<(Atom, i64)> {
    let mut left = constraints.to_vec();
    let mut atoms: Vec<Atom> = left.iter().flat_map(|c| c.1.terms.iter().map(|t| t.0)).collect();
    atoms.sort();
    atoms.dedup();
    let mut values = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        let alone = atoms[at + 1..].iter().fold(left.clone(), |left, other| project(left, *other));
        let (lowest, highest) = bounds(&alone);
        let smallest = 0.clamp(lowest.min(highest), highest.max(lowest));
        let near = [0, 1, -1, 2, -2].map(|d| smallest.saturating_add(d));
        let tried = near.into_iter().chain([lowest, highest]).find_map(|value| {
            let with = substitute(&left, *atom, value)?;
            satisfiable(&with).then_some((value, with))
        });
        let Some((value, with)) = tried else { continue };
        values.push((*atom, value));
        left = with;
    }
    values
}

/// The constraints with a value for an atom; `None` if one is false.
fn substitute(constraints: &[(LinOp, Form)], atom: Atom, value: i64) -> Option<Vec<(LinOp, Form)>> {
    let mut result = Vec::new();
    for (op, form) in constraints {
        let constant = Linear::constant(value, form.int);
        let form = form.map(&mut |a| {
            if a == atom { Term::Lin(constant.clone()) } else { Term::Atom(a) }
        })?;
        match linear(*op, form) {
            Fact::True => {}
            Fact::False => return None,
            Fact::Lit(Lit::Lin(op, form)) => result.push((op, form)),
            Fact::Lit(_) => {}
        }
    }
    Some(result)
}

/// The least and the greatest value of the only atom that the constraints are about.
fn bounds(constraints: &[(LinOp, Form)]) -> (i64, i64) {
    let (mut lowest, mut highest) = (-FAR, FAR);
    for (op, form) in constraints {
        let [(_, c)] = form.terms[..] else { continue };
        // c * x + k op 0: x is at most -k / c, or at least, if c is negative.
        let quotient = (-form.constant).div_euclid(c);
        let exact = (-form.constant).rem_euclid(c) == 0;
        let strict = i64::from(exact && *op == LinOp::Lt);
        match op {
            LinOp::Ne => {}
            LinOp::Eq => (lowest, highest) = (lowest.max(quotient), highest.min(quotient)),
            _ if c > 0 => highest = highest.min(quotient - strict),
            // Division rounds so that the remainder is not negative: up, if the divisor is negative.
            _ => lowest = lowest.max(quotient + strict),
        }
    }
    (lowest, highest)
}

/// No value is looked for beyond.
const FAR: i64 = 1 << 40;

/// Removes one atom after the other.
fn eliminate(mut constraints: Vec<(LinOp, Form)>) -> bool {
    loop {
        let Some(atom) = constraints.iter().flat_map(|c| c.1.terms.first()).map(|t| t.0).next() else {
            return true;
        };
        let coefficient = |form: &Form| form.terms.iter().find(|t| t.0 == atom).map_or(0, |t| t.1);
        let equation = constraints.iter().position(|c| c.0 == LinOp::Eq && coefficient(&c.1).abs() == 1);
        let mut next = Vec::new();
        let mut keep = |op: LinOp, form: Option<Form>| match form.map(|f| linear(op, f)) {
            Some(Fact::False) => false,
            Some(Fact::Lit(Lit::Lin(op, form))) => {
                if !next.contains(&(op, form.clone())) {
                    next.push((op, form));
                }
                true
            }
            _ => true,
        };
        let consistent = match equation {
            Some(i) => {
                let (_, equation) = constraints.remove(i);
                let unit = coefficient(&equation);
                constraints.iter().all(|(op, form)| {
                    let factor = coefficient(form);
                    keep(*op, form.add(-factor * unit, &equation))
                })
            }
            None => combine(&constraints, &coefficient, &mut keep),
        };
        if !consistent {
            return false;
        }
        if next.len() > MAX_CONSTRAINTS {
            return true;
        }
        constraints = next;
    }
}

/// Each upper bound of the atom with each lower bound.
fn combine(
    constraints: &[(LinOp, Form)],
    coefficient: &dyn Fn(&Form) -> i64,
    keep: &mut dyn FnMut(LinOp, Option<Form>) -> bool,
) -> bool {
    let mut bounds: Vec<(LinOp, Form, i64)> = Vec::new();
    for (op, form) in constraints {
        let c = coefficient(form);
        if c == 0 {
            if !keep(*op, Some(form.clone())) {
                return false;
            }
        } else if *op == LinOp::Eq {
            bounds.push((LinOp::Le, form.clone(), c));
            if let Some(minus) = Linear::constant(0, form.int).add(-1, form) {
                bounds.push((LinOp::Le, minus, -c));
            }
        } else {
            bounds.push((*op, form.clone(), c));
        }
    }
    for (op, upper, c) in bounds.iter().filter(|b| b.2 > 0) {
        for (other, lower, d) in bounds.iter().filter(|b| b.2 < 0) {
            let strict = if *op == LinOp::Lt || *other == LinOp::Lt { LinOp::Lt } else { LinOp::Le };
            let zero = Linear::constant(0, upper.int);
            let sum = zero.add(-d, upper).and_then(|scaled| scaled.add(*c, lower));
            if !keep(strict, sum) {
                return false;
            }
        }
    }
    true
}
