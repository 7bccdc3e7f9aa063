//! `__attribute__`, `_Alignas` and `asm` labels: those that change the layout are kept, the others are skipped.

use super::{Parser, Res, fail};
use crate::intern::Symbol;
use crate::token::{Keyword, Punct, TokenKind};
use crate::types::{QTy, Ty};

/// What attributes said that matters here.
#[derive(Clone, Copy, Default)]
pub struct Attributes {
    /// `packed`.
    pub packed: bool,
    /// `transparent_union`.
    pub transparent: bool,
    /// `aligned(n)`.
    pub align: Option<u64>,
    /// `vector_size`, which is not modelled.
    pub vector: bool,
    /// The function of `cleanup`.
    pub cleanup: Option<Symbol>,
    /// `mode`.
    pub mode: Option<Mode>,
}

/// What `mode` makes of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// An integer of so many bytes, with the sign of the type.
    Integer(u8),
    /// A floating type.
    Floating(Ty),
    /// Vectors, fixed-point numbers and the like.
    Other,
}

impl Attributes {
    /// Takes over what others said.
    pub fn merge(&mut self, other: Attributes) {
        self.packed |= other.packed;
        self.transparent |= other.transparent;
        self.vector |= other.vector;
        self.cleanup = self.cleanup.or(other.cleanup);
        self.mode = self.mode.or(other.mode);
        self.align = self.align.max(other.align);
    }
}

impl Parser<'_> {
    /// Any number of `__attribute__((...))` and of `asm("name")` labels.
    pub(super) fn attributes(&mut self) -> Res<Attributes> {
        let mut found = Attributes::default();
        loop {
            match self.keyword() {
                Some(Keyword::Attribute | Keyword::Attribute2) => {
                    self.at += 1;
                    self.expect(Punct::LParen, "after `__attribute__`")?;
                    self.expect(Punct::LParen, "after `__attribute__`")?;
                    while !self.is(Punct::RParen) {
                        self.attribute(&mut found)?;
                        if !self.eat(Punct::Comma) {
                            break;
                        }
                    }
                    self.expect(Punct::RParen, "after the attribute")?;
                    self.expect(Punct::RParen, "after the attribute")?;
                }
                Some(Keyword::Extension) => self.at += 1,
                // C23, and what compilers allow before.
                _ if self.is_bracket_attribute() => self.skip_brackets()?,
                _ => break,
            }
        }
        Ok(found)
    }

    /// `[[` begins an attribute.
    pub(super) fn is_bracket_attribute(&self) -> bool {
        self.is(Punct::LBracket) && self.peek_at(1).is(Punct::LBracket)
    }

    /// Skips from `[` to the matching `]`.
    fn skip_brackets(&mut self) -> Res<()> {
        let open = self.peek().span;
        let mut depth = 0usize;
        loop {
            let token = self.advance();
            match token.kind {
                TokenKind::Punct(Punct::LBracket) => depth += 1,
                TokenKind::Punct(Punct::RBracket) => depth -= 1,
                TokenKind::Eof => return fail(open, "this attribute is never closed"),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn attribute(&mut self, found: &mut Attributes) -> Res<()> {
        let token = self.advance();
        if token.kind != TokenKind::Ident {
            return if token.is(Punct::Comma) {
                self.at -= 1;
                Ok(())
            } else {
                fail(token.span, "expected the name of an attribute")
            };
        }
        let name = self.interner.shared(token.symbol);
        match name.trim_matches('_') {
            "packed" => found.packed = true,
            "transparent_union" => found.transparent = true,
            "vector_size" => found.vector = true,
            "cleanup" if self.is(Punct::LParen) => found.cleanup = Some(self.peek_at(1).symbol),
            "mode" if self.is(Punct::LParen) => found.mode = Some(self.mode_word()),
            "aligned" if self.is(Punct::LParen) => {
                self.at += 1;
                let align = self.constant_integer("an alignment")?.0;
                self.expect(Punct::RParen, "after the alignment")?;
                found.align = found.align.max(self.alignment(align, token.span)?);
                return Ok(());
            }
            "aligned" => found.align = found.align.max(Some(16)),
            _ => {}
        }
        if self.is(Punct::LParen) {
            self.skip_parentheses()?;
        }
        Ok(())
    }

    /// The mode that the attribute's argument names, which is left where it stands.
    fn mode_word(&self) -> Mode {
        match self.interner.text(self.peek_at(1).symbol).trim_matches('_') {
            "QI" | "byte" => Mode::Integer(1),
            "HI" => Mode::Integer(2),
            "SI" => Mode::Integer(4),
            "DI" | "word" | "pointer" | "unwind_word" => Mode::Integer(8),
            "SF" => Mode::Floating(Ty::FLOAT),
            "DF" => Mode::Floating(Ty::DOUBLE),
            "XF" | "TF" => Mode::Floating(Ty::LDOUBLE),
            _ => Mode::Other,
        }
    }

    /// The type that an attribute `mode` gives instead of the declared one.
    pub(super) fn type_of_mode(&self, ty: QTy, mode: Mode) -> Option<QTy> {
        let signed = self.unit.types.is_signed(ty.ty);
        let chosen = match mode {
            Mode::Integer(1) => [Ty::UCHAR, Ty::SCHAR][usize::from(signed)],
            Mode::Integer(2) => [Ty::USHORT, Ty::SHORT][usize::from(signed)],
            Mode::Integer(4) => [Ty::UINT, Ty::INT][usize::from(signed)],
            Mode::Integer(_) => [Ty::ULONG, Ty::LONG][usize::from(signed)],
            Mode::Floating(ty) => ty,
            Mode::Other => return None,
        };
        let fits = match mode {
            Mode::Integer(_) => self.unit.types.is_integer(ty.ty),
            _ => self.unit.types.is_floating(ty.ty),
        };
        fits.then_some(QTy { ty: chosen, ..ty })
    }

    /// Checks an alignment; 0 asks for nothing.
    pub(super) fn alignment(&self, align: i64, span: fencepost_diag::Span) -> Res<Option<u64>> {
        match u64::try_from(align) {
            Ok(0) => Ok(None),
            Ok(n) if n.is_power_of_two() && n <= 1 << 16 => Ok(Some(n)),
            _ => fail(span, "an alignment must be a power of two up to 65536"),
        }
    }

    /// Skips from `(` to the matching `)`.
    pub(super) fn skip_parentheses(&mut self) -> Res<()> {
        let open = self.expect(Punct::LParen, "after this word")?;
        let mut depth = 1usize;
        loop {
            let token = self.advance();
            match token.kind {
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RParen) => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                TokenKind::Eof => return fail(open, "this parenthesis is never closed"),
                _ => {}
            }
        }
    }
}
