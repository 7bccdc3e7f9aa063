//! Iterations that changed nothing: dropping them must leave the final states and the findings that following them gives.
//!
//! The programs have calls, recursion, nested loops, several loops in a function, retries and locks made of loops. A thread
//! that spins for ever is a finding only where iterations are dropped; otherwise the bound cuts it.
//!
//! `FENCEPOST_CASES=20000 cargo test --release -p fencepost-explore --test spinning` is the long version.

#[path = "support/dice.rs"]
mod dice;

use dice::Random;
use fencepost_explore::{FindingKind, Limits, ModelName, Options, Retries, explore};
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, Fence, FinalCondition, Function, FunctionId, Instr, Label, Object,
    ObjectId, Observable, Operand, Order, Program, Property, Proposition, Quantifier, Reg, RmwOp, Rvalue,
    Span, Thread, ThreadId, Value, Width, bound_loops,
};
use std::collections::BTreeSet;
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
    races: bool,
}

const LAST: Reg = Reg(0);

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

    fn ann(&mut self, orders: [Order; 3]) -> Ann {
        if self.races && self.random.below(6) == 0 {
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
        match self.random.below(5) {
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
                self.load_from(LAST, addr);
                self.emit(Instr::Jump(start));
                self.emit(Instr::Fence(Fence::Compiler));
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

    fn statement(&mut self, nested: bool) {
        match self.random.below(14) {
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
                self.emit(Instr::Assert { condition: holds.into(), message: String::new() });
            }
            8 | 9 => self.waiting(),
            10 => self.retrying(),
            11 | 12 => self.call(),
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

fn generate(random: &mut Random) -> (Program, String) {
    let mut program = Program::default();
    let mut text = String::new();
    for cell in ["x", "y"] {
        program.objects.push(Object::scalar(cell, WIDTH, Value::ZERO, Span::default()));
    }
    let races = random.below(4) == 0;
    let functions = random.below(3) as u32;
    for f in 0..functions {
        let function = begin(format!("f{f}"));
        let mut body = Body { random, function, text: String::new(), callees: f, races };
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
    let mut observed = Vec::new();
    for t in 0..threads {
        let length = 1 + random.below(3);
        let function = begin(format!("t{t}"));
        let mut body = Body { random, function, text: String::new(), callees: functions, races };
        (0..length).for_each(|_| body.statement(true));
        let _ = write!(text, "| {}", body.text);
        let function = FunctionId(program.functions.len() as u32);
        program.functions.push(body.function);
        program.threads.push(Thread {
            name: format!("t{t}"),
            function,
            args: vec![Value::ZERO, Value::ZERO],
        });
        observed.push(Observable::Register { thread: ThreadId(t), reg: LAST });
    }
    observed.extend((0..2).map(|x| Observable::Memory { object: ObjectId(x), offset: 0, width: WIDTH }));
    let shown = observed.len();
    program.property = Property::Final(FinalCondition {
        quantifier: Quantifier::Exists,
        proposition: Proposition::True,
        filter: None,
        observed,
        shown,
    });
    (program, text)
}

/// Final states, kinds of findings but that of threads that spin for ever, executions; nothing if it takes too long.
type Found = (Vec<Vec<Value>>, BTreeSet<FindingKind>, u64);

fn found(program: &Program, model: ModelName, retries: Retries, nodes: u64) -> Option<Found> {
    let limits = Limits { max_nodes: Some(nodes), ..Limits::default() };
    let options = Options { retries, limits, ..Options::new(model) };
    let exploration = explore(program, &options).expect("supported");
    if exploration.stopped.is_some() {
        return None;
    }
    let kinds = exploration.findings.iter().map(|f| f.kind).filter(|&kind| kind != FindingKind::Deadlock);
    Some((exploration.states, kinds.collect(), exploration.stats.executions))
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn dropping_iterations_changes_no_state_and_no_finding() {
    let cases = number("FENCEPOST_CASES", 60);
    // A campaign that stopped goes on from where it was.
    let first = number("FENCEPOST_FIRST", 0);
    let mut random = Random(number("FENCEPOST_SEED", 1));
    let (mut compared, mut fewer, mut longer) = (0, 0, 0);
    for case in 0..cases {
        let (unbounded, text) = generate(&mut random);
        if case < first {
            continue;
        }
        let program = bound_loops(&unbounded, 2);
        for model in ModelName::ALL {
            let Some(mut expected) = found(&program, model, Retries::All, 6_000) else { continue };
            // A loop on data that only one thread has touched is followed beyond the bound, which may take longer.
            let Some(plain) = found(&program, model, Retries::Fold, 6_000) else {
                longer += 1;
                continue;
            };
            let name = model.name();
            if plain.0.len() > expected.0.len() || plain.1.len() > expected.1.len() {
                // So is one of a thread that runs alone: what it finds more, others find with a larger bound.
                let missing = expected.0.iter().any(|state| !plain.0.contains(state));
                assert!(!missing, "case {case} under {name}: states are missing: {text}");
                let larger = bound_loops(&unbounded, 5);
                let Some(more) = found(&larger, model, Retries::All, 200_000) else { continue };
                expected.0.extend(plain.0.iter().filter(|state| more.0.contains(state)).cloned());
                expected.0.sort();
                expected.0.dedup();
                expected.1.extend(plain.1.iter().filter(|kind| more.1.contains(kind)));
            }
            assert_eq!(plain.0, expected.0, "case {case} under {name}: other states: {text}");
            assert_eq!(plain.1, expected.1, "case {case} under {name}: other findings: {text}");
            compared += 1;
            fewer += u64::from(plain.2 < expected.2);
        }
    }
    println!("{compared} runs compared, {fewer} of them have fewer executions");
    let cases = cases - first;
    assert!(compared > cases * 4 && fewer > cases / 2, "{compared} compared, {fewer} fewer");
    assert!(longer < cases / 4, "{longer} of {compared} runs take too long");
}
