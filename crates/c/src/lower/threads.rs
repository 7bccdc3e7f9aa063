//! Threads and plain mutexes.
//!
//! A mutex is a 32-bit cell at the start of its object, 0 when free. Recursive and error-checking mutexes, read-write
//! locks, condition variables and the rest are C code of the runtime modules, built on waits.

use super::Body;
use super::escape::strip_casts;
use super::library::Library;
use crate::ast::{Expr, ExprKind, Unit};
use crate::parser::Res;
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, FailKind, Instr, Operand, Order, RmwOp, Rvalue, UnaryOp, Value, Width,
};

/// The cell of a mutex that was destroyed: never free again, until it is initialised.
const DESTROYED: u64 = 0xffff_ffff;

impl Body<'_, '_> {
    /// `pthread_create(thread, attributes, function, argument)` and `thrd_create(thread, function, argument)`.
    pub(super) fn spawn(&mut self, function: Library, args: &[Expr]) -> Res<Operand> {
        let (start, argument) = match function {
            Library::PthreadCreate => (&args[2], &args[3]),
            _ => (&args[1], &args[2]),
        };
        let argument = self.value(argument)?;
        let routine = strip_casts(self.unit, start);
        let (callee, operands) = match self.thread_start() {
            Some(wrapper) => {
                let routine = self.value(routine)?;
                (wrapper, vec![routine, argument])
            }
            None => match &routine.kind {
                ExprKind::Function(id) => {
                    let def = &self.unit.functions[id.0 as usize];
                    if def.body.is_none() {
                        return self.no_body(&def.name, start.span);
                    }
                    let operands = if def.params.is_empty() { Vec::new() } else { vec![argument] };
                    (Callee::Function(self.program.function_id(*id)), operands)
                }
                _ => (Callee::Pointer(self.value(routine)?), vec![argument]),
            },
        };
        let dst = self.b.temp();
        self.b.emit(Instr::Spawn { dst: Some(dst), callee, args: operands });
        if function == Library::PthreadCreate && self.program.features.shared_joins {
            self.detach_as_asked(&args[1], Operand::Reg(dst))?;
        }
        let span = args[0].span;
        let place = self.through(&args[0])?;
        self.store(place, Operand::Reg(dst), span)?;
        Ok(self.success())
    }

    /// `__VERIFIER_spawn_symmetric(function, argument)`: a thread that begins in a function of its own, which says that nobody
    /// can tell it from its neighbours. Threads with destructors begin as all others do.
    pub(super) fn spawn_symmetric(&mut self, args: &[Expr]) -> Res<Operand> {
        let routine = self.value(strip_casts(self.unit, &args[0]))?;
        let argument = self.value(&args[1])?;
        let start = self.thread_start().or_else(|| self.runtime_function("__fp_symmetric_start"));
        let (callee, args) = match start {
            Some(start) => (start, vec![routine, argument]),
            None => (Callee::Pointer(routine), vec![argument]),
        };
        let dst = self.b.temp();
        self.b.emit(Instr::Spawn { dst: Some(dst), callee, args });
        Ok(Operand::Reg(dst))
    }

    /// Detaches a thread if its attributes say so.
    fn detach_as_asked(&mut self, attributes: &Expr, thread: Operand) -> Res<()> {
        let attributes = self.value(attributes)?;
        let (given, detached, end) = (self.b.target(), self.b.target(), self.b.target());
        self.b.branch(attributes, given, end);
        self.b.bind(given);
        let state = self.b.temp();
        let (width, extend, ann) = (Width::W32, Extend::Sign, Ann::PLAIN);
        self.b.emit(Instr::Load { dst: state, addr: attributes, width, extend, ann });
        self.b.branch(Operand::Reg(state), detached, end);
        self.b.bind(detached);
        self.let_go(thread, "a thread is detached twice");
        self.b.bind(end);
        Ok(())
    }

    /// The function that runs a thread and then the destructors of its keys, if the program has keys.
    fn thread_start(&mut self) -> Option<Callee> {
        self.program.features.keys.then_some(())?;
        self.runtime_function("__fp_thread_start")
    }

    pub(super) fn runtime_function(&mut self, name: &str) -> Option<Callee> {
        let index = self.unit.functions.iter().position(|f| f.name == name && f.body.is_some())?;
        Some(Callee::Function(self.program.function_id(crate::ast::FuncId(index as u32))))
    }

