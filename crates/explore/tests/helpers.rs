//! Local objects in registers, and helper functions in place of their calls: whatever can be seen of a program as it is
//! written can be seen of what `fencepost_ir::registers` makes of it.
//!
//! Threads try helper functions that read shared cells and write what they read through pointers, with several returns, calls of
//! further helpers, parts of objects, objects that begin again in loops, reads of what has no value and uses after the end of a
//! scope.
//! Where memory is in the order of the hardware, what a compiler keeps in registers orders less than what is in memory: there
//! nothing may be missing.
//!
//! `FENCEPOST_CASES=20000 cargo test --release -p fencepost-explore --test helpers` is the long version.

#[path = "support/dice.rs"]
mod dice;

use dice::Random;
use fencepost_explore::{FindingKind, Limits, ModelName, Options, Reductions, explore};
use fencepost_ir::registers::keep_locals_in_registers;
use fencepost_ir::{
    Ann, BinaryOp, Callee, Cell, Extend, FinalCondition, Function, FunctionId, Instr, Label, Object,
    ObjectId, Observable, Operand, Order, Program, Property, Proposition, Quantifier, Reg, Rvalue, Span,
    Thread, ThreadId, UnaryOp, Value, Width, bound_loops,
};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

const WIDTH: Width = Width::W32;

/// How long one exploration may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// What was read last; what a thread ends with.
const LAST: Reg = Reg(0);

/// The pointers that a helper gets, behind the value that it gets.
const POINTERS: [Reg; 2] = [Reg(1), Reg(2)];

fn constant(value: u64) -> Operand {
    Operand::Const(Value(value))
}

/// A function that is being written.
struct Body<'r> {
    random: &'r mut Random,
    function: Function,
    text: String,
    /// How many helpers there are that it may call.
    helpers: u32,
    /// Pointers that it may use, and how many bytes are behind them.
    pointers: Vec<(Reg, u64)>,
}

