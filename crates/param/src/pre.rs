//! Pre-images [Cubicle-W, section 4, PRE]: the cubes from which one transition leads into a cube.
//!
//! Parameters range over the processes of the cube and fresh ones. Universal guards are instantiated over the processes
//! of the new cube only, which over-approximates: a bad trace is replayed before it is believed.
//!
//! Whether a transition is a read-modify-write is decided by its text, not by the reads that survive here: an exchange
//! whose old value nobody uses is locked all the same.

use crate::cube::{Atom, Cell, Cube, CubeLit, Idx, sort_of};
use crate::fourier::project;
use crate::literal::{Fact, LinOp, Lit, Term};
use crate::memory::{Event, MAX_NODES, MAX_READS, Memory, Read};
use crate::model::MemoryModel;
use crate::parallel;
use crate::solver::{Theory, entails, simplify};
use crate::system::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A cube before another one.
#[derive(Clone, Debug)]
pub struct Predecessor {
    /// The cube.
    pub cube: Cube,
    /// Index of the transition.
    pub transition: usize,
    /// Processes of its parameters, numbered as in the later cube, fresh ones after.
    pub args: Vec<u8>,
    /// For each process of the later cube and fresh one, its number in the new cube, or `NONE`.
    pub numbers: Vec<u8>,
}

/// The system and the model, as the search sees them.
pub struct Context<'a> {
    /// The system.
    pub system: &'a System,
    /// What the memory model orders.
    pub model: &'a dyn MemoryModel,
    /// Weak symbols whose writes may become visible in another order than that of firing.
    reorderable: Arc<[SymId]>,
    /// Set when an event had more choices than can be enumerated.
    overflow: AtomicBool,
    /// Says that a limit was hit, so that a pre-image need not be finished.
    stop: &'a (dyn Fn() -> bool + Sync),
    /// Work done so far.
    pub(crate) work: AtomicU64,
    /// Numbers that no transition assigns and that cubes are to forget, see [`Context::forgetting`].
    forgotten: Vec<Atom>,
}

/// A cube has more pending reads or processes than fit.
#[derive(Debug)]
pub struct TooLarge;

/// Most processes of a cube. Searches that need more do not end in practice.
const MAX_PROCS: u8 = 40;
/// Most decisions that are tried to put an event before a cube, where the order of writes is a choice.
const MAX_DECISIONS: usize = 30_000;
/// Most instances of a transition on one cube.
const MAX_INSTANCES: u64 = 500_000;

type CubeTerm = Term<Atom>;

/// An assignment instance: the cell, the update and the variables.
struct Slot<'a> {
    cell: Cell,
    weak: bool,
    update: &'a Update,
    vars: Vec<u8>,
}

/// One choice among the disjuncts of guards and the branches of updates.
#[derive(Clone, Default)]
struct Chosen {
    lits: Vec<CubeLit>,
    reads: Vec<Cell>,
    /// New values of plain cells.
    plain: Vec<(Cell, CubeTerm)>,
    /// Weak writes; the value where a read of the cube may need it.
    weak: Vec<(Cell, Option<CubeTerm>)>,
    any: u8,
}

impl<'a> Context<'a> {
    /// A context.
    pub fn new(system: &'a System, model: &'a dyn MemoryModel) -> Context<'a> {
        let reorderable = reorderable(system, model).into();
        let (overflow, work) = (AtomicBool::new(false), AtomicU64::new(0));
        Context { system, model, reorderable, overflow, stop: &|| false, work, forgotten: vec![] }
    }

    /// The same, with cubes that say nothing of constants that are numbers: `Clock[p] + Tick <= Clock[q]` with `0 < Tick` becomes
    /// `Clock[p] < Clock[q]`. The cubes are larger, so what is proved holds, and they do not count how often a clock
    /// was moved on.
    pub fn forgetting(self, forget: bool) -> Context<'a> {
        let forgotten = if forget { self.system.number_constants() } else { vec![] };
        Context { forgotten, ..self }
    }

    /// A context whose pre-images are given up, as too large, as soon as `stop` says so.
    pub fn with_limit(
        system: &'a System,
        model: &'a dyn MemoryModel,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Context<'a> {
        Context { stop, ..Context::new(system, model) }
    }
}

