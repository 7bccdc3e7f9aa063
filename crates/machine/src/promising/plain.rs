//! The promising machine as `[AAGKV, 3]` writes it down: timestamps are numbers, messages have intervals, every rule checks its
//! premises one by one, and after every step each thread is certified. No canonical form, no caches, nothing
//! shared with [`super::memory`], [`super::thread`] and [`super::certify`] but the execution of instructions. It replays what the
//! search reports.

use super::certify::{Consistency, MAX_CHOICES};
use super::memory::Place;
use super::prepare::needs_message_views;
use super::search::{Act, Move};
use super::thread::{Action, FenceKind, fence_kind};
use crate::code::Code;
use crate::config::Config;
use crate::local::{FaultKind, Local, Status};
use crate::step::{Executed, Next, Steps, Update};
use fencepost_ir::{FinalCondition, Instr, Observable, Order, Value};

/// A timestamp. The paper's are dense; these are far enough apart for the runs that we replay.
pub type Time = u128;

/// The distance between a message and the next one at the end of a cell.
const FAR: Time = 1 << 80;

/// A message `(x, v, (from, to], view)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// The cell.
    pub cell: usize,
    /// The value.
    pub value: Option<Value>,
    /// The interval's beginning.
    pub from: Time,
    /// Its end: the message's timestamp.
    pub to: Time,
    /// What it publishes.
    pub view: Vec<Time>,
    /// In whose promise set it is.
    pub promised: Option<usize>,
}

/// A thread: its configuration and its views.
#[derive(Clone, PartialEq, Debug)]
pub struct Process {
    /// Registers and program counter.
    pub local: Local,
    /// Its view.
    pub view: Vec<Time>,
    /// Its view after an acquire fence.
    pub acquired: Vec<Time>,
    /// What its relaxed writes publish, per cell.
    pub released: Vec<Vec<Time>>,
}

/// A machine state.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    /// The memory.
    pub messages: Vec<Message>,
    /// The threads.
    pub processes: Vec<Process>,
    /// The global view.
    pub global: Vec<Time>,
}

/// What a move did, for reports.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Effect {
    /// Instructions that were executed, in order.
    pub executed: Vec<Executed>,
    /// The cell that the first of them accessed, or of the promise.
    pub cell: Option<usize>,
    /// The value that the first instruction read, chose or wrote, or that was promised.
    pub value: Option<Value>,
    /// The timestamp read.
    pub read: Option<Time>,
    /// The interval written or promised.
    pub wrote: Option<(Time, Time)>,
    /// Reading altered the view.
    pub switched: bool,
    /// The write fulfilled a promise.
    pub fulfilled: bool,
}

/// Which steps certification may use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Run,
    Strong,
    Standard,
}

/// Replays moves.
pub struct Plain<'c> {
    steps: Steps<'c>,
    consistency: Consistency,
    domain: &'c [Value],
    /// Somebody may learn from what messages publish. If not, they publish nothing: SC fences release too, and a promise would
    /// have to say what a
    /// read-modify-write passes on that nobody looks at.
    publishes: bool,
}

fn join(a: &[Time], b: &[Time]) -> Vec<Time> {
    a.iter().zip(b).map(|(a, b)| *a.max(b)).collect()
}

fn orders(instr: &Instr, wrote: bool) -> (Order, Order) {
    match instr {
        Instr::Load { ann, .. } | Instr::CopyLoad { ann, .. } | Instr::Await { ann, .. } => {
            (ann.order, Order::Relaxed)
        }
        Instr::Store { ann, .. } => (Order::Relaxed, ann.order),
        Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => (read.order, write.order),
        Instr::CompareExchange { read, write, .. } if wrote => (read.order, write.order),
        Instr::CompareExchange { failure, .. } => (failure.order, Order::Relaxed),
        Instr::Lock(_) | Instr::TryLock { .. } if wrote => (Order::Acquire, Order::Relaxed),
        Instr::Unlock(_) => (Order::Relaxed, Order::Release),
        _ => (Order::Relaxed, Order::Relaxed),
    }
}

