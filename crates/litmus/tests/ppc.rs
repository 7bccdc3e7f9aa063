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
