//! Atomic operations, fences, waits, locks and findings.

use super::Body;
use super::escape::strip_casts;
use super::expr::halves;
use super::places::{Place, Where};
use crate::ast::{Expr, ExprKind};
use crate::builtins::{Builtin, CasResult};
use crate::parser::{Res, fail};
use crate::types::{QTy, Quals};
use fencepost_diag::Span;
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Operand, Order, RmwOp, Until, Value, Width};

const ZERO: Operand = Operand::Const(Value::ZERO);

impl Body<'_, '_> {
    pub(super) fn builtin(
        &mut self,
        builtin: &Builtin,
        args: &[Expr],
        expr: &Expr,
        wanted: bool,
    ) -> Res<Operand> {
        match builtin {
            Builtin::Load(order) => {
                let (addr, width, extend, ann) = self.atomic_target(args, *order, expr.span)?;
                let dst = self.b.temp();
                self.b.emit(Instr::Load { dst, addr, width, extend, ann });
                Ok(Operand::Reg(dst))
            }
            Builtin::Store(order) => {
                let value = self.atomic_operand(args, 1)?;
                let (addr, width, _, ann) = self.atomic_target(args, *order, expr.span)?;
                self.b.emit(Instr::Store { addr, value, width, ann });
                Ok(ZERO)
            }
            Builtin::LoadExclusive(order) => {
                let (addr, width, extend, ann) = self.atomic_target(args, *order, expr.span)?;
                let dst = self.b.temp();
                self.b.emit(Instr::Load { dst, addr, width, extend, ann: Ann { exclusive: true, ..ann } });
                Ok(Operand::Reg(dst))
            }
            Builtin::StoreExclusive { order, retried } => {
                let value = self.atomic_operand(args, 1)?;
                let (addr, width, _, ann) = self.atomic_target(args, *order, expr.span)?;
                let (status, ann) = (self.b.temp(), Ann { exclusive: true, ..ann });
                self.b.emit(Instr::StoreExclusive { status, success: 0, addr, value, width, ann });
                if *retried {
                    let done =
                        self.binary(BinaryOp::Eq, Width::W32, Extend::Zero, Operand::Reg(status), ZERO);
                    self.b.emit(Instr::Assume(done));
                }
                Ok(Operand::Reg(status))
            }
            Builtin::Exchange(order) => self.rmw(RmwOp::Exchange, *order, args, wanted, expr.span),
            Builtin::Fetch { op, order, new } => self.fetch(*op, *order, *new, args, wanted, expr),
            Builtin::CompareExchange { success, failure, weak } => {
                self.compare_exchange(*success, *failure, *weak, args, wanted, expr.span)
            }
            Builtin::CompareSwap { success, failure, result } => {
                self.compare_swap(*success, *failure, *result, args, expr.span)
            }
            Builtin::Fence(fence) => {
                self.b.emit(Instr::Fence(*fence));
                Ok(ZERO)
            }
            Builtin::Peek => {
                let (addr, width, extend, _) = self.atomic_target(args, Order::Plain, expr.span)?;
                let dst = self.b.temp();
                let ann = Ann::PLAIN;
                self.b.emit(Instr::CopyLoad { dst, addr, width, extend, ann, keeps: false });
                Ok(Operand::Reg(dst))
            }
            Builtin::Allocate => {
                let Some(size) = args.first() else { return fail(expr.span, "expected a size") };
                let size = self.value(size)?;
                let dst = self.b.temp();
                self.b.emit(Instr::Alloc { dst, size, zeroed: false });
                Ok(Operand::Reg(dst))
            }
            Builtin::Range(first, last) => {
                let dst = self.b.temp();
                self.b.emit(Instr::Nondet { dst, first: *first, last: *last });
                Ok(Operand::Reg(dst))
            }
            Builtin::Varargs => match self.varargs {
                Some(reg) => Ok(Operand::Reg(reg)),
                None => fail(expr.span, "`va_start` in a function that names all its arguments"),
            },
            Builtin::Await(..) | Builtin::AwaitRmw(..) => self.await_cell(builtin, args, wanted, expr.span),
            Builtin::Lock | Builtin::Unlock | Builtin::TryLock => self.lock(builtin, args, expr.span),
            Builtin::Assert(message) => self.assert(message, args),
            Builtin::Fail(kind, message) => {
                self.b.emit(Instr::Fail { kind: *kind, message: message.clone() });
                Ok(ZERO)
            }
            Builtin::Ignore => {
                for arg in args {
                    self.effect(arg)?;
                }
                Ok(ZERO)
            }
        }
    }

