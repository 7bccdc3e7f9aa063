//! When the steps of `main` run: before there are other threads, with them, or after all of them have ended.
//!
//! What `main` does alone needs no interleaving and no memory model. Programs in which the three parts cannot be told apart are
//! refused.

use super::{Flat, FlatThread, Op, Unsupported};
use crate::program::Operand;

/// When a step of a thread runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Before any other thread exists.
    Before,
    /// Together with others.
    During,
    /// After all others have ended.
    After,
}

/// Splits the first thread into what runs before, with and after the threads that it starts.
pub fn phases(flat: &Flat) -> Result<Vec<Phase>, Unsupported> {
    let spawns = |thread: &FlatThread| thread.code.iter().any(|step| matches!(step.op, Op::Spawn(_)));
    let Some(main) = flat.threads.first() else { return Ok(Vec::new()) };
    if let Some(thread) = flat.threads.iter().skip(1).find(|thread| spawns(thread)) {
        let span = thread.code[0].span;
        return Err(Unsupported { what: "a thread that is started by another than `main`".into(), span });
    }
    if !spawns(main) {
        return Ok(Vec::new());
    }
    let n = main.code.len();
    let mut phases: Vec<Option<Phase>> = vec![None; n + 1];
    // In the middle part, whether memory was used already.
    let mut used = vec![false; n + 1];
    phases[0] = Some(Phase::Before);
    for at in 0..n {
        let step = &main.code[at];
        let Some(mut phase) = phases[at] else { continue };
        let refuse = |what: &str| Err(Unsupported { what: what.into(), span: step.span });
        let mut uses = used[at];
        match &step.op {
            Op::Spawn(_) if phase == Phase::After || uses => {
                return refuse("a thread that is started after its parent has used memory beside others");
            }
            Op::Spawn(_) => phase = Phase::During,
            Op::Join { .. } => phase = Phase::After,
            Op::Load { .. } | Op::Store { .. } | Op::Fence(_) => uses |= phase == Phase::During,
            _ => {}
        }
        let mut to = vec![step.next];
        if let Op::Branch { other, .. } = step.op {
            to.push(other);
        }
        for to in to {
            let to = to as usize;
            used[to] |= uses;
            match phases[to] {
                None => phases[to] = Some(phase),
                Some(known) if known == phase => {}
                // Ends of the thread meet in any phase.
                Some(_) if to == n || matches!(main.code[to].op, Op::Cut) => {}
                Some(_) => return refuse("threads that are started or joined on some ways only"),
            }
        }
    }
    joined_before_use(main, &phases)?;
    Ok(phases.into_iter().map(|phase| phase.unwrap_or(Phase::After)).collect())
}

/// After the first join nothing may touch memory before all threads were joined.
fn joined_before_use(main: &FlatThread, phases: &[Option<Phase>]) -> Result<(), Unsupported> {
    let threads = main.code.iter().filter(|step| matches!(step.op, Op::Spawn(_))).count();
    let n = main.code.len();
    let mut joined: Vec<Option<u64>> = vec![None; n + 1];
    for at in 0..n {
        let step = &main.code[at];
        if phases[at].is_none() {
            continue;
        }
        let mut now = joined[at].unwrap_or(0);
        match &step.op {
            Op::Join { thread: Operand::Const(number), .. } if number.0 < 64 => now |= 1 << number.0,
            Op::Join { .. } => {
                let what = "a join of a thread that is not known in advance".into();
                return Err(Unsupported { what, span: step.span });
            }
            Op::Load { .. } | Op::Store { .. } | Op::Fence(_)
                if phases[at] == Some(Phase::After) && (now.count_ones() as usize) < threads =>
            {
                let what = "a use of memory between joins".into();
                return Err(Unsupported { what, span: step.span });
            }
            _ => {}
        }
        let mut to = vec![step.next];
        if let Op::Branch { other, .. } = step.op {
            to.push(other);
        }
        for to in to {
            let known = joined[to as usize].map_or(now, |known| known & now);
            joined[to as usize] = Some(known);
        }
    }
    Ok(())
}
