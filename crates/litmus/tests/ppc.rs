//! PPC: what instructions become, and what they compute.

mod support;

use support::{lowered, messages, parse, run};

/// The lowered code of one thread whose registers r2, r4 and r6 hold addresses.
fn code(instructions: &[&str]) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    let test = parse(&format!("PPC t\n{{ 0:r2=x; 0:r4=y; 0:r6=z; }}\n P0 ;\n{rows}\nexists (x=1)"));
    lowered(&test.program, 0)
}

/// The final state after running one thread, with initial state and condition given.
fn state(init: &str, instructions: &[&str], condition: &str) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    run(&format!("PPC t\n{{ {init} }}\n P0 ;\n{rows}\n{condition}"))
}

#[test]
fn loads_and_stores_in_all_forms() {
    assert_eq!(code(&["lwz r1,0(r2)"]), "r1 = load.s32 [r2]");
    assert_eq!(code(&["stw r1,0(r2)"]), "store.32 [r2] = r1");
    assert_eq!(code(&["lwz r1,4(r2)"]), "$0 = Add.u64 r2, 4\nr1 = load.s32 [$0]");
    for form in ["lwz r1,r3,r2", "lwzx r1,r3,r2"] {
        assert_eq!(code(&[form]), "$0 = Add.u64 r3, r2\nr1 = load.s32 [$0]");
    }
    assert_eq!(code(&["stwx r1,r3,r2"]), "$0 = Add.u64 r3, r2\nstore.32 [$0] = r1");
    // r0 as the first register of the pair is zero.
    assert_eq!(code(&["lwzx r1,r0,r2"]), "r1 = load.s32 [r2]");
    assert_eq!(code(&["ld r1,0(r2)", "std r1,0(r2)", "stdx r1,r0,r2"]).lines().count(), 3);
    assert_eq!(code(&["ld r1,0(r2)"]), "r1 = load.u64 [r2]");
    assert_eq!(code(&["lbz r1,0(r2)", "sth r1,0(r4)"]), "r1 = load.u8 [r2]\nstore.16 [r4] = r1");
    assert_eq!(code(&["stwu r1,0(r2)"]), "store.32 [r2] = r1\nr2 = r2");
    assert_eq!(code(&["LWZ R1,0(R2)"]), "r1 = load.s32 [r2]");
    assert_eq!(code(&["lwz r1,0,r2"]), "r1 = load.s32 [r2]");
    assert_eq!(code(&["dcbf r0,r2"]), "");
}

#[test]
fn fences_and_reservations() {
    assert_eq!(code(&["sync", "lwsync", "eieio", "isync", "hwsync"]), "sync\nlwsync\neieio\nisync\nsync");
    assert_eq!(
        code(&["lwarx r1,r0,r2", "stwcx. r3,r0,r2", "bne L", "L:"]),
        "r1 = load.x.s32 [r2]\ncr0 = store.x.32 [r2] = r3 (ok 0)\nif cr0 goto 3 else 3"
    );
}

#[test]
fn a_compare_and_branch_is_a_subtraction_and_a_branch() {
    assert_eq!(
        code(&["lwz r1,0(r2)", "cmpw r1,r1", "beq LC00", "LC00:", "stw r1,0(r4)"]),
        "r1 = load.s32 [r2]\ncr0 = Sub.s64 r1, r1\nif cr0 goto 3 else 3\nstore.32 [r4] = r1"
    );
    // A comparison that nothing looks at is not there.
    assert_eq!(code(&["cmpw r1,r3"]), "");
    assert_eq!(code(&["L: b L"]), "goto 0");
}

#[test]
fn dependencies_stay_syntactic() {
    assert_eq!(
        code(&["xor r3,r1,r1", "addi r3,r3,1", "lwzx r5,r3,r4"]),
        "r3 = Xor.s64 r1, r1\nr3 = Add.s64 r3, 1\n$0 = Add.u64 r3, r4\nr5 = load.s32 [$0]"
    );
    assert_eq!(code(&["addi r3,r0,7"]), "r3 = 7");
    assert_eq!(code(&["mr r3,r1"]), "r3 = r1");
}

