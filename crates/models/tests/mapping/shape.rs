//! What each order becomes on each target, as text; labels, spans, registers, locks and waits.

use crate::support::{explored, model, program, states, variants};
use fencepost_explore::ModelName;
use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, Function, Instr, Label, ObjectId, Operand, Order, Program, Reg, RmwOp,
    Rvalue, Span, Until, Value, Width,
};
use fencepost_models::mapping::{Mapping, Target, compile};

const X: Operand = Operand::Const(Value(1 << 46));

fn at(object: u32) -> Operand {
    Value::pointer(ObjectId(object), 0).into()
}

fn ann(ann: Ann) -> String {
    let order = if ann.order == Order::Plain { String::new() } else { format!(".{}", ann.order.name()) };
    let volatile = if ann.volatile { ".volatile" } else { "" };
    format!("{order}{}{volatile}", if ann.exclusive { ".ex" } else { "" })
}

fn operand(operand: Operand) -> String {
    match operand {
        Operand::Reg(reg) => format!("r{}", reg.0),
        Operand::Const(value) => value.as_i64().to_string(),
    }
}

/// One instruction, without addresses.
fn show(instr: &Instr) -> String {
    match instr {
        Instr::Load { ann: a, dst, .. } => format!("r{}=ld{}", dst.0, ann(*a)),
        Instr::CopyLoad { ann: a, dst, .. } => format!("r{}=copy{}", dst.0, ann(*a)),
        Instr::Store { value, ann: a, .. } => format!("st{} {}", ann(*a), operand(*value)),
        Instr::StoreExclusive { status, value, ann: a, .. } => {
            format!("r{}=st{} {}", status.0, ann(*a), operand(*value))
        }
        Instr::Rmw { read, write, .. } => format!("rmw{}{}", ann(*read), ann(*write)),
        Instr::CompareExchange { read, write, failure, .. } => {
            format!("cas{}{}/{}", ann(*read), ann(*write), ann(*failure).trim_start_matches('.'))
        }
        Instr::Await { ann: a, .. } => format!("await{}", ann(*a)),
        Instr::AwaitRmw { read, write, .. } => format!("awaitrmw{}{}", ann(*read), ann(*write)),
        Instr::Fence(fence) => fence.name().to_string(),
        Instr::Jump(to) => format!("b {}", to.0),
        Instr::Branch { condition, then_to, else_to } if then_to == else_to => {
            format!("bc {}", operand(*condition))
        }
        Instr::Branch { condition, then_to, else_to } => {
            format!("bc {} {} {}", operand(*condition), then_to.0, else_to.0)
        }
        Instr::SelfThread { dst } => format!("self r{}", dst.0),
        Instr::Fail { .. } => "fail".to_string(),
        Instr::Assume(condition) => format!("assume {}", operand(*condition)),
        Instr::Assign { dst, value: Rvalue::Use(a) } => format!("r{}={}", dst.0, operand(*a)),
        Instr::Assign { dst, .. } => format!("r{}=...", dst.0),
        other => format!("{other:?}"),
    }
}

fn shown(program: &Program) -> String {
    program.functions[0].body.iter().map(show).collect::<Vec<_>>().join("; ")
}

fn body(instrs: Vec<Instr>, regs: usize) -> Program {
    let spans = (0u32..).map(|i| Span { start: i, end: i }).take(instrs.len()).collect();
    let regs = (0..regs).map(|r| format!("r{r}")).collect();
    let function = Function { name: "f".into(), params: 0, regs, body: instrs, spans };
    Program { functions: vec![function], ..Program::default() }
}

fn compiled(source: &Program, target: Target, words: &str) -> String {
    let mapping = Mapping::parse(target, words).expect("a mapping");
    shown(&compile(source, target, mapping))
}

/// Statement, and what it becomes.
type Row = (&'static str, &'static str);

fn check(target: Target, words: &str, rows: &[Row]) {
    for (statement, expected) in rows {
        assert_eq!(&compiled(&program(statement), target, words), expected, "{statement} for {words}");
    }
}

