//! Small programs for comparisons.
#![allow(dead_code)]

use fencepost_ir::Program;
use proptest::prelude::*;
use proptest::sample::select;

pub fn parse(text: &str) -> Program {
    fencepost_lang::parse(text).unwrap_or_else(|error| panic!("{}\n{text}", error.message))
}

/// Variables as arrays: `x` becomes `x[0]`, so that `x[r ^ r]` is the same with a dependency.
pub fn indexed(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::new();
    for (i, c) in text.char_indices() {
        out.push(c);
        let name =
            |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'.');
        let alone = !name(i.checked_sub(1).and_then(|i| bytes.get(i))) && !name(bytes.get(i + 1));
        if "xyz".contains(c) && alone && bytes.get(i + 1) != Some(&b'[') {
            out += "[0]";
        }
    }
    out
}

/// A statement of the POWER language; `r` and `s` are registers.
pub fn power_statement() -> impl Strategy<Value = &'static str> {
    select(vec![
        "x := 1;",
        "x := 2;",
        "y := 1;",
        "y := 2;",
        "r := x;",
        "r := y;",
        "s := x;",
        "s := y;",
        "x := r + 1;",
        "y := r;",
        "s := x[r ^ r];",
        "y[r ^ r] := 3;",
        "if (r) { skip; }",
        "if (r) { x := 4; }",
        "if (r == 0) { s := y; }",
        "fence sync;",
        "fence lwsync;",
        "fence isync;",
        "fence eieio;",
        "r := fetch_add(x, 1);",
        "s := x[r & 1];",
        "x[r & 1] := 5;",
        "s := cas(y, 0, 1);",
    ])
}

/// A program of these statements that observes everything.
pub fn power_program(threads: &[Vec<&'static str>]) -> Program {
    let mut text = String::new();
    for (i, body) in threads.iter().enumerate() {
        text += &format!("process P{i} {{ reg r, s; {} }} ", body.concat());
    }
    let registers: Vec<String> = (0..threads.len()).map(|i| format!("P{i}.r, P{i}.s")).collect();
    parse(&format!(
        "shared x[2], y[2]; {} observe x[0], x[1], y[0], {}; exists x[1] == 0;",
        indexed(&text),
        registers.join(", ")
    ))
}

/// A program of these statements with assertions and nothing to observe.
pub fn asserting_program(threads: &[Vec<&'static str>], asserted: &[(usize, &'static str)]) -> Program {
    let mut text = String::new();
    for (i, body) in threads.iter().enumerate() {
        let mut body: Vec<&str> = body.clone();
        for &(at, assertion) in asserted.iter().filter(|(at, _)| at % threads.len() == i) {
            body.insert((at / threads.len()).min(body.len()), assertion);
        }
        text += &format!("process P{i} {{ reg r, s; {} }} ", body.concat());
    }
    parse(&format!("shared x[2], y[2]; {}", indexed(&text)))
}
