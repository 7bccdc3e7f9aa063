//! Print and parse are inverse, for programs and executions that use every word there is; bad text is an error.

use super::*;
use crate::annotation::{Ann, Order, Role};
use crate::execution::{Event, EventKind, Location};
use crate::fence::Fence;
use crate::program::*;
use crate::property::*;
use crate::relation::Relation;
use crate::value::Value;
use fencepost_diag::{SourceFile, Span};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const REGS: u32 = 4;
const LENGTH: u32 = 9;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u64>().prop_map(Value),
        (-3i64..4).prop_map(Value::from_i64),
        (0u32..3, 0u32..9).prop_map(|(o, i)| Value::pointer(ObjectId(o), i)),
    ]
}

fn reg() -> impl Strategy<Value = Reg> {
    (0..REGS).prop_map(Reg)
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![reg().prop_map(Operand::Reg), value().prop_map(Operand::Const)]
}

fn ann() -> impl Strategy<Value = Ann> {
    let roles: Vec<Role> = [Role::None].into_iter().chain(Role::ALL.map(|(_, role)| role)).collect();
    (select(&Order::ALL[..]), any::<[bool; 4]>(), select(roles)).prop_map(
        |(order, [exclusive, no_return, volatile, non_temporal], role)| Ann {
            order,
            exclusive,
            no_return,
            volatile,
            non_temporal,
            role,
        },
    )
}

fn width() -> impl Strategy<Value = Width> {
    select(&Width::ALL[..])
}

fn extend() -> impl Strategy<Value = Extend> {
    select(vec![Extend::Zero, Extend::Sign])
}

fn span() -> impl Strategy<Value = Span> {
    (0u32..50, 0u32..50).prop_map(|(start, end)| Span { start, end })
}

fn text() -> impl Strategy<Value = String> {
    vec(select(vec!['a', 'Z', '"', '\\', '\n', ' ', 'é', '/', '}', 'n']), 0..5)
        .prop_map(|chars| chars.into_iter().collect())
}

fn binary_op() -> impl Strategy<Value = BinaryOp> {
    use BinaryOp::*;
    select(vec![
        Add, Sub, Mul, DivU, DivS, RemU, RemS, And, Or, Xor, Shl, ShrU, ShrS, Eq, Ne, LtU, LtS, LeU, LeS,
        GtU, GtS, GeU, GeS, FAdd, FSub, FMul, FDiv, FEq, FLt, FLe,
    ])
}

fn unary_op() -> impl Strategy<Value = UnaryOp> {
    use UnaryOp::*;
    select(vec![Neg, Not, LogicalNot, ZeroExtend, SignExtend, FNeg, FFromS, FFromU, FToS, FToU, FConvert])
}

fn rmw_op() -> impl Strategy<Value = RmwOp> {
    use RmwOp::*;
    select(vec![Exchange, Add, Sub, And, Nand, Or, Xor, Clear, MaxS, MinS, MaxU, MinU])
}

fn rvalue() -> impl Strategy<Value = Rvalue> {
    prop_oneof![
        operand().prop_map(Rvalue::Use),
        (unary_op(), width(), extend(), operand()).prop_map(|(op, w, e, a)| Rvalue::Unary(op, w, e, a)),
        (binary_op(), width(), extend(), operand(), operand())
            .prop_map(|(op, w, e, a, b)| Rvalue::Binary(op, w, e, a, b)),
        (operand(), operand(), operand()).prop_map(|(c, a, b)| Rvalue::Select(c, a, b)),
    ]
}

fn label() -> impl Strategy<Value = Label> {
    (0..=LENGTH).prop_map(Label)
}

fn callee() -> impl Strategy<Value = Callee> {
    prop_oneof![(0u32..2).prop_map(|f| Callee::Function(FunctionId(f))), operand().prop_map(Callee::Pointer)]
}

