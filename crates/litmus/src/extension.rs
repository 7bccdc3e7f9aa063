//! What a test is about that is not modelled here: pages, tags, instructions that are fetched, vectors, scopes. Its first
//! strange word would make a message that helps nobody; this names the extension.

use fencepost_diag::{Diagnostic, Span};

/// Words that only tests of an extension have, and what it is called. The first that is found in a test counts.
const EXTENSIONS: &[(&str, &[&str])] = &[
    ("virtual memory", &["PTE(", "TTD(", "PA(", "PTE_", "pte_t", "TLBI", "valid:0", "oa:", "TTHM="]),
    ("memory tags", &["[tag(", ":green", ":red", "STG ", "LDG ", "tag(", "NOTAGCHECK"]),
    ("instruction fetch", &["instr:\"", "IC IVAU", "DC CVAU", "label_t"]),
    ("pointer authentication", &["pac(", "PACDA", "AUTDA", "XPACD", "PACIA", "AUTIA"]),
    ("exceptions", &["SVC ", "ERET", "Fault(", "fault(", "_handler:", "ESR_EL1", "ELR_EL1"]),
    (
        "vectors",
        &[
            "int8x16_t",
            "int32x4_t",
            "int64x2_t",
            "uint8x16_t",
            "uint32x4_t",
            "uint64x2_t",
            "LD1 ",
            "ST1 ",
            "PTRUE ",
            "SMSTART",
        ],
    ),
];

/// An error that says what a test needs, in place of others: where the first word of an extension stands.
pub fn needed(text: &str, body: usize) -> Option<Diagnostic> {
    let find = |words: &[&str]| {
        words.iter().filter_map(|word| Some((text[body..].find(word)? + body, word.len()))).min()
    };
    let all = EXTENSIONS.iter().filter_map(|(name, words)| Some((find(words)?, *name)));
    let ((at, length), name) = all.min()?;
    let span = Span { start: at as u32, end: (at + length) as u32 };
    Some(
        Diagnostic::error(span, format!("this test needs {name}, which Fencepost does not model"))
            .label("only tests of that extension have this"),
    )
}
