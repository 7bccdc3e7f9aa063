//! Accesses of different sizes: the explorer, which lets them go in pieces, against the same program with every access
//! written out as accesses to single bytes, which is what such a program means as long as there is no race; and against
//! the enumerator, which has pieces of its own.
//!
//! One thread works on a block, then publishes it; the other one works on it if it sees that. Each has a block
//! of its own beside it. Without the order, both programs must be found wrong.

mod support;

use fencepost_explore::{Exploration, FindingKind, ModelName, Options, Reduction, Reductions, explore};
use fencepost_ir::{
    Ann, BinaryOp, Cell, Extend, Fence, FinalCondition, Function, FunctionId, Instr, Label, Object, ObjectId,
    Observable, Operand, Order, Program, Property, Proposition, Quantifier, Reg, Rvalue, Span, Thread,
    ThreadId, Value, Width,
};
use fencepost_models::Model;
use fencepost_naive::{Limits, summarise};

const NOWHERE: Span = Span { start: 0, end: 0 };
const BLOCK: u32 = 4;
const FLAG: ObjectId = ObjectId(2);

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// An access of a thread: to its own block or to the common one.
#[derive(Clone, Copy)]
struct Access {
    object: u32,
    offset: u32,
    width: Width,
    stores: bool,
}

fn access(random: &mut Random, own: u32) -> Access {
    let width = [Width::W8, Width::W16, Width::W32][random.below(3) as usize];
    let offset = width.bytes() * random.below(u64::from(BLOCK / width.bytes())) as u32;
    let object = [0, own][random.below(2) as usize];
    Access { object, offset, width, stores: random.below(2) == 0 }
}

/// A block as some cells; `None` is memory whose cells are where it is accessed.
fn block(name: &str, shape: u64, bytes: bool) -> Object {
    let widths: &[Width] = match shape {
        _ if bytes => &[Width::W8; 4],
        0 => &[Width::W32],
        1 => &[Width::W16, Width::W16],
        2 => &[Width::W16, Width::W8, Width::W8],
        _ => &[Width::W8; 4],
    };
    let mut cells = Vec::new();
    let mut offset = 0;
    for &width in widths {
        let init = 0x4433_2211u64 >> (8 * offset);
        cells.push(Cell { offset, width, init: Some(width.zero_extend(Value(init))) });
        offset += width.bytes();
    }
    Object { name: name.into(), size: BLOCK, cells, span: NOWHERE, constant: false }
}

struct Writer {
    function: Function,
    bytes: bool,
    sum: Reg,
    stored: u64,
}

impl Writer {
    fn new(bytes: bool, first: u64) -> Writer {
        let mut function = Function::default();
        let sum = function.new_reg("sum");
        Writer { function, bytes, sum, stored: first }
    }

    fn push(&mut self, instr: Instr) {
        self.function.push(instr, NOWHERE);
    }

    fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Operand {
        let dst = self.function.new_reg("t");
        self.push(Instr::Assign { dst, value: Rvalue::Binary(op, Width::W64, Extend::Zero, a, b) });
        Operand::Reg(dst)
    }

    /// A read goes into the sum, a write writes a new number, or the sum.
    fn access(&mut self, access: Access) {
        let Access { object, offset, width, stores } = access;
        let address = |at: u32| Operand::Const(Value::pointer(ObjectId(object), offset + at));
        let ann = Ann::PLAIN;
        if stores {
            self.stored = self.stored.wrapping_mul(0x0101_0307).wrapping_add(0x1234_5677);
            let value = match self.stored & 1 {
                0 => Operand::Reg(self.sum),
                _ => Operand::Const(Value(self.stored & 0xffff_ffff)),
            };
            if !self.bytes {
                return self.push(Instr::Store { addr: address(0), value, width, ann });
            }
            for at in 0..width.bytes() {
                let shift = Operand::Const(Value(u64::from(8 * at)));
                let value = self.binary(BinaryOp::ShrU, value, shift);
                self.push(Instr::Store { addr: address(at), value, width: Width::W8, ann });
            }
            return;
        }
        let mut read = Operand::Const(Value(0));
        let pieces = if self.bytes { width.bytes() } else { 1 };
        for at in 0..pieces {
            let dst = self.function.new_reg("r");
            let width = if self.bytes { Width::W8 } else { width };
            self.push(Instr::Load { dst, addr: address(at), width, extend: Extend::Zero, ann });
            let shift = Operand::Const(Value(u64::from(8 * at)));
            let part = self.binary(BinaryOp::Shl, Operand::Reg(dst), shift);
            read = self.binary(BinaryOp::Or, read, part);
        }
        let times = self.binary(BinaryOp::Mul, Operand::Reg(self.sum), Operand::Const(Value(31)));
        let sum = self.binary(BinaryOp::Add, times, read);
        let sum = self.binary(BinaryOp::And, sum, Operand::Const(Value(0xffff_ffff)));
        self.push(Instr::Assign { dst: self.sum, value: Rvalue::Use(sum) });
    }
}

