//! Threads that nobody can tell apart: of the executions that differ only in who is who, the search keeps at least one, and
//! just one under SC, TSO and PSO; final states and findings are those of the full search.
//!
//! The test knows the sets of equal executions from the full search, by renaming threads in every way.

#[path = "support/dice.rs"]
mod dice;

use dice::Random;
use fencepost_explore::{
    AccessId, Exploration, FindingKind, Limits, ModelName, Options, Reduction, Reductions, Symmetry, Trace,
    explore,
};
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, Fence, FinalCondition, Function, FunctionId, Instr, Label, Object,
    ObjectId, Observable, Operand, Order, Program, Property, Proposition, Quantifier, Reg, RmwOp, Rvalue,
    Span, Thread, Until, Value, Width, bound_loops,
};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Mutex;

const WIDTH: Width = Width::W32;
const SIGN: Extend = Extend::Sign;

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
        self.last = self.function.new_reg(name);
        self.last
    }

    fn cell(&mut self) -> (u64, Operand) {
        let cell = self.random.below(2);
        (cell, Operand::Const(Value::pointer(ObjectId(cell as u32), 0)))
    }

    fn order(&mut self, orders: [Order; 3]) -> Ann {
        Ann::order(orders[self.random.below(3) as usize])
    }

    /// Now and then an access is not atomic.
    fn maybe_plain(&mut self, orders: [Order; 3]) -> Ann {
        if self.random.below(12) == 0 { Ann::PLAIN } else { self.order(orders) }
    }

    fn load(&mut self) -> Reg {
        let (cell, addr) = self.cell();
        let ann = self.maybe_plain([Order::Relaxed, Order::Acquire, Order::SeqCst]);
        let _ = write!(self.text, "R{cell}.{:?} ", ann.order);
        let dst = self.register();
        self.emit(Instr::Load { dst, addr, width: WIDTH, extend: SIGN, ann });
        dst
    }

    fn store(&mut self) {
        let (cell, addr) = self.cell();
        let ann = self.maybe_plain([Order::Relaxed, Order::Release, Order::SeqCst]);
        let value = match self.random.below(3) {
            0 => Operand::Reg(self.last),
            n => Operand::Const(Value(n)),
        };
        let _ = write!(self.text, "W{cell}.{:?}={value:?} ", ann.order);
        self.emit(Instr::Store { addr, value, width: WIDTH, ann });
    }

    fn compared(&mut self, a: Reg, op: BinaryOp) -> Reg {
        let value = self.random.below(3);
        let _ = write!(self.text, "{op:?}{value} ");
        let (a, b) = (Operand::Reg(a), Operand::Const(Value(value)));
        let name = format!("r{}", self.function.regs.len());
        let dst = self.function.new_reg(name);
        self.emit(Instr::Assign { dst, value: Rvalue::Binary(op, WIDTH, Extend::Zero, a, b) });
        dst
    }

    fn exchange(&mut self) {
        let (cell, addr) = self.cell();
        let read = self.order([Order::Relaxed, Order::Acquire, Order::SeqCst]);
        let write = self.order([Order::Relaxed, Order::Release, Order::SeqCst]);
        let (operand, desired) = (Operand::Const(Value(1)), Operand::Const(Value(2)));
        let expected = match self.random.below(3) {
            0 => Operand::Reg(self.last),
            n => Operand::Const(Value(n - 1)),
        };
        let (dst, width, extend) = (Some(self.register()), WIDTH, SIGN);
        let op = if self.random.below(2) == 0 { RmwOp::Add } else { RmwOp::Exchange };
        if self.random.below(2) == 0 {
            let _ = write!(self.text, "{op:?}{cell}.{:?}.{:?} ", read.order, write.order);
            self.emit(Instr::Rmw { dst, addr, width, extend, op, operand, read, write });
        } else {
            let _ = write!(self.text, "cas{cell}({expected:?},2).{:?}.{:?} ", read.order, write.order);
            let (success, failure, weak) = (None, Ann::order(Order::Relaxed), self.random.below(8) == 0);
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
    }

    fn wait(&mut self) {
        let (cell, addr) = self.cell();
        let op = if self.random.below(2) == 0 { BinaryOp::Eq } else { BinaryOp::Ne };
        let value = self.random.below(2);
        let _ = write!(self.text, "await{cell}{op:?}{value} ");
        let until = Until { op, operand: Operand::Const(Value(value)) };
        let (ann, write) = (Ann::order(Order::Acquire), Ann::order(Order::Relaxed));
        let (dst, width, extend) = (Some(self.register()), WIDTH, SIGN);
        if self.random.below(2) == 0 {
            return self.emit(Instr::Await { dst, addr, width, extend, until, ann });
        }
        self.text.push_str("add ");
        let (op, operand) = (RmwOp::Add, Operand::Const(Value(1)));
        self.emit(Instr::AwaitRmw { dst, addr, width, extend, until, op, operand, read: ann, write });
    }

    /// A loop that exchanges until it finds 0.
    fn take(&mut self) {
        let start = self.function.next_label();
        let (cell, addr) = self.cell();
        let (read, write) = (Ann::order(Order::Acquire), Ann::order(Order::Relaxed));
        let _ = write!(self.text, "take{cell} ");
        let (dst, op, operand) = (self.register(), RmwOp::Exchange, Operand::Const(Value(1)));
        self.emit(Instr::Rmw { dst: Some(dst), addr, width: WIDTH, extend: SIGN, op, operand, read, write });
        let next = Label(self.function.next_label().0 + 1);
        self.emit(Instr::Branch { condition: Operand::Reg(dst), then_to: start, else_to: next });
        if self.random.below(3) > 0 {
            self.text.push_str("give ");
            let ann = Ann::order(Order::Release);
            self.emit(Instr::Store { addr, value: Operand::Const(Value::ZERO), width: WIDTH, ann });
        }
    }

    fn statement(&mut self) {
        match self.random.below(20) {
            0..=4 => self.store(),
            5..=8 => {
                self.load();
            }
            9..=12 => self.exchange(),
            13 => {
                self.text.push_str("fence ");
                self.emit(Instr::Fence(Fence::C11(Order::SeqCst)));
            }
            14 => self.wait(),
            15 => self.take(),
            16 => {
                self.text.push_str("choose ");
                let dst = self.register();
                self.emit(Instr::Nondet { dst, first: 0, last: 1 });
            }
            17 => {
                self.text.push_str("assert ");
                let condition = Operand::Reg(self.compared(self.last, BinaryOp::Ne));
                self.emit(Instr::Assert {
                    condition,
                    kind: fencepost_ir::FailKind::Assertion,
                    message: "no".into(),
                });
            }
            18 => {
                // The store happens only after some values.
                let condition = Operand::Reg(self.compared(self.last, BinaryOp::Eq));
                let at = self.function.body.len();
                let next = Label(self.function.next_label().0 + 1);
                self.emit(Instr::Branch { condition, then_to: next, else_to: next });
                self.store();
                let end = self.function.next_label();
                if let Instr::Branch { else_to, .. } = &mut self.function.body[at] {
                    *else_to = end;
                }
            }
            _ => {
                self.text.push_str("locked{");
                let mutex = Operand::Const(Value::pointer(ObjectId(2), 0));
                self.emit(Instr::Lock(mutex));
                self.store();
                self.emit(Instr::Unlock(mutex));
                self.text.push_str("} ");
            }
        }
    }
}

