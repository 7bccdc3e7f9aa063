//! Tries that write to nodes which nobody has seen: leaving them out must leave the final states and the findings that
//! following them gives.
//!
//! Threads push nodes that they made, in one way or another: some have shown the node before, in words that others understand
//! or do not, write a cell in the first try only, or in some tries, read what they wrote, or give up and free the node.
//! Others follow the pointers without care, take nodes off, free them or put them back.
//!
//! `FENCEPOST_CASES=20000 cargo test --release -p fencepost-explore --test unseen` is the long version.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/following.rs"]
mod following;
#[path = "support/writing.rs"]
mod writing;

use dice::Random;
use fencepost_explore::ModelName;
use fencepost_ir::text::print_program;
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Instr, Label, Object, Operand, Order, Program, Reg, Rvalue, Span, Value,
    Width,
};
use following::{compare, number};
use writing::{Writer, add_thread, cell, constant, observe};

/// What others reach nodes by, and where what was found is put.
const RESULTS: u32 = 3;
const TOP: u32 = 3;
const SHOWN: u32 = 4;
/// What hides a pointer from whoever does not know it.
const KEY: u64 = 0x5a5a_0000_5a5a_5a5a;
/// The link of a node is its first word, a number its second.
const NUMBER: u64 = 8;

struct Body<'r> {
    random: &'r mut Random,
    writer: Writer,
    /// Whether nodes are accessed atomically, mostly.
    atomic: bool,
    thread: u32,
}

