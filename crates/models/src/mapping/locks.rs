//! Mutexes, as what a correct lock guarantees: an acquire read-modify-write that waits until the cell is 0, and a release
//! store of 0, both mapped like any other.
//!
//! While a mutex is held its cell has the number of its owner, counted from 1. Unlocking first looks whether that is the
//! running thread, so that an unlock by another thread is found on machines as it is under language models. In a
//! correct program this reads the thread's own write: the mutex is held, so nobody else writes it. It adds no order that
//! matters: what the branch on it keeps behind it is kept behind the lock's acquire anyway.

use super::rewrite::{Rewriter, Temporary};
use fencepost_ir::{
    Ann, BinaryOp, Extend, FailKind, Instr, Label, Operand, Order, Reg, RmwOp, Rvalue, Until, Value, Width,
};

const FREE: Operand = Operand::Const(Value::ZERO);
const WIDTH: Width = Width::W32;
const EXTEND: Extend = Extend::Zero;

impl Rewriter<'_> {
    pub fn lock(&mut self, addr: Operand) {
        let owner = self.owner();
        let held = self.temporary(Temporary::Old);
        // Free is 0, owners are positive; a mutex that was destroyed is negative, and nobody waits for it.
        self.wait_and_modify(&Instr::AwaitRmw {
            dst: Some(held),
            addr,
            width: WIDTH,
            extend: EXTEND,
            until: Until { op: BinaryOp::LeS, operand: FREE },
            op: RmwOp::Exchange,
            operand: owner.into(),
            read: Ann::order(Order::Acquire),
            write: Ann::order(Order::Relaxed),
        });
        let here = self.new.next_label().0;
        let (then_to, else_to) = (Label(here + 1), Label(here + 2));
        self.emit(Instr::Branch { condition: held.into(), then_to, else_to });
        let message = "a mutex is locked that was destroyed".to_string();
        self.emit(Instr::Fail { kind: FailKind::Misuse, message });
    }

    /// A lock that was held orders nothing, as C11 says.
    pub fn try_lock(&mut self, dst: Reg, addr: Operand) {
        let owner = self.owner();
        self.compare_exchange(&Instr::CompareExchange {
            dst: None,
            success: Some(dst),
            addr,
            width: WIDTH,
            extend: EXTEND,
            expected: FREE,
            desired: owner.into(),
            read: Ann::order(Order::Acquire),
            write: Ann::order(Order::Relaxed),
            failure: Ann::order(Order::Relaxed),
            weak: false,
        });
    }

    pub fn unlock(&mut self, addr: Operand) {
        let owner = self.owner();
        let (held, same) = (self.temporary(Temporary::Old), self.temporary(Temporary::Same));
        self.emit(Instr::Load { dst: held, addr, width: WIDTH, extend: EXTEND, ann: Ann::PLAIN });
        let value = Rvalue::Binary(BinaryOp::Eq, WIDTH, EXTEND, held.into(), owner.into());
        self.emit(Instr::Assign { dst: same, value });
        let here = self.new.next_label().0;
        let (then_to, else_to) = (Label(here + 2), Label(here + 1));
        self.emit(Instr::Branch { condition: same.into(), then_to, else_to });
        let message = "a mutex is unlocked by a thread that does not hold it".to_string();
        self.emit(Instr::Fail { kind: FailKind::Misuse, message });
        self.store(addr, FREE, WIDTH, Ann::order(Order::Release));
    }

    fn owner(&mut self) -> Reg {
        let dst = self.temporary(Temporary::Owner);
        self.emit(Instr::SelfThread { dst });
        let one = Operand::Const(Value(1));
        self.emit(Instr::Assign {
            dst,
            value: Rvalue::Binary(BinaryOp::Add, WIDTH, EXTEND, dst.into(), one),
        });
        dst
    }
}
