/* Three threads insert into a red-black tree under one lock. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
    int key, red;
    struct node *child[2], *parent;
};

static struct node *root;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The child on side `1 - side` comes up, and `x` goes down to `side`. */
static void rotate(struct node *x, int side) {
    struct node *y = x->child[!side];
    x->child[!side] = y->child[side];
    if (y->child[side])
        y->child[side]->parent = x;
    y->parent = x->parent;
    if (!x->parent)
        root = y;
    else
        x->parent->child[x == x->parent->child[1]] = y;
    y->child[side] = x;
    x->parent = y;
}

static void balance(struct node *z) {
    while (z->parent && z->parent->red) {
        struct node *above = z->parent->parent;
        int side = z->parent == above->child[1];
        struct node *uncle = above->child[!side];
        if (uncle && uncle->red) {
            z->parent->red = uncle->red = 0;
            above->red = 1;
            z = above;
            continue;
        }
        if (z == z->parent->child[!side]) {
            z = z->parent;
            rotate(z, side);
        }
        z->parent->red = 0;
        above->red = 1;
        rotate(above, !side);
    }
    root->red = 0;
}

static void insert(int key) {
    struct node *z = malloc(sizeof *z), *above = 0;
    *z = (struct node){.key = key, .red = 1};
    for (struct node *x = root; x; x = x->child[key > x->key])
        above = x;
    z->parent = above;
    if (above)
        above->child[key > above->key] = z;
    else
        root = z;
    balance(z);
}

static void *worker(void *first) {
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&lock);
        insert(*(int *)first + 3 * i);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static int height(const struct node *x) {
    if (!x)
        return 0;
    int left = height(x->child[0]), right = height(x->child[1]);
    return 1 + (left > right ? left : right);
}

int main(void) {
    int first[3] = {1, 2, 3};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, worker, &first[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(height(root) <= 9);
    return 0;
}
