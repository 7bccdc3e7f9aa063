//! Initialisers: of global objects as cell values, of local ones as stores.

use super::places::{Place, Where};
use super::{Body, Lowerer, sort_cells, too_many_cells};
use crate::ast::{Expr, GlobalId, Init, InitItem, LocalId};
use crate::layout::TypeCell;
use crate::parser::{Res, fail};
use crate::sema::{Base, Const, evaluate, representation};
use crate::types::{QTy, Ty};
use fencepost_diag::Span;
use fencepost_ir::{Ann, Cell, Instr, Operand, Value, Width};

impl Lowerer<'_> {
    /// Fills in the cells of all objects that do not have them yet. Addresses in initialisers may add objects.
    pub(super) fn globals(&mut self) -> Res<()> {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for index in 0..self.unit.globals.len() {
                let Some(object) = self.global_objects[index] else { continue };
                if self.objects[object.0 as usize].size == 0
                    && !std::mem::replace(&mut self.filled[index], true)
                {
                    self.global(GlobalId(index as u32))?;
                    changed = true;
                }
            }
        }
        Ok(())
    }

    fn global(&mut self, id: GlobalId) -> Res<()> {
        let unit = self.unit;
        let global = &unit.globals[id.0 as usize];
        let size = unit.types.size(global.ty.ty).unwrap_or(0);
        let Some(cells) = unit.types.cells(global.ty) else {
            return too_many_cells(global.span);
        };
        let zero = |c: &TypeCell, at: u64| Cell {
            offset: (at + c.offset) as u32,
            width: c.width,
            init: Some(Value::ZERO),
        };
        let mut values: Vec<Cell> = Vec::with_capacity(cells.len());
        let wide: Vec<&TypeCell> = cells.iter().filter(|c| self.is_wide(c)).collect();
        for cell in &cells {
            match self.is_wide(cell) {
                true => {
                    let parts = unit.types.cells(QTy::plain(cell.ty.ty)).unwrap_or_default();
                    values.extend(parts.iter().map(|part| zero(part, cell.offset)));
                }
                false => values.push(zero(cell, 0)),
            }
        }
        if let Some(init) = &global.init {
            let mut places = Places::of(&values);
            for item in &init.items {
                self.static_item(&mut places, &mut values, item)?;
            }
        }
        for cell in wide {
            self.join_cells(&mut values, cell.offset as u32, global.span)?;
        }
        sort_cells(&mut values);
        if let Some(object) = self.global_objects[id.0 as usize] {
            let object = &mut self.objects[object.0 as usize];
            // A flexible array member's cells lie beyond the struct, and so does its storage.
            let extent = values.iter().map(|c| c.offset + c.width.bytes()).max().unwrap_or(0);
            (object.size, object.cells) = (extent.max(size as u32), values);
        }
        Ok(())
    }

    fn static_item(&mut self, places: &mut Places, values: &mut Vec<Cell>, item: &InitItem) -> Res<()> {
        let Some(value) = self.constant(&item.value) else {
            return fail(item.value.span, "this initialiser is not a constant");
        };
        let offset = item.offset as u32;
        if let Some(bits) = item.bits {
            let start = 8 * u64::from(offset) + u64::from(bits.shift);
            for index in places.overlapping(offset, u32::from(bits.unit)) {
                insert_bits(&mut values[index], start, u64::from(bits.width), value.0);
            }
            return Ok(());
        }
        let (width, _) = representation(&self.unit.types, item.ty.ty);
        let value = width.zero_extend(value);
        let mut found = false;
        for index in places.overlapping(offset, width.bytes()) {
            let cell = &mut values[index];
            let end = cell.offset + cell.width.bytes();
            if cell.offset == offset && cell.width == width {
                cell.init = Some(value);
                found = true;
            } else if cell.offset < offset + width.bytes() && offset < end {
                // Another member of a union has what it shares with this one; parts of a pointer are no number.
                match value.as_pointer() {
                    Some(_) => cell.init = None,
                    None => insert_bits(cell, 8 * u64::from(offset), 8 * u64::from(width.bytes()), value.0),
                }
            }
        }
        if !found && !places.begins(offset) {
            // An element of a flexible array member.
            places.add(offset, values.len());
            values.push(Cell { offset, width, init: Some(value) });
        }
        Ok(())
    }

    /// A constant as the IR's value.
    pub(super) fn constant(&mut self, expr: &Expr) -> Option<Value> {
        Some(match evaluate(self.unit, expr)? {
            Const::Int(bits) => Value(bits),
            Const::Float(number) => super::expr::float_bits(number, expr.ty.ty),
            Const::Address(Base::Global(id), offset) => {
                if self.unit.globals[id.0 as usize].external {
                    return None;
                }
                let object = self.object_of(id);
                Value(Value::pointer(object, 0).0.wrapping_add(offset as u64))
            }
            Const::Address(Base::Function(id), _) => {
                self.unit.functions[id.0 as usize].body.as_ref()?;
                Value::function(self.function_id(id))
            }
        })
    }
}

