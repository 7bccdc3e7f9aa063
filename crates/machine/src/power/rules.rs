//! The premises of the rules `[AABN17, Fig. 7 and Table 2]`, one function each, and what the rules do.

use super::code::{PowerCode, PowerFence};
use super::state::{Address, Config, Event, Info, Start, Status, Walk, Write, write_id};
use fencepost_ir::Value;
use fencepost_ir::flat::Op;

/// A program and where its processes start.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// The program.
    pub code: &'a PowerCode<'a>,
    /// Memory and `main` when the processes start.
    pub start: &'a Start,
}

/// One process in a configuration, with its dataflow.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The program.
    pub rules: Rules<'a>,
    /// The configuration.
    pub config: &'a Config,
    /// The process.
    pub process: usize,
    /// Its dataflow.
    pub walk: &'a Walk,
}

impl<'a> Rules<'a> {
    /// The value of a store; `None` is an uninitialised cell.
    pub fn value(&self, config: &Config, write: Write, cell: u32) -> Option<Value> {
        match write {
            0 => self.start.memory[cell as usize],
            _ => {
                let event =
                    &config.processes[super::state::process_of(write)].events[super::state::index_of(write)];
                Some(Value(event.value))
            }
        }
    }

    /// All processes, as bits.
    pub fn everybody(&self) -> u8 {
        ((1u16 << self.code.flat.threads.len()) - 1) as u8
    }
}

