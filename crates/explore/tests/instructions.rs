//! Instructions that stand for several accesses, or for one wide access, as the memory models see them; the executions
//! are compared with those of the naive enumerator.

mod support;

use fencepost_diag::SourceFile;
use fencepost_explore::{ModelName, Options, explore};
use fencepost_ir::bound_loops;
use fencepost_models::Model;
use fencepost_naive::Limits;
use support::compare::{difference, enumerated, explored};

/// Whether the condition of the test holds in some execution.
fn allowed(model: &str, text: &str) -> bool {
    let source = SourceFile::new("test.litmus", text);
    let test = fencepost_litmus::parse(&source)
        .unwrap_or_else(|errors| panic!("{}", errors.iter().map(|e| e.render(&source)).collect::<String>()));
    let program = bound_loops(&test.program, 2);
    let name = ModelName::from_name(model).expect("a model");
    let expected = enumerated(&program, &Model::builtin(model).expect("built in"), &Limits::default());
    let expected = expected.unwrap_or_else(|stop| panic!("{stop}"));
    assert_eq!(difference(&explored(&program, name), &expected), None, "{text}");
    explore(&program, &Options::new(name)).expect("supported").stats.satisfying > 0
}

/// The pair `x[0]`, `x[1]` is stored and loaded; is the first new and the second old?
fn pair(store: &str, load: &str) -> bool {
    let text = format!(
        "AArch64 pair\n{{ int x[2]; 0:X1=x; 1:X1=x; 0:X2=1; 0:X3=1; }}\n P0 | P1 ;\n {store} | {load} ;\n\
         exists (1:X4=1 /\\ 1:X5=0)"
    );
    allowed("armv8", &text)
}

#[test]
fn pairs_are_ordered_only_where_the_manual_says_so() {
    // x[1] is stored first; its base points behind the pair.
    let stilp = "ADD X1,X1,#8 | ;\n STILP W2,W3,[X1,#-8]!";
    assert!(pair("STP W2,W3,[X1]", "LDP W4,W5,[X1]"));
    assert!(pair("STP W2,W3,[X1]", "LDIAPP W4,W5,[X1]"));
    assert!(pair(stilp, "LDP W4,W5,[X1]"));
    assert!(!pair(stilp, "LDIAPP W4,W5,[X1]"));
    // In the other addressing mode the first register is stored first: nothing is wrong with a new x[0] then.
    assert!(pair("STILP W2,W3,[X1]", "LDIAPP W4,W5,[X1]"));
    assert!(pair("STNP W2,W3,[X1]", "LDNP W4,W5,[X1]"));
}

#[test]
fn acquire_pc_is_weaker_than_acquire() {
    // Store buffering with release and acquire: RCpc lets the load come first.
    let sb = |load: &str| {
        let text = format!(
            "AArch64 sb\n{{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }}\n P0 | P1 ;\n MOV W0,#1 | MOV W0,#1 ;\n\
             STLUR W0,[X1] | STLUR W0,[X1] ;\n {load} W2,[X3] | {load} W2,[X3] ;\n\
             exists (0:X2=0 /\\ 1:X2=0)"
        );
        allowed("armv8", &text)
    };
    assert!(sb("LDAPR"));
    assert!(sb("LDAPUR"));
    assert!(!sb("LDAR"));
    let mp = |load: &str| {
        let text = format!(
            "AArch64 mp\n{{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }}\n P0 | P1 ;\n MOV W0,#1 | {load} W2,[X1] ;\n\
             STR W0,[X1] | LDR W4,[X3] ;\n STLUR W0,[X3] | ;\nexists (1:X2=1 /\\ 1:X4=0)"
        );
        allowed("armv8", &text)
    };
    assert!(!mp("LDAPUR"));
    assert!(mp("LDUR"));
}

#[test]
fn exclusive_pairs_are_atomic_together() {
    // Both increment the halves; no increment of one half may be lost while that of the other is not.
    let increment = "LDXP W0,W2,[X1] ;\n ADD W0,W0,#1 ;\n ADD W2,W2,#1 ;\n STXP W3,W0,W2,[X1] ;";
    let both: String = increment
        .split(" ;")
        .map(str::trim)
        .filter(|i| !i.is_empty())
        .map(|i| format!(" {i} | {i} ;\n"))
        .collect();
    let test = |condition: &str| {
        let text = format!(
            "AArch64 pairs\n{{ uint64_t x; 0:X1=x; 1:X1=x; }}\n P0 | P1 ;\n{both}exists (0:X3=0 /\\ 1:X3=0 /\\ {condition})"
        );
        allowed("armv8", &text)
    };
    assert!(test("x=8589934594"));
    assert!(!test("not (x=8589934594)"));
    let cas = "AArch64 casp\n{ uint64_t x; 0:X1=x; 1:X1=x; 0:X4=1; 0:X5=2; 1:X4=3; 1:X5=4; }\n P0 | P1 ;\n\
               CASP W2,W3,W4,W5,[X1] | CASP W2,W3,W4,W5,[X1] ;\n";
    assert!(allowed("armv8", &format!("{cas}exists (x=8589934593)")));
    assert!(!allowed("armv8", &format!("{cas}exists (not (x=8589934593 \\/ x=17179869187))")));
}

#[test]
fn values_made_of_bits_keep_their_dependencies() {
    // The address depends on what was loaded, through a bit-field extract of no bits that matter.
    let mp = |middle: &str| {
        let text = format!(
            "AArch64 mp\n{{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }}\n P0 | P1 ;\n MOV W0,#1 | LDR W2,[X1] ;\n\
             STR W0,[X1] | {middle} ;\n DMB ST | LDR W4,[X3,X5] ;\n STR W0,[X3] | ;\nexists (1:X2=1 /\\ 1:X4=0)"
        );
        allowed("armv8", &text)
    };
    assert!(mp("MOV X5,#0"));
    assert!(!mp("UBFX X5,X2,#8,#4"));
    assert!(!mp("LSR X5,X2,#8"));
    assert!(!mp("UMULH X5,X2,X2"));
    let power = |middle: &str| {
        let text = format!(
            "PPC mp\n{{ 0:r1=x; 0:r3=y; 1:r1=y; 1:r3=x; }}\n P0 | P1 ;\n li r0,1 | lwz r2,0(r1) ;\n\
             stw r0,0(r1) | {middle} ;\n lwsync | lwzx r4,r5,r3 ;\n stw r0,0(r3) | ;\nexists (1:r2=1 /\\ 1:r4=0)"
        );
        allowed("power", &text)
    };
    assert!(power("li r5,0"));
    assert!(!power("rlwinm r5,r2,0,0,7"));
    assert!(!power("clrldi r5,r2,63 ;\n | srdi r5,r5,1"));
}

#[test]
fn x86_64_has_store_buffers() {
    let sb = |between: &str, store: &str| {
        let text = format!(
            "X86_64 sb\n{{ }}\n P0 | P1 ;\n movq $1,%rcx | movq $1,%rcx ;\n {store} (x) | {store} (y) ;\n\
             {between} | {between} ;\n movq (y),%rax | movq (x),%rax ;\nexists (0:rax=0 /\\ 1:rax=0)"
        );
        allowed("tso", &text)
    };
    assert!(sb("nop", "movq %rcx,"));
    assert!(!sb("mfence", "movq %rcx,"));
    assert!(!sb("nop", "xchgq %rcx,"));
    assert!(!sb("nop", "lock addq %rcx,"));
    assert!(sb("nop", "addq %rcx,"));
}