    pub(super) fn join(&mut self, function: Library, args: &[Expr]) -> Res<Operand> {
        let thread = self.value(&args[0])?;
        let thread = self.joinable(thread);
        let target = strip_casts(self.unit, &args[1]);
        let ignored = matches!(target.kind, ExprKind::Int(0))
            || matches!(&target.kind, ExprKind::Cast(i) if matches!(i.kind, ExprKind::Int(0)));
        if ignored {
            self.b.emit(Instr::Join { thread, dst: None });
            return Ok(self.success());
        }
        let dst = self.b.temp();
        self.b.emit(Instr::Join { thread, dst: Some(dst) });
        let place = self.through(&args[1])?;
        let result = Operand::Reg(dst);
        let result = match function {
            Library::ThrdJoin => self.unary(UnaryOp::SignExtend, Width::W32, Extend::Sign, result),
            _ => result,
        };
        self.store(place, result, args[1].span)?;
        Ok(self.success())
    }

    /// The thread to be joined, which must not have been joined or detached before. Where only this activation of the
    /// function can know the thread, a register says which ones are gone; a thread that is gone has no number.
    fn joinable(&mut self, thread: Operand) -> Operand {
        if self.program.features.shared_joins {
            self.let_go(thread, "a thread is joined that was joined or detached before");
            return thread;
        }
        let gone = match self.gone {
            Some(gone) => gone,
            None => self.b.register("gone"),
        };
        self.gone = Some(gone);
        let word = |body: &mut Self, op, a, b| body.binary(op, Width::W64, Extend::Zero, a, b);
        // Threads from 64 on are not followed.
        let small = word(self, BinaryOp::LtU, thread, Operand::Const(Value(64)));
        let bit = word(self, BinaryOp::Shl, small, thread);
        let again = word(self, BinaryOp::And, Operand::Reg(gone), bit);
        let nobody = Operand::Const(Value::from_i64(-1));
        let joined = self.b.compute(Rvalue::Select(again, nobody, thread));
        let all = word(self, BinaryOp::Or, Operand::Reg(gone), bit);
        self.b.emit(Instr::Assign { dst: gone, value: Rvalue::Use(all) });
        joined
    }

    pub(super) fn detach(&mut self, args: &[Expr]) -> Res<Operand> {
        let thread = self.value(&args[0])?;
        self.let_go(thread, "a thread is detached that was joined or detached before");
        Ok(self.success())
    }

    /// Notes in memory that nobody may join or detach a thread any more.
    fn let_go(&mut self, thread: Operand, message: &str) {
        let Some(index) = self.unit.globals.iter().position(|g| g.name == "__fp_gone") else { return };
        let object = self.program.object_of(crate::ast::GlobalId(index as u32));
        let base = Operand::Const(Value::pointer(object, 0));
        let low = Operand::Const(Value(63));
        let slot = self.binary(BinaryOp::And, Width::W64, Extend::Zero, thread, low);
        let addr = self.binary(BinaryOp::Add, Width::W64, Extend::Zero, base, slot);
        let before = self.b.temp();
        let ann = Ann::order(Order::Relaxed);
        self.b.emit(Instr::Rmw {
            dst: Some(before),
            addr,
            width: Width::W8,
            extend: Extend::Zero,
            op: RmwOp::Exchange,
            operand: Operand::Const(Value(1)),
            read: ann,
            write: ann,
        });
        let (again, end) = (self.b.target(), self.b.target());
        self.b.branch(Operand::Reg(before), again, end);
        self.b.bind(again);
        self.b.emit(Instr::Fail { kind: FailKind::Misuse, message: message.into() });
        self.b.bind(end);
    }

    pub(super) fn thread_exit(&mut self, args: &[Expr]) -> Res<Operand> {
        let value = match args.first() {
            Some(arg) => Some(self.value(arg)?),
            None => None,
        };
        if let Some(callee) = self.runtime_function("__fp_run_cleanups") {
            self.b.emit(Instr::Call { dst: None, callee, args: Vec::new() });
        }
        if self.program.features.keys
            && let Some(callee) = self.runtime_function("__fp_run_destructors")
        {
            self.b.emit(Instr::Call { dst: None, callee, args: Vec::new() });
        }
        self.b.emit(Instr::Exit(value));
        Ok(self.success())
    }

