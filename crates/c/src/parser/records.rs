//! `struct`, `union` and `enum`.

use super::scope::Tag;
use super::{Entity, Parser, Res, fail};
use crate::intern::Symbol;
use crate::layout::Member;
use crate::token::{Keyword, Punct, TokenKind};
use crate::types::{Enumeration, Field, QTy, RecordId, Ty, TypeKind};
use fencepost_diag::Span;
use rustc_hash::FxHashSet;

impl Parser<'_> {
    /// From the keyword on.
    pub(super) fn tagged(&mut self, keyword: Keyword) -> Res<QTy> {
        let start = self.advance().span;
        let mut attributes = self.attributes()?;
        let token = self.peek();
        let tag = (token.kind == TokenKind::Ident && Keyword::of(token.symbol).is_none()).then(|| {
            self.at += 1;
            token.symbol
        });
        let defined = self.is(Punct::LBrace);
        if tag.is_none() && !defined {
            return fail(token.span, format!("expected a tag or `{{`, found {}", self.describe(&token)));
        }
        if keyword == Keyword::Enum {
            return self.enumeration(tag, defined, attributes.packed, start);
        }
        let union_ = keyword == Keyword::Union;
        let id = self.record_for(tag, union_, defined, start)?;
        if defined {
            self.at += 1;
            if self.unit.types.records[id.0 as usize].complete {
                return fail(start.to(token.span), "this struct or union is defined twice");
            }
            let (mut members, mut names) = (Vec::new(), FxHashSet::default());
            self.nested(|p| {
                while !p.is(Punct::RBrace) {
                    p.member_declaration(&mut members, &mut names)?;
                }
                Ok(())
            })?;
            let end = self.advance().span;
            attributes.merge(self.attributes()?);
            self.unit.types.records[id.0 as usize].transparent = attributes.transparent && union_;
            let pack = if attributes.packed { Some(1) } else { self.pack };
            let done = self.unit.types.complete_record(id, members, pack, attributes.align);
            if let Err(why) = done {
                return fail(start.to(end), format!("this struct or union cannot be laid out: {why}"));
            }
        }
        Ok(self.unit.types.intern(TypeKind::Record(id)).into())
    }

    fn record_for(&mut self, tag: Option<Symbol>, union_: bool, defined: bool, span: Span) -> Res<RecordId> {
        if let Some(tag) = tag {
            let known = if defined { self.scopes.tag_here(tag) } else { self.scopes.tag(tag) };
            match known {
                Tag::Record(id) if self.unit.types.records[id.0 as usize].union_ == union_ => return Ok(id),
                Tag::Unknown => {}
                _ => return fail(span, format!("`{}` is another kind of tag", self.name(tag))),
            }
        }
        let id = self.unit.types.new_record(tag, union_);
        if let Some(tag) = tag {
            self.scopes.declare_tag(tag, Tag::Record(id));
        }
        Ok(id)
    }

    fn member_declaration(&mut self, members: &mut Vec<Member>, names: &mut FxHashSet<Symbol>) -> Res<()> {
        if self.is_keyword(Keyword::StaticAssert) {
            return self.static_assert();
        }
        if self.eat(Punct::Semi) {
            return Ok(());
        }
        let specifiers = self.specifiers()?;
        if self.is(Punct::Semi) {
            self.at += 1;
            // An anonymous struct or union; anything else declares nothing.
            if self.unit.types.is_record(specifiers.ty.ty) {
                let field = Field { name: None, ty: specifiers.ty, offset: 0, bits: None };
                members.push(Member { field, bit_width: None, align: specifiers.attributes.align });
            }
            return Ok(());
        }
        loop {
            self.declare_member(&specifiers, members, names)?;
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::Semi, "after the member")?;
        Ok(())
    }

    fn declare_member(
        &mut self,
        specifiers: &super::declarations::Specifiers,
        members: &mut Vec<Member>,
        names: &mut FxHashSet<Symbol>,
    ) -> Res<()> {
        let (name, ty, mut align) = if self.is(Punct::Colon) {
            (None, specifiers.ty, specifiers.attributes.align)
        } else {
            let declarator = self.declarator(specifiers.ty, false)?;
            let align = specifiers.attributes.align.max(declarator.attributes.align);
            (declarator.name, declarator.ty, align)
        };
        let span = name.map_or(self.last_span(), |(_, span)| span);
        let mut bit_width = None;
        if self.eat(Punct::Colon) {
            let (width, at) = self.constant_integer("the width of a bit-field")?;
            if !self.unit.types.is_integer(ty.ty) {
                return fail(span.to(at), format!("a bit-field cannot have the type `{}`", self.show(ty)));
            }
            if width < 0 || (width == 0 && name.is_some()) {
                return fail(at, "the width of a named bit-field must be positive");
            }
            bit_width = Some(width as u64);
            let after = self.attributes()?;
            align = align.max(after.align);
        }
        let flexible = matches!(self.unit.types.kind(ty.ty), TypeKind::Array(_, None));
        if self.unit.types.size(ty.ty).is_none() && !flexible {
            return fail(span, format!("a member cannot have the incomplete type `{}`", self.show(ty)));
        }
        if let Some((symbol, at)) = name
            && !names.insert(symbol)
        {
            return fail(at, format!("two members are named `{}`", self.name(symbol)));
        }
        let field = Field { name: name.map(|(symbol, _)| symbol), ty, offset: 0, bits: None };
        members.push(Member { field, bit_width, align });
        Ok(())
    }

    fn enumeration(&mut self, tag: Option<Symbol>, defined: bool, packed: bool, span: Span) -> Res<QTy> {
        if !defined {
            let Some(tag) = tag else { return Ok(Ty::UINT.into()) };
            return match self.scopes.tag(tag) {
                Tag::Enum(ty) => Ok(ty),
                // GNU C: it may be defined later.
                Tag::Unknown => Ok(Ty::UINT.into()),
                _ => fail(span.to(self.last_span()), format!("there is no `enum {}`", self.name(tag))),
            };
        }
        self.at += 1;
        let mut next: i64 = 0;
        let (mut negative, mut wide) = (false, false);
        let (mut least, mut most) = (0, 0);
        let mut enumerators = Vec::new();
        while !self.is(Punct::RBrace) {
            let (name, _) = self.identifier("the name of an enumerator")?;
            self.attributes()?;
            if self.eat(Punct::Assign) {
                next = self.constant_integer("the value of an enumerator")?.0;
            }
            negative |= next < 0;
            (least, most) = (least.min(next), most.max(next));
            wide |= i32::try_from(next).is_err();
            let ty = if i32::try_from(next).is_ok() { Ty::INT } else { Ty::LONG };
            self.scopes.declare(name, Entity::Constant(next as u64, ty));
            enumerators.push((next, name));
            next = next.wrapping_add(1);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RBrace, "after the enumerators")?;
        let packed = packed | self.attributes()?.packed;
        let ty = match (negative, wide) {
            _ if packed => smallest(least, most),
            (true, false) => Ty::INT,
            (false, false) => Ty::UINT,
            (true, true) => Ty::LONG,
            (false, true) => Ty::ULONG,
        };
        self.unit.enumerations.push(enumerators);
        let enumeration = Enumeration(self.unit.enumerations.len() as u32);
        let ty = QTy { enumeration, ..ty.into() };
        if let Some(tag) = tag {
            self.scopes.declare_tag(tag, Tag::Enum(ty));
        }
        Ok(ty)
    }
}

/// The smallest type that has all values of a packed `enum`.
fn smallest(least: i64, most: i64) -> Ty {
    let bits = |value: i64| 64 - value.leading_zeros();
    match (least < 0, bits(most).max(bits(!least.min(-1)))) {
        (true, 0..=7) => Ty::SCHAR,
        (true, 8..=15) => Ty::SHORT,
        (true, 16..=31) => Ty::INT,
        (true, _) => Ty::LONG,
        (false, 0..=8) => Ty::UCHAR,
        (false, 9..=16) => Ty::USHORT,
        (false, 17..=32) => Ty::UINT,
        (false, _) => Ty::ULONG,
    }
}
