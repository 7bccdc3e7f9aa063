//! Places: where a value is read from and written to, with its type, and the accesses themselves.

use super::Body;
use crate::ast::{Expr, ExprKind, LocalId};
use crate::layout::width_of;
use crate::parser::{Res, fail, unsupported};
use crate::types::{Bits, QTy, Quals, Ty};
use fencepost_diag::Span;
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Operand, Order, Reg, Rvalue, UnaryOp, Value, Width};

/// Where an object is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    /// A variable in a register.
    Register(Reg),
    /// Memory: a pointer and a byte offset.
    Memory(Operand, u64),
}

/// A typed place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub at: Where,
    pub ty: QTy,
    pub bits: Option<Bits>,
}

impl Place {
    pub fn memory(address: Operand, ty: impl Into<QTy>) -> Place {
        Place { at: Where::Memory(address, 0), ty: ty.into(), bits: None }
    }
}

/// The annotation of an ordinary access to an object of a type.
pub(super) fn annotation(quals: Quals) -> Ann {
    let order = if quals.has(Quals::ATOMIC) { Order::SeqCst } else { Order::Plain };
    Ann { volatile: quals.has(Quals::VOLATILE), ..Ann::order(order) }
}

impl Body<'_, '_> {
    /// The place that an expression names.
    pub(super) fn place(&mut self, expr: &Expr) -> Res<Place> {
        let ty = expr.ty;
        let at = match &expr.kind {
            ExprKind::Local(local) => self.variable(*local, expr.span)?,
            ExprKind::Global(id) => Where::Memory(self.global_address(*id, expr.span)?, 0),
            ExprKind::Deref(pointer) => match &pointer.kind {
                ExprKind::PtrAdd(base, index, size) => match index.kind {
                    ExprKind::Int(n) if (n as i64).wrapping_mul(*size) >= 0 => {
                        let bytes = (n as i64).wrapping_mul(*size) as u64;
                        self.pointed(base, bytes)?
                    }
                    _ => Where::Memory(self.value(pointer)?, 0),
                },
                _ => self.pointed(pointer, 0)?,
            },
            ExprKind::Member(inner, offset, bits) => {
                let inner = self.place(inner)?;
                let Where::Memory(base, at) = inner.at else {
                    return fail(expr.span, "a member of a register");
                };
                return Ok(Place { at: Where::Memory(base, at + offset), ty, bits: *bits });
            }
            ExprKind::Compound(local, init) => {
                self.initialise(*local, init, expr.span)?;
                self.variable(*local, expr.span)?
            }
            ExprKind::Temporary(local, value) => {
                let at = self.variable(*local, expr.span)?;
                self.struct_into(value, Place { at, ty, bits: None })?;
                at
            }
            _ => return fail(expr.span, "this is a value, not a place in memory"),
        };
        Ok(Place { at, ty, bits: None })
    }

    /// What a pointer expression points to, `offset` bytes on; `&place` is that place again.
    fn pointed(&mut self, pointer: &Expr, offset: u64) -> Res<Where> {
        if let ExprKind::AddrOf(place) = &pointer.kind
            && let Where::Memory(base, at) = self.place(place)?.at
        {
            return Ok(Where::Memory(base, at + offset));
        }
        Ok(Where::Memory(self.value(pointer)?, offset))
    }

    /// A variable's register or object.
    pub(super) fn variable(&mut self, local: LocalId, span: Span) -> Res<Where> {
        let index = local.0 as usize;
        let reg = match self.registers[index] {
            Some(reg) => reg,
            None => {
                let name = self.def.locals[index].name.clone();
                let reg = self.b.register(if name.is_empty() { "temporary" } else { &name });
                self.registers[index] = Some(reg);
                reg
            }
        };
        if self.storage[index].is_object() {
            return Ok(Where::Memory(Operand::Reg(reg), 0));
        }
        if !self.unit.types.is_scalar(self.def.locals[index].ty.ty) {
            return fail(span, "an object without storage");
        }
        Ok(Where::Register(reg))
    }

    /// The address of a global variable.
    pub(super) fn global_address(&mut self, id: crate::ast::GlobalId, span: Span) -> Res<Operand> {
        let global = &self.unit.globals[id.0 as usize];
        if global.external {
            return Err(Box::new(
                fencepost_diag::Diagnostic::error(
                    span,
                    format!("`{}` is declared but not defined", global.name),
                )
                .related(global.span, "declared here")
                .hint("a program of several files is checked with `check --link a.c b.c`"),
            ));
        }
        let object = self.program.object_of(id);
        if global.thread_local {
            let dst = self.b.temp();
            self.b.emit(Instr::ThreadLocal { dst, object });
            return Ok(Operand::Reg(dst));
        }
        Ok(Operand::Const(Value::pointer(object, 0)))
    }

