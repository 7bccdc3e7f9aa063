//! Programs in C and in Rust: as many executions under sc, ra and rc11.

mod support;

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use fencepost_loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use fencepost_loom::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock};
use fencepost_loom::{Config, Model, Report, thread};
use std::ptr::null_mut;
use support::count_c;
use support::program::{Program, Statement, Value, in_c, in_rust};

const MODELS: [Model; 3] = [Model::Sc, Model::Ra, Model::Rc11];

fn load(r: usize, x: usize, o: Ordering) -> Statement {
    Statement::Load(r, x, o)
}

fn store(x: usize, v: u32, o: Ordering) -> Statement {
    Statement::Store(x, Value::Number(v), o)
}

/// The shapes of the literature, by the orders of their stores, loads and read-modify-writes, and a fence between accesses, if any.
fn shapes(
    s: Ordering,
    l: Ordering,
    m: Ordering,
    f: Option<Ordering>,
) -> Vec<(&'static str, Vec<Vec<Statement>>)> {
    let add = |x: usize| Statement::Add(0, x, 1, m);
    let then = |a: Statement, b: Statement| match f {
        Some(f) => vec![a, Statement::Fence(f), b],
        None => vec![a, b],
    };
    vec![
        ("SB", vec![then(store(0, 1, s), load(0, 1, l)), then(store(1, 1, s), load(0, 0, l))]),
        ("MP", vec![then(store(0, 1, s), store(1, 1, s)), then(load(0, 1, l), load(1, 0, l))]),
        ("LB", vec![then(load(0, 0, l), store(1, 1, s)), then(load(0, 1, l), store(0, 1, s))]),
        ("2+2W", vec![then(store(0, 1, s), store(1, 2, s)), then(store(1, 1, s), store(0, 2, s))]),
        ("S", vec![then(store(0, 2, s), store(1, 1, s)), then(load(0, 1, l), store(0, 1, s))]),
        ("R", vec![then(store(0, 1, s), store(1, 1, s)), then(store(1, 2, s), load(0, 0, l))]),
        ("CoRR", vec![vec![store(0, 1, s)], then(load(0, 0, l), load(1, 0, l))]),
        (
            "WRC",
            vec![
                vec![store(0, 1, s)],
                then(load(0, 0, l), store(1, 1, s)),
                then(load(0, 1, l), load(1, 0, l)),
            ],
        ),
        (
            "IRIW",
            vec![
                vec![store(0, 1, s)],
                vec![store(1, 1, s)],
                then(load(0, 0, l), load(1, 1, l)),
                then(load(0, 1, l), load(1, 0, l)),
            ],
        ),
        ("RMWs", vec![then(add(0), add(1)), then(add(1), add(0))]),
        (
            "MP+rmw",
            vec![then(store(0, 1, s), store(1, 1, s)), vec![add(1)], then(load(0, 1, l), load(1, 0, l))],
        ),
    ]
}

