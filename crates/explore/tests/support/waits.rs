//! Random programs that wait: loops, `await`, assumptions, locks, and loops around read-modify-writes.

use crate::dice::Random;
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Function, FunctionId, Instr, Label, Object, ObjectId, Operand, Order,
    Program, Reg, RmwOp, Rvalue, Span, Thread, Until, Value, Width,
};
use std::fmt::Write;

impl Random {
    fn order(&mut self, orders: [Order; 3]) -> Ann {
        Ann::order(orders[self.below(3) as usize])
    }
}

const WIDTH: Width = Width::W32;

struct Body<'r> {
    random: &'r mut Random,
    function: Function,
    text: String,
    last: Reg,
}

impl Body<'_> {
    fn emit(&mut self, instr: Instr) {
        self.function.push(instr, Span::default());
    }

    fn register(&mut self) -> Reg {
        let name = format!("r{}", self.function.regs.len());
        self.function.new_reg(name)
    }

    fn cell(&mut self) -> (u64, Operand) {
        let cell = self.random.below(2);
        (cell, Operand::Const(Value::pointer(ObjectId(cell as u32), 0)))
    }

    fn load(&mut self) -> Reg {
        let dst = self.register();
        let (cell, addr) = self.cell();
        let ann = self.random.order([Order::Relaxed, Order::Acquire, Order::SeqCst]);
        let _ = write!(self.text, "R{cell}.{:?}", ann.order);
        self.emit(Instr::Load { dst, addr, width: WIDTH, extend: Extend::Sign, ann });
        dst
    }

    /// A register that says whether another one has some small value.
    fn compared(&mut self, a: Reg) -> Reg {
        let dst = self.register();
        let value = self.random.below(3);
        let _ = write!(self.text, "=={value} ");
        let (a, b) = (Operand::Reg(a), Operand::Const(Value(value)));
        self.emit(Instr::Assign { dst, value: Rvalue::Binary(BinaryOp::Eq, WIDTH, Extend::Zero, a, b) });
        dst
    }

    fn store(&mut self, value: Operand) {
        let (cell, addr) = self.cell();
        let ann = self.random.order([Order::Relaxed, Order::Release, Order::SeqCst]);
        let _ = write!(self.text, "W{cell}.{:?}={value:?} ", ann.order);
        self.emit(Instr::Store { addr, value, width: WIDTH, ann });
    }

    /// A loop that reads until it may leave, with one read or two.
    fn spin(&mut self, reads: u32) {
        let start = self.function.next_label();
        self.text.push_str("until ");
        let mut branches = Vec::new();
        for _ in 0..reads {
            let read = self.load();
            let done = self.compared(read);
            branches.push(self.function.body.len());
            let next = Label(self.function.next_label().0 + 1);
            self.emit(Instr::Branch { condition: Operand::Reg(done), then_to: start, else_to: next });
        }
        self.emit(Instr::Jump(start));
        let end = self.function.next_label();
        for at in branches {
            if let Instr::Branch { then_to, .. } = &mut self.function.body[at] {
                *then_to = end;
            }
        }
    }

    fn statement(&mut self) {
        match self.random.below(17) {
            0..=3 => {
                let value = Operand::Const(Value(1 + self.random.below(2)));
                self.store(value);
            }
            4 => {
                let value = Operand::Reg(self.last);
                self.store(value);
            }
            5 => {
                self.last = self.load();
                self.text.push(' ');
            }
            6 => {
                let (cell, addr) = self.cell();
                let _ = write!(self.text, "add{cell} ");
                let dst = self.register();
                self.last = dst;
                self.emit(Instr::Rmw {
                    dst: Some(dst),
                    addr,
                    width: WIDTH,
                    extend: Extend::Sign,
                    op: RmwOp::Add,
                    operand: Operand::Const(Value(1)),
                    read: Ann::order(Order::Relaxed),
                    write: Ann::order(Order::Relaxed),
                });
            }
            7 => {
                let (cell, addr) = self.cell();
                let value = self.random.below(2);
                let _ = write!(self.text, "cas{cell}({value},2) ");
                let dst = self.register();
                self.last = dst;
                self.emit(Instr::CompareExchange {
                    dst: Some(dst),
                    success: None,
                    addr,
                    width: WIDTH,
                    extend: Extend::Sign,
                    expected: Operand::Const(Value(value)),
                    desired: Operand::Const(Value(2)),
                    read: Ann::order(Order::Acquire),
                    write: Ann::order(Order::Release),
                    failure: Ann::order(Order::Relaxed),
                    weak: false,
                });
            }
            8 => {
                self.text.push_str("fence ");
                self.emit(Instr::Fence(Fence::C11(Order::SeqCst)));
            }
            9 => {
                let (cell, addr) = self.cell();
                let value = self.random.below(3);
                let op = if self.random.below(2) == 0 { BinaryOp::Eq } else { BinaryOp::Ne };
                let _ = write!(self.text, "await{cell}{op:?}{value} ");
                let ann = self.random.order([Order::Relaxed, Order::Acquire, Order::SeqCst]);
                let until = Until { op, operand: Operand::Const(Value(value)) };
                let dst = self.register();
                self.last = dst;
                self.emit(Instr::Await {
                    dst: Some(dst),
                    addr,
                    width: WIDTH,
                    extend: Extend::Sign,
                    until,
                    ann,
                });
            }
            10 => {
                self.text.push_str("assume ");
                let read = self.load();
                let holds = self.compared(read);
                self.emit(Instr::Assume(Operand::Reg(holds)));
            }
            11 => self.spin(1),
            12 => self.spin(2),
            13 | 14 => self.take(),
            15 => {
                let (cell, addr) = self.cell();
                let value = self.random.below(2);
                let _ = write!(self.text, "await-add{cell}=={value} ");
                let until = Until { op: BinaryOp::Eq, operand: Operand::Const(Value(value)) };
                let ann = Ann::order(Order::Acquire);
                let dst = self.register();
                self.last = dst;
                self.emit(Instr::AwaitRmw {
                    dst: Some(dst),
                    addr,
                    width: WIDTH,
                    extend: Extend::Sign,
                    until,
                    op: RmwOp::Add,
                    operand: Operand::Const(Value(1)),
                    read: ann,
                    write: Ann::order(Order::Relaxed),
                });
            }
            _ => {
                self.text.push_str("locked{");
                let mutex = Operand::Const(Value::pointer(ObjectId(2), 0));
                self.emit(Instr::Lock(mutex));
                let value = Operand::Const(Value(1 + self.random.below(2)));
                self.store(value);
                self.emit(Instr::Unlock(mutex));
                self.text.push_str("} ");
            }
        }
    }

    /// A loop that exchanges, or compares and exchanges, until it finds 0; and perhaps a store of 0 afterwards.
    fn take(&mut self) {
        let start = self.function.next_label();
        let (cell, addr) = self.cell();
        let dst = self.register();
        self.last = dst;
        let read = self.random.order([Order::Relaxed, Order::Acquire, Order::SeqCst]);
        let write = Ann::order(Order::Relaxed);
        let exchange = self.random.below(2) == 0;
        let _ = write!(self.text, "{}{cell}.{:?} ", if exchange { "take" } else { "cas-until" }, read.order);
        let (width, extend) = (WIDTH, Extend::Sign);
        if exchange {
            let (op, operand) = (RmwOp::Exchange, Operand::Const(Value(1)));
            self.emit(Instr::Rmw { dst: Some(dst), addr, width, extend, op, operand, read, write });
        } else {
            let (expected, desired) = (Operand::Const(Value::ZERO), Operand::Const(Value(1)));
            let (dst, success, failure, weak) = (Some(dst), None, write, false);
            self.emit(Instr::CompareExchange {
                dst,
                success,
                addr,
                width,
                extend,
                expected,
                desired,
                read,
                write,
                failure,
                weak,
            });
        }
        let next = Label(self.function.next_label().0 + 1);
        self.emit(Instr::Branch { condition: Operand::Reg(dst), then_to: start, else_to: next });
        if self.random.below(3) > 0 {
            let ann = Ann::order(Order::Release);
            self.text.push_str("give ");
            self.emit(Instr::Store { addr, value: Operand::Const(Value::ZERO), width, ann });
        }
    }
}

/// Two or three threads with loops that are not bounded.
pub fn generate(random: &mut Random) -> (Program, String) {
    let mut program = Program::default();
    for cell in ["x", "y", "m"] {
        program.objects.push(Object::scalar(cell, WIDTH, Value::ZERO, Span::default()));
    }
    let mut text = String::new();
    for t in 0..2 + random.below(2) {
        let length = 1 + random.below(3);
        let mut function = Function { name: format!("t{t}"), ..Function::default() };
        let last = function.new_reg("r0");
        let mut body = Body { random, function, text: String::new(), last };
        (0..length).for_each(|_| body.statement());
        let _ = write!(text, "| {}", body.text);
        let id = FunctionId(program.functions.len() as u32);
        program.functions.push(body.function);
        program.threads.push(Thread { name: format!("t{t}"), function: id, args: Vec::new() });
    }
    (program, text)
}
