//! Instructions of x86 as the assembler takes them.
//!
//! Tests write locations by name, `MOV [x],$1` in Intel's order or `movl $1,(x)` in AT&T's; here a location is a register
//! that holds its address.

use crate::Refused;
use crate::program::Names;

/// All registers that an instruction may name, in 64 bits, and the names of their parts.
const REGISTERS: [[&str; 4]; 7] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
];
const NUMBERED: [&str; 8] = ["r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];

/// The registers that can hold addresses; those that tests hardly use come first.
pub(crate) const FREE: [&str; 15] =
    ["r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi", "rdx", "rcx", "rbx", "rax", "rbp"];

/// The whole register of a name.
pub(crate) fn whole(name: &str) -> Option<&'static str> {
    let name = name.trim_start_matches('%').to_ascii_lowercase();
    if let Some(names) = REGISTERS.iter().find(|names| names.contains(&name.as_str())) {
        return Some(names[0]);
    }
    let base = name.trim_end_matches(['d', 'w', 'b']);
    NUMBERED.into_iter().find(|&register| register == base)
}

/// Mnemonics that may carry the size of what they move.
const SIZED: [&str; 20] = [
    "mov", "movabs", "lea", "xchg", "xadd", "cmpxchg", "add", "sub", "and", "or", "xor", "inc", "dec", "neg",
    "not", "shl", "shr", "sar", "cmp", "test",
];

fn has_suffix(mnemonic: &str) -> bool {
    let base = mnemonic.strip_suffix(['b', 'w', 'l', 'q']);
    !SIZED.contains(&mnemonic) && base.is_some_and(|base| SIZED.contains(&base))
}

/// An instruction, with locations by the registers of their addresses.
pub(crate) fn instruction(text: &str, is_wide: bool, names: &Names<'_>) -> Result<String, Refused> {
    let refused = |why| Refused::Instruction { text: text.to_owned(), why };
    let (lock, rest) = match text.split_once(char::is_whitespace) {
        Some((lock, rest)) if lock.eq_ignore_ascii_case("lock") => ("lock ", rest.trim_start()),
        _ => ("", text),
    };
    let (mnemonic, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let mnemonic = mnemonic.to_ascii_lowercase();
    let operands = operands.trim();
    let first = operands.trim_start().chars().next().unwrap_or(' ');
    let first_is_number = first == '$' || first.is_ascii_digit() || first == '-';
    let is_jump = mnemonic.starts_with('j');
    let at_and_t =
        is_wide && !is_jump && (operands.contains('%') || has_suffix(&mnemonic) || first_is_number);
    if is_jump {
        return Ok(format!("{mnemonic} {}", names.label(operands)));
    }
    let has_register = words(operands).any(|word| whole(word).is_some());
    if at_and_t {
        let suffix = if has_register || has_suffix(&mnemonic) || operands.is_empty() { "" } else { "l" };
        let operands = replaced(operands, ['(', ')'], |inner| match names.address(inner) {
            Some((register, 0)) => Some(format!("(%{register})")),
            Some((register, offset)) => Some(format!("{offset}(%{register})")),
            None => inner.trim().starts_with('%').then(|| format!("({inner})")),
        })
        .ok_or_else(|| refused("what is in brackets is no location"))?;
        return Ok(format!("{lock}{mnemonic}{suffix} {operands}").replace('%', "%%"));
    }
    let size = if has_register && is_wide || operands.to_ascii_lowercase().contains("ptr") {
        ""
    } else {
        "dword ptr "
    };
    let mnemonic = if is_wide { mnemonic.as_str() } else { narrow(&mnemonic) };
    let operands = replaced(operands, ['[', ']'], |inner| match names.address(inner) {
        Some((register, offset)) => Some(format!("{size}[{register}+{offset}]")),
        None if is_wide && whole(inner.trim()).is_some() => Some(format!("{size}[{}]", inner.trim())),
        None => None,
    })
    .ok_or_else(|| refused("what is in brackets is no location, and an address has 64 bits here"))?;
    Ok(format!(
        ".intel_syntax noprefix\\n\\t{lock}{mnemonic} {}\\n\\t.att_syntax prefix",
        operands.replace(['$', '#'], "")
    ))
}

/// Intel's syntax knows no suffixes.
fn narrow(mnemonic: &str) -> &str {
    if has_suffix(mnemonic) { mnemonic.trim_end_matches('l') } else { mnemonic }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '%').filter(|word| !word.is_empty())
}

/// What stands in brackets, with the brackets, replaced; none if a replacement is.
fn replaced(text: &str, [open, close]: [char; 2], with: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(open) {
        let inner = &rest[at + 1..];
        let end = inner.find(close)?;
        // An offset in front of AT&T's brackets is kept as it is.
        out += &rest[..at];
        // `x[1]` inside of the brackets has brackets of its own.
        let end = if inner[..end].contains(open) { end + 1 + inner[end + 1..].find(close)? } else { end };
        out += &with(&inner[..end])?;
        rest = &inner[end + 1..];
    }
    Some(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, is_wide: bool) -> Result<String, Refused> {
        let objects = ["x", "y"];
        instruction(text, is_wide, &Names::of(&objects, &["r8", "r9"]))
    }

    #[test]
    fn locations_become_registers() {
        let intel = |text: &str| format!(".intel_syntax noprefix\\n\\t{text}\\n\\t.att_syntax prefix");
        assert_eq!(line("MOV [x],$1", false), Ok(intel("mov dword ptr [r8+0],1")));
        assert_eq!(line("mov EAX, [y]", false), Ok(intel("mov EAX, dword ptr [r9+0]")));
        assert_eq!(line("LOCK XADD [y],EBX", false), Ok(intel("lock xadd dword ptr [r9+0],EBX")));
        assert_eq!(line("movq $1,(x)", true), Ok("movq $1,(%%r8)".to_owned()));
        assert_eq!(line("mov (y),%rax", true), Ok("mov (%%r9),%%rax".to_owned()));
        assert_eq!(line("mov $1,(y)", true), Ok("movl $1,(%%r9)".to_owned()));
        assert_eq!(line("MOV [x+4],RAX", true), Ok(intel("mov [r8+4],RAX")));
        assert!(line("MOV EAX,[EBX]", false).is_err());
    }
}
