//! AArch64: what instructions become, and what they compute.

mod support;

use support::{lowered, messages, parse, run};

fn code(instructions: &[&str]) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    lowered(&parse(&format!("AArch64 t\n{{ 0:X1=x; 0:X3=y; }}\n P0 ;\n{rows}\nexists (x=1)")).program, 0)
}

fn state(init: &str, instructions: &[&str], condition: &str) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    run(&format!("AArch64 t\n{{ {init} }}\n P0 ;\n{rows}\n{condition}"))
}

#[test]
fn loads_and_stores_with_their_orders() {
    let cases = [
        ("LDR W0,[X1]", "X0 = load.s32 [X1]"),
        ("LDR X0,[X1]", "X0 = load.u64 [X1]"),
        ("LDUR W0,[X1]", "X0 = load.s32 [X1]"),
        ("LDAR W0,[X1]", "X0 = load.acq.s32 [X1]"),
        ("LDAPR W0,[X1]", "X0 = load.acqpc.s32 [X1]"),
        ("LDXR W0,[X1]", "X0 = load.x.s32 [X1]"),
        ("LDAXR W0,[X1]", "X0 = load.acq.x.s32 [X1]"),
        ("LDRB W0,[X1]", "X0 = load.u8 [X1]"),
        ("LDARH W0,[X1]", "X0 = load.acq.u16 [X1]"),
        ("LDRSW X0,[X1]", "X0 = load.s32 [X1]"),
        ("STR W0,[X1]", "store.32 [X1] = X0"),
        ("STR WZR,[X1]", "store.32 [X1] = 0"),
        ("STLR X0,[X1]", "store.rel.64 [X1] = X0"),
        ("STXR W2,W0,[X1]", "X2 = store.x.32 [X1] = X0 (ok 0)"),
        ("STLXR W2,X0,[X1]", "X2 = store.rel.x.64 [X1] = X0 (ok 0)"),
        ("str w0,[x1]", "store.32 [X1] = X0"),
    ];
    for (instruction, expected) in cases {
        assert_eq!(code(&[instruction]), expected, "{instruction}");
    }
}

#[test]
fn addresses_in_all_forms() {
    let cases = [
        ("LDR W0,[X1,#4]", "$1 = Add.u64 X1, 4\nX0 = load.s32 [$1]"),
        ("LDR W0,[X1,X2]", "$1 = Add.u64 X1, X2\nX0 = load.s32 [$1]"),
        ("LDR W0,[X1,W2,SXTW]", "$0 = SignExtend.s32 X2\n$1 = Add.u64 X1, $0\nX0 = load.s32 [$1]"),
        ("LDR W0,[X1,X2,LSL #2]", "$0 = Shl.u64 X2, 2\n$1 = Add.u64 X1, $0\nX0 = load.s32 [$1]"),
        ("LDR W0,[X1],#4", "X0 = load.s32 [X1]\nX1 = Add.u64 X1, 4"),
        ("STR W0,[X1,#4]!", "$1 = Add.u64 X1, 4\nstore.32 [$1] = X0\nX1 = $1"),
    ];
    for (instruction, expected) in cases {
        assert_eq!(code(&[instruction]), expected, "{instruction}");
    }
}

#[test]
fn atomics_with_their_orders() {
    let cases = [
        ("LDADD W2,W4,[X1]", "X4 = Add.32 [X1], X2"),
        ("LDADDAL W2,W4,[X1]", "X4 = Add.acq.rel.32 [X1], X2"),
        ("LDEORA X2,X4,[X1]", "X4 = Xor.acq.64 [X1], X2"),
        ("LDCLRL W2,W4,[X1]", "X4 = Clear.rel.32 [X1], X2"),
        ("LDSETB W2,W4,[X1]", "X4 = Or.8 [X1], X2"),
        ("LDSMAXALH W2,W4,[X1]", "X4 = MaxS.acq.rel.16 [X1], X2"),
        ("LDUMIN W2,W4,[X1]", "X4 = MinU.32 [X1], X2"),
        ("STADD W2,[X1]", "_ = Add.noret.32 [X1], X2"),
        ("STADDL W2,[X1]", "_ = Add.noret.rel.32 [X1], X2"),
        ("SWPAL W2,W4,[X1]", "X4 = Exchange.acq.rel.32 [X1], X2"),
        // Nothing is returned, so nothing is acquired.
        ("SWPA W2,WZR,[X1]", "_ = Exchange.noret.32 [X1], X2"),
        ("LDADDAL W2,WZR,[X1]", "_ = Add.noret.rel.32 [X1], X2"),
        ("CAS W2,W4,[X1]", "X2, _ = cas [X1], X2, X4"),
        ("CASAL X2,X4,[X1]", "X2, _ = cas.acq.rel.acq [X1], X2, X4"),
    ];
    for (instruction, expected) in cases {
        assert_eq!(code(&[instruction]), expected, "{instruction}");
    }
}

