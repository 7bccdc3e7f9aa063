//! Initialisers, flattened while they are parsed: braces, designators, brace elision, strings (C11 6.7.9).

use crate::ast::{Expr, ExprKind, Init, InitItem};
use crate::literal;
use crate::parser::{Parser, Res, fail, int_expr, unsupported};
use crate::token::{Punct, TokenKind};
use crate::types::{Bits, QTy, RecordId, Ty, TypeKind};
use fencepost_diag::Span;

/// Designated indices beyond this are an error.
const MAX_INDEX: i64 = 1 << 22;

/// A range of elements may not stand for more values than this.
const MAX_REPEATED: u64 = 1 << 18;

/// The name of a compound literal's object at file scope.
const COMPOUND_LITERAL: &str = "compound literal";

/// A part of the object that is being initialised.
#[derive(Clone, Copy)]
struct Slot {
    offset: u64,
    ty: QTy,
    bits: Option<Bits>,
}

/// What an aggregate's parts are.
enum Parts {
    Array { of: QTy, length: Option<u64>, size: u64 },
    Record(RecordId),
}

impl Parser<'_> {
    /// An initialiser after `=`; the type comes back with its array length completed.
    pub(crate) fn initialiser(&mut self, ty: QTy, auto_type: bool) -> Res<(Init, QTy)> {
        if auto_type {
            let value = self.assignment()?;
            let value = self.rvalue(value)?;
            let ty = QTy { quals: ty.quals, ..value.ty };
            let item = InitItem { offset: 0, ty, bits: None, value };
            return Ok((Init { items: vec![item], zero_rest: false }, ty));
        }
        let mut items = Vec::new();
        let braced = self.next_is(Punct::LBrace);
        let string = self.next_kind() == TokenKind::Str;
        let length = self.init_slot(Slot { offset: 0, ty, bits: None }, &mut items)?;
        let ty = match (self.unit.types.element(ty.ty), length) {
            (Some((of, None)), Some(length)) => {
                QTy::plain(self.unit.types.array(of, Some(length))).with(ty.quals)
            }
            _ => ty,
        };
        let aggregate = !self.unit.types.is_scalar(ty.ty);
        // One item of the whole type is a copy; more than that came out of a compound literal.
        let copied = matches!(&items[..], [only] if only.ty.ty == ty.ty);
        Ok((Init { items, zero_rest: aggregate && (braced || string || !copied) }, ty))
    }

    /// Initialises one part; gives the number of elements if it is an array.
    fn init_slot(&mut self, slot: Slot, items: &mut Vec<InitItem>) -> Res<Option<u64>> {
        if self.next_is(Punct::LBrace) {
            return self.init_braced(slot, items);
        }
        if let Some(length) = self.init_string(slot, items)? {
            return Ok(Some(length));
        }
        let value = self.assignment()?;
        let length = self.unit.types.element(value.ty.ty).and_then(|(_, length)| length);
        self.init_value(slot, value, items)?;
        Ok(length)
    }

    fn init_value(&mut self, slot: Slot, value: Expr, items: &mut Vec<InitItem>) -> Res<()> {
        let array = matches!(self.unit.types.kind(slot.ty.ty), TypeKind::Array(..));
        let value = if array || value.ty.ty == slot.ty.ty {
            self.take_literal(slot, value, items)
        } else {
            Some(value)
        };
        let Some(value) = value else { return Ok(()) };
        if array {
            return fail(value.span, "an array is initialised by `{...}` or a string");
        }
        let value = self.assign_convert(value, slot.ty, "used")?;
        items.push(InitItem { offset: slot.offset, ty: slot.ty, bits: slot.bits, value });
        Ok(())
    }

    /// The parts of a compound literal initialise an object directly (for static objects and arrays this is GNU C);
    /// anything else comes back.
    fn take_literal(&mut self, slot: Slot, value: Expr, items: &mut Vec<InitItem>) -> Option<Expr> {
        let aggregate = !self.unit.types.is_scalar(slot.ty.ty);
        let init = match value.kind {
            ExprKind::Compound(_, init) if aggregate => *init,
            ExprKind::Global(id)
                if aggregate && self.unit.globals[id.0 as usize].name == COMPOUND_LITERAL =>
            {
                match self.unit.globals[id.0 as usize].init.take() {
                    Some(init) => init,
                    None => return Some(value),
                }
            }
            _ => return Some(value),
        };
        items.extend(init.items.into_iter().map(|i| InitItem { offset: i.offset + slot.offset, ..i }));
        None
    }

    /// A string for an array of characters.
    fn init_string(&mut self, slot: Slot, items: &mut Vec<InitItem>) -> Res<Option<u64>> {
        let Some((of, length)) = self.unit.types.element(slot.ty.ty) else { return Ok(None) };
        if self.next_kind() != TokenKind::Str {
            return Ok(None);
        }
        if let Some(ty) = self.wide_string_follows().filter(|ty| *ty == of.ty) {
            let start = self.next_span();
            let characters = self.wide_characters(ty)?;
            if length.is_some_and(|n| (characters.len() as u64) > n) {
                return fail(start, "this string is longer than its array");
            }
            let init = self.wide_init(&characters, of, slot.offset, length, start);
            items.extend(init.items);
            return Ok(Some(length.unwrap_or(characters.len() as u64 + 1)));
        }
        if !matches!(of.ty, Ty::CHAR | Ty::SCHAR | Ty::UCHAR) {
            return Ok(None);
        }
        let start = self.next_span();
        let mut bytes = Vec::new();
        while self.next_kind() == TokenKind::Str {
            let token = self.take();
            bytes.extend(literal::string(self.interner.text(token.symbol)).unwrap_or_default());
        }
        if length.is_some_and(|n| (bytes.len() as u64) > n) {
            return fail(start, "this string is longer than its array");
        }
        let init = self.string_init(&bytes, slot.offset, length, start);
        items.extend(init.items.into_iter().map(|item| InitItem { ty: of, ..item }));
        Ok(Some(length.unwrap_or(bytes.len() as u64 + 1)))
    }

    /// The items of a string, with its final zero if there is room.
    pub(crate) fn string_init(&self, bytes: &[u8], offset: u64, length: Option<u64>, span: Span) -> Init {
        let char_ = QTy::plain(Ty::CHAR);
        let room = length.unwrap_or(bytes.len() as u64 + 1);
        let items = bytes
            .iter()
            .chain([&0])
            .zip(0..room)
            .map(|(byte, i)| {
                let value = int_expr(i64::from(*byte as i8) as u64, Ty::CHAR, span);
                InitItem { offset: offset + i, ty: char_, bits: None, value }
            })
            .collect();
        Init { items, zero_rest: true }
    }

    /// The items of a string of wide characters, with its final zero if there is room.
    pub(crate) fn wide_init(
        &self,
        characters: &[u32],
        of: QTy,
        offset: u64,
        length: Option<u64>,
        span: Span,
    ) -> Init {
        let size = self.unit.types.size(of.ty).unwrap_or(4);
        let room = length.unwrap_or(characters.len() as u64 + 1);
        let items = characters.iter().chain([&0]).zip(0..room).map(|(character, i)| {
            let value = int_expr(self.wrap(u64::from(*character), of.ty), of.ty, span);
            InitItem { offset: offset + i * size, ty: of, bits: None, value }
        });
        Init { items: items.collect(), zero_rest: true }
    }

    fn parts(&self, ty: Ty) -> Option<Parts> {
        match self.unit.types.kind(ty) {
            TypeKind::Array(of, length) => {
                Some(Parts::Array { of: *of, length: *length, size: self.unit.types.size(of.ty)? })
            }
            TypeKind::Record(id) => Some(Parts::Record(*id)),
            _ => None,
        }
    }

    /// The part number `index` of a slot.
    fn part(&self, slot: Slot, parts: &Parts, index: u64) -> Option<Slot> {
        match parts {
            Parts::Array { of, length, size } => {
                let inside = length.is_none_or(|n| index < n);
                let ty = of.with(slot.ty.quals);
                inside.then_some(Slot { offset: slot.offset + index * size, ty, bits: None })
            }
            Parts::Record(id) => {
                let record = &self.unit.types.records[id.0 as usize];
                if record.union_ && index > 0 {
                    return None;
                }
                let field = record.fields.get(index as usize)?;
                let (offset, ty) = (slot.offset + field.offset, field.ty.with(slot.ty.quals));
                Some(Slot { offset, ty, bits: field.bits })
            }
        }
    }

    fn init_braced(&mut self, slot: Slot, items: &mut Vec<InitItem>) -> Res<Option<u64>> {
        if let Some(init) = self.foreign_initialiser(slot.ty.ty)? {
            items.extend(init.items.into_iter().map(|i| InitItem { offset: i.offset + slot.offset, ..i }));
            return Ok(None);
        }
        let open = self.take().span;
        let Some(parts) = self.parts(slot.ty.ty) else {
            // Braces around a scalar.
            if self.next_is(Punct::RBrace) {
                self.take();
                let zero = int_expr(0, Ty::INT, open);
                self.init_value(slot, zero, items)?;
                return Ok(None);
            }
            self.deeper(|p| p.init_slot(slot, items))?;
            self.take_if(Punct::Comma);
            self.must(Punct::RBrace, "after the initialiser")?;
            return Ok(None);
        };
        if let Parts::Record(id) = &parts
            && !self.unit.types.records[id.0 as usize].complete
        {
            return fail(open, format!("`{}` is incomplete", self.show(slot.ty)));
        }
        // `{"text"}` for an array of characters.
        if self.next_kind() == TokenKind::Str
            && let Some(length) = self.init_string(slot, items)?
        {
            self.take_if(Punct::Comma);
            self.must(Punct::RBrace, "after the string")?;
            return Ok(Some(length));
        }
        let mut next = 0u64;
        let mut length = 0u64;
        while !self.next_is(Punct::RBrace) {
            let designated = self.next_is(Punct::LBracket) || self.next_is(Punct::Dot);
            if designated {
                next = self.deeper(|p| p.init_designated(slot, &parts, items))? + 1;
            } else {
                let Some(part) = self.part(slot, &parts, next) else {
                    return fail(self.next_span(), "there are more initialisers than parts");
                };
                self.deeper(|p| p.init_part(part, None, items))?;
                next += 1;
            }
            length = length.max(next);
            if !self.take_if(Punct::Comma) {
                break;
            }
        }
        self.must(Punct::RBrace, "after the initialiser")?;
        Ok(Some(length))
    }

    /// One part, whose braces may be missing; `first` is its first value if that has been parsed already.
    fn init_part(&mut self, slot: Slot, first: Option<Expr>, items: &mut Vec<InitItem>) -> Res<()> {
        let Some(parts) = self.parts(slot.ty.ty) else {
            return match first {
                Some(value) => self.init_value(slot, value, items),
                None => self.init_slot(slot, items).map(|_| ()),
            };
        };
        if first.is_none() && self.next_is(Punct::LBrace) {
            self.init_braced(slot, items)?;
            return Ok(());
        }
        if first.is_none() && self.init_string(slot, items)?.is_some() {
            return Ok(());
        }
        let value = match first {
            Some(value) => value,
            None => self.assignment()?,
        };
        // A whole struct, or else the first of the values for its parts.
        if value.ty.ty == slot.ty.ty {
            return self.init_value(slot, value, items);
        }
        let Some(part) = self.part(slot, &parts, 0) else {
            return fail(value.span, format!("`{}` cannot be initialised by this", self.show(slot.ty)));
        };
        self.deeper(|p| p.init_part(part, Some(value), items))?;
        let mut index = 1;
        while let Some(part) = self.part(slot, &parts, index) {
            let more = self.next_is(Punct::Comma)
                && !self.after_comma_is(Punct::RBrace)
                && !self.after_comma_is(Punct::Dot)
                && !self.after_comma_is(Punct::LBracket);
            if !more {
                break;
            }
            self.take();
            self.deeper(|p| p.init_part(part, None, items))?;
            index += 1;
        }
        Ok(())
    }

    /// `.a.b[3] = value` or `[first ... last] = value`; gives the index at the outermost level.
    fn init_designated(&mut self, slot: Slot, parts: &Parts, items: &mut Vec<InitItem>) -> Res<u64> {
        let (first, last) = self.designator(slot, parts)?;
        let start = items.len();
        let Some((index, mut part)) = first else { return fail(self.next_span(), "there is no such part") };
        while self.next_is(Punct::LBracket) || self.next_is(Punct::Dot) {
            let Some(inner) = self.parts(part.ty.ty) else {
                return fail(self.next_span(), format!("`{}` has no parts", self.show(part.ty)));
            };
            let (found, _) = self.designator(part, &inner)?;
            let Some((_, found)) = found else { return fail(self.next_span(), "there is no such part") };
            part = found;
        }
        self.take_if(Punct::Assign);
        self.init_part(part, None, items)?;
        if last > index {
            self.repeat(items, start, last - index, parts)?;
        }
        Ok(last.max(index))
    }

    /// Copies constant items for the other indices of a range.
    fn repeat(&mut self, items: &mut Vec<InitItem>, start: usize, times: u64, parts: &Parts) -> Res<()> {
        let Parts::Array { size, .. } = parts else { return Ok(()) };
        let end = items.len();
        if times.saturating_mul((end - start) as u64) > MAX_REPEATED {
            let span = self.end_of_last();
            return unsupported(span, "a range of so many elements", "initialise the array in a loop");
        }
        for i in 1..=times {
            for j in start..end {
                let item = &items[j];
                if self.evaluate(&item.value).is_none() {
                    return fail(item.value.span, "a range of elements needs a constant");
                }
                let value = item.value.clone();
                items.push(InitItem { offset: item.offset + i * size, value, ..*item });
            }
        }
        Ok(())
    }

    /// One designator: the index and part, and the last index of a range.
    fn designator(&mut self, slot: Slot, parts: &Parts) -> Res<(Option<(u64, Slot)>, u64)> {
        let start = self.next_span();
        if self.take_if(Punct::Dot) {
            let (name, at) = self.take_name("the name of a member")?;
            let Parts::Record(id) = parts else { return fail(at, "only structs and unions have members") };
            let fields = &self.unit.types.records[id.0 as usize].fields;
            // The index tells where the next initialiser without a designator goes.
            for (index, field) in fields.iter().enumerate() {
                let (offset, ty, bits) = if field.name == Some(name) {
                    (field.offset, field.ty, field.bits)
                } else if let (None, Some((inner, ty, bits))) =
                    (field.name, self.find_member(field.ty.ty, name))
                {
                    (field.offset + inner, ty, bits)
                } else {
                    continue;
                };
                let slot = Slot { offset: slot.offset + offset, ty: ty.with(slot.ty.quals), bits };
                return Ok((Some((index as u64, slot)), index as u64));
            }
            return fail(at, format!("`{}` has no member `{}`", self.show(slot.ty), self.name(name)));
        }
        self.must(Punct::LBracket, "to open a designator")?;
        let (first, at) = self.constant_integer("an index")?;
        let last = match self.take_if(Punct::Ellipsis) {
            true => self.constant_integer("an index")?.0,
            false => first,
        };
        self.must(Punct::RBracket, "after the index")?;
        let Parts::Array { .. } = parts else { return fail(start.to(at), "only arrays have indices") };
        let in_range = |i: i64| (0..MAX_INDEX).contains(&i) && self.part(slot, parts, i as u64).is_some();
        if !in_range(first) || !in_range(last) || last < first {
            return fail(start.to(at), "this index is outside the array");
        }
        Ok((self.part(slot, parts, first as u64).map(|part| (first as u64, part)), last as u64))
    }

    /// `(type){...}`; the type has been read.
    pub(crate) fn compound_literal(&mut self, ty: QTy, start: Span) -> Res<Expr> {
        let (init, ty) = self.initialiser(ty, false)?;
        let span = start.to(self.end_of_last());
        if self.unit.types.size(ty.ty).is_none() {
            return fail(span, format!("`{}` is incomplete", self.show(ty)));
        }
        if self.function.is_none() {
            let id = self.new_global(COMPOUND_LITERAL.into(), ty, false, false, span);
            self.unit.globals[id.0 as usize].init = Some(init);
            return Ok(Expr { kind: ExprKind::Global(id), ty, span });
        }
        let local = self.temporary(ty, span)?;
        Ok(Expr { kind: ExprKind::Compound(local, Box::new(init)), ty, span })
    }
}
