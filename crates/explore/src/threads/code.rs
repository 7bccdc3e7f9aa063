//! The operations that the interpreter runs, and the lowered program.
//!
//! Every access is one operation: a read-modify-write is its two halves with the computation between them, a
//! compare-exchange its read, an internal branch and its write (or a choice first, see `lower.rs`), a store-exclusive a
//! choice (fail or succeed) and a store. Internal branches give no control dependency. The interpreter stops at
//! accesses, choices, fences and what concerns threads and lifetimes; all else is local.
//!
//! A thread's registers are one array: the hidden ones first, then a frame per active call. A frame begins with three
//! words (caller's frame, return address, destination of the result); operands are relative to the frame.

use crate::reductions::symmetry::Sets;
use crate::threads::coverage::Reached;
use crate::threads::interpret::FaultKind;
use crate::threads::memory::BadAccess;
use crate::threads::names::Debug;
use fencepost_ir::{Ann, BinaryOp, Extend, FailKind, Fence, Object, ObjectId, RmwOp, UnaryOp, Value, Width};

/// A position in [`Code::ops`].
pub type Pc = u32;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    /// A register of the frame.
    Reg(u16),
    /// A constant.
    Const(u64),
}

/// What an access is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Nothing: an ordinary load or store.
    None,
    /// A read-modify-write by one instruction.
    Amo,
    /// The read of a read-modify-write that waits for a value: there is a write only if it reads one that will do.
    Waiting,
    /// A load- or store-exclusive.
    Exclusive,
}

/// What a load makes of a value that nobody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// Reading it is a mistake, unless somebody has copied it there.
    Mistake,
    /// It is copied as it is.
    Kept,
    /// It is taken for zero.
    Zero,
    /// Reading it is a mistake of an atomic access, which goes on with zero.
    Atomic,
}

/// What a call or a spawn runs.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Target {
    Function(u32),
    Pointer(Arg),
}

impl Target {
    /// The operand that says what runs, if it is one.
    pub fn operand(self) -> Option<Arg> {
        match self {
            Target::Function(_) => None,
            Target::Pointer(pointer) => Some(pointer),
        }
    }
}

/// One operation; `effect.rs` has the table of what each does. A destination of 0 is none.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Move {
        dst: u16,
        a: Arg,
    },
    Unary {
        op: UnaryOp,
        width: Width,
        extend: Extend,
        dst: u16,
        a: Arg,
    },
    Binary {
        op: BinaryOp,
        width: Width,
        extend: Extend,
        dst: u16,
        a: Arg,
        b: Arg,
    },
    /// The value that a read-modify-write stores.
    Modify {
        op: RmwOp,
        width: Width,
        dst: u16,
        old: u16,
        operand: Arg,
    },
    Select {
        dst: u16,
        condition: Arg,
        a: Arg,
        b: Arg,
    },
    /// `a`, which `by` has only picked, and which depends on nothing else.
    Picked {
        dst: u16,
        a: Arg,
        by: Arg,
    },
    Jump(Pc),
    /// An internal branch gives no control dependency.
    Branch {
        condition: Arg,
        then_to: Pc,
        else_to: Pc,
        internal: bool,
    },
    /// A compare-exchange in program order, where its annotation matters to what a path means: the load comes that fits what
    /// is read. Threads stand before that of success.
    Outcome {
        success: Pc,
        failure: Pc,
    },
    /// Takes a reservation for an address.
    Reserve(Arg),
    /// Gives the reservation up.
    Unreserve,
    /// Goes on if the thread holds a reservation for the address. No control dependency either.
    BranchReserved {
        addr: Arg,
        else_to: Pc,
    },
    Load {
        dst: u16,
        addr: Arg,
        width: Width,
        extend: Extend,
        ann: Ann,
        half: Half,
        failure: Option<CasRead>,
        undefined: Undefined,
    },
    /// `pick`: the operand that an internal branch compared, for the write of a compare-exchange.
    Store {
        addr: Arg,
        value: Arg,
        width: Width,
        ann: Ann,
        half: Half,
        pick: Option<Arg>,
    },
    /// `dst` becomes one of `first .. first + count`. `exchange`: whether a compare-exchange succeeds.
    Choice {
        dst: u16,
        first: i64,
        count: u32,
        exchange: bool,
    },
    /// The store to this address that an instruction might have done and did not. Where events are committed out of
    /// order it takes the number that the store would have had, so that later events keep theirs.
    Skip {
        addr: Arg,
        width: Width,
    },
    Fence(Fence),
    Assume(Arg),
    /// A round of a loop begins that its author says waits, or ends: then, unless the condition holds, the thread spins.
    Round(Option<Arg>),
    /// Notes how many events the thread had when it entered a bounded loop.
    EnterLoop {
        dst: u16,
    },
    /// Waits for ever unless the condition holds.
    Wait(Arg),
    /// Unless the condition is as chosen, there is no such execution. Where events are committed out of order that is seen at
    /// the thread's end.
    Agree {
        a: Arg,
        b: bool,
    },
    Assert {
        condition: Arg,
        kind: FailKind,
    },
    /// A value is about to be used; it must be defined.
    Defined(Arg),
    Fail(FailKind),
    Call {
        dst: u16,
        target: Target,
        args: u32,
    },
    Return(Option<Arg>),
    Spawn {
        dst: u16,
        target: Target,
        args: u32,
    },
    Join {
        dst: u16,
        thread: Arg,
    },
    SelfThread {
        dst: u16,
    },
    /// Ends the thread with a result.
    Exit(Option<Arg>),
    Halt,
    Alloc {
        dst: u16,
        size: Arg,
        zeroed: bool,
    },
    /// A fresh copy of [`Code::templates`].
    Local {
        dst: u16,
        template: u32,
    },
    ThreadLocal {
        dst: u16,
        object: u32,
    },
    /// `scope`: a local object goes out of scope; otherwise `free`.
    Free {
        addr: Arg,
        scope: bool,
    },
    /// An event that marks that an object was made, where that must be seen through release fences, which are none.
    Birth,
    /// The thread is about to end, and what it has made ends with it; where it `exits`, from whatever function, otherwise
    /// only if its outermost function returns. The process goes on.
    EndThread {
        exits: bool,
    },
    /// A private object of the frame begins its life; `dst` becomes the offset 0 in it.
    Private {
        dst: u16,
        object: u16,
    },
    /// It ends its life.
    PrivateEnd {
        object: u16,
    },
    /// Reads a private object; the address is an offset.
    PrivateLoad {
        dst: u16,
        object: u16,
        addr: Arg,
        width: Width,
        extend: Extend,
        undefined: Undefined,
    },
    /// Writes a private object.
    PrivateStore {
        object: u16,
        addr: Arg,
        value: Arg,
        width: Width,
    },
    /// Reads the cell that has the byte `at` of an access in pieces (`pieces.rs`); the whole cell.
    LoadPiece {
        dst: u16,
        addr: Arg,
        at: u16,
        width: Width,
        ann: Ann,
        undefined: Undefined,
    },
    /// Writes it.
    StorePiece {
        addr: Arg,
        at: u16,
        value: u16,
        width: Width,
        ann: Ann,
    },
    /// A computation about an access in pieces; `place` lists its address and the register that says how far it is.
    Piece {
        what: PieceOp,
        dst: u16,
        a: Arg,
        b: Arg,
        place: u32,
        width: Width,
    },
    ObjectSize {
        dst: u16,
        addr: Arg,
    },
    /// Is not zero if the mutex cell's value says that this thread has it.
    Owns {
        dst: u16,
        a: Arg,
    },
    /// The loop's bound is used up; `entered` is the register that says where it was entered, 0 if none.
    Cut {
        entered: u16,
    },
}

