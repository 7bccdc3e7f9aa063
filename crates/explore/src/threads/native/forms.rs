//! The code of native threads: a loop around one operation of each form.
//!
//! ```text
//! next:   cut                      here the source says what comes, as a form and operands in registers
//! head:   by the form: to its operations
//! form f: load, store, fence ...   ordinary operations; then next
//! ```
//! Whatever looks at operations (paths, models, revisits, sleep) sees ordinary ones. What the registers hold is for the operations of this
//! file; that a thread is where it was cannot be seen by them, so that no operation has live registers (`liveness.rs`).

use crate::threads::code::{Arg, CasRead, Code, FRAME, FunctionCode, Half, Op, Pc, Target, Undefined};
use crate::threads::coverage::Reached;
use crate::threads::lower::Purpose;
use crate::threads::names::Debug;
use fencepost_ir::{Ann, BinaryOp, Extend, Fence, Order, Program, Width};
use rustc_hash::FxHashMap;

/// Registers of the frame, by what they hold.
pub const FORM: u16 = FRAME as u16;
/// The address.
pub const ADDR: u16 = FORM + 1;
/// What is written or combined with what is there, or the thread to join.
pub const OPERAND: u16 = FORM + 2;
/// What a compare-exchange expects, or a wait waits for.
pub const EXPECTED: u16 = FORM + 3;
/// What was read.
pub const OLD: u16 = FORM + 4;
/// What a read-modify-write writes.
pub const NEW: u16 = FORM + 5;
/// Whether a compare-exchange succeeds.
pub const SAME: u16 = FORM + 6;
/// The state of the thread: the number of the step.
pub const STATE: u16 = FORM + 7;
/// Where the round began that the thread is in, and the one before.
pub const ROUND: u16 = FORM + 8;
/// The round before.
pub const EARLIER: u16 = FORM + 9;
/// The bits that a wait looks at.
pub const MASK: u16 = FORM + 10;
/// Whether it waits for another value than the expected one.
pub const OTHER: u16 = FORM + 11;
/// How a read-modify-write combines.
pub const COMBINE: u16 = FORM + 12;
/// What the step was, as a number: a run that is made again must ask for the same.
pub const CHECK: u16 = FORM + 13;
/// Whether it waits for a larger value, too.
pub const LARGER: u16 = FORM + 14;
const BIT: u16 = FORM + 15;
const WORDS: u16 = FORM + 16;

const LEVELS: u32 = 6;

/// The first operation: from here a thread comes to the cut.
const ENTRY: Pc = 0;
/// Where the source is asked.
pub const CUT: Pc = 2;

/// An operation with its orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Form {
    Load(Order),
    Store(Order),
    Rmw(Order),
    /// Success, failure, and whether it may fail without a reason.
    Exchange(Order, Order, bool),
    Await(Order),
    AwaitRmw(Order),
    Fence(Order),
    Choose,
    Spawn,
    Join,
    End,
}

/// The forms of a lowered program, by number.
#[derive(Debug, Default)]
pub struct Forms {
    numbers: FxHashMap<Form, u64>,
}

impl Forms {
    /// The number of a form; nothing if there is no such operation.
    pub fn number(&self, form: Form) -> Option<u64> {
        self.numbers.get(&form).copied()
    }
}

/// All forms.
fn all() -> Vec<Form> {
    let rmw = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
    let reads = [Order::Relaxed, Order::Acquire, Order::SeqCst];
    let mut forms = vec![
        Form::Choose,
        Form::Spawn,
        Form::Join,
        Form::End,
        Form::Load(Order::Plain),
        Form::Store(Order::Plain),
    ];
    forms.extend(reads.map(Form::Load));
    forms.extend([Order::Relaxed, Order::Release, Order::SeqCst].map(Form::Store));
    forms.extend(rmw.map(Form::Rmw));
    forms.extend(reads.map(Form::Await));
    forms.extend(rmw.map(Form::AwaitRmw));
    forms.extend([Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst].map(Form::Fence));
    let exchanges = |weak| rmw.into_iter().flat_map(move |s| reads.map(|f| Form::Exchange(s, f, weak)));
    forms.extend(exchanges(false).chain(exchanges(true)));
    forms
}

/// The orders of the two halves of a read-modify-write.
fn halves(order: Order) -> (Ann, Ann) {
    let (read, write) = match order {
        Order::Acquire => (order, Order::Relaxed),
        Order::Release => (Order::Relaxed, order),
        Order::AcqRel => (Order::Acquire, Order::Release),
        other => (other, other),
    };
    (Ann::order(read), Ann::order(write))
}

