//! `malloc` and its kin, `memset`, `memcpy` and `memcmp`: split into accesses of the size that the pointers' types say.

use super::Body;
use super::escape::strip_casts;
use super::library::Library;
use crate::ast::Expr;
use crate::layout::TypeCell;
use crate::parser::{Res, fail, unsupported};
use crate::types::{QTy, Ty, TypeKind};
use fencepost_diag::Span;
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Operand, Reg, Value, Width};

/// Constant sizes up to this many accesses are written out; larger ones become loops.
const UNROLLED: u64 = 64;

/// What a block operation is split into: the cells of an element, and its size.
struct Element {
    cells: Vec<TypeCell>,
    size: u64,
}

impl Body<'_, '_> {
    pub(super) fn allocate(&mut self, function: Library, args: &[Expr]) -> Res<Operand> {
        let first = self.value(&args[0])?;
        let (size, zeroed) = match function {
            Library::Malloc => (first, false),
            Library::Calloc => {
                let size = self.value(&args[1])?;
                (self.binary(BinaryOp::Mul, Width::W64, Extend::Zero, first, size), true)
            }
            _ => (self.value(&args[1])?, false),
        };
        let dst = self.b.temp();
        self.b.emit(Instr::Alloc { dst, size, zeroed });
        Ok(Operand::Reg(dst))
    }

    /// The type that a pointer argument had before it became `void *`.
    fn static_pointee(&self, pointer: &Expr) -> Option<QTy> {
        let to = self.unit.types.pointee(strip_casts(self.unit, pointer).ty.ty)?;
        match self.unit.types.kind(to.ty) {
            TypeKind::Void | TypeKind::Function { .. } => None,
            _ => self.unit.types.size(to.ty).filter(|s| *s > 0).map(|_| to),
        }
    }

    /// The element type of a block operation: that of the first pointer that has one other than bytes.
    fn element(&self, pointers: &[&Expr], span: Span) -> Res<Element> {
        let known: Vec<QTy> = pointers.iter().filter_map(|p| self.static_pointee(p)).collect();
        let bytes = |ty: &&QTy| matches!(ty.ty, Ty::CHAR | Ty::SCHAR | Ty::UCHAR);
        let Some(ty) = known.iter().find(|ty| !bytes(ty)).or(known.first()) else {
            return unsupported(
                span,
                "a block operation on pointers whose types say nothing about the object",
                "cast the pointers to the type of the object",
            );
        };
        let size = self.unit.types.size(ty.ty).unwrap_or(1);
        Ok(Element { cells: self.disjoint_cells(QTy::plain(ty.ty), span)?, size })
    }

    /// Runs `each` for the byte offset of every element of the first `size` bytes.
    fn each_element(
        &mut self,
        size: Operand,
        element: &Element,
        span: Span,
        mut each: impl FnMut(&mut Self, Operand) -> Res<()>,
    ) -> Res<()> {
        if let Operand::Const(bytes) = size {
            if bytes.0 % element.size != 0 {
                return unsupported(
                    span,
                    format!("a block of {} bytes of objects of {} bytes", bytes.0, element.size),
                    "give a size that is a multiple of the object's size",
                );
            }
            let count = bytes.0 / element.size;
            if count * element.cells.len() as u64 <= UNROLLED {
                for i in 0..count {
                    each(self, Operand::Const(Value(i * element.size)))?;
                }
                return Ok(());
            }
        }
        let index: Reg = self.b.temp();
        let (head, inside, end) = (self.b.target(), self.b.target(), self.b.target());
        self.b.assign(index, Operand::Const(Value::ZERO));
        self.b.bind(head);
        let more = self.binary(BinaryOp::LtU, Width::W64, Extend::Zero, Operand::Reg(index), size);
        self.b.branch(more, inside, end);
        self.b.bind(inside);
        each(self, Operand::Reg(index))?;
        let step = Operand::Const(Value(element.size));
        let next = self.binary(BinaryOp::Add, Width::W64, Extend::Zero, Operand::Reg(index), step);
        self.b.assign(index, next);
        self.b.jump(head);
        self.b.bind(end);
        Ok(())
    }

    fn cell_address(&mut self, base: Operand, element: Operand, cell: &TypeCell) -> Operand {
        let at = self.binary(BinaryOp::Add, Width::W64, Extend::Zero, base, element);
        self.offset(at, cell.offset)
    }

    pub(super) fn memset(&mut self, args: &[Expr], span: Span) -> Res<Operand> {
        let element = self.element(&[&args[0]], span)?;
        let base = self.value(&args[0])?;
        let byte = self.value(&args[1])?;
        let size = self.value(&args[2])?;
        let low = self.binary(BinaryOp::And, Width::W64, Extend::Zero, byte, Operand::Const(Value(0xff)));
        let repeat = Operand::Const(Value(0x0101_0101_0101_0101));
        let word = self.binary(BinaryOp::Mul, Width::W64, Extend::Zero, low, repeat);
        self.each_element(size, &element, span, |body, at| {
            for cell in &element.cells {
                let mark = body.b.mark();
                let addr = body.cell_address(base, at, cell);
                let value = match word {
                    Operand::Const(value) => Operand::Const(cell.width.zero_extend(value)),
                    other => other,
                };
                body.b.emit(Instr::Store { addr, value, width: cell.width, ann: Ann::PLAIN });
                body.b.release(mark);
            }
            Ok(())
        })?;
        Ok(base)
    }