#[test]
fn tso_fences_sc_stores_only() {
    let loads = ["rlx", "con", "acq", "sc"].map(|o| format!("Rx.{o}"));
    loads.iter().for_each(|l| assert_eq!(compiled(&program(l), Target::Tso, ""), "r0=ld"));
    let rows = [
        ("Wx1.rlx", "st 1"),
        ("Wx1.rel", "st 1"),
        ("Wx1.sc", "st 1; mfence"),
        ("Ax1.sc", "rmw"),
        ("Cx0:1.sc/acq", "cas/"),
        ("F.acq", "compiler"),
        ("F.rel", "compiler"),
        ("F.acqrel", "compiler"),
        ("F.sc", "mfence"),
    ];
    check(Target::Tso, "", &rows);
    check(Target::Tso, "xchg", &[("Wx1.rel", "st 1"), ("Wx1.sc", "rmw")]);
}

#[test]
fn pso_puts_a_store_barrier_before_releases() {
    let rows = [
        ("Rx.sc", "r0=ld"),
        ("Wx1.rlx", "st 1"),
        ("Wx1.rel", "sfence; st 1"),
        ("Wx1.sc", "sfence; st 1; mfence"),
        ("Ax1.rel", "rmw"),
        ("F.con", "compiler"),
        ("F.acq", "compiler"),
        ("F.rel", "sfence"),
        ("F.acqrel", "sfence"),
        ("F.sc", "mfence"),
    ];
    check(Target::Pso, "default", &rows);
}

#[test]
fn power_with_leading_sync() {
    let rows = [
        ("Rx.rlx", "r0=ld"),
        ("Rx.con", "r0=ld; bc r0; isync"),
        ("Rx.acq", "r0=ld; bc r0; isync"),
        ("Rx.sc", "sync; r0=ld; bc r0; isync"),
        ("Wx1.rlx", "st 1"),
        ("Wx1.rel", "lwsync; st 1"),
        ("Wx1.sc", "sync; st 1"),
        ("F.rlx", "compiler"),
        ("F.con", "lwsync"),
        ("F.acq", "lwsync"),
        ("F.rel", "lwsync"),
        ("F.acqrel", "lwsync"),
        ("F.sc", "sync"),
        ("Ax1.rlx", "r1=ld.ex; r2=...; r3=st.ex r2; assume r3; r0=r1"),
        ("Ax1.acq", "r1=ld.ex; r2=...; r3=st.ex r2; assume r3; bc r1; isync; r0=r1"),
        ("Ax1.rel", "lwsync; r1=ld.ex; r2=...; r3=st.ex r2; assume r3; r0=r1"),
        ("Ax1.acqrel", "lwsync; r1=ld.ex; r2=...; r3=st.ex r2; assume r3; bc r1; isync; r0=r1"),
        ("Ax1.sc", "sync; r1=ld.ex; r2=...; r3=st.ex r2; assume r3; bc r1; isync; r0=r1"),
        ("Xx1.rlx", "r1=ld.ex; r2=st.ex 1; assume r2; r0=r1"),
        ("Cx0:1.rlx/rlx", "r1=ld.ex; r2=...; bc r2 3 5; r3=st.ex 1; assume r3; r0=r1"),
        ("Cx0:1.acq/rlx", "r1=ld.ex; r2=...; bc r2 3 6; r3=st.ex 1; assume r3; isync; r0=r1"),
        (
            "Cx0:1.acqrel/acq",
            "lwsync; r1=ld.ex; r2=...; bc r2 4 8; r3=st.ex 1; assume r3; isync; b 9; isync; r0=r1",
        ),
        ("Cx0:1.rel/sc", "sync; r1=ld.ex; r2=...; bc r2 4 7; r3=st.ex 1; assume r3; b 8; isync; r0=r1"),
    ];
    check(Target::Power, "", &rows);
    check(Target::Power, "branch", &[("Rx.rlx", "r0=ld; bc r0"), ("Wx1.rlx", "st 1")]);
    check(Target::Power, "fused", &[("Ax1.rlx", "rmw"), ("Ax1.acqrel", "lwsync; rmw; bc r0; isync")]);
}

