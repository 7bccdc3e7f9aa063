//! Pre-images, the plain way: every instance of every transition, every disjunct, every branch, every choice of reads.
//!
//! The choices of one instance are walked depth first. What contradicts the choices so far, or the part of the cube that
//! the transition leaves alone, is dropped at once; and where the choices so far imply a disjunct of a universal guard,
//! that instance of the guard says nothing more. If what is left is not covered, the instance is walked once more
//! without this last shortcut, which only makes it finer.

use super::graph::{Graph, NewEvent};
use super::{Checker, Failure};
use crate::cube::{Atom, Cell, Cube, CubeLit};
use crate::literal::{Fact, Term};
use crate::machine::tuples;
use crate::memory::{Memory, Read};
use crate::solver::entails;
use crate::system::*;

/// A choice that an instance has, with the values of the variables.
enum Group<'a> {
    /// The guard: all of it.
    Guard(&'a [SrcLit], Vec<u8>),
    /// What is assigned to a cell.
    Branch(&'a Update, Cell, Vec<u8>),
    /// From here on, what the transition leaves alone is known.
    Frame,
    /// One of the disjuncts of a universal guard.
    Disjunct(&'a [Vec<SrcLit>], Vec<u8>),
}

/// The choices so far.
#[derive(Clone, Default)]
struct Partial {
    /// Literals of the guard and of branches.
    guard: Vec<CubeLit>,
    /// The same with what the transition leaves alone, in normal form.
    known: Vec<CubeLit>,
    reads: Vec<Cell>,
    /// Cells assigned, with their values.
    assigned: Vec<(Cell, Term<Atom>)>,
}

/// An instance of a transition on a cube.
struct Instance<'a> {
    number: usize,
    cube: &'a Cube,
    transition: &'a Transition,
    args: Vec<u8>,
    procs: u8,
    /// Leave out instances of universal guards that are implied.
    shortcut: bool,
}

impl Checker<'_> {
    /// Every pre-image of the cube lies within some cube.
    pub(super) fn check_closed(&self, number: usize, cube: &Cube) -> Result<(), Failure> {
        for t in &self.system.transitions {
            for args in instances(cube.procs, t.params, self.system.number_procs.is_some()) {
                if !changes(cube, t, &args) {
                    continue;
                }
                let fresh = args.iter().filter(|a| **a >= cube.procs).count() as u8;
                let procs = cube.procs + fresh;
                let groups = self.groups(cube, t, &args, procs);
                let mut instance = Instance { number, cube, transition: t, args, procs, shortcut: true };
                let start = Partial::default();
                let mut covered = self.walk(&instance, &groups, start.clone())?;
                if !covered {
                    instance.shortcut = false;
                    covered = self.walk(&instance, &groups, start)?;
                }
                if !covered {
                    let args: Vec<String> = instance.args.iter().map(|a| format!("#{}", a + 1)).collect();
                    let what =
                        format!("cube {number} is reached from outside by {}({})", t.name, args.join(" "));
                    return Err(Failure::Wrong(what));
                }
            }
        }
        Ok(())
    }

    fn groups<'t>(&self, cube: &Cube, t: &'t Transition, args: &[u8], procs: u8) -> Vec<Group<'t>> {
        let mut vars = args.to_vec();
        vars.resize(usize::from(t.variables).max(args.len()), 0);
        let mut result = vec![Group::Guard(&t.guard, vars.clone())];
        for update in &t.updates {
            let cells = self.assigned_cells(cube, update, &vars, procs);
            result.extend(cells.into_iter().map(|(cell, vars)| Group::Branch(update, cell, vars)));
        }
        result.push(Group::Frame);
        for u in &t.universals {
            let except: &[u8] = if u.other { &args[..t.declared as usize] } else { &[] };
            for tuple in tuples(procs, u.vars.len() as u8, except) {
                let mut vars = vars.clone();
                for (var, p) in u.vars.iter().zip(tuple) {
                    vars[*var as usize] = p;
                }
                result.push(Group::Disjunct(&u.dnf, vars));
            }
        }
        result
    }

    /// Whether all that the remaining choices lead to is covered.
    fn walk(&self, instance: &Instance, groups: &[Group], at: Partial) -> Result<bool, Failure> {
        if (self.stop)() {
            return Err(Failure::Stopped);
        }
        let Some((group, rest)) = groups.split_first() else {
            return Ok(self.leaf_is_covered(instance, &at));
        };
        match group {
            Group::Guard(lits, vars) => match self.assume(instance, &at, lits, vars) {
                Some(next) => self.walk(instance, rest, next),
                None => Ok(true),
            },
            Group::Frame => match self.frame(instance, at) {
                Some(next) => self.walk(instance, rest, next),
                None => Ok(true),
            },
            Group::Disjunct(dnf, vars) => {
                let mut all = Vec::new();
                for lits in *dnf {
                    let Some(next) = self.assume(instance, &at, lits, vars) else { continue };
                    let implied = next.reads == at.reads
                        && next.guard[at.guard.len()..].iter().all(|l| entails(&at.known, l));
                    if implied && instance.shortcut {
                        return self.walk(instance, rest, at);
                    }
                    all.push(next);
                }
                for next in all {
                    if !self.walk(instance, rest, next)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Group::Branch(update, cell, vars) => {
                for (condition, term) in &update.branches {
                    let Some(mut next) = self.assume(instance, &at, condition, vars) else { continue };
                    if !update.keeps(term) {
                        let any = next.assigned.len() as u8;
                        let Some(value) = self.value(instance, &mut next.reads, term.as_ref(), vars, any)
                        else {
                            continue;
                        };
                        next.assigned.push((*cell, value));
                    }
                    if !self.walk(instance, rest, next)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    fn atom(&self, instance: &Instance, reads: &mut Vec<Cell>, atom: SrcAtom, vars: &[u8]) -> Atom {
        match atom {
            SrcAtom::Proc(p) => Atom::Proc(p.resolve(vars)),
            SrcAtom::Sym(s, i) | SrcAtom::View(_, s, i) => {
                let cell = (s, i.map(|p| p.resolve(vars)));
                if !self.system.symbol(s).weak {
                    return Atom::Cell(s, cell.1);
                }
                if !reads.contains(&cell) {
                    reads.push(cell);
                }
                let at = reads.iter().position(|c| *c == cell).unwrap_or(0);
                Atom::Read((instance.cube.memory.reads.len() + at) as u8)
            }
        }
    }

    fn value(
        &self,
        instance: &Instance,
        reads: &mut Vec<Cell>,
        term: Option<&SrcTerm>,
        vars: &[u8],
        any: u8,
    ) -> Option<Term<Atom>> {
        Some(match term {
            None => Term::Atom(Atom::Any(any)),
            Some(Term::Value(v)) => Term::Value(*v),
            Some(Term::Atom(a)) => Term::Atom(self.atom(instance, reads, *a, vars)),
            Some(Term::Lin(l)) => Term::Lin(l.map(&mut |a| Term::Atom(self.atom(instance, reads, a, vars)))?),
        })
    }

    /// The reads of the cube and those of the transition, for their types only.
    fn typing(&self, instance: &Instance, reads: &[Cell]) -> Memory {
        let new = reads.iter().map(|&cell| Read { proc: 0, cell, node: 0 });
        let reads = instance.cube.memory.reads.iter().copied().chain(new).collect();
        Memory { reads, ..Memory::default() }
    }

    /// The choices so far with more literals; `None` if they contradict each other.
    fn assume(&self, instance: &Instance, at: &Partial, lits: &[SrcLit], vars: &[u8]) -> Option<Partial> {
        let mut next = at.clone();
        for lit in lits {
            match lit.rename(&mut |a| self.atom(instance, &mut next.reads, a, vars)) {
                Fact::True => {}
                Fact::False => return None,
                Fact::Lit(l) => {
                    next.guard.push(l.clone());
                    next.known.push(l);
                }
            }
        }
        next.known = self.normal(&self.typing(instance, &next.reads), std::mem::take(&mut next.known))?;
        Some(next)
    }

    /// Adds what the cube says of plain cells, in the state before; what it says of reads depends on choices to come.
    fn frame(&self, instance: &Instance, mut at: Partial) -> Option<Partial> {
        for lit in &instance.cube.lits {
            if lit.mentions(|a| matches!(a, Atom::Read(_))) {
                continue;
            }
            let fact = lit.map(&mut |a| match a {
                Atom::Cell(s, i) => {
                    let new = at.assigned.iter().find(|v| v.0 == (s, i));
                    new.map_or(Term::Atom(a), |v| v.1.clone())
                }
                other => Term::Atom(other),
            });
            match fact {
                Fact::True => {}
                Fact::False => return None,
                Fact::Lit(l) => at.known.push(l),
            }
        }
        at.known = self.normal(&self.typing(instance, &at.reads), std::mem::take(&mut at.known))?;
        Some(at)
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

    fn leaf_is_covered(&self, instance: &Instance, at: &Partial) -> bool {
        let (t, cube) = (instance.transition, instance.cube);
        let event = t.acting.filter(|_| t.reads || t.writes || t.fence).map(|a| NewEvent {
            proc: instance.args[a as usize],
            reads: at.reads.clone(),
            writes: at.assigned.iter().map(|v| v.0).filter(|c| self.system.symbol(c.0).weak).collect(),
            rmw: t.is_rmw(),
            fence: t.fence,
        });
        let graph = Graph::of(&cube.memory, self.model);
        self.choices(cube, &graph, event.as_ref()).into_iter().all(|(graph, satisfied)| {
            let Some(lits) = self.literals(cube, &graph, &at.guard, &at.assigned, &satisfied) else {
                return true;
            };
            self.is_covered(&lits, instance.procs, &graph, Some(instance.number))
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
        let memory = Memory { reads: graph.reads.clone(), ..Default::default() };
        self.normal(&memory, lits)
    }
}

/// Whether an instance assigns something that the cube speaks of: a plain cell of its literals, or a cell that it
/// reads. If not, the state before has all literals, all reads and all order of the cube, and lies within it.
fn changes(cube: &Cube, t: &Transition, args: &[u8]) -> bool {
    t.updates.iter().any(|update| {
        let is_assigned = |sym: SymId, cell: [u8; MAX_ARITY]| {
            sym == update.sym
                && match update.target {
                    Target::Cell(idx) => idx.map(|p| p.resolve(args)) == cell,
                    Target::Every(_) => true,
                }
        };
        let plain = |a: Atom| matches!(a, Atom::Cell(sym, idx) if is_assigned(sym, idx));
        cube.lits.iter().any(|l| l.mentions(plain))
            || cube.memory.reads.iter().any(|read| is_assigned(read.cell.0, read.cell.1))
    })
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
