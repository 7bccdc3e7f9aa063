//! One table of what each operation does: what it uses and defines, where control goes, whether it may be an event, and how
//! dependencies go through it. Whoever follows operations (liveness, the path trie, the lowering) asks this table; a new
//! operation has a row here, and the compiler asks for it.

use crate::threads::code::{Arg, Op, Pc, PieceOp};
use crate::threads::path::Kind;

/// Where control goes after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goes {
    /// To the next operation.
    On,
    /// There.
    To(Pc),
    /// To the first if the outcome is true, else to the second.
    Either(Pc, Pc),
    /// On if the outcome is true, else there.
    OnOr(Pc),
    /// Not on in this function, or not at all.
    Nowhere,
}

/// How dependencies go through an operation that is no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The destination depends on what the operands depend on.
    Operands,
    /// The destination depends on nothing.
    Constant,
    /// The destination depends on the operand, and on the old value unless that is only exchanged.
    Modified,
    /// The destination depends on the operand that the condition picks, and is picked by it.
    Selected,
    /// The destination depends on the first operand, and is picked by the second.
    Picked,
    /// What comes later depends on the operands as on a branch.
    Control,
    /// A fence stands between what comes before and after it.
    Fence,
    /// It has none, or whoever runs it sees to them: calls, events, private objects.
    None,
}

/// What an operation has to do with a private object of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Private {
    /// Nothing.
    None,
    /// It begins its life; what was in it is gone.
    Begins(u16),
    /// It uses it.
    Uses(u16),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// The register that it writes, 0 if none.
    pub defines: u16,
    /// Its operands.
    pub uses: [Option<Arg>; 3],
    /// More operands, as a list of the code.
    pub list: Option<u32>,
    /// Where control goes.
    pub goes: Goes,
    /// What event it may become.
    pub event: Option<Kind>,
    /// How dependencies go through it.
    pub flow: Flow,
    /// What it has to do with private objects.
    pub private: Private,
    /// Nobody can tell when it happens.
    pub quiet: bool,
    /// It makes an object.
    pub makes: bool,
}

const NOTHING: Effect = Effect {
    defines: 0,
    uses: [None; 3],
    list: None,
    goes: Goes::On,
    event: None,
    flow: Flow::None,
    private: Private::None,
    quiet: false,
    makes: false,
};

/// A computation that nobody can notice.
const LOCAL: Effect = Effect { quiet: true, flow: Flow::Operands, ..NOTHING };

const fn one(a: Arg) -> [Option<Arg>; 3] {
    [Some(a), None, None]
}

const fn two(a: Arg, b: Arg) -> [Option<Arg>; 3] {
    [Some(a), Some(b), None]
}

