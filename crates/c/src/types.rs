//! C types, interned: a [`Ty`] is a number, equal types have equal numbers, and the basic ones are constants.
//!
//! `_Atomic` is kept as a qualifier, because size and alignment of every atomic type that we allow are those of the
//! type itself. An `enum` is the integer type that represents it.

use crate::intern::Symbol;
use rustc_hash::FxHashMap;

/// An unqualified type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ty(pub u32);

/// A struct or union.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RecordId(pub u32);

/// Type qualifiers, a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Quals(pub u8);

impl Quals {
    /// None.
    pub const NONE: Quals = Quals(0);
    /// `const`.
    pub const CONST: Quals = Quals(1);
    /// `volatile`.
    pub const VOLATILE: Quals = Quals(2);
    /// `_Atomic`.
    pub const ATOMIC: Quals = Quals(4);

    /// Both sets together.
    pub fn with(self, other: Quals) -> Quals {
        Quals(self.0 | other.0)
    }

    /// All of `other` are in this set.
    pub fn has(self, other: Quals) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The enumeration that a type was written as, for reports: its number in the unit, from 1 on. It makes no difference to types.
#[derive(Clone, Copy, Debug, Default)]
pub struct Enumeration(pub u32);

impl PartialEq for Enumeration {
    fn eq(&self, _: &Enumeration) -> bool {
        true
    }
}

impl Eq for Enumeration {}

impl std::hash::Hash for Enumeration {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// A type with its qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QTy {
    /// The type.
    pub ty: Ty,
    /// Its qualifiers.
    pub quals: Quals,
    /// The enumeration that it is.
    pub enumeration: Enumeration,
}

impl QTy {
    /// Without qualifiers.
    pub fn plain(ty: Ty) -> QTy {
        QTy { ty, quals: Quals::NONE, enumeration: Enumeration::default() }
    }

    /// With further qualifiers.
    pub fn with(self, quals: Quals) -> QTy {
        QTy { quals: self.quals.with(quals), ..self }
    }
}

impl From<Ty> for QTy {
    fn from(ty: Ty) -> QTy {
        QTy::plain(ty)
    }
}

/// What a type is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeKind {
    /// `void`.
    Void,
    /// `_Bool`.
    Bool,
    /// An integer type: its rank (char 1 .. long long 5), its size in bytes, its sign.
    Int {
        /// Conversion rank.
        rank: u8,
        /// Size in bytes.
        size: u8,
        /// Signed.
        signed: bool,
        /// Plain `char`, a type of its own.
        plain_char: bool,
    },
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `long double`: known, and an error where it is used.
    LongDouble,
    /// A pointer.
    Pointer(QTy),
    /// An array; without a length it is incomplete.
    Array(QTy, Option<u64>),
    /// A function.
    Function {
        /// Result.
        result: QTy,
        /// Parameters.
        params: Vec<QTy>,
        /// Takes more arguments.
        variadic: bool,
        /// `()`: nothing is known about the parameters.
        unknown: bool,
    },
    /// A struct or union.
    Record(RecordId),
    /// `va_list`.
    VaList,
}

