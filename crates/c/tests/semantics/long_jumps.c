#include <setjmp.h>
#include <stdlib.h>
/* Exceptions as C has them: handlers that nest, a throw through a pointer and out of objects, a retry, and two places in one function. */
struct handler {
    jmp_buf at;
    struct handler *outer;
};
static struct handler *top;
static void throw(int code) { longjmp(top->at, code); }
static int leaf(int v) {
    if (v % 3 == 0)
        throw(v + 1);
    return 2 * v;
}
static int walk(int depth, int (*f)(int)) {
    int local[2] = { depth, 1 };
    int *p = local;
    if (depth == 0)
        return f(p[0] + 4);
    OUT(depth);
    return walk(depth - 1, f) + p[1];
}
static int guarded(int depth, int start) {
    struct handler h;
    volatile int result = start;
    h.outer = top;
    top = &h;
    switch (setjmp(h.at)) {
    case 0:
        result += walk(depth, leaf);
        result += leaf(start);
        break;
    case 4:
        result += 1000;
        break;
    default:
        result += 100;
    }
    top = h.outer;
    return result;
}
static int rethrown(void) {
    struct handler h;
    int code;
    h.outer = top;
    top = &h;
    if ((code = setjmp(h.at)) != 0) {
        top = h.outer;
        return code;
    }
    struct handler inner;
    inner.outer = top;
    top = &inner;
    if (setjmp(inner.at)) {
        top = inner.outer;
        throw(77);
    }
    throw(5);
    return -1;
}
static void run(void) {
    for (int i = 0; i < 8; i++)
        OUT(guarded(i % 3, i));
    OUT(rethrown());
    jmp_buf first, second;
    volatile int n = 0, m = 0;
    if (setjmp(first) == 0)
        n += 1;
    else
        n += 10;
    if (setjmp(second) < 2) {
        m++;
        OUT(100 * n + m);
        if (m == 1)
            longjmp(first, 3);
        longjmp(second, m);
    }
    OUT(n);
    OUT(m);
    for (volatile int i = 0; i < 3; i++) {
        jmp_buf again;
        volatile int round = 0;
        while (setjmp(again) == 0 && round == 0) {
            round = 1;
            longjmp(again, 0);
        }
        OUT(i);
    }
}
