//! Random programs of one thread: arithmetic at all widths, branches, loops, calls, and memory that is read and written through
//! pointers, freed, left uninitialised or missed now and then.

use fencepost_ir::{
    Ann, BinaryOp, Callee, Cell, Extend, FailKind, Function, FunctionId, Instr, Label, Object, ObjectId,
    Operand, Program, Reg, RmwOp, Rvalue, Span, Thread, UnaryOp, Value, Width,
};

pub const OPERATORS: [BinaryOp; 30] = [
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
    BinaryOp::FAdd,
    BinaryOp::FSub,
    BinaryOp::FMul,
    BinaryOp::FDiv,
    BinaryOp::FEq,
    BinaryOp::FLt,
    BinaryOp::FLe,
];

const UNARY: [UnaryOp; 11] = [
    UnaryOp::Neg,
    UnaryOp::Not,
    UnaryOp::LogicalNot,
    UnaryOp::ZeroExtend,
    UnaryOp::SignExtend,
    UnaryOp::FNeg,
    UnaryOp::FFromS,
    UnaryOp::FFromU,
    UnaryOp::FToS,
    UnaryOp::FToU,
    UnaryOp::FConvert,
];

/// Comparisons and sums that become one operation with their neighbours.
const USUAL: [BinaryOp; 12] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::And,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::LtU,
    BinaryOp::LtS,
    BinaryOp::LeU,
    BinaryOp::LeS,
    BinaryOp::GtS,
    BinaryOp::GeU,
];