macro_rules! basic {
    ($($name:ident = $number:literal $doc:literal),* $(,)?) => {
        impl Ty { $(#[doc = $doc] pub const $name: Ty = Ty($number);)* }
    };
}

basic! {
    VOID = 0 "`void`", BOOL = 1 "`_Bool`", CHAR = 2 "`char`", SCHAR = 3 "`signed char`", UCHAR = 4 "`unsigned char`",
    SHORT = 5 "`short`", USHORT = 6 "`unsigned short`", INT = 7 "`int`", UINT = 8 "`unsigned`", LONG = 9 "`long`",
    ULONG = 10 "`unsigned long`", LLONG = 11 "`long long`", ULLONG = 12 "`unsigned long long`", FLOAT = 13 "`float`",
    DOUBLE = 14 "`double`", LDOUBLE = 15 "`long double`", VOIDP = 17 "`void *`",
}

/// A struct or union.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its tag.
    pub name: Option<Symbol>,
    /// A union.
    pub union_: bool,
    /// As a parameter it takes a value of any of its members.
    pub transparent: bool,
    /// Its members are known.
    pub complete: bool,
    /// Its members, in order.
    pub fields: Vec<Field>,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// A member.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name; anonymous structs and unions have none.
    pub name: Option<Symbol>,
    /// Its type.
    pub ty: QTy,
    /// Byte offset; for a bit-field that of its storage unit.
    pub offset: u64,
    /// Where a bit-field lies in its storage unit.
    pub bits: Option<Bits>,
}

/// A bit-field's place in its storage unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    /// Lowest bit.
    pub shift: u8,
    /// Number of bits.
    pub width: u8,
    /// Size in bytes of the unit that is read and written as one.
    pub unit: u8,
    /// The unit is read and written byte by byte, because no access of one size fits.
    pub bytewise: bool,
}

/// All types of a program.
pub struct Types {
    kinds: Vec<TypeKind>,
    /// How many pointers, arrays and functions are around the innermost type of each.
    depths: Vec<u32>,
    numbers: FxHashMap<TypeKind, Ty>,
    /// Structs and unions.
    pub records: Vec<Record>,
    /// The program has several files: structs with the same members are the same.
    pub linking: bool,
}

impl Default for Types {
    fn default() -> Types {
        let int = |rank, size, signed| TypeKind::Int { rank, size, signed, plain_char: false };
        let mut types = Types {
            kinds: Vec::new(),
            depths: Vec::new(),
            numbers: FxHashMap::default(),
            records: Vec::new(),
            linking: false,
        };
        let basic = [
            TypeKind::Void,
            TypeKind::Bool,
            TypeKind::Int { rank: 1, size: 1, signed: true, plain_char: true },
            int(1, 1, true),
            int(1, 1, false),
            int(2, 2, true),
            int(2, 2, false),
            int(3, 4, true),
            int(3, 4, false),
            int(4, 8, true),
            int(4, 8, false),
            int(5, 8, true),
            int(5, 8, false),
            TypeKind::Float,
            TypeKind::Double,
            TypeKind::LongDouble,
            TypeKind::VaList,
            TypeKind::Pointer(QTy::plain(Ty::VOID)),
        ];
        for kind in basic {
            types.intern(kind);
        }
        types
    }
}

impl Types {
    /// The number of a type.
    pub fn intern(&mut self, kind: TypeKind) -> Ty {
        if let Some(&ty) = self.numbers.get(&kind) {
            return ty;
        }
        let ty = Ty(self.kinds.len() as u32);
        let depth = match &kind {
            TypeKind::Pointer(to) | TypeKind::Array(to, _) => self.depth(to.ty) + 1,
            TypeKind::Function { result, params, .. } => {
                1 + params.iter().chain([result]).map(|part| self.depth(part.ty)).max().unwrap_or(0)
            }
            _ => 0,
        };
        self.depths.push(depth);
        self.kinds.push(kind.clone());
        self.numbers.insert(kind, ty);
        ty
    }

    /// How many pointers, arrays and functions are around the innermost type: types are walked recursively.
    pub fn depth(&self, ty: Ty) -> u32 {
        self.depths.get(ty.0 as usize).copied().unwrap_or(0)
    }

    /// What a type is.
    pub fn kind(&self, ty: Ty) -> &TypeKind {
        &self.kinds[ty.0 as usize]
    }

    /// A pointer to it.
    pub fn pointer(&mut self, to: impl Into<QTy>) -> Ty {
        self.intern(TypeKind::Pointer(to.into()))
    }

    /// An array of it.
    pub fn array(&mut self, of: QTy, length: Option<u64>) -> Ty {
        self.intern(TypeKind::Array(of, length))
    }

    /// A new struct or union without members.
    pub fn new_record(&mut self, name: Option<Symbol>, union_: bool) -> RecordId {
        let id = RecordId(self.records.len() as u32);
        let record = Record {
            name,
            union_,
            transparent: false,
            complete: false,
            fields: Vec::new(),
            size: 0,
            align: 1,
        };
        self.records.push(record);
        id
    }