fn access() -> impl Strategy<Value = Instr> {
    prop_oneof![
        (reg(), operand(), width(), extend(), ann())
            .prop_map(|(dst, addr, width, extend, ann)| Instr::Load { dst, addr, width, extend, ann }),
        (operand(), operand(), width(), ann()).prop_map(|(addr, value, width, ann)| Instr::Store {
            addr,
            value,
            width,
            ann
        }),
        (reg(), 0u8..2, operand(), operand(), width(), ann()).prop_map(
            |(status, success, addr, value, width, ann)| {
                Instr::StoreExclusive { status, success, addr, value, width, ann }
            }
        ),
        (option::of(reg()), operand(), width(), extend(), rmw_op(), operand(), ann(), ann()).prop_map(
            |(dst, addr, width, extend, op, operand, read, write)| {
                Instr::Rmw { dst, addr, width, extend, op, operand, read, write }
            }
        ),
        (
            (option::of(reg()), option::of(reg()), operand(), width(), extend()),
            (operand(), operand(), ann(), ann(), ann(), any::<bool>())
        )
            .prop_map(
                |((dst, success, addr, width, extend), (expected, desired, read, write, failure, weak))| {
                    Instr::CompareExchange {
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
                    }
                }
            ),
        select(Fence::all().collect::<Vec<_>>()).prop_map(Instr::Fence),
    ]
}

fn other() -> impl Strategy<Value = Instr> {
    prop_oneof![
        (reg(), rvalue()).prop_map(|(dst, value)| Instr::Assign { dst, value }),
        label().prop_map(Instr::Jump),
        (operand(), label(), label()).prop_map(|(condition, then_to, else_to)| Instr::Branch {
            condition,
            then_to,
            else_to
        }),
        (option::of(reg()), callee(), vec(operand(), 0..3)).prop_map(|(dst, callee, args)| Instr::Call {
            dst,
            callee,
            args
        }),
        (option::of(reg()), callee(), vec(operand(), 0..3)).prop_map(|(dst, callee, args)| Instr::Spawn {
            dst,
            callee,
            args
        }),
        option::of(operand()).prop_map(Instr::Return),
        (operand(), option::of(reg())).prop_map(|(thread, dst)| Instr::Join { thread, dst }),
        operand().prop_map(Instr::Lock),
        operand().prop_map(Instr::Unlock),
        operand().prop_map(Instr::Assume),
        proptest::option::of(operand()).prop_map(Instr::Round),
        (operand(), kind(), text()).prop_map(|(condition, kind, message)| Instr::Assert {
            condition,
            kind,
            message
        }),
        (reg(), any::<i64>(), any::<i64>()).prop_map(|(dst, first, last)| Instr::Nondet { dst, first, last }),
        (reg(), operand(), any::<bool>()).prop_map(|(dst, size, zeroed)| Instr::Alloc { dst, size, zeroed }),
        operand().prop_map(Instr::Free),
        select(vec![Instr::Cut, Instr::AtomicBegin, Instr::AtomicEnd]),
    ]
}

fn until() -> impl Strategy<Value = Until> {
    (binary_op(), operand()).prop_map(|(op, operand)| Until { op, operand })
}

fn kind() -> impl Strategy<Value = FailKind> {
    select(vec![FailKind::Assertion, FailKind::Misuse, FailKind::Unsupported])
}

/// What only C programs have.
fn c_only() -> impl Strategy<Value = Instr> {
    prop_oneof![
        (reg(), object(), any::<bool>()).prop_map(|(dst, object, private)| Instr::Local {
            dst,
            object: Box::new(object),
            private
        }),
        operand().prop_map(Instr::EndLocal),
        (reg(), 0u32..2).prop_map(|(dst, o)| Instr::ThreadLocal { dst, object: ObjectId(o) }),
        (reg(), operand()).prop_map(|(dst, addr)| Instr::ObjectSize { dst, addr }),
        (reg(), operand(), width(), extend(), ann()).prop_map(|(dst, addr, width, extend, ann)| {
            Instr::CopyLoad { dst, addr, width, extend, ann, keeps: dst.0 % 2 == 0 }
        }),
        operand().prop_map(Instr::Defined),
        reg().prop_map(|dst| Instr::SelfThread { dst }),
        option::of(operand()).prop_map(Instr::Exit),
        Just(Instr::Halt),
        (option::of(reg()), operand(), width(), extend(), until(), ann()).prop_map(
            |(dst, addr, width, extend, until, ann)| Instr::Await { dst, addr, width, extend, until, ann }
        ),
        ((option::of(reg()), operand(), width(), extend(), until()), (rmw_op(), operand(), ann(), ann()))
            .prop_map(|((dst, addr, width, extend, until), (op, operand, read, write))| {
                Instr::AwaitRmw { dst, addr, width, extend, until, op, operand, read, write }
            }),
        (reg(), operand()).prop_map(|(dst, addr)| Instr::TryLock { dst, addr }),
        (kind(), text()).prop_map(|(kind, message)| Instr::Fail { kind, message }),
    ]
}