impl Body<'_> {
    fn emit(&mut self, instr: Instr) {
        self.function.push(instr, Span::default());
    }

    fn say(&mut self, text: impl std::fmt::Display) {
        let _ = write!(self.text, "{text} ");
    }

    fn register(&mut self) -> Reg {
        let name = format!("r{}", self.function.regs.len());
        self.function.new_reg(name)
    }

    fn computed(&mut self, op: BinaryOp, width: Width, a: Operand, b: Operand) -> Reg {
        let dst = self.register();
        self.emit(Instr::Assign { dst, value: Rvalue::Binary(op, width, Extend::Zero, a, b) });
        dst
    }

    fn shared(&mut self) -> Operand {
        let cell = self.random.below(2);
        self.say(["x", "y"][cell as usize]);
        Operand::Const(Value::pointer(ObjectId(cell as u32), 0))
    }

    /// A pointer to a part of what a pointer points to.
    fn part(&mut self) -> Operand {
        let (pointer, size) = self.pointers[self.random.below(self.pointers.len() as u64) as usize];
        let offset = 4 * self.random.below(size / 4);
        self.say(format_args!("*(r{}+{offset})", pointer.0));
        match offset {
            0 => pointer.into(),
            _ => self.computed(BinaryOp::Add, Width::W64, pointer.into(), constant(offset)).into(),
        }
    }

    /// Skips `inside` if the value that was read last has a bit.
    fn unless(&mut self, bit: u64, inside: impl FnOnce(&mut Self)) {
        let odd = self.computed(BinaryOp::And, WIDTH, LAST.into(), constant(bit));
        let branch = self.function.next_label();
        self.emit(Instr::Jump(branch));
        inside(self);
        let (then_to, else_to) = (self.function.next_label(), Label(branch.0 + 1));
        self.function.body[branch.0 as usize] = Instr::Branch { condition: odd.into(), then_to, else_to };
        self.emit(Instr::Fence(fencepost_ir::Fence::Compiler));
    }

    fn load_shared(&mut self) {
        let addr = self.shared();
        let order = [Order::Relaxed, Order::Acquire, Order::SeqCst][self.random.below(3) as usize];
        self.say(format_args!("{order:?};"));
        self.emit(Instr::Load {
            dst: LAST,
            addr,
            width: WIDTH,
            extend: Extend::Zero,
            ann: Ann::order(order),
        });
    }

    fn load_part(&mut self) {
        self.say("last =");
        let addr = self.part();
        let extend = [Extend::Zero, Extend::Sign][self.random.below(2) as usize];
        let instr = match self.random.below(8) {
            0 => Instr::CopyLoad { dst: LAST, addr, width: WIDTH, extend, ann: Ann::PLAIN, keeps: false },
            _ => Instr::Load { dst: LAST, addr, width: WIDTH, extend, ann: Ann::PLAIN },
        };
        self.emit(instr);
    }

    fn store_part(&mut self) {
        let addr = self.part();
        self.say("= last");
        self.emit(Instr::Store { addr, value: LAST.into(), width: WIDTH, ann: Ann::PLAIN });
    }

    fn result(&mut self) {
        let value = match self.random.below(3) {
            0 => LAST.into(),
            n => constant(n - 1),
        };
        self.say(format_args!("return {value:?};"));
        self.emit(Instr::Return(Some(value)));
    }

    /// A call of a helper with two pointers.
    fn call(&mut self, dst: Option<Reg>) {
        let callee = self.random.below(u64::from(self.helpers)) as u32;
        self.say(format_args!("h{callee}("));
        let second = match self.random.below(8) {
            0 => constant(0),
            _ => self.part(),
        };
        let args = vec![LAST.into(), self.part(), second];
        self.say(")");
        self.emit(Instr::Call { dst, callee: Callee::Function(FunctionId(callee)), args });
    }

    fn helper(&mut self) {
        for _ in 0..2 + self.random.below(3) {
            match self.random.below(11) {
                10 => self.asks(),
                0..=2 => {
                    self.load_shared();
                    self.store_part();
                }
                3 => self.store_part(),
                4 | 5 => self.load_part(),
                6 | 7 => {
                    self.say("if even");
                    self.unless(1, Self::result);
                }
                8 if self.helpers > 0 => self.call(Some(LAST)),
                _ => self.load_shared(),
            }
        }
        self.result();
    }

    /// Writes through a pointer if there is one.
    fn asks(&mut self) {
        let pointer = POINTERS[self.random.below(2) as usize];
        self.say(format_args!("if (r{}) *r{0} = last;", pointer.0));
        let null = self.computed(BinaryOp::Eq, Width::W64, pointer.into(), constant(0));
        let condition = [null.into(), pointer.into()][self.random.below(2) as usize];
        let store = Label(self.function.next_label().0 + 1);
        let after = Label(store.0 + 1);
        let (then_to, else_to) = if condition == null.into() { (after, store) } else { (store, after) };
        self.emit(Instr::Branch { condition, then_to, else_to });
        self.emit(Instr::Store { addr: pointer.into(), value: LAST.into(), width: WIDTH, ann: Ann::PLAIN });
        self.emit(Instr::Fence(fencepost_ir::Fence::Compiler));
    }

    /// Tries a helper until it says that all is well.
    fn tries(&mut self) {
        let (head, ok) = (self.function.next_label(), self.register());
        self.say("do");
        self.call(Some(ok));
        let not = self.register();
        let value = Rvalue::Unary(UnaryOp::LogicalNot, WIDTH, Extend::Zero, ok.into());
        self.emit(Instr::Assign { dst: not, value });
        self.say("while 0;");
        let else_to = Label(self.function.next_label().0 + 1);
        self.emit(Instr::Branch { condition: not.into(), then_to: head, else_to });
    }

    /// A local object, used by `inside`.
    fn local(&mut self, inside: impl FnOnce(&mut Self)) {
        let dst = self.register();
        let count = 1 + self.random.below(2) as u32;
        let init = (self.random.below(2) == 0).then_some(Value::ZERO);
        let cells: Vec<Cell> = (0..count).map(|i| Cell { offset: 4 * i, width: WIDTH, init }).collect();
        let name = format!("l{}", dst.0);
        let object = Object { name, size: 4 * count, cells, span: Span::default(), constant: false };
        self.say(format_args!("{{ r{} = local {count} {init:?};", dst.0));
        self.emit(Instr::Local { dst, object: Box::new(object), private: false });
        self.pointers.push((dst, u64::from(4 * count)));
        inside(self);
        self.say("}");
        self.emit(Instr::EndLocal(dst.into()));
        // Now and then it is used after its end.
        if self.random.below(12) > 0 {
            self.pointers.retain(|(pointer, _)| *pointer != dst);
        }
    }

    fn thread(&mut self) {
        self.local(|body| {
            for _ in 0..1 + body.random.below(2) {
                match body.random.below(6) {
                    0 => body.local(|body| body.tries()),
                    1 => body.call(Some(LAST)),
                    2 => body.store_part(),
                    _ => body.tries(),
                }
            }
            body.load_part();
        });
        if self.random.below(3) == 0 {
            self.store_shared();
        }
    }

    fn store_shared(&mut self) {
        let addr = self.shared();
        let value = constant(1 + self.random.below(2));
        self.say(format_args!("= {value:?};"));
        self.emit(Instr::Store { addr, value, width: WIDTH, ann: Ann::order(Order::Release) });
    }
}

