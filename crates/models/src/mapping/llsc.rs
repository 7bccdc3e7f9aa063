//! Read-modify-writes as load-exclusive and store-exclusive: lwarx/stwcx. of POWER, LDXR/STXR of AArch64.
//!
//! S. Sarkar and others, *Synchronising C/C++ and POWER*, PLDI 2012. Machine code retries until the store-exclusive
//! succeeds. Here there is one try, and a failing one is blocked (`Assume`): a failed round wrote nothing, its load
//! orders no other access by itself, and the round that succeeds is also a first try of some other run. Without
//! loss of final states this keeps the code free of loops. `docs/adr/006-mapping-llsc.md` has the argument, and why
//! neither the assumption nor a branch on the outcome orders anything: the outcome carries no dependency.

use super::recipe::{After, LoadOrder, Recipe, RmwOrder};
use super::rewrite::{Rewriter, Temporary, compiled};
use fencepost_ir::{Ann, BinaryOp, Extend, Fence, Instr, Label, Operand, Reg, RmwOp, Rvalue, UnaryOp, Width};

/// A read-modify-write with the annotations of its halves on the target.
pub(super) struct Rmw {
    pub dst: Option<Reg>,
    pub addr: Operand,
    pub width: Width,
    pub extend: Extend,
    pub op: RmwOp,
    pub operand: Operand,
    pub read: Ann,
    pub write: Ann,
}

fn exclusive(ann: Ann) -> Ann {
    Ann { exclusive: true, no_return: false, ..ann }
}

fn stronger(a: Option<Fence>, b: Option<Fence>) -> Option<Fence> {
    if b == Some(Fence::Sync) { b } else { a.or(b) }
}

