//! Small programs, run under random schedules or looked at as IR: what the comparison with a C compiler cannot see.

mod support;

use fencepost_c::{Options, compile};
use fencepost_diag::SourceFile;
use fencepost_ir::{Fence, Instr, Order, Program};
use support::{End, run};

fn instructions(program: &Program) -> impl Iterator<Item = &Instr> {
    program.functions.iter().flat_map(|f| &f.body)
}

fn program(text: &str) -> Program {
    support::compile("test.c", text, &[]).program
}

/// The ends of many runs, without repetition.
fn ends(text: &str) -> Vec<End> {
    let mut found = Vec::new();
    for seed in 1..200 {
        let end = run(text, seed * 7919);
        if !found.contains(&end) {
            found.push(end);
        }
    }
    found
}

#[test]
fn spans_of_macros_are_where_they_are_used() {
    let text = "#include <stdatomic.h>\natomic_int x;\nint main(void) {\n    atomic_store(&x, 1);\n    return 0;\n}\n";
    let compiled = support::compile("test.c", text, &[]);
    let main = &compiled.program.functions[0];
    let store = main.body.iter().position(|i| matches!(i, Instr::Store { .. })).expect("a store");
    let (name, line, _) = compiled.sources.position(main.spans[store].start).expect("a position");
    assert_eq!((name, line), ("test.c", 4));
}

#[test]
fn orders_are_split_between_the_halves_of_an_exchange() {
    let program = program(
        "#include <stdatomic.h>\natomic_int x;\nint main(void) { \
         return atomic_exchange_explicit(&x, 1, memory_order_acq_rel); }",
    );
    let orders: Vec<_> = instructions(&program)
        .filter_map(|i| match i {
            Instr::Rmw { read, write, .. } => Some((read.order, write.order)),
            _ => None,
        })
        .collect();
    assert_eq!(orders, [(Order::Acquire, Order::Release)]);
}

#[test]
fn plain_atomic_operators_are_sequentially_consistent_and_volatile_is_kept() {
    let program = program("_Atomic int x; volatile int v; int main(void) { x++; x = 2; v = x; return v; }");
    for instr in instructions(&program) {
        match instr {
            Instr::Rmw { read, .. } => assert_eq!(read.order, Order::SeqCst),
            Instr::Store { ann, .. } | Instr::Load { ann, .. } => {
                assert!(ann.volatile != (ann.order == Order::SeqCst), "{instr:?}");
            }
            _ => {}
        }
    }
}

#[test]
fn assembly_fences_are_known() {
    let text = r#"
#include <immintrin.h>
int main(void) {
        asm volatile("sync"); asm volatile("lwsync" ::: "memory"); __asm__ __volatile__("isync"); asm("eieio");
        asm volatile("mfence" ::: "memory"); asm("lfence"); asm("sfence"); asm("dmb ish"); asm("dmb ishst"); asm("dmb ld");
        asm("dsb sy"); asm("isb"); asm volatile("" ::: "memory"); asm("dmb sy; isb"); _mm_mfence();
        asm volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc"); asm volatile("rep; nop");
        return 0; }"#;
    let program = program(text);
    let fences: Vec<Fence> = instructions(&program)
        .filter_map(|i| match i {
            Instr::Fence(fence) => Some(*fence),
            _ => None,
        })
        .collect();
    use Fence::*;
    let expected = [
        Sync, Lwsync, Isync, Eieio, Mfence, Lfence, Sfence, DmbSy, DmbSt, DmbLd, DsbSy, Isb, Compiler, DmbSy,
        Isb, Mfence, Mfence, Compiler,
    ];
    assert_eq!(fences, expected);
}

