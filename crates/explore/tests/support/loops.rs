//! Random programs with loops: calls, recursion, nested loops, several loops in a function, retries and locks.

use crate::dice::Random;
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, Fence, FinalCondition, Function, FunctionId, Instr, Label, Object,
    ObjectId, Observable, Operand, Order, Program, Property, Proposition, Quantifier, Reg, RmwOp, Rvalue,
    Span, Thread, ThreadId, Value, Width,
};
use std::fmt::Write;

const WIDTH: Width = Width::W32;

fn constant(value: u64) -> Operand {
    Operand::Const(Value(value))
}

/// A function that is being written. Register 0 holds what was read last, and is what the function returns.
struct Body<'r> {
    random: &'r mut Random,
    function: Function,
    text: String,
    /// How many functions there are that it may call.
    callees: u32,
    /// Whether accesses to the third cell are plain, and whether any other may be.
    races: bool,
    strays: bool,
}

const LAST: Reg = Reg(0);

/// What a thread keeps beside it.
const KEPT: Reg = Reg(1);

impl Body<'_> {
    fn emit(&mut self, instr: Instr) {
        self.function.push(instr, Span::default());
    }

    fn register(&mut self) -> Reg {
        let name = format!("r{}", self.function.regs.len());
        self.function.new_reg(name)
    }

    fn cell(&mut self) -> Operand {
        let cell = self.random.below(2);
        let _ = write!(self.text, "{}", ["x", "y"][cell as usize]);
        Operand::Const(Value::pointer(ObjectId(cell as u32), 0))
    }

    /// A cell that no access to is atomic.
    fn plain_cell(&mut self) -> Operand {
        self.text.push_str("z.plain ");
        Operand::Const(Value::pointer(ObjectId(2), 0))
    }

    fn ann(&mut self, orders: [Order; 3]) -> Ann {
        if self.strays && self.random.below(6) == 0 {
            self.text.push_str(".plain");
            return Ann::PLAIN;
        }
        let order = orders[self.random.below(3) as usize];
        let _ = write!(self.text, ".{order:?}");
        Ann::order(order)
    }

    fn load_from(&mut self, dst: Reg, addr: Operand) {
        let ann = self.ann([Order::Relaxed, Order::Acquire, Order::SeqCst]);
        self.emit(Instr::Load { dst, addr, width: WIDTH, extend: Extend::Sign, ann });
    }

    fn store(&mut self, addr: Operand, value: Operand) {
        let ann = self.ann([Order::Relaxed, Order::Release, Order::SeqCst]);
        let _ = write!(self.text, "={value:?} ");
        self.emit(Instr::Store { addr, value, width: WIDTH, ann });
    }

    fn rmw(&mut self, dst: Reg, addr: Operand, op: RmwOp, operand: Operand) {
        let order = [Order::Relaxed, Order::Acquire][self.random.below(2) as usize];
        let (read, write) = (Ann::order(order), Ann::order(Order::Relaxed));
        let dst = Some(dst);
        self.emit(Instr::Rmw { dst, addr, width: WIDTH, extend: Extend::Sign, op, operand, read, write });
    }

    /// Returns whether it succeeded.
    fn exchange(&mut self, addr: Operand, expected: Operand, desired: Operand, old: Reg) -> Reg {
        let success = self.register();
        let read = Ann::order([Order::Relaxed, Order::Acquire][self.random.below(2) as usize]);
        self.emit(Instr::CompareExchange {
            dst: Some(old),
            success: Some(success),
            addr,
            width: WIDTH,
            extend: Extend::Sign,
            expected,
            desired,
            read,
            write: Ann::order(Order::Release),
            failure: read,
            weak: false,
        });
        success
    }

    fn compare(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Reg {
        let dst = self.register();
        self.emit(Instr::Assign { dst, value: Rvalue::Binary(op, WIDTH, Extend::Zero, a, b) });
        dst
    }

    fn assign(&mut self, dst: Reg, a: Operand) {
        self.emit(Instr::Assign { dst, value: Rvalue::Use(a) });
    }

    /// Goes to `start` if the register is zero.
    fn back_unless(&mut self, condition: Reg, start: Label) {
        let next = Label(self.function.next_label().0 + 1);
        self.emit(Instr::Branch { condition: condition.into(), then_to: next, else_to: start });
    }

    fn small(&mut self) -> Operand {
        let value = self.random.below(3);
        let _ = write!(self.text, "{value} ");
        constant(value)
    }

    /// Loops that read, with one thing or another in them.
    fn waiting(&mut self) {
        let start = self.function.next_label();
        match self.random.below(8) {
            0 => {
                self.text.push_str("until ");
                let addr = self.cell();
                self.load_from(LAST, addr);
                let value = self.small();
                let done = self.compare(BinaryOp::Eq, LAST.into(), value);
                self.back_unless(done, start);
            }
            // Two reads, of which the first is kept.
            1 => {
                self.text.push_str("until-keeping ");
                let (addr, other) = (self.cell(), self.cell());
                let read = self.register();
                self.load_from(read, other);
                let value = self.small();
                let done = self.compare(BinaryOp::Eq, read.into(), value);
                let after = Label(self.function.next_label().0 + 4);
                self.emit(Instr::Branch {
                    condition: done.into(),
                    then_to: after,
                    else_to: Label(self.function.next_label().0 + 1),
                });
                if self.races {
                    let (dst, addr) = (self.register(), self.plain_cell());
                    self.emit(Instr::Load { dst, addr, width: WIDTH, extend: Extend::Sign, ann: Ann::PLAIN });
                } else {
                    self.load_from(LAST, addr);
                }
                self.emit(Instr::Jump(start));
                self.emit(Instr::Fence(Fence::Compiler));
            }
            // A section whose version goes on to the next try.
            5 => {
                self.text.push_str("section-going-on ");
                let (addr, other) = (self.cell(), self.cell());
                self.read_until_same(&[addr], &[other]);
            }
            // Two cells until both are what they were.
            6 => {
                self.text.push_str("collect-going-on ");
                let cells = [self.cell(), self.cell()];
                self.read_until_same(&cells, &[]);
            }
            7 => {
                self.text.push_str("versions-going-on ");
                let (cells, other) = ([self.cell(), self.cell()], self.cell());
                self.read_until_same(&cells, &[other]);
            }
            // An optimistic section: two reads of a cell around one of another.
            2 => {
                self.text.push_str("section ");
                let (addr, other) = (self.cell(), self.cell());
                let (first, again) = (self.register(), self.register());
                self.load_from(first, addr);
                self.load_from(LAST, other);
                self.load_from(again, addr);
                let done = self.compare(BinaryOp::Eq, first.into(), again.into());
                self.back_unless(done, start);
            }
            3 => {
                self.text.push_str("take-until ");
                let addr = self.cell();
                self.rmw(LAST, addr, RmwOp::Exchange, constant(1));
                let value = self.small();
                let done = self.compare(BinaryOp::Eq, LAST.into(), value);
                self.back_unless(done, start);
            }
            _ => {
                self.text.push_str("test-take-until ");
                let addr = self.cell();
                let value = self.small();
                self.load_from(LAST, addr);
                let free = self.compare(BinaryOp::Eq, LAST.into(), value);
                self.back_unless(free, start);
                self.rmw(LAST, addr, RmwOp::Exchange, constant(1));
                let done = self.compare(BinaryOp::Eq, LAST.into(), value);
                self.back_unless(done, start);
            }
        }
    }

    /// Reads the cells, and then the others and the cells again until the cells have the values that they had before. There
    /// may be a fence behind the cells.
    fn read_until_same(&mut self, cells: &[Operand], others: &[Operand]) {
        let fences = [Order::Acquire, Order::SeqCst, Order::Release, Order::AcqRel];
        let fence = self.random.below(10) as usize;
        let other = if self.random.below(3) == 0 { self.random.below(10) as usize } else { fence };
        let read = |body: &mut Self, fence: usize| -> Vec<Reg> {
            let read = cells.iter().map(|&cell| {
                let dst = body.register();
                body.load_from(dst, cell);
                dst
            });
            let read = read.collect();
            if let Some(&order) = fences.get(fence) {
                let _ = write!(body.text, "fence.{order:?} ");
                body.emit(Instr::Fence(Fence::C11(order)));
            }
            read
        };
        let before = read(self, fence);
        let start = self.function.next_label();
        others.iter().for_each(|&other| self.load_from(LAST, other));
        let after = read(self, other);
        let same = self.register();
        self.assign(same, constant(1));
        for (&a, &b) in before.iter().zip(&after) {
            let equal = self.compare(BinaryOp::Eq, a.into(), b.into());
            let both = Rvalue::Binary(BinaryOp::And, WIDTH, Extend::Zero, same.into(), equal.into());
            self.emit(Instr::Assign { dst: same, value: both });
        }
        for (&a, &b) in before.iter().zip(&after) {
            if self.random.below(4) > 0 {
                self.assign(a, b.into());
                continue;
            }
            // The value goes on, but what it depends on does not.
            self.text.push_str("forgetting ");
            let one = self.compare(BinaryOp::Eq, b.into(), constant(1));
            let next = self.function.next_label().0 + 1;
            self.emit(Instr::Branch {
                condition: one.into(),
                then_to: Label(next),
                else_to: Label(next + 2),
            });
            self.assign(a, constant(1));
            self.emit(Instr::Jump(Label(next + 3)));
            self.assign(a, b.into());
        }
        if others.is_empty() || self.random.below(2) == 0 {
            self.assign(LAST, before[0].into());
        }
        self.back_unless(same, start);
    }

    /// Loops around a compare-exchange.
    fn retrying(&mut self) {
        let addr = self.cell();
        let old = self.register();
        if self.random.below(2) == 0 {
            self.text.push_str("add-going-on ");
            self.load_from(old, addr);
            let start = self.function.next_label();
            let new = self.compare(BinaryOp::Add, old.into(), constant(1));
            let done = self.exchange(addr, old.into(), new.into(), old);
            self.back_unless(done, start);
        } else {
            self.text.push_str("add-again ");
            let start = self.function.next_label();
            self.load_from(old, addr);
            let new = self.compare(BinaryOp::Add, old.into(), constant(1));
            let done = self.exchange(addr, old.into(), new.into(), LAST);
            self.back_unless(done, start);
        }
    }

    fn call(&mut self) {
        if self.callees == 0 {
            return self.waiting();
        }
        let callee = self.random.below(u64::from(self.callees)) as u32;
        let _ = write!(self.text, "f{callee} ");
        let depth = constant(self.random.below(2));
        self.emit(Instr::Call {
            dst: Some(LAST),
            callee: Callee::Function(FunctionId(callee)),
            args: vec![constant(0), depth],
        });
    }

    /// A loop around a call, or one that counts to two.
    fn looping(&mut self) {
        let start;
        if self.random.below(2) == 0 {
            self.text.push_str("until-call{");
            start = self.function.next_label();
            self.call();
            let value = self.small();
            let done = self.compare(BinaryOp::Eq, LAST.into(), value);
            self.back_unless(done, start);
        } else {
            self.text.push_str("twice{");
            let count = self.register();
            self.assign(count, constant(2));
            start = self.function.next_label();
            self.statement(false);
            let less = Rvalue::Binary(BinaryOp::Sub, WIDTH, Extend::Zero, count.into(), constant(1));
            self.emit(Instr::Assign { dst: count, value: less });
            let done = self.compare(BinaryOp::Eq, count.into(), constant(0));
            self.back_unless(done, start);
        }
        self.text.push_str("} ");
    }

    /// The value, which depends on what was read last.
    fn depending(&mut self, value: Operand) -> Reg {
        self.text.push_str("<last");
        let (nothing, dst) = (self.register(), self.register());
        let and = Rvalue::Binary(BinaryOp::And, Width::W64, Extend::Zero, LAST.into(), constant(0));
        self.emit(Instr::Assign { dst: nothing, value: and });
        let or = Rvalue::Binary(BinaryOp::Or, Width::W64, Extend::Zero, nothing.into(), value);
        self.emit(Instr::Assign { dst, value: or });
        dst
    }

    /// A write, a read, or a write that depends on one.
    fn access(&mut self) {
        let addr = self.cell();
        match self.random.below(6) {
            0..=2 => {
                let value = constant(1 + self.random.below(2));
                let value = if self.random.below(3) == 0 { self.depending(value).into() } else { value };
                self.store(addr, value);
            }
            3 => {
                let addr = if self.random.below(2) == 0 { self.depending(addr).into() } else { addr };
                self.load_from(LAST, addr);
                self.text.push(' ');
            }
            _ => {
                self.text.push_str(" if ");
                self.load_from(LAST, addr);
                let next = Label(self.function.next_label().0 + 1);
                let after = Label(next.0 + 1);
                self.emit(Instr::Branch { condition: LAST.into(), then_to: next, else_to: after });
                let (addr, ann) = match self.races {
                    true => (self.plain_cell(), Ann::PLAIN),
                    false => (self.cell(), Ann::order(Order::Relaxed)),
                };
                self.emit(Instr::Store { addr, value: constant(2), width: WIDTH, ann });
                self.emit(Instr::Fence(Fence::Compiler));
            }
        }
    }

    fn statement(&mut self, nested: bool) {
        match self.random.below(15) {
            0..=2 => {
                let addr = self.cell();
                let value = 1 + self.random.below(2);
                self.store(addr, constant(value));
            }
            3 => {
                let addr = self.cell();
                self.store(addr, LAST.into());
            }
            4 => {
                let addr = self.cell();
                self.load_from(LAST, addr);
                self.text.push(' ');
            }
            5 => {
                self.text.push_str("add ");
                let addr = self.cell();
                self.rmw(LAST, addr, RmwOp::Add, constant(1));
            }
            6 => {
                self.text.push_str("fence ");
                self.emit(Instr::Fence(Fence::C11(Order::SeqCst)));
            }
            7 => {
                self.text.push_str("assert ");
                let holds = self.compare(BinaryOp::Ne, LAST.into(), constant(2));
                self.emit(Instr::Assert {
                    condition: holds.into(),
                    kind: fencepost_ir::FailKind::Assertion,
                    message: String::new(),
                });
            }
            8 | 9 => self.waiting(),
            10 => self.retrying(),
            11 | 12 => self.call(),
            13 => self.access(),
            _ if nested => self.looping(),
            _ => self.waiting(),
        }
    }
}

