//! The translation of one thread without promises: Algorithms 6 to 13 of `[AAGKV, C]` without check mode, with the deviations of
//! [`super`].

mod steps;

use super::code::{Code, number};
use super::essential::Data;
use super::{Jumps, Updates, is_relaxed};
use crate::Unsupported;
use fencepost_ir::{BinaryOp, Fence, Function, Instr, Operand, Order, Reg};

/// What a thread knows of a cell: the paper's `view[x]`.
#[derive(Clone, Copy)]
struct View {
    /// A timestamp, and the value that a local read gives.
    time: Reg,
    value: Reg,
    /// The timestamp is that of the thread's last message (`l`), and the value may be read (`f`).
    legal: Reg,
    fresh: Reg,
    /// Not legal, but the last message hangs on the one at `time` by read-modify-writes alone (`u`).
    hangs: Reg,
}

/// Translates one thread.
struct Translator<'a> {
    data: &'a Data,
    code: Code,
    views: Vec<View>,
    jumps: Jumps,
}

/// The translation of a thread's function.
pub fn translate(source: &Function, data: &Data) -> Result<Function, Unsupported> {
    let mut code = Code::like(source);
    let mut views = Vec::new();
    for _ in &data.cells {
        let names = ["ps_t", "ps_v", "ps_l", "ps_f", "ps_u"];
        let [time, value, legal, fresh, hangs] = names.map(|name| code.register(name));
        views.push(View { time, value, legal, fresh, hangs });
    }
    let updates = Updates::of(source)?;
    let mut t = Translator { data, code, views, jumps: Jumps::default() };
    t.start();
    for (at, (instr, span)) in source.body.iter().zip(&source.spans).enumerate() {
        t.code.span = *span;
        t.code.again();
        t.jumps.here(at, t.code.function.next_label());
        t.instruction(at, instr, &updates)?;
    }
    t.jumps.here(source.body.len(), t.code.function.next_label());
    t.end();
    t.jumps.patch(&mut t.code.function);
    Ok(t.code.function)
}

impl Translator<'_> {
    fn start(&mut self) {
        for (view, (_, init)) in self.views.clone().into_iter().zip(&self.data.cells) {
            self.code.set(view.value, Operand::Const(*init));
            [view.legal, view.fresh].into_iter().for_each(|reg| self.code.set(reg, number(1)));
        }
    }

    fn cell(&self, addr: Operand) -> Result<usize, Unsupported> {
        let unknown = || Unsupported {
            what: "an access whose cell is not known beforehand".into(),
            span: self.code.span,
        };
        self.data.cells.iter().position(|(address, _)| Operand::Const(*address) == addr).ok_or_else(unknown)
    }

    fn instruction(&mut self, at: usize, instr: &Instr, updates: &Updates) -> Result<(), Unsupported> {
        match instr {
            Instr::Assign { .. }
            | Instr::Assume(_)
            | Instr::Nondet { .. }
            | Instr::Assert { .. }
            | Instr::Cut => {
                self.code.push(instr.clone());
            }
            Instr::Jump(to) => self.jumps.jump(&mut self.code, updates.target(at, *to)),
            Instr::Branch { condition, then_to, else_to } => {
                let targets = [*then_to, *else_to].map(|to| updates.target(at, to));
                self.jumps.branch(&mut self.code, *condition, targets);
            }
            Instr::Load { dst, addr, ann, .. } if is_relaxed(ann.order) => {
                let cell = self.cell(*addr)?;
                self.begin();
                self.read(cell);
                self.code.set(*dst, self.views[cell].value);
                if !ann.exclusive {
                    self.code.push(Instr::AtomicEnd);
                }
            }
            Instr::Store { addr, value, ann, .. } if is_relaxed(ann.order) => {
                let cell = self.cell(*addr)?;
                self.begin();
                self.write(cell, *value);
                self.code.push(Instr::AtomicEnd);
            }
            Instr::StoreExclusive { addr, value, .. } => {
                let cell = self.cell(*addr)?;
                self.exchange(cell, *value);
                self.jumps.after(at, self.code.function.next_label());
                self.code.push(Instr::AtomicEnd);
            }
            Instr::Fence(Fence::C11(Order::SeqCst) | Fence::Mfence | Fence::Sync) => {
                self.begin();
                self.fence();
                self.code.push(Instr::AtomicEnd);
            }
            _ => return Err(super::refused(instr, self.code.span)),
        }
        Ok(())
    }

    /// A memory step begins.
    fn begin(&mut self) {
        self.code.push(Instr::AtomicBegin);
    }

    fn spend_one(&mut self) {
        let (data, code) = (self.data, &mut self.code);
        let spent = code.add(data.spent, number(0), number(1));
        let within = code.op(BinaryOp::LeS, spent, number(data.bound));
        code.assume(within);
    }

    /// The end of the thread: writes without a timestamp get one.
    fn end(&mut self) {
        self.code.push(Instr::AtomicBegin);
        for cell in 0..self.views.len() {
            self.stamp_silent(cell, false);
        }
        self.code.push(Instr::AtomicEnd);
        self.code.push(Instr::Return(None));
    }
}