fn cells() -> Program {
    let mut program = Program::default();
    for cell in ["x", "y", "m"] {
        program.objects.push(Object::scalar(cell, WIDTH, Value::ZERO, Span::default()));
    }
    let cell = |o: u32| Observable::Memory { object: ObjectId(o), offset: 0, width: WIDTH };
    program.property = Property::Final(FinalCondition {
        observed: vec![cell(0), cell(1)],
        shown: 2,
        filter: None,
        quantifier: Quantifier::Exists,
        proposition: Proposition::True,
    });
    program
}

/// A function with some statements, which it describes.
fn function(random: &mut Random, name: String, length: u64, text: &mut String) -> Function {
    let mut function = Function { name, ..Function::default() };
    let last = function.new_reg("r0");
    let mut body = Body { random, function, text: String::new(), last };
    (0..length).for_each(|_| body.statement());
    text.push_str(&body.text);
    body.function
}

/// A program, what it looks like, and the number of threads in each set of equal ones.
fn generate(random: &mut Random) -> (Program, String, Vec<usize>) {
    let mut program = cells();
    let (mut text, mut sizes) = (String::new(), Vec::new());
    let first = 2 + random.below(3) as usize;
    let others = random.below(if first == 2 { 3 } else { 2 }) as usize;
    let second = if first == 2 && others == 1 && random.below(2) == 0 { 2 } else { 1 };
    for set in 0..=others {
        let size = if set == 0 { first } else { second };
        let id = FunctionId(program.functions.len() as u32);
        let length = 1 + random.below(if first == 2 { 4 } else { 3 });
        let _ = write!(text, "| {size} x ");
        program.functions.push(function(random, format!("f{set}"), length, &mut text));
        for _ in 0..size {
            let name = format!("t{}", program.threads.len());
            program.threads.push(Thread { name, function: id, args: Vec::new() });
        }
        sizes.push(size);
    }
    (bound_loops(&program, 3), text, sizes)
}

