//! The procedures of `[ABP, Figs. 2-5]`. Every one takes the thread's private object as its first parameter.
//!
//! Deviations from the figures: a round ends and the next begins in one procedure, `switch`, as often as it likes, for
//! a thread may have rounds in which its buffer does all the work (the figures allow one new round per statement);
//! `r_TSO` is kept as its distance from `r_SC`; queues are cleared with their masks, so that states do not differ in
//! values that nobody reads, and so are views at the end of a round; a thread that ends goes on until its last store is in
//! memory.

use crate::layout::Layout;
use crate::tso::Bound;
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, Function, FunctionId, Instr, Label, Operand, Reg, Rvalue, Span, Value,
    Width,
};

/// The helper functions by number.
#[derive(Clone, Copy, Debug)]
pub struct Helpers {
    /// Figure 2: a thread starts.
    pub init_thread: FunctionId,
    /// Figure 3: a round starts.
    pub init_round: FunctionId,
    /// A round ends: forgets what the next one does not need.
    pub end_round: FunctionId,
    /// Figure 4: a round may end here, and another start.
    pub switch: FunctionId,
    /// Figure 4: the buffer is empty.
    pub fence: FunctionId,
    /// A thread ends.
    pub finish: FunctionId,
    /// From an address to its offset in a copy.
    pub offset: FunctionId,
    /// Figure 5, one for each width.
    pub update: [FunctionId; 4],
}

impl Helpers {
    /// The helpers as functions `first..`.
    pub fn numbered(first: u32) -> Helpers {
        let at = |n| FunctionId(first + n);
        Helpers {
            init_thread: at(0),
            init_round: at(1),
            end_round: at(2),
            switch: at(3),
            fence: at(4),
            finish: at(5),
            offset: at(6),
            update: [at(7), at(8), at(9), at(10)],
        }
    }

    /// Figure 5 for a width.
    pub fn update(&self, width: Width) -> FunctionId {
        self.update[Width::ALL.iter().position(|w| *w == width).unwrap_or(0)]
    }

    /// All of them, in the order of their numbers.
    pub fn functions(&self, layout: &Layout, bound: Bound) -> Vec<Function> {
        let mut all = vec![
            init_thread(layout),
            init_round(layout, bound),
            end_round(layout),
            self.switch(layout),
            fence(layout),
            self.finish(layout),
            offset(layout),
        ];
        all.extend(Width::ALL.map(|width| update(layout, bound, width)));
        all
    }

    fn switch(&self, layout: &Layout) -> Function {
        let mut b = Builder::new("tso_switch", &["tso_self"]);
        let critical = b.load(layout.critical());
        let at = b.branch(critical);
        b.f.push(Instr::Return(None), Span::default());
        b.otherwise(at);
        let again = b.f.next_label();
        let more = b.f.new_reg("more");
        b.push(Instr::Nondet { dst: more, first: 0, last: 1 });
        let at = b.branch(more.into());
        self.next_round(&mut b);
        b.push(Instr::Jump(again));
        b.otherwise(at);
        b.f
    }

    fn next_round(&self, b: &mut Builder) {
        b.push(call(self.end_round, vec![SELF.into()]));
        b.push(Instr::AtomicEnd);
        b.push(Instr::AtomicBegin);
        b.push(call(self.init_round, vec![SELF.into()]));
    }

    fn finish(&self, layout: &Layout) -> Function {
        let mut b = Builder::new("tso_finish", &["tso_self"]);
        let again = b.f.next_label();
        let lead = b.load(layout.lead());
        let at = b.branch(lead);
        self.next_round(&mut b);
        b.push(Instr::Jump(again));
        b.otherwise(at);
        b.push(call(self.end_round, vec![SELF.into()]));
        b.store(layout.done(), constant(1));
        b.push(Instr::AtomicEnd);
        b.f
    }
}

/// The private object, in helpers.
const SELF: Reg = Reg(0);

/// A constant.
pub fn constant(n: u32) -> Operand {
    Operand::Const(Value(u64::from(n)))
}

/// A call without a result.
pub fn call(function: FunctionId, args: Vec<Operand>) -> Instr {
    Instr::Call { dst: None, callee: Callee::Function(function), args }
}

/// Writes code.
pub struct Builder {
    /// The function so far.
    pub f: Function,
    /// The register of the private object.
    pub this: Reg,
    span: Span,
}

impl Builder {
    /// A function with these parameters, the first of which is the private object.
    pub fn new(name: &str, params: &[&str]) -> Builder {
        let mut f = Function { name: name.into(), params: params.len() as u32, ..Function::default() };
        for param in params {
            f.new_reg(*param);
        }
        Builder { f, this: SELF, span: Span::default() }
    }

    /// Goes on with a function.
    pub fn resume(f: Function, this: Reg) -> Builder {
        Builder { f, this, span: Span::default() }
    }