impl Rewriter<'_> {
    /// `fence; old = load-exclusive; new = op(old); store-exclusive new; assume it succeeded; after; dst = old`.
    ///
    /// The temporaries keep the operands intact when `dst` is one of them.
    pub fn split_rmw(&mut self, rmw: &Rmw, recipe: Recipe) {
        let &Rmw { dst, addr, width, extend, op, operand, read, write } = rmw;
        let old = self.temporary(Temporary::Old);
        self.before(recipe.before);
        self.emit(Instr::Load { dst: old, addr, width, extend, ann: exclusive(read) });
        let value = self.modified(op, width, old, operand);
        let status = self.store_exclusive(addr, value, width, write);
        self.emit(Instr::Assume(status.into()));
        self.after(recipe.after, old.into());
        self.copy(dst, old);
    }

    /// ```text
    ///         fence; old = load-exclusive; same = old == expected; branch same
    /// equal:  store-exclusive desired; assume it succeeded; after success; jump end
    /// differ: after failure
    /// end:    success = same; dst = old
    /// ```
    /// A weak one goes to `differ` if the store-exclusive failed. Each outcome pays for its own order only, except that
    /// the fence before the load must do for both.
    pub fn split_cas(&mut self, instr: &Instr) {
        let &Instr::CompareExchange { addr, width, extend, expected, desired, weak, .. } = instr else {
            return;
        };
        let &Instr::CompareExchange { dst, success, read, write, failure, .. } = instr else { return };
        let (first, failed) = (RmwOrder::of(read, write), LoadOrder::of(failure));
        let (on_success, on_failure) = (self.convention.rmw(first), self.convention.load(failed));
        let load = self.convention.rmw(first.or_failure(failed)).read;
        let (old, same) = (self.temporary(Temporary::Old), self.temporary(Temporary::Same));
        self.before(stronger(on_success.before, on_failure.before));
        self.emit(Instr::Load { dst: old, addr, width, extend, ann: exclusive(compiled(read, load)) });
        let equal = Rvalue::Binary(BinaryOp::Eq, width, Extend::Zero, old.into(), expected);
        self.emit(Instr::Assign { dst: same, value: equal });
        let compare = self.placeholder();
        let status = self.store_exclusive(addr, desired, width, compiled(write, on_success.write));
        let outcome = if weak {
            let both = Rvalue::Binary(BinaryOp::And, Width::W64, Extend::Zero, same.into(), status.into());
            self.emit(Instr::Assign { dst: same, value: both });
            Some(self.placeholder())
        } else {
            self.emit(Instr::Assume(status.into()));
            None
        };
        let succeeded = self.new.next_label();
        self.after_branch(on_success.after);
        let skip = (on_failure.after != After::Nothing && on_failure.after != After::Branch)
            .then(|| self.placeholder());
        let differ = self.new.next_label();
        self.after_branch(on_failure.after);
        let end = self.new.next_label();
        self.branch_at(compare, same.into(), Label(compare.0 + 1), differ);
        if let Some(at) = outcome {
            self.branch_at(at, status.into(), succeeded, differ);
        }
        if let Some(at) = skip {
            self.new.body[at.0 as usize] = Instr::Jump(end);
        }
        self.copy(success, same);
        self.copy(dst, old);
    }

    fn store_exclusive(&mut self, addr: Operand, value: Operand, width: Width, ann: Ann) -> Reg {
        let status = self.temporary(Temporary::Status);
        let ann = exclusive(ann);
        self.emit(Instr::StoreExclusive { status, success: 1, addr, value, width, ann });
        status
    }

    /// A place for a jump whose target is not known yet.
    fn placeholder(&mut self) -> Label {
        let at = self.new.next_label();
        self.emit(Instr::Jump(at));
        at
    }

    fn branch_at(&mut self, at: Label, condition: Operand, then_to: Label, else_to: Label) {
        self.new.body[at.0 as usize] = Instr::Branch { condition, then_to, else_to };
    }

    fn copy(&mut self, dst: Option<Reg>, from: Reg) {
        if let Some(dst) = dst {
            self.emit(Instr::Assign { dst, value: Rvalue::Use(from.into()) });
        }
    }

    /// What is stored. An exchange does not depend on what was read; everything else does. A minimum or maximum is
    /// selected, which orders less than the branch or the arithmetic that a machine would use.
    fn modified(&mut self, op: RmwOp, width: Width, old: Reg, operand: Operand) -> Operand {
        let old = Operand::Reg(old);
        let binary = |op, a, b| Rvalue::Binary(op, width, Extend::Zero, a, b);
        let not = |a| Rvalue::Unary(UnaryOp::Not, width, Extend::Zero, a);
        let new = match op {
            RmwOp::Exchange => return operand,
            _ => self.temporary(Temporary::New),
        };
        let mut assign = |value| self.emit(Instr::Assign { dst: new, value });
        match op {
            RmwOp::Exchange => {}
            RmwOp::Add => assign(binary(BinaryOp::Add, old, operand)),
            RmwOp::Sub => assign(binary(BinaryOp::Sub, old, operand)),
            RmwOp::And => assign(binary(BinaryOp::And, old, operand)),
            RmwOp::Or => assign(binary(BinaryOp::Or, old, operand)),
            RmwOp::Xor => assign(binary(BinaryOp::Xor, old, operand)),
            RmwOp::Nand => {
                assign(binary(BinaryOp::And, old, operand));
                assign(not(new.into()));
            }
            RmwOp::Clear => {
                assign(not(operand));
                assign(binary(BinaryOp::And, old, new.into()));
            }
            RmwOp::MaxS | RmwOp::MinS | RmwOp::MaxU | RmwOp::MinU => {
                let keeps = match op {
                    RmwOp::MaxS => BinaryOp::GeS,
                    RmwOp::MinS => BinaryOp::LeS,
                    RmwOp::MaxU => BinaryOp::GeU,
                    _ => BinaryOp::LeU,
                };
                assign(binary(keeps, old, operand));
                assign(Rvalue::Select(new.into(), old, operand));
            }
        }
        new.into()
    }
}
