//! A certification: a copy of what is left of the thread, with registers of its own, up to where all promises are fulfilled.

use super::thread::Translator;
use crate::Unsupported;
use crate::promising::Rule;
use crate::promising::code::{Jumps, number};
use crate::promising::updates::Target;
use fencepost_ir::{BinaryOp, Extend, Instr, Label, Operand, Reg, Rvalue};
use std::collections::BTreeSet;

impl Translator<'_> {
    /// Instructions that a certification from there may come to before its last write.
    fn region(&self, from: usize) -> BTreeSet<usize> {
        let (mut region, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            if self.hopeful[at] && region.insert(at) {
                open.extend(self.source.body[at].successors(at as u32).map(|to| to as usize));
            }
        }
        region
    }

    /// Cells that a promise may be about.
    pub(super) fn promising_cells(&self, from: usize) -> Vec<usize> {
        let mut cells = BTreeSet::new();
        for at in self.region(from) {
            if let Instr::Store { addr, .. } | Instr::StoreExclusive { addr, .. } = &self.source.body[at] {
                cells.extend(self.cell(*addr));
            }
        }
        cells.into_iter().collect()
    }

    /// Certifies what is open, `new`: with a promise whose value is not known yet.
    pub(super) fn certify(&mut self, from: usize, new: bool) -> Result<(), Unsupported> {
        let region = self.region(from);
        let used = self.used(&region)?;
        for (view, ghost) in used.1.iter().map(|&cell| (self.views[cell], self.ghost_views[cell])) {
            self.code.set(ghost.time, view.time);
            self.code.set(ghost.value, view.value);
        }
        for &reg in &used.0 {
            self.code.set(self.ghost_regs[reg.0 as usize], reg);
        }
        self.code.set(self.left, self.owes);
        self.code.set(self.cost, number(0));
        let span = self.code.span;
        let (mut jumps, mut done) = (Jumps::default(), Vec::new());
        for &at in &region {
            self.code.span = self.source.spans[at];
            jumps.here(at, self.code.function.next_label());
            self.ghost_instruction(at, new, &mut jumps, &mut done)?;
            let falls = self.source.body[at].successors(at as u32).eq([at as u32 + 1]);
            if falls && !region.contains(&(at + 1)) {
                self.code.assume(number(0));
            }
        }
        self.code.span = span;
        // Who comes here has promises left, and cannot fulfil them any more.
        let lost = self.code.function.next_label();
        self.code.assume(number(0));
        jumps.patch_or(&mut self.code.function, lost);
        let end = self.code.function.next_label();
        for at in done {
            if let Instr::Branch { else_to, .. } = &mut self.code.function.body[at] {
                *else_to = end;
            }
        }
        self.code.put(self.data.pending, number(0), self.cost);
        Ok(())
    }

    /// Registers and cells that the region mentions.
    fn used(&self, region: &BTreeSet<usize>) -> Result<(BTreeSet<Reg>, BTreeSet<usize>), Unsupported> {
        let (mut regs, mut cells) = (BTreeSet::new(), BTreeSet::new());
        for &at in region {
            let mut instr = self.source.body[at].clone();
            for_each_reg(&mut instr, &mut |reg| {
                regs.insert(*reg);
            });
            if let Instr::Load { addr, .. } | Instr::Store { addr, .. } | Instr::StoreExclusive { addr, .. } =
                &instr
            {
                cells.insert(self.cell(*addr)?);
            }
        }
        Ok((regs, cells))
    }

    fn ghost_instruction(
        &mut self,
        at: usize,
        new: bool,
        jumps: &mut Jumps,
        done: &mut Vec<usize>,
    ) -> Result<(), Unsupported> {
        self.code.again();
        let mut instr = self.source.body[at].clone();
        for_each_reg(&mut instr, &mut |reg| *reg = self.ghost_regs[reg.0 as usize]);
        let targets = |to: Label| match self.updates.target(at, to) {
            // What ends a step is of no interest here.
            Target::After(store) => Target::To(store + 1),
            target => target,
        };
        match &instr {
            Instr::Assign { .. } | Instr::Assume(_) | Instr::Nondet { .. } => {
                self.code.push(instr);
            }
            // Certification goes on past a failed assertion.
            Instr::Assert { .. } => {}
            Instr::Jump(to) => jumps.jump(&mut self.code, targets(*to)),
            Instr::Branch { condition, then_to, else_to } => {
                jumps.branch(&mut self.code, *condition, [*then_to, *else_to].map(targets));
            }
            Instr::Load { dst, addr, extend, .. } => {
                let cell = self.cell(*addr)?;
                self.ghost_read(cell);
                self.code.set_extended(*dst, *extend, self.ghost_views[cell].value);
            }
            Instr::Store { addr, value, .. } => {
                let cell = self.cell(*addr)?;
                self.ghost_write(cell, *value, new, done);
            }
            Instr::StoreExclusive { addr, value, .. } => {
                let cell = self.cell(*addr)?;
                self.ghost_update(cell, *value, new, done);
            }
            Instr::Fence(_) if !self.keeps(Rule::GhostStopsAtFence) => {}
            _ => {
                self.code.assume(number(0));
            }
        }
        Ok(())
    }

    fn ghost_read(&mut self, cell: usize) {
        if self.is_alone(cell) {
            return;
        }
        let view = self.ghost_views[cell];
        let stamp = self.code.choose(0, self.data.cells[cell].stamps);
        if self.keeps(Rule::GhostReadsNewer) {
            let behind = self.code.op(BinaryOp::LeS, view.time, stamp);
            self.code.assume(behind);
        }
        let switches = self.code.op(BinaryOp::Ne, view.time, stamp);
        let at = self.code.open(switches);
        let place = self.place(cell, stamp);
        self.assume_readable(place);
        self.code.set(view.time, stamp);
        let value = self.code.get(self.data.value, place);
        self.code.set(view.value, value);
        // It is charged when another thread goes on.
        let cost = self.code.up(self.cost, self.source.body.len() as i64);
        self.code.set(self.cost, cost);
        let jump = self.code.close(at);
        self.code.land(jump);
    }

    /// An open promise above the view; returns its timestamp.
    fn open_promise(&mut self, cell: usize) -> Reg {
        let stamp = self.above(self.ghost_views[cell].time, cell);
        let place = self.place(cell, stamp);
        let state = self.code.get(self.data.state, place);
        let mine = self.code.eq(state, self.promised());
        self.code.assume(mine);
        stamp
    }

    fn ghost_write(&mut self, cell: usize, value: Operand, new: bool, done: &mut Vec<usize>) {
        let view = self.ghost_views[cell];
        self.code.set_extended(view.value, Extend::Sign, value);
        let uses = self.code.choose(0, 1);
        let at = self.code.open(uses);
        let stamp = self.open_promise(cell);
        self.use_promise(cell, stamp, new, done);
        let jump = self.code.close(at);
        // Behind all messages.
        if self.keeps(Rule::GhostWritesLast) {
            self.code.set(view.time, number(self.data.cells[cell].stamps));
        }
        self.code.land(jump);
    }

    fn ghost_update(&mut self, cell: usize, value: Operand, new: bool, done: &mut Vec<usize>) {
        if !self.keeps(Rule::GhostUpdatesByPromise) {
            return self.ghost_write(cell, value, new, done);
        }
        let view = self.ghost_views[cell];
        self.code.set_extended(view.value, Extend::Sign, value);
        let stamp = self.open_promise(cell);
        if self.keeps(Rule::GhostTouches) {
            self.keep_between(cell, stamp);
        }
        self.use_promise(cell, stamp, new, done);
    }

    /// Splits a promise, or fulfils it. `done` are branches to the end, if it was the last one.
    fn use_promise(&mut self, cell: usize, stamp: Reg, new: bool, done: &mut Vec<usize>) {
        let (data, view) = (self.data, self.ghost_views[cell]);
        let fulfils = self.code.choose(0, 1);
        let at = self.code.open(fulfils);
        self.code.set(view.time, stamp);
        let place = self.place(cell, stamp);
        let compare = |t: &mut Self| {
            if t.keeps(Rule::GhostFulfilsValue) {
                let promised = t.code.get(data.value, place);
                let same = t.code.eq(promised, view.value);
                t.code.assume(same);
            }
        };
        if new {
            let first = self.code.eq(self.wanted, place);
            let at = self.code.open(first);
            self.code.put(data.value, place, view.value);
            let jump = self.code.close(at);
            compare(self);
            self.code.land(jump);
        } else {
            compare(self);
        }
        let left = self.code.down(self.left, data.promises);
        self.code.set(self.left, left);
        // Goes on if there are more.
        done.push(self.code.open(self.left));
        let jump = self.code.close(at);
        let below = self.code.op(BinaryOp::Sub, stamp, number(1));
        self.code.set(view.time, below);
        self.code.land(jump);
    }

    /// The places between the view and a promise are nobody else's, and stay so: the promise touches the view's message.
    fn keep_between(&mut self, cell: usize, stamp: Reg) {
        let (view, stamps, row) =
            (self.ghost_views[cell], self.data.cells[cell].stamps, self.data.cells[cell].row);
        let state = self.data.state;
        for between in 1..stamps {
            let above = self.code.less(view.time, number(between));
            let below = self.code.less(number(between), stamp);
            let inside = self.code.and(above, below);
            let at = self.code.open(inside);
            let place = number(row + between);
            let before = self.code.get(state, place);
            self.assume_free(before);
            self.code.put(state, place, self.kept());
            let jump = self.code.close(at);
            self.code.land(jump);
        }
    }
}

/// The registers that an instruction of a straight thread mentions.
fn for_each_reg(instr: &mut Instr, f: &mut dyn FnMut(&mut Reg)) {
    let operand = |operand: &mut Operand, f: &mut dyn FnMut(&mut Reg)| {
        if let Operand::Reg(reg) = operand {
            f(reg);
        }
    };
    match instr {
        Instr::Assign { dst, value } => {
            match value {
                Rvalue::Use(a) | Rvalue::Unary(_, _, _, a) => operand(a, f),
                Rvalue::Binary(_, _, _, a, b) => [a, b].into_iter().for_each(|a| operand(a, f)),
                Rvalue::Select(a, b, c) => [a, b, c].into_iter().for_each(|a| operand(a, f)),
            }
            f(dst);
        }
        Instr::Nondet { dst, .. } | Instr::Load { dst, .. } => f(dst),
        Instr::Store { value, .. } | Instr::StoreExclusive { value, .. } => operand(value, f),
        Instr::Branch { condition, .. } | Instr::Assume(condition) => operand(condition, f),
        _ => {}
    }
}
