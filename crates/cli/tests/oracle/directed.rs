//! Programs about what random ones rarely meet: what starting and joining threads orders, lives that end twice, and what
//! stands behind an assertion.

/// A name and a program.
pub const PROGRAMS: &[(&str, &str)] = &[
    (
        "sc_across_start",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\natomic_int x, y;\n\
         static void *late(void *arg) { return (void *)(long)atomic_load(&y); }\n\
         static void *early(void *arg) { atomic_store(&y, 1); return (void *)(long)atomic_load(&x); }\n\
         int main(void) {\n    pthread_t e, l;\n    void *a, *b;\n    pthread_create(&e, 0, early, 0);\n    \
         atomic_store(&x, 1);\n    pthread_create(&l, 0, late, 0);\n    pthread_join(e, &a);\n    \
         pthread_join(l, &b);\n    assert(a || b);\n    return 0;\n}\n",
    ),
    (
        "sc_across_join",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\natomic_int x, y;\n\
         static void *first(void *arg) { atomic_store(&x, 1); return 0; }\n\
         static void *other(void *arg) { atomic_store(&y, 1); return (void *)(long)atomic_load(&x); }\n\
         int main(void) {\n    pthread_t e, l;\n    void *a;\n    pthread_create(&e, 0, other, 0);\n    \
         pthread_create(&l, 0, first, 0);\n    pthread_join(l, 0);\n    int b = atomic_load(&y);\n    \
         pthread_join(e, &a);\n    assert(a || b);\n    return 0;\n}\n",
    ),
    (
        "double_free_after_join",
        "#include <pthread.h>\n#include <stdlib.h>\nstatic void *worker(void *arg) { free(arg); return 0; }\n\
         int main(void) {\n    int *p = malloc(sizeof *p);\n    *p = 1;\n    pthread_t t;\n    \
         pthread_create(&t, 0, worker, p);\n    pthread_join(t, 0);\n    free(p);\n    return 0;\n}\n",
    ),
    (
        "double_free_unordered",
        "#include <pthread.h>\n#include <stdlib.h>\nstatic void *worker(void *arg) { free(arg); return 0; }\n\
         int main(void) {\n    int *p = malloc(sizeof *p);\n    pthread_t t;\n    \
         pthread_create(&t, 0, worker, p);\n    free(p);\n    pthread_join(t, 0);\n    return 0;\n}\n",
    ),
    (
        "start_of_nothing",
        "#include <pthread.h>\nstatic void *(*f)(void *);\nint main(void) {\n    pthread_t t;\n    \
         pthread_create(&t, 0, f, 0);\n    return 0;\n}\n",
    ),
    (
        "join_of_nothing",
        "#include <pthread.h>\nint main(void) {\n    pthread_join(7, 0);\n    return 0;\n}\n",
    ),
    (
        "store_behind_assertion",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\natomic_int x, y;\n\
         static void *p0(void *arg) {\n    int a = atomic_load_explicit(&x, memory_order_relaxed);\n    \
         assert(a == 0);\n    atomic_store_explicit(&y, 1, memory_order_relaxed);\n    return 0;\n}\n\
         static void *p1(void *arg) {\n    int a = atomic_load_explicit(&y, memory_order_relaxed);\n    \
         atomic_store_explicit(&x, a, memory_order_relaxed);\n    return 0;\n}\n\
         int main(void) {\n    pthread_t t, u;\n    pthread_create(&t, 0, p0, 0);\n    \
         pthread_create(&u, 0, p1, 0);\n    return 0;\n}\n",
    ),
    (
        "choice_between_writes",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\n\
         extern _Bool __VERIFIER_nondet_bool(void);\natomic_int x, y;\nstatic void *p0(void *arg) {\n    \
         atomic_store(&x, 1);\n    __VERIFIER_nondet_bool();\n    \
         atomic_store_explicit(&x, 2, memory_order_release);\n    return 0;\n}\n\
         static void *p1(void *arg) {\n    int a = atomic_load_explicit(&x, memory_order_acquire);\n    \
         int b = atomic_load(&y);\n    return (void *)(long)(a == 2 && b == 0);\n}\n\
         static void *p2(void *arg) {\n    atomic_store(&y, 1);\n    \
         return (void *)(long)(atomic_load(&x) == 0);\n}\n\
         int main(void) {\n    pthread_t t, u, v;\n    void *a, *b;\n    pthread_create(&t, 0, p0, 0);\n    \
         pthread_create(&u, 0, p1, 0);\n    pthread_create(&v, 0, p2, 0);\n    pthread_join(t, 0);\n    \
         pthread_join(u, &a);\n    pthread_join(v, &b);\n    assert(!(a && b));\n    return 0;\n}\n",
    ),
    (
        "nested_start_joined_by_another",
        "#include <pthread.h>\n#include <assert.h>\nint x;\npthread_t inner;\n\
         static void *leaf(void *arg) { x = 1; return 0; }\n\
         static void *middle(void *arg) { pthread_create(&inner, 0, leaf, 0); return 0; }\n\
         int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, middle, 0);\n    pthread_join(t, 0);\n    \
         pthread_join(inner, 0);\n    assert(x == 1);\n    return 0;\n}\n",
    ),
    (
        "pointer_through_memory",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <assert.h>\n\
         _Atomic(int *) box;\nstatic void *reader(void *arg) {\n    \
         int *p = atomic_load_explicit(&box, memory_order_relaxed);\n    if (p) { int v = *p; assert(v == 1); \
         free(p); }\n    return 0;\n}\n\
         int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, reader, 0);\n    \
         int *p = malloc(sizeof *p);\n    *p = 1;\n    atomic_store_explicit(&box, p, memory_order_relaxed);\n    \
         pthread_join(t, 0);\n    return 0;\n}\n",
    ),
];
