//! Sizes, alignments, member offsets and scalar cells, for LP64 as the System V ABI lays things out.
//!
//! Bit-fields: a run of adjacent bit-fields is one memory location of C11. Its bytes are divided into storage units, the
//! smallest in which no field crosses a unit; an access to a field is one access to its unit, and no unit may touch
//! another member.

use crate::types::{Bits, Field, QTy, Quals, RecordId, Ty, TypeKind, Types};
use fencepost_ir::{Width, wide};

/// No object may be larger than this: offsets are 32 bits, and cells are listed one by one.
pub const MAX_OBJECT: u64 = 1 << 24;

/// A scalar part of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TypeCell {
    /// Byte offset.
    pub offset: u64,
    /// Width of the access.
    pub width: Width,
    /// Its type, with qualifiers.
    pub ty: QTy,
    /// It is the storage unit of bit-fields.
    pub unit: bool,
}

/// A member before its place is known.
pub struct Member {
    /// The member; its offset is filled in.
    pub field: Field,
    /// Width of a bit-field.
    pub bit_width: Option<u64>,
    /// Alignment asked for by `_Alignas` or an attribute.
    pub align: Option<u64>,
}

/// The access width of so many bytes.
pub fn width_of(size: u64) -> Option<Width> {
    match size {
        1 => Some(Width::W8),
        2 => Some(Width::W16),
        4 => Some(Width::W32),
        8 => Some(Width::W64),
        _ => None,
    }
}

impl Types {
    /// Size in bytes; `None` for incomplete types, functions and sizes beyond all bounds.
    pub fn size(&self, ty: Ty) -> Option<u64> {
        match self.kind(ty) {
            TypeKind::Void | TypeKind::Function { .. } => None,
            TypeKind::Bool => Some(1),
            TypeKind::Int { size, .. } => Some(u64::from(*size)),
            TypeKind::Float => Some(4),
            TypeKind::Double | TypeKind::Pointer(_) => Some(8),
            TypeKind::LongDouble => Some(16),
            TypeKind::VaList => Some(24),
            TypeKind::Array(of, length) => self.size(of.ty)?.checked_mul((*length)?),
            TypeKind::Record(id) => {
                let record = &self.records[id.0 as usize];
                record.complete.then_some(record.size)
            }
        }
    }

    /// Alignment in bytes.
    pub fn align(&self, ty: Ty) -> u64 {
        match self.kind(ty) {
            TypeKind::Array(of, _) => self.align(of.ty),
            TypeKind::Record(id) => self.records[id.0 as usize].align,
            TypeKind::VaList => 8,
            _ => self.size(ty).unwrap_or(1).max(1),
        }
    }

    /// What the flexible array member at the end of a struct is of.
    pub fn flexible_element(&self, ty: Ty) -> Option<QTy> {
        let (_, record) = self.record(ty)?;
        match self.kind(record.fields.last()?.ty.ty) {
            TypeKind::Array(of, None | Some(0)) if !record.union_ => Some(*of),
            _ => None,
        }
    }

    /// Lays out the members of a struct or union; `pack` is the largest alignment that a member gets by itself. An error is a
    /// message about one member.
    pub fn complete_record(
        &mut self,
        id: RecordId,
        members: Vec<Member>,
        pack: Option<u64>,
        align: Option<u64>,
    ) -> Result<(), String> {
        let union_ = self.records[id.0 as usize].union_;
        let mut layout = Layout { fields: Vec::new(), bits: 0, size: 0, align: 1, run: Vec::new() };
        for member in &members {
            if union_ {
                layout.bits = 0;
            }
            layout.place(self, member, pack)?;
            layout.size = layout.size.max(layout.bits.div_ceil(8));
            if union_ {
                layout.end_run(layout.size)?;
            }
        }
        let align = layout.align.max(align.unwrap_or(1));
        let size = layout.size.next_multiple_of(align);
        layout.end_run(size)?;
        if size > MAX_OBJECT {
            return Err("it is larger than 16 MB".into());
        }
        let record = &mut self.records[id.0 as usize];
        (record.fields, record.size, record.align, record.complete) = (layout.fields, size, align, true);
        Ok(())
    }

