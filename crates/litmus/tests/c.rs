//! C: what statements become, and what they compute.

mod support;

use support::{lowered, messages, parse, run};

const PARAMETERS: &str = "atomic_int* x, volatile int* y, int* z";

fn code(body: &str) -> String {
    let text = format!("C t\n{{ }}\nP0 ({PARAMETERS}) {{ {body} }}\nexists (x=1)");
    lowered(&parse(&text).program, 0)
}

fn state(init: &str, body: &str, condition: &str) -> String {
    run(&format!("C t\n{{ {init} }}\nP0 ({PARAMETERS}) {{ {body} }}\n{condition}"))
}

/// The value of an expression over `a = 7`, `b = -3` and `u = 4294967293u`.
fn value(expression: &str) -> String {
    let body = format!("int a = 7; int b = -3; unsigned u = 4294967293; long r = {expression};");
    state("", &body, "locations [0:r;]")
}

#[test]
fn the_access_decides_its_order() {
    assert_eq!(code("*x = 1;"), "store.32 [&x] = 1");
    assert_eq!(code("atomic_store_explicit(y, 1, memory_order_release);"), "store.rel.32 [&y] = 1");
    assert_eq!(code("atomic_store(x, 1);"), "store.sc.32 [&x] = 1");
    assert_eq!(code("int r = atomic_load_explicit(x, memory_order_acquire);"), "r = load.acq.s32 [&x]");
    assert_eq!(code("int r = atomic_load(x);"), "r = load.sc.s32 [&x]");
    assert_eq!(code("int r = *y;"), "r = load.s32 [&y]");
    assert_eq!(code("int r; r = *z;"), "r = load.s32 [&z]");
}

#[test]
fn read_modify_writes_split_their_order() {
    let cases = [
        ("relaxed", ".rlx.rlx"),
        ("acquire", ".acq.rlx"),
        ("release", ".rlx.rel"),
        ("acq_rel", ".acq.rel"),
        ("seq_cst", ".sc.sc"),
    ];
    for (order, shown) in cases {
        let call = format!("int r = atomic_fetch_add_explicit(x, 1, memory_order_{order});");
        assert_eq!(code(&call), format!("r = Add{shown}.32 [&x], 1"));
    }
    assert_eq!(code("int r = atomic_exchange(x, 2);"), "r = Exchange.sc.sc.32 [&x], 2");
    assert_eq!(code("int r = atomic_fetch_or(x, 2);"), "r = Or.sc.sc.32 [&x], 2");
    assert_eq!(code("atomic_fetch_xor(x, 2);"), "$0 = Xor.sc.sc.32 [&x], 2");
}

#[test]
fn fences() {
    assert_eq!(code("atomic_thread_fence(memory_order_acq_rel);"), "c11.acqrel");
    assert_eq!(code("atomic_thread_fence(memory_order_seq_cst);"), "c11.sc");
    assert_eq!(code("atomic_signal_fence(memory_order_seq_cst);"), "compiler");
}

#[test]
fn compare_exchange_takes_its_expected_value_from_a_local_or_a_location() {
    assert_eq!(
        code("int e = 1; int r = atomic_compare_exchange_strong(x, &e, 2);"),
        "e = 1\n$0, $1 = cas.sc.sc.sc [&x], e, 2\ne = $0\nr = $1"
    );
    assert_eq!(
        code(
            "int r = atomic_compare_exchange_weak_explicit(x, z, 2, memory_order_acq_rel, memory_order_relaxed);"
        ),
        "$0 = load.s32 [&z]\n$1, $2 = cas.acq.rel.rlx.weak [&x], $0, 2\nif $2 goto 4 else 3\n\
         store.32 [&z] = $1\nr = $2"
    );
    let strong = "int e = 1; int r = atomic_compare_exchange_strong(x, &e, 2);";
    assert_eq!(state("x=1;", strong, "locations [0:e; 0:r; x;]"), "0:e=1; 0:r=1; [x]=2;");
    assert_eq!(state("x=5;", strong, "locations [0:e; 0:r; x;]"), "0:e=5; 0:r=0; [x]=5;");
    let shared = "int r = atomic_compare_exchange_strong(x, z, 2);";
    assert_eq!(state("x=5;", shared, "locations [0:r; x; z;]"), "0:r=0; [x]=5; [z]=5;");
}

