//! One thread: its steps, promises between them, and a certification after each.

use super::Data;
use crate::Unsupported;
use crate::promising::code::{Code, Jumps, mask, number};
use crate::promising::updates::Updates;
use crate::promising::{Rule, is_relaxed, refused};
use fencepost_ir::{BinaryOp, Fence, Function, Instr, Operand, Order, Reg};

/// What a thread sees of a cell: a timestamp and the value of that message.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub time: Reg,
    pub value: Reg,
}

/// Translates one thread.
pub(super) struct Translator<'a> {
    pub data: &'a Data,
    pub source: &'a Function,
    pub updates: Updates,
    pub thread: usize,
    pub code: Code,
    pub views: Vec<View>,
    /// Promises that are open.
    pub owes: Reg,
    /// For each instruction: a write that could fulfil a promise may come from there on, without a fence before.
    pub hopeful: Vec<bool>,
    /// Registers of certifications: views, those of the source, promises that are left, view switches, and the place of a promise
    /// whose value is not known yet.
    pub ghost_views: Vec<View>,
    pub ghost_regs: Vec<Reg>,
    pub left: Reg,
    pub cost: Reg,
    pub wanted: Reg,
}

/// The translation of a thread's function.
pub(super) fn translate(source: &Function, data: &Data, thread: usize) -> Result<Function, Unsupported> {
    let mut code = Code::like(source);
    let views = |code: &mut Code, time: &str, value: &str| -> Vec<View> {
        let view = |_| View { time: code.register(time), value: code.register(value) };
        data.cells.iter().map(view).collect()
    };
    let (own, ghost_views) = (views(&mut code, "ps_t", "ps_v"), views(&mut code, "ps_gt", "ps_gv"));
    let ghost_regs = source.regs.iter().map(|name| code.register(&format!("ps_g_{name}"))).collect();
    let [owes, left, cost, wanted] =
        ["ps_owes", "ps_left", "ps_cost", "ps_wanted"].map(|name| code.register(name));
    let mut t = Translator {
        data,
        source,
        updates: Updates::of(source)?,
        thread,
        code,
        views: own,
        owes,
        hopeful: hopeful(source, data.without != Some(Rule::GhostStopsAtFence)),
        ghost_views,
        ghost_regs,
        left,
        cost,
        wanted,
    };
    t.run()?;
    Ok(t.code.function)
}

/// True for an SC fence.
pub(super) fn is_fence(instr: &Instr) -> bool {
    matches!(instr, Instr::Fence(Fence::C11(Order::SeqCst) | Fence::Mfence | Fence::Sync))
}

fn hopeful(source: &Function, stops: bool) -> Vec<bool> {
    let mut hopeful = vec![false; source.body.len() + 1];
    for at in (0..source.body.len()).rev() {
        let instr = &source.body[at];
        let writes = matches!(instr, Instr::Store { .. } | Instr::StoreExclusive { .. });
        hopeful[at] = writes
            || !(stops && is_fence(instr)) && instr.successors(at as u32).any(|to| hopeful[to as usize]);
    }
    hopeful
}

