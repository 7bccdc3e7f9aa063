//! The symbolic state of a thread on one way through it, and how ways meet.

use super::deps::{Depends, Deps};
use super::{CellId, CellInfo, EventId, InstanceId, Merge, Point};
use crate::aig::{Graph, Lit};
use crate::word::Word;
use fencepost_ir::Value;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a register or a cell holds: a word, and what it depends on.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Held {
    pub word: Word,
    pub dep: Depends,
}

impl Held {
    pub fn constant(value: Value) -> Held {
        Held { word: Word::constant(value), dep: Depends::NONE }
    }
}

/// A cell of one thread only.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Own {
    pub held: Held,
    /// It has no value yet.
    pub undefined: Lit,
}

impl Own {
    /// Before anything is written.
    pub fn initial(cell: &CellInfo) -> Own {
        let word = cell.initial.clone().unwrap_or_else(|| Word::constant(Value::ZERO));
        Own { held: Held { word, dep: Depends::NONE }, undefined: Lit::constant(cell.initial.is_none()) }
    }
}

/// Which atomic section a way is in. Where ways meet that are in different ones, or only some of which are in one, it depends on
/// the way.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Inside {
    /// It is in none.
    pub outside: Lit,
    /// The sections that it may be in, by number, with conditions.
    pub open: Vec<(Lit, u32)>,
    /// The units that what comes next belongs to, with conditions.
    pub units: Vec<(Lit, u32)>,
}

impl Inside {
    /// In no section.
    pub fn none() -> Inside {
        Inside { outside: Lit::TRUE, open: Vec::new(), units: Vec::new() }
    }

    /// The unit, if it is the same on all ways.
    pub fn unit(&self) -> Option<u32> {
        match self.units[..] {
            [(Lit::TRUE, unit)] if self.outside == Lit::FALSE => Some(unit),
            _ => None,
        }
    }

    fn merge(graph: &mut Graph, condition: Lit, a: &Inside, b: &Inside) -> Inside {
        if a == b {
            return a.clone();
        }
        let mut both = |a: &[(Lit, u32)], b: &[(Lit, u32)]| {
            let mut merged: Vec<(Lit, u32)> = Vec::new();
            let ways = a.iter().map(|way| (condition, way)).chain(b.iter().map(|way| (!condition, way)));
            for (on, &(when, number)) in ways {
                let when = graph.and(on, when);
                match merged.iter_mut().find(|(_, known)| *known == number) {
                    Some((known, _)) => *known = graph.or(*known, when),
                    None => merged.push((when, number)),
                }
            }
            merged
        };
        let (open, units) = (both(&a.open, &b.open), both(&a.units, &b.units));
        Inside { outside: graph.mux(condition, a.outside, b.outside), open, units }
    }
}

/// A thread on its way. Cheap to copy: the large parts are shared until one of the copies changes.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// This way was taken.
    pub guard: Lit,
    /// Registers of the running function.
    pub regs: Rc<Vec<Held>>,
    /// Cells of this thread only, where they were written.
    pub memory: Rc<FxHashMap<CellId, Own>>,
    /// What the function returns, once it has.
    pub returned: Held,
    /// What was executed last.
    pub point: Point,
    /// What being here depends on.
    pub control: Depends,
    /// The atomic section that it is in.
    pub section: Inside,
    /// For each loop that it is in, outermost first: it did something that outlives the iteration.
    pub effects: Vec<Lit>,
    /// Threads that were surely joined, sorted.
    pub joined: Rc<Vec<InstanceId>>,
    /// The last load that took a reservation, by the way.
    pub reserved: Rc<Vec<(Lit, Reservation)>>,
}

/// What a load has reserved: its event, if it has one, and the cells that it may be of.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Reservation {
    pub read: Option<EventId>,
    pub cells: Vec<(CellId, Lit)>,
}

impl State {
    /// Something was done that outlives the iterations that it is in.
    pub fn note_effect(&mut self, graph: &mut Graph, condition: Lit) {
        for effect in &mut self.effects {
            *effect = graph.or(*effect, condition);
        }
    }
}

/// What merging needs beside the states.
pub(super) struct Merger<'a> {
    pub graph: &'a mut Graph,
    pub deps: &'a mut Deps,
    pub merges: &'a mut Vec<Merge>,
    pub cells: &'a [CellInfo],
    pub thread: InstanceId,
}

