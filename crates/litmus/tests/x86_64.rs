//! X86_64: what instructions become, and what they compute.

mod support;

use support::{lowered, messages, parse, run};

fn code(instructions: &[&str]) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    lowered(&parse(&format!("X86_64 t\n{{ }}\n P0 ;\n{rows}\nexists (0:r9=1)")).program, 0)
}

fn state(init: &str, instructions: &[&str], condition: &str) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    run(&format!("X86_64 t\n{{ {init} }}\n P0 ;\n{rows}\n{condition}"))
}

#[test]
fn both_dialects() {
    for form in ["movl $1,(x)", "movl $1, [x]", "mov $1,(x)", "MOV [x],1", "mov dword ptr [x], 1"] {
        assert_eq!(code(&[form]), "store.32 [&x] = 1", "{form}");
    }
    for form in ["movq (x),%rax", "mov (x),%rax", "MOV RAX,[x]", "movq [x],%rax"] {
        assert_eq!(code(&[form]), "rax = load.u64 [&x]", "{form}");
    }
    for form in ["movq %rbx,%rax", "mov %rbx,%rax", "MOV RAX,RBX"] {
        assert_eq!(code(&[form]), "rax = rbx", "{form}");
    }
    assert_eq!(code(&["movl (x),%eax"]), "rax = load.s32 [&x]");
    assert_eq!(code(&["movq 8(%rbx,%rcx,4),%rax"]).lines().count(), 4);
}

#[test]
fn fences_and_locks() {
    assert_eq!(code(&["mfence", "sfence", "lfence"]), "mfence\nsfence\nlfence");
    for form in ["xchgq %rax,(x)", "xchg (x),%rax", "lock xchg %rax,(x)", "XCHG [x],RAX"] {
        assert_eq!(code(&[form]), "$0 = Exchange.64 [&x], rax\nrax = $0", "{form}");
    }
    let shown = "locations [0:rax; 0:rbx; x;]";
    assert_eq!(state("x=5; 0:rbx=3;", &["lock xaddl %ebx,(x)"], shown), "0:rax=0; 0:rbx=5; [x]=8;");
    let exchange = ["lock cmpxchgl %ebx,(x)"];
    assert_eq!(state("x=5; 0:rax=5; 0:rbx=3;", &exchange, shown), "0:rax=5; 0:rbx=3; [x]=3;");
    assert_eq!(state("x=6; 0:rax=5; 0:rbx=3;", &exchange, shown), "0:rax=6; 0:rbx=3; [x]=6;");
    assert_eq!(state("x=6;", &["lock incl (x)", "lock subl $2,(x)"], "locations [x;]"), "[x]=5;");
}

/// rax after one instruction on rax and rbx.
fn computed(instruction: &str, a: u64, b: u64) -> u64 {
    let init = format!("uint64_t 0:rax={a:#x}; uint64_t 0:rbx={b:#x};");
    let shown = state(&init, &[instruction], "locations [0:rax;]");
    shown.trim_start_matches("0:rax=").trim_end_matches(';').parse::<i64>().unwrap() as u64
}

const SAMPLES: [u64; 6] = [0, 1, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef, 0xffff_ffff_8000_0001];

#[test]
fn arithmetic_at_every_width() {
    for a in SAMPLES {
        for b in SAMPLES {
            let (wa, wb) = (a as u32, b as u32);
            let check = |line: &str, expected: u64| {
                assert_eq!(computed(line, a, b), expected, "{line} of {a:#x} and {b:#x}");
            };
            check("addq %rbx,%rax", a.wrapping_add(b));
            check("subq %rbx,%rax", a.wrapping_sub(b));
            check("addl %ebx,%eax", wa.wrapping_add(wb).into());
            check("SUB EAX,EBX", wa.wrapping_sub(wb).into());
            check("xorq %rbx,%rax", a ^ b);
            check("andl %ebx,%eax", (wa & wb).into());
            check("orw %bx,%ax", a | b & 0xffff);
            check("addb %bl,%al", a & !0xff | u64::from((a as u8).wrapping_add(b as u8)));
            check("movb %bl,%al", a & !0xff | b & 0xff);
            check("movw %bx,%ax", a & !0xffff | b & 0xffff);
            check("movl %ebx,%eax", wb.into());
            check("movzbl %bl,%eax", b & 0xff);
            check("movsbq %bl,%rax", b as u8 as i8 as u64);
            check("movslq %ebx,%rax", wb as i32 as u64);
            check("movswl %bx,%eax", u64::from(b as u16 as i16 as u32));
            check("imulq %rbx,%rax", a.wrapping_mul(b));
            check("negq %rax", a.wrapping_neg());
            check("notl %eax", (!wa).into());
            check("incq %rax", a.wrapping_add(1));
            check("decl %eax", wa.wrapping_sub(1).into());
            check("shlq $5,%rax", a << 5);
            check("shrl $5,%eax", (wa >> 5).into());
            check("sarq $5,%rax", (a as i64 >> 5) as u64);
            check("leaq 8(%rbx),%rax", b.wrapping_add(8));
        }
    }
}