    /// What is written now belongs to this place of the source.
    pub fn at(&mut self, span: Span) {
        self.span = span;
    }

    /// Appends an instruction.
    pub fn push(&mut self, instr: Instr) -> usize {
        self.f.push(instr, self.span).0 as usize
    }

    fn temporary(&mut self) -> Reg {
        let name = format!("_p{}", self.f.regs.len());
        self.f.new_reg(name)
    }

    /// A new register with this value.
    pub fn compute(&mut self, op: BinaryOp, width: Width, a: Operand, b: Operand) -> Operand {
        let extend = if width == Width::W64 { Extend::Zero } else { Extend::Sign };
        let dst = self.temporary();
        self.push(Instr::Assign { dst, value: Rvalue::Binary(op, width, extend, a, b) });
        dst.into()
    }

    /// `c ? a : b` in a new register.
    pub fn select(&mut self, c: Operand, a: Operand, b: Operand) -> Operand {
        let dst = self.temporary();
        self.push(Instr::Assign { dst, value: Rvalue::Select(c, a, b) });
        dst.into()
    }

    /// The address `self + offset`.
    pub fn private(&mut self, offset: Operand) -> Operand {
        self.compute(BinaryOp::Add, Width::W64, self.this.into(), offset)
    }

    /// A load into a new register.
    pub fn load_at(&mut self, addr: Operand, width: Width) -> Operand {
        let dst = self.temporary();
        let extend = if width == Width::W64 { Extend::Zero } else { Extend::Sign };
        self.push(Instr::Load { dst, addr, width, extend, ann: Ann::PLAIN });
        dst.into()
    }

    /// A store.
    pub fn store_at(&mut self, addr: Operand, width: Width, value: Operand) {
        self.push(Instr::Store { addr, value, width, ann: Ann::PLAIN });
    }

    /// A word of the private object.
    pub fn load(&mut self, offset: u32) -> Operand {
        let addr = self.private(constant(offset));
        self.load_at(addr, Width::W32)
    }

    /// Sets a word of the private object.
    pub fn store(&mut self, offset: u32, value: Operand) {
        let addr = self.private(constant(offset));
        self.store_at(addr, Width::W32, value);
    }

    /// What follows runs if the condition is not zero, up to [`Builder::otherwise`].
    pub fn branch(&mut self, condition: Operand) -> usize {
        let then_to = Label(self.f.next_label().0 + 1);
        self.push(Instr::Branch { condition, then_to, else_to: then_to })
    }

    /// Ends the part that a branch guards.
    pub fn otherwise(&mut self, at: usize) {
        let here = self.f.next_label();
        if let Instr::Branch { else_to, .. } = &mut self.f.body[at] {
            *else_to = here;
        }
    }
}

/// Figure 2. Masks, queues and words are zero from the start, for no private object is used twice.
fn init_thread(layout: &Layout) -> Function {
    let mut b = Builder::new("tso_init_thread", &["tso_self"]);
    b.push(Instr::AtomicBegin);
    for &(address, offset, width) in &layout.cells {
        let value = b.load_at(address.into(), width);
        let view = b.private(constant(offset));
        b.store_at(view, width, value);
    }
    b.f
}

/// Figure 3: the stores of slot 1 reach memory, the slots move down, and the view is renewed where nothing is pending.
fn init_round(layout: &Layout, bound: Bound) -> Function {
    let mut b = Builder::new("tso_init_round", &["tso_self"]);
    if let Bound::Rounds(most) = bound {
        let round = b.load(layout.round());
        let last = b.compute(BinaryOp::Eq, Width::W32, round, constant(most));
        let at = b.branch(last);
        b.push(Instr::AtomicEnd);
        b.push(Instr::Assume(constant(0)));
        b.otherwise(at);
        let next = b.compute(BinaryOp::Add, Width::W32, round, constant(1));
        b.store(layout.round(), next);
    }
    let lead = b.load(layout.lead());
    let at = b.branch(lead);
    let less = b.compute(BinaryOp::Sub, Width::W32, lead, constant(1));
    b.store(layout.lead(), less);
    b.otherwise(at);
    for &(address, offset, width) in &layout.cells {
        if layout.slots > 0 {
            let mask = b.private(constant(layout.mask(1) + offset));
            let set = b.load_at(mask, width);
            let at = b.branch(set);
            let queue = b.private(constant(layout.queue(1) + offset));
            let value = b.load_at(queue, width);
            b.store_at(address.into(), width, value);
            b.otherwise(at);
        }
        let mut pending = constant(0);
        for slot in 1..=layout.slots {
            for part in [layout.mask(slot), layout.queue(slot)] {
                let value = if slot < layout.slots {
                    let above = b.private(constant(part + 2 * layout.copy + offset));
                    b.load_at(above, width)
                } else {
                    constant(0)
                };
                let here = b.private(constant(part + offset));
                b.store_at(here, width, value);
                if part == layout.mask(slot) && slot < layout.slots {
                    pending = b.compute(BinaryOp::Or, Width::W64, pending, value);
                }
            }
        }
        let free = b.compute(BinaryOp::Eq, Width::W64, pending, constant(0));
        let at = b.branch(free);
        let value = b.load_at(address.into(), width);
        let view = b.private(constant(offset));
        b.store_at(view, width, value);
        b.otherwise(at);
    }
    b.f
}

