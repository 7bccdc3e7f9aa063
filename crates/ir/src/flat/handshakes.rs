//! Threads that are started and joined anywhere, by memory: a start and an end are stores that the other side waits for.
//!
//! [`super::phases`] takes threads that `main` starts before it uses memory beside them, and joins when it does nothing else any
//! more: these cost no steps. Any other start becomes `sync; started = 1` of
//! the parent, and the child begins with `assume(started); isync`. Any other join becomes `assume(ended); isync`, and the child
//! ends with `result = ...; sync; ended = 1`. That is what `pthread_create` and
//! `pthread_join` promise: all that the one side did or saw before is there for the other. A thread that is started on some ways
//! only may also find that it was not started, and do nothing.

use super::{Flat, FlatThread, Op, Step, Unsupported};
use crate::fence::Fence;
use crate::program::{Extend, Object, ObjectId, Operand, Reg, Width};
use crate::value::Value;
use fencepost_diag::Span;

/// The program with handshakes where threads cannot be started and joined otherwise.
pub fn with_handshakes(flat: Flat) -> Result<Flat, Unsupported> {
    if super::phases(&flat).is_ok() {
        return Ok(flat);
    }
    let plan = Plan::of(&flat)?;
    let mut flat = flat;
    let cells: Vec<Flags> =
        (0..flat.threads.len()).map(|child| Flags::new(&mut flat, &plan, child)).collect();
    for thread in 0..flat.threads.len() {
        let written = Writer { plan: &plan, cells: &cells, thread }.write(&flat.threads[thread]);
        flat.threads[thread] = written;
    }
    Ok(flat)
}

/// Threads as bits.
type Set = u64;

/// Which starts and joins are handshakes.
struct Plan {
    /// Children that wait for their start.
    started: Set,
    /// Children that are started on every way.
    certain: Set,
    /// Children that say when they end.
    ended: Set,
    /// Joins of `main` that need no handshake, by step.
    plain_joins: Vec<bool>,
}

impl Plan {
    fn of(flat: &Flat) -> Result<Plan, Unsupported> {
        let all = (1u64 << flat.threads.len()) - 1;
        let others = all & !1;
        for step in flat.threads.iter().flat_map(|thread| &thread.code) {
            if let Op::Join { thread, .. } = &step.op
                && !matches!(thread, Operand::Const(number) if (number.0 as usize) < flat.threads.len())
            {
                let what = "a join of a thread that is not known in advance".into();
                return Err(Unsupported { what, span: step.span });
            }
        }
        let at_ends = |of: fn(&Op) -> Set| -> Vec<Set> {
            flat.threads
                .iter()
                .map(|thread| on_all_ways(thread, of).last().copied().flatten().unwrap_or(0))
                .collect()
        };
        let (spawns, joins) = (at_ends(spawned), at_ends(joined));
        let roots = (0..).zip(&flat.threads).filter(|(_, thread)| thread.parent.is_none());
        let mut certain = roots.fold(0, |set, (number, _): (u32, _)| set | 1 << number);
        while let more = close(certain, &spawns)
            && more != certain
        {
            certain = more;
        }
        let plain_starts = plain_starts(&flat.threads[0]);
        // What has ended at each step of `main`: what it has joined, and what that has joined.
        let ended = |set: Set| {
            let mut set = set;
            while let more = close(set, &joins)
                && more != set
            {
                set = more;
            }
            set & certain
        };
        let known: Vec<Set> =
            on_all_ways(&flat.threads[0], joined).iter().map(|set| ended(set.unwrap_or(all))).collect();
        let plain_joins = plain_joins(&flat.threads[0], &known, others);
        let mut plan = Plan { started: 0, certain, ended: 0, plain_joins };
        for (t, thread) in flat.threads.iter().enumerate() {
            for (at, step) in thread.code.iter().enumerate() {
                match step.op {
                    Op::Spawn(child) if t > 0 || plain_starts & (1 << child) == 0 => {
                        plan.started |= 1 << child
                    }
                    Op::Join { thread: Operand::Const(child), .. } if t > 0 || !plan.plain_joins[at] => {
                        plan.ended |= 1 << child.0;
                    }
                    _ => {}
                }
            }
        }
        Ok(plan)
    }
}

fn spawned(op: &Op) -> Set {
    match op {
        Op::Spawn(child) => 1 << child,
        _ => 0,
    }
}

fn joined(op: &Op) -> Set {
    match op {
        Op::Join { thread: Operand::Const(child), .. } => 1 << child.0,
        _ => 0,
    }
}

