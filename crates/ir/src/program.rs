//! Programs: objects, functions as control-flow graphs of small instructions over virtual registers, and threads.
//!
//! A function body is a flat list of instructions; a [`Label`] is an index into it, so the list *is* the control-flow
//! graph. Falling off the end, or a `Jump`/`Branch` to `body.len()`, returns from the function; a thread ends when its
//! outermost function returns. Every register starts as zero.
//!
//! Dependencies are syntactic: the result of an `Assign` depends on every register it mentions, and a `Branch` makes
//! everything after it in program order control-dependent on its condition. [`Rvalue::Select`] is the one exception:
//! it depends on the operand that was selected, while its condition gives a *pick* dependency only (AArch64 `CSEL`).
//! What a read-modify-write stores depends on what it read, unless it is an exchange (`data`); a compare-exchange gives
//! its write pick dependencies on what the expected value depends on, and its old value depends on the expected one if it
//! succeeds and on the read if it fails, the other being a pick dependency (AArch64 `CAS`). The status of a store-exclusive
//! depends on nothing.

use crate::annotation::Ann;
use crate::fence::Fence;
use crate::names::Names;
use crate::property::{Observable, Property, Quantifier};
use crate::value::Value;
use fencepost_diag::Span;

/// A virtual register of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Reg(pub u32);

/// An object: a piece of memory with bounds of its own. Globals come first; later ids are for allocations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ObjectId(pub u32);

/// A function of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunctionId(pub u32);

/// A thread, numbered from 0 in the order of `Program::threads`; spawned threads follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ThreadId(pub u32);

/// A place in a function body: an index into `Function::body`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Label(pub u32);

/// A whole program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Its name, for reports.
    pub name: String,
    /// Global objects.
    pub objects: Vec<Object>,
    /// All functions.
    pub functions: Vec<Function>,
    /// The threads that run from the start.
    pub threads: Vec<Thread>,
    /// What is asked about it.
    pub property: Property,
    /// What the parts of its objects are called.
    pub names: Names,
}

/// A global object.
#[derive(Clone, PartialEq, Debug)]
pub struct Object {
    /// Name as in the source.
    pub name: String,
    /// Size in bytes.
    pub size: u32,
    /// Its scalar cells, by increasing offset. Accesses must hit a cell exactly. The cells of a union's members
    /// overlap; then, as in memory from `Alloc`, which has no declared cells at all, the first access at a place decides
    /// the cell there, and a later access that overlaps it with another offset or width is the finding "accesses of
    /// different sizes". A cell that overlaps others takes its initial value from the list.
    pub cells: Vec<Cell>,
    /// Where it was declared.
    pub span: Span,
    /// It must not be written: a string literal, or an object with static storage that is declared so.
    pub constant: bool,
}

/// A scalar part of an object.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cell {
    /// Byte offset in the object.
    pub offset: u32,
    /// Its width.
    pub width: Width,
    /// Initial value; `None` is uninitialised memory.
    pub init: Option<Value>,
}

impl Object {
    /// An object of one cell, such as an `int`.
    pub fn scalar(name: impl Into<String>, width: Width, init: Value, span: Span) -> Object {
        let cells = vec![Cell { offset: 0, width, init: Some(init) }];
        Object { name: name.into(), size: width.bytes(), cells, span, constant: false }
    }

    /// An array of scalars.
    pub fn array(name: impl Into<String>, width: Width, init: &[Value], span: Span) -> Object {
        let cells = (0u32..)
            .zip(init)
            .map(|(i, &v)| Cell { offset: i * width.bytes(), width, init: Some(v) })
            .collect::<Vec<_>>();
        let size = width.bytes() * cells.len() as u32;
        Object { name: name.into(), size, cells, span, constant: false }
    }
}

/// A thread that runs from the start.
#[derive(Clone, PartialEq, Debug)]
pub struct Thread {
    /// Name for reports, such as `P0`.
    pub name: String,
    /// What it runs.
    pub function: FunctionId,
    /// Values of the function's parameters.
    pub args: Vec<Value>,
}

/// A function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Function {
    /// Name as in the source.
    pub name: String,
    /// Number of parameters; they arrive in registers 0, 1, ...
    pub params: u32,
    /// Register names, for reports and final conditions; the length is the number of registers.
    pub regs: Vec<String>,
    /// The instructions.
    pub body: Vec<Instr>,
    /// The source span of each instruction; as long as `body`.
    pub spans: Vec<Span>,
}