/// The view of a cell for which nothing is pending is renewed at the start of the next round, so nobody reads it before:
/// it becomes zero, or else states would differ in what the thread saw in rounds that are over.
fn end_round(layout: &Layout) -> Function {
    let mut b = Builder::new("tso_end_round", &["tso_self"]);
    for &(_, offset, width) in &layout.cells {
        let mut pending = constant(0);
        for slot in 1..=layout.slots {
            let mask = b.private(constant(layout.mask(slot) + offset));
            let set = b.load_at(mask, width);
            pending = b.compute(BinaryOp::Or, Width::W64, pending, set);
        }
        let free = b.compute(BinaryOp::Eq, Width::W64, pending, constant(0));
        let at = b.branch(free);
        let view = b.private(constant(offset));
        b.store_at(view, width, constant(0));
        b.otherwise(at);
    }
    b.f
}

fn fence(layout: &Layout) -> Function {
    let mut b = Builder::new("tso_fence", &["tso_self"]);
    let lead = b.load(layout.lead());
    let empty = b.compute(BinaryOp::Eq, Width::W32, lead, constant(0));
    b.push(Instr::Assume(empty));
    b.f
}

/// The offset in a copy of the cell at an address: the object is in the upper half of an address.
fn offset(layout: &Layout) -> Function {
    let mut b = Builder::new("tso_offset_of", &["tso_self", "address"]);
    let address = Operand::Reg(Reg(1));
    let object = b.compute(BinaryOp::ShrU, Width::W64, address, constant(32));
    let within = b.compute(BinaryOp::And, Width::W64, address, Operand::Const(Value(0xffff_ffff)));
    for (o, &base) in (0u32..).zip(&layout.bases) {
        let tag = Value(Value::pointer(fencepost_ir::ObjectId(o), 0).0 >> 32);
        let same = b.compute(BinaryOp::Eq, Width::W64, object, tag.into());
        let at = b.branch(same);
        let offset = b.compute(BinaryOp::Add, Width::W64, within, constant(base));
        b.push(Instr::Return(Some(offset)));
        b.otherwise(at);
    }
    b.push(Instr::Assert {
        condition: constant(0),
        kind: fencepost_ir::FailKind::Assertion,
        message: "access outside of every object".into(),
    });
    b.f
}

/// Figure 5: a store goes into the view, and to memory now or into the slot that is `lead` rounds ahead.
fn update(layout: &Layout, bound: Bound, width: Width) -> Function {
    let name = format!("tso_memory_update_{}", width.bits());
    let mut b = Builder::new(&name, &["tso_self", "offset", "address", "value"]);
    let (offset, address, value) = (Operand::Reg(Reg(1)), Operand::Reg(Reg(2)), Operand::Reg(Reg(3)));
    let view = b.private(offset);
    b.store_at(view, width, value);
    if layout.slots > 0 {
        let critical = b.load(layout.critical());
        let open = b.compute(BinaryOp::Eq, Width::W32, critical, constant(0));
        let at = b.branch(open);
        let lead = b.load(layout.lead());
        let more = b.f.new_reg("more");
        b.push(Instr::Nondet { dst: more, first: 0, last: i64::from(layout.slots) });
        let ahead = b.compute(BinaryOp::Add, Width::W32, lead, more.into());
        let reach = match bound {
            Bound::Age(_) => ahead,
            Bound::Rounds(_) => {
                let round = b.load(layout.round());
                b.compute(BinaryOp::Add, Width::W32, ahead, round)
            }
        };
        let within = b.compute(BinaryOp::LeS, Width::W32, reach, constant(layout.slots));
        b.push(Instr::Assume(within));
        b.store(layout.lead(), ahead);
        b.otherwise(at);
        let lead = b.load(layout.lead());
        let at = b.branch(lead);
        let two = b.compute(BinaryOp::Mul, Width::W64, lead, constant(2 * layout.copy));
        let queue = b.compute(BinaryOp::Add, Width::W64, view, two);
        b.store_at(queue, width, value);
        let mask = b.compute(BinaryOp::Sub, Width::W64, queue, constant(layout.copy));
        b.store_at(mask, width, constant(1));
        b.push(Instr::Return(None));
        b.otherwise(at);
    }
    b.store_at(address, width, value);
    b.f
}