impl<'a> View<'a> {
    fn events(&self) -> &'a [Event] {
        &self.config.processes[self.process].events
    }

    /// The operation of an event.
    pub fn op(&self, index: usize) -> &'a Op {
        let thread = &self.rules.code.flat.threads[self.process];
        &thread.code[self.events()[index].step as usize].op
    }

    fn earlier(&self, index: usize) -> impl Iterator<Item = (usize, &'a Event, &'a Info)> {
        self.events()[..index]
            .iter()
            .zip(&self.walk.infos)
            .enumerate()
            .map(|(at, (event, info))| (at, event, info))
    }

    /// `AllSyncCnd`: earlier `sync`s have reached everybody, earlier `lwsync`s and `isync`s are committed.
    pub fn all_sync(&self, index: usize) -> bool {
        let everybody = self.rules.everybody();
        self.earlier(index).all(|(_, event, info)| match info.fence {
            Some(PowerFence::Sync) => event.arrived == everybody,
            Some(PowerFence::Lwsync | PowerFence::Isync) => event.status == Status::Committed,
            Some(PowerFence::Eieio) | None => true,
        })
    }

    /// Earlier branches and assumptions are committed.
    pub fn control(&self, index: usize) -> bool {
        self.earlier(index).all(|(at, event, _)| {
            !matches!(self.op(at), Op::Branch { .. } | Op::Assume(_)) || event.status == Status::Committed
        })
    }

    /// The cell of an access, once it is known.
    pub fn cell(&self, index: usize) -> Option<u32> {
        match self.walk.infos[index].address {
            Some(Address::Cell(cell)) => Some(cell),
            _ => None,
        }
    }

    /// `ComCnd` for an access: what it depends on, branches, and earlier accesses of the cell, also those whose cell is not
    /// known.
    fn commit_condition(&self, index: usize) -> bool {
        let info = &self.walk.infos[index];
        let Some(cell) = self.cell(index) else { return false };
        let earlier = |(_, event, info): (usize, &Event, &Info)| match info.address {
            None => true,
            Some(Address::Cell(other)) => other != cell || event.status == Status::Committed,
            Some(Address::Unknown | Address::Bad) => false,
        };
        info.address_committed
            && info.data.committed
            && self.control(index)
            && self.earlier(index).all(earlier)
    }

    /// `InitReadFromLocal` and `InitReadFromProp`: the store that a read may read now, with its value.
    pub fn init_read(&self, index: usize) -> Option<(Write, Option<Value>)> {
        let event = &self.events()[index];
        let cell = self.cell(index)?;
        if event.status != Status::Fetched || !self.all_sync(index) {
            return None;
        }
        let closest = self.earlier(index).filter(|(at, _, info)| {
            let store = matches!(self.op(*at), Op::Store { .. });
            store
                && info.address != Some(Address::Bad)
                && info.address.is_some_and(|a| match a {
                    Address::Cell(other) => other == cell,
                    _ => true,
                })
        });
        match closest.last() {
            Some((_, store, _)) if store.status == Status::Fetched => None,
            Some((at, store, _)) if store.status == Status::Init => {
                Some((write_id(self.process, at), Some(Value(store.value))))
            }
            _ => {
                let cells = self.rules.code.cells.len();
                let last = self.config.storage.last[self.process * cells + cell as usize];
                Some((last, self.rules.value(self.config, last, cell)))
            }
        }
    }

    /// `ComRead`, with `RdCnd`: no earlier read of the cell read a store behind this one's.
    pub fn may_commit_read(&self, index: usize) -> bool {
        let event = &self.events()[index];
        if event.status != Status::Init || !self.commit_condition(index) || !self.all_sync(index) {
            return false;
        }
        let cell = self.cell(index);
        let storage = &self.config.storage;
        self.earlier(index).all(|(at, earlier, _)| {
            !matches!(self.op(at), Op::Load { .. })
                || self.cell(at) != cell
                || earlier.from == event.from
                || !storage.at_most(event.from, earlier.from)
        })
    }

    /// `InitWrite`.
    pub fn may_init_write(&self, index: usize) -> bool {
        let known = self.walk.infos[index].data.value.is_some() && self.cell(index).is_some();
        known && self.events()[index].status == Status::Fetched && self.all_sync(index)
    }

    /// `ComWrite`. An `eieio` before it must be committed.
    pub fn may_commit_write(&self, index: usize) -> bool {
        let eieios = self.earlier(index).all(|(_, event, info)| {
            info.fence != Some(PowerFence::Eieio) || event.status == Status::Committed
        });
        self.events()[index].status == Status::Init
            && eieios
            && self.commit_condition(index)
            && self.all_sync(index)
    }

    /// The load-reserve of a store-conditional, if it is to the same cell.
    pub fn reservation(&self, index: usize) -> Option<usize> {
        let takes = |at: &usize| match self.op(*at) {
            Op::Load { reserve, .. } => *reserve,
            Op::Store { paired, .. } => *paired,
            _ => false,
        };
        let last = (0..index).rev().find(takes)?;
        let load = matches!(self.op(last), Op::Load { .. });
        (load && self.cell(last) == self.cell(index)).then_some(last)
    }

    /// `ComACI` for branches and assumptions, with `ValidCnd`.
    pub fn may_commit_branch(&self, index: usize) -> bool {
        let (event, data) = (&self.events()[index], self.walk.infos[index].data);
        let taken = match self.op(index) {
            Op::Branch { .. } => event.value != 0,
            _ => true,
        };
        event.status == Status::Fetched
            && data.committed
            && data.value.is_some_and(|value| value.is_true() == taken)
            && self.control(index)
            && self.all_sync(index)
    }

    /// `ComSync` and `ComISync`. An `eieio` waits for stores only.
    pub fn may_commit_fence(&self, index: usize) -> bool {
        let Some(fence) = self.walk.infos[index].fence else { return false };
        let accesses = self.earlier(index).all(|(at, event, info)| match (info.address, fence) {
            (None, _) => true,
            (Some(_), PowerFence::Isync) => info.address_committed,
            (Some(_), PowerFence::Eieio) => {
                matches!(self.op(at), Op::Load { .. }) || event.status == Status::Committed
            }
            (Some(_), _) => event.status == Status::Committed,
        });
        self.events()[index].status == Status::Fetched
            && accesses
            && self.control(index)
            && self.all_sync(index)
    }

    /// `PropSync` to a process, with `SeenWrCnd`: what the fence has seen has been seen there.
    pub fn may_propagate_fence(&self, index: usize, to: usize) -> bool {
        let event = &self.events()[index];
        let (storage, cells) = (&self.config.storage, self.rules.code.cells.len());
        event.status == Status::Committed
            && self.walk.infos[index].fence.is_some_and(PowerFence::travels)
            && event.arrived & (1 << to) == 0
            && (0..cells).all(|cell| storage.at_most(event.seen[cell], storage.last[to * cells + cell]))
    }

    /// `PropWrite` to a process, with `SeenSyncCnd`: it has seen what the store has seen of fences, and no store behind it.
    pub fn may_propagate_write(&self, index: usize, to: usize) -> bool {
        let event = &self.events()[index];
        let Some(cell) = self.cell(index) else { return false };
        let (storage, cells) = (&self.config.storage, self.rules.code.cells.len());
        let reached = |fence: &Event| fence.arrived & (1 << to) != 0;
        let foreign = |&seen: &u32| {
            let (process, at) = (super::state::process_of(seen), super::state::index_of(seen));
            reached(&self.config.processes[process].events[at])
        };
        event.status == Status::Committed
            && to != self.process
            && !storage.at_most(write_id(self.process, index), storage.last[to * cells + cell as usize])
            && event.seen.iter().all(foreign)
            && self
                .earlier(index)
                .all(|(_, fence, info)| !info.fence.is_some_and(PowerFence::travels) || reached(fence))
    }
}