/// The cells of an object by their offsets: objects with a hundred thousand cells are initialised one by one.
struct Places(std::collections::BTreeMap<u32, Vec<usize>>);

impl Places {
    fn of(cells: &[Cell]) -> Places {
        let mut places = Places(Default::default());
        cells.iter().enumerate().for_each(|(index, cell)| places.add(cell.offset, index));
        places
    }

    fn add(&mut self, offset: u32, index: usize) {
        self.0.entry(offset).or_default().push(index);
    }

    /// Some cell begins there.
    fn begins(&self, offset: u32) -> bool {
        self.0.contains_key(&offset)
    }

    /// The cells that may overlap so many bytes; no cell is wider than eight.
    fn overlapping(&self, offset: u32, bytes: u32) -> Vec<usize> {
        let range = offset.saturating_sub(7)..offset.saturating_add(bytes);
        self.0.range(range).flat_map(|(_, cells)| cells.iter().copied()).collect()
    }
}

/// Puts `width` bits from the bit `start` of the object on into a cell, as far as they lie in it.
fn insert_bits(cell: &mut Cell, start: u64, width: u64, value: u64) {
    let (first, length) = (8 * u64::from(cell.offset), 8 * u64::from(cell.width.bytes()));
    if start + width <= first || start >= first + length {
        return;
    }
    let Some(old) = cell.init else { return };
    let all = super::places::mask(width);
    let (mask, bits) = match start.checked_sub(first) {
        Some(up) => (all << up, (value & all) << up),
        None => (all >> (first - start), (value & all) >> (first - start)),
    };
    cell.init = Some(cell.width.zero_extend(Value(old.0 & !mask | bits)));
}

impl Body<'_, '_> {
    /// Makes constants the initial values of an object that is private, or that is `const` and must not be written at all, so
    /// that no stores are needed. Without labels the declaration is reached exactly once for every object that its
    /// block makes.
    pub(super) fn fold_initialiser(&mut self, local: LocalId, init: &Init) -> bool {
        let index = local.0 as usize;
        let private = self.storage[index] == super::Storage::Private;
        let ty = self.def.locals[index].ty;
        let constant = self.is_constant(ty);
        if !(private || constant) || !self.def.labels.is_empty() || ty.quals.has(crate::types::Quals::ATOMIC)
        {
            return false;
        }
        let (Some(place), Some(cells)) = (self.made_at[index], self.unit.types.cells(ty)) else {
            return false;
        };
        let overlap =
            |w: &[crate::layout::TypeCell]| w[0].offset + u64::from(w[0].width.bytes()) > w[1].offset;
        let start = (init.zero_rest || cells.windows(2).any(overlap)).then_some(Value::ZERO);
        let mut values: Vec<Cell> =
            cells.iter().map(|c| Cell { offset: c.offset as u32, width: c.width, init: start }).collect();
        let mut places = Places::of(&values);
        for item in &init.items {
            let constant =
                !self.unit.types.is_record(item.ty.ty) && evaluate(self.unit, &item.value).is_some();
            if !constant || self.program.static_item(&mut places, &mut values, item).is_err() {
                return false;
            }
        }
        sort_cells(&mut values);
        match self.b.at(place) {
            Some(Instr::Local { object, .. }) => {
                object.cells = values;
                object.constant = constant;
            }
            _ => return false,
        }
        true
    }

    /// Whether an object of the type is one that must not be written: `const`, or an array of such.
    fn is_constant(&self, ty: QTy) -> bool {
        let element = match self.unit.types.kind(ty.ty) {
            crate::types::TypeKind::Array(of, _) => return self.is_constant(of.with(ty.quals)),
            _ => ty.quals,
        };
        element.has(crate::types::Quals::CONST) && !element.has(crate::types::Quals::VOLATILE)
    }

    /// Initialises a variable where its declaration stands.
    pub(super) fn initialise(&mut self, local: LocalId, init: &Init, span: Span) -> Res<()> {
        let index = local.0 as usize;
        let ty = self.def.locals[index].ty;
        let at = self.variable(local, span)?;
        if let Where::Register(_) = at {
            let Some(item) = init.items.first() else { return Ok(()) };
            let value = self.value(&item.value)?;
            self.store(Place { at, ty, bits: None }, value, span)?;
            return Ok(());
        }
        if init.zero_rest {
            self.zero_cells(at, ty, &init.items, span)?;
        }
        self.zero_behind(at, ty, &init.items, span)?;
        for item in &init.items {
            self.init_item(at, item)?;
        }
        Ok(())
    }