/// A program that starts equal threads and joins them, perhaps in a way that tells them apart.
fn generate_started(random: &mut Random) -> (Program, String, Vec<usize>) {
    let mut program = cells();
    let (mut text, size, length) = (String::new(), 2 + random.below(2) as usize, 1 + random.below(3));
    let mut run = function(random, "run".into(), length, &mut text);
    if random.below(6) == 0 {
        text.push_str("self ");
        let (dst, addr) = (run.new_reg("me"), Operand::Const(Value::pointer(ObjectId(0), 0)));
        run.push(Instr::SelfThread { dst }, Span::default());
        let (value, ann) = (Operand::Reg(dst), Ann::order(Order::Relaxed));
        run.push(Instr::Store { addr, value, width: WIDTH, ann }, Span::default());
    }
    let last = Operand::Reg(Reg(run.regs.len() as u32 - 1));
    run.push(Instr::Return(Some(last)), Span::default());
    let _ = write!(text, "| {size} started ");
    let (mut main, mut threads) = (Function { name: "main".into(), ..Function::default() }, Vec::new());
    let last = main.new_reg("r0");
    let mut body = Body { random, function: main, text, last };
    for t in 0..size {
        if body.random.below(8) == 0 {
            body.statement();
        }
        let dst = body.function.new_reg(format!("t{t}"));
        body.emit(Instr::Spawn { dst: Some(dst), callee: Callee::Function(FunctionId(1)), args: Vec::new() });
        body.text.push_str("start ");
        threads.push(dst);
    }
    if body.random.below(8) == 0 {
        body.last = threads[0];
    }
    (0..body.random.below(2)).for_each(|_| body.statement());
    if body.random.below(8) == 0 {
        threads.pop();
    }
    for thread in threads {
        let dst = (body.random.below(8) == 0).then(|| body.register());
        body.text.push_str("join ");
        body.emit(Instr::Join { thread: Operand::Reg(thread), dst });
        if body.random.below(8) == 0 {
            body.statement();
        }
    }
    (0..1 + body.random.below(2)).for_each(|_| body.statement());
    main = body.function;
    text = body.text;
    program.functions = vec![main, run];
    program.threads.push(Thread { name: "main".into(), function: FunctionId(0), args: Vec::new() });
    (bound_loops(&program, 3), text, vec![1, size])
}

/// All ways to rename threads within their sets.
fn renamings(sizes: &[usize]) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    let mut base = 0;
    for &size in sizes {
        let mut longer = Vec::new();
        for renaming in &all {
            for order in orders(size) {
                let mut renaming: Vec<u32> = renaming.clone();
                renaming.extend(order.iter().map(|&t| (base + t) as u32));
                longer.push(renaming);
            }
        }
        (all, base) = (longer, base + size);
    }
    all
}

fn orders(size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in orders(size - 1) {
        for at in 0..size {
            let mut order = shorter.clone();
            order.insert(at, size - 1);
            all.push(order);
        }
    }
    all
}

fn renamed(trace: &Trace, renaming: &[u32]) -> Trace {
    let access = |&(thread, index): &AccessId| (renaming[thread as usize], index);
    let mut rf: Vec<_> = trace.rf.iter().map(|(r, w)| (access(r), w.as_ref().map(access))).collect();
    rf.sort();
    let co = trace.co.iter().map(|(cell, list)| (*cell, list.iter().map(access).collect())).collect();
    let mut choices = trace.choices.clone();
    for (thread, own) in trace.choices.iter().enumerate() {
        choices[renaming[thread] as usize].clone_from(own);
    }
    Trace { rf, co, choices }
}

/// The one that stands for all executions that differ in who is who.
fn orbit(trace: &Trace, renamings: &[Vec<u32>]) -> Trace {
    renamings.iter().map(|renaming| renamed(trace, renaming)).min().expect("there is one")
}

