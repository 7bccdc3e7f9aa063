//! Applies a mapping table to a function.
//!
//! One instruction becomes a group of instructions; a label of the source becomes the start of the group, so that a
//! jump to an access meets the fence before it. Jumps of the source are copied with their old labels and resolved at the
//! end; branches that the mapping makes have new labels from the start.

use super::recipe::{After, Convention, LoadOrder, Recipe, RmwOrder, Split, StoreOrder};
use fencepost_ir::{
    Ann, Extend, Fence, Function, Instr, Label, Operand, Order, Reg, RmwOp, Span, Value, Width,
};

/// The function as compiled.
pub(super) fn function(old: &Function, convention: &dyn Convention) -> Function {
    let new = Function {
        name: old.name.clone(),
        params: old.params,
        regs: old.regs.clone(),
        ..Function::default()
    };
    let mut rewriter = Rewriter {
        convention,
        new,
        starts: Vec::with_capacity(old.body.len() + 1),
        unresolved: Vec::new(),
        span: Span::default(),
        temporaries: [None; Temporary::COUNT],
    };
    for (at, instr) in old.body.iter().enumerate() {
        rewriter.span = old.spans.get(at).copied().unwrap_or_default();
        rewriter.starts.push(rewriter.new.next_label());
        rewriter.instruction(instr);
    }
    rewriter.starts.push(rewriter.new.next_label());
    rewriter.finish()
}

/// The registers that a mapping needs. No value outlives its group, so one of each is enough for a function.
#[derive(Clone, Copy)]
pub(super) enum Temporary {
    /// What a read-modify-write or a wait read.
    Old,
    /// What a read-modify-write stores.
    New,
    /// Whether a compare-exchange found what it expected.
    Same,
    /// Whether a store-exclusive succeeded.
    Status,
    /// What stands in a mutex that this thread holds.
    Owner,
}

impl Temporary {
    const COUNT: usize = 5;

    fn name(self) -> &'static str {
        match self {
            Temporary::Old => "mapping.old",
            Temporary::New => "mapping.new",
            Temporary::Same => "mapping.same",
            Temporary::Status => "mapping.status",
            Temporary::Owner => "mapping.owner",
        }
    }
}

pub(super) struct Rewriter<'a> {
    pub convention: &'a dyn Convention,
    pub new: Function,
    /// The new label of each old one, the end included.
    starts: Vec<Label>,
    /// Instructions of the new body that have old labels.
    unresolved: Vec<usize>,
    span: Span,
    temporaries: [Option<Reg>; Temporary::COUNT],
}

/// An atomic access of the source. Plain accesses and exclusives are machine accesses already.
fn is_atomic(ann: Ann) -> bool {
    ann.order != Order::Plain && !ann.exclusive
}

/// The annotation of a compiled access; what is `volatile` stays so.
pub(super) fn compiled(ann: Ann, order: Order) -> Ann {
    Ann { volatile: ann.volatile, ..Ann::order(order) }
}