const EDGES: [u64; 16] = [
    0,
    1,
    2,
    7,
    31,
    32,
    63,
    0x7f,
    0x80,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Registers for numbers, then for pointers, then one that counts.
const NUMBERS: u32 = 6;
const POINTERS: u32 = 3;
const COUNTER: u32 = NUMBERS + POINTERS;
const REGISTERS: u32 = COUNTER + 2;

/// The global objects: 0 and 1 are arrays, 2 has a gap, 3 is constant.
const SIZES: [u32; 4] = [32, 16, 16, 8];

pub struct Generator {
    state: u64,
    /// Also what the judge does not know.
    odd: bool,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator { state: (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15), odd: false }
    }

    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn width(&mut self) -> Width {
        self.pick(&[Width::W8, Width::W16, Width::W32, Width::W32, Width::W32, Width::W64, Width::W64])
    }

    fn extend(&mut self) -> Extend {
        self.pick(&[Extend::Zero, Extend::Sign, Extend::Sign])
    }

    fn number(&mut self) -> Reg {
        Reg(self.below(NUMBERS as usize) as u32)
    }

    fn pointer(&mut self) -> Reg {
        Reg(NUMBERS + self.below(POINTERS as usize) as u32)
    }

    fn operand(&mut self) -> Operand {
        match self.below(3) {
            0 if self.odd && self.one_in(100) => Value::UNDEFINED.into(),
            0 => Value(self.pick(&EDGES)).into(),
            _ => self.number().into(),
        }
    }

    /// An address that is mostly good.
    fn address(&mut self) -> Operand {
        match self.below(40) {
            0 => self.number().into(),
            1 => Value::pointer(ObjectId(self.below(9) as u32), self.below(40) as u32).into(),
            2..20 => self.pointer().into(),
            _ => {
                let object = self.below(3);
                Value::pointer(ObjectId(object as u32), self.below(SIZES[object] as usize - 7) as u32).into()
            }
        }
    }

    fn rvalue(&mut self) -> Rvalue {
        let (width, extend, a) = (self.width(), self.extend(), self.operand());
        match self.below(12) {
            0 => Rvalue::Use(a),
            1 => Rvalue::Select(self.operand(), a, self.operand()),
            2 | 3 => Rvalue::Unary(self.pick(&UNARY), width, extend, a),
            4..9 => Rvalue::Binary(self.pick(&USUAL), width, extend, a, self.operand()),
            _ => match self.pick(&OPERATORS) {
                BinaryOp::DivS | BinaryOp::DivU | BinaryOp::RemS | BinaryOp::RemU if !self.one_in(4) => {
                    Rvalue::Binary(BinaryOp::DivS, width, extend, a, Value(3).into())
                }
                // The bits of what is no number may be any: the table leaves them out.
                BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv => Rvalue::Use(a),
                op => Rvalue::Binary(op, width, extend, a, self.operand()),
            },
        }
    }

    /// A branch and a jump whose targets are not known yet.
    fn branch(&mut self, condition: Operand) -> Instr {
        Instr::Branch { condition, then_to: Label(u32::MAX), else_to: Label(u32::MAX) }
    }

    /// A pointer into an object: the start, or `base + index * size`.
    fn point(&mut self, out: &mut Vec<Instr>) {
        let (dst, index, t) = (self.pointer(), self.number(), self.number());
        let base = Value::pointer(ObjectId(self.below(2) as u32), 0);
        let wide = |op, a: Operand, b: Operand| Rvalue::Binary(op, Width::W64, Extend::Zero, a, b);
        out.push(Instr::Assign { dst: t, value: wide(BinaryOp::And, index.into(), Value(3).into()) });
        let size = if self.one_in(10) { 7 } else { 2 };
        out.push(Instr::Assign { dst: t, value: wide(BinaryOp::Mul, t.into(), Value(size).into()) });
        out.push(Instr::Assign { dst, value: wide(BinaryOp::Add, base.into(), t.into()) });
    }

    fn memory(&mut self, out: &mut Vec<Instr>) {
        let (ann, width, extend) = (Ann::PLAIN, self.width(), self.extend());
        let (dst, addr) = (self.number(), self.address());
        match self.below(12) {
            0..3 => out.push(Instr::Load { dst, addr, width, extend, ann }),
            3 => out.push(Instr::CopyLoad { dst, addr, width, extend, ann, keeps: self.one_in(2) }),
            4 => {
                out.push(Instr::CopyLoad { dst, addr, width, extend, ann, keeps: true });
                out.push(Instr::Defined(dst.into()));
            }
            5..8 => out.push(Instr::Store { addr, value: self.operand(), width, ann }),
            8 => {
                let (op, operand) = (self.pick(&[RmwOp::Add, RmwOp::Exchange, RmwOp::MaxS]), self.operand());
                let (read, write) = (ann, ann);
                out.push(Instr::Rmw { dst: Some(dst), addr, width, extend, op, operand, read, write });
            }
            9 | 10 => self.object(out),
            _ => self.point(out),
        }
    }

    /// Objects that come and go.
    fn object(&mut self, out: &mut Vec<Instr>) {
        let pointer = self.pointer();
        match self.below(5) {
            0 => out.push(Instr::Free(pointer.into())),
            // The judge takes a global object for a local one here.
            1 if self.odd => out.push(Instr::EndLocal(pointer.into())),
            2 => {
                let zeroed = self.one_in(3);
                out.push(Instr::Alloc { dst: pointer, size: Value(16).into(), zeroed });
                if self.one_in(2) {
                    let ann = Ann::PLAIN;
                    out.push(Instr::Store {
                        addr: pointer.into(),
                        value: self.operand(),
                        width: Width::W64,
                        ann,
                    });
                }
                if self.one_in(6) {
                    out.push(Instr::Free(pointer.into()));
                }
            }
            3 => {
                let init = if self.one_in(2) { Some(Value(5)) } else { None };
                let cells = vec![Cell { offset: 0, width: Width::W32, init }];
                let object =
                    Object { name: "local".into(), size: 12, cells, span: Span::default(), constant: false };
                out.push(Instr::Local { dst: pointer, object: Box::new(object), private: true });
            }
            _ if self.odd => out.push(Instr::ObjectSize { dst: self.number(), addr: pointer.into() }),
            _ => out.push(Instr::ThreadLocal { dst: pointer, object: ObjectId(self.below(2) as u32) }),
        }
    }

    /// A register becomes a copy of memory that nobody wrote.
    fn undefined(&mut self, dst: Reg, out: &mut Vec<Instr>) {
        let pointer = self.pointer();
        out.push(Instr::Alloc { dst: pointer, size: Value(16).into(), zeroed: false });
        let (width, extend, ann) = (self.width(), self.extend(), Ann::PLAIN);
        out.push(Instr::CopyLoad { dst, addr: pointer.into(), width, extend, ann, keeps: true });
    }

    /// `for (c = 0; c < n; c++) ...` at some width.
    fn counted(&mut self, out: &mut Vec<Instr>, depth: u32) {
        let (width, extend) = self.pick(&[
            (Width::W32, Extend::Sign),
            (Width::W32, Extend::Zero),
            (Width::W64, Extend::Zero),
            (Width::W8, Extend::Sign),
        ]);
        let op = self.pick(&[BinaryOp::LtS, BinaryOp::LeS, BinaryOp::LtU, BinaryOp::Ne]);
        let (counter, condition) =
            (Reg(COUNTER), if self.one_in(2) { Reg(COUNTER + 1) } else { self.number() });
        let bound = Value(self.below(6) as u64);
        out.push(Instr::Assign { dst: counter, value: Rvalue::Use(Value::ZERO.into()) });
        let head = out.len() as u32;
        let test = Rvalue::Binary(op, width, Extend::Zero, counter.into(), bound.into());
        out.push(Instr::Assign { dst: condition, value: test });
        let branch = out.len();
        out.push(Instr::Cut);
        for _ in 0..self.below(4) {
            self.statement(out, depth + 1);
        }
        let step = Rvalue::Binary(BinaryOp::Add, width, extend, counter.into(), Value(1).into());
        out.push(Instr::Assign { dst: counter, value: step });
        out.push(Instr::Jump(Label(head)));
        let (then_to, else_to) = (Label(branch as u32 + 1), Label(out.len() as u32));
        out[branch] = Instr::Branch { condition: condition.into(), then_to, else_to };
    }

    fn statement(&mut self, out: &mut Vec<Instr>, depth: u32) {
        match self.below(24) {
            0..10 => out.push(Instr::Assign { dst: self.number(), value: self.rvalue() }),
            10..17 => self.memory(out),
            17 if depth == 0 => self.counted(out, depth),
            18 if self.one_in(3) => out.push(Instr::Jump(Label(u32::MAX))),
            19 => {
                let condition = self.operand();
                out.push(self.branch(condition));
            }
            20 | 21 => {
                if self.one_in(2) {
                    let (x, by) = (self.number(), Value(self.pick(&EDGES)));
                    let value = Rvalue::Binary(BinaryOp::Add, Width::W32, Extend::Sign, x.into(), by.into());
                    out.push(Instr::Assign { dst: x, value });
                }
                let (dst, op, width) = (self.number(), self.pick(&USUAL), self.width());
                let value = Rvalue::Binary(op, width, Extend::Zero, self.operand(), self.operand());
                out.push(Instr::Assign { dst, value });
                out.push(self.branch(dst.into()));
            }
            22 if self.one_in(2) => {
                let function = FunctionId(if self.one_in(120) { 1 } else { 2 });
                let callee = match self.one_in(3) {
                    true => Callee::Pointer(Value::function(function).into()),
                    false => Callee::Function(function),
                };
                let args = vec![self.operand(), self.operand()];
                if let (Operand::Reg(dst), true) = (args[0], self.one_in(4)) {
                    self.undefined(dst, out);
                }
                out.push(Instr::Call { dst: Some(self.number()), callee, args });
            }
            23 if self.odd && self.one_in(60) => {
                let addr = Value::pointer(ObjectId(3), 0).into();
                out.push(Instr::Store { addr, value: Value(1).into(), width: Width::W32, ann: Ann::PLAIN });
            }
            23 if self.one_in(8) => {
                out.push(Instr::Assert {
                    condition: self.number().into(),
                    kind: fencepost_ir::FailKind::Assertion,
                    message: String::new(),
                });
            }
            _ => out.push(Instr::Assign { dst: self.number(), value: self.rvalue() }),
        }
    }

    /// Statements; targets that were left open are a little forward, anywhere.
    fn body(&mut self, statements: usize) -> Vec<Instr> {
        let mut out = Vec::new();
        for at in 0..POINTERS {
            let object = self.below(3) as u32;
            let value = Rvalue::Use(Value::pointer(ObjectId(object), 0).into());
            out.push(Instr::Assign { dst: Reg(NUMBERS + at), value });
        }
        for _ in 0..statements {
            self.statement(&mut out, 0);
        }
        let length = out.len();
        for (at, instr) in out.iter_mut().enumerate() {
            let mut patch = |label: &mut Label| {
                if label.0 == u32::MAX {
                    label.0 = (at + 1 + self.below(6)).min(length) as u32;
                }
            };
            match instr {
                Instr::Jump(to) => patch(to),
                Instr::Branch { then_to, else_to, .. } => {
                    patch(then_to);
                    patch(else_to);
                }
                _ => {}
            }
        }
        out
    }
}