/// Every store that is committed, with its cell.
pub fn committed_writes(rules: Rules<'_>, config: &Config, walks: &[Walk]) -> Vec<(Write, u32)> {
    let mut writes = Vec::new();
    for (p, process) in config.processes.iter().enumerate() {
        for (at, event) in process.events.iter().enumerate() {
            let op = &rules.code.flat.threads[p].code[event.step as usize].op;
            if let (Op::Store { .. }, Status::Committed, Some(Address::Cell(cell))) =
                (op, event.status, walks[p].infos[at].address)
            {
                writes.push((write_id(p, at), cell));
            }
        }
    }
    writes
}

/// Commits a store; `None` if a store-conditional cannot succeed.
pub fn commit_write(
    rules: Rules<'_>,
    config: &Config,
    walks: &[Walk],
    process: usize,
    index: usize,
) -> Option<Config> {
    let view = View { rules, config, process, walk: &walks[process] };
    let (cell, cells) = (view.cell(index)?, rules.code.cells.len());
    let pair = match view.op(index) {
        Op::Store { paired: true, .. } => Some(view.events()[view.reservation(index)?].from),
        _ => None,
    };
    let mut seen = Vec::new();
    for (other, state) in config.processes.iter().enumerate().filter(|(other, _)| *other != process) {
        for (at, event) in state.events.iter().enumerate() {
            // Only fences arrive anywhere; one that has reached everybody holds nothing up.
            if event.arrived & (1 << process) != 0 && event.arrived != rules.everybody() {
                seen.push(write_id(other, at));
            }
        }
    }
    let mut after = config.clone();
    let write = write_id(process, index);
    let place = process * cells + cell as usize;
    let last = after.storage.last[place];
    after.storage.order(last, write);
    after.storage.last[place] = write;
    let event = &mut after.process(process).events[index];
    event.status = Status::Committed;
    event.seen = seen;
    if let Some(from) = pair {
        let pairs = &mut after.storage.pairs;
        let entry = (from, write, cell);
        let at = pairs.binary_search(&entry).unwrap_or_else(|at| at);
        pairs.insert(at, entry);
    }
    settle(rules, walks, after, Some((write, cell)))
}

/// Propagates a store.
pub fn propagate_write(
    rules: Rules<'_>,
    config: &Config,
    walks: &[Walk],
    (process, index): (usize, usize),
    to: usize,
) -> Option<Config> {
    let view = View { rules, config, process, walk: &walks[process] };
    let (cell, cells) = (view.cell(index)?, rules.code.cells.len());
    let mut after = config.clone();
    let write = write_id(process, index);
    let place = to * cells + cell as usize;
    after.storage.order(after.storage.last[place], write);
    after.storage.last[place] = write;
    settle(rules, walks, after, None)
}

fn settle(rules: Rules<'_>, walks: &[Walk], mut after: Config, new: Option<(Write, u32)>) -> Option<Config> {
    if after.storage.pairs.is_empty() {
        return Some(after);
    }
    let mut writes = committed_writes(rules, &after, walks);
    if let Some(new) = new.filter(|new| !writes.contains(new)) {
        writes.push(new);
    }
    after.storage.keep_pairs(&writes).then_some(after)
}

/// Commits a fence.
pub fn commit_fence(rules: Rules<'_>, config: &mut Config, walk: &Walk, process: usize, index: usize) {
    let cells = rules.code.cells.len();
    let mut seen = config.storage.last[process * cells..(process + 1) * cells].to_vec();
    match walk.infos[index].fence {
        Some(PowerFence::Isync) | None => seen.clear(),
        // An `eieio` is about the process's own stores.
        Some(PowerFence::Eieio) => {
            seen.fill(0);
            for at in 0..index {
                let op = &rules.code.flat.threads[process].code
                    [config.processes[process].events[at].step as usize]
                    .op;
                if let (Op::Store { .. }, Some(Address::Cell(cell))) = (op, walk.infos[at].address) {
                    seen[cell as usize] = write_id(process, at);
                }
            }
        }
        Some(PowerFence::Sync | PowerFence::Lwsync) => {}
    }
    let event = &mut config.process(process).events[index];
    event.status = Status::Committed;
    event.arrived = 1 << process;
    event.seen = seen;
}