impl Function {
    /// Adds a register.
    pub fn new_reg(&mut self, name: impl Into<String>) -> Reg {
        self.regs.push(name.into());
        Reg(self.regs.len() as u32 - 1)
    }

    /// Appends an instruction and returns its label.
    pub fn push(&mut self, instr: Instr, span: Span) -> Label {
        self.body.push(instr);
        self.spans.push(span);
        Label(self.body.len() as u32 - 1)
    }

    /// The function with an instruction put before each of these, which jumps to them reach as well. The places are sorted.
    pub fn with_before(&self, places: &[u32], instr: &Instr) -> Function {
        let with = |at: u32, old: &Instr, to: &mut Vec<Instr>| {
            to.extend(places.binary_search(&at).is_ok().then(|| instr.clone()));
            to.push(old.clone());
        };
        self.rewritten(with).0
    }

    /// The function with each instruction replaced by those that `write` gives for it, and where each of the replacements
    /// begins. Their jumps go by the old labels.
    pub fn rewritten(&self, mut write: impl FnMut(u32, &Instr, &mut Vec<Instr>)) -> (Function, Vec<u32>) {
        let mut new = Function { body: Vec::new(), spans: Vec::new(), ..self.clone() };
        let mut starts = Vec::with_capacity(self.body.len() + 1);
        for (at, (instr, &span)) in (0u32..).zip(self.body.iter().zip(&self.spans)) {
            starts.push(new.body.len() as u32);
            write(at, instr, &mut new.body);
            new.spans.resize(new.body.len(), span);
        }
        starts.push(new.body.len() as u32);
        for instr in &mut new.body {
            instr.for_each_label(|label| label.0 = starts[label.0 as usize]);
        }
        (new, starts)
    }

    /// The label of the next instruction to be pushed.
    pub fn next_label(&self) -> Label {
        Label(self.body.len() as u32)
    }
}

/// Access and arithmetic widths.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Width {
    /// One byte.
    W8,
    /// Two bytes.
    W16,
    /// Four bytes.
    W32,
    /// Eight bytes.
    W64,
    /// Sixteen bytes, whose value is two words in one ([`crate::wide`]): for accesses only, nothing computes with them.
    W128,
}

impl Width {
    /// Every width that computations have.
    pub const ALL: [Width; 4] = [Width::W8, Width::W16, Width::W32, Width::W64];

    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Width::W8 => 1,
            Width::W16 => 2,
            Width::W32 => 4,
            Width::W64 => 8,
            Width::W128 => crate::wide::BYTES,
        }
    }

    /// The bits of a value.
    pub fn bits(self) -> u32 {
        8 * self.bytes().min(8)
    }

    /// Keeps the low bits and clears the others; an undefined value stays undefined.
    pub fn zero_extend(self, value: Value) -> Value {
        match self {
            _ if value == Value::UNDEFINED => value,
            Width::W64 | Width::W128 => value,
            _ => Value(value.0 & ((1 << self.bits()) - 1)),
        }
    }

    /// Keeps the low bits and copies the sign bit into the others; an undefined value stays undefined.
    pub fn sign_extend(self, value: Value) -> Value {
        if value == Value::UNDEFINED {
            return value;
        }
        let shift = 64 - self.bits();
        Value::from_i64(((value.0 << shift) as i64) >> shift)
    }

    /// Extends as asked.
    pub fn extend(self, how: Extend, value: Value) -> Value {
        match how {
            Extend::Zero => self.zero_extend(value),
            Extend::Sign => self.sign_extend(value),
        }
    }
}

/// How a narrow value fills a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extend {
    /// With zeros.
    Zero,
    /// With its sign.
    Sign,
}

/// A register or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// The value of a register.
    Reg(Reg),
    /// A constant, which may be a pointer.
    Const(Value),
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Operand {
        Operand::Const(value)
    }
}

/// Operators of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// Two's complement negation.
    Neg,
    /// Bitwise complement.
    Not,
    /// 1 if zero, else 0.
    LogicalNot,
    /// Keep the low bits, clear the others.
    ZeroExtend,
    /// Keep the low bits, copy the sign.
    SignExtend,
    /// Negation of a floating-point number of that width.
    FNeg,
    /// A signed 64-bit integer as a floating-point number of that width.
    FFromS,
    /// An unsigned 64-bit integer as a floating-point number of that width.
    FFromU,
    /// A `double` as a signed integer, towards zero; the width is 64.
    FToS,
    /// A `double` as an unsigned integer, towards zero; the width is 64.
    FToU,
    /// A floating-point number of the other width as one of that width (32: `double` to `float`; 64: back).
    FConvert,
}