#[test]
fn power_with_trailing_sync() {
    let rows = [
        ("Rx.rlx", "r0=ld"),
        ("Rx.acq", "r0=ld; bc r0; isync"),
        ("Rx.sc", "r0=ld; sync"),
        ("Wx1.rel", "lwsync; st 1"),
        ("Wx1.sc", "lwsync; st 1; sync"),
        ("Xx1.sc", "lwsync; r1=ld.ex; r2=st.ex 1; assume r2; sync; r0=r1"),
        ("Cx0:1.sc/rlx", "lwsync; r1=ld.ex; r2=...; bc r2 4 7; r3=st.ex 1; assume r3; sync; r0=r1"),
        ("Cx0:1.rlx/sc", "r1=ld.ex; r2=...; bc r2 3 6; r3=st.ex 1; assume r3; b 7; sync; r0=r1"),
    ];
    check(Target::Power, "trailing-sync", &rows);
}

#[test]
fn armv8_has_ordered_instructions() {
    let rows = [
        ("Rx.rlx", "r0=ld"),
        ("Rx.con", "r0=ld.acq"),
        ("Rx.acq", "r0=ld.acq"),
        ("Rx.sc", "r0=ld.acq"),
        ("Wx1.rlx", "st 1"),
        ("Wx1.rel", "st.rel 1"),
        ("Wx1.sc", "st.rel 1"),
        ("Ax1.rlx", "rmw"),
        ("Ax1.acq", "rmw.acq"),
        ("Ax1.rel", "rmw.rel"),
        ("Ax1.sc", "rmw.acq.rel"),
        ("Cx0:1.rel/acq", "cas.acq.rel/acq"),
        ("Cx0:1.rlx/rlx", "cas/"),
        ("F.acq", "dmb.ld"),
        ("F.rel", "dmb.sy"),
        ("F.acqrel", "dmb.sy"),
        ("F.sc", "dmb.sy"),
    ];
    check(Target::Armv8, "", &rows);
    let rows = [
        ("Rx.acq", "r0=ld.acqpc"),
        ("Rx.sc", "r0=ld.acq"),
        ("Xx1.acq", "r1=ld.acq.ex; r2=st.ex 1; assume r2; r0=r1"),
        ("Xx1.sc", "r1=ld.acq.ex; r2=st.rel.ex 1; assume r2; r0=r1"),
        ("Cx0:1.rel/acq", "r1=ld.acq.ex; r2=...; bc r2 3 5; r3=st.rel.ex 1; assume r3; r0=r1"),
    ];
    check(Target::Armv8, "llsc,rcpc", &rows);
    check(Target::Armv8, "branch", &[("Rx.rlx", "r0=ld; bc r0"), ("Ax1.rel", "rmw.rel; bc r0")]);
}

#[test]
fn plain_and_volatile_accesses_and_machine_fences_stay() {
    let volatile = Ann { volatile: true, ..Ann::PLAIN };
    let (width, extend) = (Width::W32, Extend::Zero);
    let mut instrs = vec![
        Instr::Load { dst: Reg(0), addr: X, width, extend, ann: volatile },
        Instr::Store { addr: X, value: Reg(0).into(), width, ann: Ann::PLAIN },
        Instr::CopyLoad { dst: Reg(0), addr: X, width, extend, ann: Ann::PLAIN, keeps: true },
    ];
    instrs.extend(Fence::all().filter(|f| !matches!(f, Fence::C11(_))).map(Instr::Fence));
    let source = body(instrs, 1);
    for target in Target::ALL {
        for (_, mapping) in variants(target) {
            assert_eq!(compile(&source, target, mapping), source);
        }
    }
    let atomic = Ann { volatile: true, ..Ann::order(Order::Acquire) };
    let copy = Instr::CopyLoad { dst: Reg(0), addr: X, width, extend, ann: atomic, keeps: true };
    let source = body(vec![copy], 1);
    assert_eq!(compiled(&source, Target::Power, ""), "r0=copy.volatile; bc r0; isync");
}