/// The set and what its members have on all their ways.
fn close(set: Set, of: &[Set]) -> Set {
    (0u32..).zip(of).filter(|(number, _)| set & (1 << number) != 0).fold(set, |set, (_, more)| set | more)
}

/// What was met on all ways to each step; the last one is the end. `None` where no way leads to.
fn on_all_ways(thread: &FlatThread, of: fn(&Op) -> Set) -> Vec<Option<Set>> {
    let mut sets: Vec<Option<Set>> = vec![None; thread.code.len() + 1];
    sets[0] = Some(0);
    for (at, step) in thread.code.iter().enumerate() {
        let (Some(set), false) = (sets[at], step.op == Op::Cut) else { continue };
        for to in successors(step) {
            let set = set | of(&step.op);
            sets[to] = Some(sets[to].map_or(set, |known| known & set));
        }
    }
    sets
}

fn successors(step: &Step) -> impl Iterator<Item = usize> {
    let other = match step.op {
        Op::Branch { other, .. } => Some(other as usize),
        _ => None,
    };
    [step.next as usize].into_iter().chain(other)
}

fn uses_memory(op: &Op) -> bool {
    matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Fence(_))
}

/// The children that `main` starts one after the other, with nothing between that others could notice.
fn plain_starts(main: &FlatThread) -> Set {
    let mut started = 0;
    let Some(mut at) = main.code.iter().position(|step| matches!(step.op, Op::Spawn(_))) else { return 0 };
    // The first start is on every way, or the first part of `main` cannot be told apart.
    let branches = main.code[..at].iter().any(|step| matches!(step.op, Op::Branch { .. } | Op::Cut));
    if branches
        && on_all_ways(main, spawned).last().copied().flatten().unwrap_or(0) & spawned(&main.code[at].op) == 0
    {
        return 0;
    }
    while let Some(step) = main.code.get(at) {
        match step.op {
            Op::Spawn(child) => started |= 1 << child,
            Op::Skip | Op::Assign { .. } | Op::Assert { .. } => {}
            _ => break,
        }
        at = step.next as usize;
    }
    started
}

/// The joins of `main` behind which it uses no memory, and starts nothing, before all others have ended.
fn plain_joins(main: &FlatThread, known: &[Set], others: Set) -> Vec<bool> {
    let n = main.code.len();
    // Backwards: memory is used from here on before all have ended.
    let mut uses = vec![false; n + 1];
    for (at, step) in main.code.iter().enumerate().rev() {
        let over = known[at] & others == others;
        let here = uses_memory(&step.op) || matches!(step.op, Op::Spawn(_));
        uses[at] = !over && (here || successors(step).any(|to| uses[to]));
    }
    // Where `main` ends before all others have, it does not wait for them.
    let mut waits = vec![false; n + 1];
    waits[n] = known[n] & others == others;
    for (at, step) in main.code.iter().enumerate().rev() {
        waits[at] = step.op == Op::Cut || successors(step).all(|to| waits[to]);
    }
    let plain = |(at, step): (usize, &Step)| {
        matches!(step.op, Op::Join { .. }) && !uses[step.next as usize] && waits[at]
    };
    let found: Vec<bool> = main.code.iter().enumerate().map(plain).collect();
    // `main` runs alone behind its joins, or beside others to its end.
    let joins = main.code.iter().filter(|step| matches!(step.op, Op::Join { .. })).count();
    let all = found.iter().filter(|plain| **plain).count() == joins;
    if all { found } else { vec![false; n] }
}

/// The cells of a child's handshakes.
#[derive(Clone, Copy, Default)]
struct Flags {
    start: Option<ObjectId>,
    end: Option<(ObjectId, ObjectId)>,
}

impl Flags {
    fn new(flat: &mut Flat, plan: &Plan, child: usize) -> Flags {
        let span = flat.threads[child].code.first().map_or(Span::default(), |step| step.span);
        let name = flat.threads[child].name.clone();
        let mut make = |what: &str, width: Width| {
            flat.objects.push(Object::scalar(format!("{what} {name}"), width, Value::ZERO, span));
            ObjectId(flat.objects.len() as u32 - 1)
        };
        let has = |set: Set| set & (1 << child) != 0;
        Flags {
            start: has(plan.started).then(|| make("start of", Width::W32)),
            end: has(plan.ended).then(|| (make("end of", Width::W32), make("result of", Width::W64))),
        }
    }
}