    /// The scalar cells of a type, by member order; the members of a union overlap. `None` if there are too many.
    pub fn cells(&self, ty: QTy) -> Option<Vec<TypeCell>> {
        let mut cells = Vec::new();
        self.add_cells(ty, 0, &mut cells)?;
        Some(cells)
    }

    /// Whether no member of a type lies in two words of eight bytes.
    pub fn is_two_words(&self, ty: Ty) -> bool {
        let cells = self.cells(QTy::plain(ty)).unwrap_or_default();
        cells.iter().all(|cell| cell.offset % 8 + u64::from(cell.width.bytes()) <= 8)
    }

    fn add_cells(&self, ty: QTy, offset: u64, cells: &mut Vec<TypeCell>) -> Option<()> {
        if cells.len() as u64 > MAX_OBJECT / 16 {
            return None;
        }
        match self.kind(ty.ty) {
            TypeKind::Array(of, length) => {
                let size = self.size(of.ty)?;
                for i in 0..length.unwrap_or(0) {
                    self.add_cells(of.with(ty.quals), offset + i * size, cells)?;
                }
            }
            // An atomic struct is one cell: it is read and written as a whole.
            TypeKind::Record(_) if ty.quals.has(Quals::ATOMIC) => {
                let size = self.size(ty.ty)?;
                let width = if size == u64::from(wide::BYTES) { Width::W128 } else { width_of(size)? };
                cells.push(TypeCell { offset, width, ty, unit: false });
            }
            TypeKind::Record(id) => {
                for field in &self.records[id.0 as usize].fields {
                    self.add_field(field, ty.quals, offset, cells)?;
                }
            }
            TypeKind::LongDouble => {
                // Data that can be copied.
                let ty = QTy::plain(Ty::ULONG).with(ty.quals);
                for offset in [offset, offset + 8] {
                    cells.push(TypeCell { offset, width: Width::W64, ty, unit: false });
                }
            }
            TypeKind::VaList | TypeKind::Void | TypeKind::Function { .. } => {}
            _ => {
                let width = width_of(self.size(ty.ty)?)?;
                cells.push(TypeCell { offset, width, ty, unit: false });
            }
        }
        Some(())
    }

    fn add_field(&self, field: &Field, quals: Quals, offset: u64, cells: &mut Vec<TypeCell>) -> Option<()> {
        let at = offset + field.offset;
        let Some(bits) = field.bits else { return self.add_cells(field.ty.with(quals), at, cells) };
        if bits.bytewise {
            for offset in at..at + u64::from(bits.unit) {
                if !cells.iter().rev().take(80).any(|c| c.offset == offset && c.unit) {
                    let ty = QTy::plain(Ty::UCHAR).with(field.ty.quals).with(quals);
                    cells.push(TypeCell { offset, width: Width::W8, ty, unit: true });
                }
            }
            return Some(());
        }
        let width = width_of(u64::from(bits.unit))?;
        if !cells.iter().rev().take(8).any(|c| c.offset == at && c.unit) {
            let ty = match width {
                Width::W8 => Ty::UCHAR,
                Width::W16 => Ty::USHORT,
                Width::W32 => Ty::UINT,
                Width::W64 | Width::W128 => Ty::ULONG,
            };
            let ty = QTy { ty, ..field.ty }.with(quals);
            cells.push(TypeCell { offset: at, width, ty, unit: true });
        }
        Some(())
    }
}

struct Layout {
    fields: Vec<Field>,
    /// Next free bit.
    bits: u64,
    size: u64,
    align: u64,
    /// The current run of bit-fields: index in `fields`, absolute first bit, width.
    run: Vec<(usize, u64, u64)>,
}

