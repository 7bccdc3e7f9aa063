//! What an ended run is: whether a configuration is complete, what failed in it, and what is in memory then.

use super::code::PowerFence;
use super::rules::{Rules, View};
use super::state::{Address, Config, Event, Process, Status, Stop, Walk, Write, write_id};
use fencepost_ir::Value;
use fencepost_ir::flat::Op;
use std::sync::Arc;

/// The configuration in which a process stops before an event that cannot be executed. `None` if others may have noticed something behind it.
pub(super) fn fail_at(view: &View<'_>, index: usize) -> Option<Config> {
    let state = &view.config.processes[view.process];
    let unseen =
        |event: &Event| event.status != Status::Committed || event.seen.is_empty() && event.arrived == 0;
    let stores =
        |at: usize| matches!(view.op(at), Op::Store { .. }) && state.events[at].status == Status::Committed;
    if !state.events[index..].iter().all(unseen) || (index..state.events.len()).any(stores) {
        return None;
    }
    let mut after = view.config.clone();
    let state = after.process(view.process);
    state.pc = state.events[index].step;
    state.events.truncate(index);
    state.stop = Stop::Assertion;
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

    /// A process that has failed, if the run can be completed.
    pub(super) fn failed(&self) -> Option<usize> {
        let failed = |&p: &usize| {
            let process = &self.config.processes[p];
            process.stop == Stop::Assertion
                && (0..process.events.len()).all(|at| self.is_done(p, at))
                && self.fails_at_end(p)
        };
        let process = (0..self.config.processes.len()).find(failed)?;
        let prefix = |p: usize| {
            let events = &self.config.processes[p].events;
            let last = (0..events.len())
                .rev()
                .find(|&at| self.is_store(p, at) && events[at].status == Status::Committed);
            last.is_none_or(|last| (0..last).all(|at| self.is_done(p, at)))
        };
        ((0..self.config.processes.len()).all(|p| p == process || prefix(p)) && self.is_propagated())
            .then_some(process)
    }

    /// The assertion where the process stopped is false, or its access has no cell.
    pub(super) fn fails_at_end(&self, process: usize) -> bool {
        let walk = &self.walks[process];
        let step = &self.rules.code.flat.threads[process].code[self.config.processes[process].pc as usize];
        match step.op {
            Op::Assert { condition, .. } => {
                let cell = walk.operand(condition);
                cell.committed && cell.value.is_some_and(|value| !value.is_true())
            }
            Op::Load { addr, width, .. } => match walk.operand(addr).value {
                Some(value) => match self.rules.code.cell(value, width) {
                    None => true,
                    Some(cell) => {
                        let cells = self.rules.code.cells.len();
                        let last = self.config.storage.last[process * cells + cell as usize];
                        last == 0 && self.rules.start.memory[cell as usize].is_none()
                    }
                },
                None => false,
            },
            Op::Store { addr, width, .. } => {
                walk.operand(addr).value.is_some_and(|value| self.rules.code.cell(value, width).is_none())
            }
            _ => false,
        }
    }

    /// Memory in the end, the same for all.
    pub(super) fn memory(&self) -> Vec<Option<Value>> {
        let cells = self.rules.code.cells.len();
        (0..cells)
            .map(|cell| self.rules.value(self.config, self.config.storage.last[cell], cell as u32))
            .collect()
    }
}
