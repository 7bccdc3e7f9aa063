//! Threads and plain mutexes.
//!
//! A mutex is a 32-bit cell at the start of its object, 0 when free. Recursive and error-checking mutexes, read-write
//! locks, condition variables and the rest are C code of the runtime modules, built on waits.

use super::Body;
use super::escape::strip_casts;
use super::library::Library;
use crate::ast::{Expr, ExprKind};
use crate::parser::Res;
use fencepost_ir::{
    Ann, BinaryOp, Callee, Extend, FailKind, Instr, Operand, Order, RmwOp, UnaryOp, Value, Width,
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
        let span = args[0].span;
        let place = self.through(&args[0])?;
        self.store(place, Operand::Reg(dst), span)?;
        Ok(self.success())
    }

    /// The function that runs a thread and then the destructors of its keys, if the program has keys.
    fn thread_start(&mut self) -> Option<Callee> {
        self.program.features.keys.then_some(())?;
        self.runtime_function("__fp_thread_start")
    }

    fn runtime_function(&mut self, name: &str) -> Option<Callee> {
        let index = self.unit.functions.iter().position(|f| f.name == name && f.body.is_some())?;
        Some(Callee::Function(self.program.function_id(crate::ast::FuncId(index as u32))))
    }

    pub(super) fn join(&mut self, function: Library, args: &[Expr]) -> Res<Operand> {
        let thread = self.value(&args[0])?;
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

    pub(super) fn thread_exit(&mut self, args: &[Expr]) -> Res<Operand> {
        let value = match args.first() {
            Some(arg) => Some(self.value(arg)?),
            None => None,
        };
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
                let value = Operand::Const(Value::ZERO);
                self.b.emit(Instr::Store { addr, value, width: Width::W32, ann: Ann::PLAIN });
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
