//! The steps of a process: each event chooses its contexts and assumes what the rules demand of them.

use super::{Array, Stored, Translation};
use crate::promising::code::number;
use fencepost_ir::flat::Op;
use fencepost_ir::{BinaryOp, Extend, Fence, Instr, Label, Operand, Reg, Rvalue, UnaryOp, Value, Width};
use std::ops::Range;

/// What a process knows of itself: registers.
#[derive(Clone, Copy)]
pub(super) struct Knows {
    control: Reg,
    fences: Reg,
    eieios: Reg,
    accesses: Reg,
    stores: Reg,
    known: Reg,
    known_committed: Reg,
}

/// A place of memory: a cell of a process.
struct Cell {
    /// The cell's number.
    cell: Operand,
    /// Index of the arrays by process and cell.
    own: Operand,
}

impl Translation<'_> {
    /// A part of a thread. The first part of `main` begins at its first step, later ones where the part before said.
    pub(super) fn part(&mut self, thread: usize, part: Range<usize>) {
        let names = ["control", "fences", "eieios", "accesses", "stores", "known", "known_committed"];
        let [control, fences, eieios, accesses, stores, known, known_committed] =
            names.map(|name| self.code.register(&format!("p{thread}_{name}")));
        let knows = Knows { control, fences, eieios, accesses, stores, known, known_committed };
        self.part = part.clone();
        if thread == 0 && !self.crossings.is_empty() {
            for target in self.crossings.clone() {
                if part.contains(&target) {
                    let here = self.code.eq(self.resume, number(target as i64));
                    let at = self.code.open(here);
                    let jump = self.code.push(Instr::Jump(Label(0)));
                    self.edges.push((jump, false, (0, target)));
                    let jump = self.code.close(at);
                    self.code.land(jump);
                }
            }
            let jump = self.code.push(Instr::Jump(Label(0)));
            self.exits.push(jump);
        }
        for at in part.clone() {
            self.steps[thread][at] = Some(self.code.function.next_label().0);
            self.code.span = self.flat.threads[thread].code[at].span;
            self.step(thread, at, &knows);
        }
        if part.is_empty() && thread > 0 {
            self.code.set(self.ended[thread], number(1));
        }
        for exit in std::mem::take(&mut self.exits) {
            self.code.land(exit);
        }
    }

    /// Goes on at a step.
    fn go(&mut self, thread: usize, target: usize) {
        if target == self.flat.threads[thread].code.len() {
            self.code.set(self.ended[thread], number(1));
        }
        if self.part.contains(&target) {
            let jump = self.code.push(Instr::Jump(Label(0)));
            self.edges.push((jump, false, (thread, target)));
        } else {
            self.leave(thread, target);
        }
    }

    /// Leaves the part; `main` goes on at a step later.
    fn leave(&mut self, thread: usize, target: usize) {
        if thread == 0 {
            self.code.set(self.resume, number(target as i64));
            self.crossings.insert(target);
        }
        let jump = self.code.push(Instr::Jump(Label(0)));
        self.exits.push(jump);
    }

    /// The thread does nothing more.
    fn stop(&mut self, thread: usize) {
        match self.complete {
            true => self.code.assume(number(0)),
            false => self.leave(thread, self.flat.threads[thread].code.len()),
        }
    }

    /// The thread stops unless a condition holds.
    fn needs(&mut self, thread: usize, condition: Operand) {
        if self.complete {
            return self.code.assume(condition);
        }
        let fails = self.code.not(condition);
        let at = self.code.open(fails);
        self.leave(thread, self.flat.threads[thread].code.len());
        let jump = self.code.close(at);
        self.code.land(jump);
    }

    /// Others may do without what comes now.
    fn may_stop(&mut self, thread: usize) {
        if !self.complete {
            let on = self.code.choose(0, 1);
            self.needs(thread, on.into());
        }
    }

    /// Something is wrong unless a condition holds; the thread does nothing more then if it `ends`.
    fn fails_unless(&mut self, thread: usize, condition: Operand, message: &str, ends: bool) {
        self.failures.push((message.to_string(), self.code.span));
        let fails = self.code.not(condition);
        let at = self.code.open(fails);
        self.code.set(self.failed, number(self.failures.len() as i64));
        if ends {
            self.leave(thread, self.flat.threads[thread].code.len());
        }
        let jump = self.code.close(at);
        self.code.land(jump);
    }

    fn value(&self, thread: usize, operand: Operand) -> Operand {
        self.shifted(thread, operand, 0, operand)
    }

    /// The context by which what an operand depends on is initialised.
    fn init(&self, thread: usize, operand: Operand) -> Operand {
        self.shifted(thread, operand, 1, number(0))
    }

    /// The context by which it is committed.
    fn commit(&self, thread: usize, operand: Operand) -> Operand {
        self.shifted(thread, operand, 2, number(0))
    }

    fn shifted(&self, thread: usize, operand: Operand, kind: u32, constant: Operand) -> Operand {
        match operand {
            Operand::Reg(reg) => self.register(thread, reg, kind).into(),
            Operand::Const(_) => constant,
        }
    }

    fn register(&self, thread: usize, reg: Reg, kind: u32) -> Reg {
        Reg(self.bases[thread] + kind * self.flat.threads[thread].regs + reg.0)
    }

    fn set(&mut self, thread: usize, dst: Reg, value: Rvalue, init: Operand, commit: Operand) {
        let [value_reg, init_reg, commit_reg] = [0, 1, 2].map(|kind| self.register(thread, dst, kind));
        // The contexts first: the value may be computed from the register itself.
        self.code.set(init_reg, init);
        self.code.set(commit_reg, commit);
        self.code.push(Instr::Assign { dst: value_reg, value });
    }

    fn select(&mut self, condition: Operand, a: Operand, b: Operand) -> Operand {
        let dst = self.code.register("selected");
        self.code.push(Instr::Assign { dst, value: Rvalue::Select(condition, a, b) });
        dst.into()
    }

    fn max(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Operand {
        let (a, b) = (a.into(), b.into());
        match (a, b) {
            (Operand::Const(Value::ZERO), other) | (other, Operand::Const(Value::ZERO)) => other,
            _ => {
                let less = self.code.less(a, b);
                self.select(less, b, a)
            }
        }
    }

    fn raise(&mut self, register: Reg, by: impl Into<Operand>) {
        let most = self.max(register, by);
        self.code.set(register, most);
    }

    /// A context of the process that is not before any of these.
    fn context(&mut self, thread: usize, after: &[Operand]) -> Operand {
        let context = self.code.choose(0, i64::from(self.layout.contexts) - 1);
        let active = self.get(Array::Active, context);
        let active = self.code.eq(active, number(thread as i64));
        self.code.assume(active);
        for &other in after.iter().filter(|other| **other != Operand::Const(Value::ZERO)) {
            let early = self.code.less(context, other);
            let late = self.code.not(early);
            self.code.assume(late);
        }
        context.into()
    }

    fn add(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Operand {
        match (a.into(), b.into()) {
            (Operand::Const(a), Operand::Const(b)) => number(a.as_i64() + b.as_i64()),
            (a, b) => self.code.op(BinaryOp::Add, a, b),
        }
    }

    fn times(&mut self, a: Operand, b: u32) -> Operand {
        match a {
            Operand::Const(a) => number(a.as_i64() * i64::from(b)),
            a => self.code.op(BinaryOp::Mul, a, number(b.into())),
        }
    }

    /// The index of what a process has received of a cell in a context.
    fn at(&mut self, process: usize, cell: Operand, context: impl Into<Operand>) -> Operand {
        let cells = self.layout.cells;
        let row = self.add(number(i64::from(cells) * process as i64), cell);
        let row = self.times(row, self.layout.contexts + 1);
        self.add(row, context)
    }

    fn cell(&mut self, thread: usize, addr: Operand, width: Width) -> Cell {
        let addr = self.value(thread, addr);
        let of_width: Vec<(usize, Value)> = self
            .cells
            .iter()
            .enumerate()
            .filter(|(_, place)| place.width == width)
            .map(|(at, place)| (at, place.address))
            .collect();
        let cell = match addr {
            Operand::Const(value) => {
                let found = of_width.iter().find(|(_, address)| *address == value).map(|(at, _)| *at);
                if found.is_none() {
                    self.fails_unless(thread, number(0), "an access to something that is no cell", true);
                }
                number(found.unwrap_or(0) as i64)
            }
            Operand::Reg(_) => {
                let mut cell = number(-1);
                for (at, address) in of_width {
                    let here = self.is_address(addr, address);
                    cell = self.select(here, number(at as i64), cell);
                }
                let none = self.code.less(cell, number(0));
                let some = self.code.not(none);
                self.fails_unless(thread, some, "an access to something that is no cell", true);
                cell
            }
        };
        let own = self.add(number(i64::from(self.layout.cells) * thread as i64), cell);
        Cell { cell, own }
    }

    /// Other threads that do something.
    fn others(&self, thread: usize) -> Vec<usize> {
        (0..self.flat.threads.len()).filter(|&q| q != thread && self.busy[q]).collect()
    }

    fn step(&mut self, thread: usize, at: usize, knows: &Knows) {
        let flat = self.flat;
        let step = &flat.threads[thread].code[at];
        let alone = self.is_alone(thread, at);
        let quiet =
            matches!(step.op, Op::Nondet { .. } | Op::Assume(_) | Op::Assert { .. } | Op::Branch { .. });
        if quiet && !alone && !self.is_active_before(thread, at) {
            // Somebody has to fetch it.
            self.context(thread, &[]);
        }
        match step.op {
            Op::Skip | Op::Spawn(_) | Op::AtomicBegin | Op::AtomicEnd => {}
            Op::Cut => return self.stop(thread),
            Op::Assign { dst, ref value } => self.assign(thread, dst, *value),
            Op::Nondet { dst, first, last } => {
                let value = self.code.choose(first, last);
                self.set(thread, dst, Rvalue::Use(value.into()), number(0), number(0));
            }
            Op::Load { dst, addr, width, extend, reserve } => {
                self.load(thread, dst, (addr, width, extend), reserve, alone, knows);
            }
            Op::Store { addr, value, width, paired } => {
                self.store(thread, (addr, width), (value, paired), alone, knows);
            }
            Op::Fence(_) if alone => {}
            Op::Fence(fence) => {
                self.may_stop(thread);
                self.fence(thread, fence, knows);
            }
            Op::Branch { condition, other } => {
                self.control(thread, condition, alone, knows);
                let condition = self.value(thread, condition);
                let at = self.code.open(condition);
                self.go(thread, step.next as usize);
                let jump = self.code.close(at);
                self.go(thread, other as usize);
                self.code.land(jump);
                return;
            }
            Op::Assume(condition) => {
                self.control(thread, condition, alone, knows);
                let condition = self.value(thread, condition);
                self.needs(thread, condition);
            }
            Op::Assert { condition, ref message, .. } => {
                // Beside others it orders nothing, so that the thread may have gone on.
                let condition = self.value(thread, condition);
                self.fails_unless(thread, condition, message, alone);
            }
            Op::Join { thread: child, dst } => self.join(thread, child, dst),
        }
        self.go(thread, step.next as usize);
    }

    /// On every way to a step there is one that has its contexts.
    fn is_active_before(&self, thread: usize, at: usize) -> bool {
        let steps = self.flat.threads[thread].code[..at].iter().enumerate();
        let mut during = steps.filter(|(step, _)| !self.is_alone(thread, *step)).map(|(_, step)| &step.op);
        let first = during
            .find(|op| matches!(op, Op::Branch { .. } | Op::Load { .. } | Op::Store { .. } | Op::Fence(_)));
        first.is_some_and(|op| !matches!(op, Op::Branch { .. }))
    }

    fn control(&mut self, thread: usize, condition: Operand, alone: bool, knows: &Knows) {
        if !alone {
            let commit = self.commit(thread, condition);
            self.raise(knows.control, commit);
        }
    }

    fn join(&mut self, thread: usize, child: Operand, dst: Option<Reg>) {
        // Which thread it is was known when threads were laid out, or the program was refused.
        let Operand::Const(child) = child else { return self.stop(thread) };
        let Some(&ended) = self.ended.get(child.0 as usize) else { return self.stop(thread) };
        self.needs(thread, ended.into());
        if let Some(dst) = dst {
            let result = self.flat.threads[child.0 as usize].result;
            let result = self.register(child.0 as usize, result, 0);
            self.set(thread, dst, Rvalue::Use(result.into()), number(0), number(0));
        }
    }

    fn assign(&mut self, thread: usize, dst: Reg, value: Rvalue) {
        let operands = match value {
            Rvalue::Use(a) | Rvalue::Unary(_, _, _, a) => vec![a],
            Rvalue::Binary(_, _, _, a, b) => vec![a, b],
            Rvalue::Select(a, b, c) => vec![a, b, c],
        };
        let (mut init, mut commit) = (number(0), number(0));
        for operand in operands {
            init = self.max(init, self.init(thread, operand));
            commit = self.max(commit, self.commit(thread, operand));
        }
        let moved = match value {
            Rvalue::Use(a) => Rvalue::Use(self.value(thread, a)),
            Rvalue::Unary(op, width, extend, a) => Rvalue::Unary(op, width, extend, self.value(thread, a)),
            Rvalue::Binary(op, width, extend, a, b) => {
                Rvalue::Binary(op, width, extend, self.value(thread, a), self.value(thread, b))
            }
            Rvalue::Select(a, b, c) => {
                Rvalue::Select(self.value(thread, a), self.value(thread, b), self.value(thread, c))
            }
        };
        self.set(thread, dst, moved, init, commit);
    }

    fn load(
        &mut self,
        thread: usize,
        dst: Reg,
        (addr, width, extend): (Operand, Width, Extend),
        reserve: bool,
        alone: bool,
        knows: &Knows,
    ) {
        let extended = |value: Operand| {
            let op = if extend == Extend::Sign { UnaryOp::SignExtend } else { UnaryOp::ZeroExtend };
            Rvalue::Unary(op, width, extend, value)
        };
        if alone {
            let Cell { cell, .. } = self.cell(thread, addr, width);
            let value = self.get(Array::Memory, cell);
            return self.set(thread, dst, extended(value), number(0), number(0));
        }
        self.may_stop(thread);
        let Cell { cell, own } = self.cell(thread, addr, width);
        let (address, address_committed) = (self.init(thread, addr), self.commit(thread, addr));
        let (own_init, addresses) = (self.get(Array::OwnInit, own), self.get(Array::Addresses, own));
        let init = self.context(thread, &[knows.fences.into(), address, own_init, addresses]);
        let committed = self.get(Array::Committed, own);
        let after = [init, knows.control.into(), knows.known.into(), address_committed, committed];
        let commit = self.context(thread, &after);
        let at = self.at(thread, cell, init);
        let (from, own_number) = (self.get(Array::From, at), self.get(Array::OwnNumber, own));
        // What an earlier read of the cell has seen, this one has seen, or it is before the own store.
        let last = self.get(Array::LastRead, own);
        let at_last = self.at(thread, cell, last);
        let seen = self.get(Array::From, at_last);
        let newest = self.max(from, own_number);
        let (earlier, missed) = (self.code.less(init, last), self.code.less(newest, seen));
        let wrong = self.code.and(earlier, missed);
        let right = self.code.not(wrong);
        self.code.assume(right);
        let over = self.code.less(own_number, from);
        let (foreign, mine) = (self.get(Array::Value, at), self.get(Array::OwnValue, own));
        let value = self.select(over, foreign, mine);
        if reserve {
            let (of, read) = self.reservations[thread];
            let from_one = self.add(cell, number(1));
            self.code.set(of, from_one);
            self.code.set(read, newest);
        }
        self.put(Array::Committed, own, commit);
        self.put(Array::LastRead, own, init);
        self.raise(knows.accesses, commit);
        self.raise(knows.known, address);
        self.raise(knows.known_committed, address_committed);
        self.set(thread, dst, extended(value), init, commit);
    }

    fn store(
        &mut self,
        thread: usize,
        (addr, width): (Operand, Width),
        (value, paired): (Operand, bool),
        alone: bool,
        knows: &Knows,
    ) {
        if !alone {
            self.may_stop(thread);
        }
        let Cell { cell, own } = self.cell(thread, addr, width);
        let stored = self.code.register("stored");
        let (given, sign) = (self.value(thread, value), UnaryOp::SignExtend);
        self.code.push(Instr::Assign { dst: stored, value: Rvalue::Unary(sign, width, Extend::Sign, given) });
        if alone {
            return self.put(Array::Memory, cell, stored);
        }
        let from_one = self.add(cell, number(1));
        if paired {
            // Without a reservation it cannot be done.
            let reserved = self.code.eq(self.reservations[thread].0, from_one);
            self.needs(thread, reserved);
        }
        let (address, address_committed) = (self.init(thread, addr), self.commit(thread, addr));
        let (data, data_committed) = (self.init(thread, value), self.commit(thread, value));
        let init = self.max(address, data);
        let init = self.max(init, knows.fences);
        let committed = self.get(Array::Committed, own);
        let control = [knows.control, knows.known, knows.eieios].map(Operand::from);
        let mut after = vec![init, data_committed, address_committed, committed];
        after.extend(control);
        let commit = self.context(thread, &after);
        let chosen = self.code.choose(1, i64::from(self.layout.stores));
        let place = self.times(chosen.into(), self.layout.processes);
        let place = self.add(place, number(thread as i64));
        let last = self.get(Array::OwnNumber, own);
        self.assume_less(last, place);
        let names = ["store_cell", "store_number"].map(|name| self.code.register(name));
        let [store_cell, store_number] = names;
        self.code.set(store_cell, from_one);
        self.code.set(store_number, place);
        let from = paired.then(|| {
            let from = self.code.register("store_from");
            self.code.set(from, self.reservations[thread].1);
            self.code.set(self.reservations[thread].0, number(0));
            from
        });
        self.stores.push(Stored { thread, cell: store_cell, number: store_number, from });
        self.arrive(thread, cell, commit, place, stored);
        for q in self.others(thread) {
            let (reached, need) = (self.pair(thread, q, 0), self.pair(thread, q, 0));
            let reached = self.get(Array::Reached, number(reached / (i64::from(self.layout.contexts) + 1)));
            let need = self.add(number(need), commit);
            let need = self.get(Array::Need, need);
            let arrives = self.code.choose(0, 1);
            let at = self.code.open(arrives);
            let when = self.context(thread, &[commit, reached, need]);
            self.arrive(q, cell, when, place, stored);
            if self.is_established() {
                let at = self.at(q, cell, when);
                self.put(Array::Gets, at, place);
            }
            let jump = self.code.close(at);
            // Otherwise a store behind it gets there.
            let end = self.at(q, cell, number(self.layout.contexts.into()));
            let end = self.get(Array::From, end);
            self.assume_less(place, end);
            self.code.land(jump);
        }
        self.put(Array::OwnValue, own, stored);
        self.put(Array::OwnNumber, own, place);
        self.put(Array::OwnInit, own, init);
        self.put(Array::Committed, own, commit);
        self.addresses(thread, cell, address);
        self.raise(knows.accesses, commit);
        self.raise(knows.stores, commit);
        self.raise(knows.known, address);
        self.raise(knows.known_committed, address_committed);
    }

    /// Whether a store hits a cell is known when its address is.
    fn addresses(&mut self, thread: usize, cell: Operand, address: Operand) {
        for other in 0..self.cells.len() as i64 {
            let own = number(i64::from(self.layout.cells) * thread as i64 + other);
            let hit = match cell {
                Operand::Const(cell) => number(i64::from(cell.as_i64() == other)),
                cell => self.code.eq(cell, number(other)),
            };
            if hit == number(1) {
                self.put(Array::Addresses, own, number(0));
            } else if address != number(0) {
                let before = self.get(Array::Addresses, own);
                let later = self.max(before, address);
                let known = self.select(hit, number(0), later);
                self.put(Array::Addresses, own, known);
            }
        }
    }

    fn assume_less(&mut self, a: Operand, b: Operand) {
        let less = self.code.less(a, b);
        self.code.assume(less);
    }

    /// A store arrives: it is behind all that is there.
    fn arrive(&mut self, process: usize, cell: Operand, context: Operand, place: Operand, value: Reg) {
        let at = self.at(process, cell, context);
        let there = self.get(Array::To, at);
        self.assume_less(there, place);
        self.put(Array::To, at, place);
        self.put(Array::New, at, value);
    }

    fn fence(&mut self, thread: usize, fence: Fence, knows: &Knows) {
        let waits = |with: Reg| [knows.control, knows.fences, with].map(Operand::from);
        match fence {
            Fence::Isync => {
                // Somebody has to fetch it.
                self.context(thread, &[]);
                self.raise(knows.fences, knows.control);
                self.raise(knows.fences, knows.known_committed);
            }
            Fence::Sync | Fence::Mfence => {
                let commit = self.context(thread, &waits(knows.accesses));
                let done = self.context(thread, &[commit]);
                for q in self.others(thread) {
                    self.carries_all(thread, q, commit, done);
                }
                self.code.set(knows.fences, done);
            }
            Fence::Eieio => {
                let commit = self.context(thread, &waits(knows.stores));
                self.barrier(thread, commit, false);
                self.raise(knows.eieios, commit);
            }
            _ => {
                let commit = self.context(thread, &waits(knows.accesses));
                self.barrier(thread, commit, true);
                self.code.set(knows.fences, commit);
            }
        }
    }

    /// By a context everything that a process had when it committed a fence is with another process.
    fn carries_all(&mut self, thread: usize, to: usize, commit: Operand, by: Operand) {
        for cell in 0..self.cells.len() as i64 {
            let (here, there) = (self.at(thread, number(cell), commit), self.at(to, number(cell), by));
            let (here, there) = (self.get(Array::To, here), self.get(Array::To, there));
            self.not_less(there, here);
            self.is_known(thread, to, cell, by, here);
        }
    }

    /// With two processes: if the last store that a fence has seen is an own one, it or a later one has arrived at the other
    /// process, or one that is behind it has come from there.
    fn is_known(&mut self, thread: usize, to: usize, cell: i64, by: Operand, here: Operand) {
        if !self.is_established() {
            return;
        }
        let own = number(i64::from(self.layout.cells) * thread as i64 + cell);
        let own = self.get(Array::OwnNumber, own);
        let (there, back) = (self.at(to, number(cell), by), self.at(thread, number(cell), by));
        let (there, back) = (self.get(Array::Gets, there), self.get(Array::Gets, back));
        let foreign = self.code.less(own, here);
        let missing = self.code.less(there, own);
        let (arrived, behind) = (self.code.not(missing), self.code.less(own, back));
        let known = self.code.or(foreign, arrived);
        let known = self.code.or(known, behind);
        self.code.assume(known);
    }

    fn not_less(&mut self, a: Operand, b: Operand) {
        let less = self.code.less(a, b);
        let fine = self.code.not(less);
        self.code.assume(fine);
    }

    /// An `lwsync` or `eieio` reaches the others one by one.
    fn barrier(&mut self, thread: usize, commit: Operand, all: bool) {
        let others = self.others(thread);
        let reaches: Vec<Operand> = others.iter().map(|_| self.context(thread, &[commit])).collect();
        let row = i64::from(self.layout.contexts) + 1;
        for (&q, &by) in others.iter().zip(&reaches) {
            if all {
                self.carries_all(thread, q, commit, by);
            } else {
                for cell in 0..self.cells.len() as i64 {
                    let own = number(i64::from(self.layout.cells) * thread as i64 + cell);
                    let there = self.at(q, number(cell), by);
                    let (own, there) = (self.get(Array::OwnNumber, own), self.get(Array::To, there));
                    self.not_less(there, own);
                    self.is_known(thread, q, cell, by, own);
                }
            }
            let at = number(self.pair(thread, q, 0) / row);
            let before = self.get(Array::Reached, at);
            let now = self.max(before, by);
            self.put(Array::Reached, at, now);
            // What the other process stores from then on has to wait for the barrier on its way to third ones.
            for (&r, &to_r) in others.iter().zip(&reaches) {
                if r != q {
                    let at = self.add(number(self.pair(q, r, 0)), by);
                    let before = self.get(Array::Needs, at);
                    let now = self.max(before, to_r);
                    self.put(Array::Needs, at, now);
                }
            }
        }
    }
}
