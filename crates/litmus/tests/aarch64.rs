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

/// Final values of X0, and the same of X3, after one instruction on X0 to X3.
fn registers(instruction: &str, values: [u64; 4]) -> (u64, u64) {
    let init: String = (0..4).map(|i| format!("uint64_t 0:X{i}={:#x}; ", values[i])).collect();
    let shown = state(&init, &[instruction], "locations [0:X0; 0:X3;]");
    let number =
        |part: &str| part.split_once('=').unwrap().1.trim_end_matches(';').parse::<i64>().unwrap() as u64;
    let mut parts = shown.split(' ');
    (number(parts.next().unwrap()), number(parts.next().unwrap()))
}

/// Words with interesting bits.
const SAMPLES: [u64; 9] = [
    0,
    1,
    u64::MAX,
    1 << 63,
    0x8000_0000,
    0x7fff_ffff_ffff_ffff,
    0x0123_4567_89ab_cdef,
    0xfedc_ba98_7654_3210,
    0x0000_0001_ffff_ff80,
];

fn check(instruction: &str, values: [u64; 4], expected: u64) {
    let (found, _) = registers(instruction, values);
    assert_eq!(found, expected, "{instruction} of {values:x?}: {found:#x}, not {expected:#x}");
}

#[test]
fn bits_are_moved_as_the_manual_says() {
    for a in SAMPLES {
        let w = a as u32;
        let v = [0, a, 0, 0];
        check("REV X0,X1", v, a.swap_bytes());
        check("REV64 X0,X1", v, a.swap_bytes());
        check("REV W0,W1", v, w.swap_bytes().into());
        let halves = |f: fn(u32) -> u32| u64::from(f((a >> 32) as u32)) << 32 | u64::from(f(w));
        check("REV32 X0,X1", v, halves(u32::swap_bytes));
        let rev16 = |n: u32| (n & 0x00ff_00ff) << 8 | n >> 8 & 0x00ff_00ff;
        check("REV16 X0,X1", v, halves(rev16));
        check("REV16 W0,W1", v, rev16(w).into());
        check("RBIT X0,X1", v, a.reverse_bits());
        check("RBIT W0,W1", v, w.reverse_bits().into());
        check("CLZ X0,X1", v, a.leading_zeros().into());
        check("CLZ W0,W1", v, w.leading_zeros().into());
        check("CLS X0,X1", v, u64::from((a ^ a << 1 | 1).leading_zeros()));
        check("CLS W0,W1", v, u64::from((w ^ w << 1 | 1).leading_zeros()));
        check("CTZ X0,X1", v, a.trailing_zeros().into());
        check("CTZ W0,W1", v, w.trailing_zeros().into());
        check("CNT X0,X1", v, a.count_ones().into());
        check("CNT W0,W1", v, w.count_ones().into());
        check("ABS X0,X1", v, (a as i64).wrapping_abs() as u64);
        check("ABS W0,W1", v, u64::from((w as i32).wrapping_abs() as u32));
        check("ROR X0,X1,#12", v, a.rotate_right(12));
        check("ROR W0,W1,#12", v, w.rotate_right(12).into());
        check("MOVN X0,#0x1234,LSL #16", v, !0x1234_0000);
        check("MOVN W0,#0x1234", v, 0xffff_edcb);
        check("MOVK X0,#0x1234,LSL #32", [a, 0, 0, 0], a & !0xffff_0000_0000 | 0x1234_0000_0000);
        check("MOVK W0,#0x1234,LSL #16", [a, 0, 0, 0], u64::from(w & 0xffff | 0x1234_0000));
    }
}

