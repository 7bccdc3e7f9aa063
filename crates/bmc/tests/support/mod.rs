//! Random SC programs for tests, as instructions: all operators and widths, arrays, branches, loops, choices, locks.
#![allow(dead_code)]

use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, FinalCondition, Function, FunctionId, Instr, Label, Object, ObjectId,
    Observable, Operand, Program, Property, Proposition, Quantifier, Reg, RmwOp, Rvalue, Span, Thread,
    ThreadId, UnaryOp, Until, Value, Width,
};

/// A small generator of numbers (splitmix64), so that a seed names a program for ever.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

pub const BINARY: [BinaryOp; 23] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::DivU,
    BinaryOp::DivS,
    BinaryOp::RemU,
    BinaryOp::RemS,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::ShrU,
    BinaryOp::ShrS,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::LtU,
    BinaryOp::LtS,
    BinaryOp::LeU,
    BinaryOp::LeS,
    BinaryOp::GtU,
    BinaryOp::GtS,
    BinaryOp::GeU,
    BinaryOp::GeS,
];

pub const UNARY: [UnaryOp; 5] =
    [UnaryOp::Neg, UnaryOp::Not, UnaryOp::LogicalNot, UnaryOp::ZeroExtend, UnaryOp::SignExtend];

pub const RMW: [RmwOp; 12] = [
    RmwOp::Exchange,
    RmwOp::Add,
    RmwOp::Sub,
    RmwOp::And,
    RmwOp::Nand,
    RmwOp::Or,
    RmwOp::Xor,
    RmwOp::Clear,
    RmwOp::MaxS,
    RmwOp::MinS,
    RmwOp::MaxU,
    RmwOp::MinU,
];

const ANN: Ann = Ann::PLAIN;
/// Registers of each thread.
const REGS: u32 = 3;
/// Objects: two scalars, an array, a mutex, one without an initial value.
const WIDTHS: [Width; 2] = [Width::W32, Width::W8];
const ARRAY: ObjectId = ObjectId(2);
const LENGTH: u32 = 3;
const MUTEX: ObjectId = ObjectId(3);
const BLANK: ObjectId = ObjectId(4);

struct Writer<'d> {
    dice: &'d mut Dice,
    f: Function,
    /// How deep branches and loops are nested.
    depth: u32,
    in_section: bool,
}

fn constant(n: i64) -> Operand {
    Operand::Const(Value::from_i64(n))
}

