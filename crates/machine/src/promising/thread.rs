//! The steps of one thread: the rules of `[AAGKV, Fig. 2]`, with ordinary compare-exchanges and other read-modify-writes
//! beside the blocking one, and the orders of `[KHLVD, 4]`.

use super::memory::{Memory, Message, Place};
use crate::local::{FaultKind, Local, Status};
use crate::step::{Executed, Next, Steps, Update};
use fencepost_ir::{Fence, Instr, Order, Value};

/// Which insertions a thread may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// All: a step of a run.
    Run,
    /// In a check of strong consistency: a write goes to the end of its cell or uses a promise, a read-modify-write uses a
    /// promise.
    Strong,
    /// In a check of standard consistency: all, but no fences.
    Standard,
}

/// What a thread does next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// A fence, the start or the end of a thread, or a choice of this value.
    Internal(Value),
    /// Reads the message of that index; `spurious`: a weak compare-exchange fails for no reason.
    Read {
        /// The index.
        message: usize,
        /// See there.
        spurious: bool,
    },
    /// Writes.
    Write(Place),
    /// Reads the message of that index and writes.
    Update(usize, Place),
}

/// The orders of an instruction's read, of its write, and of its read when it does not write.
struct Orders {
    read: Order,
    write: Order,
    failure: Order,
}

/// What a fence means to the promising machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FenceKind {
    /// Nothing.
    Nothing,
    /// An acquire fence.
    Acquire,
    /// A release fence.
    Release,
    /// Both.
    AcquireRelease,
    /// An SC fence.
    Sc,
}

/// What a fence means to the promising machine; fences of hardware are read as the C fence that compiles to them.
pub fn fence_kind(fence: Fence) -> FenceKind {
    match fence.as_c11() {
        Order::SeqCst => FenceKind::Sc,
        Order::AcqRel => FenceKind::AcquireRelease,
        Order::Release => FenceKind::Release,
        Order::Acquire | Order::Consume => FenceKind::Acquire,
        Order::Plain | Order::Relaxed | Order::AcquirePc => FenceKind::Nothing,
    }
}

fn orders(instr: &Instr) -> Orders {
    let same = |order| Orders { read: order, write: order, failure: order };
    match instr {
        Instr::Load { ann, .. }
        | Instr::CopyLoad { ann, .. }
        | Instr::Await { ann, .. }
        | Instr::Store { ann, .. } => same(ann.order),
        Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => {
            Orders { read: read.order, write: write.order, failure: read.order }
        }
        Instr::CompareExchange { read, write, failure, .. } => {
            Orders { read: read.order, write: write.order, failure: failure.order }
        }
        Instr::Lock(_) | Instr::TryLock { .. } => {
            Orders { read: Order::Acquire, write: Order::Relaxed, failure: Order::Relaxed }
        }
        Instr::Unlock(_) => same(Order::Release),
        _ => same(Order::Relaxed),
    }
}

fn acquires(order: Order) -> bool {
    order.acquires() || order == Order::Consume
}

/// True if the orders of an instruction need views in messages.
pub fn synchronises(instr: &Instr) -> bool {
    let orders = orders(instr);
    let fence = matches!(instr, Instr::Fence(fence)
        if !matches!(fence_kind(*fence), FenceKind::Sc | FenceKind::Nothing));
    fence || acquires(orders.read) || acquires(orders.failure) || orders.write.releases()
}

/// Executes the steps of threads.
#[derive(Clone, Copy)]
pub struct Threads<'c> {
    /// Executes instructions.
    pub steps: Steps<'c>,
    /// There is a read-modify-write somewhere, so it matters which messages touch.
    pub updates: bool,
}