fn begin(name: String) -> Function {
    let mut function = Function { name, params: 2, ..Function::default() };
    function.new_reg("last");
    function.new_reg("depth");
    function
}

/// Functions and threads with all of that.
pub fn generate(random: &mut Random) -> (Program, String) {
    let mut program = objects();
    let mut text = String::new();
    let races = random.below(4) == 0;
    let functions = random.below(3) as u32;
    for f in 0..functions {
        let function = begin(format!("f{f}"));
        let mut body = Body { random, function, text: String::new(), callees: f, races, strays: races };
        body.statement(false);
        if body.random.below(3) == 0 {
            // Once more, one level deeper.
            body.text.push_str("again ");
            let depth = Reg(1);
            let stop = Label(body.function.next_label().0 + 3);
            let next = Label(body.function.next_label().0 + 1);
            body.emit(Instr::Branch { condition: depth.into(), then_to: next, else_to: stop });
            let less = Rvalue::Binary(BinaryOp::Sub, WIDTH, Extend::Zero, depth.into(), constant(1));
            body.emit(Instr::Assign { dst: depth, value: less });
            let callee = Callee::Function(FunctionId(f));
            body.emit(Instr::Call { dst: Some(LAST), callee, args: vec![LAST.into(), depth.into()] });
        }
        body.emit(Instr::Return(Some(LAST.into())));
        let _ = write!(text, "f{f}: {}; ", body.text);
        program.functions.push(body.function);
    }
    let threads = 2 + u32::from(random.below(6) == 0);
    for t in 0..threads {
        let length = 1 + random.below(3);
        let function = begin(format!("t{t}"));
        let mut body =
            Body { random, function, text: String::new(), callees: functions, races, strays: races };
        (0..length).for_each(|_| body.statement(true));
        let _ = write!(text, "| {}", body.text);
        add_thread(&mut program, body.function);
    }
    observe(&mut program, &[LAST]);
    (program, text)
}

