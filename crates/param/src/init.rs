//! Does a cube contain an initial state [Cubicle-W, section 3, Initial state]? All reads still unsatisfied take the
//! initial value, whoever reads.

use crate::cube::{Atom, Cell, Cube, CubeLit};
use crate::fourier::model;
use crate::literal::{Fact, Lit, Term};
use crate::pre::Context;
use crate::system::{InitClause, SrcAtom};

impl Context<'_> {
    /// Whether the cube meets the initial states.
    pub fn meets_init(&self, cube: &Cube) -> bool {
        if !cube.memory.may_be_initial() {
            return false;
        }
        let mut lits = Vec::new();
        for lit in &cube.lits {
            let fact = lit.map(&mut |atom| match atom {
                Atom::Read(r) => {
                    let (sym, idx) = cube.memory.reads[r as usize].cell;
                    Term::Atom(Atom::Cell(sym, idx))
                }
                other => Term::Atom(other),
            });
            match fact {
                Fact::True => {}
                Fact::False => return false,
                Fact::Lit(lit) => lits.push(lit),
            }
        }
        let procs = cube.procs.max(1);
        let mut instances: Vec<(&InitClause, Vec<u8>)> = Vec::new();
        for clause in &self.system.init {
            instances
                .extend(crate::machine::tuples(procs, clause.params, &[]).into_iter().map(|v| (clause, v)));
        }
        instances.sort_by_key(|(clause, _)| clause.dnf.len());
        self.extend(cube, lits, &instances)
    }

    /// Values of cells with which an initial state may be in the cube: those that it names, and numbers that satisfy it and what
    /// `init` says without a choice.
    pub fn initial_values(&self, cube: &Cube) -> Vec<(Cell, Value)> {
        let cell = |atom: Atom| match atom {
            Atom::Read(r) => Some(cube.memory.reads[r as usize].cell),
            Atom::Cell(sym, idx) => Some((sym, idx)),
            Atom::Any(_) | Atom::Proc(_) => None,
        };
        let mut lits: Vec<CubeLit> = Vec::new();
        for lit in &cube.lits {
            let fact = lit.rename(&mut |a| cell(a).map_or(a, |(sym, idx)| Atom::Cell(sym, idx)));
            lits.extend(if let Fact::Lit(lit) = fact { Some(lit) } else { None });
        }
        let mut values = Vec::new();
        for lit in &lits {
            match lit {
                Lit::In(a, mask) if mask.count_ones() == 1 => {
                    values.extend(cell(*a).map(|cell| (cell, i64::from(mask.trailing_zeros()))));
                }
                Lit::Eq(a, Atom::Proc(p)) => values.extend(cell(*a).map(|cell| (cell, i64::from(*p)))),
                _ => {}
            }
        }
        for clause in self.system.init.iter().filter(|clause| clause.dnf.len() == 1) {
            for vars in crate::machine::tuples(cube.procs.max(1), clause.params, &[]) {
                lits.extend(instance(&clause.dnf[0], &vars).unwrap_or_default());
            }
        }
        let numbers = numbers_of(&lits).into_iter().filter_map(|(atom, value)| Some((cell(atom)?, value)));
        values.extend(numbers);
        values
    }

    fn extend(&self, cube: &Cube, mut lits: Vec<CubeLit>, mut instances: &[(&InitClause, Vec<u8>)]) -> bool {
        // Clauses without a choice go in together: one call of the solver for all of them.
        while let Some(((clause, vars), rest)) = instances.split_first()
            && clause.dnf.len() == 1
        {
            match instance(&clause.dnf[0], vars) {
                Some(more) => lits.extend(more),
                None => return false,
            }
            instances = rest;
        }
        let Some(lits) = self.simplify(&cube.memory, lits) else { return false };
        let Some(((clause, vars), rest)) = instances.split_first() else { return true };
        clause.dnf.iter().any(|conj| {
            instance(conj, vars).is_some_and(|more| {
                let mut lits = lits.clone();
                lits.extend(more);
                self.extend(cube, lits, rest)
            })
        })
    }
}

/// A value of a cell.
type Value = i64;

/// Numbers that satisfy the literals about numbers.
pub(crate) fn numbers_of(lits: &[CubeLit]) -> Vec<(Atom, Value)> {
    let forms: Vec<_> = lits
        .iter()
        .filter_map(|lit| match lit {
            Lit::Lin(op, form) => Some((*op, form.clone())),
            _ => None,
        })
        .collect();
    if forms.is_empty() { vec![] } else { model(&forms) }
}

fn instance(conj: &[crate::system::SrcLit], vars: &[u8]) -> Option<Vec<CubeLit>> {
    let mut lits = Vec::new();
    for lit in conj {
        let fact = lit.rename(&mut |atom| match atom {
            SrcAtom::Proc(p) => Atom::Proc(p.resolve(vars)),
            SrcAtom::Sym(s, idx) | SrcAtom::View(_, s, idx) => Atom::Cell(s, idx.map(|p| p.resolve(vars))),
        });
        match fact {
            Fact::True => {}
            Fact::False => return None,
            Fact::Lit(lit) => lits.push(lit),
        }
    }
    Some(lits)
}