#[test]
fn variables_are_registers_unless_their_address_escapes() {
    let program = program(
        "#include <pthread.h>\nstatic void *f(void *p) { return p; }\n\
         int main(void) { pthread_t t; int a[2] = {1, 2}; int x = a[1]; _Atomic int own = 1; \
         __atomic_fetch_add(&own, 1, 5); int shared = 3; \
         pthread_create(&t, 0, f, &shared); pthread_join(t, 0); return x; }",
    );
    let locals: Vec<(String, bool)> = instructions(&program)
        .filter_map(|i| match i {
            Instr::Local { object, private, .. } => Some((object.name.clone(), *private)),
            _ => None,
        })
        .collect();
    assert_eq!(locals, [("own".to_string(), true), ("shared".to_string(), false)]);
}

/// The instructions of `reader`, which tries this function until it gives something but zero.
fn reader_with(helper: &str, reader: &str) -> Vec<Instr> {
    let program = program(&format!(
        "#include <stdatomic.h>\n#include <stdbool.h>\natomic_int version, x, y; int *kept;\n{helper}\n\
         int reader(void) {{ {reader} }}\nint main(void) {{ return reader(); }}",
    ));
    program.functions.iter().find(|f| f.name == "reader").expect("a reader").body.clone()
}

fn in_memory(body: &[Instr]) -> usize {
    body.iter().filter(|instr| matches!(instr, Instr::Local { .. } | Instr::Call { .. })).count()
}

#[test]
fn what_helper_functions_write_through_pointers_is_in_registers() {
    let tries = "while (!try_read(&a, &b)) {} return a + b;";
    let helper = "static bool try_read(int *a, int *b) { int before = version; if (before & 1) return false; \
                  *a = x; *b = y; return version == before; }";
    assert_eq!(in_memory(&reader_with(helper, &format!("int a, b; {tries}"))), 0);
    let one_return = "static bool try_read(int *a, int *b) { bool done = false; int before = version; \
                      if (!(before & 1)) { *a = x; *b = y; done = version == before; } return done; }";
    assert_eq!(in_memory(&reader_with(one_return, &format!("int a, b; {tries}"))), 0);
    let pair = "struct pair { int a, b; }; static void both(int *a, int *b) { *a = x; *b = y; }\n\
                static bool try_read(struct pair *p) { int before = version; both(&p->a, &p->b); \
                return version == before; }";
    let whole = "struct pair p; for (;;) { bool ok = try_read(&p); if (ok) break; } return p.a + p.b;";
    assert_eq!(in_memory(&reader_with(pair, whole)), 0);
}

#[test]
fn helpers_may_ask_whether_there_is_a_pointer() {
    let helper = "static bool get(int *a, int *b) { if (version) return false; if (!a) return true; *a = x; \
                  if (b != 0) *b = y; return version == 0; }";
    assert_eq!(in_memory(&reader_with(helper, "int a, b; while (!get(&a, &b)) {} return a + b;")), 0);
    assert_eq!(in_memory(&reader_with(helper, "int a; while (!get(&a, 0)) {} return a;")), 0);
}

#[test]
fn what_may_have_no_value_or_be_kept_stays_in_memory() {
    let perhaps = "static bool get(int *a) { if (version) return false; *a = x; return true; }";
    // Read without a look at the result; the object is private all the same.
    let body = reader_with(perhaps, "int a; get(&a); return a;");
    assert!(body.iter().any(|instr| matches!(instr, Instr::Local { private: true, .. })), "{body:?}");
    let keeps = "static bool get(int *a) { kept = a; *a = x; return true; }";
    let body = reader_with(keeps, "int a; while (!get(&a)) {} return a;");
    assert_eq!(in_memory(&body), 2, "{body:?}");
    let recursive = "static bool get(int *a) { if (version) return get(a); *a = x; return true; }";
    let body = reader_with(recursive, "int a; while (!get(&a)) {} return a;");
    assert_eq!(in_memory(&body), 2, "{body:?}");
}

#[test]
fn findings_are_the_same_with_helpers_inlined() {
    let text = |n: u32| {
        format!(
            "static int set(int *p, int n) {{ if (n > 1) return 0; *p = n; return 1; }}\n\
             int main(void) {{ int a; if (!set(&a, {n})) return a; int *q; {{ int b = 3; q = &b; set(q, 0); }} \
             return {n} ? *q : a; }}"
        )
    };
    assert_eq!(run(&text(0), 1), End::Done(0));
    assert_eq!(run(&text(1), 1), End::Finding("use after free of b".into()));
    assert_eq!(run(&text(2), 1), End::Finding("uninitialised read".into()));
}