#[test]
fn shapes_of_every_order() {
    let orders = [
        (Relaxed, Relaxed, Relaxed, None),
        (Release, Acquire, AcqRel, None),
        (SeqCst, SeqCst, SeqCst, None),
        (Release, Relaxed, Release, None),
        (SeqCst, Relaxed, Acquire, None),
        (Relaxed, Relaxed, Relaxed, Some(SeqCst)),
        (Relaxed, Relaxed, Relaxed, Some(AcqRel)),
        (Relaxed, Acquire, Relaxed, Some(Release)),
    ];
    let mut compared = 0;
    for (s, l, m, f) in orders {
        for (name, threads) in shapes(s, l, m, f) {
            let program = Program { atomics: 2, plains: 0, threads };
            for model in MODELS {
                let (c, rust) = (count_c(&in_c(&program), model), in_rust(&program, model, false));
                assert_eq!(c, rust.0, "{name} {s:?} {l:?} {m:?} {f:?} {}", model.name());
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 88);
}

fn explore(model: Model, f: impl Fn() + Sync + Send + 'static) -> Report {
    let report = Config { model, stop_at_first: false, ..Config::default() }.check(f);
    assert!(report.is_safe(), "{report}");
    report
}

/// As many executions in C and in Rust under each model, and so many under RC11, if that is known.
fn same(name: &str, c: &str, known: Option<u64>, rust: impl Fn() + Sync + Send + Clone + 'static) {
    let text = format!(
        "#include <stdatomic.h>\n#include <pthread.h>\n#include <stdlib.h>\n#include <assert.h>\n{c}"
    );
    for model in MODELS {
        let (in_c, in_rust) = (count_c(&text, model), explore(model, rust.clone()));
        assert_eq!(
            in_c.executions,
            in_rust.executions,
            "{name} {}: C {in_c:?}, Rust {in_rust}",
            model.name()
        );
        if let Some(known) = known.filter(|_| model == Model::Rc11) {
            assert_eq!(in_rust.executions, known, "{name}");
        }
    }
}

/// Threads with numbers, all of which run the same.
fn all(n: usize, f: impl Fn(usize) + Clone + 'static) {
    let threads: Vec<_> = (0..n)
        .map(|i| {
            let f = f.clone();
            thread::spawn(move || f(i))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// `main` in C that starts `n` threads with their numbers and joins them.
fn main_of(n: usize) -> String {
    format!(
        "int main(void) {{ pthread_t p[{n}]; for (long i = 0; i < {n}; i++) pthread_create(&p[i], 0, t, (void *)i);
        for (int i = 0; i < {n}; i++) pthread_join(p[i], 0); return 0; }}"
    )
}

#[test]
fn counters_and_readers() {
    for (n, known) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        let c = format!("atomic_int x; void *t(void *a) {{ x++; return 0; }} {}", main_of(n));
        same("fetch_add", &c, Some(known), move || {
            let x = Arc::new(AtomicUsize::new(0));
            all(n, move |_| _ = x.fetch_add(1, SeqCst));
        });
    }
    for n in [3, 4, 8] {
        let c = format!(
            "atomic_int x; void *t(void *a) {{ if ((long)a) x; else x = 1; return 0; }} {}",
            main_of(n + 1)
        );
        same("readers", &c, Some(1 << n), move || {
            let x = Arc::new(AtomicUsize::new(0));
            all(n + 1, move |i| if i == 0 { x.store(1, SeqCst) } else { _ = x.load(SeqCst) });
        });
    }
}

#[test]
fn chains_of_compare_exchanges() {
    for (n, known) in [(2, 2), (3, 5), (4, 14), (5, 43), (6, 144), (7, 523), (8, 2048)] {
        let c = format!(
            "atomic_int x; void *t(void *a) {{ int e = (long)a; atomic_compare_exchange_strong(&x, &e, e + 1); return 0; }} {}",
            main_of(n)
        );
        same("chain", &c, Some(known), move || {
            let x = Arc::new(AtomicUsize::new(0));
            all(n, move |i| _ = x.compare_exchange(i, i + 1, SeqCst, SeqCst));
        });
    }
}

#[test]
fn mutexes() {
    for (n, known) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        let c = format!(
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;
            void *t(void *a) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }} {}",
            main_of(n)
        );
        same("mutex", &c, Some(known), move || {
            let x = Arc::new(Mutex::new(0));
            all(n, move |_| *x.lock().unwrap() += 1);
        });
    }
}

#[test]
fn barriers_and_once() {
    for n in [2, 3, 4] {
        let c = format!(
            "pthread_barrier_t b; void *t(void *a) {{ pthread_barrier_wait(&b); return 0; }}
            int main(void) {{ pthread_barrier_init(&b, 0, {n}); {}",
            main_of(n).replace("int main(void) {", "")
        );
        same("barrier", &c, None, move || {
            let barrier = Arc::new(Barrier::new(n));
            all(n, move |_| _ = barrier.wait());
        });
        let c = format!(
            "pthread_once_t o = PTHREAD_ONCE_INIT; void f(void) {{}} void *t(void *a) {{ pthread_once(&o, f); return 0; }} {}",
            main_of(n)
        );
        same("once", &c, None, move || {
            let once = Arc::new(Once::new());
            all(n, move |_| once.call_once(|| ()));
        });
    }
}

#[test]
fn condition_variables() {
    let c = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;
        void *t(void *a) {
            pthread_mutex_lock(&m);
            if ((long)a) { while (!ready) pthread_cond_wait(&c, &m); } else { ready = 1; pthread_cond_signal(&c); }
            pthread_mutex_unlock(&m);
            return 0;
        }";
    same("signal", &format!("{c}{}", main_of(2)), None, || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        all(2, move |i| {
            let mut ready = pair.0.lock().unwrap();
            if i == 0 {
                *ready = true;
                pair.1.notify_one();
            } else {
                while !*ready {
                    ready = pair.1.wait(ready).unwrap();
                }
            }
        });
    });
    let c = c.replace("_signal", "_broadcast");
    same("broadcast", &format!("{c}{}", main_of(3)), None, || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        all(3, move |i| {
            let mut ready = pair.0.lock().unwrap();
            if i == 0 {
                *ready = true;
                pair.1.notify_all();
            } else {
                drop(pair.1.wait_while(ready, |ready| !*ready).unwrap());
            }
        });
    });
}