#[test]
fn locks_acquire_and_release() {
    let (lock, unlock) = (Instr::Lock(X), Instr::Unlock(X));
    let source = body(vec![lock, Instr::TryLock { dst: Reg(0), addr: X }, unlock], 1);
    let me = "self r1; r1=...";
    let tso =
        format!("{me}; awaitrmw; bc r2 4 5; fail; {me}; cas/; {me}; r2=ld; r3=...; bc r3 14 13; fail; st 0");
    assert_eq!(compiled(&source, Target::Tso, ""), tso);
    assert_eq!(compiled(&source, Target::Pso, ""), tso.replace("st 0", "sfence; st 0"));
    let armv8 = tso.replace("rmw", "rmw.acq").replace("cas/", "cas.acq/acq").replace("st 0", "st.rel 0");
    assert_eq!(compiled(&source, Target::Armv8, ""), armv8);
    let power = "self r1; r1=...; awaitrmw; bc r2; isync; bc r2 6 7; fail; self r1; r1=...; \
                 r2=ld.ex; r3=...; bc r3 12 15; r4=st.ex r1; assume r4; isync; r0=r3; \
                 self r1; r1=...; r2=ld; r3=...; bc r3 22 21; fail; lwsync; st 0";
    for words in ["leading-sync", "trailing-sync"] {
        assert_eq!(compiled(&source, Target::Power, words), power);
    }
}

#[test]
fn mutexes_are_exclusive_and_misuse_is_found() {
    let count = program("lock Rx.rlx Wx=.rlx Ax1.rlx unlock | lock Rx.rlx Wx=.rlx Ax1.rlx unlock");
    let misuse = program("lock | unlock");
    for target in Target::ALL {
        for (words, mapping) in variants(target) {
            let found = explored(&compile(&count, target, mapping), model(target));
            let two = |state: &Vec<Value>| state[state.len() - 3] == Value(2);
            assert!(found.findings.is_empty() && found.states.iter().all(two), "{words}");
            assert_eq!(found.states.len(), 2, "{words}: who comes first");
            let found = explored(&compile(&misuse, target, mapping), model(target));
            assert!(found.findings.iter().any(|f| f.kind.code() == "FP0402"), "{words}");
        }
    }
}

#[test]
fn waits_keep_waiting() {
    let until = Until { op: BinaryOp::Eq, operand: Operand::Const(Value(1)) };
    let (width, extend, op) = (Width::W32, Extend::Zero, RmwOp::Sub);
    let operand = Operand::Const(Value(1));
    let wait = |order| Instr::Await { dst: None, addr: X, width, extend, until, ann: Ann::order(order) };
    let modify = |order| {
        let (read, write) = (Ann::order(order), Ann::order(order));
        Instr::AwaitRmw { dst: Some(Reg(0)), addr: X, width, extend, until, op, operand, read, write }
    };
    let source = body(vec![wait(Order::Relaxed), wait(Order::SeqCst), modify(Order::SeqCst)], 1);
    assert_eq!(compiled(&source, Target::Tso, ""), "await; await; awaitrmw");
    assert_eq!(compiled(&source, Target::Armv8, "llsc"), "await; await.acq; awaitrmw.acq.rel");
    let leading = "await; sync; await; bc r1; isync; sync; awaitrmw; bc r0; isync";
    assert_eq!(compiled(&source, Target::Power, ""), leading);
    assert_eq!(
        compiled(&source, Target::Power, "trailing-sync"),
        "await; await; sync; lwsync; awaitrmw; sync"
    );
}