#[test]
fn reads_of_uninitialised_variables_are_found_only_where_they_happen() {
    let text = |value: u32| {
        format!(
            "int main(void) {{ int x; int c = {value}; if (c) x = 1; if (c) return x; return c ? x : 5; }}"
        )
    };
    assert_eq!(run(&text(1), 1), End::Done(1));
    assert_eq!(run(&text(0), 1), End::Done(5));
    let bad = "int main(void) { int x, i; for (i = 0; i < 0; i++) x = 1; return x; }";
    assert_eq!(run(bad, 1), End::Finding("uninitialised read".into()));
}

#[test]
fn use_after_scope_and_return_are_found() {
    let scope = "int main(void) { int *p; { int x = 1; p = &x; } return *p; }";
    assert_eq!(run(scope, 1), End::Finding("use after free of x".into()));
    let back = "static int *f(void) { int y = 1; int *p = &y; return p; } int main(void) { return *f(); }";
    assert_eq!(run(back, 1), End::Finding("use after free of y".into()));
    let by_break = "int *p; int main(void) { for (;;) { int z = 1; p = &z; if (z) break; } return *p; }";
    assert_eq!(run(by_break, 1), End::Finding("use after free of z".into()));
}

#[test]
fn one_signal_wakes_any_one_of_two_waiters() {
    let text = r#"
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waiting, first;
static void *waiter(void *arg) {
    pthread_mutex_lock(&m);
    waiting++;
    pthread_cond_wait(&c, &m);
    if (!first) first = (int)(long)arg;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, waiter, (void *)(i + 1));
    for (;;) {
        pthread_mutex_lock(&m);
        int n = waiting;
        pthread_mutex_unlock(&m);
        if (n == 2) break;
    }
    pthread_mutex_lock(&m);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return first;
}"#;
    let found = ends(text);
    assert!(found.contains(&End::Done(1)) && found.contains(&End::Done(2)) && found.len() == 2, "{found:?}");
}

#[test]
fn linux_style_accesses_work() {
    let text = r#"
#include <linux.h>
#include <pthread.h>
#include <assert.h>
static int lock_, data; static atomic_t count = ATOMIC_INIT(2);
static void *worker(void *arg) {
    while (cmpxchg(&lock_, 0, 1) != 0) cpu_relax();
    data++;
    smp_store_release(&lock_, 0);
    if (atomic_dec_and_test(&count)) assert(READ_ONCE(data) == 2);
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    smp_mb(); smp_rmb(); smp_wmb(); barrier();
    int x = 3, e = 3;
    assert(xchg(&x, 4) == 3 && xchg_acquire(&x, 5) == 4 && cmpxchg_relaxed(&x, 1, 2) == 5);
    assert(!try_cmpxchg(&x, &e, 9) && e == 5 && try_cmpxchg_acquire(&x, &e, 9) && x == 9);
    assert(smp_cond_load_acquire(&x, VAL == 9) == 9);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(atomic_read(&count) == 0);
    atomic_inc(&count); atomic_add(3, &count); atomic_set(&count, atomic_read(&count) + 1);
    return atomic_add_return(2, &count) * 10 + atomic_xchg(&count, 0);
}"#;
    assert_eq!(ends(text), [End::Done(77)]);
}

#[test]
fn atomic_sections_are_not_interrupted() {
    let text = r#"
#include <pthread.h>
int n;
void __VERIFIER_atomic_add(int k) { int s = n; s = s + k; n = s; }
void *f(void *a) { __VERIFIER_atomic_begin(); int s = n; n = s + 1; __VERIFIER_atomic_end();
    __VERIFIER_atomic_add(10); return 0; }
int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0); return n; }"#;
    assert_eq!(ends(text), [End::Done(22)]);
}