impl<'c> Plain<'c> {
    /// For a prepared program.
    pub fn new(
        code: &'c Code<'c>,
        config: &'c Config,
        consistency: Consistency,
        domain: &'c [Value],
    ) -> Plain<'c> {
        let publishes = needs_message_views(code.program);
        Plain { steps: Steps { code, config }, consistency, domain, publishes }
    }

    /// The initial machine state, and what each thread did before anybody could notice.
    pub fn start(&self) -> (State, Vec<Vec<Executed>>) {
        let initial = self.steps.code.initial_memory();
        let cells = initial.len();
        let message =
            |(cell, value)| Message { cell, value, from: 0, to: 0, view: vec![0; cells], promised: None };
        let messages = initial.into_iter().enumerate().map(message).collect();
        let mut logs = Vec::new();
        let mut processes = Vec::new();
        for (number, thread) in self.steps.code.program.threads.iter().enumerate() {
            let mut log = Vec::new();
            let local = self.steps.start(thread.function.0, &thread.args, number, &mut log);
            processes.push(process(local, vec![0; cells]));
            logs.push(log);
        }
        (State { messages, processes, global: vec![0; cells] }, logs)
    }

    /// Does a move, or says which premise fails.
    pub fn apply(&self, state: &mut State, step: &Move) -> Result<Effect, &'static str> {
        let p = usize::from(step.thread);
        if p >= state.processes.len() {
            return Err("there is no such thread");
        }
        let effect = match &step.act {
            Act::Step(action) => self.step(state, p, *action, Mode::Run)?,
            Act::Promise { cell, value, place, passes_on } => {
                self.promise(state, p, *cell, *value, *place, *passes_on)?
            }
        };
        for p in 0..state.processes.len() {
            if !self.is_consistent(state, p) {
                return Err("a thread cannot fulfil its promises any more");
            }
        }
        Ok(effect)
    }

    /// The messages of a cell, newest first.
    fn newest_first(state: &State, cell: usize) -> Vec<usize> {
        let mut all: Vec<usize> =
            (0..state.messages.len()).filter(|&i| state.messages[i].cell == cell).collect();
        all.sort_by_key(|&i| std::cmp::Reverse(state.messages[i].to));
        all
    }

    /// The value of a message, by its number from the newest.
    pub fn value(&self, state: &State, cell: usize, number: usize) -> Option<Value> {
        Self::numbered(state, cell, number).ok().and_then(|message| state.messages[message].value)
    }

    fn numbered(state: &State, cell: usize, number: usize) -> Result<usize, &'static str> {
        Self::newest_first(state, cell).get(number).copied().ok_or("there is no such message")
    }

    fn promise(
        &self,
        state: &mut State,
        p: usize,
        cell: usize,
        value: Value,
        place: Place,
        passes_on: Option<usize>,
    ) -> Result<Effect, &'static str> {
        if cell >= state.global.len() {
            return Err("there is no such cell");
        }
        let mut view = state.processes[p].released[cell].clone();
        if let Some(number) = passes_on {
            let passed = &state.messages[Self::numbered(state, cell, number)?].view;
            view = join(&view, passed);
        }
        if !self.publishes {
            view.fill(0);
        }
        let (from, to) = self.interval(state, p, cell, place)?;
        view[cell] = to;
        let message = Message { cell, value: Some(value), from, to, view, promised: Some(p) };
        match place {
            Place::Fulfil(_) => return Err("a promise is not fulfilled by a promise"),
            Place::Gap { .. } | Place::Fill { .. } => additive(state, message)?,
            Place::Split(_) => splitting(state, p, message)?,
        }
        let (cell, value) = (Some(cell), Some(value));
        Ok(Effect { cell, value, wrote: Some((from, to)), ..Effect::default() })
    }

    /// The interval that a place means.
    fn interval(
        &self,
        state: &State,
        p: usize,
        cell: usize,
        place: Place,
    ) -> Result<(Time, Time), &'static str> {
        let order = Self::newest_first(state, cell);
        let at =
            |number: usize| order.get(number).map(|&i| &state.messages[i]).ok_or("there is no such message");
        match place {
            Place::Gap { after, adjacent } => {
                let below = at(after)?.to;
                let above = match after.checked_sub(1) {
                    Some(next) => at(next)?.from,
                    None => below + 3 * FAR,
                };
                let third = above.checked_sub(below).ok_or("messages overlap")? / 3;
                if third == 0 {
                    return Err("there is no room for the message");
                }
                Ok((if adjacent { below } else { below + third }, below + 2 * third))
            }
            Place::Fill { after, adjacent } => {
                let below = at(after)?.to;
                let above = at(after.checked_sub(1).ok_or("nothing is above the message")?)?.from;
                let half = above.checked_sub(below).ok_or("messages overlap")? / 2;
                if half == 0 {
                    return Err("there is no room for the message");
                }
                Ok((if adjacent { below } else { below + half }, above))
            }
            Place::Split(number) | Place::Fulfil(number) => {
                let promise = at(number)?;
                if promise.promised != Some(p) {
                    return Err("that is no promise of the thread");
                }
                let half = (promise.to - promise.from) / 2;
                match place {
                    Place::Fulfil(_) => Ok((promise.from, promise.to)),
                    _ if half == 0 => Err("there is no room for the message"),
                    _ => Ok((promise.from, promise.from + half)),
                }
            }
        }
    }

    fn step(&self, state: &mut State, p: usize, action: Action, mode: Mode) -> Result<Effect, &'static str> {
        let local = state.processes[p].local.clone();
        let instr = self.steps.instr(&local).ok_or("the thread has ended")?;
        if local.status != Status::Running {
            return Err("the thread cannot move");
        }
        if let Instr::Fence(fence) = instr {
            return self.fence(state, p, fence_kind(*fence), mode);
        }
        match (self.steps.next(&local), action) {
            (Next::Choose(first, last), Action::Internal(value))
                if (first..=last).contains(&value.as_i64()) =>
            {
                Ok(self.finish(state, p, value, false, Effect::default()))
            }
            (Next::Spawn(function, args), Action::Internal(_)) if mode == Mode::Run => {
                self.spawn(state, p, function, &args)
            }
            (Next::Join(other), Action::Internal(_)) if mode == Mode::Run => self.join(state, p, other),
            (Next::Load(cell) | Next::Await(cell), Action::Read { message, spurious: false }) => {
                let message = Self::numbered(state, cell.0 as usize, message)?;
                let effect = self.read(state, p, message, orders(instr, false).0)?;
                if let (Instr::Await { .. }, Some(value)) = (instr, effect.value)
                    && !self.steps.ends_wait(&local, value)
                {
                    return Err("the thread waits for another value");
                }
                self.finish_read(state, p, false, effect)
            }
            (Next::Update(cell), Action::Read { message, spurious }) => {
                let message = Self::numbered(state, cell.0 as usize, message)?;
                if spurious && !self.steps.may_fail(&local) {
                    return Err("that instruction does not fail for no reason");
                }
                let effect = self.read(state, p, message, orders(instr, false).0)?;
                match effect.value.map(|old| self.steps.update(&local, old, spurious)) {
                    None | Some(Update::Keep) => {}
                    Some(Update::Misuse) => {
                        state.processes[p].local.status = Status::Failed(FaultKind::Misuse);
                        return Ok(effect);
                    }
                    Some(_) => return Err("the read-modify-write would write, or waits"),
                }
                self.finish_read(state, p, spurious, effect)
            }
            (Next::Store(cell, value), Action::Write(place)) => {
                let write = Write { cell: cell.0 as usize, value, order: orders(instr, true).1, read: None };
                let effect = self.write(state, p, write, place, Effect::default())?;
                Ok(self.finish(state, p, value, false, effect))
            }
            (Next::Update(cell), Action::Update(message, place)) => {
                let read = Self::numbered(state, cell.0 as usize, message)?;
                let (read_order, order) = orders(instr, true);
                let message = state.messages[read].clone();
                let effect = self.read(state, p, read, read_order)?;
                let old = message.value.ok_or("nothing was read")?;
                let Update::Write(value) = self.steps.update(&local, old, false) else {
                    return Err("the read-modify-write does not write");
                };
                let write = Write { cell: cell.0 as usize, value, order, read: Some(message) };
                let effect = Effect { value: Some(value), ..self.write(state, p, write, place, effect)? };
                Ok(self.finish(state, p, old, false, effect))
            }
            _ => Err("the thread cannot do that now"),
        }
    }

    fn finish(
        &self,
        state: &mut State,
        p: usize,
        input: Value,
        spurious: bool,
        mut effect: Effect,
    ) -> Effect {
        self.steps.finish(&mut state.processes[p].local, input, spurious, &mut effect.executed);
        effect.value = effect.value.or(Some(input));
        effect
    }

    fn finish_read(
        &self,
        state: &mut State,
        p: usize,
        spurious: bool,
        effect: Effect,
    ) -> Result<Effect, &'static str> {
        let Some(input) = self.steps.reads(&state.processes[p].local, effect.value) else {
            state.processes[p].local.status = Status::Failed(FaultKind::Uninitialised);
            return Ok(effect);
        };
        Ok(self.finish(state, p, input, spurious, effect))
    }

    /// Read: `(x, v, (f, t]) in M` and `V(x) <= t`.
    fn read(
        &self,
        state: &mut State,
        p: usize,
        message: usize,
        order: Order,
    ) -> Result<Effect, &'static str> {
        let Message { cell, to, value, ref view, .. } = state.messages[message];
        let process = &mut state.processes[p];
        if process.view[cell] > to {
            return Err("the thread has seen a newer message");
        }
        let switched = process.view[cell] < to;
        process.view[cell] = to;
        if order.acquires() || order == Order::Consume {
            process.view = join(&process.view, view);
        }
        process.acquired = join(&join(&process.acquired, &process.view), view);
        Ok(Effect { cell: Some(cell), value, read: Some(to), switched, ..Effect::default() })
    }

    /// Write and CAS: the three insertions.
    fn write(
        &self,
        state: &mut State,
        p: usize,
        write: Write,
        place: Place,
        effect: Effect,
    ) -> Result<Effect, &'static str> {
        let Write { cell, value, order, read } = write;
        let (from, to) = self.interval(state, p, cell, place)?;
        let process = &state.processes[p];
        match &read {
            Some(read) if read.to != from => return Err("the message does not touch the one that was read"),
            None if process.view[cell] > from => return Err("the thread has seen a newer message"),
            _ => {}
        }
        let mut view = match order.releases() {
            true => process.view.clone(),
            false => process.released[cell].clone(),
        };
        if let Some(read) = &read {
            view = join(&view, &read.view);
        }
        if !self.publishes {
            view.fill(0);
        }
        view[cell] = to;
        let own = state.messages.iter().any(|m| m.promised == Some(p) && m.cell == cell);
        if order.releases() && own {
            return Err("a release write with a promise on the same cell");
        }
        let message = Message { cell, value: Some(value), from, to, view: view.clone(), promised: None };
        match place {
            Place::Gap { .. } | Place::Fill { .. } => additive(state, message)?,
            Place::Split(_) => splitting(state, p, message)?,
            Place::Fulfil(_) => {
                let promise = Message { promised: Some(p), ..message };
                let found = state.messages.iter_mut().find(|m| **m == promise);
                found.ok_or("the promise says something else")?.promised = None;
            }
        }
        let process = &mut state.processes[p];
        process.view[cell] = to;
        process.acquired = join(&process.acquired, &process.view);
        if order.releases() {
            process.released[cell] = process.view.clone();
        }
        let fulfilled = matches!(place, Place::Fulfil(_));
        Ok(Effect { cell: Some(cell), wrote: Some((from, to)), fulfilled, ..effect })
    }

    fn fence(
        &self,
        state: &mut State,
        p: usize,
        kind: FenceKind,
        mode: Mode,
    ) -> Result<Effect, &'static str> {
        if kind == FenceKind::Sc && mode != Mode::Run {
            return Err("an SC fence while certifying");
        }
        let releases = matches!(kind, FenceKind::Release | FenceKind::AcquireRelease | FenceKind::Sc);
        let acquires = matches!(kind, FenceKind::Acquire | FenceKind::AcquireRelease | FenceKind::Sc);
        if releases && state.messages.iter().any(|m| m.promised == Some(p)) {
            return Err("a release fence with a promise to fulfil");
        }
        let process = &mut state.processes[p];
        if acquires {
            process.view = process.acquired.clone();
        }
        if kind == FenceKind::Sc {
            process.view = join(&process.view, &state.global);
            process.acquired = process.view.clone();
            state.global = process.view.clone();
        }
        if releases {
            process.released = vec![process.view.clone(); process.view.len()];
        }
        Ok(self.finish(state, p, Value::ZERO, false, Effect::default()))
    }

    fn spawn(
        &self,
        state: &mut State,
        p: usize,
        function: u32,
        args: &[Value],
    ) -> Result<Effect, &'static str> {
        let number = state.processes.len();
        if number >= self.steps.code.max_threads {
            state.processes[p].local.status = Status::Failed(FaultKind::TooManyThreads);
            return Ok(Effect::default());
        }
        let local = self.steps.start(function, args, number, &mut Vec::new());
        let child = process(local, state.processes[p].view.clone());
        state.processes.push(child);
        Ok(self.finish(state, p, Value(number as u64), false, Effect::default()))
    }

    fn join(&self, state: &mut State, p: usize, other: Value) -> Result<Effect, &'static str> {
        let Some(ended) = usize::try_from(other.0).ok().and_then(|other| state.processes.get(other)) else {
            state.processes[p].local.status = Status::Failed(FaultKind::BadJoin);
            return Ok(Effect::default());
        };
        let Status::Ended(result) = ended.local.status else { return Err("the other thread has not ended") };
        let view = ended.view.clone();
        let process = &mut state.processes[p];
        process.view = join(&process.view, &view);
        process.acquired = join(&process.acquired, &view);
        Ok(self.finish(state, p, result.unwrap_or_default(), false, Effect::default()))
    }

    /// Can the thread, alone, fulfil its promises, as the notion of consistency wants it?
    pub fn is_consistent(&self, state: &State, p: usize) -> bool {
        if !state.messages.iter().any(|m| m.promised == Some(p)) {
            return true;
        }
        let mut state = state.clone();
        self.skip_assertions(&mut state.processes[p].local);
        match self.consistency {
            Consistency::Strong => self.certifies(state, p, Mode::Strong),
            Consistency::Standard => {
                self.futures(state).into_iter().all(|future| self.certifies(future, p, Mode::Standard))
            }
        }
    }

    /// Every memory in which each gap, and the end of each cell, is as it was or filled with a value of the domain.
    fn futures(&self, state: State) -> Vec<State> {
        let mut all = vec![state.clone()];
        for cell in 0..state.global.len() {
            for number in 0..Self::newest_first(&state, cell).len() {
                let low = state.messages[Self::newest_first(&state, cell)[number]].to;
                let above = number
                    .checked_sub(1)
                    .map(|next| state.messages[Self::newest_first(&state, cell)[next]].from);
                if above == Some(low) {
                    continue;
                }
                let (from, to) = (low, above.unwrap_or(low + FAR));
                let newest = all.clone();
                for (before, &value) in newest.iter().flat_map(|s| self.domain.iter().map(move |v| (s, v))) {
                    let mut future = before.clone();
                    let view: Vec<Time> = vec![Time::MAX; state.global.len()];
                    let message = Message { cell, value: Some(value), from, to, view, promised: None };
                    future.messages.push(message);
                    all.push(future);
                }
            }
        }
        all.iter_mut().for_each(know_everything);
        all
    }

    fn skip_assertions(&self, local: &mut Local) {
        while local.status == Status::Failed(FaultKind::Assertion)
            && matches!(self.steps.instr(local), Some(Instr::Assert { .. }))
        {
            local.status = Status::Running;
            local.frames.last_mut().expect("a thread has a frame").pc += 1;
            self.steps.settle(local, &mut Vec::new());
        }
    }

    /// Depth first over all steps that certification may use.
    fn certifies(&self, state: State, p: usize, mode: Mode) -> bool {
        let mut open = vec![state];
        let mut met: Vec<State> = Vec::new();
        while let Some(state) = open.pop() {
            if !state.messages.iter().any(|m| m.promised == Some(p)) {
                return true;
            }
            // Loops that only read come back to the same state.
            if met.contains(&state) {
                continue;
            }
            for action in self.choices(&state, p, mode) {
                let mut next = state.clone();
                if self.step(&mut next, p, action, mode).is_ok() {
                    self.skip_assertions(&mut next.processes[p].local);
                    open.push(next);
                }
            }
            met.push(state);
        }
        false
    }

    /// Everything that a thread might do next; most of it fails.
    fn choices(&self, state: &State, p: usize, mode: Mode) -> Vec<Action> {
        let local = &state.processes[p].local;
        let next = self.steps.next(local);
        let cell = match next {
            Next::Load(cell) | Next::Await(cell) | Next::Store(cell, _) | Next::Update(cell) => {
                cell.0 as usize
            }
            Next::Choose(first, last) if last.saturating_sub(first) > MAX_CHOICES => return Vec::new(),
            Next::Choose(first, last) => {
                return (first..=last).map(|value| Action::Internal(Value::from_i64(value))).collect();
            }
            _ => return vec![Action::Internal(Value::ZERO)],
        };
        let count = Self::newest_first(state, cell).len();
        let mut choices = Vec::new();
        let update = matches!(next, Next::Update(_));
        for number in 0..count {
            choices.push(Action::Read { message: number, spurious: false });
            choices.push(Action::Read { message: number, spurious: true });
        }
        let mut places: Vec<Place> = (0..count).flat_map(|n| [Place::Split(n), Place::Fulfil(n)]).collect();
        let additive = match mode {
            Mode::Strong => 0..usize::from(!update),
            Mode::Run | Mode::Standard => 0..count,
        };
        for (after, adjacent) in additive.flat_map(|after| [(after, false), (after, true)]) {
            places.push(Place::Gap { after, adjacent });
            // Nothing is above what goes to the end.
            if mode != Mode::Strong {
                places.push(Place::Fill { after, adjacent });
            }
        }
        choices.extend(places.iter().map(|&place| Action::Write(place)));
        choices.extend((0..count).flat_map(|n| places.iter().map(move |&place| Action::Update(n, place))));
        choices
    }

    /// All moves that lead to a state in which every thread is consistent: the machine relation itself, for the tests.
    pub fn successors(&self, state: &State, promises: &[(usize, Value)]) -> Vec<(Move, State)> {
        let mut all = Vec::new();
        for p in 0..state.processes.len() {
            let thread = p as u8;
            let steps = self.choices(state, p, Mode::Run).into_iter().map(Act::Step);
            let mut acts: Vec<Act> = steps.collect();
            for &(cell, value) in promises {
                for number in 0..Self::newest_first(state, cell).len() {
                    let places = [
                        Place::Gap { after: number, adjacent: false },
                        Place::Gap { after: number, adjacent: true },
                        Place::Fill { after: number, adjacent: false },
                        Place::Fill { after: number, adjacent: true },
                        Place::Split(number),
                    ];
                    acts.extend(places.map(|place| Act::Promise { cell, value, place, passes_on: None }));
                }
            }
            for act in acts {
                let mut next = state.clone();
                let step = Move { thread, act };
                if self.apply(&mut next, &step).is_ok() {
                    all.push((step, next));
                }
            }
        }
        all
    }

    /// The value of a cell at the end of a run.
    pub fn last_value(&self, state: &State, cell: usize) -> Option<Value> {
        Self::newest_first(state, cell).first().and_then(|&i| state.messages[i].value)
    }

    /// The values that a final condition observes.
    pub fn observed(&self, state: &State, condition: &FinalCondition) -> Vec<Value> {
        let value = |observable: &Observable| match *observable {
            Observable::Register { thread, reg } => {
                state.processes[thread.0 as usize].local.frames[0].regs[reg.0 as usize]
            }
            Observable::Memory { object, offset, width } => {
                let cell = self.steps.code.cell(Value::pointer(object, offset), width);
                let value = cell.and_then(|cell| self.last_value(state, cell.0 as usize));
                width.sign_extend(value.unwrap_or_default())
            }
        };
        condition.observed.iter().map(value).collect()
    }
}