fn function(params: u32, body: Vec<Instr>) -> Function {
    let regs = (0..REGISTERS).map(|i| format!("r{i}")).collect();
    let spans = vec![Span::default(); body.len()];
    Function { name: "f".into(), params, regs, body, spans }
}

fn globals() -> Vec<Object> {
    let ints = |n: u64| (0..n).map(Value).collect::<Vec<_>>();
    let mut gap = Object::scalar("gap", Width::W32, Value(7), Span::default());
    (gap.size, gap.cells) = (16, vec![gap.cells[0], Cell { offset: 8, width: Width::W64, init: None }]);
    let constant = Object::array("constant", Width::W32, &ints(2), Span::default());
    vec![
        Object::array("a", Width::W32, &ints(8), Span::default()),
        Object::array("b", Width::W64, &ints(2), Span::default()),
        gap,
        Object { constant: true, ..constant },
    ]
}

fn program(functions: Vec<Function>) -> Program {
    let thread = Thread { name: "main".into(), function: FunctionId(0), args: Vec::new() };
    Program { objects: globals(), functions, threads: vec![thread], ..Program::default() }
}

/// Fails at one of 64 places, which the registers for numbers and the first global objects choose.
fn reveal(out: &mut Vec<Instr>) {
    let (hash, part) = (Reg(COUNTER), Reg(COUNTER + 1));
    let wide = |op, a: Operand, b: Operand| Rvalue::Binary(op, Width::W64, Extend::Zero, a, b);
    let mix = |out: &mut Vec<Instr>, from: Reg| {
        let factor = Value(0x9e37_79b9_7f4a_7c15);
        out.push(Instr::Assign { dst: hash, value: wide(BinaryOp::Xor, hash.into(), from.into()) });
        out.push(Instr::Assign { dst: hash, value: wide(BinaryOp::Mul, hash.into(), factor.into()) });
        out.push(Instr::Assign { dst: part, value: wide(BinaryOp::ShrU, hash.into(), Value(29).into()) });
        out.push(Instr::Assign { dst: hash, value: wide(BinaryOp::Xor, hash.into(), part.into()) });
    };
    for number in 0..NUMBERS {
        mix(out, Reg(number));
    }
    for (object, size) in SIZES.iter().enumerate().take(3) {
        for offset in (0..*size).step_by(8) {
            let addr = Value::pointer(ObjectId(object as u32), offset).into();
            let (width, extend, ann) = (Width::W64, Extend::Zero, Ann::PLAIN);
            out.push(Instr::CopyLoad { dst: part, addr, width, extend, ann, keeps: false });
            mix(out, part);
        }
    }
    out.push(Instr::Assign { dst: hash, value: wide(BinaryOp::And, hash.into(), Value(63).into()) });
    for place in 0..64 {
        let at = out.len() as u32;
        out.push(Instr::Assign { dst: part, value: wide(BinaryOp::Eq, hash.into(), Value(place).into()) });
        out.push(Instr::Branch { condition: part.into(), then_to: Label(at + 2), else_to: Label(at + 3) });
        out.push(Instr::Fail { kind: FailKind::Assertion, message: String::new() });
    }
}

