//! Runs a thread from one access to the next. Local operations only: nothing here knows the memory model.

use crate::code::{Arg, Half, Op, Pc, RESERVATION, ThreadCode};
use crate::memory::{BadAccess, LocId, Memory, NO_LOC};
use crate::model::MemoryModel;
use crate::path::{Key, Kind, NO_NODE, NodeId, Outcomes, Trie};

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Next {
    /// The event of `Snapshot::node`.
    Event,
    /// It has ended.
    #[default]
    Ended,
    /// An assumption failed.
    Blocked,
    /// The unroll bound was reached.
    Cut,
    /// Something went wrong; see [`Fault`].
    Failed(Fault),
}

/// What went wrong in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The assertion of this instruction does not hold.
    Assertion(u32),
    /// A division by zero in this instruction.
    DivisionByZero(u32),
    /// A bad address in this instruction.
    BadAccess(u32, BadAccess),
    /// Local steps without end.
    LocalLoop(u32),
}

/// A thread that stands before its next event; its registers are kept beside it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// The node of the next event.
    pub node: NodeId,
    /// What comes next.
    pub next: Next,
    /// For a write: the value.
    pub value: u64,
    /// The order in which threads are scheduled, smallest first.
    pub urgency: u8,
}

impl Snapshot {
    /// The urgency of a thread that cannot go on.
    pub const NEVER: u8 = u8::MAX;

    /// The second half of a read-modify-write comes first, then what does not branch, then writes before reads, since
    /// a write that is there already need not revisit.
    fn urgency(kind: Kind, half: Half) -> u8 {
        match kind {
            Kind::Write if half == Half::Amo => 0,
            Kind::Skip | Kind::Fence(_) | Kind::Segment => 1,
            Kind::Write => 2,
            Kind::Choice => 3,
            Kind::Read => 4,
        }
    }
}

/// Local steps between two accesses that no sensible program needs.
const MAX_LOCAL_STEPS: u32 = 10_000_000;

#[inline(always)]
fn get(regs: &[u64], a: Arg) -> u64 {
    match a {
        Arg::Reg(r) => regs[r as usize],
        Arg::Const(c) => c,
    }
}

/// Where local execution stopped.
enum Stop {
    Event(Pc, LocId, u64),
    Segment(Pc),
    Other(Next),
}

/// Runs from behind the event of `from` (or from the start, if it is a root) to the next event.
pub fn advance<M: MemoryModel<W>, const W: usize>(
    trie: &mut Trie<M, W>,
    code: &ThreadCode,
    memory: &Memory,
    model: &M,
    from: NodeId,
    regs: &mut [u64],
) -> Snapshot {
    let mut parent = from;
    let mut pc = trie.node(from).pc() + Pc::from(trie.node(from).kind != Kind::Segment);
    loop {
        let mut outcomes = Outcomes::NONE;
        let stop = run(code, memory, model, pc, regs, &mut outcomes);
        match stop {
            Stop::Event(pc, loc, value) => {
                let node = trie.child(parent, Key { pc, loc, outcomes }, code);
                let urgency = Snapshot::urgency(trie.node(node).kind, trie.node(node).half);
                return Snapshot { node, next: Next::Event, value, urgency };
            }
            Stop::Segment(at) => {
                parent = trie.child(parent, Key { pc: at, loc: NO_LOC, outcomes }, code);
                pc = at;
            }
            Stop::Other(next) => {
                return Snapshot { node: NO_NODE, next, value: 0, urgency: Snapshot::NEVER };
            }
        }
    }
}

#[inline(always)]
fn run<M: MemoryModel<W>, const W: usize>(
    code: &ThreadCode,
    memory: &Memory,
    model: &M,
    mut pc: Pc,
    regs: &mut [u64],
    outcomes: &mut Outcomes,
) -> Stop {
    let fault = |pc: Pc, make: fn(u32) -> Fault| Stop::Other(Next::Failed(make(code.instr[pc as usize])));
    for _ in 0..MAX_LOCAL_STEPS {
        match code.ops[pc as usize] {
            Op::Move { dst, a } => regs[dst as usize] = get(regs, a),
            Op::Unary { op, width, extend, dst, a } => {
                let value = op.apply(width, fencepost_ir::Value(get(regs, a)));
                regs[dst as usize] = width.extend(extend, value).0;
            }
            Op::Binary { op, width, extend, dst, a, b } => {
                let (a, b) = (fencepost_ir::Value(get(regs, a)), fencepost_ir::Value(get(regs, b)));
                let Some(value) = op.apply(width, a, b) else { return fault(pc, Fault::DivisionByZero) };
                regs[dst as usize] = width.extend(extend, value).0;
            }
            Op::Modify { op, width, dst, old, operand } => {
                let (old, operand) = (regs[old as usize], get(regs, operand));
                regs[dst as usize] =
                    op.apply(width, fencepost_ir::Value(old), fencepost_ir::Value(operand)).0;
            }
            Op::Select { dst, condition, a, b } => {
                let taken = get(regs, condition) != 0;
                regs[dst as usize] = get(regs, if taken { a } else { b });
                outcomes.push(taken);
                if outcomes.is_full() {
                    return Stop::Segment(pc + 1);
                }
            }
            Op::Jump(target) => {
                pc = target;
                continue;
            }
            Op::Branch { condition, then_to, else_to, .. } => {
                let taken = get(regs, condition) != 0;
                pc = if taken { then_to } else { else_to };
                outcomes.push(taken);
                if outcomes.is_full() {
                    return Stop::Segment(pc);
                }
                continue;
            }
            Op::Load { addr, width, .. } => return access(code, memory, pc, get(regs, addr), width, 0),
            Op::Store { addr, value, width, .. } => {
                let value = width.zero_extend(fencepost_ir::Value(get(regs, value))).0;
                return access(code, memory, pc, get(regs, addr), width, value);
            }
            Op::BranchReserved { addr, else_to } => {
                let held = regs[RESERVATION as usize] == get(regs, addr);
                pc = if held { pc + 1 } else { else_to };
                outcomes.push(held);
                if outcomes.is_full() {
                    return Stop::Segment(pc);
                }
                continue;
            }
            Op::Choice { .. } => return Stop::Event(pc, NO_LOC, 0),
            Op::Skip { addr, width } => {
                if M::OUT_OF_ORDER {
                    return access(code, memory, pc, get(regs, addr), width, 0);
                }
            }
            Op::Fence(fence) => {
                if model.is_event(fence) {
                    return Stop::Event(pc, NO_LOC, 0);
                }
            }
            Op::Assume(condition) => {
                if get(regs, condition) == 0 {
                    return Stop::Other(Next::Blocked);
                }
            }
            Op::Assert { condition, message } => {
                if get(regs, condition) == 0 {
                    return Stop::Other(Next::Failed(Fault::Assertion(message)));
                }
            }
            Op::Cut => return Stop::Other(Next::Cut),
            Op::End => return Stop::Other(Next::Ended),
        }
        pc += 1;
    }
    fault(pc, Fault::LocalLoop)
}

#[inline(always)]
fn access(
    code: &ThreadCode,
    memory: &Memory,
    pc: Pc,
    address: u64,
    width: fencepost_ir::Width,
    value: u64,
) -> Stop {
    match memory.resolve(address, width) {
        Ok(loc) => Stop::Event(pc, loc, value),
        Err(bad) => Stop::Other(Next::Failed(Fault::BadAccess(code.instr[pc as usize], bad))),
    }
}
