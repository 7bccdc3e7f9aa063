//! Small programs whose executions are known by hand.

use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Function, FunctionId, Instr, Label, Object, ObjectId, Operand, Order,
    Program, Reg, RmwOp, Rvalue, Span, Thread, Value, Width,
};
use fencepost_models::Model;
use fencepost_naive::{Found, Limits, Stop, enumerate};

const W: Width = Width::W32;

/// Objects x, y, z with value 0.
fn program(threads: Vec<Vec<Instr>>) -> Program {
    let mut program = Program { name: "t".into(), ..Program::default() };
    for name in ["x", "y", "z"] {
        program.objects.push(Object::scalar(name, W, Value::ZERO, Span::default()));
    }
    for (i, body) in threads.into_iter().enumerate() {
        let spans = vec![Span::default(); body.len()];
        let regs = (0..8).map(|r| format!("r{r}")).collect();
        program.functions.push(Function { name: format!("P{i}"), params: 0, regs, body, spans });
        let function = FunctionId(i as u32);
        program.threads.push(Thread { name: format!("P{i}"), function, args: Vec::new() });
    }
    program
}

fn at(object: u32) -> Operand {
    Operand::Const(Value::pointer(ObjectId(object), 0))
}

fn number(n: u64) -> Operand {
    Operand::Const(Value(n))
}

fn store(object: u32, value: Operand) -> Instr {
    Instr::Store { addr: at(object), value, width: W, ann: Ann::PLAIN }
}

fn load(dst: u32, object: u32) -> Instr {
    Instr::Load { dst: Reg(dst), addr: at(object), width: W, extend: Extend::Zero, ann: Ann::PLAIN }
}

fn run(program: &Program, model: &str) -> Found {
    let model = Model::builtin(model).expect("a model");
    enumerate(program, &model, &Limits::default()).expect("small enough")
}

fn count(program: &Program, model: &str) -> usize {
    let found = run(program, model);
    let mut keys: Vec<_> = found.executions.iter().map(|e| e.key.clone()).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), found.executions.len(), "each execution has a key of its own");
    keys.len()
}

#[test]
fn store_buffering_has_three_or_four_executions() {
    let sb = program(vec![vec![store(0, number(1)), load(0, 1)], vec![store(1, number(1)), load(0, 0)]]);
    assert_eq!((count(&sb, "sc"), count(&sb, "tso"), count(&sb, "power")), (3, 4, 4));
    let fence = || Instr::Fence(Fence::Mfence);
    let fenced = program(vec![
        vec![store(0, number(1)), fence(), load(0, 1)],
        vec![store(1, number(1)), fence(), load(0, 0)],
    ]);
    assert_eq!(count(&fenced, "tso"), 3);
}

#[test]
fn two_increments_always_add_up() {
    let add = || Instr::Rmw {
        dst: Some(Reg(0)),
        addr: at(0),
        width: W,
        extend: Extend::Zero,
        op: RmwOp::Add,
        operand: number(1),
        read: Ann::order(Order::Relaxed),
        write: Ann::order(Order::Relaxed),
    };
    let increments = program(vec![vec![add()], vec![add()], vec![add()]]);
    for model in ["sc", "tso", "pso", "ra", "rc11", "power", "armv8"] {
        let found = run(&increments, model);
        assert_eq!(found.executions.len(), 6, "{model}");
        assert!(found.executions.iter().all(|e| e.memory[0].2 == Value(3)), "{model}");
    }
}

#[test]
fn thin_air_values_are_candidates_only_if_someone_writes_them() {
    // r0 = x; y = r0 || r0 = y; x = r0: nothing but zero, in every model, as no one makes another value.
    let copy = program(vec![
        vec![load(0, 0), store(1, Operand::Reg(Reg(0)))],
        vec![load(0, 1), store(0, Operand::Reg(Reg(0)))],
    ]);
    assert!(run(&copy, "power").executions.iter().all(|e| e.registers[0][0] == Value::ZERO));
    // With a third thread that writes 1, POWER still forbids the cycle of data dependencies.
    let lb = program(vec![
        vec![load(0, 0), store(1, number(1))],
        vec![load(0, 1), store(0, Operand::Reg(Reg(0)))],
    ]);
    assert_eq!((count(&lb, "sc"), count(&lb, "power")), (3, 4));
}