    /// The operation for the memory order that a value is: one of them where the order is known here, else a branch.
    pub(super) fn by_order(&mut self, order: &Expr, choices: &[Expr], wanted: bool) -> Res<Operand> {
        let order = self.value(order)?;
        if let Operand::Const(number) = order
            && let Some(choice) = choices.get(number.0 as usize)
        {
            return self.value(choice);
        }
        let dst = self.b.temp();
        let end = self.b.target();
        for (number, choice) in choices.iter().enumerate() {
            let (hit, next) = (self.b.target(), self.b.target());
            let number = Operand::Const(Value(number as u64));
            let same = self.binary(BinaryOp::Eq, Width::W32, Extend::Zero, order, number);
            self.b.branch(same, hit, next);
            self.b.bind(hit);
            let value = self.value(choice)?;
            if wanted {
                self.b.assign(dst, value);
            }
            self.b.jump(end);
            self.b.bind(next);
        }
        let message = "this value is no memory order".into();
        self.b.emit(Instr::Fail { kind: fencepost_ir::FailKind::Misuse, message });
        self.b.bind(end);
        Ok(if wanted { Operand::Reg(dst) } else { ZERO })
    }

    fn pointee(&self, args: &[Expr], span: Span) -> Res<QTy> {
        match args.first().and_then(|a| self.unit.types.pointee(a.ty.ty)) {
            Some(to) => Ok(to),
            None => fail(span, "expected a pointer"),
        }
    }

    /// Address, shape and annotation of the object that the first argument points to.
    fn atomic_target(
        &mut self,
        args: &[Expr],
        order: Order,
        span: Span,
    ) -> Res<(Operand, Width, Extend, Ann)> {
        let to = self.pointee(args, span)?;
        let addr = self.value(&args[0])?;
        let (width, extend) = self.scalar_shape(to, span)?;
        Ok((addr, width, extend, ordered(order, to)))
    }

    /// A value argument; a struct comes as one number.
    fn atomic_operand(&mut self, args: &[Expr], index: usize) -> Res<Operand> {
        let arg = &args[index];
        if self.unit.types.is_record(arg.ty.ty) {
            let place = self.place(arg)?;
            return self.pack(place, arg.span);
        }
        self.value(arg)
    }

    fn rmw(&mut self, op: RmwOp, order: Order, args: &[Expr], wanted: bool, span: Span) -> Res<Operand> {
        let operand = self.atomic_operand(args, 1)?;
        let to = self.pointee(args, span)?;
        let (addr, width, extend, _) = self.atomic_target(args, order, span)?;
        let (read, write) = halves(order);
        let dst = wanted.then(|| self.b.temp());
        let (read, write) = (ordered(read, to), ordered(write, to));
        self.b.emit(Instr::Rmw { dst, addr, width, extend, op, operand, read, write });
        Ok(dst.map_or(ZERO, Operand::Reg))
    }

    fn fetch(
        &mut self,
        op: RmwOp,
        order: Order,
        new: bool,
        args: &[Expr],
        wanted: bool,
        expr: &Expr,
    ) -> Res<Operand> {
        if !(new && wanted) {
            return self.rmw(op, order, args, wanted, expr.span);
        }
        // The operand is needed twice: for the operation and for its result.
        let operand = self.value(&args[1])?;
        let to = self.pointee(args, expr.span)?;
        let (addr, width, extend, _) = self.atomic_target(args, order, expr.span)?;
        let (read, write) = halves(order);
        let dst = self.b.temp();
        let (read, write) = (ordered(read, to), ordered(write, to));
        self.b.emit(Instr::Rmw { dst: Some(dst), addr, width, extend, op, operand, read, write });
        let old = Operand::Reg(dst);
        let binary = match op {
            RmwOp::Add => BinaryOp::Add,
            RmwOp::Sub => BinaryOp::Sub,
            RmwOp::Or => BinaryOp::Or,
            RmwOp::Xor => BinaryOp::Xor,
            RmwOp::And | RmwOp::Nand => BinaryOp::And,
            RmwOp::MaxS | RmwOp::MinS | RmwOp::MaxU | RmwOp::MinU => {
                let compare = match op {
                    RmwOp::MaxS => BinaryOp::GtS,
                    RmwOp::MinS => BinaryOp::LtS,
                    RmwOp::MaxU => BinaryOp::GtU,
                    _ => BinaryOp::LtU,
                };
                let kept = self.binary(compare, width, Extend::Zero, old, operand);
                return Ok(self.b.compute(fencepost_ir::Rvalue::Select(kept, old, operand)));
            }
            _ => return fail(expr.span, "this operation has no result"),
        };
        let result = self.binary(binary, width, extend, old, operand);
        Ok(match op {
            RmwOp::Nand => self.unary(fencepost_ir::UnaryOp::Not, width, extend, result),
            _ => result,
        })
    }

    /// The place that a pointer argument points to; `&x` is `x` itself, which may be a register.
    pub(super) fn through(&mut self, pointer: &Expr) -> Res<Place> {
        let inner = strip_casts(self.unit, pointer);
        if let ExprKind::AddrOf(place) = &inner.kind {
            let place = self.place(place)?;
            // An array becomes a pointer to its first element.
            let element = self.unit.types.pointee(inner.ty.ty).filter(|to| to.ty != place.ty.ty);
            return Ok(Place { ty: element.unwrap_or(place.ty), ..place });
        }
        let Some(to) = self.unit.types.pointee(inner.ty.ty) else {
            return fail(pointer.span, "expected a pointer");
        };
        Ok(Place::memory(self.value(inner)?, to))
    }

