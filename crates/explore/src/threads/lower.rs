//! Lowering: `ir` functions become operations (`code.rs`).

mod exchange;

use self::exchange::Cas;
use crate::reductions::pairs::{Part, paired_exclusives};
use crate::threads::code::{
    Arg, Code, FRAME, FunctionCode, Half, Op, Pc, PrivateObject, Target, Undefined, frame_reg,
};
use crate::threads::coverage::Reached;
use crate::threads::liveness::{live_registers, may_wait, repeats_reads};
use crate::threads::names::Debug;
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, Fence, Function, Instr, Label, Observable, Operand, Order, Program,
    Property, Reg, Rvalue, Until, Width, private::private_objects,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Something that this engine does not run.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// What it is.
    pub what: &'static str,
    /// Where.
    pub span: fencepost_ir::Span,
}

/// What the lowered program is for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Purpose {
    /// Events are committed out of program order.
    pub out_of_order: bool,
    /// The model looks at dependencies.
    pub dependencies: bool,
    /// The model has races.
    pub races: bool,
    /// Load- and store-exclusives may be one read-modify-write.
    pub pairs: bool,
    /// Whether a program with compare-exchanges by one instruction may be explored in program order.
    pub exchanges_in_order: bool,
}

/// Lowers a program. The accesses of `mixed` go in pieces where they must.
pub fn lower(
    program: &Program,
    purpose: Purpose,
    mixed: &FxHashSet<(u32, u32)>,
) -> Result<Code, Unsupported> {
    let mut code = Code::default();
    let mut counters = Vec::new();
    for (index, function) in program.functions.iter().enumerate() {
        let entry = code.ops.len() as Pc;
        let mut lowering = Lowering {
            function,
            code: &mut code,
            index: index as u32,
            regs: (function.regs.len() + FRAME) as u16,
            starts: Vec::new(),
            private: Vec::new(),
            entered: FxHashMap::default(),
            paired: if purpose.dependencies && purpose.pairs {
                paired_exclusives(function)
            } else {
                FxHashMap::default()
            },
            purpose,
            ends_objects: ends_objects(program),
            marks_births: purpose.races && has_release_fence(program),
            mixed,
        };
        lowering.place_private_objects();
        lowering.run()?;
        let entered: Vec<u16> = lowering.entered.values().copied().collect();
        let frame = lowering.regs;
        code.functions.push(FunctionCode { entry, frame, params: function.params as u16 });
        let counter = |(i, name): (usize, &String)| is_counter(name).then_some((i + FRAME) as u16);
        let own = function.regs.iter().enumerate().filter_map(counter);
        counters.push(own.chain(entered).collect::<Vec<u16>>());
    }
    code.is_process = program.is_process();
    code.debug = Debug::new(program);
    (code.out_of_order, code.checks_at_end) = (purpose.out_of_order, purpose.dependencies);
    code.in_pieces = !mixed.is_empty();
    let lives = |op: &Op| matches!(op, Op::Free { .. } | Op::Alloc { .. } | Op::EndThread { .. });
    code.uses_objects = code.ops.iter().any(lives);
    code.reached = Reached::new(code.ops.len());
    code.defines = code.ops.iter().map(Op::defines).collect();
    code.live = live_registers(&code, &counters, &observed_registers(program));
    (code.repeats_reads, code.repeats_plain_reads) = repeats_reads(&code);
    code.tails = vec![false; code.ops.len()];
    code.may_wait = may_wait(&code);
    for thread in &program.threads {
        code.threads.push((thread.function.0, thread.args.iter().map(|v| v.0).collect()));
    }
    Ok(code)
}

/// Whether a register of that name counts the iterations that a loop has left; see `fencepost_ir::unroll`.
fn is_counter(name: &str) -> bool {
    name.starts_with("loop@")
}