    /// The address of a place in memory.
    pub(super) fn address(&mut self, place: Place, span: Span) -> Res<Operand> {
        match place.at {
            Where::Memory(base, offset) => Ok(self.offset(base, offset)),
            Where::Register(_) => fail(span, "a register has no address"),
        }
    }

    /// A pointer moved by a constant.
    pub(super) fn offset(&mut self, base: Operand, offset: u64) -> Operand {
        if offset == 0 {
            return base;
        }
        self.binary(BinaryOp::Add, Width::W64, Extend::Zero, base, Operand::Const(Value(offset)))
    }

    /// The value of a scalar place.
    pub(super) fn load(&mut self, place: Place, span: Span) -> Res<Operand> {
        self.load_as(place, annotation(place.ty.quals), span)
    }

    /// The value of a scalar place, read with an annotation.
    pub(super) fn load_as(&mut self, place: Place, ann: Ann, span: Span) -> Res<Operand> {
        let (base, offset) = match place.at {
            Where::Register(reg) => return Ok(Operand::Reg(reg)),
            Where::Memory(base, offset) => (base, offset),
        };
        let addr = self.offset(base, offset);
        let dst = self.b.temp();
        let Some(bits) = place.bits else {
            let (width, extend) = self.scalar_shape(place.ty, span)?;
            self.b.emit(match self.wants_value(place, ann) {
                true => Instr::Load { dst, addr, width, extend, ann },
                false => Instr::CopyLoad { dst, addr, width, extend, ann, keeps: true },
            });
            return Ok(Operand::Reg(dst));
        };
        if bits.bytewise {
            let unit = self.load_bytes(addr, bits, false, ann);
            return Ok(self.extract(unit, bits, place.ty.ty));
        }
        let width = width_of(u64::from(bits.unit)).unwrap_or(Width::W64);
        self.b.emit(Instr::Load { dst, addr, width, extend: Extend::Zero, ann });
        Ok(self.extract(Operand::Reg(dst), bits, place.ty.ty))
    }

    /// Whether reading the place before it is written is a mistake by itself: it is a variable of a scalar type, or the
    /// access is atomic. What global variables hold is always defined, unless it was copied there.
    fn wants_value(&self, place: Place, ann: Ann) -> bool {
        let variable = |reg: Reg| {
            let declared = self.registers.iter().position(|r| *r == Some(reg));
            declared.is_some_and(|i| {
                self.storage[i].is_object() && self.unit.types.is_scalar(self.def.locals[i].ty.ty)
            })
        };
        match place.at {
            _ if ann.order != Order::Plain => true,
            Where::Register(_) | Where::Memory(Operand::Const(_), _) => true,
            Where::Memory(Operand::Reg(reg), _) => variable(reg),
        }
    }

    /// A unit of bit-fields that is read byte by byte.
    fn load_bytes(&mut self, addr: Operand, bits: Bits, copying: bool, ann: Ann) -> Operand {
        let mut unit = Operand::Const(Value::ZERO);
        let (width, extend) = (Width::W8, Extend::Zero);
        for byte in 0..u64::from(bits.unit) {
            let (addr, dst) = (self.offset(addr, byte), self.b.temp());
            self.b.emit(match copying {
                true => Instr::CopyLoad { dst, addr, width, extend, ann, keeps: false },
                false => Instr::Load { dst, addr, width, extend, ann },
            });
            let shift = Operand::Const(Value(8 * byte));
            let part = self.binary(BinaryOp::Shl, Width::W64, extend, Operand::Reg(dst), shift);
            unit = self.binary(BinaryOp::Or, Width::W64, extend, part, unit);
        }
        unit
    }

    fn store_bytes(&mut self, addr: Operand, unit: Operand, bits: Bits, ann: Ann) {
        for byte in 0..u64::from(bits.unit) {
            let addr = self.offset(addr, byte);
            let shift = Operand::Const(Value(8 * byte));
            let value = self.binary(BinaryOp::ShrU, Width::W64, Extend::Zero, unit, shift);
            self.b.emit(Instr::Store { addr, value, width: Width::W8, ann });
        }
    }

    /// Width and extension of an access to an object of a scalar type.
    pub(super) fn scalar_shape(&self, ty: QTy, span: Span) -> Res<(Width, Extend)> {
        if ty.ty == Ty::LDOUBLE {
            return unsupported(span, "`long double`", "use `double`");
        }
        let size = self.unit.types.size(ty.ty);
        if size == Some(super::wide::BYTES) && self.unit.types.is_record(ty.ty) {
            return Ok((Width::W128, Extend::Zero));
        }
        match size.and_then(width_of) {
            Some(_) => Ok(self.shape(ty.ty)),
            None => fail(span, "this object cannot be accessed as a whole"),
        }
    }