/// Operators of two operands. The result is truncated to the width and zero-extended, unless the instruction's
/// `extend` says otherwise; comparisons give 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Unsigned division; by zero is a finding.
    DivU,
    DivS,
    RemU,
    RemS,
    And,
    Or,
    Xor,
    Shl,
    ShrU,
    ShrS,
    Eq,
    Ne,
    LtU,
    LtS,
    LeU,
    LeS,
    GtU,
    GtS,
    GeU,
    GeS,
    /// IEEE 754 arithmetic and comparisons on the bits of a `float` (32 bits) or a `double` (64 bits).
    FAdd,
    FSub,
    FMul,
    FDiv,
    FEq,
    FLt,
    FLe,
}

/// The right-hand side of an assignment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rvalue {
    /// A copy.
    Use(Operand),
    /// `op a` at a width, the result extended.
    Unary(UnaryOp, Width, Extend, Operand),
    /// `a op b` at a width, the result extended.
    Binary(BinaryOp, Width, Extend, Operand, Operand),
    /// `condition ? a : b` without a branch; see the module documentation for its dependencies.
    Select(Operand, Operand, Operand),
}

/// What a read-modify-write stores, given the old value and its operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RmwOp {
    /// The operand.
    Exchange,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Bitwise and.
    And,
    /// Complement of bitwise and.
    Nand,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise and with the operand's complement (AArch64 `LDCLR`).
    Clear,
    /// Signed maximum.
    MaxS,
    /// Signed minimum.
    MinS,
    /// Unsigned maximum.
    MaxU,
    /// Unsigned minimum.
    MinU,
}

/// What a call or a spawn runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Callee {
    /// A known function.
    Function(FunctionId),
    /// A function pointer: the function's number as a value, or [`Value::function`]. Arguments beyond the function's
    /// parameters are dropped; a value that is neither is a finding (a call through a bad pointer).
    Pointer(Operand),
}

/// The condition of a wait: the value read is `v`, and the wait is over if `v op operand` is not zero.
///
/// With `op` a comparison this is a comparison; with `And` it waits for a bit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Until {
    /// The operator, applied at the width of the access.
    pub op: BinaryOp,
    /// Its right-hand side.
    pub operand: Operand,
}

/// The kinds of mistake that an [`Instr::Fail`] reports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FailKind {
    /// A failed assertion, `abort`, or a call of an error function.
    Assertion,
    /// A mutex, rwlock, semaphore, barrier or condition variable used against its rules.
    Misuse,
    /// The run needs something that the library model cannot represent; the verdict is then unknown, not unsafe.
    Unsupported,
}