/// Computations about an access in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceOp {
    /// Whether one cell is just where the access is; also if there can be no access at all.
    Fits,
    /// Whether the access has the whole of the next cell.
    Covers,
    /// How far the access is behind the next cell.
    Advance,
    /// What was read so far, `a`, with the part of the next cell, whose content is `b`.
    Gather(Undefined),
    /// What the next cell holds, `a`, with its part of the stored value, `b`.
    Merge,
}

/// The read of a compare-exchange: its annotation when it fails, and the value that makes it succeed.
#[derive(Clone, Copy, Debug)]
pub struct CasRead {
    /// The value that makes it succeed.
    pub expected: Arg,
    /// The annotation otherwise.
    pub ann: Ann,
    /// The other load of an [`Op::Outcome`], and its annotation.
    pub other: Option<(Pc, Ann)>,
}

/// A local object that only its own function accesses (`fencepost_ir::private`): its cells are words of the frame. The
/// first word tells by a bit for each cell whether it has a value, and by the last bit whether the object is alive; then
/// come the cells.
#[derive(Clone, Debug)]
pub struct PrivateObject {
    /// Its first word in the frame.
    pub at: u16,
    /// Name and cells.
    pub object: Object,
}

impl PrivateObject {
    /// Cells that fit the word of bits.
    pub const MAX_CELLS: usize = 63;
    /// In that word: the object is alive.
    pub const ALIVE: u64 = 1 << 63;

    /// Words in the frame.
    pub fn words(&self) -> u16 {
        1 + self.object.cells.len() as u16
    }

    /// The cell that an access hits.
    #[inline(always)]
    pub fn cell(&self, offset: u64, width: Width) -> Result<usize, BadAccess> {
        let cells = &self.object.cells;
        // The cells of an array lie evenly.
        let guess = offset as usize / width.bytes() as usize;
        if cells.get(guess).is_some_and(|c| u64::from(c.offset) == offset && c.width == width) {
            return Ok(guess);
        }
        if let Some(at) = cells.iter().position(|c| u64::from(c.offset) == offset && c.width == width) {
            return Ok(at);
        }
        let end = offset.checked_add(u64::from(width.bytes()));
        let inside = end.is_some_and(|end| end <= u64::from(self.object.size));
        Err(if inside { BadAccess::MixedSize(u32::MAX) } else { BadAccess::OutOfBounds })
    }
}