#[test]
fn arithmetic_computes_what_the_manual_says() {
    let cases: &[(&[&str], &str)] = &[
        (&["li r1,5", "li r3,3", "sub r5,r1,r3"], "0:r5=2;"),
        (&["li r1,5", "li r3,3", "subf r5,r1,r3"], "0:r5=-2;"),
        (&["li r1,6", "andi. r5,r1,3"], "0:r5=2;"),
        (&["li r1,6", "li r3,-7", "mullw r5,r1,r3"], "0:r5=-42;"),
        (&["li r1,-7", "li r3,2", "divw r5,r1,r3"], "0:r5=-3;"),
        (&["li r1,1", "slwi r5,r1,31"], "0:r5=-2147483648;"),
        (&["li r1,1", "li r3,40", "slw r5,r1,r3"], "0:r5=0;"),
        (&["li r1,-1", "srwi r5,r1,28"], "0:r5=15;"),
        (&["li r1,-8", "srawi r5,r1,1"], "0:r5=-4;"),
        (&["li r1,5", "neg r5,r1"], "0:r5=-5;"),
        (&["li r1,0", "li r3,0", "nor r5,r1,r3"], "0:r5=-1;"),
        (&["lis r5,1"], "0:r5=65536;"),
        (&["li r1,6", "ori r1,r1,1", "xori r5,r1,2"], "0:r5=5;"),
    ];
    for (instructions, expected) in cases {
        let last = expected.trim_start_matches("0:r5=").trim_end_matches(';');
        assert_eq!(state("", instructions, &format!("exists 0:r5={last}")), *expected, "{instructions:?}");
    }
}

#[test]
fn every_branch_goes_where_it_should() {
    for (a, b) in [(1, 2), (2, 2), (3, 2), (-1, 1)] {
        for (mnemonic, taken) in [
            ("beq", a == b),
            ("bne", a != b),
            ("blt", a < b),
            ("ble", a <= b),
            ("bng", a <= b),
            ("bnl", a >= b),
            ("bgt", a > b),
            ("bge", a >= b),
        ] {
            for compare in ["cmpw r1,r3".to_string(), format!("cmpwi r1,{b}"), "cmpd 0,r1,r3".to_string()] {
                let (set_a, set_b) = (format!("li r1,{a}"), format!("li r3,{b}"));
                let branch = format!("{mnemonic} L");
                let program = [set_a.as_str(), &set_b, &compare, &branch, "li r5,1", "L:"];
                let expected = format!("0:r5={};", i32::from(!taken));
                assert_eq!(state("", &program, "locations [0:r5;]"), expected, "{a} {mnemonic} {b}");
            }
        }
    }
    let unsigned = ["li r1,-1", "li r3,1", "cmplw cr1,r1,r3", "bgt cr1,L", "li r5,1", "L:"];
    assert_eq!(state("", &unsigned, "locations [0:r5;]"), "0:r5=0;");
    let recorded = ["li r1,3", "add. r1,r1,r1", "beq- L", "li r5,1", "L:"];
    assert_eq!(state("", &recorded, "locations [0:r5;]"), "0:r5=1;");
}

#[test]
fn a_reservation_loop_ends_and_stores() {
    let body = ["again:", "lwarx r1,r0,r2", "addi r1,r1,1", "stwcx. r1,r0,r2", "bne again"];
    assert_eq!(state("0:r2=x; x=41;", &body, "exists (x=42 /\\ 0:r1=42)"), "0:r1=42; [x]=42;");
}

#[test]
fn addresses_pass_through_memory() {
    // With `std`, and in the manner of old 32-bit tests with `stw`.
    for (store, load) in [("std", "ld"), ("stw", "lwz")] {
        let body = [
            format!("{store} r4,0(r2)"),
            format!("{load} r5,0(r2)"),
            "li r1,7".into(),
            "stw r1,0(r5)".into(),
        ];
        let body: Vec<&str> = body.iter().map(String::as_str).collect();
        let shown = state("0:r2=p; 0:r4=y;", &body, "exists (p=y /\\ 0:r5=y /\\ y=7)");
        assert_eq!(shown, "0:r5=y; [p]=y; [y]=7;");
    }
    assert_eq!(state("0:r2=p; p=y; y=3;", &["lwz r5,0(r2)", "lwz r1,0(r5)"], "exists 0:r1=3"), "0:r1=3;");
}

#[test]
fn symbolic_registers_are_told_apart_by_their_whole_name() {
    let body = ["li r1,1", "stw r1,0(%x)", "li r3,2", "stw r3,0(%w)"];
    assert_eq!(state("0:%x=x; 0:%w=w;", &body, "exists (x=1 /\\ w=2 /\\ 0:%w=w)"), "0:%w=w; [w]=2; [x]=1;");
}

#[test]
fn words_are_signed() {
    assert_eq!(state("0:r2=x; x=-1;", &["lwz r1,0(r2)"], "exists (0:r1=-1 /\\ x=-1)"), "0:r1=-1; [x]=-1;");
    assert_eq!(state("x=0xffffffff;", &["nop"], "exists x=0xffffffff"), "[x]=-1;");
}