fn object() -> impl Strategy<Value = Object> {
    let cell = (0u32..99, width(), option::of(value())).prop_map(|(offset, width, init)| Cell {
        offset,
        width,
        init,
    });
    (text(), 0u32..99, vec(cell, 0..3), span()).prop_map(|(name, size, cells, span)| Object {
        name,
        size,
        cells,
        span,
        constant: size % 2 == 1,
    })
}

fn function() -> impl Strategy<Value = Function> {
    let line = (prop_oneof![access(), other(), c_only()], span());
    (text(), 0..=REGS, vec(text(), REGS as usize), vec(line, LENGTH as usize)).prop_map(
        |(name, params, regs, lines)| {
            let (body, spans) = lines.into_iter().unzip();
            Function { name, params, regs, body, spans }
        },
    )
}

fn proposition(observed: usize) -> impl Strategy<Value = Proposition> {
    use Compare::*;
    let term = prop_oneof![value().prop_map(Term::Value), (0..observed).prop_map(Term::Observed)];
    let leaf = prop_oneof![
        Just(Proposition::True),
        Just(Proposition::False),
        (0..observed, select(vec![Eq, Ne, Lt, Le, Gt, Ge]), term)
            .prop_map(|(left, compare, right)| Proposition::Atom(left, compare, right)),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|p| Proposition::Not(Box::new(p))),
            vec(inner.clone(), 0..3).prop_map(Proposition::And),
            vec(inner.clone(), 0..3).prop_map(Proposition::Or),
            (inner.clone(), inner).prop_map(|(a, b)| Proposition::Implies(Box::new(a), Box::new(b))),
        ]
    })
}

