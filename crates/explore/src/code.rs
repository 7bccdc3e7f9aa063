//! Lowering: an `ir` function becomes a flat list of small operations in which every *access* is one operation.
//!
//! A read-modify-write becomes its two halves with the computation between them; a compare-exchange becomes its read,
//! an internal branch and its write (or a choice first, see `cas_out_of_order`); a store-exclusive becomes a choice (fail or succeed) and a store. Internal
//! branches give no control dependency. The interpreter stops at accesses, choices and fences; all else is local.

use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Function, Instr, Label, Operand, Program, RmwOp, Rvalue, UnaryOp, Value,
    Width,
};

/// A position in [`Code::ops`].
pub type Pc = u32;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    /// A register of the thread.
    Reg(u16),
    /// A constant.
    Const(u64),
}

/// What an access is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Nothing: an ordinary load or store.
    None,
    /// A read-modify-write by one instruction.
    Amo,
    /// A load- or store-exclusive.
    Exclusive,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Move {
        dst: u16,
        a: Arg,
    },
    Unary {
        op: UnaryOp,
        width: Width,
        extend: Extend,
        dst: u16,
        a: Arg,
    },
    Binary {
        op: BinaryOp,
        width: Width,
        extend: Extend,
        dst: u16,
        a: Arg,
        b: Arg,
    },
    /// The value that a read-modify-write stores.
    Modify {
        op: RmwOp,
        width: Width,
        dst: u16,
        old: u16,
        operand: Arg,
    },
    Select {
        dst: u16,
        condition: Arg,
        a: Arg,
        b: Arg,
    },
    Jump(Pc),
    /// An internal branch gives no control dependency.
    Branch {
        condition: Arg,
        then_to: Pc,
        else_to: Pc,
        internal: bool,
    },
    Load {
        dst: u16,
        addr: Arg,
        width: Width,
        extend: Extend,
        ann: Ann,
        half: Half,
        failure: Option<CasRead>,
    },
    /// `pick`: the operand that an internal branch compared, for the write of a compare-exchange.
    Store {
        addr: Arg,
        value: Arg,
        width: Width,
        ann: Ann,
        half: Half,
        pick: Option<Arg>,
    },
    /// Goes on if the thread holds a reservation for the address. No control dependency either.
    BranchReserved {
        addr: Arg,
        else_to: Pc,
    },
    /// `dst` becomes one of `first .. first + count`.
    Choice {
        dst: u16,
        first: i64,
        count: u32,
    },
    /// The store to this address that an instruction might have done and did not. Where events are committed out of
    /// order it takes the number that the store would have had, so that later events keep theirs.
    Skip {
        addr: Arg,
        width: Width,
    },
    Fence(Fence),
    Assume(Arg),
    /// Unless the two are equal (as truth values), the thread goes on, but does not count as ended at its end.
    Agree {
        a: Arg,
        b: bool,
    },
    Assert {
        condition: Arg,
        message: u32,
    },
    Cut,
    End,
}

/// The read of a compare-exchange: its annotation when it fails, and the value that makes it succeed.
#[derive(Clone, Copy, Debug)]
pub struct CasRead {
    /// The value that makes it succeed.
    pub expected: Arg,
    /// The annotation otherwise.
    pub ann: Ann,
}

/// A lowered thread.
#[derive(Clone, Debug)]
pub struct ThreadCode {
    /// Operations; the last one is `End`.
    pub ops: Vec<Op>,
    /// The instruction that each operation came from.
    pub instr: Vec<u32>,
    /// Number of registers, the reservation register included.
    pub regs: usize,
    /// Initial registers.
    pub args: Vec<u64>,
    /// Operations that happen, or look as they do, because of the last choice; sorted.
    pub chosen: Vec<Pc>,
    /// How many accesses, choices and fences there are: the most events of a thread without loops.
    pub accesses: usize,
    /// Whether control can go back.
    pub has_loop: bool,
}

/// The register that holds the address of the thread's reservation, 0 if there is none.
pub const RESERVATION: u16 = 0;

/// The register that is not zero once a choice and what was read did not agree.
pub const DISAGREED: u16 = 1;

/// Registers that are not the program's.
const HIDDEN: u16 = 2;

/// Something that this engine does not run.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// What it is.
    pub what: &'static str,
    /// Where.
    pub span: fencepost_ir::Span,
}

/// Lowers the code of every thread, for a model that commits events out of program order or for one that does not.
pub fn lower(program: &Program, out_of_order: bool) -> Result<Vec<ThreadCode>, Unsupported> {
    program
        .threads
        .iter()
        .map(|thread| {
            let function = &program.functions[thread.function.0 as usize];
            Lowering::new(function, out_of_order).lower(&thread.args)
        })
        .collect()
}

