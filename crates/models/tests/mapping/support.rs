//! Programs from a line of text, their final states, and compiled code as text.
//!
//! Threads are separated by `|`. `Wx1.rel` stores, `Rx.acq` loads, `Ax5.sc` adds 5, `Xx2.acqrel` exchanges,
//! `Cx0:2.sc/rlx` compares with 0 and stores 2, with an order for success and one for failure, `F.sc` is a fence, `lock`
//! and `unlock` are about the one mutex, `Wx=.rel` stores what was read last, and `?` skips the next statement if that is 0.
//! Each read has a register of its own; a final state shows them all, then x, y and z. The span of an instruction is the
//! number of its statement.

use fencepost_explore::{Exploration, ModelName, Options, explore};
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, FinalCondition, Function, FunctionId, Instr, Label, Object, ObjectId,
    Observable, Operand, Order, Program, Property, Proposition, Quantifier, Reg, RmwOp, Rvalue, Span, Thread,
    ThreadId, Until, Value, Width,
};
use fencepost_models::Model;
use fencepost_models::mapping::{Mapping, Target};
use std::collections::BTreeSet;

/// Final states.
pub type States = BTreeSet<Vec<Value>>;

const CELLS: [char; 3] = ['x', 'y', 'z'];
const WIDTH: Width = Width::W32;
const EXTEND: Extend = Extend::Sign;

fn cell(name: &str) -> Operand {
    let index = CELLS.iter().position(|c| name.starts_with(*c)).expect("a cell");
    Value::pointer(ObjectId(index as u32), 0).into()
}

fn order(name: &str) -> Order {
    Order::ALL.into_iter().find(|o| o.name() == name).expect("an order")
}

fn constant(text: &str) -> Operand {
    Value(text.parse().expect("a number")).into()
}

/// The orders of the halves of a read-modify-write, as the C front end gives them.
fn halves(order: Order) -> (Ann, Ann) {
    let (read, write) = match order {
        Order::Acquire | Order::Consume => (order, Order::Relaxed),
        Order::Release => (Order::Relaxed, order),
        Order::AcqRel => (Order::Acquire, Order::Release),
        other => (other, other),
    };
    (Ann::order(read), Ann::order(write))
}

/// One statement.
pub fn statement(function: &mut Function, text: &str) -> Instr {
    let last = function.regs.len().checked_sub(1).map(|last| Operand::Reg(Reg(last as u32)));
    let mutex = Operand::Const(Value::pointer(ObjectId(CELLS.len() as u32), 0));
    match text {
        "lock" => return Instr::Lock(mutex),
        "unlock" => return Instr::Unlock(mutex),
        "?" => {
            let here = function.next_label().0;
            let condition = last.unwrap_or(constant("1"));
            return Instr::Branch { condition, then_to: Label(here + 1), else_to: Label(here + 2) };
        }
        _ => {}
    }
    let (body, orders) = text.split_once('.').expect("an order");
    let mut dst = || function.new_reg(text);
    let (addr, width, extend) = (if body.len() > 1 { cell(&body[1..]) } else { cell("x") }, WIDTH, EXTEND);
    match &body[..1] {
        "F" => Instr::Fence(Fence::C11(order(orders))),
        "R" => Instr::Load { dst: dst(), addr, width, extend, ann: Ann::order(order(orders)) },
        "W" => {
            let value =
                if body.ends_with('=') { last.unwrap_or(constant("9")) } else { constant(&body[2..]) };
            Instr::Store { addr, value, width, ann: Ann::order(order(orders)) }
        }
        "A" | "X" => {
            let op = if body.starts_with('A') { RmwOp::Add } else { RmwOp::Exchange };
            let (read, write) = halves(order(orders));
            let operand = constant(&body[2..]);
            Instr::Rmw { dst: Some(dst()), addr, width, extend, op, operand, read, write }
        }
        "C" => {
            let (success, failure) = orders.split_once('/').expect("two orders");
            let (read, write) = halves(order(success));
            let (expected, desired) = body[2..].split_once(':').expect("two values");
            Instr::CompareExchange {
                dst: Some(dst()),
                success: None,
                addr,
                width,
                extend,
                expected: constant(expected),
                desired: constant(desired),
                read,
                write,
                failure: Ann::order(order(failure)),
                weak: false,
            }
        }
        other => panic!("unknown statement {other}"),
    }
}

/// The program that a text describes.
pub fn program(text: &str) -> Program {
    let span = Span::default();
    let mut program = Program { name: text.to_string(), ..Program::default() };
    program.objects = CELLS.iter().map(|c| Object::scalar(*c, WIDTH, Value::ZERO, span)).collect();
    program.objects.push(Object::scalar("mutex", WIDTH, Value::ZERO, span));
    let mut observed = Vec::new();
    let mut number = 0;
    for (index, words) in (0u32..).zip(text.split('|')) {
        let mut function = Function { name: format!("P{index}"), ..Function::default() };
        for word in words.split_whitespace() {
            let instr = statement(&mut function, word);
            function.push(instr, Span { start: number, end: number });
            number += 1;
        }
        let regs = 0..function.regs.len() as u32;
        observed.extend(regs.map(|r| Observable::Register { thread: ThreadId(index), reg: Reg(r) }));
        program.functions.push(function);
        let thread = Thread { name: format!("P{index}"), function: FunctionId(index), args: Vec::new() };
        program.threads.push(thread);
    }
    let cells = 0..CELLS.len() as u32;
    observed.extend(cells.map(|c| Observable::Memory { object: ObjectId(c), offset: 0, width: WIDTH }));
    let shown = observed.len();
    program.property = Property::Final(FinalCondition {
        quantifier: Quantifier::Exists,
        proposition: Proposition::False,
        observed,
        shown,
        filter: None,
    });
    program
}