fn fence(model: ModelName) -> Fence {
    match model {
        ModelName::Power => Fence::Sync,
        ModelName::Armv8 => Fence::DmbSy,
        _ => Fence::C11(Order::SeqCst),
    }
}

/// The program of a seed; with every access to a block as single bytes, or as it is.
fn program(seed: u64, model: ModelName, bytes: bool) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let shapes = [random.below(4), random.below(4), random.below(4)];
    let ordered = random.below(4) != 0 || model != ModelName::Rc11;
    let flag = Operand::Const(Value::pointer(FLAG, 0));
    let (release, acquire) = match ordered {
        true => (Ann::order(Order::Release), Ann::order(Order::Acquire)),
        false => (Ann::order(Order::Relaxed), Ann::order(Order::Relaxed)),
    };
    let mut first = Writer::new(bytes, seed);
    let mut second = Writer::new(bytes, seed ^ 0x55);
    for _ in 0..1 + random.below(4) {
        first.access(access(&mut random, 1));
    }
    let hardware = !matches!(model, ModelName::Rc11 | ModelName::Rc20 | ModelName::Ra);
    if hardware {
        first.push(Instr::Fence(fence(model)));
    }
    first.push(Instr::Store { addr: flag, value: Operand::Const(Value(1)), width: Width::W32, ann: release });
    for _ in 0..random.below(3) {
        first.access(Access { object: 1, ..access(&mut random, 1) });
    }
    let seen = second.function.new_reg("seen");
    for _ in 0..random.below(3) {
        second.access(Access { object: 3, ..access(&mut random, 3) });
    }
    second.push(Instr::Load { dst: seen, addr: flag, width: Width::W32, extend: Extend::Zero, ann: acquire });
    if hardware {
        second.push(Instr::Fence(fence(model)));
    }
    let branch = second.function.body.len();
    second.push(Instr::Jump(Label(0)));
    for _ in 0..1 + random.below(4) {
        second.access(access(&mut random, 3));
    }
    let (then_to, end) = (Label(branch as u32 + 1), Label(second.function.body.len() as u32));
    second.function.body[branch] = Instr::Branch { condition: Operand::Reg(seen), then_to, else_to: end };
    second.push(Instr::Return(None));
    let objects = vec![
        block("common", shapes[0], bytes),
        block("own0", shapes[1], bytes),
        Object::scalar("flag", Width::W32, Value(0), NOWHERE),
        block("own1", shapes[2], bytes),
    ];
    two_threads(objects, first, second)
}

/// A program whose final states are the sums of its two threads.
fn two_threads(objects: Vec<Object>, first: Writer, second: Writer) -> Program {
    let observed = vec![
        Observable::Register { thread: ThreadId(0), reg: first.sum },
        Observable::Register { thread: ThreadId(1), reg: second.sum },
    ];
    let thread = |i: u32| Thread { name: format!("P{i}"), function: FunctionId(i), args: Vec::new() };
    Program {
        name: "pieces".into(),
        objects,
        functions: vec![first.function, second.function],
        threads: vec![thread(0), thread(1)],
        property: Property::Final(FinalCondition {
            quantifier: Quantifier::Exists,
            proposition: Proposition::True,
            observed,
            shown: 2,
            filter: None,
        }),
        ..Program::default()
    }
}