/// The code that native threads run, for a model that wants it for this purpose. `compiled`: it is a model of hardware, TSO, for which a store
/// of the order SeqCst is compiled to a store and a fence (`models::mapping`).
pub fn code(program: &Program, purpose: Purpose, compiled: bool) -> (Code, Forms) {
    let mut writer = Writer { ops: Vec::new(), waits: Vec::new(), races: purpose.races, compiled };
    // From a cut the thread goes on with the operation before it.
    writer.ops.extend([Op::Jump(CUT), Op::Jump(CUT + 1), Op::Cut { entered: 0 }]);
    let forms = all();
    // Branches of the tree first, since they know where they lead only when the forms are there.
    let tree = writer.tree(LEVELS);
    let mut starts = vec![CUT; 1 << LEVELS];
    for (number, &form) in (1..).zip(&forms) {
        starts[number] = writer.here();
        writer.form(form);
        writer.ops.push(Op::Jump(CUT));
    }
    for (branch, number) in tree {
        let Op::Branch { then_to, else_to, .. } = &mut writer.ops[branch] else { continue };
        (*then_to, *else_to) = (starts[number + 1], starts[number]);
    }
    let ops = writer.ops;
    let mut waits = vec![false; ops.len()];
    writer.waits.iter().for_each(|&pc| waits[pc as usize] = true);
    let code = Code {
        defines: ops.iter().map(Op::defines).collect(),
        source: (0..ops.len() as u32).map(|pc| (0, pc)).collect(),
        functions: vec![FunctionCode { entry: ENTRY, frame: WORDS, params: 0 }],
        lists: vec![Vec::new()],
        live: vec![None; ops.len()],
        may_wait: waits,
        tails: vec![false; ops.len()],
        threads: vec![(0, Vec::new())],
        reached: Reached::new(ops.len()),
        debug: Debug::new(program),
        is_native: true,
        ops,
        ..Code::default()
    };
    let numbers = (1..).zip(forms).map(|(number, form)| (form, number)).collect();
    (code, Forms { numbers })
}

struct Writer {
    ops: Vec<Op>,
    /// Loads that wait.
    waits: Vec<Pc>,
    /// Whether the model has races: then what a fence orders must be seen between two events.
    races: bool,
    compiled: bool,
}

const WIDTH: Width = Width::W64;

impl Writer {
    fn here(&self) -> Pc {
        self.ops.len() as Pc
    }

    /// Branches on the low bits of the form. Gives back those of the last level, each with the even number that it decides.
    fn tree(&mut self, levels: u32) -> Vec<(usize, usize)> {
        self.subtree(levels - 1, 0)
    }

    fn subtree(&mut self, bit: u32, number: usize) -> Vec<(usize, usize)> {
        self.binary(BinaryOp::And, BIT, FORM, Arg::Const(1 << bit));
        let at = self.ops.len();
        let branch =
            |then_to, else_to| Op::Branch { condition: Arg::Reg(BIT), then_to, else_to, internal: true };
        self.ops.push(branch(0, 0));
        if bit == 0 {
            return vec![(at, number)];
        }
        let else_to = self.here();
        let mut leaves = self.subtree(bit - 1, number);
        let then_to = self.here();
        leaves.extend(self.subtree(bit - 1, number | 1 << bit));
        self.ops[at] = branch(then_to, else_to);
        leaves
    }

    fn binary(&mut self, op: BinaryOp, dst: u16, a: u16, b: Arg) {
        self.ops.push(Op::Binary { op, width: WIDTH, extend: Extend::Zero, dst, a: Arg::Reg(a), b });
    }

    fn load(&mut self, ann: Ann, half: Half, failure: Option<CasRead>) {
        let (dst, addr, width, extend) = (OLD, Arg::Reg(ADDR), WIDTH, Extend::Zero);
        self.ops.push(Op::Load {
            dst,
            addr,
            width,
            extend,
            ann,
            half,
            failure,
            undefined: Undefined::Atomic,
        });
    }

    fn store(&mut self, value: u16, ann: Ann, half: Half, pick: Option<Arg>) {
        self.ops.push(Op::Store {
            addr: Arg::Reg(ADDR),
            value: Arg::Reg(value),
            width: WIDTH,
            ann,
            half,
            pick,
        });
    }