/// A lowered function.
#[derive(Clone, Copy, Debug)]
pub struct FunctionCode {
    /// Its first operation.
    pub entry: Pc,
    /// Words of its frame.
    pub frame: u16,
    /// How many parameters it has.
    pub params: u16,
}

/// A lowered program.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Operations of all functions.
    pub ops: Vec<Op>,
    /// The register that each operation writes, 0 if none.
    pub defines: Vec<u16>,
    /// The function and instruction that each operation came from.
    pub source: Vec<(u32, u32)>,
    /// The functions.
    pub functions: Vec<FunctionCode>,
    /// Argument lists of calls.
    pub lists: Vec<Vec<Arg>>,
    /// Objects that `Local` copies.
    pub templates: Vec<Object>,
    /// Private objects of all functions.
    pub privates: Vec<PrivateObject>,
    /// For operations that read memory and may be run again, and for those that a call returns to: the registers of the
    /// frame whose values matter then.
    pub live: Vec<Option<Box<[u64]>>>,
    /// Reads after which the thread may wait, fail an assumption, or be back in a loop.
    pub may_wait: Vec<bool>,
    /// Whether there are reads in loops.
    pub repeats_reads: bool,
    /// Whether one of them is not atomic.
    pub repeats_plain_reads: bool,
    /// Joins after which no event comes but more such joins.
    pub tails: Vec<bool>,
    /// The lock of atomic sections, if they became critical sections.
    pub section_lock: Option<ObjectId>,
    /// Whether events are committed out of program order.
    pub out_of_order: bool,
    /// Whether a thread goes on after a check that does not hold: checks order nothing, where that matters.
    pub checks_at_end: bool,
    /// The program starts as one thread, whose return ends the process.
    pub is_process: bool,
    /// Whether some access may go in pieces.
    pub in_pieces: bool,
    /// Whether a source says what threads do next: see `native`.
    pub is_native: bool,
    /// Whether objects are made or freed at run time.
    pub uses_objects: bool,
    /// Initial threads: function and arguments.
    pub threads: Vec<(u32, Vec<u64>)>,
    /// Which threads may be equal.
    pub symmetry: Sets,
    /// Which operations were reached.
    pub reached: Reached,
    /// For people.
    pub debug: Debug,
}

/// The register that holds the address of the thread's reservation, 0 if there is none.
pub const RESERVATION: usize = 0;
/// The register that is not zero once a choice and what was read did not agree.
pub const DISAGREED: usize = 1;
/// The register that holds the place of the current frame.
pub const FP: usize = 2;
/// How many objects the thread has made.
pub const ALLOCATIONS: usize = 3;
/// How many threads the thread has started.
pub const SPAWNS: usize = 4;
/// What the thread's outermost function returned.
pub const RESULT: usize = 5;
/// Where events are committed out of order: the first check of the thread that did not hold, as its place plus one.
pub const FAILED: usize = 6;
/// Where the outermost round of a loop began that its author marked, and how many such rounds the thread is in.
pub const ROUND: usize = 7;
/// Registers that belong to no frame.
pub const HIDDEN: usize = 8;
/// Words of registers that a thread may use at most.
pub const MAX_REGISTERS: usize = 1 << 14;
/// Words of a frame before its registers.
pub const FRAME: usize = 3;

/// The register of a frame that an `ir` register becomes.
pub fn frame_reg(reg: fencepost_ir::Reg) -> u16 {
    reg.0 as u16 + FRAME as u16
}

/// The register of an outermost frame, in the whole array.
pub fn outermost_reg(reg: fencepost_ir::Reg) -> usize {
    HIDDEN + frame_reg(reg) as usize
}

impl Code {
    /// What is wrong if the check at `pc` fails.
    pub fn check_at(&self, pc: Pc) -> FaultKind {
        match self.ops[pc as usize] {
            Op::Defined(_) => FaultKind::Undefined,
            Op::Assert { kind, .. } => FaultKind::Fail(kind),
            _ => FaultKind::Fail(FailKind::Assertion),
        }
    }

    /// The operation before which a thread stands that makes an event of the operation at `pc`.
    pub fn stands_at(&self, pc: Pc) -> Pc {
        match self.ops[pc as usize] {
            Op::Load { failure: Some(CasRead { other: Some((other, _)), .. }), .. } => pc.min(other),
            _ => pc,
        }
    }

    /// The function that begins at `entry`.
    pub fn function_at(&self, entry: Pc) -> Option<u32> {
        self.functions.iter().position(|f| f.entry == entry).map(|i| i as u32)
    }
}

impl Undefined {
    /// What a load gives.
    #[inline(always)]
    pub fn taken(self, value: u64) -> u64 {
        match self {
            Undefined::Zero | Undefined::Atomic if value == Value::UNDEFINED.0 => 0,
            _ => value,
        }
    }
}