/// Writes a thread anew.
struct Writer<'a> {
    plan: &'a Plan,
    cells: &'a [Flags],
    thread: usize,
}

fn cell(object: ObjectId) -> Operand {
    Operand::Const(Value::pointer(object, 0))
}

fn load(dst: Reg, object: ObjectId, width: Width) -> Op {
    Op::Load { dst, addr: cell(object), width, extend: Extend::Zero, reserve: false }
}

fn store(object: ObjectId, value: Operand, width: Width) -> Op {
    Op::Store { addr: cell(object), value, width, paired: false }
}

impl Writer<'_> {
    fn write(&self, old: &FlatThread) -> FlatThread {
        let mut thread = FlatThread { code: Vec::new(), ..old.clone() };
        let mine = self.cells[self.thread];
        let first = self.prelude(&mut thread, mine, old);
        let mut places = Vec::with_capacity(old.code.len() + 1);
        for (at, step) in old.code.iter().enumerate() {
            places.push(thread.code.len() as u32);
            let ops = self.lowered(&mut thread, at, step);
            let last = ops.len() - 1;
            for (i, op) in ops.into_iter().enumerate() {
                // Targets are still those of the old code, past its end: they are moved below.
                let next = if i == last { step.next } else { u32::MAX };
                thread.code.push(Step { op, next, span: step.span });
            }
        }
        places.push(thread.code.len() as u32);
        for at in first..thread.code.len() {
            let next = thread.code[at].next;
            thread.code[at].next = if next == u32::MAX { at as u32 + 1 } else { places[next as usize] };
            if let Op::Branch { other, .. } = &mut thread.code[at].op {
                *other = places[*other as usize];
            }
        }
        self.epilogue(&mut thread, mine, old);
        // A thread that was not started goes to the very end.
        let end = thread.code.len() as u32;
        for step in &mut thread.code[..first] {
            if let Op::Branch { other, .. } = &mut step.op {
                *other = end;
            }
        }
        if mine.start.is_some() {
            thread.parent = None;
        }
        thread
    }

    /// Waits for the start. Returns how many steps that takes.
    fn prelude(&self, thread: &mut FlatThread, mine: Flags, old: &FlatThread) -> usize {
        let Some(start) = mine.start else { return 0 };
        let span = old.code.first().map_or(Span::default(), |step| step.span);
        let started = new_reg(thread);
        let condition = started.into();
        let waits = match self.plan.certain & (1 << self.thread) != 0 {
            true => Op::Assume(condition),
            false => Op::Branch { condition, other: 0 },
        };
        for op in [load(started, start, Width::W32), waits, Op::Fence(Fence::Isync)] {
            let next = thread.code.len() as u32 + 1;
            thread.code.push(Step { op, next, span });
        }
        thread.code.len()
    }

    /// Says that the thread has ended.
    fn epilogue(&self, thread: &mut FlatThread, mine: Flags, old: &FlatThread) {
        let Some((end, result)) = mine.end else { return };
        let span = old.code.last().map_or(Span::default(), |step| step.span);
        let (value, one) = (old.result.into(), Operand::Const(Value(1)));
        for op in [store(result, value, Width::W64), Op::Fence(Fence::Sync), store(end, one, Width::W32)] {
            let next = thread.code.len() as u32 + 1;
            thread.code.push(Step { op, next, span });
        }
    }

    fn lowered(&self, thread: &mut FlatThread, at: usize, step: &Step) -> Vec<Op> {
        match &step.op {
            Op::Spawn(child) => match self.cells[*child].start {
                Some(start) => {
                    vec![Op::Fence(Fence::Sync), store(start, Operand::Const(Value(1)), Width::W32)]
                }
                None => vec![step.op.clone()],
            },
            Op::Join { thread: Operand::Const(child), dst } => {
                let (Some((end, result)), false) =
                    (self.cells[child.0 as usize].end, self.thread == 0 && self.plan.plain_joins[at])
                else {
                    return vec![step.op.clone()];
                };
                let ended = new_reg(thread);
                let mut ops =
                    vec![load(ended, end, Width::W32), Op::Assume(ended.into()), Op::Fence(Fence::Isync)];
                ops.extend(dst.map(|dst| load(dst, result, Width::W64)));
                ops
            }
            op => vec![op.clone()],
        }
    }
}

fn new_reg(thread: &mut FlatThread) -> Reg {
    thread.regs += 1;
    Reg(thread.regs - 1)
}
