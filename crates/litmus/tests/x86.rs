//! X86: what instructions become, and what they compute.

mod support;

use support::{lowered, messages, parse, run};

fn code(instructions: &[&str]) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    lowered(&parse(&format!("X86 t\n{{ }}\n P0 ;\n{rows}\nexists (x=1)")).program, 0)
}

fn state(init: &str, instructions: &[&str], condition: &str) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    run(&format!("X86 t\n{{ {init} }}\n P0 ;\n{rows}\n{condition}"))
}

#[test]
fn moves_in_either_case_and_dialect() {
    for form in ["MOV [x],$1", "mov [x], 1", "MOV [x],1", "movl [x],$1", "MOV [x],$0x1"] {
        assert_eq!(code(&[form]), "store.32 [&x] = 1", "{form}");
    }
    assert_eq!(code(&["MOV EAX,[x]"]), "EAX = load.s32 [&x]");
    assert_eq!(code(&["mov eax,[x]", "mov [y],eax"]), "EAX = load.s32 [&x]\nstore.32 [&y] = EAX");
    assert_eq!(code(&["MOV EAX,$-1"]), "EAX = -1");
    assert_eq!(code(&["MOV EAX,EBX"]), "EAX = EBX");
}

#[test]
fn fences() {
    assert_eq!(code(&["MFENCE", "sfence", "LFENCE"]), "mfence\nsfence\nlfence");
}

#[test]
fn exchange_is_locked_in_both_orders() {
    for form in ["XCHG [x],EAX", "XCHG EAX,[x]", "xchg [x], EAX", "LOCK XCHG [x],EAX"] {
        assert_eq!(code(&[form]), "EAX = Exchange.32 [&x], EAX", "{form}");
    }
    assert_eq!(
        state("0:EAX=1; 0:EBX=2;", &["XCHG EAX,EBX"], "locations [0:EAX; 0:EBX;]"),
        "0:EAX=2; 0:EBX=1;"
    );
}

#[test]
fn other_updates_of_memory_are_atomic_with_lock_only() {
    assert_eq!(code(&["LOCK INC [x]"]), "$0 = Add.32 [&x], 1");
    assert_eq!(code(&["INC [x]"]), "$0 = load.s32 [&x]\n$2 = Add.s32 $0, 1\nstore.32 [&x] = $2");
    assert_eq!(code(&["LOCK OR [x],$4"]), "$0 = Or.32 [&x], 4");
    assert_eq!(code(&["LOCK XADD [x],EAX"]), "$0 = Add.32 [&x], EAX\nEAX = $0");
    assert_eq!(code(&["LOCK CMPXCHG [x],EBX"]), "$0, _ = cas [&x], EAX, EBX\nEAX = $0");
}

#[test]
fn arithmetic_and_jumps_compute() {
    let cases: &[(&[&str], i64)] = &[
        (&["MOV EAX,$5", "ADD EAX,$3"], 8),
        (&["MOV EAX,$5", "SUB EAX,[x]"], -5),
        (&["MOV EAX,$5", "XOR EAX,EAX"], 0),
        (&["MOV EAX,$6", "AND EAX,$3"], 2),
        (&["MOV EAX,$6", "OR EAX,$1"], 7),
        (&["INC EAX", "INC EAX", "DEC EAX"], 1),
        (&["MOV EAX,$5", "NEG EAX"], -5),
        (&["NOT EAX"], -1),
        (&["MOV EAX,$3", "XADD [x],EAX"], 10),
        (&["MOV EAX,$3", "ADD EAX,EAX"], 6),
    ];
    for (instructions, expected) in cases {
        let shown = state("x=10;", instructions, "locations [0:EAX;]");
        assert_eq!(shown, format!("0:EAX={expected};"), "{instructions:?}");
    }
}

#[test]
fn every_jump_goes_where_it_should() {
    for (a, b) in [(1i32, 2i32), (2, 2), (3, 2), (-1, 1), (1, -1)] {
        let (ua, ub) = (a as u32, b as u32);
        for (mnemonic, taken) in [
            ("JE", a == b),
            ("JNE", a != b),
            ("JL", a < b),
            ("JLE", a <= b),
            ("JG", a > b),
            ("JGE", a >= b),
            ("JB", ua < ub),
            ("JBE", ua <= ub),
            ("JA", ua > ub),
            ("JAE", ua >= ub),
            ("JS", a.wrapping_sub(b) < 0),
            ("JNS", a.wrapping_sub(b) >= 0),
        ] {
            for compare in ["CMP EAX,EBX", "SUB EAX,EBX"] {
                let jump = format!("{mnemonic} L");
                let init = format!("0:EAX={a}; 0:EBX={b};");
                let shown = state(&init, &[compare, &jump, "MOV ECX,$1", "L:"], "locations [0:ECX;]");
                assert_eq!(shown, format!("0:ECX={};", i32::from(!taken)), "{compare} {a} {mnemonic} {b}");
            }
        }
    }
}

#[test]
fn a_compare_exchange_sets_the_zero_flag() {
    let body = ["LOCK CMPXCHG [x],EBX", "JNE L", "MOV ECX,$1", "L:"];
    let shown = "locations [0:EAX; 0:ECX; x;]";
    assert_eq!(state("0:EAX=0; 0:EBX=5;", &body, shown), "0:EAX=0; 0:ECX=1; [x]=5;");
    assert_eq!(state("0:EAX=0; 0:EBX=5; x=2;", &body, shown), "0:EAX=2; 0:ECX=0; [x]=2;");
}

#[test]
fn registers_are_shown_in_their_order() {
    let text = "X86 t\n{x=0;};\n P0 | P1;\n MOV EDI,[x] | MOV EAX,[x] ;\n\
                ~exists (x=1 /\\ P1:EAX=0 /\\ P0:EDI=1 /\\ P0:EAX=0 /\\ 0:ESI=0)";
    assert_eq!(run(text), "0:EAX=0; 0:ESI=0; 0:EDI=0; 1:EAX=0; [x]=0; (condition false)");
}

#[test]
fn mistakes() {
    let one = |instruction: &str| messages(&format!("X86 t\n{{ }}\n P0 ;\n {instruction} ;\n exists (x=1)"));
    assert_eq!(one("MOV $1,[x]"), ["a number cannot be written to"]);
    assert_eq!(one("MOV [x],[y]"), ["an instruction has at most one operand in memory"]);
    assert_eq!(one("MFENEC"), ["unknown X86 instruction `MFENEC`"]);
    assert_eq!(one("LOCK MOV [x],$1"), ["`MOV` is not supported"]);
    assert_eq!(one("MOV EAX,[x"), ["expected `]`, found `;`"]);
    assert_eq!(
        one("MOV x,$1"),
        ["expected a register, a number such as `$1`, or a location such as `[x]`, found `x`"]
    );
}
