//! Pre-images, the plain way: every instance of every transition, every disjunct, every branch, every choice of reads.

use super::Checker;
use super::graph::{Graph, NewEvent};
use crate::cube::{Atom, Cell, Cube, CubeLit};
use crate::literal::{Fact, Term};
use crate::machine::tuples;
use crate::memory::Read;
use crate::system::*;

/// One combination of disjuncts and branches, with the values of the variables for each part.
#[derive(Clone, Default)]
struct Alternative<'a> {
    lits: Vec<(&'a SrcLit, Vec<u8>)>,
    /// Cells assigned, with their terms; no term is any value.
    assigned: Vec<(Cell, Option<&'a SrcTerm>, Vec<u8>)>,
}

impl Checker<'_> {
    /// Every pre-image of the cube lies within some cube.
    pub(super) fn check_closed(&self, number: usize, cube: &Cube) -> Result<(), String> {
        for t in &self.system.transitions {
            for args in instances(cube.procs, t.params, self.system.number_procs.is_some()) {
                let fresh: Vec<u8> = args.iter().copied().filter(|a| *a >= cube.procs).collect();
                let procs = cube.procs + fresh.len() as u8;
                for alternative in self.alternatives(cube, t, &args, procs) {
                    if !self.alternative_is_covered(number, cube, t, &args, procs, &alternative) {
                        let args: Vec<String> = args.iter().map(|a| format!("#{}", a + 1)).collect();
                        return Err(format!(
                            "cube {number} is reached from outside by {}({})",
                            t.name,
                            args.join(" ")
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    fn alternatives<'t>(
        &self,
        cube: &Cube,
        t: &'t Transition,
        args: &[u8],
        procs: u8,
    ) -> Vec<Alternative<'t>> {
        let mut vars = args.to_vec();
        vars.resize(usize::from(t.variables).max(args.len()), 0);
        let mut result = vec![Alternative {
            lits: t.guard.iter().map(|l| (l, vars.clone())).collect(),
            ..Alternative::default()
        }];
        for u in &t.universals {
            let except: &[u8] = if u.other { &args[..t.declared as usize] } else { &[] };
            for tuple in tuples(procs, u.vars.len() as u8, except) {
                let mut vars = vars.clone();
                for (var, p) in u.vars.iter().zip(tuple) {
                    vars[*var as usize] = p;
                }
                result = product(&result, &u.dnf, |alternative, conj| {
                    alternative.lits.extend(conj.iter().map(|l| (l, vars.clone())));
                });
            }
        }
        for update in &t.updates {
            for (cell, vars) in self.assigned_cells(cube, update, &vars, procs) {
                result = product(&result, &update.branches, |alternative, (condition, term)| {
                    alternative.lits.extend(condition.iter().map(|l| (l, vars.clone())));
                    let itself = |a: &SrcAtom| matches!(a, SrcAtom::Sym(s, i) if (*s, i.map(|p| p.resolve(&vars))) == cell);
                    let keeps = matches!(update.target, Target::Every(_))
                        && match term {
                            Some(Term::Atom(a)) => itself(a),
                            Some(Term::Lin(l)) => {
                                l.constant == 0
                                    && l.terms.len() == 1
                                    && l.terms[0].1 == 1
                                    && itself(&l.terms[0].0)
                            }
                            _ => false,
                        };
                    if !keeps {
                        alternative.assigned.push((cell, term.as_ref(), vars.clone()));
                    }
                });
            }
        }
        result
    }

    /// The cells that an update assigns and that the cube may notice.
    fn assigned_cells(&self, cube: &Cube, update: &Update, vars: &[u8], procs: u8) -> Vec<(Cell, Vec<u8>)> {
        match update.target {
            Target::Cell(idx) => vec![((update.sym, idx.map(|p| p.resolve(vars))), vars.to_vec())],
            Target::Every(idx) => {
                let mut cells: Vec<Cell> = Vec::new();
                cube.lits.iter().for_each(|l| {
                    l.for_each_atom(|a| {
                        if let Atom::Cell(s, i) = a {
                            cells.push((s, i));
                        }
                    });
                });
                let symbol = self.system.symbol(update.sym);
                if symbol.weak {
                    cells = crate::pre::all_cells(update.sym, symbol.arity, procs);
                }
                cells.retain(|c| c.0 == update.sym);
                cells.sort();
                cells.dedup();
                let bind = |cell: Cell| {
                    let mut vars = vars.to_vec();
                    for (binder, p) in idx.iter().zip(cell.1).filter(|(b, _)| b.0 != NONE) {
                        vars[binder.0 as usize] = p;
                    }
                    (cell, vars)
                };
                cells.into_iter().map(bind).collect()
            }
        }
    }

    fn alternative_is_covered(
        &self,
        number: usize,
        cube: &Cube,
        t: &Transition,
        args: &[u8],
        procs: u8,
        alternative: &Alternative,
    ) -> bool {
        let old = cube.memory.reads.len();
        let mut new_reads: Vec<Cell> = Vec::new();
        let mut atom = |a: SrcAtom, vars: &[u8]| match a {
            SrcAtom::Proc(p) => Atom::Proc(p.resolve(vars)),
            SrcAtom::Sym(s, i) | SrcAtom::View(_, s, i) => {
                let cell = (s, i.map(|p| p.resolve(vars)));
                if !self.system.symbol(s).weak {
                    return Atom::Cell(s, cell.1);
                }
                if !new_reads.contains(&cell) {
                    new_reads.push(cell);
                }
                let at = new_reads.iter().position(|c| *c == cell).unwrap_or(0);
                Atom::Read((old + at) as u8)
            }
        };
        let mut guard: Vec<CubeLit> = Vec::new();
        for (lit, vars) in &alternative.lits {
            match lit.rename(&mut |a| atom(a, vars)) {
                Fact::True => {}
                Fact::False => return true,
                Fact::Lit(l) => guard.push(l),
            }
        }
        let mut values: Vec<(Cell, Term<Atom>)> = Vec::new();
        for (any, (cell, term, vars)) in alternative.assigned.iter().enumerate() {
            let value = match term {
                None => Some(Term::Atom(Atom::Any(any as u8))),
                Some(Term::Value(v)) => Some(Term::Value(*v)),
                Some(Term::Atom(a)) => Some(Term::Atom(atom(*a, vars))),
                Some(Term::Lin(l)) => l.map(&mut |a| Term::Atom(atom(a, vars))).map(Term::Lin),
            };
            match value {
                Some(value) => values.push((*cell, value)),
                None => return true,
            }
        }
        let event = t.acting.filter(|_| t.reads || t.writes || t.fence).map(|a| NewEvent {
            proc: args[a as usize],
            reads: new_reads.clone(),
            writes: values.iter().map(|v| v.0).filter(|c| self.system.symbol(c.0).weak).collect(),
            rmw: t.is_rmw(),
            fence: t.fence,
        });
        let graph = Graph::of(&cube.memory, self.model);
        self.choices(cube, &graph, event.as_ref()).into_iter().all(|(graph, satisfied)| {
            let Some(lits) = self.literals(cube, &graph, &guard, &values, &satisfied) else { return true };
            self.is_covered(&lits, procs, &graph, Some(number))
        })
    }

    /// All consistent choices of the reads that the event satisfies.
    fn choices(&self, cube: &Cube, graph: &Graph, event: Option<&NewEvent>) -> Vec<(Graph, Vec<usize>)> {
        let Some(event) = event else { return vec![(graph.clone(), vec![])] };
        let touched: Vec<usize> = (0..cube.memory.reads.len())
            .filter(|r| event.writes.contains(&cube.memory.reads[*r].cell))
            .collect();
        let mut result = Vec::new();
        for choice in 0..1u32 << touched.len() {
            let (mut satisfied, mut missed) = (vec![], vec![]);
            for (bit, r) in touched.iter().enumerate() {
                if choice >> bit & 1 == 1 { satisfied.push(*r) } else { missed.push(*r) }
            }
            // A process never misses its own write.
            if missed.iter().any(|r| cube.memory.reads[*r].proc == event.proc) {
                continue;
            }
            result.extend(graph.with(event, &satisfied, &missed).map(|g| (g, satisfied)));
        }
        result
    }

    fn literals(
        &self,
        cube: &Cube,
        graph: &Graph,
        guard: &[CubeLit],
        values: &[(Cell, Term<Atom>)],
        satisfied: &[usize],
    ) -> Option<Vec<CubeLit>> {
        let value = |cell: &Cell| values.iter().find(|v| v.0 == *cell).map(|v| v.1.clone());
        let mut lits = guard.to_vec();
        for lit in &cube.lits {
            let fact = lit.map(&mut |a| {
                let new = match a {
                    Atom::Cell(s, i) => value(&(s, i)),
                    Atom::Read(r) if satisfied.contains(&(r as usize)) => {
                        value(&cube.memory.reads[r as usize].cell)
                    }
                    _ => None,
                };
                new.unwrap_or(Term::Atom(a))
            });
            match fact {
                Fact::True => {}
                Fact::False => return None,
                Fact::Lit(l) => lits.push(l),
            }
        }
        let reads: Vec<Read> = graph.reads.clone();
        let memory = crate::memory::Memory { reads, ..Default::default() };
        self.normal(&memory, lits)
    }
}

/// Distinct processes for the parameters: known ones, and fresh ones in the order in which they are needed.
fn instances(known: u8, params: u8, fixed: bool) -> Vec<Vec<u8>> {
    let mut result: Vec<Vec<u8>> = vec![vec![]];
    for _ in 0..params {
        let mut next = Vec::new();
        for args in result {
            let fresh = known + args.iter().filter(|a| **a >= known).count() as u8;
            let options = (0..known).chain((!fixed).then_some(fresh)).filter(|p| !args.contains(p));
            next.extend(options.map(|p| args.iter().copied().chain([p]).collect::<Vec<u8>>()));
        }
        result = next;
    }
    result
}

/// Every element with every option.
fn product<'a, T: Clone, O>(left: &[T], options: &'a [O], mut apply: impl FnMut(&mut T, &'a O)) -> Vec<T> {
    let mut result = Vec::new();
    for item in left {
        for option in options {
            let mut item = item.clone();
            apply(&mut item, option);
            result.push(item);
        }
    }
    result
}
