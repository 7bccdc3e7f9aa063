//! RISC-V: what instructions become, and what they compute.

mod support;

use fencepost_ir::{Accesses, Fence, Instr, Order};
use support::{messages, parse, run};

fn state(init: &str, instructions: &[&str], condition: &str) -> String {
    let rows: String = instructions.iter().map(|i| format!(" {i} ;\n")).collect();
    run(&format!("RISCV t\n{{ {init} }}\n P0 ;\n{rows}\n{condition}"))
}

fn only(instruction: &str) -> Instr {
    let test = parse(&format!("RISCV t\n{{ 0:x6=x; }}\n P0 ;\n {instruction} ;\nexists (x=1)"));
    test.program.functions[0].body[0].clone()
}

fn mistakes(instruction: &str) -> Vec<String> {
    messages(&format!("RISCV t\n{{ 0:x6=x; }}\n P0 ;\n {instruction} ;\nexists (x=1)"))
}

#[test]
fn orders_are_suffixes() {
    let orders = [
        ("lw x5,0(x6)", Order::Plain),
        ("lw.aq x5,(x6)", Order::Acquire),
        ("lr.w.aq.rl a0,0(x6)", Order::AcqRel),
        ("lr.w.aqrl a0,0(x6)", Order::AcqRel),
    ];
    for (text, order) in orders {
        assert!(matches!(only(text), Instr::Load { ann, .. } if ann.order == order), "{text}");
    }
    assert!(matches!(only("sw.rl x5,0(x6)"), Instr::Store { ann, .. } if ann.order == Order::Release));
    let amo = only("amoadd.w.aq x5,x7,(x6)");
    assert!(
        matches!(amo, Instr::Rmw { read, write, .. } if read.order == Order::Acquire && write.order == Order::Acquire)
    );
}

#[test]
fn fences_have_two_sets() {
    let fence = |text| match only(text) {
        Instr::Fence(fence) => fence,
        other => panic!("{other:?}"),
    };
    assert_eq!(fence("fence r,rw"), Fence::RiscV(Accesses::Reads, Accesses::All));
    assert_eq!(fence("fence iorw,ow"), Fence::RiscV(Accesses::All, Accesses::Writes));
    assert_eq!(fence("fence"), Fence::RiscV(Accesses::All, Accesses::All));
    assert_eq!(fence("fence.tso"), Fence::RiscVTso);
    assert_eq!(
        mistakes("fence q,rw"),
        ["expected the accesses that the fence is between, such as `rw`, found `q`"]
    );
}

#[test]
fn arithmetic_branches_and_atomics() {
    let code = [
        "li t0,5",
        "addi x0,t0,1",
        "sltiu t1,t0,6",
        "xori t2,t0,-1",
        "slliw s0,t0,30",
        "mv a0,s0",
        "seqz a1,x0",
    ];
    assert_eq!(
        state("", &code, "locations [0:x5; 0:x6; 0:x7; 0:x8; 0:a0; 0:a1;]"),
        "0:x5=5; 0:x6=1; 0:x7=-6; 0:x8=1073741824; 0:x10=1073741824; 0:x11=1;"
    );
    let jump = ["li x5,1", "bgtz x5,L", "li x5,2", "L: bne x5,x0,M", "li x5,3", "M: nop"];
    assert_eq!(state("", &jump, "locations [0:x5;]"), "0:x5=1;");
    let amo = ["li x5,3", "amomax.w x7,x5,(x6)", "amoswap.w x0,x0,(x6)", "lw x8,0(x6)"];
    assert_eq!(state("0:x6=x; x=1;", &amo, "locations [0:x7; 0:x8; x;]"), "0:x7=1; 0:x8=0; [x]=0;");
}

#[test]
fn what_is_not_modelled_is_named() {
    assert_eq!(mistakes("jal f"), ["`jal` is not supported"]);
    assert_eq!(mistakes("div x5,x6,x7"), ["`div` is not supported"]);
    assert_eq!(mistakes("lq x5,0(x6)"), ["unknown RISC-V instruction `lq`"]);
    assert_eq!(mistakes("lw x5,x7,0"), ["expected `|` or `;` after this `lw`, found `,`"]);
}
