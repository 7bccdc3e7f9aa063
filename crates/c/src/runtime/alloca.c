/* The memory of `alloca`: a node for each call, with the memory and the node before. */
void **__fp_alloca(void **before, unsigned long size) {
    void **node = __fp_allocate(2 * sizeof(void *));
    node[0] = __fp_allocate(size);
    node[1] = before;
    return node;
}
void __fp_alloca_end(void **node) {
    while (node) {
        void **before = node[1];
        __builtin_free(node[0]);
        __builtin_free(node);
        node = before;
    }
}