impl Body<'_> {
    fn one_in(&mut self, n: u64) -> bool {
        self.random.below(n) == 0
    }

    fn reading(&mut self) -> Ann {
        Ann::order([Order::Relaxed, Order::Acquire, Order::SeqCst][self.random.below(3) as usize])
    }

    fn writing(&mut self) -> Ann {
        Ann::order([Order::Relaxed, Order::Release, Order::Release][self.random.below(3) as usize])
    }

    fn node_access(&mut self) -> Ann {
        if self.atomic != self.one_in(8) { Ann::order(Order::Relaxed) } else { Ann::PLAIN }
    }

    fn load(&mut self, addr: Operand, ann: Ann) -> Reg {
        let dst = self.writer.register();
        self.load_into(dst, addr, ann);
        dst
    }

    fn load_into(&mut self, dst: Reg, addr: Operand, ann: Ann) {
        self.writer.emit(Instr::Load { dst, addr, width: Width::W64, extend: Extend::Zero, ann });
    }

    fn store(&mut self, addr: Operand, value: Operand, ann: Ann) {
        self.writer.emit(Instr::Store { addr, value, width: Width::W64, ann });
    }

    fn number_of(&mut self, node: Reg) -> Operand {
        self.writer.binary(BinaryOp::Add, node.into(), constant(NUMBER)).into()
    }

    fn fence(&mut self) {
        if self.one_in(8) {
            let order = [Order::Acquire, Order::Release, Order::SeqCst][self.random.below(3) as usize];
            self.writer.emit(Instr::Fence(Fence::C11(order)));
        }
    }

    /// Puts `new` in the place of `old` at the top; whether it was there. `old` becomes what was there.
    fn exchange(&mut self, old: Reg, new: Operand) -> Reg {
        let success = self.writer.register();
        let (read, write) = (self.reading(), self.writing());
        self.writer.emit(Instr::CompareExchange {
            dst: Some(old),
            success: Some(success),
            addr: cell(TOP),
            width: Width::W64,
            extend: Extend::Zero,
            expected: old.into(),
            desired: new,
            read,
            write,
            failure: Ann::order(Order::Relaxed),
            weak: false,
        });
        success
    }

    /// Shows a node before it is pushed, perhaps in a way that is not understood by looking at it.
    fn show(&mut self, node: Reg) {
        let ann = self.writing();
        match self.random.below(5) {
            0 => self.store(cell(SHOWN), node.into(), ann),
            1 => {
                let hidden = self.writer.binary(BinaryOp::Xor, node.into(), constant(KEY));
                self.store(cell(SHOWN), hidden.into(), ann);
            }
            _ => {}
        }
    }

    /// What a try writes to the node.
    fn write_node(&mut self, node: Reg, old: Reg, first: Reg) {
        let ann = self.node_access();
        let number = self.number_of(node);
        let link = |body: &mut Self| body.store(node.into(), old.into(), ann);
        match self.random.below(14) {
            // Some tries write no link.
            0 => {
                let at = self.writer.here();
                self.writer.emit(Instr::Jump(at));
                link(self);
                let (then_to, else_to) = (Label(at.0 + 1), self.writer.here());
                let condition = old.into();
                self.writer.function.body[at.0 as usize] = Instr::Branch { condition, then_to, else_to };
            }
            // A number that only the first try writes.
            1 => {
                link(self);
                let at = self.writer.here();
                self.writer.emit(Instr::Jump(at));
                self.store(number, old.into(), ann);
                let (then_to, else_to) = (Label(at.0 + 1), self.writer.here());
                let condition = first.into();
                self.writer.function.body[at.0 as usize] = Instr::Branch { condition, then_to, else_to };
            }
            // One that counts the tries.
            2 => {
                link(self);
                let ann = self.node_access();
                let count = self.load(number, ann);
                let more = self.writer.binary(BinaryOp::Add, count.into(), constant(1));
                self.store(number, more.into(), ann);
            }
            // A link that is read before it is written.
            3 => {
                let ann = self.node_access();
                let there = self.load(node.into(), ann);
                let known = self.writer.binary(BinaryOp::Ne, there.into(), constant(0));
                self.store(number, known.into(), ann);
                link(self);
            }
            // One of the two words.
            4 => {
                let known = self.writer.binary(BinaryOp::Ne, old.into(), constant(0));
                let word = self.writer.binary(BinaryOp::Mul, known.into(), constant(NUMBER));
                let word = self.writer.binary(BinaryOp::Add, node.into(), word.into());
                self.store(word.into(), constant(4), ann);
            }
            // Whether this is the first try.
            5 => {
                link(self);
                self.store(number, first.into(), ann);
            }
            // What another read found.
            6 => {
                let shown = self.reading();
                let shown = self.load(cell(SHOWN), shown);
                let known = self.writer.binary(BinaryOp::Ne, shown.into(), constant(0));
                self.store(number, known.into(), ann);
                link(self);
            }
            // Two words.
            7 => {
                link(self);
                let known = self.writer.binary(BinaryOp::Ne, old.into(), constant(0));
                self.store(number, known.into(), ann);
            }
            _ => link(self),
        }
    }

    fn pusher(mut self) -> Writer {
        let node = self.writer.register();
        let zeroed = !self.one_in(6);
        self.writer.emit(Instr::Alloc { dst: node, size: constant(16), zeroed });
        let number = self.number_of(node);
        let ann = self.node_access();
        self.store(number, constant(u64::from(self.thread) + 2), ann);
        if self.one_in(4) {
            self.store(node.into(), constant(0), ann);
        }
        self.show(node);
        let (old, first) = (self.writer.register(), self.writer.register());
        self.writer.copy(first, constant(1));
        let reloads = self.one_in(2);
        let ann = self.reading();
        let mut start = self.writer.here();
        self.load_into(old, cell(TOP), ann);
        if !reloads {
            start = self.writer.here();
        }
        self.write_node(node, old, first);
        self.fence();
        if self.one_in(8) {
            self.show(node);
        }
        if self.one_in(8) {
            let ann = self.reading();
            let seen = self.load(cell(SHOWN), ann);
            self.writer.look_at(seen);
        }
        self.writer.copy(first, constant(0));
        // Until the node is at the top; or until something was shown, and then it is put there.
        let waits = self.one_in(12);
        let done = match waits {
            true => {
                let ann = self.reading();
                self.load(cell(SHOWN), ann)
            }
            false => self.exchange(old, node.into()),
        };
        if waits {
            self.writer.back_unless(done, start);
            let ann = self.writing();
            self.store(cell(TOP), node.into(), ann);
        } else if self.one_in(8) {
            // Gives up.
            let at = self.writer.here();
            self.writer.emit(Instr::Jump(at));
            self.writer.emit(Instr::Free(node.into()));
            self.writer.emit(Instr::Return(None));
            let (then_to, else_to) = (self.writer.here(), Label(at.0 + 1));
            self.writer.function.body[at.0 as usize] =
                Instr::Branch { condition: done.into(), then_to, else_to };
        } else {
            self.writer.back_unless(done, start);
        }
        if self.one_in(6) {
            let ann = self.node_access();
            self.store(number, constant(7), ann);
        }
        if self.one_in(2) {
            let known = self.writer.binary(BinaryOp::Ne, old.into(), constant(0));
            self.store(cell(self.thread.min(RESULTS - 1)), known.into(), Ann::order(Order::Relaxed));
        }
        self.writer.emit(Instr::Return(None));
        self.writer
    }

    /// Looks at what is at the top, or was shown, and at what comes behind it; or takes it off.
    fn reader(mut self) -> Writer {
        if self.one_in(3) {
            let ann = self.writing();
            self.store(cell(SHOWN), constant(1), ann);
        }
        let (node, ann) = (self.writer.register(), self.reading());
        match self.random.below(4) {
            0 => self.load_into(node, cell(SHOWN), ann),
            1 => {
                let hidden = self.load(cell(SHOWN), ann);
                let known = self.writer.binary(BinaryOp::Ne, hidden.into(), constant(0));
                self.leave_unless(known);
                self.writer.assign(
                    node,
                    Rvalue::Binary(BinaryOp::Xor, Width::W64, Extend::Zero, hidden.into(), constant(KEY)),
                );
            }
            _ => self.load_into(node, cell(TOP), ann),
        }
        self.leave_unless(node);
        let ann = if self.one_in(4) { self.reading() } else { self.node_access() };
        let next = self.load(node.into(), ann);
        let ann = self.node_access();
        let number = self.number_of(node);
        let number = self.load(number, ann);
        let mut result = self.writer.binary(BinaryOp::Ne, next.into(), constant(0));
        if self.one_in(2) {
            let times = self.writer.binary(BinaryOp::Mul, number.into(), constant(10));
            result = self.writer.binary(BinaryOp::Add, result.into(), times.into());
        }
        let relaxed = Ann::order(Order::Relaxed);
        let place = cell(self.thread.min(RESULTS - 1));
        self.store(place, result.into(), relaxed);
        match self.random.below(4) {
            0 => {
                self.leave_unless(next);
                let (ann, number) = (self.node_access(), self.number_of(next));
                let number = self.load(number, ann);
                let result = self.writer.binary(BinaryOp::Add, number.into(), constant(100));
                self.store(place, result.into(), relaxed);
            }
            1 => {
                let old = self.writer.register();
                self.writer.copy(old, node.into());
                let done = self.exchange(old, next.into());
                self.leave_unless(done);
                match self.random.below(4) {
                    0 => self.writer.emit(Instr::Free(node.into())),
                    // It comes back.
                    1 => {
                        let ann = self.reading();
                        let old = self.load(cell(TOP), ann);
                        let start = self.writer.here();
                        let ann = self.node_access();
                        self.store(node.into(), old.into(), ann);
                        let done = self.exchange(old, node.into());
                        self.writer.back_unless(done, start);
                        self.store(place, done.into(), relaxed);
                    }
                    _ => self.store(place, constant(50), relaxed),
                }
            }
            _ => {}
        }
        self.writer.emit(Instr::Return(None));
        self.writer
    }

    fn leave_unless(&mut self, condition: Reg) {
        let at = self.writer.here();
        self.writer.emit(Instr::Jump(at));
        self.writer.emit(Instr::Return(None));
        let (then_to, else_to) = (self.writer.here(), Label(at.0 + 1));
        self.writer.function.body[at.0 as usize] =
            Instr::Branch { condition: condition.into(), then_to, else_to };
    }
}

