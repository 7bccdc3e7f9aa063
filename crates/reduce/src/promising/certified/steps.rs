//! Reads, writes, promises and fences of the run.

use super::thread::Translator;
use crate::promising::Rule;
use crate::promising::code::number;
use fencepost_ir::{BinaryOp, Extend, Operand, Reg};

impl Translator<'_> {
    /// In the array of states: kept for the thread, and a promise of the thread.
    pub(super) fn kept(&self) -> Operand {
        number(2 + self.thread as i64)
    }

    pub(super) fn promised(&self) -> Operand {
        number(2 + self.data.threads + self.thread as i64)
    }

    pub(super) fn place(&mut self, cell: usize, stamp: impl Into<Operand>) -> Operand {
        self.code.op(BinaryOp::Add, number(self.data.cells[cell].row), stamp)
    }

    /// A thread reads what it has written, or nothing at all, if nobody else writes.
    pub(super) fn is_alone(&self, cell: usize) -> bool {
        self.data.cells[cell].writers.iter().all(|&writer| writer == self.thread)
    }

    /// The place has a message, or a promise of somebody else.
    pub(super) fn assume_readable(&mut self, place: Operand) {
        let code = &mut self.code;
        let state = code.get(self.data.state, place);
        let message = code.eq(state, number(1));
        let promise = code.less(number(1 + self.data.threads), state);
        let code = &mut self.code;
        let mine = number(2 + self.data.threads + self.thread as i64);
        let foreign = code.op(BinaryOp::Ne, state, mine);
        let theirs = code.and(promise, foreign);
        let readable = code.or(message, theirs);
        code.assume(readable);
    }

    /// Reads: the view is that of what was read.
    pub(super) fn read(&mut self, cell: usize) {
        if self.is_alone(cell) {
            return;
        }
        let view = self.views[cell];
        let stamp = self.code.choose(0, self.data.cells[cell].stamps);
        if self.keeps(Rule::ReadsNewer) {
            let behind = self.code.op(BinaryOp::LeS, view.time, stamp);
            self.code.assume(behind);
        }
        let switches = self.code.op(BinaryOp::Ne, view.time, stamp);
        let at = self.code.open(switches);
        self.spend_one();
        let place = self.place(cell, stamp);
        self.assume_readable(place);
        self.code.set(view.time, stamp);
        let value = self.code.get(self.data.value, place);
        self.code.set(view.value, value);
        let jump = self.code.close(at);
        self.code.land(jump);
    }

    /// A timestamp above the view.
    pub(super) fn above(&mut self, time: Reg, cell: usize) -> Reg {
        let stamp = self.code.choose(1, self.data.cells[cell].stamps);
        let above = self.code.less(time, stamp);
        self.code.assume(above);
        stamp
    }

    /// Writes a new message, or what was promised; `touches`: right behind what was read.
    pub(super) fn write(&mut self, cell: usize, value: Operand, touches: bool) {
        let (data, view) = (self.data, self.views[cell]);
        let stamp: Operand = match touches && self.keeps(Rule::UpdateTouches) {
            true => {
                let stamps = data.cells[cell].stamps;
                let exists = self.code.less(view.time, number(stamps));
                self.code.assume(exists);
                self.code.up(view.time, stamps)
            }
            false => self.above(view.time, cell).into(),
        };
        self.code.set(view.time, stamp);
        self.code.set_extended(view.value, Extend::Sign, value);
        let place = self.place(cell, view.time);
        let state = self.code.get(data.state, place);
        let fulfils = self.code.eq(state, self.promised());
        let owes = self.owes;
        let at = self.code.open(fulfils);
        if self.keeps(Rule::FulfilsValue) {
            let promised = self.code.get(data.value, place);
            let same = self.code.eq(promised, view.value);
            self.code.assume(same);
        }
        let fewer = self.code.down(owes, data.promises);
        self.code.set(owes, fewer);
        let jump = self.code.close(at);
        self.assume_free(state);
        self.code.put(data.value, place, view.value);
        self.code.land(jump);
        self.code.put(data.state, place, number(1));
        if let Some((newest, last)) = data.last {
            let cell = number(cell as i64);
            let before = self.code.get(newest, cell);
            let newer = self.code.less(before, view.time);
            self.code.when(newer, |code| {
                code.put(newest, cell, view.time);
                code.put(last, cell, view.value);
            });
        }
    }

    /// Nobody has the place, or it is kept for this thread.
    pub(super) fn assume_free(&mut self, state: Operand) {
        let nobody = self.code.not(state);
        let mine = self.code.eq(state, self.kept());
        let free = self.code.or(nobody, mine);
        self.code.assume(free);
    }

    /// Promises something: the cell and the timestamp are chosen here, the value is found out by the certification.
    pub(super) fn promise(&mut self, at: usize) {
        let data = self.data;
        self.spend_one();
        if data.promises < data.bound {
            let made = self.code.get(data.made, number(0));
            let within = self.code.less(made, number(data.promises));
            self.code.assume(within);
            let made = self.code.up(made, data.promises);
            self.code.put(data.made, number(0), made);
        }
        let cells = self.promising_cells(at);
        let which = self.code.choose(0, cells.len() as i64 - 1);
        let mut jumps = Vec::new();
        for (number_of, cell) in cells.iter().copied().enumerate() {
            let last = number_of + 1 == cells.len();
            let here = (!last).then(|| self.code.eq(which, number(number_of as i64)));
            let open = here.map(|here| self.code.open(here));
            let stamp = self.above(self.views[cell].time, cell);
            let place = self.place(cell, stamp);
            let state = self.code.get(data.state, place);
            self.assume_free(state);
            self.code.put(data.state, place, self.promised());
            self.code.set(self.wanted, place);
            jumps.extend(open.map(|open| self.code.close(open)));
        }
        jumps.into_iter().for_each(|jump| self.code.land(jump));
        let more = self.code.up(self.owes, data.promises);
        self.code.set(self.owes, more);
    }

    /// An SC fence.
    pub(super) fn fence(&mut self) {
        let data = self.data;
        let none = self.code.not(self.owes);
        self.code.assume(none);
        for cell in 0..self.views.len() {
            if data.cells[cell].stamps == 0 {
                continue;
            }
            let view = self.views[cell];
            let global = self.code.get(data.global, number(cell as i64));
            let behind = self.code.less(view.time, global);
            let at = self.code.open(behind);
            self.code.set(view.time, global);
            let place = self.place(cell, global);
            let value = self.code.get(data.value, place);
            self.code.set(view.value, value);
            let jump = self.code.close(at);
            self.code.put(data.global, number(cell as i64), view.time);
            self.code.land(jump);
        }
    }
}
