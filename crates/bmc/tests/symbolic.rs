//! The symbolic half by itself: what its events say about orders and dependencies, for whoever orders them.

use fencepost_bmc::symbolic::{Access, Dep, DepId, Depends, EventKind, Options, Unrolled, unroll};
use fencepost_diag::SourceFile;
use fencepost_ir::Order;
use std::collections::BTreeSet;

/// Two threads that run `text`, so that all that they access is shared.
fn unrolled(text: &str) -> Unrolled {
    let text = format!(
        "#include <stdatomic.h>\n#include <pthread.h>\n\
         atomic_int x, y, z; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         void *run(void *argument) {{ {text} return 0; }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, run, 0); run(0); pthread_join(t, 0); return 0; }}\n"
    );
    let file = SourceFile::new("symbolic.c", &text);
    let compiled = fencepost_c::compile(&file, &fencepost_c::Options::default()).expect("compiles");
    unroll(&compiled.program, &Options { c: true, ..Options::default() }).expect("supported")
}

/// The accesses of the started thread: the cell by name, and whether it is written.
fn accesses(unrolled: &Unrolled) -> Vec<(String, bool, &Access, Depends, Depends)> {
    let mut all = Vec::new();
    for number in unrolled.threads[1].events.clone() {
        let event = &unrolled.events[number as usize];
        let (access, writes, data) = match &event.kind {
            EventKind::Read { access, .. } => (access, false, Depends::NONE),
            EventKind::Write { access, data, .. } => (access, true, *data),
            _ => continue,
        };
        let cell = &unrolled.cells[access.cells[0].0.0 as usize];
        let name = unrolled.objects[cell.object as usize].name.clone();
        all.push((name, writes, access, data, event.control));
    }
    all
}

/// The cells of the reads that something depends on.
fn reads(unrolled: &Unrolled, id: DepId) -> BTreeSet<String> {
    match unrolled.deps.get(id) {
        Dep::None => BTreeSet::new(),
        Dep::Both(a, b) | Dep::Choice(_, a, b) => &reads(unrolled, a) | &reads(unrolled, b),
        Dep::Read(event) => {
            let EventKind::Read { access, .. } = &unrolled.events[event.0 as usize].kind else { panic!() };
            let cell = &unrolled.cells[access.cells[0].0.0 as usize];
            BTreeSet::from([unrolled.objects[cell.object as usize].name.clone()])
        }
    }
}

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|name| name.to_string()).collect()
}

#[test]
fn values_and_branches_depend_on_reads() {
    let unrolled = unrolled(
        "int a = atomic_load_explicit(&x, memory_order_relaxed);\n\
         int b = atomic_load_explicit(&y, memory_order_relaxed);\n\
         atomic_store_explicit(&z, a + 1, memory_order_relaxed);\n\
         if (b) atomic_store_explicit(&z, 2, memory_order_relaxed);\n\
         atomic_store_explicit(&y, a ? b : 3, memory_order_relaxed);\n\
         atomic_store_explicit(&x, 1, memory_order_relaxed);",
    );
    let all = accesses(&unrolled);
    let writes: Vec<_> = all.iter().filter(|(_, writes, ..)| *writes).collect();
    let [first, second, third, _] = writes[..] else { panic!("{writes:?}") };
    assert_eq!(reads(&unrolled, first.3.data), names(&["x"]));
    assert_eq!(reads(&unrolled, first.4.data), names(&[]));
    assert_eq!(reads(&unrolled, second.3.data), names(&[]));
    assert_eq!(reads(&unrolled, second.4.data), names(&["y"]));
    // The branches on a and b are behind it: what comes after depends on both as control.
    let third_control = reads(&unrolled, third.4.data);
    assert!(third_control.contains("y"), "{third_control:?}");
    assert!(reads(&unrolled, third.3.data).contains("y"), "{third:?}");
}

#[test]
fn a_compare_exchange_that_fails_has_its_own_order() {
    let unrolled = unrolled(
        "int old = 0;\n\
         atomic_compare_exchange_strong_explicit(&x, &old, 1, memory_order_acq_rel, memory_order_relaxed);",
    );
    let all = accesses(&unrolled);
    let [(_, false, read, ..), (_, true, write, ..)] = &all[..] else { panic!("{all:?}") };
    assert_eq!(read.ann.order, Order::Acquire);
    assert_eq!(read.otherwise.map(|(_, ann)| ann.order), Some(Order::Relaxed));
    assert_eq!(write.ann.order, Order::Release);
}

#[test]
fn a_lock_acquires_and_an_unlock_releases() {
    let unrolled = unrolled("pthread_mutex_lock(&m); z = 1; pthread_mutex_unlock(&m);");
    let all = accesses(&unrolled);
    let of_mutex: Vec<(bool, Order)> = all
        .iter()
        .filter(|(name, ..)| name == "m")
        .map(|(_, writes, access, ..)| (*writes, access.ann.order))
        .collect();
    // It reads that the mutex is free and takes it; it reads whose it is and frees it.
    let expected =
        [(false, Order::Acquire), (true, Order::Relaxed), (false, Order::Relaxed), (true, Order::Release)];
    assert_eq!(of_mutex, expected);
}