#[test]
fn mistakes() {
    let one = |instruction: &str| {
        messages(&format!("PPC t\n{{ 0:r2=x; }}\n P0 ;\n {instruction} ;\n exists (x=1)"))
    };
    assert_eq!(one("lwz r1,0(r32)"), ["expected a register such as `r1`, found `r32`"]);
    assert_eq!(one("lwzz r1,0(r2)"), ["unknown PPC instruction `lwzz`"]);
    assert_eq!(one("beq"), ["expected a label, found `;`"]);
    assert_eq!(one("lwz r1,(r2)"), ["expected an address such as `0(r2)` or `r3,r2`, found `(`"]);
    assert_eq!(one("stw r1,0(r2"), ["expected `)`, found `;`"]);
    assert_eq!(one("sync r1"), ["expected `|` or `;` after this `sync`, found `r1`"]);
    let mixed = "PPC t\n{ 0:r2=x; }\n P0 ;\n stw r1,0(r2) ;\n ld r1,0(r2) ;\n exists (x=1)";
    assert_eq!(messages(mixed), ["`x` is accessed with different sizes"]);
    // One mistake does not hide the next.
    let two = "PPC t\n{ 0:r2=x; }\n P0 | P1 ;\n foo | bar ;\n lwz r1,0(r2) | baz r1 ;\n exists (x=1)";
    assert_eq!(messages(two).len(), 3);
}

/// r1 after one instruction on r1 to r3, each declared with 64 bits.
fn computed(instruction: &str, [r1, r2, r3]: [u64; 3]) -> u64 {
    let init = format!("uint64_t 0:r1={r1:#x}; uint64_t 0:r2={r2:#x}; uint64_t 0:r3={r3:#x};");
    let text = format!("PPC t\n{{ {init} }}\n P0 ;\n {instruction} ;\nlocations [0:r1;]");
    let shown = run(&text);
    shown.trim_start_matches("0:r1=").trim_end_matches(';').parse::<i64>().unwrap() as u64
}

/// Bit by bit, as the manual draws it: bit 0 is the highest.
fn mask(first: u32, last: u32) -> u64 {
    let is_in = |bit: u32| match first <= last {
        true => (first..=last).contains(&bit),
        false => bit >= first || bit <= last,
    };
    (0..64).filter(|&bit| is_in(bit)).fold(0, |mask, bit| mask | 1 << (63 - bit))
}

const SAMPLES: [u64; 7] =
    [0, 1, u64::MAX, 1 << 63, 0x8000_0001, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];

#[test]
fn rotations_of_words_with_masks() {
    for a in SAMPLES {
        let doubled = (a & 0xffff_ffff) << 32 | a & 0xffff_ffff;
        for (sh, mb, me) in
            [(0, 0, 31), (5, 0, 31), (8, 24, 31), (31, 31, 31), (4, 28, 3), (0, 16, 23), (1, 8, 7)]
        {
            let (rotated, m) = (doubled.rotate_left(sh), mask(mb + 32, me + 32));
            let old = 0x5a5a_5a5a_a5a5_a5a5;
            let check = |line: String, expected: u64| {
                let found = computed(&line, [old, a, u64::from(sh) | 0xff00]);
                assert_eq!(found, expected, "{line} of {a:#x}: {found:#x}, not {expected:#x}");
            };
            check(format!("rlwinm r1,r2,{sh},{mb},{me}"), rotated & m);
            check(format!("rlwimi r1,r2,{sh},{mb},{me}"), rotated & m | old & !m);
            check(format!("rlwnm r1,r2,r3,{mb},{me}"), doubled.rotate_left(sh) & m);
        }
        let w = a as u32;
        let check =
            |line: &str, expected: u32| assert_eq!(computed(line, [0, a, 0]), expected.into(), "{line}");
        check("clrlwi r1,r2,12", w & 0x000f_ffff);
        check("clrrwi r1,r2,12", w & 0xffff_f000);
        check("rotlwi r1,r2,7", w.rotate_left(7));
        check("rotrwi r1,r2,7", w.rotate_right(7));
        check("extlwi r1,r2,8,4", (w << 4) & 0xff00_0000);
        check("extrwi r1,r2,8,4", (w >> 20) & 0xff);
        check("clrlslwi r1,r2,12,4", (w & 0x000f_ffff) << 4);
        check("slwi r1,r2,5", w << 5);
        check("srwi r1,r2,5", w >> 5);
        check("cntlzw r1,r2", w.leading_zeros());
        assert_eq!(computed("inslwi r1,r2,8,4", [0, a, 0]), u64::from(w >> 24) << 20);
        assert_eq!(computed("insrwi r1,r2,8,4", [0, a, 0]), u64::from(w & 0xff) << 20);
    }
}