    pub(super) fn memcpy(&mut self, args: &[Expr], span: Span) -> Res<Operand> {
        let element = self.element(&[&args[0], &args[1]], span)?;
        let (to, from) = (self.value(&args[0])?, self.value(&args[1])?);
        let size = self.value(&args[2])?;
        self.copy_elements(to, from, size, &element, span)?;
        Ok(to)
    }

    fn copy_elements(
        &mut self,
        to: Operand,
        from: Operand,
        size: Operand,
        element: &Element,
        span: Span,
    ) -> Res<()> {
        self.each_element(size, element, span, |body, at| {
            for cell in &element.cells {
                let mark = body.b.mark();
                let addr = body.cell_address(from, at, cell);
                let dst = body.b.temp();
                let (width, ann) = (cell.width, Ann::PLAIN);
                body.b.emit(Instr::CopyLoad { dst, addr, width, extend: Extend::Zero, ann });
                let addr = body.cell_address(to, at, cell);
                body.b.emit(Instr::Store { addr, value: Operand::Reg(dst), width, ann });
                body.b.release(mark);
            }
            Ok(())
        })
    }

    /// The first byte that differs decides, as C says, whatever the size of the cells.
    pub(super) fn memcmp(&mut self, args: &[Expr], span: Span) -> Res<Operand> {
        let element = self.element(&[&args[0], &args[1]], span)?;
        let (a, b) = (self.value(&args[0])?, self.value(&args[1])?);
        let size = self.value(&args[2])?;
        let result = self.b.temp();
        let done = self.b.target();
        self.each_element(size, &element, span, |body, at| {
            for cell in &element.cells {
                body.compare_cell(cell, a, b, at, result, done);
            }
            Ok(())
        })?;
        self.b.assign(result, Operand::Const(Value::ZERO));
        self.b.bind(done);
        Ok(Operand::Reg(result))
    }

    fn compare_cell(
        &mut self,
        cell: &TypeCell,
        a: Operand,
        b: Operand,
        at: Operand,
        result: Reg,
        done: super::Target,
    ) {
        let mark = self.b.mark();
        let read = |body: &mut Self, base: Operand| {
            let addr = body.cell_address(base, at, cell);
            let dst = body.b.temp();
            let (width, ann) = (cell.width, Ann::PLAIN);
            body.b.emit(Instr::Load { dst, addr, width, extend: Extend::Zero, ann });
            Operand::Reg(dst)
        };
        let (x, y) = (read(self, a), read(self, b));
        for byte in 0..cell.width.bytes() {
            let shift = Operand::Const(Value(u64::from(8 * byte)));
            let low = Operand::Const(Value(0xff));
            let part = |body: &mut Self, value: Operand| {
                let down = body.binary(BinaryOp::ShrU, Width::W64, Extend::Zero, value, shift);
                body.binary(BinaryOp::And, Width::W64, Extend::Zero, down, low)
            };
            let (p, q) = (part(self, x), part(self, y));
            let difference = self.binary(BinaryOp::Sub, Width::W32, Extend::Sign, p, q);
            self.b.emit(Instr::Assign { dst: result, value: fencepost_ir::Rvalue::Use(difference) });
            let next = self.b.target();
            self.b.branch(Operand::Reg(result), done, next);
            self.b.bind(next);
        }
        self.b.release(mark);
    }

    pub(super) fn reallocate(&mut self, args: &[Expr], span: Span) -> Res<Operand> {
        let element = self.element(&[&args[0]], span)?;
        let (old, size) = (self.value(&args[0])?, self.value(&args[1])?);
        let (dst, old_size) = (self.b.temp(), self.b.temp());
        self.b.emit(Instr::ObjectSize { dst: old_size, addr: old });
        self.b.emit(Instr::Alloc { dst, size, zeroed: false });
        let smaller = self.binary(BinaryOp::LtU, Width::W64, Extend::Zero, size, Operand::Reg(old_size));
        let (yes, no) = (self.b.target(), self.b.target());
        self.b.branch(smaller, yes, no);
        self.b.bind(yes);
        self.b.assign(old_size, size);
        self.b.bind(no);
        if element.size == 0 {
            return fail(span, "the objects have no size");
        }
        self.copy_elements(Operand::Reg(dst), old, Operand::Reg(old_size), &element, span)?;
        self.b.emit(Instr::Free(old));
        Ok(Operand::Reg(dst))
    }
}