#[test]
fn bit_fields_are_moved_as_the_manual_says() {
    let field = |value: u64, low: u32, count: u32| (value >> low) & (u64::MAX >> (64 - count));
    let signed = |value: u64, count: u32| ((value << (64 - count)) as i64 >> (64 - count)) as u64;
    for a in SAMPLES {
        for (bits, r) in [(64u32, 'X'), (32, 'W')] {
            let all = u64::MAX >> (64 - bits);
            for (immr, imms) in [(0, 7), (4, 11), (8, 31), (0, 31), (12, 3), (31, 0), (1, 0), (16, 15)] {
                let old = 0xa5a5_a5a5_a5a5_a5a5;
                // Bits `immr..=imms` come down, or bits `0..=imms` go up.
                let (count, low, to) =
                    if imms >= immr { (imms - immr + 1, immr, 0) } else { (imms + 1, 0, bits - immr) };
                let taken = field(a & all, low, count);
                let mask = (u64::MAX >> (64 - count)) << to;
                let line = |name: &str| format!("{name} {r}0,{r}1,#{immr},#{imms}");
                check(&line("UBFM"), [old, a, 0, 0], taken << to);
                check(&line("SBFM"), [old, a, 0, 0], signed(taken, count) << to & all);
                check(&line("BFM"), [old, a, 0, 0], (old & !mask | taken << to) & all);
            }
            for (lsb, count) in [(0, 8), (4, 8), (16, 16), (3, 1), (0, 32)] {
                let old = 0xa5a5_a5a5_a5a5_a5a5;
                let taken = field(a & all, lsb, count);
                let low = field(a & all, 0, count);
                let mask = u64::MAX >> (64 - count);
                let line = |name: &str| format!("{name} {r}0,{r}1,#{lsb},#{count}");
                check(&line("UBFX"), [old, a, 0, 0], taken);
                check(&line("SBFX"), [old, a, 0, 0], signed(taken, count) & all);
                check(&line("BFXIL"), [old, a, 0, 0], (old & !mask | taken) & all);
                check(&line("UBFIZ"), [old, a, 0, 0], low << lsb & all);
                check(&line("SBFIZ"), [old, a, 0, 0], signed(low, count) << lsb & all);
                check(&line("BFI"), [old, a, 0, 0], (old & !(mask << lsb) | low << lsb) & all);
                check(&format!("BFC {r}0,#{lsb},#{count}"), [old, 0, 0, 0], old & !(mask << lsb) & all);
            }
        }
    }
}

#[test]
fn products_quotients_and_extremes() {
    for a in SAMPLES {
        for b in SAMPLES {
            let v = [0, a, b, 77];
            let (wa, wb) = (a as u32, b as u32);
            let (sa, sb) = (a as i64, b as i64);
            let (swa, swb) = (wa as i32, wb as i32);
            check("MADD X0,X1,X2,X3", v, a.wrapping_mul(b).wrapping_add(77));
            check("MSUB W0,W1,W2,W3", v, 77u32.wrapping_sub(wa.wrapping_mul(wb)).into());
            check("MNEG X0,X1,X2", v, a.wrapping_mul(b).wrapping_neg());
            check("MUL W0,W1,W2", v, wa.wrapping_mul(wb).into());
            let long = i64::from(swa) * i64::from(swb);
            check("SMULL X0,W1,W2", v, long as u64);
            check("SMNEGL X0,W1,W2", v, long.wrapping_neg() as u64);
            check("SMADDL X0,W1,W2,X3", v, long.wrapping_add(77) as u64);
            check("SMSUBL X0,W1,W2,X3", v, 77i64.wrapping_sub(long) as u64);
            let long = u64::from(wa) * u64::from(wb);
            check("UMULL X0,W1,W2", v, long);
            check("UMNEGL X0,W1,W2", v, long.wrapping_neg());
            check("UMADDL X0,W1,W2,X3", v, long.wrapping_add(77));
            check("UMSUBL X0,W1,W2,X3", v, 77u64.wrapping_sub(long));
            check("UMULH X0,X1,X2", v, ((u128::from(a) * u128::from(b)) >> 64) as u64);
            check("SMULH X0,X1,X2", v, ((i128::from(sa) * i128::from(sb)) >> 64) as u64);
            check("UDIV X0,X1,X2", v, a.checked_div(b).unwrap_or(0));
            check("SDIV X0,X1,X2", v, if b == 0 { 0 } else { sa.wrapping_div(sb) as u64 });
            check("SDIV W0,W1,W2", v, if wb == 0 { 0 } else { swa.wrapping_div(swb) as u32 }.into());
            check("SMAX X0,X1,X2", v, sa.max(sb) as u64);
            check("SMIN W0,W1,W2", v, u64::from(swa.min(swb) as u32));
            check("UMAX W0,W1,W2", v, wa.max(wb).into());
            check("UMIN X0,X1,X2", v, a.min(b));
            let extracted = ((u128::from(a) << 64 | u128::from(b)) >> 20) as u64;
            check("EXTR X0,X1,X2,#20", v, extracted);
            check("EXTR W0,W1,W2,#0", v, wb.into());
        }
    }
}

