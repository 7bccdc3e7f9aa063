//! From TSO to SC, IR to IR: the translation map of `[ABP, Fig. 6]`.
//!
//! Every statement that others can notice becomes `switch(self)` and its translation, which is of constant size: loads
//! read the view, stores go through `memory_update`, what needs an empty buffer goes through `fence`. A whole round of
//! the source is one atomic section of the result. The result is an ordinary SC program of linear size.
//!
//! The run of a thread that blocks inside a round is lost together with everything after it. Nothing is missed: the
//! thread could have ended its round before the statement that blocks.

use crate::Unsupported;
use crate::helpers::{Builder, Helpers, call, constant};
use crate::layout::Layout;
use fencepost_diag::Span;
use fencepost_ir::{
    BinaryOp, Callee, FailKind, Function, FunctionId, Instr, Label, ObjectId, Observable, Operand, Program,
    Property, Reg, Rvalue, Thread, Value, Width,
};

/// What bounds the runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Each thread has at most k + 1 rounds.
    Rounds(u32),
    /// A store waits at most until the kth round after its own; there may be any number of rounds.
    Age(u32),
}

/// How to translate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The bound.
    pub bound: Bound,
    /// A thread is started only when its parent's buffer is empty, as `pthread_create` does.
    pub spawn_fences: bool,
    /// Room for threads that the program starts itself. A run that starts more meets [`FailKind::Unsupported`]: that is a
    /// limit of the translation and not a finding about the program.
    pub max_spawned: u32,
}

impl Options {
    /// With this bound.
    pub fn new(bound: Bound) -> Options {
        Options { bound, spawn_fences: true, max_spawned: 8 }
    }
}

/// The SC program that reaches what the program reaches under TSO within the bound.
pub fn reduce_tso(program: &Program, options: &Options) -> Result<Program, Unsupported> {
    Ok(reduce_with_origins(program, options)?.0)
}

/// For each instruction of a reduced program, by function: the function and the instruction of the source that takes effect
/// there, if one does.
pub type Origins = Vec<Vec<Option<(u32, u32)>>>;

/// The same, and where each instruction of the source takes effect in the result.
pub fn reduce_with_origins(program: &Program, options: &Options) -> Result<(Program, Origins), Unsupported> {
    let slots = match options.bound {
        Bound::Rounds(k) | Bound::Age(k) => k,
    };
    let layout = Layout::new(program, slots)?;
    let count = program.functions.len() as u32;
    // Function f is translated as f, and as a thread of its own as count + f; the helpers follow.
    let translation = Translation {
        program,
        options,
        layout: &layout,
        helpers: Helpers::numbered(2 * count),
        privates: private_objects(program, options),
        next: ObjectId(program.objects.len() as u32),
    };
    let mut result = Program { name: program.name.clone(), ..Program::default() };
    result.objects = program.objects.clone();
    let spawned = program.threads.len() as u32;
    result.objects.push(fencepost_ir::Object::scalar(
        "tso_started",
        Width::W32,
        Value(u64::from(spawned)),
        Span::default(),
    ));
    for i in 0..translation.privates.len() {
        result.objects.push(layout.object(format!("tso_private_{i}")));
    }
    let mut origins = Vec::new();
    for thread_version in [false, true] {
        for (number, function) in (0..).zip(&program.functions) {
            let (translated, labels) = translation.function(function, thread_version)?;
            origins.push(origins_in(&translated, number, &labels));
            result.functions.push(translated);
        }
    }
    result.functions.extend(translation.helpers.functions(&layout, options.bound));
    result.threads = translation.threads();
    result.property = property(program);
    Ok((result, origins))
}

/// An instruction takes effect where its translation first does something that others can notice, the helpers aside.
fn origins_in(translated: &Function, function: u32, labels: &[Label]) -> Vec<Option<(u32, u32)>> {
    let mut origins = vec![None; translated.body.len()];
    let ends = labels.iter().skip(1).map(|label| label.0 as usize).chain([translated.body.len()]);
    for (pc, (from, to)) in (0..).zip(labels.iter().map(|label| label.0 as usize).zip(ends)) {
        let noticed = |instr: &Instr| {
            matches!(
                instr,
                Instr::Load { .. }
                    | Instr::Store { .. }
                    | Instr::Rmw { .. }
                    | Instr::CompareExchange { .. }
                    | Instr::Nondet { .. }
                    | Instr::Spawn { .. }
            )
        };
        if let Some(first) = translated.body[from..to].iter().position(noticed) {
            origins[from + first] = Some((function, pc));
        }
    }
    origins
}