impl Layout {
    fn place(&mut self, types: &Types, member: &Member, pack: Option<u64>) -> Result<(), String> {
        let packed = pack.is_some();
        let ty = member.field.ty.ty;
        // A flexible array member takes no room.
        let size = match types.kind(ty) {
            TypeKind::Array(_, None) => 0,
            _ => types.size(ty).ok_or("a member has an incomplete type")?,
        };
        let natural = types.align(ty).min(pack.unwrap_or(u64::MAX));
        let align = member.align.unwrap_or(1).max(natural);
        let Some(width) = member.bit_width else {
            let offset = self.bits.div_ceil(8).next_multiple_of(align);
            self.end_run(offset)?;
            self.fields.push(Field { offset, ..member.field });
            self.bits =
                (offset.checked_add(size).filter(|s| *s <= MAX_OBJECT)).ok_or("it is larger than 16 MB")? * 8;
            self.align = self.align.max(align);
            return Ok(());
        };
        let unit = size * 8;
        if width > unit {
            return Err(format!("a bit-field of {width} bits does not fit its type of {unit} bits"));
        }
        if width == 0 {
            self.bits = self.bits.next_multiple_of(unit.max(1));
            return self.end_run(self.bits / 8);
        }
        if !packed && self.bits / unit != (self.bits + width - 1) / unit {
            self.bits = self.bits.next_multiple_of(unit);
        }
        if member.field.name.is_some() {
            self.run.push((self.fields.len(), self.bits, width));
            self.fields.push(member.field);
            self.align = self.align.max(align);
        }
        self.bits += width;
        Ok(())
    }

    /// Divides the run of bit-fields into storage units; `limit` is the first byte that is not its own.
    fn end_run(&mut self, limit: u64) -> Result<(), String> {
        let run = std::mem::take(&mut self.run);
        let Some(&(_, first, _)) = run.first() else { return Ok(()) };
        let start = first / 8;
        // The smallest unit around each field; where two overlap, both take the larger one.
        let around = |bit: u64, width: u64| {
            let unit = [1, 2, 4, 8].into_iter().find(|u| bit + width <= (bit / (8 * u) + 1) * 8 * u);
            unit.map(|u| (bit / (8 * u) * u, u))
        };
        let mut units: Vec<(u64, u64)> =
            run.iter().map(|&(_, bit, width)| around(bit, width).unwrap_or((u64::MAX, 1))).collect();
        for _ in 0..units.len() {
            for i in 0..units.len() {
                for j in 0..units.len() {
                    let ((a, n), (b, m)) = (units[i], units[j]);
                    if a != u64::MAX && b != u64::MAX && a < b + m && b < a + n && n > m {
                        units[j] = units[i];
                    }
                }
            }
        }
        // In packed structs no unit may fit: then every field is read and written byte by byte.
        if units.iter().any(|(base, unit)| *base == u64::MAX || *base < start || base + unit > limit) {
            for (unit, &(_, bit, width)) in units.iter_mut().zip(&run) {
                *unit = (bit / 8, (bit + width).div_ceil(8) - bit / 8);
            }
            if units.iter().any(|(_, bytes)| *bytes > 8) {
                return Err("a bit-field crosses nine bytes".into());
            }
            for (&(index, bit, width), &(offset, bytes)) in run.iter().zip(&units) {
                self.fields[index].offset = offset;
                let shift = (bit - 8 * offset) as u8;
                self.fields[index].bits =
                    Some(Bits { shift, width: width as u8, unit: bytes as u8, bytewise: true });
            }
            return Ok(());
        }
        for (&(index, bit, width), (offset, unit)) in run.iter().zip(units) {
            self.fields[index].offset = offset;
            self.fields[index].bits = Some(Bits {
                shift: (bit - 8 * offset) as u8,
                width: width as u8,
                unit: unit as u8,
                bytewise: false,
            });
        }
        Ok(())
    }
}