/// The messages of others publish everything that there is.
fn know_everything(state: &mut State) {
    let newest = |cell| state.messages.iter().filter(|m| m.cell == cell).map(|m| m.to).max().unwrap_or(0);
    let everything: Vec<Time> = (0..state.global.len()).map(newest).collect();
    let others = state.messages.iter_mut().filter(|m| m.view.first() == Some(&Time::MAX));
    others.for_each(|m| m.view.clone_from(&everything));
}

struct Write {
    cell: usize,
    value: Value,
    order: Order,
    read: Option<Message>,
}

fn process(local: Local, view: Vec<Time>) -> Process {
    let released = vec![vec![0; view.len()]; view.len()];
    Process { local, acquired: view.clone(), view, released }
}

/// Additive insertion: the message is disjoint from all others.
fn additive(state: &mut State, message: Message) -> Result<(), &'static str> {
    let disjoint = |m: &Message| m.cell != message.cell || m.to <= message.from || message.to <= m.from;
    if !state.messages.iter().all(disjoint) {
        return Err("the message overlaps another one");
    }
    state.messages.push(message);
    Ok(())
}

/// Splitting insertion: an own promise with the same beginning gives its lower part away.
fn splitting(state: &mut State, p: usize, message: Message) -> Result<(), &'static str> {
    let split = |m: &&mut Message| {
        m.promised == Some(p) && m.cell == message.cell && m.from == message.from && message.to < m.to
    };
    state.messages.iter_mut().find(split).ok_or("there is no promise to split")?.from = message.to;
    state.messages.push(message);
    Ok(())
}