fn property() -> impl Strategy<Value = Property> {
    use Quantifier::*;
    let observable = prop_oneof![
        (0u32..2, reg()).prop_map(|(t, reg)| Observable::Register { thread: ThreadId(t), reg }),
        (0u32..2, 0u32..9, width()).prop_map(|(o, offset, width)| Observable::Memory {
            object: ObjectId(o),
            offset,
            width
        }),
    ];
    let condition = (
        select(vec![Exists, NotExists, ForAll]),
        vec(observable, 3),
        proposition(2),
        option::of(proposition(3)),
    );
    prop_oneof![
        Just(Property::Assertions),
        condition.prop_map(|(quantifier, observed, proposition, filter)| {
            Property::Final(FinalCondition { quantifier, proposition, observed, shown: 2, filter })
        }),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    let thread = (text(), 0u32..2, vec(value(), 0..3)).prop_map(|(name, f, args)| Thread {
        name,
        function: FunctionId(f),
        args,
    });
    (text(), vec(object(), 2), vec(function(), 2), vec(thread, 2), property()).prop_map(
        |(name, objects, functions, threads, property)| Program {
            name,
            objects,
            functions,
            threads,
            property,
            ..Program::default()
        },
    )
}

fn execution() -> impl Strategy<Value = Execution> {
    let kind = prop_oneof![
        Just(EventKind::Read),
        Just(EventKind::Write),
        select(Fence::all().collect::<Vec<_>>()).prop_map(EventKind::Fence)
    ];
    let location = (0u32..3, 0u32..9).prop_map(|(o, offset)| Location { object: ObjectId(o), offset });
    let thread = option::of((0u32..3).prop_map(ThreadId));
    let event = (thread, kind, option::of(location), width(), value(), ann(), any::<bool>(), span())
        .prop_map(|(thread, kind, location, width, value, ann, amo, span)| Event {
            thread,
            kind,
            location,
            width,
            value,
            ann,
            amo,
            span,
        });
    (vec(event, 1..6), vec(vec((0usize..6, 0usize..6), 0..4), 10)).prop_map(|(events, pairs)| {
        let n = events.len();
        let mut execution = Execution::new(events);
        let relation = |i: usize| {
            let mut relation = Relation::new(n);
            pairs[i].iter().for_each(|&(a, b)| relation.insert(a % n, b % n));
            relation
        };
        (execution.po, execution.rf, execution.co) = (relation(0), relation(1), relation(2));
        (execution.rmw, execution.amo, execution.addr) = (relation(3), relation(4), relation(5));
        (execution.data, execution.ctrl, execution.pick) = (relation(6), relation(7), relation(8));
        execution.pick_addr = relation(9);
        execution
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn programs_round_trip(program in program()) {
        let shown = print_program(&program);
        let parsed = parse_program(&shown).map_err(|e| e.render(&SourceFile::new("t", shown.clone())));
        prop_assert_eq!(parsed, Ok(program), "{}", shown);
    }

    /// Whatever an instruction uses or sets has the new name.
    #[test]
    fn renaming_misses_no_register(function in function()) {
        let registers = |instr: &Instr| {
            let (mut uses, mut sets) = (Vec::new(), Vec::new());
            instr.for_each_use(|reg| uses.push(reg.0));
            instr.for_each_definition(|reg| sets.push(reg.0));
            (uses, sets)
        };
        for instr in &function.body {
            let mut renamed = instr.clone();
            renamed.rename(|reg| Reg(reg.0 + REGS));
            let up = |list: Vec<u32>| list.into_iter().map(|reg| reg + REGS).collect::<Vec<_>>();
            let (uses, sets) = registers(instr);
            prop_assert_eq!(registers(&renamed), (up(uses), up(sets)), "{:?}", instr);
        }
    }

    #[test]
    fn executions_round_trip(execution in execution()) {
        let shown = print_execution(&execution);
        prop_assert_eq!(parse_execution(&shown), Ok(execution), "{}", shown);
    }

    /// Cutting, doubling or replacing a piece of a program's text never panics; what still parses prints again.
    #[test]
    fn mutated_text_does_not_panic(program in program(), at in any::<[prop::sample::Index; 2]>(), how in 0..3) {
        let shown = print_program(&program);
        let places: Vec<usize> = shown.char_indices().map(|(i, _)| i).collect();
        let (a, b) = (places[at[0].index(places.len())], places[at[1].index(places.len())]);
        let (a, b) = (a.min(b), a.max(b));
        let middle = match how { 0 => String::new(), 1 => shown[a..b].repeat(2), _ => "%9".into() };
        let mutated = format!("{}{middle}{}", &shown[..a], &shown[b..]);
        if let Ok(again) = parse_program(&mutated) {
            prop_assert_eq!(parse_program(&print_program(&again)), Ok(again));
        }
        let _ = parse_execution(&mutated);
    }
}

/// The message about a bad text.
fn message(text: &str) -> String {
    let error = match text.starts_with("execution") {
        true => parse_execution(text).map(|_| ()).expect_err(text),
        false => parse_program(text).map(|_| ()).expect_err(text),
    };
    error.render(&SourceFile::new("bad.ir", text))
}

#[test]
fn bad_text_is_an_error_with_a_place() {
    let function = |line: &str| {
        format!("program \"p\"\nfunction \"f\" params=0 regs=[\"a\"] {{\n  {line}\n}}\nproperty assertions\n")
    };
    let bad = [
        String::new(),
        "program \"p".into(),
        function("frobnicate dst=%0"),
        function("fence kind=mfense"),
        function("load dst=%3 addr=&0 width=w32 extend=sign ann=plain"),
        function("jump to=:5"),
        function(":7 cut"),
        function("call dst=none callee=#2 args=[]"),
        function("store addr=&0 value=99999999999999999999 width=w32 ann=plain"),
        function("store addr=&0 value=1 width=w32 ann=plain+sticky"),
        function("cut ?"),
        "program \"p\" property exists observed=[] shown=0 filter=none that=0 eq (1)".into(),
        "execution {\n} po {0->1}".into(),
    ];
    let shown: Vec<String> = bad.iter().map(|text| message(text)).collect();
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = format!(
        "program \"p\" property exists observed=[] shown=0 filter=none that={} true",
        "not ".repeat(100_000)
    );
    assert!(parse_program(&deep).is_err());
}
