//! Reads, writes, read-modify-writes and fences of a translated thread without promises.

use super::Translator;
use crate::promising::code::number;
use fencepost_ir::{BinaryOp, Operand, Reg};

impl Translator<'_> {
    /// Does one of several things.
    fn one_of(&mut self, ways: &[&dyn Fn(&mut Self)]) {
        let which = self.code.choose(0, ways.len() as i64 - 1);
        let mut jumps = Vec::new();
        for (n, way) in ways.iter().enumerate() {
            let here = self.code.eq(which, number(n as i64));
            let at = self.code.open(here);
            way(self);
            jumps.push(self.code.close(at));
        }
        jumps.into_iter().for_each(|jump| self.code.land(jump));
    }

    fn either(&mut self, condition: impl Into<Operand>, then: &dyn Fn(&mut Self), other: &dyn Fn(&mut Self)) {
        let at = self.code.open(condition);
        then(self);
        let jump = self.code.close(at);
        other(self);
        self.code.land(jump);
    }

    fn when(&mut self, condition: impl Into<Operand>, then: &dyn Fn(&mut Self)) {
        self.either(condition, then, &|_| {});
    }

    fn at(&mut self, cell: usize, stamp: impl Into<Operand>) -> Operand {
        self.code.op(BinaryOp::Add, number(self.data.row(cell)), stamp)
    }

    /// Any message of a cell in the store.
    fn any_message(&mut self, cell: usize) -> Reg {
        let data = self.data;
        let slot = self.code.choose(0, (data.slots - 1).max(0));
        let used = self.code.get(data.used, number(0));
        let exists = self.code.less(slot, used);
        self.code.assume(exists);
        let var = self.code.get(data.var, slot);
        let same = self.code.eq(var, number(cell as i64));
        self.code.assume(same);
        slot
    }

    /// Alg. 11.
    pub(super) fn read(&mut self, cell: usize) {
        let view = self.views[cell];
        self.one_of(&[&|t| t.code.assume(view.fresh), &|t| {
            t.code.assume(view.legal);
            let slot = t.any_message(cell);
            let time = t.code.get(t.data.time, slot);
            let ahead = t.code.op(BinaryOp::LeS, view.time, time);
            t.code.assume(ahead);
            let switches = t.code.less(view.time, time);
            t.when(switches, &|t| t.spend_one());
            t.code.set(view.time, time);
            let value = t.code.get(t.data.value, slot);
            t.code.set(view.value, value);
            t.code.set(view.fresh, number(1));
        }]);
    }

    /// A free timestamp above the view; `next`: the one right above.
    fn free_stamp(&mut self, cell: usize, next: bool) -> Reg {
        let view = self.views[cell];
        let stamp = match next {
            true => {
                let above = self.code.op(BinaryOp::Add, view.time, number(1));
                let reg = self.code.register("ps_stamp");
                self.code.set(reg, above);
                let exists = self.code.op(BinaryOp::LeS, reg, number(self.data.stamps));
                self.code.assume(exists);
                reg
            }
            false => {
                let stamp = self.code.choose(0, self.data.stamps);
                let above = self.code.less(view.time, stamp);
                self.code.assume(above);
                stamp
            }
        };
        let at = self.at(cell, stamp);
        let taken = self.code.get(self.data.taken, at);
        let free = self.code.not(taken);
        self.code.assume(free);
        stamp
    }

    /// A message gets a timestamp.
    fn take(&mut self, cell: usize, stamp: Reg, value: Operand) {
        let (data, view) = (self.data, self.views[cell]);
        let at = self.at(cell, stamp);
        self.code.put(data.taken, at, number(1));
        let newest = self.code.get(data.newest, number(cell as i64));
        let newer = self.code.less(newest, stamp);
        self.when(newer, &|t| {
            t.code.put(data.newest, number(cell as i64), stamp);
            t.code.put(data.last, number(cell as i64), value);
        });
        self.code.set(view.time, stamp);
        self.code.set(view.legal, number(1));
        self.code.set(view.hangs, number(0));
    }

    /// Alg. 8, or nothing: only what somebody reads is stored.
    fn perhaps_publish(&mut self, cell: usize, value: Operand) {
        let data = self.data;
        if data.slots == 0 {
            return;
        }
        let stamp: Operand = self.views[cell].time.into();
        self.one_of(&[&|_| {}, &|t| {
            let slot = t.code.get(data.used, number(0));
            let room = t.code.less(slot, number(data.slots));
            t.code.assume(room);
            for (array, entry) in [(data.var, number(cell as i64)), (data.time, stamp), (data.value, value)] {
                t.code.put(array, slot, entry);
            }
            t.code.add(data.used, number(0), number(1));
        }]);
    }

    /// Alg. 12.
    pub(super) fn write(&mut self, cell: usize, value: Operand) {
        let view = self.views[cell];
        let silent = |t: &mut Self| {
            t.code.set(view.legal, number(0));
            t.code.set(view.hangs, number(0));
        };
        let stamped = |t: &mut Self| {
            let stamp = t.free_stamp(cell, false);
            t.take(cell, stamp, value);
            t.perhaps_publish(cell, value);
        };
        self.one_of(&[&silent, &stamped]);
        self.code.set(view.value, value);
        self.code.set(view.fresh, number(1));
    }

    /// Something comes to touch the view's message from above: only once.
    fn touch(&mut self, cell: usize) {
        let at = self.at(cell, self.views[cell].time);
        let touched = self.code.get(self.data.touched, at);
        let untouched = self.code.not(touched);
        self.code.assume(untouched);
        self.code.put(self.data.touched, at, number(1));
    }

    /// Alg. 13, for the write of any read-modify-write; its read was done.
    pub(super) fn exchange(&mut self, cell: usize, value: Operand) {
        let view = self.views[cell];
        let silent = |t: &mut Self| {
            t.when(view.legal, &|t| t.touch(cell));
            let hangs = t.code.or(view.legal, view.hangs);
            t.code.set(view.hangs, hangs);
            t.code.set(view.legal, number(0));
        };
        let stamped = |t: &mut Self| {
            let hangs = t.code.or(view.legal, view.hangs);
            t.when(view.legal, &|t| t.touch(cell));
            t.either(
                hangs,
                &|t| {
                    let stamp = t.free_stamp(cell, true);
                    t.take(cell, stamp, value);
                },
                &|t| {
                    let stamp = t.free_stamp(cell, false);
                    t.take(cell, stamp, value);
                },
            );
            t.perhaps_publish(cell, value);
        };
        self.one_of(&[&silent, &stamped]);
        self.code.set(view.value, value);
        self.code.set(view.fresh, number(1));
    }

    /// Alg. 9.
    pub(super) fn fence(&mut self) {
        for cell in 0..self.views.len() {
            self.stamp_silent(cell, true);
            let view = self.views[cell];
            let global = self.code.get(self.data.global, number(cell as i64));
            let behind = self.code.less(view.time, global);
            self.either(
                behind,
                &|t| {
                    t.code.set(view.time, global);
                    t.code.set(view.fresh, number(0));
                },
                &|t| t.code.put(t.data.global, number(cell as i64), view.time),
            );
        }
    }

    /// A last write without a timestamp gets one.
    pub(super) fn stamp_silent(&mut self, cell: usize, publish: bool) {
        let view = self.views[cell];
        let silent = self.code.not(view.legal);
        self.when(silent, &|t| {
            t.either(
                view.hangs,
                &|t| {
                    let stamp = t.free_stamp(cell, true);
                    t.take(cell, stamp, view.value.into());
                },
                &|t| {
                    let stamp = t.free_stamp(cell, false);
                    t.take(cell, stamp, view.value.into());
                },
            );
            if publish {
                t.perhaps_publish(cell, view.value.into());
            }
        });
    }
}