impl Writer<'_> {
    fn push(&mut self, instr: Instr) -> Label {
        self.f.push(instr, Span::default())
    }

    fn reg(&mut self) -> Reg {
        Reg(self.dice.below(u64::from(REGS)) as u32)
    }

    fn operand(&mut self) -> Operand {
        match self.dice.one_in(3) {
            true => constant(self.dice.pick(&[0, 1, 2, 3, -1, 7, 200])),
            false => self.reg().into(),
        }
    }

    fn extend(&mut self) -> Extend {
        self.dice.pick(&[Extend::Zero, Extend::Sign])
    }

    fn scratch(&mut self) -> Reg {
        self.f.new_reg("scratch")
    }

    /// An address and the width of what is there.
    fn place(&mut self) -> (Operand, Width) {
        match self.dice.below(8) {
            0..=4 => {
                let object = self.dice.below(2) as u32;
                (Operand::Const(Value::pointer(ObjectId(object), 0)), WIDTHS[object as usize])
            }
            5 => (Operand::Const(Value::pointer(BLANK, 0)), Width::W32),
            _ => {
                // array[index], the index kept within the array most of the time.
                let (index, scaled, address) = (self.scratch(), self.scratch(), self.scratch());
                let modulus = if self.dice.one_in(6) { LENGTH + 1 } else { LENGTH };
                let of = self.operand();
                let (w, zero) = (Width::W64, Extend::Zero);
                let rem = Rvalue::Binary(BinaryOp::RemU, w, zero, of, constant(i64::from(modulus)));
                self.push(Instr::Assign { dst: index, value: rem });
                let mul = Rvalue::Binary(BinaryOp::Mul, w, zero, index.into(), constant(4));
                self.push(Instr::Assign { dst: scaled, value: mul });
                let base = Operand::Const(Value::pointer(ARRAY, 0));
                let add = Rvalue::Binary(BinaryOp::Add, w, zero, base, scaled.into());
                self.push(Instr::Assign { dst: address, value: add });
                (address.into(), Width::W32)
            }
        }
    }

    fn statements(&mut self, count: u64) {
        for _ in 0..count {
            self.statement();
        }
    }

    fn statement(&mut self) {
        let deep = self.depth >= 2;
        match self.dice.below(if deep { 17 } else { 24 }) {
            0..=3 => {
                let (addr, width) = self.place();
                let (dst, extend) = (self.reg(), self.extend());
                self.push(Instr::Load { dst, addr, width, extend, ann: ANN });
            }
            4..=7 => {
                let (addr, width) = self.place();
                let value = self.operand();
                self.push(Instr::Store { addr, value, width, ann: ANN });
            }
            8 | 9 => {
                let (op, width) = (self.dice.pick(&BINARY), self.dice.pick(&Width::ALL));
                let (dst, extend, a, b) = (self.reg(), self.extend(), self.operand(), self.operand());
                self.push(Instr::Assign { dst, value: Rvalue::Binary(op, width, extend, a, b) });
            }
            10 => {
                let (op, width) = (self.dice.pick(&UNARY), self.dice.pick(&Width::ALL));
                let (dst, extend, a) = (self.reg(), self.extend(), self.operand());
                self.push(Instr::Assign { dst, value: Rvalue::Unary(op, width, extend, a) });
            }
            11 => {
                let (dst, c, a, b) = (self.reg(), self.operand(), self.operand(), self.operand());
                self.push(Instr::Assign { dst, value: Rvalue::Select(c, a, b) });
            }
            12 => {
                let (addr, width) = self.place();
                let (dst, extend, op, operand) =
                    (self.reg(), self.extend(), self.dice.pick(&RMW), self.operand());
                self.push(Instr::Rmw {
                    dst: Some(dst),
                    addr,
                    width,
                    extend,
                    op,
                    operand,
                    read: ANN,
                    write: ANN,
                });
            }
            13 => {
                let (addr, width) = self.place();
                let (dst, success, extend) = (self.reg(), self.reg(), self.extend());
                let (expected, desired) = (self.operand(), self.operand());
                let weak = self.dice.one_in(3);
                self.push(Instr::CompareExchange {
                    dst: Some(dst),
                    success: (success != dst).then_some(success),
                    addr,
                    width,
                    extend,
                    expected,
                    desired,
                    read: ANN,
                    write: ANN,
                    failure: ANN,
                    weak,
                });
            }
            14 => {
                let dst = self.reg();
                let (first, last) = self.dice.pick(&[(0, 1), (-1, 1), (2, 4), (0, 17)]);
                self.push(Instr::Nondet { dst, first, last });
            }
            15 => {
                let condition = self.condition();
                let instr = match self.dice.one_in(3) {
                    true => Instr::Assume(condition),
                    false => Instr::Assert {
                        condition,
                        kind: fencepost_ir::FailKind::Assertion,
                        message: String::new(),
                    },
                };
                // Most assertions on random values fail, and then there is nothing else to compare.
                if self.dice.one_in(3) {
                    self.push(instr);
                }
            }
            16 => {
                let (addr, width) = self.place();
                let operand = self.operand();
                let until = Until { op: BinaryOp::Ne, operand };
                let (dst, extend) = (Some(self.reg()), self.extend());
                let plain = self.dice.one_in(2);
                self.push(match plain {
                    true => Instr::Await { dst, addr, width, extend, until, ann: ANN },
                    false => Instr::AwaitRmw {
                        dst,
                        addr,
                        width,
                        extend,
                        until,
                        op: RmwOp::Add,
                        operand: constant(1),
                        read: ANN,
                        write: ANN,
                    },
                });
            }
            17 | 18 => self.branch(),
            19 => self.counting_loop(),
            20 => self.spin(),
            21 | 22 => self.section(),
            _ => self.critical_section(),
        }
    }

    fn condition(&mut self) -> Operand {
        let dst = self.scratch();
        let op = self.dice.pick(&[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::LtS, BinaryOp::GeU]);
        let (a, b) = (self.operand(), self.operand());
        self.push(Instr::Assign { dst, value: Rvalue::Binary(op, Width::W32, Extend::Zero, a, b) });
        dst.into()
    }

    /// Runs something two deep at most.
    fn nested(&mut self) {
        self.depth += 1;
        let count = 1 + self.dice.below(2);
        self.statements(count);
        self.depth -= 1;
    }

    fn branch(&mut self) {
        let condition = self.condition();
        let at = self.push(Instr::Halt);
        let then_to = self.f.next_label();
        self.nested();
        let skip = self.push(Instr::Halt);
        let else_to = self.f.next_label();
        if self.dice.one_in(2) {
            self.nested();
        }
        let end = self.f.next_label();
        self.f.body[at.0 as usize] = Instr::Branch { condition, then_to, else_to };
        self.f.body[skip.0 as usize] = Instr::Jump(end);
    }

    /// `for (i = 0; i < n; i++) { ...; if (condition) break; }`
    fn counting_loop(&mut self) {
        let i = self.scratch();
        self.push(Instr::Assign { dst: i, value: Rvalue::Use(constant(0)) });
        let head = self.f.next_label();
        let test = self.scratch();
        let bound = 1 + self.dice.below(3) as i64;
        let less = Rvalue::Binary(BinaryOp::LtS, Width::W32, Extend::Zero, i.into(), constant(bound));
        self.push(Instr::Assign { dst: test, value: less });
        let at = self.push(Instr::Halt);
        let then_to = self.f.next_label();
        self.nested();
        let out = match self.dice.one_in(2) {
            true => {
                let condition = self.condition();
                Some((condition, self.push(Instr::Halt)))
            }
            false => None,
        };
        let next = self.f.next_label();
        let one = Rvalue::Binary(BinaryOp::Add, Width::W32, Extend::Zero, i.into(), constant(1));
        self.push(Instr::Assign { dst: i, value: one });
        self.push(Instr::Jump(head));
        let end = self.f.next_label();
        self.f.body[at.0 as usize] = Instr::Branch { condition: test.into(), then_to, else_to: end };
        if let Some((condition, place)) = out {
            self.f.body[place.0 as usize] = Instr::Branch { condition, then_to: end, else_to: next };
        }
    }

    /// Reads until a value comes.
    fn spin(&mut self) {
        let head = self.f.next_label();
        let dst = self.scratch();
        let (addr, width) = (Operand::Const(Value::pointer(ObjectId(0), 0)), Width::W32);
        self.push(Instr::Load { dst, addr, width, extend: Extend::Zero, ann: ANN });
        if self.dice.one_in(3) {
            // Something that counts happens in some rounds.
            let inner = self.push(Instr::Halt);
            let then_to = self.f.next_label();
            let addr = Operand::Const(Value::pointer(ObjectId(1), 0));
            let (op, operand) = (RmwOp::Or, constant(1));
            self.push(Instr::Rmw {
                dst: None,
                addr,
                width: Width::W8,
                extend: Extend::Zero,
                op,
                operand,
                read: ANN,
                write: ANN,
            });
            let else_to = self.f.next_label();
            let condition = self.reg().into();
            self.f.body[inner.0 as usize] = Instr::Branch { condition, then_to, else_to };
        }
        let end = Label(self.f.next_label().0 + 1);
        self.push(Instr::Branch { condition: dst.into(), then_to: end, else_to: head });
    }

    /// An atomic section: on all ways, on some ways only, or with a gap on some ways.
    fn section(&mut self) {
        if self.in_section {
            return;
        }
        self.in_section = true;
        let form = self.dice.below(4);
        let condition = self.scratch();
        let value = Rvalue::Use(self.reg().into());
        self.push(Instr::Assign { dst: condition, value });
        self.only_if((form == 0).then_some(condition), &[Instr::AtomicBegin]);
        self.nested();
        if form == 1 {
            self.only_if(Some(condition), &[Instr::AtomicEnd, Instr::AtomicBegin]);
            self.nested();
        }
        self.only_if((form == 0).then_some(condition), &[Instr::AtomicEnd]);
        self.in_section = false;
    }

    fn only_if(&mut self, condition: Option<Reg>, instructions: &[Instr]) {
        let at = condition.map(|_| self.push(Instr::Halt));
        let then_to = self.f.next_label();
        for instr in instructions {
            self.push(instr.clone());
        }
        if let (Some(at), Some(condition)) = (at, condition) {
            let (condition, else_to) = (condition.into(), self.f.next_label());
            self.f.body[at.0 as usize] = Instr::Branch { condition, then_to, else_to };
        }
    }

    fn critical_section(&mut self) {
        let addr = Operand::Const(Value::pointer(MUTEX, 0));
        let tried = match self.dice.one_in(3) {
            true => {
                let dst = self.scratch();
                self.push(Instr::TryLock { dst, addr });
                Some((dst, self.push(Instr::Halt)))
            }
            false => {
                self.push(Instr::Lock(addr));
                None
            }
        };
        let then_to = self.f.next_label();
        self.nested();
        self.push(Instr::Unlock(addr));
        let else_to = self.f.next_label();
        if let Some((dst, place)) = tried {
            self.f.body[place.0 as usize] = Instr::Branch { condition: dst.into(), then_to, else_to };
        }
    }
}