struct Lowering<'a> {
    function: &'a Function,
    ops: Vec<Op>,
    instr: Vec<u32>,
    /// Register number of the first temporary, and the next one.
    regs: u16,
    /// Where each instruction begins.
    starts: Vec<Pc>,
    /// Operations that happen, or look as they do, because of the choice before them.
    chosen: Vec<Pc>,
    out_of_order: bool,
}

/// The register of the thread that an `ir` register becomes.
pub fn thread_reg(reg: fencepost_ir::Reg) -> u16 {
    reg.0 as u16 + HIDDEN
}

fn arg(operand: Operand) -> Arg {
    match operand {
        Operand::Reg(reg) => Arg::Reg(thread_reg(reg)),
        Operand::Const(value) => Arg::Const(value.0),
    }
}

impl<'a> Lowering<'a> {
    fn new(function: &'a Function, out_of_order: bool) -> Lowering<'a> {
        let regs = function.regs.len() as u16 + HIDDEN;
        Lowering {
            function,
            ops: Vec::new(),
            instr: Vec::new(),
            regs,
            starts: Vec::new(),
            chosen: Vec::new(),
            out_of_order,
        }
    }

    fn lower(mut self, args: &[Value]) -> Result<ThreadCode, Unsupported> {
        for (index, instr) in self.function.body.iter().enumerate() {
            self.starts.push(self.ops.len() as Pc);
            self.instruction(index, instr)?;
            self.instr.resize(self.ops.len(), index as u32);
        }
        self.starts.push(self.ops.len() as Pc);
        self.ops.push(Op::End);
        self.instr.push(self.function.body.len() as u32);
        self.resolve_labels();
        let accesses = self.ops.iter().filter(|op| op.is_event()).count();
        let has_loop = self.ops.iter().enumerate().any(|(pc, op)| op.targets().any(|t| t as usize <= pc));
        let mut values = vec![0; self.regs as usize];
        for (slot, value) in values[HIDDEN as usize..].iter_mut().zip(args) {
            *slot = value.0;
        }
        Ok(ThreadCode {
            ops: self.ops,
            instr: self.instr,
            regs: self.regs as usize,
            args: values,
            chosen: self.chosen,
            accesses,
            has_loop,
        })
    }

    fn temporary(&mut self) -> u16 {
        self.regs += 1;
        self.regs - 1
    }

    fn push(&mut self, op: Op) {
        self.ops.push(op);
    }

    fn here(&self) -> Pc {
        self.ops.len() as Pc
    }

    /// Jumps of the source were lowered with instruction numbers as targets, tagged by the high bit.
    fn resolve_labels(&mut self) {
        let starts = &self.starts;
        let resolve = |target: &mut Pc| {
            if *target & LABEL != 0 {
                *target = starts[(*target & !LABEL) as usize];
            }
        };
        for op in &mut self.ops {
            match op {
                Op::Jump(target) => resolve(target),
                Op::Branch { then_to, else_to, .. } => {
                    resolve(then_to);
                    resolve(else_to);
                }
                _ => {}
            }
        }
    }

    fn instruction(&mut self, index: usize, instr: &Instr) -> Result<(), Unsupported> {
        let unsupported = |what| Err(Unsupported { what, span: self.function.spans[index] });
        match *instr {
            Instr::Assign { dst, value } => self.assign(thread_reg(dst), value),
            Instr::Load { dst, addr, width, extend, ann } => {
                let half = if ann.exclusive { Half::Exclusive } else { Half::None };
                let (dst, addr) = (thread_reg(dst), arg(addr));
                // The load may overwrite the register that held its address.
                if ann.exclusive {
                    self.push(Op::Move { dst: RESERVATION, a: addr });
                }
                self.push(Op::Load { dst, addr, width, extend, ann, half, failure: None });
            }
            Instr::Store { addr, value, width, ann } => {
                let (addr, value) = (arg(addr), arg(value));
                self.push(Op::Store { addr, value, width, ann, half: Half::None, pick: None });
            }
            Instr::StoreExclusive { .. } => self.store_exclusive(instr),
            Instr::Rmw { .. } => self.read_modify_write(instr),
            Instr::CompareExchange { .. } => self.compare_exchange(instr),
            Instr::Fence(fence) => self.push(Op::Fence(fence)),
            Instr::Jump(target) => self.push(Op::Jump(label(target))),
            Instr::Branch { condition, then_to, else_to } => {
                let (then_to, else_to) = (label(then_to), label(else_to));
                self.push(Op::Branch { condition: arg(condition), then_to, else_to, internal: false });
            }
            Instr::Return(_) => self.push(Op::End),
            Instr::Assume(condition) => self.push(Op::Assume(arg(condition))),
            Instr::Assert { condition, .. } => {
                self.push(Op::Assert { condition: arg(condition), message: index as u32 })
            }
            Instr::Nondet { dst, first, last } => {
                let Ok(count) = u32::try_from(last - first + 1) else {
                    return unsupported("a nondeterministic choice among more than 2^32 values");
                };
                self.push(Op::Choice { dst: thread_reg(dst), first, count });
            }
            Instr::Cut => self.push(Op::Cut),
            Instr::Call { .. } => return unsupported("a call"),
            Instr::Spawn { .. } => return unsupported("thread creation"),
            Instr::Join { .. } => return unsupported("a join"),
            Instr::Lock(_) | Instr::Unlock(_) => return unsupported("a mutex"),
            Instr::Alloc { .. } | Instr::Free(_) => return unsupported("dynamic memory"),
            Instr::AtomicBegin | Instr::AtomicEnd => return unsupported("an atomic section"),
            _ => return unsupported("what only C programs have"),
        }
        Ok(())
    }

    fn assign(&mut self, dst: u16, value: Rvalue) {
        self.push(match value {
            Rvalue::Use(a) => Op::Move { dst, a: arg(a) },
            Rvalue::Unary(op, width, extend, a) => Op::Unary { op, width, extend, dst, a: arg(a) },
            Rvalue::Binary(op, width, extend, a, b) => {
                Op::Binary { op, width, extend, dst, a: arg(a), b: arg(b) }
            }
            Rvalue::Select(condition, a, b) => {
                Op::Select { dst, condition: arg(condition), a: arg(a), b: arg(b) }
            }
        });
    }

    /// choice = fail | succeed; on success the store; then the status, which depends on the choice and orders nothing.
    /// Without a reservation it fails.
    fn store_exclusive(&mut self, instr: &Instr) {
        let &Instr::StoreExclusive { status, success, addr, value, width, ann } = instr else { return };
        let (status, addr, value) = (thread_reg(status), arg(addr), arg(value));
        let choice = self.temporary();
        let start = self.here();
        self.push(Op::BranchReserved { addr, else_to: start + 8 });
        self.push(Op::Choice { dst: choice, first: 0, count: 2 });
        let condition = Arg::Reg(choice);
        self.push(Op::Branch { condition, then_to: start + 3, else_to: start + 5, internal: true });
        self.chosen.push(self.here());
        self.push(Op::Store { addr, value, width, ann, half: Half::Exclusive, pick: None });
        self.push(Op::Jump(start + 6));
        self.chosen.push(self.here());
        self.push(Op::Skip { addr, width });
        let fail = Arg::Const(1 - u64::from(success));
        let (op, width, extend) = (BinaryOp::Xor, Width::W64, Extend::Zero);
        self.push(Op::Binary { op, width, extend, dst: status, a: condition, b: fail });
        self.push(Op::Jump(start + 9));
        self.push(Op::Move { dst: status, a: fail });
        self.push(Op::Move { dst: RESERVATION, a: Arg::Const(0) });
    }

    fn read_modify_write(&mut self, instr: &Instr) {
        let &Instr::Rmw { dst, addr, width, extend, op, operand, read, write } = instr else { return };
        let (addr, operand) = (arg(addr), arg(operand));
        let (old, new) = (self.temporary(), self.temporary());
        self.push(Op::Load { dst: old, addr, width, extend, ann: read, half: Half::Amo, failure: None });
        self.push(Op::Modify { op, width, dst: new, old, operand });
        self.push(Op::Store { addr, value: Arg::Reg(new), width, ann: write, half: Half::Amo, pick: None });
        if let Some(dst) = dst {
            self.push(Op::Move { dst: thread_reg(dst), a: Arg::Reg(old) });
        }
    }

    fn compare_exchange(&mut self, instr: &Instr) {
        let &Instr::CompareExchange {
            dst,
            success,
            addr,
            width,
            extend,
            expected,
            desired,
            read,
            write,
            failure,
            weak,
        } = instr
        else {
            return;
        };
        let (addr, expected, desired) = (arg(addr), arg(expected), arg(desired));
        let (old, same) = (self.temporary(), self.temporary());
        let cas = Cas { addr, width, extend, expected, desired, read, write, failure, weak, old, same };
        if self.out_of_order {
            self.cas_out_of_order(&cas)
        } else {
            self.cas_in_order(&cas)
        }
        if let Some(dst) = success {
            self.push(Op::Move { dst: thread_reg(dst), a: Arg::Reg(same) });
        }
        if let Some(dst) = dst {
            self.push(Op::Move { dst: thread_reg(dst), a: Arg::Reg(old) });
        }
    }

    fn cas_load(&mut self, cas: &Cas, ann: Ann, failure: Option<CasRead>) {
        let &Cas { addr, width, extend, old, same, expected: b, .. } = cas;
        self.push(Op::Load { dst: old, addr, width, extend, ann, half: Half::Amo, failure });
        let a = Arg::Reg(old);
        self.push(Op::Binary { op: BinaryOp::Eq, width, extend: Extend::Zero, dst: same, a, b });
    }

    fn cas_store(&mut self, cas: &Cas) {
        let &Cas { addr, width, expected, desired: value, write: ann, .. } = cas;
        self.push(Op::Store { addr, value, width, ann, half: Half::Amo, pick: Some(expected) });
    }

    /// Read; if the value is the expected one, write. A weak one first chooses whether to fail for no reason; that read
    /// then counts as a failing one, and must find the expected value, since otherwise there is a reason.
    fn cas_in_order(&mut self, cas: &Cas) {
        let mut spurious_exit = None;
        if cas.weak {
            self.push(Op::Choice { dst: cas.same, first: 0, count: 2 });
            let then_to = self.here() + 1;
            let else_to = then_to + 5;
            self.push(Op::Branch { condition: Arg::Reg(cas.same), then_to, else_to, internal: true });
            self.cas_load(cas, cas.failure, None);
            self.push(Op::Assume(Arg::Reg(cas.same)));
            self.push(Op::Move { dst: cas.same, a: Arg::Const(0) });
            spurious_exit = Some(self.ops.len());
            self.push(Op::Jump(0));
        }
        self.cas_load(cas, cas.read, Some(CasRead { expected: cas.expected, ann: cas.failure }));
        let then_to = self.here() + 1;
        self.push(Op::Branch {
            condition: Arg::Reg(cas.same),
            then_to,
            else_to: then_to + 1,
            internal: true,
        });
        self.cas_store(cas);
        if let Some(at) = spurious_exit {
            self.ops[at] = Op::Jump(self.here());
        }
    }

    /// Choose to fail or to succeed, and see at the end of the thread that the value read agreed. Whether there is a
    /// write then depends on the choice only, not on the read, and neither do later events: some may be committed before
    /// the read, with whatever it will read.
    fn cas_out_of_order(&mut self, cas: &Cas) {
        self.push(Op::Choice { dst: cas.same, first: 0, count: 2 });
        let branch = self.ops.len();
        self.push(Op::Jump(0));
        let then_to = self.here();
        self.chosen.push(self.here());
        self.cas_load(cas, cas.read, None);
        self.push(Op::Agree { a: Arg::Reg(cas.same), b: true });
        self.chosen.push(self.here());
        self.cas_store(cas);
        let exit = self.ops.len();
        self.push(Op::Jump(0));
        let else_to = self.here();
        self.chosen.push(self.here());
        self.cas_load(cas, cas.failure, None);
        let (a, extend) = (Arg::Reg(cas.same), Extend::Zero);
        if cas.weak {
            let (op, b) = (BinaryOp::And, Arg::Const(0));
            self.push(Op::Binary { op, width: Width::W64, extend, dst: cas.same, a, b });
        } else {
            self.push(Op::Agree { a, b: false });
        }
        self.chosen.push(self.here());
        self.push(Op::Skip { addr: cas.addr, width: cas.width });
        self.ops[branch] = Op::Branch { condition: Arg::Reg(cas.same), then_to, else_to, internal: true };
        self.ops[exit] = Op::Jump(self.here());
    }
}

/// The parts of a compare-exchange; `old` and `same` are temporaries.
struct Cas {
    addr: Arg,
    width: Width,
    extend: Extend,
    expected: Arg,
    desired: Arg,
    read: Ann,
    write: Ann,
    failure: Ann,
    weak: bool,
    old: u16,
    same: u16,
}

const LABEL: Pc = 1 << 31;

fn label(target: Label) -> Pc {
    target.0 | LABEL
}

impl Op {
    /// Accesses, choices and fences: what may become an event.
    pub fn is_event(&self) -> bool {
        matches!(
            self,
            Op::Load { .. } | Op::Store { .. } | Op::Choice { .. } | Op::Skip { .. } | Op::Fence(_)
        )
    }

    fn targets(&self) -> impl Iterator<Item = Pc> {
        match *self {
            Op::Jump(target) => vec![target],
            Op::Branch { then_to, else_to, .. } => vec![then_to, else_to],
            Op::BranchReserved { else_to, .. } => vec![else_to],
            _ => vec![],
        }
        .into_iter()
    }
}
