//! Store buffers that are counted instead of kept: a system without weak memory that can do whatever the given one can do
//! under PSO, and perhaps more. A proof of it is a proof of the given system; its runs mean nothing.
//!
//! Where each buffered write of a transition is a constant, or the process that writes, a pending entry is known by the
//! transition alone. For each *kind* of entry (the cells and values of one transition) and each process, the new system
//! counts how many are pending: none, one, or many. For each cell that several kinds of entry write it keeps which kind the
//! process wrote last. Then
//!
//! - a process sees the value of the kind it wrote last if an entry of that kind is pending, else memory;
//! - an entry that is pending becomes visible: one turns into none, many into one or many. The last one of a kind waits, as
//!   long as it is the newest on a cell, until no other kind on that cell is pending: entries that share a cell keep their
//!   order. Other orders between kinds are not kept, so that more may happen than the machine allows;
//! - a fence, and a locked transition, needs all counts to be none.
//!
//! Invariant: while an entry that writes a cell is pending, so is one of the kind that was written last on it.
//!
//! Nothing of this knows of events and `ghb`. A test follows the machine of small instances step by step through the new
//! system (`tests/counted.rs`).

use crate::literal::{Fact, Lit, Term};
use crate::normal::conjoin_lits;
use crate::system::*;

/// A kind of entry: what one transition puts into the buffer.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Symbols (of arrays: the cell of the writing process) and values; process 0 stands for the one that writes.
    pub writes: Vec<(SymId, SrcTerm)>,
    /// The array that counts pending entries: none, one, many.
    pub count: SymId,
}

/// The system with counted buffers.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The system; nothing in it is weak.
    pub system: System,
    /// Kinds of entries.
    pub kinds: Vec<Kind>,
    /// For each symbol that several kinds write, the array that says which kind was written last.
    pub last: Vec<(SymId, SymId)>,
}

/// Counts: no entry, and at least one.
const NO_ENTRY: u64 = 1;
const SOME_ENTRY: u64 = 0b110;
/// Most ways in which one transition may see its own buffer.
const MAX_CASES: usize = 256;

/// A weak symbol (of an array, the viewer's own cell) as a process sees it.
type View = (ProcRef, SymId);

/// One way to see them: the guard, and the value of each that is not memory's.
#[derive(Clone, Default)]
struct Case {
    guard: Vec<SrcLit>,
    seen: Vec<(View, SrcTerm)>,
}

/// The system with counted buffers, if every buffered write is a constant or the writing process, to a variable or to the
/// process's own cell.
pub fn counted(system: &System) -> Option<Counted> {
    let mut kinds: Vec<Kind> = Vec::new();
    for t in system.transitions.iter().filter(|t| t.writes && !t.is_rmw()) {
        let writes = entry(system, t)?;
        if !kinds.iter().any(|k| k.writes == writes) {
            let count = (system.symbols.len() + kinds.len()) as SymId;
            kinds.push(Kind { writes, count });
        }
    }
    if kinds.is_empty() || kinds.len() > MAX_CONSTRUCTORS {
        return None;
    }
    let mut new = Counted { system: system.clone(), kinds, last: Vec::new() };
    new.declare();
    let mut transitions = Vec::new();
    for t in &system.transitions {
        new.transition(system, t, &mut transitions)?;
    }
    for kind in 0..new.kinds.len() {
        new.flushes(kind, &mut transitions);
    }
    new.system.transitions = transitions;
    new.system.bad = new.states(system, &system.bad)?;
    new.system.assumed = new.states(system, &system.assumed)?;
    Some(new)
}

/// What a transition puts into the buffer, as a [`Kind`] has it.
fn entry(system: &System, t: &Transition) -> Option<Vec<(SymId, SrcTerm)>> {
    let acting = ProcRef(t.acting?);
    let mut writes = Vec::new();
    for update in t.updates.iter().filter(|u| system.symbol(u.sym).weak) {
        let Target::Cell(idx) = update.target else { return None };
        let own = match system.symbol(update.sym).arity {
            0 => true,
            1 => idx[0] == acting,
            _ => false,
        };
        let [(condition, Some(value))] = &update.branches[..] else { return None };
        let value = match value {
            Term::Value(v) => Term::Value(*v),
            Term::Atom(SrcAtom::Proc(p)) if *p == acting => Term::Atom(SrcAtom::Proc(ProcRef(0))),
            Term::Lin(form) if form.terms.is_empty() => Term::Lin(form.clone()),
            _ => return None,
        };
        if !own || !condition.is_empty() {
            return None;
        }
        writes.push((update.sym, value));
    }
    writes.sort_by_key(|w| w.0);
    Some(writes)
}