#[test]
fn control_flow_becomes_branches() {
    assert_eq!(
        code("int r0 = *x; if (r0) { *y = 1; } else *z = 2;"),
        "r0 = load.s32 [&x]\nif r0 goto 2 else 4\nstore.32 [&y] = 1\ngoto 5\nstore.32 [&z] = 2"
    );
    assert_eq!(
        code("if (r0 = *x) if (*y) *z = 1;"),
        "r0 = load.s32 [&x]\nif r0 goto 2 else 5\n$0 = load.s32 [&y]\nif $0 goto 4 else 5\nstore.32 [&z] = 1"
    );
    assert_eq!(
        code("while (atomic_load(x) == 0) { }"),
        "$0 = load.sc.s32 [&x]\n$1 = Eq.s32 $0, 0\nif $1 goto 3 else 4\ngoto 0"
    );
}

#[test]
fn loops_run() {
    let sum = "locations [0:s; 0:i;]";
    assert_eq!(state("", "int i; int s = 0; for (i = 0; i < 5; i++) s += i;", sum), "0:i=5; 0:s=10;");
    assert_eq!(
        state("", "int i = 0, s = 0; while (1) { if (i == 3) break; s += 2; ++i; }", sum),
        "0:i=3; 0:s=6;"
    );
    assert_eq!(
        state("", "int i = 0; int s = 0; do { i++; if (i & 1) continue; s++; } while (i < 5);", sum),
        "0:i=5; 0:s=2;"
    );
    assert_eq!(state("", "for (int i = 0; ; i++) { if (i > 2) break; s = i; }", sum), "0:i=3; 0:s=2;");
    assert_eq!(state("", "int s = 1; return; s = 2;", sum), "0:i=0; 0:s=1;");
}

#[test]
fn expressions_compute_what_c_says() {
    let cases = [
        ("a + b * 2", 1i64),
        ("(a + b) * 2", 8),
        ("a / b", -2),
        ("a % b", 1),
        ("a << 2 | 1", 29),
        ("b >> 1", -2),
        ("u >> 1", 2_147_483_646),
        ("~a", -8),
        ("!a", 0),
        ("!!a", 1),
        ("-b", 3),
        ("a == 7 && b == -3", 1),
        ("a == 7 && b", 1),
        ("0 || b", 1),
        ("0 || 0", 0),
        ("1 || 0 && 0", 1),
        ("a > b ? a : b", 7),
        ("a < b ? a : b ? 5 : 6", 5),
        ("b < a", 1),
        ("b < u", 0),
        ("u == b", 1),
        ("u + 4", 1),
        ("(unsigned char)b", 253),
        ("(char)200", -56),
        ("(long)u", 4_294_967_293),
        ("a ^ b & 1 | 8", 14),
        ("a != b", 1),
        ("0x10 + 010", 24),
    ];
    for (expression, expected) in cases {
        assert_eq!(value(expression), format!("0:r={expected};"), "{expression}");
    }
    assert_eq!(
        state("", "int i = 1; int r = i++ + 10; int s = --i;", "locations [0:i; 0:r; 0:s;]"),
        "0:i=1; 0:r=11; 0:s=1;"
    );
}

#[test]
fn short_circuits_do_not_touch_memory() {
    let body = "int r = *x && (*z = 1);";
    assert_eq!(state("", body, "locations [0:r; z;]"), "0:r=0; [z]=0;");
    assert_eq!(state("x=1;", body, "locations [0:r; z;]"), "0:r=1; [z]=1;");
}

