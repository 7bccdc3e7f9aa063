//! Which registers matter when a thread is back at a read: those that may be used before they are written.
//!
//! A thread that is back at a read with the same values in these, in each of its frames, having changed nothing, has made an
//! iteration for nothing (`idle.rs`). Loop counters do not count, since bounding a loop must not hide that it spins.

use crate::threads::code::{Arg, CasRead, Code, Op, Target};
use crate::threads::effect::Private;
use fencepost_ir::Order;

/// For each operation that reads memory and may be run again, or chooses how a compare-exchange will end, and for each one
/// that a call returns to: its live registers. Per function, `counters` do not matter and `observed` matter at the end.
pub fn live_registers(code: &Code, counters: &[Vec<u16>], observed: &[Vec<u16>]) -> Vec<Option<Box<[u64]>>> {
    let mut result = vec![None; code.ops.len()];
    let repeated = repeated_operations(code);
    for (index, function) in code.functions.iter().enumerate() {
        let first = function.entry as usize;
        let end = code.functions.get(index + 1).map_or(code.ops.len(), |next| next.entry as usize);
        let is_return_point = |at: usize| at > first && matches!(code.ops[at - 1], Op::Call { .. });
        let wanted = |at: usize| {
            let reads = matches!(code.ops[at], Op::Load { .. } | Op::Choice { exchange: true, .. });
            (reads && repeated[at]) || is_return_point(at)
        };
        if !(first..end).any(wanted) {
            continue;
        }
        let live = live_before(code, first, end, function.frame as usize, &observed[index]);
        for (i, mut set) in live.into_iter().enumerate().filter(|(i, _)| wanted(first + i)) {
            counters[index].iter().for_each(|&c| set[c as usize / 64] &= !(1 << (c % 64)));
            result[first + i] = Some(set.into_boxed_slice());
        }
    }
    result
}

/// Whether a read may be run more than once, and whether one that is not atomic may.
pub fn repeats_reads(code: &Code) -> (bool, bool) {
    let order = |(op, repeated): (&Op, bool)| match op {
        Op::Load { ann, .. } | Op::LoadPiece { ann, .. } if repeated => Some(ann.order),
        _ => None,
    };
    let mut repeated = code.ops.iter().zip(repeated_operations(code)).filter_map(order).peekable();
    (repeated.peek().is_some(), repeated.any(|order| order == Order::Plain))
}

/// Operations that a thread may run more than once: those in loops, and in functions that are called in loops.
fn repeated_operations(code: &Code) -> Vec<bool> {
    let end_of = |f: usize| code.functions.get(f + 1).map_or(code.ops.len(), |next| next.entry as usize);
    let mut repeated = vec![false; code.ops.len()];
    for (f, function) in code.functions.iter().enumerate() {
        let first = function.entry as usize;
        let inside = loop_ranges(&code.ops[first..end_of(f)], first);
        repeated[first..end_of(f)].copy_from_slice(&inside);
    }
    let mut todo: Vec<usize> = (0..code.ops.len()).filter(|&pc| repeated[pc]).collect();
    let mut done = vec![false; code.functions.len()];
    while let Some(pc) = todo.pop() {
        let Op::Call { target, .. } = code.ops[pc] else { continue };
        let called = match target {
            Target::Function(f) => f as usize..f as usize + 1,
            Target::Pointer(_) => 0..code.functions.len(),
        };
        for f in called {
            if !std::mem::replace(&mut done[f], true) {
                let ops = code.functions[f].entry as usize..end_of(f);
                repeated[ops.clone()].fill(true);
                todo.extend(ops);
            }
        }
    }
    repeated
}

/// Operations between the target and the source of a jump backwards.
fn loop_ranges(ops: &[Op], first: usize) -> Vec<bool> {
    let mut inside = vec![false; ops.len()];
    for (i, op) in ops.iter().enumerate() {
        for target in op.targets().into_iter().flatten() {
            let target = target as usize - first;
            if target <= i {
                inside[target..=i].fill(true);
            }
        }
    }
    inside
}

/// The reads after which a thread may wait or fail an assumption before its next event, or be back in a loop.
pub fn may_wait(code: &Code) -> Vec<bool> {
    // Where something of the kind may come before the next event; calls and returns may lead anywhere.
    let waits = |op: &Op| {
        matches!(
            op,
            Op::Wait(_)
                | Op::Assume(_)
                | Op::Agree { .. }
                | Op::Round(Some(_))
                | Op::Call { .. }
                | Op::Return(_)
        )
    };
    let mut ahead: Vec<bool> = code.ops.iter().map(waits).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (pc, op) in code.ops.iter().enumerate().rev() {
            let goes_on = op.falls_through().then_some(pc + 1);
            let mut next = op.targets().into_iter().flatten().map(|to| to as usize).chain(goes_on);
            let passes = !op.is_event() || matches!(op, Op::Fence(_) | Op::Skip { .. });
            if !ahead[pc] && passes && next.any(|to| ahead.get(to) == Some(&true)) {
                ahead[pc] = true;
                changed = true;
            }
        }
    }
    let waits_after = |pc: usize| code.live[pc].is_some() || ahead.get(pc + 1) == Some(&true);
    let waits = |(pc, op): (usize, &Op)| match *op {
        Op::Load { failure: Some(CasRead { other: Some((other, _)), .. }), .. } => {
            waits_after(pc) || waits_after(other as usize)
        }
        Op::Load { .. } => waits_after(pc),
        _ => false,
    };
    code.ops.iter().enumerate().map(waits).collect()
}

/// The words of a private object in its frame.
fn private_words(code: &Code, object: u16) -> std::ops::Range<usize> {
    let private = &code.privates[object as usize];
    private.at as usize..(private.at + private.words()) as usize
}

/// Live registers before each operation: the least solution of live = use | (live after \ def). Those of `observed` are
/// looked at when the thread ends, which it may do in a call too.
fn live_before(code: &Code, first: usize, end: usize, frame: usize, observed: &[u16]) -> Vec<Vec<u64>> {
    let words = frame.div_ceil(64);
    let mut live = vec![vec![0u64; words]; end - first + 1];
    let mut changed = true;
    while changed {
        changed = false;
        for i in (0..end - first).rev() {
            let op = &code.ops[first + i];
            let mut set = if op.falls_through() { live[i + 1].clone() } else { vec![0; words] };
            for target in op.targets().into_iter().flatten() {
                let other = live[target as usize - first].clone();
                set.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
            }
            let defined = op.defines() as usize;
            if defined != 0 {
                set[defined / 64] &= !(1 << (defined % 64));
            }
            match op.effect().private {
                Private::Begins(object) => {
                    private_words(code, object).for_each(|r| set[r / 64] &= !(1 << (r % 64)));
                }
                Private::Uses(object) => {
                    private_words(code, object).for_each(|r| set[r / 64] |= 1 << (r % 64));
                }
                Private::None => {}
            }
            if matches!(op, Op::Return(_) | Op::Exit(_) | Op::Halt | Op::Call { .. }) {
                observed.iter().for_each(|&r| set[r as usize / 64] |= 1 << (r % 64));
            }
            op.for_each_use(&code.lists, |used| {
                if let Arg::Reg(r) = used {
                    set[r as usize / 64] |= 1 << (r % 64);
                }
            });
            if set != live[i] {
                live[i] = set;
                changed = true;
            }
        }
    }
    live.pop();
    live
}