    /// Zeroes what is left of a union whose member with an initialiser is shorter than another one. C leaves these bytes
    /// unspecified; they may be copied.
    fn zero_behind(&mut self, at: Where, ty: QTy, items: &[InitItem], span: Span) -> Res<()> {
        let Where::Memory(base, offset) = at else { return Ok(()) };
        let cells = self.cells(ty, span)?;
        if cells.windows(2).all(|w| w[0].offset + u64::from(w[0].width.bytes()) <= w[1].offset) {
            return Ok(());
        }
        let sizes = items.iter().map(|i| (i.offset, i.offset + self.unit.types.size(i.ty.ty).unwrap_or(0)));
        let written: Vec<(u64, u64)> = sizes.collect();
        let covered = |byte: u64| written.iter().any(|range| (range.0..range.1).contains(&byte));
        for cell in self.disjoint_cells(QTy::plain(ty.ty), span)? {
            let bytes = cell.offset..cell.offset + u64::from(cell.width.bytes());
            let open: Vec<u64> = bytes.clone().filter(|&byte| !covered(byte)).collect();
            // Cells that nobody writes are zeroed as a whole.
            if open.len() as u64 == bytes.end - bytes.start {
                continue;
            }
            for byte in open {
                let mark = self.b.mark();
                let addr = self.offset(base, offset + byte);
                let value = Operand::Const(Value::ZERO);
                self.b.emit(Instr::Store { addr, value, width: Width::W8, ann: Ann::PLAIN });
                self.b.release(mark);
            }
        }
        Ok(())
    }

    fn init_item(&mut self, at: Where, item: &InitItem) -> Res<()> {
        let Where::Memory(base, offset) = at else { return Ok(()) };
        let target = Place { at: Where::Memory(base, offset + item.offset), ty: item.ty, bits: item.bits };
        let mark = self.b.mark();
        if self.unit.types.is_record(item.ty.ty) {
            self.struct_into(&item.value, target)?;
        } else {
            let value = self.value(&item.value)?;
            // Initialisation is not an atomic access, even of an atomic object.
            self.store_as(target, value, Ann::PLAIN, item.value.span)?;
        }
        self.b.release(mark);
        Ok(())
    }

    /// Zeroes the cells that no item writes, and the storage units of bit-fields.
    fn zero_cells(&mut self, at: Where, ty: QTy, items: &[InitItem], span: Span) -> Res<()> {
        let Where::Memory(base, offset) = at else { return Ok(()) };
        let cells = self.cells(ty, span)?;
        let mut written: Vec<(u64, u64)> = Vec::new();
        for item in items.iter().filter(|i| i.bits.is_none()) {
            let size = self.unit.types.size(item.ty.ty).unwrap_or(0);
            written.push((item.offset, item.offset + size));
        }
        written.sort_unstable();
        let mut done: Vec<(u64, u64)> = Vec::new();
        for cell in cells {
            let range = (cell.offset, cell.offset + u64::from(cell.width.bytes()));
            let overlaps = |list: &[(u64, u64)]| {
                let after = list.partition_point(|r| r.0 < range.1);
                list[..after].iter().rev().take(4).any(|r| r.1 > range.0)
            };
            if overlaps(&written) || overlaps(&done) {
                continue;
            }
            done.push(range);
            let mark = self.b.mark();
            let addr = self.offset(base, offset + cell.offset);
            let value = Operand::Const(Value::ZERO);
            self.b.emit(Instr::Store { addr, value, width: cell.width, ann: Ann::PLAIN });
            self.b.release(mark);
        }
        Ok(())
    }

    /// Copies a parameter that is an object to its memory.
    pub(super) fn store_parameter(&mut self, local: LocalId, value: Operand) -> Res<()> {
        let info = &self.def.locals[local.0 as usize];
        let (ty, span) = (info.ty, info.span);
        let at = self.variable(local, span)?;
        let target = Place { at, ty, bits: None };
        if self.unit.types.is_record(ty.ty) {
            return self.copy(Place::memory(value, QTy::plain(ty.ty)), target, span);
        }
        self.store_as(target, value, Ann::PLAIN, span)?;
        Ok(())
    }

    /// A struct value as one number, for atomic accesses to it.
    pub(super) fn pack(&mut self, from: Place, span: Span) -> Res<Operand> {
        let cells = self.disjoint_cells(QTy::plain(from.ty.ty), span)?;
        let Where::Memory(base, offset) = from.at else { return fail(span, "a struct in a register") };
        let wide = self.unit.types.size(from.ty.ty) == Some(super::wide::BYTES);
        let mut words = [Operand::Const(Value::ZERO); 2];
        for cell in cells {
            let addr = self.offset(base, offset + cell.offset);
            let dst = self.b.temp();
            let extend = fencepost_ir::Extend::Zero;
            let (width, ann) = (cell.width, Ann::PLAIN);
            self.b.emit(Instr::CopyLoad { dst, addr, width, extend, ann, keeps: false });
            let shift = Operand::Const(Value(8 * (cell.offset % 8)));
            let part = self.binary(fencepost_ir::BinaryOp::Shl, Width::W64, extend, Operand::Reg(dst), shift);
            let word = &mut words[cell.offset as usize / 8];
            *word = self.binary(fencepost_ir::BinaryOp::Or, Width::W64, extend, part, *word);
        }
        Ok(if wide { self.join_words(words[0], words[1]) } else { words[0] })
    }