impl Translator<'_> {
    /// The rule is not left out.
    pub fn keeps(&self, rule: Rule) -> bool {
        self.data.without != Some(rule)
    }

    fn run(&mut self) -> Result<(), Unsupported> {
        for (view, cell) in self.views.clone().into_iter().zip(&self.data.cells) {
            self.code.set(view.value, Operand::Const(cell.init));
        }
        let mut jumps = Jumps::default();
        for at in 0..self.source.body.len() {
            self.code.span = self.source.spans[at];
            self.code.again();
            jumps.here(at, self.code.function.next_label());
            self.instruction(at, &mut jumps)?;
        }
        jumps.here(self.source.body.len(), self.code.function.next_label());
        self.code.push(Instr::Return(None));
        jumps.patch(&mut self.code.function);
        Ok(())
    }

    /// The cell of an address.
    pub fn cell(&self, addr: Operand) -> Result<usize, Unsupported> {
        let unknown = || Unsupported {
            what: "an access whose cell is not known beforehand".into(),
            span: self.code.span,
        };
        self.data.cells.iter().position(|cell| Operand::Const(cell.address) == addr).ok_or_else(unknown)
    }

    fn instruction(&mut self, at: usize, jumps: &mut Jumps) -> Result<(), Unsupported> {
        let instr = &self.source.body[at];
        match instr {
            Instr::Assign { .. } | Instr::Assume(_) | Instr::Assert { .. } | Instr::Cut => {
                self.code.push(instr.clone());
            }
            Instr::Jump(to) => jumps.jump(&mut self.code, self.updates.target(at, *to)),
            Instr::Branch { condition, then_to, else_to } => {
                let targets = [*then_to, *else_to].map(|to| self.updates.target(at, to));
                jumps.branch(&mut self.code, *condition, targets);
            }
            Instr::Nondet { .. } => {
                // To the machine a choice is a step, with promises before it and a certification behind.
                self.begin(at)?;
                self.code.push(instr.clone());
                self.end(at + 1)?;
            }
            Instr::Load { dst, addr, ann, extend, .. } if is_relaxed(ann.order) => {
                let cell = self.cell(*addr)?;
                self.begin(at)?;
                self.read(cell);
                self.code.set_extended(*dst, *extend, self.views[cell].value);
                if !ann.exclusive {
                    self.end(at + 1)?;
                }
            }
            Instr::Store { addr, value, ann, .. } if is_relaxed(ann.order) => {
                let cell = self.cell(*addr)?;
                self.begin(at)?;
                self.write(cell, *value, false);
                self.end(at + 1)?;
            }
            Instr::StoreExclusive { addr, value, .. } => {
                let cell = self.cell(*addr)?;
                self.write(cell, *value, true);
                jumps.after(at, self.code.function.next_label());
                self.end(at + 1)?;
            }
            _ if is_fence(instr) => {
                self.begin(at)?;
                self.fence();
                self.end(at + 1)?;
            }
            _ => return Err(refused(instr, self.code.span)),
        }
        Ok(())
    }

    /// A step begins: before it, promises may be made, each followed by a certification and, perhaps, by steps of others.
    fn begin(&mut self, at: usize) -> Result<(), Unsupported> {
        if self.hopeful[at] {
            let mut made = Vec::new();
            for _ in 0..self.data.promises {
                let make = self.code.choose(0, 1);
                made.push(self.code.open(make));
                self.enter();
                self.promise(at);
                if self.keeps(Rule::CertifiesPromise) {
                    self.certify(at, true)?;
                }
                self.code.push(Instr::AtomicEnd);
            }
            for at in made.into_iter().rev() {
                let jump = self.code.close(at);
                self.code.land(jump);
            }
        }
        self.enter();
        Ok(())
    }

    /// A section begins. Where another thread moved last, what its last certification cost is charged now `[AAGKV, 4]`.
    fn enter(&mut self) {
        let (data, thread) = (self.data, number(self.thread as i64));
        let code = &mut self.code;
        code.push(Instr::AtomicBegin);
        let active = code.get(data.active, number(0));
        let other = code.op(BinaryOp::Ne, active, thread);
        code.when(other, |code| {
            let pending = code.get(data.pending, number(0));
            let spent = code.get(data.spent, number(0));
            let spent = match data.without {
                Some(Rule::CountsCertification) => spent,
                _ => code.op(BinaryOp::Add, spent, pending),
            };
            let within = code.op(BinaryOp::LeS, spent, number(data.bound));
            code.assume(within);
            let spent = code.op(BinaryOp::And, spent, number(mask(data.bound)));
            code.put(data.spent, number(0), spent);
            code.put(data.active, number(0), thread);
            code.put(data.pending, number(0), number(0));
        });
    }

    /// A step ends: what is open is certified.
    fn end(&mut self, next: usize) -> Result<(), Unsupported> {
        self.code.put(self.data.pending, number(0), number(0));
        if self.hopeful[next] && !self.keeps(Rule::CertifiesStep) {
        } else if self.hopeful[next] {
            let at = self.code.open(self.owes);
            self.certify(next, false)?;
            let jump = self.code.close(at);
            self.code.land(jump);
        } else {
            let none = self.code.not(self.owes);
            self.code.assume(none);
        }
        self.code.push(Instr::AtomicEnd);
        Ok(())
    }

    /// One unit of K.
    pub fn spend_one(&mut self) {
        let (data, code) = (self.data, &mut self.code);
        let spent = code.get(data.spent, number(0));
        let within = code.less(spent, number(data.bound));
        code.assume(within);
        let spent = code.up(spent, data.bound);
        code.put(data.spent, number(0), spent);
    }
}