impl Merger<'_> {
    /// One state of several ways that exclude each other.
    pub fn merge_all(&mut self, mut states: Vec<State>) -> Option<State> {
        states.retain(|state| state.guard != Lit::FALSE);
        while states.len() > 1 {
            let (i, j) = self.closest(&states);
            // `j` is behind `i`.
            let (b, a) = (states.remove(j), states.remove(i));
            let merged = self.merge(a, b);
            states.push(merged);
        }
        states.pop()
    }

    /// The two sides of one branch if there are such, so that the condition of the branch vanishes; else the last two.
    fn closest(&self, states: &[State]) -> (usize, usize) {
        for j in (1..states.len()).rev() {
            for i in (0..j).rev() {
                if self.graph.siblings(states[i].guard, states[j].guard).is_some() {
                    return (i, j);
                }
            }
        }
        (states.len() - 2, states.len() - 1)
    }

    fn merge(&mut self, a: State, b: State) -> State {
        let condition = self.graph.distinguishing(a.guard, b.guard);
        let guard = self.graph.or(a.guard, b.guard);
        let point = match a.point == b.point {
            true => a.point,
            false => {
                let inputs = vec![(a.guard, a.point), (b.guard, b.point)];
                self.merges.push(Merge { thread: self.thread, inputs });
                Point::Merge(self.merges.len() as u32 - 1)
            }
        };
        let effects = a.effects.iter().zip(&b.effects);
        let effects = effects.map(|(&x, &y)| self.graph.mux(condition, x, y)).collect();
        let joined = match Rc::ptr_eq(&a.joined, &b.joined) {
            true => a.joined.clone(),
            false => Rc::new(a.joined.iter().copied().filter(|id| b.joined.contains(id)).collect()),
        };
        let section = Inside::merge(self.graph, condition, &a.section, &b.section);
        let reserved = self.reserved(condition, &a.reserved, &b.reserved);
        State {
            guard,
            regs: self.registers(condition, &a.regs, &b.regs),
            memory: self.memory(condition, &a.memory, &b.memory),
            returned: self.held(condition, &a.returned, &b.returned),
            point,
            control: self.deps.choice(condition, a.control, b.control),
            section,
            effects,
            joined,
            reserved,
        }
    }

    fn reserved(
        &mut self,
        condition: Lit,
        a: &Rc<Vec<(Lit, Reservation)>>,
        b: &Rc<Vec<(Lit, Reservation)>>,
    ) -> Rc<Vec<(Lit, Reservation)>> {
        if a == b {
            return a.clone();
        }
        let mut both: Vec<(Lit, Reservation)> = Vec::new();
        for (on, list) in [(condition, a), (!condition, b)] {
            for (when, reservation) in list.iter() {
                let when = self.graph.and(on, *when);
                match both.iter_mut().find(|(_, known)| known == reservation) {
                    Some((known, _)) => *known = self.graph.or(*known, when),
                    None => both.push((when, reservation.clone())),
                }
            }
        }
        Rc::new(both)
    }

    fn held(&mut self, condition: Lit, a: &Held, b: &Held) -> Held {
        Held {
            word: Word::mux(self.graph, condition, &a.word, &b.word),
            dep: self.deps.choice(condition, a.dep, b.dep),
        }
    }

    fn registers(&mut self, condition: Lit, a: &Rc<Vec<Held>>, b: &Rc<Vec<Held>>) -> Rc<Vec<Held>> {
        if Rc::ptr_eq(a, b) {
            return a.clone();
        }
        Rc::new(a.iter().zip(b.iter()).map(|(x, y)| self.held(condition, x, y)).collect())
    }

    fn memory(
        &mut self,
        condition: Lit,
        a: &Rc<FxHashMap<CellId, Own>>,
        b: &Rc<FxHashMap<CellId, Own>>,
    ) -> Rc<FxHashMap<CellId, Own>> {
        if Rc::ptr_eq(a, b) {
            return a.clone();
        }
        let mut keys: Vec<CellId> = a.keys().chain(b.keys()).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let mut merged = FxHashMap::default();
        for key in keys {
            let on = |map: &FxHashMap<CellId, Own>| {
                map.get(&key).cloned().unwrap_or_else(|| Own::initial(&self.cells[key.0 as usize]))
            };
            let (x, y) = (on(a), on(b));
            let held = self.held(condition, &x.held, &y.held);
            merged.insert(key, Own { held, undefined: self.graph.mux(condition, x.undefined, y.undefined) });
        }
        Rc::new(merged)
    }
}
