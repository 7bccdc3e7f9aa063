//! The translation of one thread: Algorithms 6 to 13 of `[AAGKV, C]`, with the deviations of [`super`].

mod steps;

use super::code::{Code, number};
use super::{Data, is_relaxed};
use crate::Unsupported;
use fencepost_ir::{BinaryOp, Fence, Function, Instr, Label, Operand, Order, Reg};

/// What a thread knows of a cell: the paper's `view[x]`, and `liveChain[x]`.
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
    /// In check mode: 0 no unpromised write; 1 some; 2 with a read-modify-write, so that a promise must end it; 3 the
    /// same, and that promise is anchored at `time`.
    chain: Reg,
}

/// Translates one thread.
struct Translator<'a> {
    data: &'a Data,
    thread: i64,
    code: Code,
    views: Vec<View>,
    check: Reg,
    want: Reg,
    cost: Reg,
    back: Reg,
    /// Registers that check mode must not change, each with its copy.
    saved: Vec<(Reg, Reg)>,
    /// Places that check mode returns to: number, and the jump to it, to be known later.
    returns: Vec<Label>,
    /// Jumps to the end of check mode.
    finish: Vec<usize>,
    /// Instructions of the source.
    length: u32,
}

/// The translation of a thread's function.
pub fn translate(source: &Function, data: &Data, thread: usize) -> Result<Function, Unsupported> {
    let mut function =
        Function { name: source.name.clone(), regs: source.regs.clone(), ..Function::default() };
    function.params = source.params;
    let mut code = Code { function, span: Default::default() };
    let names = ["ps_check", "ps_want", "ps_cost", "ps_back"];
    let [check, want, cost, back] = names.map(|name| code.register(name));
    let mut views = Vec::new();
    for _ in &data.cells {
        let names = ["ps_t", "ps_v", "ps_l", "ps_f", "ps_u", "ps_chain"];
        let [time, value, legal, fresh, hangs, chain] = names.map(|name| code.register(name));
        views.push(View { time, value, legal, fresh, hangs, chain });
    }
    let mut kept: Vec<Reg> = (0..source.regs.len() as u32).map(Reg).collect();
    kept.extend(views.iter().flat_map(|v| [v.time, v.value, v.legal, v.fresh, v.hangs]));
    let saved = kept.into_iter().map(|reg| (reg, code.register("ps_saved"))).collect();
    let mut t = Translator {
        data,
        thread: thread as i64,
        code,
        views,
        check,
        want,
        cost,
        back,
        saved,
        returns: Vec::new(),
        finish: Vec::new(),
        length: source.body.len() as u32,
    };
    t.start();
    let labels = t.body(source)?;
    t.patch(source, &labels);
    Ok(t.code.function)
}

