//! Instructions of AArch64 as the assembler takes them: as they are written, but for labels and symbolic registers.

use crate::Refused;
use crate::program::Names;

/// The whole register of a name such as `W3`; none for `WZR` and `SP`.
pub(crate) fn whole(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let number = name.strip_prefix(['w', 'x'])?;
    let known = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (known && number.parse::<u32>().is_ok_and(|number| number < 31)).then(|| format!("x{number}"))
}

/// An instruction with the labels of this program.
pub(crate) fn instruction(text: &str, names: &Names<'_>) -> Result<String, Refused> {
    if text.contains('%') {
        return Err(Refused::Instruction { text: text.to_owned(), why: "its registers are symbolic" });
    }
    let (mnemonic, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let lower = mnemonic.to_ascii_lowercase();
    let branches = matches!(lower.as_str(), "b" | "cbz" | "cbnz" | "tbz" | "tbnz") || lower.starts_with("b.");
    if !branches {
        return Ok(text.to_owned());
    }
    // The target is the last operand.
    let (front, target) = operands.rsplit_once(',').map_or(("", operands), |(front, target)| (front, target));
    let comma = if front.is_empty() { "" } else { "," };
    Ok(format!("{mnemonic} {front}{comma}{}", names.label(target)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_go_to_labels_of_their_own() {
        let names = Names::of(&[], &[]);
        assert_eq!(instruction("CBNZ W0,LC00", &names), Ok("CBNZ W0,.Lfp_LC00_%=".to_owned()));
        assert_eq!(instruction("B.EQ L1", &names), Ok("B.EQ .Lfp_L1_%=".to_owned()));
        assert_eq!(instruction("LDR W0,[X1,W2,SXTW]", &names), Ok("LDR W0,[X1,W2,SXTW]".to_owned()));
        assert_eq!(whole("W30").as_deref(), Some("x30"));
        assert_eq!(whole("WZR"), None);
    }
}