/// A symbol keeps the firing order if the model does, if all its writes are locked (they are visible when they fire), or
/// if each cell has one writer. If all buffered writes are to one variable, the buffers are queues, and all do.
pub(crate) fn reorderable(system: &System, model: &dyn MemoryModel) -> Vec<SymId> {
    let mut buffered: Vec<SymId> = system
        .transitions
        .iter()
        .filter(|t| !t.is_rmw())
        .flat_map(|t| t.updates.iter().map(|u| u.sym).filter(|s| system.symbol(*s).weak))
        .collect();
    buffered.sort();
    buffered.dedup();
    if buffered.is_empty() || (buffered.len() == 1 && system.symbol(buffered[0]).arity == 0) {
        return vec![];
    }
    let keeps_order = |sym: SymId| {
        let mut writes = system
            .transitions
            .iter()
            .flat_map(|t| t.updates.iter().map(move |u| (t, u)))
            .filter(|(_, u)| u.sym == sym);
        let owned = |(t, u): (&Transition, &Update)| {
            t.acting.is_some() && matches!(u.target, Target::Cell(idx) if Some(idx[0].0) == t.acting)
        };
        model.coherence_follows_firing() || writes.clone().all(|(t, _)| t.is_rmw()) || writes.all(owned)
    };
    (0..system.symbols.len() as SymId).filter(|&s| system.symbol(s).weak && !keeps_order(s)).collect()
}