    /// A cut at which what was read is combined with the operand, and the store of that.
    fn combine(&mut self, write: Ann) {
        let at = self.here();
        self.ops.extend([Op::Jump(at + 2), Op::Jump(at + 3), Op::Cut { entered: 0 }]);
        self.store(NEW, write, Half::Amo, None);
    }

    fn wait(&mut self, ann: Ann, half: Half) {
        self.waits.push(self.here());
        self.load(ann, half, None);
        self.binary(BinaryOp::And, BIT, OLD, Arg::Reg(MASK));
        self.binary(BinaryOp::Eq, BIT, BIT, Arg::Reg(EXPECTED));
        self.binary(BinaryOp::Xor, BIT, BIT, Arg::Reg(OTHER));
        self.binary(BinaryOp::GeU, SAME, OLD, Arg::Reg(EXPECTED));
        self.binary(BinaryOp::And, SAME, SAME, Arg::Reg(LARGER));
        self.binary(BinaryOp::Or, BIT, BIT, Arg::Reg(SAME));
        self.ops.push(Op::Wait(Arg::Reg(BIT)));
    }

    /// Marks what stands before or behind a fence that is no event.
    fn mark(&mut self, marks: bool) {
        if marks && self.races {
            self.ops.push(Op::Birth);
        }
    }

    fn form(&mut self, form: Form) {
        match form {
            Form::Load(order) => self.load(Ann::order(order), Half::None, None),
            Form::Store(order) => {
                self.store(OPERAND, Ann::order(order), Half::None, None);
                if self.compiled && order == Order::SeqCst {
                    self.ops.push(Op::Fence(Fence::C11(order)));
                }
            }
            Form::Rmw(order) => {
                let (read, write) = halves(order);
                self.load(read, Half::Amo, None);
                self.combine(write);
            }
            Form::Await(order) => self.wait(Ann::order(order), Half::None),
            Form::AwaitRmw(order) => {
                let (read, write) = halves(order);
                self.wait(read, Half::Waiting);
                self.combine(write);
            }
            Form::Fence(order) => {
                // A step has an event, or it could not be told from the next one.
                if self.compiled {
                    self.ops.push(Op::Birth);
                }
                self.mark(order.releases() && order != Order::SeqCst);
                self.ops.push(Op::Fence(Fence::C11(order)));
                self.mark(order.acquires() && order != Order::SeqCst);
            }
            Form::Exchange(success, failure, weak) => self.exchange(success, failure, weak),
            Form::Choose => self.ops.push(Op::Choice { dst: SAME, first: 0, count: 2, exchange: false }),
            Form::Spawn => self.ops.push(Op::Spawn { dst: OLD, target: Target::Function(0), args: 0 }),
            Form::Join => self.ops.push(Op::Join { dst: 0, thread: Arg::Reg(OPERAND) }),
            // So that what a thread did last comes before an event, too.
            Form::End => self.ops.extend([Op::Birth, Op::Return(None)]),
        }
    }

    /// As `lower/exchange.rs` has it where events are committed in program order.
    fn exchange(&mut self, success: Order, failure: Order, weak: bool) {
        let (read, write) = halves(success);
        let failure = Ann::order(failure);
        let mut leave = None;
        if weak {
            self.ops.push(Op::Choice { dst: SAME, first: 0, count: 2, exchange: false });
            let branch = self.ops.len();
            let then_to = self.here() + 1;
            self.ops.push(Op::Jump(0));
            // No write follows, whatever is read; and it must be what was expected.
            self.load(failure, Half::Waiting, None);
            self.binary(BinaryOp::Eq, SAME, OLD, Arg::Reg(EXPECTED));
            self.ops.push(Op::Agree { a: Arg::Reg(SAME), b: true });
            leave = Some(self.ops.len());
            self.ops.push(Op::Jump(0));
            let else_to = self.here();
            self.ops[branch] = Op::Branch { condition: Arg::Reg(SAME), then_to, else_to, internal: true };
        }
        let expected = Arg::Reg(EXPECTED);
        self.load(read, Half::Amo, Some(CasRead { expected, ann: failure, other: None }));
        self.binary(BinaryOp::Eq, SAME, OLD, expected);
        let at = self.here();
        self.ops.push(Op::Branch {
            condition: Arg::Reg(SAME),
            then_to: at + 1,
            else_to: at + 2,
            internal: true,
        });
        self.store(OPERAND, write, Half::Amo, Some(expected));
        if let Some(leave) = leave {
            self.ops[leave] = Op::Jump(self.here());
        }
    }
}