/// A program of three functions: `main`, one that calls itself for ever, and one that calls nobody.
pub fn random_program(seed: u64, odd: bool) -> Program {
    let mut generator = Generator::new(seed);
    generator.odd = odd;
    let length = 5 + generator.below(30);
    let mut main = generator.body(length);
    if seed % 8 != 7 {
        reveal(&mut main);
    }
    let callee = Callee::Function(FunctionId(1));
    let nested = vec![Instr::Call { dst: None, callee, args: vec![Value(1).into()] }];
    let mut leaf = generator.body(6);
    for instr in &mut leaf {
        if let Instr::Call { .. } = instr {
            *instr = Instr::Return(Some(Value(9).into()));
        }
    }
    leaf.push(Instr::Return(Some(Reg(2).into())));
    program(vec![function(0, main), function(1, nested), function(2, leaf)])
}

/// An operator on all pairs of edges; division by zero is left out, and floating-point results that are no numbers, whose bits
/// may be any.
pub fn table(generator: &mut Generator, op: BinaryOp, width: Width, extend: Extend) -> Program {
    let no_number = |value: Value| match width {
        Width::W32 => f32::from_bits(value.0 as u32).is_nan(),
        _ => f64::from_bits(value.0).is_nan(),
    };
    let computes = matches!(op, BinaryOp::FAdd | BinaryOp::FSub | BinaryOp::FMul | BinaryOp::FDiv);
    let divides = matches!(op, BinaryOp::DivU | BinaryOp::DivS | BinaryOp::RemU | BinaryOp::RemS);
    let mut out = Vec::new();
    let (a, b, result, sum) = (Reg(0), Reg(1), Reg(2), Reg(3));
    for left in EDGES {
        for right in EDGES {
            if divides && width.zero_extend(Value(right)) == Value::ZERO {
                continue;
            }
            if computes && op.apply(width, Value(left), Value(right)).is_none_or(no_number) {
                continue;
            }
            out.push(Instr::Assign { dst: a, value: Rvalue::Use(Value(left).into()) });
            out.push(Instr::Assign { dst: b, value: Rvalue::Use(Value(right).into()) });
            out.push(Instr::Assign {
                dst: result,
                value: Rvalue::Binary(op, width, extend, a.into(), b.into()),
            });
            if generator.one_in(2) {
                let skip = Label(out.len() as u32 + 2);
                let (then_to, else_to) =
                    if generator.one_in(2) { (skip, Label(skip.0 - 1)) } else { (Label(skip.0 - 1), skip) };
                out.push(Instr::Branch { condition: result.into(), then_to, else_to });
                let bump = Rvalue::Binary(BinaryOp::Add, Width::W64, extend, sum.into(), Value(1).into());
                out.push(Instr::Assign { dst: sum, value: bump });
                let fresh = generator.one_in(2);
                if fresh {
                    out.push(Instr::Assign { dst: result, value: Rvalue::Use(Value(3).into()) });
                }
            }
            for (op, with) in [(BinaryOp::Mul, Operand::Const(Value(31))), (BinaryOp::Add, result.into())] {
                let value = Rvalue::Binary(op, Width::W64, Extend::Zero, sum.into(), with);
                out.push(Instr::Assign { dst: sum, value });
            }
        }
    }
    reveal(&mut out);
    program(vec![function(0, out)])
}