#[test]
fn conditions_at_every_width() {
    for a in SAMPLES {
        for b in SAMPLES {
            for (name, narrow, wide) in [
                ("e", a as u32 == b as u32, a == b),
                ("ne", a as u32 != b as u32, a != b),
                ("l", (a as i32) < b as i32, (a as i64) < b as i64),
                ("ge", a as i32 >= b as i32, a as i64 >= b as i64),
                ("le", a as i32 <= b as i32, a as i64 <= b as i64),
                ("g", a as i32 > b as i32, a as i64 > b as i64),
                ("b", (a as u32) < b as u32, a < b),
                ("be", a as u32 <= b as u32, a <= b),
                ("a", a as u32 > b as u32, a > b),
                ("s", (a as i32).wrapping_sub(b as i32) < 0, (a as i64).wrapping_sub(b as i64) < 0),
            ] {
                for (compare, holds) in [("cmpl %ebx,%eax", narrow), ("cmpq %rbx,%rax", wide)] {
                    let init = format!("0:rax={a:#x}; 0:rbx={b:#x};");
                    let set = [compare, &format!("set{name} %cl")];
                    let shown = state(&init, &set, "locations [0:rcx;]");
                    assert_eq!(
                        shown,
                        format!("0:rcx={};", i32::from(holds)),
                        "{compare} {name} {a:#x} {b:#x}"
                    );
                    let jump = [compare, "movq $1,%rcx", &format!("j{name} L"), "movq $0,%rcx", "L:"];
                    assert_eq!(state(&init, &jump, "locations [0:rcx;]"), shown);
                    let select = ["movq $1,%rdx", "movq $0,%rcx", compare, &format!("cmov{name}q %rdx,%rcx")];
                    assert_eq!(state(&init, &select, "locations [0:rcx;]"), shown);
                }
            }
        }
    }
}

#[test]
fn registers_by_all_their_names() {
    let shown =
        state("0:rax=7; 0:%r=x; x=3;", &["movl %eax,(%r)", "movq %rax,%r10"], "locations [0:EAX; 0:r10; x;]");
    assert_eq!(shown, "0:rax=7; 0:r10=7; [x]=7;");
}

#[test]
fn mistakes() {
    let one = |line: &str| messages(&format!("X86_64 t\n{{ }}\n P0 ;\n {line} ;\nexists (x=1)"));
    assert_eq!(one("movq (x),(y)"), ["an instruction has at most one operand in memory"]);
    assert_eq!(one("movq %eax,(x)"), ["a register of 32 bits in an operation on 64 bits"]);
    assert_eq!(one("movl $1,$2"), ["a number cannot be written to"]);
    assert_eq!(
        one("movl $1,x"),
        ["expected a register, a number such as `$1`, or a location such as `(x)`, found `x`"]
    );
    assert_eq!(one("cmpxchgl %eax,(x)"), ["`cmpxchgl` is not supported"]);
    assert_eq!(one("lock movl $1,(x)"), ["`movl` is not supported"]);
    assert_eq!(one("movnti %eax,(x)"), ["unknown X86_64 instruction `movnti`"]);
    assert_eq!(
        one("movl %r16,%eax"),
        ["expected a register, or a symbol that the initial state has, found `%r16`"]
    );
}