/// Per function: the registers that the final condition asks for at the end of a thread.
fn observed_registers(program: &Program) -> Vec<Vec<u16>> {
    let mut observed = vec![Vec::new(); program.functions.len()];
    if let Property::Final(condition) = &program.property {
        for observable in &condition.observed {
            if let Observable::Register { thread, reg } = *observable
                && let Some(thread) = program.threads.get(thread.0 as usize)
            {
                observed[thread.function.0 as usize].push(frame_reg(reg));
            }
        }
    }
    observed
}

/// A release fence is no event, and what happens before it happens before whoever acquires from a store behind it: it must
/// be an event then that an object was made.
fn has_release_fence(program: &Program) -> bool {
    let is =
        |instr: &Instr| matches!(instr, Instr::Fence(fence) if !matches!(fence, Fence::C11(Order::SeqCst)));
    program.functions.iter().flat_map(|f| &f.body).any(is)
}

/// What ends with a thread: local objects where it exits, thread-local ones however it ends.
#[derive(Clone, Copy)]
struct EndsObjects {
    at_exit: bool,
    at_return: bool,
}

fn ends_objects(program: &Program) -> EndsObjects {
    let any = |is: fn(&Instr) -> bool| program.functions.iter().flat_map(|f| &f.body).any(is);
    let at_return = any(|instr| matches!(instr, Instr::ThreadLocal { .. }));
    EndsObjects { at_exit: at_return || any(|instr| matches!(instr, Instr::Local { .. })), at_return }
}

pub(crate) struct Lowering<'a> {
    function: &'a Function,
    pub(crate) code: &'a mut Code,
    index: u32,
    /// Words of the frame so far.
    regs: u16,
    /// Where each instruction begins.
    starts: Vec<Pc>,
    /// For each instruction: the private object, by its number in `Code::privates`, that it is about.
    private: Vec<Option<u16>>,
    /// By the counter of a bounded loop: the register that says where the loop was entered.
    entered: FxHashMap<Option<Reg>, u16>,
    purpose: Purpose,
    /// Exclusives that are read-modify-writes.
    paired: FxHashMap<usize, Part>,
    ends_objects: EndsObjects,
    marks_births: bool,
    mixed: &'a FxHashSet<(u32, u32)>,
}

/// A mutex cell: 0 when free, the owner's number plus one otherwise.
const MUTEX: Width = Width::W32;
const LABEL: Pc = 1 << 31;

fn label(target: Label) -> Pc {
    target.0 | LABEL
}

pub(crate) fn arg(operand: Operand) -> Arg {
    match operand {
        Operand::Reg(reg) => Arg::Reg(frame_reg(reg)),
        Operand::Const(value) => Arg::Const(value.0),
    }
}

/// What a load makes of a value that nobody wrote.
pub(crate) fn undefined(instr: &Instr) -> Undefined {
    match instr {
        Instr::CopyLoad { keeps: true, .. } => Undefined::Kept,
        Instr::CopyLoad { keeps: false, .. } => Undefined::Zero,
        Instr::Load { ann, .. } if ann.order != Order::Plain || ann.exclusive => Undefined::Atomic,
        _ => Undefined::Mistake,
    }
}

fn destination(reg: Option<Reg>) -> u16 {
    reg.map_or(0, frame_reg)
}

