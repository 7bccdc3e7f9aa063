/*
 * A stack whose top is a pointer with a counter in the 16 bits that no address uses, packed and unpacked in three ways.
 * expect: all=safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

typedef union {
    struct {
        uint64_t address : 48, count : 16;
    };
    uint64_t word;
} packed;

static _Atomic uint64_t top;

static uint64_t pack(struct node *node, uint64_t count) {
    return (uint64_t)(uintptr_t)node | count << 48;
}

static struct node *masked(uint64_t word) {
    return (struct node *)(uintptr_t)(word & 0xffffffffffffull);
}

static struct node *extended(uint64_t word) {
    return (struct node *)(intptr_t)((int64_t)(word << 16) >> 16);
}

static struct node *field(uint64_t word) {
    packed both;
    both.word = word;
    return (struct node *)(uintptr_t)both.address;
}

static void *push(void *value) {
    struct node *node = malloc(sizeof *node);
    node->value = (int)(intptr_t)value;
    uint64_t old = atomic_load(&top);
    do
        node->next = masked(old);
    while (!atomic_compare_exchange_weak(&top, &old, pack(node, (old >> 48) + 1)));
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, push, (void *)1);
    pthread_create(&second, 0, push, (void *)2);
    pthread_join(first, 0);
    pthread_join(second, 0);
    uint64_t word = atomic_load(&top);
    assert(word >> 48 == 2);
    struct node *node = extended(word), *below = field(word)->next;
    assert(node == masked(word) && node->value + below->value == 3 && !below->next);
    free(below);
    free(node);
    return 0;
}