/// One thread that tries and looks at something else then, and others that write: small, so that what a try that was left out
/// could have meant for the rest is likely to be seen.
pub fn generate_tries(random: &mut Random) -> (Program, String) {
    let mut program = objects();
    let mut text = String::new();
    let races = random.below(2) == 0;
    let strays = races && random.below(3) == 0;
    for t in 0..2 + u32::from(random.below(4) == 0) {
        let function = begin(format!("t{t}"));
        let mut body = Body { random, function, text: String::new(), callees: 0, races, strays };
        if t == 0 {
            if body.random.below(3) == 0 {
                body.access();
            }
            match body.random.below(4) {
                0 => body.retrying(),
                _ => body.waiting(),
            }
            body.assign(KEPT, LAST.into());
            (0..1 + body.random.below(2)).for_each(|_| body.access());
        } else {
            (0..2 + body.random.below(2)).for_each(|_| body.access());
        }
        let _ = write!(text, "| {}", body.text);
        add_thread(&mut program, body.function);
    }
    observe(&mut program, &[LAST, KEPT]);
    (program, text)
}

fn objects() -> Program {
    let mut program = Program::default();
    for cell in ["x", "y", "z"] {
        program.objects.push(Object::scalar(cell, WIDTH, Value::ZERO, Span::default()));
    }
    program
}

fn add_thread(program: &mut Program, function: Function) {
    let (name, args) = (function.name.clone(), vec![Value::ZERO, Value::ZERO]);
    let number = FunctionId(program.functions.len() as u32);
    program.functions.push(function);
    program.threads.push(Thread { name, function: number, args });
}

/// Asks for these registers of all threads, and for the first two cells.
fn observe(program: &mut Program, registers: &[Reg]) {
    let threads = (0..program.threads.len() as u32).map(ThreadId);
    let registers = |thread| registers.iter().map(move |&reg| Observable::Register { thread, reg });
    let mut observed: Vec<_> = threads.flat_map(registers).collect();
    observed.extend((0..2).map(|x| Observable::Memory { object: ObjectId(x), offset: 0, width: WIDTH }));
    let shown = observed.len();
    program.property = Property::Final(FinalCondition {
        quantifier: Quantifier::Exists,
        proposition: Proposition::True,
        filter: None,
        observed,
        shown,
    });
}