/// For the enumerator: locks as what they mean in C11, and waits as an operation and an assumption about what it read. An
/// execution that
/// violates the assumption is not complete, so it does not matter that the operation was done.
fn without_waits(source: &Program) -> Program {
    let mut program = source.clone();
    for function in &mut program.functions {
        let (old, seen) = (function.new_reg("wait"), function.new_reg("seen"));
        let mut starts = Vec::new();
        let (body, spans) = (std::mem::take(&mut function.body), std::mem::take(&mut function.spans));
        for (instr, span) in body.into_iter().zip(spans) {
            starts.push(function.next_label());
            for instr in without_wait(instr, old, seen) {
                function.push(instr, span);
            }
        }
        starts.push(function.next_label());
        for instr in &mut function.body {
            if let Instr::Jump(to) = instr {
                *to = starts[to.0 as usize];
            }
            if let Instr::Branch { then_to, else_to, .. } = instr {
                (*then_to, *else_to) = (starts[then_to.0 as usize], starts[else_to.0 as usize]);
            }
        }
    }
    program
}

fn without_wait(instr: Instr, old: Reg, seen: Reg) -> Vec<Instr> {
    let (width, extend) = (WIDTH, Extend::Zero);
    match instr {
        Instr::Lock(addr) => {
            let until = Until { op: BinaryOp::Eq, operand: Value::ZERO.into() };
            let (op, operand) = (RmwOp::Exchange, Value(1).into());
            let (read, write) = halves(Order::Acquire);
            let wait = Instr::AwaitRmw { dst: None, addr, width, extend, until, op, operand, read, write };
            without_wait(wait, old, seen)
        }
        Instr::Unlock(addr) => {
            vec![Instr::Store { addr, value: Value::ZERO.into(), width, ann: Ann::order(Order::Release) }]
        }
        Instr::AwaitRmw { dst, addr, width, extend, until, op, operand, read, write } => {
            let old = dst.unwrap_or(old);
            let value = Rvalue::Binary(until.op, width, extend, old.into(), until.operand);
            vec![
                Instr::Rmw { dst: Some(old), addr, width, extend, op, operand, read, write },
                Instr::Assign { dst: seen, value },
                Instr::Assume(seen.into()),
            ]
        }
        other => vec![other],
    }
}

/// The final states under a model.
pub fn states(program: &Program, model: ModelName) -> States {
    explored(program, model).states.into_iter().collect()
}

/// All that the explorer says.
pub fn explored(program: &Program, model: ModelName) -> Exploration {
    let found = explore(program, &Options::new(model)).expect("a supported program");
    assert!(found.stopped.is_none(), "{}", program.name);
    found
}

/// What RC11 allows: with its axiom against values out of thin air, and, asked for only when needed, without it.
pub struct Allowed {
    program: Program,
    rc11: States,
    thin_air: Option<States>,
}

impl Allowed {
    pub fn of(program: &Program) -> Allowed {
        Allowed { program: program.clone(), rc11: states(program, ModelName::Rc11), thin_air: None }
    }

    /// The first state that RC11 forbids even without no-thin-air (or with it, if `strict`).
    pub fn violation(&mut self, states: &States, strict: bool) -> Option<Vec<Value>> {
        let first = states.difference(&self.rc11).next().cloned()?;
        if strict {
            return Some(first);
        }
        let thin_air = self.thin_air.get_or_insert_with(|| thin_air_states(&self.program));
        states.difference(thin_air).next().cloned()
    }

    /// Whether a state was found that only the weaker RC11 allows.
    pub fn needed_thin_air(&self) -> bool {
        self.thin_air.is_some()
    }
}

fn thin_air_states(program: &Program) -> States {
    let rc11 = Model::builtin("rc11").expect("a model").without_axiom("no-thin-air").expect("an axiom");
    let Property::Final(condition) = &program.property else { return States::new() };
    let found =
        fencepost_naive::enumerate(&without_waits(program), &rc11, &fencepost_naive::Limits::default())
            .unwrap_or_else(|stop| panic!("{}: {stop}", program.name));
    found.executions.iter().map(|e| e.state(condition)).collect()
}

/// The model that programs for a target run under.
pub fn model(target: Target) -> ModelName {
    ModelName::from_name(target.name()).expect("a model")
}

/// Every mapping of a target that differs from the others, by name.
pub fn variants(target: Target) -> Vec<(&'static str, Mapping)> {
    let names: &[&str] = match target {
        Target::Tso => &["mfence", "xchg"],
        Target::Pso => &["default"],
        Target::Power => &[
            "leading-sync",
            "trailing-sync",
            "leading-sync,fused",
            "trailing-sync,fused",
            "leading-sync,branch",
            "trailing-sync,fused,branch",
        ],
        Target::Armv8 => &["lse", "llsc", "lse,rcpc", "llsc,rcpc", "lse,branch", "llsc,rcpc,branch"],
    };
    names.iter().map(|n| (*n, Mapping::parse(target, n).expect("a mapping"))).collect()
}

/// Whether programs compiled so are within RC11 with all its axioms: TSO and PSO have no cycles of `po | rf` anyway.
pub fn is_strict(target: Target, variant: &str) -> bool {
    matches!(target, Target::Tso | Target::Pso) || variant.ends_with("branch")
}