/// What a program may be made of.
#[derive(Clone, Copy)]
pub struct Size {
    pub threads: u64,
    pub statements: u64,
}

/// A random program that observes the first registers of each thread and all memory.
pub fn program(seed: u64, size: Size) -> Program {
    let mut dice = Dice(seed);
    let count = 1 + dice.below(size.threads);
    let mut functions = Vec::new();
    for t in 0..count {
        let f =
            Function { name: format!("f{t}"), regs: vec!["r".into(); REGS as usize], ..Function::default() };
        let mut writer = Writer { dice: &mut dice, f, depth: 0, in_section: false };
        let length = 1 + writer.dice.below(size.statements);
        writer.statements(length);
        functions.push(writer.f);
    }
    let mut threads: Vec<Thread> = Vec::new();
    for t in 0..count as u32 {
        threads.push(Thread { name: format!("P{t}"), function: FunctionId(t), args: Vec::new() });
    }
    // Now and then the last thread is started by the first one, which may wait for it.
    if count > 1 && dice.one_in(3) {
        threads.pop();
        let callee = Callee::Function(FunctionId(count as u32 - 1));
        let first = &mut functions[0];
        let dst = first.new_reg("child");
        first.body.insert(0, Instr::Spawn { dst: Some(dst), callee, args: Vec::new() });
        first.spans.insert(0, Span::default());
        for instr in &mut first.body {
            let shift = |label: &mut Label| label.0 += 1;
            match instr {
                Instr::Jump(to) => shift(to),
                Instr::Branch { then_to, else_to, .. } => [then_to, else_to].into_iter().for_each(shift),
                _ => {}
            }
        }
        if dice.one_in(2) {
            first.push(Instr::Join { thread: dst.into(), dst: None }, Span::default());
            let addr = Operand::Const(Value::pointer(ObjectId(0), 0));
            let (width, extend) = (Width::W32, Extend::Sign);
            first.push(Instr::Load { dst: Reg(0), addr, width, extend, ann: ANN }, Span::default());
        }
    }
    let zero = Value::ZERO;
    let mut blank = Object::scalar("blank", Width::W32, zero, Span::default());
    blank.cells[0].init = dice.one_in(3).then_some(zero);
    let objects = vec![
        Object::scalar("x", WIDTHS[0], zero, Span::default()),
        Object::scalar("y", WIDTHS[1], Value(dice.below(3)), Span::default()),
        Object::array("a", Width::W32, &[zero; LENGTH as usize], Span::default()),
        Object::scalar("m", Width::W32, zero, Span::default()),
        blank,
    ];
    let mut observed = Vec::new();
    for (o, object) in (0u32..).zip(&objects) {
        for cell in &object.cells {
            observed.push(Observable::Memory { object: ObjectId(o), offset: cell.offset, width: cell.width });
        }
    }
    for t in 0..threads.len() as u32 {
        observed.extend((0..REGS).map(|r| Observable::Register { thread: ThreadId(t), reg: Reg(r) }));
    }
    let shown = observed.len();
    let condition = FinalCondition {
        quantifier: Quantifier::NotExists,
        proposition: Proposition::False,
        observed,
        shown,
        filter: None,
    };
    Program {
        name: format!("seed {seed}"),
        objects,
        functions,
        threads,
        property: Property::Final(condition),
        ..Program::default()
    }
}
