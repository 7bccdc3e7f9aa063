//! Constant evaluation: integers, floating-point numbers and addresses of static objects.

use crate::ast::{ArithOp, Expr, ExprKind, FuncId, GlobalId, PrefixOp, Unit};
use crate::layout::width_of;
use crate::parser::Parser;
use crate::types::{Quals, Ty, TypeKind, Types};
use fencepost_ir::{Extend, Value, Width};

/// What a constant address is relative to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Base {
    /// A global variable or string.
    Global(GlobalId),
    /// A function.
    Function(FuncId),
}

/// A constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Const {
    /// An integer or null pointer, extended to 64 bits as its type says.
    Int(u64),
    /// A floating-point number.
    Float(f64),
    /// An address.
    Address(Base, i64),
}

impl Parser<'_> {
    /// The constant that an expression is.
    pub(crate) fn evaluate(&self, expr: &Expr) -> Option<Const> {
        evaluate(&self.unit, expr)
    }

    /// The integer that an expression is.
    pub(crate) fn evaluate_integer(&self, expr: &Expr) -> Option<i64> {
        match self.evaluate(expr)? {
            Const::Int(bits) => Some(bits as i64),
            _ => None,
        }
    }
}

/// How values of a scalar type are kept in 64 bits.
pub fn representation(types: &Types, ty: Ty) -> (Width, Extend) {
    let width = types.size(ty).and_then(width_of).unwrap_or(Width::W64);
    (width, if types.is_signed(ty) { Extend::Sign } else { Extend::Zero })
}

/// The constant that an expression is; `None` if it depends on the run.
pub fn evaluate(unit: &Unit, expr: &Expr) -> Option<Const> {
    let types = &unit.types;
    let ty = expr.ty.ty;
    match &expr.kind {
        ExprKind::Int(bits) => Some(Const::Int(*bits)),
        ExprKind::Float(value) => Some(Const::Float(*value)),
        ExprKind::Function(id) => Some(Const::Address(Base::Function(*id), 0)),
        ExprKind::AddrOf(place) => place_address(unit, place),
        ExprKind::Load(place) => constant_object(unit, place),
        ExprKind::Cast(inner) => convert(types, evaluate(unit, inner)?, inner.ty.ty, ty),
        ExprKind::Prefix(op, inner) => prefix(types, *op, evaluate(unit, inner)?, ty),
        ExprKind::Binary(op, left, right) => {
            binary(types, *op, evaluate(unit, left)?, evaluate(unit, right)?, left.ty.ty, ty)
        }
        ExprKind::PtrAdd(pointer, index, size) => {
            let Const::Int(index) = evaluate(unit, index)? else { return None };
            let bytes = (index as i64).wrapping_mul(*size);
            match evaluate(unit, pointer)? {
                Const::Address(base, offset) => Some(Const::Address(base, offset.wrapping_add(bytes))),
                Const::Int(at) => Some(Const::Int(at.wrapping_add(bytes as u64))),
                Const::Float(_) => None,
            }
        }
        ExprKind::PtrDiff(left, right, size) => {
            let (Const::Address(a, x), Const::Address(b, y)) =
                (evaluate(unit, left)?, evaluate(unit, right)?)
            else {
                return None;
            };
            (a == b).then(|| Const::Int(((x - y) / (*size).max(1) as i64) as u64))
        }
        ExprKind::Logical(and, left, right) => {
            let left = truth(evaluate(unit, left)?);
            if left != *and {
                return Some(Const::Int(u64::from(left)));
            }
            Some(Const::Int(u64::from(truth(evaluate(unit, right)?))))
        }
        ExprKind::Cond(condition, then, otherwise) => {
            evaluate(unit, if truth(evaluate(unit, condition)?) { then } else { otherwise })
        }
        ExprKind::Elvis(value, otherwise) => {
            let value = evaluate(unit, value)?;
            if truth(value) { Some(value) } else { evaluate(unit, otherwise) }
        }
        _ => None,
    }
}

/// The value of a `const` object of static storage: GCC and clang take it for a constant, too.
fn constant_object(unit: &Unit, place: &Expr) -> Option<Const> {
    let ExprKind::Global(id) = place.kind else { return None };
    let global = &unit.globals[id.0 as usize];
    let plain = global.ty.quals.has(Quals::CONST)
        && !global.ty.quals.has(Quals::VOLATILE)
        && !global.ty.quals.has(Quals::ATOMIC);
    if !plain || global.external || global.thread_local || !unit.types.is_scalar(global.ty.ty) {
        return None;
    }
    match global.init.as_ref().map(|init| &init.items[..]) {
        Some([item]) => evaluate(unit, &item.value),
        _ => None,
    }
}

