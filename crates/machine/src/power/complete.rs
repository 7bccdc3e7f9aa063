//! What an ended run is: whether a configuration is complete, what failed in it, and what is in memory then.

use super::code::PowerFence;
use super::faults::Wrong;
use super::rules::{Rules, View};
use super::state::{
    Address, Config, Event, Process, Status, Stop, Walk, Write, index_of, process_of, write_id,
};
use fencepost_ir::flat::Op;
use fencepost_ir::{FailKind, Value};
use std::sync::Arc;

/// The configuration in which a process does nothing from an event on. `None` if others may have noticed something behind it: a
/// store. Without a fence
/// that was committed there others have less to wait for.
pub(super) fn stop_at(view: &View<'_>, index: usize, pc: u32) -> Option<Config> {
    let state = &view.config.processes[view.process];
    let is_store = |process: usize, event: &Event| {
        let code = &view.rules.code.flat.threads[process].code;
        matches!(code[event.step as usize].op, Op::Store { .. })
    };
    let noticed = |event: &Event| event.status == Status::Committed && is_store(view.process, event);
    if state.events[index..].iter().any(noticed) {
        return None;
    }
    let is_gone = |seen: &Write| process_of(*seen) == view.process && index_of(*seen) >= index;
    let mut after = view.config.clone();
    for other in (0..after.processes.len()).filter(|other| *other != view.process) {
        let forgets = |event: &Event| is_store(other, event) && event.seen.iter().any(is_gone);
        if after.processes[other].events.iter().any(forgets) {
            for event in after.process(other).events.iter_mut().filter(|event| is_store(other, event)) {
                event.seen.retain(|seen| !is_gone(seen));
            }
        }
    }
    let state = after.process(view.process);
    state.pc = pc;
    state.events.truncate(index);
    state.stop = Stop::Fault;
    Some(after)
}

/// Whether a configuration is complete `[AABN17, Def. 2.2]`.
pub(super) struct Complete<'a> {
    pub(super) rules: Rules<'a>,
    pub(super) config: &'a Config,
    pub(super) walks: &'a [Walk],
}

impl Complete<'_> {
    pub(super) fn is_done(&self, process: usize, index: usize) -> bool {
        let event = &self.config.processes[process].events[index];
        let travels = self.walks[process].infos[index].fence.is_some_and(PowerFence::travels);
        event.status == Status::Committed && (!travels || event.arrived == self.rules.everybody())
    }

    pub(super) fn is_store(&self, process: usize, index: usize) -> bool {
        let step = self.config.processes[process].events[index].step;
        matches!(self.rules.code.flat.threads[process].code[step as usize].op, Op::Store { .. })
    }

    /// Every committed store has reached everybody, or one behind it has.
    pub(super) fn is_propagated(&self) -> bool {
        let (storage, cells) = (&self.config.storage, self.rules.code.cells.len());
        let everywhere = |write: Write, cell: u32| {
            (0..self.config.processes.len())
                .all(|q| storage.at_most(write, storage.last[q * cells + cell as usize]))
        };
        self.config.processes.iter().enumerate().all(|(p, process)| {
            (0..process.events.len()).all(|at| {
                let committed = process.events[at].status == Status::Committed && self.is_store(p, at);
                match self.walks[p].infos[at].address {
                    Some(Address::Cell(cell)) if committed => everywhere(write_id(p, at), cell),
                    _ => true,
                }
            })
        })
    }

    /// All processes have ended.
    pub(super) fn ended(&self) -> bool {
        let done = |(p, process): (usize, &Arc<Process>)| {
            process.stop == Stop::Ended && (0..process.events.len()).all(|at| self.is_done(p, at))
        };
        self.config.processes.iter().enumerate().all(done) && self.is_propagated()
    }

    fn is_assertion(&self, process: usize, index: usize) -> bool {
        let step = self.config.processes[process].events[index].step;
        matches!(self.rules.code.flat.threads[process].code[step as usize].op, Op::Assert { .. })
    }

    /// What is wrong, if the run can be completed by leaving out what nobody has noticed: what each process has fetched behind
    /// its last committed store, or behind what is wrong with it.
    pub(super) fn wrong(&self) -> Option<Wrong> {
        let n = self.config.processes.len();
        let stored = |p: usize| {
            let events = &self.config.processes[p].events;
            let committed = |&at: &usize| self.is_store(p, at) && events[at].status == Status::Committed;
            (0..events.len()).rev().find(committed).map_or(0, |last| last + 1)
        };
        let stored: Vec<usize> = (0..n).map(stored).collect();
        let prefix = |p: usize, to: usize| (0..to).all(|at| self.is_assertion(p, at) || self.is_done(p, at));
        let stored_done: Vec<bool> = (0..n).map(|p| prefix(p, stored[p])).collect();
        let others = |p: usize| (0..n).all(|q| q == p || stored_done[q]);
        let mut found = None;
        for (p, &last) in stored.iter().enumerate() {
            for (events, wrong) in self.faults(p) {
                let counts = || others(p) && prefix(p, events.max(last)) && self.is_propagated();
                // A run that meets what cannot be followed says nothing about anything else.
                let beyond = wrong == Wrong::Assertion(FailKind::Unsupported);
                if (found.is_none() || beyond) && counts() {
                    found = Some(wrong);
                }
            }
        }
        found
    }

    /// What is wrong with a process, and how many of its events show it.
    fn faults(&self, process: usize) -> Vec<(usize, Wrong)> {
        let (state, walk) = (&self.config.processes[process], &self.walks[process]);
        let code = &self.rules.code.flat.threads[process].code;
        let mut faults = Vec::new();
        for (at, event) in state.events.iter().enumerate() {
            let info = &walk.infos[at];
            match (&code[event.step as usize].op, info.address) {
                (Op::Assert { kind, .. }, _)
                    if info.data.committed && info.data.value == Some(Value::ZERO) =>
                {
                    faults.push((at + 1, Wrong::Assertion(*kind)));
                }
                (Op::Load { .. }, Some(Address::Cell(cell)))
                    if event.status == Status::Committed
                        && event.from == 0
                        && self.rules.start.memory[cell as usize].is_none() =>
                {
                    faults.push((at + 1, Wrong::NoValue));
                }
                _ => {}
            }
        }
        if let (Stop::Fault, Some(step)) = (state.stop, code.get(state.pc as usize))
            && let Op::Load { addr, width, .. } | Op::Store { addr, width, .. } = step.op
            && let Some(address) = walk.operand(addr).value
            && self.rules.code.cell(address, width).is_none()
        {
            faults.push((state.events.len(), Wrong::NoCell(address, width)));
        }
        faults
    }

    /// Memory in the end, the same for all.
    pub(super) fn memory(&self) -> Vec<Option<Value>> {
        let cells = self.rules.code.cells.len();
        (0..cells)
            .map(|cell| self.rules.value(self.config, self.config.storage.last[cell], cell as u32))
            .collect()
    }
}