/// One instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum Instr {
    /// `dst = value`.
    Assign {
        /// Destination.
        dst: Reg,
        /// Value.
        value: Rvalue,
    },
    /// `dst = [addr]`.
    Load {
        /// Destination.
        dst: Reg,
        /// Address.
        addr: Operand,
        /// Width of the access.
        width: Width,
        /// How the value fills the register.
        extend: Extend,
        /// Annotation.
        ann: Ann,
    },
    /// `[addr] = value`.
    Store {
        /// Address.
        addr: Operand,
        /// Value to store.
        value: Operand,
        /// Width of the access.
        width: Width,
        /// Annotation.
        ann: Ann,
    },
    /// Store if the thread's reservation (its last exclusive load) still stands. `status` becomes `success` or
    /// `1 - success`; it may fail for no reason. Fails always if there is no reservation for that address.
    StoreExclusive {
        /// Receives the outcome; it carries no dependency.
        status: Reg,
        /// The status value that means success: 0 for AArch64, 1 for POWER (the EQ bit).
        success: u8,
        /// Address.
        addr: Operand,
        /// Value to store.
        value: Operand,
        /// Width of the access.
        width: Width,
        /// Annotation.
        ann: Ann,
    },
    /// Atomic read-modify-write by one instruction.
    Rmw {
        /// Receives the old value.
        dst: Option<Reg>,
        /// Address.
        addr: Operand,
        /// Width of the access.
        width: Width,
        /// How the old value fills the register.
        extend: Extend,
        /// What is stored.
        op: RmwOp,
        /// Operand of `op`.
        operand: Operand,
        /// Annotation of the read.
        read: Ann,
        /// Annotation of the write.
        write: Ann,
    },
    /// Atomic compare-exchange by one instruction.
    CompareExchange {
        /// Receives the old value.
        dst: Option<Reg>,
        /// Receives 1 on success, else 0; depends on the old value and on `expected`.
        success: Option<Reg>,
        /// Address.
        addr: Operand,
        /// Width of the access.
        width: Width,
        /// How the old value fills the register.
        extend: Extend,
        /// Value that must be there.
        expected: Operand,
        /// Value to store then.
        desired: Operand,
        /// Annotation of the read when the exchange succeeds.
        read: Ann,
        /// Annotation of the write.
        write: Ann,
        /// Annotation of the read when it fails.
        failure: Ann,
        /// May fail although the values are equal.
        weak: bool,
    },
    /// A fence.
    Fence(Fence),
    /// Go to `target`.
    Jump(Label),
    /// Go to `then_to` if the condition is not zero, else to `else_to`.
    Branch {
        /// Condition.
        condition: Operand,
        /// Target if not zero.
        then_to: Label,
        /// Target if zero.
        else_to: Label,
    },
    /// Call a function.
    Call {
        /// Receives the result.
        dst: Option<Reg>,
        /// What to call.
        callee: Callee,
        /// Arguments.
        args: Vec<Operand>,
    },
    /// Return from the function.
    Return(Option<Operand>),
    /// Start a thread.
    Spawn {
        /// Receives the thread's number.
        dst: Option<Reg>,
        /// What it runs.
        callee: Callee,
        /// Arguments.
        args: Vec<Operand>,
    },
    /// Wait for a thread to end.
    Join {
        /// The thread's number.
        thread: Operand,
        /// Receives what its function returned.
        dst: Option<Reg>,
    },
    /// Lock the mutex at an address.
    Lock(Operand),
    /// Unlock it.
    Unlock(Operand),
    /// Executions in which the condition is zero do not count. A control dependency, like a branch to a place that is
    /// never left.
    Assume(Operand),
    /// A mark of the program's author about a loop that waits. `None`: a round begins. A condition: the round is over, and if
    /// it is zero the thread changed nothing that matters and goes round again, so that it may as well wait for other values.
    /// Engines may take it for nothing.
    Round(Option<Operand>),
    /// An execution in which the condition is zero is a finding. It orders nothing, unlike a branch.
    Assert {
        /// Condition.
        condition: Operand,
        /// What kind of finding: a front end that checks what it cannot represent says so.
        kind: FailKind,
        /// What to tell the user.
        message: String,
    },
    /// An execution in which the value is undefined is a finding: it is about to be used. It orders nothing. Made by
    /// [`crate::undefined`].
    Defined(Operand),
    /// `dst` becomes any value of `first..=last` (signed).
    Nondet {
        /// Destination.
        dst: Reg,
        /// Smallest value.
        first: i64,
        /// Largest value.
        last: i64,
    },
    /// Allocate `size` bytes of uninitialised (or zeroed) memory.
    Alloc {
        /// Receives the pointer.
        dst: Reg,
        /// Size in bytes.
        size: Operand,
        /// All bytes zero.
        zeroed: bool,
    },
    /// Free what was allocated.
    Free(Operand),
    /// Make a local object: a fresh copy of `object` (cells without a value are uninitialised), alive until
    /// [`Instr::EndLocal`], which stands on every way out of its scope, returns included. Accessing it later is a use
    /// after scope; passing it to `Free` is an invalid free. The objects of `main` live as long as the process, unless
    /// it ends by [`Instr::Exit`].
    Local {
        /// Receives the pointer.
        dst: Reg,
        /// Name, size, cells and place of declaration.
        object: Box<Object>,
        /// No other thread can learn its address, so its accesses need not be events of the execution; the values read
        /// from it then carry the dependencies of the values written.
        private: bool,
    },
    /// The local object that this points to goes out of scope.
    EndLocal(Operand),
    /// `dst` becomes a pointer to the running thread's own copy of a global object, made from its initial cells when
    /// the thread first asks for it. The global itself is only the template.
    ThreadLocal {
        /// Receives the pointer.
        dst: Reg,
        /// The template.
        object: ObjectId,
    },
    /// `dst` becomes the size in bytes of the live object that `addr` points to; 0 for the null pointer.
    ObjectSize {
        /// Receives the size.
        dst: Reg,
        /// Address.
        addr: Operand,
    },
    /// As [`Instr::Load`], for copying: reading an uninitialised cell is no finding, because C lets arrays, structures and
    /// allocated memory be copied whatever they hold.
    CopyLoad {
        /// Destination.
        dst: Reg,
        /// Address.
        addr: Operand,
        /// Width of the access.
        width: Width,
        /// How the value fills the register.
        extend: Extend,
        /// Annotation.
        ann: Ann,
        /// An undefined value stays so, as [`Value::UNDEFINED`]; otherwise it is taken for zero.
        keeps: bool,
    },
    /// `dst` becomes the number of the running thread.
    SelfThread {
        /// Destination.
        dst: Reg,
    },
    /// End the running thread, whatever function it is in, with a result for [`Instr::Join`]. The objects that the
    /// thread made by [`Instr::Local`] and [`Instr::ThreadLocal`] end with it; where its outermost function returns
    /// instead, the thread-local ones do.
    Exit(Option<Operand>),
    /// End the process. Nothing follows it in its thread, and nobody joins that thread. The other threads run on,
    /// because whatever they do could have happened before; but they do not wait for ever, and nothing is leaked.
    Halt,
    /// Wait until a cell satisfies a condition. One read event: reading a value that does not satisfy the condition
    /// blocks the thread (as a spin loop blocks), so a value that never comes is a deadlock and not an assumption.
    Await {
        /// Receives the value that ended the wait.
        dst: Option<Reg>,
        /// Address.
        addr: Operand,
        /// Width of the access.
        width: Width,
        /// How the value fills the register.
        extend: Extend,
        /// When the wait is over.
        until: Until,
        /// Annotation.
        ann: Ann,
    },
    /// A read-modify-write that waits: it reads a value that satisfies the condition and stores `op` of it, in one
    /// atomic step; reading another value blocks the thread. [`Instr::Lock`] is this with `until` = 0.
    AwaitRmw {
        /// Receives the old value.
        dst: Option<Reg>,
        /// Address.
        addr: Operand,
        /// Width of the access.
        width: Width,
        /// How the old value fills the register.
        extend: Extend,
        /// When the wait is over.
        until: Until,
        /// What is stored.
        op: RmwOp,
        /// Operand of `op`.
        operand: Operand,
        /// Annotation of the read.
        read: Ann,
        /// Annotation of the write.
        write: Ann,
    },
    /// Lock the mutex at an address (a 32-bit cell, 0 when free) if it is free: `dst` becomes 1 if this thread has it
    /// now and 0 if it was held.
    TryLock {
        /// Receives the outcome.
        dst: Reg,
        /// Address.
        addr: Operand,
    },
    /// Reaching this is a finding.
    Fail {
        /// Of which kind.
        kind: FailKind,
        /// What to tell the user.
        message: String,
    },
    /// The unroll bound was reached: the execution counts as cut. Made by loop bounding, never by a front end.
    Cut,
    /// Begin a section that runs without interference.
    AtomicBegin,
    /// End it.
    AtomicEnd,
}