    /// What a pointer points to.
    pub fn pointee(&self, ty: Ty) -> Option<QTy> {
        match self.kind(ty) {
            TypeKind::Pointer(to) => Some(*to),
            _ => None,
        }
    }

    /// What an array is of.
    pub fn element(&self, ty: Ty) -> Option<(QTy, Option<u64>)> {
        match self.kind(ty) {
            TypeKind::Array(of, length) => Some((*of, *length)),
            _ => None,
        }
    }

    /// The struct or union that this is.
    pub fn record(&self, ty: Ty) -> Option<(RecordId, &Record)> {
        match self.kind(ty) {
            TypeKind::Record(id) => Some((*id, &self.records[id.0 as usize])),
            _ => None,
        }
    }

    /// An integer type, `_Bool` included.
    pub fn is_integer(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TypeKind::Int { .. } | TypeKind::Bool)
    }

    /// `float` or `double`.
    pub fn is_floating(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TypeKind::Float | TypeKind::Double | TypeKind::LongDouble)
    }

    /// Integer or floating.
    pub fn is_arithmetic(&self, ty: Ty) -> bool {
        self.is_integer(ty) || self.is_floating(ty)
    }

    /// A pointer.
    pub fn is_pointer(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TypeKind::Pointer(_))
    }

    /// Fits in a register.
    pub fn is_scalar(&self, ty: Ty) -> bool {
        self.is_arithmetic(ty) || self.is_pointer(ty)
    }

    /// A struct or union.
    pub fn is_record(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TypeKind::Record(_))
    }

    /// A function.
    pub fn is_function(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TypeKind::Function { .. })
    }

    /// A signed integer type.
    pub fn is_signed(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TypeKind::Int { signed: true, .. })
    }

    /// The type after integer promotion.
    pub fn promoted(&self, ty: Ty) -> Ty {
        match self.kind(ty) {
            TypeKind::Bool => Ty::INT,
            TypeKind::Int { rank, .. } if *rank < 3 => Ty::INT,
            _ => ty,
        }
    }

    /// The common type of two arithmetic types (C11 6.3.1.8).
    pub fn usual_arithmetic(&self, a: Ty, b: Ty) -> Ty {
        for floating in [Ty::LDOUBLE, Ty::DOUBLE, Ty::FLOAT] {
            if a == floating || b == floating {
                return floating;
            }
        }
        let (a, b) = (self.promoted(a), self.promoted(b));
        let facts = |ty| match self.kind(ty) {
            TypeKind::Int { rank, size, signed, .. } => (*rank, *size, *signed),
            _ => (3, 4, true),
        };
        let ((rank_a, size_a, signed_a), (rank_b, size_b, signed_b)) = (facts(a), facts(b));
        if signed_a == signed_b {
            return if rank_a >= rank_b { a } else { b };
        }
        let (signed, unsigned) = if signed_a { (a, b) } else { (b, a) };
        let (signed_rank, signed_size) = if signed_a { (rank_a, size_a) } else { (rank_b, size_b) };
        let (unsigned_rank, unsigned_size) = if signed_a { (rank_b, size_b) } else { (rank_a, size_a) };
        if unsigned_rank >= signed_rank {
            unsigned
        } else if signed_size > unsigned_size {
            signed
        } else {
            self.unsigned_of(signed)
        }
    }

    /// The unsigned type of the same rank.
    pub fn unsigned_of(&self, ty: Ty) -> Ty {
        match ty {
            Ty::CHAR | Ty::SCHAR => Ty::UCHAR,
            Ty::SHORT => Ty::USHORT,
            Ty::INT => Ty::UINT,
            Ty::LONG => Ty::ULONG,
            Ty::LLONG => Ty::ULLONG,
            _ => ty,
        }
    }

    /// Compatible in the sense of `_Generic` and of declarations: equal up to unknown array lengths and parameters.
    pub fn compatible(&self, a: Ty, b: Ty) -> bool {
        if a == b {
            return true;
        }
        match (self.kind(a), self.kind(b)) {
            (TypeKind::Record(a), TypeKind::Record(b)) if self.linking => self.same_members(*a, *b),
            (TypeKind::Pointer(a), TypeKind::Pointer(b)) => a.quals == b.quals && self.compatible(a.ty, b.ty),
            (TypeKind::Array(a, n), TypeKind::Array(b, m)) => {
                (n.is_none() || m.is_none() || n == m) && a.quals == b.quals && self.compatible(a.ty, b.ty)
            }
            (
                TypeKind::Function { result: ra, params: pa, variadic: va, unknown: ua },
                TypeKind::Function { result: rb, params: pb, variadic: vb, unknown: ub },
            ) => {
                self.compatible(ra.ty, rb.ty)
                    && (*ua
                        || *ub
                        || (va == vb
                            && pa.len() == pb.len()
                            && pa.iter().zip(pb).all(|(x, y)| self.compatible(x.ty, y.ty))))
            }
            _ => false,
        }
    }

    /// Whether two structs or unions of different files are the same: by tag, size and the sizes of their members.
    fn same_members(&self, a: RecordId, b: RecordId) -> bool {
        let (a, b) = (&self.records[a.0 as usize], &self.records[b.0 as usize]);
        let open = !a.complete || !b.complete;
        let alike = |(x, y): (&Field, &Field)| {
            x.name == y.name
                && x.offset == y.offset
                && x.bits == y.bits
                && self.size(x.ty.ty) == self.size(y.ty.ty)
        };
        a.name == b.name
            && a.union_ == b.union_
            && (open
                || (a.size == b.size
                    && a.fields.len() == b.fields.len()
                    && a.fields.iter().zip(&b.fields).all(alike)))
    }

    /// The type as a person writes it, for messages.
    pub fn show(&self, ty: QTy, name: &dyn Fn(Symbol) -> String) -> String {
        let mut text = String::new();
        for (qual, word) in
            [(Quals::ATOMIC, "_Atomic "), (Quals::VOLATILE, "volatile "), (Quals::CONST, "const ")]
        {
            if ty.quals.has(qual) {
                text.push_str(word);
            }
        }
        text + &match self.kind(ty.ty) {
            TypeKind::Void => "void".into(),
            TypeKind::Bool => "_Bool".into(),
            TypeKind::Int { .. } => int_name(ty.ty).into(),
            TypeKind::Float => "float".into(),
            TypeKind::Double => "double".into(),
            TypeKind::LongDouble => "long double".into(),
            TypeKind::VaList => "va_list".into(),
            TypeKind::Pointer(to) => format!("{} *", self.show(*to, name)),
            TypeKind::Array(of, Some(length)) => format!("{}[{length}]", self.show(*of, name)),
            TypeKind::Array(of, None) => format!("{}[]", self.show(*of, name)),
            TypeKind::Function { result, params, .. } => {
                let params: Vec<_> = params.iter().map(|p| self.show(*p, name)).collect();
                format!("{} ({})", self.show(*result, name), params.join(", "))
            }
            TypeKind::Record(id) => {
                let record = &self.records[id.0 as usize];
                let word = if record.union_ { "union" } else { "struct" };
                match record.name {
                    Some(tag) => format!("{word} {}", name(tag)),
                    None => format!("{word} {{...}}"),
                }
            }
        }
    }
}

fn int_name(ty: Ty) -> &'static str {
    match ty {
        Ty::CHAR => "char",
        Ty::SCHAR => "signed char",
        Ty::UCHAR => "unsigned char",
        Ty::SHORT => "short",
        Ty::USHORT => "unsigned short",
        Ty::INT => "int",
        Ty::UINT => "unsigned int",
        Ty::LONG => "long",
        Ty::ULONG => "unsigned long",
        Ty::LLONG => "long long",
        _ => "unsigned long long",
    }
}
