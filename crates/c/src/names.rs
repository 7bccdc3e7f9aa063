//! What the parts of objects are called, for reports: the members and elements of every variable, and of what `malloc`
//! and its kin return, by the type of the pointer that it is converted to.

use crate::ast::{Expr, ExprKind, Unit};
use crate::intern::Interner;
use crate::types::{Enumeration, QTy, Quals, Ty, TypeKind};
use fencepost_ir::names::{Member, Names, Scalar, Shape, ShapeId};
use rustc_hash::FxHashMap;

/// The names of a program.
pub fn collect(unit: &Unit, interner: &Interner) -> Names {
    let mut collector = Collector { unit, interner, names: Names::default(), known: FxHashMap::default() };
    for enumerators in &unit.enumerations {
        let named = enumerators.iter().map(|&(value, name)| (value, interner.text(name).to_string()));
        collector.names.add_enumeration(named.collect());
    }
    for global in &unit.globals {
        collector.declare(global.span, global.ty);
    }
    for function in &unit.functions {
        for local in &function.locals {
            collector.declare(local.span, local.ty);
        }
        if let Some(body) = &function.body {
            body.visit(&mut |expr| collector.allocation(expr));
        }
    }
    collector.names
}

struct Collector<'a> {
    unit: &'a Unit,
    interner: &'a Interner,
    names: Names,
    known: FxHashMap<(Ty, u32), ShapeId>,
}

impl Collector<'_> {
    /// A variable.
    fn declare(&mut self, at: fencepost_diag::Span, ty: QTy) {
        let shape = self.shape(ty);
        self.names.declare(at, shape);
    }

    /// A call whose result becomes a pointer to a structure: if it allocates, then that.
    fn allocation(&mut self, expr: &Expr) {
        let ExprKind::Cast(inner) = &expr.kind else { return };
        let Some(to) = self.unit.types.pointee(expr.ty.ty) else { return };
        let mut call = inner;
        while let ExprKind::Cast(inner) = &call.kind {
            call = inner;
        }
        let is_call = matches!(call.kind, ExprKind::Call(..) | ExprKind::Builtin(..));
        let size = self.unit.types.size(to.ty).filter(|size| *size > 0);
        if let (true, Some(stride), false) = (is_call, size, to.ty == Ty::CHAR) {
            let of = self.shape(to);
            let several = self.names.add(Shape::Array { of, stride: stride as u32 });
            self.names.declare(call.span, several);
        }
    }

    fn shape(&mut self, QTy { ty, quals, enumeration: Enumeration(enumeration) }: QTy) -> ShapeId {
        if self.unit.types.is_record(ty) && quals.has(Quals::ATOMIC) {
            let size = self.unit.types.size(ty).unwrap_or(0) as u32;
            let of = self.shape(QTy::plain(ty));
            return self.names.add(Shape::Whole { of, size });
        }
        if let Some(&known) = self.known.get(&(ty, enumeration)) {
            return known;
        }
        let size = |ty| self.unit.types.size(ty).unwrap_or(0) as u32;
        let shape = match self.unit.types.kind(ty) {
            TypeKind::Array(of, _) => {
                let (of, stride) = (*of, size(of.ty));
                Shape::Array { of: self.shape(of), stride }
            }
            TypeKind::Record(id) => {
                let record = &self.unit.types.records[id.0 as usize];
                let name = record.name.map_or(String::new(), |name| self.interner.text(name).to_string());
                let mut members = Vec::new();
                for field in &record.fields {
                    // What the library keeps in its own types has no name for its user.
                    let name = field.name.map_or("", |name| self.interner.text(name));
                    let name = if name.starts_with("__") { String::new() } else { name.to_string() };
                    let mut bytes = size(field.ty.ty);
                    if bytes == 0 {
                        // A flexible array member has what is left.
                        bytes = u32::MAX - field.offset as u32;
                    }
                    let (offset, shape) = (field.offset as u32, self.shape(field.ty));
                    members.push(Member { name, offset, size: bytes, shape });
                }
                Shape::Record { name, members }
            }
            TypeKind::Bool => Shape::Scalar(Scalar::Bool),
            TypeKind::Pointer(_) => Shape::Scalar(Scalar::Pointer),
            TypeKind::Int { .. } if enumeration > 0 => Shape::Scalar(Scalar::Enumeration(enumeration - 1)),
            TypeKind::Int { plain_char: true, .. } => Shape::Scalar(Scalar::Char),
            TypeKind::Int { signed: false, .. } => Shape::Scalar(Scalar::Unsigned),
            _ => Shape::Scalar(Scalar::Signed),
        };
        let shape = self.names.add(shape);
        self.known.insert((ty, enumeration), shape);
        shape
    }
}