impl Rewriter<'_> {
    pub fn emit(&mut self, instr: Instr) {
        self.new.push(instr, self.span);
    }

    pub fn temporary(&mut self, which: Temporary) -> Reg {
        match self.temporaries[which as usize] {
            Some(reg) => reg,
            None => {
                let reg = self.new.new_reg(which.name());
                self.temporaries[which as usize] = Some(reg);
                reg
            }
        }
    }

    pub fn before(&mut self, fence: Option<Fence>) {
        if let Some(fence) = fence {
            self.emit(Instr::Fence(fence));
        }
    }

    /// What follows a read of `value`.
    pub fn after(&mut self, after: After, value: Operand) {
        if matches!(after, After::Branch | After::BranchIsync) {
            let next = Label(self.new.next_label().0 + 1);
            self.emit(Instr::Branch { condition: value, then_to: next, else_to: next });
        }
        self.after_branch(after);
    }

    /// The same if there is a branch on the value already.
    pub fn after_branch(&mut self, after: After) {
        match after {
            After::Nothing | After::Branch => {}
            After::Fence(fence) => self.emit(Instr::Fence(fence)),
            After::BranchIsync => self.emit(Instr::Fence(Fence::Isync)),
        }
    }

    /// The register for a value read: what follows may need one although the source does not.
    fn destination(&mut self, dst: Option<Reg>, after: After) -> Option<Reg> {
        match after {
            After::Nothing | After::Fence(_) => dst,
            After::Branch | After::BranchIsync => Some(dst.unwrap_or_else(|| self.temporary(Temporary::Old))),
        }
    }

    fn after_read(&mut self, after: After, dst: Option<Reg>) {
        self.after(after, dst.map_or(Operand::Const(Value::ZERO), Operand::Reg));
    }

    fn instruction(&mut self, instr: &Instr) {
        match *instr {
            Instr::Load { ann, .. } | Instr::CopyLoad { ann, .. } if is_atomic(ann) => self.load(instr, ann),
            Instr::Store { addr, value, width, ann } if is_atomic(ann) => self.store(addr, value, width, ann),
            Instr::Rmw { .. } => self.read_modify_write(instr),
            Instr::CompareExchange { .. } => self.compare_exchange(instr),
            Instr::Fence(Fence::C11(order)) => self.fence(order),
            Instr::Await { ann, .. } if is_atomic(ann) => self.wait(instr),
            Instr::AwaitRmw { .. } => self.wait_and_modify(instr),
            Instr::Lock(addr) => self.lock(addr),
            Instr::Unlock(addr) => self.unlock(addr),
            Instr::TryLock { dst, addr } => self.try_lock(dst, addr),
            Instr::Jump(_) | Instr::Branch { .. } => {
                self.unresolved.push(self.new.body.len());
                self.emit(instr.clone());
            }
            _ => self.emit(instr.clone()),
        }
    }

    fn load(&mut self, instr: &Instr, source: Ann) {
        let recipe = self.convention.load(LoadOrder::of(source));
        let mut instr = instr.clone();
        let (Instr::Load { dst, ann, .. } | Instr::CopyLoad { dst, ann, .. }) = &mut instr else { return };
        *ann = compiled(source, recipe.read);
        let dst = *dst;
        self.before(recipe.before);
        self.emit(instr);
        self.after(recipe.after, dst.into());
    }

    pub fn store(&mut self, addr: Operand, value: Operand, width: Width, ann: Ann) {
        let order = StoreOrder::of(ann);
        if self.convention.stores_by_exchange(order) {
            let plain = compiled(ann, Order::Plain);
            let (op, extend) = (RmwOp::Exchange, Extend::Zero);
            let (read, write) = (plain, plain);
            return self.emit(Instr::Rmw { dst: None, addr, width, extend, op, operand: value, read, write });
        }
        let recipe = self.convention.store(order);
        self.before(recipe.before);
        self.emit(Instr::Store { addr, value, width, ann: compiled(ann, recipe.write) });
        self.after(recipe.after, value);
    }

    fn fence(&mut self, order: Order) {
        let fence = match order {
            Order::Plain | Order::Relaxed | Order::AcquirePc => Fence::Compiler,
            Order::Consume => self.convention.fence(Order::Acquire),
            _ => self.convention.fence(order),
        };
        self.emit(Instr::Fence(fence));
    }

    fn read_modify_write(&mut self, instr: &Instr) {
        let &Instr::Rmw { dst, addr, width, extend, op, operand, read, write } = instr else { return };
        // A plain one is a machine instruction already, where the machine has such instructions.
        let is_machine = !is_atomic(read) && !is_atomic(write);
        let recipe = self.rmw_recipe(read, write);
        let (read, write) = (compiled(read, recipe.read), compiled(write, recipe.write));
        if self.convention.split() == Split::All {
            let split = super::llsc::Rmw { dst, addr, width, extend, op, operand, read, write };
            return self.split_rmw(&split, recipe);
        }
        if is_machine {
            return self.emit(instr.clone());
        }
        let dst = self.destination(dst, recipe.after);
        self.before(recipe.before);
        self.emit(Instr::Rmw { dst, addr, width, extend, op, operand, read, write });
        self.after_read(recipe.after, dst);
    }

    fn rmw_recipe(&self, read: Ann, write: Ann) -> Recipe {
        self.convention.rmw(RmwOrder::of(read, write))
    }

    pub fn compare_exchange(&mut self, instr: &Instr) {
        if self.convention.split() != Split::None {
            return self.split_cas(instr);
        }
        let mut instr = instr.clone();
        let Instr::CompareExchange { dst, read, write, failure, weak, .. } = &mut instr else { return };
        if !is_atomic(*read) && !is_atomic(*write) {
            return self.emit(instr);
        }
        let order = RmwOrder::of(*read, *write).or_failure(LoadOrder::of(*failure));
        let recipe = self.convention.rmw(order);
        *read = compiled(*read, recipe.read);
        *write = compiled(*write, recipe.write);
        *failure = compiled(*failure, recipe.read);
        *weak = false;
        *dst = self.destination(*dst, recipe.after);
        let dst = *dst;
        self.before(recipe.before);
        self.emit(instr);
        self.after_read(recipe.after, dst);
    }

    fn wait(&mut self, instr: &Instr) {
        let mut instr = instr.clone();
        let Instr::Await { dst, ann, .. } = &mut instr else { return };
        let recipe = self.convention.load(LoadOrder::of(*ann));
        *ann = compiled(*ann, recipe.read);
        *dst = self.destination(*dst, recipe.after);
        let dst = *dst;
        self.before(recipe.before);
        self.emit(instr);
        self.after_read(recipe.after, dst);
    }

    /// Stays one instruction on every target: see `docs/adr/006-mapping-llsc.md`.
    pub fn wait_and_modify(&mut self, instr: &Instr) {
        let mut instr = instr.clone();
        let Instr::AwaitRmw { dst, read, write, .. } = &mut instr else { return };
        let recipe = self.rmw_recipe(*read, *write);
        *read = compiled(*read, recipe.read);
        *write = compiled(*write, recipe.write);
        *dst = self.destination(*dst, recipe.after);
        let dst = *dst;
        self.before(recipe.before);
        self.emit(instr);
        self.after_read(recipe.after, dst);
    }

    fn finish(mut self) -> Function {
        let end = self.new.next_label();
        let starts = &self.starts;
        let resolve = |label: &mut Label| *label = starts.get(label.0 as usize).copied().unwrap_or(end);
        for &at in &self.unresolved {
            match &mut self.new.body[at] {
                Instr::Jump(target) => resolve(target),
                Instr::Branch { then_to, else_to, .. } => {
                    resolve(then_to);
                    resolve(else_to);
                }
                _ => {}
            }
        }
        self.new
    }
}