impl Translator<'_> {
    fn start(&mut self) {
        for (view, (_, init)) in self.views.clone().into_iter().zip(&self.data.cells) {
            self.code.set(view.value, Operand::Const(*init));
            [view.legal, view.fresh].into_iter().for_each(|reg| self.code.set(reg, number(1)));
        }
    }

    /// The instructions one after the other; returns where each begins. Jumps are left for [`Translator::patch`].
    fn body(&mut self, source: &Function) -> Result<Vec<Label>, Unsupported> {
        let mut labels = Vec::new();
        for (instr, span) in source.body.iter().zip(&source.spans) {
            self.code.span = *span;
            labels.push(self.code.function.next_label());
            self.instruction(instr)?;
        }
        labels.push(self.code.function.next_label());
        self.end();
        self.leave_check_mode();
        Ok(labels)
    }

    /// Source labels become labels of the translation. Jumps of the source were marked by labels beyond all code.
    fn patch(&mut self, source: &Function, labels: &[Label]) {
        let mark = MARK;
        let map = |label: &mut Label| {
            if label.0 >= mark {
                *label = labels[(label.0 - mark) as usize];
            }
        };
        debug_assert_eq!(labels.len(), source.body.len() + 1);
        for instr in &mut self.code.function.body {
            match instr {
                Instr::Jump(to) => map(to),
                Instr::Branch { then_to, else_to, .. } => {
                    map(then_to);
                    map(else_to);
                }
                _ => {}
            }
        }
    }

    fn cell(&self, addr: Operand) -> Option<usize> {
        self.data.cells.iter().position(|(address, _)| Operand::Const(*address) == addr)
    }

    fn instruction(&mut self, instr: &Instr) -> Result<(), Unsupported> {
        let span = self.code.span;
        let refuse = |what: &str| Err(Unsupported { what: what.into(), span });
        let unknown = || Unsupported { what: "an access whose cell is not known beforehand".into(), span };
        match instr {
            Instr::Assign { .. } | Instr::Assume(_) | Instr::Nondet { .. } => {
                self.code.push(instr.clone());
            }
            Instr::Jump(to) => {
                self.code.push(Instr::Jump(Label(to.0 + MARK)));
            }
            Instr::Branch { condition, then_to, else_to } => {
                let (then_to, else_to) = (Label(then_to.0 + MARK), Label(else_to.0 + MARK));
                self.code.push(Instr::Branch { condition: *condition, then_to, else_to });
            }
            Instr::Assert { .. } => {
                let normal = self.code.not(self.check);
                self.code.when(normal, |code| {
                    code.push(instr.clone());
                });
            }
            Instr::Load { dst, addr, ann, .. } if is_relaxed(ann.order) => {
                let cell = self.cell(*addr).ok_or_else(unknown)?;
                self.step(|t| {
                    t.read(cell);
                    t.code.set(*dst, t.views[cell].value);
                });
            }
            Instr::Store { addr, value, ann, .. } if is_relaxed(ann.order) => {
                let cell = self.cell(*addr).ok_or_else(unknown)?;
                self.step(|t| t.write(cell, *value));
            }
            Instr::CompareExchange {
                dst,
                success,
                addr,
                expected,
                desired,
                read,
                write,
                weak: false,
                ..
            } if is_relaxed(read.order) && is_relaxed(write.order) => {
                let cell = self.cell(*addr).ok_or_else(unknown)?;
                self.step(|t| t.exchange(cell, (*dst, *success), *expected, *desired));
            }
            Instr::Fence(Fence::C11(Order::SeqCst) | Fence::Mfence | Fence::Sync) => self.step(Self::fence),
            Instr::Return(None) => {
                self.code.push(Instr::Jump(Label(MARK + self.length)));
            }
            Instr::Cut => {
                let normal = self.code.not(self.check);
                self.code.assume(normal);
                self.code.push(Instr::Cut);
            }
            Instr::Load { .. } | Instr::Store { .. } | Instr::CompareExchange { .. } => {
                refuse("an access that is stronger than relaxed, or weak,")?
            }
            Instr::Call { .. } => refuse("a call")?,
            _ => refuse("this instruction")?,
        }
        Ok(())
    }

    /// A memory step: perhaps promises, then the step, then a certification if there is something to certify.
    fn step(&mut self, act: impl FnOnce(&mut Self)) {
        if !self.data.promises {
            // There is no check mode, and every place is inside a section or outside.
            self.code.push(Instr::AtomicBegin);
            self.switch_in();
            act(self);
            self.after();
            return;
        }
        let begin = self.code.function.next_label();
        let normal = self.code.not(self.check);
        let at = self.code.push(Instr::Branch { condition: normal, then_to: Label(0), else_to: Label(0) });
        let then_to = self.code.function.next_label();
        self.code.push(Instr::AtomicBegin);
        self.switch_in();
        self.promise(begin);
        let else_to = self.code.function.next_label();
        self.code.function.body[at] = Instr::Branch { condition: normal, then_to, else_to };
        act(self);
        self.after();
    }

    /// Another thread goes on: what the certification of the last one cost is charged now `[AAGKV, 4]`.
    fn switch_in(&mut self) {
        let (data, thread) = (self.data, number(self.thread));
        let code = &mut self.code;
        let active = code.get(data.active, number(0));
        let other = code.op(BinaryOp::Ne, active, thread);
        code.when(other, |code| {
            let pending = code.get(data.pending, number(0));
            let spent = code.add(data.spent, number(0), pending);
            let within = code.op(BinaryOp::LeS, spent, number(data.bound));
            code.assume(within);
            code.put(data.active, number(0), thread);
            code.put(data.pending, number(0), number(0));
        });
    }

    fn spend_one(&mut self) {
        let (data, code) = (self.data, &mut self.code);
        let spent = code.add(data.spent, number(0), number(1));
        let within = code.op(BinaryOp::LeS, spent, number(data.bound));
        code.assume(within);
    }

    /// Perhaps makes a promise: runs ahead in check mode until a write is promised and everything is certified, then comes back to `begin`.
    fn promise(&mut self, begin: Label) {
        let make = self.code.choose(0, 1);
        let at =
            self.code.push(Instr::Branch { condition: make.into(), then_to: Label(0), else_to: Label(0) });
        let then_to = self.code.function.next_label();
        self.spend_one();
        self.enter_check_mode(begin, 1);
        let else_to = self.code.function.next_label();
        self.code.function.body[at] = Instr::Branch { condition: make.into(), then_to, else_to };
    }

    fn enter_check_mode(&mut self, back: Label, want: i64) {
        for (reg, copy) in self.saved.clone() {
            self.code.set(copy, reg);
        }
        for view in self.views.clone() {
            self.code.set(view.chain, number(0));
        }
        self.returns.push(back);
        let place = self.returns.len() as i64 - 1;
        let (check, want_reg, cost, back) = (self.check, self.want, self.cost, self.back);
        self.code.set(check, number(1));
        self.code.set(want_reg, number(want));
        self.code.set(cost, number(0));
        self.code.set(back, number(place));
        let owes = self.code.get(self.data.owes, number(self.thread));
        self.code.put(self.data.open, number(self.thread), owes);
    }

    /// After a memory step.
    fn after(&mut self) {
        let data = self.data;
        if !data.promises {
            self.code.push(Instr::AtomicEnd);
            return;
        }
        let thread = number(self.thread);
        let check = self.check;
        let at =
            self.code.push(Instr::Branch { condition: check.into(), then_to: Label(0), else_to: Label(0) });
        // Check mode: done if everything is certified and no chain is open that a promise has to end.
        let then_to = self.code.function.next_label();
        let open = self.code.get(data.open, thread);
        let want = self.want;
        let left = self.code.op(BinaryOp::Add, open, want);
        let mut done = self.code.not(left);
        for view in self.views.clone() {
            let short = self.code.less(view.chain, number(2));
            done = self.code.and(done, short);
        }
        let finish = self.code.push(Instr::Branch { condition: done, then_to: Label(0), else_to: Label(0) });
        self.finish.push(finish);
        // Normal mode: certify, or go on.
        let else_to = self.code.function.next_label();
        self.code.function.body[at] = Instr::Branch { condition: check.into(), then_to, else_to };
        self.code.put(data.pending, number(0), number(0));
        let owes = self.code.get(data.owes, thread);
        let certify = self.code.op(BinaryOp::GtS, owes, number(0));
        let at = self.code.push(Instr::Branch { condition: certify, then_to: Label(0), else_to: Label(0) });
        let then_to = self.code.function.next_label();
        // Where check mode comes back to is behind this instruction.
        self.enter_check_mode(Label(0), 0);
        let place = self.returns.len() - 1;
        let jump = self.code.push(Instr::Jump(Label(0)));
        let else_to = self.code.function.next_label();
        self.code.function.body[at] = Instr::Branch { condition: certify, then_to, else_to };
        self.code.push(Instr::AtomicEnd);
        let next = self.code.function.next_label();
        self.code.function.body[jump] = Instr::Jump(next);
        if let Instr::Branch { else_to, .. } = &mut self.code.function.body[finish] {
            *else_to = next;
        }
        self.returns[place] = next;
    }

    /// The end of check mode: what was saved comes back, and what was certified has to be certified again next time.
    fn leave_check_mode(&mut self) {
        let data = self.data;
        let here = self.code.function.next_label();
        for at in std::mem::take(&mut self.finish) {
            if let Instr::Branch { then_to, .. } = &mut self.code.function.body[at] {
                *then_to = here;
            }
        }
        for (reg, copy) in self.saved.clone() {
            self.code.set(reg, copy);
            self.code.set(copy, number(0));
        }
        for slot in 0..data.slots {
            let owner = self.code.get(data.owner, number(slot));
            let certified = self.code.eq(owner, number(-(self.thread + 1)));
            let thread = self.thread;
            self.code.when(certified, |code| code.put(data.owner, number(slot), number(thread + 1)));
        }
        let (check, cost) = (self.check, self.cost);
        self.code.put(data.pending, number(0), cost);
        self.code.put(data.open, number(self.thread), number(0));
        self.code.set(check, number(0));
        let back = self.back;
        for (place, to) in self.returns.clone().into_iter().enumerate() {
            let here = self.code.eq(back, number(place as i64));
            self.code.when(here, |code| {
                code.push(Instr::AtomicEnd);
                code.push(Instr::Jump(to));
            });
        }
    }

    /// The end of the thread: writes without a timestamp get one, and there are no promises left.
    fn end(&mut self) {
        let normal = self.code.not(self.check);
        self.code.assume(normal);
        self.code.push(Instr::AtomicBegin);
        for cell in 0..self.views.len() {
            self.stamp_silent(cell, false);
        }
        let owes = self.code.get(self.data.owes, number(self.thread));
        let none = self.code.not(owes);
        self.code.assume(none);
        self.code.push(Instr::AtomicEnd);
        self.code.push(Instr::Return(None));
    }
}

/// Labels of the source are marked by this until all code is there.
const MARK: u32 = 1 << 24;