impl Lowering<'_> {
    fn run(&mut self) -> Result<(), Unsupported> {
        let first = self.code.ops.len();
        for (at, instr) in self.function.body.iter().enumerate() {
            self.starts.push(self.here());
            self.instruction(at, instr)?;
            self.code.source.resize(self.code.ops.len(), (self.index, at as u32));
        }
        self.starts.push(self.here());
        self.leave(Op::Return(None));
        self.code.source.resize(self.code.ops.len(), (self.index, self.function.body.len() as u32));
        self.resolve_labels(first);
        Ok(())
    }

    /// Gives private objects their words of the frame. Cells that overlap, very many, and those that are accessed with
    /// other sizes, stay in memory.
    fn place_private_objects(&mut self) {
        let found = private_objects(self.function);
        let mut numbers = Vec::new();
        for &at in &found.made_by {
            let Instr::Local { object, .. } = &self.function.body[at as usize] else { continue };
            let overlap = object.cells.windows(2).any(|w| w[0].offset + w[0].width.bytes() > w[1].offset);
            let number = found.made_by.iter().position(|&made| made == at).map(|k| k as u32);
            let accesses = (0..).zip(&found.object).filter(|(_, object)| **object == number);
            let mixed = accesses.into_iter().any(|(at, _)| self.mixed.contains(&(self.index, at)));
            if overlap || mixed || object.constant || object.cells.len() > PrivateObject::MAX_CELLS {
                numbers.push(None);
                continue;
            }
            let private = PrivateObject { at: self.regs, object: (**object).clone() };
            self.regs += private.words();
            numbers.push(Some(self.code.privates.len() as u16));
            self.code.privates.push(private);
        }
        self.private = found.object.iter().map(|k| numbers[(*k)? as usize]).collect();
    }

    /// An instruction about a private object.
    fn private_object(&mut self, object: u16, instr: &Instr) {
        match *instr {
            Instr::Local { dst, .. } => self.push(Op::Private { dst: frame_reg(dst), object }),
            Instr::Load { dst, addr, width, extend, .. }
            | Instr::CopyLoad { dst, addr, width, extend, .. } => {
                let (dst, addr, undefined) = (frame_reg(dst), arg(addr), undefined(instr));
                self.push(Op::PrivateLoad { dst, object, addr, width, extend, undefined });
            }
            Instr::Store { addr, value, width, .. } => {
                self.push(Op::PrivateStore { object, addr: arg(addr), value: arg(value), width });
            }
            Instr::EndLocal(_) => self.push(Op::PrivateEnd { object }),
            _ => {}
        }
    }

    pub(crate) fn temporary(&mut self) -> u16 {
        self.regs += 1;
        self.regs - 1
    }

    pub(crate) fn push(&mut self, op: Op) {
        self.code.ops.push(op);
    }

    pub(crate) fn here(&self) -> Pc {
        self.code.ops.len() as Pc
    }

    /// Jumps of the source were lowered with instruction numbers as targets, tagged by the high bit.
    fn resolve_labels(&mut self, first: usize) {
        let starts = &self.starts;
        let resolve = |target: &mut Pc| {
            if *target & LABEL != 0 {
                *target = starts[(*target & !LABEL) as usize];
            }
        };
        for op in &mut self.code.ops[first..] {
            match op {
                Op::Jump(target) => resolve(target),
                Op::Branch { then_to, else_to, .. } => {
                    resolve(then_to);
                    resolve(else_to);
                }
                _ => {}
            }
        }
    }

    fn instruction(&mut self, at: usize, instr: &Instr) -> Result<(), Unsupported> {
        if let Some(object) = self.private[at] {
            self.private_object(object, instr);
            return Ok(());
        }
        if self.mixed.contains(&(self.index, at as u32)) && self.in_pieces(instr) {
            return Ok(());
        }
        if let Some(&part) = self.paired.get(&at) {
            self.paired(part, instr);
            return Ok(());
        }
        match *instr {
            Instr::Assign { dst, value } => {
                self.assign(frame_reg(dst), value);
                if matches!(value, Rvalue::Use(_)) && is_counter(&self.function.regs[dst.0 as usize]) {
                    let dst = self.entered_register(dst);
                    self.push(Op::EnterLoop { dst });
                }
            }
            Instr::Load { dst, addr, width, extend, ann }
            | Instr::CopyLoad { dst, addr, width, extend, ann, .. } => {
                self.load(dst, arg(addr), (width, extend), ann, undefined(instr))
            }
            Instr::Defined(value) => self.push(Op::Defined(arg(value))),
            Instr::Store { addr, value, width, ann } => self.store(arg(addr), arg(value), width, ann),
            Instr::StoreExclusive { .. } => self.store_exclusive(instr),
            Instr::Rmw { .. } => self.read_modify_write(instr),
            Instr::CompareExchange { .. } => self.compare_exchange(instr),
            Instr::Fence(fence) => self.push(Op::Fence(fence)),
            Instr::Jump(target) => self.push(Op::Jump(label(target))),
            Instr::Branch { condition, then_to, else_to } => {
                let (then_to, else_to) = (label(then_to), label(else_to));
                self.push(Op::Branch { condition: arg(condition), then_to, else_to, internal: false });
            }
            Instr::Return(value) => self.leave(Op::Return(value.map(arg))),
            Instr::Assume(condition) => self.push(Op::Assume(arg(condition))),
            Instr::Round(condition) => self.push(Op::Round(condition.map(arg))),
            Instr::Assert { condition, kind, .. } => {
                self.push(Op::Assert { condition: arg(condition), kind })
            }
            Instr::Fail { kind, .. } => self.push(Op::Fail(kind)),
            Instr::Nondet { dst, first, last } => {
                let count = last
                    .checked_sub(first)
                    .and_then(|n| u32::try_from(n).ok())
                    .and_then(|n| n.checked_add(1));
                let Some(count) = count.filter(|&n| n <= 1 << 16) else {
                    let what = "a nondeterministic choice among more than 65,536 values";
                    return Err(Unsupported { what, span: self.function.spans[at] });
                };
                self.push(Op::Choice { dst: frame_reg(dst), first, count, exchange: false });
            }
            Instr::Cut => {
                let entered = self.entered.get(&self.counter_before(at)).copied().unwrap_or(0);
                self.push(Op::Cut { entered });
            }
            Instr::Lock(_) | Instr::Unlock(_) | Instr::TryLock { .. } => self.mutex(instr),
            Instr::Await { .. } | Instr::AwaitRmw { .. } => self.wait(instr),
            // One global lock: see docs/LIMITS.md.
            Instr::AtomicBegin | Instr::AtomicEnd => {
                let what = "an atomic section";
                return Err(Unsupported { what, span: self.function.spans[at] });
            }
            _ => self.threads_and_objects(instr),
        }
        Ok(())
    }

    /// The register that says where the loop with this counter was entered.
    fn entered_register(&mut self, counter: Reg) -> u16 {
        let next = self.regs;
        let register = *self.entered.entry(Some(counter)).or_insert(next);
        self.regs += u16::from(register == next);
        register
    }

    /// The counter of the loop that the cut at this place bounds: `ir::unroll` puts the branch on it three places before.
    fn counter_before(&self, at: usize) -> Option<Reg> {
        match self.function.body.get(at.checked_sub(3)?)? {
            Instr::Branch { condition: Operand::Reg(reg), .. }
                if is_counter(&self.function.regs[reg.0 as usize]) =>
            {
                Some(*reg)
            }
            _ => None,
        }
    }

    pub(crate) fn load(
        &mut self,
        dst: Reg,
        addr: Arg,
        (width, extend): (Width, Extend),
        ann: Ann,
        undefined: Undefined,
    ) {
        let half = if ann.exclusive { Half::Exclusive } else { Half::None };
        // Before the load, which may overwrite the register that holds its address.
        if ann.exclusive {
            self.push(Op::Reserve(addr));
        }
        let dst = frame_reg(dst);
        self.push(Op::Load { dst, addr, width, extend, ann, half, failure: None, undefined });
    }

    pub(crate) fn store(&mut self, addr: Arg, value: Arg, width: Width, ann: Ann) {
        self.push(Op::Store { addr, value, width, ann, half: Half::None, pick: None });
    }

    fn threads_and_objects(&mut self, instr: &Instr) {
        match instr {
            Instr::Call { dst, callee, args } => {
                let (dst, target, args) = (destination(*dst), self.target(*callee), self.list(args));
                self.push(Op::Call { dst, target, args });
            }
            Instr::Spawn { dst, callee, args } => {
                let (dst, target, args) = (destination(*dst), self.target(*callee), self.list(args));
                self.push(Op::Spawn { dst, target, args });
            }
            Instr::Join { thread, dst } => {
                self.push(Op::Join { dst: destination(*dst), thread: arg(*thread) })
            }
            Instr::SelfThread { dst } => self.push(Op::SelfThread { dst: frame_reg(*dst) }),
            Instr::Exit(value) => self.leave(Op::Exit(value.map(arg))),
            Instr::Halt => self.push(Op::Halt),
            Instr::Alloc { dst, size, zeroed } => {
                self.push(Op::Alloc { dst: frame_reg(*dst), size: arg(*size), zeroed: *zeroed });
                self.birth();
            }
            Instr::Local { dst, object, .. } => {
                self.code.templates.push((**object).clone());
                let template = self.code.templates.len() as u32 - 1;
                self.push(Op::Local { dst: frame_reg(*dst), template });
                self.birth();
            }
            Instr::ThreadLocal { dst, object } => {
                self.push(Op::ThreadLocal { dst: frame_reg(*dst), object: object.0 })
            }
            Instr::Free(addr) => self.push(Op::Free { addr: arg(*addr), scope: false }),
            Instr::EndLocal(addr) => self.push(Op::Free { addr: arg(*addr), scope: true }),
            Instr::ObjectSize { dst, addr } => {
                self.push(Op::ObjectSize { dst: frame_reg(*dst), addr: arg(*addr) })
            }
            _ => unreachable!("lowered elsewhere: {instr:?}"),
        }
    }

    fn birth(&mut self) {
        if self.marks_births {
            self.push(Op::Birth);
        }
    }

    /// What may end the thread, and before it the end of its objects.
    fn leave(&mut self, op: Op) {
        let exits = matches!(op, Op::Exit(_));
        if if exits { self.ends_objects.at_exit } else { self.ends_objects.at_return } {
            self.push(Op::EndThread { exits });
        }
        self.push(op);
    }

    fn target(&self, callee: Callee) -> Target {
        match callee {
            Callee::Function(function) => Target::Function(function.0),
            Callee::Pointer(pointer) => Target::Pointer(arg(pointer)),
        }
    }

    pub(crate) fn list(&mut self, args: &[Operand]) -> u32 {
        self.code.lists.push(args.iter().copied().map(arg).collect());
        self.code.lists.len() as u32 - 1
    }

    fn assign(&mut self, dst: u16, value: Rvalue) {
        self.push(match value {
            Rvalue::Use(a) => Op::Move { dst, a: arg(a) },
            Rvalue::Unary(op, width, extend, a) => Op::Unary { op, width, extend, dst, a: arg(a) },
            Rvalue::Binary(op, width, extend, a, b) => {
                Op::Binary { op, width, extend, dst, a: arg(a), b: arg(b) }
            }
            Rvalue::Select(condition, a, b) => {
                Op::Select { dst, condition: arg(condition), a: arg(a), b: arg(b) }
            }
        });
    }

    /// choice = fail | succeed; on success the store; then the status, which depends on the choice and orders nothing.
    /// Without a reservation it fails.
    fn store_exclusive(&mut self, instr: &Instr) {
        let &Instr::StoreExclusive { status, success, addr, value, width, ann } = instr else { return };
        let (status, addr, value) = (frame_reg(status), arg(addr), arg(value));
        let choice = self.temporary();
        let start = self.here();
        self.push(Op::BranchReserved { addr, else_to: start + 8 });
        self.push(Op::Choice { dst: choice, first: 0, count: 2, exchange: false });
        let condition = Arg::Reg(choice);
        self.push(Op::Branch { condition, then_to: start + 3, else_to: start + 5, internal: true });
        self.push(Op::Store { addr, value, width, ann, half: Half::Exclusive, pick: None });
        self.push(Op::Jump(start + 6));
        self.push(Op::Skip { addr, width });
        let fail = Arg::Const(1 - u64::from(success));
        let (op, width, extend) = (BinaryOp::Xor, Width::W64, Extend::Zero);
        self.push(Op::Binary { op, width, extend, dst: status, a: condition, b: fail });
        self.push(Op::Jump(start + 9));
        self.push(Op::Move { dst: status, a: fail });
        self.push(Op::Unreserve);
    }

    /// An exclusive of a pair; `paired.rs`.
    fn paired(&mut self, part: Part, instr: &Instr) {
        match (part, instr) {
            (Part::Load { perhaps }, &Instr::Load { dst, addr, width, extend, ann }) => {
                let half = if perhaps { Half::Waiting } else { Half::Amo };
                self.amo_load(frame_reg(dst), arg(addr), width, extend, ann, half);
            }
            (Part::Store, &Instr::StoreExclusive { status, addr, value, width, ann, .. }) => {
                let (addr, value) = (arg(addr), arg(value));
                self.push(Op::Store { addr, value, width, ann, half: Half::Amo, pick: None });
                self.push(Op::Move { dst: frame_reg(status), a: Arg::Const(1) });
            }
            _ => unreachable!("no exclusive: {instr:?}"),
        }
    }

    fn read_modify_write(&mut self, instr: &Instr) {
        let &Instr::Rmw { dst, addr, width, extend, op, operand, read, write } = instr else { return };
        let (addr, operand) = (arg(addr), arg(operand));
        let (old, new) = (self.temporary(), self.temporary());
        self.amo_load(old, addr, width, extend, read, Half::Amo);
        self.push(Op::Modify { op, width, dst: new, old, operand });
        self.push(Op::Store { addr, value: Arg::Reg(new), width, ann: write, half: Half::Amo, pick: None });
        if let Some(dst) = dst {
            self.push(Op::Move { dst: frame_reg(dst), a: Arg::Reg(old) });
        }
    }

    fn amo_load(&mut self, dst: u16, addr: Arg, width: Width, extend: Extend, ann: Ann, half: Half) {
        let undefined = Undefined::Atomic;
        self.push(Op::Load { dst, addr, width, extend, ann, half, failure: None, undefined });
    }

    /// A mutex is an acquire read-modify-write that waits, and a release store. Its owner reads who has it before it
    /// gives it up: in a correct program that is the owner's own write, which costs nothing.
    fn mutex(&mut self, instr: &Instr) {
        let (acquire, release) = (Ann::order(Order::Acquire), Ann::order(Order::Release));
        let relaxed = Ann::order(Order::Relaxed);
        let (old, me) = (self.temporary(), self.temporary());
        match *instr {
            Instr::Lock(addr) => {
                let addr = arg(addr);
                self.amo_load(old, addr, MUTEX, Extend::Zero, acquire, Half::Waiting);
                // Free is 0, owners are positive; a mutex that was destroyed is negative, and nobody waits for it.
                let over = self.temporary();
                let (op, width, extend) = (BinaryOp::LeS, MUTEX, Extend::Zero);
                self.push(Op::Binary { op, width, extend, dst: over, a: Arg::Reg(old), b: Arg::Const(0) });
                self.push(Op::Wait(Arg::Reg(over)));
                let at = self.here();
                let condition = Arg::Reg(old);
                self.push(Op::Branch { condition, then_to: at + 1, else_to: at + 2, internal: true });
                self.push(Op::Fail(fencepost_ir::FailKind::Misuse));
                self.push_owner(me);
                self.push(Op::Store {
                    addr,
                    value: Arg::Reg(me),
                    width: MUTEX,
                    ann: relaxed,
                    half: Half::Amo,
                    pick: None,
                });
            }
            Instr::Unlock(addr) => {
                let addr = arg(addr);
                self.amo_load(old, addr, MUTEX, Extend::Zero, relaxed, Half::None);
                self.push(Op::Owns { dst: me, a: Arg::Reg(old) });
                let at = self.here();
                let condition = Arg::Reg(me);
                self.push(Op::Branch { condition, then_to: at + 2, else_to: at + 1, internal: true });
                self.push(Op::Fail(fencepost_ir::FailKind::Misuse));
                self.store(addr, Arg::Const(0), MUTEX, release);
            }
            Instr::TryLock { dst, addr } => {
                let cas = Cas {
                    addr: arg(addr),
                    width: MUTEX,
                    extend: Extend::Zero,
                    expected: Arg::Const(0),
                    desired: Arg::Reg(me),
                    read: acquire,
                    write: relaxed,
                    failure: relaxed,
                    weak: false,
                    picks: false,
                    old,
                    same: frame_reg(dst),
                };
                self.push_owner(me);
                self.cas(&cas);
            }
            _ => {}
        }
    }

    /// The number that stands in a mutex of this thread.
    fn push_owner(&mut self, dst: u16) {
        self.push(Op::SelfThread { dst });
        let (op, width, extend) = (BinaryOp::Add, Width::W32, Extend::Zero);
        self.push(Op::Binary { op, width, extend, dst, a: Arg::Reg(dst), b: Arg::Const(1) });
    }

    fn wait(&mut self, instr: &Instr) {
        match *instr {
            Instr::Await { dst, addr, width, extend, until, ann } => {
                let old = self.temporary();
                self.amo_load(old, arg(addr), width, extend, ann, Half::None);
                self.push_until(until, width, old);
                if let Some(dst) = dst {
                    self.push(Op::Move { dst: frame_reg(dst), a: Arg::Reg(old) });
                }
            }
            Instr::AwaitRmw { dst, addr, width, extend, until, op, operand, read, write } => {
                let (old, new, addr) = (self.temporary(), self.temporary(), arg(addr));
                self.amo_load(old, addr, width, extend, read, Half::Waiting);
                self.push_until(until, width, old);
                self.push(Op::Modify { op, width, dst: new, old, operand: arg(operand) });
                self.push(Op::Store {
                    addr,
                    value: Arg::Reg(new),
                    width,
                    ann: write,
                    half: Half::Amo,
                    pick: None,
                });
                if let Some(dst) = dst {
                    self.push(Op::Move { dst: frame_reg(dst), a: Arg::Reg(old) });
                }
            }
            _ => {}
        }
    }

    fn push_until(&mut self, until: Until, width: Width, old: u16) {
        let done = self.temporary();
        let (op, b) = (until.op, arg(until.operand));
        self.push(Op::Binary { op, width, extend: Extend::Zero, dst: done, a: Arg::Reg(old), b });
        self.push(Op::Wait(Arg::Reg(done)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{RmwOp, Value};

    #[test]
    fn a_read_modify_write_is_its_two_halves() {
        let mut function = Function::default();
        let addr = Operand::Const(Value::pointer(fencepost_ir::ObjectId(0), 0));
        let (width, extend, ann) = (Width::W32, Extend::Sign, Ann::PLAIN);
        let (op, operand) = (RmwOp::Add, Operand::Const(Value(1)));
        let rmw = Instr::Rmw { dst: None, addr, width, extend, op, operand, read: ann, write: ann };
        function.push(rmw, fencepost_ir::Span::default());
        let program = Program { functions: vec![function], ..Program::default() };
        let code = lower(&program, Purpose::default(), &FxHashSet::default()).expect("supported");
        assert!(matches!(code.ops[0], Op::Load { half: Half::Amo, .. }));
        assert!(matches!(code.ops[1], Op::Modify { op: RmwOp::Add, .. }));
        assert!(matches!(code.ops[2], Op::Store { half: Half::Amo, .. }));
        assert!(matches!(code.ops[3], Op::Return(None)));
    }
}