/// The registers of a final condition move with the others.
fn property(program: &Program) -> Property {
    let mut property = program.property.clone();
    if let Property::Final(condition) = &mut property {
        for observable in &mut condition.observed {
            if let Observable::Register { thread, reg } = observable
                && reg.0 >= program.thread_function(*thread).params
            {
                reg.0 += 1;
            }
        }
    }
    property
}

fn private_objects(program: &Program, options: &Options) -> Vec<ObjectId> {
    let spawns = program.functions.iter().flat_map(|f| &f.body).any(|i| matches!(i, Instr::Spawn { .. }));
    let threads = program.threads.len() as u32 + if spawns { options.max_spawned } else { 0 };
    let first = program.objects.len() as u32 + 1;
    (first..first + threads).map(ObjectId).collect()
}

struct Translation<'p> {
    program: &'p Program,
    options: &'p Options,
    layout: &'p Layout,
    helpers: Helpers,
    /// The private object of each thread.
    privates: Vec<ObjectId>,
    /// The cell that counts threads.
    next: ObjectId,
}

impl Translation<'_> {
    fn threads(&self) -> Vec<Thread> {
        let count = self.program.functions.len() as u32;
        let translate = |(i, thread): (usize, &Thread)| {
            // Missing arguments are zero and surplus ones are dropped, so that the private object comes next.
            let params = self.program.functions[thread.function.0 as usize].params as usize;
            let mut args = thread.args.clone();
            args.resize(params, Value::ZERO);
            args.push(Value::pointer(self.privates[i], 0));
            Thread { name: thread.name.clone(), function: FunctionId(count + thread.function.0), args }
        };
        self.program.threads.iter().enumerate().map(translate).collect()
    }

    /// A function with one more parameter, the private object, and where the translation of each instruction begins. A
    /// thread's version also starts and ends the simulation.
    fn function(&self, old: &Function, thread: bool) -> Result<(Function, Vec<Label>), Unsupported> {
        let mut f = Function { params: old.params + 1, regs: old.regs.clone(), ..Function::default() };
        f.name = if thread { format!("tso_thread_{}", old.name) } else { old.name.clone() };
        // Registers from there on move up by one.
        f.regs.insert(old.params as usize, "tso_self".into());
        let this = Reg(old.params);
        let mut b = Builder::resume(f, this);
        if thread {
            b.push(call(self.helpers.init_thread, vec![this.into()]));
        }
        let mut labels = Vec::new();
        let mut jumps = Vec::new();
        for (instr, span) in old.body.iter().zip(&old.spans) {
            labels.push(b.f.next_label());
            b.at(*span);
            let instr = renumber(instr, old.params);
            if matches!(instr, Instr::Jump(_) | Instr::Branch { .. }) {
                jumps.push(b.push(instr));
            } else {
                self.instr(&mut b, instr, *span, thread)?;
            }
        }
        labels.push(b.f.next_label());
        self.leave(&mut b, None, thread);
        for at in jumps {
            match &mut b.f.body[at] {
                Instr::Jump(to) => *to = labels[to.0 as usize],
                Instr::Branch { then_to, else_to, .. } => {
                    *then_to = labels[then_to.0 as usize];
                    *else_to = labels[else_to.0 as usize];
                }
                _ => {}
            }
        }
        labels.pop();
        Ok((b.f, labels))
    }

    fn leave(&self, b: &mut Builder, value: Option<Operand>, thread: bool) {
        if thread {
            b.push(call(self.helpers.finish, vec![b.this.into()]));
        }
        b.push(Instr::Return(value));
    }

    /// Offset in a copy of what an address points to.
    fn offset(&self, b: &mut Builder, addr: Operand) -> Operand {
        if let Operand::Const(address) = addr
            && let Some((_, offset, _)) = self.layout.cells.iter().find(|(known, _, _)| *known == address)
        {
            return constant(*offset);
        }
        let dst = b.f.new_reg(format!("_o{}", b.f.regs.len()));
        let callee = Callee::Function(self.helpers.offset);
        b.push(Instr::Call { dst: Some(dst), callee, args: vec![b.this.into(), addr] });
        dst.into()
    }

    fn view(&self, b: &mut Builder, addr: Operand) -> Operand {
        let offset = self.offset(b, addr);
        b.private(offset)
    }

    fn switch(&self, b: &mut Builder) {
        b.push(call(self.helpers.switch, vec![b.this.into()]));
    }

    /// A point where the buffer must be empty.
    fn fence(&self, b: &mut Builder) {
        self.switch(b);
        b.push(call(self.helpers.fence, vec![b.this.into()]));
    }

    fn update(&self, b: &mut Builder, addr: Operand, width: Width, value: Operand) {
        self.switch(b);
        let offset = self.offset(b, addr);
        b.push(call(self.helpers.update(width), vec![b.this.into(), offset, addr, value]));
    }

    /// Figure 6, statement by statement.
    fn instr(&self, b: &mut Builder, instr: Instr, span: Span, thread: bool) -> Result<(), Unsupported> {
        let refuse = |what: &str| Err(Unsupported { what: what.into(), span });
        match instr {
            Instr::Assign { .. }
            | Instr::Assume(_)
            | Instr::Round(_)
            | Instr::Assert { .. }
            | Instr::Defined(_)
            | Instr::Nondet { .. }
            | Instr::Fail { .. }
            // Threads are started in the same order, so that they have the same numbers.
            | Instr::SelfThread { .. }
            | Instr::Cut => {
                b.push(instr);
            }
            Instr::Load { ann, .. } if ann.exclusive => return refuse("a load that takes a reservation"),
            Instr::Load { dst, addr, width, extend, ann } => {
                self.switch(b);
                let addr = self.view(b, addr);
                b.push(Instr::Load { dst, addr, width, extend, ann });
            }
            Instr::CopyLoad { dst, addr, width, extend, ann, keeps } => {
                self.switch(b);
                let addr = self.view(b, addr);
                b.push(Instr::CopyLoad { dst, addr, width, extend, ann, keeps });
            }
            Instr::Store { addr, value, width, .. } => self.update(b, addr, width, value),
            Instr::Lock(addr) | Instr::Unlock(addr) if !self.is_word(addr) => {
                return refuse("a mutex that is not known to be a cell of 32 bits");
            }
            Instr::Unlock(addr) => self.update(b, addr, Width::W32, constant(0)),
            Instr::Lock(addr) => {
                self.fence(b);
                let held = b.load_at(addr, Width::W32);
                let free = b.compute(BinaryOp::Eq, Width::W32, held, constant(0));
                b.push(Instr::Assume(free));
                b.store_at(addr, Width::W32, constant(1));
                self.renew(b, addr, Width::W32);
            }
            Instr::TryLock { addr, .. } if !self.is_word(addr) => {
                return refuse("a mutex that is not known to be a cell of 32 bits");
            }
            Instr::TryLock { dst, addr } => {
                self.fence(b);
                let kept = b.compute(BinaryOp::Add, Width::W64, addr, constant(0));
                let held = b.load_at(kept, Width::W32);
                let free = b.compute(BinaryOp::Eq, Width::W32, held, constant(0));
                let now = b.select(free, constant(1), held);
                b.store_at(kept, Width::W32, now);
                self.renew(b, kept, Width::W32);
                b.push(Instr::Assign { dst, value: Rvalue::Use(free) });
            }
            Instr::Await { dst, addr, width, extend, until, ann } => {
                self.switch(b);
                let addr = self.view(b, addr);
                let held = b.load_at(addr, width);
                let over = b.compute(until.op, width, held, until.operand);
                b.push(Instr::Assume(over));
                if let Some(dst) = dst {
                    b.push(Instr::Load { dst, addr, width, extend, ann });
                }
            }
            // Waiting is another matter for the same reason as with a mutex: nobody waits within a round.
            Instr::AwaitRmw { dst, addr, width, extend, until, op, operand, read, write } => {
                self.fence(b);
                let kept = b.compute(BinaryOp::Add, Width::W64, addr, constant(0));
                let held = b.load_at(kept, width);
                let over = b.compute(until.op, width, held, until.operand);
                b.push(Instr::Assume(over));
                b.push(Instr::Rmw { dst, addr: kept, width, extend, op, operand, read, write });
                self.renew(b, kept, width);
            }
            Instr::Rmw { addr, width, .. } | Instr::CompareExchange { addr, width, .. } => {
                self.fence(b);
                // The result register may be the address register: keep the address.
                let kept = b.compute(BinaryOp::Add, Width::W64, addr, constant(0));
                b.push(instr);
                self.renew(b, kept, width);
            }
            Instr::Fence(fence) if fence.is_full() => self.fence(b),
            Instr::Fence(_) => {}
            Instr::AtomicBegin => {
                self.fence(b);
                b.store(self.layout.critical(), constant(1));
            }
            Instr::AtomicEnd => {
                let condition = b.load(self.layout.critical());
                b.push(Instr::Assert { condition, kind: fencepost_ir::FailKind::Assertion, message: "atomic_end \
                    without atomic_begin".into() });
                b.store(self.layout.critical(), constant(0));
            }
            Instr::Call { dst, callee, mut args } => {
                if let Callee::Function(function) = callee {
                    args.resize(self.program.functions[function.0 as usize].params as usize, constant(0));
                }
                args.push(b.this.into());
                b.push(Instr::Call { dst, callee, args });
            }
            Instr::Return(value) => self.leave(b, value, thread),
            Instr::Spawn { dst, callee: Callee::Function(function), args } => {
                self.spawn(b, dst, function, args);
            }
            Instr::Spawn { .. } => return refuse("a thread that runs what a pointer points to"),
            Instr::Join { thread, dst } => {
                self.switch(b);
                let private = self.private_of(b, thread);
                let done = constant(self.layout.done());
                let addr = b.compute(BinaryOp::Add, Width::W64, private, done);
                let ended = b.load_at(addr, Width::W32);
                b.push(Instr::Assume(ended));
                // It has nothing left to do but to return.
                if dst.is_some() {
                    b.push(Instr::Join { thread, dst });
                }
            }
            Instr::StoreExclusive { .. } => return refuse("a store that uses a reservation"),
            Instr::Alloc { .. } | Instr::Free(_) => {
                return refuse("memory that is allocated while the program runs");
            }
            Instr::Jump(_) | Instr::Branch { .. } => {}
            ref other => {
                let name = format!("{other:?}");
                let name =
                    name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
                return refuse(&format!("an instruction `{name}`, which this reduction does not cover,"));
            }
        }
        Ok(())
    }

    /// True if an address is certainly that of a 32-bit cell, if of any.
    fn is_word(&self, addr: Operand) -> bool {
        let mut cells = self.layout.cells.iter();
        match addr {
            Operand::Const(address) => cells.any(|cell| cell.0 == address && cell.2 == Width::W32),
            Operand::Reg(_) => cells.all(|cell| cell.2 == Width::W32),
        }
    }

    /// The view of a cell becomes what is in memory.
    fn renew(&self, b: &mut Builder, addr: Operand, width: Width) {
        let value = b.load_at(addr, width);
        let view = self.view(b, addr);
        b.store_at(view, width, value);
    }

    /// The private object of a thread by number.
    fn private_of(&self, b: &mut Builder, thread: Operand) -> Operand {
        let mut found = Operand::Const(Value::ZERO);
        for (i, object) in (0u32..).zip(&self.privates) {
            let same = b.compute(BinaryOp::Eq, Width::W32, thread, constant(i));
            found = b.select(same, Value::pointer(*object, 0).into(), found);
        }
        let unknown = b.compute(BinaryOp::Eq, Width::W64, found, constant(0));
        let at = b.branch(unknown);
        let message = "the program starts more threads than the reduction has room for".into();
        b.push(Instr::Fail { kind: FailKind::Unsupported, message });
        b.otherwise(at);
        found
    }

    fn spawn(&self, b: &mut Builder, dst: Option<Reg>, function: FunctionId, mut args: Vec<Operand>) {
        if self.options.spawn_fences {
            self.fence(b);
        } else {
            self.switch(b);
        }
        let counter = Operand::Const(Value::pointer(self.next, 0));
        let number = b.load_at(counter, Width::W32);
        let next = b.compute(BinaryOp::Add, Width::W32, number, constant(1));
        b.store_at(counter, Width::W32, next);
        let private = self.private_of(b, number);
        args.resize(self.program.functions[function.0 as usize].params as usize, constant(0));
        args.push(private);
        let count = self.program.functions.len() as u32;
        let callee = Callee::Function(FunctionId(count + function.0));
        b.push(Instr::Spawn { dst: None, callee, args });
        if let Some(dst) = dst {
            b.push(Instr::Assign { dst, value: Rvalue::Use(number) });
        }
    }
}

/// Registers from `params` on move up by one, to make room for the private object.
fn renumber(instr: &Instr, params: u32) -> Instr {
    let mut instr = instr.clone();
    instr.rename(|reg| if reg.0 >= params { Reg(reg.0 + 1) } else { reg });
    instr
}
