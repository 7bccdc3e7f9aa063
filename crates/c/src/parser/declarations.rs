//! Declaration specifiers: storage class, qualifiers and type specifiers.

use super::attributes::Attributes;
use super::{Entity, Parser, Res, fail, unsupported};
use crate::token::{Keyword, Punct, TokenKind};
use crate::types::{QTy, Quals, Ty};
use fencepost_diag::{Diagnostic, Span};

/// Storage classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// None, `auto` or `register`.
    Automatic,
    /// `static`.
    Static,
    /// `extern`.
    Extern,
    /// `typedef`.
    Typedef,
}

/// The specifiers of a declaration.
pub struct Specifiers {
    /// The base type.
    pub ty: QTy,
    /// Storage class.
    pub storage: Storage,
    /// `_Thread_local`.
    pub thread_local: bool,
    /// `inline`.
    pub inline: bool,
    /// The type comes from the initialiser (`__auto_type`).
    pub auto_type: bool,
    /// Attributes among the specifiers.
    pub attributes: Attributes,
    /// From the first to the last specifier.
    pub span: Span,
}

/// What the specifiers read so far say about the type.
#[derive(Default)]
struct Parts {
    words: Words,
    quals: Quals,
    /// A typedef, a struct, union or enum, or `typeof`.
    named: Option<QTy>,
}

impl Parts {
    /// Nothing has named a type yet.
    fn is_open(&self) -> bool {
        self.named.is_none() && !self.words.any()
    }
}

/// Counts of the words that make up a basic type.
#[derive(Default)]
struct Words {
    void: u8,
    bool_: u8,
    char_: u8,
    short: u8,
    int: u8,
    long: u8,
    float: u8,
    double: u8,
    signed: u8,
    unsigned: u8,
}

impl Words {
    fn any(&self) -> bool {
        self.void
            | self.bool_
            | self.char_
            | self.short
            | self.int
            | self.long
            | self.float
            | self.double
            | self.signed
            | self.unsigned
            != 0
    }

    fn ty(&self) -> Option<Ty> {
        let sign = self.signed + self.unsigned;
        let unsigned = self.unsigned == 1;
        let pick = |signed, other| Some(if unsigned { other } else { signed });
        match (self.void, self.bool_, self.char_, self.short, self.int, self.long, self.float, self.double) {
            _ if sign > 1 => None,
            (1, 0, 0, 0, 0, 0, 0, 0) if sign == 0 => Some(Ty::VOID),
            (0, 1, 0, 0, 0, 0, 0, 0) if sign == 0 => Some(Ty::BOOL),
            (0, 0, 1, 0, 0, 0, 0, 0) if sign == 0 => Some(Ty::CHAR),
            (0, 0, 1, 0, 0, 0, 0, 0) => pick(Ty::SCHAR, Ty::UCHAR),
            (0, 0, 0, 1, 0 | 1, 0, 0, 0) => pick(Ty::SHORT, Ty::USHORT),
            (0, 0, 0, 0, 0 | 1, 0, 0, 0) => pick(Ty::INT, Ty::UINT),
            (0, 0, 0, 0, 0 | 1, 1, 0, 0) => pick(Ty::LONG, Ty::ULONG),
            (0, 0, 0, 0, 0 | 1, 2, 0, 0) => pick(Ty::LLONG, Ty::ULLONG),
            (0, 0, 0, 0, 0, 0, 1, 0) if sign == 0 => Some(Ty::FLOAT),
            (0, 0, 0, 0, 0, 0, 0, 1) if sign == 0 => Some(Ty::DOUBLE),
            (0, 0, 0, 0, 0, 1, 0, 1) if sign == 0 => Some(Ty::LDOUBLE),
            _ => None,
        }
    }
}