#[test]
fn user_files_come_through_the_loader() {
    let loader = |path: &str| {
        let text = match path {
            "src/a.h" => "#pragma once\n#include \"sub/b.h\"\nint a(void) { return B; }\n",
            "src/sub/b.h" => "#ifndef B\n#define B 4\n#endif\n#include \"../a.h\"\n",
            "src/sub/../a.h" => "",
            "inc/c.h" => "#define C (B * 10 + D)\n",
            "first.h" => "#define FIRST 100\n",
            _ => return None,
        };
        Some(text.to_string())
    };
    let options = Options {
        defines: vec![("D".into(), Some("2".into())), ("FLAG".into(), None)],
        include_dirs: vec!["inc".into()],
        includes: vec!["first.h".into()],
        loader: Some(&loader),
        ..Options::default()
    };
    let text = "#include \"a.h\"\n#include \"a.h\"\n#include <c.h>\nint main(void) { return a() + C + FIRST + FLAG; }\n";
    let compiled = match compile(&SourceFile::new("src/main.c", text), &options) {
        Ok(compiled) => compiled,
        Err(failure) => panic!("{}", failure.render()),
    };
    assert_eq!(support::Machine::new(&compiled.program, 1).run(1000), End::Done(4 + 42 + 100 + 1));
    let names: Vec<&str> = compiled.sources.files().map(|f| f.name.as_str()).collect();
    assert!(names[0] == "src/main.c" && names.contains(&"inc/c.h"), "{names:?}");
}

#[test]
fn what_main_does_not_reach_may_be_anything() {
    let text = "int helper(int); int unused(void) { return helper(1); } int main(void) { return 3; }";
    assert_eq!(run(text, 1), End::Done(3));
}

#[test]
fn main_has_its_arguments_and_exit_ends_the_process() {
    assert_eq!(
        run(
            "int main(int argc, char **argv) { return argc * 10 + (argv[1] == 0) + (argv[0][0] == 'p'); }",
            1
        ),
        End::Done(12)
    );
    assert_eq!(run("#include <stdlib.h>\nint main(void) { exit(3); return 1; }", 1), End::Done(0));
    assert_eq!(
        run("#include <stdlib.h>\nint main(void) { abort(); }", 1),
        End::Finding("Assertion: abort() is called".into())
    );
}

#[test]
fn warnings_tell_about_suspicious_pointers() {
    let compiled = support::compile("test.c", "int x; int main(void) { long *p = &x; return p == 5; }", &[]);
    let messages: Vec<&str> = compiled.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
}

/// What stands in a file that was preprocessed with another C library's headers: its types, initialisers and assertions.
#[test]
fn types_of_another_c_library_are_ours() {
    let text = r#"
typedef union { struct { int lock; unsigned count; int owner; unsigned users; int kind; } data; char size[40]; long align; }
    pthread_mutex_t;
typedef union { char size[48]; long long align; } pthread_cond_t;
typedef union { char size[56]; long align; } pthread_rwlock_t;
enum { TIMED, RECURSIVE };
extern int pthread_mutex_lock(pthread_mutex_t *) __attribute__((__nothrow__, __leaf__));
extern int pthread_mutex_unlock(pthread_mutex_t *);
extern int pthread_cond_signal(pthread_cond_t *);
extern int pthread_rwlock_rdlock(pthread_rwlock_t *);
extern int pthread_rwlock_unlock(pthread_rwlock_t *);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
static pthread_mutex_t m = { { 0, 0, 0, 0, RECURSIVE } };
static struct { int before; pthread_rwlock_t l; int after; } s = { 1, { { 0, 0, 0 } }, 2 };
static pthread_cond_t c = { { {0}, {0} } };
int main(void) {
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m);
    pthread_rwlock_rdlock(&s.l);
    pthread_rwlock_unlock(&s.l);
    ((void)sizeof((s.before) ? 1 : 0), __extension__({ if (s.before) ; else __assert_fail("s.before", "f", 1, __func__); }));
    ((s.after == 2) ? (void)(0) : __assert_fail("s.after == 2", "f", 1, __func__));
    return s.before + s.after;
}"#;
    assert_eq!(run(text, 1), End::Done(3));
    let asserted = instructions(&program(text)).filter(|i| matches!(i, Instr::Assert { .. })).count();
    assert_eq!(asserted, 2, "an assertion is no branch");
}

