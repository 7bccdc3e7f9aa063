//! Tests of the Linux kernel: what its macros become, and how they are told from tests of C11.

mod support;

use fencepost_ir::{Fence, Instr, Kernel, Order, Role};
use support::{messages, parse};

fn body(statements: &str) -> Vec<Instr> {
    let text = format!(
        "C t\n{{}}\nP0(int *x, spinlock_t *l, struct srcu_struct *s) {{ int r; {statements} }}\nexists (x=1)"
    );
    parse(&text).program.functions[0].body.clone()
}

#[test]
fn accesses_and_fences_have_their_marks() {
    assert!(
        matches!(body("r = READ_ONCE(*x);")[..], [Instr::Load { ann, .. }] if ann.order == Order::Relaxed)
    );
    assert!(
        matches!(body("smp_store_release(x, 1);")[..], [Instr::Store { ann, .. }] if ann.order == Order::Release)
    );
    assert!(matches!(body("smp_wmb();")[..], [Instr::Fence(Fence::Kernel(Kernel::Wmb))]));
    assert!(matches!(body("rcu_read_lock();")[..], [Instr::Fence(Fence::Kernel(Kernel::RcuLock))]));
}

#[test]
fn atomics_by_what_they_return() {
    let modify = |text| match body(text)[..] {
        [Instr::Rmw { read, write, .. }, ..] => (read.order, write.order, read.no_return),
        ref other => panic!("{other:?}"),
    };
    assert_eq!(modify("atomic_inc(x);"), (Order::Relaxed, Order::Relaxed, true));
    assert_eq!(modify("r = atomic_add_return(2, x);"), (Order::SeqCst, Order::SeqCst, false));
    assert_eq!(modify("r = atomic_fetch_add(2, x);"), (Order::SeqCst, Order::SeqCst, false));
    assert_eq!(modify("r = atomic_dec_and_test(x);"), (Order::SeqCst, Order::SeqCst, false));
    assert_eq!(modify("r = xchg_acquire(x, 1);"), (Order::Acquire, Order::Relaxed, false));
    assert!(matches!(body("r = cmpxchg_release(x, 0, 1);")[..], [Instr::CompareExchange { write, .. }, ..]
        if write.order == Order::Release));
}

#[test]
fn locks_and_srcu_are_accesses_with_a_role() {
    assert!(
        matches!(body("spin_lock(l);")[..], [Instr::AwaitRmw { read, .. }] if read.role == Role::Spinlock)
    );
    assert!(matches!(body("spin_unlock(l);")[..], [Instr::Store { ann, .. }] if ann.role == Role::Spinlock));
    let section = body("r = srcu_read_lock(s); srcu_read_unlock(s, r);");
    assert!(matches!(section[0], Instr::Load { ann, .. } if ann.role == Role::SrcuLock));
    assert!(matches!(section[section.len() - 1], Instr::Load { ann, .. } if ann.role == Role::SrcuUnlock));
}

#[test]
fn a_test_of_the_kernel_is_told_by_what_it_has() {
    let model = |text: &str| parse(text).default_model();
    assert_eq!(model("C t\n{}\nP0(int *x) { *x = 1; }\nexists (x=1)"), "rc11");
    assert_eq!(model("C t\n{}\nP0(int *x) { WRITE_ONCE(*x, 1); }\nexists (x=1)"), "lkmm");
    assert_eq!(model("C t\n(* \n * Result: Never\n *)\n{}\nP0(int *x) { *x = 1; }\nexists (x=1)"), "lkmm");
    assert_eq!(model("C t\n{}\nP0(int *x, spinlock_t *l) { *x = 1; }\nexists (x=1)"), "lkmm");
    let c11 = "C t\n{}\nP0(atomic_int *x) { int r = atomic_fetch_add(x, 1); }\nexists (x=1)";
    assert_eq!(model(c11), "rc11");
}

#[test]
fn mistakes() {
    let one = |body: &str| messages(&format!("C t\n{{}}\nP0(int *x) {{ {body} }}\nexists (x=1)"));
    assert_eq!(one("WRITE_ONCE(1, 1);"), ["this does not name a shared location"]);
    assert_eq!(one("spin_lock(3);"), ["this is not the address of a shared location"]);
    assert_eq!(one("rcu_read_lock_bh();"), ["`rcu_read_lock_bh` is not part of the kernel's memory model"]);
}