impl Parser<'_> {
    /// The next token begins a declaration or type name.
    pub(super) fn starts_type(&self) -> bool {
        // `__extension__` may stand before an expression as well as before a declaration.
        let mut ahead = 0;
        let mut token = self.peek();
        while token.kind == TokenKind::Ident && Keyword::of(token.symbol) == Some(Keyword::Extension) {
            ahead += 1;
            token = self.peek_at(ahead);
        }
        if token.kind != TokenKind::Ident {
            return false;
        }
        match Keyword::of(token.symbol) {
            Some(keyword) => matches!(
                keyword,
                Keyword::Auto
                    | Keyword::Char
                    | Keyword::Const
                    | Keyword::Double
                    | Keyword::Enum
                    | Keyword::Extern
                    | Keyword::Float
                    | Keyword::Inline
                    | Keyword::Int
                    | Keyword::Long
                    | Keyword::Register
                    | Keyword::Restrict
                    | Keyword::Short
                    | Keyword::Signed
                    | Keyword::Static
                    | Keyword::Struct
                    | Keyword::Typedef
                    | Keyword::Union
                    | Keyword::Unsigned
                    | Keyword::Void
                    | Keyword::Volatile
                    | Keyword::Alignas
                    | Keyword::Atomic
                    | Keyword::Bool
                    | Keyword::Complex
                    | Keyword::Imaginary
                    | Keyword::Noreturn
                    | Keyword::ThreadLocal
                    | Keyword::Attribute
                    | Keyword::Attribute2
                    | Keyword::AutoType
                    | Keyword::Const2
                    | Keyword::Const3
                    | Keyword::Inline2
                    | Keyword::Inline3
                    | Keyword::Restrict2
                    | Keyword::Restrict3
                    | Keyword::Signed2
                    | Keyword::Thread
                    | Keyword::Typeof
                    | Keyword::Typeof2
                    | Keyword::Typeof3
                    | Keyword::Volatile2
                    | Keyword::Volatile3
                    | Keyword::Int128
                    | Keyword::Int128b
                    | Keyword::UInt128
                    | Keyword::Signed3
                    | Keyword::Float128
                    | Keyword::Float128b
                    | Keyword::Float64
                    | Keyword::Float64x
                    | Keyword::Float32
                    | Keyword::Float32x
            ),
            None => matches!(self.scopes.lookup(token.symbol), Entity::Typedef(_)),
        }
    }

    /// The specifiers of a declaration.
    pub(super) fn specifiers(&mut self) -> Res<Specifiers> {
        let start = self.peek().span;
        let mut result = Specifiers {
            ty: Ty::INT.into(),
            storage: Storage::Automatic,
            thread_local: false,
            inline: false,
            auto_type: false,
            attributes: Attributes::default(),
            span: start,
        };
        let mut parts = Parts::default();
        loop {
            let token = self.peek();
            if token.kind != TokenKind::Ident {
                break;
            }
            let Some(keyword) = Keyword::of(token.symbol) else {
                match self.scopes.lookup(token.symbol) {
                    Entity::Typedef(ty) if parts.is_open() && !result.auto_type => {
                        parts.named = Some(ty);
                        self.at += 1;
                        continue;
                    }
                    _ => break,
                }
            };
            if let Some(count) = parts.words.counter(keyword) {
                *count += 1;
                self.at += 1;
            } else if let Some(storage) = storage_class(keyword) {
                self.at += 1;
                if storage != Storage::Automatic {
                    if result.storage != Storage::Automatic {
                        return fail(token.span, "a declaration has only one storage class");
                    }
                    result.storage = storage;
                }
            } else if !self.specifier(keyword, &mut parts, &mut result)? {
                break;
            }
        }
        result.span = start.to(self.last_span());
        result.ty = self.base_type(&parts, &result)?.with(parts.quals);
        self.check_atomic(result.ty, result.span)?;
        Ok(result)
    }

    /// A specifier other than a basic type's words and storage classes; false if the keyword is none.
    fn specifier(&mut self, keyword: Keyword, parts: &mut Parts, result: &mut Specifiers) -> Res<bool> {
        let span = self.peek().span;
        match keyword {
            Keyword::Const | Keyword::Const2 | Keyword::Const3 => {
                parts.quals = parts.quals.with(Quals::CONST)
            }
            Keyword::Volatile | Keyword::Volatile2 | Keyword::Volatile3 => {
                parts.quals = parts.quals.with(Quals::VOLATILE);
            }
            Keyword::Restrict | Keyword::Restrict2 | Keyword::Restrict3 => {}
            Keyword::Inline | Keyword::Inline2 | Keyword::Inline3 => result.inline = true,
            Keyword::Noreturn => {}
            Keyword::ThreadLocal | Keyword::Thread => result.thread_local = true,
            Keyword::AutoType => result.auto_type = true,
            Keyword::Atomic if self.peek_at(1).is(Punct::LParen) => {
                self.at += 2;
                parts.named = Some(self.nested(|p| p.type_name())?);
                parts.quals = parts.quals.with(Quals::ATOMIC);
                self.expect(Punct::RParen, "after `_Atomic(type`")?;
                return Ok(true);
            }
            Keyword::Atomic => parts.quals = parts.quals.with(Quals::ATOMIC),
            Keyword::Attribute | Keyword::Attribute2 | Keyword::Extension => {
                let more = self.attributes()?;
                result.attributes.merge(more);
                return Ok(true);
            }
            Keyword::Alignas => {
                let align = self.alignas()?;
                result.attributes.align = result.attributes.align.max(align);
                return Ok(true);
            }
            Keyword::Struct | Keyword::Union | Keyword::Enum if parts.is_open() => {
                parts.named = Some(self.tagged(keyword)?);
                return Ok(true);
            }
            Keyword::Typeof | Keyword::Typeof2 | Keyword::Typeof3 => {
                parts.named = Some(self.typeof_specifier()?);
                return Ok(true);
            }
            Keyword::Complex | Keyword::Complex2 | Keyword::Imaginary => {
                return unsupported(span, "a complex number", "use two doubles");
            }
            // `unsigned __int128` and `__int128` are the same data here.
            Keyword::Int128 | Keyword::Int128b | Keyword::UInt128 => {
                (parts.words.signed, parts.words.unsigned) = (0, 0);
                parts.named = Some(self.int128().into());
            }
            // `typedef float _Float32;` for a compiler that does not know the word.
            Keyword::Float32
            | Keyword::Float64
            | Keyword::Float32x
            | Keyword::Float64x
            | Keyword::Float128b
                if !parts.is_open() =>
            {
                return Ok(false);
            }
            Keyword::Float32 => parts.named = Some(Ty::FLOAT.into()),
            Keyword::Float64 | Keyword::Float32x => parts.named = Some(Ty::DOUBLE.into()),
            Keyword::Float128 | Keyword::Float128b | Keyword::Float64x => {
                parts.named = Some(Ty::LDOUBLE.into());
            }
            _ => return Ok(false),
        }
        self.at += 1;
        Ok(true)
    }

    /// The type that the specifiers name.
    fn base_type(&mut self, parts: &Parts, result: &Specifiers) -> Res<QTy> {
        match (parts.named, parts.words.any()) {
            (Some(ty), false) => Ok(ty),
            (Some(ty), true) if Some(ty.ty) == self.int128 => Ok(ty),
            (None, true) if parts.words.ty().is_some() => Ok(parts.words.ty().unwrap_or(Ty::INT).into()),
            (_, true) => fail(result.span, "these type specifiers do not go together"),
            (None, false) if result.auto_type => Ok(Ty::INT.into()),
            (None, false) if self.means_int(parts, result) => {
                let message = "a declaration without a type means `int`";
                self.warnings.push(Diagnostic::warning(self.peek().span, message).hint("write `int`"));
                Ok(Ty::INT.into())
            }
            (None, false) => {
                let token = self.peek();
                let name = token.kind == TokenKind::Ident && Keyword::of(token.symbol).is_none();
                if name && self.scopes.lookup(token.symbol) == Entity::Unknown {
                    return self.undeclared(token.symbol, token.span);
                }
                fail(token.span, format!("expected a type, found {}", self.describe(&token)))
            }
        }
    }

    /// `main() { ... }` and `static n;`, as in C before 1999.
    fn means_int(&self, parts: &Parts, result: &Specifiers) -> bool {
        let token = self.peek();
        let name = token.kind == TokenKind::Ident && Keyword::of(token.symbol).is_none();
        if !name || matches!(self.scopes.lookup(token.symbol), Entity::Typedef(_)) {
            return false;
        }
        let next = self.peek_at(1);
        if result.storage != Storage::Automatic || parts.quals != Quals::NONE {
            return [Punct::Semi, Punct::Assign, Punct::Comma, Punct::LBracket].iter().any(|p| next.is(*p))
                || next.is(Punct::LParen);
        }
        if self.function.is_some() || !next.is(Punct::LParen) {
            return false;
        }
        // A definition, not the use of a macro that nobody defined.
        let mut depth = 0usize;
        for ahead in 1.. {
            let token = self.peek_at(ahead);
            depth += usize::from(token.is(Punct::LParen));
            depth -= usize::from(token.is(Punct::RParen));
            if token.kind == TokenKind::Eof {
                return false;
            }
            if depth == 0 {
                return self.peek_at(ahead + 1).is(Punct::LBrace);
            }
        }
        false
    }

    /// `__int128`: two words that can be copied, and nothing else.
    pub(super) fn int128(&mut self) -> Ty {
        if let Some(ty) = self.int128 {
            return ty;
        }
        let name = self.interner.intern("__int128");
        let id = self.unit.types.new_record(Some(name), false);
        let member = |name| {
            let field = crate::types::Field { name: Some(name), ty: Ty::ULONG.into(), offset: 0, bits: None };
            crate::layout::Member { field, bit_width: None, align: None }
        };
        let (low, high) = (self.interner.intern("__low"), self.interner.intern("__high"));
        let laid_out = self.unit.types.complete_record(id, vec![member(low), member(high)], None, Some(16));
        debug_assert!(laid_out.is_ok());
        let ty = self.unit.types.intern(crate::types::TypeKind::Record(id));
        self.int128 = Some(ty);
        ty
    }

    /// Atomic objects must be scalars, or structs of the size of one.
    pub(super) fn check_atomic(&self, ty: QTy, span: Span) -> Res<()> {
        if !ty.quals.has(Quals::ATOMIC) || self.unit.types.is_scalar(ty.ty) {
            return Ok(());
        }
        let what = self.show(ty);
        if self.unit.types.is_record(ty.ty) {
            return match self.unit.types.size(ty.ty) {
                Some(1 | 2 | 4 | 8) => Ok(()),
                Some(16) if self.unit.types.is_two_words(ty.ty) => Ok(()),
                _ => unsupported(
                    span,
                    format!("`{what}`, an atomic object that is not 1, 2, 4, 8 or 16 bytes large,"),
                    "no processor has such accesses; pack the value or use a lock",
                ),
            };
        }
        fail(span, format!("`{what}` cannot be atomic"))
    }

    fn alignas(&mut self) -> Res<Option<u64>> {
        let span = self.advance().span;
        self.expect(Punct::LParen, "after `_Alignas`")?;
        let align = if self.starts_type() {
            let ty = self.nested(|p| p.type_name())?;
            self.unit.types.align(ty.ty) as i64
        } else {
            self.constant_integer("an alignment")?.0
        };
        self.expect(Punct::RParen, "after the alignment")?;
        self.alignment(align, span)
    }

    fn typeof_specifier(&mut self) -> Res<QTy> {
        self.at += 1;
        self.expect(Punct::LParen, "after `typeof`")?;
        let ty = self.nested(|p| match p.starts_type() {
            true => p.type_name(),
            false => Ok(p.expression()?.ty),
        })?;
        self.expect(Punct::RParen, "after `typeof(...`")?;
        Ok(ty)
    }

    /// A type name, as in a cast.
    pub(super) fn type_name(&mut self) -> Res<QTy> {
        let specifiers = self.specifiers()?;
        let declarator = self.declarator(specifiers.ty, true)?;
        if let Some((_, span)) = declarator.name {
            return fail(span, "a type name names no variable");
        }
        Ok(declarator.ty)
    }

    /// `_Static_assert(condition, "message");`
    pub(super) fn static_assert(&mut self) -> Res<()> {
        let span = self.advance().span;
        self.expect(Punct::LParen, "after `_Static_assert`")?;
        let (value, at) = self.constant_integer("the condition of `_Static_assert`")?;
        let mut message = String::new();
        if self.eat(Punct::Comma) {
            let token = self.peek();
            if token.kind != TokenKind::Str {
                return fail(token.span, "expected the message of `_Static_assert`");
            }
            while self.peek().kind == TokenKind::Str {
                let text = self.advance().symbol;
                message.push_str(self.interner.text(text).trim_matches('"'));
            }
        }
        self.expect(Punct::RParen, "after `_Static_assert(...`")?;
        self.expect(Punct::Semi, "after `_Static_assert(...)`")?;
        if value == 0 {
            return fail(span.to(at), format!("static assertion failed: {message}"));
        }
        Ok(())
    }
}

impl Words {
    fn counter(&mut self, keyword: Keyword) -> Option<&mut u8> {
        let count = match keyword {
            Keyword::Void => &mut self.void,
            Keyword::Bool => &mut self.bool_,
            Keyword::Char => &mut self.char_,
            Keyword::Short => &mut self.short,
            Keyword::Int => &mut self.int,
            Keyword::Long => &mut self.long,
            Keyword::Float => &mut self.float,
            Keyword::Double => &mut self.double,
            Keyword::Signed | Keyword::Signed2 | Keyword::Signed3 => &mut self.signed,
            Keyword::Unsigned => &mut self.unsigned,
            _ => return None,
        };
        // Enough to be an error; never enough to overflow.
        *count = (*count).min(9);
        Some(count)
    }
}

fn storage_class(keyword: Keyword) -> Option<Storage> {
    Some(match keyword {
        Keyword::Typedef => Storage::Typedef,
        Keyword::Extern => Storage::Extern,
        Keyword::Static => Storage::Static,
        Keyword::Auto | Keyword::Register => Storage::Automatic,
        _ => return None,
    })
}
