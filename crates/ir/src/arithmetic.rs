//! What the operators compute, at each width.

use crate::program::{BinaryOp, RmwOp, UnaryOp, Width};
use crate::value::Value;

impl Width {
    /// The floating-point number with these bits: a `float` at 32 bits, else a `double`. Arithmetic on two `float`s in
    /// `double`, rounded once, is exact.
    fn float(self, value: Value) -> f64 {
        match self {
            Width::W32 => f64::from(f32::from_bits(value.0 as u32)),
            _ => f64::from_bits(value.0),
        }
    }

    /// The bits of a floating-point number at this width.
    fn float_bits(self, number: f64) -> u64 {
        match self {
            Width::W32 => u64::from((number as f32).to_bits()),
            _ => number.to_bits(),
        }
    }
}

impl BinaryOp {
    /// The operator applied at a width; `None` is a division by zero.
    #[inline]
    pub fn apply(self, width: Width, a: Value, b: Value) -> Option<Value> {
        let (ua, ub) = (width.zero_extend(a).0, width.zero_extend(b).0);
        let (sa, sb) = (width.sign_extend(a).as_i64(), width.sign_extend(b).as_i64());
        let bits = width.bits();
        // A shift by the width or more is undefined in C; hardware masks the count, and so do we.
        let count = (ub as u32) & (bits - 1);
        Some(Value(match self {
            BinaryOp::Add => ua.wrapping_add(ub),
            BinaryOp::Sub => ua.wrapping_sub(ub),
            BinaryOp::Mul => ua.wrapping_mul(ub),
            BinaryOp::DivU => ua.checked_div(ub)?,
            BinaryOp::DivS if sb == 0 => return None,
            BinaryOp::DivS => sa.wrapping_div(sb) as u64,
            BinaryOp::RemU => ua.checked_rem(ub)?,
            BinaryOp::RemS if sb == 0 => return None,
            BinaryOp::RemS => sa.wrapping_rem(sb) as u64,
            BinaryOp::And => ua & ub,
            BinaryOp::Or => ua | ub,
            BinaryOp::Xor => ua ^ ub,
            BinaryOp::Shl => ua << count,
            BinaryOp::ShrU => ua >> count,
            BinaryOp::ShrS => (sa >> count) as u64,
            BinaryOp::Eq => u64::from(ua == ub),
            BinaryOp::Ne => u64::from(ua != ub),
            BinaryOp::LtU => u64::from(ua < ub),
            BinaryOp::LtS => u64::from(sa < sb),
            BinaryOp::LeU => u64::from(ua <= ub),
            BinaryOp::LeS => u64::from(sa <= sb),
            BinaryOp::GtU => u64::from(ua > ub),
            BinaryOp::GtS => u64::from(sa > sb),
            BinaryOp::GeU => u64::from(ua >= ub),
            BinaryOp::GeS => u64::from(sa >= sb),
            BinaryOp::FAdd => width.float_bits(width.float(a) + width.float(b)),
            BinaryOp::FSub => width.float_bits(width.float(a) - width.float(b)),
            BinaryOp::FMul => width.float_bits(width.float(a) * width.float(b)),
            BinaryOp::FDiv => width.float_bits(width.float(a) / width.float(b)),
            BinaryOp::FEq => u64::from(width.float(a) == width.float(b)),
            BinaryOp::FLt => u64::from(width.float(a) < width.float(b)),
            BinaryOp::FLe => u64::from(width.float(a) <= width.float(b)),
        }))
    }
}

impl UnaryOp {
    /// The operator applied at a width; the result still has to be extended.
    pub fn apply(self, width: Width, a: Value) -> Value {
        match self {
            UnaryOp::Neg => Value(a.0.wrapping_neg()),
            UnaryOp::Not => Value(!a.0),
            UnaryOp::LogicalNot => Value(u64::from(width.zero_extend(a).0 == 0)),
            UnaryOp::ZeroExtend => width.zero_extend(a),
            UnaryOp::SignExtend => width.sign_extend(a),
            UnaryOp::FNeg => Value(width.float_bits(-width.float(a))),
            UnaryOp::FFromS => Value(match width {
                // Rounding once, not through a double: the two differ for large integers.
                Width::W32 => u64::from((a.as_i64() as f32).to_bits()),
                _ => (a.as_i64() as f64).to_bits(),
            }),
            UnaryOp::FFromU => Value(match width {
                Width::W32 => u64::from((a.0 as f32).to_bits()),
                _ => (a.0 as f64).to_bits(),
            }),
            UnaryOp::FToS => Value::from_i64(f64::from_bits(a.0) as i64),
            UnaryOp::FToU => Value(f64::from_bits(a.0) as u64),
            UnaryOp::FConvert => Value(match width {
                Width::W32 => u64::from((f64::from_bits(a.0) as f32).to_bits()),
                _ => f64::from(f32::from_bits(a.0 as u32)).to_bits(),
            }),
        }
    }
}

impl RmwOp {
    /// The value that is stored.
    pub fn apply(self, width: Width, old: Value, operand: Value) -> Value {
        if old == Value::UNDEFINED && self != RmwOp::Exchange {
            return old;
        }
        let (so, sn) = (width.sign_extend(old).as_i64(), width.sign_extend(operand).as_i64());
        let (uo, un) = (width.zero_extend(old).0, width.zero_extend(operand).0);
        width.zero_extend(Value(match self {
            RmwOp::Exchange => un,
            RmwOp::Add => uo.wrapping_add(un),
            RmwOp::Sub => uo.wrapping_sub(un),
            RmwOp::And => uo & un,
            RmwOp::Nand => !(uo & un),
            RmwOp::Or => uo | un,
            RmwOp::Xor => uo ^ un,
            RmwOp::Clear => uo & !un,
            RmwOp::MaxS => so.max(sn) as u64,
            RmwOp::MinS => so.min(sn) as u64,
            RmwOp::MaxU => uo.max(un),
            RmwOp::MinU => uo.min(un),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_wraps_at_its_width() {
        let max = Value(0xffff_ffff);
        assert_eq!(
            BinaryOp::Add.apply(Width::W32, max, Value(1)).map(|v| Width::W32.zero_extend(v)),
            Some(Value(0))
        );
        assert_eq!(BinaryOp::LtS.apply(Width::W32, max, Value(1)), Some(Value(1)));
        assert_eq!(BinaryOp::LtU.apply(Width::W32, max, Value(1)), Some(Value(0)));
        assert_eq!(BinaryOp::DivS.apply(Width::W64, Value(1), Value(0)), None);
        assert_eq!(BinaryOp::ShrS.apply(Width::W8, Value(0x80), Value(7)).map(|v| v.as_i64()), Some(-1));
    }

    #[test]
    fn narrow_values_extend_as_asked() {
        assert_eq!(Width::W32.sign_extend(Value(0xffff_ffff)).as_i64(), -1);
        assert_eq!(Width::W32.zero_extend(Value::from_i64(-1)), Value(0xffff_ffff));
        assert_eq!(Width::W64.sign_extend(Value::from_i64(-5)).as_i64(), -5);
    }
}