/// The array's cell of a process.
fn cell_of(array: SymId, p: ProcRef) -> SrcAtom {
    let none = ProcRef(NONE);
    SrcAtom::Sym(array, [p, none, none])
}

fn assign(sym: SymId, idx: [ProcRef; MAX_ARITY], value: SrcTerm) -> Update {
    Update { sym, target: Target::Cell(idx), branches: vec![(vec![], Some(value))] }
}

fn assign_at(array: SymId, p: ProcRef, value: u8) -> Update {
    let none = ProcRef(NONE);
    assign(array, [p, none, none], Term::Value(value))
}

impl Counted {
    /// Kinds that write a symbol.
    fn writers(&self, sym: SymId) -> impl Iterator<Item = usize> + '_ {
        (0..self.kinds.len()).filter(move |k| self.kinds[*k].writes.iter().any(|w| w.0 == sym))
    }

    fn last(&self, sym: SymId) -> Option<SymId> {
        self.last.iter().find(|l| l.0 == sym).map(|l| l.1)
    }

    /// Declares the counts and the last kinds, with their initial values; nothing is weak any more.
    fn declare(&mut self) {
        let name = |kind: &Kind, symbols: &[Symbol]| {
            let names: Vec<&str> = kind.writes.iter().map(|w| &*symbols[w.0 as usize].name).collect();
            names.join("+")
        };
        let old = self.system.symbols.clone();
        let written: Vec<SymId> = (0..old.len() as SymId).filter(|s| self.writers(*s).count() > 1).collect();
        let system = &mut self.system;
        system.symbols.iter_mut().for_each(|s| s.weak = false);
        let (counts, kinds) = (system.enums.len() as u16, system.enums.len() as u16 + 1);
        system.enums.push(("pending".into(), ["none", "one", "many"].map(String::from).to_vec()));
        let names = self.kinds.iter().enumerate().map(|(i, k)| format!("{}!{}", name(k, &old), i + 1));
        system.enums.push(("entry".into(), names.clone().collect()));
        let array = |name: String, sort: u16| Symbol {
            name,
            arity: 1,
            sort: Sort::Enum(sort),
            weak: false,
            rigid: false,
        };
        system.symbols.extend(names.map(|n| array(format!("pending({n})"), counts)));
        for sym in written {
            self.last.push((sym, system.symbols.len() as SymId));
            system.symbols.push(array(format!("last({})", old[sym as usize].name), kinds));
        }
        let zero = |sym: SymId| Lit::In(cell_of(sym, ProcRef(0)), NO_ENTRY);
        let initial =
            self.kinds.iter().map(|k| k.count).chain(self.last.iter().map(|l| l.1)).map(zero).collect();
        system.init.push(InitClause { params: 1, dnf: vec![initial] });
    }

    /// The ways in which processes see these symbols; none if there are too many.
    fn cases(&self, views: &[View]) -> Option<Vec<Case>> {
        let mut cases = vec![Case::default()];
        for &view in views {
            let (viewer, sym) = view;
            let count = |kind: usize, mask: u64| Lit::In(cell_of(self.kinds[kind].count, viewer), mask);
            let mut next = Vec::new();
            for case in &cases {
                let memory: Vec<SrcLit> = self.writers(sym).map(|k| count(k, NO_ENTRY)).collect();
                if let Some(guard) = conjoin_lits(&case.guard, &memory) {
                    next.push(Case { guard, seen: case.seen.clone() });
                }
                for kind in self.writers(sym) {
                    let mut lits = vec![count(kind, SOME_ENTRY)];
                    lits.extend(self.last(sym).map(|last| Lit::In(cell_of(last, viewer), 1 << kind)));
                    let Some(guard) = conjoin_lits(&case.guard, &lits) else { continue };
                    let value = self.kinds[kind].writes.iter().find(|w| w.0 == sym)?.1.clone();
                    let value = match value {
                        Term::Atom(SrcAtom::Proc(_)) => Term::Atom(SrcAtom::Proc(viewer)),
                        constant => constant,
                    };
                    let mut seen = case.seen.clone();
                    seen.push((view, value));
                    next.push(Case { guard, seen });
                }
            }
            cases = next;
            if cases.len() > MAX_CASES {
                return None;
            }
        }
        Some(cases)
    }

    /// The buffered symbol that an atom is about, if it is the viewer's own cell. `Err` if that cannot be told: `others`
    /// are the variables that are certainly other processes than the viewer.
    fn view(&self, atom: SrcAtom, acting: Option<ProcRef>, others: &[u8]) -> Result<Option<View>, ()> {
        let (viewer, sym, idx) = match atom {
            SrcAtom::Sym(sym, idx) => (acting, sym, idx),
            SrcAtom::View(viewer, sym, idx) => (Some(viewer), sym, idx),
            SrcAtom::Proc(_) => return Ok(None),
        };
        if self.writers(sym).next().is_none() {
            return Ok(None);
        }
        let viewer = viewer.ok_or(())?;
        if idx[0].0 == NONE || idx[0] == viewer {
            return Ok(Some((viewer, sym)));
        }
        if viewer.0 < 128 && others.contains(&idx[0].0) { Ok(None) } else { Err(()) }
    }

    /// Adds what the literals see to the views.
    fn note(
        &self,
        lits: &[SrcLit],
        acting: Option<ProcRef>,
        others: &[u8],
        views: &mut Vec<View>,
    ) -> Option<()> {
        let mut fine = true;
        for lit in lits {
            lit.for_each_atom(|a| match self.view(a, acting, others) {
                Ok(Some(view)) if !views.contains(&view) => views.push(view),
                Ok(_) => {}
                Err(()) => fine = false,
            });
        }
        fine.then_some(())
    }

    /// An atom in a case; whatever is not seen in a buffer is memory.
    fn seen(&self, case: &Case, acting: Option<ProcRef>, atom: SrcAtom) -> SrcTerm {
        if let Ok(Some(view)) = self.view(atom, acting, &[])
            && let Some((_, value)) = case.seen.iter().find(|s| s.0 == view)
        {
            return value.clone();
        }
        Term::Atom(match atom {
            SrcAtom::View(_, sym, idx) => SrcAtom::Sym(sym, idx),
            other => other,
        })
    }

    /// Literals in a case; `None` if one is false.
    fn literals(&self, case: &Case, acting: Option<ProcRef>, lits: &[SrcLit]) -> Option<Vec<SrcLit>> {
        let mut result = Vec::new();
        for lit in lits {
            match lit.map(&mut |a| self.seen(case, acting, a)) {
                Fact::True => {}
                Fact::False => return None,
                Fact::Lit(lit) => result = conjoin_lits(&result, &[lit])?,
            }
        }
        Some(result)
    }

    /// A transition of the old system: one or more of the new one.
    fn transition(&self, old: &System, t: &Transition, out: &mut Vec<Transition>) -> Option<()> {
        let acting = t.acting.map(ProcRef);
        let mut plain = t.clone();
        (plain.reads, plain.writes, plain.fence) = (false, false, false);
        if t.fence || t.is_rmw() {
            let empty = self.kinds.iter().map(|k| Some(Lit::In(cell_of(k.count, acting?), NO_ENTRY)));
            plain.guard = conjoin_lits(&plain.guard, &empty.collect::<Option<Vec<_>>>()?)?;
        }
        if t.writes && !t.is_rmw() {
            self.put(old, t, plain, out)
        } else if t.reads && !t.fence && !t.is_rmw() {
            self.look(t, plain, out)
        } else {
            out.push(plain);
            Some(())
        }
    }

    /// A transition that puts an entry into the buffer. It reads nothing weak.
    fn put(
        &self,
        old: &System,
        t: &Transition,
        mut plain: Transition,
        out: &mut Vec<Transition>,
    ) -> Option<()> {
        let acting = ProcRef(t.acting?);
        let writes = entry(old, t)?;
        let kind = self.kinds.iter().position(|k| k.writes == writes)?;
        plain.updates.retain(|u| !old.symbol(u.sym).weak);
        for last in writes.iter().filter_map(|w| self.last(w.0)) {
            plain.updates.push(assign_at(last, acting, kind as u8));
        }
        let count = self.kinds[kind].count;
        for (before, after) in [(NO_ENTRY, 1), (SOME_ENTRY, 2)] {
            let mut next = plain.clone();
            let Some(guard) = conjoin_lits(&plain.guard, &[Lit::In(cell_of(count, acting), before)]) else {
                continue;
            };
            next.guard = guard;
            next.updates.push(assign_at(count, acting, after));
            out.push(next);
        }
        Some(())
    }

    /// A transition that reads, once for each way to see the buffer.
    fn look(&self, t: &Transition, plain: Transition, out: &mut Vec<Transition>) -> Option<()> {
        let acting = t.acting.map(ProcRef);
        let params: Vec<u8> = (0..t.params).filter(|p| Some(ProcRef(*p)) != acting).collect();
        let mut views = Vec::new();
        self.note(&t.guard, acting, &params, &mut views)?;
        for u in &t.universals {
            let others: Vec<u8> =
                params.iter().copied().chain(u.vars.iter().copied().filter(|_| u.other)).collect();
            u.dnf.iter().try_for_each(|lits| self.note(lits, acting, &others, &mut views))?;
        }
        for (lits, term) in t.updates.iter().flat_map(|u| &u.branches) {
            self.note(lits, acting, &params, &mut views)?;
            let mut atoms = Vec::new();
            match term {
                Some(Term::Atom(a)) => atoms.push(*a),
                Some(Term::Lin(form)) => atoms.extend(form.terms.iter().map(|t| t.0)),
                _ => {}
            }
            for atom in atoms {
                if let Some(view) = self.view(atom, acting, &params).ok()?
                    && !views.contains(&view)
                {
                    views.push(view);
                }
            }
        }
        for case in self.cases(&views)? {
            let Some(guard) = self.literals(&case, acting, &plain.guard) else { continue };
            let Some(guard) = conjoin_lits(&guard, &case.guard) else { continue };
            let mut next = Transition { guard, ..plain.clone() };
            for u in &mut next.universals {
                u.dnf = u.dnf.iter().filter_map(|lits| self.literals(&case, acting, lits)).collect();
            }
            for update in &mut next.updates {
                let mut branches = Vec::new();
                for (lits, term) in &update.branches {
                    let Some(lits) = self.literals(&case, acting, lits) else { continue };
                    let term = match term {
                        Some(Term::Atom(a)) => Some(self.seen(&case, acting, *a)),
                        Some(Term::Lin(form)) => {
                            Some(Term::Lin(form.map(&mut |a| self.seen(&case, acting, a))?))
                        }
                        other => other.clone(),
                    };
                    branches.push((lits, term));
                }
                update.branches = branches;
            }
            out.push(next);
        }
        Some(())
    }

    /// Entries of a kind become visible.
    fn flushes(&self, kind: usize, out: &mut Vec<Transition>) {
        let p = ProcRef(0);
        let Kind { writes, count } = &self.kinds[kind];
        let none = ProcRef(NONE);
        let memory = writes.iter().map(|(sym, value)| {
            let idx = if self.system.symbol(*sym).arity == 0 { none } else { p };
            assign(*sym, [idx, none, none], value.clone())
        });
        let memory: Vec<Update> = memory.collect();
        // The last one: on each cell it is not the newest, or nothing else is pending.
        let mut guards: Vec<Vec<SrcLit>> = vec![vec![Lit::In(cell_of(*count, p), 1 << 1)]];
        for (sym, last) in self.last.iter().filter(|l| writes.iter().any(|w| w.0 == l.0)) {
            let newer: u64 = self.writers(*sym).filter(|k| *k != kind).map(|k| 1 << k).sum();
            let others = self.writers(*sym).filter(|k| *k != kind);
            let alone: Vec<SrcLit> =
                others.map(|k| Lit::In(cell_of(self.kinds[k].count, p), NO_ENTRY)).collect();
            guards = guards
                .iter()
                .flat_map(|g| {
                    [conjoin_lits(g, &[Lit::In(cell_of(*last, p), newer)]), conjoin_lits(g, &alone)]
                })
                .flatten()
                .collect();
        }
        let many = || vec![Lit::In(cell_of(*count, p), 1 << 2)];
        let steps = guards.into_iter().map(|g| (g, 0)).chain([(many(), 1), (many(), 2)]);
        for (guard, after) in steps {
            let mut updates = memory.clone();
            updates.push(assign_at(*count, p, after));
            out.push(Transition {
                name: format!("flush {}", self.system.symbol(*count).name),
                declared: 1,
                params: 1,
                variables: 1,
                acting: None,
                guard,
                universals: vec![],
                fence: false,
                updates,
                reads: false,
                writes: false,
                source: self.system.transitions.len() + kind,
                span: fencepost_diag::Span::new(0, 0),
            });
        }
    }

    /// Bad or excluded states, once for each way to see the buffers.
    fn states(&self, old: &System, declared: &[Bad]) -> Option<Vec<Bad>> {
        let mut result = Vec::new();
        for bad in declared {
            let mut views = Vec::new();
            let params: Vec<u8> = (0..bad.params).collect();
            let is_weak = |a: SrcAtom| matches!(a, SrcAtom::Sym(s, _) if old.symbol(s).weak);
            if bad.lits.iter().any(|l| l.mentions(is_weak)) {
                return None;
            }
            self.note(&bad.lits, None, &params, &mut views)?;
            for case in self.cases(&views)? {
                let Some(lits) = self.literals(&case, None, &bad.lits) else { continue };
                let Some(lits) = conjoin_lits(&lits, &case.guard) else { continue };
                result.push(Bad { lits, ..bad.clone() });
            }
        }
        Some(result)
    }
}