#[test]
fn labels_move_with_their_instructions() {
    let (width, extend) = (Width::W32, Extend::Zero);
    let source = body(
        vec![
            Instr::Load { dst: Reg(0), addr: X, width, extend, ann: Ann::order(Order::SeqCst) },
            Instr::Branch { condition: Reg(0).into(), then_to: Label(3), else_to: Label(0) },
            Instr::Jump(Label(4)),
            Instr::Store { addr: X, value: X, width, ann: Ann::order(Order::SeqCst) },
        ],
        1,
    );
    let result = compile(&source, Target::Power, Mapping::default());
    let text = "sync; r0=ld; bc r0; isync; bc r0 6 0; b 8; sync; st 70368744177664";
    assert_eq!(shown(&result), text);
    let spans: Vec<u32> = result.functions[0].spans.iter().map(|s| s.start).collect();
    assert_eq!(spans, [0, 0, 0, 0, 1, 2, 3, 3]);
    // A label beyond the end is a mistake of whoever made the program; it must not be ours as well.
    let wild = body(vec![Instr::Jump(Label(77))], 0);
    assert_eq!(compiled(&wild, Target::Power, ""), "b 1");
}

#[test]
fn names_are_known_or_rejected() {
    for target in Target::ALL {
        assert_eq!(Target::from_name(target.name()), Some(target));
        assert_eq!(Mapping::parse(target, "default"), Ok(Mapping::default()));
        for (name, _) in target.mappings() {
            assert!(Mapping::parse(target, name).is_ok(), "{name}");
        }
    }
    let error = Mapping::parse(Target::Tso, "lse").expect_err("no mapping of TSO");
    assert_eq!(error.to_string(), "`lse` is no mapping for tso; there are mfence, xchg");
    let error = Mapping::parse(Target::Pso, "xchg").expect_err("no mapping of PSO");
    assert_eq!(error.to_string(), "`xchg` is no mapping for pso, which has only one");
    assert_eq!(Target::from_name("rc11"), None);
}

/// Every operation computes the same when it is split, also when the destination is an operand.
#[test]
fn split_operations_compute_the_same() {
    use RmwOp::*;
    let ops = [Exchange, Add, Sub, And, Nand, Or, Xor, Clear, MaxS, MinS, MaxU, MinU];
    for (op, first, second) in ops.iter().flat_map(|op| [(op, 5u64, 250u64), (op, 250, 5), (op, 7, 12)]) {
        let mut source = program("Rx.rlx");
        source.objects[0] = fencepost_ir::Object::scalar("x", Width::W32, Value(first), Span::default());
        let (width, extend, plain) = (Width::W32, Extend::Sign, Ann::order(Order::Relaxed));
        let minus = Value::from_i64(second as i64 - 200);
        let reg = Operand::Reg(Reg(0));
        source.functions[0].body = vec![
            Instr::Assign { dst: Reg(0), value: Rvalue::Use(minus.into()) },
            Instr::Rmw {
                dst: Some(Reg(0)),
                addr: at(0),
                width,
                extend,
                op: *op,
                operand: reg,
                read: plain,
                write: plain,
            },
        ];
        source.functions[0].spans = vec![Span::default(); 2];
        let expected = states(&source, ModelName::Rc11);
        let split = compile(&source, Target::Power, Mapping::default());
        assert_eq!(states(&split, ModelName::Power), expected, "{op:?}");
    }
}

/// A weak compare-exchange fails for no reason where it is split, and only there.
#[test]
fn weak_compare_exchanges() {
    for orders in ["rlx/rlx", "acqrel/acq", "sc/sc"] {
        let mut source = program(&format!("Cx0:1.{orders} Ry.rlx"));
        let strong = states(&source, ModelName::Rc11);
        if let Instr::CompareExchange { weak, success, .. } = &mut source.functions[0].body[0] {
            (*weak, *success) = (true, Some(Reg(1)));
        }
        source.functions[0].body.truncate(1);
        source.functions[0].spans.truncate(1);
        let expected = states(&source, ModelName::Rc11);
        assert_eq!((strong.len(), expected.len()), (1, 2));
        for words in ["leading-sync", "trailing-sync"] {
            let mapping = Mapping::parse(Target::Power, words).expect("a mapping");
            assert_eq!(states(&compile(&source, Target::Power, mapping), ModelName::Power), expected);
        }
        let tso = compile(&source, Target::Tso, Mapping::default());
        assert_eq!(states(&tso, ModelName::Tso).len(), 1);
    }
}