/// The instructions that atomic operations of x86 are written in.
#[test]
fn assembly_of_x86_is_translated() {
    let text = r#"
typedef unsigned char byte;
static int exchange(volatile int *p, int v) {
    asm volatile("xchgl %0, %1" : "+r"(v), "+m"(*p) : : "memory");
    return v;
}
static long compare(long *p, long old, long new) {
    long before;
    asm volatile("lock; cmpxchgq %2, %1" : "=a"(before), "+m"(*p) : "r"(new), "0"(old) : "memory");
    return before;
}
static byte try(int *p, int expected, int new) {
    byte done;
    asm volatile("lock ; cmpxchgl %[new], %[at]; sete %[done]" : [done] "=a"(done), [at] "=m"(*p)
                 : [new] "r"(new), "a"(expected), "m"(*p) : "memory");
    return done;
}
static int flag(int *p, int expected, int new) {
    _Bool done;
    asm volatile("lock cmpxchg %3, %1" : "=@ccz"(done), "+m"(*p), "+a"(expected) : "r"(new) : "memory");
    return done;
}
static int fetch(int *p, int n) { asm volatile("lock; xaddl %0, (%1)" : "+r"(n) : "r"(p) : "memory"); return n; }
static int drop(int *p) { byte z; asm volatile("lock\n\tdecl %0\n\tsetz %1" : "+m"(*p), "=qm"(z) :: "cc"); return z; }
static int negative(int *p, int n) { byte s; asm("lock addl %2,%0; sets %1" : "+m"(*p), "=qm"(s) : "ir"(n)); return s; }
static int hidden(int n) { int m; asm("" : "=r"(m) : "0"(n)); return m; }
int main(void) {
    int x = 1, y; long l = 5;
    if (exchange(&x, 7) != 1 || x != 7) return 1;
    if (compare(&l, 5, 6) != 5 || l != 6 || compare(&l, 5, 9) != 6 || l != 6) return 2;
    if (!try(&x, 7, 3) || x != 3 || try(&x, 7, 4) || x != 3) return 3;
    if (!flag(&x, 3, 2) || flag(&x, 3, 5) || x != 2) return 4;
    if (fetch(&x, 10) != 2 || x != 12) return 5;
    x = 2;
    if (drop(&x) || !drop(&x) || x) return 6;
    if (negative(&x, 3) || !negative(&x, -4) || x != -1) return 7;
    asm volatile("movl %1, %0" : "=r"(y) : "m"(x));
    asm volatile("movl $9, %0" : "=m"(x));
    asm volatile("lock; orl $6, %0" : "+m"(x));
    asm volatile("" : "+r"(x) : : "memory");
    return y + x == 14 && hidden(4) == 4 ? 0 : 8;
}"#;
    assert_eq!(run(text, 1), End::Done(0));
    let fences = instructions(&program(text)).filter(|i| matches!(i, Instr::Fence(Fence::Mfence))).count();
    assert_eq!(fences, 16, "two for each locked instruction");
}

/// What nobody looks at is not computed: a clock may show too many values to be followed.
#[test]
fn the_clock_seeds_a_generator() {
    let text = "#include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\n\
                int main(void) { srand(time(NULL)); srand((unsigned)time(0) ^ getpid()); return 0; }";
    let nondet = instructions(&program(text)).filter(|i| matches!(i, Instr::Nondet { .. })).count();
    assert_eq!(nondet, 0);
}

/// A comment is a space, also if it has several lines: the directive goes on behind it.
#[test]
fn comments_do_not_end_directives() {
    let text = "#define F(x) (x) /* first\n second */ + 1\n#define G(x) /* one \\\n two */ \\\n F(x)\n\
                int main(void) { return G(2); }";
    assert_eq!(run(text, 1), End::Done(3));
}

