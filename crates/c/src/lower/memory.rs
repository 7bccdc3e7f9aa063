//! `malloc` and its kin, `memset`, `memcpy` and `memcmp`: split into accesses of the size that the pointers' types say.

use super::Body;
use super::escape::strip_casts;
use super::library::Library;
use crate::ast::Expr;
use crate::layout::TypeCell;
use crate::parser::Res;
use crate::types::{QTy, Ty, TypeKind};
use fencepost_diag::Span;
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Operand, Reg, Value, Width};

/// Constant sizes up to this many accesses are written out; larger ones become loops.
const UNROLLED: u64 = 64;

/// What a block operation is split into.
struct Element {
    /// The cells of an element.
    cells: Vec<TypeCell>,
    /// Its size.
    size: u64,
    /// The elements of the flexible array member that follows the one element: cells and size.
    rest: Option<(Vec<TypeCell>, u64)>,
}

impl Element {
    /// So many bytes as one cell.
    fn bytes(width: Width) -> Element {
        let ty = Ty::ULONG.into();
        let cells = vec![TypeCell { offset: 0, width, ty, unit: false }];
        Element { cells, size: u64::from(width.bytes()), rest: None }
    }
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
        let (some, end) = (self.b.target(), self.b.target());
        if self.unit.malloc_fails {
            let found = self.b.temp();
            self.b.emit(Instr::Nondet { dst: found, first: 0, last: 1 });
            self.b.assign(dst, Operand::Const(Value::ZERO));
            self.b.branch(Operand::Reg(found), some, end);
        }
        self.b.bind(some);
        self.b.emit(Instr::Alloc { dst, size, zeroed });
        self.b.bind(end);
        Ok(Operand::Reg(dst))
    }

    /// The type that a pointer argument had before it became `void *`, here or where the function was called.
    pub(super) fn static_pointee(&self, pointer: &Expr) -> Option<QTy> {
        let pointer = strip_casts(self.unit, pointer);
        let to = self.unit.types.pointee(pointer.ty.ty)?;
        match self.unit.types.kind(to.ty) {
            TypeKind::Void | TypeKind::Function { .. } => {
                match super::specialise::plain_local(pointer).map(|local| self.fact(local)) {
                    Some(super::Fact::Pointee(ty)) => Some(ty),
                    _ => None,
                }
            }
            _ => self.unit.types.size(to.ty).filter(|s| *s > 0).map(|_| to),
        }
    }

    /// The element type of a block operation: that of the first pointer that has one other than bytes. Without any,
    /// the block is taken eight bytes at a time.
    fn element(&self, pointers: &[&Expr], span: Span) -> Res<Element> {
        let known: Vec<QTy> = pointers.iter().filter_map(|p| self.static_pointee(p)).collect();
        let bytes = |ty: &&QTy| matches!(ty.ty, Ty::CHAR | Ty::SCHAR | Ty::UCHAR);
        let Some(ty) = known.iter().find(|ty| !bytes(ty)).or(known.first()) else {
            return Ok(Element::bytes(Width::W64));
        };
        let size = self.unit.types.size(ty.ty).unwrap_or(1);
        let cells = self.disjoint_cells(QTy::plain(ty.ty), span)?;
        let rest = match self.unit.types.flexible_element(ty.ty) {
            Some(of) => Some((
                self.disjoint_cells(QTy::plain(of.ty), span)?,
                self.unit.types.size(of.ty).unwrap_or(1),
            )),
            None => None,
        };
        Ok(Element { cells, size, rest })
    }

    /// Runs `each` for the byte offset and the cells of every element of the first `size` bytes. What is left of a block
    /// that is no multiple of the element's size is taken byte by byte.
    fn each_element(
        &mut self,
        size: Operand,
        element: &Element,
        backwards: bool,
        mut each: impl FnMut(&mut Self, Operand, &[TypeCell]) -> Res<()>,
    ) -> Res<()> {
        let byte = Element::bytes(Width::W8);
        if let Operand::Const(bytes) = size {
            let (steps, small) = constant_steps(element, bytes.0);
            if small {
                let order: Vec<usize> =
                    if backwards { (0..steps.len()).rev().collect() } else { (0..steps.len()).collect() };
                for i in order {
                    each(self, Operand::Const(Value(steps[i].0)), &steps[i].1)?;
                }
                return Ok(());
            }
        }
        let exact = match size {
            Operand::Const(bytes) => bytes.0 % element.size == 0 && element.rest.is_none(),
            _ => element.size == 1,
        };
        let zero = Operand::Const(Value::ZERO);
        if exact {
            return self.element_loop(zero, size, element.size, &element.cells, backwards, &mut each);
        }
        // Whole elements up to `whole`, then bytes; backwards the bytes come first.
        let (step, cells) = match &element.rest {
            Some((cells, size)) => (*size, cells.as_slice()),
            None => (element.size, element.cells.as_slice()),
        };
        let first = if element.rest.is_some() { element.size } else { 0 };
        let head = Operand::Const(Value(first));
        let has_head = self.binary(BinaryOp::GeU, Width::W64, Extend::Zero, size, head);
        let start = self.b.temp();
        self.b.assign(start, zero);
        if first > 0 {
            let (yes, no) = (self.b.target(), self.b.target());
            self.b.branch(has_head, yes, no);
            self.b.bind(yes);
            if !backwards {
                each(self, zero, &element.cells)?;
            }
            self.b.assign(start, head);
            self.b.bind(no);
        }
        let start = Operand::Reg(start);
        let body = self.binary(BinaryOp::Sub, Width::W64, Extend::Zero, size, start);
        let scale = Operand::Const(Value(step));
        let count = self.binary(BinaryOp::DivU, Width::W64, Extend::Zero, body, scale);
        let whole = self.binary(BinaryOp::Mul, Width::W64, Extend::Zero, count, scale);
        let end = self.binary(BinaryOp::Add, Width::W64, Extend::Zero, start, whole);
        if backwards {
            self.element_loop(end, size, 1, &byte.cells, true, &mut each)?;
            self.element_loop(start, end, step, cells, true, &mut each)?;
            if first > 0 {
                let (yes, no) = (self.b.target(), self.b.target());
                self.b.branch(has_head, yes, no);
                self.b.bind(yes);
                each(self, zero, &element.cells)?;
                self.b.bind(no);
            }
            return Ok(());
        }
        self.element_loop(start, end, step, cells, false, &mut each)?;
        self.element_loop(end, size, 1, &byte.cells, false, &mut each)
    }

    /// A loop over the offsets from `start` to `end`.
    fn element_loop(
        &mut self,
        start: Operand,
        end: Operand,
        step: u64,
        cells: &[TypeCell],
        backwards: bool,
        each: &mut impl FnMut(&mut Self, Operand, &[TypeCell]) -> Res<()>,
    ) -> Res<()> {
        let index: Reg = self.b.temp();
        let (head, inside, done) = (self.b.target(), self.b.target(), self.b.target());
        let step = Operand::Const(Value(step));
        let (first, compare, bound) =
            if backwards { (end, BinaryOp::GtU, start) } else { (start, BinaryOp::LtU, end) };
        self.b.emit(Instr::Assign { dst: index, value: fencepost_ir::Rvalue::Use(first) });
        self.b.bind(head);
        let more = self.binary(compare, Width::W64, Extend::Zero, Operand::Reg(index), bound);
        self.b.branch(more, inside, done);
        self.b.bind(inside);
        if backwards {
            let next = self.binary(BinaryOp::Sub, Width::W64, Extend::Zero, Operand::Reg(index), step);
            self.b.assign(index, next);
        }
        each(self, Operand::Reg(index), cells)?;
        if !backwards {
            let next = self.binary(BinaryOp::Add, Width::W64, Extend::Zero, Operand::Reg(index), step);
            self.b.assign(index, next);
        }
        self.b.jump(head);
        self.b.bind(done);
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
        self.each_element(size, &element, false, |body, at, cells| {
            for cell in cells {
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
        self.copy_elements(to, from, size, &element, false)?;
        Ok(to)
    }

    /// As if through a buffer: few cells go through registers, more are copied from the end that is not overwritten.
    pub(super) fn memmove(&mut self, args: &[Expr], span: Span) -> Res<Operand> {
        let element = self.element(&[&args[0], &args[1]], span)?;
        let (to, from) = (self.value(&args[0])?, self.value(&args[1])?);
        let size = self.value(&args[2])?;
        if let Operand::Const(bytes) = size {
            let (steps, small) = constant_steps(&element, bytes.0);
            if small {
                self.move_cells(to, from, &steps);
                return Ok(to);
            }
        }
        let (forwards, backwards, end) = (self.b.target(), self.b.target(), self.b.target());
        let up = self.binary(BinaryOp::GtU, Width::W64, Extend::Zero, to, from);
        self.b.branch(up, backwards, forwards);
        self.b.bind(forwards);
        self.copy_elements(to, from, size, &element, false)?;
        self.b.jump(end);
        self.b.bind(backwards);
        self.copy_elements(to, from, size, &element, true)?;
        self.b.bind(end);
        Ok(to)
    }

    /// Reads all cells, then writes them.
    fn move_cells(&mut self, to: Operand, from: Operand, steps: &[(u64, Vec<TypeCell>)]) {
        let mark = self.b.mark();
        let mut read = Vec::new();
        for (at, cells) in steps {
            for cell in cells {
                let dst = self.b.temp();
                let inner = self.b.mark();
                let addr = self.cell_address(from, Operand::Const(Value(*at)), cell);
                let (width, extend, ann) = (cell.width, Extend::Zero, Ann::PLAIN);
                self.b.emit(Instr::CopyLoad { dst, addr, width, extend, ann, keeps: true });
                self.b.release(inner);
                read.push((at, cell, dst));
            }
        }
        for (at, cell, value) in read {
            let inner = self.b.mark();
            let addr = self.cell_address(to, Operand::Const(Value(*at)), cell);
            let value = Operand::Reg(value);
            self.b.emit(Instr::Store { addr, value, width: cell.width, ann: Ann::PLAIN });
            self.b.release(inner);
        }
        self.b.release(mark);
    }

    fn copy_elements(
        &mut self,
        to: Operand,
        from: Operand,
        size: Operand,
        element: &Element,
        backwards: bool,
    ) -> Res<()> {
        self.each_element(size, element, backwards, |body, at, cells| {
            for i in 0..cells.len() {
                let cell = &cells[if backwards { cells.len() - 1 - i } else { i }];
                let mark = body.b.mark();
                let addr = body.cell_address(from, at, cell);
                let dst = body.b.temp();
                let (width, extend, ann) = (cell.width, Extend::Zero, Ann::PLAIN);
                body.b.emit(Instr::CopyLoad { dst, addr, width, extend, ann, keeps: true });
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
        self.each_element(size, &element, false, |body, at, cells| {
            for cell in cells {
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

    /// With a null pointer it is `malloc`; the size of what was there is then 0.
    pub(super) fn reallocate(&mut self, args: &[Expr], span: Span) -> Res<Operand> {
        let element = self.element(&[&args[0]], span)?;
        let (old, size) = (self.value(&args[0])?, self.value(&args[1])?);
        let (dst, old_size) = (self.b.temp(), self.b.temp());
        let (found, end) = (self.b.target(), self.b.target());
        if self.unit.malloc_fails {
            let some = self.b.temp();
            self.b.emit(Instr::Nondet { dst: some, first: 0, last: 1 });
            self.b.assign(dst, Operand::Const(Value::ZERO));
            self.b.branch(Operand::Reg(some), found, end);
        }
        self.b.bind(found);
        self.b.emit(Instr::ObjectSize { dst: old_size, addr: old });
        self.b.emit(Instr::Alloc { dst, size, zeroed: false });
        let smaller = self.binary(BinaryOp::LtU, Width::W64, Extend::Zero, size, Operand::Reg(old_size));
        let (yes, no) = (self.b.target(), self.b.target());
        self.b.branch(smaller, yes, no);
        self.b.bind(yes);
        self.b.assign(old_size, size);
        self.b.bind(no);
        self.copy_elements(Operand::Reg(dst), old, Operand::Reg(old_size), &element, false)?;
        self.b.emit(Instr::Free(old));
        self.b.bind(end);
        Ok(Operand::Reg(dst))
    }
}

/// The offsets and cells of a block of constant size, and whether they are few enough to be written out.
fn constant_steps(element: &Element, bytes: u64) -> (Vec<(u64, Vec<TypeCell>)>, bool) {
    let mut steps = Vec::new();
    let (mut at, mut accesses) = (0, 0);
    while at < bytes && accesses <= UNROLLED {
        let (cells, size) = match &element.rest {
            Some((cells, size)) if at > 0 => (cells, *size),
            _ => (&element.cells, element.size),
        };
        if at + size <= bytes {
            accesses += cells.len() as u64;
            steps.push((at, cells.clone()));
            at += size;
            continue;
        }
        // The cells that fit, then single bytes.
        let left = bytes - at;
        let end = |cell: &TypeCell| cell.offset + u64::from(cell.width.bytes());
        let fitting: Vec<TypeCell> = cells.iter().copied().filter(|cell| end(cell) <= left).collect();
        let mut next = fitting.iter().map(end).max().unwrap_or(0);
        steps.push((at, fitting));
        // Padding behind the last whole cell is nobody's.
        if cells.iter().any(|cell| cell.offset < left && end(cell) > left) {
            while next < left {
                steps.push((at + next, Element::bytes(Width::W8).cells));
                next += 1;
            }
        }
        at = bytes;
    }
    let small = accesses <= UNROLLED && steps.len() as u64 <= UNROLLED;
    (steps, small)
}