    /// The parts of a packed struct, stored to a place.
    pub(super) fn unpack(&mut self, packed: Operand, target: Place, span: Span) -> Res<()> {
        if target.ty.quals.has(crate::types::Quals::ATOMIC) {
            self.store(target, packed, span)?;
            return Ok(());
        }
        let Where::Memory(base, offset) = target.at else { return fail(span, "a struct in a register") };
        let words = match self.unit.types.size(target.ty.ty) == Some(super::wide::BYTES) {
            true => [self.half_of(packed, false), self.half_of(packed, true)],
            false => [packed; 2],
        };
        for cell in self.disjoint_cells(QTy::plain(target.ty.ty), span)? {
            let shift = Operand::Const(Value(8 * (cell.offset % 8)));
            let extend = fencepost_ir::Extend::Zero;
            let word = words[cell.offset as usize / 8];
            let value = match cell.offset % 8 {
                0 => word,
                _ => self.binary(fencepost_ir::BinaryOp::ShrU, Width::W64, extend, word, shift),
            };
            let addr = self.offset(base, offset + cell.offset);
            self.b.emit(Instr::Store { addr, value, width: cell.width, ann: Ann::PLAIN });
        }
        Ok(())
    }

    /// The cells of a type that is copied as a whole. Where the members of a union overlap, the widest cell that
    /// begins first stands for all; what it leaves is copied in the cells that remain, or byte by byte.
    pub(super) fn disjoint_cells(&self, ty: QTy, span: Span) -> Res<Vec<TypeCell>> {
        let mut cells = self.cells(ty, span)?;
        let end = |c: &TypeCell| c.offset + u64::from(c.width.bytes());
        cells.sort_by_key(|c| (c.offset, std::cmp::Reverse(c.width)));
        cells.dedup_by_key(|c| (c.offset, c.width));
        if cells.windows(2).all(|w| end(&w[0]) <= w[1].offset) {
            return Ok(cells);
        }
        let mut kept: Vec<TypeCell> = Vec::with_capacity(cells.len());
        let mut reached = 0;
        for cell in &cells {
            if cell.offset >= reached {
                reached = end(cell);
                kept.push(*cell);
            }
            // A cell that begins inside the last one and ends behind it.
            while cell.offset < reached && reached < end(cell) {
                if cells.iter().any(|c| c.offset == reached) {
                    break;
                }
                kept.push(TypeCell { offset: reached, width: Width::W8, ty: Ty::UCHAR.into(), unit: false });
                reached += 1;
            }
        }
        Ok(kept)
    }

    /// Copies an object cell by cell; an atomic struct is read or written as a whole.
    pub(super) fn copy(&mut self, from: Place, to: Place, span: Span) -> Res<()> {
        let atomic = crate::types::Quals::ATOMIC;
        if from.ty.quals.has(atomic) {
            let packed = self.load(from, span)?;
            return self.unpack(packed, to, span);
        }
        if to.ty.quals.has(atomic) {
            let packed = self.pack(from, span)?;
            self.store(to, packed, span)?;
            return Ok(());
        }
        let (Where::Memory(source, at), Where::Memory(target, offset)) = (from.at, to.at) else {
            return fail(span, "a struct in a register");
        };
        for cell in self.disjoint_cells(QTy::plain(to.ty.ty), span)? {
            let mark = self.b.mark();
            let addr = self.offset(source, at + cell.offset);
            let dst = self.b.temp();
            let volatile = from.ty.quals.has(crate::types::Quals::VOLATILE);
            let ann = Ann { volatile, ..Ann::PLAIN };
            let extend = fencepost_ir::Extend::Zero;
            let width = cell.width;
            self.b.emit(Instr::CopyLoad { dst, addr, width, extend, ann, keeps: true });
            let addr = self.offset(target, offset + cell.offset);
            self.b.emit(Instr::Store { addr, value: Operand::Reg(dst), width: cell.width, ann });
            self.b.release(mark);
        }
        Ok(())
    }

    /// `int` zero, the result of library calls that succeed.
    pub(super) fn success(&self) -> Operand {
        debug_assert_eq!(self.unit.types.size(Ty::INT), Some(4));
        Operand::Const(Value::ZERO)
    }
}