impl Context<'_> {
    /// Counts work.
    pub(crate) fn note_work(&self, units: u64) {
        self.work.fetch_add(units, Ordering::Relaxed);
    }

    /// Simplifies the literals of a cube with the given events.
    pub fn simplify(&self, memory: &Memory, lits: Vec<CubeLit>) -> Option<Vec<CubeLit>> {
        let numbers = lits.iter().filter(|l| matches!(l, Lit::Lin(..))).count() as u64;
        self.note_work(2 + lits.len() as u64 / 4 + numbers / 2);
        let full = |atom: Atom| self.system.full_mask(sort_of(self.system, memory, atom));
        simplify(&Theory { full: &full, ordered_procs: self.system.number_procs.is_some() }, lits)
    }

    /// All pre-images of a cube, each transition with each choice of processes on its own, on so many threads.
    pub fn pre_image(&self, cube: &Cube, jobs: usize) -> Result<Vec<Predecessor>, TooLarge> {
        let memory = &cube.memory;
        if memory.after.len() >= MAX_NODES || memory.reads.len() > MAX_READS || cube.procs > MAX_PROCS {
            return Err(TooLarge);
        }
        let count =
            |t: &Transition| (0..u64::from(t.params)).map(|i| u64::from(cube.procs) + 1 + i).product::<u64>();
        if self.system.transitions.iter().any(|t| count(t) > MAX_INSTANCES) {
            return Err(TooLarge);
        }
        let mut instances: Vec<(usize, Vec<u8>)> = Vec::new();
        for (transition, t) in self.system.transitions.iter().enumerate() {
            instances.extend(self.assignments(cube, t.params).into_iter().map(|args| (transition, args)));
        }
        let parts = parallel::map(jobs, &instances, |(transition, args)| {
            let mut result = Vec::new();
            if (self.stop)() {
                return Err(TooLarge);
            }
            self.pre_instance(cube, *transition, &self.system.transitions[*transition], args, &mut result);
            Ok(result)
        });
        let mut result = Vec::new();
        for part in parts {
            result.append(&mut part?);
        }
        if self.overflow.load(Ordering::Relaxed) { Err(TooLarge) } else { Ok(result) }
    }

    /// Distinct processes for the parameters: of the cube, or fresh ones in order.
    fn assignments(&self, cube: &Cube, params: u8) -> Vec<Vec<u8>> {
        let mut result = vec![vec![]];
        for _ in 0..params {
            let mut next = Vec::new();
            for args in &result {
                let args: &Vec<u8> = args;
                let fresh = args.iter().filter(|a| **a >= cube.procs).count() as u8 + cube.procs;
                let limit = if self.system.number_procs.is_some() { cube.procs } else { fresh + 1 };
                for p in (0..limit).filter(|p| !args.contains(p)) {
                    let mut args = args.clone();
                    args.push(p);
                    next.push(args);
                }
            }
            result = next;
        }
        result
    }

    fn pre_instance(
        &self,
        cube: &Cube,
        transition: usize,
        t: &Transition,
        args: &[u8],
        out: &mut Vec<Predecessor>,
    ) {
        let procs = args.iter().map(|a| a + 1).max().unwrap_or(0).max(cube.procs);
        let mut vars = args.to_vec();
        vars.resize(usize::from(t.variables).max(args.len()), 0);
        let slots = self.slots(cube, t, &vars, procs);
        if !slots.iter().any(|s| s.matters(cube)) {
            return;
        }
        let mut choices = vec![self.unchanged(cube, &slots)];
        choices.retain_mut(|chosen| self.conjoin(cube, chosen, &t.guard, &vars));
        for slot in &slots {
            self.branch(cube, &mut choices, slot);
        }
        choices.retain_mut(|chosen| self.settle(cube, chosen));
        for u in &t.universals {
            let except: &[u8] = if u.other { &args[..t.declared as usize] } else { &[] };
            for tuple in crate::machine::tuples(procs, u.vars.len() as u8, except) {
                let mut vars = vars.clone();
                for (var, proc) in u.vars.iter().zip(tuple) {
                    vars[*var as usize] = proc;
                }
                if (self.stop)() {
                    self.overflow.store(true, Ordering::Relaxed);
                    return;
                }
                let mut next = Vec::new();
                for chosen in choices {
                    self.one_of(cube, chosen, &u.dnf, &vars, &mut next);
                }
                choices = next;
            }
        }
        for chosen in choices {
            self.finish(cube, transition, t, args, procs, chosen, out);
        }
    }

    /// What the cube says of cells that no assignment is about: it holds before as it does after.
    fn unchanged(&self, cube: &Cube, slots: &[Slot]) -> Chosen {
        let changes = |a: Atom| match a {
            Atom::Cell(sym, idx) => slots.iter().any(|s| s.cell == (sym, idx)),
            Atom::Read(_) | Atom::Any(_) => true,
            Atom::Proc(_) => false,
        };
        let lits = cube.lits.iter().filter(|l| !l.mentions(changes)).cloned().collect();
        Chosen { lits, ..Chosen::default() }
    }

    /// The assignments that the cube can notice.
    fn slots<'t>(&self, cube: &Cube, t: &'t Transition, vars: &[u8], procs: u8) -> Vec<Slot<'t>> {
        let mut slots = Vec::new();
        for update in &t.updates {
            let weak = self.system.symbol(update.sym).weak;
            match update.target {
                Target::Cell(idx) => {
                    let cell = (update.sym, idx.map(|p| p.resolve(vars)));
                    slots.push(Slot { cell, weak, update, vars: vars.to_vec() });
                }
                Target::Every(idx) => {
                    for cell in self.cells_of(cube, update.sym, procs) {
                        let mut vars = vars.to_vec();
                        for (binder, p) in idx.iter().zip(cell.1).filter(|(b, _)| b.0 != NONE) {
                            vars[binder.0 as usize] = p;
                        }
                        slots.push(Slot { cell, weak, update, vars });
                    }
                }
            }
        }
        slots
    }

    /// The cells of a symbol that an assignment to all of them is noticed at: those that the cube mentions; for a weak
    /// symbol, where a write matters for the order too, those of all processes at hand.
    fn cells_of(&self, cube: &Cube, sym: SymId, procs: u8) -> Vec<Cell> {
        let symbol = self.system.symbol(sym);
        if symbol.weak {
            return all_cells(sym, symbol.arity, procs);
        }
        let mut cells: Vec<Cell> = Vec::new();
        for lit in &cube.lits {
            lit.for_each_atom(|a| {
                if let Atom::Cell(s, idx) = a
                    && s == sym
                {
                    cells.push((s, idx));
                }
            });
        }
        cells.sort();
        cells.dedup();
        cells
    }

    /// An atom of the source in the state before.
    fn atom(&self, cube: &Cube, reads: &mut Vec<Cell>, atom: SrcAtom, vars: &[u8]) -> Atom {
        match atom {
            SrcAtom::Proc(p) => Atom::Proc(p.resolve(vars)),
            SrcAtom::Sym(sym, idx) | SrcAtom::View(_, sym, idx) => {
                let idx: Idx = idx.map(|p| p.resolve(vars));
                if !self.system.symbol(sym).weak {
                    return Atom::Cell(sym, idx);
                }
                let at = reads.iter().position(|c| *c == (sym, idx)).unwrap_or_else(|| {
                    reads.push((sym, idx));
                    reads.len() - 1
                });
                Atom::Read((cube.memory.reads.len() + at) as u8)
            }
        }
    }

    /// Adds literals to a choice; false if they contradict it at first sight.
    fn conjoin(&self, cube: &Cube, chosen: &mut Chosen, lits: &[SrcLit], vars: &[u8]) -> bool {
        for lit in lits {
            match lit.map(&mut |a| Term::Atom(self.atom(cube, &mut chosen.reads, a, vars))) {
                Fact::True => {}
                Fact::False => return false,
                Fact::Lit(lit) if chosen.lits.iter().any(|known| excludes(known, &lit)) => return false,
                Fact::Lit(lit) => chosen.lits.push(lit),
            }
        }
        true
    }

    /// Whether no literal of the cube on the cell alone is false of the new value.
    fn fits(&self, cube: &Cube, cell: Cell, value: &CubeTerm, chosen: &Chosen) -> bool {
        let here = Atom::Cell(cell.0, cell.1);
        let own = cube.lits.iter().filter(|l| match l {
            Lit::In(a, _) => *a == here,
            Lit::Eq(a, Atom::Proc(_)) | Lit::Ne(a, Atom::Proc(_)) => *a == here,
            _ => false,
        });
        own.map(|l| l.map(&mut |a| if a == here { value.clone() } else { Term::Atom(a) })).all(|fact| {
            match fact {
                Fact::True => true,
                Fact::False => false,
                Fact::Lit(lit) => !chosen.lits.iter().any(|known| excludes(known, &lit)),
            }
        })
    }

    /// Adds what the cube says of plain cells, in the state before, so that choices that contradict it end here; false
    /// if this one does. What the cube says of reads depends on choices to come.
    fn settle(&self, cube: &Cube, chosen: &mut Chosen) -> bool {
        for lit in &cube.lits {
            if lit.mentions(|a| matches!(a, Atom::Read(_))) {
                continue;
            }
            let fact = lit.map(&mut |atom| match atom {
                Atom::Cell(sym, idx) => {
                    let new = chosen.plain.iter().find(|p| p.0 == (sym, idx));
                    new.map_or(Term::Atom(atom), |p| p.1.clone())
                }
                other => Term::Atom(other),
            });
            match fact {
                Fact::True => {}
                Fact::False => return false,
                Fact::Lit(lit) => chosen.lits.push(lit),
            }
        }
        self.normalise(cube, chosen)
    }

    fn normalise(&self, cube: &Cube, chosen: &mut Chosen) -> bool {
        let lits = std::mem::take(&mut chosen.lits);
        let simplified = if chosen.reads.is_empty() {
            self.simplify(&cube.memory, lits)
        } else {
            // The types of the new reads.
            let new = chosen.reads.iter().map(|&cell| Read { proc: 0, cell, node: 0 });
            let reads = cube.memory.reads.iter().copied().chain(new).collect();
            self.simplify(&Memory { reads, ..Memory::default() }, lits)
        };
        let Some(lits) = simplified else { return false };
        chosen.lits = lits;
        true
    }

    /// A choice so far with each disjunct that does not contradict it. If it implies one of them, the others would only
    /// make it smaller.
    fn one_of(
        &self,
        cube: &Cube,
        chosen: Chosen,
        dnf: &[Vec<SrcLit>],
        vars: &[u8],
        result: &mut Vec<Chosen>,
    ) {
        let start = result.len();
        'disjuncts: for lits in dnf {
            let mut next = chosen.clone();
            let mut implied = true;
            for lit in lits {
                match lit.map(&mut |a| Term::Atom(self.atom(cube, &mut next.reads, a, vars))) {
                    Fact::True => {}
                    Fact::False => continue 'disjuncts,
                    Fact::Lit(lit) => {
                        implied &= entails(&chosen.lits, &lit);
                        next.lits.push(lit);
                    }
                }
            }
            if implied && next.reads == chosen.reads {
                result.truncate(start);
                result.push(chosen);
                return;
            }
            if self.normalise(cube, &mut next) {
                result.push(next);
            }
        }
    }

    /// Each choice so far with each branch of an assignment.
    fn branch(&self, cube: &Cube, choices: &mut Vec<Chosen>, slot: &Slot) {
        let needed = slot.matters(cube);
        if !needed && !slot.weak {
            return;
        }
        if !needed && matches!(slot.update.target, Target::Cell(_)) {
            // Written, and nobody waits for the value.
            choices.iter_mut().for_each(|c| c.weak.push((slot.cell, None)));
            return;
        }
        let mut result = Vec::new();
        for chosen in choices.iter() {
            for (condition, term) in &slot.update.branches {
                let mut next = chosen.clone();
                if !self.conjoin(cube, &mut next, condition, &slot.vars) {
                    continue;
                }
                if slot.update.keeps(term) {
                    result.push(next);
                    continue;
                }
                let value = match term {
                    None => {
                        next.any += 1;
                        Some(Term::Atom(Atom::Any(next.any - 1)))
                    }
                    Some(term) => self.term(cube, &mut next.reads, term, &slot.vars),
                };
                let Some(value) = value else { continue };
                if slot.weak {
                    next.weak.push((slot.cell, Some(value)));
                } else if self.fits(cube, slot.cell, &value, &next) {
                    next.plain.push((slot.cell, value));
                } else {
                    continue;
                }
                result.push(next);
            }
        }
        *choices = result;
    }

    fn term(&self, cube: &Cube, reads: &mut Vec<Cell>, term: &SrcTerm, vars: &[u8]) -> Option<CubeTerm> {
        Some(match term {
            Term::Value(v) => Term::Value(*v),
            Term::Atom(a) => Term::Atom(self.atom(cube, reads, *a, vars)),
            Term::Lin(l) => Term::Lin(l.map(&mut |a| Term::Atom(self.atom(cube, reads, a, vars)))?),
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn finish(
        &self,
        cube: &Cube,
        transition: usize,
        t: &Transition,
        args: &[u8],
        procs: u8,
        chosen: Chosen,
        out: &mut Vec<Predecessor>,
    ) {
        for (memory, satisfied) in self.memories(cube, t, args, &chosen) {
            if satisfied == 0 && chosen.plain.is_empty() {
                // Nothing of the cube came from here: the result would lie within the cube.
                continue;
            }
            let Some(lits) = self.literals(cube, &memory, &chosen, satisfied) else { continue };
            let mut before = Cube { procs, lits, memory };
            let numbers = before.compact(self.system.number_procs.is_some());
            out.push(Predecessor { cube: before, transition, args: args.to_vec(), numbers });
        }
    }

    /// The ways to put the transition's event before the cube's.
    fn memories(&self, cube: &Cube, t: &Transition, args: &[u8], chosen: &Chosen) -> Vec<(Memory, u64)> {
        let Some(acting) = t.acting.filter(|_| t.reads || t.writes || t.fence) else {
            return vec![(cube.memory.clone(), 0)];
        };
        let event = Event {
            proc: args[acting as usize],
            reads: chosen.reads.clone(),
            writes: chosen.weak.iter().map(|w| w.0).collect(),
            rmw: t.is_rmw(),
            fence: t.fence,
            reorderable: self.reorderable.clone(),
        };
        if event.reads.is_empty() && event.writes.is_empty() && !event.rmw {
            let memory = if t.fence { cube.memory.put_fence_before(event.proc) } else { cube.memory.clone() };
            return vec![(memory, 0)];
        }
        let may_satisfy = |r: usize| {
            let read = &cube.memory.reads[r];
            let Some((_, Some(value))) = chosen.weak.iter().find(|w| w.0 == read.cell) else { return true };
            let here = Atom::Read(r as u8);
            cube.lits.iter().filter(|l| l.mentions(|a| a == here)).all(|lit| {
                let mapped = lit.map(&mut |a| if a == here { value.clone() } else { Term::Atom(a) });
                mapped != Fact::False
            })
        };
        cube.memory.put_before(self.model, &event, &may_satisfy, MAX_DECISIONS).unwrap_or_else(|| {
            self.overflow.store(true, Ordering::Relaxed);
            vec![]
        })
    }

    /// The literals before: those of guard and branches, and those of the cube with new values for what changed.
    fn literals(
        &self,
        cube: &Cube,
        memory: &Memory,
        chosen: &Chosen,
        satisfied: u64,
    ) -> Option<Vec<CubeLit>> {
        let mut lits = chosen.lits.clone();
        for lit in &cube.lits {
            let fact = lit.map(&mut |atom| match atom {
                Atom::Cell(sym, idx) => {
                    let new = chosen.plain.iter().find(|p| p.0 == (sym, idx));
                    new.map_or(Term::Atom(atom), |p| p.1.clone())
                }
                Atom::Read(r) if satisfied >> r & 1 == 1 => {
                    let cell = cube.memory.reads[r as usize].cell;
                    let value = chosen.weak.iter().find(|w| w.0 == cell).and_then(|w| w.1.clone());
                    value.unwrap_or(Term::Atom(atom))
                }
                other => Term::Atom(other),
            });
            match fact {
                Fact::True => {}
                Fact::False => return None,
                Fact::Lit(lit) => lits.push(lit),
            }
        }
        let lits = self.simplify(memory, lits)?;
        let lits = if chosen.any == 0 { lits } else { self.eliminate_any(memory, lits)? };
        self.forget_constants(memory, lits)
    }

    /// The literals without the constants that are to be forgotten.
    pub(crate) fn forget_constants(&self, memory: &Memory, lits: Vec<CubeLit>) -> Option<Vec<CubeLit>> {
        let is_forgotten = |a: Atom| self.forgotten.contains(&a);
        if !lits.iter().any(|l| l.mentions(is_forgotten)) {
            return Some(lits);
        }
        let (mut forms, mut rest) = (Vec::new(), Vec::new());
        for lit in lits {
            match lit {
                Lit::Lin(op, form) => forms.push((op, form)),
                lit => rest.push(lit),
            }
        }
        for atom in &self.forgotten {
            forms = project(forms, *atom);
        }
        rest.extend(forms.into_iter().map(|(op, form)| Lit::Lin(op, form)));
        self.simplify(memory, rest)
    }

    /// Removes values that may be anything: by an equality if there is one, else by forgetting.
    fn eliminate_any(&self, memory: &Memory, mut lits: Vec<CubeLit>) -> Option<Vec<CubeLit>> {
        let is_any = |a: Atom| matches!(a, Atom::Any(_));
        loop {
            let equation = lits.iter().find_map(|lit| match lit {
                Lit::Eq(a, b) if is_any(*a) => Some((*a, Term::Atom(*b))),
                Lit::Eq(a, b) if is_any(*b) => Some((*b, Term::Atom(*a))),
                Lit::Lin(LinOp::Eq, form) => {
                    let (any, unit) = *form.terms.iter().find(|t| is_any(t.0) && t.1.abs() == 1)?;
                    let mut rest = form.clone();
                    rest.terms.retain(|t| t.0 != any);
                    let zero = crate::literal::Linear::constant(0, form.int);
                    Some((any, Term::Lin(zero.add(-unit, &rest)?)))
                }
                _ => None,
            });
            let Some((any, value)) = equation else { break };
            let mut next = Vec::new();
            for lit in &lits {
                match lit.map(&mut |a| if a == any { value.clone() } else { Term::Atom(a) }) {
                    Fact::True => {}
                    Fact::False => return None,
                    Fact::Lit(l) => next.push(l),
                }
            }
            lits = next;
        }
        lits.retain(|l| !l.mentions(is_any));
        self.simplify(memory, lits)
    }
}

/// Whether two literals on the same atoms plainly contradict each other.
fn excludes(a: &CubeLit, b: &CubeLit) -> bool {
    match (a, b) {
        (Lit::In(x, m), Lit::In(y, n)) => x == y && m & n == 0,
        (Lit::Eq(x, Atom::Proc(p)), Lit::Eq(y, Atom::Proc(q))) => x == y && p != q,
        (Lit::Eq(x, y), Lit::Ne(z, w)) | (Lit::Ne(z, w), Lit::Eq(x, y)) => x == z && y == w,
        _ => false,
    }
}

/// All cells of a symbol whose indices are among the first `procs` processes.
pub(crate) fn all_cells(sym: SymId, arity: usize, procs: u8) -> Vec<Cell> {
    let mut result = vec![(sym, [NONE; MAX_ARITY])];
    for position in 0..arity {
        let extend = |(sym, idx): Cell| {
            (0..procs).map(move |p| {
                let mut idx = idx;
                idx[position] = p;
                (sym, idx)
            })
        };
        result = result.into_iter().flat_map(extend).collect();
    }
    result
}

impl Slot<'_> {
    /// Whether the cube mentions the cell.
    fn matters(&self, cube: &Cube) -> bool {
        if self.weak {
            return cube.memory.reads.iter().any(|r| r.cell == self.cell);
        }
        let here = Atom::Cell(self.cell.0, self.cell.1);
        cube.lits.iter().any(|l| l.mentions(|a| a == here))
    }
}