#[test]
fn store_exclusives_need_a_reservation_and_may_fail() {
    let load_exclusive = |object| Instr::Load {
        dst: Reg(0),
        addr: at(object),
        width: W,
        extend: Extend::Zero,
        ann: Ann::exclusive(Order::Plain),
    };
    let store_exclusive = |object| Instr::StoreExclusive {
        status: Reg(1),
        success: 0,
        addr: at(object),
        value: number(5),
        width: W,
        ann: Ann::exclusive(Order::Plain),
    };
    let pair = program(vec![vec![load_exclusive(0), store_exclusive(0)]]);
    let found = run(&pair, "armv8");
    let outcomes: Vec<(u64, u64)> =
        found.executions.iter().map(|e| (e.registers[0][1].0, e.memory[0].2.0)).collect();
    assert_eq!(outcomes, [(1, 0), (0, 5)]);
    assert_eq!(found.executions[1].execution.rmw.count(), 1);
    assert!(found.executions[1].execution.amo.has_no_pairs());
    for body in [
        vec![store_exclusive(0)],
        vec![load_exclusive(1), store_exclusive(0)],
        vec![load_exclusive(0), store_exclusive(1), store_exclusive(0)],
    ] {
        assert_eq!(count(&program(vec![body]), "armv8"), 1);
    }
}

#[test]
fn a_weak_exchange_may_fail_although_the_values_are_equal() {
    let exchange = |weak| Instr::CompareExchange {
        dst: Some(Reg(0)),
        success: Some(Reg(1)),
        addr: at(0),
        width: W,
        extend: Extend::Zero,
        expected: number(0),
        desired: number(7),
        read: Ann::order(Order::SeqCst),
        write: Ann::order(Order::SeqCst),
        failure: Ann::order(Order::Relaxed),
        weak,
    };
    assert_eq!(count(&program(vec![vec![exchange(false)]]), "rc11"), 1);
    assert_eq!(count(&program(vec![vec![exchange(true)]]), "rc11"), 2);
    assert_eq!(count(&program(vec![vec![exchange(false)], vec![exchange(false)]]), "rc11"), 2);
}

#[test]
fn dependencies_follow_registers() {
    let double = Rvalue::Binary(BinaryOp::Xor, W, Extend::Zero, Reg(0).into(), Reg(0).into());
    let address = Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, Reg(1).into(), at(1));
    let chosen = Rvalue::Select(Reg(0).into(), number(1), Operand::Reg(Reg(3)));
    let body = vec![
        load(0, 0),
        Instr::Assign { dst: Reg(1), value: double },
        Instr::Assign { dst: Reg(2), value: address },
        Instr::Load { dst: Reg(3), addr: Reg(2).into(), width: W, extend: Extend::Zero, ann: Ann::PLAIN },
        Instr::Assign { dst: Reg(4), value: chosen },
        store(2, Reg(4).into()),
        Instr::Branch { condition: Reg(3).into(), then_to: Label(7), else_to: Label(7) },
        Instr::Fence(Fence::Isb),
        store(0, number(1)),
    ];
    let found = run(&program(vec![body]), "armv8");
    let x = &found.executions[0].execution;
    // Three initial writes, then: 3 read x, 4 read y, 5 write z, 6 isb, 7 write x.
    assert_eq!(x.addr.pairs().collect::<Vec<_>>(), [(3, 4)]);
    assert_eq!(x.data.pairs().collect::<Vec<_>>(), [(4, 5)]);
    assert_eq!(x.pick.pairs().collect::<Vec<_>>(), [(3, 5)]);
    assert_eq!(x.ctrl.pairs().collect::<Vec<_>>(), [(4, 6), (4, 7)]);
}

#[test]
fn choices_assumptions_assertions_and_cuts_are_counted() {
    let choose = program(vec![vec![
        Instr::Nondet { dst: Reg(0), first: -1, last: 2 },
        Instr::Assume(Reg(0).into()),
        Instr::Assert { condition: number(0), kind: fencepost_ir::FailKind::Assertion, message: "no".into() },
    ]]);
    let found = run(&choose, "sc");
    assert_eq!((found.executions.len(), found.blocked, found.cut), (3, 1, 0));
    assert!(found.executions.iter().all(|e| e.failures == ["no"]));
    // while (x == 0) {}: with one jump back, a read of one ends the loop in the first or second run.
    let wait = program(vec![
        vec![load(0, 0), Instr::Branch { condition: Reg(0).into(), then_to: Label(2), else_to: Label(0) }],
        vec![store(0, number(1))],
    ]);
    let found = run(&fencepost_ir::bound_loops(&wait, 1), "sc");
    assert_eq!((found.executions.len(), found.cut), (2, 1));
}

#[test]
fn what_is_not_supported_is_named() {
    let section = program(vec![vec![Instr::AtomicBegin]]);
    let model = Model::builtin("sc").expect("a model");
    let stop = enumerate(&section, &model, &Limits::default()).expect_err("not supported");
    assert_eq!(stop.to_string(), "the naive enumerator does not support atomic sections");
    let few = Limits { candidates: 3, ..Limits::default() };
    let sb = program(vec![vec![store(0, number(1)), load(0, 1)], vec![store(1, number(1)), load(0, 0)]]);
    assert_eq!(enumerate(&sb, &model, &few).expect_err("too many"), Stop::Limit("candidate executions"));
}