#[test]
fn fences_of_all_domains() {
    assert_eq!(
        code(&["DMB SY", "DMB ISH", "DMB LD", "DMB ISHLD", "DMB ST", "DMB OSHST", "DSB SY", "DSB LD", "ISB"]),
        "dmb.sy\ndmb.sy\ndmb.ld\ndmb.ld\ndmb.st\ndmb.st\ndsb.sy\ndsb.ld\nisb"
    );
}

#[test]
fn dependencies_and_branches() {
    assert_eq!(
        code(&["EOR W2,W0,W0", "ADD X4,X3,W2,SXTW", "STR W0,[X4]"]),
        "X2 = Xor.s32 X0, X0\n$0 = SignExtend.s32 X2\nX4 = Add.u64 X3, $0\nstore.32 [X4] = X0"
    );
    assert_eq!(code(&["CMP W0,#1", "B.NE L", "L:"]), "flags.nz = Sub.s32 X0, 1\nif flags.nz goto 2 else 2");
    assert_eq!(code(&["CBNZ X0,L", "NOP", "L:", "RET"]), "if X0 goto 1 else 1\nReturn(None)");
    assert_eq!(code(&["CMP W0,#1", "CSEL X2,X4,X5,EQ"]), "flags.nz = Sub.s32 X0, 1\nX2 = flags.nz ? X5 : X4");
}

#[test]
fn arithmetic_computes_what_the_manual_says() {
    let cases: &[(&[&str], i64)] = &[
        (&["MOV W0,#5", "SUB W0,W0,#7"], -2),
        (&["MOV X0,#1", "LSL X0,X0,#40", "LSR X0,X0,#39"], 2),
        (&["MOV W1,#6", "MOV W2,#3", "AND W0,W1,W2"], 2),
        (&["MOV W1,#6", "MOV W2,#3", "ORR W0,W1,W2"], 7),
        (&["MOV W1,#6", "MOV W2,#3", "BIC W0,W1,W2"], 4),
        (&["MOV W1,#6", "MVN W0,W1"], -7),
        (&["MOV W1,#6", "NEG W0,W1"], -6),
        (&["MOV W1,#3", "ADD W0,W1,W1,LSL #2"], 15),
        (&["MOV W1,#-3", "ADD X0,XZR,W1,SXTW"], -3),
        (&["MOV W1,#-3", "ADD X0,XZR,W1,UXTW"], 4_294_967_293),
        (&["MOV W1,#-3", "MOV X0,X1"], 4_294_967_293),
        (&["MOV W1,#-3", "ADD W0,W1,#0"], -3),
        (&["MOV W0,#1", "MOV WZR,#7", "ADD W0,W0,WZR"], 1),
        (&["MOVZ W0,#1,LSL #16"], 65536),
        (&["MOV W1,#200", "SXTB W0,W1"], -56),
        (&["MOV W1,#5", "MOV W2,#6", "MUL W0,W1,W2"], 30),
        (&["CMP W1,W1", "CSET W0,EQ"], 1),
        (&["CMP W1,#1", "CSET W0,EQ"], 0),
        (&["MOV W1,#4", "CMP W1,#4", "CSINC W0,WZR,W1,NE"], 5),
        (&["MOV W1,#4", "CMP W1,#4", "CINC W0,W1,EQ"], 5),
    ];
    for (instructions, expected) in cases {
        let shown = state("", instructions, "locations [0:X0;]");
        assert_eq!(shown, format!("0:X0={expected};"), "{instructions:?}");
    }
}

#[test]
fn every_condition_holds_when_it_should() {
    for (a, b) in [(1i32, 2i32), (2, 2), (3, 2), (-1, 1), (1, -1), (i32::MIN, 1), (i32::MAX, -1)] {
        let (ua, ub) = (a as u32, b as u32);
        let (difference, overflow) = a.overflowing_sub(b);
        for (name, holds) in [
            ("EQ", a == b),
            ("NE", a != b),
            ("LT", a < b),
            ("LE", a <= b),
            ("GT", a > b),
            ("GE", a >= b),
            ("LO", ua < ub),
            ("LS", ua <= ub),
            ("HI", ua > ub),
            ("HS", ua >= ub),
            ("MI", difference < 0),
            ("PL", difference >= 0),
            ("VS", overflow),
            ("VC", !overflow),
        ] {
            let init = format!("0:X1={a}; 0:X2={b};");
            for body in [
                vec!["CMP W1,W2".to_string(), format!("CSET W0,{name}")],
                vec![
                    "SUBS W1,W1,W2".into(),
                    "MOV W0,#1".into(),
                    format!("B.{name} L"),
                    "MOV W0,#0".into(),
                    "L:".into(),
                ],
            ] {
                let body: Vec<&str> = body.iter().map(String::as_str).collect();
                let shown = state(&init, &body, "locations [0:X0;]");
                assert_eq!(shown, format!("0:X0={};", i32::from(holds)), "{a} {name} {b}: {body:?}");
            }
        }
    }
}

