//! Reads, writes, compare-exchanges and fences of a translated thread.

use super::Translator;
use crate::promising::code::number;
use fencepost_ir::{BinaryOp, Operand, Reg};

/// Where a new promise hangs.
#[derive(Clone, Copy)]
enum Hang {
    Nowhere,
    At(Reg),
}

impl Translator<'_> {
    fn me(&self) -> Operand {
        number(self.thread + 1)
    }

    fn kept(&self) -> Operand {
        number(self.thread + 2)
    }

    /// Does one of several things.
    fn one_of(&mut self, ways: &[&dyn Fn(&mut Self)]) {
        let which = self.code.choose(0, ways.len() as i64 - 1);
        self.cases(which.into(), ways);
    }

    fn cases(&mut self, which: Operand, ways: &[&dyn Fn(&mut Self)]) {
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

    /// In check mode or not; without promises there is no check mode.
    fn by_mode(&mut self, check: &dyn Fn(&mut Self), normal: &dyn Fn(&mut Self)) {
        match self.data.promises {
            true => self.either(self.check, check, normal),
            false => normal(self),
        }
    }

    fn impossible(&mut self) {
        self.code.assume(number(0));
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

    /// An own promise of a cell that is still to be fulfilled or certified.
    fn own_promise(&mut self, cell: usize) -> Reg {
        let slot = self.any_message(cell);
        let owner = self.code.get(self.data.owner, slot);
        let mine = self.code.eq(owner, self.me());
        self.code.assume(mine);
        slot
    }

    /// Alg. 11.
    pub(super) fn read(&mut self, cell: usize) {
        let view = self.views[cell];
        self.one_of(&[&|t| t.code.assume(view.fresh), &|t| {
            t.code.assume(view.legal);
            t.by_mode(
                &|t| {
                    let free = t.code.not(view.chain);
                    t.code.assume(free);
                },
                &|_| {},
            );
            let slot = t.any_message(cell);
            let owner = t.code.get(t.data.owner, slot);
            let foreign = t.code.op(BinaryOp::Ne, owner, t.me());
            t.code.assume(foreign);
            let time = t.code.get(t.data.time, slot);
            let ahead = t.code.op(BinaryOp::LeS, view.time, time);
            t.code.assume(ahead);
            let switches = t.code.less(view.time, time);
            t.when(switches, &|t| t.by_mode(&|t| t.charge_check(), &|t| t.spend_one()));
            t.code.set(view.time, time);
            let value = t.code.get(t.data.value, slot);
            t.code.set(view.value, value);
            t.code.set(view.fresh, number(1));
        }]);
    }

    /// A view switch of a certification: it is charged when another thread goes on.
    fn charge_check(&mut self) {
        let cost = self.code.op(BinaryOp::Add, self.cost, number(1));
        self.code.set(self.cost, cost);
        let spent = self.code.get(self.data.spent, number(0));
        let total = self.code.op(BinaryOp::Add, spent, cost);
        let within = self.code.op(BinaryOp::LeS, total, number(self.data.bound));
        self.code.assume(within);
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
        self.settle(cell);
    }

    /// The view is that of a message with a timestamp.
    fn settle(&mut self, cell: usize) {
        let view = self.views[cell];
        self.code.set(view.legal, number(1));
        self.code.set(view.hangs, number(0));
        self.code.set(view.chain, number(0));
    }

    /// The timestamps between two are kept for this thread.
    fn keep_between(&mut self, cell: usize, low: Operand, high: Operand) {
        for stamp in 1..self.data.stamps {
            let above = self.code.less(low, number(stamp));
            let below = self.code.less(number(stamp), high);
            let between = self.code.and(above, below);
            self.when(between, &|t| {
                let at = number(t.data.row(cell) + stamp);
                let taken = t.code.get(t.data.taken, at);
                let free = t.code.not(taken);
                t.code.assume(free);
                let kept = t.kept();
                t.code.put(t.data.taken, at, kept);
            });
        }
    }

    /// Alg. 8.
    fn publish(&mut self, cell: usize, stamp: Operand, value: Operand, owner: Operand, anchor: Operand) {
        let data = self.data;
        let slot = self.code.get(data.used, number(0));
        let room = self.code.less(slot, number(data.slots));
        self.code.assume(room);
        for (array, entry) in [
            (data.var, number(cell as i64)),
            (data.time, stamp),
            (data.value, value),
            (data.owner, owner),
            (data.anchor, anchor),
        ] {
            self.code.put(array, slot, entry);
        }
        self.code.add(data.used, number(0), number(1));
    }

    fn perhaps_publish(&mut self, cell: usize, value: Operand) {
        if self.data.slots == 0 {
            return;
        }
        let stamp: Operand = self.views[cell].time.into();
        self.one_of(&[&|_| {}, &|t| t.publish(cell, stamp, value, number(0), number(-1))]);
    }

    /// The message that was just written may touch an own promise above it, so that a read-modify-write can fulfil that.
    fn perhaps_touch(&mut self, cell: usize) {
        if !self.data.promises || !self.data.updates {
            return;
        }
        let stamp: Operand = self.views[cell].time.into();
        self.one_of(&[&|_| {}, &|t| {
            let slot = t.own_promise(cell);
            let anchor = t.code.get(t.data.anchor, slot);
            let loose = t.code.eq(anchor, number(-1));
            t.code.assume(loose);
            let time = t.code.get(t.data.time, slot);
            let below = t.code.less(stamp, time);
            t.code.assume(below);
            t.keep_between(cell, stamp, time);
            t.code.put(t.data.anchor, slot, stamp);
            let at = t.at(cell, stamp);
            t.code.put(t.data.touched, at, number(1));
        }]);
    }

    /// A timestamp below an own anchored promise, which then hangs on it; returns the stamp and what the promise hung on.
    fn kept_stamp(&mut self, cell: usize) -> (Reg, Operand) {
        let stamp = self.code.choose(0, self.data.stamps);
        let at = self.at(cell, stamp);
        let taken = self.code.get(self.data.taken, at);
        let mine = self.code.eq(taken, self.kept());
        self.code.assume(mine);
        let slot = self.any_message(cell);
        let owner = self.code.get(self.data.owner, slot);
        let open = self.code.eq(owner, self.me());
        self.code.assume(open);
        let anchor = self.code.get(self.data.anchor, slot);
        let anchored = self.code.op(BinaryOp::GeS, anchor, number(0));
        let above = self.code.less(anchor, stamp);
        let time = self.code.get(self.data.time, slot);
        let below = self.code.less(stamp, time);
        [anchored, above, below].into_iter().for_each(|condition| self.code.assume(condition));
        self.code.put(self.data.anchor, slot, stamp);
        self.code.put(self.data.touched, at, number(1));
        // What is left between the old anchor and the new message is lost.
        for lost in 1..self.data.stamps {
            let above = self.code.less(anchor, number(lost));
            let below = self.code.less(number(lost), stamp);
            let between = self.code.and(above, below);
            let at = number(self.data.row(cell) + lost);
            let taken = self.data.taken;
            self.code.when(between, |code| code.put(taken, at, number(1)));
        }
        (stamp, anchor)
    }

    /// Alg. 12.
    pub(super) fn write(&mut self, cell: usize, value: Operand) {
        let view = self.views[cell];
        let normal = |t: &mut Self| {
            let silent = |t: &mut Self| {
                t.code.set(view.legal, number(0));
                t.code.set(view.hangs, number(0));
            };
            let stamped = |t: &mut Self| {
                let stamp = t.free_stamp(cell, false);
                t.take(cell, stamp, value);
                t.perhaps_touch(cell);
                t.perhaps_publish(cell, value);
            };
            let fulfil = |t: &mut Self| t.fulfil(cell, value, None);
            let split = |t: &mut Self| {
                let (stamp, anchor) = t.kept_stamp(cell);
                let seen = t.code.op(BinaryOp::LeS, view.time, anchor);
                t.code.assume(seen);
                t.take(cell, stamp, value);
                t.perhaps_publish(cell, value);
            };
            match (t.data.promises, t.data.updates) {
                (false, _) => t.one_of(&[&silent, &stamped]),
                (true, false) => t.one_of(&[&silent, &stamped, &fulfil]),
                (true, true) => t.one_of(&[&silent, &stamped, &fulfil, &split]),
            }
        };
        let check = |t: &mut Self| {
            let anchored = t.code.eq(view.chain, number(3));
            t.check_write(cell, value, anchored, &|t| {
                let first = t.code.not(view.chain);
                t.when(first, &|t| t.code.set(view.chain, number(1)));
            });
        };
        self.by_mode(&check, &normal);
        self.code.set(view.value, value);
        self.code.set(view.fresh, number(1));
    }

    /// An own promise becomes this write; `anchored`: it must hang on the view's message where this holds.
    fn fulfil(&mut self, cell: usize, value: Operand, anchored: Option<Operand>) {
        let (data, view) = (self.data, self.views[cell]);
        let slot = self.own_promise(cell);
        let promised = self.code.get(data.value, slot);
        let same = self.code.eq(promised, value);
        self.code.assume(same);
        let time = self.code.get(data.time, slot);
        let above = self.code.less(view.time, time);
        self.code.assume(above);
        if let Some(anchored) = anchored {
            self.when(anchored, &|t| {
                let anchor = t.code.get(data.anchor, slot);
                let here = t.code.eq(anchor, view.time);
                t.code.assume(here);
            });
        }
        let thread = self.thread;
        self.by_mode(
            &|t| {
                t.code.put(data.owner, slot, number(-(thread + 1)));
                t.code.add(data.open, number(thread), number(-1));
            },
            &|t| {
                t.code.put(data.owner, slot, number(0));
                t.code.add(data.owes, number(thread), number(-1));
            },
        );
        self.code.set(view.time, time);
        self.settle(cell);
    }

    /// A write in check mode: unpromised, a promise to certify, or the new promise.
    fn check_write(
        &mut self,
        cell: usize,
        value: Operand,
        anchored: Operand,
        unpromised: &dyn Fn(&mut Self),
    ) {
        let view = self.views[cell];
        let certify = |t: &mut Self| t.fulfil(cell, value, Some(anchored));
        let promise = |t: &mut Self| {
            t.code.assume(t.want);
            t.either(
                anchored,
                &|t| {
                    let stamp = t.free_stamp(cell, false);
                    t.when(view.legal, &|t| t.touch(cell));
                    let low = t.code.register("ps_low");
                    t.code.set(low, view.time);
                    t.keep_between(cell, low.into(), stamp.into());
                    t.make_promise(cell, stamp, value, Hang::At(low));
                },
                &|t| {
                    let stamp = t.free_stamp(cell, false);
                    t.make_promise(cell, stamp, value, Hang::Nowhere);
                    t.perhaps_touch(cell);
                },
            );
        };
        let split = |t: &mut Self| {
            t.code.assume(t.want);
            let (stamp, anchor) = t.kept_stamp(cell);
            let seen = t.code.op(BinaryOp::LeS, view.time, anchor);
            t.code.assume(seen);
            t.when(anchored, &|t| {
                let here = t.code.eq(anchor, view.time);
                t.code.assume(here);
            });
            let low = t.code.register("ps_low");
            t.code.set(low, anchor);
            t.make_promise(cell, stamp, value, Hang::At(low));
        };
        match self.data.updates {
            true => self.one_of(&[unpromised, &certify, &promise, &split]),
            false => self.one_of(&[unpromised, &certify, &promise]),
        }
    }

    fn make_promise(&mut self, cell: usize, stamp: Reg, value: Operand, hang: Hang) {
        let anchor = match hang {
            Hang::Nowhere => number(-1),
            Hang::At(reg) => reg.into(),
        };
        let owner = number(-(self.thread + 1));
        self.publish(cell, stamp.into(), value, owner, anchor);
        self.take(cell, stamp, value);
        self.code.add(self.data.owes, number(self.thread), number(1));
        self.code.set(self.want, number(0));
    }

    /// Something comes to touch the view's message from above: only once.
    fn touch(&mut self, cell: usize) {
        let at = self.at(cell, self.views[cell].time);
        let touched = self.code.get(self.data.touched, at);
        let untouched = self.code.not(touched);
        self.code.assume(untouched);
        self.code.put(self.data.touched, at, number(1));
    }

    /// Alg. 13, for an ordinary compare-exchange.
    pub(super) fn exchange(
        &mut self,
        cell: usize,
        (dst, success): (Option<Reg>, Option<Reg>),
        expected: Operand,
        desired: Operand,
    ) {
        let view = self.views[cell];
        // The results may be operands, too.
        let [wanted, new] = ["ps_expected", "ps_desired"].map(|name| self.code.register(name));
        self.code.set(wanted, expected);
        self.code.set(new, desired);
        self.read(cell);
        if let Some(dst) = dst {
            self.code.set(dst, view.value);
        }
        let equal = self.code.eq(view.value, wanted);
        if let Some(success) = success {
            self.code.set(success, equal);
        }
        self.when(equal, &|t| {
            t.by_mode(
                &|t| {
                    let hangs = t.code.or(view.legal, view.hangs);
                    let first = t.code.not(view.chain);
                    let direct = t.code.and(hangs, first);
                    let anchored_chain = t.code.eq(view.chain, number(3));
                    let anchored = t.code.or(direct, anchored_chain);
                    t.check_write(cell, new.into(), anchored, &|t| {
                        t.either(anchored, &|t| t.code.set(view.chain, number(3)), &|t| {
                            t.code.set(view.chain, number(2));
                        });
                    });
                },
                &|t| t.exchange_now(cell, new.into()),
            );
            t.code.set(view.value, new);
            t.code.set(view.fresh, number(1));
        });
    }

    fn exchange_now(&mut self, cell: usize, value: Operand) {
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
            t.perhaps_touch(cell);
            t.perhaps_publish(cell, value);
        };
        if !self.data.promises {
            return self.one_of(&[&silent, &stamped]);
        }
        let fulfil = |t: &mut Self| {
            let hangs = t.code.or(view.legal, view.hangs);
            t.fulfil(cell, value, Some(hangs));
        };
        let split_silent = |t: &mut Self| {
            t.code.assume(view.legal);
            let slot = t.own_promise(cell);
            let anchor = t.code.get(t.data.anchor, slot);
            let here = t.code.eq(anchor, view.time);
            t.code.assume(here);
            t.code.set(view.legal, number(0));
            t.code.set(view.hangs, number(1));
        };
        let split = |t: &mut Self| {
            let hangs = t.code.or(view.legal, view.hangs);
            let (stamp, anchor) = t.kept_stamp(cell);
            let here = t.code.eq(anchor, view.time);
            let loose = t.code.not(hangs);
            let right = t.code.or(here, loose);
            t.code.assume(right);
            t.take(cell, stamp, value);
            t.perhaps_publish(cell, value);
        };
        self.one_of(&[&silent, &stamped, &fulfil, &split_silent, &split]);
    }

    /// Alg. 9.
    pub(super) fn fence(&mut self) {
        self.by_mode(&|t| t.impossible(), &|_| {});
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
