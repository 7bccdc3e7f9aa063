//! The values of number, character and string literals.

use crate::types::Ty;

/// An integer constant and what its spelling says about its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerLiteral {
    /// The value.
    pub bits: u64,
    /// Suffix `u`, or (for hexadecimal and octal) too large for a signed 64-bit integer.
    pub unsigned: bool,
    /// Suffix `l` or `ll`.
    pub long: bool,
    /// Not decimal: it may take an unsigned type without a suffix.
    pub based: bool,
}

/// The value of an integer constant; `None` if it is none or needs more than 64 bits.
pub fn integer(text: &str) -> Option<IntegerLiteral> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = if let Some(hex) = lower.strip_prefix("0x") {
        (hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        (binary, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (&lower[1..], 8)
    } else {
        (&lower[..], 10)
    };
    let split = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(split);
    // `0` alone and `0u` are octal without further digits.
    let bits = match digits {
        "" if radix == 8 => 0,
        _ => u64::from_str_radix(digits, radix).ok()?,
    };
    let (mut unsigned, long) = match suffix {
        "" => (false, false),
        "u" => (true, false),
        "l" | "ll" => (false, true),
        "ul" | "ull" | "lu" | "llu" => (true, true),
        _ => return None,
    };
    unsigned |= bits > i64::MAX as u64;
    Some(IntegerLiteral { bits, unsigned, long, based: radix != 10 })
}

/// A floating constant: its value, and whether it is a `float`.
pub fn floating(text: &str) -> Option<(f64, bool)> {
    let lower = text.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return hex_floating(hex);
    }
    let (number, single) = match lower.strip_suffix('f') {
        Some(rest) => (rest, true),
        None => (lower.strip_suffix('l').unwrap_or(&lower), false),
    };
    // An integer that is none, such as 089, is not a floating constant either.
    if !number.bytes().all(|b| b.is_ascii_digit() || b".e+-".contains(&b)) || !number.contains(['.', 'e']) {
        return None;
    }
    number.parse().ok().map(|value| (value, single))
}

fn hex_floating(text: &str) -> Option<(f64, bool)> {
    let (mantissa, exponent) = text.split_once('p')?;
    let single = exponent.ends_with('f');
    let exponent: i32 = exponent.trim_end_matches(['f', 'l']).parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0;
    for c in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    Some((value * 2f64.powi(exponent - 4 * fraction.len() as i32), single))
}

/// The value of a character constant, quotes included. Several characters make the number that GCC makes of them.
pub fn character(text: &str) -> Option<i64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let bytes = unescape(inner)?;
    match bytes[..] {
        [byte] => Some(i64::from(byte as i8)),
        [] => None,
        _ => Some(i64::from(bytes.iter().fold(0i32, |value, byte| value << 8 | i32::from(*byte)))),
    }
}

/// The type of the characters of a wide constant or string (`L`, `u`, `U`), if it is one.
pub fn wide_type(text: &str) -> Option<Ty> {
    match text.as_bytes() {
        [b'L', b'"' | b'\'', ..] => Some(Ty::INT),
        [b'u', b'"' | b'\'', ..] => Some(Ty::USHORT),
        [b'U', b'"' | b'\'', ..] => Some(Ty::UINT),
        _ => None,
    }
}

/// The characters of a wide constant or string, quotes and prefix included; those beyond 16 bits become pairs where the type
/// is that small. A string without a prefix is taken as wide, too: it may stand beside a wide one.
pub fn wide(text: &str, ty: Ty) -> Option<Vec<u32>> {
    let quoted = text.trim_start_matches(['L', 'u', 'U', '8']);
    let quote = quoted.chars().next()?;
    let inner = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
    let text = String::from_utf8(unescape(inner)?).ok()?;
    if ty == Ty::USHORT {
        return Some(text.encode_utf16().map(u32::from).collect());
    }
    Some(text.chars().map(u32::from).collect())
}

/// The bytes of a string literal, quotes included, without the final zero.
pub fn string(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_prefix("u8").unwrap_or(text);
    unescape(text.strip_prefix('"')?.strip_suffix('"')?)
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let escape = chars.next()?;
        let byte = match escape {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' => 27,
            '\\' | '\'' | '"' | '?' => escape as u8,
            'x' => {
                let mut value = 0u32;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) {
                    value = (value << 4 | digit) & 0xff;
                    chars.next();
                }
                value as u8
            }
            '0'..='7' => {
                let mut value = escape.to_digit(8)?;
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value << 3 | digit;
                    chars.next();
                }
                value as u8
            }
            'u' | 'U' => {
                let length = if escape == 'u' { 4 } else { 8 };
                let digits: String = chars.by_ref().take(length).collect();
                let c = char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?;
                out.extend(c.encode_utf8(&mut [0; 4]).bytes());
                continue;
            }
            _ => return None,
        };
        out.push(byte);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_their_suffixes() {
        assert_eq!(integer("0x1F").map(|n| (n.bits, n.based)), Some((31, true)));
        assert_eq!(integer("017").map(|n| n.bits), Some(15));
        assert_eq!(integer("0").map(|n| n.bits), Some(0));
        assert_eq!(integer("10ul").map(|n| (n.bits, n.unsigned, n.long)), Some((10, true, true)));
        assert_eq!(integer("08"), None);
        assert_eq!(integer("1.5"), None);
        assert_eq!(integer("99999999999999999999"), None);
        assert_eq!(floating("1.5f"), Some((1.5, true)));
        assert_eq!(floating("1e-2"), Some((0.01, false)));
        assert_eq!(floating("0x1.8p1"), Some((3.0, false)));
    }

    #[test]
    fn characters_and_strings() {
        assert_eq!(character("'a'"), Some(97));
        assert_eq!(character("'\\0'"), Some(0));
        assert_eq!(character("'\\xff'"), Some(-1));
        assert_eq!(character("'ab'"), Some(0x6162));
        assert_eq!(character("''"), None);
        assert_eq!(wide("L\"a\"", Ty::INT), Some(vec![97]));
        assert_eq!(wide("u'\\u00e9'", Ty::USHORT), Some(vec![0xe9]));
        assert_eq!(string("\"a\\n\\101\""), Some(b"a\nA".to_vec()));
    }
}