/// A remainder of a random number is chosen among its own values.
#[test]
fn remainders_of_random_numbers_are_small_choices() {
    let text = "#include <stdlib.h>\nint __VERIFIER_nondet_int(void); unsigned __VERIFIER_nondet_uint(void);\n\
                int main(void) { return rand() % 4 + (int)((unsigned)rand() & 7) + __VERIFIER_nondet_int() % 3 \
                + (int)(__VERIFIER_nondet_uint() % 10u); }";
    let choices: Vec<(i64, i64)> = instructions(&program(text))
        .filter_map(|i| match i {
            Instr::Nondet { first, last, .. } => Some((*first, *last)),
            _ => None,
        })
        .collect();
    assert_eq!(choices, [(0, 3), (0, 7), (-2, 2), (0, 9)]);
}

/// Programs that measure their own time are read; the answer says what was left out.
#[test]
fn clocks_stand_still() {
    let text = "#include <time.h>\n#include <sys/time.h>\nint main(void) { struct timeval a, b; struct timespec t; \
                clock_t c = clock(); gettimeofday(&a, 0); gettimeofday(&b, 0); clock_gettime(CLOCK_MONOTONIC, &t); \
                return (int)(b.tv_sec - a.tv_sec) + (int)(clock() - c) + (int)difftime(time(0), time(0)); }";
    let compiled = support::compile("test.c", text, &[]);
    assert_eq!(compiled.left_out, [fencepost_ir::LeftOut::Time]);
    assert_eq!(run(text, 1), End::Done(0));
}

/// `or r, r, r` lowers the priority of a waiting thread on POWER: it reads no register.
#[test]
fn hints_of_power_read_nothing() {
    let text =
        "int main(void) { __asm__ __volatile__(\"or 1, 1, 1;\" \"or 2, 2, 2;\" ::: \"memory\"); return 7; }";
    assert_eq!(run(text, 1), End::Done(7));
    assert!(!instructions(&program(text)).any(|i| matches!(i, Instr::Local { .. } | Instr::Assign { .. })));
}

/// A `bool` takes the lower byte of its register, whatever is above: the old value of a compare-exchange that failed is there.
#[test]
fn a_bool_that_assembly_sets_is_a_byte() {
    let text = r#"
static long cell = 0x700;
static _Bool try(long *p, long expected, long new) {
    _Bool done;
    asm volatile("lock cmpxchgq %2, %0; setz %1" : "+m"(*p), "=a"(done) : "q"(new), "a"(expected) : "memory", "cc");
    return done;
}
int main(void) { return 100 * try(&cell, 0x500, 1) + 10 * try(&cell, 0x700, 2) + (cell == 2); }
"#;
    assert_eq!(run(text, 1), End::Done(11));
}

/// A lock whose loop is assembly, with labels and an operand that is tied to another by its name.
#[test]
fn assembly_of_x86_jumps() {
    let text = r#"
#include <pthread.h>
static volatile int locked; static int shared;
static void lock(volatile int *l) {
    int v = 1;
    asm volatile("1:\n xchg %[l], %[v]\n test %[v], %[v]\n jz 3f\n 2:\n pause\n cmpl $0, %[l]\n jnz 2b\n jmp 1b\n 3:\n"
                 : [l] "=m"(*l), [v] "=q"(v) : "[v]"(v) : "memory");
}
static void unlock(volatile int *l) { asm volatile("movl %1, %0" : "=m"(*l) : "i"(0) : "memory"); }
static int sum(int n) { int s = 0; asm("0: addl %1, %0; decl %1; jnz 0b" : "+r"(s), "+r"(n)); return s; }
static void *work(void *p) { lock(&locked); shared += 1; unlock(&locked); return p; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
    return shared * 100 + sum(4);
}"#;
    assert_eq!(ends(text), [End::Done(210)]);
}