impl Op {
    /// The row of the operation.
    #[inline(always)]
    pub fn effect(&self) -> Effect {
        use Flow::{Constant, Control, Modified, Operands, Selected};
        let event = |kind: Kind, defines: u16, uses: [Option<Arg>; 3]| Effect {
            event: Some(kind),
            defines,
            uses,
            ..NOTHING
        };
        match *self {
            Op::Move { dst: defines, a } | Op::Unary { dst: defines, a, .. } => {
                Effect { defines, uses: one(a), ..LOCAL }
            }
            Op::Binary { dst: defines, a, b, .. } => Effect { defines, uses: two(a, b), ..LOCAL },
            Op::Modify { dst: defines, old, operand, .. } => {
                Effect { defines, uses: two(Arg::Reg(old), operand), flow: Modified, ..NOTHING }
            }
            Op::Select { dst: defines, condition, a, b } => {
                Effect { defines, uses: [Some(condition), Some(a), Some(b)], flow: Selected, ..LOCAL }
            }
            Op::Picked { dst: defines, a, by } => {
                Effect { defines, uses: two(a, by), flow: Flow::Picked, ..LOCAL }
            }
            Op::Jump(target) => Effect { goes: Goes::To(target), flow: Flow::None, ..LOCAL },
            Op::Branch { condition, then_to, else_to, internal } => Effect {
                uses: one(condition),
                goes: Goes::Either(then_to, else_to),
                flow: if internal { Flow::None } else { Control },
                ..LOCAL
            },
            Op::Outcome { success, failure } => {
                Effect { goes: Goes::Either(success, failure), flow: Flow::None, ..NOTHING }
            }
            Op::BranchReserved { addr, else_to } => {
                Effect { uses: one(addr), goes: Goes::OnOr(else_to), ..NOTHING }
            }
            Op::Reserve(a) => Effect { uses: one(a), ..NOTHING },
            Op::Unreserve | Op::Round(None) => NOTHING,
            Op::Load { dst, addr, failure, .. } => {
                event(Kind::Read, dst, [Some(addr), failure.map(|cas| cas.expected), None])
            }
            Op::Store { addr, value, pick, .. } => event(Kind::Write, 0, [Some(addr), Some(value), pick]),
            Op::Choice { dst, .. } => event(Kind::Choice, dst, [None; 3]),
            Op::Skip { addr, .. } => event(Kind::Skip, 0, one(addr)),
            Op::Birth => event(Kind::Skip, 0, [None; 3]),
            Op::Fence(fence) => Effect { flow: Flow::Fence, ..event(Kind::Fence(fence), 0, [None; 3]) },
            Op::Spawn { dst, target, args } => {
                Effect { list: Some(args), ..event(Kind::Spawn, dst, [target.operand(), None, None]) }
            }
            Op::Join { dst, thread } => Effect { quiet: dst == 0, ..event(Kind::Join, dst, one(thread)) },
            Op::Free { addr, .. } => event(Kind::Free, 0, one(addr)),
            Op::EndThread { .. } => event(Kind::Free, 0, [None; 3]),
            // Like a branch to a place that is never left. An assertion is not: release builds do not have it.
            Op::Assume(a) | Op::Wait(a) | Op::Round(Some(a)) => {
                Effect { uses: one(a), flow: Control, ..NOTHING }
            }
            // Where one fails in a tail of joins, the tail does not end, and is run after all (`finish`).
            Op::Assert { condition: a, .. } | Op::Defined(a) => {
                Effect { uses: one(a), quiet: true, ..NOTHING }
            }
            Op::Agree { a, .. } => Effect { uses: one(a), ..NOTHING },
            Op::Fail(_) | Op::Halt | Op::Cut { .. } => Effect { goes: Goes::Nowhere, ..NOTHING },
            Op::Call { dst: defines, target, args } => {
                Effect { defines, uses: [target.operand(), None, None], list: Some(args), ..NOTHING }
            }
            Op::Return(value) => {
                Effect { uses: [value, None, None], goes: Goes::Nowhere, flow: Flow::None, ..LOCAL }
            }
            Op::Exit(value) => Effect { uses: [value, None, None], goes: Goes::Nowhere, ..NOTHING },
            Op::SelfThread { dst: defines }
            | Op::EnterLoop { dst: defines }
            | Op::ThreadLocal { dst: defines, .. } => Effect { defines, flow: Constant, ..NOTHING },
            Op::Local { dst: defines, .. } => Effect { defines, flow: Constant, makes: true, ..NOTHING },
            Op::Alloc { dst: defines, size, .. } => {
                Effect { defines, uses: one(size), flow: Operands, makes: true, ..NOTHING }
            }
            Op::LoadPiece { dst, addr, at, .. } => event(Kind::Read, dst, two(addr, Arg::Reg(at))),
            Op::StorePiece { addr, at, value, .. } => {
                event(Kind::Write, 0, [Some(addr), Some(Arg::Reg(value)), Some(Arg::Reg(at))])
            }
            // Where the cells are depends on nothing that is read; the values do.
            Op::Piece { what, dst: defines, a, b, place, .. } => {
                let flow = match what {
                    PieceOp::Gather(_) | PieceOp::Merge => Operands,
                    PieceOp::Fits | PieceOp::Covers | PieceOp::Advance => Constant,
                };
                Effect { defines, uses: two(a, b), list: Some(place), flow, ..NOTHING }
            }
            Op::ObjectSize { dst: defines, addr: a } | Op::Owns { dst: defines, a } => {
                Effect { defines, uses: one(a), flow: Operands, ..NOTHING }
            }
            Op::Private { dst: defines, object } => {
                Effect { defines, private: Private::Begins(object), flow: Flow::None, ..LOCAL }
            }
            Op::PrivateEnd { object } => Effect { private: Private::Uses(object), flow: Flow::None, ..LOCAL },
            Op::PrivateLoad { dst: defines, object, addr, .. } => {
                Effect { defines, uses: one(addr), private: Private::Uses(object), flow: Flow::None, ..LOCAL }
            }
            Op::PrivateStore { object, addr, value, .. } => {
                Effect { uses: two(addr, value), private: Private::Uses(object), flow: Flow::None, ..LOCAL }
            }
        }
    }

    /// What may become an event.
    #[inline(always)]
    pub fn is_event(&self) -> bool {
        self.effect().event.is_some()
    }

    /// Where control may go other than to the next operation.
    pub fn targets(&self) -> [Option<Pc>; 2] {
        match self.effect().goes {
            Goes::To(target) | Goes::OnOr(target) => [Some(target), None],
            Goes::Either(then_to, else_to) => [Some(then_to), Some(else_to)],
            Goes::On | Goes::Nowhere => [None, None],
        }
    }

    /// Whether control goes on to the next operation.
    pub fn falls_through(&self) -> bool {
        matches!(self.effect().goes, Goes::On | Goes::OnOr(_))
    }

    /// The register that it writes, 0 if none.
    #[inline(always)]
    pub fn defines(&self) -> u16 {
        self.effect().defines
    }

    /// Calls `used` for each operand.
    pub fn for_each_use(&self, lists: &[Vec<Arg>], mut used: impl FnMut(Arg)) {
        let effect = self.effect();
        effect.uses.into_iter().flatten().for_each(&mut used);
        if let Some(list) = effect.list {
            lists[list as usize].iter().copied().for_each(used);
        }
    }
}