#[test]
fn pairs_are_two_accesses() {
    let cases = [
        ("LDP W0,W2,[X1]", "$2 = Add.u64 X1, 4\nX0 = load.s32 [X1]\nX2 = load.s32 [$2]"),
        ("LDNP X0,X2,[X1]", "$2 = Add.u64 X1, 8\nX0 = load.nt.u64 [X1]\nX2 = load.nt.u64 [$2]"),
        ("LDP X1,X2,[X1]", "$2 = Add.u64 X1, 8\nX1 = load.u64 [X1]\nX2 = load.u64 [$2]"),
        ("LDPSW X0,X2,[X1]", "$2 = Add.u64 X1, 4\nX0 = load.s32 [X1]\nX2 = load.s32 [$2]"),
        ("STP W0,WZR,[X1]", "$2 = Add.u64 X1, 4\nstore.32 [X1] = X0\nstore.32 [$2] = 0"),
        (
            "LDIAPP X0,X2,[X1],#16",
            "$2 = Add.u64 X1, 8\nX0 = load.acqpc.u64 [X1]\nX2 = load.acqpc.u64 [$2]\nX1 = Add.u64 X1, 16",
        ),
        ("STILP W0,W2,[X1]", "$2 = Add.u64 X1, 4\nstore.rel.32 [X1] = X0\nstore.rel.32 [$2] = X2"),
        // With a pre-index the second register is stored first.
        (
            "STILP W0,W2,[X1,#-8]!",
            "$1 = Add.u64 X1, -8\n$2 = Add.u64 $1, 4\nstore.rel.32 [$2] = X2\nstore.rel.32 [$1] = X0\nX1 = $1",
        ),
        ("LDAPURSW X0,[X1,#8]", "$1 = Add.u64 X1, 8\nX0 = load.acqpc.s32 [$1]"),
        ("STLURH W0,[X1]", "store.rel.16 [X1] = X0"),
    ];
    for (instruction, expected) in cases {
        assert_eq!(code_of_array(instruction), expected, "{instruction}");
    }
}

/// As `code`, with a location that pairs fit in.
fn code_of_array(instruction: &str) -> String {
    let ty = match instruction {
        i if i.contains("STLURH") => "uint16_t",
        i if i.contains(" W") || i.contains("SW") => "int",
        _ => "uint64_t",
    };
    let text = format!("AArch64 t\n{{ {ty} x[4]; 0:X1=x; }}\n P0 ;\n {instruction} ;\nexists (0:X9=0)");
    lowered(&parse(&text).program, 0)
}

#[test]
fn exclusive_and_atomic_pairs_are_one_access() {
    let shown = "locations [0:X0; 0:X2; 0:X3; x;]";
    let pair = ["LDXP W0,W2,[X1]", "STXP W3,W2,W0,[X1]"];
    assert_eq!(
        state("uint64_t x=0x200000001; 0:X1=x;", &pair, shown),
        format!("0:X0=1; 0:X2=2; 0:X3=0; [x]={};", 0x1_0000_0002u64)
    );
    let init = "uint64_t x=0x200000001; 0:X1=x; 0:X4=1; 0:X5=2; 0:X6=7; 0:X7=8;";
    let shown = "locations [0:X4; 0:X5; x;]";
    let swapped = format!("0:X4=1; 0:X5=2; [x]={};", 0x8_0000_0007u64);
    assert_eq!(state(init, &["CASPAL W4,W5,W6,W7,[X1]"], shown), swapped);
    let other = init.replace("0:X5=2", "0:X5=3");
    let kept = format!("0:X4=1; 0:X5=2; [x]={};", 0x2_0000_0001u64);
    assert_eq!(state(&other, &["CASP W4,W5,W6,W7,[X1]"], shown), kept);
}

#[test]
fn pairs_of_x_registers_are_one_access_of_128_bits() {
    let shown = "locations [0:X0; 0:X2; 0:X3; x;]";
    let pair = ["LDXP X0,X2,[X1]", "ADD X2,X2,#2", "STXP W3,X0,X2,[X1]"];
    let stored = 2u128 << 64 | 7;
    assert_eq!(
        state("int128_t x=7; 0:X1=x;", &pair, shown),
        format!("0:X0=7; 0:X2=2; 0:X3=0; [x]={stored};")
    );
    let init = "int128_t x=1; 0:X1=x; 0:X4=1; 0:X5=0; 0:X6=7; 0:X7=8;";
    let shown = "locations [0:X4; 0:X5; x;]";
    let swapped = format!("0:X4=1; 0:X5=0; [x]={};", 8u128 << 64 | 7);
    assert_eq!(state(init, &["CASPAL X4,X5,X6,X7,[X1]"], shown), swapped);
    let other = init.replace("0:X5=0", "0:X5=3");
    assert_eq!(state(&other, &["CASP X4,X5,X6,X7,[X1]"], shown), "0:X4=1; 0:X5=0; [x]=1;");
}

