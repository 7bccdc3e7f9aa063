//! Runs that follow a guide: which thread executed which instruction, in which order.
//!
//! A reduction to SC keeps the order in which the threads move and says nothing about when a store reaches memory. [`trail`]
//! reads that order off a run of the reduced program, and [`lift`] finds the moments for the stores: the instructions are
//! taken as the guide says, and only the buffers have a choice. So a bug of the reduced program becomes a run of the source
//! without a search over schedules.

use crate::buffers::{Action, Move, confirm_moves};
use crate::code::Code;
use crate::config::{Config, Model};
use crate::local::{Local, Status};
use crate::plain::{Plain, State};
use crate::step::Executed;
use fencepost_answer::Finding;
use fencepost_ir::{Instr, Value};
use rustc_hash::FxHashSet;

/// Most configurations that are looked at: a run of a hundred steps has some thousand.
const MOST_STATES: usize = 1 << 20;

/// An instruction that a thread executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// The thread.
    pub thread: u8,
    /// The function.
    pub function: u32,
    /// The instruction.
    pub pc: u32,
    /// What it chose, if it is a choice.
    pub choice: Value,
    /// A weak compare-exchange that failed for no reason.
    pub spurious: bool,
}

/// The instructions of a run that others can notice, in the order in which they were executed.
pub fn trail(code: &Code<'_>, config: &Config, moves: &[Move]) -> Result<Vec<Visit>, &'static str> {
    let plain = Plain::new(code, config);
    let (mut state, logs) = plain.start();
    let mut visits = Vec::new();
    let mut record = |thread: u8, log: &[Executed], (choice, spurious)| {
        for (i, done) in log.iter().enumerate() {
            let (choice, spurious) = if i == 0 { (choice, spurious) } else { (Value::ZERO, false) };
            visits.push(Visit { thread, function: done.function, pc: done.pc, choice, spurious });
        }
    };
    for (thread, log) in (0u8..).zip(&logs) {
        record(thread, log, (Value::ZERO, false));
    }
    for &step in moves {
        let done = plain.apply(&mut state, step)?.executed;
        let chosen = match step.action {
            Action::Step { choice, spurious } => (choice, spurious),
            Action::Flush(_) => (Value::ZERO, false),
        };
        record(step.thread, &done, chosen);
    }
    Ok(visits)
}

/// A run of the program under TSO that executes what the guide says and in whose end something is wrong; it is confirmed as
/// every run is. With `prelude`, the first thread may move without a guide until the guide first speaks of it: the guide
/// comes from a program whose beginning was run in advance.
pub fn lift(code: &Code<'_>, c: bool, guide: &[Visit], prelude: bool) -> Result<Finding, String> {
    let mut config = Config::new(Model::Tso);
    config.c = c;
    let plain = Plain::new(code, &config);
    let start = Node { state: plain.initial(), at: 0, free: prelude, came: None };
    let (mut nodes, mut open, mut seen) = (vec![start], vec![0], FxHashSet::default());
    let mut refused = String::from("no moments for the stores give this run");
    while let Some(at) = open.pop() {
        if nodes.len() > MOST_STATES {
            return Err("there are too many moments for the stores".into());
        }
        nodes[at].at = skip(code, &nodes[at].state, guide, nodes[at].at);
        if !seen.insert((nodes[at].at, nodes[at].free, nodes[at].state.clone())) {
            continue;
        }
        let failed = |status: &Status| matches!(status, Status::Failed(kind) if !kind.is_limit());
        let over = nodes[at].at == guide.len() && nodes[at].state.threads.iter().all(|t| t.buffer.is_empty());
        if over || nodes[at].state.threads.iter().any(|local| failed(&local.status)) {
            match confirm_moves(code, &config, &path(&nodes, at)) {
                Ok(finding) => return Ok(finding),
                Err(why) => refused = why,
            }
        }
        // What is pushed last is tried first: the guide's next instruction.
        for (step, next, free) in moves(code, &nodes[at], guide) {
            let mut state = nodes[at].state.clone();
            if plain.apply(&mut state, step).is_ok() {
                nodes.push(Node { state, at: next, free, came: Some((at, step)) });
                open.push(nodes.len() - 1);
            }
        }
    }
    Err(refused)
}

struct Node {
    state: State,
    /// How much of the guide was followed.
    at: usize,
    /// The first thread may still move without a guide.
    free: bool,
    came: Option<(usize, Move)>,
}

/// The moves from a node, with what of the guide is then behind us.
fn moves(code: &Code<'_>, node: &Node, guide: &[Visit]) -> Vec<(Move, usize, bool)> {
    let plain_step = Action::Step { choice: Value::ZERO, spurious: false };
    let mut moves = Vec::new();
    if node.free {
        moves.push((Move { thread: 0, action: plain_step }, node.at, true));
    }
    for (thread, local) in (0u8..).zip(&node.state.threads) {
        if !local.buffer.is_empty() {
            moves.push((Move { thread, action: Action::Flush(0) }, node.at, node.free));
        }
        // A store that does not go into the buffer at once: in an atomic section, or the release of a mutex. The guide does
        // not speak of stores, because the helpers of a reduction do them.
        if is_before_store(code, local) {
            moves.push((Move { thread, action: plain_step }, node.at, node.free));
        }
    }
    if let Some(visit) = guide.get(node.at)
        && stands_at(&node.state, visit)
    {
        let action = Action::Step { choice: visit.choice, spurious: visit.spurious };
        moves.push((Move { thread: visit.thread, action }, node.at + 1, node.free && visit.thread != 0));
    }
    moves
}

/// Passes over what the threads have done already: local steps, and stores that went into a buffer.
fn skip(code: &Code<'_>, state: &State, guide: &[Visit], mut at: usize) -> usize {
    while let Some(visit) = guide.get(at) {
        let noticed = match code.instr(visit.function, visit.pc) {
            // A section within a section begins without anybody noticing.
            Some(Instr::AtomicBegin) => !is_inside(code, state, visit.thread),
            Some(
                Instr::Load { .. }
                | Instr::CopyLoad { .. }
                | Instr::Await { .. }
                | Instr::AwaitRmw { .. }
                | Instr::Rmw { .. }
                | Instr::CompareExchange { .. }
                | Instr::Lock(_)
                | Instr::TryLock { .. }
                | Instr::Nondet { .. }
                | Instr::Spawn { .. }
                | Instr::Join { .. },
            ) => true,
            _ => false,
        };
        if noticed || stands_at(state, visit) {
            break;
        }
        at += 1;
    }
    at
}

fn is_before_store(code: &Code<'_>, local: &Local) -> bool {
    let next = local.frames.last().and_then(|frame| code.instr(frame.function, frame.pc));
    matches!(next, Some(Instr::Store { .. } | Instr::Unlock(_)))
}

/// True if the thread is in an atomic section and has done the stores that the guide does not speak of.
fn is_inside(code: &Code<'_>, state: &State, thread: u8) -> bool {
    let local = state.threads.get(usize::from(thread));
    local.is_some_and(|local| local.critical && !is_before_store(code, local))
}

fn stands_at(state: &State, visit: &Visit) -> bool {
    let frame = state.threads.get(usize::from(visit.thread)).and_then(|local| local.frames.last());
    frame.is_some_and(|frame| (frame.function, frame.pc) == (visit.function, visit.pc))
}

fn path(nodes: &[Node], mut at: usize) -> Vec<Move> {
    let mut moves = Vec::new();
    while let Some((before, step)) = nodes[at].came {
        moves.push(step);
        at = before;
    }
    moves.reverse();
    moves
}