    fn compare_exchange(
        &mut self,
        success: Order,
        failure: Order,
        weak: bool,
        args: &[Expr],
        wanted: bool,
        span: Span,
    ) -> Res<Operand> {
        let to = self.pointee(args, span)?;
        let desired = self.atomic_operand(args, 2)?;
        let expected_place = self.through(&args[1])?;
        let record = self.unit.types.is_record(to.ty);
        let expected = match record {
            true => self.pack(expected_place, span)?,
            false => self.load(expected_place, span)?,
        };
        let (addr, width, extend, _) = self.atomic_target(args, success, span)?;
        let (read, write) = halves(success);
        let in_register = matches!(expected_place.at, Where::Register(_));
        let (old, done) = (self.b.temp(), self.b.temp());
        self.b.emit(Instr::CompareExchange {
            dst: Some(old),
            success: (wanted || !in_register).then_some(done),
            addr,
            width,
            extend,
            expected,
            desired,
            read: ordered(read, to),
            write: ordered(write, to),
            failure: ordered(failure, to),
            weak,
        });
        if let Where::Register(reg) = expected_place.at {
            // On success the old value is the expected one, so the assignment needs no branch.
            self.b.emit(Instr::Assign { dst: reg, value: fencepost_ir::Rvalue::Use(Operand::Reg(old)) });
            return Ok(Operand::Reg(done));
        }
        let (failed, end) = (self.b.target(), self.b.target());
        self.b.branch(Operand::Reg(done), end, failed);
        self.b.bind(failed);
        match record {
            true => self.unpack(Operand::Reg(old), expected_place, span)?,
            false => {
                self.store(expected_place, Operand::Reg(old), span)?;
            }
        }
        self.b.bind(end);
        Ok(Operand::Reg(done))
    }

    fn compare_swap(
        &mut self,
        success: Order,
        failure: Order,
        result: CasResult,
        args: &[Expr],
        span: Span,
    ) -> Res<Operand> {
        let to = self.pointee(args, span)?;
        let expected = self.atomic_operand(args, 1)?;
        let desired = self.atomic_operand(args, 2)?;
        let (addr, width, extend, _) = self.atomic_target(args, success, span)?;
        let (read, write) = halves(success);
        let made = self.b.temp();
        let (dst, done) = match result {
            CasResult::Old => (Some(made), None),
            CasResult::Success => (None, Some(made)),
        };
        self.b.emit(Instr::CompareExchange {
            dst,
            success: done,
            addr,
            width,
            extend,
            expected,
            desired,
            read: ordered(read, to),
            write: ordered(write, to),
            failure: ordered(failure, to),
            weak: false,
        });
        Ok(Operand::Reg(made))
    }

    fn await_cell(&mut self, builtin: &Builtin, args: &[Expr], wanted: bool, span: Span) -> Res<Operand> {
        let to = self.pointee(args, span)?;
        let condition = self.value(&args[1])?;
        let dst = wanted.then(|| self.b.temp());
        match builtin {
            Builtin::AwaitRmw(until, op, order) => {
                let operand = self.value(&args[2])?;
                let (addr, width, extend, _) = self.atomic_target(args, *order, span)?;
                let (read, write) = halves(*order);
                let (read, write) = (ordered(read, to), ordered(write, to));
                let until = Until { op: *until, operand: condition };
                self.b.emit(Instr::AwaitRmw {
                    dst,
                    addr,
                    width,
                    extend,
                    until,
                    op: *op,
                    operand,
                    read,
                    write,
                });
            }
            Builtin::Await(until, order) => {
                let (addr, width, extend, ann) = self.atomic_target(args, *order, span)?;
                let until = Until { op: *until, operand: condition };
                self.b.emit(Instr::Await { dst, addr, width, extend, until, ann });
            }
            _ => return fail(span, "expected a wait"),
        }
        Ok(dst.map_or(ZERO, Operand::Reg))
    }

    fn lock(&mut self, builtin: &Builtin, args: &[Expr], span: Span) -> Res<Operand> {
        let Some(pointer) = args.first() else { return fail(span, "expected a pointer") };
        let addr = self.value(pointer)?;
        match builtin {
            Builtin::Lock => self.b.emit(Instr::Lock(addr)),
            Builtin::Unlock => self.b.emit(Instr::Unlock(addr)),
            _ => {
                let dst = self.b.temp();
                self.b.emit(Instr::TryLock { dst, addr });
                return Ok(Operand::Reg(dst));
            }
        }
        Ok(ZERO)
    }

    fn assert(&mut self, message: &str, args: &[Expr]) -> Res<Operand> {
        if let Some(condition) = args.first() {
            let condition = self.observed(condition)?;
            self.b.emit(Instr::Assert {
                condition,
                kind: fencepost_ir::FailKind::Assertion,
                message: format!("assertion `{message}` fails"),
            });
        }
        Ok(ZERO)
    }
}

/// The annotation of an access of an order to an object.
fn ordered(order: Order, to: QTy) -> Ann {
    Ann { volatile: to.quals.has(Quals::VOLATILE), ..Ann::order(order) }
}
