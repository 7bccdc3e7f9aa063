//! Enumerations that are one word each.

use super::parser::{Parser, Text};
use crate::annotation::Order;
use crate::fence::Fence;
use crate::program::{BinaryOp, Extend, FailKind, RmwOp, UnaryOp, Width};
use crate::property::{Compare, Quantifier};
use fencepost_diag::Diagnostic;

macro_rules! words {
    ($($type:ident, $what:literal { $($variant:ident = $word:literal),* $(,)? })*) => {$(
        impl Text for $type {
            fn print(&self, out: &mut String) {
                out.push_str(match self {
                    $($type::$variant => $word),*
                });
            }

            fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
                $(if parser.eat_word($word) {
                    return Ok($type::$variant);
                })*
                Err(parser.expected($what))
            }
        }
    )*};
}

words! {
    Width, "a width: w8, w16, w32, w64 or w128" { W8 = "w8", W16 = "w16", W32 = "w32", W64 = "w64", W128 = "w128" }
    Extend, "`zero` or `sign`" { Zero = "zero", Sign = "sign" }
    UnaryOp, "an operator of one operand" {
        Neg = "neg", Not = "not", LogicalNot = "lnot", ZeroExtend = "zext", SignExtend = "sext",
        FNeg = "fneg", FFromS = "ffroms", FFromU = "ffromu", FToS = "ftos", FToU = "ftou", FConvert = "fconvert",
    }
    BinaryOp, "an operator of two operands" {
        Add = "add", Sub = "sub", Mul = "mul", DivU = "divu", DivS = "divs", RemU = "remu", RemS = "rems",
        And = "and", Or = "or", Xor = "xor", Shl = "shl", ShrU = "shru", ShrS = "shrs",
        Eq = "eq", Ne = "ne", LtU = "ltu", LtS = "lts", LeU = "leu", LeS = "les",
        GtU = "gtu", GtS = "gts", GeU = "geu", GeS = "ges",
        FAdd = "fadd", FSub = "fsub", FMul = "fmul", FDiv = "fdiv", FEq = "feq", FLt = "flt", FLe = "fle",
    }
    FailKind, "`assertion`, `misuse` or `unsupported`" {
        Assertion = "assertion", Misuse = "misuse", Unsupported = "unsupported",
    }
    RmwOp, "an operator of a read-modify-write" {
        Exchange = "exchange", Add = "add", Sub = "sub", And = "and", Nand = "nand", Or = "or", Xor = "xor",
        Clear = "clear", MaxS = "maxs", MinS = "mins", MaxU = "maxu", MinU = "minu",
    }
    Compare, "a comparison: eq, ne, lt, le, gt or ge" {
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge",
    }
    Quantifier, "`exists`, `not_exists` or `forall`" {
        Exists = "exists", NotExists = "not_exists", ForAll = "forall",
    }
}

impl Text for Order {
    fn print(&self, out: &mut String) {
        out.push_str(self.name());
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        match Order::ALL.into_iter().find(|order| parser.is_word(order.name())) {
            Some(order) => {
                parser.take();
                Ok(order)
            }
            None => Err(parser.expected("a memory order")),
        }
    }
}

/// A C11 fence of an order that C does not give fences reads back as a relaxed one, which is what it means.
impl Text for Fence {
    fn print(&self, out: &mut String) {
        out.push_str(self.name());
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        match Fence::all().find(|fence| parser.is_word(fence.name())) {
            Some(fence) => {
                parser.take();
                Ok(fence)
            }
            None => Err(parser.expected("a fence such as `mfence`, `lwsync` or `c11.sc`")),
        }
    }
}