/// One thread writes to a block, another one waits for part of it: nothing but the wait orders the two.
fn waiting(seed: u64, hardware: bool) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let shape = random.below(4);
    let mut first = Writer::new(false, seed);
    for _ in 0..1 + random.below(3) {
        first.access(Access { object: 0, stores: true, ..access(&mut random, 0) });
    }
    let mut second = Writer::new(false, seed ^ 0x55);
    let Access { offset, width, .. } = access(&mut random, 0);
    let order = if hardware { Order::Plain } else { Order::Relaxed };
    let until = fencepost_ir::Until {
        op: [BinaryOp::Ne, BinaryOp::And][random.below(2) as usize],
        operand: Operand::Const(
            width.zero_extend(Value((0x4433_2211u64 >> (8 * offset)) << random.below(2))),
        ),
    };
    let addr = Operand::Const(Value::pointer(ObjectId(0), offset));
    let (dst, extend, ann) = (Some(second.sum), Extend::Zero, Ann::order(order));
    second.push(match random.below(3) {
        0 => {
            let op = fencepost_ir::RmwOp::Add;
            let operand = Operand::Const(Value(1));
            Instr::AwaitRmw { dst, addr, width, extend, until, op, operand, read: ann, write: ann }
        }
        _ => Instr::Await { dst, addr, width, extend, until, ann },
    });
    for _ in 0..random.below(3) {
        second.access(Access { object: 0, ..access(&mut random, 0) });
    }
    two_threads(vec![block("common", shape, false)], first, second)
}

/// A read that waits and is not there could have seen half of what another thread writes in pieces.
#[test]
fn reads_that_wait_are_in_conflict_with_pieces() {
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(150);
    for model in ModelName::ALL {
        let hardware = !matches!(model, ModelName::Rc11 | ModelName::Rc20 | ModelName::Ra);
        let (mut found_wrong, mut right) = (0, 0);
        for seed in 0..cases {
            let program = waiting(seed, hardware);
            let options = Options::new(model);
            let sleeping = explore(&program, &options).expect("supported");
            let awake = explore(
                &program,
                &Options { reductions: Reductions::ALL.without(Reduction::Sleep), ..options },
            )
            .expect("supported");
            let kinds = |exploration: &Exploration| {
                let mut kinds: Vec<_> = exploration.findings.iter().map(|f| f.kind).collect();
                kinds.sort_unstable_by_key(|kind| kind.name());
                kinds.dedup();
                kinds
            };
            assert_eq!(kinds(&sleeping), kinds(&awake), "{} {seed}", model.name());
            match awake.findings.is_empty() {
                true => assert_eq!(sleeping.states, awake.states, "{} {seed}", model.name()),
                false => found_wrong += 1,
            }
            right += usize::from(awake.findings.is_empty());
        }
        assert!(found_wrong > 0 && right > 0, "{}: {found_wrong} {right}", model.name());
    }
}

fn wrong(exploration: &Exploration) -> bool {
    let kinds = [FindingKind::MixedSize, FindingKind::DataRace];
    assert!(exploration.findings.iter().all(|f| kinds.contains(&f.kind)), "{:?}", exploration.findings);
    !exploration.findings.is_empty()
}

fn compare(model: ModelName, cases: u64) {
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(cases);
    let cat = Model::builtin(model.name()).expect("built in");
    let limits = Limits { candidates: 5_000, ..Limits::default() };
    let (mut in_pieces, mut found_wrong, mut enumerated) = (0, 0, 0);
    for seed in 0..cases {
        let (mixed, bytes) = (program(seed, model, false), program(seed, model, true));
        let options = Options::new(model);
        let found = explore(&mixed, &options).expect("supported");
        let expected = explore(&bytes, &options).expect("supported");
        assert_eq!(wrong(&found), wrong(&expected), "{} {seed}: {:?}", model.name(), found.findings);
        found_wrong += u64::from(wrong(&found));
        in_pieces +=
            u64::from(found.stats.executions > 0 && found.stats.executions <= expected.stats.executions);
        if wrong(&found) {
            continue;
        }
        assert_eq!(found.states, expected.states, "{} {seed}", model.name());
        if let Ok(summary) = summarise(&mixed, &cat, &limits) {
            enumerated += 1;
            let alone = |kind| summary.claims.iter().all(|claim| claim.kind == kind);
            assert!(alone(FindingKind::MixedSize), "{} {seed}: {:?}", model.name(), summary.claims);
        }
    }
    assert!(in_pieces > cases / 2 && enumerated > cases / 4, "{in_pieces} {enumerated}");
    assert_eq!(found_wrong > 0, model == ModelName::Rc11, "{found_wrong}");
}

macro_rules! compared {
    ($($name:ident: $model:ident;)*) => {
        $(#[test]
        fn $name() {
            compare(ModelName::$model, 12);
        })*
    };
}

compared! {
    sc: Sc;
    tso: Tso;
    pso: Pso;
    ra: Ra;
    rc11: Rc11;
    rc20: Rc20;
    power: Power;
    armv8: Armv8;
}