/// Treiber's stack: some threads push, others pop until they have something or nothing is there.
#[test]
fn stacks() {
    for (pushers, poppers, known) in [(1, 1, 2), (2, 1, 20), (2, 2, 164), (3, 1, 600)] {
        let c = format!(
            "struct node {{ struct node *next; }}; struct node *_Atomic head; struct node nodes[4];
            void *t(void *a) {{
                long i = (long)a;
                if (i < {pushers}) {{
                    struct node *h = atomic_load_explicit(&head, memory_order_relaxed);
                    do nodes[i].next = h;
                    while (!atomic_compare_exchange_strong_explicit(&head, &h, &nodes[i], memory_order_release, memory_order_relaxed));
                }} else {{
                    struct node *h = atomic_load_explicit(&head, memory_order_acquire);
                    while (h && !atomic_compare_exchange_strong_explicit(&head, &h, h->next, memory_order_acquire, memory_order_acquire)) {{}}
                }}
                return 0;
            }} {}",
            main_of(pushers + poppers)
        );
        let text = format!("#include <stdatomic.h>\n#include <pthread.h>\n{c}");
        let rust = explore(Model::Rc11, move || {
            let head = Arc::new(AtomicPtr::<Node>::default());
            all(pushers + poppers, move |i| if i < pushers { push(&head) } else { pop(&head) });
        });
        let in_c = count_c_without_retries(&text);
        assert_eq!((rust.executions, in_c), (known, known), "{pushers}+{poppers}: {rust}");
    }
}

/// Tries that are made again in vain are executions of their own here: registers of native code cannot be compared.
fn count_c_without_retries(text: &str) -> u64 {
    support::count_c_all(text, Model::Rc11).executions
}

struct Node {
    next: *mut Node,
}

#[allow(unsafe_code)]
fn push(head: &AtomicPtr<Node>) {
    let node = Box::into_raw(Box::new(Node { next: null_mut() }));
    let mut top = head.load(Relaxed);
    loop {
        // SAFETY: nobody else has it yet.
        unsafe { (*node).next = top };
        match head.compare_exchange(top, node, Release, Relaxed) {
            Ok(_) => return,
            Err(now) => top = now,
        }
    }
}

#[allow(unsafe_code)]
fn pop(head: &AtomicPtr<Node>) {
    let mut top = head.load(Acquire);
    while !top.is_null() {
        // SAFETY: nodes are never given back.
        let next = unsafe { (*top).next };
        match head.compare_exchange(top, next, Acquire, Acquire) {
            Ok(_) => return,
            Err(now) => top = now,
        }
    }
}

#[test]
fn reader_writer_locks() {
    // The C runtime notes who writes, which is one more access.
    for (n, known) in [(2, 2), (3, 6)] {
        let report = explore(Model::Rc11, move || {
            let lock = Arc::new(RwLock::new(0));
            all(n, move |_| *lock.write().unwrap() += 1);
        });
        assert_eq!(report.executions, known);
    }
}

#[test]
fn releases_of_sequences() {
    let c = "atomic_uint x, f; unsigned d;
        void *t(void *a) {
            if ((long)a == 0) { d = 1; atomic_store_explicit(&f, 1, memory_order_release); }
            else if ((long)a == 1) atomic_fetch_add_explicit(&f, 1, memory_order_relaxed);
            else if (atomic_load_explicit(&f, memory_order_acquire) == 2) x = 1;
            return 0;
        }";
    same("sequence", &format!("{c}{}", main_of(3)), None, || {
        let (x, f) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        all(3, move |i| match i {
            0 => f.store(1, Release),
            1 => _ = f.fetch_add(1, Relaxed),
            _ if f.load(Acquire) == 2 => x.store(1, SeqCst),
            _ => {}
        });
    });
}