    /// A bit-field out of its unit.
    fn extract(&mut self, unit: Operand, bits: Bits, ty: Ty) -> Operand {
        let (shift, width) = (u64::from(bits.shift), u64::from(bits.width));
        let constant = |n: u64| Operand::Const(Value(n));
        if self.unit.types.is_signed(ty) {
            let high =
                self.binary(BinaryOp::Shl, Width::W64, Extend::Zero, unit, constant(64 - shift - width));
            return self.binary(BinaryOp::ShrS, Width::W64, Extend::Zero, high, constant(64 - width));
        }
        let low = match shift {
            0 => unit,
            _ => self.binary(BinaryOp::ShrU, Width::W64, Extend::Zero, unit, constant(shift)),
        };
        self.binary(BinaryOp::And, Width::W64, Extend::Zero, low, constant(mask(width)))
    }

    /// Stores a value of the place's type; gives the value as it can be read back.
    pub(super) fn store(&mut self, place: Place, value: Operand, span: Span) -> Res<Operand> {
        self.store_as(place, value, annotation(place.ty.quals), span)
    }

    /// Stores with an annotation.
    pub(super) fn store_as(&mut self, place: Place, value: Operand, ann: Ann, span: Span) -> Res<Operand> {
        let (base, offset) = match place.at {
            Where::Register(reg) => {
                self.b.assign(reg, value);
                return Ok(Operand::Reg(reg));
            }
            Where::Memory(base, offset) => (base, offset),
        };
        let addr = self.offset(base, offset);
        let Some(bits) = place.bits else {
            let (width, _) = self.scalar_shape(place.ty, span)?;
            self.b.emit(Instr::Store { addr, value, width, ann });
            return Ok(value);
        };
        if bits.bytewise {
            let old = self.load_bytes(addr, bits, true, ann);
            let new = self.insert(old, value, bits);
            self.store_bytes(addr, new, bits, ann);
        } else {
            let width = width_of(u64::from(bits.unit)).unwrap_or(Width::W64);
            let old = self.b.temp();
            // The other fields of the unit may be uninitialised, and stay so as far as C is concerned.
            let extend = Extend::Zero;
            self.b.emit(Instr::CopyLoad { dst: old, addr, width, extend, ann, keeps: false });
            let new = self.insert(Operand::Reg(old), value, bits);
            self.b.emit(Instr::Store { addr, value: new, width, ann });
        }
        let field = self.binary(
            BinaryOp::Shl,
            Width::W64,
            Extend::Zero,
            value,
            Operand::Const(Value(u64::from(bits.shift))),
        );
        Ok(self.extract(field, bits, place.ty.ty))
    }

    /// A unit with a bit-field replaced.
    pub(super) fn insert(&mut self, unit: Operand, value: Operand, bits: Bits) -> Operand {
        let keep = Operand::Const(Value(!(mask(u64::from(bits.width)) << bits.shift)));
        let others = self.binary(BinaryOp::And, Width::W64, Extend::Zero, unit, keep);
        let low = Operand::Const(Value(mask(u64::from(bits.width))));
        let field = self.binary(BinaryOp::And, Width::W64, Extend::Zero, value, low);
        let shift = Operand::Const(Value(u64::from(bits.shift)));
        let placed = self.binary(BinaryOp::Shl, Width::W64, Extend::Zero, field, shift);
        self.binary(BinaryOp::Or, Width::W64, Extend::Zero, others, placed)
    }

    /// A binary operation, computed now if both operands are constants.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        width: Width,
        extend: Extend,
        a: Operand,
        b: Operand,
    ) -> Operand {
        if let (Operand::Const(x), Operand::Const(y)) = (a, b)
            && let Some(value) = op.apply(width, x, y)
        {
            return Operand::Const(width.extend(extend, value));
        }
        let zero = Operand::Const(Value::ZERO);
        let neutral = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Shl | BinaryOp::Or);
        if neutral && b == zero && width == Width::W64 {
            return a;
        }
        self.b.compute(Rvalue::Binary(op, width, extend, a, b))
    }

    /// A unary operation, computed now if its operand is a constant.
    pub(super) fn unary(&mut self, op: UnaryOp, width: Width, extend: Extend, a: Operand) -> Operand {
        if let Operand::Const(x) = a {
            return Operand::Const(width.extend(extend, op.apply(width, x)));
        }
        self.b.compute(Rvalue::Unary(op, width, extend, a))
    }
}

/// The lowest so many bits.
pub(super) fn mask(width: u64) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}