fn truth(value: Const) -> bool {
    match value {
        Const::Int(bits) => bits != 0,
        Const::Float(value) => value != 0.0,
        Const::Address(..) => true,
    }
}

fn place_address(unit: &Unit, place: &Expr) -> Option<Const> {
    match &place.kind {
        ExprKind::Global(id) if !unit.globals[id.0 as usize].thread_local => {
            Some(Const::Address(Base::Global(*id), 0))
        }
        ExprKind::Member(inner, offset, None) => match place_address(unit, inner)? {
            Const::Address(base, at) => Some(Const::Address(base, at + *offset as i64)),
            Const::Int(at) => Some(Const::Int(at + *offset)),
            Const::Float(_) => None,
        },
        ExprKind::Deref(pointer) => evaluate(unit, pointer),
        _ => None,
    }
}

fn wrap(types: &Types, bits: u64, ty: Ty) -> u64 {
    let (width, extend) = representation(types, ty);
    width.extend(extend, Value(bits)).0
}

fn convert(types: &Types, value: Const, from: Ty, to: Ty) -> Option<Const> {
    Some(match (value, types.kind(to)) {
        (value, TypeKind::Bool) => Const::Int(u64::from(truth(value))),
        (Const::Int(bits), TypeKind::Int { .. }) => Const::Int(wrap(types, bits, to)),
        (Const::Int(bits), TypeKind::Pointer(_)) => Const::Int(bits),
        (Const::Int(bits), TypeKind::Float | TypeKind::Double) => {
            let value = if types.is_signed(from) { bits as i64 as f64 } else { bits as f64 };
            Const::Float(if to == Ty::FLOAT { f64::from(value as f32) } else { value })
        }
        (Const::Float(value), TypeKind::Float) => Const::Float(f64::from(value as f32)),
        (Const::Float(value), TypeKind::Double) => Const::Float(value),
        (Const::Float(value), TypeKind::Int { .. }) => {
            let bits = if value < 0.0 { value as i64 as u64 } else { value as u64 };
            Const::Int(wrap(types, bits, to))
        }
        (Const::Address(base, offset), TypeKind::Pointer(_)) => Const::Address(base, offset),
        (Const::Address(base, offset), TypeKind::Int { size: 8, .. }) => Const::Address(base, offset),
        _ => return None,
    })
}

fn prefix(types: &Types, op: PrefixOp, value: Const, ty: Ty) -> Option<Const> {
    Some(match (op, value) {
        (PrefixOp::Neg, Const::Int(bits)) => Const::Int(wrap(types, bits.wrapping_neg(), ty)),
        (PrefixOp::Neg, Const::Float(value)) => Const::Float(-value),
        (PrefixOp::BitNot, Const::Int(bits)) => Const::Int(wrap(types, !bits, ty)),
        (PrefixOp::Not, value) => Const::Int(u64::from(!truth(value))),
        _ => return None,
    })
}

fn binary(types: &Types, op: ArithOp, left: Const, right: Const, operands: Ty, ty: Ty) -> Option<Const> {
    match (left, right) {
        (Const::Int(a), Const::Int(b)) => {
            let (width, _) = representation(types, operands);
            let op = op.integer(types.is_signed(operands));
            let value = op.apply(width, Value(a), Value(b))?;
            Some(Const::Int(wrap(types, value.0, ty)))
        }
        (Const::Float(a), Const::Float(b)) => {
            let number = match op {
                ArithOp::Add => a + b,
                ArithOp::Sub => a - b,
                ArithOp::Mul => a * b,
                ArithOp::Div => a / b,
                _ => {
                    let holds = match op {
                        ArithOp::Eq => a == b,
                        ArithOp::Ne => a != b,
                        ArithOp::Lt => a < b,
                        ArithOp::Le => a <= b,
                        ArithOp::Gt => a > b,
                        ArithOp::Ge => a >= b,
                        _ => return None,
                    };
                    return Some(Const::Int(u64::from(holds)));
                }
            };
            Some(Const::Float(if ty == Ty::FLOAT { f64::from(number as f32) } else { number }))
        }
        (Const::Address(a, x), Const::Address(b, y)) if a == b && op.is_comparison() => {
            let value = op.integer(true).apply(Width::W64, Value::from_i64(x), Value::from_i64(y))?;
            Some(Const::Int(value.0))
        }
        (Const::Address(..), Const::Int(0)) | (Const::Int(0), Const::Address(..)) => match op {
            ArithOp::Eq => Some(Const::Int(0)),
            ArithOp::Ne => Some(Const::Int(1)),
            _ => None,
        },
        _ => None,
    }
}