fn generate(random: &mut Random) -> (Program, String) {
    let mut program = Program::default();
    for name in ["first", "second", "third", "top", "shown"] {
        program.objects.push(Object::scalar(name, Width::W64, Value::ZERO, Span::default()));
    }
    let atomic = random.below(2) == 0;
    let threads = 2 + u32::from(random.below(3) != 0) + u32::from(random.below(8) == 0);
    for thread in 0..threads {
        let writer = Writer::new(format!("t{thread}"), &[]);
        let pushes = thread < 2 && random.below(8) != 0;
        let body = Body { random, writer, atomic, thread };
        let writer = if pushes { body.pusher() } else { body.reader() };
        add_thread(&mut program, writer.function);
    }
    observe(&mut program, 0, 0);
    let fencepost_ir::Property::Final(condition) = &mut program.property else { unreachable!() };
    let object = |x| fencepost_ir::ObjectId(x);
    condition.observed = (0..RESULTS)
        .map(|x| fencepost_ir::Observable::Memory { object: object(x), offset: 0, width: Width::W64 })
        .collect();
    condition.shown = RESULTS as usize;
    let text = print_program(&program);
    (program, text)
}

#[test]
fn tries_that_nobody_has_seen_change_nothing() {
    compare(number("FENCEPOST_CASES", 150), &ModelName::ALL, 2, generate);
}