#[test]
fn pairs_load_and_store_their_values() {
    let shown = "locations [0:X0; 0:X2; 0:X1; y[0]; y[1];]";
    let body = ["LDP X0,X2,[X1],#8", "STP X2,X0,[X3,#8]!"];
    let init = "uint64_t x[2]={5,6}; uint64_t y[3]; 0:X1=x; 0:X3=y;";
    assert_eq!(state(init, &body, shown), "0:X0=5; 0:X1=x[1]; 0:X2=6; y[0]=0; y[1]=6;");
}

#[test]
fn symbolic_registers_in_every_place() {
    let shown =
        state("%p=x; x=4; 0:%v=3;", &["LDR W%v,[X%p]", "ADD W%v,W%v,#1", "STR W%v,[%p]"], "exists x=5");
    assert_eq!(shown, "[x]=5;");
    let shown = state(
        "0:%x0=x; x=4;",
        &["LDADD W%x1,W%x2,[%x0]", "CBNZ W%x2,L", "MOV %x3,#1", "L:"],
        "exists 0:%x3=0",
    );
    assert_eq!(shown, "0:%x3=0;");
}

#[test]
fn declared_registers_keep_64_bits() {
    let load = ["LDR W0,[X1]"];
    assert_eq!(state("0:X1=x; x=-1;", &load, "locations [0:X0;]"), "0:X0=-1;");
    assert_eq!(state("uint64_t 0:X0; 0:X1=x; x=-1;", &load, "locations [0:X0;]"), "0:X0=4294967295;");
    assert_eq!(state("int64_t 0:X0; 0:X1=x; x=-1;", &load, "exists 0:X0=4294967295"), "0:X0=4294967295;");
    assert_eq!(
        state("0:X1=x; 0:X2=0xffffffff80000000;", &["MOV X0,X2"], "locations [0:X0;]"),
        "0:X0=-2147483648;"
    );
}

#[test]
fn addresses_of_locations() {
    assert_eq!(state("x=3;", &["ADR X1,x", "LDR W0,[X1]"], "locations [0:X0;]"), "0:X0=3;");
}

#[test]
fn mistakes() {
    let one = |instruction: &str| {
        messages(&format!("AArch64 t\n{{ 0:X1=x; }}\n P0 ;\n {instruction} ;\n exists (x=1)"))
    };
    assert_eq!(one("LDR W0,[W1]"), ["an address needs all 64 bits of its register"]);
    assert_eq!(one("ADD X0,X1,W2"), ["`W2` has 32 bits, but this operation has 64"]);
    assert_eq!(one("CASP X0,X1,X2,W3,[X1]"), ["expected `X3`, the register after the first one, found `W3`"]);
    let mixed = |init: &str, body: &str| {
        messages(&format!("AArch64 t\n{{ {init} 0:X1=x; }}\n P0 ;\n {body} ;\n exists (0:X0=1)"))
    };
    let different = ["`x` is accessed with different sizes"];
    assert_eq!(mixed("int128_t x;", "LDR X0,[X1]"), different);
    assert_eq!(mixed("int128_t x;", "LDXP W0,W2,[X1]"), different);
    assert_eq!(mixed("uint64_t x[2];", "LDXP X0,X2,[X1]"), different);
    assert_eq!(mixed("", "LDXP X0,X2,[X1] ;\n LDXP W4,W5,[X1]"), different);
    let large = ["`x` has 128 bits and a half that needs more than 31"];
    assert_eq!(mixed("int128_t x=0x80000000;", "LDXP X0,X2,[X1]"), large);
    assert_eq!(one("LDP W0,W0,[X1]"), ["`W0` is loaded twice"]);
    assert_eq!(one("LDP W0,X2,[X1]"), ["expected a W register, as the first one, found `X2`"]);
    assert_eq!(one("CASP W2,W4,W6,W7,[X1]"), ["expected `W3`, the register after the first one, found `W4`"]);
    assert_eq!(one("CASP W3,W4,W6,W7,[X1]"), ["expected a register with an even number, found `W3`"]);
    assert_eq!(one("UBFM W0,W2,#32,#1"), ["32 is out of range here"]);
    assert_eq!(one("UBFX X0,X2,#60,#5"), ["5 is out of range here"]);
    assert_eq!(one("MOVK W0,#1,LSL #32"), ["32 is out of range here"]);
    assert_eq!(one("SMULL W0,W2,W3"), ["expected an X register, found `W0`"]);
    assert_eq!(one("REV32 W0,W2"), ["expected an X register, found `W0`"]);
    assert_eq!(one("ADR X0,nowhere"), ["`nowhere` is not a location of the initial state"]);
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
