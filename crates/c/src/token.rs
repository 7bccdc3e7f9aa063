//! Tokens, punctuators and keywords. The preprocessor and the parser share one token type.

use crate::intern::Symbol;
use fencepost_diag::Span;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// An identifier or keyword.
    Ident,
    /// A preprocessing number.
    Number,
    /// A character constant, quotes included.
    Char,
    /// A string literal, quotes included.
    Str,
    /// A punctuator.
    Punct(Punct),
    /// A character that begins no token; an error if it survives preprocessing.
    Other,
    /// The rest of a line from a quote that is never closed; an error if it survives preprocessing.
    Unclosed,
    /// The end of the input.
    Eof,
}

/// One token. Its text is `symbol`.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its text, interned.
    pub symbol: Symbol,
    /// Where it stands; for a token out of a macro's body, where the outermost macro was used.
    pub span: Span,
    /// It is the first one on its line.
    pub first_on_line: bool,
    /// White space comes before it.
    pub space: bool,
    /// It names a macro that must not be expanded any more.
    pub painted: bool,
}

impl Token {
    /// True for this punctuator.
    pub fn is(&self, punct: Punct) -> bool {
        self.kind == TokenKind::Punct(punct)
    }
}

macro_rules! puncts {
    ($($name:ident $text:literal),* $(,)?) => {
        /// The punctuators of C.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs)]
        pub enum Punct { $($name),* }

        impl Punct {
            /// All of them with their spelling; longer ones stand before their prefixes.
            pub const ALL: &'static [(Punct, &'static str)] = &[$((Punct::$name, $text)),*];
        }
    };
}

puncts! {
    Ellipsis "...", ShlAssign "<<=", ShrAssign ">>=",
    Arrow "->", Inc "++", Dec "--", Shl "<<", Shr ">>", Le "<=", Ge ">=", EqEq "==", Ne "!=", AndAnd "&&", OrOr "||",
    MulAssign "*=", DivAssign "/=", RemAssign "%=", AddAssign "+=", SubAssign "-=", AndAssign "&=", XorAssign "^=",
    OrAssign "|=", HashHash "##",
    LBracket "[", RBracket "]", LParen "(", RParen ")", LBrace "{", RBrace "}", Dot ".", Amp "&", Star "*", Plus "+",
    Minus "-", Tilde "~", Bang "!", Slash "/", Percent "%", Lt "<", Gt ">", Caret "^", Pipe "|", Question "?", Colon ":",
    Semi ";", Assign "=", Comma ",", Hash "#",
}

impl Punct {
    /// Its spelling.
    pub fn text(self) -> &'static str {
        Punct::ALL.iter().find(|(p, _)| *p == self).map_or("", |(_, text)| text)
    }
}

macro_rules! keywords {
    ($($name:ident $text:literal),* $(,)?) => {
        /// The keywords, GNU spellings included; each spelling is a keyword of its own.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        #[allow(missing_docs)]
        pub enum Keyword { $($name),* }

        /// The spellings, in the order of [`Keyword`].
        pub const KEYWORDS: &[&str] = &[$($text),*];

        const ALL_KEYWORDS: &[Keyword] = &[$(Keyword::$name),*];
    };
}

keywords! {
    Auto "auto", Break "break", Case "case", Char "char", Const "const", Continue "continue", Default "default", Do "do",
    Double "double", Else "else", Enum "enum", Extern "extern", Float "float", For "for", Goto "goto", If "if",
    Inline "inline", Int "int", Long "long", Register "register", Restrict "restrict", Return "return", Short "short",
    Signed "signed", Sizeof "sizeof", Static "static", Struct "struct", Switch "switch", Typedef "typedef",
    Union "union", Unsigned "unsigned", Void "void", Volatile "volatile", While "while", Alignas "_Alignas",
    Alignof "_Alignof", Atomic "_Atomic", Bool "_Bool", Complex "_Complex", Generic "_Generic", Imaginary "_Imaginary",
    Noreturn "_Noreturn", StaticAssert "_Static_assert", ThreadLocal "_Thread_local",
    Asm "asm", Asm2 "__asm", Asm3 "__asm__", Attribute "__attribute__", Attribute2 "__attribute",
    AutoType "__auto_type", Const2 "__const", Const3 "__const__", Extension "__extension__", Inline2 "__inline",
    Inline3 "__inline__", Restrict2 "__restrict", Restrict3 "__restrict__", Signed2 "__signed__", Thread "__thread",
    Typeof "typeof", Typeof2 "__typeof", Typeof3 "__typeof__", Volatile2 "__volatile__", Volatile3 "__volatile",
    Alignof2 "__alignof__", Int128 "__int128", Label "__label__", Offsetof "__builtin_offsetof",
    Int128b "__int128_t", UInt128 "__uint128_t", Signed3 "__signed", Float128 "_Float128", Float128b "__float128",
    Float64 "_Float64", Float32 "_Float32", Float32x "_Float32x", Float64x "_Float64x", Alignof3 "__alignof",
    Complex2 "__complex__", TypesCompatible "__builtin_types_compatible_p", ChooseExpr "__builtin_choose_expr",
        VaArg "__builtin_va_arg",
    Func "__func__", Function "__FUNCTION__", PrettyFunction "__PRETTY_FUNCTION__",
}

impl Keyword {
    /// The keyword of a symbol, if it is one; [`KEYWORDS`] must be the first words of the table.
    pub fn of(symbol: Symbol) -> Option<Keyword> {
        ALL_KEYWORDS.get(symbol.0 as usize).copied()
    }
}