#[test]
fn sums_set_carry_and_overflow() {
    for (a, b) in [(1i32, 2i32), (-1, 1), (i32::MAX, 1), (i32::MIN, -1)] {
        let (sum, overflow) = a.overflowing_add(b);
        let carry = (a as u32).overflowing_add(b as u32).1;
        for (name, holds) in [("VS", overflow), ("CS", carry), ("MI", sum < 0), ("LT", (sum < 0) != overflow)]
        {
            let body = ["ADDS W3,W1,W2", &format!("CSET W0,{name}")];
            let shown = state(&format!("0:X1={a}; 0:X2={b};"), &body, "locations [0:X0;]");
            assert_eq!(shown, format!("0:X0={};", i32::from(holds)), "{a} + {b}: {name}");
        }
    }
}

#[test]
fn tests_of_bits() {
    for (value, taken) in [(4, true), (3, false)] {
        let init = format!("0:X1={value};");
        let shown = state(&init, &["TBNZ W1,#2,L", "MOV W0,#1", "L:"], "locations [0:X0;]");
        assert_eq!(shown, format!("0:X0={};", i32::from(!taken)));
    }
}

#[test]
fn atomics_compute() {
    let shown = "locations [0:X0; x;]";
    assert_eq!(state("0:X1=x; x=5; 0:X2=3;", &["LDADD W2,W0,[X1]"], shown), "0:X0=5; [x]=8;");
    assert_eq!(state("0:X1=x; x=5; 0:X2=3;", &["LDCLR W2,W0,[X1]"], shown), "0:X0=5; [x]=4;");
    assert_eq!(state("0:X1=x; x=-5; 0:X2=3;", &["LDSMAX W2,W0,[X1]"], shown), "0:X0=-5; [x]=3;");
    assert_eq!(state("0:X1=x; x=-5; 0:X2=3;", &["LDUMAX W2,W0,[X1]"], shown), "0:X0=-5; [x]=-5;");
    assert_eq!(state("0:X1=x; x=5; 0:X0=5; 0:X2=3;", &["CAS W0,W2,[X1]"], shown), "0:X0=5; [x]=3;");
    assert_eq!(state("0:X1=x; x=6; 0:X0=5; 0:X2=3;", &["CAS W0,W2,[X1]"], shown), "0:X0=6; [x]=6;");
    let shown = "locations [0:X0; 0:X3; x;]";
    let exclusive = ["LDXR W0,[X1]", "STXR W3,W2,[X1]"];
    assert_eq!(state("0:X1=x; x=6; 0:X2=3;", &exclusive, shown), "0:X0=6; 0:X3=0; [x]=3;");
}

#[test]
fn addresses_pass_through_memory_and_widths_follow() {
    let shown = state("x=z; z=-1; 0:X3=x;", &["LDR X0,[X3]", "LDR W9,[X0]"], "exists (0:X0=z /\\ 0:X9=-1)");
    assert_eq!(shown, "0:X0=z; 0:X9=-1;");
    let program =
        parse("AArch64 t\n{ 0:X1=x; 0:X2=y; }\n P0 ;\n STR X0,[X1] ;\n STR W0,[X2] ;\nexists (x=0)").program;
    let sizes: Vec<(&str, u32)> = program.objects.iter().map(|o| (o.name.as_str(), o.size)).collect();
    assert_eq!(sizes, [("x", 8), ("y", 4)]);
}

#[test]
fn a_constant_of_32_bits_matches_however_it_is_kept() {
    for (constant, holds) in [("-1", true), ("0xffffffff", true), ("4294967295", true), ("1", false)] {
        let verdict = if holds { "" } else { " (condition false)" };
        let shown = state("", &["MOV W0,#-1"], &format!("exists 0:X0={constant}"));
        assert_eq!(shown, format!("0:X0=-1;{verdict}"));
    }
}

#[test]
fn symbolic_registers_are_registers() {
    let shown = state("0:%x0=x; x=4;", &["LDR %w1,[%x0]", "STR %w1,[%x0]"], "exists 0:%x1=4");
    assert_eq!(shown, "0:%x1=4;");
}

#[test]
fn mistakes() {
    let one = |instruction: &str| {
        messages(&format!("AArch64 t\n{{ 0:X1=x; }}\n P0 ;\n {instruction} ;\n exists (x=1)"))
    };
    assert_eq!(one("LDR W0,[W1]"), ["an address needs all 64 bits of its register"]);
    assert_eq!(one("ADD X0,X1,W2"), ["`W2` has 32 bits, but this operation has 64"]);
    assert_eq!(one("LDP W0,W1,[X1]"), ["`LDP` is not supported"]);
    assert_eq!(one("CASP W0,W1,W2,W3,[X1]"), ["`CASP` is not supported"]);
    assert_eq!(one("STADDA W0,[X1]"), ["unknown AArch64 instruction `STADDA`"]);
    assert_eq!(
        one("DMB"),
        ["expected `SY`, `LD` or `ST`, or one of these for `ISH`, `NSH` or `OSH`, found `;`"]
    );
    assert_eq!(one("LDR W0,X1"), ["expected an address such as `[X1]`, found `X1`"]);
    assert_eq!(one("B.XX L"), ["unknown AArch64 instruction `B.XX`"]);
    assert_eq!(one("CBZ W0,Nowhere"), ["thread 0 has no label `Nowhere`"]);
    assert_eq!(one("MOV X31,#1"), ["expected a register such as `X1` or `W1`, found `X31`"]);
}