#[test]
fn arrays_and_pointers() {
    let init = "int x[3]={1,2,3}; int *y = &z; z=9;";
    assert_eq!(state(init, "int r = x[1] + *(x + 2);", "locations [0:r;]"), "0:r=5;");
    assert_eq!(
        state(init, "x[2] = 7; atomic_store(&x[0], 4);", "exists (x[0]=4 /\\ x[2]=7)"),
        "x[0]=4; x[2]=7;"
    );
    let pointers = "C t\n{ int *p = &x; int x = 5; }\nP0 (int** p) { int* q = *p; int r = *q; *q = 6; }\n\
                    exists (0:r=5 /\\ 0:q=x /\\ x=6)";
    assert_eq!(run(pointers), "0:q=x; 0:r=5; [x]=6;");
    let wide = "C t\n{ uint64_t x = 0x100000000; }\nP0 (uint64_t* x) { long r = *x; }\nlocations [0:r; x;]";
    assert_eq!(run(wide), "0:r=4294967296; [x]=4294967296;");
}

#[test]
fn locals_may_be_set_by_the_initial_state_and_unknown_ones_are_zero() {
    assert_eq!(state("0:r1=4;", "int r2 = r1 + 1;", "exists (0:r2=5 /\\ 0:r9=0)"), "0:r2=5; 0:r9=0;");
}

#[test]
fn comments_in_both_styles() {
    let text = "C t\n(* header *)\n{ (* init *) }\n// between\nP0 (int* x) { // inside\n /* here */ *x = 1; }\n\
                (* end *)\nexists (x=1) // last";
    assert_eq!(run(text), "[x]=1;");
}

#[test]
fn instructions_know_their_source() {
    let text =
        "C t\n{ }\nP0 (atomic_int* x, int* y) { int r = atomic_load(x) + *y; if (*y) *y = 2; }\nexists (x=1)";
    let program = parse(text).program;
    let sources: Vec<&str> =
        program.functions[0].spans.iter().map(|s| &text[s.start as usize..s.end as usize]).collect();
    assert_eq!(
        sources,
        [
            "atomic_load(x)",
            "int r = atomic_load(x) + *y;",
            "int r = atomic_load(x) + *y;",
            "int r = atomic_load(x) + *y;",
            "if (*y)",
            "if (*y)",
            "*y = 2;"
        ]
    );
    let table = "PPC t\n{ 0:r2=x; }\n P0 ;\n stw r1,0(r2) ;\nexists (x=1)";
    let span = parse(table).program.functions[0].spans[0];
    assert_eq!(&table[span.start as usize..span.end as usize], "stw r1,0(r2)");
}

#[test]
fn mistakes() {
    let one =
        |body: &str| messages(&format!("C t\n{{ w=0; }}\nP0 (atomic_int* x) {{ {body} }}\nexists (x=1)"));
    assert_eq!(one("atomic_stroe(x, 1);"), ["unknown function `atomic_stroe`"]);
    assert_eq!(one("r0 = r1;"), ["`r1` is not declared in this thread"]);
    assert_eq!(one("*w = 1;"), ["`w` is not declared in this thread"]);
    assert_eq!(one("x = 1;"), ["this cannot be assigned to"]);
    assert_eq!(one("int r = 1"), ["expected `;`, found `}`"]);
    assert_eq!(one("atomic_load_explicit(x, memory_order_release);"), ["a load never releases"]);
    assert_eq!(one("goto end;"), ["`goto` is not supported in C tests"]);
    assert_eq!(one("break;"), ["`break` outside of a loop"]);
    assert_eq!(one("int e; int* p = &e;"), ["the address of the local `e` is taken"]);
    assert_eq!(one("foo(1); bar(2);"), ["unknown function `foo`", "unknown function `bar`"]);
    let none = messages("C t\n{ }\nexists (x=1)");
    assert_eq!(none, ["expected a thread such as `P0 (atomic_int* x) { ... }`, found `exists`"]);
    let deep = format!("int r = {}1{};", "(".repeat(500), ")".repeat(500));
    assert_eq!(one(&deep)[0], "this is nested too deeply");
}