#[test]
fn rotations_and_shifts_of_doublewords() {
    for a in SAMPLES {
        let check = |line: &str, count: u64, expected: u64| {
            let found = computed(line, [0xa5a5, a, count]);
            assert_eq!(found, expected, "{line} of {a:#x} by {count}: {found:#x}, not {expected:#x}");
        };
        check("clrldi r1,r2,32", 0, a & 0xffff_ffff);
        check("clrrdi r1,r2,8", 0, a & !0xff);
        check("rldicl r1,r2,12,20", 0, a.rotate_left(12) & mask(20, 63));
        check("rldicr r1,r2,12,20", 0, a.rotate_left(12) & mask(0, 20));
        check("rldic r1,r2,12,20", 0, a.rotate_left(12) & mask(20, 51));
        check("rldimi r1,r2,16,40", 0, a.rotate_left(16) & mask(40, 47) | 0xa5a5 & !mask(40, 47));
        check("rotldi r1,r2,9", 0, a.rotate_left(9));
        check("sldi r1,r2,9", 0, a << 9);
        check("srdi r1,r2,9", 0, a >> 9);
        check("extrdi r1,r2,8,4", 0, a >> 52 & 0xff);
        check("extldi r1,r2,8,4", 0, a << 4 & mask(0, 7));
        check("insrdi r1,r2,8,4", 0, (a & 0xff) << 52 | 0xa5a5);
        check("sradi r1,r2,9", 0, (a as i64 >> 9) as u64);
        check("cntlzd r1,r2", 0, a.leading_zeros().into());
        for count in [0, 1, 63, 64, 65, 127, 128] {
            let modulo = (count & 127) as u32;
            check("sld r1,r2,r3", count, a.checked_shl(modulo).unwrap_or(0));
            check("srd r1,r2,r3", count, a.checked_shr(modulo).unwrap_or(0));
            check("srad r1,r2,r3", count, (a as i64 >> modulo.min(63)) as u64);
            check("rldcl r1,r2,r3,4", count, a.rotate_left((count & 63) as u32) & mask(4, 63));
        }
        for b in SAMPLES {
            check("andc r1,r2,r3", b, a & !b);
            check("orc r1,r2,r3", b, a | !b);
            check("nand r1,r2,r3", b, !(a & b));
            check("eqv r1,r2,r3", b, !(a ^ b));
        }
        check("oris r1,r2,0x1234", 0, a | 0x1234_0000);
        check("xoris r1,r2,0x1234", 0, a ^ 0x1234_0000);
        check("andis. r1,r2,0x1234", 0, a & 0x1234_0000);
        check("extsb r1,r2", 0, a as u8 as i8 as u64);
        check("extsh r1,r2", 0, a as u16 as i16 as u64);
    }
}

#[test]
fn a_loaded_word_is_unsigned_where_someone_can_tell() {
    let state =
        |init: &str, body: &str, end: &str| run(&format!("PPC t\n{{ {init} }}\n P0 ;\n{body}\n{end}"));
    let load = " lwz r1,0(r2) ;";
    assert_eq!(state("0:r2=x; x=-1;", load, "locations [0:r1;]"), "0:r1=-1;");
    assert_eq!(state("uint64_t 0:r1; 0:r2=x; x=-1;", load, "locations [0:r1;]"), "0:r1=4294967295;");
    // The upper half goes to memory, through another register.
    let store = " lwz r1,0(r2) ;\n mr r3,r1 ;\n std r3,0(r4) ;";
    assert_eq!(state("0:r2=x; x=-1; uint64_t y; 0:r4=y;", store, "locations [y;]"), "[y]=4294967295;");
    // A comparison of words does not see it.
    let compare = " lwz r1,0(r2) ;\n std r1,0(r4) ;\n cmpwi r1,-1 ;\n li r5,0 ;\n bne L ;\n li r5,1 ;\n L: ;";
    let init = "0:r2=x; x=-1; uint64_t y; 0:r4=y;";
    assert_eq!(state(init, compare, "locations [0:r5;]"), "0:r5=1;");
    assert_eq!(state(init, &compare.replace("cmpwi", "cmpdi"), "locations [0:r5;]"), "0:r5=0;");
}

#[test]
fn mistakes_in_rotations() {
    let one = |line: &str| messages(&format!("PPC t\n{{ }}\n P0 ;\n {line} ;\nexists (x=1)"));
    assert_eq!(one("rlwinm r1,r2,32,0,31"), ["32 is out of range here"]);
    assert_eq!(one("clrldi r1,r2,64"), ["64 is out of range here"]);
    assert_eq!(one("extlwi r1,r2,0,4"), ["there is no such field"]);
    assert_eq!(one("insrwi r1,r2,30,4"), ["there is no such field"]);
    assert_eq!(one("rlwnm r1,r2,3,0,31"), ["expected a register such as `r1`, found `3`"]);
    assert_eq!(one("rlwinm r1,r2,3,0"), ["expected `,`, found `;`"]);
}