impl Threads<'_> {
    /// True if the thread stands before an SC fence, or before something that certification cannot cross: it starts or joins
    /// threads.
    fn leaves_certification(&self, local: &Local) -> bool {
        match self.steps.instr(local) {
            Some(Instr::Fence(fence)) => matches!(fence_kind(*fence), FenceKind::Sc),
            Some(Instr::Spawn { .. } | Instr::Join { .. }) => true,
            _ => false,
        }
    }

    /// Goes on past a failed assertion: the promises of a thread are certified beyond it (ADR `promising-assertions`).
    pub fn resume(&self, local: &mut Local) {
        while local.status == Status::Failed(FaultKind::Assertion)
            && matches!(self.steps.instr(local), Some(Instr::Assert { .. }))
        {
            local.status = Status::Running;
            local.top_mut().pc += 1;
            self.steps.settle(local, &mut Vec::new());
        }
    }

    /// Appends what a thread may do next. Joins and starts of threads are the caller's business.
    pub fn actions(&self, local: &Local, memory: &Memory, thread: usize, rule: Rule, out: &mut Vec<Action>) {
        if rule != Rule::Run && self.leaves_certification(local) {
            return;
        }
        let Some(instr) = self.steps.instr(local) else { return };
        if local.status != Status::Running {
            return;
        }
        if let Instr::Fence(fence) = instr {
            // A promise is fulfilled before anything is released.
            let releases =
                matches!(fence_kind(*fence), FenceKind::Release | FenceKind::AcquireRelease | FenceKind::Sc);
            if !releases || !memory.promises(thread as u8) {
                out.push(Action::Internal(Value::ZERO));
            }
            return;
        }
        match self.steps.next(local) {
            Next::Load(cell) | Next::Await(cell) => {
                let cell = cell.0 as usize;
                for message in readable(memory, thread, cell) {
                    let value = memory.cells[cell][message].value;
                    let waits = matches!(instr, Instr::Await { .. })
                        && value.is_some_and(|value| !self.steps.ends_wait(local, value));
                    if !waits {
                        out.push(Action::Read { message, spurious: false });
                    }
                }
            }
            Next::Store(cell, value) => {
                let cell = cell.0 as usize;
                let releases = orders(instr).write.releases();
                self.places(memory, thread, cell, value, releases, rule, out);
            }
            Next::Update(cell) => self.updates(local, memory, thread, cell.0 as usize, rule, out),
            Next::Choose(first, last) => {
                out.extend((first..=last).map(|value| Action::Internal(Value::from_i64(value))));
            }
            _ => {}
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn places(
        &self,
        memory: &Memory,
        thread: usize,
        cell: usize,
        value: Value,
        releases: bool,
        rule: Rule,
        out: &mut Vec<Action>,
    ) {
        let seen = memory.seen(thread, cell);
        let last = memory.cells[cell].len() - 1;
        let own = |index: &usize| memory.cells[cell][*index].promised == Some(thread as u8);
        let promises = || (seen + 1..=last).filter(own);
        if releases && promises().next().is_some() {
            return;
        }
        let from = if rule == Rule::Strong { last } else { seen };
        for after in (from..=last).filter(|&after| memory.has_gap(cell, after)) {
            out.push(Action::Write(Place::Gap { after, adjacent: false }));
            // Below an own promise, splitting it gives the same shape.
            if self.updates && memory.has_gap_below_promise(cell, after) && !own(&(after + 1)) {
                out.push(Action::Write(Place::Fill { after, adjacent: false }));
            }
        }
        let view = memory.published(thread, cell, releases, None);
        for index in promises() {
            if memory.fulfils(thread as u8, cell, index, Some(value), &view) {
                out.push(Action::Write(Place::Fulfil(index)));
            }
            // Where there is a gap before the promise and nobody cares what touches, the gap is as good.
            if rule == Rule::Strong || self.updates || memory.cells[cell][index].adjacent {
                out.push(Action::Write(Place::Split(index)));
            }
        }
    }

    fn updates(
        &self,
        local: &Local,
        memory: &Memory,
        thread: usize,
        cell: usize,
        rule: Rule,
        out: &mut Vec<Action>,
    ) {
        let Some(instr) = self.steps.instr(local) else { return };
        let releases = orders(instr).write.releases();
        let own = |message: &Message| message.promised == Some(thread as u8);
        let waits = releases && memory.cells[cell].iter().any(own);
        for message in readable(memory, thread, cell) {
            // Reading what has no value is a fault, whatever would be written.
            let Some(old) = memory.cells[cell][message].value else {
                out.push(Action::Read { message, spurious: false });
                continue;
            };
            if self.steps.may_fail(local) && matches!(self.steps.update(local, old, false), Update::Write(_))
            {
                out.push(Action::Read { message, spurious: true });
            }
            let value = match self.steps.update(local, old, false) {
                Update::Blocked => continue,
                Update::Keep | Update::Misuse => {
                    out.push(Action::Read { message, spurious: false });
                    continue;
                }
                Update::Write(_) if waits => continue,
                Update::Write(value) => value,
            };
            let next = message + 1;
            if memory.has_gap(cell, message) {
                if rule != Rule::Strong {
                    out.push(Action::Update(message, Place::Gap { after: message, adjacent: true }));
                    if memory.has_gap_below_promise(cell, message) {
                        out.push(Action::Update(message, Place::Fill { after: message, adjacent: true }));
                    }
                }
                continue;
            }
            if memory.cells[cell][next].promised == Some(thread as u8) && !releases {
                // An acquiring read changes what is published by nothing: relaxed writes publish what was released.
                let view = memory.published(thread, cell, false, Some(message));
                if memory.fulfils(thread as u8, cell, next, Some(value), &view) {
                    out.push(Action::Update(message, Place::Fulfil(next)));
                }
                out.push(Action::Update(message, Place::Split(next)));
            }
        }
    }

    /// Does an action. True if reading altered the thread's view `[AAGKV, 4]`.
    pub fn apply(
        &self,
        local: &mut Local,
        memory: &mut Memory,
        thread: usize,
        action: Action,
        log: &mut Vec<Executed>,
    ) -> bool {
        let Some(instr) = self.steps.instr(local) else { return false };
        if let Instr::Fence(fence) = instr {
            match fence_kind(*fence) {
                FenceKind::Nothing => {}
                FenceKind::Acquire => memory.acquire(thread),
                FenceKind::Release => memory.release(thread),
                FenceKind::AcquireRelease => {
                    memory.acquire(thread);
                    memory.release(thread);
                }
                FenceKind::Sc => memory.fence(thread),
            }
            self.steps.finish(local, Value::ZERO, false, log);
            return false;
        }
        let orders = orders(instr);
        match (action, self.steps.next(local)) {
            (Action::Internal(value), _) => {
                self.steps.finish(local, value, false, log);
                false
            }
            (
                Action::Read { message, spurious },
                Next::Load(cell) | Next::Await(cell) | Next::Update(cell),
            ) => {
                let cell = cell.0 as usize;
                let alters = message > memory.seen(thread, cell);
                let value = memory.cells[cell][message].value;
                memory.read(thread, cell, message, acquires(orders.failure));
                if let Next::Update(_) = self.steps.next(local)
                    && value.is_some_and(|old| self.steps.update(local, old, spurious) == Update::Misuse)
                {
                    local.status = Status::Failed(FaultKind::Misuse);
                    return alters;
                }
                self.finish_read(local, value, spurious, log);
                alters
            }
            (Action::Write(place), Next::Store(cell, value)) => {
                let cell = cell.0 as usize;
                let releases = orders.write.releases();
                let view = memory.published(thread, cell, releases, None);
                let index = memory.insert(cell, place, Some(value), view, None);
                memory.wrote(thread, cell, index, releases);
                self.steps.finish(local, value, false, log);
                false
            }
            (Action::Update(message, place), Next::Update(cell)) => {
                let cell = cell.0 as usize;
                let alters = message > memory.seen(thread, cell);
                let old = memory.cells[cell][message].value.unwrap_or_default();
                let Update::Write(value) = self.steps.update(local, old, false) else { return false };
                memory.read(thread, cell, message, acquires(orders.read));
                let releases = orders.write.releases();
                let view = memory.published(thread, cell, releases, Some(message));
                let index = memory.insert(cell, place, Some(value), view, None);
                memory.wrote(thread, cell, index, releases);
                self.steps.finish(local, old, false, log);
                alters
            }
            _ => false,
        }
    }

    fn finish_read(&self, local: &mut Local, value: Option<Value>, spurious: bool, log: &mut Vec<Executed>) {
        match self.steps.reads(local, value) {
            None => local.status = Status::Failed(FaultKind::Uninitialised),
            Some(value) => self.steps.finish(local, value, spurious, log),
        }
    }
}

/// The messages that a thread may read. Its own promises are among them by the letter of the rule, but who reads his own
/// promise cannot fulfil it any more.
fn readable(memory: &Memory, thread: usize, cell: usize) -> impl Iterator<Item = usize> {
    let mine = move |index: &usize| memory.cells[cell][*index].promised == Some(thread as u8);
    (memory.seen(thread, cell)..memory.cells[cell].len()).filter(move |index| !mine(index))
}