impl Instr {
    /// Calls `visit` for every label that it may jump to.
    pub fn for_each_label(&mut self, visit: impl FnMut(&mut Label)) {
        match self {
            Instr::Jump(to) => [to].into_iter().for_each(visit),
            Instr::Branch { then_to, else_to, .. } => [then_to, else_to].into_iter().for_each(visit),
            _ => {}
        }
    }
}

impl Program {
    /// Whether the program starts as one thread: the return of that thread then ends the process, as [`Instr::Halt`]
    /// does.
    pub fn is_process(&self) -> bool {
        self.threads.len() == 1
    }

    /// The question is whether some final state is there.
    pub fn asks_for_a_state(&self) -> bool {
        matches!(&self.property, Property::Final(condition) if condition.quantifier == Quantifier::Exists)
    }

    /// The registers of a function that the final condition looks at.
    pub fn observed(&self, function: FunctionId) -> Vec<Reg> {
        let Property::Final(condition) = &self.property else { return Vec::new() };
        let mine = |observable: &Observable| match observable {
            Observable::Register { thread, reg } => {
                (self.threads[thread.0 as usize].function == function).then_some(*reg)
            }
            Observable::Memory { .. } => None,
        };
        condition.observed.iter().filter_map(mine).collect()
    }

    /// The object of that name.
    pub fn object_named(&self, name: &str) -> Option<ObjectId> {
        self.objects.iter().position(|o| o.name == name).map(|i| ObjectId(i as u32))
    }

    /// The function that a thread runs.
    pub fn thread_function(&self, thread: ThreadId) -> &Function {
        &self.functions[self.threads[thread.0 as usize].function.0 as usize]
    }
}
