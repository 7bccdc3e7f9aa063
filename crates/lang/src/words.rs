//! Words of the language: operators by sign, and the dotted parts of low-level forms such as `load.w64.acq`.

use fencepost_ir::{Ann, BinaryOp, Extend, Order, RmwOp, Role, UnaryOp, Width};

/// Operators that have a sign, with their strength. They work on 32-bit signed integers.
pub const SIGNS: [(&str, BinaryOp, u8); 16] = [
    ("|", BinaryOp::Or, 3),
    ("^", BinaryOp::Xor, 4),
    ("&", BinaryOp::And, 5),
    ("==", BinaryOp::Eq, 6),
    ("!=", BinaryOp::Ne, 6),
    ("<", BinaryOp::LtS, 7),
    ("<=", BinaryOp::LeS, 7),
    (">", BinaryOp::GtS, 7),
    (">=", BinaryOp::GeS, 7),
    ("<<", BinaryOp::Shl, 8),
    (">>", BinaryOp::ShrS, 8),
    ("+", BinaryOp::Add, 9),
    ("-", BinaryOp::Sub, 9),
    ("*", BinaryOp::Mul, 10),
    ("/", BinaryOp::DivS, 10),
    ("%", BinaryOp::RemS, 10),
];

/// Every operator of two operands by name.
pub const BINARY: [(&str, BinaryOp); 23] = [
    ("add", BinaryOp::Add),
    ("sub", BinaryOp::Sub),
    ("mul", BinaryOp::Mul),
    ("divu", BinaryOp::DivU),
    ("divs", BinaryOp::DivS),
    ("remu", BinaryOp::RemU),
    ("rems", BinaryOp::RemS),
    ("and", BinaryOp::And),
    ("or", BinaryOp::Or),
    ("xor", BinaryOp::Xor),
    ("shl", BinaryOp::Shl),
    ("shru", BinaryOp::ShrU),
    ("shrs", BinaryOp::ShrS),
    ("eq", BinaryOp::Eq),
    ("ne", BinaryOp::Ne),
    ("ltu", BinaryOp::LtU),
    ("lts", BinaryOp::LtS),
    ("leu", BinaryOp::LeU),
    ("les", BinaryOp::LeS),
    ("gtu", BinaryOp::GtU),
    ("gts", BinaryOp::GtS),
    ("geu", BinaryOp::GeU),
    ("ges", BinaryOp::GeS),
];

/// Every operator of one operand by name.
pub const UNARY: [(&str, UnaryOp); 5] = [
    ("neg", UnaryOp::Neg),
    ("not", UnaryOp::Not),
    ("lnot", UnaryOp::LogicalNot),
    ("zext", UnaryOp::ZeroExtend),
    ("sext", UnaryOp::SignExtend),
];

/// What a read-modify-write stores, by name.
pub const RMW: [(&str, RmwOp); 12] = [
    ("exchange", RmwOp::Exchange),
    ("add", RmwOp::Add),
    ("sub", RmwOp::Sub),
    ("and", RmwOp::And),
    ("nand", RmwOp::Nand),
    ("or", RmwOp::Or),
    ("xor", RmwOp::Xor),
    ("clear", RmwOp::Clear),
    ("maxs", RmwOp::MaxS),
    ("mins", RmwOp::MinS),
    ("maxu", RmwOp::MaxU),
    ("minu", RmwOp::MinU),
];

/// Widths by name.
pub const WIDTHS: [(&str, Width); 4] =
    [("w8", Width::W8), ("w16", Width::W16), ("w32", Width::W32), ("w64", Width::W64)];

/// The word of a value in a table.
pub fn word<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, v)| v == value).map_or("?", |(word, _)| word)
}

/// The value of a word in a table.
pub fn lookup<T: Copy>(table: &[(&'static str, T)], word: &str) -> Option<T> {
    table.iter().find(|(w, _)| *w == word).map(|(_, value)| *value)
}

/// The parts of a dotted form after its first word.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Width; 32 bits unless given.
    pub width: Width,
    /// Extension; by sign unless given.
    pub extend: Extend,
    /// Annotations: an order begins a new one, flags belong to the one before.
    pub anns: Vec<Ann>,
    /// The operator of `rmw`.
    pub rmw: Option<RmwOp>,
    /// `weak`.
    pub weak: bool,
}

impl Parts {
    /// The `i`th annotation; plain if there is none.
    pub fn ann(&self, i: usize) -> Ann {
        self.anns.get(i).copied().unwrap_or(Ann::PLAIN)
    }

    /// Reads the parts; the error is the part that means nothing.
    pub fn read(parts: &[&str]) -> Result<Parts, String> {
        let mut found =
            Parts { width: Width::W32, extend: Extend::Sign, anns: Vec::new(), rmw: None, weak: false };
        for part in parts {
            if let Some(width) = lookup(&WIDTHS, part) {
                found.width = width;
            } else if let Some(order) = Order::ALL.into_iter().find(|order| order.name() == *part) {
                found.anns.push(Ann::order(order));
            } else if let Some(op) = lookup(&RMW, part) {
                found.rmw = Some(op);
            } else {
                match (*part, found.anns.last_mut()) {
                    ("zero", _) => found.extend = Extend::Zero,
                    ("sign", _) => found.extend = Extend::Sign,
                    ("weak", _) => found.weak = true,
                    ("exclusive", Some(ann)) => ann.exclusive = true,
                    ("no_return", Some(ann)) => ann.no_return = true,
                    ("volatile", Some(ann)) => ann.volatile = true,
                    ("non_temporal", Some(ann)) => ann.non_temporal = true,
                    (word, Some(ann)) if Role::ALL.iter().any(|(known, _)| *known == word) => {
                        ann.role =
                            Role::ALL.iter().find(|(known, _)| *known == word).map_or(Role::None, |r| r.1);
                    }
                    _ => return Err((*part).to_owned()),
                }
            }
        }
        Ok(found)
    }

    /// The text of a width and an extension, with dots; empty for the defaults.
    pub fn show(width: Width, extend: Extend) -> String {
        let mut text = String::new();
        if width != Width::W32 {
            text.push('.');
            text.push_str(word(&WIDTHS, &width));
        }
        if extend == Extend::Zero {
            text.push_str(".zero");
        }
        text
    }

    /// The text of an annotation, with dots.
    pub fn show_ann(ann: Ann) -> String {
        let mut text = format!(".{}", ann.order.name());
        for (flag, word) in [
            (ann.exclusive, ".exclusive"),
            (ann.no_return, ".no_return"),
            (ann.volatile, ".volatile"),
            (ann.non_temporal, ".non_temporal"),
        ] {
            if flag {
                text.push_str(word);
            }
        }
        if let Some((word, _)) = Role::ALL.iter().find(|(_, role)| *role == ann.role) {
            text.push('.');
            text.push_str(word);
        }
        text
    }
}
