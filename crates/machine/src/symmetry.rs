//! Symmetry of identical threads: states that differ only in which thread is where are one state.
//!
//! A row has a slot for each thread. Exchanging what stands in two slots is an automorphism of the machine, provided
//! that nothing depends on a slot's number. What does so is known in full:
//!
//! * `Join` waits for a thread by number, and `SelfThread` gives a thread its own. A program that has either is searched
//!   as it is, because a number may be in any register or cell, and we do not track which ones hold numbers.
//! * `ThreadLocal`, `Local` and `Alloc` make objects whose place depends on the thread; the same applies.
//! * `Spawn` takes the first free slot and gives its number. Free slots are the last ones and the number of threads does
//!   not change in an exchange, so the number it gives does not change either; without `Join` it is a value like others.
//! * The scheduler knows rounds by slot and who moved last: they are exchanged along.
//! * A final condition may look at the registers of a thread: that thread keeps its slot.
//!
//! Everything else, that is, the assertions, the steps, and which thread is in an atomic section, is a property of a
//! local configuration or of memory. So every slot that is not looked at may be exchanged with every other, whatever runs
//! there, and the representative of an orbit is the row whose slots are sorted. A state is bad if and only if all of its
//! orbit are, and the successors of an orbit are the orbits of the successors: the quotient reaches a bad state in the
//! same number of steps [C. N. Ip, D. L. Dill, Better verification through symmetry, 1996]. Runs are lifted back by
//! undoing the exchanges one after the other ([`Lift`]), and are then replayed without any of this.
//!
//! Only threads that run the same code can ever be in the same configuration. Functions that differ in nothing but their
//! names are the same code: [`merge_equal_functions`].

use crate::buffers::{Label, Move};
use fencepost_ir::{Callee, FunctionId, Instr, Observable, Program, Property};

/// The slots that may be exchanged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symmetry {
    slots: Vec<usize>,
}

impl Symmetry {
    /// The symmetry of a program with that many slots; `None` if there is none that we can prove, or none to gain from.
    pub fn of(program: &Program, slots: usize) -> Option<Symmetry> {
        let mut instrs = program.functions.iter().flat_map(|f| &f.body);
        if instrs.any(names_threads) {
            return None;
        }
        let mut instrs = program.functions.iter().flat_map(|f| &f.body);
        let spawns = instrs.any(|instr| matches!(instr, Instr::Spawn { .. }));
        let slots: Vec<usize> = (0..slots).filter(|&slot| !is_observed(program, slot)).collect();
        let started = |slot: usize| program.threads.get(slot).map(|t| (t.function, &t.args));
        let equal = slots
            .iter()
            .any(|&a| slots.iter().any(|&b| a < b && started(a).is_some() && started(a) == started(b)));
        (equal || spawns).then_some(Symmetry { slots })
    }

    /// Which old slot goes to each slot so that the slots are sorted by key; `None` if they are already.
    pub fn order<K: Ord>(&self, width: usize, key: impl Fn(usize) -> K) -> Option<Vec<u8>> {
        if self.slots.windows(2).all(|pair| key(pair[0]) <= key(pair[1])) {
            return None;
        }
        let mut sorted = self.slots.clone();
        sorted.sort_by_key(|&slot| key(slot));
        let mut order: Vec<u8> = (0..width).map(|slot| slot as u8).collect();
        for (&slot, &from) in self.slots.iter().zip(&sorted) {
            order[slot] = from as u8;
        }
        Some(order)
    }
}

/// True if the final condition looks at registers of this thread.
fn is_observed(program: &Program, thread: usize) -> bool {
    let Property::Final(condition) = &program.property else { return false };
    let here = |o: &Observable| matches!(o, Observable::Register { thread: t, .. } if t.0 as usize == thread);
    condition.observed.iter().any(here)
}

/// True if what an instruction does depends on the number of a thread.
fn names_threads(instr: &Instr) -> bool {
    matches!(
        instr,
        Instr::Join { .. }
            | Instr::SelfThread { .. }
            | Instr::ThreadLocal { .. }
            | Instr::Local { .. }
            | Instr::Alloc { .. }
    )
}

/// Finds the threads of a run again: keeps, for each slot, the number of the thread that stands there.
pub struct Lift {
    actual: Vec<u8>,
}

impl Lift {
    /// Before the first step.
    pub fn new(slots: usize, start: Option<Vec<u8>>) -> Lift {
        Lift { actual: start.unwrap_or_else(|| (0..slots).map(|slot| slot as u8).collect()) }
    }

    /// The moves of a step, by thread instead of slot.
    pub fn step(&mut self, label: &Label) -> Vec<Move> {
        let actual = &self.actual;
        let lifted = label.moves.iter().map(|m| Move { thread: actual[usize::from(m.thread)], ..*m });
        let lifted = lifted.collect();
        if let Some(order) = &label.order {
            self.actual = order.iter().map(|&from| actual[usize::from(from)]).collect();
        }
        lifted
    }
}

/// The program in which threads, calls and spawns use one of several functions that are equal but for names and places.
/// Function pointers keep their values, so nothing can tell the difference but reports.
pub fn merge_equal_functions(program: &Program) -> Program {
    let same = |a: usize, b: usize| {
        let (a, b) = (&program.functions[a], &program.functions[b]);
        a.params == b.params && a.regs.len() == b.regs.len() && a.body == b.body
    };
    let first = |f: FunctionId| {
        let known = (0..f.0 as usize).find(|&other| same(other, f.0 as usize));
        known.map_or(f, |other| FunctionId(other as u32))
    };
    let mut merged = program.clone();
    for (t, thread) in merged.threads.iter_mut().enumerate() {
        if !is_observed(program, t) {
            thread.function = first(thread.function);
        }
    }
    for instr in merged.functions.iter_mut().flat_map(|f| &mut f.body) {
        if let Instr::Call { callee: Callee::Function(f), .. }
        | Instr::Spawn { callee: Callee::Function(f), .. } = instr
        {
            *f = first(*f);
        }
    }
    merged
}