/// Kinds and places of findings, whoever did it. Which thread it is that `main` waits for in vain to end is a matter of names.
fn findings(exploration: &Exploration, main: Option<u32>) -> BTreeSet<String> {
    let places = |finding: &fencepost_explore::Finding| {
        let mut places: Vec<_> = finding.places.iter().map(|place| place.at).collect();
        places.sort_unstable();
        places.dedup();
        // Of several races of an execution the first is told, which is a matter of names.
        if finding.kind == FindingKind::DataRace {
            places.clear();
        }
        if finding.kind == FindingKind::Deadlock {
            places.retain(|place| Some(place.0) != main);
        }
        format!("{:?} {places:?}", finding.kind)
    };
    exploration.findings.iter().map(places).collect()
}

/// What was found, and the executions; nothing if there are too many.
fn found(
    program: &Program,
    model: ModelName,
    symmetry: Symmetry,
    jobs: usize,
) -> Option<(Exploration, Vec<Trace>)> {
    found_with(program, Options { symmetry, jobs, ..Options::new(model) })
}

fn found_with(program: &Program, options: Options<'_>) -> Option<(Exploration, Vec<Trace>)> {
    let traces = Mutex::new(Vec::new());
    let visitor = |trace: Trace| traces.lock().expect("not poisoned").push(trace);
    let restarted = || traces.lock().expect("not poisoned").clear();
    let limits = Limits { max_nodes: Some(8_000), ..Limits::default() };
    let (visitor, restarted) = (Some(&visitor as _), Some(&restarted as _));
    let exploration =
        explore(program, &Options { visitor, restarted, limits, ..options }).expect("supported");
    exploration.stopped.is_none().then(|| (exploration, traces.into_inner().expect("not poisoned")))
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn started_threads_are_equal_only_if_nobody_can_tell_them_apart() {
    let cases = number("FENCEPOST_CASES", 90);
    let mut random = Random(number("FENCEPOST_SEED", 1));
    let (mut reduced, mut whole) = (0u64, 0u64);
    for case in 0..cases {
        let (program, text, sizes) = generate_started(&mut random);
        let renamings = renamings(&sizes);
        let models = [ModelName::Sc, ModelName::Tso, ModelName::Rc11, ModelName::Power, ModelName::Armv8];
        let model = models[case as usize % models.len()];
        let name = model.name();
        let Some((full, all)) = found(&program, model, Symmetry::Off, 1) else { continue };
        let Some((few, kept)) = found(&program, model, Symmetry::Find, 1) else {
            assert!(matches!(model, ModelName::Power | ModelName::Armv8), "case {case} under {name}: {text}");
            continue;
        };
        if few.stats.symmetric > 0 {
            let orbits: BTreeSet<Trace> = all.iter().map(|trace| orbit(trace, &renamings)).collect();
            let covered: BTreeSet<Trace> = kept.iter().map(|trace| orbit(trace, &renamings)).collect();
            assert!(covered == orbits, "case {case} under {name}: {text}");
            reduced += 1;
        } else {
            whole += 1;
        }
        assert_eq!(few.states, full.states, "case {case} under {name}: final states: {text}");
        let (few, full) = (findings(&few, Some(0)), findings(&full, Some(0)));
        assert_eq!(few, full, "case {case} under {name}: findings: {text}");
    }
    assert!(reduced > cases / 8 && whole > cases / 8, "{reduced} with equal threads, {whole} without");
}

/// In RA and RC11 coherence may contradict (po | rf)+: sorting all equal threads by the coherence of what they read would
/// lose the execution in which each of two sets waits for the other.
#[test]
fn coherence_may_contradict_what_comes_before() {
    let mut program = cells();
    let (x, y) = (Value::pointer(ObjectId(0), 0), Value::pointer(ObjectId(1), 0));
    let (width, extend, ann) = (WIDTH, SIGN, Ann::order(Order::Relaxed));
    for (from, to) in [(x, y), (y, x)] {
        let mut run = Function { name: "run".into(), ..Function::default() };
        let (dst, one) = (run.new_reg("r"), run.new_reg("one"));
        let equal = |a, b| Rvalue::Binary(BinaryOp::Eq, width, Extend::Zero, a, b);
        let one_read = equal(Operand::Reg(dst), Operand::Const(Value(1)));
        for instr in [
            Instr::Load { dst, addr: Operand::Const(from), width, extend, ann },
            Instr::Assign { dst: one, value: one_read },
            Instr::Branch { condition: Operand::Reg(one), then_to: Label(3), else_to: Label(4) },
            Instr::Store { addr: Operand::Const(to), value: Operand::Const(Value(2)), width, ann },
        ] {
            run.push(instr, Span::default());
        }
        program.functions.push(run);
        let mut write = Function { name: "write".into(), ..Function::default() };
        let store = Instr::Store { addr: Operand::Const(from), value: Operand::Const(Value(1)), width, ann };
        write.push(store, Span::default());
        program.functions.push(write);
    }
    for function in [0, 0, 2, 2, 1, 3] {
        let name = format!("t{}", program.threads.len());
        program.threads.push(Thread { name, function: FunctionId(function), args: Vec::new() });
    }
    let renamings = renamings(&[2, 2, 1, 1]);
    for model in [ModelName::Sc, ModelName::Tso, ModelName::Pso, ModelName::Ra, ModelName::Rc11] {
        let (full, all) = found(&program, model, Symmetry::Off, 1).expect("few");
        let (few, kept) = found(&program, model, Symmetry::Find, 1).expect("fewer");
        let orbits: BTreeSet<Trace> = all.iter().map(|trace| orbit(trace, &renamings)).collect();
        let covered: BTreeSet<Trace> = kept.iter().map(|trace| orbit(trace, &renamings)).collect();
        assert!(covered == orbits && few.states == full.states, "{}", model.name());
        assert_eq!(few.stats.symmetric, few.stats.executions);
    }
}

#[test]
fn each_set_of_equal_executions_keeps_a_member() {
    let cases = number("FENCEPOST_CASES", 60);
    let mut random = Random(number("FENCEPOST_SEED", 1));
    let mut sums = vec![(0u64, 0u64, 0u64, 0u64); ModelName::ALL.len()];
    // A campaign that stopped goes on from where it was.
    let first = number("FENCEPOST_FIRST", 0);
    for case in 0..cases {
        let (program, text, sizes) = generate(&mut random);
        if case < first {
            continue;
        }
        let renamings = renamings(&sizes);
        for (m, model) in ModelName::ALL.into_iter().enumerate() {
            let name = model.name();
            let Some((full, all)) = found(&program, model, Symmetry::Off, 1) else { continue };
            let jobs = if case % 8 == 0 { 3 } else { 1 };
            let Some((few, kept)) = found(&program, model, Symmetry::Find, jobs) else {
                // It may have seen a pair in a graph that the full search knows to lead nowhere, and started over out of order.
                assert!(
                    matches!(model, ModelName::Power | ModelName::Armv8),
                    "case {case} under {name}: {text}"
                );
                continue;
            };
            let sets = |traces: &[Trace]| -> BTreeSet<Trace> {
                traces.iter().map(|trace| orbit(trace, &renamings)).collect()
            };
            let (mut orbits, covered) = (sets(&all), sets(&kept));
            if covered != orbits && few.stats.symmetric == 0 && few.stats.executions == full.stats.executions
            {
                // For the same reason. A compare-exchange has a choice then, and what comes behind it other numbers.
                let reductions = Reductions::ALL.without(Reduction::ProgramOrder);
                let Some((_, all)) = found_with(&program, Options { reductions, ..Options::new(model) })
                else {
                    continue;
                };
                orbits = sets(&all);
            }
            for missing in orbits.difference(&covered) {
                eprintln!("missing {missing:?}");
            }
            assert!(covered == orbits, "case {case} under {name}: {text}");
            let distinct: BTreeSet<&Trace> = kept.iter().collect();
            assert_eq!(distinct.len(), kept.len(), "case {case} under {name}: twice: {text}");
            if matches!(model, ModelName::Sc | ModelName::Tso | ModelName::Pso) {
                assert_eq!(kept.len(), orbits.len(), "case {case} under {name}: two of a set: {text}");
            }
            assert_eq!(few.states, full.states, "case {case} under {name}: final states: {text}");
            let (few, full) = (findings(&few, None), findings(&full, None));
            assert_eq!(few, full, "case {case} under {name}: findings: {text}");
            sums[m].0 += 1;
            sums[m].1 += all.len() as u64;
            sums[m].2 += orbits.len() as u64;
            sums[m].3 += kept.len() as u64;
        }
    }
    for (model, (programs, all, orbits, kept)) in ModelName::ALL.iter().zip(&sums) {
        println!("{}: {programs} programs, {all} executions, {orbits} sets, {kept} explored", model.name());
        assert!(kept < all, "nothing was gained under {}", model.name());
    }
}
