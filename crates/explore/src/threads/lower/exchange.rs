//! Compare-exchanges: one lowering for each way in which events are committed, and for models that look at dependencies.

use crate::threads::code::frame_reg;
use crate::threads::code::{Arg, CasRead, Half, Op, Undefined};
use crate::threads::lower::{Lowering, Purpose, arg};
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Width};

/// The parts of a compare-exchange; `old` and `same` are temporaries.
pub(super) struct Cas {
    pub addr: Arg,
    pub width: Width,
    pub extend: Extend,
    pub expected: Arg,
    pub desired: Arg,
    pub read: Ann,
    pub write: Ann,
    pub failure: Ann,
    pub weak: bool,
    /// Whether somebody sees the old value.
    pub picks: bool,
    pub old: u16,
    pub same: u16,
}

impl Lowering<'_> {
    pub(super) fn compare_exchange(&mut self, instr: &Instr) {
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
        let picks = true;
        let cas =
            Cas { addr, width, extend, expected, desired, read, write, failure, weak, picks, old, same };
        self.cas(&cas);
        if let Some(dst) = success {
            self.push(Op::Move { dst: frame_reg(dst), a: Arg::Reg(same) });
        }
        if let Some(dst) = dst {
            self.push(Op::Move { dst: frame_reg(dst), a: Arg::Reg(old) });
        }
    }

    /// Dependencies of the results, for models that look at them. Where a CAS of Arm succeeds, the old value may come from memory
    /// or from the register that it was compared with, and the other one has only let it pass (DDI 0487, intrinsic
    /// dependencies of CAS): it depends on neither as data, and the read has picked it. Whether it succeeded is the
    /// comparison of that value with the expected one.
    fn cas_results(&mut self, cas: &Cas, succeeds: bool) {
        if !cas.picks {
            return;
        }
        if succeeds {
            let a = Arg::Reg(cas.old);
            self.push(Op::Picked { dst: cas.old, a, by: a });
        }
        // A weak one may have failed without a reason.
        if !cas.weak {
            self.cas_compare(cas);
        }
    }

    pub(super) fn cas(&mut self, cas: &Cas) {
        match self.purpose {
            Purpose { out_of_order: true, .. } => self.cas_out_of_order(cas),
            Purpose { dependencies: true, .. } => self.cas_by_outcome(cas),
            _ => self.cas_in_order(cas),
        }
    }

    fn cas_load(&mut self, cas: &Cas, ann: Ann, failure: Option<CasRead>) -> Op {
        let &Cas { addr, width, extend, old, .. } = cas;
        Op::Load {
            dst: old,
            addr,
            width,
            extend,
            ann,
            half: Half::Amo,
            failure,
            undefined: Undefined::Atomic,
        }
    }

    fn cas_compare(&mut self, cas: &Cas) {
        let &Cas { width, old, same, expected: b, .. } = cas;
        let a = Arg::Reg(old);
        self.push(Op::Binary { op: BinaryOp::Eq, width, extend: Extend::Zero, dst: same, a, b });
    }

    fn cas_store(&self, cas: &Cas) -> Op {
        let &Cas { addr, width, expected, desired: value, write: ann, .. } = cas;
        Op::Store { addr, value, width, ann, half: Half::Amo, pick: Some(expected) }
    }

    /// Read; if the value is the expected one, write. A weak one first chooses whether to fail for no reason; that read
    /// then counts as a failing one, and must find the expected value, since otherwise there is a reason.
    fn cas_in_order(&mut self, cas: &Cas) {
        let spurious_exit = cas.weak.then(|| self.cas_for_no_reason(cas));
        let failure = CasRead { expected: cas.expected, ann: cas.failure, other: None };
        let load = self.cas_load(cas, cas.read, Some(failure));
        self.push(load);
        self.cas_compare(cas);
        let then_to = self.here() + 1;
        self.push(Op::Branch {
            condition: Arg::Reg(cas.same),
            then_to,
            else_to: then_to + 1,
            internal: true,
        });
        self.push(self.cas_store(cas));
        if let Some(at) = spurious_exit {
            self.code.ops[at] = Op::Jump(self.here());
        }
    }

    /// Chooses whether a weak one fails for no reason. Gives back where the jump stands that leaves it then.
    fn cas_for_no_reason(&mut self, cas: &Cas) -> usize {
        self.push(Op::Choice { dst: cas.same, first: 0, count: 2, exchange: false });
        let branch = self.code.ops.len();
        self.push(Op::Jump(0));
        let then_to = self.here();
        let mut load = self.cas_load(cas, cas.failure, None);
        // No write follows, whatever is read.
        if let Op::Load { half, .. } = &mut load {
            *half = Half::Waiting;
        }
        self.push(load);
        self.cas_compare(cas);
        self.push(Op::Agree { a: Arg::Reg(cas.same), b: true });
        // As the comparison, which the status depends on.
        let (op, width, extend) = (BinaryOp::And, Width::W64, Extend::Zero);
        self.push(Op::Binary { op, width, extend, dst: cas.same, a: Arg::Reg(cas.same), b: Arg::Const(0) });
        if self.purpose.dependencies {
            self.cas_results(cas, false);
        }
        self.push(Op::Jump(0));
        self.code.ops[branch] =
            Op::Branch { condition: Arg::Reg(cas.same), then_to, else_to: self.here(), internal: true };
        self.code.ops.len() - 1
    }

    /// As in order, but the loads of success and failure are two, since what an acquire means for later events is part of the
    /// path.
    fn cas_by_outcome(&mut self, cas: &Cas) {
        let spurious_exit = cas.weak.then(|| self.cas_for_no_reason(cas));
        let outcome = self.code.ops.len();
        self.push(Op::Jump(0));
        let success = self.here();
        let read = |other| CasRead { expected: cas.expected, ann: cas.failure, other: Some(other) };
        self.push(Op::Jump(0));
        self.cas_compare(cas);
        self.push(self.cas_store(cas));
        self.cas_results(cas, true);
        let exit = self.code.ops.len();
        self.push(Op::Jump(0));
        let failure = self.here();
        let load = self.cas_load(cas, cas.failure, Some(read((success, cas.read))));
        self.push(load);
        self.cas_compare(cas);
        self.cas_results(cas, false);
        self.code.ops[outcome] = Op::Outcome { success, failure };
        self.code.ops[success as usize] = self.cas_load(cas, cas.read, Some(read((failure, cas.failure))));
        for at in spurious_exit.into_iter().chain([exit]) {
            self.code.ops[at] = Op::Jump(self.here());
        }
    }

    /// Choose to fail or to succeed, and see at the end of the thread that the value read agreed. Whether there is a
    /// write then depends on the choice only, not on the read, and neither do later events: some may be committed before
    /// the read, with whatever it will read.
    fn cas_out_of_order(&mut self, cas: &Cas) {
        self.push(Op::Choice { dst: cas.same, first: 0, count: 2, exchange: true });
        let branch = self.code.ops.len();
        self.push(Op::Jump(0));
        let then_to = self.here();
        let load = self.cas_load(cas, cas.read, None);
        self.push(load);
        self.cas_compare(cas);
        self.push(Op::Agree { a: Arg::Reg(cas.same), b: true });
        self.push(self.cas_store(cas));
        self.cas_results(cas, true);
        let exit = self.code.ops.len();
        self.push(Op::Jump(0));
        let else_to = self.here();
        let load = self.cas_load(cas, cas.failure, None);
        self.push(load);
        self.cas_compare(cas);
        let (a, extend) = (Arg::Reg(cas.same), Extend::Zero);
        if cas.weak {
            let (op, b) = (BinaryOp::And, Arg::Const(0));
            self.push(Op::Binary { op, width: Width::W64, extend, dst: cas.same, a, b });
        } else {
            self.push(Op::Agree { a, b: false });
        }
        self.push(Op::Skip { addr: cas.addr, width: cas.width });
        self.cas_results(cas, false);
        self.code.ops[branch] =
            Op::Branch { condition: Arg::Reg(cas.same), then_to, else_to, internal: true };
        self.code.ops[exit] = Op::Jump(self.here());
    }
}
