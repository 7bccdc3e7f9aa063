//! Does a cube contain an initial state [Cubicle-W, section 3, Initial state]? All reads still unsatisfied take the
//! initial value, whoever reads.

use crate::cube::{Atom, Cube, CubeLit};
use crate::literal::{Fact, Term};
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