/// Loops without an end: a jump to itself, a condition at the start or at the end, back both ways, forward over a jump back.
pub fn endless() -> Vec<Program> {
    let less = |dst| Instr::Assign {
        dst,
        value: Rvalue::Binary(BinaryOp::LtS, Width::W32, Extend::Zero, Reg(1).into(), Value(9).into()),
    };
    let add = Instr::Assign {
        dst: Reg(1),
        value: Rvalue::Binary(BinaryOp::And, Width::W32, Extend::Zero, Reg(1).into(), Value(1).into()),
    };
    let branch = |then_to, else_to| Instr::Branch {
        condition: Reg(0).into(),
        then_to: Label(then_to),
        else_to: Label(else_to),
    };
    let jump = |to| Instr::Jump(Label(to));
    let bodies = [
        vec![jump(0)],
        vec![less(Reg(0)), branch(2, 4), add.clone(), jump(0)],
        vec![add.clone(), less(Reg(0)), branch(0, 3)],
        vec![add.clone(), less(Reg(0)), branch(0, 0)],
        vec![less(Reg(0)), branch(3, 2), jump(0), jump(2)],
        vec![jump(2), jump(0), less(Reg(0)), branch(1, 0)],
        vec![less(Reg(0)), branch(0, 2)],
    ];
    bodies.into_iter().map(|body| program(vec![function(0, body)])).collect()
}