    pub(super) fn mutex(&mut self, function: Library, args: &[Expr]) -> Res<Operand> {
        let addr = self.value(&args[0])?;
        match function {
            Library::MutexInit => {
                // Types of another C library's headers may have no room for more than the cell.
                let to = self.static_pointee(&args[0]).and_then(|to| self.unit.types.size(to.ty));
                match to.is_some_and(|size| size >= 8) {
                    true => self.init_mutex(addr),
                    false => {
                        let (value, width, ann) = (Operand::Const(Value::ZERO), Width::W32, Ann::PLAIN);
                        self.b.emit(Instr::Store { addr, value, width, ann });
                    }
                }
            }
            Library::MutexLock => self.b.emit(Instr::Lock(addr)),
            Library::MutexUnlock => self.b.emit(Instr::Unlock(addr)),
            Library::MutexTrylock => {
                let dst = self.b.temp();
                self.b.emit(Instr::TryLock { dst, addr });
                // EBUSY is 16.
                let held = self.unary(UnaryOp::LogicalNot, Width::W64, Extend::Zero, Operand::Reg(dst));
                let four = Operand::Const(Value(4));
                return Ok(self.binary(BinaryOp::Shl, Width::W32, Extend::Sign, held, four));
            }
            _ => self.destroy_mutex(addr),
        }
        Ok(self.success())
    }

    /// The word behind the cell says that the mutex was initialised by a call.
    fn init_mutex(&mut self, addr: Operand) {
        let (width, extend, ann) = (Width::W32, Extend::Zero, Ann::PLAIN);
        let dynamic = self.offset(addr, 4);
        let (before, cell) = (self.b.temp(), self.b.temp());
        let (known, twice, first) = (self.b.target(), self.b.target(), self.b.target());
        self.b.emit(Instr::CopyLoad { dst: before, addr: dynamic, width, extend, ann, keeps: false });
        self.b.branch(Operand::Reg(before), known, first);
        self.b.bind(known);
        self.b.emit(Instr::Load { dst: cell, addr, width, extend, ann });
        let destroyed = Operand::Const(Value(DESTROYED));
        let again = self.binary(BinaryOp::Ne, width, extend, Operand::Reg(cell), destroyed);
        self.b.branch(again, twice, first);
        self.b.bind(twice);
        let message = "a mutex is initialised twice".into();
        self.b.emit(Instr::Fail { kind: FailKind::Misuse, message });
        self.b.bind(first);
        for (addr, value) in [(dynamic, 1), (addr, 0)] {
            self.b.emit(Instr::Store { addr, value: Operand::Const(Value(value)), width, ann });
        }
    }

    fn destroy_mutex(&mut self, addr: Operand) {
        let dst = self.b.temp();
        let ann = Ann::order(Order::Relaxed);
        self.b.emit(Instr::Rmw {
            dst: Some(dst),
            addr,
            width: Width::W32,
            extend: Extend::Zero,
            op: RmwOp::Exchange,
            operand: Operand::Const(Value(DESTROYED)),
            read: ann,
            write: ann,
        });
        let (held, end) = (self.b.target(), self.b.target());
        self.b.branch(Operand::Reg(dst), held, end);
        self.b.bind(held);
        self.b.emit(Instr::Fail {
            kind: FailKind::Misuse,
            message: "a mutex is destroyed while it is held, or twice".into(),
        });
        self.b.bind(end);
    }
}

/// Whether a thread might be joined or detached by two functions, or two activations of one: true unless nothing is ever
/// detached and every thread is joined in `main`, or through a variable of the function that started it.
pub fn shares_joins(unit: &Unit) -> bool {
    let mut shared = unit.functions.iter().any(|f| {
        f.used.is_some()
            && matches!(f.name.as_str(), "pthread_detach" | "thrd_detach" | "pthread_attr_setdetachstate")
    });
    for function in unit.functions.iter().filter(|f| f.name != "main") {
        let Some(body) = &function.body else { continue };
        let storage = super::escape::analyse(unit, function);
        let mut assigned = Vec::new();
        let mut joined = Vec::new();
        body.visit(&mut |expr| match &expr.kind {
            ExprKind::Assign(place, _) => assigned.extend(super::escape::root(place)),
            ExprKind::Call(callee, args, _) => {
                let join = super::library::known_call(unit, callee);
                if let (Some(Library::PthreadJoin | Library::ThrdJoin), Some(thread)) = (join, args.first()) {
                    joined.push(match &thread.kind {
                        ExprKind::Load(place) => super::escape::root(place),
                        _ => None,
                    });
                }
            }
            _ => {}
        });
        shared |= joined.iter().any(|local| match local {
            Some(local) => {
                let own =
                    storage[local.0 as usize] < super::Storage::Shared && !function.params.contains(local);
                !own || assigned.contains(local)
            }
            None => true,
        });
    }
    shared
}