fn generate(random: &mut Random) -> (Program, String) {
    let mut program = Program::default();
    let mut text = String::new();
    for cell in ["x", "y"] {
        program.objects.push(Object::scalar(cell, WIDTH, Value::ZERO, Span::default()));
    }
    let helpers = 1 + random.below(2) as u32;
    let begin = |name: String, params: u32| {
        let mut function = Function { name, params, ..Function::default() };
        function.regs = (0..params.max(1)).map(|i| format!("p{i}")).collect();
        function
    };
    for h in 0..helpers {
        let function = begin(format!("h{h}"), 3);
        let pointers = POINTERS.map(|pointer| (pointer, 4)).to_vec();
        let mut body = Body { random, function, text: String::new(), helpers: h, pointers };
        body.helper();
        let _ = writeln!(text, "h{h}: {}", body.text);
        program.functions.push(body.function);
    }
    for t in 0..2 {
        let function = begin(format!("t{t}"), 0);
        let mut body = Body { random, function, text: String::new(), helpers, pointers: Vec::new() };
        match t {
            0 => body.thread(),
            _ => (0..2 + body.random.below(2)).for_each(|_| body.store_shared()),
        }
        let _ = writeln!(text, "t{t}: {}", body.text);
        let (name, number) = (body.function.name.clone(), FunctionId(program.functions.len() as u32));
        program.functions.push(body.function);
        program.threads.push(Thread { name, function: number, args: Vec::new() });
    }
    let observed = vec![Observable::Register { thread: ThreadId(0), reg: LAST }];
    program.property = Property::Final(FinalCondition {
        quantifier: Quantifier::Exists,
        proposition: Proposition::True,
        filter: None,
        observed,
        shown: 1,
    });
    (program, text)
}

/// Final states, kinds of findings but those of threads that do not end, executions; nothing if it takes too long.
type Found = (BTreeSet<Vec<Value>>, BTreeSet<FindingKind>, u64);

fn found(program: &Program, model: ModelName, reductions: Reductions) -> Option<Found> {
    let deadline = Some(Instant::now() + PATIENCE);
    let limits = Limits { max_nodes: Some(20_000), deadline, ..Limits::default() };
    let options = Options { reductions, limits, ..Options::new(model) };
    let exploration = explore(program, &options).expect("supported");
    if exploration.stopped.is_some() {
        return None;
    }
    // A loop that reads no memory any more is found to be endless, and no longer cut.
    let waits = |kind: &FindingKind| matches!(kind, FindingKind::Deadlock | FindingKind::LocalLoop);
    let kinds = exploration.findings.iter().map(|f| f.kind).filter(|kind| !waits(kind));
    Some((exploration.states.into_iter().collect(), kinds.collect(), exploration.stats.executions))
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn helpers_in_place_of_calls_change_nothing() {
    let cases = number("FENCEPOST_CASES", 100);
    let mut random = Random(number("FENCEPOST_SEED", 1));
    let (mut compared, mut inlined, mut promoted, mut fewer, mut found_wrong) = (0, 0, 0, 0, 0);
    for case in 0..cases {
        let (program, text) = generate(&mut random);
        let mut simple = program.clone();
        keep_locals_in_registers(&mut simple, &|_| false);
        let thread = simple.threads[0].function.0 as usize;
        let makes = |f: &Function| f.body.iter().filter(|i| matches!(i, Instr::Local { .. })).count();
        promoted += u64::from(makes(&simple.functions[thread]) < makes(&program.functions[thread]));
        inlined += u64::from(simple.functions[thread].regs.len() > program.functions[thread].regs.len());
        let (program, simple) = (bound_loops(&program, 2), bound_loops(&simple, 2));
        for model in ModelName::ALL {
            let name = model.name();
            let Some(expected) = found(&program, model, Reductions::ALL.following_all()) else { continue };
            for reductions in [Reductions::ALL.following_all(), Reductions::ALL] {
                let Some(now) = found(&simple, model, reductions) else { continue };
                let hardware = matches!(model, ModelName::Power | ModelName::Armv8);
                let at = format!("case {case} under {name}, {reductions:?}: {text}");
                // A thread ends where it reads what has no value in a register, and goes on if that is in memory.
                let finds = |found: &Found| !found.1.is_empty();
                assert!(
                    finds(&now) == finds(&expected) || (hardware && finds(&now)),
                    "{:?} {:?}: {at}",
                    now.1,
                    expected.1
                );
                if hardware && !finds(&now) {
                    assert!(now.0.is_superset(&expected.0), "states: {at}");
                } else if !hardware {
                    assert!(now.1.is_subset(&expected.1), "findings: {at}");
                    assert!(finds(&now) || now.0 == expected.0, "states: {at}");
                }
                compared += 1;
                fewer += u64::from(now.2 < expected.2);
            }
            found_wrong += u64::from(!expected.1.is_empty());
        }
    }
    println!(
        "{compared} runs compared; {inlined} inlined, {promoted} promoted, {fewer} with fewer executions, \
            {found_wrong} with findings"
    );
    assert!(
        compared > cases * 4 && promoted > cases / 3 && inlined > cases / 3,
        "{compared}, {promoted}, {inlined}"
    );
    assert!(found_wrong > cases / 10, "{found_wrong} with findings");
}
