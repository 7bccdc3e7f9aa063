//! The C types that initial states and C tests name.

use crate::lexer::{Kind, Lexer};
use fencepost_ir::{Extend, Width};

/// A scalar type. Atomic and volatile make no difference here: the access decides how it is ordered, not the type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Type {
    base: Width,
    signed: bool,
    /// 128 bits; the base then has 64.
    double: bool,
    /// How many stars.
    pub(crate) pointers: u8,
}

impl Type {
    /// `int`.
    pub(crate) const INT: Type = Type { base: Width::W32, signed: true, double: false, pointers: 0 };
    /// `long`.
    pub(crate) const LONG: Type = Type { base: Width::W64, signed: true, double: false, pointers: 0 };

    /// An integer type.
    pub(crate) fn integer(base: Width, signed: bool) -> Type {
        Type { base, signed, double: false, pointers: 0 }
    }

    /// An integer of 128 bits.
    pub(crate) fn is_double(self) -> bool {
        self.double && self.pointers == 0
    }

    /// The width of a value.
    pub(crate) fn width(self) -> Width {
        if self.pointers > 0 { Width::W64 } else { self.base }
    }

    /// True for signed integers.
    pub(crate) fn is_signed(self) -> bool {
        self.pointers == 0 && self.signed
    }

    /// True for pointers.
    pub(crate) fn is_pointer(self) -> bool {
        self.pointers > 0
    }

    /// How a value fills a register.
    pub(crate) fn extend(self) -> Extend {
        if self.is_signed() { Extend::Sign } else { Extend::Zero }
    }

    /// What a pointer points to; an integer used as an address points to `int`s, or to integers like itself.
    pub(crate) fn pointee(self) -> Type {
        match self.pointers {
            // An integer that is as wide as an address points to others of its kind.
            0 if self.base == Width::W64 => self,
            0 => Type::INT,
            n => Type { pointers: n - 1, ..self },
        }
    }

    /// What is at the end of all pointers.
    pub(crate) fn without_pointers(self) -> Type {
        Type { pointers: 0, ..self }
    }

    /// A pointer to this.
    pub(crate) fn pointer_to(self) -> Type {
        Type { pointers: self.pointers.saturating_add(1), ..self }
    }
}

/// The type that a word names alone; `Some(None)` for qualifiers, `None` for words that belong to no type.
fn word_type(word: &str) -> Option<Option<Type>> {
    use Width::{W8, W16, W32, W64};
    let plain = word.strip_prefix("atomic_").unwrap_or(word);
    let double = matches!(plain, "int128_t" | "uint128_t" | "__int128" | "__int128_t" | "__uint128_t");
    let (width, signed) = match plain {
        _ if double => (W64, !plain.contains('u')),
        "volatile" | "const" | "_Atomic" | "static" | "register" | "restrict" | "signed" => {
            return Some(None);
        }
        "int" | "int32_t" => (W32, true),
        "unsigned" | "uint" | "uint32_t" => (W32, false),
        "char" | "int8_t" | "schar" => (W8, true),
        "bool" | "_Bool" | "uchar" | "uint8_t" => (W8, false),
        "flag" if word == "atomic_flag" => (W8, false),
        "short" | "int16_t" => (W16, true),
        "ushort" | "uint16_t" => (W16, false),
        "long" | "llong" | "int64_t" | "intptr_t" | "ptrdiff_t" | "ssize_t" => (W64, true),
        "ulong" | "ullong" | "uint64_t" | "uintptr_t" | "size_t" => (W64, false),
        "void" => (W8, false),
        "u8" | "__u8" => (W8, false),
        "u16" | "__u16" => (W16, false),
        "u32" | "__u32" => (W32, false),
        "u64" | "__u64" => (W64, false),
        "s8" => (W8, true),
        "s16" => (W16, true),
        "s32" => (W32, true),
        "s64" => (W64, true),
        _ if is_kernel_type(word) => {
            (if word.contains("64") || word.contains("long") { W64 } else { W32 }, true)
        }
        _ => return None,
    };
    Some(Some(Type { double, ..Type::integer(width, signed) }))
}

/// Types that only the Linux kernel has. What is in its structures does not matter.
fn is_kernel_type(word: &str) -> bool {
    matches!(
        word,
        "atomic_t" | "atomic64_t" | "atomic_long_t" | "spinlock_t" | "raw_spinlock_t" | "rwlock_t" | "struct"
    )
}

/// True if the word can start or continue a type.
pub(crate) fn is_type_word(word: &str) -> bool {
    word_type(word).is_some()
}

/// Reads a type, words and stars, or nothing if the next word does not belong to one.
pub(crate) fn parse_type(lexer: &mut Lexer<'_>) -> Option<Type> {
    let mut ty: Option<Type> = None;
    let mut seen = false;
    loop {
        let token = lexer.peek();
        if token.kind != Kind::Ident {
            break;
        }
        let word = lexer.text(token);
        let Some(part) = word_type(word) else { break };
        seen = true;
        ty = match (ty, part) {
            (None, part) => part,
            (Some(old), None) => Some(old),
            // `unsigned long`, `long int`, `unsigned char`: the more specific word wins.
            (Some(old), Some(new)) => {
                let base = if word == "int" { old.base } else { new.base };
                let (signed, double) = (old.signed && new.signed, old.double || new.double);
                Some(Type { base, signed, double, pointers: 0 })
            }
        };
        lexer.next();
        if word == "struct" && lexer.peek().kind == Kind::Ident {
            lexer.next();
        }
    }
    if !seen {
        return None;
    }
    let mut ty = ty.unwrap_or(Type::INT);
    loop {
        if lexer.eat("*") {
            ty = ty.pointer_to();
        } else if ["const", "volatile", "restrict", "_Atomic"].iter().any(|word| lexer.at_word(word)) {
            lexer.next();
        } else {
            return Some(ty);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::Mode;

    fn parse(text: &str) -> Option<Type> {
        parse_type(&mut Lexer::new(text, 0, Mode::CBody))
    }

    #[test]
    fn words_and_stars_make_types() {
        assert_eq!(parse("volatile int x"), Some(Type::INT));
        assert_eq!(parse("atomic_int* x"), Some(Type::INT.pointer_to()));
        assert_eq!(parse("unsigned long x"), Some(Type::integer(Width::W64, false)));
        assert_eq!(parse("long int x"), Some(Type::LONG));
        assert_eq!(parse("uint8_t x"), Some(Type::integer(Width::W8, false)));
        assert_eq!(parse("_Atomic int * const * x"), Some(Type::INT.pointer_to().pointer_to()));
        assert_eq!(parse("frob x"), None);
    }
}
